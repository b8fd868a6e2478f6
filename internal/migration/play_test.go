//go:build migration

package migration

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// What Unleash 5.12.8 has after fill.
const (
	flagsFilled  = 164
	timesRefused = 74
	otherItems   = 29 // tag types, context fields, segments and strategy types
)

func TestMigration(tt *testing.T) {
	t := newTest(tt)
	t.checkDocumented()
	first := t.unleash("first")
	t.fillFirst(first)
	was := first.snapshot()
	here, now := t.moveIn(first, was)
	t.sameEvaluations(first, here)
	t.moveInBroken(first, now)
	t.doPage(first)
	t.moveOut(here, t.unleash("second"), was)
}

func (t *test) fillFirst(first *server) {
	filled := fill(first)
	t.Logf("created %d flags; Unleash refused these parts of the specification:", filled.flags)
	refused := 0
	for _, line := range filled.refusals() {
		t.Logf("  %.300s", line)
	}
	for _, list := range filled.refused {
		refused += len(list)
	}
	if filled.flags != flagsFilled || refused != timesRefused {
		t.Errorf("Unleash has %d flags and refused %d requests; expected %d and %d", filled.flags, refused, flagsFilled, timesRefused)
	}
}

// moveIn moves everything into an empty Guidon and returns its contents.
func (t *test) moveIn(from *server, was snapshot) (here *server, now snapshot) {
	here = t.guidon("whole")
	now = here.snapshot()
	events := here.countEvents()
	out := t.migrate(from, here, "--dry-run")
	t.wants(out, fmt.Sprintf("would copy %d of %d flags of project default", flagsFilled, flagsFilled))
	if n := strings.Count(out, "would create ") + strings.Count(out, "would update ") - flagsFilled; n != otherItems {
		t.Errorf("the dry run would copy %d items besides flags, expected %d:\n%s", n, otherItems, out)
	}
	t.unchanged("a dry run", here, now, events)
	t.Logf("the dry run had the right counts and changed nothing")

	out = t.migrate(from, here)
	t.wants(out, fmt.Sprintf("%d flags are the same on both sides, 0 differ; 1 archived flag was not copied", flagsFilled))
	if n := strings.Count(out, "\ncopied "); n != otherItems {
		t.Errorf("the command copied %d items besides flags, expected %d:\n%s", n, otherItems, out)
	}
	now = here.snapshot()
	t.compare("Unleash → Guidon", was, now, append(added(), served()...))

	initial := events
	if events = here.countEvents(); events < initial+flagsFilled+otherItems {
		t.Errorf("copying %d flags and %d other items created %d events", flagsFilled, otherItems, events-initial)
	}
	out = t.migrate(from, here)
	t.wants(out, fmt.Sprintf("%d flags are the same on both sides, 0 differ", flagsFilled))
	if strings.Contains(out, "copied ") {
		t.Errorf("the second run copied something:\n%s", out)
	}
	t.unchanged("a second run", here, now, events)
	t.Logf("a second run changed nothing and created no event")
	return here, now
}

// moveInBroken kills the command halfway into another Guidon and runs it again.
func (t *test) moveInBroken(from *server, whole snapshot) {
	here := t.guidon("broken")
	p := t.start(t.commandFor(from, here))
	flags := func() (n int) {
		var list struct{ Features []struct{} }
		here.call("GET", flagsPath, nil, &list)
		return len(list.Features)
	}
	for flags() == 0 {
		select {
		case <-p.Ended():
			t.Fatalf("the command ended before it was killed:\n%s", p.Output.End())
		case <-time.After(2 * time.Millisecond):
		}
	}
	p.Kill()
	n, now := flags(), here.snapshot()
	if left := len(differences(whole, now)); left == 0 {
		t.Errorf("the command was killed too late: all %d flags and everything else had been copied", n)
	}
	out := t.migrate(from, here)
	t.wants(out, fmt.Sprintf("%d flags are the same on both sides, 0 differ", flagsFilled))
	t.compare("a killed and repeated migration", whole, here.snapshot(), nil)
	t.Logf("the command was killed after %d flags, and the next run copied the rest", n)
	here.stop()
}

// moveOut moves everything from Guidon into an empty Unleash.
func (t *test) moveOut(here, to *server, was snapshot) {
	apiToken := to.Token
	to.Token = to.personalToken()
	out := t.migrate(here, to)
	t.wants(out, fmt.Sprintf("%d flags are the same on both sides, 0 differ", flagsFilled))
	to.Token = apiToken
	t.compare("Unleash → Guidon → Unleash", was, to.snapshot(), added())
	t.Logf("moved everything from Guidon into a second Unleash")
}

// commandFor returns the command that migrates from one server to another.
func (t *test) commandFor(from, to *server, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), t.guidonPath, append([]string{"migrate", "--from", from.Base, "--to", to.Base}, args...)...)
	cmd.Env = []string{"FROM_TOKEN=" + from.Token, "TO_TOKEN=" + to.Token}
	return cmd
}

// migrate runs the command and returns its output.
func (t *test) migrate(from, to *server, args ...string) string {
	cmd := t.commandFor(from, to, args...)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("the command failed: %v\n%s", err, out)
	}
	t.Logf("the command ran for %.1f s (%s → %s %s)", time.Since(began).Seconds(), from.Name, to.Name, strings.Join(args, " "))
	return string(out)
}

// wants checks that the output contains a text.
func (t *test) wants(out, text string) {
	if !strings.Contains(out, text) {
		t.Errorf("the command does not print %q:\n%s", text, out)
	}
}

// unchanged checks that the contents and the number of events of a server are the same as before.
func (t *test) unchanged(after string, c *server, was snapshot, events int) {
	t.compare(after, was, c.snapshot(), nil)
	if n := c.countEvents(); n != events {
		t.Errorf("%s created %d events", after, n-events)
	}
}

// compare checks that two snapshots have all the expected differences, and no others.
func (t *test) compare(what string, was, now snapshot, expected []expectation) {
	found := differences(was, now)
	met := make([]int, len(expected))
	unexpected := 0
	for _, d := range found {
		i := slices.IndexFunc(expected, func(e expectation) bool { return regexp.MustCompile(e.pattern).MatchString(d) })
		if i < 0 {
			unexpected++
			t.Errorf("%s: %s", what, d)
			continue
		}
		met[i]++
	}
	for i, e := range expected {
		if met[i] == 0 {
			t.Errorf("%s: there is no difference %s; remove it from expected_test.go and docs/from-unleash.md", what, e.pattern)
		}
		t.Logf("  %d × %s", met[i], e.documented)
	}
	t.Logf("%s: compared %d flags; %d expected differences, %d others", what, len(was["flags"].(object)), len(found)-unexpected, unexpected)
}
