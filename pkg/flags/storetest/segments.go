package storetest

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/google/go-cmp/cmp"

	"guidon/pkg/flags"
)

// using is what gives a flag one strategy with segments, in production, and takes those away that it had.
func using(segments ...int64) func(*flags.Feature) {
	return func(f *flags.Feature) {
		f.Environments = map[string]flags.FeatureEnvironment{"production": {
			EnvironmentState: flags.EnvironmentState{EnvironmentUID: "e1"}, Strategies: []flags.Strategy{{ID: "s1", Name: "default", Segments: segments}},
		}}
	}
}

func user(name string, segments ...int64) *flags.Feature {
	f := flag("u1", name)
	using(segments...)(f)
	return f
}

func segment(id int64) *flags.Segment {
	return &flags.Segment{ID: id, Name: fmt.Sprintf("segment %d", id), CreatedAt: at, CreatedBy: "storetest"}
}

// mustSegment adds a segment and reads it.
func (t *trial) mustSegment(id int64) *flags.Segment {
	t.Helper()
	t.mustAdd(segment(id))
	return mustFind[*flags.Segment](t, flags.SegmentKey(id))
}

// latest is a segment with the count of its uses, as a change that deletes it or gives it to a project must load it.
func (t *trial) latest(id int64) *flags.Segment {
	t.Helper()
	view := t.mustLoad(flags.SegmentKey(id), flags.UseCountKey(id))
	s := flags.Find[*flags.Segment](view, flags.SegmentKey(id))
	if count := flags.Find[*flags.UseCount](view, flags.UseCountKey(id)); count != nil {
		s.UseCount = count.Count
	}
	return s
}

// given is a write that gives a segment to a project; "" is all of them.
func given(s *flags.Segment, projectUID string) flags.Write {
	after := s.Clone()
	after.Project, after.ProjectUID = projectUID, projectUID
	return flags.Write{Before: s, After: after}
}

// standard is a write that gives a project a default strategy in an environment.
func standard(before *flags.Project, attachment string, segments ...int64) flags.Write {
	after := before.Clone()
	after.Environments = map[string]flags.Attachment{"production": {
		ID: attachment, EnvironmentUID: "e1", DefaultStrategy: &flags.Strategy{Name: "default", Segments: segments},
	}}
	return flags.Write{Before: before, After: after}
}

var segmentCases = []testCase{
	{"one that begins to be used is neither deleted nor given away", func(t *trial) {
		t.mustAdd(project("shop", "u1"), project("other", "u2"))
		begin := map[string]func(id int64) flags.Write{
			"by a flag": func(id int64) flags.Write {
				name := fmt.Sprintf("f-%d", id)
				t.mustAdd(flag("u1", name))
				return changed(mustFind[*flags.Feature](t, flags.FeatureKey(name)), using(id))
			},
			"by a default strategy": func(id int64) flags.Write {
				return standard(mustFind[*flags.Project](t, flags.ProjectKey("shop")), "a1", id)
			},
			"by the default strategy of an environment that is added again": func(id int64) flags.Write {
				t.mustCommit(change("standard", standard(mustFind[*flags.Project](t, flags.ProjectKey("shop")), "a1", id)))
				return standard(mustFind[*flags.Project](t, flags.ProjectKey("shop")), "a2", id)
			},
			"by a flag that moves": func(id int64) flags.Write {
				name := fmt.Sprintf("f-%d", id)
				t.mustAdd(user(name, id))
				return changed(mustFind[*flags.Feature](t, flags.FeatureKey(name)), func(f *flags.Feature) { f.Project, f.ProjectUID = "other", "u2" })
			},
		}
		id := int64(0)
		for _, name := range slices.Sorted(maps.Keys(begin)) {
			id++
			t.mustAdd(segment(id))
			write := begin[name](id)
			before := t.latest(id)
			t.mustCommit(change("used", write))
			t.wantKind(t.commit(change("given", given(before, "u3"))), flags.VersionConflict)
			t.wantKind(t.commit(change("deleted", deleted(before))), flags.VersionConflict)
			t.mustCommit(change("given", given(t.latest(id), "u3"))) // a change that has seen the use may be made
			if t.Failed() {
				t.Errorf("used %s", name)
			}
		}
	}},
	{"one of a project is not used in another", func(t *trial) {
		s := segment(7)
		s.Project, s.ProjectUID = "shop", "u1"
		t.mustAdd(project("shop", "u1"), project("other", "u2"), s, flag("u1", "ours"), flag("u2", "theirs"))
		theirs := func() *flags.Feature { return mustFind[*flags.Feature](t, flags.FeatureKey("theirs")) }
		other := func() *flags.Project { return mustFind[*flags.Project](t, flags.ProjectKey("other")) }
		t.mustCommit(change("used", changed(mustFind[*flags.Feature](t, flags.FeatureKey("ours")), using(7))))
		t.wantKind(t.commit(change("used", changed(theirs(), using(7)))), flags.Invalid)
		t.wantKind(t.commit(change("standard", standard(other(), "a1", 7))), flags.Invalid)
		t.wantVersion(other(), 1)
		moved := changed(mustFind[*flags.Feature](t, flags.FeatureKey("ours")), func(f *flags.Feature) { f.Project, f.ProjectUID = "other", "u2" })
		t.wantKind(t.commit(change("moved", moved)), flags.VersionConflict) // it was decided on another owner
		t.mustCommit(change("given back", given(t.latest(7), "")))
		t.mustCommit(change("used", changed(theirs(), using(7))))
		t.mustCommit(change("standard", standard(other(), "a1", 7)))
		t.mustCommit(change("given", given(t.latest(7), "u2")))
		ours := changed(mustFind[*flags.Feature](t, flags.FeatureKey("ours")), describe("still"))
		t.mustCommit(change("described", ours)) // what it has it keeps
	}},
	{"a flag that gets it in another environment begins to use it", func(t *trial) {
		t.mustAdd(segment(7), user("f", 7))
		before := t.latest(7)
		t.mustCommit(change("used", changed(mustFind[*flags.Feature](t, flags.FeatureKey("f")), func(f *flags.Feature) {
			f.Environments = map[string]flags.FeatureEnvironment{"production": f.Environments["production"], "development": {
				EnvironmentState: flags.EnvironmentState{EnvironmentUID: "e2"}, Strategies: []flags.Strategy{{ID: "s2", Name: "default", Segments: []int64{7}}},
			}}
		})))
		t.wantKind(t.commit(change("given", given(before, "u3"))), flags.VersionConflict)
	}},
	{"one in use stays, until no flag uses it", func(t *trial) {
		s := t.mustSegment(7)
		t.mustAdd(user("a", 7, 8), user("b", 7))
		for _, step := range []func(){
			func() {
				t.mustCommit(change("another", changed(mustFind[*flags.Feature](t, flags.FeatureKey("a")), using(8))))
			},
			func() {
				t.mustCommit(change("renamed", changed(mustFind[*flags.Feature](t, flags.FeatureKey("b")), describe("other"))))
			},
			func() {
				t.mustCommit(change("archived", changed(mustFind[*flags.Feature](t, flags.FeatureKey("b")), archive)))
			},
			func() {
				t.mustCommit(change("dropped", changed(mustFind[*flags.Feature](t, flags.FeatureKey("b")), using())))
			},
		} {
			t.wantKind(t.commit(change("deleted", deleted(t.latest(7)))), flags.VersionConflict)
			step()
		}
		t.mustCommit(change("deleted", deleted(t.latest(7))))
		t.wantAbsent(s.Key())
		t.wantList(flags.EntitySegment)
	}},
	{"one that was deleted is not used again", func(t *trial) {
		s := t.mustSegment(7)
		t.mustAdd(flag("u1", "f"))
		f := mustFind[*flags.Feature](t, flags.FeatureKey("f"))
		t.mustCommit(change("deleted", deleted(s)))
		t.wantKind(t.commit(change("used", changed(f, using(7)))), flags.Invalid)
		t.wantVersion(f, 1)
		t.wantKind(t.commit(change("made", added(user("clone", 7)))), flags.VersionConflict) // of what was read a moment ago
		t.wantAbsent(flags.FeatureKey("clone"))
		t.wantList(flags.EntityUse)
	}},
	{"two flags of one change", func(t *trial) {
		t.mustAdd(segment(7))
		t.mustCommit(change("made", added(user("a", 7)), added(user("b", 7))))
		a, b := mustFind[*flags.Feature](t, flags.FeatureKey("a")), mustFind[*flags.Feature](t, flags.FeatureKey("b"))
		t.mustCommit(change("swapped", changed(a, using()), changed(b, using(7))))
		t.wantKind(t.commit(change("deleted", deleted(t.latest(7)))), flags.VersionConflict)
		t.mustCommit(change("dropped", changed(b, using())))
		t.mustCommit(change("deleted", deleted(t.latest(7))))
	}},
	{"two of one name", func(t *trial) {
		s := t.mustSegment(7)
		second := segment(8)
		second.Name = s.Name
		t.wantKind(t.commit(change("added", added(second))), flags.NameExists)
		after := s.Clone()
		after.Name = "renamed"
		t.mustCommit(change("renamed", flags.Write{Before: s, After: after}))
		t.mustAdd(second)
		t.mustCommit(change("deleted", deleted(mustFind[*flags.Segment](t, flags.SegmentKey(7)))))
		third := segment(9)
		third.Name = "renamed"
		t.mustAdd(third)
		t.wantList(flags.EntitySegment, "8", "9")
	}},
	{"what a flag uses is listed while it does", func(t *trial) {
		f := user("f", 7)
		f.Environments["production"].Strategies[0].Constraints = []flags.Constraint{{ContextName: "country", Operator: flags.In, Values: []string{"NO"}}}
		t.mustAdd(f, flag("u1", "plain"), user("other", 9))
		t.wantList(flags.EntityUse, "f", "other")
		want := []flags.Aggregate{mustFind[*flags.Feature](t, f.Key()).Use(), user("other", 9).Use()}
		list, err := t.store.List(t.Context(), flags.EntityUse)
		if err != nil {
			t.Fatal(reason(err))
		}
		if diff := cmp.Diff(want, list); diff != "" {
			t.Errorf("uses (-want +got):\n%s", diff)
		}
		t.mustCommit(change("archived", changed(mustFind[*flags.Feature](t, f.Key()), archive)))
		if list, err = t.store.List(t.Context(), flags.EntityUse); err != nil || !list[0].(flags.FeatureUse).Archived {
			t.Errorf("%v (%v), want the first archived", list, err)
		}
		t.mustCommit(change("dropped", changed(mustFind[*flags.Feature](t, f.Key()), using())))
		t.wantList(flags.EntityUse, "other")
	}},
	{"more than fits into one change", func(t *trial) {
		var ids []int64
		for id := range int64(100) {
			ids = append(ids, id+1)
		}
		t.wantKind(t.commit(change("made", added(user("f", ids...)))), flags.Invalid)
		t.wantAbsent(flags.FeatureKey("f"))
		t.mustAdd(user("f", ids[:95]...)) // with the flag, its row, its project's guard, its use and the event
	}},
	{"deletion against flags that begin to use it", func(t *trial) {
		const n = 8
		for id := range int64(n) {
			s := t.mustSegment(id + 1)
			name := fmt.Sprintf("f-%d", id)
			t.mustAdd(flag("u1", name))
			f := mustFind[*flags.Feature](t, flags.FeatureKey(name))
			var (
				wg            sync.WaitGroup
				gone, started error
			)
			wg.Go(func() { gone = t.commit(change("deleted", deleted(s))) })
			wg.Go(func() { started = t.commit(change("used", changed(f, using(id+1)))) })
			wg.Wait()
			if (gone == nil) == (started == nil) {
				t.Errorf("deletion: %v, use: %v; want one of them to succeed", reason(gone), reason(started))
			}
		}
	}},
}
