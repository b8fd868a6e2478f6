package httpapi

import (
	"fmt"
	"testing"

	"guidon/pkg/flags"
)

// TestPuttingOff has more items than a round takes wait for others: those that wait for nothing that comes end with
// their own errors, and not with time.
func TestPuttingOff(t *testing.T) {
	const n = 2*itemsARound + 50
	for _, tt := range []struct {
		name  string
		waits func(i int) int // the item that one waits for; itself for none, n for what never comes
		want  int             // how many are done
	}{
		{"for what never comes", func(int) int { return n }, 0},
		{"for the last, all of them", func(int) int { return n - 1 }, n},
		{"in the other half", func(i int) int { return i ^ 1 | 1 }, n},
		{"half of them in vain", func(i int) int { return max(i, n*(i%2)) }, n / 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			done := map[int]bool{}
			run := newBatchRun(batch{size: n, decide: func(_ *call, i int) (decision, error) {
				if on := tt.waits(i); on != i && !done[on] {
					return decision{}, later(flags.Errorf(flags.Conflict, "%d waits for %d", i, on))
				}
				done[i] = true
				return decision{body: i}, nil
			}})
			rounds := 0
			for ; len(run.left) > 0 && rounds < 20; rounds++ {
				(&executor{}).advance(t.Context(), &call{}, &run)
			}
			if len(run.left) > 0 || len(done) != tt.want {
				t.Errorf("%d items are left and %d done after %d rounds, want none and %d", len(run.left), len(done), rounds, tt.want)
			}
			for i, r := range run.results {
				want := fmt.Sprintf("%d waits for %d", i, tt.waits(i))
				if done[i] && (r.err != nil || r.body != i) || !done[i] && fmt.Sprint(r.err) != want {
					t.Errorf("item %d: %v, %v; want itself, or %q", i, r.body, r.err, want)
				}
			}
		})
	}
}

// TestOutdatedDecision has a decision find that what was loaded is outdated: its item is tried again, and is never reported
// as done.
func TestOutdatedDecision(t *testing.T) {
	for _, tt := range []struct {
		name  string
		times int // that an item is outdated before it can be decided
		tries int
		done  bool
	}{{"once", 1, 5, true}, {"always", 100, 5, false}} {
		t.Run(tt.name, func(t *testing.T) {
			decided := map[int]int{}
			run := newBatchRun(batch{size: 3, decide: func(_ *call, i int) (decision, error) {
				if decided[i]++; decided[i] <= tt.times {
					return decision{}, flags.Errorf(flags.VersionConflict, "outdated")
				}
				return decision{body: i}, nil
			}})
			for range tt.tries {
				if len(run.left) > 0 && !(&executor{}).advance(t.Context(), &call{}, &run) && !tt.done {
					t.Error("it is not told that the items are outdated, so the next round would not wait")
				}
			}
			if tt.done != (len(run.left) == 0) {
				t.Errorf("%d items are left, and the results are %+v; want them done: %t", len(run.left), run.results, tt.done)
			}
		})
	}
}
