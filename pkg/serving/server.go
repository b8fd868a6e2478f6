package serving

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/answers"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/usage"
)

// A Reading is what a request reads: the caller's token, and a state that includes every change that was acknowledged
// before the request began.
type Reading struct {
	Token *access.Token // nil if there is no token with that hash
	State *State        // nil only for a report of usage, which needs no flags

	// Current tells that the token and the state were read together, after the call: no other read would give another refusal.
	Current bool
}

// A Source reads for requests. *Reader is the real one.
type Source interface {
	// Read reads the token with that hash, and the state. An empty hash reads no token. With lookUp, a token that is not in the state is
	// looked up: it may be that of an administrator or a user, which is in no state.
	Read(ctx context.Context, hash string, lookUp bool) (Reading, error)

	// Again is Read with lookUp and a read of the store that begins after the call, with any CLIENT_MAX_AGE. A 401 or 403 that follows from
	// a state that is not current is only answered if Again gives the same.
	Again(ctx context.Context, hash string) (Reading, error)
}

// A gate lets requests in that have a valid token.
type gate struct {
	source Source
	open   bool // AUTH_TYPE=none
	now    func() time.Time
}

// A server serves the requests of one group of operations.
type server struct {
	gate
	uses *httpapi.PostedUses

	sets      sets
	responder *answers.Responder
}

// newServer returns a server that reads from source, and posts the last use of tokens to store.
func newServer(source Source, store usage.UsageStore, config httpapi.Config) *server {
	s := &server{
		gate: gate{source, config.Open, config.Now}, uses: httpapi.NewPostedUses(store, config.Logger),
		sets: sets{max: maxSets}, responder: answers.NewResponder(answers.Options{MaxAge: config.MaxAge, Check: checkSize, Plain: httpapi.NewPlainBudget()}),
	}
	if s.now == nil {
		s.now = time.Now
	}
	return s
}

// access authenticates a request, which must have an admin token or one of these types, and returns what it may read.
// environment is the one that the request names, for tokens of all environments; "" for none.
func (s *server) access(ctx context.Context, r *http.Request, environment string, types ...access.TokenType) (*tokenScope, error) {
	a, err := s.authenticate(ctx, r, s.source.Read, environment, types)
	if err != nil {
		return nil, err
	}
	if a.token != nil {
		s.uses.Note(ctx, a.token.Hash, s.time())
	}
	a.set = s.sets.of(a.state, a.environment)
	return a, nil
}

// time returns the time, as it is stored.
func (s *server) time() time.Time { return s.now().UTC().Truncate(time.Millisecond) }

// Authenticate returns the token of a request that reports usage: an admin token or one of these types; nil with AUTH_TYPE=none and without a
// valid one. It was valid at most reportAge or MaxAge ago, or read for this request.
func (r *Reader) Authenticate(ctx context.Context, request *http.Request, types ...access.TokenType) (*access.Token, error) {
	if r.options.Open && httpapi.Secret(request) == "" {
		return nil, nil
	}
	a, err := gate{r, r.options.Open, r.options.Now}.authenticate(ctx, request, r.recent, "", types)
	if err != nil {
		return nil, err
	}
	return a.token, nil
}

// authenticate returns what a request may read, from a reading that read returns.
//
// SDKs stop for good at a 401 or 403. So one that follows from a state is returned only if a second read gives the same.
func (g gate) authenticate(
	ctx context.Context, r *http.Request, read func(ctx context.Context, hash string, lookUp bool) (Reading, error), environment string, types []access.TokenType,
) (*tokenScope, error) {
	secret, hash := httpapi.Secret(r), ""
	switch {
	case secret != "":
		hash = access.HashSecret(secret)
	case !g.open:
		return nil, access.ErrNoToken
	}
	reading, err := read(ctx, hash, maybeInNoState(secret))
	if err != nil {
		return nil, err
	}
	a, settled, err := g.judge(reading, hash, environment, types)
	if err != nil && !settled && !reading.Current {
		if reading, err = g.source.Again(ctx, hash); err != nil {
			return nil, err
		}
		a, _, err = g.judge(reading, hash, environment, types)
	}
	return a, err
}

// maybeInNoState reports whether a secret has the form of one of an administrator or a user: no state has their tokens. Tokens of
// applications can have the same form.
func maybeInNoState(secret string) bool {
	return strings.HasPrefix(secret, flags.All+":"+flags.All+".") || strings.HasPrefix(secret, string(access.PersonalToken)+":")
}

// judge returns what the token of a reading may read, or the refusal. settled is false if another state could give another
// refusal. Without a state, what is returned has only the token.
func (g gate) judge(reading Reading, hash, environment string, types []access.TokenType) (a *tokenScope, settled bool, refusal error) {
	token := reading.Token
	refusal = access.AuthenticateApplication(token, hash, g.now(), types...)
	settled = token == nil || !token.Expired(g.now()) // a token can be extended
	if reading.State == nil {
		if refusal != nil && g.open {
			return &tokenScope{}, true, nil
		}
		return &tokenScope{token: token}, settled, refusal
	}
	if refusal == nil {
		var ok bool
		if a, ok = newTokenScope(reading.State, token, environment); !ok {
			settled, refusal = false, access.ErrNoToken // its projects or its environment were deleted
		}
	}
	if refusal != nil && g.open {
		return everything(reading.State, environment), true, nil
	}
	return a, settled, refusal
}

// A tokenScope is what a request may read of a state.
type tokenScope struct {
	state *State
	token *access.Token // nil for AUTH_TYPE=none without a valid token

	// environment is the one of the response. Nil if neither the token nor the request names one that exists: every flag is
	// disabled then.
	environment *flags.Environment

	set   *answers.Set // what the environment serves
	scope answers.Scope
}

// newTokenScope returns what a token may read of a state; false if the token is revoked. environment is the one that the request
// names, for tokens of all environments.
func newTokenScope(state *State, token *access.Token, environment string) (*tokenScope, bool) {
	reach, ok := token.Scope(func(id string) *flags.Project { return state.Projects[id] }, state.Environments)
	if !ok {
		return nil, false
	}
	name := token.Environment
	bound := name == flags.All || name == "" || token.EnvironmentUID != "" // if not, it was seeded before there was the environment
	if name == flags.All || name == "" {
		name = environment
	}
	a := &tokenScope{state: state, token: token, scope: answers.Scope{All: reach.All, ProjectIDs: []string{}, Environment: name}}
	if bound {
		a.environment = state.Environments.Find(name)
	}
	for _, p := range reach.Projects {
		a.scope.ProjectUIDs, a.scope.ProjectIDs = append(a.scope.ProjectUIDs, p.UID), append(a.scope.ProjectIDs, p.ID)
	}
	slices.Sort(a.scope.ProjectUIDs)
	slices.Sort(a.scope.ProjectIDs)
	return a, true
}

// everything returns what a caller may read who has no token, with AUTH_TYPE=none.
func everything(state *State, environment string) *tokenScope {
	return &tokenScope{state: state, environment: state.Environments.Find(environment), scope: answers.Scope{All: true, Environment: environment}}
}
