package dynamo_test

import (
	"testing"

	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

// TestGuardsOfAnEarlierVersion checks that guards of an earlier version, which count no default strategies and have no owner,
// protect their segments too: uses are found by listing them, and each change adds the attributes that it needs.
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
	f := newFlag("f")
	f.Project, f.ProjectUID = "shop", "u1"
	f.Environments = map[string]flags.FeatureEnvironment{"production": {
		EnvironmentState: flags.EnvironmentState{EnvironmentUID: "e1"}, Strategies: []flags.Strategy{{ID: "s", Name: "default", Segments: []int64{7}}},
	}}
	mustCommit(t, store, flags.Write{After: f})
	dynamo.EarlierGuard(t, store, 7)

	if n := findAt[*flags.UseCount](t, store, flags.UseCountKey(7)).Flags; n != 1 {
		t.Errorf("the guard counts %d flags, want 1, as in an earlier version: if it is 0, no uses by flags are listed", n)
	}
	mustCommit(t, store, write(find(t, store, "f"), func(f *flags.Feature) { f.Environments = nil }))
	if latest().UseCount != 0 {
		t.Fatalf("the guard counts %d uses, want 0, as in an earlier version", latest().UseCount)
	}
	given1 := given(in("other"))
	if err := settles(given1); flags.KindOf(err) != flags.Conflict {
		t.Errorf("given to another project while a default strategy uses it: %v, want a conflict", err)
	}
	mustCommit(t, store, standard("shop")) // ends the use that the guard does not count
	given2 := given(in("other"))
	mustCommit(t, store, standard("shop", 7)) // begins it again, after the list that found none
	if err := commit(t, store, given2); flags.KindOf(err) != flags.VersionConflict {
		t.Errorf("given to another project while a use begins: %v, want a version conflict", err)
	}
	mustCommit(t, store, standard("shop"))
	mustCommit(t, store, given(in("other")))
	if err := commit(t, store, standard("shop", 7)); flags.KindOf(err) != flags.Invalid {
		t.Errorf("used by a project that does not own it: %v, want Invalid", err)
	}
	mustCommit(t, store, standard("other", 7))
	dynamotest.Check(t, store)
}

// findAt loads one aggregate, which must exist.
func findAt[A flags.Aggregate](t *testing.T, s flags.Store, key flags.Key) A {
	t.Helper()
	view, err := s.Load(t.Context(), []flags.Key{key})
	if err != nil {
		t.Fatal(reason(err))
	}
	a, there := view[key].(A)
	if !there {
		t.Fatalf("%v does not exist", key)
	}
	return a
}
