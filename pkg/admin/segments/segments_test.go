package segments_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"guidon/pkg/access"
	"guidon/pkg/apitest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// inUse is a conflict whose message has a text, and wrong is a validation error whose message has one. Both have details.
func inUse(text string) string { return withDetails("ConflictError", text) }
func wrong(text string) string { return withDetails("ValidationError", text) }

func withDetails(name, text string) string {
	return fmt.Sprintf(`{"...":0,"name":%q,"message":%q}`, name, "<has "+text+">")
}

const someUsers = `[{"contextName":"userId","operator":"IN","values":["1","2"]}]`

func TestSegments(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", "/api/admin/projects", `{"id":"shop"}`)
	const beta = `"id":1,"name":"Beta users","description":null,"constraints":[{"contextName":"userId","operator":"IN","caseInsensitive":false,"inverted":false,"values":["1","2"]}],"createdBy":"admin"`
	values := make([]string, 1001)
	for i := range values {
		values[i] = fmt.Sprintf("%q", fmt.Sprint(i))
	}
	large := func(n int) string {
		return `{"name":"large","constraints":[{"contextName":"userId","operator":"IN","values":[` + strings.Join(values[:n], ",") + `]}]}`
	}
	s.Run(t, []apitest.Call{
		{"no segments at first", "GET", apitest.Segments, "", 200, `{"segments":[]}`},
		{"create", "POST", apitest.Segments, `{"name":"Beta users","constraints":` + someUsers + `}`, 201, `{"...":0,` + beta + `}`},
		{"read", "GET", apitest.Segments + "/1", "", 200, `{"...":0,` + beta + `}`},
		{"create in a project", "POST", apitest.Segments, `{"name":"a/b","description":"d","project":"shop","constraints":[]}`, 201, `{"...":0,"id":2,"project":"shop","description":"d","constraints":[]}`},
		{"listed by name", "GET", apitest.Segments, "", 200, `{"segments":[{"...":0,` + beta + `,"usedInFeatures":0,"usedInProjects":0},{"...":0,"id":2,"project":"shop"}]}`},
		{"a taken name", "POST", apitest.Segments, `{"name":"Beta users","constraints":[]}`, 409, apitest.Failure("NameExistsError", `"Beta users"`)},
		{"create in an unknown project", "POST", apitest.Segments, `{"name":"x","project":"nosuch","constraints":[]}`, 400, apitest.Invalid("/project")},
		{"no name", "POST", apitest.Segments, `{"constraints":[]}`, 400, apitest.Invalid("/name")},
		{"a line break in a name", "POST", apitest.Segments, `{"name":"a\nb","constraints":[]}`, 400, apitest.Invalid("/name")},
		{"validate a name with a control character", "POST", apitest.Segments + "/validate", `{"name":"a\u0007"}`, 400, apitest.Invalid("/name")},
		{"no constraints", "POST", apitest.Segments, `{"name":"x"}`, 400, apitest.Invalid("/constraints")},
		{"an invalid constraint", "POST", apitest.Segments, `{"name":"x","constraints":[{"contextName":"a","operator":"NUM_EQ","value":"x"}]}`, 400, apitest.Invalid("/constraints/0/value")},
		{"1,000 values", "POST", apitest.Segments, large(1000), 201, apitest.Anything},
		{"1,001 values", "POST", apitest.Segments, large(1001), 400, wrong("1000")},
		{"validate an unused name", "POST", apitest.Segments + "/validate", `{"name":"free"}`, 204, ""},
		{"validate a taken name", "POST", apitest.Segments + "/validate", `{"name":"large"}`, 409, apitest.Failure("NameExistsError", `"large"`)},
		{"validate an empty name", "POST", apitest.Segments + "/validate", `{"name":""}`, 400, apitest.Invalid("/name")},
		{"replaced", "PUT", apitest.Segments + "/2", `{"name":"c","constraints":` + someUsers + `}`, 204, ""},
		{"omitted fields are emptied", "GET", apitest.Segments + "/2", "", 200, `{"...":0,"id":2,"name":"c","description":null}`},
		{"the same again", "PUT", apitest.Segments + "/2", `{"name":"c","constraints":` + someUsers + `}`, 204, ""},
		{"the name of another segment", "PUT", apitest.Segments + "/2", `{"name":"large","constraints":[]}`, 409, apitest.Failure("NameExistsError", `"large"`)},
		{"a former name can be used again", "POST", apitest.Segments, `{"name":"a/b","constraints":[]}`, 201, apitest.Anything},
		{"an id that is not a number", "GET", apitest.Segments + "/abc", "", 400, apitest.Failure("ValidationError", "whole number")},
		{"deleted", "DELETE", apitest.Segments + "/2", "", 204, ""},
		{"deleted again", "DELETE", apitest.Segments + "/2", "", 404, apitest.NotFound("2")},
	})
	if id := s.AddSegment(t, `{"name":"c","constraints":[]}`); id == "2" {
		t.Error("the id of a deleted segment is used again")
	}
	want := []flags.EventType{flags.SegmentCreated, flags.SegmentUpdated, flags.SegmentDeleted}
	if got := s.EventsOf(t, &flags.Segment{ID: 2}); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("events %v, want %v", got, want)
	}
}

// TestSegmentsOfStrategies checks all operations that set the segments of a strategy, or find the strategies of a segment.
func TestSegmentsOfStrategies(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", "/api/admin/projects", `{"id":"shop"}`)
	s.Create(t, "f", "g")
	one, two := s.AddSegment(t, `{"name":"one","constraints":`+someUsers+`}`), s.AddSegment(t, `{"name":"two","project":"default","constraints":[]}`)
	foreign := s.AddSegment(t, `{"name":"foreign","project":"shop","constraints":[]}`)
	id := s.AddStrategy(t, "f", `{"name":"default","segments":[`+one+`,`+two+`]}`)
	plain := s.AddStrategy(t, "g", `{"name":"default"}`)
	strategies, its := apitest.In("f", "development")+"/strategies", apitest.In("f", "development")+"/strategies/"+id
	used := fmt.Sprintf(`{"id":%q,"featureName":"f","projectId":"default","environment":"development","strategyName":"default"}`, id)
	set := func(strategy, segments string) string {
		return fmt.Sprintf(`{"projectId":"default","strategyId":%q,"environmentId":"development","segmentIds":%s}`, strategy, segments)
	}
	s.Run(t, []apitest.Call{
		{"in the strategy", "GET", its, "", 200, `{"...":0,"segments":[1,2]}`},
		{"by segment", "GET", apitest.Segments + "/1/strategies", "", 200, `{"strategies":[` + used + `],"defaultStrategies":[],"changeRequestStrategies":[]}`},
		{"by strategy", "GET", apitest.Segments + "/strategies/" + id, "", 200, `{"segments":[{"...":0,"id":1},{"...":0,"id":2,"project":"default"}]}`},
		{"by an unknown strategy", "GET", apitest.Segments + "/strategies/nosuch", "", 200, `{"segments":[]}`},
		{"uses in the list", "GET", apitest.Segments, "", 200,
			`{"segments":[{"...":0,"id":3,"usedInFeatures":0},{"...":0,"id":1,"usedInFeatures":1,"usedInProjects":1},{"...":0,"id":2,"usedInFeatures":1}]}`},
		{"an unknown segment", "POST", strategies, `{"name":"default","segments":[1,99]}`, 400, wrong("there is no segment 99")},
		{"a segment of another project", "POST", strategies, `{"name":"default","segments":[` + foreign + `]}`, 400, wrong(`belongs to project "shop"`)},
		{"the same segment twice", "POST", strategies, `{"name":"default","segments":[1,1]}`, 400, apitest.Invalid("/segments/1")},
		{"six segments", "POST", strategies, `{"name":"default","segments":[1,2,3,4,5,6]}`, 400, apitest.Invalid("/segments")},
		{"PUT with an unknown segment", "PUT", its, `{"segments":[1,99]}`, 400, apitest.Invalid("/segments/1")},
		{"PUT with fewer segments", "PUT", its, `{"segments":[2]}`, 200, `{"...":0,"segments":[2]}`},
		{"PATCH with an unknown segment", "PATCH", its, `[{"op":"add","path":"/segments/-","value":99}]`, 400, apitest.Invalid("/segments/1")},
		{"PATCH with another segment", "PATCH", its, `[{"op":"add","path":"/segments/-","value":1}]`, 200, `{"...":0,"segments":[2,1]}`},
		{"PATCH of another field", "PATCH", its, `[{"op":"replace","path":"/title","value":"t"}]`, 200, `{"...":0,"segments":[2,1]}`},
		{"set", "POST", apitest.Segments + "/strategies", set(plain, "[1]"), 201, set(plain, "[1]")},
		{"the strategy has it", "GET", apitest.In("g", "development") + "/strategies/" + plain, "", 200, `{"...":0,"segments":[1]}`},
		{"set an unknown segment", "POST", apitest.Segments + "/strategies", set(plain, "[1,99]"), 400, apitest.Invalid("/segmentIds/1")},
		{"set of an unknown strategy", "POST", apitest.Segments + "/strategies", set("nosuch", "[1]"), 400, apitest.Invalid("/strategyId")},
		{"set in an unknown environment", "POST", apitest.Segments + "/strategies", strings.Replace(set(plain, "[1]"), "development", "nosuch", 1), 400, apitest.Invalid("/environmentId")},
		{"set in an unknown project", "POST", apitest.Segments + "/strategies", strings.Replace(set(plain, "[1]"), "default", "nosuch", 1), 400, apitest.Invalid("/projectId")},
		{"set null", "POST", apitest.Segments + "/strategies", set(plain, "null"), 400, apitest.Invalid("/segmentIds")},
		{"give it to a project while others use it", "PUT", apitest.Segments + "/1", `{"name":"one","project":"shop","constraints":[]}`, 409, inUse(`flag "f", flag "g"`)},
		{"in use", "DELETE", apitest.Segments + "/1", "", 409, inUse(`flag "f", flag "g"`)},
		{"set no segments", "POST", apitest.Segments + "/strategies", set(plain, "[]"), 201, set(plain, "[]")},
		{"archive the flag", "DELETE", apitest.Features + "/f", "", 202, ""},
		{"lists leave out archived flags", "GET", apitest.Segments + "/1/strategies", "", 200, `{"strategies":[],"defaultStrategies":[],"changeRequestStrategies":[]}`},
		{"an archived flag still uses it", "DELETE", apitest.Segments + "/1", "", 409, inUse("archived")},
		{"revived", "POST", "/api/admin/archive/revive/f", "", 200, apitest.Anything},
		{"the strategy has its segments again", "GET", its, "", 200, `{"...":0,"segments":[2,1]}`},
		{"cloned", "POST", apitest.Features + "/f/clone", `{"name":"clone"}`, 201, apitest.Anything},
		{"removed", "DELETE", its, "", 200, ""},
		{"the clone uses it", "DELETE", apitest.Segments + "/1", "", 409, inUse(`flag "clone"`)},
	})
}

// TestSegmentsOfDefaultStrategies checks the same rules for default strategies, which are added to flags when they are enabled.
func TestSegmentsOfDefaultStrategies(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	one := s.AddSegment(t, `{"name":"one","constraints":[]}`)
	s.Create(t, "f", "g")
	const defaultStrategy = apitest.Project + "/environments/development/default-strategy"
	s.Run(t, []apitest.Call{
		{"an unknown segment", "POST", defaultStrategy, `{"name":"default","segments":[99]}`, 400, apitest.Invalid("/segments/0")},
		{"set", "POST", defaultStrategy, `{"name":"default","segments":[` + one + `]}`, 200, `{"...":0,"segments":[1]}`},
		{"in use", "DELETE", apitest.Segments + "/1", "", 409, inUse(`default strategy of project "default" in environment "development"`)},
		{"enable the flag", "POST", apitest.In("f", "development") + "/on", "", 200, apitest.Anything},
		{"the flag has the segment", "GET", apitest.In("f", "development") + "/strategies", "", 200, `[{"...":0,"segments":[1]}]`},
		{"an unknown segment with an environment", "POST", apitest.Project + "/environments", `{"environment":"default","defaultStrategy":{"name":"default","segments":[99]}}`, 400, apitest.Invalid("/defaultStrategy/segments/0")},
		{"replace the default strategy", "POST", defaultStrategy, `{"name":"default"}`, 200, apitest.Anything},
		{"still in use", "DELETE", apitest.Segments + "/1", "", 409, inUse(`flag "f"`)},
	})
}

// TestSegmentBudget checks that only writes with new segments need one more call of DynamoDB.
func TestSegmentBudget(t *testing.T) {
	t.Parallel()
	count := &apitest.Counter{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	s.Create(t, "f")
	s.AddSegment(t, `{"name":"one","constraints":[]}`)
	strategies := apitest.In("f", "development") + "/strategies"
	id := s.AddStrategy(t, "f", `{"name":"default"}`)
	for _, tt := range []struct {
		name, method, path, body string
		want                     int
	}{
		{"add without a segment", "POST", strategies, `{"name":"default"}`, 2},
		{"add with a segment", "POST", strategies, `{"name":"default","segments":[1]}`, 3},
		{"PUT with a segment", "PUT", strategies + "/" + id, `{"segments":[1]}`, 3},
		{"PUT with the same segment", "PUT", strategies + "/" + id, `{"title":"t","segments":[1]}`, 2},
		{"PATCH of another field", "PATCH", strategies + "/" + id, `[{"op":"replace","path":"/title","value":"u"}]`, 2},
		{"PATCH without segments", "PATCH", strategies + "/" + id, `[{"op":"remove","path":"/segments"}]`, 2},
		{"PATCH with a segment", "PATCH", strategies + "/" + id, `[{"op":"add","path":"/segments/-","value":1}]`, 3},
		{"enable", "POST", apitest.In("f", "development") + "/on", "", 2},
		{"clone", "POST", apitest.Features + "/f/clone", `{"name":"g"}`, 2},
		{"archive", "DELETE", apitest.Features + "/f", "", 2},
	} {
		if got := count.During(func() { s.Must(t, tt.method, tt.path, tt.body) }); len(got) != tt.want {
			t.Errorf("%s: %d calls %v, want %d", tt.name, len(got), got, tt.want)
		}
	}
}

// TestSegmentPermissions checks that members with the project permission can change segments of the project, and no others.
func TestSegmentPermissions(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", "/api/admin/projects", `{"id":"shop"}`)
	everywhere := s.AddSegment(t, `{"name":"everywhere","constraints":[]}`)
	ours := s.AddSegment(t, `{"name":"ours","project":"shop","constraints":[]}`)
	id, header := s.Person(t, access.RoleViewer)
	_, viewer := s.Person(t, access.RoleViewer)
	s.Must(t, "POST", fmt.Sprintf("/api/admin/projects/shop/users/%d/roles/4", id), "")
	for _, tt := range []struct {
		name, who, method, path, body string
		status                        int
	}{
		{"a viewer is rejected before the body is read", viewer, "POST", apitest.Segments, `{`, 403},
		{"an owner creates one in the project", header, "POST", apitest.Segments, `{"name":"new","project":"shop","constraints":[]}`, 201},
		{"an owner creates one for all projects", header, "POST", apitest.Segments, `{"name":"more","constraints":[]}`, 403},
		{"an owner creates one in another project", header, "POST", apitest.Segments, `{"name":"more","project":"default","constraints":[]}`, 403},
		{"an owner creates one in an unknown project", header, "POST", apitest.Segments, `{"name":"more","project":"nosuch","constraints":[]}`, 403},
		{"an owner changes one of the project", header, "PUT", apitest.Segments + "/" + ours, `{"name":"ours","project":"shop","constraints":` + someUsers + `}`, 204},
		{"an owner gives it to all projects", header, "PUT", apitest.Segments + "/" + ours, `{"name":"ours","constraints":[]}`, 403},
		{"an owner takes one of all projects", header, "PUT", apitest.Segments + "/" + everywhere, `{"name":"mine","project":"shop","constraints":[]}`, 403},
		{"an owner deletes one of all projects", header, "DELETE", apitest.Segments + "/" + everywhere, "", 403},
		{"an owner deletes one of the project", header, "DELETE", apitest.Segments + "/" + ours, "", 204},
	} {
		s.Check(t, apitest.Call{tt.name, tt.method, tt.path, tt.body, tt.status, apitest.Anything}, tt.who)
	}
}
