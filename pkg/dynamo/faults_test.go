package dynamo_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"guidon/internal/engine"
	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

// TestFaults runs 8 writers that create and change flags, their own and shared ones, while requests and responses are lost.
// Then it compares the result of each commit with the table.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name     string
		faults   *dynamotest.Faults
		restarts int                // of the engine, while the writers run
		want     []dynamotest.Fault // the faults that must have been injected
	}{
		{"15 % of the responses lost", &dynamotest.Faults{LoseResponses: 0.15}, 0, list(dynamotest.LoseResponse)},
		{"60 % of the responses lost", &dynamotest.Faults{LoseResponses: 0.6}, 0, list(dynamotest.LoseResponse)},
		{"a third of the requests dropped", &dynamotest.Faults{DropRequests: 0.33}, 0, list(dynamotest.DropRequest)},
		{"a third of the responses truncated", &dynamotest.Faults{TruncateResponses: 0.33}, 0, list(dynamotest.TruncateResponse)},
		{
			"throttled and failing", &dynamotest.Faults{Throttles: 0.2, Failures: 0.3}, 0,
			list(dynamotest.Throttle, dynamotest.FailBefore, dynamotest.FailAfter),
		},
		{
			"transactions that overlap", &dynamotest.Faults{Conflicts: true, Delay: 4 * time.Millisecond}, 0,
			list(dynamotest.Conflict),
		},
		{"15 % of the responses lost, and restarts", &dynamotest.Faults{LoseResponses: 0.15}, 5, list(dynamotest.LoseResponse)},
		{"60 % of the responses lost, and restarts", &dynamotest.Faults{LoseResponses: 0.6}, 5, list(dynamotest.LoseResponse)},
		{
			"everything at once", &dynamotest.Faults{
				DropRequests: 0.1, LoseResponses: 0.2, TruncateResponses: 0.05, Throttles: 0.05, Failures: 0.1,
				Conflicts: true, Delay: 4 * time.Millisecond,
			}, 5,
			list(dynamotest.DropRequest, dynamotest.LoseResponse, dynamotest.TruncateResponse, dynamotest.Throttle, dynamotest.FailAfter, dynamotest.Conflict),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e, table := dynamotest.Engine(), newTable()
			if c.restarts > 0 {
				e = newEngine(t)
			}
			c.faults.Seed = 1
			w := &world{T: t, faulty: dynamotest.OpenOn(t, e, table, c.faults), told: map[string][]told{}}
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute) // DynamoDB Local restarts slowly
			defer cancel()
			var writers sync.WaitGroup
			for i := range 8 {
				writers.Go(func() { w.work(ctx, i) })
			}
			over := make(chan struct{})
			go func() { writers.Wait(); close(over) }()
			w.restart(e, c.restarts, over)
			<-over

			w.check(dynamotest.OpenOn(t, e, table, nil))
			for _, fault := range c.want {
				if c.faults.Injected()[fault] == 0 {
					t.Errorf("the fault %q was never injected, so this test proves nothing about it", fault)
				}
			}
			t.Logf("faults %v, calls %v, answers %v", c.faults.Injected(), c.faults.Calls(), w.answers())
		})
	}
}

func list(faults ...dynamotest.Fault) []dynamotest.Fault { return faults }

// A world is a store with many writers, and the results of their commits.
type world struct {
	*testing.T
	faulty *dynamo.Store

	mu   sync.Mutex
	told map[string][]told // by flag
}

// told is the result of one commit, as its writer knows it.
type told struct {
	event string
	kind  string // done, refused or unknown
	what  string // for test messages
}

const (
	done    = "done"
	refused = "refused"
	unknown = "unknown"
)

// work creates flags of the writer's own and flags that all writers try to create, and changes both.
func (w *world) work(ctx context.Context, writer int) {
	for i := range 6 {
		own, common := fmt.Sprintf("own-%d-%d", writer, i), fmt.Sprintf("common-%d", i)
		if kind := w.make(ctx, own); kind == flags.NameExists {
			w.Errorf("writer %d: the name %s is taken, but no other writer uses it", writer, own)
		}
		w.make(ctx, common)
		w.change(ctx, own)
		w.change(ctx, common)
	}
}

// make creates a flag.
func (w *world) make(ctx context.Context, name string) flags.Kind {
	f := newFlag(name)
	f.Description = new("1")
	return w.commit(ctx, name, flags.Write{After: f})
}

// change increments the number in a flag's description, and retries after version conflicts.
func (w *world) change(ctx context.Context, name string) {
	key := flags.FeatureKey(name)
	for ctx.Err() == nil {
		view, err := w.faulty.Load(ctx, []flags.Key{key})
		if flags.KindOf(err) == flags.Unavailable && err != nil {
			continue // all attempts failed, as the error says
		}
		if err != nil {
			w.Errorf("load %s: %v", name, reason(err))
			return
		}
		read := flags.Find[*flags.Feature](view, key)
		if read == nil && w.maybeCreated(name) {
			return
		}
		if read == nil {
			w.Errorf("%s was created, but does not exist", name)
			return
		}
		kind := w.commit(ctx, name, write(read, func(f *flags.Feature) {
			n, _ := strconv.Atoi(*f.Description)
			f.Description = new(strconv.Itoa(n + 1))
		}))
		if kind != flags.VersionConflict {
			return
		}
		time.Sleep(rand.N(5 * time.Millisecond))
	}
}

// maybeCreated reports whether the creation of a flag ended without a definite result.
func (w *world) maybeCreated(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !slices.ContainsFunc(w.told[name], func(t told) bool { return t.kind != unknown })
}

// commit commits a change and records the result.
func (w *world) commit(ctx context.Context, name string, write flags.Write) flags.Kind {
	c := newChange(write)
	err := w.faulty.Commit(ctx, c)
	outcome := told{event: c.Event.ID, what: fmt.Sprintf("version %d → %v", flags.VersionOf(write.After), err)}
	kind := flags.KindOf(err)
	switch {
	case err == nil:
		outcome.kind, kind = done, -1
	case kind == flags.NameExists && write.Before == nil, kind == flags.VersionConflict && write.Before != nil:
		outcome.kind = refused
	case kind == flags.Unavailable:
		outcome.kind = unknown
	default:
		w.Errorf("commit of %s over version %d: kind %d: %v", name, flags.VersionOf(write.After), kind, reason(err))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told[name] = append(w.told[name], outcome)
	return kind
}

// restart restarts the engine n times, every other time by killing it, until the writers are done.
func (w *world) restart(e *engine.Engine, n int, over <-chan struct{}) {
	for i := range n {
		select {
		case <-over:
			return
		case <-time.After(100 * time.Millisecond):
			restart(w.T, e, i%2 == 0)
		}
	}
}

// check compares the recorded results with the table.
func (w *world) check(plain *dynamo.Store) {
	for name, outcomes := range w.told {
		if w.maybeCreated(name) && len(load(w.T, plain, name)) == 0 {
			delete(w.told, name)
			continue
		}
		f := find(w.T, plain, name)
		times := map[string]int{}
		list := events(w.T, plain, name)
		for _, e := range list {
			times[e.ID]++
		}
		if *f.Description != strconv.FormatInt(f.Version, 10) || f.Version != int64(len(list)) {
			w.Errorf("%s is at version %d, was changed %s times and has %d events: want the same number", name, f.Version, *f.Description, len(list))
		}
		for _, o := range outcomes {
			switch n := times[o.event]; {
			case o.kind == done && n != 1:
				w.Errorf("%s: an acknowledged change has %d events (%s)", name, n, o.what)
			case o.kind == refused && n != 0:
				w.Errorf("%s: a refused change has %d events (%s)", name, n, o.what)
			case n > 1:
				w.Errorf("%s: a change has %d events (%s)", name, n, o.what)
			}
			delete(times, o.event)
		}
		for id := range times {
			w.Errorf("%s: the event %s is of no commit", name, id)
		}
	}
	rows, err := plain.Summaries(w.Context(), newFlag("").ProjectUID, false)
	if err != nil || len(rows) != len(w.told) {
		w.Errorf("%d flags are listed (%v), want %d", len(rows), err, len(w.told))
	}
}

// answers counts the results.
func (w *world) answers() map[string]int {
	n := map[string]int{}
	for _, outcomes := range w.told {
		for _, o := range outcomes {
			n[o.kind]++
		}
	}
	return n
}
