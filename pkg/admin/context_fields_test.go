package admin_test

import (
	"fmt"
	"net/http"
	"testing"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

func TestContextFields(t *testing.T) {
	s := serve(t)
	s.create(t, "f")
	one := contextFields + "/country"
	s.run(t, []call{
		{"from the start", "GET", contextFields, "", 200, `[{"...":0,"name":"appName","sortOrder":2},{"...":0,"name":"currentTime","sortOrder":3},
			{"...":0,"name":"environment","sortOrder":0},{"...":0,"name":"sessionId","sortOrder":4,"stickiness":true},
			{"...":0,"name":"userId","description":"Allows you to constrain on userId","sortOrder":1,"stickiness":false,"legalValues":[],"usedInFeatures":0,"usedInProjects":0}]`},
		{"made", "POST", contextFields, `{"name":"country","stickiness":true,"legalValues":[{"value":"NO","description":"Norway"},{"value":"SE"}]}`, 201,
			`{"...":0,"name":"country","description":null,"stickiness":true,"sortOrder":10,"legalValues":[{"value":"NO","description":"Norway"},{"value":"SE"}]}`},
		{"a taken name", "POST", contextFields, `{"name":"country"}`, 409, failure("NameExistsError", `"country"`)},
		{"no name", "POST", contextFields, `{}`, 400, invalid("/name")},
		{"no such name", "POST", contextFields, `{"name":"a b/c"}`, 400, invalid("/name")},
		{"a value twice", "POST", contextFields, `{"name":"x","legalValues":[{"value":"a"},{"value":"a"}]}`, 400, invalid("/legalValues/1/value")},
		{"validate a free name", "POST", contextFields + "/validate", `{"name":"free"}`, 200, ""},
		{"a taken one", "POST", contextFields + "/validate", `{"name":"userId"}`, 409, failure("NameExistsError", `"userId"`)},
		{"read", "GET", one, "", 200, `{"...":0,"name":"country","stickiness":true}`},
		{"an unknown one", "GET", contextFields + "/nosuch", "", 404, notFound(`"nosuch"`)},
		{"a value more", "POST", one + "/legal-values", `{"value":"a/b","description":"d"}`, 200, ""},
		{"described anew", "POST", one + "/legal-values", `{"value":"NO"}`, 200, ""},
		{"no value", "POST", one + "/legal-values", `{}`, 400, invalid("/value")},
		{"a value less", "DELETE", one + "/legal-values/SE", "", 200, ""},
		{"one that is not there", "DELETE", one + "/legal-values/nosuch", "", 200, ""},
		{"these are left", "GET", one, "", 200, `{"...":0,"legalValues":[{"value":"a/b","description":"d"},{"value":"NO"}]}`},
		{"a slash in it", "DELETE", one + "/legal-values/a%2Fb", "", 200, ""},
		{"changed", "PUT", one, `{"description":"where"}`, 200, ""},
		{"as Unleash does", "GET", one, "", 200, `{"...":0,"description":"where","stickiness":false,"sortOrder":10,"legalValues":[]}`},
		{"renamed", "PUT", one, `{"name":"other"}`, 400, invalid("/name")},
		{"an unknown one changed", "PUT", contextFields + "/nosuch", `{}`, 404, notFound(`"nosuch"`)},
		{"a constraint on it", "POST", in("f", "development") + "/strategies", `{"name":"default","constraints":[{"contextName":"country","operator":"IN","values":["NO"]}]}`, 200, anything},
		{"is listed", "GET", one + "/strategies", "", 200, `{"strategies":[{"...":0,"featureName":"f","projectId":"default","environment":"development","strategyName":"default"}],"defaultStrategies":[]}`},
		{"and counted", "GET", contextFields, "", 200, `[{"...":0},{"...":0,"name":"country","usedInFeatures":1,"usedInProjects":1},{"...":0},{"...":0},{"...":0},{"...":0,"usedInFeatures":0}]`},
		{"in use", "DELETE", one, "", 409, inUse(`flag "f"`)},
		{"by an archived flag", "DELETE", features + "/f", "", 202, ""},
		{"and a segment", "POST", allSegments, `{"name":"here","constraints":[{"contextName":"country","operator":"IN","values":["NO"]}]}`, 201, anything},
		{"in use by that", "DELETE", one, "", 409, inUse(`segment "here"`)},
		{"which goes", "DELETE", allSegments + "/1", "", 204, ""},
		{"deleted", "DELETE", one, "", 200, ""},
		{"deleted again", "DELETE", one, "", 404, notFound(`"country"`)},
		{"a standard one", "DELETE", contextFields + "/appName", "", 200, ""},
		{"constraints name any", "POST", "/api/admin/constraints/validate", `{"contextName":"country","operator":"IN","values":["1"]}`, 204, ""},
	})
	want := []flags.EventType{
		flags.ContextFieldCreated, flags.ContextFieldCreated, flags.ContextFieldUpdated, flags.ContextFieldUpdated, flags.ContextFieldUpdated,
		flags.ContextFieldUpdated, flags.ContextFieldUpdated, flags.ContextFieldDeleted, flags.ContextFieldDeleted,
	}
	if got := s.eventsOf(t, &flags.ContextFields{}); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("events %v, want %v", got, want)
	}
}

// TestContextFieldLimit: the limit holds under parallel calls.
func TestContextFieldLimit(t *testing.T) {
	s := serve(t, func(c *httpapi.Config, _ *http.RoundTripper) { c.Limits.ContextFields = 8 })
	got := s.parallel(t, 6, func(i int) call {
		return call{method: "POST", path: contextFields, body: fmt.Sprintf(`{"name":"field-%d"}`, i)}
	})
	wantStatuses(t, got, map[int]int{201: 3, 400: 3})
}
