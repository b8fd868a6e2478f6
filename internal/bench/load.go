package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// warmUp is the part of a phase's time that runs unmeasured first, for connections, caches and just-in-time compilers: 1/8.
const warmUp = 8

// A bench runs one phase on one server.
type bench struct {
	options
	target *target
	phase  phase
	prefix string            // of the names of flags
	names  []string          // of the prepared flags
	next   int               // the number of requests sent so far
	header map[string]string // of the measured requests
}

// run prepares the project, measures and cleans up.
func (b *bench) run(ctx context.Context) (result, error) {
	if err := b.prepare(ctx); err != nil {
		return result{}, fmt.Errorf("preparing: %w", err)
	}
	res, err := b.measure(ctx)
	if err != nil {
		return res, err
	}
	return res, b.cleanUp(ctx)
}

// measure warms up and measures.
func (b *bench) measure(ctx context.Context) (result, error) {
	if b.phase.application != "" {
		if err := b.connect(ctx); err != nil {
			return result{}, fmt.Errorf("connecting: %w", err)
		}
	}
	if _, err := b.load(ctx, b.spend/warmUp); err != nil {
		return result{}, fmt.Errorf("warming up: %w", err)
	}
	return b.load(ctx, b.spend)
}

// cleanUp removes the flags on a server that keeps running.
func (b *bench) cleanUp(ctx context.Context) error {
	if b.target.temporary {
		return nil
	}
	return b.removeOurs(ctx)
}

// prepare creates flags until the project has b.flags active ones, in the state that the phase needs.
func (b *bench) prepare(ctx context.Context) error {
	if err := b.removeOurs(ctx); err != nil {
		return err
	}
	others, err := b.listed(ctx)
	if err != nil {
		return err
	}
	if len(others) > b.flags/2 {
		return fmt.Errorf("the project has %d flags that the benchmark did not create; use a new server", len(others))
	}
	for i := range b.flags - len(others) {
		b.names = append(b.names, fmt.Sprintf("%s%d", b.prefix, i))
	}
	steps := []func(string) request{create}
	if b.phase.strategy != nil {
		steps = append(steps, b.phase.strategy)
	}
	if b.phase.enabled {
		steps = append(steps, on)
	}
	for _, step := range steps {
		if err := b.each(ctx, b.names, step); err != nil {
			return err
		}
	}
	names, err := b.listed(ctx)
	if err != nil {
		return err
	}
	if len(names) != b.flags {
		return fmt.Errorf("the project lists %d flags, expected %d", len(names), b.flags)
	}
	return b.target.settle(ctx)
}

// load sends requests for a time. If the phase has an undo, it runs after each pass over the flags, with the clock stopped.
func (b *bench) load(ctx context.Context, spend time.Duration) (res result, err error) {
	for res.took < spend {
		limit := 0 // none
		if b.phase.undo != nil {
			limit = len(b.names) - b.next%len(b.names)
		}
		started := time.Now()
		sent, err := b.pass(ctx, started.Add(spend-res.took), limit, &res)
		if err != nil {
			return res, err
		}
		res.took += time.Since(started)
		if b.next += sent; limit > 0 && sent == limit {
			if err := b.each(ctx, b.names, b.phase.undo); err != nil {
				return res, fmt.Errorf("undoing a pass: %w", err)
			}
		}
	}
	return res, nil
}

// pass sends requests from all callers until the deadline, or until the limit if there is one. It returns their number.
func (b *bench) pass(ctx context.Context, deadline time.Time, limit int, res *result) (int, error) {
	var taken atomic.Int64
	times, sizes := make([][]time.Duration, b.callers), make([]int64, b.callers)
	before := b.target.usage()
	err := b.parallel(ctx, func(ctx context.Context, caller int) error {
		for time.Now().Before(deadline) {
			n := int(taken.Add(1)) - 1
			if limit > 0 && n >= limit {
				return nil
			}
			i := b.next + n
			started := time.Now()
			r := b.phase.request(i, b.prefix, b.names[i%len(b.names)])
			r.header = b.header
			size, err := b.target.send(ctx, r, io.Discard)
			if err != nil {
				return err
			}
			times[caller] = append(times[caller], time.Since(started))
			sizes[caller] += size
		}
		return nil
	})
	res.usage = res.usage.plus(b.target.usage().minus(before))
	all := slices.Concat(times...)
	res.times = append(res.times, all...)
	for _, size := range sizes {
		res.bytes += size
	}
	return len(all), err
}

// each sends one unmeasured request for each name.
func (b *bench) each(ctx context.Context, names []string, request func(name string) request) error {
	var taken atomic.Int64
	return b.parallel(ctx, func(ctx context.Context, _ int) error {
		for i := int(taken.Add(1)) - 1; i < len(names); i = int(taken.Add(1)) - 1 {
			if _, err := b.target.send(ctx, request(names[i]), io.Discard); err != nil {
				return err
			}
		}
		return nil
	})
}

// parallel runs the callers and returns the first error, which stops the others.
func (b *bench) parallel(ctx context.Context, caller func(ctx context.Context, number int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for n := range b.callers {
		wg.Go(func() {
			if err := caller(ctx, n); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// removeOurs removes the flags that this run or an earlier one created.
func (b *bench) removeOurs(ctx context.Context) error {
	names, err := b.listed(ctx)
	if err != nil {
		return err
	}
	return b.target.remove(ctx, slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, ours) }))
}

// listed returns the names of the project's active flags.
func (b *bench) listed(ctx context.Context) (names []string, err error) {
	var body bytes.Buffer
	if _, err := b.target.send(ctx, list(), &body); err != nil {
		return nil, err
	}
	var response struct{ Features []struct{ Name string } }
	if err := json.Unmarshal(body.Bytes(), &response); err != nil {
		return nil, fmt.Errorf("reading the list: %w", err)
	}
	for _, f := range response.Features {
		names = append(names, f.Name)
	}
	return names, nil
}
