package dynamo_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"guidon/internal/engine"
	"guidon/pkg/dynamo"
	"guidon/pkg/flags"
)

var at = dynamo.SampleTime

func newFlag(name string) *flags.Feature {
	return &flags.Feature{
		Name: name, Project: "shop", ProjectUID: "0f1e2d3c", Metadata: flags.Metadata{Type: flags.Release},
		CreatedAt: at, CreatedBy: "test",
	}
}

// newChange is a change with an event of its own.
func newChange(writes ...flags.Write) flags.Change { return change("test", writes...) }

// write is a write that changes a copy of a flag.
func write(before *flags.Feature, alter func(*flags.Feature)) flags.Write {
	after := before.Clone()
	alter(after)
	return flags.Write{Before: before, After: after}
}

func commit(t *testing.T, s flags.Store, writes ...flags.Write) error {
	t.Helper()
	return s.Commit(t.Context(), newChange(writes...))
}

func mustCommit(t *testing.T, s flags.Store, writes ...flags.Write) {
	t.Helper()
	if err := commit(t, s, writes...); err != nil {
		t.Fatalf("commit: %v", reason(err))
	}
}

func load(t *testing.T, s flags.Store, names ...string) flags.View {
	t.Helper()
	var keys []flags.Key
	for _, name := range names {
		keys = append(keys, flags.FeatureKey(name))
	}
	view, err := s.Load(t.Context(), keys)
	if err != nil {
		t.Fatalf("load: %v", reason(err))
	}
	return view
}

// find loads a flag, which must exist.
func find(t *testing.T, s flags.Store, name string) *flags.Feature {
	t.Helper()
	f := flags.Find[*flags.Feature](load(t, s, name), flags.FeatureKey(name))
	if f == nil {
		t.Fatalf("the flag %q does not exist", name)
	}
	return f
}

func events(t *testing.T, s *dynamo.Store, name string) []flags.Event {
	t.Helper()
	list, err := s.Events(t.Context(), newFlag(name))
	if err != nil {
		t.Fatalf("events: %v", reason(err))
	}
	return list
}

// wantTimes checks that a flag is at version n and has n events.
func wantTimes(t *testing.T, s *dynamo.Store, name string, n int64) {
	t.Helper()
	if got := find(t, s, name).Version; got != n {
		t.Errorf("the flag %q is at version %d, want %d", name, got, n)
	}
	if got := len(events(t, s, name)); int64(got) != n {
		t.Errorf("the flag %q has %d events, want %d", name, got, n)
	}
}

// reason is an error with its cause, truncated because an engine may repeat the whole request.
func reason(err error) error {
	e, ok := errors.AsType[*flags.Error](err)
	if !ok || e.Err == nil {
		return err
	}
	return fmt.Errorf("%s: %.500s", e.Message, e.Err.Error())
}

var tables atomic.Int64

// newTable is the name of a table that no other test uses.
func newTable() string { return fmt.Sprintf("own-%d", tables.Add(1)) }

// newEngine starts an engine for one test. Its data survives a restart; the request tokens do not.
func newEngine(t *testing.T) *engine.Engine {
	t.Helper()
	e, err := engine.Start(t.Context(), engine.Options{Direct: true, DataFile: filepath.Join(t.TempDir(), "engine.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Stop)
	return e
}

// restart kills or stops the engine, and starts it again.
func restart(t *testing.T, e *engine.Engine, kill bool) {
	t.Helper()
	if kill {
		e.Kill()
	}
	if err := e.Restart(context.WithoutCancel(t.Context())); err != nil {
		t.Errorf("restarting the engine: %v", err)
	}
}

// archive and revive change flags without dependencies.
func archive(f *flags.Feature) { _ = f.Archive(at) }
func revive(f *flags.Feature)  { f.Revive(at) }
