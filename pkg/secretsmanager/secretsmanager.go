// Package secretsmanager reads secrets from AWS Secrets Manager: the keys that encrypt tokens and webhooks, and the settings of OpenID
// Connect. Only functions that need a secret link it.
package secretsmanager

import (
	"context"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"guidon/pkg/awsconfig"
	"guidon/pkg/flags"
	"guidon/pkg/seal"
)

const (
	// MaxAge is how long a process uses a secret before it reads it again. After this time, every process has a changed secret.
	MaxAge = 10 * time.Minute

	attemptTimeout = 2 * time.Second
	retryAfter     = 10 * time.Second // how long a process does not try again after it has failed to read a secret
)

// Get reads the secret with an ARN or name: one call.
func Get(ctx context.Context, arn string) (string, error) {
	cfg := awsconfig.FromEnvironment("SECRETS_MANAGER", attemptTimeout)
	out, err := sdk.NewFromConfig(cfg).GetSecretValue(ctx, &sdk.GetSecretValueInput{SecretId: aws.String(arn)})
	if err != nil {
		return "", err
	}
	return aws.ToString(out.SecretString), nil
}

// A Source reads a secret when it is first needed, and again after MaxAge.
type Source[T comparable] struct {
	arn   string
	parse func(text string) (T, error)
	read  func(ctx context.Context, arn string) (string, error)
	now   func() time.Time

	mu    sync.Mutex
	text  string // from which value was made
	value T
	err   error // of the last read, while there is no value
	next  time.Time
}

// NewSource returns a source for the secret with an ARN or name. It makes no call.
func NewSource[T comparable](arn string, parse func(text string) (T, error)) *Source[T] {
	return &Source[T]{arn: arn, parse: parse, read: Get, now: time.Now}
}

// Value returns what parse makes of the secret, and the zero value if the source has no secret. If the secret cannot be read again, or
// is wrong now, Value returns what it was. It keeps the value while the text is the same.
func (s *Source[T]) Value(ctx context.Context) (T, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.arn == "" || s.now().Before(s.next) {
		return s.value, s.err
	}
	text, err := s.read(ctx, s.arn)
	var none T
	if value := s.value; err == nil && (value == none || text != s.text) {
		if value, err = s.parse(text); err == nil {
			s.text, s.value = text, value
		}
	}
	s.next, s.err = s.now().Add(MaxAge), nil
	switch {
	case err != nil && s.value == none && ctx.Err() != nil: // the caller is gone, which says nothing of the secret
		s.next = time.Time{}
		return none, err
	case err != nil:
		s.next = s.now().Add(retryAfter)
		if s.value == none {
			s.err = err
		}
	}
	return s.value, s.err
}

// Sealer returns a function that encrypts with the keys in the secret with an ARN or name.
func Sealer(arn string) func(ctx context.Context) (flags.Sealer, error) {
	return sealer(NewSource(arn, seal.New))
}

func sealer(keys *Source[*seal.Box]) func(ctx context.Context) (flags.Sealer, error) {
	return func(ctx context.Context) (flags.Sealer, error) {
		box, err := keys.Value(ctx)
		if err != nil || box == nil {
			return nil, &flags.Error{Kind: flags.Unavailable, Message: "the encryption key for tokens cannot be read now; try again", Err: err}
		}
		return box, nil
	}
}
