package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"
	"github.com/google/uuid"

	"guidon/pkg/access"
	"guidon/pkg/awsconfig"
	"guidon/pkg/bootstrap"
	"guidon/pkg/dynamo"
	"guidon/pkg/flags"
	"guidon/pkg/published"
	"guidon/pkg/seal"
)

// seed creates the initial data in the table TABLE_NAME, and the admin token in the secret ADMIN_TOKEN_SECRET, encrypted with
// the key in TOKEN_KEY_SECRET. Its result tells whether that token is valid. It also creates the tokens for tests of deployments.
//
// It also begins a new epoch of the feed if instances must read everything again, see resetFeed. The local server does not do it: it has
// one version at a time, and its data is only continued.
func seed(ctx context.Context, version string) (string, error) {
	store, err := dynamo.Open(ctx, dynamo.Options{Table: os.Getenv("TABLE_NAME")})
	if err != nil {
		return "", err
	}
	keys, err := tokenKeys(ctx)
	if err != nil {
		return "", fmt.Errorf("the encryption key for tokens: %w", err)
	}
	sealer, err := seal.New(keys)
	if err != nil {
		return "", err
	}
	arn := os.Getenv("ADMIN_TOKEN_SECRET")
	secret, err := adminToken(ctx, arn)
	if err != nil {
		return "", fmt.Errorf("the admin token: %w", err)
	}
	token, err := bootstrap.ParseToken(access.AdminToken, secret)
	if err != nil {
		return "", fmt.Errorf("the value of the secret %s is not an admin token: %w", arn, err)
	}
	token.Name = string(access.AdminToken)
	tokens, personal, err := smokeTokens(keys)
	if err != nil {
		return "", fmt.Errorf("the tokens for tests of deployments: %w", err)
	}
	if err := bootstrap.Seed(ctx, store, bootstrap.Options{Tokens: append(tokens, token), Sealer: sealer}); err != nil {
		return "", err
	}
	if err := viewer(ctx, store, personal); err != nil {
		return "", fmt.Errorf("the viewer for tests of deployments: %w", err)
	}
	if err := resetFeed(ctx, store, version); err != nil {
		return "", fmt.Errorf("resetting the feed: %w", err)
	}
	return result(ctx, store, access.TokenKey(access.HashSecret(secret)))
}

// resetFeed begins a new epoch of the feed, so that every instance that serves applications reads everything again. A restored table needs
// that: it repeats numbers of the feed that instances have seen with other changes. So does a version that has another opinion of what
// applications see than the one before. Other deployments continue the epoch, so that no application waits for them. Invoked by hand, it
// always begins one, because the table may have been changed by hand too.
//
// version is the version of this function that is being deployed; "" if it was invoked by hand.
func resetFeed(ctx context.Context, store *dynamo.Store, version string) error {
	view, err := store.Load(ctx, []flags.Key{flags.FeedKey()})
	if err != nil {
		return err
	}
	feed := flags.Find[*flags.Feed](view, flags.FeedKey())
	if version != "" && feed != nil && feed.Table == os.Getenv("TABLE_NAME") && feed.Form == flags.SnapshotForm {
		return nil
	}
	return store.ResetFeed(ctx, newEpoch())
}

// newEpoch returns a name for an epoch of the feed that was never used. It is in the ETags of deltas.
func newEpoch() string { return published.NewEpoch(time.Now(), randomDigits()[:8]) }

// result tells whether the admin token is valid. A deleted token stays deleted: it has probably leaked, or was not wanted,
// and a deployment must not restore it silently. Another value in the secret creates a new one.
func result(ctx context.Context, store flags.Store, key flags.Key) (string, error) {
	view, err := store.Load(ctx, []flags.Key{key})
	if err != nil {
		return "", err
	}
	switch token := flags.Find[*access.Token](view, key); {
	case token == nil:
		return "", errors.New("the admin token is missing in the table after it was created")
	case token.Deleted:
		return "the data is in place; the admin token was deleted and stays deleted: to create one, set another value in its secret and invoke this function", nil
	case token.Expired(time.Now()):
		return "the data is in place; the admin token has expired", nil
	}
	return "the data is in place, and the admin token is valid", nil
}

// adminToken returns the value of the secret, and sets one if it is empty. If several processes do so at once, all get the
// value of the first: they use the same version id, for which Secrets Manager rejects another value.
func adminToken(ctx context.Context, arn string) (string, error) {
	client := secretsmanager.NewFromConfig(awsconfig.FromEnvironment("SECRETS_MANAGER", attemptTimeout))
	value, err := current(ctx, client, arn)
	if _, none := errors.AsType[*types.ResourceNotFoundException](err); !none {
		return value, err
	}
	created := (&access.Token{Projects: []string{flags.All}, Environment: flags.All}).FormatSecret(randomDigits())
	_, err = client.PutSecretValue(ctx, &secretsmanager.PutSecretValueInput{
		SecretId: &arn, SecretString: &created, ClientRequestToken: aws.String(uuid.NewSHA1(uuid.NameSpaceURL, []byte(arn)).String()),
	})
	if _, late := errors.AsType[*types.ResourceExistsException](err); late {
		return current(ctx, client, arn)
	}
	return created, err
}

// attemptTimeout limits one attempt to call Secrets Manager.
const attemptTimeout = 5 * time.Second

// current returns the value of a secret.
func current(ctx context.Context, client *secretsmanager.Client, arn string) (string, error) {
	out, err := client.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &arn})
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(aws.ToString(out.SecretString)), nil // a shell may have added a line break
}

// randomDigits returns 256 random bits as 64 hex digits.
func randomDigits() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
