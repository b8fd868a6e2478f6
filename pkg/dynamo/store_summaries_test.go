package dynamo_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"guidon/pkg/dynamo"
	"guidon/pkg/flags"
)

var summaryCases = []testCase{
	{"a project without flags", func(t *storeTest) {
		for _, archived := range []bool{false, true} {
			if list := t.mustSummaries("u1", archived); list == nil || len(list) > 0 {
				t.Errorf("got %#v, want an empty list", list)
			}
		}
	}},
	{"all fields of a summary", func(t *storeTest) {
		active := dynamo.FullFeature()
		active.Name = "active"
		active.Archived, active.ArchivedAt = false, time.Time{}
		for _, f := range []*flags.Feature{dynamo.FullFeature(), active} {
			t.mustAdd(f)
			got := t.mustSummaries(f.ProjectUID, f.Archived)
			if diff := cmp.Diff([]flags.FeatureSummary{f.Summary()}, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("archived=%t: the list differs (-want +got):\n%s", f.Archived, diff)
			}
		}
	}},
	{"changes are visible at once", func(t *storeTest) {
		f := flag("u1", "f")
		t.mustAdd(f)
		env := flags.ProjectEnvironment{
			Environment: flags.Environment{Name: "production", UID: "e1"}, Attachment: flags.Attachment{ID: "a1"},
		}
		steps := []struct {
			name  string
			alter func(*flags.Feature)
		}{
			{"stale", func(f *flags.Feature) { f.Stale = true }},
			{"type", func(f *flags.Feature) { f.Type = flags.KillSwitch }},
			{"a strategy", func(f *flags.Feature) {
				f.Environments = map[string]flags.FeatureEnvironment{"production": {
					EnvironmentState: flags.EnvironmentState{EnvironmentUID: "e1"}, Strategies: []flags.Strategy{{ID: "s", Name: "default"}},
				}}
			}},
			{"on", func(f *flags.Feature) { _ = f.Enable(env, func() string { return "id" }, time.Time{}) }},
			{"a variant", func(f *flags.Feature) {
				f.SetVariants(env, []flags.Variant{{Name: "v", WeightType: flags.Variable, Stickiness: "default"}})
			}},
			{"off", func(f *flags.Feature) { f.Disable(env) }},
		}
		for _, step := range steps {
			read := mustFind[*flags.Feature](t, f.Key())
			w := write(read, step.alter)
			t.mustCommit(change("changed", w))
			want := []flags.FeatureSummary{w.After.(*flags.Feature).Summary()}
			if diff := cmp.Diff(want, t.mustSummaries("u1", false), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("after %s the list differs (-want +got):\n%s", step.name, diff)
			}
		}
	}},
	{"archived flags are listed separately", func(t *storeTest) {
		t.mustAdd(flag("u1", "a"), flag("u1", "b"))
		for range 2 {
			read := mustFind[*flags.Feature](t, flags.FeatureKey("a"))
			t.mustCommit(change("archived", write(read, archive)))
			t.wantNames("u1", false, "b")
			t.wantNames("u1", true, "a")
			read = mustFind[*flags.Feature](t, flags.FeatureKey("a"))
			t.mustCommit(change("revived", write(read, revive)))
			t.wantNames("u1", false, "a", "b")
			t.wantNames("u1", true)
		}
	}},
	{"sorted by name, byte by byte", func(t *storeTest) {
		names := []string{"a", "B", "b", "a.b", "a-b", "a_b", "a~", "aa", "A", "0", "10", "9", "~", "-", "FLAG", "archived"}
		for _, name := range names {
			t.mustAdd(flag("u1", name), archivedFlag("u1", name+".old"))
		}
		slices.Sort(names)
		t.wantNames("u1", false, names...)
		var old []string
		for _, name := range names {
			old = append(old, name+".old")
		}
		slices.Sort(old)
		t.wantNames("u1", true, old...)
	}},
	{"only flags of the project", func(t *storeTest) {
		// The ID of one project is the UID of another, and one UID is a prefix of another.
		t.mustAdd(project("u1", "u2"), flag("u1", "one"), flag("u2", "two"), flag("u11", "eleven"), archivedFlag("u1", "one.old"), archivedFlag("u2", "two.old"))
		for uid, name := range map[string]string{"u1": "one", "u2": "two"} {
			t.wantNames(uid, false, name)
			t.wantNames(uid, true, name+".old")
		}
		t.wantNames("u", false)
		t.wantNames("u11", true)
	}},
	{"complete over one megabyte", func(t *storeTest) {
		const n, batch = 1600, 20
		long := strings.Repeat("d", 1000) // archived flags keep their descriptions in the list
		var names []string
		for i := 0; i < n; i += batch {
			c := change("added")
			for j := range batch {
				f := archivedFlag("u1", fmt.Sprintf("flag-%04d", i+j))
				f.Description = &long
				names = append(names, f.Name)
				c.Writes = append(c.Writes, addition(f))
			}
			t.mustCommit(c)
		}
		t.wantNames("u1", true, names...)
		t.wantNames("u1", false)
		t.wantPage(flags.SummaryQuery{Archived: true, Limit: n - 1}, true, names[:n-1]...)
		t.wantPage(flags.SummaryQuery{Archived: true, Limit: n}, false, names...)
		t.wantPage(flags.SummaryQuery{Archived: true, After: names[7], Limit: n}, false, names[8:]...)
	}},
	{"pages", func(t *storeTest) {
		names := []string{"-", "A", "a", "a-b", "a.b", "aa", "aab", "b", "~"}
		for _, name := range names {
			f := flag("u1", name)
			f.Tags = []flags.Tag{{Type: "length", Value: fmt.Sprint(len(name))}, {Type: "simple", Value: "all"}}
			t.mustAdd(f, archivedFlag("u1", name+".old"), flag("u11", name+"-other"))
		}
		old := oldNames(names)
		for i := range names {
			t.wantPage(flags.SummaryQuery{After: names[i], Limit: 20}, false, names[i+1:]...)
			t.wantPage(flags.SummaryQuery{Limit: i + 1}, i+1 < len(names), names[:i+1]...)
			t.wantPage(flags.SummaryQuery{Archived: true, After: old[i], Limit: 1}, i+2 < len(old), old[i+1:min(i+2, len(old))]...)
		}
		long := flags.Tag{Type: "length", Value: "3"}
		t.wantPage(flags.SummaryQuery{Prefix: "a", Limit: 2}, true, "a", "a-b")
		t.wantPage(flags.SummaryQuery{Prefix: "a", After: "a-b", Limit: 20}, false, "a.b", "aa", "aab")
		t.wantPage(flags.SummaryQuery{Prefix: "aa", After: "a", Limit: 20}, false, "aa", "aab")
		t.wantPage(flags.SummaryQuery{Prefix: "a", After: "b", Limit: 20}, false)
		t.wantPage(flags.SummaryQuery{Prefix: "a#", Limit: 20}, false)
		t.wantPage(flags.SummaryQuery{Prefix: strings.Repeat("a", 2000), Limit: 20}, false)
		t.wantPage(flags.SummaryQuery{Tags: []flags.Tag{long}, Limit: 2}, true, "a-b", "a.b")
		t.wantPage(flags.SummaryQuery{Tags: []flags.Tag{long, {Type: "length", Value: "2"}}, After: "a.b", Limit: 2}, false, "aa", "aab")
		t.wantPage(flags.SummaryQuery{Tags: []flags.Tag{{Type: "simple", Value: "3"}}, Limit: 2}, false)
	}},
}

// oldNames returns the names of archived flags, sorted.
func oldNames(names []string) []string {
	var old []string
	for _, name := range names {
		old = append(old, name+".old")
	}
	slices.Sort(old)
	return old
}
