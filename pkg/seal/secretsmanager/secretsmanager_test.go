package secretsmanager

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"guidon/pkg/flags"
)

// TestSource checks that the keys are read when first needed, then once in MaxAge, and kept while they cannot be read.
func TestSource(t *testing.T) {
	now, reads, keys := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), 0, ""
	var fails error
	s := New("arn")
	s.now = func() time.Time { return now }
	s.read = func(_ context.Context, arn string) (string, error) {
		reads++
		if arn != "arn" {
			t.Errorf("secret %q, want the ARN of the source", arn)
		}
		return keys, fails
	}
	old, fresh := strings.Repeat("a", 32), strings.Repeat("b", 32)
	var sealed string
	steps := []struct {
		name  string
		after time.Duration
		keys  string
		fails error
		reads int
		want  string // part of the error; "" for a sealer that decrypts the first secret
	}{
		{"cannot be read", 0, "", errors.New("no such secret"), 1, "try again"},
		{"bad keys", 0, "short", nil, 2, "try again"},
		{"read", 0, old, nil, 3, ""},
		{"kept", MaxAge - 1, fresh, nil, 3, ""},
		{"cannot be read again", 1, fresh, errors.New("denied"), 4, ""},
		{"not read again immediately", retryAfter - 1, fresh, nil, 4, ""},
		{"read again", 1, fresh + "\n" + old, nil, 5, ""},
	}
	for _, step := range steps {
		now, keys, fails = now.Add(step.after), step.keys, step.fails
		sealer, err := s.Sealer(t.Context())
		if reads != step.reads {
			t.Errorf("%s: %d reads, want %d", step.name, reads, step.reads)
		}
		if step.want != "" {
			if flags.KindOf(err) != flags.Unavailable || !strings.Contains(err.Error(), step.want) {
				t.Errorf("%s: error %v, want Unavailable", step.name, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if sealed == "" {
			sealed = sealer.Seal("secret", "hash")
		}
		if got, err := sealer.Open(sealed, "hash"); err != nil || got != "secret" {
			t.Errorf("%s: opened %q, %v", step.name, got, err)
		}
	}
}
