package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// warmUp is the share of a phase's time that is spent on it unmeasured first,
// for connections, caches and the other server's just-in-time compiler.
const warmUp = 8

// bench is one phase on one server.
type bench struct {
	options
	target *target
	phase  phase
	prefix string
	names  []string // the prepared flags
	next   int      // measured requests claimed so far, warm-up included
}

// sample is one measured answer.
type sample struct {
	took  time.Duration
	bytes int64
}

// run prepares the project, warms up and loads the server for the phase's time.
// It leaves no active flag of ours on a server that lives on.
func (b *bench) run(ctx context.Context) (result, error) {
	if err := b.prepare(ctx); err != nil {
		return result{}, fmt.Errorf("preparing: %w", err)
	}
	if _, err := b.load(ctx, b.spend/warmUp); err != nil {
		return result{}, fmt.Errorf("warming up: %w", err)
	}
	res, err := b.load(ctx, b.spend)
	if err != nil || b.target.temporary {
		return res, err
	}
	return res, b.archiveOurs(ctx)
}

// prepare leaves the project with exactly b.flags active flags, all made for
// this phase but those that are somebody else's, in the state it asks for.
func (b *bench) prepare(ctx context.Context) error {
	if err := b.archiveOurs(ctx); err != nil {
		return err
	}
	foreign, err := b.listed(ctx)
	if err != nil {
		return err
	}
	if len(foreign) > b.flags/2 {
		return fmt.Errorf("the project holds %d flags that are not the benchmark's: use a fresh server", len(foreign))
	}
	for i := range b.flags - len(foreign) {
		b.names = append(b.names, fmt.Sprintf("%s%d", b.prefix, i))
	}
	steps := []func(string) request{create}
	if b.phase.strategy {
		steps = append(steps, addStrategy)
	}
	if b.phase.enabled {
		steps = append(steps, on)
	}
	for _, step := range steps {
		if err := b.each(ctx, b.names, step); err != nil {
			return err
		}
	}
	if err := b.checkCount(ctx); err != nil {
		return err
	}
	return b.target.settle(ctx)
}

// load sends requests for the given time. Where the phase has an undo, the
// clock stops at the end of each pass over the flags until all are put back.
func (b *bench) load(ctx context.Context, spend time.Duration) (result, error) {
	var res result
	for res.took < spend {
		limit := 0 // no limit
		if b.phase.undo != nil {
			limit = len(b.names) - b.next%len(b.names)
		}
		started := time.Now()
		samples, err := b.pass(ctx, started.Add(spend-res.took), limit)
		if err != nil {
			return res, err
		}
		res.took += time.Since(started)
		res.add(samples)
		b.next += len(samples)
		if limit > 0 && len(samples) == limit {
			if err := b.each(ctx, b.names, b.phase.undo); err != nil {
				return res, fmt.Errorf("undoing a pass: %w", err)
			}
		}
	}
	return res, nil
}

// pass lets the callers take numbers from b.next on until the deadline, or
// until limit numbers are taken where there is a limit. A number that is taken
// is always sent, so those sent are without a gap.
func (b *bench) pass(ctx context.Context, deadline time.Time, limit int) ([]sample, error) {
	var taken atomic.Int64
	mine := make([][]sample, b.callers)
	err := b.parallel(ctx, func(ctx context.Context, caller int) error {
		for time.Now().Before(deadline) {
			n := int(taken.Add(1)) - 1
			if limit > 0 && n >= limit {
				return nil
			}
			i := b.next + n
			started := time.Now()
			size, err := b.target.send(ctx, b.phase.request(i, b.prefix, b.names[i%len(b.names)]))
			if err != nil {
				return err
			}
			mine[caller] = append(mine[caller], sample{time.Since(started), size})
		}
		return nil
	})
	var all []sample
	for _, s := range mine {
		all = append(all, s...)
	}
	return all, err
}

// each sends one unmeasured request for each name.
func (b *bench) each(ctx context.Context, names []string, make func(name string) request) error {
	var taken atomic.Int64
	return b.parallel(ctx, func(ctx context.Context, _ int) error {
		for i := int(taken.Add(1)) - 1; i < len(names); i = int(taken.Add(1)) - 1 {
			if _, err := b.target.send(ctx, make(names[i])); err != nil {
				return err
			}
		}
		return nil
	})
}

// parallel runs the callers to their end. The first error stops the others.
func (b *bench) parallel(ctx context.Context, caller func(ctx context.Context, number int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for n := range b.callers {
		wg.Go(func() {
			if err := caller(ctx, n); err != nil {
				cancel(err) // only the first one counts
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// archiveOurs takes what this run or an earlier one left out of the list.
func (b *bench) archiveOurs(ctx context.Context) error {
	names, err := b.listed(ctx)
	if err != nil {
		return err
	}
	var left []string
	for _, name := range names {
		if strings.HasPrefix(name, ours) {
			left = append(left, name)
		}
	}
	return b.each(ctx, left, archive)
}

// checkCount makes sure that a list of 1,000 is one.
func (b *bench) checkCount(ctx context.Context) error {
	names, err := b.listed(ctx)
	if err == nil && len(names) != b.flags {
		err = fmt.Errorf("the project lists %d flags, not %d", len(names), b.flags)
	}
	return err
}

// listed gives the names of the project's active flags.
func (b *bench) listed(ctx context.Context) ([]string, error) {
	body, err := b.target.fetch(ctx, list())
	if err != nil {
		return nil, err
	}
	var answer struct {
		Features []struct {
			Name string `json:"name"`
		} `json:"features"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("reading the list: %w", err)
	}
	var names []string
	for _, f := range answer.Features {
		names = append(names, f.Name)
	}
	return names, nil
}
