// Package secretsmanager reads the settings of an OpenID provider from AWS Secrets Manager. Only the function access links it,
// and only it may read the secret.
package secretsmanager

import (
	"context"
	"sync"
	"time"

	"guidon/pkg/oidc"
	"guidon/pkg/secretsmanager"
)

// MaxAge is how long a process uses the settings before it reads them again. After this time, every process has changed settings.
const MaxAge = 10 * time.Minute

// retryAfter is how long a process does not try again after it has failed to read the settings.
const retryAfter = 10 * time.Second

// A Source reads the settings when they are first needed, and again after MaxAge.
type Source struct {
	arn  string
	read func(ctx context.Context, arn string) (string, error)
	now  func() time.Time

	mu       sync.Mutex
	text     string // from which provider was made
	provider *oidc.Provider
	err      error // of the first reads, while there is no provider
	next     time.Time
}

// New returns a source for the secret with an ARN or name; "" for no provider. It makes no call.
func New(arn string) *Source { return &Source{arn: arn, read: secretsmanager.Get, now: time.Now} }

// Provider returns the provider, or nil if the source has no secret. If the settings cannot be read again, or are wrong now, it
// returns the provider with the old ones. The error is an *oidc.Error.
func (s *Source) Provider(ctx context.Context) (*oidc.Provider, error) {
	if s.arn == "" {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now().Before(s.next) {
		return s.provider, s.err
	}
	if err := s.refresh(ctx); err != nil {
		s.next = s.now().Add(retryAfter)
		if s.provider == nil {
			s.err = err
		}
		return s.provider, s.err
	}
	s.err, s.next = nil, s.now().Add(MaxAge)
	return s.provider, nil
}

// refresh reads the settings. A provider whose settings are the same is kept, with what it knows.
func (s *Source) refresh(ctx context.Context) error {
	text, err := s.read(ctx, s.arn)
	if err != nil {
		return oidc.Fail(oidc.ProviderUnavailable, "the secret with the settings of OpenID Connect cannot be read: %v", err)
	}
	if s.provider != nil && text == s.text {
		return nil
	}
	settings, err := oidc.ParseJSON(text)
	if err != nil {
		return oidc.Fail(oidc.Misconfigured, "the secret with the settings of OpenID Connect: %v", err)
	}
	s.text, s.provider = text, oidc.New(*settings, s.now)
	return nil
}
