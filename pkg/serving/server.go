package serving

import (
	"context"
	"net/http"
	"time"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// A server answers the requests of one group of operations.
type server struct {
	source Source
	uses   *httpapi.TokenUses
	open   bool // AUTH_TYPE=none
	now    func() time.Time
	maxAge time.Duration // CLIENT_MAX_AGE

	answers *cache
}

// newServer returns a server that reads from source, and stores the last use of tokens in store.
func newServer(source Source, store flags.Store, config httpapi.Config) *server {
	s := &server{
		source: source, uses: httpapi.NewTokenUses(store, config.Logger), open: config.Open, now: config.Now, maxAge: config.MaxAge,
		answers: newCache(maxCache),
	}
	if s.now == nil {
		s.now = time.Now
	}
	return s
}

// access authenticates a request, which must have an admin token or one of these types, and returns what it may read.
// environment is the one that the request names, for tokens of all environments; "" for none.
//
// SDKs stop for good at a 401 or 403. So one that follows from a state is returned only if a second read gives the same.
func (s *server) access(ctx context.Context, r *http.Request, environment string, types ...flags.TokenType) (*access, error) {
	secret, hash := httpapi.Secret(r), ""
	switch {
	case secret != "":
		hash = flags.HashSecret(secret)
	case !s.open:
		return nil, flags.ErrNoToken
	}
	reading, err := s.source.Read(ctx, hash)
	if err != nil {
		return nil, err
	}
	a, settled, err := s.judge(reading, hash, environment, types)
	if err != nil && !settled {
		if reading, err = s.source.Again(ctx, hash); err != nil {
			return nil, err
		}
		a, _, err = s.judge(reading, hash, environment, types)
	}
	if err != nil {
		return nil, err
	}
	if a.token != nil {
		s.uses.Touch(ctx, reading.Use, &flags.TokenUse{Hash: a.token.Hash, At: s.now().UTC().Truncate(time.Millisecond)})
	}
	return a, nil
}

// judge returns what the token of a reading may read, or the refusal. settled is false if another state could give another
// refusal.
func (s *server) judge(reading Reading, hash, environment string, types []flags.TokenType) (a *access, settled bool, refusal error) {
	token := reading.Token
	refusal = flags.AuthenticateApplication(token, hash, s.now(), types...)
	settled = token == nil || !token.Expired(s.now()) // a token can be extended
	if refusal == nil {
		var ok bool
		if a, ok = newAccess(reading.State, token, environment); !ok {
			settled, refusal = false, flags.ErrNoToken // its projects or its environment were deleted
		}
	}
	if refusal != nil && s.open {
		return everything(reading.State, environment), true, nil
	}
	return a, settled, refusal
}
