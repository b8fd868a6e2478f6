package serving

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"guidon/pkg/answers"
	"guidon/pkg/backoff"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// errGap tells that entries of the feed between the state and the feed are missing.
var errGap = flags.Errorf(flags.Unavailable, "the changes since the last read are no longer stored; try again")

// advance returns the state with all entries of the feed, or with more, if the feed has grown since. If entries are missing, it
// reads everything.
func (r *Reader) advance(ctx context.Context, state *State, feed *flags.Feed) (*State, error) {
	next, err := r.catchUp(ctx, state, feed, flags.View{})
	if errors.Is(err, errGap) {
		view, err := r.loadFeed(ctx, nil, true)
		if err != nil {
			return nil, err
		}
		return r.start(ctx, view)
	}
	return next, err
}

// maxRounds is how often catchUp loads again, if the same flags change all the time.
const maxRounds = 20

// catchUp applies the entries of the feed after the number of the state. loaded is what was read since that number.
//
// Reads of several items are not a snapshot: while a transaction is being applied, a read can return the feed with its entry
// and an aggregate as it was before. So what was loaded counts only at the version that the entry names, or a later one.
// Otherwise it is read again, after the feed, which may say by then that it was deleted.
//
// What was loaded can also be newer than the feed. Then the feed is read again, because there can be other changes before that
// one: without them, a flag could be on that uses a segment as it was before, or one that the state does not have.
func (r *Reader) catchUp(ctx context.Context, state *State, feed *flags.Feed, loaded flags.View) (*State, error) {
	last, gone, err := r.lastChanges(ctx, state, feed)
	if err != nil {
		return nil, err
	}
	feedIsNewest := false // whether the feed was read after everything in loaded
	for unread, rounds := 0, 0; ; rounds++ {
		missing := missingOf(last, loaded)
		if len(missing) == 0 && (feedIsNewest || rounds > maxRounds || !anyNewer(last, loaded)) {
			return state.with(feed.Number, updatesOf(last, loaded), gone), nil
		}
		feedIsNewest = len(missing) == 0
		keys := missing
		if feedIsNewest {
			keys = []flags.Key{flags.FeedKey()}
		}
		found, err := r.loadAll(ctx, keys)
		if err != nil {
			return nil, err
		}
		maps.Copy(loaded, found)
		if !feedIsNewest {
			if !anyMissing(missing, last, loaded) {
				continue
			}
			// The feed is read only in this case, and not with each load: while others make many changes, there would always be
			// new entries to load.
			if unread++; unread > 1 && !pause(ctx, unread) {
				return nil, flags.Errorf(flags.Unavailable, "a change is being applied and cannot be read yet; try again")
			}
			if found, err = r.store.Load(ctx, []flags.Key{flags.FeedKey()}); err != nil {
				return nil, err
			}
		}
		if newer := flags.Find[*flags.Feed](found, flags.FeedKey()); newer != nil && (newer.Number != feed.Number || newer.Epoch != feed.Epoch) {
			feed = newer
			if last, gone, err = r.lastChanges(ctx, state, feed); err != nil {
				return nil, err
			}
		}
	}
}

// anyMissing reports whether nothing was loaded that is as new as the last change, for one of the keys.
func anyMissing(keys []flags.Key, last map[flags.Key]lastChange, loaded flags.View) bool {
	return slices.ContainsFunc(keys, func(key flags.Key) bool { return !last[key].isIn(loaded) })
}

// entriesAfter returns the entries of the feed after a number, those in pages included. errGap if some are missing.
func (r *Reader) entriesAfter(ctx context.Context, number int64, feed *flags.Feed) ([]flags.FeedEntry, error) {
	entries, all := feed.After(number)
	if all {
		return entries, nil
	}
	want := int(feed.Number - number)
	for attempt := range 2 { // the transaction that moved entries to a page may be half applied
		if attempt > 0 && !pause(ctx, attempt) {
			break
		}
		pages, err := r.store.FeedPages(ctx, number)
		if err != nil {
			return nil, err
		}
		joined := make([]flags.FeedEntry, 0, want)
		for _, e := range slices.Concat(pages, entries) { // pages can be newer than the feed, and overlap with it
			if e.Number == number+int64(len(joined))+1 && len(joined) < want {
				joined = append(joined, e)
			}
		}
		if len(joined) == want {
			return joined, nil
		}
	}
	return nil, errGap
}

// A lastChange is the last change of an aggregate in a list of entries, and the number of its entry.
type lastChange struct {
	flags.FeedChange
	number int64
	only   bool // whether it is the only one
	left   bool // whether the aggregate left a project, by this or an earlier change
}

// lastChanges returns the last change of each aggregate that changed after the state, and what was removed.
func (r *Reader) lastChanges(ctx context.Context, state *State, feed *flags.Feed) (map[flags.Key]lastChange, []answers.Gone, error) {
	if feed.Epoch != state.Epoch { // it was reset in between
		return nil, nil, errGap
	}
	entries, err := r.entriesAfter(ctx, state.Number, feed)
	return lastChangesOf(entries), goneOf(entries), err
}

func lastChangesOf(entries []flags.FeedEntry) map[flags.Key]lastChange {
	last := map[flags.Key]lastChange{}
	for _, e := range entries {
		for _, change := range e.Changes {
			before, another := last[change.Key]
			last[change.Key] = lastChange{change, e.Number, !another, before.left || change.Left != nil}
		}
	}
	return last
}

// missingOf lists the keys of which nothing was loaded that is as new as the last change.
func missingOf(last map[flags.Key]lastChange, loaded flags.View) []flags.Key {
	var missing []flags.Key
	for key, change := range last {
		if !change.isIn(loaded) {
			missing = append(missing, key)
		}
	}
	return missing
}

// anyNewer reports whether an aggregate was loaded newer than its last change.
func anyNewer(last map[flags.Key]lastChange, loaded flags.View) bool {
	for key, change := range last {
		if change.Version > 0 && flags.VersionOf(loaded[key]) > change.Version {
			return true
		}
	}
	return false
}

// isIn reports whether the aggregate was loaded at the version of the change or a later one. What was deleted needs no
// loading. A project must also be the same project, because its ID can be used again.
func (c lastChange) isIn(loaded flags.View) bool {
	if c.Version == 0 {
		return true
	}
	a := loaded[c.Key]
	if a == nil || flags.VersionOf(a) < c.Version {
		return false
	}
	p, isProject := a.(*flags.Project)
	return !isProject || p.UID == c.UID
}

func updatesOf(last map[flags.Key]lastChange, loaded flags.View) []update {
	updates := make([]update, 0, len(last))
	for key, change := range last {
		u := update{key: key, number: change.number, left: change.left}
		if change.Version > 0 {
			u.now = loaded[key]
			u.newer = flags.VersionOf(u.now) > change.Version
			u.only = change.only && !u.newer
		}
		updates = append(updates, u)
	}
	return updates
}

// A batch has at most batchSize keys, and at most loadsAtOnce batches are loaded at the same time.
const (
	batchSize   = 100
	loadsAtOnce = 8
)

// loadAll loads any number of keys, several batches at a time.
func (r *Reader) loadAll(ctx context.Context, keys []flags.Key) (flags.View, error) {
	if len(keys) <= batchSize {
		return r.store.Load(ctx, keys)
	}
	all := make(flags.View, len(keys))
	var mu sync.Mutex
	batches := slices.Collect(slices.Chunk(keys, batchSize))
	err := httpapi.AtOnce(loadsAtOnce, len(batches), func(i int) error {
		found, err := r.store.Load(ctx, batches[i])
		mu.Lock()
		defer mu.Unlock()
		maps.Copy(all, found)
		return err
	})
	return all, err
}

// pause waits before another attempt, longer each time, at most 200 ms; false if the context ends.
func pause(ctx context.Context, attempt int) bool {
	ceiling := min(200*time.Millisecond, 4*time.Millisecond<<min(attempt, 6))
	return backoff.Sleep(ctx, rand.N(ceiling)+time.Millisecond) //nolint:gosec // spreading load needs no secure random number
}
