package dynamo_test

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/google/go-cmp/cmp"

	"guidon/pkg/flags"
)

// useSegments gives a flag a single strategy, in production, with these segments.
func useSegments(segments ...int64) func(*flags.Feature) {
	return func(f *flags.Feature) {
		f.Environments = map[string]flags.FeatureEnvironment{"production": {
			EnvironmentState: flags.EnvironmentState{EnvironmentUID: "e1"}, Strategies: []flags.Strategy{{ID: "s1", Name: "default", Segments: segments}},
		}}
	}
}

func flagUsing(name string, segments ...int64) *flags.Feature {
	f := flag("u1", name)
	useSegments(segments...)(f)
	return f
}

func segment(id int64) *flags.Segment {
	return &flags.Segment{ID: id, Name: fmt.Sprintf("segment %d", id), CreatedAt: at, CreatedBy: "test"}
}

// mustSegment adds a segment and loads it.
func (t *storeTest) mustSegment(id int64) *flags.Segment {
	t.Helper()
	t.mustAdd(segment(id))
	return mustFind[*flags.Segment](t, flags.SegmentKey(id))
}

// segmentWithUseCount loads a segment with its use count, as a change must do that deletes the segment or
// assigns it to a project.
func (t *storeTest) segmentWithUseCount(id int64) *flags.Segment {
	t.Helper()
	view := t.mustLoad(flags.SegmentKey(id), flags.UseCountKey(id))
	s := flags.Find[*flags.Segment](view, flags.SegmentKey(id))
	if count := flags.Find[*flags.UseCount](view, flags.UseCountKey(id)); count != nil {
		s.UseCount = count.Count
	}
	return s
}

// assignToProject returns a write that assigns a segment to a project, or to all projects if projectUID is "".
func assignToProject(s *flags.Segment, projectUID string) flags.Write {
	after := s.Clone()
	after.Project, after.ProjectUID = projectUID, projectUID
	return flags.Write{Before: s, After: after}
}

// setDefaultStrategy returns a write that gives a project a default strategy in an environment.
func setDefaultStrategy(before *flags.Project, attachment string, segments ...int64) flags.Write {
	after := before.Clone()
	after.Environments = map[string]flags.Attachment{"production": {
		ID: attachment, EnvironmentUID: "e1", DefaultStrategy: &flags.Strategy{Name: "default", Segments: segments},
	}}
	return flags.Write{Before: before, After: after}
}

var segmentCases = []testCase{
	{"a segment with a new use is neither deleted nor assigned to a project", func(t *storeTest) {
		t.mustAdd(project("shop", "u1"), project("other", "u2"))
		begin := map[string]func(id int64) flags.Write{
			"by a flag": func(id int64) flags.Write {
				name := fmt.Sprintf("f-%d", id)
				t.mustAdd(flag("u1", name))
				return write(mustFind[*flags.Feature](t, flags.FeatureKey(name)), useSegments(id))
			},
			"by a default strategy": func(id int64) flags.Write {
				return setDefaultStrategy(mustFind[*flags.Project](t, flags.ProjectKey("shop")), "a1", id)
			},
			"by the default strategy of an environment that is attached again": func(id int64) flags.Write {
				t.mustCommit(change("standard", setDefaultStrategy(mustFind[*flags.Project](t, flags.ProjectKey("shop")), "a1", id)))
				return setDefaultStrategy(mustFind[*flags.Project](t, flags.ProjectKey("shop")), "a2", id)
			},
			"by a flag that is moved": func(id int64) flags.Write {
				name := fmt.Sprintf("f-%d", id)
				t.mustAdd(flagUsing(name, id))
				return write(mustFind[*flags.Feature](t, flags.FeatureKey(name)), func(f *flags.Feature) { f.Project, f.ProjectUID = "other", "u2" })
			},
		}
		id := int64(0)
		for _, name := range slices.Sorted(maps.Keys(begin)) {
			id++
			t.mustAdd(segment(id))
			use := begin[name](id)
			before := t.segmentWithUseCount(id)
			t.mustCommit(change("used", use))
			t.wantKind(t.commit(change("given", assignToProject(before, "u3"))), flags.VersionConflict)
			t.wantKind(t.commit(change("deleted", deletion(before))), flags.VersionConflict)
			t.mustCommit(change("given", assignToProject(t.segmentWithUseCount(id), "u3"))) // this change has seen the use
			if t.Failed() {
				t.Errorf("used %s", name)
			}
		}
	}},
	{"a segment of a project is not used in another", func(t *storeTest) {
		s := segment(7)
		s.Project, s.ProjectUID = "shop", "u1"
		t.mustAdd(project("shop", "u1"), project("other", "u2"), s, flag("u1", "ours"), flag("u2", "theirs"))
		theirs := func() *flags.Feature { return mustFind[*flags.Feature](t, flags.FeatureKey("theirs")) }
		other := func() *flags.Project { return mustFind[*flags.Project](t, flags.ProjectKey("other")) }
		t.mustCommit(change("used", write(mustFind[*flags.Feature](t, flags.FeatureKey("ours")), useSegments(7))))
		t.wantKind(t.commit(change("used", write(theirs(), useSegments(7)))), flags.Invalid)
		t.wantKind(t.commit(change("standard", setDefaultStrategy(other(), "a1", 7))), flags.Invalid)
		t.wantVersion(other(), 1)
		moved := write(mustFind[*flags.Feature](t, flags.FeatureKey("ours")), func(f *flags.Feature) { f.Project, f.ProjectUID = "other", "u2" })
		t.wantKind(t.commit(change("moved", moved)), flags.VersionConflict) // the segment belonged to all projects when the flag was moved
		t.mustCommit(change("given back", assignToProject(t.segmentWithUseCount(7), "")))
		t.mustCommit(change("used", write(theirs(), useSegments(7))))
		t.mustCommit(change("standard", setDefaultStrategy(other(), "a1", 7)))
		t.mustCommit(change("given", assignToProject(t.segmentWithUseCount(7), "u2")))
		ours := write(mustFind[*flags.Feature](t, flags.FeatureKey("ours")), describe("still"))
		t.mustCommit(change("described", ours)) // segments in use stay
	}},
	{"a strategy in another environment is a new use", func(t *storeTest) {
		t.mustAdd(segment(7), flagUsing("f", 7))
		before := t.segmentWithUseCount(7)
		t.mustCommit(change("used", write(mustFind[*flags.Feature](t, flags.FeatureKey("f")), func(f *flags.Feature) {
			f.Environments = map[string]flags.FeatureEnvironment{"production": f.Environments["production"], "development": {
				EnvironmentState: flags.EnvironmentState{EnvironmentUID: "e2"}, Strategies: []flags.Strategy{{ID: "s2", Name: "default", Segments: []int64{7}}},
			}}
		})))
		t.wantKind(t.commit(change("given", assignToProject(before, "u3"))), flags.VersionConflict)
	}},
	{"a segment in use cannot be deleted", func(t *storeTest) {
		s := t.mustSegment(7)
		t.mustAdd(flagUsing("a", 7, 8), flagUsing("b", 7))
		for _, step := range []func(){
			func() {
				t.mustCommit(change("another", write(mustFind[*flags.Feature](t, flags.FeatureKey("a")), useSegments(8))))
			},
			func() {
				t.mustCommit(change("renamed", write(mustFind[*flags.Feature](t, flags.FeatureKey("b")), describe("other"))))
			},
			func() {
				t.mustCommit(change("archived", write(mustFind[*flags.Feature](t, flags.FeatureKey("b")), archive)))
			},
			func() {
				t.mustCommit(change("dropped", write(mustFind[*flags.Feature](t, flags.FeatureKey("b")), useSegments())))
			},
		} {
			t.wantKind(t.commit(change("deleted", deletion(t.segmentWithUseCount(7)))), flags.VersionConflict)
			step()
		}
		t.mustCommit(change("deleted", deletion(t.segmentWithUseCount(7))))
		t.wantAbsent(s.Key())
		t.wantList(flags.EntitySegment)
	}},
	{"flags that use a segment are counted", func(t *storeTest) {
		t.mustSegment(7)
		b := func() *flags.Feature { return mustFind[*flags.Feature](t, flags.FeatureKey("b")) }
		for _, step := range []struct {
			name  string
			write func() flags.Write
			want  int64
		}{
			{"created", func() flags.Write { return addition(flagUsing("a", 7, 8)) }, 1},
			{"another", func() flags.Write { return addition(flagUsing("b", 7)) }, 2},
			{"in a second environment", func() flags.Write {
				return write(b(), func(f *flags.Feature) {
					f.Environments = map[string]flags.FeatureEnvironment{"production": f.Environments["production"], "development": {
						EnvironmentState: flags.EnvironmentState{EnvironmentUID: "e2"}, Strategies: []flags.Strategy{{ID: "s2", Name: "default", Segments: []int64{7}}},
					}}
				})
			}, 2},
			{"archived", func() flags.Write { return write(b(), archive) }, 2},
			{"dropped", func() flags.Write { return write(b(), useSegments()) }, 1},
		} {
			t.mustCommit(change(flags.EventType(step.name), step.write()))
			if got := mustFind[*flags.UseCount](t, flags.UseCountKey(7)); got.Flags != step.want {
				t.Errorf("%s: %d flags, want %d", step.name, got.Flags, step.want)
			}
		}
	}},
	{"a deleted segment cannot be used", func(t *storeTest) {
		s := t.mustSegment(7)
		t.mustAdd(flag("u1", "f"))
		f := mustFind[*flags.Feature](t, flags.FeatureKey("f"))
		t.mustCommit(change("deleted", deletion(s)))
		t.wantKind(t.commit(change("used", write(f, useSegments(7)))), flags.Invalid)
		t.wantVersion(f, 1)
		t.wantKind(t.commit(change("made", addition(flagUsing("clone", 7)))), flags.VersionConflict) // the segment was deleted after it was read
		t.wantAbsent(flags.FeatureKey("clone"))
		t.wantList(flags.EntityUse)
	}},
	{"two flags in one change", func(t *storeTest) {
		t.mustAdd(segment(7))
		t.mustCommit(change("made", addition(flagUsing("a", 7)), addition(flagUsing("b", 7))))
		a, b := mustFind[*flags.Feature](t, flags.FeatureKey("a")), mustFind[*flags.Feature](t, flags.FeatureKey("b"))
		t.mustCommit(change("swapped", write(a, useSegments()), write(b, useSegments(7))))
		t.wantKind(t.commit(change("deleted", deletion(t.segmentWithUseCount(7)))), flags.VersionConflict)
		t.mustCommit(change("dropped", write(b, useSegments())))
		t.mustCommit(change("deleted", deletion(t.segmentWithUseCount(7))))
	}},
	{"two segments of the same name", func(t *storeTest) {
		s := t.mustSegment(7)
		second := segment(8)
		second.Name = s.Name
		t.wantKind(t.commit(change("added", addition(second))), flags.NameExists)
		after := s.Clone()
		after.Name = "renamed"
		t.mustCommit(change("renamed", flags.Write{Before: s, After: after}))
		t.mustAdd(second)
		t.mustCommit(change("deleted", deletion(mustFind[*flags.Segment](t, flags.SegmentKey(7)))))
		third := segment(9)
		third.Name = "renamed"
		t.mustAdd(third)
		t.wantList(flags.EntitySegment, "8", "9")
	}},
	{"uses of a flag are listed", func(t *storeTest) {
		f := flagUsing("f", 7)
		f.Environments["production"].Strategies[0].Constraints = []flags.Constraint{{ContextName: "country", Operator: "IN", Values: []string{"NO"}}}
		t.mustAdd(f, flag("u1", "plain"), flagUsing("other", 9))
		t.wantList(flags.EntityUse, "f", "other")
		want := []flags.Aggregate{mustFind[*flags.Feature](t, f.Key()).Use(), flagUsing("other", 9).Use()}
		list, err := t.store.List(t.Context(), flags.EntityUse)
		if err != nil {
			t.Fatal(reason(err))
		}
		if diff := cmp.Diff(want, list); diff != "" {
			t.Errorf("uses (-want +got):\n%s", diff)
		}
		t.mustCommit(change("archived", write(mustFind[*flags.Feature](t, f.Key()), archive)))
		if list, err = t.store.List(t.Context(), flags.EntityUse); err != nil || !list[0].(flags.FeatureUse).Archived {
			t.Errorf("%v (%v), want the first archived", list, err)
		}
		t.mustCommit(change("dropped", write(mustFind[*flags.Feature](t, f.Key()), useSegments())))
		t.wantList(flags.EntityUse, "other")
	}},
	{"more segments than one change can have", func(t *storeTest) {
		var ids []int64
		for id := range int64(100) {
			ids = append(ids, id+1)
		}
		t.wantKind(t.commit(change("made", addition(flagUsing("f", ids...)))), flags.Invalid)
		t.wantAbsent(flags.FeatureKey("f"))
		t.mustAdd(flagUsing("f", ids[:94]...)) // plus the flag, its list row, its project's guard, its use, the event and the feed
	}},
	{"concurrent deletion and use", func(t *storeTest) {
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
			wg.Go(func() { gone = t.commit(change("deleted", deletion(s))) })
			wg.Go(func() { started = t.commit(change("used", write(f, useSegments(id+1)))) })
			wg.Wait()
			if (gone == nil) == (started == nil) {
				t.Errorf("deletion: %v, use: %v; want one of them to succeed", reason(gone), reason(started))
			}
		}
	}},
}
