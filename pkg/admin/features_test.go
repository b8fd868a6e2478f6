package admin_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"guidon/pkg/flags"
)

// subset is the response of create, update, patch and clone for a new flag. others replaces or adds fields.
func subset(name string, others ...string) string {
	return object([]string{
		fmt.Sprintf(`"name":%q`, name), `"type":"release"`, `"description":""`, `"project":"default"`, `"stale":false`,
		`"impressionData":false`, `"createdAt":"<time>"`, `"lastSeenAt":null`, `"archived":false`, `"archivedAt":null`, `"enabled":false`, `"variants":null`,
	}, others)
}

// object joins fields to a JSON object. A field of others replaces the field with the same name.
func object(members, others []string) string {
	for _, other := range others {
		name, _, _ := strings.Cut(other, ":")
		i := slices.IndexFunc(members, func(m string) bool { return strings.HasPrefix(m, name+":") })
		if i < 0 {
			members = append(members, other)
		} else {
			members[i] = other
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// row is a flag in an environment, as lists have it.
func row(environment string, others ...string) string {
	sortOrder := map[string]int{"development": 2, "production": 3}[environment]
	return object([]string{
		fmt.Sprintf(`"name":%q`, environment), fmt.Sprintf(`"displayName":%q`, environment), `"enabled":false`,
		fmt.Sprintf(`"type":%q`, environment), fmt.Sprintf(`"sortOrder":%d`, sortOrder), `"variantCount":0`,
		`"hasStrategies":false`, `"hasEnabledStrategies":false`, `"lastSeenAt":null`,
	}, others)
}

// place is a flag in an environment, as the response for one flag has it.
func place(flag, environment string, others ...string) string {
	full := []string{fmt.Sprintf(`"featureName":%q`, flag), fmt.Sprintf(`"environment":%q`, environment), `"strategies":[]`, `"variants":[]`}
	return row(environment, append(full, others...)...)
}

// record is the response for one flag.
func record(name string, environments []string, others ...string) string {
	return object([]string{
		fmt.Sprintf(`"name":%q`, name), `"type":"release"`, `"description":""`, `"project":"default"`, `"stale":false`,
		`"impressionData":false`, `"createdAt":"<time>"`, `"lastSeenAt":null`, `"archived":false`, `"archivedAt":null`,
		`"enabled":false`, `"favorite":false`, `"environments":[` + strings.Join(environments, ",") + `]`, `"variants":[]`,
		`"strategies":[]`, `"children":[]`, `"dependencies":[]`, `"tags":[]`,
		`"lifecycle":{"stage":"initial","enteredStageAt":"<time>"}`,
	}, others)
}

func TestCreateFeature(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "taken", "archived")
	s.must(t, "DELETE", features+"/archived", "")
	s.run(t, []call{
		{"only a name", "POST", features, `{"name":"plain"}`, 201, subset("plain")},
		{"all fields", "POST", features, `{"name":"full","type":"kill-switch","description":"why","impressionData":true}`, 201,
			subset("full", `"type":"kill-switch"`, `"description":"why"`, `"impressionData":true`)},
		{"a stale flag", "POST", features, `{"name":"s1","stale":true}`, 201, subset("s1", `"stale":true`)},
		{"the flag is stale", "GET", features + "/s1", "", 200, `{"...":0,"stale":true}`},
		{"a stale flag is counted", "GET", projects, "", 200, `{"...":0,"projects":[{"...":0,"staleFeatureCount":1}]}`},
		{"stale is not a boolean", "POST", features, `{"name":"s2","stale":"yes"}`, 400, invalid("/stale")},
		{"experiment", "POST", features, `{"name":"t1","type":"experiment"}`, 201, subset("t1", `"type":"experiment"`)},
		{"release", "POST", features, `{"name":"t2","type":"release"}`, 201, subset("t2")},
		{"operational", "POST", features, `{"name":"t3","type":"operational"}`, 201, subset("t3", `"type":"operational"`)},
		{"permission", "POST", features, `{"name":"t4","type":"permission"}`, 201, subset("t4", `"type":"permission"`)},
		{"an empty description", "POST", features, `{"name":"d1","description":""}`, 201, subset("d1")},
		{"a null description", "POST", features, `{"name":"d2","description":null}`, 201, subset("d2", `"description":null`)},
		{"a NUL in the description", "POST", features, `{"name":"d3","description":"a\u0000b"}`, 201, subset("d3", `"description":"a\u0000b"`)},
		{"the NUL is kept", "GET", features + "/d3", "", 200, `{"...":0,"description":"a\u0000b"}`},
		{"a description with special characters", "POST", features, `{"name":"d4","description":"<é&\u2028😀\\\"/>"}`, 201, subset("d4", `"description":"<é&\u2028😀\\\"/>"`)},
		{"case matters in names", "POST", features, `{"name":"TAKEN"}`, 201, subset("TAKEN")},
		{"unknown and read-only fields are ignored", "POST", features,
			`{"name":"u1","nosuch":[{}],"project":"other","archived":true,"enabled":true,"createdAt":"2001-01-01T00:00:00.000Z"}`, 201, subset("u1")},
		{"a taken name", "POST", features, `{"name":"taken"}`, 409, failure("NameExistsError", `"taken"`)},
		{"the name of an archived flag", "POST", features, `{"name":"archived"}`, 409, failure("NameExistsError", "archived")},
		{"an unknown project", "POST", "/api/admin/projects/nosuch/features", `{"name":"x"}`, 404, notFound(`"nosuch"`)},
		{"no name", "POST", features, `{}`, 400, invalid("/name")},
		{"an unknown type", "POST", features, `{"name":"x","type":"nosuch"}`, 400, invalid("/type")},
		{"an empty type", "POST", features, `{"name":"x","type":""}`, 400, invalid("/type")},
		{"a type in another case", "POST", features, `{"name":"x","type":"Release"}`, 400, invalid("/type")},
		{"two invalid fields", "POST", features, `{"name":"a b","type":"x"}`, 400, invalid("/name", "/type")},
		{"a rejected flag does not exist", "GET", features + "/x", "", 404, notFound(`"x"`)},
	})
	if got := s.events(t, "plain"); !slices.Equal(got, []flags.EventType{flags.FeatureCreated}) {
		t.Errorf("events of a new flag %q, want only its creation", got)
	}
	if got := s.events(t, "taken"); len(got) != 1 {
		t.Errorf("events %q, want no event of the rejected creation", got)
	}
}

func TestReadFeature(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "empty", "full")
	s.strategy(t, "full", `{"name":"flexibleRollout","sortOrder":2,"disabled":true,"title":"second"}`)
	s.strategy(t, "full", `{"name":"default","sortOrder":1}`)
	s.must(t, "POST", in("full", "development")+"/on", "")
	s.must(t, "PUT", in("full", "development")+"/variants", `[{"name":"v","weight":1,"weightType":"variable"}]`)
	s.must(t, "POST", "/api/admin/projects", `{"id":"other"}`)

	variants := `[{"name":"v","weight":1000,"weightType":"variable","stickiness":"default"}]`
	first := strategy("full", `"sortOrder":1`)
	second := strategy("full", `"name":"flexibleRollout"`, `"title":"second"`, `"disabled":true`, `"sortOrder":2`,
		`"parameters":{"rollout":"100","stickiness":"default","groupId":"full"}`)
	development := place("full", "development", `"enabled":true`, `"variantCount":1`, `"hasStrategies":true`,
		`"hasEnabledStrategies":true`, `"strategies":[`+first+`,`+second+`]`, `"variants":`+variants)
	s.run(t, []call{
		{"a new flag", "GET", features + "/empty", "", 200, record("empty", []string{place("empty", "development"), place("empty", "production")})},
		{"all fields", "GET", features + "/full", "", 200,
			record("full", []string{development, place("full", "production")}, `"enabled":true`, `"variants":`+variants)},
		{"a flag in one environment", "GET", in("full", "development"), "", 200, development},
		{"a flag in another environment", "GET", in("full", "production"), "", 200, place("full", "production")},
		{"list flags", "GET", features, "", 200, `{"version":2,"features":[` + listed("empty", row("development"), row("production")) + `,` +
			listed("full", row("development", `"enabled":true`, `"variantCount":1`, `"hasStrategies":true`, `"hasEnabledStrategies":true`), row("production")) + `]}`},
		{"an empty list", "GET", "/api/admin/projects/other/features", "", 200, `{"version":2,"features":[]}`},
		{"the list of an unknown project", "GET", "/api/admin/projects/nosuch/features", "", 404, notFound(`"nosuch"`)},
		{"an unknown flag", "GET", features + "/nosuch", "", 404, notFound(`"nosuch"`)},
		{"a flag of another project", "GET", "/api/admin/projects/other/features/full", "", 404, notFound(`"other"`)},
		{"a flag of an unknown project", "GET", "/api/admin/projects/nosuch/features/full", "", 404, notFound(`"nosuch"`)},
		{"an unknown environment", "GET", in("full", "nosuch"), "", 404, notFound(`"nosuch"`)},
		{"an environment that the project does not have", "GET", in("full", "default"), "", 404, notFound(`"default"`)},
		{"a percent-encoded name", "GET", features + "/%66ull", "", 200, `{"...":0,"name":"full"}`},
	})
}

// featureRow is a flag in the overview of its project.
func featureRow(name string, environments ...string) string {
	return fmt.Sprintf(`{"name":%q,"type":"release","description":"","stale":false,"impressionData":false,"createdAt":"<time>","lastSeenAt":null,"favorite":false,"environments":[%s]}`,
		name, strings.Join(environments, ","))
}

// listed is a flag in the list of its project.
func listed(name string, environments ...string) string {
	return strings.TrimSuffix(featureRow(name, environments...), "}") + `,"lifecycle":{"stage":"initial","enteredStageAt":"<time>"}}`
}

func TestUpdateFeature(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "f")
	s.enabled(t, "on")
	f := features + "/f"
	changed := []string{`"type":"experiment"`, `"description":"new"`, `"stale":true`, `"impressionData":true`}
	s.run(t, []call{
		{"update all fields", "PUT", f, `{"name":"f","type":"experiment","description":"new","stale":true,"impressionData":true}`, 200, subset("f", changed...)},
		{"omitted fields keep their values", "PUT", f, `{}`, 200, subset("f", changed...)},
		{"update one field", "PUT", f, `{"description":"newer"}`, 200, subset("f", append(changed, `"description":"newer"`)...)},
		{"a null description", "PUT", f, `{"description":null}`, 200, subset("f", append(changed, `"description":null`)...)},
		{"reset all fields", "PUT", f, `{"type":"release","description":"","stale":false,"impressionData":false}`, 200, subset("f")},
		{"read-only fields are ignored", "PUT", f,
			`{"project":"other","createdAt":"2001-01-01T00:00:00.000Z","lastSeen":"x","lastSeenAt":7,"archived":true,"enabled":true,"variants":[],"nosuch":1}`, 200, subset("f")},
		{"read-only fields are unchanged", "GET", f, "", 200, `{"...":0,"project":"default","archived":false,"enabled":false,"lastSeenAt":null}`},
		{"an enabled flag", "PUT", features + "/on", `{}`, 200, subset("on", `"enabled":true`)},
		{"an unknown flag", "PUT", features + "/nosuch", `{}`, 404, notFound(`"nosuch"`)},
	})
	want := []flags.EventType{
		flags.FeatureCreated, flags.FeatureStaleOn, flags.FeatureMetadataUpdated, flags.FeatureMetadataUpdated, flags.FeatureMetadataUpdated,
		flags.FeatureStaleOff, flags.FeatureMetadataUpdated,
	}
	if got := s.events(t, "f"); !slices.Equal(got, want) {
		t.Errorf("events %q, want %q: the events of each change, and none without a change", got, want)
	}
	s.unchanged(t, "f", []call{
		{"another name", "PUT", f, `{"name":"g","description":"x"}`, 400, invalid("/name")},
		{"the name in another case", "PUT", f, `{"name":"F"}`, 400, invalid("/name")},
		{"an unknown type", "PUT", f, `{"type":"nosuch","description":"x"}`, 400, invalid("/type")},
		{"a null type", "PUT", f, `{"type":null,"description":"x"}`, 400, invalid("/type")},
	})
}

func TestListShowsChangesImmediately(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "b", "a", "_", "B", "Z")
	s.enabled(t, "on")
	names := `{"...":0,"features":[{"...":0,"name":"B"},{"...":0,"name":"Z"},{"...":0,"name":"_"},{"...":0,"name":"a"},{"...":0,"name":"b"},{"...":0,"name":"on"}]}`
	s.run(t, []call{
		{"all flags, sorted by name", "GET", features, "", 200, names},
		{"mark a flag stale", "PUT", features + "/a", `{"stale":true,"type":"permission","impressionData":true}`, 200, anything},
		{"archive a flag", "DELETE", features + "/b", "", 202, ""},
		{"disable a flag", "POST", in("on", "development") + "/off", "", 200, anything},
		{"the list shows all changes", "GET", features, "", 200, `{"version":2,"features":[{"...":0,"name":"B"},{"...":0,"name":"Z"},{"...":0,"name":"_"},
			{"...":0,"name":"a","stale":true,"type":"permission","impressionData":true},
			{"...":0,"name":"on","environments":[` + row("development", `"hasStrategies":true`, `"hasEnabledStrategies":true`) + `,` + row("production") + `]}]}`},
		{"revive the flag", "POST", "/api/admin/archive/revive/b", "", 200, ""},
		{"the list has the revived flag", "GET", features, "", 200, strings.Replace(names, `"name":"a"`, `"name":"a","stale":true`, 1)},
	})
}
