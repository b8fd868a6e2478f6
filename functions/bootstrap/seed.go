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
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"
	"github.com/google/uuid"

	"guidon/pkg/bootstrap"
	"guidon/pkg/dynamo"
	"guidon/pkg/flags"
	keys "guidon/pkg/seal/secretsmanager"
)

// seed puts into the table TABLE_NAME what is absent, and the admin token of the secret ADMIN_TOKEN_SECRET, sealed by
// the key in TOKEN_KEY_SECRET. It tells whether that token is good.
func seed(ctx context.Context) (string, error) {
	store, err := dynamo.Open(ctx, dynamo.Options{Table: os.Getenv("TABLE_NAME")})
	if err != nil {
		return "", err
	}
	sealer, err := keys.New(os.Getenv("TOKEN_KEY_SECRET")).Sealer(ctx)
	if err != nil {
		return "", err
	}
	arn := os.Getenv("ADMIN_TOKEN_SECRET")
	secret, err := adminToken(ctx, arn)
	if err != nil {
		return "", fmt.Errorf("the admin token: %w", err)
	}
	token, err := bootstrap.ParseToken(flags.AdminToken, secret)
	if err != nil {
		return "", fmt.Errorf("the value of the secret %s is no admin token: %w", arn, err)
	}
	token.Name = string(flags.AdminToken)
	if err := bootstrap.Seed(ctx, store, bootstrap.Options{Tokens: []bootstrap.Token{token}, Sealer: sealer}); err != nil {
		return "", err
	}
	return result(ctx, store, flags.TokenKey(flags.HashSecret(secret)))
}

// result says whether the admin token is good. One that somebody has deleted stays deleted, here as everywhere:
// whoever did it meant it, most likely because it had leaked or because nobody was to have one, and no deployment
// may undo that unseen. To have one again is to put another value into the secret.
func result(ctx context.Context, store flags.Store, key flags.Key) (string, error) {
	view, err := store.Load(ctx, []flags.Key{key})
	if err != nil {
		return "", err
	}
	switch token := flags.Find[*flags.Token](view, key); {
	case token == nil:
		return "", errors.New("the admin token was put into the table and is not there")
	case token.Deleted:
		return "everything is there; the admin token was deleted and stays so: put another value into its secret and invoke this function to have one again", nil
	case token.Expired(time.Now()):
		return "everything is there; the admin token has expired", nil
	}
	return "everything is there, and the admin token is good", nil
}

// adminToken is the value of the secret, a new one if it has none yet. Of several processes at once one is first, and
// the others take its value: the version that the first value becomes has an id that follows from the secret, and
// Secrets Manager refuses another value under the id of one that is there.
func adminToken(ctx context.Context, arn string) (string, error) {
	cfg, err := config.LoadDefaultConfig(ctx, config.WithHTTPClient(awshttp.NewBuildableClient().WithTimeout(attemptTimeout)))
	if err != nil {
		return "", err
	}
	client := secretsmanager.NewFromConfig(cfg)
	value, err := current(ctx, client, arn)
	if _, none := errors.AsType[*types.ResourceNotFoundException](err); !none {
		return value, err
	}
	made := (&flags.Token{Projects: []string{flags.All}, Environment: flags.All}).FormatSecret(randomDigits())
	_, err = client.PutSecretValue(ctx, &secretsmanager.PutSecretValueInput{
		SecretId: &arn, SecretString: &made, ClientRequestToken: aws.String(uuid.NewSHA1(uuid.NameSpaceURL, []byte(arn)).String()),
	})
	if _, late := errors.AsType[*types.ResourceExistsException](err); late {
		return current(ctx, client, arn)
	}
	return made, err
}

// attemptTimeout is what one attempt to reach Secrets Manager may take.
const attemptTimeout = 5 * time.Second

// current is the value of a secret.
func current(ctx context.Context, client *secretsmanager.Client, arn string) (string, error) {
	out, err := client.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &arn})
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(aws.ToString(out.SecretString)), nil // as a shell puts it there, with a line's end
}

// randomDigits is what makes a secret one: 256 bits, as 64 hex digits.
func randomDigits() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
