package segments_test

import (
	"fmt"
	"net/http"
	"testing"

	"guidon/pkg/apitest"
	"guidon/pkg/httpapi"
)

// ofShop is the path of an environment of the project "shop".
const ofShop = apitest.Projects + "/shop/environments/development"

// TestDefaultStrategyKeepsItsSegment checks that a segment cannot be assigned to a project while the default strategy of another
// project uses it, and that every list of uses has the default strategy, however it was created.
func TestDefaultStrategyKeepsItsSegment(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", apitest.Projects, `{"id":"shop"}`)
	one := apitest.Segments + "/" + s.AddSegment(t, `{"name":"one","constraints":`+someUsers+`}`)
	const (
		mine    = `{"name":"one","project":"default","constraints":[]}`
		ours    = `{"name":"one","project":"shop","constraints":` + someUsers + `}`
		users   = `default strategy of project "shop" in environment "development"`
		listed  = `{"strategies":[],"defaultStrategies":[{"projectId":"shop","environment":"development","strategyName":"default"}],"changeRequestStrategies":[]}`
		nowhere = `{"strategies":[],"defaultStrategies":[],"changeRequestStrategies":[]}`
	)
	s.Run(t, []apitest.Call{
		{"not used", "GET", one + "/strategies", "", 200, nowhere},
		{"use it in a default strategy", "POST", ofShop + "/default-strategy", `{"name":"default","segments":[1]}`, 200, apitest.Anything},
		{"list its uses", "GET", one + "/strategies", "", 200, listed},
		{"count its uses", "GET", apitest.Segments, "", 200, `{"segments":[{"...":0,"id":1,"usedInFeatures":0,"usedInProjects":1}]}`},
		{"assign it to another project", "PUT", one, mine, 409, inUse(users)},
		{"delete it", "DELETE", one, "", 409, inUse(users)},
		{"assign it to the project that uses it", "PUT", one, ours, 204, ""},
		{"use it in another project", "POST", apitest.Project + "/environments/development/default-strategy", `{"name":"default","segments":[1]}`, 400, wrong(`belongs to project "shop"`)},
		{"make it global again", "PUT", one, `{"name":"one","constraints":` + someUsers + `}`, 204, ""},
		{"remove the environment", "DELETE", ofShop, "", 200, ""},
		{"its uses are empty", "GET", one + "/strategies", "", 200, nowhere},
		{"add an environment that uses it", "POST", apitest.Projects + "/shop/environments", `{"environment":"development","defaultStrategy":{"name":"default","segments":[1]}}`, 200, ""},
		{"assign it to another project again", "PUT", one, mine, 409, inUse(users)},
		{"delete the project that uses it", "DELETE", apitest.Projects + "/shop", "", 200, ""},
		{"assign it", "PUT", one, mine, 204, ""},
		{"delete it", "DELETE", one, "", 204, ""},
	})
}

// TestDefaultStrategyInDeletedEnvironment checks that the default strategy of a deleted environment prevents no change.
func TestDefaultStrategyInDeletedEnvironment(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", apitest.Projects, `{"id":"shop"}`)
	staged(t, s)
	one := apitest.Segments + "/" + s.AddSegment(t, `{"name":"one","constraints":[]}`)
	s.Must(t, "POST", apitest.Project+"/environments/staging/default-strategy", `{"name":"default","segments":[1],"constraints":[{"contextName":"country","operator":"IN","values":["CH"]}]}`)
	s.Must(t, "POST", apitest.ContextFields, `{"name":"country"}`)
	s.Run(t, []apitest.Call{
		{"delete a field in use", "DELETE", apitest.ContextFields + "/country", "", 409, inUse(`default strategy of project "default" in environment "staging"`)},
		{"count its uses", "GET", apitest.ContextFields + "/country/strategies", "", 200, `{"strategies":[],"defaultStrategies":[{"projectId":"default","environment":"staging","strategyName":"default"}]}`},
		{"assign a segment in use", "PUT", one, `{"name":"one","project":"shop","constraints":[]}`, 409, inUse(`"staging"`)},
		{"delete the environment", "DELETE", apitest.Environments + "/staging", "", 200, ""},
		{"delete the field", "DELETE", apitest.ContextFields + "/country", "", 200, ""},
		{"assign the segment", "PUT", one, `{"name":"one","project":"shop","constraints":[]}`, 204, ""},
		{"create the environment again", "POST", apitest.Environments, `{"name":"staging","type":"test"}`, 201, apitest.Anything},
		{"add it to the project again", "POST", apitest.Project + "/environments", `{"environment":"staging"}`, 200, ""},
		{"the new environment does not use the segment", "GET", one + "/strategies", "", 200, `{"strategies":[],"defaultStrategies":[],"changeRequestStrategies":[]}`},
		{"delete the segment", "DELETE", one, "", 204, ""},
	})
}

// TestMoveLeavesDeletedEnvironments checks that strategies in a deleted environment, which use another project's segment,
// neither prevent a flag from being moved and cloned nor are copied.
func TestMoveLeavesDeletedEnvironments(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", apitest.Projects, `{"id":"shop"}`)
	s.Must(t, "POST", apitest.Projects, `{"id":"third"}`)
	staged(t, s)
	s.Create(t, "f")
	one := apitest.Segments + "/" + s.AddSegment(t, `{"name":"one","constraints":[]}`)
	uses(t, s, "f", "staging", "1")
	s.Must(t, "DELETE", apitest.Environments+"/staging", "")
	s.Must(t, "PUT", one, `{"name":"one","project":"shop","constraints":[]}`)
	s.Run(t, []apitest.Call{
		{"clone the flag", "POST", apitest.Features + "/f/clone", `{"name":"g"}`, 201, apitest.Anything},
		{"move the flag", "POST", apitest.Features + "/f/changeProject", `{"newProjectId":"third"}`, 200, apitest.Anything},
		{"delete the segment", "DELETE", one, "", 204, ""},
	})
	if got := s.Events(t, "f"); len(got) != 3 {
		t.Errorf("events %v, want the creation, the strategy and the move", got)
	}
}

// TestSegmentRaces sends pairs of requests in parallel that exclude each other. One of them is refused, and nothing uses a
// segment that was deleted or belongs to another project.
func TestSegmentRaces(t *testing.T) {
	const rounds = 40
	own := func(id string) string { return `{"name":"s` + id + `","project":"default","constraints":[]}` }
	use := func(id string) string { return `{"name":"default","segments":[` + id + `]}` }
	flag := func(id string) string { return apitest.Projects + "/shop/features/f" + id }
	deleted := func(id string) apitest.Call { return apitest.Call{Method: "DELETE", Path: apitest.Segments + "/" + id} }
	taken := func(id string) apitest.Call {
		return apitest.Call{Method: "PUT", Path: apitest.Segments + "/" + id, Body: own(id)}
	}
	standard := func(id string) apitest.Call {
		return apitest.Call{Method: "POST", Path: ofShop + "/default-strategy", Body: use(id)}
	}
	withFlag := func(t *testing.T, s *apitest.Server, id string) {
		t.Helper()
		s.Must(t, "POST", apitest.Projects+"/shop/features", `{"name":"f`+id+`"}`)
	}
	used := func(id string) apitest.Call {
		return apitest.Call{Method: "POST", Path: flag(id) + "/environments/development/strategies", Body: use(id)}
	}
	for _, tt := range []struct {
		name    string
		prepare func(t *testing.T, s *apitest.Server, id string)
		one     func(id string) apitest.Call
		other   func(id string) apitest.Call
	}{
		{"delete a segment, and use it in a default strategy", nil, deleted, standard},
		{"assign a segment, and use it in a default strategy", nil, taken, standard},
		{"assign a segment, and add an environment that uses it", func(t *testing.T, s *apitest.Server, _ string) {
			t.Helper()
			s.Do(t, "DELETE", ofShop, "")
		}, taken, func(id string) apitest.Call {
			return apitest.Call{Method: "POST", Path: apitest.Projects + "/shop/environments", Body: `{"environment":"development","defaultStrategy":` + use(id) + `}`}
		}},
		{"delete a segment, and use it in a strategy", withFlag, deleted, used},
		{"assign a segment, and use it in a strategy", withFlag, taken, used},
		{"assign a segment, and move a flag that uses it", func(t *testing.T, s *apitest.Server, id string) {
			t.Helper()
			s.Create(t, "f"+id)
			uses(t, s, "f"+id, "development", id)
		}, taken, func(id string) apitest.Call {
			return apitest.Call{Method: "POST", Path: apitest.Features + "/f" + id + "/changeProject", Body: `{"newProjectId":"shop"}`}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := apitest.Serve(t)
			s.Must(t, "POST", apitest.Projects, `{"id":"shop"}`)
			both, none := 0, 0
			for i := range rounds {
				id := s.AddSegment(t, fmt.Sprintf(`{"name":"s%d","constraints":[]}`, i+1))
				if tt.prepare != nil {
					tt.prepare(t, s, id)
				}
				got := s.Parallel(t, 2, func(i int) apitest.Call { return []func(string) apitest.Call{tt.one, tt.other}[i](id) })
				switch got[200] + got[204] {
				case 2:
					both++
				case 0:
					none++
				}
			}
			if both+none > 0 {
				t.Errorf("in %d of %d rounds both requests succeeded, in %d neither; want one in each", both, rounds, none)
			}
		})
	}
}

// TestSegmentUseBudget counts the DynamoDB calls that reading and recording the uses of segments takes.
func TestSegmentUseBudget(t *testing.T) {
	t.Parallel()
	count := &apitest.Counter{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	s.Must(t, "POST", apitest.Projects, `{"id":"shop"}`)
	s.AddSegment(t, `{"name":"one","constraints":[]}`)
	s.Create(t, "f")
	uses(t, s, "f", "development", "1")
	for _, tt := range []struct {
		name, method, path, body string
		want                     int
	}{
		{"list its uses", "GET", apitest.Segments, "", 4},
		{"read", "GET", apitest.Segments + "/1", "", 1},
		{"list its strategies", "GET", apitest.Segments + "/1/strategies", "", 3},
		{"assign it", "PUT", apitest.Segments + "/1", `{"name":"one","project":"default","constraints":[]}`, 6},
		{"make it global again", "PUT", apitest.Segments + "/1", `{"name":"one","constraints":[]}`, 3},
		{"move the flag", "POST", apitest.Features + "/f/changeProject", `{"newProjectId":"shop"}`, 3},
		{"use it in a default strategy", "POST", ofShop + "/default-strategy", `{"name":"default","segments":[1]}`, 3},
		{"list context fields", "GET", apitest.ContextFields, "", 4},
	} {
		if got := count.During(func() { s.Must(t, tt.method, tt.path, tt.body) }); len(got) != tt.want {
			t.Errorf("%s: %d calls %v, want %d", tt.name, len(got), got, tt.want)
		}
	}
}
