package dynamo_test

import (
	"fmt"
	"strings"

	"guidon/pkg/access"
	"guidon/pkg/dynamo"
	"guidon/pkg/flags"
)

var refuseCases = []testCase{
	{"another writer was first", func(t *storeTest) {
		t.mustAdd(flag("u1", "f"))
		read := mustFind[*flags.Feature](t, flags.FeatureKey("f"))
		t.mustCommit(change("first", write(read, describe("first"))))
		t.wantKind(t.commit(change("second", write(read, describe("second")))), flags.VersionConflict)
		t.wantVersion(read, 2)
		if got := mustFind[*flags.Feature](t, read.Key()); *got.Description != "first" {
			t.Errorf("description is %q, want the first one's", *got.Description)
		}
	}},
	{"another writer was first, with the same content", func(t *storeTest) {
		t.mustAdd(flag("u1", "f"))
		read := mustFind[*flags.Feature](t, flags.FeatureKey("f"))
		t.mustCommit(change("first", write(read, describe("same"))))
		t.wantKind(t.commit(change("second", write(read, describe("same")))), flags.VersionConflict)
		t.wantVersion(read, 2)
	}},
	{"a change of an unknown flag", func(t *storeTest) {
		ghost := flag("u1", "ghost")
		ghost.Version = 1
		t.wantKind(t.commit(change("changed", write(ghost, describe("boo")))), flags.VersionConflict)
		t.wantAbsent(ghost.Key())
		t.wantNames("u1", false)
	}},
	{"all writes or none", func(t *storeTest) {
		for _, c := range []struct {
			name  string
			stale int // index of the write that fails
		}{{"first", 0}, {"middle", 1}, {"last", 2}} {
			c3 := change("changed")
			for i := range 3 {
				name := fmt.Sprintf("%s-%d", c.name, i)
				t.mustAdd(flag(c.name, name))
				read := mustFind[*flags.Feature](t, flags.FeatureKey(name))
				if i == c.stale {
					t.mustCommit(change("meanwhile", write(read, describe("meanwhile"))))
				}
				c3.Writes = append(c3.Writes, write(read, archive))
			}
			c3.Writes = append(c3.Writes, addition(flag(c.name, c.name+"-new")))
			t.wantKind(t.commit(c3), flags.VersionConflict)
			t.wantAbsent(flags.FeatureKey(c.name + "-new"))
			t.wantNames(c.name, false, c.name+"-0", c.name+"-1", c.name+"-2")
			t.wantNames(c.name, true)
			for i := range 3 {
				want := int64(1)
				if i == c.stale {
					want = 2
				}
				t.wantVersion(flag(c.name, fmt.Sprintf("%s-%d", c.name, i)), want)
			}
		}
	}},
	{"new aggregates that exist already", func(t *storeTest) {
		old := archivedFlag("u1", "archived")
		all := []flags.Aggregate{flag("u1", "active"), old, dynamo.FullProject(), dynamo.FullEnvironments(), dynamo.FullToken()}
		t.mustAdd(all...)
		elsewhere := flag("u2", "active")
		again := dynamo.FullProject()
		again.UID, again.Name = "99999999", "Another"
		for _, a := range append(all, elsewhere, archivedFlag("u2", "active"), flag("u2", "archived"), again) {
			err := t.commit(change("again", addition(a)))
			want := flags.NameExists
			if a.Key().Entity == flags.EntityEnvironments {
				want = flags.VersionConflict // a registry has no name; another writer created it first
			}
			t.wantKind(err, want)
			if a.Key().Entity == access.EntityToken && strings.Contains(err.Error(), a.Key().ID) {
				t.Errorf("the message contains the hash of the token: %s", err)
			}
		}
		for _, a := range all {
			t.wantVersion(a, 1)
		}
		t.wantNames("u2", false)
		t.wantNames("u2", true)
	}},
	{"one of several new aggregates exists already", func(t *storeTest) {
		t.mustAdd(flag("u1", "there"))
		t.wantKind(t.commit(change("added", addition(flag("u1", "new")), addition(flag("u1", "there")))), flags.NameExists)
		t.wantAbsent(flags.FeatureKey("new"))
		t.wantNames("u1", false, "there")
	}},
	{"larger than the maximum size", func(t *storeTest) {
		t.mustAdd(flag("u1", "small"))
		small := mustFind[*flags.Feature](t, flags.FeatureKey("small"))
		huge := strings.Repeat("z", 400<<10)
		large := flag("u1", "large")
		large.Description = &huge
		for _, c := range []flags.Change{
			change("added", addition(large)),
			change("grown", write(small, describe(huge))),
			change("both", write(small, describe("fits")), addition(large)),
		} {
			err := t.commit(c)
			t.wantKind(err, flags.Invalid)
			if !strings.Contains(err.Error(), "400 KiB") {
				t.Errorf("%s: the message %q does not name the limit", c.Event.Type, err)
			}
		}
		t.wantAbsent(large.Key())
		t.wantVersion(small, 1)
		t.wantNames("u1", false, "small")
	}},
}
