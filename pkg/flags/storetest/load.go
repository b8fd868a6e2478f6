package storetest

import (
	"fmt"
	"strings"

	"guidon/pkg/flags"
)

var loadCases = []testCase{
	{"no keys bring nothing", func(t *trial) {
		if view := t.mustLoad(); len(view) != 0 {
			t.Errorf("got %v, want nothing", view)
		}
	}},
	{"what is not there is not in the view", func(t *trial) {
		t.mustAdd(flag("u1", "there"))
		view := t.mustLoad(flags.FeatureKey("there"), flags.FeatureKey("THERE"), flags.FeatureKey("not-there"),
			flags.ProjectKey("there"), flags.EnvironmentsKey(), flags.TokenKey("there"))
		if _, there := view[flags.FeatureKey("there")]; !there || len(view) != 1 {
			t.Errorf("got %v, want the one flag alone", view)
		}
	}},
	{"every sort of aggregate in one call", func(t *trial) {
		all := []flags.Aggregate{FullFeature(), FullProject(), FullEnvironments(), FullToken()}
		t.mustAdd(all...)
		view := t.mustLoad(all[0].Key(), all[1].Key(), all[2].Key(), all[3].Key())
		for _, a := range all {
			if got := flags.VersionOf(view[a.Key()]); got != 1 {
				t.Errorf("%v is at version %d, want 1", a.Key(), got)
			}
		}
	}},
	{"more than 100 keys, some of them twice", func(t *trial) {
		var keys []flags.Key
		for i := range 12 {
			c := change("added")
			for j := range 20 {
				f := flag("u1", fmt.Sprintf("flag-%02d-%02d", i, j))
				c.Writes = append(c.Writes, added(f))
				keys = append(keys, f.Key())
			}
			t.mustCommit(c)
		}
		// Twice next to each other, twice far apart, and a whole batch that was named before.
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
	{"more than one answer can hold", func(t *trial) {
		// An answer ends at 16 MB; what it leaves out must be asked for again.
		const big, size = 46, 380 << 10
		var keys []flags.Key
		long := strings.Repeat("x", size)
		for i := range big {
			f := flag("u1", fmt.Sprintf("big-%02d", i))
			f.Description = &long
			t.mustAdd(f)
			keys = append(keys, f.Key())
		}
		view := t.mustLoad(keys...)
		for _, key := range keys {
			if f := flags.Find[*flags.Feature](view, key); f == nil || len(*f.Description) != size {
				t.Fatalf("%v is not there, or not whole: got %d flags, want %d", key, len(view), big)
			}
		}
	}},
}
