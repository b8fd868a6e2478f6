package requests_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"guidon/pkg/admin/requests"
	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// A schedule is what these tests read of the schedule of a change request.
type schedule struct{ ScheduledAt, Status, Reason string }

// approved is a change request with the approval that it needs.
func (r *reviewing) approved(t *testing.T, changes ...string) changeRequest {
	t.Helper()
	q := r.inReview(t, changes...)
	return r.to(t, r.first, q, "Approved", 200)
}

// schedule has a change request applied a time from now.
func (r *reviewing) schedule(t *testing.T, who []string, q changeRequest, after time.Duration, status int, want ...string) {
	t.Helper()
	at := r.clock.Time().Add(after).Format(time.RFC3339Nano)
	r.as(t, who, "PUT", pathOf(q)+"/state", fmt.Sprintf(`{"state":"Scheduled","scheduledAt":%q}`, at), status, want...)
}

// TestScheduleAtTheEnd checks that a run which the end of the server interrupts is not an error in the log.
func TestScheduleAtTheEnd(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := requests.NewScheduler(apitest.Serve(t).Store, httpapi.Config{Now: time.Now, Logger: slog.New(slog.NewJSONHandler(&log, nil))}).Run(ctx)
	if err == nil || !strings.Contains(log.String(), `"level":"INFO","msg":"due"`) {
		t.Errorf("the run returned %v and logged %s", err, log.String())
	}
}

// due does what is due. Changes to the store go through a transport, if there is one.
func (r *reviewing) due(ctx context.Context, t *testing.T, transport http.RoundTripper) error {
	t.Helper()
	store := r.Store
	if transport != nil {
		store = dynamotest.OpenOn(t, dynamotest.Engine(), r.Store.Table(), transport)
	}
	return requests.NewScheduler(store, httpapi.Config{Limits: flags.DefaultLimits(), Now: r.clock.Time, Twice: apitest.SameTwice(t)}).Run(ctx)
}

// runs does what is due, as often as it takes: on a machine under load, a run can be over before its requests.
func (r *reviewing) runs(t *testing.T) {
	t.Helper()
	var err error
	for range 10 {
		if err = r.due(t.Context(), t, nil); err == nil {
			return
		}
	}
	t.Fatal(err)
}

// stands checks the state of a change request, and the status of its schedule, "" for none.
func (r *reviewing) stands(t *testing.T, q changeRequest, state, status, reason string) {
	t.Helper()
	var got struct {
		State    string
		Schedule schedule
	}
	body := r.Do(t, "GET", pathOf(q), "", r.author...).Body
	apitest.DecodeInto(t, body, &got)
	if got.State != state || got.Schedule.Status != status || !strings.Contains(got.Schedule.Reason, reason) {
		t.Fatalf("change request %d is %s with %+v, want %s, %q and %q", q.ID, got.State, got.Schedule, state, status, reason)
	}
}

// TestScheduledRequest applies a change request at the time for which it is scheduled, in the name of the person who scheduled it.
func TestScheduledRequest(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	q := r.inReview(t, switchOff("f"))
	r.schedule(t, r.releaser, q, time.Hour, 409, "0 of the 1 approvals")
	q = r.to(t, r.first, q, "Approved", 200)
	r.schedule(t, r.author, q, time.Hour, 403, "APPLY_CHANGE_REQUEST")
	r.schedule(t, r.releaser, q, -time.Second, 400, "in the future")
	r.schedule(t, r.releaser, q, 31*24*time.Hour, 400, "within 30 days")
	r.as(t, nil, "PUT", pathOf(q)+"/state", `{"state":"Scheduled","scheduledAt":"2026-01-06T12:00:00Z"}`, 403, "is an API token")
	r.as(t, r.releaser, "PUT", pathOf(q)+"/state", `{"state":"Scheduled","scheduledAt":"tomorrow"}`, 400, "/scheduledAt")
	r.as(t, r.releaser, "PUT", pathOf(q)+"/state", `{"state":"Applied","scheduledAt":"2026-01-06T12:00:00Z"}`, 400, "/scheduledAt")
	r.clock.Advance(time.Minute)
	r.schedule(t, r.releaser, q, 30*24*time.Hour, 409, "at that time")
	r.schedule(t, r.releaser, q, time.Hour, 200, `"status":"pending"`, `"scheduledAt":"2026-01-05T13:01:00.000Z"`)
	r.schedule(t, r.releaser, q, 2*time.Hour, 200, `"scheduledAt":"2026-01-05T14:01:00.000Z"`)

	r.as(t, r.author, "DELETE", fmt.Sprintf("%s/changes/%d", pathOf(q), q.Features[0].Changes[0].ID), "", 409, "is scheduled")
	r.as(t, r.author, "POST", pathOf(q)+"/rebase", "", 409, "is scheduled")
	scheduled := apitest.ChangeRequests + "/scheduled"
	one := fmt.Sprintf(`[{"id":%d,"environment":"production"}]`, q.ID)
	r.Run(t, []apitest.Call{
		{"it is listed for the flag", "GET", scheduled + "?feature=f", "", 200, one},
		{"not for its variants", "GET", scheduled + "?variantForFlag=f", "", 200, "[]"},
		{"not for another flag", "GET", scheduled + "?feature=g&strategyId=x", "", 200, "[]"},
		{"not for nothing", "GET", scheduled, "", 200, "[]"},
		{"it is counted", "GET", apitest.ChangeRequests + "/count", "", 200, `{"...":0,"scheduled":1,"total":1}`},
		{"it is found", "GET", "/api/admin/search/change-requests?state=IS:open", "", 200, `{"...":0,"changeRequests":[{"...":0,"state":"Scheduled","schedule":{"...":0,"status":"pending"}}]}`},
	})

	r.clock.Advance(2*time.Hour - time.Millisecond)
	r.runs(t)
	r.stands(t, q, "Scheduled", "pending", "")
	r.clock.Advance(time.Millisecond)
	r.runs(t)
	r.stands(t, q, "Applied", "", "")
	if r.on(t, "f") {
		t.Error("f is on after the request was applied")
	}
	r.Check(t, apitest.Call{"in the name of the releaser, as one group", "GET", "/api/admin/events/f?limit=1", "", 200,
		fmt.Sprintf(`{"...":0,"events":[{"...":0,"type":"feature-environment-disabled","createdByUserId":%d,"groupId":"%d"}]}`, r.releaserID, q.ID)})
	r.Check(t, apitest.Call{"", "GET", "/api/admin/search/events?type=IS:change-request-scheduled-application-success", "", 200, `{"...":0,"events":[{"...":0}]}`})
	r.Must(t, "POST", apitest.In("f", "production")+"/on", "")
	r.runs(t)
	if !r.on(t, "f") {
		t.Error("a later run applied the request again")
	}
}

// TestScheduleInFreeze checks that a request that is due in a freeze waits for its end.
func TestScheduleInFreeze(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	q := r.to(t, r.first, r.inReview(t, switchOff("f")), "Approved", 200)
	r.schedule(t, r.releaser, q, time.Hour, 200)
	r.Must(t, "POST", apitest.Project+"/environments/production/freezes", `{"reason":"the holidays","offAllowed":false,"to":"2026-01-05T15:00:00Z"}`)
	r.clock.Advance(2 * time.Hour)
	r.runs(t)
	r.stands(t, q, "Scheduled", "pending", "")
	if !r.on(t, "f") {
		t.Error("f was switched off in a freeze")
	}
	r.clock.Advance(time.Hour)
	r.runs(t)
	r.stands(t, q, "Applied", "", "")
}

// TestScheduleOfParentInFreeze checks that switching off a flag on which another one depends waits, too, in a freeze in which only switching
// off is allowed.
func TestScheduleOfParentInFreeze(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	r.Must(t, "POST", apitest.Features+"/g/dependencies", `{"feature":"f","enabled":false}`)
	q := r.approved(t, switchOff("f"))
	r.schedule(t, r.releaser, q, time.Hour, 200)
	r.Must(t, "POST", apitest.Project+"/environments/production/freezes", `{"reason":"the holidays","to":"2026-01-05T15:00:00Z"}`)
	r.clock.Advance(2 * time.Hour)
	r.runs(t)
	r.stands(t, q, "Scheduled", "pending", "")
	r.clock.Advance(time.Hour)
	r.runs(t)
	r.stands(t, q, "Applied", "", "")
}

// TestScheduleRefused checks what becomes of a scheduled request that cannot be applied at its time, and what is possible then.
func TestScheduleRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name           string
		change         func(t *testing.T, r *reviewing)
		before         string // the status before the time
		status, reason string
		undo           func(t *testing.T, r *reviewing)
	}{
		{"a changed flag", func(t *testing.T, r *reviewing) {
			r.Must(t, "POST", apitest.In("f", "production")+"/strategies", `{"name":"default"}`)
		},
			"suspended", "suspended", "its strategies were changed", nil},
		{"an archived flag", func(t *testing.T, r *reviewing) { r.Must(t, "DELETE", apitest.Features+"/f", "") }, "suspended", "suspended", "it was archived", nil},
		{"a detached environment", func(t *testing.T, r *reviewing) { r.Must(t, "DELETE", apitest.Project+"/environments/production", "") }, "suspended", "suspended", "detached", nil},
		{"a deleted user", func(t *testing.T, r *reviewing) {
			r.Must(t, "DELETE", fmt.Sprintf("%s/%d", apitest.Users, r.releaserID), "")
		},
			"pending", "suspended", "no longer exists", nil},
		{"without the permission", func(t *testing.T, r *reviewing) {
			r.Must(t, "DELETE", fmt.Sprintf("%s/users/%d/roles/4", apitest.Project, r.releaserID), "")
		},
			"pending", "failed", "needs the permission", func(t *testing.T, r *reviewing) {
				r.Must(t, "POST", fmt.Sprintf("%s/users/%d/roles/4", apitest.Project, r.releaserID), "")
			}},
		{"without the approval", func(t *testing.T, r *reviewing) {
			r.Must(t, "DELETE", fmt.Sprintf("%s/%d", apitest.Users, r.firstID), "")
		},
			"pending", "failed", "0 of the 1 approvals", func(t *testing.T, r *reviewing) {
				r.Must(t, "PUT", apitest.ReviewConfig, `{"changeRequestsEnabled":false}`)
			}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := serveReviews(t, 1)
			q := r.approved(t, switchOff("f"))
			r.schedule(t, r.releaser, q, time.Hour, 200)
			tt.change(t, r)
			r.stands(t, q, "Scheduled", tt.before, "")
			r.clock.Advance(time.Hour)
			r.runs(t)
			r.stands(t, q, "Scheduled", tt.status, tt.reason)
			r.runs(t) // it is not tried again
			kind := map[string]string{"failed": "change-request-scheduled-application-failure", "suspended": "change-request-schedule-suspended"}[tt.status]
			r.Check(t, apitest.Call{"one event", "GET", "/api/admin/search/events?type=IS:" + kind, "", 200, `{"...":0,"events":[{"...":0}]}`})
			if tt.undo == nil {
				r.to(t, r.first, q, "Rejected", 200)
				r.stands(t, q, "Rejected", "", "")
			} else {
				tt.undo(t, r)
				r.schedule(t, r.releaser, q, time.Hour, 200)
				r.clock.Advance(time.Hour)
				r.runs(t)
				r.stands(t, q, "Applied", "", "")
			}
			dynamotest.Check(t, r.Store)
		})
	}
	t.Run("a re-based one is in review again", func(t *testing.T) {
		t.Parallel()
		r := serveReviews(t, 1)
		q := r.approved(t, switchOff("f"))
		r.schedule(t, r.releaser, q, time.Hour, 200)
		r.Must(t, "POST", apitest.In("f", "production")+"/strategies", `{"name":"default"}`)
		r.clock.Advance(time.Hour)
		r.runs(t)
		r.stands(t, q, "Scheduled", "suspended", "")
		q = r.as(t, r.author, "POST", pathOf(q)+"/rebase", "", 200)
		r.stands(t, q, "In review", "", "")
		r.clock.Advance(time.Hour)
		r.runs(t)
		r.stands(t, q, "In review", "", "")
		dynamotest.Check(t, r.Store)
	})
}

// TestScheduleFaults applies scheduled requests while runs are killed at each call of the store, responses are lost, two run at once, the
// clock is set back, and the store is unavailable for an hour. Each request is applied once.
func TestScheduleFaults(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	toggle := func(on bool) string { return change("f", "updateEnabled", fmt.Sprintf(`{"enabled":%t}`, on)) }
	on, switched := true, len(r.Events(t, "f"))
	// once schedules a switch of f, has it applied in some way, and checks that it was done once.
	once := func(t *testing.T, apply func(q changeRequest)) {
		t.Helper()
		on = !on
		q := r.approved(t, toggle(on))
		r.schedule(t, r.releaser, q, time.Minute, 200)
		r.clock.Advance(time.Minute)
		apply(q)
		r.runs(t)
		r.stands(t, q, "Applied", "", "")
		if switched++; r.on(t, "f") != on || len(r.Events(t, "f")) != switched {
			t.Fatalf("f is on: %t, after %d events, want %t and %d", r.on(t, "f"), len(r.Events(t, "f")), on, switched)
		}
	}
	for _, fault := range []dynamotest.Fault{dynamotest.DropRequest, dynamotest.LoseResponse, dynamotest.DeliverLate} {
		for n := 1; ; n++ {
			reached := false
			once(t, func(changeRequest) {
				ctx, kill := context.WithCancel(t.Context())
				defer kill()
				calls := 0
				faults := &dynamotest.Faults{}
				faults.Script = func(string, int) dynamotest.Fault {
					if calls++; calls < n {
						return dynamotest.NoFault
					}
					if calls == n {
						reached = true
						time.AfterFunc(20*time.Millisecond, kill) // what was sent before is done or not
						return fault
					}
					return dynamotest.DropRequest
				}
				_ = r.due(ctx, t, faults)
				faults.Drain()
			})
			if !reached {
				break
			}
			if n > 30 {
				t.Fatal("a run takes more than 30 calls")
			}
		}
	}
	t.Run("several runs at once", func(t *testing.T) {
		for range 5 {
			once(t, func(changeRequest) {
				var running sync.WaitGroup
				for range 4 {
					running.Go(func() {
						_ = r.due(t.Context(), t, &dynamotest.Faults{Delay: 5 * time.Millisecond})
					})
				}
				running.Wait()
			})
		}
	})
	t.Run("an unavailable store", func(t *testing.T) {
		once(t, func(q changeRequest) {
			for range 3 {
				for _, operation := range []string{"Query", "BatchGetItem", "TransactWriteItems"} {
					faults := &dynamotest.Faults{Script: func(called string, _ int) dynamotest.Fault {
						if called == operation {
							return dynamotest.Throttle
						}
						return dynamotest.NoFault
					}}
					ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second)
					if err := r.due(ctx, t, faults); err == nil {
						t.Errorf("a run without %s reports nothing", operation)
					}
					cancel()
					r.stands(t, q, "Scheduled", "pending", "")
				}
				r.clock.Advance(20 * time.Minute)
			}
		})
	})
	t.Run("a store that refuses one call", func(t *testing.T) {
		once(t, func(q changeRequest) {
			refused := false
			faults := &dynamotest.Faults{Script: func(called string, _ int) dynamotest.Fault {
				if called == "TransactWriteItems" && !refused {
					refused = true
					return dynamotest.ExpireCredentials
				}
				return dynamotest.NoFault
			}}
			if err := r.due(t.Context(), t, faults); err == nil {
				t.Error("a run whose credentials have expired reports nothing")
			}
			r.stands(t, q, "Scheduled", "pending", "")
		})
	})
	t.Run("a clock that is set back", func(t *testing.T) {
		once(t, func(q changeRequest) {
			r.clock.Advance(-time.Hour)
			r.runs(t)
			r.stands(t, q, "Scheduled", "pending", "")
			r.clock.Advance(time.Hour)
			r.runs(t)
			r.clock.Advance(-time.Hour)
			r.runs(t)
			r.clock.Advance(time.Hour)
		})
	})
	t.Run("in parallel with a person who applies, rejects or reschedules it", func(t *testing.T) {
		for i := range 8 {
			q := r.approved(t, toggle(!on))
			r.schedule(t, r.releaser, q, time.Minute, 200)
			r.clock.Advance(time.Minute)
			var running sync.WaitGroup
			running.Go(func() { _ = r.due(t.Context(), t, nil) })
			running.Go(func() {
				switch i % 4 {
				case 0, 1:
					r.Do(t, "PUT", pathOf(q)+"/state", `{"state":"Applied"}`, r.releaser...)
				case 2:
					r.Do(t, "PUT", pathOf(q)+"/state", `{"state":"Rejected"}`, r.first...)
				case 3:
					r.Do(t, "PUT", pathOf(q)+"/state", fmt.Sprintf(`{"state":"Scheduled","scheduledAt":%q}`, r.clock.Time().Add(time.Minute).Format(time.RFC3339)), r.releaser...)
				}
			})
			running.Wait()
			r.clock.Advance(time.Minute)
			r.runs(t)
			got := r.read(t, q)
			if got.State == "Applied" {
				on, switched = !on, switched+1
			}
			if !slices.Contains([]string{"Applied", "Rejected"}, got.State) || r.on(t, "f") != on || len(r.Events(t, "f")) != switched {
				t.Fatalf("the request is %s, f is on: %t, after %d events, want %t and %d", got.State, r.on(t, "f"), len(r.Events(t, "f")), on, switched)
			}
		}
	})
}
