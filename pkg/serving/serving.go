// Package serving answers applications: SDKs, browsers and OpenFeature providers.
//
//	state.go    what applications can read, in memory
//	frontend.go answers /api/frontend with results for a context, ofrep.go answers OpenFeature providers
//	compiled.go the flags of an environment, ready to be evaluated
//	reader.go   brings the memory up to date with the feed, for each request
//
// Every answer includes every change that was acknowledged before its request began, on any instance. docs/serving.md
// explains how.
package serving

import (
	"context"

	"guidon/pkg/flags"
)

// A Reading is what a request reads: the caller's token, and a state that includes every change that was acknowledged
// before the request began.
type Reading struct {
	Token *flags.Token // nil if there is no token with that hash
	Use   *flags.TokenUse
	State *State
}

// A Source reads for requests. *Reader is the real one.
type Source interface {
	// Read reads the token with that hash, and the state. An empty hash reads no token.
	Read(ctx context.Context, hash string) (Reading, error)

	// Again is Read with a read of the store that begins after the call, with any CLIENT_MAX_AGE. A 401 or 403 that
	// follows from a state is only answered if Again gives the same.
	Again(ctx context.Context, hash string) (Reading, error)
}
