package dynamo_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"guidon/pkg/access"
	"guidon/pkg/dynamo"
	"guidon/pkg/flags"
)

// wantList checks the IDs in a list, in any order.
func (t *storeTest) wantList(entity flags.Entity, want ...string) {
	t.Helper()
	list, err := t.store.List(t.Context(), entity)
	if err != nil {
		t.Fatalf("list of %s: %v", entity, reason(err))
	}
	got := []string{}
	for _, a := range list {
		got = append(got, a.Key().ID)
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("list of %s (-want +got):\n%s", entity, diff)
	}
}

var listCases = []testCase{
	{"lists contain one entity only", func(t *storeTest) {
		for _, entity := range []flags.Entity{flags.EntityProject, access.EntityToken, access.EntityUser, access.EntitySignupToken} {
			t.wantList(entity)
		}
		active := dynamo.FullToken()
		active.Hash, active.Name, active.Deleted = "1", "active", false
		personal := &access.Token{Hash: "2", Name: "p", Type: access.PersonalToken}
		t.mustAdd(dynamo.FullProject(), project("p", "u1"), dynamo.FullToken(), active, personal, dynamo.FullUser(), dynamo.FullSignupToken(), dynamo.FullFeature(), dynamo.FullRoles())
		if err := t.store.Touch(t.Context(), dynamo.FullTokenUse()); err != nil {
			t.Fatal(reason(err))
		}
		t.wantList(flags.EntityProject, "shop", "p")
		t.wantList(access.EntityToken, "1")
		t.wantList(access.EntityUser, "3")
		t.wantList(access.EntitySignupToken, dynamo.FullSignupToken().Hash)
	}},
	{"changes are listed at once", func(t *storeTest) {
		t.mustAdd(dynamo.FullProject())
		read := mustFind[*flags.Project](t, dynamo.FullProject().Key())
		after := read.Clone()
		after.Name = "renamed"
		t.mustCommit(change("renamed", flags.Write{Before: read, After: after}))
		list, err := t.store.List(t.Context(), flags.EntityProject)
		if err != nil || len(list) != 1 {
			t.Fatalf("got %d projects (%v), want 1", len(list), err)
		}
		wantSame(t, list[0], flags.Aggregate(after), cmpopts.IgnoreFields(flags.Project{}, "Version"))
		t.mustCommit(change("deleted", deletion(mustFind[*flags.Project](t, read.Key()))))
		t.wantList(flags.EntityProject)
	}},
	{"complete over one megabyte", func(t *storeTest) {
		var want []string
		for i := range 30 {
			p := project(fmt.Sprintf("p-%02d", i), fmt.Sprintf("uid-%d", i))
			p.Description = strings.Repeat("d", 50_000)
			t.mustAdd(p)
			want = append(want, p.ID)
		}
		t.wantList(flags.EntityProject, want...)
	}},
	{"IDs are never repeated", func(t *storeTest) {
		const callers = 32
		var mu sync.Mutex
		seen := map[int64]int{}
		var wg sync.WaitGroup
		for range callers {
			wg.Go(func() {
				id, err := t.store.NextID(t.Context(), access.EntityUser)
				if err != nil {
					t.Errorf("next id: %v", reason(err))
				}
				mu.Lock()
				defer mu.Unlock()
				seen[id]++
			})
		}
		wg.Wait()
		if len(seen) != callers || seen[0] > 0 {
			t.Errorf("%d callers got %d ids: %v", callers, len(seen), seen)
		}
		if id, err := t.store.NextID(t.Context(), access.EntitySignupToken); err != nil || id != 1 {
			t.Errorf("the first id of another entity is %d (%v), want 1", id, err)
		}
	}},
	{"last use of a token", func(t *storeTest) {
		for i := range 2 {
			seen := &access.TokenUse{Hash: "abcd", At: at.Add(time.Duration(i) * time.Hour)}
			if err := t.store.Touch(t.Context(), seen); err != nil {
				t.Fatal(reason(err))
			}
			wantSame(t, mustFind[*access.TokenUse](t, access.TokenUseKey("abcd")), seen)
		}
	}},
	{"a later last use stays", func(t *storeTest) {
		earlier, later := &access.TokenUse{Hash: "abcd", At: at}, &access.TokenUse{Hash: "abcd", At: at.Add(time.Minute)}
		for _, use := range []*access.TokenUse{earlier, later, later, earlier} {
			if err := t.store.Touch(t.Context(), use); err != nil {
				t.Fatal(reason(err))
			}
		}
		wantSame(t, mustFind[*access.TokenUse](t, access.TokenUseKey("abcd")), later)
	}},
}

var countCases = []testCase{
	{"counts of active and stale flags", func(t *storeTest) {
		t.wantCounts("u1", 0, 0)
		for i := range 20 {
			f := flag("u1", fmt.Sprintf("f-%d", i))
			f.Stale = i < 5
			t.mustAdd(f, flag("u2", fmt.Sprintf("other-%d", i)))
		}
		t.wantCounts("u1", 20, 5)
		read := mustFind[*flags.Feature](t, flags.FeatureKey("f-0"))
		t.mustCommit(change("archived", write(read, archive)))
		t.wantCounts("u1", 19, 4)
		_ = t.commit(change("archived", write(read, archive)))
		t.wantCounts("u1", 19, 4) // a refused change does not count
	}},
	{"a moved flag is counted and listed in its new project only", func(t *storeTest) {
		from, to := project("from", "u1"), project("to", "u2")
		t.mustAdd(from, to)
		for i := range 20 {
			f := flag("u1", fmt.Sprintf("f-%d", i))
			f.Stale = i < 5
			t.mustAdd(f)
		}
		for i := range 8 {
			t.move(fmt.Sprintf("f-%d", i), to)
		}
		t.wantCounts("u1", 12, 0)
		t.wantCounts("u2", 8, 5)
		t.wantNames("u2", false, "f-0", "f-1", "f-2", "f-3", "f-4", "f-5", "f-6", "f-7")
		t.mustCommit(change("archived", write(mustFind[*flags.Feature](t, flags.FeatureKey("f-0")), archive)))
		t.move("f-1", from)
		t.wantCounts("u1", 13, 1)
		t.wantCounts("u2", 6, 3)
		t.wantNames("u2", true, "f-0")
		t.wantVersion(flag("u1", "f-1"), 3)
	}},
	{"a flag cannot move to a deleted project, and a project with a moved flag cannot be deleted", func(t *storeTest) {
		from, to := project("from", "u1"), project("to", "u2")
		t.mustAdd(from, to, flag("u1", "f"), flag("u1", "g"))
		t.move("f", to)
		read := mustFind[*flags.Project](t, to.Key())
		t.wantKind(t.commit(change("deleted", deletion(read))), flags.Conflict)
		t.move("f", from)
		t.mustCommit(change("deleted", deletion(read)))
		t.wantKind(t.commit(change("moved", moveTo(mustFind[*flags.Feature](t, flags.FeatureKey("g")), to))), flags.NotFound)
		t.wantNames("u1", false, "f", "g")
		t.wantNames("u2", false)
		t.wantCounts("u1", 2, 0)
	}},
}

// moveTo returns a write that moves a flag to a project.
func moveTo(f *flags.Feature, to *flags.Project) flags.Write {
	return write(f, func(f *flags.Feature) { f.Project, f.ProjectUID = to.ID, to.UID })
}

func (t *storeTest) move(name string, to *flags.Project) {
	t.Helper()
	t.mustCommit(change("moved", moveTo(mustFind[*flags.Feature](t, flags.FeatureKey(name)), to)))
}

func (t *storeTest) wantCounts(uid string, active, stale int) {
	t.Helper()
	n, err := t.store.Counts(t.Context(), uid)
	if err != nil || n.Active != active || n.Stale != stale {
		t.Errorf("project %s has %d active and %d stale flags (%v), want %d and %d", uid, n.Active, n.Stale, err, active, stale)
	}
}
