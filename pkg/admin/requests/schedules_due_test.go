package requests_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"guidon/internal/capacity"
	"guidon/pkg/apitest"
	"guidon/pkg/httpapi"
)

// countedReviews is a project in which production is guarded, without the second run of each operation, which costs calls too.
func countedReviews(t *testing.T) (*reviewing, *capacity.Counter) {
	t.Helper()
	units := &capacity.Counter{}
	now := apitest.NewClock()
	r := &reviewing{clock: now, Server: apitest.Serve(t, func(c *httpapi.Config, transport *http.RoundTripper) {
		c.Now, c.Twice, *transport = now.Time, nil, units
	})}
	r.begin(t, 1)
	return r, units
}

// TestFrozenRequestsLeaveTime checks that a run reads each request that waits for the end of a freeze once, so that one that can be applied
// comes next however many wait, and that all are applied after the freeze.
func TestFrozenRequestsLeaveTime(t *testing.T) {
	t.Parallel()
	r, units := countedReviews(t)
	var waiting []changeRequest
	for i := range 10 {
		flag := fmt.Sprintf("x%d", i)
		r.Create(t, flag)
		q := r.approved(t, change(flag, "addStrategy", `{"name":"default"}`))
		r.schedule(t, r.releaser, q, time.Hour, 200)
		waiting = append(waiting, q)
	}
	off := r.approved(t, switchOff("f"))
	r.schedule(t, r.releaser, off, 2*time.Hour, 200)
	r.Must(t, "POST", apitest.Project+"/environments/production/freezes", `{"reason":"the holidays","to":"2026-01-05T18:00:00Z"}`)
	r.clock.Advance(3 * time.Hour)
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
	r.clock.Advance(3 * time.Hour)
	r.runs(t)
	for _, q := range waiting {
		r.stands(t, q, "Applied", "", "")
	}
}

// TestSlowRequestFails checks that a request that takes all the time of each run is tried again for ten minutes, and then fails, so that
// someone is told.
func TestSlowRequestFails(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	q := r.approved(t, switchOff("f"))
	r.schedule(t, r.releaser, q, time.Minute, 200)
	slow := roundTrip(func(call *http.Request, body string) (*http.Response, error) {
		if strings.Contains(body, "feature-environment-disabled") { // the transaction that applies the request
			<-call.Context().Done()
		}
		return http.DefaultTransport.RoundTrip(call)
	})
	r.clock.Advance(time.Minute)
	if err := r.due(t.Context(), t, slow); err == nil {
		t.Error("a run that could not apply a request reports nothing")
	}
	r.stands(t, q, "Scheduled", "pending", "")
	r.clock.Advance(10 * time.Minute)
	if err := r.due(t.Context(), t, slow); err != nil {
		t.Error(err)
	}
	r.stands(t, q, "Scheduled", "failed", "in the 5 seconds that it may take")
	r.Check(t, apitest.Call{"one event", "GET", "/api/admin/search/events?type=IS:change-request-scheduled-application-failure", "", 200, `{"...":0,"events":[{"...":0,"createdBy":"Guidon","createdByUserId":null}]}`})
	r.to(t, r.releaser, q, "Applied", 200)
}
