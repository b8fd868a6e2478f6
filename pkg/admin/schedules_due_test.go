package admin_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"guidon/internal/capacity"
	"guidon/pkg/httpapi"
)

// countedReviews is a project in which production is guarded, without the second run of each operation, which costs calls too.
func countedReviews(t *testing.T, units *capacity.Counter) *reviewing {
	t.Helper()
	now := newClock()
	r := &reviewing{clock: now, server: serve(t, func(c *httpapi.Config, transport *http.RoundTripper) { c.Now, c.Twice, *transport = now.time, nil, units })}
	r.begin(t, 1)
	return r
}

// TestFrozenRequestsLeaveTime checks that a run reads each request that waits for the end of a freeze once, so that one that can be applied
// comes next however many wait, and that all are applied after the freeze.
func TestFrozenRequestsLeaveTime(t *testing.T) {
	t.Parallel()
	units := &capacity.Counter{}
	r := countedReviews(t, units)
	var waiting []changeRequest
	for i := range 10 {
		flag := fmt.Sprintf("x%d", i)
		r.create(t, flag)
		q := r.approved(t, change(flag, "addStrategy", `{"name":"default"}`))
		r.schedule(t, r.releaser, q, time.Hour, 200)
		waiting = append(waiting, q)
	}
	off := r.approved(t, switchOff("f"))
	r.schedule(t, r.releaser, off, 2*time.Hour, 200)
	r.must(t, "POST", project+"/environments/production/freezes", `{"reason":"the holidays","to":"2026-01-05T18:00:00Z"}`)
	r.clock.advance(3 * time.Hour)
	r.runs(t)
	r.stands(t, off, "Applied", "", "")
	cost := units.During(func() {
		if err := r.due(t.Context(), t, units); err != nil {
			t.Error(err)
		}
	})
	if most := len(waiting) + 5; cost.Calls > most {
		t.Errorf("a run over %d frozen requests takes %d calls, want at most %d", len(waiting), cost.Calls, most)
	}
	for _, q := range waiting {
		r.stands(t, q, "Scheduled", "pending", "")
	}
	r.clock.advance(3 * time.Hour)
	r.runs(t)
	for _, q := range waiting {
		r.stands(t, q, "Applied", "", "")
	}
}
