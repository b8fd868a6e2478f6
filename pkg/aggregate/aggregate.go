// Package aggregate adds what applications reported to the sums that the administration reads, each post exactly once.
//
//	aggregate.go     the batches: which posts are added together, and when
//	apply.go         adds the posts of a batch to the sums, and stores when tokens were last used and flags last seen
//	sources.go       the tokens of the posts: which flags they may report, and how many applications
//	tally.go         what the posts of a batch add up to
//	applications.go  applications and their instances
package aggregate

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"guidon/pkg/flags"
	"guidon/pkg/usage"
)

// An Aggregator adds the posts of applications to the sums, each exactly once.
//
// It does so in numbered batches, strictly one after the other: batch n is a stored list of posts, and batch n+1 begins only
// when all posts of batch n were added to all their sums. Each sum has the number of the last batch that was added to it. So a
// run can be killed at any moment, and several runs can be active at once: they take the same batch, and a sum that has it
// already does not take it again.
//
//  1. Read the cursor: the number n of the next batch, and the time up to which posts are in batches.
//  2. Read the posts since then, and store their IDs as batch n, on the condition that there is none. If there is one, take the
//     posts of that one instead.
//  3. Add the posts to the sums, see apply.
//  4. Advance the cursor, on the condition that it is still at n.
//
// A post can be stored after the posts of its time were read, because its request took long or the clocks differ. Therefore each
// period is looked at a second time, 10 minutes after its end: posts that no batch lists are a batch of their own.
type Aggregator struct {
	store    Store
	settle   time.Duration
	now      func() time.Time
	logger   *slog.Logger
	maxPosts int
	maxBytes int
}

// Settings are the settings of an Aggregator.
type Settings struct {
	Settle time.Duration // how old posts must be: those that are still being stored come later otherwise
	Logger *slog.Logger  // nil for none
	Now    func() time.Time

	// MaxPosts and MaxBytes limit a batch, about; 0 for 20,000 posts of 32 MB.
	MaxPosts int
	MaxBytes int
}

// Settle is the Settle of the function on AWS: longer than storing a post takes, retries included.
const Settle = 10 * time.Second

// The default limits of a batch: IDs of 20,000 posts fit in an item, and 32 MB of posts in the memory of the function.
const (
	maxBatchPosts = 20_000
	maxBatchBytes = 32 << 20
)

// A Store has the posts, the sums, and the aggregates that reports change.
type Store interface {
	flags.Store
	usage.SumStore
}

// New returns an Aggregator.
func New(store Store, s Settings) *Aggregator {
	a := &Aggregator{store: store, settle: s.Settle, now: s.Now, logger: s.Logger, maxPosts: s.MaxPosts, maxBytes: s.MaxBytes}
	if a.now == nil {
		a.now = time.Now
	}
	if a.logger == nil {
		a.logger = slog.New(slog.DiscardHandler)
	}
	if a.maxPosts == 0 {
		a.maxPosts = maxBatchPosts
	}
	if a.maxBytes == 0 {
		a.maxBytes = maxBatchBytes
	}
	return a
}

// A Result is what a run did.
type Result struct {
	Batches int
	Posts   int
	Behind  time.Duration // how old the posts are that were not added, because the time was up; 0 if all were
}

// runReserve is how much time a run needs before its deadline to begin another batch.
const runReserve = 20 * time.Second

// maxBehind is how far a run may be behind at its end. If it is further, it fails, so that the alarm of the function tells.
const maxBehind = 5 * time.Minute

// maxAhead is how far the cursor may be ahead of the clock. If it is further, the clock has jumped back: until it is at the cursor
// again, nothing is added, and what is received in periods that were looked at twice already is not counted. So a run fails.
const maxAhead = 5 * time.Minute

// Run adds all posts that are old enough, or as many as the deadline of ctx allows.
func (a *Aggregator) Run(ctx context.Context) (Result, error) {
	var done Result
	horizon := a.now().Add(-a.settle).UTC().Truncate(time.Millisecond)
	cursor, err := a.cursor(ctx)
	if err == nil && cursor.From.Sub(horizon) > maxAhead {
		err = fmt.Errorf("nothing is added to the sums of usage before %s: the clock was ahead, or is behind", cursor.From.Format(time.RFC3339))
	}
	for err == nil {
		var batch *usage.Batch
		var posts []*usage.Post
		if batch, posts, err = a.next(ctx, cursor, horizon); err != nil || batch == nil {
			break
		}
		if err = a.apply(ctx, batch.Number, posts); err != nil {
			break
		}
		done.Batches++
		done.Posts += len(posts)
		if err = a.store.AdvanceUsage(ctx, cursor, &batch.After); err == nil {
			cursor = &batch.After
		} else if flags.KindOf(err) == flags.VersionConflict { // another run was faster, or the response of this call was lost
			cursor, err = a.cursor(ctx)
		}
		if deadline, has := ctx.Deadline(); err == nil && has && time.Until(deadline) < runReserve {
			done.Behind = horizon.Sub(cursor.From)
			break
		}
	}
	if err == nil && done.Behind > maxBehind {
		err = fmt.Errorf("the sums of usage are %s behind", done.Behind.Round(time.Second))
	}
	return done, err
}

// cursor reads the cursor, or creates it.
func (a *Aggregator) cursor(ctx context.Context) (*usage.Cursor, error) {
	for {
		view, err := a.store.Load(ctx, []flags.Key{usage.CursorKey()})
		if err != nil {
			return nil, err
		}
		if cursor := flags.Find[*usage.Cursor](view, usage.CursorKey()); cursor != nil {
			return cursor, nil
		}
		err = a.store.AdvanceUsage(ctx, nil, usage.NewCursor(a.now()))
		if err != nil && flags.KindOf(err) != flags.VersionConflict {
			return nil, err
		}
	}
}

// next returns the next batch, as it is stored, and its posts; nil if there is nothing to add.
func (a *Aggregator) next(ctx context.Context, cursor *usage.Cursor, horizon time.Time) (*usage.Batch, []*usage.Post, error) {
	find := a.newPosts
	if _, late := cursor.LateIn(); late {
		find = a.latePosts
	}
	batch, posts, err := find(ctx, cursor, horizon)
	if err != nil || batch == nil {
		return nil, nil, err
	}
	for _, p := range posts {
		batch.Posts = append(batch.Posts, p.ID)
	}
	stored, err := a.store.PutBatch(ctx, *batch)
	if err != nil {
		return nil, nil, err
	}
	if slices.Equal(stored.Posts, batch.Posts) {
		return &stored, posts, nil
	}
	// Another run has stored the batch, with other posts.
	listed := flags.SetOf(stored.Posts)
	posts, _, err = a.store.Posts(ctx, usage.PostQuery{From: stored.From, To: stored.To, Take: func(id string) bool { return listed[id] }})
	return &stored, posts, err
}

// newPosts returns a batch of the posts since the cursor, up to the end of its period. At the end of a period there is a batch
// even without posts, because only a batch may advance the cursor.
func (a *Aggregator) newPosts(ctx context.Context, cursor *usage.Cursor, horizon time.Time) (*usage.Batch, []*usage.Post, error) {
	period := cursor.Period()
	to := period.Add(usage.Period)
	if horizon.Before(to) {
		to = horizon
	}
	if !to.After(cursor.From) {
		return nil, nil, nil
	}
	posts, until, err := a.store.Posts(ctx, usage.PostQuery{From: cursor.From, To: to, MaxPosts: a.maxPosts, MaxBytes: a.maxBytes})
	if err != nil || len(posts) == 0 && until.Before(period.Add(usage.Period)) {
		return nil, nil, err
	}
	batch := &usage.Batch{Number: cursor.Next, Period: period, From: cursor.From, To: until}
	batch.After = cursor.After(until, horizon)
	return batch, posts, nil
}

// latePosts returns a batch of the posts of an earlier period that no batch lists; usually none.
func (a *Aggregator) latePosts(ctx context.Context, cursor *usage.Cursor, _ time.Time) (*usage.Batch, []*usage.Post, error) {
	period := cursor.Period()
	ids, err := a.store.PostIDs(ctx, period)
	if err != nil {
		return nil, nil, err
	}
	batches, err := a.store.Batches(ctx, period)
	if err != nil {
		return nil, nil, err
	}
	late := flags.SetOf(ids)
	for _, b := range batches {
		for _, id := range b.Posts {
			delete(late, id)
		}
	}
	batch := &usage.Batch{Number: cursor.Next, Period: period, From: period, To: period.Add(usage.Period)}
	batch.After = usage.Cursor{Next: cursor.Next + 1, From: cursor.From, Looked: period}
	if len(late) == 0 {
		return batch, nil, nil
	}
	posts, _, err := a.store.Posts(ctx, usage.PostQuery{
		From: batch.From, To: batch.To, Take: func(id string) bool { return late[id] }, MaxPosts: a.maxPosts, MaxBytes: a.maxBytes,
	})
	if len(posts) < len(late) {
		batch.After.Looked = cursor.Looked // the others are the next batch
	}
	return batch, posts, err
}
