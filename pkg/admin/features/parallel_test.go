package features_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"guidon/pkg/apitest"
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
