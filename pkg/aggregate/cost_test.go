package aggregate_test

import (
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"guidon/internal/capacity"
	"guidon/pkg/aggregate"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/usage"
)

// costs returns what an aggregation costs.
func (w *world) costs() capacity.Cost {
	w.Helper()
	count := &capacity.Counter{}
	store := dynamotest.OpenOn(w.T, dynamotest.Engine(), w.store.Table(), count)
	return count.During(func() {
		if _, err := aggregate.New(store, aggregate.Settings{Settle: 10 * time.Second, Now: func() time.Time { return w.now }}).Run(w.Context()); err != nil {
			w.Fatal(err)
		}
	})
}

// TestInventedVariants reports variants that the flag does not have, with names that fill a sum. They must not make later
// aggregations of the flag cost more.
func TestInventedVariants(t *testing.T) {
	w := newWorld(t, "f")
	before := find[*flags.Feature](w, flags.FeatureKey("f"))
	after := before.Clone()
	development := after.Environments["development"]
	development.Strategies = []flags.Strategy{{ID: "s", Name: "default", Variants: []flags.Variant{{Name: "red", Weight: 1000}}}}
	after.Environments["development"] = development
	w.commit(flags.Write{Before: before, After: after})
	own := map[string]int64{"blue": 1, "red": 2, "disabled": 3}
	report := func(variants map[string]int64) {
		w.post(w.now, usage.Count{Feature: "f", Application: "shop", Environment: "development", Yes: 1, Variants: variants})
		w.now = w.now.Add(time.Minute)
	}
	report(own)
	w.run()
	report(own)
	ordinary := w.costs()
	for range 8 {
		invented := map[string]int64{}
		for range 100 {
			invented[rand.Text()+rand.Text()+rand.Text()+rand.Text()] = 1
		}
		w.post(w.now, usage.Count{Feature: "f", Application: fmt.Sprint("app-", rand.Text()), Environment: "development", Yes: 1, Variants: invented})
	}
	report(own)
	w.run()
	report(own)
	if later := w.costs(); later.Write > ordinary.Write+2 {
		t.Errorf("an aggregation writes %v units after variants were invented, and %v before", later.Write, ordinary.Write)
	}
	sums, err := w.store.Usage(t.Context(), "f", usage.Hour, noon)
	if err != nil || len(sums) != 1 {
		t.Fatal(sums, err)
	}
	other := int64(0)
	for _, c := range sums[0].Counts {
		other += c.Variants[usage.Other]
		if c.Application == "shop" && (c.Variants["blue"] != 4 || c.Variants["red"] != 8 || c.Variants["disabled"] != 12 || len(c.Variants) != 3) {
			t.Errorf("the variants of the flag: %v", c.Variants)
		}
	}
	if other != 800 {
		t.Errorf("%d invented variants are counted as %s, want 800", other, usage.Other)
	}
}
