package admin_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// parallel makes n calls at the same time, and counts the responses by status.
func (s *server) parallel(t *testing.T, n int, of func(i int) call) map[int]int {
	t.Helper()
	var (
		mu       sync.Mutex
		wg       sync.WaitGroup
		statuses = map[int]int{}
		start    = make(chan struct{})
	)
	for i := range n {
		wg.Go(func() {
			c := of(i)
			<-start // all at the same time
			got, err := s.try(c.method, c.path, c.body)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			statuses[got.status]++
			if got.status >= 500 && got.status != http.StatusServiceUnavailable {
				t.Errorf("%s %s: %d %s, want no error of the service", c.method, c.path, got.status, got.body)
			}
		})
	}
	close(start)
	wg.Wait()
	return statuses
}

func wantStatuses(t *testing.T, got, want map[int]int) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("responses by status %v, want %v", got, want)
	}
}

func (s *server) wantEvents(t *testing.T, flag string, kind flags.EventType, want int) {
	t.Helper()
	got := 0
	for _, e := range s.events(t, flag) {
		if e == kind {
			got++
		}
	}
	if got != want {
		t.Errorf("%d events %s, want %d", got, kind, want)
	}
}

func TestParallelCreates(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	got := s.parallel(t, 32, func(int) call { return call{method: "POST", path: features, body: `{"name":"f"}`} })
	wantStatuses(t, got, map[int]int{201: 1, 409: 31})
	s.wantEvents(t, "f", flags.FeatureCreated, 1)
	s.check(t, call{"in the list once", "GET", features, "", 200, `{"version":2,"features":[` + listed("f", row("development"), row("production")) + `]}`})

	s.create(t, "source")
	got = s.parallel(t, 16, func(int) call {
		return call{method: "POST", path: features + "/source/clone", body: `{"name":"clone"}`}
	})
	wantStatuses(t, got, map[int]int{201: 1, 409: 15})
	s.wantEvents(t, "clone", flags.FeatureCreated, 1)
}

func TestParallelPatches(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "f")
	id := s.strategy(t, "f", `{"name":"default"}`)
	one := in("f", "development") + "/strategies/" + id
	got := s.parallel(t, 50, func(i int) call {
		return call{method: "PATCH", path: one, body: fmt.Sprintf(`[{"op":"add","path":"/parameters/p%d","value":%d}]`, i, i)}
	})
	wantStatuses(t, got, map[int]int{200: 50})
	s.wantEvents(t, "f", flags.FeatureStrategyUpdate, 50)
	wantParameters(t, s.must(t, "GET", one, "").body, 50)
}

// wantParameters checks that a strategy has the parameters p0, p1 and so on.
func wantParameters(t *testing.T, body string, n int) {
	t.Helper()
	var strategy struct{ Parameters map[string]string }
	if err := json.Unmarshal([]byte(body), &strategy); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if name := fmt.Sprintf("p%d", i); strategy.Parameters[name] != fmt.Sprint(i) {
			t.Errorf("parameter %s is %q, want %d: an update was lost", name, strategy.Parameters[name], i)
		}
	}
}

// TestParallelFields changes two different fields of a flag at once, forty times, by PUT and by PATCH.
func TestParallelFields(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "f")
	for i := range 40 {
		stale, description := i%2 == 0, fmt.Sprintf("round %d", i)
		calls := []call{
			{method: "PUT", path: features + "/f", body: fmt.Sprintf(`{"description":%q}`, description)},
			{method: "PATCH", path: features + "/f", body: fmt.Sprintf(`[{"op":"replace","path":"/stale","value":%t}]`, stale)},
		}
		wantStatuses(t, s.parallel(t, 2, func(i int) call { return calls[i] }), map[int]int{200: 2})
		s.check(t, call{"both kept", "GET", features + "/f", "", 200, fmt.Sprintf(`{"...":0,"description":%q,"stale":%t}`, description, stale)})
	}
	s.wantEvents(t, "f", flags.FeatureMetadataUpdated, 40)
	s.wantEvents(t, "f", flags.FeatureStaleOn, 20)
	s.wantEvents(t, "f", flags.FeatureStaleOff, 20)
}

func TestParallelAdditions(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	s.create(t, "f")
	list := in("f", "development") + "/strategies"
	got := s.parallel(t, 60, func(int) call { return call{method: "POST", path: list, body: `{"name":"default"}`} })
	wantStatuses(t, got, map[int]int{200: 30, 400: 30})
	s.wantEvents(t, "f", flags.FeatureStrategyAdd, 30)
	if n := strings.Count(s.must(t, "GET", list, "").body, `"id"`); n != 30 {
		t.Errorf("%d strategies, want 30", n)
	}
}

func TestParallelEnvironments(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *httpapi.Config, _ *http.RoundTripper) { c.Limits.Environments = 8 })
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	got := s.parallel(t, 16, func(i int) call {
		return call{method: "POST", path: "/api/admin/environments", body: fmt.Sprintf(`{"name":"e%d","type":"test"}`, i)}
	})
	wantStatuses(t, got, map[int]int{201: 5, 400: 11})
	got = s.parallel(t, 8, func(int) call {
		return call{method: "POST", path: project + "/environments", body: `{"environment":"default"}`}
	})
	wantStatuses(t, got, map[int]int{200: 1, 409: 7})
	got = s.parallel(t, 8, func(int) call { return call{method: "POST", path: "/api/admin/projects", body: `{"id":"p"}`} })
	wantStatuses(t, got, map[int]int{201: 1, 409: 7})
}

func TestParallelArchives(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	s.enabled(t, "f")
	got := s.parallel(t, 20, func(int) call { return call{method: "DELETE", path: features + "/f"} })
	wantStatuses(t, got, map[int]int{202: 20})
	s.wantEvents(t, "f", flags.FeatureArchived, 1)

	got = s.parallel(t, 20, func(int) call { return call{method: "POST", path: "/api/admin/archive/revive/f"} })
	wantStatuses(t, got, map[int]int{200: 20})
	s.wantEvents(t, "f", flags.FeatureRevived, 1)

	got = s.parallel(t, 20, func(int) call { return call{method: "POST", path: in("f", "development") + "/on"} })
	wantStatuses(t, got, map[int]int{200: 20})
	s.wantEvents(t, "f", flags.FeatureEnvironmentEnabled, 2) // with the first, before it was archived
}

// TestListsShowParallelWrites has several writers create, enable and archive their own flags in parallel. The list that each
// reads right after a change shows the change.
func TestListsShowParallelWrites(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 4 {
				name := fmt.Sprintf("w%d-%d", w, i)
				for _, step := range []call{
					{"created", "POST", features, fmt.Sprintf(`{"name":%q}`, name), 201, `"enabled":false`},
					{"given a strategy", "POST", in(name, "development") + "/strategies", `{"name":"default"}`, 200, `"hasStrategies":true`},
					{"enabled", "POST", in(name, "development") + "/on", "", 200, `"enabled":true`},
					{"archived", "DELETE", features + "/" + name, "", 202, ""},
				} {
					done, err := s.try(step.method, step.path, step.body)
					list, err2 := s.try("GET", features, "")
					if err != nil || err2 != nil || done.status != step.status {
						t.Errorf("%s %s: %d, %v, %v", step.name, name, done.status, err, err2)
						return
					}
					if got := listedAs(list.body, name); (got == "") != (step.want == "") || !strings.Contains(got, step.want) {
						t.Errorf("%s was %s, and the list has %q, want %q in it", name, step.name, got, step.want)
					}
				}
			}
		})
	}
	wg.Wait()
	s.check(t, call{"all archived", "GET", features, "", 200, `{"version":2,"features":[]}`})
}

// listedAs returns the row of a flag in a list, up to its second environment; "" if the list does not have the flag.
func listedAs(list, name string) string {
	_, rest, found := strings.Cut(list, fmt.Sprintf(`{"name":%q`, name))
	if !found {
		return ""
	}
	first, _, _ := strings.Cut(rest, `"displayName":"production"`)
	return first
}

// TestParallelFaults makes parallel changes over a network that loses requests and responses, with an engine that throttles
// and reports conflicts. A 503 is correct; a false 409, a repeated change or a 500 is not.
func TestParallelFaults(t *testing.T) {
	t.Parallel()
	faults := &dynamotest.Faults{}
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = faults })
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	s.create(t, "f")
	id := s.strategy(t, "f", `{"name":"default"}`)
	one := in("f", "development") + "/strategies/" + id
	faults.Change(func(f *dynamotest.Faults) {
		f.DropRequests, f.LoseResponses, f.TruncateResponses, f.Throttles, f.Failures, f.Conflicts = 0.03, 0.1, 0.03, 0.03, 0.06, true
		f.Delay = 2 * time.Millisecond
	})
	created := s.parallel(t, 32, func(int) call { return call{method: "POST", path: features, body: `{"name":"raced"}`} })
	alone := s.parallel(t, 32, func(i int) call {
		return call{method: "POST", path: features, body: fmt.Sprintf(`{"name":"alone-%d"}`, i)}
	})
	patched := s.parallel(t, 25, func(i int) call {
		return call{method: "PATCH", path: one, body: fmt.Sprintf(`[{"op":"add","path":"/parameters/p%d","value":%d}]`, i, i)}
	})
	faults.Change(func(f *dynamotest.Faults) {
		f.DropRequests, f.LoseResponses, f.TruncateResponses, f.Throttles, f.Failures, f.Conflicts, f.Delay = 0, 0, 0, 0, 0, false, 0
	})
	t.Logf("raced %v, alone %v, patched %v; faults %v", created, alone, patched, faults.Injected())

	if created[201] > 1 || created[201]+created[409]+created[503] != 32 {
		t.Errorf("32 creations of one name: %v, want at most one 201, and 409", created)
	}
	s.wantEvents(t, "raced", flags.FeatureCreated, 1)
	if alone[201]+alone[503] != 32 {
		t.Errorf("creations of different names: %v, want no 409", alone)
	}
	for i := range 32 {
		if got := len(s.events(t, fmt.Sprintf("alone-%d", i))); got > 1 {
			t.Errorf("%d events of alone-%d, want at most one", got, i)
		}
	}
	if patched[200]+patched[503] != 25 {
		t.Errorf("patches: %v, want 200, or 503", patched)
	}
	if patched[503] == 0 { // after a 503, a change may or may not be committed
		wantParameters(t, s.must(t, "GET", one, "").body, 25)
		s.wantEvents(t, "f", flags.FeatureStrategyUpdate, 25)
	}
	if raised := faults.Injected(); raised[dynamotest.LoseResponse] == 0 || raised[dynamotest.Conflict] == 0 {
		t.Errorf("faults %v, want some of each kind: this run has tested nothing", raised)
	}
}
