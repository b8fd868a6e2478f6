package aggregate_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"guidon/pkg/aggregate"
	"guidon/pkg/flags"
	"guidon/pkg/usage"
)

// A meter is a store that notes how many sums and flags were loaded and not stored again.
type meter struct {
	aggregate.Store
	mu          sync.Mutex
	sums, flags held
}

// held is how many there are in memory now, and were at most.
type held struct{ now, most int }

func (m *meter) add(h *held, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h.now += n
	h.most = max(h.most, h.now)
}

func (m *meter) Sums(ctx context.Context, keys []usage.Sum) ([]usage.Sum, error) {
	m.add(&m.sums, len(keys))
	return m.Store.Sums(ctx, keys)
}

func (m *meter) PutSum(ctx context.Context, sum *usage.Sum) error {
	m.add(&m.sums, -1)
	return m.Store.PutSum(ctx, sum)
}

func (m *meter) Load(ctx context.Context, keys []flags.Key) (flags.View, error) {
	for _, key := range keys {
		if key.Entity == flags.EntityFeature {
			m.add(&m.flags, 1)
		}
	}
	return m.Store.Load(ctx, keys)
}

func (m *meter) PutSeen(ctx context.Context, before, after *flags.Feature) error {
	m.add(&m.flags, -1)
	return m.Store.PutSeen(ctx, before, after)
}

// TestManyFlagsInOnePost reports many flags at once. Only some of them and of their sums may be in memory at the same time: a flag can
// have 400 KB, a sum half a megabyte, and a function without memory would fail again and again at the same batch.
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
	if m.sums.most > most || m.flags.most > most {
		t.Errorf("%d sums and %d flags were in memory at the same time, want at most %d each", m.sums.most, m.flags.most, most)
	}
	for _, name := range names {
		w.wantTotal(name, 1)
		if f := find[*flags.Feature](w, flags.FeatureKey(name)); !f.LastSeenAt.Equal(noon) {
			t.Errorf("%s was last seen %s, want %s", name, f.LastSeenAt, noon)
		}
	}
	slices.Sort(names)
	if app := find[*usage.ApplicationNames](w, usage.ApplicationNamesKey("shop")); !slices.Equal(app.Features, names) {
		t.Errorf("the application is listed with %q, want all flags", app.Features)
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
