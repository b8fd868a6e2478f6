package segments_test

import (
	"fmt"
	"net/http"
	"testing"

	"guidon/pkg/apitest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

func TestContextFields(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	one := apitest.ContextFields + "/country"
	s.Run(t, []apitest.Call{
		{"the fields of a new service", "GET", apitest.ContextFields, "", 200, `[{"...":0,"name":"appName","sortOrder":2},{"...":0,"name":"currentTime","sortOrder":3},
			{"...":0,"name":"environment","sortOrder":0},{"...":0,"name":"sessionId","sortOrder":4,"stickiness":true},
			{"...":0,"name":"userId","description":"Id of the user","sortOrder":1,"stickiness":false,"legalValues":[],"usedInFeatures":0,"usedInProjects":0}]`},
		{"create a field", "POST", apitest.ContextFields, `{"name":"country","stickiness":true,"legalValues":[{"value":"NO","description":"Norway"},{"value":"SE"}]}`, 201,
			`{"...":0,"name":"country","description":null,"stickiness":true,"sortOrder":10,"legalValues":[{"value":"NO","description":"Norway"},{"value":"SE"}]}`},
		{"a taken name", "POST", apitest.ContextFields, `{"name":"country"}`, 409, apitest.Failure("NameExistsError", `"country"`)},
		{"no name", "POST", apitest.ContextFields, `{}`, 400, apitest.Invalid("/name")},
		{"an invalid name", "POST", apitest.ContextFields, `{"name":"a b/c"}`, 400, apitest.Invalid("/name")},
		{"a duplicate legal value", "POST", apitest.ContextFields, `{"name":"x","legalValues":[{"value":"a"},{"value":"a"}]}`, 400, apitest.Invalid("/legalValues/1/value")},
		{"validate a free name", "POST", apitest.ContextFields + "/validate", `{"name":"free"}`, 200, ""},
		{"validate a taken name", "POST", apitest.ContextFields + "/validate", `{"name":"userId"}`, 409, apitest.Failure("NameExistsError", `"userId"`)},
		{"read a field", "GET", one, "", 200, `{"...":0,"name":"country","stickiness":true}`},
		{"add a legal value", "POST", one + "/legal-values", `{"value":"a/b","description":"d"}`, 200, ""},
		{"replace a legal value", "POST", one + "/legal-values", `{"value":"NO"}`, 200, ""},
		{"value is missing", "POST", one + "/legal-values", `{}`, 400, apitest.Invalid("/value")},
		{"remove a legal value", "DELETE", one + "/legal-values/SE", "", 200, ""},
		{"remove an unknown legal value", "DELETE", one + "/legal-values/nosuch", "", 200, ""},
		{"read the legal values", "GET", one, "", 200, `{"...":0,"legalValues":[{"value":"a/b","description":"d"},{"value":"NO"}]}`},
		{"remove a legal value with a slash", "DELETE", one + "/legal-values/a%2Fb", "", 200, ""},
		{"update the description", "PUT", one, `{"description":"where"}`, 200, ""},
		{"omitted fields are reset, as in Unleash", "GET", one, "", 200, `{"...":0,"description":"where","stickiness":false,"sortOrder":10,"legalValues":[]}`},
		{"an update with another name", "PUT", one, `{"name":"other"}`, 400, apitest.Invalid("/name")},
		{"add a constraint on it", "POST", apitest.In("f", "development") + "/strategies", `{"name":"default","constraints":[{"contextName":"country","operator":"IN","values":["NO"]}]}`, 200, apitest.Anything},
		{"list the strategies that use it", "GET", one + "/strategies", "", 200, `{"strategies":[{"...":0,"featureName":"f","projectId":"default","environment":"development","strategyName":"default"}],"defaultStrategies":[]}`},
		{"count its uses", "GET", apitest.ContextFields, "", 200, `[{"...":0},{"...":0,"name":"country","usedInFeatures":1,"usedInProjects":1},{"...":0},{"...":0},{"...":0},{"...":0,"usedInFeatures":0}]`},
		{"delete a field that a flag uses", "DELETE", one, "", 409, inUse(`flag "f"`)},
		{"archive the flag", "DELETE", apitest.Features + "/f", "", 202, ""},
		{"create a segment that uses it", "POST", apitest.Segments, `{"name":"here","constraints":[{"contextName":"country","operator":"IN","values":["NO"]}]}`, 201, apitest.Anything},
		{"delete a field that a segment uses", "DELETE", one, "", 409, inUse(`segment "here"`)},
		{"delete the segment", "DELETE", apitest.Segments + "/1", "", 204, ""},
		{"delete the field", "DELETE", one, "", 200, ""},
		{"delete it again", "DELETE", one, "", 404, apitest.NotFound(`"country"`)},
		{"delete a standard field", "DELETE", apitest.ContextFields + "/appName", "", 200, ""},
		{"constraints may name any field", "POST", "/api/admin/constraints/validate", `{"contextName":"country","operator":"IN","values":["1"]}`, 204, ""},
	})
	want := []flags.EventType{
		flags.ContextFieldCreated, flags.ContextFieldCreated, flags.ContextFieldUpdated, flags.ContextFieldUpdated, flags.ContextFieldUpdated,
		flags.ContextFieldUpdated, flags.ContextFieldUpdated, flags.ContextFieldDeleted, flags.ContextFieldDeleted,
	}
	if got := s.EventsOf(t, &flags.ContextFields{}); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("events %v, want %v", got, want)
	}
}

// TestContextFieldLimit checks the limit under parallel requests.
func TestContextFieldLimit(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t, func(c *httpapi.Config, _ *http.RoundTripper) { c.Limits.ContextFields = 8 })
	s.WantParallel(t, map[int]int{201: 3, 400: 3}, 6, func(i int) apitest.Call {
		return apitest.Call{Method: "POST", Path: apitest.ContextFields, Body: fmt.Sprintf(`{"name":"field-%d"}`, i)}
	})
}

// TestContextFieldInSegments counts and lists the flags and default strategies that use a context field by a segment.
func TestContextFieldInSegments(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	segment := s.AddSegment(t, `{"name":"late","constraints":[{"contextName":"currentTime","operator":"DATE_AFTER","value":"2026-01-01T00:00:00Z"}]}`)
	uses := func(features, projects int) apitest.Call {
		return apitest.Call{"count", "GET", apitest.ContextFields, "", 200, fmt.Sprintf(`[{"...":0,"name":"appName","usedInFeatures":0,"usedInProjects":0},
			{"...":0,"name":"currentTime","usedInFeatures":%d,"usedInProjects":%d},{"...":0},{"...":0},{"...":0}]`, features, projects)}
	}
	s.Check(t, uses(0, 0))
	s.Must(t, "POST", apitest.Project+"/environments/production/default-strategy", `{"name":"default","segments":[`+segment+`]}`)
	s.Check(t, uses(0, 1))
	s.Create(t, "f", "g")
	s.Must(t, "POST", apitest.In("f", "development")+"/strategies", `{"name":"default","segments":[`+segment+`],"constraints":[{"contextName":"currentTime","operator":"DATE_AFTER","value":"2026-01-01T00:00:00Z"}]}`)
	s.Must(t, "POST", apitest.In("g", "development")+"/strategies", `{"name":"default","segments":[`+segment+`]}`)
	s.Check(t, uses(2, 1))
	const list = `{"strategies":[{"...":0,"featureName":"f"},{"...":0,"featureName":"g"}],"defaultStrategies":[{"...":0,"environment":"production"}]}`
	s.Check(t, apitest.Call{"list", "GET", apitest.ContextFields + "/currentTime/strategies", "", 200, list})
	s.Check(t, apitest.Call{"list another one", "GET", apitest.ContextFields + "/appName/strategies", "", 200, `{"strategies":[],"defaultStrategies":[]}`})
	s.Must(t, "DELETE", apitest.Features+"/g", "")
	s.Check(t, uses(1, 1))
	s.AddSegment(t, `{"name":"near","constraints":[{"contextName":"town","operator":"IN","values":["Oslo"]}]}`)
	s.Must(t, "POST", apitest.In("f", "development")+"/strategies", `{"name":"default","constraints":[{"contextName":"country","operator":"IN","values":["NO"]},{"contextName":"userId","operator":"IN","values":["1"]}]}`)
	s.Check(t, apitest.Call{"undefined fields, too", "GET", apitest.ContextFields + "?undefined=true", "", 200, `[{"...":0},{"...":0},{"...":0},{"...":0},{"...":0},
		{"...":0,"name":"country","usedInFeatures":1,"usedInProjects":1,"undefined":true},{"...":0,"name":"town","usedInFeatures":0,"undefined":true}]`})
	s.Check(t, apitest.Call{"only those that are defined", "GET", apitest.ContextFields, "", 200, `[{"...":0},{"...":0},{"...":0},{"...":0},{"...":0,"name":"userId"}]`})
}
