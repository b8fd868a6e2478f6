package httpapi

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"guidon/pkg/access"
)

// The last use of a token is stored at most once in touchEvery. A request waits touchTimeout for that, and after a failure no
// request tries again for touchPause.
const (
	touchEvery   = time.Hour
	touchTimeout = 200 * time.Millisecond
	touchPause   = time.Minute
)

// maxTouched is how many uses are remembered, so that the requests that come while one is being stored do not store it too.
const maxTouched = 1_000

// TokenUses stores when tokens were last used.
type TokenUses struct {
	store  access.TokenUseStore
	logger *slog.Logger // nil for none

	mu      sync.Mutex
	touched map[string]time.Time // by hash
	again   time.Time            // when the next use may be stored after a failure
}

// NewTokenUses returns a TokenUses that stores in a store; nil to store nothing.
func NewTokenUses(store access.TokenUseStore, logger *slog.Logger) *TokenUses {
	return &TokenUses{store: store, logger: logger, touched: map[string]time.Time{}}
}

// Touch stores that a token was used, unless it was stored less than an hour ago. last is the stored use; nil without one. If
// storing fails, the request continues: a store that throttles writes must not slow down reads.
func (u *TokenUses) Touch(ctx context.Context, last, now *access.TokenUse) {
	if u.store == nil || last != nil && now.At.Sub(last.At) < touchEvery || !u.begin(now) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, touchTimeout)
	defer cancel()
	err := u.store.Touch(ctx, now)
	if err == nil {
		return
	}
	u.failed(now)
	if u.logger != nil {
		u.logger.WarnContext(ctx, "the last use of a token could not be stored", "cause", err)
	}
}

// begin reports whether the caller is to store the use.
func (u *TokenUses) begin(now *access.TokenUse) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if before, ok := u.touched[now.Hash]; now.At.Before(u.again) || ok && now.At.Sub(before) < touchEvery {
		return false
	}
	if len(u.touched) >= maxTouched {
		clear(u.touched)
	}
	u.touched[now.Hash] = now.At
	return true
}

func (u *TokenUses) failed(now *access.TokenUse) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.touched, now.Hash)
	u.again = now.At.Add(touchPause)
}
