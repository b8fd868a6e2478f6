package admin_test

import (
	"slices"
	"testing"

	"guidon/pkg/flags"
)

func TestAttachEnvironment(t *testing.T) {
	s := serve(t)
	s.enabled(t, "f")
	s.must(t, "POST", "/api/admin/environments", `{"name":"first","type":"test","sortOrder":0}`)
	attach := project + "/environments"
	s.run(t, []call{
		{"not there yet", "GET", in("f", "first"), "", 404, notFound(`"first"`)},
		{"added", "POST", attach, `{"environment":"first"}`, 200, ""},
		{"twice", "POST", attach, `{"environment":"first"}`, 409, failure("ConflictError", `"first"`)},
		{"there from the start", "POST", attach, `{"environment":"production"}`, 409, failure("ConflictError", `"production"`)},
		{"one that is disabled", "POST", attach, `{"environment":"default"}`, 200, ""},
		{"an unknown one", "POST", attach, `{"environment":"nosuch"}`, 400, invalid("/environment")},
		{"none", "POST", attach, `{}`, 400, invalid("/environment")},
		{"to an unknown project", "POST", "/api/admin/projects/nosuch/environments", `{"environment":"first"}`, 404, notFound(`"nosuch"`)},
		{"flags that were there have them, by sort order, disabled and empty", "GET", features + "/f", "", 200, `{"...":0,"enabled":true,"environments":[
			{"...":0,"name":"first","type":"test","sortOrder":0,"enabled":false,"strategies":[],"variants":[]},
			{"...":0,"name":"default","sortOrder":1,"enabled":false},{"...":0,"name":"development","enabled":true},{"...":0,"name":"production"}]}`},
		{"lists too", "GET", features, "", 200, `{"...":0,"features":[{"...":0,"environments":[{"...":0,"name":"first"},{"...":0,"name":"default"},{"...":0,"name":"development","enabled":true},{"...":0,"name":"production"}]}]}`},
		{"on there", "POST", in("f", "first") + "/strategies", `{"name":"default"}`, 200, anything},
		{"it counts", "POST", in("f", "first") + "/on", "", 200, `{"...":0,"enabled":true}`},
	})
}

// TestAttachWithMore adds an environment with what the official client sends beside its name.
func TestAttachWithMore(t *testing.T) {
	s := serve(t)
	attach := project + "/environments"
	s.run(t, []call{
		{"change requests", "POST", attach, `{"environment":"default","changeRequestsEnabled":true}`, 400, invalid("/changeRequestsEnabled")},
		{"a default strategy that is none", "POST", attach, `{"environment":"default","defaultStrategy":{"name":"flexibleRollout","parameters":{"rollout":"abc"}}}`, 400,
			invalid("/defaultStrategy/parameters/rollout")},
		{"one of an unknown type", "POST", attach, `{"environment":"default","defaultStrategy":{"name":"nosuch"}}`, 400, invalid("/defaultStrategy/name")},
		{"one without a type", "POST", attach, `{"environment":"default","defaultStrategy":{}}`, 400, invalid("/defaultStrategy/name")},
		{"not added yet", "GET", project, "", 200, `{"...":0,"environments":[{"environment":"development"},{"environment":"production"}]}`},
		{"all that is good", "POST", attach, `{"environment":"default","changeRequestsEnabled":false,"defaultStrategy":{"name":"flexibleRollout","parameters":{"rollout":25}}}`, 200, ""},
		{"a flag", "POST", features, `{"name":"f"}`, 201, anything},
		{"gets the default strategy", "POST", in("f", "default") + "/on", "", 200, `{"...":0,"enabled":true,"environments":[
			{"...":0,"name":"default","enabled":true,"strategies":[{"...":0,"name":"flexibleRollout","parameters":{"rollout":"25","stickiness":"default","groupId":"f"}}]},
			{"...":0,"enabled":false},{"...":0,"enabled":false}]}`},
	})
}

func TestDetachEnvironment(t *testing.T) {
	s := serve(t)
	s.enabled(t, "f")
	s.must(t, "PUT", in("f", "development")+"/variants", `[{"name":"v","weight":1}]`)
	const one, again = project + "/environments/development", project + "/environments"
	s.must(t, "POST", one+"/default-strategy", `{"name":"default"}`)
	s.create(t, "bare")
	s.run(t, []call{
		{"one that the project does not have", "DELETE", project + "/environments/default", "", 404, notFound(`"default"`)},
		{"an unknown one", "DELETE", project + "/environments/nosuch", "", 404, notFound(`"nosuch"`)},
		{"in an unknown project", "DELETE", "/api/admin/projects/nosuch/environments/development", "", 404, notFound(`"nosuch"`)},
		{"taken out", "DELETE", one, "", 200, ""},
		{"twice", "DELETE", one, "", 404, notFound(`"development"`)},
		{"the service has it still", "GET", environments + "/development", "", 200, environment("development", "development", true, 2)},
		{"the flag does not", "GET", features + "/f", "", 200, `{"...":0,"enabled":false,"variants":[],"environments":[{"...":0,"name":"production"}]}`},
		{"nor the list", "GET", features, "", 200, `{"...":0,"features":[{"...":0,"environments":[{"...":0,"name":"production"}]},{"...":0,"environments":[{"...":0,"name":"production"}]}]}`},
		{"not to change", "POST", in("f", "development") + "/strategies", `{"name":"default"}`, 404, notFound(`"development"`)},
		{"nor to get a default strategy", "POST", one + "/default-strategy", `{"name":"default"}`, 404, notFound(`"development"`)},
		{"added again", "POST", again, `{"environment":"development"}`, 200, ""},
		{"with strategies and variants, disabled", "GET", in("f", "development"), "", 200, `{"...":0,"enabled":false,"strategies":[{"...":0,"name":"default"}],"variants":[{"...":0,"name":"v"}]}`},
		{"in the list too", "GET", features, "", 200, `{"...":0,"features":[{"...":0,"name":"bare"},{"...":0,"name":"f","environments":[
			{"...":0,"name":"development","enabled":false,"hasStrategies":true,"variantCount":1},{"...":0,"name":"production"}]}]}`},
		{"no default strategy", "POST", in("bare", "development") + "/on", "", 409, failure("ConflictError", "")},
		{"on again", "POST", in("f", "development") + "/on", "", 200, `{"...":0,"enabled":true}`},
	})
	events := s.eventsOf(t, s.projectAt(t, "default"))
	want := []flags.EventType{flags.ProjectCreated, flags.DefaultStrategyUpdated, flags.ProjectEnvironmentRemoved, flags.ProjectEnvironmentAdded}
	if !slices.Equal(events, want) {
		t.Errorf("events %q, want %q", events, want)
	}
}

func TestDefaultStrategy(t *testing.T) {
	s := serve(t)
	s.create(t, "f", "g", "own")
	s.strategy(t, "own", `{"name":"userWithId","parameters":{"userIds":"1"}}`)
	const one = project + "/environments/development/default-strategy"
	const body = `{"name":"flexibleRollout","title":"half","parameters":{"rollout":50},"constraints":[{"contextName":"userId","operator":"IN","values":["1"]}],
		"variants":[{"name":"a","weight":0,"weightType":"variable","stickiness":"default"},{"name":"b","weight":0,"weightType":"variable","stickiness":"default"}]}`
	const variants = `"variants":[{"...":0,"name":"a","weight":500},{"...":0,"name":"b","weight":500}]`
	s.run(t, []call{
		{"none yet", "POST", in("f", "development") + "/on", "", 409, failure("ConflictError", "")},
		{"no name", "POST", one, `{}`, 400, invalid("/name")},
		{"an unknown type", "POST", one, `{"name":"nosuch"}`, 400, invalid("/name")},
		{"a rollout past all", "POST", one, `{"name":"flexibleRollout","parameters":{"rollout":"101"}}`, 400, invalid("/parameters/rollout")},
		{"a constraint without values", "POST", one, `{"name":"default","constraints":[{"contextName":"userId","operator":"IN"}]}`, 400, invalid("/constraints/0/values")},
		{"an unknown environment", "POST", project + "/environments/nosuch/default-strategy", `{"name":"default"}`, 404, notFound(`"nosuch"`)},
		{"set", "POST", one, body, 200, `{"name":"flexibleRollout","title":"half","disabled":false,"sortOrder":0,"segments":[],"parameters":{"rollout":"50"},
			"constraints":[{"...":0,"contextName":"userId","values":["1"]}],` + variants + `}`},
		{"the same again", "POST", one, body, 200, anything},
		{"a flag that is on nowhere", "GET", features + "/f", "", 200, `{"...":0,"environments":[{"...":0,"strategies":[]},{"...":0,"strategies":[]}]}`},
		{"gets it when it is", "POST", in("f", "development") + "/on", "", 200, `{"...":0,"enabled":true,"environments":[{"...":0,"enabled":true,"strategies":[
			{"...":0,"id":"<uuid>","featureName":"f","name":"flexibleRollout","title":"half","parameters":{"rollout":"50","stickiness":"default","groupId":"f"},
			"constraints":[{"...":0,"contextName":"userId","values":["1"]}],` + variants + `}]},{"...":0,"enabled":false,"strategies":[]}]}`},
		{"it stays", "GET", in("f", "development"), "", 200, `{"...":0,"enabled":true,"strategies":[{"...":0,"name":"flexibleRollout"}]}`},
		{"another environment has none", "POST", in("f", "production") + "/on", "", 409, failure("ConflictError", "")},
		{"a flag with its own strategy", "POST", in("own", "development") + "/on", "", 200, `{"...":0,"environments":[{"...":0,"enabled":true,"strategies":[{"...":0,"name":"userWithId"}]},{"...":0}]}`},
		{"replaced", "POST", one, `{"name":"default"}`, 200, `{"name":"default","title":null,"disabled":false,"sortOrder":0,"segments":[],"parameters":{},"constraints":[],"variants":[]}`},
		{"is what the next one gets", "POST", in("g", "development") + "/on", "", 200, `{"...":0,"environments":[{"...":0,"strategies":[{"...":0,"name":"default"}]},{"...":0}]}`},
		{"and not those before", "GET", in("f", "development"), "", 200, `{"...":0,"strategies":[{"...":0,"name":"flexibleRollout"}]}`},
	})
	s.wantEvents(t, "f", flags.FeatureEnvironmentEnabled, 1)
	s.wantEvents(t, "f", flags.FeatureStrategyAdd, 0) // one write, one event
	got := s.parallel(t, 16, func(int) call { return call{method: "POST", path: in("raced", "development") + "/on"} })
	wantStatuses(t, got, map[int]int{404: 16})
	s.create(t, "raced")
	got = s.parallel(t, 16, func(int) call { return call{method: "POST", path: in("raced", "development") + "/on"} })
	wantStatuses(t, got, map[int]int{200: 16})
	s.check(t, call{"one strategy for 16 that switch", "GET", in("raced", "development"), "", 200, `{"...":0,"enabled":true,"strategies":[{"...":0,"name":"default"}]}`})
}

func TestChangeRequests(t *testing.T) {
	s := serve(t)
	const config, one = project + "/change-requests/config", project + "/environments/development/change-requests/config"
	s.run(t, []call{
		{"none", "GET", config, "", 200, `[]`},
		{"off", "PUT", one, `{"changeRequestsEnabled":false,"requiredApprovals":1}`, 204, ""},
		{"on", "PUT", one, `{"changeRequestsEnabled":true}`, 400, invalid("/changeRequestsEnabled")},
		{"neither", "PUT", one, `{}`, 400, invalid("/changeRequestsEnabled")},
		{"still none", "GET", config, "", 200, `[]`},
		{"of an unknown project", "GET", "/api/admin/projects/nosuch/change-requests/config", "", 404, notFound(`"nosuch"`)},
		{"of an unknown environment", "PUT", project + "/environments/nosuch/change-requests/config", `{"changeRequestsEnabled":false}`, 404, notFound(`"nosuch"`)},
	})
}
