package dynamo_test

import (
	"testing"

	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

// TestGuardsOfAnEarlierVersion: the guards of an earlier version count no default strategies and name no owner. Their
// segments are protected all the same: uses are found by listing them, and each change adds what it relies on.
func TestGuardsOfAnEarlierVersion(t *testing.T) {
	store := dynamotest.Open(t, nil)
	registry := &flags.Environments{List: []flags.Environment{{Name: "production", UID: "e1"}}}
	project := func(id, uid string) *flags.Project {
		return &flags.Project{ID: id, UID: uid, Name: id, CreatedAt: at, Environments: map[string]flags.Attachment{"production": {ID: "a-" + id, EnvironmentUID: "e1"}}}
	}
	mustCommit(t, store, flags.Write{After: &flags.Segment{ID: 7, Name: "s", Project: "shop", ProjectUID: "u1", CreatedAt: at}})
	mustCommit(t, store, flags.Write{After: project("shop", "u1")})
	mustCommit(t, store, flags.Write{After: project("other", "u2")})
	in := func(id string) *flags.Project { return findAt[*flags.Project](t, store, flags.ProjectKey(id)) }
	standard := func(id string, segments ...int64) flags.Write {
		before := in(id)
		after := before.Clone()
		after.SetDefaultStrategy(after.AvailableEnvironments(registry)[0], flags.Strategy{Name: "default", Segments: segments})
		return flags.Write{Before: before, After: after}
	}
	latest := func() *flags.Segment {
		t.Helper()
		s := findAt[*flags.Segment](t, store, flags.SegmentKey(7))
		s.UseCount = findAt[*flags.UseCount](t, store, flags.UseCountKey(7)).Count
		return s
	}
	given := func(to *flags.Project) flags.Write {
		before := latest()
		after := before.Clone()
		after.SetProject(to)
		return flags.Write{Before: before, After: after}
	}
	settles := func(w flags.Write) error {
		t.Helper()
		return w.After.(*flags.Segment).CheckProjectChange(nil, []*flags.Project{in("shop"), in("other")}, registry)
	}
	mustCommit(t, store, standard("shop", 7))
	dynamo.EarlierGuard(t, store, 7)

	if latest().UseCount != 0 {
		t.Fatalf("the guard counts %d uses, want the one of an earlier version", latest().UseCount)
	}
	given1 := given(in("other"))
	if err := settles(given1); flags.KindOf(err) != flags.Conflict {
		t.Errorf("given away while a default strategy uses it: %v, want a conflict", err)
	}
	mustCommit(t, store, standard("shop")) // the use that no guard counted ends
	given2 := given(in("other"))
	mustCommit(t, store, standard("shop", 7)) // and begins again, behind the list that found none
	if err := commit(t, store, given2); flags.KindOf(err) != flags.VersionConflict {
		t.Errorf("given away beside a use that begins: %v, want another round", err)
	}
	mustCommit(t, store, standard("shop"))
	mustCommit(t, store, given(in("other")))
	if err := commit(t, store, standard("shop", 7)); flags.KindOf(err) != flags.Invalid {
		t.Errorf("used by a project that does not own it: %v, want it refused", err)
	}
	mustCommit(t, store, standard("other", 7))
	dynamotest.Check(t, store)
}

// findAt loads one aggregate, which must be there.
func findAt[A flags.Aggregate](t *testing.T, s flags.Store, key flags.Key) A {
	t.Helper()
	view, err := s.Load(t.Context(), []flags.Key{key})
	if err != nil {
		t.Fatal(reason(err))
	}
	a, there := view[key].(A)
	if !there {
		t.Fatalf("%v is not there", key)
	}
	return a
}
