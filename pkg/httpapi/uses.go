package httpapi

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"guidon/pkg/access"
	"guidon/pkg/backoff"
	"guidon/pkg/usage"
)

// The last use of a token is stored at most once in touchEvery. A request waits touchTimeout for that, and after a failure no
// request tries again for touchPause.
const (
	touchEvery   = time.Hour
	touchTimeout = 200 * time.Millisecond
	touchPause   = time.Minute
)

// once sends a use only once: it must not delay the request that it is made for.
var once = backoff.Retries{Attempts: 1, Throttled: 1}

// maxTouched is how many uses are remembered, so that the requests that come while one is being stored do not store it too.
const maxTouched = 10_000

// TokenUses stores when tokens of the administration were last used.
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
	err := u.store.Touch(backoff.WithRetries(ctx, once), now)
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

// maxPosted is how many uses are in one post: they take half of what an item can have.
const maxPosted = 4_000

// PostedUses posts when tokens of applications were last used, and package aggregate stores it: the functions for applications
// may write nothing but posts.
//
// Memory is per instance, and an instance can end at any time. So the first use in an hour is posted at once. Others wait until
// a minute has passed since the last post: then the tokens that poll are in one post, however many they are.
type PostedUses struct {
	store  usage.UsageStore
	logger *slog.Logger // nil for none

	mu      sync.Mutex
	hour    time.Time            // of noted
	noted   map[string]bool      // hashes of the tokens that were used in the hour
	waiting map[string]time.Time // those that are not posted yet, and when they were used
	again   time.Time            // when the next post may be stored
}

// NewPostedUses returns a PostedUses that posts to a store; nil to post nothing.
func NewPostedUses(store usage.UsageStore, logger *slog.Logger) *PostedUses {
	return &PostedUses{store: store, logger: logger, noted: map[string]bool{}, waiting: map[string]time.Time{}}
}

// Note notes that the token with a hash was used. It may post uses; if that fails, the request continues, and they are posted a
// minute later at the earliest.
func (u *PostedUses) Note(ctx context.Context, hash string, at time.Time) {
	if u.store == nil {
		return
	}
	uses := u.due(hash, at)
	if len(uses) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, touchTimeout)
	defer cancel()
	err := u.store.PutPost(ctx, &usage.Post{ID: uuid.NewString(), At: at, Uses: uses})
	if err == nil {
		return
	}
	u.failed(uses)
	if u.logger != nil {
		u.logger.WarnContext(ctx, "the last use of tokens could not be posted", "cause", err)
	}
}

// due notes a use, and returns what the caller is to post.
func (u *PostedUses) due(hash string, at time.Time) map[string]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	if hour := at.Truncate(time.Hour); hour.After(u.hour) || len(u.noted) >= maxTouched {
		u.hour, u.noted = hour, map[string]bool{}
	}
	if !u.noted[hash] && len(u.waiting) < maxPosted {
		u.noted[hash], u.waiting[hash] = true, at
	}
	if at.Before(u.again) || len(u.waiting) == 0 {
		return nil
	}
	uses := u.waiting
	u.waiting, u.again = map[string]time.Time{}, at.Add(touchPause)
	return uses
}

// failed keeps uses for the next post.
func (u *PostedUses) failed(uses map[string]time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for hash, at := range uses {
		if u.waiting[hash].Before(at) && len(u.waiting) < maxPosted {
			u.waiting[hash] = at
		}
	}
}
