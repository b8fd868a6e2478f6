package features_test

import (
	"fmt"
	"strings"
	"testing"

	"guidon/pkg/apitest"
)

// variants is a body with variants that have these payloads, each a type and a value.
func variants(payloads ...string) string {
	var list []string
	for i, p := range payloads {
		kind, value, _ := strings.Cut(p, ":")
		list = append(list, fmt.Sprintf(`{"name":"v%d","weight":0,"weightType":"variable","stickiness":"default","payload":{"type":%q,"value":%q}}`, i, kind, value))
	}
	return "[" + strings.Join(list, ",") + "]"
}

// TestValueType sets the type of a flag's values in every way.
func TestValueType(t *testing.T) {
	t.Parallel()
	const flag = apitest.Features + "/f"
	s := apitest.Serve(t)
	typed := func(fields string) string { return `{"...":0,"name":"f",` + fields + `}` }
	const object = `"valueType":"object","defaultValue":{"size":1},"valueSchema":{"required":["size"]}`
	s.Run(t, []apitest.Call{
		{"create", "POST", apitest.Features, `{"name":"f","valueType":"integer","defaultValue":10}`, 201, typed(`"valueType":"integer","defaultValue":10`)},
		{"keep", "PUT", flag, `{"description":"d"}`, 200, typed(`"valueType":"integer","defaultValue":10`)},
		{"list", "GET", apitest.Features, "", 200, `{"...":0,"features":[` + typed(`"valueType":"integer"`) + `]}`},
		{"another default", "PUT", flag, `{"defaultValue": -7 }`, 200, typed(`"valueType":"integer","defaultValue":-7`)},
		{"a type that the default is not of", "PUT", flag, `{"valueType":"string"}`, 400, apitest.Invalid("/defaultValue")},
		{"another type", "PUT", flag, `{"valueType":"object","defaultValue":{ "size": 1 },"valueSchema":{"required":["size"]}}`, 200, typed(object)},
		{"read", "GET", flag, "", 200, typed(object)},
		{"the event", "GET", "/api/admin/events/f?limit=1", "", 200, `{"...":0,"events":[{"...":0,"type":"feature-metadata-updated",
			"data":{"...":0,` + object + `},"preData":{"...":0,"valueType":"integer","defaultValue":-7}}]}`},
		{"a default that does not match the schema", "PUT", flag, `{"defaultValue":{}}`, 400, apitest.Invalid("/defaultValue")},
		{"clone", "POST", flag + "/clone", `{"name":"g"}`, 201, `{"...":0,"name":"g",` + object + `}`},
		{"patch", "PATCH", flag, `[{"op":"replace","path":"/defaultValue/size","value":2},{"op":"remove","path":"/valueSchema"}]`, 200, typed(`"valueType":"object","defaultValue":{"size":2}`)},
		{"patch the type", "PATCH", flag, `[{"op":"replace","path":"/valueType","value":"boolean"},{"op":"replace","path":"/defaultValue","value":true}]`, 200, typed(`"valueType":"boolean","defaultValue":true`)},
		{"remove the type only, by a patch", "PATCH", flag, `[{"op":"remove","path":"/valueType"}]`, 400, apitest.Invalid("/defaultValue")},
		{"remove", "PUT", flag, `{"valueType":null}`, 200, apitest.Created("f", `"description":"d"`)},
		{"patch one without", "PATCH", flag, `[{"op":"replace","path":"/valueType","value":"string"},{"op":"replace","path":"/defaultValue","value":""}]`, 200, typed(`"valueType":"string","defaultValue":""`)},
		{"remove by a patch", "PATCH", flag, `[{"op":"remove","path":"/valueType"},{"op":"remove","path":"/defaultValue"}]`, 200, apitest.Created("f", `"description":"d"`)},
	})
	for name, body := range map[string]string{
		"valueType": `"valueType":"float","defaultValue":1`, "defaultValue": `"valueType":"string"`, "defaultValue of null": `"valueType":"object","defaultValue":null`,
		"defaultValue without a type": `"defaultValue":1`, "defaultValue that is a fraction": `"valueType":"integer","defaultValue":1.5`,
		"defaultValue with an exponent": `"valueType":"integer","defaultValue":1e3`, "defaultValue that is a text": `"valueType":"boolean","defaultValue":"true"`,
		"defaultValue that is a number": `"valueType":"object","defaultValue":1`, "defaultValue that is long": `"valueType":"string","defaultValue":"` + strings.Repeat("x", 64<<10) + `"`,
		"valueSchema of numbers": `"valueType":"number","defaultValue":1,"valueSchema":{}`, "valueSchema without a type": `"valueSchema":{}`,
		"valueSchema that is none": `"valueType":"object","defaultValue":{},"valueSchema":{"type":1}`,
		"valueSchema that is long": `"valueType":"object","defaultValue":{},"valueSchema":{"$comment":"` + strings.Repeat("x", 8<<10) + `"}`,
	} {
		field, _, _ := strings.Cut(name, " ")
		s.Check(t, apitest.Call{name, "POST", apitest.Features, `{"name":"h",` + body + `}`, 400, apitest.Invalid("/" + field)})
	}
}

// TestPayloadsOfTypedFlags checks the payloads of variants wherever they are written.
func TestPayloadsOfTypedFlags(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	for kind, tt := range map[string]struct{ value, good, bad []string }{
		"boolean": {[]string{"false"}, []string{"string:true", "json:false"}, []string{"string:yes", "number:1", "json:1", "csv:true"}},
		"string":  {[]string{`""`}, []string{"string:", "string:7", "csv:a,b"}, []string{"json:\"a\"", "number:1"}},
		"integer": {[]string{"0"}, []string{"number:7", "number:-9007199254740991"}, []string{"number:7.5", "number:1e3", "number:9007199254740993", "string:7", "json:7"}},
		"number":  {[]string{"0.5"}, []string{"number:7", "number:+5", "number:-1.5e3"}, []string{"string:7", "json:7"}},
		"object": {[]string{`[]`}, []string{`json:{"a":1}`, "json:[1]"}, []string{"json:1", "json:null", "string:{}", "number:1",
			"json:" + strings.Repeat("[", 101) + strings.Repeat("]", 101)}},
	} {
		s.Must(t, "POST", apitest.Features, fmt.Sprintf(`{"name":%q,"valueType":%[1]q,"defaultValue":%s}`, kind, tt.value[0]))
		path := apitest.In(kind, "development") + "/variants"
		s.Must(t, "PUT", path, variants(tt.good...))
		for _, bad := range tt.bad {
			s.Check(t, apitest.Call{kind + " " + bad[:min(len(bad), 20)], "PUT", path, variants(tt.good[0], bad), 400, apitest.Failure("ValidationError", `variant "v1" in environment "development"`)})
		}
	}
	s.Create(t, "f")
	const flag, strategies = apitest.Features + "/f", apitest.Features + "/f/environments/production/strategies"
	strategy := func(payload string) string {
		return `{"name":"flexibleRollout","parameters":{"rollout":"100","stickiness":"default","groupId":"f"},"variants":` + variants(payload) + `}`
	}
	template := func(name, payload string) string {
		return fmt.Sprintf(`{"name":%q,"milestones":[{"name":"all","strategies":[{"strategyName":"flexibleRollout","parameters":{"rollout":"100"},"variants":%s}]}]}`, name, variants(payload))
	}
	wrong := apitest.IDIn(s.Must(t, "POST", "/api/admin/release-plan-templates", template("wrong", "string:x")).Body)
	right := apitest.IDIn(s.Must(t, "POST", "/api/admin/release-plan-templates", template("right", "number:1")).Body)
	plans := apitest.In("f", "development") + "/release-plans"
	s.Run(t, []apitest.Call{
		{"a payload of any type", "POST", strategies, strategy("string:big"), 200, apitest.Anything},
		{"a type that contradicts it", "PUT", flag, `{"valueType":"number","defaultValue":1}`, 409, apitest.Failure("ConflictError", `(flexibleRollout) in environment "production" must have a payload of the type number, not string`)},
		{"a type that does not", "PUT", flag, `{"valueType":"string","defaultValue":"small"}`, 200, apitest.Anything},
		{"another payload", "POST", strategies, strategy("number:1"), 400, apitest.Failure("ValidationError", `variant "v0" of strategy`)},
		{"another payload, by a patch", "PATCH", apitest.In("f", "development") + "/variants", `[{"op":"add","path":"/0","value":` + strings.Trim(variants("number:1"), "[]") + `}]`, 400, apitest.Failure("ValidationError", "valueType string")},
		{"something else", "PUT", flag, `{"stale":true}`, 200, apitest.Anything},
		{"a number", "POST", apitest.Features, `{"name":"n","valueType":"number","defaultValue":1}`, 201, apitest.Anything},
		{"a plan that does not match", "POST", strings.Replace(plans, "/f/", "/n/", 1), `{"templateId":"` + wrong + `"}`, 400, apitest.Failure("ValidationError", `milestone "all" of release plan "wrong"`)},
		{"a plan that does", "POST", strings.Replace(plans, "/f/", "/n/", 1), `{"templateId":"` + right + `"}`, 200, apitest.Anything},
		{"a type that contradicts the plan", "PUT", apitest.Features + "/n", `{"valueType":"object","defaultValue":{}}`, 409, apitest.Failure("ConflictError", `milestone "all"`)},
	})
}

// TestImportedTypes exports a typed flag, and imports it unchanged, and then with a payload that is not of its type.
func TestImportedTypes(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", apitest.Features, `{"name":"f","valueType":"object","defaultValue":{"size":1},"valueSchema":{"properties":{"size":{"type":"integer"}}}}`)
	s.Must(t, "PUT", apitest.In("f", "development")+"/variants", variants(`json:{"size":2}`))
	data := s.Must(t, "POST", "/api/admin/features-batch/export", `{"environment":"development","features":["f"]}`).Body
	if !strings.Contains(data, `"valueSchema":{"properties"`) {
		t.Errorf("the export is %s", data)
	}
	if got := s.ImportHere(t, data).Counts(); got != [4]int{0, 0, 1, 0} {
		t.Errorf("the same: %v, want one unchanged", got)
	}
	other := strings.NewReplacer(`"name":"f"`, `"name":"g"`, `"featureName":"f"`, `"featureName":"g"`).Replace(data)
	if got := s.ImportHere(t, other).Counts(); got != [4]int{1, 0, 0, 0} {
		t.Errorf("another: %v, want one created", got)
	}
	s.Check(t, apitest.Call{"imported", "GET", apitest.Features + "/g", "", 200, `{"...":0,"valueType":"object","defaultValue":{"size":1},"valueSchema":{"properties":{"size":{"type":"integer"}}}}`})
	wrong := strings.Replace(data, `\"size\":2`, `\"size\":\"L\"`, 1)
	if got := s.ImportHere(t, wrong); got.Counts() != [4]int{0, 0, 0, 1} || !strings.Contains(fmt.Sprint(got), "does not match the valueSchema") {
		t.Errorf("a wrong payload: %+v, want it skipped", got)
	}
}

// TestDefaultValueOfPlan changes the default value of a flag whose release plan begins when the flag is switched on in production.
func TestDefaultValueOfPlan(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", apitest.Features, `{"name":"f","valueType":"integer","defaultValue":1}`)
	s.Must(t, "POST", apitest.In("f", "production")+"/release-plans", `{"name":"p","milestones":[{"name":"m","sortOrder":0,"strategies":[{"strategyName":"default"}]}]}`)
	s.Review(t)
	if got := s.Do(t, "PUT", apitest.Features+"/f", `{"defaultValue":2}`, s.Owner(t, "")); got.Status != 403 {
		t.Errorf("status %d: %s", got.Status, got.Body)
	}
}
