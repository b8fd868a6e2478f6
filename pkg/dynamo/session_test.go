package dynamo_test

import (
	"testing"

	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

// TestSessions stores the sessions of a user, which are deleted with the user, and a sign-in link, which expires.
func TestSessions(t *testing.T) {
	store := dynamotest.Open(t, nil)
	user, sessions, link := dynamo.FullUser(), dynamo.FullSessions(), dynamo.FullSignInLink()
	change := func(id string, writes ...flags.Write) {
		t.Helper()
		event := dynamo.FullEvent()
		event.ID = "01960000-0000-7000-8000-00000000000" + id
		if err := store.Commit(t.Context(), flags.Change{Writes: writes, Event: event}); err != nil {
			t.Fatal(err)
		}
	}
	change("1", flags.Write{After: user})
	change("2", flags.Write{After: sessions})
	change("3", flags.Write{After: link})
	if at := dynamo.SignInLinkTTL(t, store, link.Hash); at.Unix() != link.ExpiresAt.Unix() {
		t.Errorf("the link expires at %s, want %s", at, link.ExpiresAt)
	}
	keys := []flags.Key{user.Key(), sessions.Key(), link.Key()}
	view, err := store.Load(t.Context(), keys)
	if err != nil || len(view) != 3 {
		t.Fatalf("%d of 3 aggregates (%v)", len(view), err)
	}
	wantOutcome(t, store.Commit(t.Context(), flags.Change{Writes: []flags.Write{{After: sessions}}, Event: dynamo.FullEvent()}), flags.VersionConflict)

	change("4", flags.Write{Before: view[user.Key()]})
	if view, err = store.Load(t.Context(), keys); err != nil || len(view) != 1 || view[link.Key()] == nil {
		t.Errorf("after the user's deletion there are %v (%v), want only the link", view, err)
	}
}
