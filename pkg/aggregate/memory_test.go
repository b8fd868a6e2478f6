package aggregate_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"guidon/pkg/aggregate"
	"guidon/pkg/usage"
)

// A meter is a store that notes how many sums were loaded and not stored again.
type meter struct {
	aggregate.Store
	mu        sync.Mutex
	now, most int
}

func (m *meter) Sums(ctx context.Context, keys []usage.Sum) ([]usage.Sum, error) {
	m.mu.Lock()
	m.now += len(keys)
	m.most = max(m.most, m.now)
	m.mu.Unlock()
	return m.Store.Sums(ctx, keys)
}

func (m *meter) PutSum(ctx context.Context, sum *usage.Sum) error {
	m.mu.Lock()
	m.now--
	m.mu.Unlock()
	return m.Store.PutSum(ctx, sum)
}

// TestManyFlagsInOnePost reports many flags at once. Only some of their sums may be in memory at the same time: each can have half
// a megabyte, and a function without memory would fail again and again at the same batch.
func TestManyFlagsInOnePost(t *testing.T) {
	const most = 100
	var names []string
	var counts []usage.Count
	for i := range 3 * most / 2 {
		names = append(names, fmt.Sprint("flag", i))
		counts = append(counts, yes(names[i], 1))
	}
	w := newWorld(t, names...)
	w.post(noon, counts...)
	w.now = noon.Add(time.Minute)
	m := &meter{Store: w.store}
	if _, err := aggregate.New(m, aggregate.Settings{Now: func() time.Time { return w.now }}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if m.most > most {
		t.Errorf("%d sums were in memory at the same time, want at most %d", m.most, most)
	}
	for _, name := range names {
		w.wantTotal(name, 1)
	}
}

// TestRandomNamesReplaceNoFlags sends more names than count, before anyone else reports with the same token.
func TestRandomNamesReplaceNoFlags(t *testing.T) {
	w := newWorld(t, "z")
	var counts []usage.Count
	for i := range 10_001 {
		counts = append(counts, yes(fmt.Sprint("random", i), 1))
	}
	w.post(noon, counts...)
	for range 2 {
		w.post(noon.Add(time.Second), yes("z", 1))
	}
	w.now = noon.Add(time.Minute)
	w.run()
	w.wantTotal("z", 2)
}
