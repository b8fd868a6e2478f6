package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"guidon/internal/stage"
)

const root = "../.."

// TestReports checks the reports in docs/operations: a page of one has each step, and one from the emulator says so.
func TestReports(t *testing.T) {
	reports, err := filepath.Glob(filepath.Join(root, "docs", "operations", "proof-*.json"))
	if err != nil || len(reports) == 0 {
		t.Fatalf("%d reports, %v", len(reports), err)
	}
	for _, path := range reports {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var r Report
		if err := json.Unmarshal(raw, &r); err != nil {
			t.Fatal(err)
		}
		page := r.markdown()
		for _, s := range r.Steps {
			if !strings.Contains(page, "\n| "+s.Name+" | "+s.Result) {
				t.Errorf("the page of %s has no row of the step %s:\n%s", path, s.Name, page)
			}
		}
		if emulated := strings.Contains(page, "**This is from an emulator, not from AWS.**"); emulated != (r.Target != onAWS) {
			t.Errorf("%s is from %s; its page says that it is from an emulator: %t", path, r.Target, emulated)
		}
		if r.count(passed) < 8 || r.count(passed)+r.count(failed)+r.count(notRun) != len(r.Steps) {
			t.Errorf("%s: %d steps passed, %d failed and %d were not run, of %d", path, r.count(passed), r.count(failed), r.count(notRun), len(r.Steps))
		}
		for _, s := range r.Steps {
			if (s.Result == passed) != (s.Reason == "") {
				t.Errorf("%s: %s: %s, because %q", path, s.Name, s.Result, s.Reason)
			}
		}
	}
}

// TestParameters checks that each parameter of the template has another value that the template allows, or a reason why it has none.
func TestParameters(t *testing.T) {
	all, err := parameters(root)
	if err != nil {
		t.Fatal(err)
	}
	updated := 0
	for name, p := range all {
		value, reason := p.other(name)
		if (value == "") == (reason == "") {
			t.Errorf("%s: another value %q and a reason %q, want one of them", name, value, reason)
		}
		if value == "" {
			continue
		}
		updated++
		if p.reset(name) == name+"="+value {
			t.Errorf("%s: %q is the default", name, value)
		}
		if p.AllowedPattern != "" && !regexp.MustCompile(p.AllowedPattern).MatchString(value) {
			t.Errorf("%s: %q does not match %s", name, value, p.AllowedPattern)
		}
	}
	if updated < 20 {
		t.Errorf("%d parameters would be updated, want more", updated)
	}
	for name, want := range map[string]bool{"LogLevel": true, "ClientMaxAge": true, "WebhookPrivateNetworks": true, "ThrottleRate": false, "Dashboard": false} {
		if all[name] == nil || all[name].Everywhere != want {
			t.Errorf("%s: %+v, want it to be in the configuration of every function: %t", name, all[name], want)
		}
	}
}

// TestCommands checks that the pages still have the commands that the proof runs.
func TestCommands(t *testing.T) {
	p := &proof{Stage: &stage.Stage{Root: root}}
	if _, _, err := p.restoreBlocks(); err != nil {
		t.Error(err)
	}
	if _, err := p.teardownScript(); err != nil {
		t.Error(err)
	}
}

// TestPublishable checks that the reason of a failure names neither accounts nor tokens.
func TestPublishable(t *testing.T) {
	const text = "arn:aws:iam::123456789012:role/a got *:*.0123456789abcdef0123456789abcdef, default:development.0123456789abcdef0123\n\tand an error"
	if got, want := publishable(text), "arn:aws:iam::<account>:role/a got <token>, <token> and an error"; got != want {
		t.Errorf("it is %q, want %q", got, want)
	}
}

// TestCheck checks that a load fails for each thing that must not happen.
func TestCheck(t *testing.T) {
	for name, change := range map[string]func(*tally){
		"":                     func(*tally) {},
		"1 polls got 500":      func(l *tally) { l.polls[500] = 1 },
		"1 polls got 0":        func(l *tally) { l.polls[0] = 1 },
		"changes got":          func(l *tally) { l.changes[503] = 1 },
		"2 polls lacked":       func(l *tally) { l.stale = 2 },
		"no poll or no change": func(l *tally) { delete(l.changes, 200) },
	} {
		l := &tally{polls: map[int]int{200: 1, 304: 5, 429: 2}, changes: map[int]int{200: 3}}
		change(l)
		if err := l.check(200, 304, 429); (err == nil) != (name == "") || err != nil && !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
