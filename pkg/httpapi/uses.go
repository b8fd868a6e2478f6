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

// PostedUses posts when tokens of applications were last used, and which flags were evaluated through OFREP, and package aggregate stores it:
// the functions for applications may write nothing but posts.
//
// Memory is per instance, and an instance can end at any time. So the first use in an hour is posted at once. Others wait until
// a minute has passed since the last post: then the tokens that poll, and the flags, are in one post, however many they are.
type PostedUses struct {
	store  usage.UsageStore
	logger *slog.Logger // nil for none

	mu        sync.Mutex
	hour      time.Time            // of noted
	noted     map[noted]bool       // what was used in the hour
	waiting   map[string]time.Time // hashes of the tokens that are not posted yet, and when they were used
	evaluated []usage.Count        // flags that are not posted yet
	again     time.Time            // when the next post may be stored
}

// A noted is a token that was used, a flag that was evaluated in an environment, or a token with which all flags were.
type noted struct{ hash, environment, feature string }

// NewPostedUses returns a PostedUses that posts to a store; nil to post nothing.
func NewPostedUses(store usage.UsageStore, logger *slog.Logger) *PostedUses {
	return &PostedUses{store: store, logger: logger, noted: map[noted]bool{}, waiting: map[string]time.Time{}}
}

// Note notes that the token with a hash was used. It may post uses; if that fails, the request continues, and they are posted a
// minute later at the earliest.
func (u *PostedUses) Note(ctx context.Context, hash string, at time.Time) {
	u.note(ctx, noted{hash: hash}, at)
}

// NoteEvaluation is Note for a flag that was evaluated through OFREP: that it was, not how often.
func (u *PostedUses) NoteEvaluation(ctx context.Context, environment, feature string, at time.Time) {
	u.note(ctx, noted{environment: environment, feature: feature}, at)
}

// NoteAll notes that all flags of a token were asked for through OFREP: one post in an hour, which names no flags.
func (u *PostedUses) NoteAll(ctx context.Context, hash, environment string, at time.Time) {
	if u.store == nil {
		return
	}
	one := noted{hash: hash, environment: environment}
	u.mu.Lock()
	known := u.noteOnce(one, at)
	u.mu.Unlock()
	if known {
		return
	}
	if !u.post(ctx, &usage.Post{At: at, TokenHash: hash, Instances: []usage.PostInstance{{Application: usage.OFREP, Environment: environment}}}) {
		u.mu.Lock()
		defer u.mu.Unlock()
		delete(u.noted, one)
	}
}

func (u *PostedUses) note(ctx context.Context, one noted, at time.Time) {
	if u.store == nil {
		return
	}
	uses, evaluated := u.due(one, at)
	if len(uses)+len(evaluated) > 0 && !u.post(ctx, &usage.Post{At: at, Uses: uses, Counts: evaluated}) {
		u.failed(uses, evaluated)
	}
}

// post reports whether a post was stored.
func (u *PostedUses) post(ctx context.Context, post *usage.Post) bool {
	ctx, cancel := context.WithTimeout(ctx, touchTimeout)
	defer cancel()
	post.ID = uuid.NewString()
	err := u.store.PutPost(ctx, post)
	if err != nil && u.logger != nil {
		u.logger.WarnContext(ctx, "the last use of tokens could not be posted", "cause", err)
	}
	return err == nil
}

// noteOnce reports whether something was noted before in the hour, and notes it. The caller holds the lock.
func (u *PostedUses) noteOnce(one noted, at time.Time) (known bool) {
	if hour := at.Truncate(time.Hour); hour.After(u.hour) || len(u.noted) >= maxTouched {
		u.hour, u.noted = hour, map[noted]bool{}
	}
	known = u.noted[one]
	u.noted[one] = true
	return known
}

// due notes a use, and returns what the caller is to post.
func (u *PostedUses) due(one noted, at time.Time) (map[string]time.Time, []usage.Count) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.waiting)+len(u.evaluated) < maxPosted && !u.noteOnce(one, at) {
		if one.feature == "" {
			u.waiting[one.hash] = at
		} else {
			u.evaluated = append(u.evaluated, usage.Count{Feature: one.feature, Application: usage.OFREP, Environment: one.environment})
		}
	}
	if at.Before(u.again) || len(u.waiting)+len(u.evaluated) == 0 {
		return nil, nil
	}
	uses, evaluated := u.waiting, u.evaluated
	u.waiting, u.evaluated, u.again = map[string]time.Time{}, nil, at.Add(touchPause)
	return uses, evaluated
}

// failed keeps uses for the next post.
func (u *PostedUses) failed(uses map[string]time.Time, evaluated []usage.Count) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for hash, at := range uses {
		if u.waiting[hash].Before(at) && len(u.waiting) < maxPosted {
			u.waiting[hash] = at
		}
	}
	u.evaluated = append(u.evaluated, evaluated[:min(len(evaluated), maxPosted)]...)
}
