package storetest

import (
	"guidon/pkg/flags"
)

func deleted(a flags.Aggregate) flags.Write { return flags.Write{Before: a} }

var deleteCases = []testCase{
	{"what is deleted is gone, and its event stays", func(t *trial) {
		for _, a := range []flags.Aggregate{FullProject(), FullUser(), FullSignupToken()} {
			t.mustAdd(a)
			read := mustFind[flags.Aggregate](t, a.Key())
			t.mustCommit(change("deleted", deleted(read)))
			t.wantAbsent(a.Key())
			if events := t.mustEvents(read); len(events) != 2 || events[1].Type != "deleted" {
				t.Errorf("%v has the events %+v, want of its making and its end", a.Key(), events)
			}
		}
	}},
	{"another writer was first", func(t *trial) {
		t.mustAdd(project("p", "u1"))
		read := mustFind[*flags.Project](t, flags.ProjectKey("p"))
		after := read.Clone()
		after.Name = "renamed"
		t.mustCommit(change("renamed", flags.Write{Before: read, After: after}))
		t.wantKind(t.commit(change("deleted", deleted(read))), flags.VersionConflict)
		t.wantVersion(read, 2)
	}},
	{"twice", func(t *trial) {
		t.mustAdd(project("p", "u1"))
		read := mustFind[*flags.Project](t, flags.ProjectKey("p"))
		t.mustCommit(change("deleted", deleted(read)))
		t.wantKind(t.commit(change("deleted", deleted(read))), flags.VersionConflict)
	}},
	{"a project that is made again is another", func(t *trial) {
		t.mustAdd(project("p", "u1"))
		first := mustFind[*flags.Project](t, flags.ProjectKey("p"))
		t.mustAdd(retired("u1", "old"))
		t.mustCommit(change("deleted", deleted(first)))
		t.mustAdd(project("p", "u2"))
		second := mustFind[*flags.Project](t, flags.ProjectKey("p"))
		t.wantNames("u2", true)
		if n := len(t.mustEvents(second)); n != 1 {
			t.Errorf("the second project has %d events, want 1", n)
		}
		// Both are at version 1: who read the first must not write over the second.
		after := first.Clone()
		after.Name = "of the first"
		t.wantKind(t.commit(change("renamed", flags.Write{Before: first, After: after})), flags.VersionConflict)
		t.wantKind(t.commit(change("deleted", deleted(first))), flags.VersionConflict)
		t.wantVersion(second, 1)
	}},
	{"a project with active flags stays", func(t *trial) {
		t.mustAdd(project("p", "u1"), flag("u1", "f"))
		read := mustFind[*flags.Project](t, flags.ProjectKey("p"))
		t.wantKind(t.commit(change("deleted", deleted(read))), flags.Conflict)
		t.wantVersion(read, 1)
		f := mustFind[*flags.Feature](t, flags.FeatureKey("f"))
		t.mustCommit(change("archived", changed(f, archive)))
		t.mustCommit(change("deleted", deleted(read)))
		t.wantAbsent(read.Key())
	}},
	{"a deleted project takes no flags", func(t *trial) {
		t.mustAdd(project("p", "u1"), retired("u1", "old"))
		t.mustCommit(change("deleted", deleted(mustFind[*flags.Project](t, flags.ProjectKey("p")))))
		for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} { // whichever guard they fall to
			t.wantKind(t.commit(change("added", added(flag("u1", name)))), flags.NotFound)
			t.wantAbsent(flags.FeatureKey(name))
		}
		old := mustFind[*flags.Feature](t, flags.FeatureKey("old"))
		t.wantKind(t.commit(change("revived", changed(old, revive))), flags.NotFound)
		t.wantVersion(old, 1)
	}},
}
