package admin_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"guidon/pkg/access"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// segment creates a segment and returns its id.
func (s *server) segment(t *testing.T, body string) string {
	t.Helper()
	return s.id(t, allSegments, body)
}

// inUse is a conflict whose message has a text, and wrong is a validation error whose message has one. Both have details.
func inUse(text string) string { return withDetails("ConflictError", text) }
func wrong(text string) string { return withDetails("ValidationError", text) }

func withDetails(name, text string) string {
	return fmt.Sprintf(`{"...":0,"name":%q,"message":%q}`, name, "<has "+text+">")
}

const someUsers = `[{"contextName":"userId","operator":"IN","values":["1","2"]}]`

func TestSegments(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	s.must(t, "POST", "/api/admin/projects", aShop)
	const beta = `"id":1,"name":"Beta users","description":null,"constraints":[{"contextName":"userId","operator":"IN","caseInsensitive":false,"inverted":false,"values":["1","2"]}],"createdBy":"admin"`
	values := make([]string, 1001)
	for i := range values {
		values[i] = fmt.Sprintf("%q", fmt.Sprint(i))
	}
	large := func(n int) string {
		return `{"name":"large","constraints":[{"contextName":"userId","operator":"IN","values":[` + strings.Join(values[:n], ",") + `]}]}`
	}
	s.run(t, []call{
		{"no segments at first", "GET", allSegments, "", 200, `{"segments":[]}`},
		{"create", "POST", allSegments, `{"name":"Beta users","constraints":` + someUsers + `}`, 201, `{"...":0,` + beta + `}`},
		{"read", "GET", allSegments + "/1", "", 200, `{"...":0,` + beta + `}`},
		{"create in a project", "POST", allSegments, `{"name":"a/b","description":"d","project":"shop","constraints":[]}`, 201, `{"...":0,"id":2,"project":"shop","description":"d","constraints":[]}`},
		{"listed by name", "GET", allSegments, "", 200, `{"segments":[{"...":0,` + beta + `,"usedInFeatures":0,"usedInProjects":0},{"...":0,"id":2,"project":"shop"}]}`},
		{"a taken name", "POST", allSegments, `{"name":"Beta users","constraints":[]}`, 409, failure("NameExistsError", `"Beta users"`)},
		{"create in an unknown project", "POST", allSegments, `{"name":"x","project":"nosuch","constraints":[]}`, 400, invalid("/project")},
		{"no name", "POST", allSegments, `{"constraints":[]}`, 400, invalid("/name")},
		{"a line break in a name", "POST", allSegments, `{"name":"a\nb","constraints":[]}`, 400, invalid("/name")},
		{"validate a name with a control character", "POST", allSegments + "/validate", `{"name":"a\u0007"}`, 400, invalid("/name")},
		{"no constraints", "POST", allSegments, `{"name":"x"}`, 400, invalid("/constraints")},
		{"an invalid constraint", "POST", allSegments, `{"name":"x","constraints":[{"contextName":"a","operator":"NUM_EQ","value":"x"}]}`, 400, invalid("/constraints/0/value")},
		{"1,000 values", "POST", allSegments, large(1000), 201, anything},
		{"1,001 values", "POST", allSegments, large(1001), 400, wrong("1000")},
		{"validate an unused name", "POST", allSegments + "/validate", `{"name":"free"}`, 204, ""},
		{"validate a taken name", "POST", allSegments + "/validate", `{"name":"large"}`, 409, failure("NameExistsError", `"large"`)},
		{"validate an empty name", "POST", allSegments + "/validate", `{"name":""}`, 400, invalid("/name")},
		{"replaced", "PUT", allSegments + "/2", `{"name":"c","constraints":` + someUsers + `}`, 204, ""},
		{"omitted fields are emptied", "GET", allSegments + "/2", "", 200, `{"...":0,"id":2,"name":"c","description":null}`},
		{"the same again", "PUT", allSegments + "/2", `{"name":"c","constraints":` + someUsers + `}`, 204, ""},
		{"the name of another segment", "PUT", allSegments + "/2", `{"name":"large","constraints":[]}`, 409, failure("NameExistsError", `"large"`)},
		{"a former name can be used again", "POST", allSegments, `{"name":"a/b","constraints":[]}`, 201, anything},
		{"an unknown segment", "GET", allSegments + "/99", "", 404, notFound("99")},
		{"an id that is not a number", "GET", allSegments + "/abc", "", 400, failure("ValidationError", "whole number")},
		{"replace an unknown segment", "PUT", allSegments + "/99", `{"name":"x","constraints":[]}`, 404, notFound("99")},
		{"strategies of an unknown segment", "GET", allSegments + "/99/strategies", "", 404, notFound("99")},
		{"deleted", "DELETE", allSegments + "/2", "", 204, ""},
		{"deleted again", "DELETE", allSegments + "/2", "", 404, notFound("2")},
	})
	if id := s.segment(t, `{"name":"c","constraints":[]}`); id == "2" {
		t.Error("the id of a deleted segment is used again")
	}
	want := []flags.EventType{flags.SegmentCreated, flags.SegmentUpdated, flags.SegmentDeleted}
	if got := s.eventsOf(t, &flags.Segment{ID: 2}); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("events %v, want %v", got, want)
	}
}

// TestSegmentsOfStrategies checks all operations that set the segments of a strategy, or find the strategies of a segment.
func TestSegmentsOfStrategies(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	s.must(t, "POST", "/api/admin/projects", aShop)
	s.create(t, "f", "g")
	one, two := s.segment(t, `{"name":"one","constraints":`+someUsers+`}`), s.segment(t, `{"name":"two","project":"default","constraints":[]}`)
	foreign := s.segment(t, `{"name":"foreign","project":"shop","constraints":[]}`)
	id := s.strategy(t, "f", `{"name":"default","segments":[`+one+`,`+two+`]}`)
	plain := s.strategy(t, "g", `{"name":"default"}`)
	strategies, its := in("f", "development")+"/strategies", in("f", "development")+"/strategies/"+id
	used := fmt.Sprintf(`{"id":%q,"featureName":"f","projectId":"default","environment":"development","strategyName":"default"}`, id)
	set := func(strategy, segments string) string {
		return fmt.Sprintf(`{"projectId":"default","strategyId":%q,"environmentId":"development","segmentIds":%s}`, strategy, segments)
	}
	s.run(t, []call{
		{"in the strategy", "GET", its, "", 200, `{"...":0,"segments":[1,2]}`},
		{"by segment", "GET", allSegments + "/1/strategies", "", 200, `{"strategies":[` + used + `],"defaultStrategies":[],"changeRequestStrategies":[]}`},
		{"by strategy", "GET", allSegments + "/strategies/" + id, "", 200, `{"segments":[{"...":0,"id":1},{"...":0,"id":2,"project":"default"}]}`},
		{"by an unknown strategy", "GET", allSegments + "/strategies/nosuch", "", 200, `{"segments":[]}`},
		{"uses in the list", "GET", allSegments, "", 200,
			`{"segments":[{"...":0,"id":3,"usedInFeatures":0},{"...":0,"id":1,"usedInFeatures":1,"usedInProjects":1},{"...":0,"id":2,"usedInFeatures":1}]}`},
		{"an unknown segment", "POST", strategies, `{"name":"default","segments":[1,99]}`, 400, wrong("there is no segment 99")},
		{"a segment of another project", "POST", strategies, `{"name":"default","segments":[` + foreign + `]}`, 400, wrong(`belongs to project "shop"`)},
		{"the same segment twice", "POST", strategies, `{"name":"default","segments":[1,1]}`, 400, invalid("/segments/1")},
		{"six segments", "POST", strategies, `{"name":"default","segments":[1,2,3,4,5,6]}`, 400, invalid("/segments")},
		{"PUT with an unknown segment", "PUT", its, `{"segments":[1,99]}`, 400, invalid("/segments/1")},
		{"PUT with fewer segments", "PUT", its, `{"segments":[2]}`, 200, `{"...":0,"segments":[2]}`},
		{"PATCH with an unknown segment", "PATCH", its, `[{"op":"add","path":"/segments/-","value":99}]`, 400, invalid("/segments/1")},
		{"PATCH with another segment", "PATCH", its, `[{"op":"add","path":"/segments/-","value":1}]`, 200, `{"...":0,"segments":[2,1]}`},
		{"PATCH of another field", "PATCH", its, `[{"op":"replace","path":"/title","value":"t"}]`, 200, `{"...":0,"segments":[2,1]}`},
		{"set", "POST", allSegments + "/strategies", set(plain, "[1]"), 201, set(plain, "[1]")},
		{"the strategy has it", "GET", in("g", "development") + "/strategies/" + plain, "", 200, `{"...":0,"segments":[1]}`},
		{"set an unknown segment", "POST", allSegments + "/strategies", set(plain, "[1,99]"), 400, invalid("/segmentIds/1")},
		{"set of an unknown strategy", "POST", allSegments + "/strategies", set("nosuch", "[1]"), 400, invalid("/strategyId")},
		{"set in an unknown environment", "POST", allSegments + "/strategies", strings.Replace(set(plain, "[1]"), "development", "nosuch", 1), 400, invalid("/environmentId")},
		{"set in an unknown project", "POST", allSegments + "/strategies", strings.Replace(set(plain, "[1]"), "default", "nosuch", 1), 400, invalid("/projectId")},
		{"set null", "POST", allSegments + "/strategies", set(plain, "null"), 400, invalid("/segmentIds")},
		{"give it to a project while others use it", "PUT", allSegments + "/1", `{"name":"one","project":"shop","constraints":[]}`, 409, inUse(`flag "f", flag "g"`)},
		{"in use", "DELETE", allSegments + "/1", "", 409, inUse(`flag "f", flag "g"`)},
		{"set no segments", "POST", allSegments + "/strategies", set(plain, "[]"), 201, set(plain, "[]")},
		{"archive the flag", "DELETE", features + "/f", "", 202, ""},
		{"lists leave out archived flags", "GET", allSegments + "/1/strategies", "", 200, `{"strategies":[],"defaultStrategies":[],"changeRequestStrategies":[]}`},
		{"an archived flag still uses it", "DELETE", allSegments + "/1", "", 409, inUse("archived")},
		{"revived", "POST", "/api/admin/archive/revive/f", "", 200, anything},
		{"the strategy has its segments again", "GET", its, "", 200, `{"...":0,"segments":[2,1]}`},
		{"cloned", "POST", features + "/f/clone", `{"name":"clone"}`, 201, anything},
		{"removed", "DELETE", its, "", 200, ""},
		{"the clone uses it", "DELETE", allSegments + "/1", "", 409, inUse(`flag "clone"`)},
	})
}

// TestSegmentsOfDefaultStrategies checks the same rules for default strategies, which are added to flags when they are enabled.
func TestSegmentsOfDefaultStrategies(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	one := s.segment(t, `{"name":"one","constraints":[]}`)
	s.create(t, "f", "g")
	const defaultStrategy = project + "/environments/development/default-strategy"
	s.run(t, []call{
		{"an unknown segment", "POST", defaultStrategy, `{"name":"default","segments":[99]}`, 400, invalid("/segments/0")},
		{"set", "POST", defaultStrategy, `{"name":"default","segments":[` + one + `]}`, 200, `{"...":0,"segments":[1]}`},
		{"in use", "DELETE", allSegments + "/1", "", 409, inUse(`default strategy of project "default" in environment "development"`)},
		{"enable the flag", "POST", in("f", "development") + "/on", "", 200, anything},
		{"the flag has the segment", "GET", in("f", "development") + "/strategies", "", 200, `[{"...":0,"segments":[1]}]`},
		{"an unknown segment with an environment", "POST", project + "/environments", `{"environment":"default","defaultStrategy":{"name":"default","segments":[99]}}`, 400, invalid("/defaultStrategy/segments/0")},
		{"replace the default strategy", "POST", defaultStrategy, `{"name":"default"}`, 200, anything},
		{"still in use", "DELETE", allSegments + "/1", "", 409, inUse(`flag "f"`)},
	})
}

// TestSegmentBudget checks that only writes with new segments need one more call of DynamoDB.
func TestSegmentBudget(t *testing.T) {
	t.Parallel()
	count := &counter{}
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	s.create(t, "f")
	s.segment(t, `{"name":"one","constraints":[]}`)
	strategies := in("f", "development") + "/strategies"
	id := s.strategy(t, "f", `{"name":"default"}`)
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
		{"enable", "POST", in("f", "development") + "/on", "", 2},
		{"clone", "POST", features + "/f/clone", `{"name":"g"}`, 2},
		{"archive", "DELETE", features + "/f", "", 2},
	} {
		if got := count.during(func() { s.must(t, tt.method, tt.path, tt.body) }); len(got) != tt.want {
			t.Errorf("%s: %d calls %v, want %d", tt.name, len(got), got, tt.want)
		}
	}
}

// TestSegmentDeletionInParallel deletes segments while they are added to strategies. No flag may use a deleted segment, and
// rejected requests get the right status.
func TestSegmentDeletionInParallel(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	const rounds, flagsEach = 6, 3
	for round := range rounds {
		id := s.segment(t, fmt.Sprintf(`{"name":"s%d","constraints":[]}`, round))
		for i := range flagsEach {
			s.create(t, fmt.Sprintf("f-%d-%d", round, i))
		}
		got := s.parallel(t, flagsEach+1, func(i int) call {
			if i == flagsEach {
				return call{method: "DELETE", path: allSegments + "/" + id}
			}
			return call{method: "POST", path: in(fmt.Sprintf("f-%d-%d", round, i), "development") + "/strategies", body: `{"name":"default","segments":[` + id + `]}`}
		})
		there := s.do(t, "GET", allSegments+"/"+id, "").status == 200
		users := 0
		for i := range flagsEach {
			var list []struct{ Segments []int64 }
			if err := json.Unmarshal([]byte(s.must(t, "GET", in(fmt.Sprintf("f-%d-%d", round, i), "development")+"/strategies", "").body), &list); err != nil {
				t.Fatal(err)
			}
			users += len(list)
		}
		switch {
		case !there && users > 0:
			t.Errorf("round %d: %d flags use a deleted segment; responses %v", round, users, got)
		case there && (got[409] != 1 || got[200] != users || users == 0):
			t.Errorf("round %d: %d flags use the segment; responses %v, want a 409 for the deletion", round, users, got)
		case !there && (got[204] != 1 || got[400] != flagsEach):
			t.Errorf("round %d: responses %v, want a 400 for every strategy", round, got)
		}
	}
}

// TestSegmentPermissions checks that members with the project permission can change segments of the project, and no others.
func TestSegmentPermissions(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	s.must(t, "POST", "/api/admin/projects", aShop)
	everywhere := s.segment(t, `{"name":"everywhere","constraints":[]}`)
	ours := s.segment(t, `{"name":"ours","project":"shop","constraints":[]}`)
	id, header := s.person(t, access.RoleViewer)
	_, viewer := s.person(t, access.RoleViewer)
	s.must(t, "POST", fmt.Sprintf("/api/admin/projects/shop/users/%d/roles/4", id), "")
	for _, tt := range []struct {
		name, who, method, path, body string
		status                        int
	}{
		{"a viewer reads", viewer, "GET", allSegments, "", 200},
		{"a viewer is rejected before the body is read", viewer, "POST", allSegments, `{`, 403},
		{"an owner creates one in the project", header, "POST", allSegments, `{"name":"new","project":"shop","constraints":[]}`, 201},
		{"an owner creates one for all projects", header, "POST", allSegments, `{"name":"more","constraints":[]}`, 403},
		{"an owner creates one in another project", header, "POST", allSegments, `{"name":"more","project":"default","constraints":[]}`, 403},
		{"an owner creates one in an unknown project", header, "POST", allSegments, `{"name":"more","project":"nosuch","constraints":[]}`, 403},
		{"an owner changes one of the project", header, "PUT", allSegments + "/" + ours, `{"name":"ours","project":"shop","constraints":` + someUsers + `}`, 204},
		{"an owner gives it to all projects", header, "PUT", allSegments + "/" + ours, `{"name":"ours","constraints":[]}`, 403},
		{"an owner takes one of all projects", header, "PUT", allSegments + "/" + everywhere, `{"name":"mine","project":"shop","constraints":[]}`, 403},
		{"an owner deletes one of all projects", header, "DELETE", allSegments + "/" + everywhere, "", 403},
		{"an owner deletes one of the project", header, "DELETE", allSegments + "/" + ours, "", 204},
		{"a token for SDKs", "Authorization: " + dynamotest.ClientToken, "GET", allSegments, "", 403},
	} {
		s.check(t, call{tt.name, tt.method, tt.path, tt.body, tt.status, anything}, tt.who)
	}
}
