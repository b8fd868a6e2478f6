package storetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"guidon/pkg/flags"
)

var summaryCases = []testCase{
	{"a project without flags", func(t *trial) {
		for _, archived := range []bool{false, true} {
			if list := t.mustSummaries("u1", archived); list == nil || len(list) > 0 {
				t.Errorf("got %#v, want an empty list", list)
			}
		}
	}},
	{"all that a list shows", func(t *trial) {
		active := FullFeature()
		active.Name = "active"
		active.Archived, active.ArchivedAt = false, time.Time{}
		for _, f := range []*flags.Feature{FullFeature(), active} {
			t.mustAdd(f)
			got := t.mustSummaries(f.ProjectUID, f.Archived)
			if diff := cmp.Diff([]flags.FeatureSummary{f.Summary()}, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("archived=%t: the list differs (-want +got):\n%s", f.Archived, diff)
			}
		}
	}},
	{"a change shows at once", func(t *trial) {
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
			{"on", func(f *flags.Feature) { _ = f.Enable(env, func() string { return "id" }) }},
			{"a variant", func(f *flags.Feature) {
				f.SetVariants(env, []flags.Variant{{Name: "v", WeightType: flags.Variable, Stickiness: "default"}})
			}},
			{"off", func(f *flags.Feature) { f.Disable(env) }},
		}
		for _, step := range steps {
			read := mustFind[*flags.Feature](t, f.Key())
			w := changed(read, step.alter)
			t.mustCommit(change("changed", w))
			want := []flags.FeatureSummary{w.After.(*flags.Feature).Summary()}
			if diff := cmp.Diff(want, t.mustSummaries("u1", false), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("after %s the list differs (-want +got):\n%s", step.name, diff)
			}
		}
	}},
	{"archived flags have a list of their own", func(t *trial) {
		t.mustAdd(flag("u1", "a"), flag("u1", "b"))
		for range 2 {
			read := mustFind[*flags.Feature](t, flags.FeatureKey("a"))
			t.mustCommit(change("archived", changed(read, archive)))
			t.wantNames("u1", false, "b")
			t.wantNames("u1", true, "a")
			read = mustFind[*flags.Feature](t, flags.FeatureKey("a"))
			t.mustCommit(change("revived", changed(read, revive)))
			t.wantNames("u1", false, "a", "b")
			t.wantNames("u1", true)
		}
	}},
	{"in the order of names, byte by byte", func(t *trial) {
		names := []string{"a", "B", "b", "a.b", "a-b", "a_b", "a~", "aa", "A", "0", "10", "9", "~", "-", "FLAG", "archived"}
		for _, name := range names {
			t.mustAdd(flag("u1", name), retired("u1", name+".old"))
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
	{"of that project alone", func(t *trial) {
		// A project's id may be another's uid, and one uid the beginning of another.
		t.mustAdd(project("u1", "u2"), flag("u1", "one"), flag("u2", "two"), flag("u11", "eleven"), retired("u1", "one.old"), retired("u2", "two.old"))
		for uid, name := range map[string]string{"u1": "one", "u2": "two"} {
			t.wantNames(uid, false, name)
			t.wantNames(uid, true, name+".old")
		}
		t.wantNames("u", false)
		t.wantNames("u11", true)
	}},
	{"complete past one megabyte", func(t *trial) {
		const n, batch = 1600, 20
		long := strings.Repeat("d", 1000) // archived flags keep their descriptions in the list
		var names []string
		for i := 0; i < n; i += batch {
			c := change("added")
			for j := range batch {
				f := retired("u1", fmt.Sprintf("flag-%04d", i+j))
				f.Description = &long
				names = append(names, f.Name)
				c.Writes = append(c.Writes, added(f))
			}
			t.mustCommit(c)
		}
		t.wantNames("u1", true, names...)
		t.wantNames("u1", false)
	}},
}
