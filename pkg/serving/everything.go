package serving

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/backoff"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// leaseTime is how long the other instances wait for one that reads everything.
const leaseTime = 10 * time.Second

// maxEpochs is how many epochs may begin while an instance reads everything.
const maxEpochs = 3

// start returns a first state: from the current snapshot, or else from everything in the table. view has the feed and the
// head of the snapshots.
//
// Reading everything costs much, so only the instance with the lease does it, and writes a snapshot. The others wait for that
// snapshot, but no longer than the lease lasts.
func (r *Reader) start(ctx context.Context, view flags.View) (*State, error) {
	until := r.wallClock().Add(leaseTime)
	leads := false // whether this instance reads everything
	for attempt := 1; ; attempt++ {
		state, err := r.fromSnapshot(ctx, view)
		if err != nil {
			return nil, err
		}
		if state != nil {
			next, err := r.catchUp(ctx, state, feedOf(view), flags.View{})
			if !errors.Is(err, errGap) {
				return next, err
			}
		}
		if leads {
			break
		}
		now := r.wallClock()
		taken, err := r.store.TakeLease(ctx, r.id, now, now.Add(leaseTime))
		if err != nil {
			r.options.Report(ctx, "the lease for reading everything could not be taken", err)
		}
		leads = taken || err != nil || !now.Before(until)
		if !leads && !pause(ctx, attempt) {
			return nil, flags.Errorf(flags.Unavailable, "the flags are being read for the first time; try again")
		}
		if view, err = r.loadFeed(backoff.WithRetries(ctx, backoff.Polls), nil, true); err != nil { // another instance may have written a snapshot since
			return nil, err
		}
	}
	state, err := r.everything(ctx)
	for again := 0; errors.Is(err, errGap) && again < maxEpochs; again++ { // an epoch began during the read, for example after a deployment
		state, err = r.everything(ctx)
	}
	if err != nil {
		return nil, err
	}
	if err := r.writeSnapshot(ctx, state); err != nil {
		r.options.Report(ctx, "the snapshot could not be written", err)
	}
	now := r.wallClock()
	if _, err := r.store.TakeLease(ctx, r.id, now, now); err != nil { // gives it back: it ends now
		r.options.Report(ctx, "the lease for reading everything could not be given back", err)
	}
	return state, nil
}

// everything reads everything that applications can see.
//
// The feed is read first. What is read after it can be older than its newest entries (see catchUp), so all entries that it
// holds are checked. It is read again at the end, because a flag that moves to another project during the read can be missing in the
// lists of both.
func (r *Reader) everything(ctx context.Context) (*State, error) {
	view, err := r.loadFeed(ctx, []flags.Key{flags.EnvironmentsKey()}, false)
	if err != nil {
		return nil, err
	}
	feed := feedOf(view)
	registry := flags.Find[*flags.Environments](view, flags.EnvironmentsKey())
	if registry == nil {
		return nil, httpapi.ErrNotSetUp
	}
	loaded := flags.View{registry.Key(): registry}
	segments, err := r.store.List(ctx, flags.EntitySegment)
	if err != nil {
		return nil, err
	}
	for _, segment := range segments {
		loaded[segment.Key()] = segment
	}
	tokens, err := r.store.List(ctx, access.EntityToken)
	if err != nil {
		return nil, err
	}
	for _, token := range tokens {
		loaded[token.Key()] = token
	}
	keys, err := r.keysOfProjectsAndFlags(ctx)
	if err != nil {
		return nil, err
	}
	found, err := r.loadAll(ctx, keys)
	if err != nil {
		return nil, err
	}
	maps.Copy(loaded, found)

	first := feed.Number - int64(len(feed.Entries))
	state := &State{
		Epoch: feed.Epoch, Number: first, Since: first, Environments: &flags.Environments{},
		Flags: map[string]*Flag{}, Segments: map[int64]*Segment{}, Projects: map[string]*flags.Project{},
		Tokens: map[string]*access.Token{},
	}
	updates := make([]update, 0, len(loaded))
	for key, a := range loaded {
		updates = append(updates, update{key: key, number: first, now: a})
	}
	if view, err = r.loadFeed(ctx, nil, false); err != nil {
		return nil, err
	}
	if state, err = r.catchUp(ctx, state.with(first, updates, nil), feedOf(view), loaded); err != nil {
		return nil, err
	}
	state.Since, state.Gone = state.Number, nil // what changed before is not known
	return state, nil
}

// keysOfProjectsAndFlags lists the keys of all projects and of their active flags.
func (r *Reader) keysOfProjectsAndFlags(ctx context.Context) ([]flags.Key, error) {
	projects, err := r.store.List(ctx, flags.EntityProject)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var keys []flags.Key
	err = httpapi.AtOnce(loadsAtOnce, len(projects), func(i int) error {
		p := projects[i].(*flags.Project)
		summaries, err := r.store.Summaries(ctx, p.UID, false)
		mu.Lock()
		defer mu.Unlock()
		keys = append(keys, p.Key()) // the rows of the list have no version
		for _, summary := range summaries {
			keys = append(keys, flags.FeatureKey(summary.Name))
		}
		return err
	})
	return keys, err
}
