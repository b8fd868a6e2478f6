package aggregate_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/aggregate"
	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/usage"
)

// An expected is a world that knows what the sums must have in the end.
type expected struct {
	*world
	mu   sync.Mutex
	want map[string]int64
	used map[string]time.Time // by hash of the token: the last hour in which it was used
}

func newExpected(t *testing.T, names ...string) *expected {
	return &expected{world: newWorld(t, names...), want: map[string]int64{}, used: map[string]time.Time{}}
}

// report stores a post that evaluates some flags, received at a time.
func (e *expected) report(at time.Time, names ...string) {
	e.Helper()
	var counts []usage.Count
	e.mu.Lock()
	for i, name := range names {
		counts = append(counts, yes(name, int64(i+1)))
		e.want[name] += int64(i + 1)
	}
	p := newPost(at, counts...)
	polled := access.HashSecret(fmt.Sprint("polls-", at.Unix()%3))
	p.Uses = map[string]time.Time{polled: at.Add(-time.Second)}
	for hash, at := range map[string]time.Time{p.TokenHash: p.At, polled: p.Uses[polled]} {
		if hour := at.Truncate(time.Hour); hour.After(e.used[hash]) {
			e.used[hash] = hour
		}
	}
	e.mu.Unlock()
	if err := e.store.PutPost(e.Context(), p); err != nil {
		e.Fatal(err)
	}
}

// settle lets all periods end and be looked at again, and compares the sums.
func (e *expected) settle() {
	e.Helper()
	e.now = e.now.Add(3*usage.Period + time.Minute)
	e.run()
	e.check()
	dynamotest.Check(e, e.store)
}

func (e *expected) check() {
	e.Helper()
	for name, want := range e.want {
		e.wantTotal(name, want)
	}
	for hash, want := range e.used {
		if use := find[*access.TokenUse](e.world, access.TokenUseKey(hash)); use == nil || !use.At.Truncate(time.Hour).Equal(want) {
			e.Errorf("the last use of the token %.5s is %+v, want it in the hour of %s", hash, use, want)
		}
	}
}

// faulty is the store behind a transport with faults.
func (e *expected) faulty(faults *dynamotest.Faults) *dynamo.Store {
	e.Helper()
	return dynamotest.OpenOn(e.T, dynamotest.Engine(), e.store.Table(), faults)
}

// runOn aggregates with another store.
func (e *expected) runOn(ctx context.Context, store *dynamo.Store, now time.Time, maxPosts int) error {
	_, err := aggregate.New(store, aggregate.Settings{
		Settle: 10 * time.Second, Now: func() time.Time { return now }, MaxPosts: maxPosts,
	}).Run(ctx)
	return err
}

func TestParallelPosts(t *testing.T) {
	e := newExpected(t, "f", "g")
	var posting sync.WaitGroup
	for range 50 {
		posting.Go(func() { e.report(noon.Add(time.Duration(rand.N(60_000))*time.Millisecond), "f", "g") })
	}
	posting.Wait()
	e.now = noon.Add(2 * time.Minute)
	e.run()
	e.check()
	e.run()
	e.settle()
}

// TestKilledRuns kills a run before each of its calls, and runs again.
func TestKilledRuns(t *testing.T) {
	e := newExpected(t, "f", "g")
	e.run()
	for kill, killed := int64(1), true; killed; kill++ {
		e.report(e.now, "f", "g")
		e.now = e.now.Add(3 * time.Minute) // so that some runs end a period, or look for late posts
		ctx, cancel := context.WithCancel(t.Context())
		var calls atomic.Int64
		store := e.faulty(&dynamotest.Faults{OnRequest: func(string, []byte) {
			if calls.Add(1) >= kill {
				cancel()
			}
		}})
		killed = e.runOn(ctx, store, e.now, 0) != nil
		cancel()
		if kill%3 == 0 { // else the next run, which is killed too, begins where this one ended
			e.run()
		}
		if kill > 500 {
			t.Fatal("a run makes more than 500 calls")
		}
	}
	e.settle()
	if n := e.want["f"]; n < 25 {
		t.Errorf("the runs were killed before %d calls, want at least 25", n)
	}
}

// TestDelayedRuns stops a run before each of its calls, lets other runs add this batch and further ones, and lets the run go on.
// It must not undo what the others did, nor add anything again.
func TestDelayedRuns(t *testing.T) {
	e := newExpected(t, "f", "g")
	e.run()
	for stop := int64(1); ; stop++ {
		e.report(e.now, "f")
		e.now = e.now.Add(time.Minute)
		var calls atomic.Int64
		stopped, release := make(chan struct{}), make(chan struct{})
		store := e.faulty(&dynamotest.Faults{OnRequest: func(string, []byte) {
			n := calls.Add(1)
			if n == stop {
				close(stopped)
			}
			if n >= stop {
				<-release
			}
		}})
		now, done := e.now, make(chan error, 1)
		go func() { done <- e.runOn(t.Context(), store, now, 0) }()
		select {
		case err := <-done: // it has made all its calls
			if err != nil {
				t.Fatal(err)
			}
			e.settle()
			if stop < 20 {
				t.Errorf("the run was stopped before %d calls, want at least 20", stop)
			}
			return
		case <-stopped:
		}
		for range 2 {
			e.run()
			e.report(e.now, "f", "g")
			e.now = e.now.Add(time.Minute)
		}
		e.run()
		close(release)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		e.check()
	}
}

// TestLatePosts stores posts after the run that read the posts of their time.
func TestLatePosts(t *testing.T) {
	e := newExpected(t, "f", "g")
	e.report(noon.Add(time.Minute), "f")
	e.now = noon.Add(5 * time.Minute)
	e.run()
	e.check()
	e.report(noon.Add(2*time.Minute), "f", "g") // late
	e.report(noon.Add(9*time.Minute), "f")      // not late
	e.now = noon.Add(11 * time.Minute)
	e.run()
	e.report(noon.Add(9*time.Minute+59*time.Second), "f", "g") // late, after the end of the period
	e.now = noon.Add(15 * time.Minute)
	e.run()
	e.wantTotal("f", 2)
	e.now = noon.Add(2*usage.Period + 11*time.Second)
	e.run()
	e.check()
	e.settle()
}

// TestStoredBatchWins kills a run when it has stored its batch. A post of that time that is stored before the next run is in no
// batch: it must be added as a late post, and only as one.
func TestStoredBatchWins(t *testing.T) {
	e := newExpected(t, "f")
	e.now = noon.Add(20 * time.Second)
	e.run() // up to the end of the period before noon
	e.report(noon, "f")
	e.now = noon.Add(2 * time.Minute)
	e.killAfterBatch()
	e.report(noon.Add(time.Second), "f")
	e.run()
	e.wantTotal("f", 1)
	e.settle()
}

// TestEmptyPeriodNeedsBatch delays a run that has found no posts up to the end of a period. Meanwhile, a post comes, and another run
// stores it in a batch and is killed. The first run must add that batch instead of passing over it.
func TestEmptyPeriodNeedsBatch(t *testing.T) {
	e := newExpected(t, "f")
	e.now = noon.Add(20 * time.Second)
	e.run()
	e.now = noon.Add(usage.Period + time.Minute)
	var once sync.Once
	found, release := make(chan struct{}), make(chan struct{})
	store := e.faulty(&dynamotest.Faults{OnRequest: func(operation string, _ []byte) {
		if operation == "PutItem" {
			once.Do(func() { close(found) })
			<-release
		}
	}})
	done := make(chan error, 1)
	go func() { done <- e.runOn(t.Context(), store, e.now, 0) }()
	<-found
	e.report(noon.Add(time.Minute), "f")
	e.killAfterBatch()
	close(release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	e.settle()
}

// killAfterBatch kills a run when it has stored its first batch.
func (e *expected) killAfterBatch() {
	e.Helper()
	ctx, cancel := context.WithCancel(e.Context())
	defer cancel()
	var stored atomic.Bool
	store := e.faulty(&dynamotest.Faults{OnRequest: func(operation string, _ []byte) {
		if stored.Load() {
			cancel()
		}
		if operation == "PutItem" {
			stored.Store(true)
		}
	}})
	if err := e.runOn(ctx, store, e.now, 0); err == nil {
		e.Fatal("the run was not killed")
	}
}

// TestClocksDiffer runs at the same cursor with clocks of which one says that the period has ended.
func TestClocksDiffer(t *testing.T) {
	e := newExpected(t, "f")
	e.run()
	for i := range 30 {
		e.report(e.now, "f")
		e.now = e.now.Add(time.Minute)
		var running sync.WaitGroup
		for _, ahead := range []time.Duration{0, 0, time.Minute, 5 * time.Minute}[i%3:] {
			store := e.faulty(&dynamotest.Faults{Delay: 2 * time.Millisecond, Seed: uint64(i)})
			running.Go(func() {
				if err := e.runOn(t.Context(), store, e.now.Add(ahead), 0); err != nil {
					t.Error(err)
				}
			})
		}
		running.Wait()
	}
	e.settle()
}

// TestSmallBatches limits a batch to less than the posts that come at the same time, also in the same millisecond.
func TestSmallBatches(t *testing.T) {
	e := newExpected(t, "f")
	e.run()
	for i := range 60 {
		e.report(noon.Add(time.Duration(i/20)*time.Second), "f")
	}
	e.now = noon.Add(time.Minute)
	if err := e.runOn(t.Context(), e.store, e.now, 8); err != nil { // one a shard
		t.Fatal(err)
	}
	for i := range 60 {
		e.report(noon.Add(time.Duration(i)*time.Millisecond), "f") // late
	}
	e.now = noon.Add(31 * time.Minute)
	if err := e.runOn(t.Context(), e.store, e.now, 8); err != nil {
		t.Fatal(err)
	}
	e.check()
	e.settle()
}

// TestFaults aggregates while requests and responses are lost, and the table is throttled. A run that gives up because too many attempts
// failed is started again, as its schedule does a minute later.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name   string
		faults *dynamotest.Faults
		want   dynamotest.Fault
	}{
		{"lost responses", &dynamotest.Faults{LoseResponses: 0.3}, dynamotest.LoseResponse},
		{"dropped requests", &dynamotest.Faults{DropRequests: 0.3}, dynamotest.DropRequest},
		{"truncated responses", &dynamotest.Faults{TruncateResponses: 0.3}, dynamotest.TruncateResponse},
		{"throttled", &dynamotest.Faults{Throttles: 0.4}, dynamotest.Throttle},
		{"failing", &dynamotest.Faults{Failures: 0.4}, dynamotest.FailAfter},
		{"delivered late and twice", &dynamotest.Faults{LateDeliveries: 0.15, Duplicates: 0.15}, dynamotest.DeliverLate},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := newExpected(t, "f", "g")
			c.faults.Seed = 1
			store := e.faulty(c.faults)
			for range 4 {
				e.report(e.now, "f", "g")
				e.now = e.now.Add(4 * time.Minute)
				var running sync.WaitGroup
				for range 2 {
					running.Go(func() {
						err := e.runOn(t.Context(), store, e.now, 0)
						for range 20 {
							if flags.KindOf(err) != flags.Unavailable {
								break
							}
							err = e.runOn(t.Context(), store, e.now, 0)
						}
						if err != nil {
							t.Error(err)
						}
					})
				}
				running.Wait()
			}
			c.faults.Drain()
			if c.faults.Injected()[c.want] == 0 {
				t.Error("no fault was injected, so this test proves nothing")
			}
			e.settle()
		})
	}
}

// TestRandomSchedules posts, runs, kills runs and runs several at once, in random order, with posts that come late.
func TestRandomSchedules(t *testing.T) {
	for seed := range dynamotest.Times(4, 100) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(seed), 0))
			names := []string{"f", "g", "h"}
			e := newExpected(t, names...)
			e.run()
			var zombies sync.WaitGroup
			for range 60 {
				switch random.IntN(8) {
				case 0, 1, 2: // posts, some of which are up to nine minutes late
					for range random.IntN(6) {
						late := time.Duration(random.IntN(3)) * time.Duration(random.IntN(270)) * time.Second
						e.report(e.now.Add(-late).Add(time.Duration(random.IntN(1000))*time.Millisecond), names[:1+random.IntN(3)]...)
					}
				case 3, 4:
					e.now = e.now.Add(time.Duration(random.IntN(240)) * time.Second)
				case 5:
					e.run()
				case 6: // killed
					ctx, cancel := context.WithCancel(t.Context())
					var calls atomic.Int64
					kill := int64(1 + random.IntN(40))
					_ = e.runOn(ctx, e.faulty(&dynamotest.Faults{OnRequest: func(string, []byte) {
						if calls.Add(1) == kill {
							cancel()
						}
					}}), e.now, 8*(1+random.IntN(3)))
					cancel()
				case 7: // several, which may end later
					for range 2 {
						store := e.faulty(&dynamotest.Faults{Delay: 5 * time.Millisecond, Seed: random.Uint64(), LoseResponses: 0.1})
						now, limit := e.now.Add(time.Duration(random.IntN(60))*time.Second), 8*random.IntN(3)
						zombies.Go(func() {
							if err := e.runOn(t.Context(), store, now, limit); err != nil {
								t.Error(err)
							}
						})
					}
				}
			}
			zombies.Wait()
			e.settle()
		})
	}
}
