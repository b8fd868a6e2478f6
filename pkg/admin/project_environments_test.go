package admin_test

import (
	"slices"
	"testing"

	"guidon/pkg/flags"
)

func TestAttachEnvironment(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.enabled(t, "f")
	s.must(t, "POST", "/api/admin/environments", `{"name":"first","type":"test","sortOrder":0}`)
	attach := project + "/environments"
	s.run(t, []call{
		{"a flag before the project has the environment", "GET", in("f", "first"), "", 404, notFound(`"first"`)},
		{"add it", "POST", attach, `{"environment":"first"}`, 200, ""},
		{"do it again", "POST", attach, `{"environment":"first"}`, 409, failure("ConflictError", `"first"`)},
		{"an environment that the project has", "POST", attach, `{"environment":"production"}`, 409, failure("ConflictError", `"production"`)},
		{"a disabled environment", "POST", attach, `{"environment":"default"}`, 200, ""},
		{"an unknown environment", "POST", attach, `{"environment":"nosuch"}`, 400, invalid("/environment")},
		{"no environment", "POST", attach, `{}`, 400, invalid("/environment")},
		{"an unknown project", "POST", "/api/admin/projects/nosuch/environments", `{"environment":"first"}`, 404, notFound(`"nosuch"`)},
		{"existing flags have the new environments, in their order, disabled and empty", "GET", features + "/f", "", 200, `{"...":0,"enabled":true,"environments":[
			{"...":0,"name":"first","type":"test","sortOrder":0,"enabled":false,"strategies":[],"variants":[]},
			{"...":0,"name":"default","sortOrder":1,"enabled":false},{"...":0,"name":"development","enabled":true},{"...":0,"name":"production"}]}`},
		{"the list of flags has them", "GET", features, "", 200, `{"...":0,"features":[{"...":0,"environments":[{"...":0,"name":"first"},{"...":0,"name":"default"},{"...":0,"name":"development","enabled":true},{"...":0,"name":"production"}]}]}`},
		{"add a strategy there", "POST", in("f", "first") + "/strategies", `{"name":"default"}`, 200, anything},
		{"enable the flag there", "POST", in("f", "first") + "/on", "", 200, `{"...":0,"enabled":true}`},
	})
}

// TestAttachWithMore adds an environment with the other fields that the official client sends.
func TestAttachWithMore(t *testing.T) {
	t.Parallel()
	s := serve(t)
	attach := project + "/environments"
	s.run(t, []call{
		{"an invalid default strategy", "POST", attach, `{"environment":"default","defaultStrategy":{"name":"flexibleRollout","parameters":{"rollout":"abc"}}}`, 400,
			invalid("/defaultStrategy/parameters/rollout")},
		{"a default strategy of an unknown type", "POST", attach, `{"environment":"default","defaultStrategy":{"name":"nosuch"}}`, 400, invalid("/defaultStrategy/name")},
		{"a default strategy without a name", "POST", attach, `{"environment":"default","defaultStrategy":{}}`, 400, invalid("/defaultStrategy/name")},
		{"rejected requests add nothing", "GET", project, "", 200, `{"...":0,"environments":[{"environment":"development"},{"environment":"production"}]}`},
		{"a valid request", "POST", attach, `{"environment":"default","changeRequestsEnabled":false,"defaultStrategy":{"name":"flexibleRollout","parameters":{"rollout":25}}}`, 200, ""},
		{"create a flag", "POST", features, `{"name":"f"}`, 201, anything},
		{"enabling the flag adds the default strategy", "POST", in("f", "default") + "/on", "", 200, `{"...":0,"enabled":true,"environments":[
			{"...":0,"name":"default","enabled":true,"strategies":[{"...":0,"name":"flexibleRollout","parameters":{"rollout":"25","stickiness":"default","groupId":"f"}}]},
			{"...":0,"enabled":false},{"...":0,"enabled":false}]}`},
	})
}

func TestDetachEnvironment(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.enabled(t, "f")
	s.must(t, "PUT", in("f", "development")+"/variants", `[{"name":"v","weight":1}]`)
	const one, again = project + "/environments/development", project + "/environments"
	s.must(t, "POST", one+"/default-strategy", `{"name":"default"}`)
	s.create(t, "bare")
	s.run(t, []call{
		{"an environment that the project does not have", "DELETE", project + "/environments/default", "", 404, notFound(`"default"`)},
		{"an unknown environment", "DELETE", project + "/environments/nosuch", "", 404, notFound(`"nosuch"`)},
		{"an unknown project", "DELETE", "/api/admin/projects/nosuch/environments/development", "", 404, notFound(`"nosuch"`)},
		{"remove it", "DELETE", one, "", 200, ""},
		{"do it again", "DELETE", one, "", 404, notFound(`"development"`)},
		{"the service still has it", "GET", environments + "/development", "", 200, environment("development", "development", true, 2)},
		{"the flag does not have it", "GET", features + "/f", "", 200, `{"...":0,"enabled":false,"variants":[],"environments":[{"...":0,"name":"production"}]}`},
		{"the list of flags does not have it", "GET", features, "", 200, `{"...":0,"features":[{"...":0,"environments":[{"...":0,"name":"production"}]},{"...":0,"environments":[{"...":0,"name":"production"}]}]}`},
		{"add a strategy in it", "POST", in("f", "development") + "/strategies", `{"name":"default"}`, 404, notFound(`"development"`)},
		{"set a default strategy in it", "POST", one + "/default-strategy", `{"name":"default"}`, 404, notFound(`"development"`)},
		{"add it again", "POST", again, `{"environment":"development"}`, 200, ""},
		{"the flag has its strategies and variants again, and is disabled", "GET", in("f", "development"), "", 200, `{"...":0,"enabled":false,"strategies":[{"...":0,"name":"default"}],"variants":[{"...":0,"name":"v"}]}`},
		{"the list of flags has it again", "GET", features, "", 200, `{"...":0,"features":[{"...":0,"name":"bare"},{"...":0,"name":"f","environments":[
			{"...":0,"name":"development","enabled":false,"hasStrategies":true,"variantCount":1},{"...":0,"name":"production"}]}]}`},
		{"the default strategy is gone", "POST", in("bare", "development") + "/on", "", 409, failure("ConflictError", "")},
		{"enable the flag again", "POST", in("f", "development") + "/on", "", 200, `{"...":0,"enabled":true}`},
	})
	events := s.eventsOf(t, s.projectAt(t, "default"))
	want := []flags.EventType{flags.ProjectCreated, flags.DefaultStrategyUpdated, flags.ProjectEnvironmentRemoved, flags.ProjectEnvironmentAdded}
	if !slices.Equal(events, want) {
		t.Errorf("events %q, want %q", events, want)
	}
}

func TestDefaultStrategy(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "f", "g", "own")
	s.strategy(t, "own", `{"name":"userWithId","parameters":{"userIds":"1"}}`)
	const one = project + "/environments/development/default-strategy"
	const body = `{"name":"flexibleRollout","title":"half","parameters":{"rollout":50},"constraints":[{"contextName":"userId","operator":"IN","values":["1"]}],
		"variants":[{"name":"a","weight":0,"weightType":"variable","stickiness":"default"},{"name":"b","weight":0,"weightType":"variable","stickiness":"default"}]}`
	const variants = `"variants":[{"...":0,"name":"a","weight":500},{"...":0,"name":"b","weight":500}]`
	s.run(t, []call{
		{"enable a flag without a default strategy", "POST", in("f", "development") + "/on", "", 409, failure("ConflictError", "")},
		{"no name", "POST", one, `{}`, 400, invalid("/name")},
		{"an unknown type", "POST", one, `{"name":"nosuch"}`, 400, invalid("/name")},
		{"a rollout above 100", "POST", one, `{"name":"flexibleRollout","parameters":{"rollout":"101"}}`, 400, invalid("/parameters/rollout")},
		{"a constraint without values", "POST", one, `{"name":"default","constraints":[{"contextName":"userId","operator":"IN"}]}`, 400, invalid("/constraints/0/values")},
		{"an unknown environment", "POST", project + "/environments/nosuch/default-strategy", `{"name":"default"}`, 404, notFound(`"nosuch"`)},
		{"set it", "POST", one, body, 200, `{"name":"flexibleRollout","title":"half","disabled":false,"sortOrder":0,"segments":[],"parameters":{"rollout":"50"},
			"constraints":[{"...":0,"contextName":"userId","values":["1"]}],` + variants + `}`},
		{"the same again", "POST", one, body, 200, anything},
		{"a disabled flag does not get it", "GET", features + "/f", "", 200, `{"...":0,"environments":[{"...":0,"strategies":[]},{"...":0,"strategies":[]}]}`},
		{"enabling the flag adds it", "POST", in("f", "development") + "/on", "", 200, `{"...":0,"enabled":true,"environments":[{"...":0,"enabled":true,"strategies":[
			{"...":0,"id":"<uuid>","featureName":"f","name":"flexibleRollout","title":"half","parameters":{"rollout":"50","stickiness":"default","groupId":"f"},
			"constraints":[{"...":0,"contextName":"userId","values":["1"]}],` + variants + `}]},{"...":0,"enabled":false,"strategies":[]}]}`},
		{"the flag keeps it", "GET", in("f", "development"), "", 200, `{"...":0,"enabled":true,"strategies":[{"...":0,"name":"flexibleRollout"}]}`},
		{"another environment has no default strategy", "POST", in("f", "production") + "/on", "", 409, failure("ConflictError", "")},
		{"a flag with a strategy of its own does not get it", "POST", in("own", "development") + "/on", "", 200, `{"...":0,"environments":[{"...":0,"enabled":true,"strategies":[{"...":0,"name":"userWithId"}]},{"...":0}]}`},
		{"replace it", "POST", one, `{"name":"default"}`, 200, `{"name":"default","title":null,"disabled":false,"sortOrder":0,"segments":[],"parameters":{},"constraints":[],"variants":[]}`},
		{"the next flag gets the new one", "POST", in("g", "development") + "/on", "", 200, `{"...":0,"environments":[{"...":0,"strategies":[{"...":0,"name":"default"}]},{"...":0}]}`},
		{"earlier flags keep the old one", "GET", in("f", "development"), "", 200, `{"...":0,"strategies":[{"...":0,"name":"flexibleRollout"}]}`},
	})
	s.wantEvents(t, "f", flags.FeatureEnvironmentEnabled, 1)
	s.wantEvents(t, "f", flags.FeatureStrategyAdd, 0) // one write, one event
	got := s.parallel(t, 16, func(int) call { return call{method: "POST", path: in("raced", "development") + "/on"} })
	wantStatuses(t, got, map[int]int{404: 16})
	s.create(t, "raced")
	got = s.parallel(t, 16, func(int) call { return call{method: "POST", path: in("raced", "development") + "/on"} })
	wantStatuses(t, got, map[int]int{200: 16})
	s.check(t, call{"16 requests at once add one strategy", "GET", in("raced", "development"), "", 200, `{"...":0,"enabled":true,"strategies":[{"...":0,"name":"default"}]}`})
}
