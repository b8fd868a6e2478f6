package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// What Unleash 5.12.8 has after fill.
const (
	flagsFilled  = 164
	timesRefused = 74
	otherItems   = 24 // tag types, context fields, segments and strategy types
)

// migrations runs all migrations of the test.
func (t *test) migrations(ctx context.Context) error {
	if err := t.checkDocumented(); err != nil {
		return err
	}
	second := make(chan *server, 1) // starts during the first migrations
	go func() {
		c, err := t.unleash(ctx, "second")
		if err != nil {
			t.logf("%v", err)
		}
		second <- c
	}()
	defer func() {
		for range second { // close must not run while it starts
			break
		}
	}()
	first, err := t.unleash(ctx, "first")
	if err != nil {
		return err
	}
	if err := t.fillFirst(ctx, first); err != nil {
		return err
	}
	was, err := takeSnapshot(ctx, first)
	if err != nil {
		return err
	}
	here, now, err := t.moveIn(ctx, first, was)
	if err != nil {
		return err
	}
	if err := t.sameEvaluations(ctx, first, here); err != nil {
		return err
	}
	if err := t.checkStory(ctx, here, now); err != nil {
		return err
	}
	if err := t.moveInBroken(ctx, first, now); err != nil {
		return err
	}
	if err := t.doPage(ctx, first); err != nil {
		return err
	}
	c := <-second
	second <- nil
	if c == nil {
		return errors.New("the second Unleash did not start")
	}
	return t.moveOut(ctx, here, c, was)
}

func (t *test) fillFirst(ctx context.Context, first *server) error {
	filled, err := fill(ctx, first)
	if err != nil {
		return err
	}
	t.logf("created %d flags; Unleash refused these parts of the specification:", filled.flags)
	refused := 0
	for _, line := range filled.refusals() {
		t.logf("  %.300s", line)
	}
	for _, list := range filled.refused {
		refused += len(list)
	}
	if filled.flags != flagsFilled || refused != timesRefused {
		t.errorf("Unleash has %d flags and refused %d requests; expected %d and %d", filled.flags, refused, flagsFilled, timesRefused)
	}
	return nil
}

// moveIn moves everything into an empty Guidon and returns its contents.
func (t *test) moveIn(ctx context.Context, from *server, was snapshot) (here *server, now snapshot, err error) {
	if here, err = t.guidon(ctx, "whole"); err != nil {
		return nil, nil, err
	}
	if now, err = takeSnapshot(ctx, here); err != nil {
		return nil, nil, err
	}
	events, err := countEvents(ctx, here)
	if err != nil {
		return nil, nil, err
	}
	out := t.migrate(ctx, from, here, "--dry-run")
	t.wants(out, fmt.Sprintf("would copy %d of %d flags of project default", flagsFilled, flagsFilled))
	if n := strings.Count(out, "would copy ") - 1; n != otherItems {
		t.errorf("the dry run would copy %d items besides flags, expected %d:\n%s", n, otherItems, out)
	}
	if err := t.unchanged(ctx, "a dry run", here, now, events); err != nil {
		return nil, nil, err
	}
	t.logf("the dry run had the right counts and changed nothing")

	out = t.migrate(ctx, from, here)
	t.wants(out, fmt.Sprintf("%d flags are the same on both sides, 0 differ; 1 archived flag was not copied", flagsFilled))
	if n := strings.Count(out, "\ncopied "); n != otherItems {
		t.errorf("the command copied %d items besides flags, expected %d:\n%s", n, otherItems, out)
	}
	if now, err = takeSnapshot(ctx, here); err != nil {
		return nil, nil, err
	}
	t.compare("Unleash → Guidon", was, now, append(added(), served()...))

	if events, err = countEvents(ctx, here); err != nil {
		return nil, nil, err
	}
	out = t.migrate(ctx, from, here)
	t.wants(out, fmt.Sprintf("%d flags are the same on both sides, 0 differ", flagsFilled))
	if strings.Contains(out, "copied ") {
		t.errorf("the second run copied something:\n%s", out)
	}
	if err := t.unchanged(ctx, "a second run", here, now, events); err != nil {
		return nil, nil, err
	}
	t.logf("a second run changed nothing and created no event")
	return here, now, nil
}

// moveInBroken kills the command halfway into another Guidon and runs it again.
func (t *test) moveInBroken(ctx context.Context, from *server, whole snapshot) error {
	here, err := t.guidon(ctx, "broken")
	if err != nil {
		return err
	}
	p, err := t.start(t.commandFor(ctx, from, here))
	if err != nil {
		return err
	}
	flags := func() (n int) {
		var list struct{ Features []struct{} }
		if err = here.Get(ctx, flagsPath, &list); err != nil {
			return flagsFilled
		}
		return len(list.Features)
	}
	for flags() == 0 {
		select {
		case <-p.Ended():
			return fmt.Errorf("the command ended before it was killed:\n%s", p.Output.End())
		case <-time.After(2 * time.Millisecond):
		}
	}
	p.Kill()
	n := flags()
	if err != nil {
		return err
	}
	now, err := takeSnapshot(ctx, here)
	if err != nil {
		return err
	}
	if left := len(differences(whole, now)); left == 0 {
		t.errorf("the command was killed too late: all %d flags and everything else had been copied", n)
	}
	out := t.migrate(ctx, from, here)
	t.wants(out, fmt.Sprintf("%d flags are the same on both sides, 0 differ", flagsFilled))
	if now, err = takeSnapshot(ctx, here); err != nil {
		return err
	}
	t.compare("a killed and repeated migration", whole, now, nil)
	t.logf("the command was killed after %d flags, and the next run copied the rest", n)
	here.stop()
	return nil
}

// moveOut moves everything from Guidon into an empty Unleash.
func (t *test) moveOut(ctx context.Context, here, to *server, was snapshot) (err error) {
	apiToken := to.Token
	if to.Token, err = personalToken(ctx, to); err != nil {
		return err
	}
	out := t.migrate(ctx, here, to)
	t.wants(out, fmt.Sprintf("%d flags are the same on both sides, 0 differ", flagsFilled))
	to.Token = apiToken
	back, err := takeSnapshot(ctx, to)
	if err != nil {
		return err
	}
	t.compare("Unleash → Guidon → Unleash", was, back, added())
	t.logf("moved everything from Guidon into a second Unleash")
	return nil
}

// commandFor returns the command that migrates from one server to another.
func (t *test) commandFor(ctx context.Context, from, to *server, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, t.guidonPath, append([]string{"migrate", "--from", from.Base, "--to", to.Base}, args...)...)
	cmd.Env = []string{"FROM_TOKEN=" + from.Token, "TO_TOKEN=" + to.Token}
	return cmd
}

// migrate runs the command and returns its output.
func (t *test) migrate(ctx context.Context, from, to *server, args ...string) string {
	cmd := t.commandFor(ctx, from, to, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return ""
	}
	if cmd.ProcessState == nil || !cmd.ProcessState.Success() {
		t.errorf("the command failed: %v\n%s", err, out)
	}
	t.logf("the command ran for %.1f s (%s → %s %s)", time.Since(began).Seconds(), from.Name, to.Name, strings.Join(args, " "))
	return string(out)
}

// wants checks that the output contains a text.
func (t *test) wants(out, text string) {
	if !strings.Contains(out, text) {
		t.errorf("the command does not print %q:\n%s", text, out)
	}
}

// unchanged checks that the contents and the number of events of a server are the same as before.
func (t *test) unchanged(ctx context.Context, after string, c *server, was snapshot, events int) error {
	now, err := takeSnapshot(ctx, c)
	if err != nil {
		return err
	}
	n, err := countEvents(ctx, c)
	t.compare(after, was, now, nil)
	if n != events {
		t.errorf("%s created %d events", after, n-events)
	}
	return err
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
			t.errorf("%s: %s", what, d)
			continue
		}
		met[i]++
	}
	for i, e := range expected {
		if met[i] == 0 {
			t.errorf("%s: there is no difference %s; remove it from expected.go and docs/from-unleash.md", what, e.pattern)
		}
		t.logf("  %d × %s", met[i], e.documented)
	}
	t.logf("%s: compared %d flags; %d expected differences, %d others", what, len(was["flags"].(object)), len(found)-unexpected, unexpected)
}
