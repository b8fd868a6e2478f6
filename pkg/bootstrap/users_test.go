package bootstrap_test

import (
	"sync"
	"testing"

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
	users, err := store.List(t.Context(), flags.EntityUser)
	if err != nil || len(users) != 1 {
		t.Fatalf("users %v (%v), want one", users, err)
	}
	if u := users[0].(*flags.User); u.ID != flags.FirstUserID || u.Username != "admin" || u.RootRole != flags.RoleAdmin || u.ServiceAccount {
		t.Errorf("the first user is %+v, want the administrator, 1", u)
	}
	id, err := store.NextID(t.Context(), flags.EntityUser)
	if err != nil || id <= flags.FirstUserID {
		t.Errorf("the next id is %d (%v), want one above %d", id, err, flags.FirstUserID)
	}
	view, err := store.Load(t.Context(), []flags.Key{flags.RolesKey()})
	if err != nil || flags.Find[*flags.Roles](view, flags.RolesKey()) == nil {
		t.Errorf("the list of roles is missing (%v)", err)
	}
}
