package admin_test

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
	"guidon/pkg/session"
)

// A mishap is a fault in one DynamoDB call of an operation.
type mishap struct {
	name  string
	fault dynamotest.Fault
	times int // the number of attempts in a row that fail; 0 for this and all later calls, until the deadline
	// forgets makes the engine forget the request token before the next attempt, as AWS does after ten minutes.
	forgets bool
	writes  bool // only for transactions
}

var mishaps = []mishap{
	{name: "not sent", fault: dynamotest.DropRequest, times: 1},
	{name: "response lost", fault: dynamotest.LoseResponse, times: 1},
	{name: "response lost and token forgotten", fault: dynamotest.LoseResponse, times: 1, forgets: true, writes: true},
	{name: "500 before the call", fault: dynamotest.FailBefore, times: 1},
	{name: "500 after the call", fault: dynamotest.FailAfter, times: 1},
	{name: "throttled twice", fault: dynamotest.Throttle, times: 2}, // AWS has two errors for it
	{name: "transaction conflict twice", fault: dynamotest.Conflict, times: 2, writes: true},
	{name: "not sent, until the deadline", fault: dynamotest.DropRequest},
	{name: "responses lost, until the deadline", fault: dynamotest.LoseResponse},
	{name: "throttled, until the deadline", fault: dynamotest.Throttle},
	{name: "transaction conflicts, until the deadline", fault: dynamotest.Conflict, writes: true},
}

// changesNothing has the operations with POST or PUT that change nothing.
var changesNothing = map[string]bool{
	ofProject("POST", "/archive/validate"):                           true,
	"POST /api/admin/environments/validate":                          true,
	"POST /api/admin/features/validate":                              true,
	"POST /api/admin/constraints/validate":                           true,
	"POST /api/admin/tag-types/validate":                             true,
	"POST /api/admin/events/search":                                  true,
	"POST " + apitest.ContextFields + "/validate":                    true,
	"POST " + apitest.Segments + "/validate":                         true,
	ofProject("DELETE", "/change-requests/{changeRequestId}"):        true, // it is not a draft
	ofProject("POST", "/change-requests/{changeRequestId}/rebase"):   true, // nothing has changed
	ofProject("PUT", "/change-requests/{changeRequestId}/approvers"): true, // there are none before and after
	"POST /api/signals/{signalName}":                                 true, // it has another secret
	"POST /api/admin/playground":                                     true,
	"POST /api/admin/playground/advanced":                            true,
	"POST " + anAddon + "/test":                                      true, // it puts an entry into the outbox, without a transaction
	"POST " + anAddon + "/resend":                                    true, // nothing is parked
	"POST /api/admin/features-batch/export":                          true,
	ofFlag("POST", "/favorites"):                                     true, // favorites are put into an item of the caller, without a transaction
	ofFlag("DELETE", "/favorites"):                                   true,
	ofProject("POST", "/favorites"):                                  true,
	ofProject("DELETE", "/favorites"):                                true,
	ofProject("PUT", aRepository):                                    true, // the same of code references
	ofProject("DELETE", aRepository):                                 true,
	"POST /api/admin/features-batch/validate":                        true,
}

// firstDo has the requests without which an operation's example would change nothing.
var firstDo = map[string][]string{
	"POST /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/off": {inEnvironment("POST", "/on")},
	bulkSwitch + "off":                                     {inEnvironment("POST", "/on")},
	inEnvironment("POST", resuming):                        {inEnvironment("POST", aPlan+"/pause")},
	"POST /api/admin/archive/revive/{featureName}":         {ofFlag("DELETE", "")},
	ofFlag("DELETE", "/favorites"):                         {ofFlag("POST", "/favorites")},
	ofProject("DELETE", "/favorites"):                      {ofProject("POST", "/favorites")},
	ofFlag("POST", "/lifecycle/uncomplete"):                {ofFlag("POST", "/lifecycle/complete")},
	"POST /api/admin/strategies/{strategyType}/reactivate": {"POST /api/admin/strategies/{strategyType}/deprecate"},
	"POST /api/admin/environments/{environmentName}/on":    {"POST /api/admin/environments/{environmentName}/off"},
}

// asPerson has the operations that need a personal token, with the request.
var asPerson = map[string]apitest.Call{
	"POST /api/admin/user/tokens":             {Body: `{"description":"d","expiresAt":"2100-01-01T00:00:00Z"}`, Status: 201},
	"DELETE /api/admin/user/tokens/{tokenId}": {Status: 200},
}

// TestFaultMatrix injects every mishap into every DynamoDB call of every operation. The calls and changes of an operation are
// found by its example without a fault. `make test` tries some mishaps for each call, and each mishap for each kind of call;
// `make trust` tries all.
func TestFaultMatrix(t *testing.T) {
	cells := 0
	for i, route := range routes(t) {
		if strings.HasPrefix(route, "GET ") {
			continue
		}
		want := newCell(t, route).withoutFault(t)
		if !slices.Contains(want.calls, "TransactWriteItems") != changesNothing[route] {
			t.Errorf("%s calls %v, want a transaction, or an entry in changesNothing", route, want.calls)
		}
		for n, operation := range want.calls {
			for j, m := range mishaps {
				if m.writes && operation != "TransactWriteItems" || !dynamotest.Long() && (i+n+j)%len(mishaps) != 0 {
					continue
				}
				cells++
				t.Run(fmt.Sprintf("%s/%d %s %s", route, n+1, operation, m.name), func(t *testing.T) {
					t.Parallel()
					newCell(t, route).checkMishap(t, want, n+1, m)
				})
			}
		}
	}
	t.Logf("%d cells", cells)
}

// bySession has the operations that need a session, with the status of the response.
var bySession = map[string]int{"POST /auth/sign-out": 204, "POST /auth/sign-out-everywhere": 204}

// A cell is its own server with the data that an operation needs.
type cell struct {
	*apitest.Server
	route  string
	call   apitest.Call
	header string // the header with the token or session, if it is not the administrator's token
	faults *dynamotest.Faults
	token  *forgetful
}

func newCell(t *testing.T, route string) *cell {
	t.Helper()
	c := &cell{route: route, token: &forgetful{}}
	c.faults = &dynamotest.Faults{Base: c.token}
	c.Server = apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = c.faults })
	c.SendAll(t)
	on := newSubject(t, c.Server)
	if prepare := preparations[route]; prepare != nil {
		prepare(t, c.Server, &on)
	}
	for _, first := range firstDo[route] {
		done := on.call(first)
		c.Must(t, done.Method, done.Path, done.Body)
	}
	c.call = on.call(route)
	if own, ok := asPerson[route]; ok {
		_, c.header = c.Person(t, access.RoleAdmin)
		c.Do(t, "GET", apitest.OwnTokens, "", c.header) // the first call records the use of the token
		c.call.Body, c.call.Status = own.Body, own.Status
	}
	if status := bySession[route]; status != 0 {
		c.header = c.SignIn(t, 1)
		c.call.Status = status
	}
	return c
}

// An effect is the response of a call, its DynamoDB calls, and its changes.
type effect struct {
	apitest.Answer
	calls   []string
	changes []string // of the table, see changesOf
	events  int      // the new events among the changes
}

// withoutFault returns the effect of the call without a fault.
func (c *cell) withoutFault(t *testing.T) effect {
	t.Helper()
	var calls []string
	e := c.effectOf(t, longTime, func(f *dynamotest.Faults) {
		f.OnRequest = func(operation string, _ []byte) { calls = append(calls, operation) }
	})
	e.calls = calls
	if e.Status != c.call.Status {
		t.Errorf("%s: %d %s, want %d", c.route, e.Status, e.Body, c.call.Status)
	}
	return e
}

// How long the calls may take: long enough for any operation, or for a few attempts.
const (
	longTime  = 20 * time.Second
	shortTime = 60 * time.Millisecond
)

// effectOf makes the call within a time, with the faults that arrange sets, and returns its effect. It checks that the log has
// the events.
func (c *cell) effectOf(t *testing.T, within time.Duration, arrange func(*dynamotest.Faults)) effect {
	t.Helper()
	logged, outbox, before := c.loggedEvents(t), c.Outbox(t), itemsIn(t, c.Store)
	c.faults.Change(arrange)
	got := c.send(t, within)
	c.faults.Change(func(f *dynamotest.Faults) { f.Script, f.OnRequest = nil, nil })
	e := effect{Answer: got}
	e.changes, e.events = changesOf(before, itemsIn(t, c.Store))
	if n := c.loggedEvents(t) - logged; n != e.events {
		t.Errorf("the log has %d new events, the table has %d", n, e.events)
	}
	if n := len(c.Outbox(t)) - len(outbox); n != e.events {
		t.Errorf("the outbox of an addon that sends all events has %d new entries, want %d", n, e.events)
	}
	dynamotest.Check(t, c.Store)
	return e
}

// send makes the call. A function needs the last second before its deadline for the response.
func (c *cell) send(t *testing.T, within time.Duration) apitest.Answer {
	ctx, cancel := context.WithTimeout(t.Context(), within+time.Second)
	defer cancel()
	r := httptest.NewRequestWithContext(ctx, c.call.Method, c.call.Path, strings.NewReader(c.call.Body))
	name, value, _ := strings.Cut(cmp.Or(c.header, apitest.As(dynamotest.AdminToken)), ": ")
	r.Header.Set(name, value)
	r.Header.Set(session.ConsoleHeader, "1")
	if c.call.Body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	c.Handler.ServeHTTP(w, r)
	return apitest.Answer{Status: w.Code, Header: w.Header(), Body: w.Body.String()}
}

// checkMishap injects a mishap into the nth DynamoDB call. The operation must have its whole effect, or none with a response that
// says so.
func (c *cell) checkMishap(t *testing.T, want effect, n int, m mishap) {
	t.Helper()
	within, at := longTime, 0
	if m.times == 0 {
		within = shortTime
	}
	c.token.forgets = m.forgets
	got := c.effectOf(t, within, func(f *dynamotest.Faults) {
		f.Script = func(string, int) dynamotest.Fault {
			if at++; at < n || m.times > 0 && at >= n+m.times {
				return dynamotest.NoFault
			}
			return m.fault
		}
	})
	all, none := slices.Equal(got.changes, want.changes), len(got.changes) == 0
	maybe := strings.Contains(got.Body, "may or may not")
	switch {
	case got.Status == want.Status && all:
		return // the operation succeeded in spite of the mishap
	case m.times > 0:
		t.Errorf("%d %s, changes %q; want %d and %q, as without a fault", got.Status, got.Body, got.changes, want.Status, want.changes)
	case got.Status != http.StatusServiceUnavailable:
		t.Errorf("%d %s, changes %q; want a 503", got.Status, got.Body, got.changes)
	case all && !maybe && want.events > 0:
		t.Errorf("%d %s, but the change was made; want the response to say \"may or may not\"", got.Status, got.Body)
	case !all && !none:
		t.Errorf("%d %s, changes %q; want all of %q or nothing", got.Status, got.Body, got.changes, want.changes)
	case !maybe && !saysUnchanged(got.Body):
		t.Errorf("%d %s, but nothing was changed; want the response to say so", got.Status, got.Body)
	}
	if none && !t.Failed() { // without an effect, the call works when it is repeated
		if again := c.effectOf(t, longTime, func(*dynamotest.Faults) {}); again.Status != want.Status || !slices.Equal(again.changes, want.changes) {
			t.Errorf("repeated: %d %s, changes %q; want %d and %q", again.Status, again.Body, again.changes, want.Status, want.changes)
		}
	}
}

// saysUnchanged reports whether a response says that nothing was changed.
func saysUnchanged(body string) bool {
	return strings.Contains(body, "nothing was changed") || strings.Contains(body, "it was not changed")
}
