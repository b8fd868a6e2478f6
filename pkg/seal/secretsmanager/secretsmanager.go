// Package secretsmanager brings the keys that seal tokens from AWS Secrets Manager. Only the function that makes and
// lists tokens links it, and only that function may read the secret.
package secretsmanager

import (
	"context"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	sdk "github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"guidon/pkg/flags"
	"guidon/pkg/seal"
)

// MaxAge is how long the keys are kept before they are read again: so long after a change every process has the new ones.
const MaxAge = 10 * time.Minute

// retryAfter is how long the known keys are used on when they could not be read again.
const retryAfter = time.Minute

// attemptTimeout is what one attempt to read the secret may take.
const attemptTimeout = 2 * time.Second

// A Source reads the keys when they are first needed, and keeps them for MaxAge.
type Source struct {
	arn  string
	read func(ctx context.Context, arn string) (string, error)
	now  func() time.Time

	mu     sync.Mutex
	box    *seal.Box
	readAt time.Time
}

// New is a source that reads the secret of that ARN (or name). It calls nothing yet.
func New(arn string) *Source { return &Source{arn: arn, read: get, now: time.Now} }

// Sealer is what the keys make. While they cannot be read again, those that are known are used on.
func (s *Source) Sealer(ctx context.Context) (flags.Sealer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.box != nil && s.now().Sub(s.readAt) < MaxAge {
		return s.box, nil
	}
	keys, err := s.read(ctx, s.arn)
	var box *seal.Box
	if err == nil {
		box, err = seal.New(keys)
	}
	switch {
	case err == nil:
		s.box, s.readAt = box, s.now()
	case s.box == nil:
		return nil, &flags.Error{Kind: flags.Unavailable, Message: "the key of the tokens' secrets cannot be read now; try again", Err: err}
	default:
		s.readAt = s.now().Add(retryAfter - MaxAge)
	}
	return s.box, nil
}

// get reads a secret: one call.
func get(ctx context.Context, arn string) (string, error) {
	cfg, err := config.LoadDefaultConfig(ctx, config.WithHTTPClient(awshttp.NewBuildableClient().WithTimeout(attemptTimeout)))
	if err != nil {
		return "", err
	}
	out, err := sdk.NewFromConfig(cfg).GetSecretValue(ctx, &sdk.GetSecretValueInput{SecretId: aws.String(arn)})
	if err != nil {
		return "", err
	}
	return aws.ToString(out.SecretString), nil
}
