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

	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// A mishap is what happens to one call of DynamoDB that an operation makes.
type mishap struct {
	name  string
	fault dynamotest.Fault
	times int // to so many attempts in a row; 0 for all until time is up, and for whatever is called after that one
	// forgets is whether the engine has forgotten the request token by the next attempt, as AWS does after ten minutes.
	forgets bool
	writes  bool // it happens to transactions alone
}

var mishaps = []mishap{
	{name: "not sent", fault: dynamotest.DropRequest, times: 1},
	{name: "answer lost", fault: dynamotest.LoseResponse, times: 1},
	{name: "answer lost and token forgotten", fault: dynamotest.LoseResponse, times: 1, forgets: true, writes: true},
	{name: "500, and not done", fault: dynamotest.FailBefore, times: 1},
	{name: "500, and yet done", fault: dynamotest.FailAfter, times: 1},
	{name: "throttled twice", fault: dynamotest.Throttle, times: 2}, // AWS has two ways to say it
	{name: "transaction conflict twice", fault: dynamotest.Conflict, times: 2, writes: true},
	{name: "not sent, to the deadline", fault: dynamotest.DropRequest},
	{name: "answers lost, to the deadline", fault: dynamotest.LoseResponse},
	{name: "throttled, to the deadline", fault: dynamotest.Throttle},
	{name: "transaction conflicts, to the deadline", fault: dynamotest.Conflict, writes: true},
}

// changesNothing are the operations that take a POST or PUT and have nothing to do with it.
var changesNothing = map[string]bool{
	ofProject("POST", "/archive/validate"):                                                  true,
	"POST /api/admin/environments/validate":                                                 true,
	"POST /api/admin/features/validate":                                                     true,
	"POST /api/admin/constraints/validate":                                                  true,
	"POST /api/admin/tag-types/validate":                                                    true,
	"POST /api/admin/events/search":                                                         true,
	"POST " + contextFields + "/validate":                                                   true,
	"POST " + allSegments + "/validate":                                                     true,
	"POST /api/admin/features-batch/export":                                                 true,
	"POST /api/admin/features-batch/validate":                                               true,
	"PUT /api/admin/projects/{projectId}/environments/{environment}/change-requests/config": true, // there are none
}

// firstDo says what has to be done for an operation to have something to change, where its example has not.
var firstDo = map[string][]string{
	"POST /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/off": {inEnvironment("POST", "/on")},
	bulkSwitch + "off": {inEnvironment("POST", "/on")},
	"POST /api/admin/archive/revive/{featureName}":         {ofFlag("DELETE", "")},
	ofFlag("DELETE", "/favorites"):                         {ofFlag("POST", "/favorites")},
	ofProject("DELETE", "/favorites"):                      {ofProject("POST", "/favorites")},
	ofFlag("POST", "/lifecycle/uncomplete"):                {ofFlag("POST", "/lifecycle/complete")},
	"POST /api/admin/strategies/{strategyType}/reactivate": {"POST /api/admin/strategies/{strategyType}/deprecate"},
	"POST /api/admin/environments/{environmentName}/on":    {"POST /api/admin/environments/{environmentName}/off"},
}

// A person is who calls those operations that no API token may.
var asPerson = map[string]call{
	"POST /api/admin/user/tokens":             {body: `{"description":"d","expiresAt":"2100-01-01T00:00:00Z"}`, status: 201},
	"DELETE /api/admin/user/tokens/{tokenId}": {status: 200},
}

// TestFaultMatrix has every call of DynamoDB that every operation makes meet every mishap. What an operation does and
// what it calls is found out by its example, on a server where nothing goes wrong. In `make test` each call meets some
// of the mishaps, and each mishap each kind of call; in `make trust`, all.
func TestFaultMatrix(t *testing.T) {
	cells := 0
	for i, route := range routes(t) {
		if strings.HasPrefix(route, "GET ") {
			continue
		}
		want := newCell(t, route).undisturbed(t)
		if !slices.Contains(want.calls, "TransactWriteItems") != changesNothing[route] {
			t.Errorf("%s calls %v, want it to change something, or to be listed as one that does not", route, want.calls)
		}
		for n, operation := range want.calls {
			for j, m := range mishaps {
				if m.writes && operation != "TransactWriteItems" || !dynamotest.Long() && (i+n+j)%len(mishaps) != 0 {
					continue
				}
				cells++
				t.Run(fmt.Sprintf("%s/%d %s %s", route, n+1, operation, m.name), func(t *testing.T) {
					t.Parallel()
					newCell(t, route).disturbed(t, want, n+1, m)
				})
			}
		}
	}
	t.Logf("%d cells", cells)
}

// A cell is a server of its own with something to try an operation on.
type cell struct {
	*server
	route  string
	call   call
	header string // who calls, if it is not the administrator
	faults *dynamotest.Faults
	token  *forgetful
}

func newCell(t *testing.T, route string) *cell {
	t.Helper()
	c := &cell{route: route, token: &forgetful{}}
	c.faults = &dynamotest.Faults{Base: c.token}
	c.server = serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = c.faults })
	on := c.newSubject(t)
	if prepare := preparations[route]; prepare != nil {
		prepare(c.server, t, &on)
	}
	for _, first := range firstDo[route] {
		done := on.call(first)
		c.must(t, done.method, done.path, done.body)
	}
	c.call = on.call(route)
	if own, ok := asPerson[route]; ok {
		_, c.header = c.person(t, flags.RoleAdmin)
		c.do(t, "GET", ownTokens, "", c.header) // that it is used is noted by its first call
		c.call.body, c.call.status = own.body, own.status
	}
	return c
}

// An effect is what a call did: how it was answered, what it called, and what that changed.
type effect struct {
	answer
	calls   []string
	changes []string // of items of the table, see changesOf
	events  int      // among those
}

// undisturbed is what the call does when nothing goes wrong.
func (c *cell) undisturbed(t *testing.T) effect {
	t.Helper()
	var calls []string
	e := c.effectOf(t, plenty, func(f *dynamotest.Faults) {
		f.OnRequest = func(operation string, _ []byte) { calls = append(calls, operation) }
	})
	e.calls = calls
	if e.status != c.call.status {
		t.Errorf("%s: %d %s, want %d", c.route, e.status, e.body, c.call.status)
	}
	return e
}

// How long the calls may take: as long as anything can, or a few attempts.
const (
	plenty = 20 * time.Second
	little = 60 * time.Millisecond
)

// effectOf makes the call within a time, over a network that is arranged for it, and sees what it changed. The log has
// to tell of that.
func (c *cell) effectOf(t *testing.T, within time.Duration, arrange func(*dynamotest.Faults)) effect {
	t.Helper()
	told, before := c.logged(t), itemsIn(t, c.store)
	c.faults.Change(arrange)
	got := c.ask(t, within)
	c.faults.Change(func(f *dynamotest.Faults) { f.Script, f.OnRequest = nil, nil })
	e := effect{answer: got}
	e.changes, e.events = changesOf(before, itemsIn(t, c.store))
	if n := c.logged(t) - told; n != e.events {
		t.Errorf("the log has %d events more, and the table %d", n, e.events)
	}
	dynamotest.Check(t, c.store)
	return e
}

// ask makes the call. A function needs the last second before its deadline to answer.
func (c *cell) ask(t *testing.T, within time.Duration) answer {
	ctx, cancel := context.WithTimeout(t.Context(), within+time.Second)
	defer cancel()
	r := httptest.NewRequestWithContext(ctx, c.call.method, c.call.path, strings.NewReader(c.call.body))
	_, secret, _ := strings.Cut(cmp.Or(c.header, ": "+dynamotest.AdminToken), ": ")
	r.Header.Set("Authorization", secret)
	if c.call.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	c.handler.ServeHTTP(w, r)
	return answer{w.Code, w.Header(), w.Body.String()}
}

// disturbed has a mishap happen to the nth call, and holds the operation to what it does without one: all of that, or
// nothing and an answer that says so.
func (c *cell) disturbed(t *testing.T, want effect, n int, m mishap) {
	t.Helper()
	within, at := plenty, 0
	if m.times == 0 {
		within = little
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
	maybe := strings.Contains(got.body, "may or may not")
	switch {
	case got.status == want.status && all:
		return // whatever happened, it has found out
	case m.times > 0:
		t.Errorf("%d %s, changes %q; want %d and %q, as though nothing had happened", got.status, got.body, got.changes, want.status, want.changes)
	case got.status != http.StatusServiceUnavailable:
		t.Errorf("%d %s, changes %q; want a 503", got.status, got.body, got.changes)
	case all && !maybe && want.events > 0:
		t.Errorf("%d %s, and it was done; want it said that it may have been", got.status, got.body)
	case !all && !none:
		t.Errorf("%d %s, changes %q; want all of %q or nothing", got.status, got.body, got.changes, want.changes)
	case !maybe && !saysNothing(got.body):
		t.Errorf("%d %s, and nothing was changed; want it to say so", got.status, got.body)
	}
	if none && !t.Failed() { // what was not done can be done now
		if again := c.effectOf(t, plenty, func(*dynamotest.Faults) {}); again.status != want.status || !slices.Equal(again.changes, want.changes) {
			t.Errorf("tried again: %d %s, changes %q; want %d and %q", again.status, again.body, again.changes, want.status, want.changes)
		}
	}
}

// saysNothing tells whether an answer says that nothing was changed.
func saysNothing(body string) bool {
	return strings.Contains(body, "nothing was changed") || strings.Contains(body, "it was not changed")
}
