package storetest

import (
	"fmt"
	"sync"

	"github.com/google/go-cmp/cmp"

	"guidon/pkg/flags"
)

// using is what gives a flag one strategy with segments, in production, and takes those away that it had.
func using(segments ...int64) func(*flags.Feature) {
	return func(f *flags.Feature) {
		f.Environments = map[string]flags.FeatureEnvironment{"production": {
			Standing: flags.Standing{Environment: "e1"}, Strategies: []flags.Strategy{{ID: "s1", Name: "default", Segments: segments}},
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

var segmentCases = []testCase{
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
			t.wantKind(t.commit(change("deleted", deleted(s))), flags.Outdated)
			step()
		}
		t.mustCommit(change("deleted", deleted(s)))
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
		t.wantKind(t.commit(change("made", added(user("clone", 7)))), flags.Outdated) // of what was read a moment ago
		t.wantAbsent(flags.FeatureKey("clone"))
		t.wantList(flags.EntityUse)
	}},
	{"two flags of one change", func(t *trial) {
		s := t.mustSegment(7)
		t.mustCommit(change("made", added(user("a", 7)), added(user("b", 7))))
		a, b := mustFind[*flags.Feature](t, flags.FeatureKey("a")), mustFind[*flags.Feature](t, flags.FeatureKey("b"))
		t.mustCommit(change("swapped", changed(a, using()), changed(b, using(7))))
		t.wantKind(t.commit(change("deleted", deleted(s))), flags.Outdated)
		t.mustCommit(change("dropped", changed(b, using())))
		t.mustCommit(change("deleted", deleted(s)))
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
		if list, err = t.store.List(t.Context(), flags.EntityUse); err != nil || !list[0].(flags.Use).Archived {
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
