package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"guidon/internal/stage"
)

const root = "../.."

// TestParameters checks that each parameter of the template is updated once, with a value that it allows and that is not its default,
// or kept.
func TestParameters(t *testing.T) {
	defaults, err := defaults(root)
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(root, "template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var template struct {
		Parameters map[string]struct {
			AllowedPattern string `yaml:"AllowedPattern"`
		} `yaml:"Parameters"`
	}
	if err := yaml.Unmarshal(source, &template); err != nil {
		t.Fatal(err)
	}
	found := slices.Clone(kept)
	for _, parameter := range slices.Concat(configuration, others) {
		name, value, _ := strings.Cut(parameter, "=")
		found = append(found, name)
		if defaults[name] == "" || value == defaults[name] {
			t.Errorf("%s: the default is %q, want the parameter to exist, with another default", parameter, defaults[name])
		}
		if pattern := template.Parameters[name].AllowedPattern; !regexp.MustCompile(pattern).MatchString(value) {
			t.Errorf("%s does not match %s", parameter, pattern)
		}
	}
	for name := range defaults {
		if !slices.Contains(found, name) {
			t.Errorf("the parameter %s is in none of the lists", name)
		}
	}
	if len(found) != len(defaults) {
		t.Errorf("the lists have %d parameters, the template has %d", len(found), len(defaults))
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

// TestNewAccount checks what a run leaves out in an account that has the quotas of a new one, and that it says why.
func TestNewAccount(t *testing.T) {
	p := &proof{Stage: &stage.Stage{}, atOnce: 10}
	if got := p.callers(20); got != 5 {
		t.Errorf("%d callers poll, want 5", got)
	}
	p.step(t.Context(), "flood", true, p.needs(500), nil)
	p.step(t.Context(), "walk", true, p.needs(10), func(context.Context) ([]string, error) { return nil, nil })
	if want := "| flood | not run: the account has 10 functions at once, and this needs 500"; p.passed != 1 || !strings.HasPrefix(p.report, want) {
		t.Errorf("%d steps passed, want 1; the report is\n%s\nwant it to begin with %s", p.passed, p.report, want)
	}
}
