package aggregate

import (
	"log/slog"
	"strings"
	"testing"

	"guidon/pkg/flags"
)

// TestLogHasNoNames checks that what is logged of an item that was not written has neither its name nor the hash of a token.
func TestLogHasNoNames(t *testing.T) {
	var log strings.Builder
	a := New(nil, Settings{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for _, kind := range []flags.Kind{flags.Invalid, flags.VersionConflict} {
		if err := a.unimportant(t.Context(), "flag", flags.Errorf(kind, "the flag secret-name is full")); err != nil {
			t.Error(err)
		}
	}
	if got := log.String(); strings.Contains(got, "secret-name") || !strings.Contains(got, "of=flag full=true") || !strings.Contains(got, "full=false") {
		t.Errorf("the log is %s", got)
	}
}
