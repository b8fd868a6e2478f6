package httpapi_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"guidon/pkg/httpapi"
)

// An example is how tests that are about every operation call one, and what it costs in calls of DynamoDB.
type example struct {
	body   string // a good one, which changes something; "" for an operation without one
	status int
	calls  int // what it costs when it does its work
	again  int // what the same call costs at once again, when there is nothing left to do or it is refused
}

// {new} in a body is a name that nothing has yet; {strategy} is the id of the strategy that the flag has.
const (
	aPatch    = `[{"op":"replace","path":"/0/stickiness","value":"userId"}]`
	aVariants = `[{"name":"v2","weight":1,"weightType":"variable"}]`
)

// examples has one for every operation. Reads cost one call, lists one more a page, writes two, and one when they are
// refused or change nothing; only whether a new name is taken is for the store to say, by the second call.
var examples = map[string]example{
	"GET /health": {"", 200, 0, 0},

	"POST /api/admin/projects":                          {`{"id":"{new}"}`, 201, 2, 2},
	"GET /api/admin/projects/{projectId}":               {"", 200, 2, 2},
	"POST /api/admin/projects/{projectId}/environments": {`{"environment":"default"}`, 200, 2, 1},
	"POST /api/admin/environments":                      {`{"name":"{new}","type":"test"}`, 201, 2, 1},

	"GET /api/admin/projects/{projectId}/features":                                               {"", 200, 2, 2},
	"POST /api/admin/projects/{projectId}/features":                                              {`{"name":"{new}"}`, 201, 2, 2},
	"GET /api/admin/projects/{projectId}/features/{featureName}":                                 {"", 200, 1, 1},
	"PUT /api/admin/projects/{projectId}/features/{featureName}":                                 {`{"stale":true}`, 200, 2, 1},
	"PATCH /api/admin/projects/{projectId}/features/{featureName}":                               {`[{"op":"replace","path":"/stale","value":true}]`, 200, 2, 1},
	"DELETE /api/admin/projects/{projectId}/features/{featureName}":                              {"", 202, 2, 1},
	"POST /api/admin/projects/{projectId}/features/{featureName}/clone":                          {`{"name":"{new}"}`, 201, 2, 2},
	"GET /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}":      {"", 200, 1, 1},
	"POST /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/on":  {"", 200, 2, 1},
	"POST /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/off": {"", 200, 1, 1}, // it is off already
	"GET /api/admin/archive/features/{projectId}":                                                {"", 200, 2, 2},
	"POST /api/admin/archive/revive/{featureName}":                                               {"", 200, 1, 1}, // it is active already

	inEnvironment("GET", "/strategies"):                 {"", 200, 1, 1},
	inEnvironment("POST", "/strategies"):                {`{"name":"flexibleRollout","parameters":{"rollout":50}}`, 200, 2, 2},
	inEnvironment("POST", "/strategies/set-sort-order"): {`[{"id":"{strategy}","sortOrder":7}]`, 200, 2, 1},
	inEnvironment("GET", "/strategies/{strategyId}"):    {"", 200, 1, 1},
	inEnvironment("PUT", "/strategies/{strategyId}"):    {`{"title":"changed"}`, 200, 2, 1},
	inEnvironment("PATCH", "/strategies/{strategyId}"):  {`[{"op":"replace","path":"/title","value":"changed"}]`, 200, 2, 1},
	inEnvironment("DELETE", "/strategies/{strategyId}"): {"", 200, 2, 1},

	ofFlag("GET", "/variants"):          {"", 200, 1, 1},
	ofFlag("PUT", "/variants"):          {aVariants, 200, 2, 1},
	ofFlag("PATCH", "/variants"):        {aPatch, 200, 2, 1},
	ofFlag("PUT", "/variants-batch"):    {`{"environments":["{environment}"],"variants":` + aVariants + `}`, 200, 2, 1},
	inEnvironment("GET", "/variants"):   {"", 200, 1, 1},
	inEnvironment("PUT", "/variants"):   {aVariants, 200, 2, 1},
	inEnvironment("PATCH", "/variants"): {aPatch, 200, 2, 1},
}

func ofFlag(method, tail string) string {
	return method + " /api/admin/projects/{projectId}/features/{featureName}" + tail
}

func inEnvironment(method, tail string) string {
	return ofFlag(method, "/environments/{environment}"+tail)
}

// A subject is what an operation is tried on: a flag with a strategy in an environment, and variants in all.
type subject struct{ project, flag, environment, strategy string }

var subjects atomic.Int64

// another is a flag of its own to try an operation on.
func (s *server) another(t *testing.T) subject {
	t.Helper()
	on := subject{project: "default", flag: fmt.Sprintf("subject-%d", subjects.Add(1)), environment: "development"}
	s.create(t, on.flag)
	s.furnish(t, &on)
	return on
}

// furnish gives the subject's flag its strategy and variants.
func (s *server) furnish(t *testing.T, on *subject) {
	t.Helper()
	flag := on.fill(ofFlag("", ""))[1:]
	s.must(t, "PUT", flag+"/variants", `[{"name":"v","weight":1}]`)
	added := s.must(t, "POST", on.fill(inEnvironment("", "/strategies"))[1:], `{"name":"default"}`)
	_, rest, _ := strings.Cut(added.body, `"id":"`)
	on.strategy, _, _ = strings.Cut(rest, `"`)
}

// fill puts the subject's names in the place of a text's {parameters}.
func (on subject) fill(text string) string {
	return strings.NewReplacer("{projectId}", on.project, "{featureName}", on.flag, "{environment}", on.environment,
		"{strategyId}", on.strategy, "{strategy}", on.strategy, "{new}", fmt.Sprintf("new-%d", subjects.Add(1))).Replace(text)
}

// call is the example of a route for the subject.
func (on subject) call(route string) call {
	method, path, _ := strings.Cut(route, " ")
	e := examples[route]
	return call{route, method, on.fill(path), on.fill(e.body), e.status, anything}
}

// routes are those of every operation, in order; a test fails where one has no example.
func routes(t *testing.T) []string {
	t.Helper()
	missing := maps.Clone(examples)
	var all []string
	for _, group := range httpapi.Groups() {
		for _, route := range group.Routes() {
			if _, ok := examples[route]; !ok {
				t.Errorf("%s of group %s has no example in operations_test.go, want one", route, group.Name)
				continue
			}
			delete(missing, route)
			all = append(all, route)
		}
	}
	for route := range missing {
		t.Errorf("the example of %s is of no operation", route)
	}
	slices.Sort(all)
	return all
}

// withBody are the routes that take a body.
func withBody(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(routes(t), func(route string) bool { return examples[route].body == "" })
}

// guarded are the routes that need a token: all but what is public.
func guarded(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(routes(t), func(route string) bool { return route == "GET /health" })
}
