package oldapi

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"

	"guidon/pkg/flags"
)

// A batch is what a call does that does not fit one load and one commit: many items, each of which is a change of its
// own, made whole or not at all and told of by one event. It is a plain loop of rounds. A round loads and authorises as
// every operation does, decides about the next hundred items on what is loaded, and commits several at once; those where
// another writer was first are decided again in a later one. So every rule saw the state that its change is applied to, the
// caller was authorised in that same round, and no item is done twice.
//
// A round costs two BatchGetItem (one more for each further hundred keys, and one for what more brings), and every item
// that changes something one transaction.
type batch struct {
	size   int                                            // how many items there are
	common []flags.Key                                    // what all of them need
	keys   func(i int) []flags.Key                        // what an item needs. Both are loaded into c.more
	more   func(c *call, i int) []flags.Key               // what else it needs, known by that; nil for nothing
	review func(c *call) error                            // what is wrong with the call as a whole, known by that; nil for nothing
	number func(c *call, next nextID) error               // takes the new integer ids that its items need; nil for none
	decide func(c *call, i int) (decision, error)         // what becomes of an item; c is for it alone (see later)
	answer func(c *call, done []result) (decision, error) // the answer, given what became of each item, in order
}

// A nextID takes a new integer id for an entity.
type nextID func(entity flags.Entity) (int64, error)

// A result is what became of an item: the error that kept it from being done, or what its decision says.
type result struct {
	body any
	err  error
}

// inBatch decides on a call whose body of type In asks for many changes.
func inBatch[In any](of func(in In) batch) decider {
	d := takes[In](nil)
	d.batch = func(in any) batch { return of(in.(In)) }
	return d
}

// A postponed is the error of a decision that waits for other items of its batch.
type postponed struct{ err error }

func (p postponed) Error() string { return "waits for another item: " + p.err.Error() }
func (p postponed) Unwrap() error { return p.err }

// later puts an item off until the others were tried. If none of them is left, err is its result.
func later(err error) error { return postponed{err} }

// itemsARound is how many items a round loads and decides about.
const itemsARound = 100

// executeBatch is a request for a batch from start to end. A fault of the call as a whole is its answer only before
// anything is done; afterwards it is the result of every item that is left.
func (e *executor) executeBatch(r *http.Request, op Operation, keys func(*http.Request) []flags.Key) (decision, int, error) {
	ctx, cancel := context.WithDeadline(r.Context(), e.deadline(r.Context()))
	defer cancel()
	var (
		in   = input{op: op, request: r}
		run  batchRun
		last *call // what the answer is made on
	)
	for round := 1; ; round++ {
		c, err := e.prepare(ctx, r, op, keys, &in)
		if err == nil && last == nil {
			run = newBatchRun(op.Decide.batch(in.value))
		}
		if err == nil {
			err = e.loadItems(ctx, c, &run)
		}
		switch {
		case err != nil && last == nil:
			return decision{}, round, err
		case err != nil:
			run.end(notReached(ctx, err))
		default:
			last = c
			outdated := e.advance(ctx, c, &run)
			if len(run.left) > 0 && (ctx.Err() != nil || outdated && !pause(ctx, round)) {
				run.end(notReached(ctx, nil))
			}
		}
		if len(run.left) == 0 {
			d, err := run.batch.answer(last, run.results)
			return d, round, err
		}
	}
}

// notReached is the result of items that nothing was tried for any more.
func notReached(ctx context.Context, err error) error {
	switch kind := flags.KindOf(err); {
	case err == nil, ctx.Err() != nil, kind == flags.Internal, kind == flags.Unavailable:
	default:
		return err
	}
	return &flags.Error{Kind: flags.Unavailable, Err: err, Message: "there was no time left for it, and it was not changed; try again"}
}

// A batchRun is how far a batch has come.
type batchRun struct {
	batch   batch
	results []result // by item
	left    []int    // the items that have none yet, in the order that they are to be tried in
	idle    int      // how many items were put off since anything else became of one
}

func newBatchRun(b batch) batchRun {
	run := batchRun{batch: b, results: make([]result, b.size), left: make([]int, b.size)}
	for i := range run.left {
		run.left[i] = i
	}
	return run
}

// next are the items of this round.
func (b *batchRun) next() []int { return b.left[:min(len(b.left), itemsARound)] }

// end gives every item that is left the same result.
func (b *batchRun) end(err error) {
	for _, i := range b.left {
		b.results[i] = result{err: err}
	}
	b.left = nil
}

// loadItems brings what this round's items need.
func (e *executor) loadItems(ctx context.Context, c *call, run *batchRun) (err error) {
	wanted := slices.Clone(run.batch.common)
	for _, i := range run.next() {
		wanted = append(wanted, run.batch.keys(i)...)
	}
	if c.more, err = e.store.Load(ctx, wanted); err != nil {
		return err
	}
	if run.batch.review != nil {
		if err := run.batch.review(c); err != nil {
			return err
		}
	}
	if run.batch.number != nil {
		if err := run.batch.number(c, func(entity flags.Entity) (int64, error) { return e.store.NextID(ctx, entity) }); err != nil {
			return err
		}
	}
	if run.batch.more == nil {
		return nil
	}
	wanted = nil
	for _, i := range run.next() {
		wanted = append(wanted, run.batch.more(c, i)...)
	}
	more, err := e.store.Load(ctx, wanted)
	maps.Copy(c.more, more)
	return err
}

// advance decides about this round's items and commits what is to be changed. Those that have to come again do so behind
// all others; it tells whether that is so for some because another writer was first.
func (e *executor) advance(ctx context.Context, c *call, run *batchRun) (outdated bool) {
	items := run.next()
	run.left = slices.Clone(run.left[len(items):])
	changes, putOff, clashing := run.decide(c, items)
	e.commitAll(ctx, changes, run.results)
	for _, i := range items {
		if err := run.results[i].err; err != nil && flags.KindOf(err) == flags.VersionConflict && !slices.Contains(putOff, i) {
			clashing, outdated = append(clashing, i), true
		}
	}
	slices.Sort(clashing)
	run.left = slices.Concat(run.left, clashing, putOff)
	if run.idle += len(putOff); len(putOff) < len(items) {
		run.idle = 0
	}
	if run.idle >= len(run.left) { // all were put off in turn, and none is left that they could wait for
		for _, i := range run.left {
			run.results[i].err = errors.Unwrap(run.results[i].err)
		}
		run.left = nil
	}
	return outdated
}

// decide decides about items, and tells what is to be changed for which. Some come again: those that were put off, and
// those that would change what another one changes too, and so would surely be outdated.
func (b *batchRun) decide(c *call, items []int) (changes map[int]decision, putOff, clashing []int) {
	changes, taken := map[int]decision{}, map[flags.Key]bool{}
	for _, i := range items {
		one := *c
		d, err := b.batch.decide(&one, i)
		b.results[i] = result{d.body, err}
		keys := each(d.change.Writes, keyOfWrite)
		switch {
		case isPostponed(err):
			putOff = append(putOff, i)
		case err != nil || len(keys) == 0:
		case slices.ContainsFunc(keys, func(key flags.Key) bool { return taken[key] }):
			clashing = append(clashing, i)
		default:
			changes[i] = d
			for _, key := range keys {
				taken[key] = true
			}
		}
	}
	return changes, putOff, clashing
}

func isPostponed(err error) bool {
	_, is := errors.AsType[postponed](err)
	return is
}

func keyOfWrite(w flags.Write) flags.Key {
	if w.After == nil {
		return w.Before.Key()
	}
	return w.After.Key()
}

// commitAll makes changes and notes where that failed.
func (e *executor) commitAll(ctx context.Context, changes map[int]decision, results []result) {
	if len(changes) == 0 {
		return
	}
	items := slices.Sorted(maps.Keys(changes))
	errs := e.store.CommitAll(ctx, each(items, func(i int) flags.Change { return changes[i].change }))
	for n, i := range items {
		results[i].err = e.committed(changes[i], errs[n])
	}
}
