// Package secretsmanager reads the keys that encrypt tokens and webhooks from AWS Secrets Manager. Only the functions access,
// integrations and deliver link it. They and the function setup may read the secret.
package secretsmanager

import (
	"context"
	"sync"
	"time"

	"guidon/pkg/flags"
	"guidon/pkg/seal"
	"guidon/pkg/secretsmanager"
)

// MaxAge is how long a process uses the keys before it reads them again. After this time, every process has a changed key.
const MaxAge = 10 * time.Minute

// retryAfter is how long a process uses the old keys after it has failed to read them again.
const retryAfter = time.Minute

// A Source reads the keys when they are first needed, and again after MaxAge.
type Source struct {
	arn  string
	read func(ctx context.Context, arn string) (string, error)
	now  func() time.Time

	mu     sync.Mutex
	box    *seal.Box
	readAt time.Time
}

// New returns a source for the secret with an ARN (or name). It makes no call.
func New(arn string) *Source { return &Source{arn: arn, read: secretsmanager.Get, now: time.Now} }

// Sealer returns a sealer with the keys. If they cannot be read again, it uses the old ones.
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
		return nil, &flags.Error{Kind: flags.Unavailable, Message: "the encryption key for tokens cannot be read now; try again", Err: err}
	default:
		s.readAt = s.now().Add(retryAfter - MaxAge)
	}
	return s.box, nil
}
