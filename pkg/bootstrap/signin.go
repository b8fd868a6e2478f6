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

// SignInLink creates a link by which the first administrator can sign in, and returns its secret. The store must be seeded.
func SignInLink(ctx context.Context, store flags.Store, now time.Time) (secret string, err error) {
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
	link, err := access.NewSignInLink(admin, flags.Find[*access.Sessions](view, sessions), secret, now.UTC().Truncate(time.Millisecond), access.FirstSignInLinkLifetime)
	if err != nil {
		return "", err
	}
	event := events.SignInLinkCreated(link)
	event.ID, event.CreatedAt, event.CreatedBy = newEventID(), link.CreatedAt, author
	if err := store.Commit(ctx, flags.Change{Writes: []flags.Write{{After: link}}, Event: event}); err != nil {
		return "", fmt.Errorf("creating the sign-in link: %w", err)
	}
	return secret, nil
}
