package dynamo_test

import (
	"fmt"

	"guidon/pkg/access"
	"guidon/pkg/dynamo"
	"guidon/pkg/flags"
)

var loadCases = []testCase{
	{"no keys", func(t *storeTest) {
		if view := t.mustLoad(); len(view) != 0 {
			t.Errorf("got %v, want nothing", view)
		}
	}},
	{"unknown keys are missing in the view", func(t *storeTest) {
		t.mustAdd(flag("u1", "there"))
		view := t.mustLoad(flags.FeatureKey("there"), flags.FeatureKey("THERE"), flags.FeatureKey("not-there"),
			flags.ProjectKey("there"), flags.EnvironmentsKey(), access.TokenKey("there"))
		if _, there := view[flags.FeatureKey("there")]; !there || len(view) != 1 {
			t.Errorf("got %v, want the one flag alone", view)
		}
	}},
	{"different kinds of aggregates in one call", func(t *storeTest) {
		all := []flags.Aggregate{dynamo.FullFeature(), dynamo.FullProject(), dynamo.FullEnvironments(), dynamo.FullToken()}
		t.mustAdd(all...)
		view := t.mustLoad(all[0].Key(), all[1].Key(), all[2].Key(), all[3].Key())
		for _, a := range all {
			if got := flags.VersionOf(view[a.Key()]); got != 1 {
				t.Errorf("%v is at version %d, want 1", a.Key(), got)
			}
		}
	}},
	{"more than 100 keys with duplicates", func(t *storeTest) {
		var keys []flags.Key
		for i := range 12 {
			c := change("added")
			for j := range 20 {
				f := flag("u1", fmt.Sprintf("flag-%02d-%02d", i, j))
				c.Writes = append(c.Writes, addition(f))
				keys = append(keys, f.Key())
			}
			t.mustCommit(c)
		}
		// Duplicates next to each other, far apart, and a whole batch of duplicates.
		asked := append([]flags.Key{keys[0], keys[0], keys[239]}, keys...)
		asked = append(asked, keys...)
		view := t.mustLoad(asked...)
		if len(view) != len(keys) {
			t.Errorf("got %d flags, want %d", len(view), len(keys))
		}
		for _, key := range keys {
			if f := flags.Find[*flags.Feature](view, key); f == nil || f.Name != key.ID {
				t.Errorf("at %v got %+v", key, f)
			}
		}
	}},
}
