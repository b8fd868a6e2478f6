package admin_test

import (
	"fmt"
	"net/http"
	"testing"

	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
)

// ofShop is the path of an environment of the project "shop" (see aShop).
const ofShop = projects + "/shop/environments/development"

// TestDefaultStrategyKeepsItsSegment checks that a segment cannot be assigned to a project while the default strategy of another
// project uses it, and that every list of uses has the default strategy, however it was created.
func TestDefaultStrategyKeepsItsSegment(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	s.must(t, "POST", projects, aShop)
	one := allSegments + "/" + s.segment(t, `{"name":"one","constraints":`+someUsers+`}`)
	const (
		mine    = `{"name":"one","project":"default","constraints":[]}`
		ours    = `{"name":"one","project":"shop","constraints":` + someUsers + `}`
		users   = `default strategy of project "shop" in environment "development"`
		listed  = `{"strategies":[],"defaultStrategies":[{"projectId":"shop","environment":"development","strategyName":"default"}],"changeRequestStrategies":[]}`
		nowhere = `{"strategies":[],"defaultStrategies":[],"changeRequestStrategies":[]}`
	)
	s.run(t, []call{
		{"not used", "GET", one + "/strategies", "", 200, nowhere},
		{"use it in a default strategy", "POST", ofShop + "/default-strategy", `{"name":"default","segments":[1]}`, 200, anything},
		{"list its uses", "GET", one + "/strategies", "", 200, listed},
		{"count its uses", "GET", allSegments, "", 200, `{"segments":[{"...":0,"id":1,"usedInFeatures":0,"usedInProjects":1}]}`},
		{"assign it to another project", "PUT", one, mine, 409, inUse(users)},
		{"delete it", "DELETE", one, "", 409, inUse(users)},
		{"assign it to the project that uses it", "PUT", one, ours, 204, ""},
		{"use it in another project", "POST", project + "/environments/development/default-strategy", `{"name":"default","segments":[1]}`, 400, wrong(`belongs to project "shop"`)},
		{"make it global again", "PUT", one, `{"name":"one","constraints":` + someUsers + `}`, 204, ""},
		{"remove the environment", "DELETE", ofShop, "", 200, ""},
		{"its uses are empty", "GET", one + "/strategies", "", 200, nowhere},
		{"add an environment that uses it", "POST", projects + "/shop/environments", `{"environment":"development","defaultStrategy":{"name":"default","segments":[1]}}`, 200, ""},
		{"assign it to another project again", "PUT", one, mine, 409, inUse(users)},
		{"delete the project that uses it", "DELETE", projects + "/shop", "", 200, ""},
		{"assign it", "PUT", one, mine, 204, ""},
		{"delete it", "DELETE", one, "", 204, ""},
	})
}

// TestDefaultStrategyInDeletedEnvironment checks that the default strategy of a deleted environment prevents no change.
func TestDefaultStrategyInDeletedEnvironment(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	s.must(t, "POST", projects, aShop)
	s.staged(t)
	one := allSegments + "/" + s.segment(t, `{"name":"one","constraints":[]}`)
	s.must(t, "POST", project+"/environments/staging/default-strategy", `{"name":"default","segments":[1],"constraints":[{"contextName":"country","operator":"IN","values":["CH"]}]}`)
	s.must(t, "POST", contextFields, `{"name":"country"}`)
	s.run(t, []call{
		{"delete a field in use", "DELETE", contextFields + "/country", "", 409, inUse(`default strategy of project "default" in environment "staging"`)},
		{"count its uses", "GET", contextFields + "/country/strategies", "", 200, `{"strategies":[],"defaultStrategies":[{"projectId":"default","environment":"staging","strategyName":"default"}]}`},
		{"assign a segment in use", "PUT", one, `{"name":"one","project":"shop","constraints":[]}`, 409, inUse(`"staging"`)},
		{"delete the environment", "DELETE", environments + "/staging", "", 200, ""},
		{"delete the field", "DELETE", contextFields + "/country", "", 200, ""},
		{"assign the segment", "PUT", one, `{"name":"one","project":"shop","constraints":[]}`, 204, ""},
		{"create the environment again", "POST", environments, `{"name":"staging","type":"test"}`, 201, anything},
		{"add it to the project again", "POST", project + "/environments", `{"environment":"staging"}`, 200, ""},
		{"the new environment does not use the segment", "GET", one + "/strategies", "", 200, `{"strategies":[],"defaultStrategies":[],"changeRequestStrategies":[]}`},
		{"delete the segment", "DELETE", one, "", 204, ""},
	})
}

// TestMoveLeavesDeletedEnvironments checks that strategies in a deleted environment, which use another project's segment,
// neither prevent a flag from being moved and cloned nor are copied.
func TestMoveLeavesDeletedEnvironments(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	s.must(t, "POST", projects, aShop)
	s.must(t, "POST", projects, `{"id":"third"}`)
	s.staged(t)
	s.create(t, "f")
	one := allSegments + "/" + s.segment(t, `{"name":"one","constraints":[]}`)
	s.uses(t, "f", "staging", "1")
	s.must(t, "DELETE", environments+"/staging", "")
	s.must(t, "PUT", one, `{"name":"one","project":"shop","constraints":[]}`)
	s.run(t, []call{
		{"clone the flag", "POST", features + "/f/clone", `{"name":"g"}`, 201, anything},
		{"move the flag", "POST", features + "/f/changeProject", `{"newProjectId":"third"}`, 200, anything},
		{"delete the segment", "DELETE", one, "", 204, ""},
	})
	if got := s.events(t, "f"); len(got) != 3 {
		t.Errorf("events %v, want the creation, the strategy and the move", got)
	}
}

// TestSegmentRaces sends pairs of requests in parallel that exclude each other. One of them is refused, and nothing uses a
// segment that was deleted or belongs to another project.
func TestSegmentRaces(t *testing.T) {
	const rounds = 40
	own := func(id string) string { return `{"name":"s` + id + `","project":"default","constraints":[]}` }
	use := func(id string) string { return `{"name":"default","segments":[` + id + `]}` }
	flag := func(id string) string { return projects + "/shop/features/f" + id }
	deleted := func(id string) call { return call{method: "DELETE", path: allSegments + "/" + id} }
	taken := func(id string) call { return call{method: "PUT", path: allSegments + "/" + id, body: own(id)} }
	standard := func(id string) call { return call{method: "POST", path: ofShop + "/default-strategy", body: use(id)} }
	for _, tt := range []struct {
		name    string
		prepare func(s *server, t *testing.T, id string)
		one     func(id string) call
		other   func(id string) call
	}{
		{"delete a segment, and use it in a default strategy", nil, deleted, standard},
		{"assign a segment, and use it in a default strategy", nil, taken, standard},
		{"assign a segment, and add an environment that uses it", func(s *server, t *testing.T, _ string) {
			t.Helper()
			s.do(t, "DELETE", ofShop, "")
		}, taken, func(id string) call {
			return call{method: "POST", path: projects + "/shop/environments", body: `{"environment":"development","defaultStrategy":` + use(id) + `}`}
		}},
		{"assign a segment, and use it in a strategy", func(s *server, t *testing.T, id string) {
			t.Helper()
			s.must(t, "POST", projects+"/shop/features", `{"name":"f`+id+`"}`)
		}, taken, func(id string) call {
			return call{method: "POST", path: flag(id) + "/environments/development/strategies", body: use(id)}
		}},
		{"assign a segment, and move a flag that uses it", func(s *server, t *testing.T, id string) {
			t.Helper()
			s.create(t, "f"+id)
			s.uses(t, "f"+id, "development", id)
		}, taken, func(id string) call {
			return call{method: "POST", path: features + "/f" + id + "/changeProject", body: `{"newProjectId":"shop"}`}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			t.Cleanup(func() { dynamotest.Check(t, s.store) })
			s.must(t, "POST", projects, aShop)
			both, none := 0, 0
			for i := range rounds {
				id := s.segment(t, fmt.Sprintf(`{"name":"s%d","constraints":[]}`, i+1))
				if tt.prepare != nil {
					tt.prepare(s, t, id)
				}
				got := s.parallel(t, 2, func(i int) call { return []func(string) call{tt.one, tt.other}[i](id) })
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
	count := &counter{}
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	s.must(t, "POST", projects, aShop)
	s.segment(t, `{"name":"one","constraints":[]}`)
	s.create(t, "f")
	s.uses(t, "f", "development", "1")
	for _, tt := range []struct {
		name, method, path, body string
		want                     int
	}{
		{"list its uses", "GET", allSegments, "", 4},
		{"read", "GET", allSegments + "/1", "", 1},
		{"list its strategies", "GET", allSegments + "/1/strategies", "", 3},
		{"assign it", "PUT", allSegments + "/1", `{"name":"one","project":"default","constraints":[]}`, 6},
		{"make it global again", "PUT", allSegments + "/1", `{"name":"one","constraints":[]}`, 3},
		{"move the flag", "POST", features + "/f/changeProject", `{"newProjectId":"shop"}`, 3},
		{"use it in a default strategy", "POST", ofShop + "/default-strategy", `{"name":"default","segments":[1]}`, 3},
		{"list context fields", "GET", contextFields, "", 3},
	} {
		if got := count.during(func() { s.must(t, tt.method, tt.path, tt.body) }); len(got) != tt.want {
			t.Errorf("%s: %d calls %v, want %d", tt.name, len(got), got, tt.want)
		}
	}
}
