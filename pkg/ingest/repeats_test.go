package ingest

import (
	"strings"
	"testing"
	"time"

	"guidon/pkg/aggregate"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/usage"
)

// TestRepeats checks that a registration that changes nothing writes nothing, and that everything else is stored.
func TestRepeats(t *testing.T) {
	count, now := &counter{}, time.Now()
	s := serve(t, count, func(c *httpapi.Config) { c.Now = func() time.Time { return now } })
	other := s.token(t, `{"tokenName":"other","type":"client","environment":"development"}`)
	const stored, left = "PutItem", ""
	s.post("/api/client/metrics", other, metricsOf("")) // reads the new token
	send := func(what, want, path, token, body string, headers ...string) {
		t.Helper()
		got := count.during(func() {
			if w := s.post(path, token, body, headers...); w.Code != 202 {
				t.Errorf("%s: %d %s", what, w.Code, w.Body)
			}
		})
		if got != want {
			t.Errorf("%s: calls %q, want %q", what, got, want)
		}
	}
	register := func(what, want, body string) {
		t.Helper()
		send(what, want, "/api/client/register", dynamotest.ClientToken, body)
	}
	changed := func(old, new string) string {
		if !strings.Contains(nodeRegister, old) {
			t.Fatalf("%q is not in the registration", old)
		}
		return strings.Replace(nodeRegister, old, new, 1)
	}
	register("the first one", stored, nodeRegister)
	register("again", left, nodeRegister)
	register("started later", left, changed(`"started"`, `"started": "2027-01-02T03:04:05.678Z", "x"`))
	register("another instance", stored, changed("root-vm", "other-vm"))
	register("another SDK", stored, changed("6.12.1", "6.12.2"))
	register("another strategy", stored, changed(`["default"`, `["mine"`))
	send("another token", stored, "/api/client/register", other, nodeRegister)
	for range 2 {
		send("counts", stored, "/api/client/metrics", dynamotest.ClientToken, metricsOf(`"a": {"yes": 1}`))
	}
	send("nothing counted", stored, "/api/client/metrics", dynamotest.ClientToken, metricsOf(""))
	send("nothing counted, again", left, "/api/client/metrics", dynamotest.ClientToken, metricsOf(""))
	now = now.Add(repeatedFor)
	register("after a while", "BatchGetItem PutItem", nodeRegister)
	register("again after a while", left, nodeRegister)
	now = now.Add(-time.Second)
	register("after the clock was set back", "BatchGetItem PutItem", nodeRegister)
}

// TestRepeatsNotStored checks that a report whose storage failed is stored when it comes again.
func TestRepeatsNotStored(t *testing.T) {
	faults := &dynamotest.Faults{}
	s := serve(t, faults)
	faults.Change(func(f *dynamotest.Faults) {
		f.Script = func(operation string, _ int) dynamotest.Fault {
			if operation == "PutItem" {
				return dynamotest.Throttle
			}
			return dynamotest.NoFault
		}
	})
	if w := s.post("/api/client/register", dynamotest.ClientToken, nodeRegister); w.Code != 503 {
		t.Fatalf("%d %s, want 503", w.Code, w.Body)
	}
	faults.Change(func(f *dynamotest.Faults) { f.Script = nil })
	if w := s.post("/api/client/register", dynamotest.ClientToken, nodeRegister); w.Code != 202 || len(s.store.posts) != 1 {
		t.Errorf("%d %s, and %d posts, want 202 and one", w.Code, w.Body, len(s.store.posts))
	}
}

// TestRepeatsInSums checks that instances that register all the time are last seen at most one and a half intervals ago.
func TestRepeatsInSums(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Minute)
	s := serve(t, nil, func(c *httpapi.Config) { c.Now = func() time.Time { return now } })
	for end := now.Add(time.Hour); now.Before(end); now = now.Add(time.Minute) {
		s.post("/api/client/register", dynamotest.ClientToken, nodeRegister)
		if _, err := aggregate.New(s.store, aggregate.Settings{Now: func() time.Time { return now.Add(time.Second) }}).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		view, err := s.store.Load(t.Context(), []flags.Key{usage.ApplicationKey("shop-node")})
		if err != nil {
			t.Fatal(err)
		}
		a := flags.Find[*usage.Application](view, usage.ApplicationKey("shop-node"))
		if a == nil || now.Sub(a.LastSeenAt) > usage.ReportInterval*3/2 {
			t.Errorf("at %s: %+v", now, a)
		}
	}
}
