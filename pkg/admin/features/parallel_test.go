package features_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

func TestParallelCreates(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.WantParallel(t, map[int]int{201: 1, 409: 31}, 32, func(int) apitest.Call {
		return apitest.Call{Method: "POST", Path: apitest.Features, Body: `{"name":"f"}`}
	})
	s.WantEvents(t, "f", flags.FeatureCreated, 1)
	s.Check(t, apitest.Call{"in the list once", "GET", apitest.Features, "", 200, `{"version":2,"features":[` + apitest.Listed("f", apitest.Row("development"), apitest.Row("production")) + `]}`})

	s.Create(t, "source")
	s.WantParallel(t, map[int]int{201: 1, 409: 15}, 16, func(int) apitest.Call {
		return apitest.Call{Method: "POST", Path: apitest.Features + "/source/clone", Body: `{"name":"clone"}`}
	})
	s.WantEvents(t, "clone", flags.FeatureCreated, 1)
}

func TestParallelPatches(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	id := s.AddStrategy(t, "f", `{"name":"default"}`)
	one := apitest.In("f", "development") + "/strategies/" + id
	s.WantParallel(t, map[int]int{200: 50}, 50, func(i int) apitest.Call {
		return apitest.Call{Method: "PATCH", Path: one, Body: fmt.Sprintf(`[{"op":"add","path":"/parameters/p%d","value":%d}]`, i, i)}
	})
	s.WantEvents(t, "f", flags.FeatureStrategyUpdate, 50)
	wantParameters(t, s.Must(t, "GET", one, "").Body, 50)
}

// wantParameters checks that a strategy has the parameters p0, p1 and so on.
func wantParameters(t *testing.T, body string, n int) {
	t.Helper()
	strategy := apitest.Decode[struct{ Parameters map[string]string }](t, body)
	for i := range n {
		if name := fmt.Sprintf("p%d", i); strategy.Parameters[name] != fmt.Sprint(i) {
			t.Errorf("parameter %s is %q, want %d: an update was lost", name, strategy.Parameters[name], i)
		}
	}
}

// TestParallelFields changes two different fields of a flag at once, forty times, by PUT and by PATCH.
func TestParallelFields(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	for i := range 40 {
		stale, description := i%2 == 0, fmt.Sprintf("round %d", i)
		calls := []apitest.Call{
			{Method: "PUT", Path: apitest.Features + "/f", Body: fmt.Sprintf(`{"description":%q}`, description)},
			{Method: "PATCH", Path: apitest.Features + "/f", Body: fmt.Sprintf(`[{"op":"replace","path":"/stale","value":%t}]`, stale)},
		}
		s.WantParallel(t, map[int]int{200: 2}, 2, func(i int) apitest.Call { return calls[i] })
		s.Check(t, apitest.Call{"both kept", "GET", apitest.Features + "/f", "", 200, fmt.Sprintf(`{"...":0,"description":%q,"stale":%t}`, description, stale)})
	}
	s.WantEvents(t, "f", flags.FeatureMetadataUpdated, 40)
	s.WantEvents(t, "f", flags.FeatureStaleOn, 20)
	s.WantEvents(t, "f", flags.FeatureStaleOff, 20)
}

func TestParallelAdditions(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	list := apitest.In("f", "development") + "/strategies"
	s.WantParallel(t, map[int]int{200: 30, 400: 30}, 60, func(int) apitest.Call { return apitest.Call{Method: "POST", Path: list, Body: `{"name":"default"}`} })
	s.WantEvents(t, "f", flags.FeatureStrategyAdd, 30)
	if n := strings.Count(s.Must(t, "GET", list, "").Body, `"id"`); n != 30 {
		t.Errorf("%d strategies, want 30", n)
	}
}

func TestParallelEnvironments(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t, func(c *httpapi.Config, _ *http.RoundTripper) { c.Limits.Environments = 8 })
	s.WantParallel(t, map[int]int{201: 5, 400: 11}, 16, func(i int) apitest.Call {
		return apitest.Call{Method: "POST", Path: "/api/admin/environments", Body: fmt.Sprintf(`{"name":"e%d","type":"test"}`, i)}
	})
	s.WantParallel(t, map[int]int{200: 1, 409: 7}, 8, func(int) apitest.Call {
		return apitest.Call{Method: "POST", Path: apitest.Project + "/environments", Body: `{"environment":"default"}`}
	})
	s.WantParallel(t, map[int]int{201: 1, 409: 7}, 8, func(int) apitest.Call {
		return apitest.Call{Method: "POST", Path: "/api/admin/projects", Body: `{"id":"p"}`}
	})
}

func TestParallelArchives(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.CreateEnabled(t, "f")
	s.WantParallel(t, map[int]int{202: 20}, 20, func(int) apitest.Call { return apitest.Call{Method: "DELETE", Path: apitest.Features + "/f"} })
	s.WantEvents(t, "f", flags.FeatureArchived, 1)

	s.WantParallel(t, map[int]int{200: 20}, 20, func(int) apitest.Call { return apitest.Call{Method: "POST", Path: "/api/admin/archive/revive/f"} })
	s.WantEvents(t, "f", flags.FeatureRevived, 1)

	s.WantParallel(t, map[int]int{200: 20}, 20, func(int) apitest.Call {
		return apitest.Call{Method: "POST", Path: apitest.In("f", "development") + "/on"}
	})
	s.WantEvents(t, "f", flags.FeatureEnvironmentEnabled, 2) // with the first, before it was archived
}

// TestListsShowParallelWrites has several writers create, enable and archive their own flags in parallel. The list that each
// reads right after a change shows the change.
func TestListsShowParallelWrites(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 4 {
				name := fmt.Sprintf("w%d-%d", w, i)
				for _, step := range []apitest.Call{
					{"created", "POST", apitest.Features, fmt.Sprintf(`{"name":%q}`, name), 201, `"enabled":false`},
					{"given a strategy", "POST", apitest.In(name, "development") + "/strategies", `{"name":"default"}`, 200, `"hasStrategies":true`},
					{"enabled", "POST", apitest.In(name, "development") + "/on", "", 200, `"enabled":true`},
					{"archived", "DELETE", apitest.Features + "/" + name, "", 202, ""},
				} {
					done, err := s.Try(step.Method, step.Path, step.Body)
					list, err2 := s.Try("GET", apitest.Features, "")
					if err != nil || err2 != nil || done.Status != step.Status {
						t.Errorf("%s %s: %d, %v, %v", step.Name, name, done.Status, err, err2)
						return
					}
					if got := listedAs(list.Body, name); (got == "") != (step.Want == "") || !strings.Contains(got, step.Want) {
						t.Errorf("%s was %s, and the list has %q, want %q in it", name, step.Name, got, step.Want)
					}
				}
			}
		})
	}
	wg.Wait()
	s.Check(t, apitest.Call{"all archived", "GET", apitest.Features, "", 200, `{"version":2,"features":[]}`})
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
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = faults })
	s.Create(t, "f")
	id := s.AddStrategy(t, "f", `{"name":"default"}`)
	one := apitest.In("f", "development") + "/strategies/" + id
	faults.Change(func(f *dynamotest.Faults) {
		f.DropRequests, f.LoseResponses, f.TruncateResponses, f.Throttles, f.Failures, f.Conflicts = 0.03, 0.1, 0.03, 0.03, 0.06, true
		f.Delay = 2 * time.Millisecond
	})
	created := s.Parallel(t, 32, func(int) apitest.Call {
		return apitest.Call{Method: "POST", Path: apitest.Features, Body: `{"name":"raced"}`}
	})
	alone := s.Parallel(t, 32, func(i int) apitest.Call {
		return apitest.Call{Method: "POST", Path: apitest.Features, Body: fmt.Sprintf(`{"name":"alone-%d"}`, i)}
	})
	patched := s.Parallel(t, 25, func(i int) apitest.Call {
		return apitest.Call{Method: "PATCH", Path: one, Body: fmt.Sprintf(`[{"op":"add","path":"/parameters/p%d","value":%d}]`, i, i)}
	})
	faults.Change(func(f *dynamotest.Faults) {
		f.DropRequests, f.LoseResponses, f.TruncateResponses, f.Throttles, f.Failures, f.Conflicts, f.Delay = 0, 0, 0, 0, 0, false, 0
	})
	t.Logf("raced %v, alone %v, patched %v; faults %v", created, alone, patched, faults.Injected())

	if created[201] > 1 || created[201]+created[409]+created[503] != 32 {
		t.Errorf("32 creations of one name: %v, want at most one 201, and 409", created)
	}
	s.WantEvents(t, "raced", flags.FeatureCreated, 1)
	if alone[201]+alone[503] != 32 {
		t.Errorf("creations of different names: %v, want no 409", alone)
	}
	for i := range 32 {
		if got := len(s.Events(t, fmt.Sprintf("alone-%d", i))); got > 1 {
			t.Errorf("%d events of alone-%d, want at most one", got, i)
		}
	}
	if patched[200]+patched[503] != 25 {
		t.Errorf("patches: %v, want 200, or 503", patched)
	}
	if patched[503] == 0 { // after a 503, a change may or may not be committed
		wantParameters(t, s.Must(t, "GET", one, "").Body, 25)
		s.WantEvents(t, "f", flags.FeatureStrategyUpdate, 25)
	}
	if raised := faults.Injected(); raised[dynamotest.LoseResponse] == 0 || raised[dynamotest.Conflict] == 0 {
		t.Errorf("faults %v, want some of each kind: this run has tested nothing", raised)
	}
}
