package e2e

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What the tests read of responses. Those of pkg/admin compare whole responses with the API description.
type (
	featureAnswer struct {
		Name         string
		Environments []inAnswer
		Dependencies []parent
		Tags         []tag
	}
	// inAnswer is a flag in one environment.
	inAnswer struct {
		Name       string
		Enabled    bool
		Strategies []strategy
	}
	parent   struct{ Feature string }
	strategy struct {
		ID         string
		Parameters map[string]string
	}
	tag struct {
		Type  string `json:"type"`
		Value string `json:"value"`
	}
)

// in returns the flag's state in an environment, which must exist.
func (f featureAnswer) in(t *testing.T, environment string) inAnswer {
	t.Helper()
	for _, e := range f.Environments {
		if e.Name == environment {
			return e
		}
	}
	t.Fatalf("flag %s is not in %s: %+v", f.Name, environment, f.Environments)
	return inAnswer{}
}

// equal compares a response, or a part of it, with the expected value.
func equal[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
