package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/google/uuid"

	"guidon/functions/internal/smoketoken"
	"guidon/pkg/access"
	"guidon/pkg/awsconfig"
	"guidon/pkg/bootstrap"
	"guidon/pkg/dynamo"
	"guidon/pkg/events"
	"guidon/pkg/flags"
)

// smokeTokens returns the API tokens with which the hook of deployments calls new versions, and the hash of the personal token that
// viewer creates. They are made of the secret SMOKE_TOKEN_SECRET: another value of it makes others. Deleted ones stay deleted, and
// the hook then checks less.
func smokeTokens(ctx context.Context) (tokens []bootstrap.Token, personal string, err error) {
	arn := os.Getenv("SMOKE_TOKEN_SECRET")
	if arn == "" { // on one's own machine there are no deployments
		return nil, "", nil
	}
	secret, err := current(ctx, secretsmanager.NewFromConfig(awsconfig.FromEnvironment("SECRETS_MANAGER", attemptTimeout)), arn)
	if err != nil {
		return nil, "", err
	}
	if len(secret) < smoketoken.Min {
		return nil, "", fmt.Errorf("the value of the secret %s has %d characters; put at least %d random ones there", arn, len(secret), smoketoken.Min)
	}
	for _, kind := range []access.TokenType{access.ClientToken, access.FrontendToken} {
		tokens = append(tokens, bootstrap.Token{
			Name: "smoke-" + string(kind), Type: kind, Secret: smoketoken.Of(kind, secret), Projects: []string{flags.All}, Environment: "development",
		})
	}
	return tokens, access.HashSecret(smoketoken.Of(access.PersonalToken, secret)), nil
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
