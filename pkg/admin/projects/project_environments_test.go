package projects_test

import (
	"slices"
	"testing"

	"guidon/pkg/apitest"
	"guidon/pkg/flags"
)

func TestAttachEnvironment(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.CreateEnabled(t, "f")
	s.Must(t, "POST", "/api/admin/environments", `{"name":"first","type":"test","sortOrder":0}`)
	attach := apitest.Project + "/environments"
	s.Run(t, []apitest.Call{
		{"a flag before the project has the environment", "GET", apitest.In("f", "first"), "", 404, apitest.NotFound(`"first"`)},
		{"add it", "POST", attach, `{"environment":"first"}`, 200, ""},
		{"do it again", "POST", attach, `{"environment":"first"}`, 409, apitest.Failure("ConflictError", `"first"`)},
		{"an environment that the project has", "POST", attach, `{"environment":"production"}`, 409, apitest.Failure("ConflictError", `"production"`)},
		{"a disabled environment", "POST", attach, `{"environment":"default"}`, 200, ""},
		{"an unknown environment", "POST", attach, `{"environment":"nosuch"}`, 400, apitest.Invalid("/environment")},
		{"no environment", "POST", attach, `{}`, 400, apitest.Invalid("/environment")},
		{"existing flags have the new environments, in their order, disabled and empty", "GET", apitest.Features + "/f", "", 200, `{"...":0,"enabled":true,"environments":[
			{"...":0,"name":"first","type":"test","sortOrder":0,"enabled":false,"strategies":[],"variants":[]},
			{"...":0,"name":"default","sortOrder":1,"enabled":false},{"...":0,"name":"development","enabled":true},{"...":0,"name":"production"}]}`},
		{"the list of flags has them", "GET", apitest.Features, "", 200, `{"...":0,"features":[{"...":0,"environments":[{"...":0,"name":"first"},{"...":0,"name":"default"},{"...":0,"name":"development","enabled":true},{"...":0,"name":"production"}]}]}`},
		{"add a strategy there", "POST", apitest.In("f", "first") + "/strategies", `{"name":"default"}`, 200, apitest.Anything},
		{"enable the flag there", "POST", apitest.In("f", "first") + "/on", "", 200, `{"...":0,"enabled":true}`},
	})
}

// TestAttachWithMore adds an environment with the other fields that the official client sends.
func TestAttachWithMore(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	attach := apitest.Project + "/environments"
	s.Run(t, []apitest.Call{
		{"an invalid default strategy", "POST", attach, `{"environment":"default","defaultStrategy":{"name":"flexibleRollout","parameters":{"rollout":"abc"}}}`, 400,
			apitest.Invalid("/defaultStrategy/parameters/rollout")},
		{"a default strategy of an unknown type", "POST", attach, `{"environment":"default","defaultStrategy":{"name":"nosuch"}}`, 400, apitest.Invalid("/defaultStrategy/name")},
		{"a default strategy without a name", "POST", attach, `{"environment":"default","defaultStrategy":{}}`, 400, apitest.Invalid("/defaultStrategy/name")},
		{"rejected requests add nothing", "GET", apitest.Project, "", 200, `{"...":0,"environments":[{"environment":"development"},{"environment":"production"}]}`},
		{"a valid request", "POST", attach, `{"environment":"default","changeRequestsEnabled":false,"defaultStrategy":{"name":"flexibleRollout","parameters":{"rollout":25}}}`, 200, ""},
		{"create a flag", "POST", apitest.Features, `{"name":"f"}`, 201, apitest.Anything},
		{"enabling the flag adds the default strategy", "POST", apitest.In("f", "default") + "/on", "", 200, `{"...":0,"enabled":true,"environments":[
			{"...":0,"name":"default","enabled":true,"strategies":[{"...":0,"name":"flexibleRollout","parameters":{"rollout":"25","stickiness":"default","groupId":"f"}}]},
			{"...":0,"enabled":false},{"...":0,"enabled":false}]}`},
	})
}

func TestDetachEnvironment(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.CreateEnabled(t, "f")
	s.Must(t, "PUT", apitest.In("f", "development")+"/variants", `[{"name":"v","weight":1}]`)
	const one, again = apitest.Project + "/environments/development", apitest.Project + "/environments"
	s.Must(t, "POST", one+"/default-strategy", `{"name":"default"}`)
	s.Create(t, "bare")
	s.Run(t, []apitest.Call{
		{"an environment that the project does not have", "DELETE", apitest.Project + "/environments/default", "", 404, apitest.NotFound(`"default"`)},
		{"remove it", "DELETE", one, "", 200, ""},
		{"do it again", "DELETE", one, "", 404, apitest.NotFound(`"development"`)},
		{"the service still has it", "GET", apitest.Environments + "/development", "", 200, environment("development", "development", true, 2)},
		{"the flag does not have it", "GET", apitest.Features + "/f", "", 200, `{"...":0,"enabled":false,"variants":[],"environments":[{"...":0,"name":"production"}]}`},
		{"the list of flags does not have it", "GET", apitest.Features, "", 200, `{"...":0,"features":[{"...":0,"environments":[{"...":0,"name":"production"}]},{"...":0,"environments":[{"...":0,"name":"production"}]}]}`},
		{"add a strategy in it", "POST", apitest.In("f", "development") + "/strategies", `{"name":"default"}`, 404, apitest.NotFound(`"development"`)},
		{"set a default strategy in it", "POST", one + "/default-strategy", `{"name":"default"}`, 404, apitest.NotFound(`"development"`)},
		{"add it again", "POST", again, `{"environment":"development"}`, 200, ""},
		{"the flag has its strategies and variants again, and is disabled", "GET", apitest.In("f", "development"), "", 200, `{"...":0,"enabled":false,"strategies":[{"...":0,"name":"default"}],"variants":[{"...":0,"name":"v"}]}`},
		{"the list of flags has it again", "GET", apitest.Features, "", 200, `{"...":0,"features":[{"...":0,"name":"bare"},{"...":0,"name":"f","environments":[
			{"...":0,"name":"development","enabled":false,"hasStrategies":true,"variantCount":1},{"...":0,"name":"production"}]}]}`},
		{"the default strategy is gone", "POST", apitest.In("bare", "development") + "/on", "", 409, apitest.Failure("ConflictError", "")},
		{"enable the flag again", "POST", apitest.In("f", "development") + "/on", "", 200, `{"...":0,"enabled":true}`},
	})
	events := s.EventsOf(t, projectAt(t, s, "default"))
	want := []flags.EventType{flags.ProjectCreated, flags.DefaultStrategyUpdated, flags.ProjectEnvironmentRemoved, flags.ProjectEnvironmentAdded}
	if !slices.Equal(events, want) {
		t.Errorf("events %q, want %q", events, want)
	}
}

func TestDefaultStrategy(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f", "g", "own")
	s.AddStrategy(t, "own", `{"name":"userWithId","parameters":{"userIds":"1"}}`)
	const one = apitest.Project + "/environments/development/default-strategy"
	const body = `{"name":"flexibleRollout","title":"half","parameters":{"rollout":50},"constraints":[{"contextName":"userId","operator":"IN","values":["1"]}],
		"variants":[{"name":"a","weight":0,"weightType":"variable","stickiness":"default"},{"name":"b","weight":0,"weightType":"variable","stickiness":"default"}]}`
	const variants = `"variants":[{"...":0,"name":"a","weight":500},{"...":0,"name":"b","weight":500}]`
	s.Run(t, []apitest.Call{
		{"enable a flag without a default strategy", "POST", apitest.In("f", "development") + "/on", "", 409, apitest.Failure("ConflictError", "")},
		{"no name", "POST", one, `{}`, 400, apitest.Invalid("/name")},
		{"an unknown type", "POST", one, `{"name":"nosuch"}`, 400, apitest.Invalid("/name")},
		{"a rollout above 100", "POST", one, `{"name":"flexibleRollout","parameters":{"rollout":"101"}}`, 400, apitest.Invalid("/parameters/rollout")},
		{"a constraint without values", "POST", one, `{"name":"default","constraints":[{"contextName":"userId","operator":"IN"}]}`, 400, apitest.Invalid("/constraints/0/values")},
		{"set it", "POST", one, body, 200, `{"name":"flexibleRollout","title":"half","disabled":false,"sortOrder":0,"segments":[],"parameters":{"rollout":"50"},
			"constraints":[{"...":0,"contextName":"userId","values":["1"]}],` + variants + `}`},
		{"the same again", "POST", one, body, 200, apitest.Anything},
		{"a disabled flag does not get it", "GET", apitest.Features + "/f", "", 200, `{"...":0,"environments":[{"...":0,"strategies":[]},{"...":0,"strategies":[]}]}`},
		{"enabling the flag adds it", "POST", apitest.In("f", "development") + "/on", "", 200, `{"...":0,"enabled":true,"environments":[{"...":0,"enabled":true,"strategies":[
			{"...":0,"id":"<uuid>","featureName":"f","name":"flexibleRollout","title":"half","parameters":{"rollout":"50","stickiness":"default","groupId":"f"},
			"constraints":[{"...":0,"contextName":"userId","values":["1"]}],` + variants + `}]},{"...":0,"enabled":false,"strategies":[]}]}`},
		{"the flag keeps it", "GET", apitest.In("f", "development"), "", 200, `{"...":0,"enabled":true,"strategies":[{"...":0,"name":"flexibleRollout"}]}`},
		{"another environment has no default strategy", "POST", apitest.In("f", "production") + "/on", "", 409, apitest.Failure("ConflictError", "")},
		{"a flag with a strategy of its own does not get it", "POST", apitest.In("own", "development") + "/on", "", 200, `{"...":0,"environments":[{"...":0,"enabled":true,"strategies":[{"...":0,"name":"userWithId"}]},{"...":0}]}`},
		{"replace it", "POST", one, `{"name":"default"}`, 200, `{"name":"default","title":null,"disabled":false,"sortOrder":0,"segments":[],"parameters":{},"constraints":[],"variants":[]}`},
		{"the next flag gets the new one", "POST", apitest.In("g", "development") + "/on", "", 200, `{"...":0,"environments":[{"...":0,"strategies":[{"...":0,"name":"default"}]},{"...":0}]}`},
		{"earlier flags keep the old one", "GET", apitest.In("f", "development"), "", 200, `{"...":0,"strategies":[{"...":0,"name":"flexibleRollout"}]}`},
	})
	s.WantEvents(t, "f", flags.FeatureEnvironmentEnabled, 1)
	s.WantEvents(t, "f", flags.FeatureStrategyAdd, 0) // one write, one event
	s.WantParallel(t, map[int]int{404: 16}, 16, func(int) apitest.Call {
		return apitest.Call{Method: "POST", Path: apitest.In("raced", "development") + "/on"}
	})
	s.Create(t, "raced")
	s.WantParallel(t, map[int]int{200: 16}, 16, func(int) apitest.Call {
		return apitest.Call{Method: "POST", Path: apitest.In("raced", "development") + "/on"}
	})
	s.Check(t, apitest.Call{"16 requests at once add one strategy", "GET", apitest.In("raced", "development"), "", 200, `{"...":0,"enabled":true,"strategies":[{"...":0,"name":"default"}]}`})
}
