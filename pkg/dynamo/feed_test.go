package dynamo_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

// TestFeedOfManyWriters runs 16 writers, each of which changes a flag of its own and one that all share. Every change must
// have exactly one entry, and the item must stay small although nothing polls it.
func TestFeedOfManyWriters(t *testing.T) {
	for _, c := range []struct {
		name   string
		faults *dynamotest.Faults
		want   dynamotest.Fault
		times  int // how often each writer changes its flag in the long form
	}{
		{"without faults", &dynamotest.Faults{}, dynamotest.NoFault, 400},
		{"15 % of the responses lost", &dynamotest.Faults{LoseResponses: 0.15}, dynamotest.LoseResponse, 160},
		{
			"15 % of the responses lost, and tokens forgotten",
			&dynamotest.Faults{LoseResponses: 0.15, Base: dynamotest.FreshTokens{}}, dynamotest.LoseResponse, 160,
		},
		{"delivered twice or late", &dynamotest.Faults{Duplicates: 0.2, LateDeliveries: 0.1}, dynamotest.DeliverTwice, 160},
		{"transactions that overlap", &dynamotest.Faults{Conflicts: true, Delay: 2 * time.Millisecond, LoseResponses: 0.05}, dynamotest.Conflict, 40},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.faults.Seed = 3
			table := newTable()
			store, plain := dynamotest.OpenOn(t, dynamotest.Engine(), table, c.faults), dynamotest.OpenOn(t, dynamotest.Engine(), table, nil)
			mustCommit(t, plain, flags.Write{After: newFlag("shared")})
			times := dynamotest.Times(c.times/10, c.times)
			var (
				largest, conflicts atomic.Int64
				writers            sync.WaitGroup
			)
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			for i := range 16 {
				writers.Go(func() {
					own := fmt.Sprintf("the-flag-of-writer-%02d", i)
					create := commit(t, store, flags.Write{After: newFlag(own)})
					for ; gaveUp(create); create = commit(t, store, flags.Write{After: newFlag(own)}) {
					}
					if create != nil {
						t.Errorf("create: %v", reason(create))
						return
					}
					for n := range times {
						name := own
						if n%8 == 0 {
							name = "shared"
						}
						conflicts.Add(int64(toggle(ctx, t, store, name)))
						if n%10 == i%10 {
							largest.Store(max(largest.Load(), int64(dynamo.FeedItemSize(t, plain))))
						}
					}
				})
			}
			writers.Wait()
			c.faults.Drain()
			if c.want != dynamotest.NoFault && c.faults.Injected()[c.want] == 0 {
				t.Errorf("no fault %q was injected", c.want)
			}

			seen := map[flags.FeedChange]int{}
			list := allEntries(t, plain)
			for _, e := range list {
				if len(e.Changes) != 1 {
					t.Errorf("the entry %d has %d changes, want 1", e.Number, len(e.Changes))
				}
				for _, change := range e.Changes {
					seen[change]++
				}
			}
			entries := 0
			for _, name := range append([]string{"shared"}, ownFlags()...) {
				f := find(t, plain, name)
				for version := int64(1); version <= f.Version; version++ {
					entries++
					if n := seen[flags.FeedChange{Key: f.Key(), Version: version}]; n != 1 {
						t.Errorf("version %d of %s has %d entries, want 1", version, name, n)
					}
				}
			}
			if len(list) != entries || entries != 1+16+16*times {
				t.Errorf("%d entries, %d versions, want %d", len(list), entries, 1+16+16*times)
			}
			// Each of 16 writers can add some entries between two turns.
			if size := largest.Load(); size == 0 || size > 6<<10 {
				t.Errorf("the item of the feed had up to %d bytes, want at most 6 KiB", size)
			}
			t.Logf("%d entries, %d turns, %d conflicts, item up to %d bytes, faults %v", len(list), loadFeed(t, plain).Turn, conflicts.Load(), largest.Load(), c.faults.Injected())
		})
	}
}

func ownFlags() (names []string) {
	for i := range 16 {
		names = append(names, fmt.Sprintf("the-flag-of-writer-%02d", i))
	}
	return names
}

// toggle changes a flag as a request does: one in eight loads the feed with it. It returns the number of conflicts.
func toggle(ctx context.Context, t *testing.T, s flags.Store, name string) (conflicts int) {
	key := flags.FeatureKey(name)
	for ; ; conflicts++ {
		keys := []flags.Key{key}
		if rand.N(8) == 0 {
			keys = append(keys, flags.FeedKey())
		}
		view, err := s.Load(ctx, keys)
		if err != nil {
			t.Errorf("load: %v", reason(err))
			return conflicts
		}
		c := newChange(write(flags.Find[*flags.Feature](view, key), func(f *flags.Feature) { f.ImpressionData = !f.ImpressionData }))
		c.Feed = flags.Find[*flags.Feed](view, flags.FeedKey())
		err = s.Commit(ctx, c)
		if err == nil {
			return conflicts
		}
		if flags.KindOf(err) != flags.VersionConflict && !gaveUp(err) {
			t.Errorf("commit: %v", reason(err))
			return conflicts
		}
		time.Sleep(rand.N(10 * time.Millisecond))
	}
}

// gaveUp reports whether the store gave up a change and says that nothing was changed, so that a caller can send it again. On a busy
// machine, transactions overlap for so long that one can be in conflict with others at each of its attempts.
func gaveUp(err error) bool {
	return flags.KindOf(err) == flags.Unavailable && strings.Contains(err.Error(), "nothing was changed")
}

func loadFeed(t *testing.T, s flags.Store) *flags.Feed {
	t.Helper()
	view, err := s.Load(t.Context(), []flags.Key{flags.FeedKey()})
	if err != nil {
		t.Fatal(reason(err))
	}
	return flags.Find[*flags.Feed](view, flags.FeedKey())
}

// allEntries returns all entries of the feed and its pages, and checks that no number is missing.
func allEntries(t *testing.T, s *dynamo.Store) []flags.FeedEntry {
	t.Helper()
	list, err := s.FeedPages(t.Context(), 0)
	if err != nil {
		t.Fatal(reason(err))
	}
	feed := loadFeed(t, s)
	list = append(list, feed.Entries...)
	for i, e := range list {
		if e.Number != int64(i+1) {
			t.Fatalf("entry %d has the number %d", i+1, e.Number)
		}
	}
	if int64(len(list)) != feed.Number {
		t.Fatalf("%d entries, but the last number is %d", len(list), feed.Number)
	}
	return list
}

// TestFeedWithoutPollers checks that the item of the feed stays as small as it was, however many changes there are.
func TestFeedWithoutPollers(t *testing.T) {
	t.Parallel()
	store := dynamotest.Open(t, nil)
	mustCommit(t, store, flags.Write{After: newFlag("a-flag-with-a-name")})
	largest := 0
	for range dynamotest.Times(400, 10_000) {
		toggle(t.Context(), t, store, "a-flag-with-a-name")
		largest = max(largest, dynamo.FeedItemSize(t, store))
	}
	if largest > 4<<10 {
		t.Errorf("the item of the feed had up to %d bytes, want at most 4 KiB", largest)
	}
	allEntries(t, store)
	ttls := dynamo.PageTTLs(t, store)
	if len(ttls) < 5 {
		t.Errorf("%d pages, want more", len(ttls))
	}
	for _, at := range ttls {
		if left := time.Until(at); left < 6*24*time.Hour || left > 7*24*time.Hour {
			t.Errorf("a page expires in %s, want 7 days", left)
		}
	}
}

// TestTurnInFullTransaction checks that a change turns the feed only if its transaction has room for the page.
func TestTurnInFullTransaction(t *testing.T) {
	t.Parallel()
	store := dynamotest.Open(t, nil)
	before := []*flags.Feature{}
	for i := range 49 {
		f := newFlag(fmt.Sprintf("a-flag-with-a-name-%02d", i))
		mustCommit(t, store, flags.Write{After: f})
		before = append(before, find(t, store, f.Name))
	}
	feed := loadFeed(t, store)
	if feed.Size <= 1200 {
		t.Fatalf("the feed has %d bytes, too few for this test", feed.Size)
	}
	commitWith := func(list []*flags.Feature) {
		t.Helper()
		var writes []flags.Write
		for _, f := range list {
			writes = append(writes, write(f, func(f *flags.Feature) { f.ImpressionData = true })) // with its list row two items
		}
		c := newChange(writes...)
		c.Feed = feed
		if err := store.Commit(t.Context(), c); err != nil {
			t.Fatal(reason(err))
		}
	}
	commitWith(before) // with the event and the feed 100 items
	if got := loadFeed(t, store); got.Turn != feed.Turn || got.Number != feed.Number+1 {
		t.Errorf("a full transaction made turn %d, number %d from %d, %d; want an entry and no turn", got.Turn, got.Number, feed.Turn, feed.Number)
	}
	for i, f := range before {
		before[i] = find(t, store, f.Name)
		before[i].ImpressionData = false
	}
	commitWith(before[:48])
	if got := loadFeed(t, store); got.Turn != feed.Turn+1 || got.Newer != 1 {
		t.Errorf("a smaller transaction made turn %d with %d new entries, want a turn", got.Turn, got.Newer)
	}
	allEntries(t, store)
}

// TestDamagedSnapshot checks that a snapshot with a damaged or missing chunk is none.
func TestDamagedSnapshot(t *testing.T) {
	t.Parallel()
	content := bytes.Repeat([]byte("0123456789abcdef"), 60_000)
	for _, c := range []struct {
		name   string
		chunk  int
		damage []byte // nil to delete the chunk
	}{
		{"the first is missing", 0, nil},
		{"the last is missing", 2, nil},
		{"one is empty", 1, []byte{}},
		{"one has other content", 1, bytes.Repeat([]byte("x"), 350<<10)},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := dynamotest.Open(t, nil)
			if err := store.WriteSnapshot(t.Context(), flags.SnapshotHead{Number: 1}, content); err != nil {
				t.Fatal(reason(err))
			}
			view, err := store.Load(t.Context(), []flags.Key{flags.SnapshotKey()})
			if err != nil {
				t.Fatal(reason(err))
			}
			head := flags.Find[*flags.SnapshotHead](view, flags.SnapshotKey())
			if left := time.Until(dynamo.DamageChunk(t, store, head, c.chunk, c.damage)); left < 6*24*time.Hour || left > 7*24*time.Hour {
				t.Errorf("a chunk expires in %s, want 7 days", left)
			}
			if got, err := store.ReadSnapshot(t.Context(), head); err != nil || got != nil {
				t.Errorf("%d bytes, %v; want nothing", len(got), err)
			}
		})
	}
}

// TestFeedThroughFaults checks the calls that are no transactions: after a lost response, they are sent again.
func TestFeedThroughFaults(t *testing.T) {
	t.Parallel()
	once := &dynamotest.Faults{Script: func(_ string, n int) dynamotest.Fault {
		return []dynamotest.Fault{dynamotest.LoseResponse, dynamotest.NoFault, dynamotest.Throttle, dynamotest.FailAfter}[n%4]
	}}
	store := dynamotest.Open(t, once)
	for i := range 4 {
		epoch := fmt.Sprint("e", i)
		if err := store.ResetFeed(t.Context(), epoch); err != nil {
			t.Fatal(reason(err))
		}
		if got := loadFeed(t, store); got.Epoch != epoch {
			t.Errorf("epoch %q, want %q", got.Epoch, epoch)
		}
		head := flags.SnapshotHead{Epoch: epoch, Number: int64(i)}
		if err := store.WriteSnapshot(t.Context(), head, []byte(epoch)); err != nil {
			t.Fatal(reason(err))
		}
		view, err := store.Load(t.Context(), []flags.Key{flags.SnapshotKey()})
		if err != nil {
			t.Fatal(reason(err))
		}
		if got, err := store.ReadSnapshot(t.Context(), flags.Find[*flags.SnapshotHead](view, flags.SnapshotKey())); err != nil || string(got) != epoch {
			t.Errorf("the snapshot is %q, %v; want %q", got, err, epoch)
		}
		now := at.Add(time.Duration(i) * time.Minute)
		if got, err := store.TakeLease(t.Context(), epoch, now, now.Add(time.Minute)); err != nil || !got {
			t.Errorf("the lease: %t, %v; want it", got, err)
		}
		if got, err := store.TakeLease(t.Context(), "other", now, now.Add(time.Minute)); err != nil || got {
			t.Errorf("the lease of another holder: %t, %v; want a refusal", got, err)
		}
	}
	if len(once.Injected()) < 3 {
		t.Errorf("the faults %v were injected, want more", once.Injected())
	}
}

// TestFeedWithoutPermission checks that a refused call is an error and not a missing snapshot or lease.
func TestFeedWithoutPermission(t *testing.T) {
	t.Parallel()
	store := dynamotest.Open(t, &dynamotest.Faults{Script: func(string, int) dynamotest.Fault { return dynamotest.ExpireCredentials }, Base: http.DefaultTransport})
	ctx := t.Context()
	_, pages := store.FeedPages(ctx, 0)
	_, snapshot := store.ReadSnapshot(ctx, &flags.SnapshotHead{Chunks: 1})
	_, lease := store.TakeLease(ctx, "a", at, at)
	for name, err := range map[string]error{
		"FeedPages": pages, "ReadSnapshot": snapshot, "TakeLease": lease, "ResetFeed": store.ResetFeed(ctx, "e"),
		"WriteSnapshot": store.WriteSnapshot(ctx, flags.SnapshotHead{}, []byte("x")),
	} {
		if err == nil || flags.KindOf(err) != flags.Internal {
			t.Errorf("%s: %v, want an internal error", name, err)
		}
	}
}
