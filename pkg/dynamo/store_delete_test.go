package dynamo_test

import (
	"guidon/pkg/dynamo"
	"guidon/pkg/flags"
)

// deletion returns a write that deletes an aggregate.
func deletion(a flags.Aggregate) flags.Write { return flags.Write{Before: a} }

var deleteCases = []testCase{
	{"deleted aggregates are removed and their events stay", func(t *storeTest) {
		for _, a := range []flags.Aggregate{dynamo.FullProject(), dynamo.FullUser(), dynamo.FullSignupToken()} {
			t.mustAdd(a)
			read := mustFind[flags.Aggregate](t, a.Key())
			t.mustCommit(change("deleted", deletion(read)))
			t.wantAbsent(a.Key())
			if events := t.mustEvents(read); len(events) != 2 || events[1].Type != "deleted" {
				t.Errorf("%v has the events %+v, want those of its creation and deletion", a.Key(), events)
			}
		}
	}},
	{"another writer was first", func(t *storeTest) {
		t.mustAdd(project("p", "u1"))
		read := mustFind[*flags.Project](t, flags.ProjectKey("p"))
		after := read.Clone()
		after.Name = "renamed"
		t.mustCommit(change("renamed", flags.Write{Before: read, After: after}))
		t.wantKind(t.commit(change("deleted", deletion(read))), flags.VersionConflict)
		t.wantVersion(read, 2)
	}},
	{"deleting twice", func(t *storeTest) {
		t.mustAdd(project("p", "u1"))
		read := mustFind[*flags.Project](t, flags.ProjectKey("p"))
		t.mustCommit(change("deleted", deletion(read)))
		t.wantKind(t.commit(change("deleted", deletion(read))), flags.VersionConflict)
	}},
	{"a project created again is a new one", func(t *storeTest) {
		t.mustAdd(project("p", "u1"))
		first := mustFind[*flags.Project](t, flags.ProjectKey("p"))
		t.mustAdd(archivedFlag("u1", "old"))
		t.mustCommit(change("deleted", deletion(first)))
		t.mustAdd(project("p", "u2"))
		second := mustFind[*flags.Project](t, flags.ProjectKey("p"))
		t.wantNames("u2", true)
		if n := len(t.mustEvents(second)); n != 1 {
			t.Errorf("the second project has %d events, want 1", n)
		}
		// Both are at version 1, but a change of the first must not overwrite the second.
		after := first.Clone()
		after.Name = "of the first"
		t.wantKind(t.commit(change("renamed", flags.Write{Before: first, After: after})), flags.VersionConflict)
		t.wantKind(t.commit(change("deleted", deletion(first))), flags.VersionConflict)
		t.wantVersion(second, 1)
	}},
	{"a project with active flags cannot be deleted", func(t *storeTest) {
		t.mustAdd(project("p", "u1"), flag("u1", "f"))
		read := mustFind[*flags.Project](t, flags.ProjectKey("p"))
		t.wantKind(t.commit(change("deleted", deletion(read))), flags.Conflict)
		t.wantVersion(read, 1)
		f := mustFind[*flags.Feature](t, flags.FeatureKey("f"))
		t.mustCommit(change("archived", write(f, archive)))
		t.mustCommit(change("deleted", deletion(read)))
		t.wantAbsent(read.Key())
	}},
	{"a deleted project accepts no flags", func(t *storeTest) {
		t.mustAdd(project("p", "u1"), archivedFlag("u1", "old"))
		t.mustCommit(change("deleted", deletion(mustFind[*flags.Project](t, flags.ProjectKey("p")))))
		for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} { // names of different guards
			t.wantKind(t.commit(change("added", addition(flag("u1", name)))), flags.NotFound)
			t.wantAbsent(flags.FeatureKey(name))
		}
		old := mustFind[*flags.Feature](t, flags.FeatureKey("old"))
		t.wantKind(t.commit(change("revived", write(old, revive))), flags.NotFound)
		t.wantVersion(old, 1)
	}},
}
