package features_test

import (
	"fmt"
	"testing"

	"guidon/pkg/apitest"
	"guidon/pkg/flags"
)

// place is a flag in an environment, as the response for one flag has it.
func place(flag, environment string, others ...string) string {
	full := []string{fmt.Sprintf(`"featureName":%q`, flag), fmt.Sprintf(`"environment":%q`, environment), `"strategies":[]`, `"variants":[]`}
	return apitest.Row(environment, append(full, others...)...)
}

func TestCreateFeature(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "taken", "archived")
	s.Must(t, "DELETE", apitest.Features+"/archived", "")
	s.Run(t, []apitest.Call{
		{"only a name", "POST", apitest.Features, `{"name":"plain"}`, 201, apitest.Created("plain")},
		{"all fields", "POST", apitest.Features, `{"name":"full","type":"kill-switch","description":"why","impressionData":true}`, 201,
			apitest.Created("full", `"type":"kill-switch"`, `"description":"why"`, `"impressionData":true`)},
		{"a stale flag", "POST", apitest.Features, `{"name":"s1","stale":true}`, 201, apitest.Created("s1", `"stale":true`)},
		{"the flag is stale", "GET", apitest.Features + "/s1", "", 200, `{"...":0,"stale":true}`},
		{"a stale flag is counted", "GET", apitest.Projects, "", 200, `{"...":0,"projects":[{"...":0,"staleFeatureCount":1}]}`},
		{"stale is not a boolean", "POST", apitest.Features, `{"name":"s2","stale":"yes"}`, 400, apitest.Invalid("/stale")},
		{"experiment", "POST", apitest.Features, `{"name":"t1","type":"experiment"}`, 201, apitest.Created("t1", `"type":"experiment"`)},
		{"release", "POST", apitest.Features, `{"name":"t2","type":"release"}`, 201, apitest.Created("t2")},
		{"operational", "POST", apitest.Features, `{"name":"t3","type":"operational"}`, 201, apitest.Created("t3", `"type":"operational"`)},
		{"permission", "POST", apitest.Features, `{"name":"t4","type":"permission"}`, 201, apitest.Created("t4", `"type":"permission"`)},
		{"an empty description", "POST", apitest.Features, `{"name":"d1","description":""}`, 201, apitest.Created("d1")},
		{"a null description", "POST", apitest.Features, `{"name":"d2","description":null}`, 201, apitest.Created("d2", `"description":null`)},
		{"a NUL in the description", "POST", apitest.Features, `{"name":"d3","description":"a\u0000b"}`, 201, apitest.Created("d3", `"description":"a\u0000b"`)},
		{"the NUL is kept", "GET", apitest.Features + "/d3", "", 200, `{"...":0,"description":"a\u0000b"}`},
		{"a description with special characters", "POST", apitest.Features, `{"name":"d4","description":"<é&\u2028😀\\\"/>"}`, 201, apitest.Created("d4", `"description":"<é&\u2028😀\\\"/>"`)},
		{"case matters in names", "POST", apitest.Features, `{"name":"TAKEN"}`, 201, apitest.Created("TAKEN")},
		{"unknown and read-only fields are ignored", "POST", apitest.Features,
			`{"name":"u1","nosuch":[{}],"project":"other","archived":true,"enabled":true,"createdAt":"2001-01-01T00:00:00.000Z"}`, 201, apitest.Created("u1")},
		{"a taken name", "POST", apitest.Features, `{"name":"taken"}`, 409, apitest.Failure("NameExistsError", `"taken"`)},
		{"the name of an archived flag", "POST", apitest.Features, `{"name":"archived"}`, 409, apitest.Failure("NameExistsError", "archived")},
		{"no name", "POST", apitest.Features, `{}`, 400, apitest.Invalid("/name")},
		{"an unknown type", "POST", apitest.Features, `{"name":"x","type":"nosuch"}`, 400, apitest.Invalid("/type")},
		{"an empty type", "POST", apitest.Features, `{"name":"x","type":""}`, 400, apitest.Invalid("/type")},
		{"a type in another case", "POST", apitest.Features, `{"name":"x","type":"Release"}`, 400, apitest.Invalid("/type")},
		{"two invalid fields", "POST", apitest.Features, `{"name":"a b","type":"x"}`, 400, apitest.Invalid("/name", "/type")},
		{"a rejected flag does not exist", "GET", apitest.Features + "/x", "", 404, apitest.NotFound(`"x"`)},
	})
	s.WantHistory(t, "plain", flags.FeatureCreated)
	if got := s.Events(t, "taken"); len(got) != 1 {
		t.Errorf("events %q, want no event of the rejected creation", got)
	}
}

func TestReadFeature(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "empty", "full")
	s.AddStrategy(t, "full", `{"name":"flexibleRollout","sortOrder":2,"disabled":true,"title":"second"}`)
	s.AddStrategy(t, "full", `{"name":"default","sortOrder":1}`)
	s.Must(t, "POST", apitest.In("full", "development")+"/on", "")
	s.Must(t, "PUT", apitest.In("full", "development")+"/variants", `[{"name":"v","weight":1,"weightType":"variable"}]`)
	s.Must(t, "POST", "/api/admin/projects", `{"id":"other"}`)

	variants := `[{"name":"v","weight":1000,"weightType":"variable","stickiness":"default"}]`
	first := apitest.Strategy("full", `"sortOrder":1`)
	second := apitest.Strategy("full", `"name":"flexibleRollout"`, `"title":"second"`, `"disabled":true`, `"sortOrder":2`,
		`"parameters":{"rollout":"100","stickiness":"default","groupId":"full"}`)
	development := place("full", "development", `"enabled":true`, `"variantCount":1`, `"hasStrategies":true`,
		`"hasEnabledStrategies":true`, `"strategies":[`+first+`,`+second+`]`, `"variants":`+variants)
	s.Run(t, []apitest.Call{
		{"a new flag", "GET", apitest.Features + "/empty", "", 200, apitest.Record("empty", []string{place("empty", "development"), place("empty", "production")})},
		{"all fields", "GET", apitest.Features + "/full", "", 200,
			apitest.Record("full", []string{development, place("full", "production")}, `"enabled":true`, `"variants":`+variants)},
		{"a flag in one environment", "GET", apitest.In("full", "development"), "", 200, development},
		{"a flag in another environment", "GET", apitest.In("full", "production"), "", 200, place("full", "production")},
		{"list flags", "GET", apitest.Features, "", 200, `{"version":2,"features":[` + apitest.Listed("empty", apitest.Row("development"), apitest.Row("production")) + `,` +
			apitest.Listed("full", apitest.Row("development", `"enabled":true`, `"variantCount":1`, `"hasStrategies":true`, `"hasEnabledStrategies":true`), apitest.Row("production")) + `]}`},
		{"an empty list", "GET", "/api/admin/projects/other/features", "", 200, `{"version":2,"features":[]}`},
		{"a flag of another project", "GET", "/api/admin/projects/other/features/full", "", 404, apitest.NotFound(`"other"`)},
		{"a percent-encoded name", "GET", apitest.Features + "/%66ull", "", 200, `{"...":0,"name":"full"}`},
	})
}

func TestUpdateFeature(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	s.CreateEnabled(t, "on")
	f := apitest.Features + "/f"
	changed := []string{`"type":"experiment"`, `"description":"new"`, `"stale":true`, `"impressionData":true`}
	s.Run(t, []apitest.Call{
		{"update all fields", "PUT", f, `{"name":"f","type":"experiment","description":"new","stale":true,"impressionData":true}`, 200, apitest.Created("f", changed...)},
		{"omitted fields keep their values", "PUT", f, `{}`, 200, apitest.Created("f", changed...)},
		{"update one field", "PUT", f, `{"description":"newer"}`, 200, apitest.Created("f", append(changed, `"description":"newer"`)...)},
		{"a null description", "PUT", f, `{"description":null}`, 200, apitest.Created("f", append(changed, `"description":null`)...)},
		{"reset all fields", "PUT", f, `{"type":"release","description":"","stale":false,"impressionData":false}`, 200, apitest.Created("f")},
		{"read-only fields are ignored", "PUT", f,
			`{"project":"other","createdAt":"2001-01-01T00:00:00.000Z","lastSeen":"x","lastSeenAt":7,"archived":true,"enabled":true,"variants":[],"nosuch":1}`, 200, apitest.Created("f")},
		{"read-only fields are unchanged", "GET", f, "", 200, `{"...":0,"project":"default","archived":false,"enabled":false,"lastSeenAt":null}`},
		{"an enabled flag", "PUT", apitest.Features + "/on", `{}`, 200, apitest.Created("on", `"enabled":true`)},
	})
	s.WantHistory(t, "f",
		flags.FeatureCreated, flags.FeatureStaleOn, flags.FeatureMetadataUpdated, flags.FeatureMetadataUpdated, flags.FeatureMetadataUpdated,
		flags.FeatureStaleOff, flags.FeatureMetadataUpdated)
	s.Unchanged(t, "f", []apitest.Call{
		{"another name", "PUT", f, `{"name":"g","description":"x"}`, 400, apitest.Invalid("/name")},
		{"the name in another case", "PUT", f, `{"name":"F"}`, 400, apitest.Invalid("/name")},
		{"an unknown type", "PUT", f, `{"type":"nosuch","description":"x"}`, 400, apitest.Invalid("/type")},
		{"a null type", "PUT", f, `{"type":null,"description":"x"}`, 400, apitest.Invalid("/type")},
	})
}

func TestParentVariants(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f", "bare")
	s.Must(t, "PUT", apitest.In("f", "development")+"/variants", `[{"name":"red","weight":1}]`)
	s.Must(t, "PUT", apitest.In("f", "production")+"/variants", `[{"name":"blue","weight":1},{"name":"red","weight":1}]`)
	s.AddStrategy(t, "f", `{"name":"flexibleRollout","variants":[{"name":"green","weight":1000,"weightType":"variable","stickiness":"default"}]}`)
	s.Run(t, []apitest.Call{
		{"of environments and strategies", "GET", apitest.Features + "/f/parent-variants", "", 200, `["blue","green","red"]`},
		{"none", "GET", apitest.Features + "/bare/parent-variants", "", 200, `[]`},
	})
}

func TestArchiveOfAllProjects(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", apitest.Projects, `{"id":"shop"}`)
	s.Must(t, "POST", apitest.Projects, `{"id":"gone"}`)
	s.Create(t, "b", "active")
	s.Must(t, "POST", apitest.Projects+"/shop/features", `{"name":"a"}`)
	s.Must(t, "POST", apitest.Projects+"/gone/features", `{"name":"c"}`)
	const all = "/api/admin/archive/features"
	s.Check(t, apitest.Call{"none", "GET", all, "", 200, `{"version":2,"features":[]}`})
	for _, path := range []string{apitest.Features + "/b", apitest.Projects + "/shop/features/a", apitest.Projects + "/gone/features/c", apitest.Projects + "/gone"} {
		s.Must(t, "DELETE", path, "")
	}
	s.Check(t, apitest.Call{"of every project, by name", "GET", all, "", 200,
		`{"version":2,"features":[{"...":0,"name":"a","project":"shop","archived":true},{"...":0,"name":"b","project":"default","archived":true}]}`})
}
