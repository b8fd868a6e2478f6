package admin_test

import (
	"fmt"
	"strings"
	"testing"

	"guidon/pkg/apitest"
)

// TestStrictJSON sends bodies that are not valid JSON, or would lose data when decoded, to every operation that takes a body.
// Each is a 400, and nothing changes.
func TestStrictJSON(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t, readOnce)
	on := newSubject(t, s)
	listed := s.Do(t, "GET", apitest.Features, "").Body
	nested := func(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }
	tests := []struct{ name, body, part string }{
		{"an empty body", "", "required"},
		{"white space", " \n", "required"},
		{"a form feed", "\f", "not valid JSON"},
		{"not JSON", "name=x", "not valid JSON"},
		{"cut off", `{"name":"x"`, "not valid JSON"},
		{"a trailing comma", `{"name":"x",}`, "not valid JSON"},
		{"a comment", `{"name":"x"} // why`, "not valid JSON"},
		{"single quotes", `{'name':'x'}`, "not valid JSON"},
		{"NaN", `{"name":"x","weight":NaN}`, "not valid JSON"},
		{"a raw control character", "{\"name\":\"a\tb\"}", "not valid JSON"},
		{"a duplicate key", `{"name":"x","name":"x"}`, "twice"},
		{"a duplicate key that is escaped", `{"name":"x","n\u0061me":"x"}`, "twice"},
		{"a duplicate key below an unknown one", `[{"nosuch":[{"a":1,"a":2}]}]`, "twice"},
		{"invalid UTF-8", "{\"name\":\"x\",\"description\":\"\xff\"}", "not valid JSON"},
		{"invalid UTF-8 in a key", "{\"\xc3\x28\":1}", "not valid JSON"},
		{"an overlong sequence", "{\"description\":\"\xc0\xaf\"}", "not valid JSON"},
		{"a lone surrogate", `{"name":"x","description":"\ud800"}`, "not valid JSON"},
		{"half a pair of surrogates", `{"description":"\ud800x"}`, "not valid JSON"},
		{"a lone low surrogate", `{"name":"\udc00"}`, "not valid JSON"},
		{"a second document", `{"name":"x"}{}`, "not valid JSON"},
		{"a second document on another line", "[]\n[]", "not valid JSON"},
		{"nested 101 deep", nested(101), "100 levels"},
		{"nested 101 deep in an unknown field", `{"nosuch":` + nested(100) + `}`, "100 levels"},
		{"nested very deep", strings.Repeat("[", 50_000), "100 levels"},
		{"a number too large for a float", `{"nosuch":1e400}`, "rounded"},
		{"a negative number too large for a float", `[-1e400]`, "rounded"},
		{"an integer of 2^53+1", `{"nosuch":9007199254740993}`, "rounded"},
		{"the negative integer", `{"nosuch":-9007199254740993}`, "rounded"},
		{"an integer of 20 digits", `{"nosuch":100000000000000000000}`, "rounded"},
		{"a large number with an exponent", `{"sortOrder":1e20}`, "rounded"},
	}
	for _, route := range withBody(t) {
		for _, tt := range tests {
			if (strings.HasSuffix(route, "/lifecycle/complete") || route == "POST "+anApplication) && strings.Trim(tt.body, " \n") == "" {
				continue // its body is optional
			}
			c := on.call(route)
			c.Name, c.Body, c.Status, c.Want = tt.name, tt.body, 400, apitest.Malformed(tt.part)
			s.Check(t, c)
		}
		c := on.call(route)
		c.Name, c.Body, c.Status, c.Want = "null", `null`, 400, apitest.Invalid("")
		s.Check(t, c)
		c.Name, c.Body = "a text", `"x"`
		s.Check(t, c)
		largest := 1 // MiB
		if strings.HasSuffix(route, "/features-batch/validate") || strings.HasSuffix(route, "/features-batch/import") {
			largest = 4
		}
		c.Name, c.Body, c.Status, c.Want = "too large", `"`+strings.Repeat("x", largest<<20-1)+`"`, 413, apitest.Failure("PayloadTooLargeError", fmt.Sprintf("%d MiB", largest))
		s.Check(t, c)
		c.Name, c.Body, c.Status, c.Want = "the largest", `"`+strings.Repeat("x", largest<<20-2)+`"`, 400, apitest.Invalid("")
		s.Check(t, c)
	}
	s.Check(t, apitest.Call{"a list instead of an object", "POST", apitest.Features, `[]`, 400, apitest.Faulty("the body must be an object, not a list")})
	if now := s.Do(t, "GET", apitest.Features, "").Body; now != listed {
		t.Errorf("flags are now %s, want %s", now, listed)
	}
	if got := s.Events(t, on.flag); len(got) != 4 {
		t.Errorf("events %q, want the 4 of its creation", got)
	}
}

// TestValidJSON checks bodies that are just within the bounds.
func TestValidJSON(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Run(t, []apitest.Call{
		{"99 levels below the body", "POST", apitest.Features, `{"name":"a","nosuch":` + strings.Repeat("[", 99) + strings.Repeat("]", 99) + `}`, 201, apitest.Created("a")},
		{"a key in another case is another key", "POST", apitest.Features, `{"name":"b","Name":"c","Type":5,"DESCRIPTION":{}}`, 201, apitest.Created("b")},
		{"a key in another case does not replace a required one", "POST", apitest.Features, `{"Name":"c"}`, 400, apitest.Invalid("/name")},
		{"a pair of surrogates", "POST", apitest.Features, `{"name":"d","description":"\ud83d\ude00"}`, 201, apitest.Created("d", `"description":"😀"`)},
		{"white space around it", "POST", apitest.Features, " \r\n\t{ \"name\" : \"e\" } \n", 201, apitest.Created("e")},
		{"an escaped name", "POST", apitest.Features, `{"n\u0061me":"\u0066"}`, 201, apitest.Created("f")},
		{"the largest integer", "POST", apitest.In("a", "development") + "/strategies", `{"name":"default","sortOrder":9007199254740991}`, 200, `{"...":0,"sortOrder":9007199254740991}`},
		{"the next strategy does not exceed it", "POST", apitest.In("a", "development") + "/strategies", `{"name":"default"}`, 200, `{"...":0,"sortOrder":9007199254740991}`},
		{"the smallest integer", "POST", apitest.In("a", "development") + "/strategies", `{"name":"default","sortOrder":-9007199254740991}`, 200, `{"...":0,"sortOrder":-9007199254740991}`},
		{"a number with an exponent", "POST", apitest.In("a", "development") + "/strategies", `{"name":"default","sortOrder":-1.5e2}`, 200, `{"...":0,"sortOrder":-150}`},
		{"a tiny number", "POST", apitest.In("a", "development") + "/strategies", `{"name":"default","sortOrder":1e-400}`, 200, `{"...":0,"sortOrder":0}`},
	})
	// All these strategies can be patched, although a patched document is checked as strictly as a body.
	for _, one := range []string{"/title", "/parameters/x"} {
		checkEachStrategy(t, s, "a", `[{"op":"add","path":"`+one+`","value":"y"}]`)
	}
}

// checkEachStrategy patches every strategy of a flag in development.
func checkEachStrategy(t *testing.T, s *apitest.Server, flag, patch string) {
	t.Helper()
	list := apitest.In(flag, "development") + "/strategies"
	for _, part := range strings.Split(s.Must(t, "GET", list, "").Body, `{"id":"`)[1:] {
		id, _, _ := strings.Cut(part, `"`)
		s.Check(t, apitest.Call{"patched", "PATCH", list + "/" + id, patch, 200, apitest.Anything})
	}
}

// TestWrongTypes replaces the @ in each body with values of wrong types. The details of the error name the field.
func TestWrongTypes(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t, readOnce)
	on := newSubject(t, s)
	var (
		noText      = []string{`5`, `true`, `null`, `[]`, `{}`}
		noTextOrNot = []string{`5`, `true`, `[]`, `{}`}
		noBool      = []string{`5`, `"true"`, `null`, `[]`, `{}`}
		noBoolOrNot = []string{`5`, `"true"`, `[]`, `{}`}
		noNumber    = []string{`"5"`, `true`, `null`, `[]`, `{}`}
		noWhole     = []string{`"5"`, `true`, `null`, `[]`, `{}`, `1.5`}
		noList      = []string{`5`, `"x"`, `true`, `null`, `{}`}
		noObject    = []string{`5`, `"x"`, `true`, `null`, `[]`}
	)
	const (
		ofProject = "POST /api/admin/projects"
		attach    = "POST /api/admin/projects/{projectId}/environments"
		ofStage   = "POST /api/admin/environments"
		create    = "POST /api/admin/projects/{projectId}/features"
	)
	put, patch, clone := ofFlag("PUT", ""), ofFlag("PATCH", ""), ofFlag("POST", "/clone")
	add, replace := inEnvironment("POST", "/strategies"), inEnvironment("PUT", "/strategies/{strategyId}")
	order, change := inEnvironment("POST", "/strategies/set-sort-order"), inEnvironment("PATCH", "/strategies/{strategyId}")
	inOne, batch := inEnvironment("PUT", "/variants"), ofFlag("PUT", "/variants-batch")
	tests := []struct {
		routes     []string
		path, body string
		wrong      []string
	}{
		{[]string{ofProject}, "/id", `{"id":@}`, noText},
		{[]string{ofProject}, "/name", `{"id":"x","name":@}`, noText},
		{[]string{ofProject}, "/description", `{"id":"x","description":@}`, noTextOrNot},
		{[]string{ofProject}, "/environments", `{"id":"x","environments":@}`, noList},
		{[]string{ofProject}, "/environments/1", `{"id":"x","environments":["development",@]}`, noText},
		{[]string{attach}, "/environment", `{"environment":@}`, noText},
		{[]string{ofStage}, "/name", `{"name":@,"type":"test"}`, noText},
		{[]string{ofStage}, "/type", `{"name":"x","type":@}`, noText},
		{[]string{ofStage}, "/enabled", `{"name":"x","type":"test","enabled":@}`, noBool},
		{[]string{ofStage}, "/sortOrder", `{"name":"x","type":"test","sortOrder":@}`, noWhole},
		{[]string{create, put, clone}, "/name", `{"name":@}`, noText},
		{[]string{create, put}, "/type", `{"name":"x","type":@}`, noText},
		{[]string{create, put}, "/description", `{"name":"x","description":@}`, noTextOrNot},
		{[]string{create, put}, "/impressionData", `{"name":"x","impressionData":@}`, noBool},
		{[]string{put}, "/stale", `{"stale":@}`, noBool},
		{[]string{clone}, "/replaceGroupId", `{"name":"x","replaceGroupId":@}`, noBool},
		{[]string{patch, change, inEnvironment("PATCH", "/variants"), ofFlag("PATCH", "/variants")}, "/0", `[@]`, noObject},
		{[]string{patch, change, inEnvironment("PATCH", "/variants"), ofFlag("PATCH", "/variants")}, "/0/op", `[{"op":@,"path":"/name"}]`, noText},
		{[]string{patch, change, inEnvironment("PATCH", "/variants"), ofFlag("PATCH", "/variants")}, "/0/path", `[{"op":"remove","path":@}]`, noText},
		{[]string{patch, inEnvironment("PATCH", "/variants"), ofFlag("PATCH", "/variants")}, "/0/from", `[{"op":"copy","path":"/description","from":@}]`, noText},
		{[]string{change}, "/0/from", `[{"op":"copy","path":"/title","from":@}]`, noText},
		{[]string{add, replace}, "/name", `{"name":@}`, noText},
		{[]string{add, replace}, "/title", `{"name":"default","title":@}`, noTextOrNot},
		{[]string{add, replace}, "/disabled", `{"name":"default","disabled":@}`, noBoolOrNot},
		{[]string{add, replace}, "/sortOrder", `{"name":"default","sortOrder":@}`, noNumber},
		{[]string{add, replace}, "/segments", `{"name":"default","segments":@}`, noList},
		{[]string{add, replace}, "/segments/0", `{"name":"default","segments":[@]}`, noWhole},
		{[]string{add, replace}, "/parameters", `{"name":"default","parameters":@}`, noObject},
		{[]string{add, replace}, "/parameters/x~1y", `{"name":"default","parameters":{"x/y":@}}`, []string{`[]`, `{}`}},
		{[]string{add, replace}, "/constraints", `{"name":"default","constraints":@}`, noList},
		{[]string{add, replace}, "/constraints/0", `{"name":"default","constraints":[@]}`, noObject},
		{[]string{add, replace}, "/constraints/0/contextName", `{"name":"default","constraints":[{"contextName":@,"operator":"IN","values":["x"]}]}`, noText},
		{[]string{add, replace}, "/constraints/0/operator", `{"name":"default","constraints":[{"contextName":"c","operator":@,"values":["x"]}]}`, noText},
		{[]string{add, replace}, "/constraints/0/values", `{"name":"default","constraints":[{"contextName":"c","operator":"IN","values":@}]}`, noList},
		{[]string{add, replace}, "/constraints/0/values/1", `{"name":"default","constraints":[{"contextName":"c","operator":"IN","values":["x",@]}]}`, noText},
		{[]string{add, replace}, "/constraints/0/value", `{"name":"default","constraints":[{"contextName":"c","operator":"NUM_EQ","value":@}]}`, noText},
		{[]string{add, replace}, "/constraints/0/inverted", `{"name":"default","constraints":[{"contextName":"c","operator":"IN","values":["x"],"inverted":@}]}`, noBool},
		{[]string{add, replace}, "/constraints/0/caseInsensitive", `{"name":"default","constraints":[{"contextName":"c","operator":"IN","values":["x"],"caseInsensitive":@}]}`, noBool},
		{[]string{add, replace, batch}, "/variants", `{"name":"default","environments":["production"],"variants":@}`, noList},
		{[]string{batch}, "/environments", `{"environments":@,"variants":[]}`, noList},
		{[]string{batch}, "/environments/0", `{"environments":[@],"variants":[]}`, noText},
		{[]string{order}, "/0", `[@]`, noObject},
		{[]string{order}, "/0/id", `[{"id":@,"sortOrder":1}]`, noText},
		{[]string{order}, "/0/sortOrder", `[{"id":"x","sortOrder":@}]`, noNumber},
	}
	variant := func(member string) string { return `{"name":"default","variants":[{` + member + `}]}` }
	for path, in := range map[string]struct {
		member string
		wrong  []string
	}{
		"/name": {`"name":@,"weight":1`, noText}, "/weight": {`"name":"v","weight":@`, noNumber},
		"/weightType": {`"name":"v","weight":1,"weightType":@`, noText}, "/stickiness": {`"name":"v","weight":1,"stickiness":@`, noText},
		"/payload":       {`"name":"v","weight":1,"payload":@`, noObject},
		"/payload/type":  {`"name":"v","weight":1,"payload":{"type":@,"value":"x"}`, noText},
		"/payload/value": {`"name":"v","weight":1,"payload":{"type":"string","value":@}`, noText},
		"/overrides":     {`"name":"v","weight":1,"overrides":@`, noList}, "/overrides/0": {`"name":"v","weight":1,"overrides":[@]`, noObject},
		"/overrides/0/contextName": {`"name":"v","weight":1,"overrides":[{"contextName":@,"values":[]}]`, noText},
		"/overrides/0/values":      {`"name":"v","weight":1,"overrides":[{"contextName":"c","values":@}]`, noList},
		"/overrides/0/values/0":    {`"name":"v","weight":1,"overrides":[{"contextName":"c","values":[@]}]`, noText},
	} {
		tests = append(tests, struct {
			routes     []string
			path, body string
			wrong      []string
		}{[]string{add, replace, batch}, "/variants/0" + path, variant(in.member), in.wrong}, struct {
			routes     []string
			path, body string
			wrong      []string
		}{[]string{inOne, ofFlag("PUT", "/variants")}, "/0" + path, "[{" + in.member + "}]", in.wrong})
	}
	var calls []apitest.Call
	for _, tt := range tests {
		for _, route := range tt.routes {
			for _, value := range tt.wrong {
				c := on.call(route)
				c.Name, c.Body = fmt.Sprintf("%s %s %s", route, tt.path, value), strings.Replace(tt.body, "@", value, 1)
				c.Status, c.Want = 400, apitest.Invalid(tt.path)
				calls = append(calls, c)
			}
		}
	}
	s.Unchanged(t, on.flag, calls)
}
