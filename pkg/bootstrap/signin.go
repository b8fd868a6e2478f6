package bootstrap

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/events"
	"guidon/pkg/flags"
)

// SignInLink creates a link by which the first administrator can sign in, and returns its secret. Earlier links are invalid then. The
// store must be seeded.
func SignInLink(ctx context.Context, store flags.Store, now time.Time) (secret string, err error) {
	const attempts = 10
	for range attempts { // another server can start, or the administrator sign in, at the same time
		if secret, err = signInLink(ctx, store, now); flags.KindOf(err) != flags.VersionConflict {
			break
		}
	}
	return secret, err
}

func signInLink(ctx context.Context, store flags.Store, now time.Time) (secret string, err error) {
	key, sessions := access.UserKey(access.FirstUserID), access.SessionsKey(access.FirstUserID)
	view, err := store.Load(ctx, []flags.Key{key, sessions})
	if err != nil {
		return "", fmt.Errorf("creating the sign-in link: %w", err)
	}
	admin := flags.Find[*access.User](view, key)
	if admin == nil {
		return "", errors.New("creating the sign-in link: the first user does not exist")
	}
	random := make([]byte, 32)
	_, _ = rand.Read(random) // never fails
	secret = hex.EncodeToString(random)
	before := flags.Find[*access.Sessions](view, sessions)
	write := flags.Write{After: &access.Sessions{User: access.FirstUserID}}
	if before != nil {
		write = flags.Write{Before: before, After: before.Clone()}
	}
	link, err := access.NewSignInLink(admin, write.After.(*access.Sessions), secret, now.UTC().Truncate(time.Millisecond), access.FirstSignInLinkLifetime)
	if err != nil {
		return "", err
	}
	event := events.SignInLinkCreated(link)
	event.ID, event.CreatedAt, event.CreatedBy = newEventID(), link.CreatedAt, author
	if err := store.Commit(ctx, flags.Change{Writes: []flags.Write{{After: link}, write}, Event: event}); err != nil {
		return "", fmt.Errorf("creating the sign-in link: %w", err)
	}
	return secret, nil
}
