package edge

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"guidon/pkg/usage"
)

func metricsOf(app, flag string, yes, no int) string {
	return fmt.Sprintf(`{"appName": %q, "instanceId": "i", "bucket": {"start": "2026-01-01T00:00:00Z", "stop": "2026-01-01T00:01:00Z",
		"toggles": {%q: {"yes": %d, "no": %d, "variants": {"blue": %d}}}}}`, app, flag, yes, no, yes)
}

// usage returns the sums that Guidon has got: flag, environment, application, yes and no.
func (g *guidon) usage() string {
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	type key struct{ feature, environment, application string }
	sums := map[key][2]int64{}
	for _, post := range g.store.posts {
		for _, c := range post.Counts {
			k := key{c.Feature, c.Environment, c.Application}
			sums[k] = [2]int64{sums[k][0] + c.Yes, sums[k][1] + c.No}
		}
	}
	var lines []string
	for k, n := range sums {
		lines = append(lines, fmt.Sprintf("%s %s %s %d %d", k.feature, k.environment, k.application, n[0], n[1]))
	}
	slices.Sort(lines)
	return strings.Join(lines, ", ")
}

// instances returns the instances that Guidon has got.
func (g *guidon) instances() string {
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	var lines []string
	for _, post := range g.store.posts {
		for _, i := range post.Instances {
			lines = append(lines, fmt.Sprintf("%s %s %s %s %v", i.Application, i.Instance, i.Environment, i.SDK, i.Strategies))
		}
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), ", ")
}

// TestUsage checks that the sums that applications report arrive exactly, together, and only for flags that their tokens may see.
func TestUsage(t *testing.T) {
	t.Parallel()
	g := newGuidon(t)
	g.flag("a")
	g.do("POST", "/api/admin/projects", `{"id": "other", "name": "other"}`)
	g.do("POST", "/api/admin/projects/other/features", `{"name": "theirs"}`)
	own, client, frontend := g.token("client", "*", "development"), g.token("client", "default", "development"), g.token("frontend", "default", "development")
	e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": own, "METRICS_INTERVAL_SECONDS": "1h"})
	e.awaitOn(client, "a")
	for range 50 {
		e.ask("POST", "/api/client/metrics", client, metricsOf("app", "a", 2, 1)).want(t, 202)
	}
	e.ask("POST", "/api/client/metrics", client, metricsOf("app", "theirs", 2, 1)).want(t, 202)
	e.ask("POST", "/api/client/metrics", client, metricsOf("app", "unknown", 0, 5)).want(t, 202)
	e.ask("POST", "/api/frontend/client/metrics", frontend, metricsOf("web", "a", 7, 0)).want(t, 200)
	e.ask("POST", "/api/client/register", client, `{"appName": "app", "instanceId": "i", "sdkVersion": "sdk:1", "strategies": ["default"], "started": "2026-01-01T00:00:00Z", "interval": 15}`).want(t, 202)
	e.ask("POST", "/api/frontend/client/register", frontend, `{"appName": "web", "instanceId": "w", "strategies": [], "started": 0, "interval": 15}`).want(t, 200)
	e.ask("POST", "/api/client/metrics/bulk", client, `{"applications": [{"appName": "bulk", "instanceId": "b", "environment": "development"}],
		"metrics": [{"featureName": "a", "appName": "bulk", "environment": "development", "yes": 4, "no": 4}, {"featureName": "a", "appName": "bulk", "environment": "production", "yes": 9, "no": 9}]}`).want(t, 202)
	e.ask("POST", "/api/client/metrics/edge", client, `{"anything": true}`).want(t, 202)
	e.ask("POST", "/api/client/metrics", client, `{"appName": "app"}`).want(t, 400, "/bucket")
	e.ask("POST", "/api/client/metrics", client, strings.Repeat("x", usage.MaxBody+1)).want(t, 413)
	e.ask("POST", "/api/client/metrics", client, `{}`, "Content-Type: text/plain").want(t, 415)
	e.ask("POST", "/api/client/metrics", frontend, metricsOf("app", "a", 1, 1)).want(t, 403)
	e.ask("POST", "/api/client/metrics", "", metricsOf("app", "a", 1, 1)).want(t, 401)
	if n := g.served("POST /api/client/metrics/bulk"); n != 0 {
		t.Errorf("Edge reported %d times before its interval", n)
	}
	e.stop() // which reports
	if got, want := g.usage(), "a development app 100 50, a development bulk 4 4, a development web 7 0, unknown development app 0 5"; got != want {
		t.Errorf("Guidon got %s, want %s", got, want)
	}
	if got, want := g.instances(), "app i development sdk:1 [default], bulk b development  [], web i development  [], web w development  []"; got != want {
		t.Errorf("Guidon got the instances %s, want %s", got, want)
	}
	if n := g.served("POST /api/client/metrics/bulk"); n != 1 {
		t.Errorf("Edge reported %d times, want once", n)
	}
}

// TestUsageOfOFREP checks that evaluations of one flag count as those of SDKs do, and that those of all flags are only an instance.
func TestUsageOfOFREP(t *testing.T) {
	t.Parallel()
	g, own, e := following(t)
	const user = `{"context": {"targetingKey": "7"}}`
	for range 3 {
		e.ask("POST", "/ofrep/v1/evaluate/flags/a", own, user).want(t, 200)
	}
	e.ask("POST", "/ofrep/v1/evaluate/flags/nosuch", own, user).want(t, 404)
	for range 2 {
		e.ask("POST", "/ofrep/v1/evaluate/flags", own, user).want(t, 200)
	}
	e.stop()
	if got, want := g.usage(), "a development OFREP 3 0"; got != want {
		t.Errorf("Guidon got %s, want %s", got, want)
	}
	if got := g.instances(); !strings.HasPrefix(got, "OFREP ") || strings.Contains(got, ", ") {
		t.Errorf("Guidon got the instances %s", got)
	}
}

// TestUsageWaits checks that usage waits while the upstream does not take it, and arrives once.
func TestUsageWaits(t *testing.T) {
	t.Parallel()
	g, own, e := following(t)
	g.fails(status(http.StatusServiceUnavailable))
	for i := range 5 {
		e.ask("POST", "/api/client/metrics", own, metricsOf("app", "a", 1, 0)).want(t, 202)
		await(t, "batches that wait", true, func() bool { return e.usage.waiting() > min(i, 1) || e.usage.waiting() > 0 })
	}
	if got := g.usage(); got != "" {
		t.Errorf("Guidon got %s", got)
	}
	g.fails(nil)
	await(t, "the usage that Guidon has", "a development app 5 0", g.usage)
	await(t, "batches that wait", 0, e.usage.waiting)
}

// TestUsageBounds checks that a report is divided into batches that every upstream takes, and that what is too much is dropped.
func TestUsageBounds(t *testing.T) {
	t.Parallel()
	g := newGuidon(t)
	own := g.token("client", "*", "development")
	e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": own, "METRICS_INTERVAL_SECONDS": "1h"})
	e.awaitOn(own, "")
	a, err := e.authenticate(newRequest(own), own, "client")
	if err != nil {
		t.Fatal(err)
	}
	post := &usage.Post{}
	for i := range 150 { // more applications than a report may have
		for j := range 20 {
			post.Counts = append(post.Counts, usage.Count{Feature: fmt.Sprintf("%s-%d", strings.Repeat("f", 100), j), Application: fmt.Sprint("app", i), Environment: "development", Yes: 1})
		}
	}
	e.usage.add(a, post)
	e.usage.cut()
	total := 0
	for _, b := range e.usage.queue {
		if total += strings.Count(string(b.body), `"featureName"`); len(b.body) > 100<<10 {
			t.Errorf("a batch has %d bytes", len(b.body))
		}
	}
	if total != 3000 || len(e.usage.queue) < 5 {
		t.Errorf("%d batches have %d counts", len(e.usage.queue), total)
	}
	post.Counts = nil
	for i := range maxOfToken + 5 {
		post.Counts = append(post.Counts, usage.Count{Feature: fmt.Sprint("f", i), Application: "app", Environment: "development", Yes: 1})
	}
	e.usage.add(a, post)
	if n := e.Edge.metrics.dropped.Load(); n != 5 || len(e.usage.counts) != maxOfToken {
		t.Errorf("%d counts were dropped and %d kept, want 5 and %d", n, len(e.usage.counts), maxOfToken)
	}
	e.usage.mu.Lock()
	e.usage.reset()
	e.usage.queue = e.usage.queue[:0]
	e.usage.mu.Unlock()
}

func newRequest(token string) *http.Request {
	r, err := http.NewRequest(http.MethodGet, "/", nil)
	if err != nil {
		panic(err)
	}
	r.Header.Set("Authorization", token)
	return r
}
