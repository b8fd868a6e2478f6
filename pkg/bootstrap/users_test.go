package bootstrap_test

import (
	"sync"
	"testing"

	"guidon/pkg/access"
	"guidon/pkg/bootstrap"
	"guidon/pkg/flags"
)

// TestSeedFirstUser checks that the administrator is user 1 and that the next user gets another id, even if several processes
// seed the store, repeatedly.
func TestSeedFirstUser(t *testing.T) {
	store := newStore(t)
	for range 2 {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if err := bootstrap.Seed(t.Context(), store, bootstrap.Options{}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	users, err := store.List(t.Context(), access.EntityUser)
	if err != nil || len(users) != 1 {
		t.Fatalf("users %v (%v), want one", users, err)
	}
	if u := users[0].(*access.User); u.ID != access.FirstUserID || u.Username != "admin" || u.RootRole != access.RoleAdmin || u.ServiceAccount {
		t.Errorf("the first user is %+v, want the administrator, 1", u)
	}
	id, err := store.NextID(t.Context(), access.EntityUser)
	if err != nil || id <= access.FirstUserID {
		t.Errorf("the next id is %d (%v), want one above %d", id, err, access.FirstUserID)
	}
	view, err := store.Load(t.Context(), []flags.Key{access.RolesKey()})
	if err != nil || flags.Find[*access.Roles](view, access.RolesKey()) == nil {
		t.Errorf("the list of roles is missing (%v)", err)
	}
}
