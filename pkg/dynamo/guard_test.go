package dynamo_test

import (
	"fmt"
	"testing"

	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

func TestClosedGuard(t *testing.T) {
	store := dynamotest.Open(t, nil)
	archived, active := newFlag("archived"), newFlag("active")
	archive(archived)
	mustCommit(t, store, flags.Write{After: archived})
	mustCommit(t, store, flags.Write{After: active})
	for _, f := range []*flags.Feature{archived, active, newFlag("new")} {
		dynamo.CloseGuard(t, store, f)
	}
	archived, active = find(t, store, "archived"), find(t, store, "active")
	for _, c := range []struct {
		name  string
		write flags.Write
		want  flags.Kind // Internal for no error
	}{
		{"a new flag", flags.Write{After: newFlag("new")}, flags.NotFound},
		{"a revived flag", write(archived, revive), flags.NotFound},
		{"a flag that becomes stale", write(active, func(f *flags.Feature) { f.Stale = true }), flags.Internal},
	} {
		err := commit(t, store, c.write)
		if c.want == flags.Internal && err != nil || c.want != flags.Internal && (err == nil || flags.KindOf(err) != c.want) {
			t.Errorf("%s: got %v, want kind %d", c.name, err, c.want)
		}
	}
	if view := load(t, store, "new", "archived"); len(view) != 1 || !flags.Find[*flags.Feature](view, flags.FeatureKey("archived")).Archived {
		t.Errorf("a refused change was made: %v", view)
	}
}

func TestGuardCounts(t *testing.T) {
	store := dynamotest.Open(t, nil)
	stale := func(f *flags.Feature) { f.Stale = true }
	for _, step := range []struct {
		name          string
		alter         func(*flags.Feature) // nil creates
		active, stale int
	}{
		{"created", nil, 1, 0},
		{"stale", stale, 1, 1},
		{"stale again", stale, 1, 1},
		{"archived", archive, 0, 0},
		{"fresh while archived", func(f *flags.Feature) { f.Stale = false }, 0, 0},
		{"stale while archived", stale, 0, 0},
		{"revived", revive, 1, 1},
		{"fresh", func(f *flags.Feature) { f.Stale = false }, 1, 0},
	} {
		w := flags.Write{After: newFlag("f")}
		if step.alter != nil {
			w = write(find(t, store, "f"), step.alter)
		}
		mustCommit(t, store, w)
		if g := dynamo.GuardOf(t, store, newFlag("f")); g == nil || g.Active != step.active || g.Stale != step.stale {
			t.Errorf("%s: the guard is %+v, want %d active and %d stale", step.name, g, step.active, step.stale)
		}
	}
}

// TestGuardsOfOneChange writes more flags than a project has guards in one change, so that some share a guard.
func TestGuardsOfOneChange(t *testing.T) {
	store := dynamotest.Open(t, nil)
	const n = 21
	var writes []flags.Write
	for i := range n {
		f := newFlag(fmt.Sprintf("f-%d", i))
		f.Stale = i%3 == 0
		writes = append(writes, flags.Write{After: f})
	}
	mustCommit(t, store, writes...)
	total := func() (active, stale, guards int) {
		seen := map[string]bool{}
		for _, w := range writes {
			g := dynamo.GuardOf(t, store, w.After.(*flags.Feature))
			if g != nil && !seen[g.SK] {
				seen[g.SK] = true
				active, stale, guards = active+g.Active, stale+g.Stale, guards+1
			}
		}
		return active, stale, guards
	}
	if active, stale, guards := total(); active != n || stale != n/3 || guards < 8 {
		t.Errorf("%d active and %d stale on %d guards, want %d and %d on most of 16", active, stale, guards, n, n/3)
	}
	for i := range writes {
		name := writes[i].After.(*flags.Feature).Name
		writes[i] = write(find(t, store, name), archive)
	}
	mustCommit(t, store, writes...)
	if active, stale, _ := total(); active != 0 || stale != 0 {
		t.Errorf("%d active and %d stale after archiving all, want none", active, stale)
	}
}

// TestUIDTaken creates two projects with the same random UID. The second one must fail with a version conflict, so that the
// request runs again with another UID. Otherwise the projects would share list rows and history.
func TestUIDTaken(t *testing.T) {
	store := dynamotest.Open(t, nil)
	first := &flags.Project{ID: "first", UID: "0f1e2d3c", Name: "n", CreatedAt: at}
	second := &flags.Project{ID: "second", UID: first.UID, Name: "n", CreatedAt: at}
	mustCommit(t, store, flags.Write{After: first})
	if err := commit(t, store, flags.Write{After: second}); flags.KindOf(err) != flags.VersionConflict {
		t.Errorf("got %v, want a version conflict", err)
	}
	if list, err := store.Events(t.Context(), first); err != nil || len(list) != 1 {
		t.Errorf("the first project has %d events (%v), want 1", len(list), err)
	}
}
