package secretsmanager

import (
	"context"
	"errors"
	"testing"
	"time"

	"guidon/pkg/oidc"
)

const settings = `{"OIDC_ISSUER":"https://login.example.com","OIDC_CLIENT_ID":"guidon","OIDC_CLIENT_SECRET":"hush","OIDC_NAME":"`

// TestSource checks that the settings are read when first needed, then once in MaxAge, and kept while they cannot be read.
func TestSource(t *testing.T) {
	now, reads, text := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), 0, ""
	var fails error
	s := New("arn")
	s.now = func() time.Time { return now }
	s.read = func(_ context.Context, arn string) (string, error) {
		reads++
		if arn != "arn" {
			t.Errorf("secret %q, want the ARN of the source", arn)
		}
		return text, fails
	}
	steps := []struct {
		name  string
		after time.Duration
		text  string
		fails error
		reads int
		want  string // the name of the provider, or the code of the error
	}{
		{"cannot be read", 0, "", errors.New("no such secret"), 1, "provider-unavailable"},
		{"not read again immediately", retryAfter - 1, settings + `A"}`, nil, 1, "provider-unavailable"},
		{"wrong", 1, "{}", nil, 2, "misconfigured"},
		{"read", retryAfter, settings + `A"}`, nil, 3, "A"},
		{"kept", MaxAge - 1, settings + `B"}`, nil, 3, "A"},
		{"cannot be read again", 1, "", errors.New("denied"), 4, "A"},
		{"wrong again", retryAfter, "{}", nil, 5, "A"},
		{"changed", retryAfter, settings + `B"}`, nil, 6, "B"},
	}
	for _, step := range steps {
		now, text, fails = now.Add(step.after), step.text, step.fails
		provider, err := s.Provider(t.Context())
		got, failure := "", new(oidc.Error)
		switch {
		case errors.As(err, &failure):
			got = string(failure.Code)
		case provider != nil:
			got = provider.Name()
		}
		if got != step.want || reads != step.reads {
			t.Errorf("%s: %q after %d reads, want %q after %d (%v)", step.name, got, reads, step.want, step.reads, err)
		}
	}
	was, _ := s.Provider(t.Context())
	now = now.Add(MaxAge)
	if again, _ := s.Provider(t.Context()); again != was || reads != 7 {
		t.Errorf("%d reads, and another provider: %t; want 7, and the same provider for the same settings", reads, again != was)
	}
	if provider, err := New("").Provider(t.Context()); provider != nil || err != nil {
		t.Errorf("without a secret: %v, %v, want neither", provider, err)
	}
}
