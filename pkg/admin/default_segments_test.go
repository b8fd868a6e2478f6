package admin_test

import (
	"fmt"
	"net/http"
	"testing"

	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
)

// ofShop is an environment of the project "shop" (see aShop).
const ofShop = projects + "/shop/environments/development"

// TestDefaultStrategyKeepsItsSegment: a segment that another project's default strategy uses cannot become a project's own,
// wherever the default strategy came from, and every list of uses has it.
func TestDefaultStrategyKeepsItsSegment(t *testing.T) {
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
		{"used", "POST", ofShop + "/default-strategy", `{"name":"default","segments":[1]}`, 200, anything},
		{"listed", "GET", one + "/strategies", "", 200, listed},
		{"counted", "GET", allSegments, "", 200, `{"segments":[{"...":0,"id":1,"usedInFeatures":0,"usedInProjects":1}]}`},
		{"taken by another project", "PUT", one, mine, 409, inUse(users)},
		{"deleted", "DELETE", one, "", 409, inUse(users)},
		{"taken by the project that uses it", "PUT", one, ours, 204, ""},
		{"used by another project then", "POST", project + "/environments/development/default-strategy", `{"name":"default","segments":[1]}`, 400, wrong(`belongs to project "shop"`)},
		{"given back", "PUT", one, `{"name":"one","constraints":` + someUsers + `}`, 204, ""},
		{"no longer used", "DELETE", ofShop, "", 200, ""},
		{"not listed", "GET", one + "/strategies", "", 200, nowhere},
		{"used by an environment that is added", "POST", projects + "/shop/environments", `{"environment":"development","defaultStrategy":{"name":"default","segments":[1]}}`, 200, ""},
		{"which counts as well", "PUT", one, mine, 409, inUse(users)},
		{"and stops with its project", "DELETE", projects + "/shop", "", 200, ""},
		{"taken", "PUT", one, mine, 204, ""},
		{"deleted", "DELETE", one, "", 204, ""},
	})
}

// TestDefaultStrategyInDeletedEnvironment: the default strategy of an environment that was deleted is in the way of nothing.
func TestDefaultStrategyInDeletedEnvironment(t *testing.T) {
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	s.must(t, "POST", projects, aShop)
	s.staged(t)
	one := allSegments + "/" + s.segment(t, `{"name":"one","constraints":[]}`)
	s.must(t, "POST", project+"/environments/staging/default-strategy", `{"name":"default","segments":[1],"constraints":[{"contextName":"country","operator":"IN","values":["CH"]}]}`)
	s.must(t, "POST", contextFields, `{"name":"country"}`)
	s.run(t, []call{
		{"the field is in use", "DELETE", contextFields + "/country", "", 409, inUse(`default strategy of project "default" in environment "staging"`)},
		{"counted", "GET", contextFields + "/country/strategies", "", 200, `{"strategies":[],"defaultStrategies":[{"projectId":"default","environment":"staging","strategyName":"default"}]}`},
		{"the segment is in use", "PUT", one, `{"name":"one","project":"shop","constraints":[]}`, 409, inUse(`"staging"`)},
		{"the environment goes", "DELETE", environments + "/staging", "", 200, ""},
		{"the field is not", "DELETE", contextFields + "/country", "", 200, ""},
		{"the segment is not", "PUT", one, `{"name":"one","project":"shop","constraints":[]}`, 204, ""},
		{"the environment is created again", "POST", environments, `{"name":"staging","type":"test"}`, 201, anything},
		{"and added again", "POST", project + "/environments", `{"environment":"staging"}`, 200, ""},
		{"without it", "GET", one + "/strategies", "", 200, `{"strategies":[],"defaultStrategies":[],"changeRequestStrategies":[]}`},
		{"the segment goes", "DELETE", one, "", 204, ""},
	})
}

// TestMoveLeavesDeletedEnvironments: what a flag has with another project's segment, in an environment that was deleted,
// neither keeps it from being moved and cloned nor comes along.
func TestMoveLeavesDeletedEnvironments(t *testing.T) {
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
		{"cloned", "POST", features + "/f/clone", `{"name":"g"}`, 201, anything},
		{"moved", "POST", features + "/f/changeProject", `{"newProjectId":"third"}`, 200, anything},
		{"the segment goes", "DELETE", one, "", 204, ""},
	})
	if got := s.events(t, "f"); len(got) != 3 {
		t.Errorf("events %v, want the creation, the strategy and the move", got)
	}
}

// TestSegmentRaces has pairs of calls made at once that exclude each other: one of them is refused, and nothing uses a
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
		{"deleted beside a default strategy", nil, deleted, standard},
		{"taken beside a default strategy", nil, taken, standard},
		{"taken beside an environment that is added", func(s *server, t *testing.T, _ string) {
			t.Helper()
			s.do(t, "DELETE", ofShop, "")
		}, taken, func(id string) call {
			return call{method: "POST", path: projects + "/shop/environments", body: `{"environment":"development","defaultStrategy":` + use(id) + `}`}
		}},
		{"taken beside a strategy", func(s *server, t *testing.T, id string) {
			t.Helper()
			s.must(t, "POST", projects+"/shop/features", `{"name":"f`+id+`"}`)
		}, taken, func(id string) call {
			return call{method: "POST", path: flag(id) + "/environments/development/strategies", body: use(id)}
		}},
		{"taken beside a flag that moves", func(s *server, t *testing.T, id string) {
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
				t.Errorf("of %d rounds, %d had both calls succeed, and %d neither; want one of the two in each", rounds, both, none)
			}
		})
	}
}

// TestSegmentUseBudget counts the calls of DynamoDB that reading and keeping uses takes.
func TestSegmentUseBudget(t *testing.T) {
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
		{"listed", "GET", allSegments, "", 4},
		{"read", "GET", allSegments + "/1", "", 1},
		{"its strategies", "GET", allSegments + "/1/strategies", "", 3},
		{"taken", "PUT", allSegments + "/1", `{"name":"one","project":"default","constraints":[]}`, 6},
		{"given back", "PUT", allSegments + "/1", `{"name":"one","constraints":[]}`, 3},
		{"moved", "POST", features + "/f/changeProject", `{"newProjectId":"shop"}`, 3},
		{"a default strategy with it", "POST", ofShop + "/default-strategy", `{"name":"default","segments":[1]}`, 3},
		{"context fields", "GET", contextFields, "", 3},
	} {
		if got := count.during(func() { s.must(t, tt.method, tt.path, tt.body) }); len(got) != tt.want {
			t.Errorf("%s: %d calls %v, want %d", tt.name, len(got), got, tt.want)
		}
	}
}
