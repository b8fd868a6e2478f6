package main

import (
	"context"
	"time"

	"github.com/google/uuid"

	"guidon/pkg/access"
	"guidon/pkg/bootstrap"
	"guidon/pkg/dynamo"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/seal"
)

// smokeToken returns the token of a kind with which the hook of deployments calls new versions: a client token, a frontend token, or the
// personal token of a viewer. They may only read. They are derived from the first key that encrypts tokens, and do not reveal it.
func smokeToken(kind access.TokenType, keys string) (string, error) {
	digits, err := seal.Derive(keys, "guidon: the "+string(kind)+" token that tests deployments")
	if kind == access.PersonalToken {
		return "user:" + digits, err
	}
	return "*:development." + digits, err
}

// smokeTokens returns the API tokens with which the hook of deployments calls new versions, and the hash of the personal token that
// viewer creates. Another first key makes others. Deleted ones stay deleted, and the hook then checks less.
func smokeTokens(keys string) (tokens []bootstrap.Token, personal string, err error) {
	for _, kind := range []access.TokenType{access.ClientToken, access.FrontendToken} {
		secret, err := smokeToken(kind, keys)
		if err != nil {
			return nil, "", err
		}
		tokens = append(tokens, bootstrap.Token{Name: "smoke-" + string(kind), Type: kind, Secret: secret, Projects: []string{flags.All}, Environment: "development"})
	}
	secret, err := smokeToken(access.PersonalToken, keys)
	return tokens, access.HashSecret(secret), err
}

// viewer creates a service account that may only read, with the token of that hash, unless the token exists. The first user must
// exist, because the ids of users are counted.
func viewer(ctx context.Context, store *dynamo.Store, hash string) error {
	key := access.TokenKey(hash)
	exists := func() (bool, error) {
		view, err := store.Load(ctx, []flags.Key{key})
		return view[key] != nil, err
	}
	if found, err := exists(); err != nil || found {
		return err
	}
	id, err := store.NextID(ctx, access.EntityUser)
	if err != nil {
		return err
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	u, err := access.NewUser(access.User{ServiceAccount: true, Username: "smoke-" + hash[:8], Name: "Test of deployments", RootRole: access.RoleViewer}, id, now)
	if err != nil {
		return err
	}
	u, token, err := u.WithToken("hook of deployments", hash, now, time.Time{})
	if err != nil {
		return err
	}
	event := events.UserCreated(u)
	event.ID, event.CreatedAt, event.CreatedBy = uuid.Must(uuid.NewV7()).String(), now, "bootstrap"
	err = store.Commit(ctx, flags.Change{Writes: []flags.Write{{After: u}, {After: token}}, Event: event})
	if err != nil {
		if found, _ := exists(); found {
			return nil // another process was first
		}
	}
	return err
}
