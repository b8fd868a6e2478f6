package secretsmanager

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"guidon/pkg/flags"
	"guidon/pkg/seal"
)

// TestSource checks that a secret is read when first needed, then once in MaxAge, and kept while it cannot be read.
func TestSource(t *testing.T) {
	now, reads, text := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), 0, ""
	var fails error
	s := NewSource("arn", seal.New)
	s.now = func() time.Time { return now }
	s.read = func(_ context.Context, arn string) (string, error) {
		reads++
		if arn != "arn" {
			t.Errorf("secret %q, want the ARN of the source", arn)
		}
		return text, fails
	}
	old, fresh := strings.Repeat("a", 32), strings.Repeat("b", 32)
	var sealed string
	steps := []struct {
		name  string
		after time.Duration
		text  string
		fails error
		reads int
		works bool // decrypts the first secret
	}{
		{"cannot be read", 0, "", errors.New("no such secret"), 1, false},
		{"not read again immediately", retryAfter - 1, old, nil, 1, false},
		{"wrong", 1, "short", nil, 2, false},
		{"read", retryAfter, old, nil, 3, true},
		{"kept", MaxAge - 1, fresh, nil, 3, true},
		{"cannot be read again", 1, fresh, errors.New("denied"), 4, true},
		{"wrong again", retryAfter, "short", nil, 5, true},
		{"changed", retryAfter, fresh + "\n" + old, nil, 6, true},
	}
	for _, step := range steps {
		now, text, fails = now.Add(step.after), step.text, step.fails
		box, err := sealer(s)(t.Context())
		if reads != step.reads {
			t.Errorf("%s: %d reads, want %d", step.name, reads, step.reads)
		}
		if !step.works {
			if flags.KindOf(err) != flags.Unavailable || !strings.Contains(err.Error(), "try again") {
				t.Errorf("%s: error %v, want Unavailable", step.name, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if sealed == "" {
			sealed = box.Seal("secret", "hash")
		}
		if got, err := box.Open(sealed, "hash"); err != nil || got != "secret" {
			t.Errorf("%s: opened %q, %v", step.name, got, err)
		}
	}
	was, _ := s.Value(t.Context())
	now = now.Add(MaxAge)
	if again, _ := s.Value(t.Context()); again != was || reads != 7 {
		t.Errorf("%d reads, and another value: %t; want 7, and the same value for the same text", reads, again != was)
	}
	if value, err := NewSource("", seal.New).Value(t.Context()); value != nil || err != nil {
		t.Errorf("without a secret: %v, %v, want neither", value, err)
	}
}
