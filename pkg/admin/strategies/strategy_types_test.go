package strategies_test

import (
	"fmt"
	"strings"
	"testing"

	"guidon/pkg/apitest"
	"guidon/pkg/flags"
)

const strategyTypes = "/api/admin/strategies"

// strategyType is a custom strategy type in a response.
func strategyType(name string, others ...string) string {
	return apitest.Object([]string{
		fmt.Sprintf(`"name":%q`, name), `"displayName":null`, `"title":null`, `"description":null`, `"editable":true`, `"deprecated":false`, `"parameters":[]`,
	}, others)
}

func TestStrategyTypes(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	builtIn := func(name string) string {
		return fmt.Sprintf(`{"name":%q,"displayName":"<has >","title":null,"description":"<has .>","editable":false,"deprecated":%t,"parameters":"<any>"}`, name, name == "userWithId" || strings.HasPrefix(name, "gradual"))
	}
	all := func(others ...string) string {
		list := []string{builtIn("default"), builtIn("flexibleRollout"), builtIn("userWithId"), builtIn("remoteAddress"), builtIn("applicationHostname"),
			builtIn("gradualRolloutUserId"), builtIn("gradualRolloutSessionId"), builtIn("gradualRolloutRandom")}
		return `{"version":1,"strategies":[` + strings.Join(append(list, others...), ",") + `]}`
	}
	const given = `"parameters":[{"name":"p","type":"percentage","required":true},{"name":"l","type":"list","description":"a list"},{"name":"n","type":"number","description":null}]`
	const answered = `"parameters":[{"name":"p","type":"percentage","description":"","required":true},{"name":"l","type":"list","description":"a list","required":false},` +
		`{"name":"n","type":"number","description":"","required":false}]`
	full := strategyType("mine", `"title":"t"`, `"description":"d"`, answered)
	s.Run(t, []apitest.Call{
		{"only built-in types at first", "GET", strategyTypes, "", 200, all()},
		{"a built-in one", "GET", strategyTypes + "/flexibleRollout", "", 200,
			`{"...":0,"parameters":[{"...":0,"name":"rollout","type":"percentage"},{"...":0,"name":"stickiness","type":"string"},{"...":0,"name":"groupId","type":"string"}]}`},
		{"one without parameters", "GET", strategyTypes + "/default", "", 200, `{"...":0,"parameters":[]}`},
		{"created", "POST", strategyTypes, `{"name":"mine","title":"t","description":"d","editable":false,"deprecated":true,` + given + `}`, 201, full},
		{"with a name only", "POST", strategyTypes, `{"name":"plain","parameters":[]}`, 201, strategyType("plain")},
		{"read", "GET", strategyTypes + "/mine", "", 200, full},
		{"all", "GET", strategyTypes, "", 200, all(full, strategyType("plain"))},
		{"a taken name", "POST", strategyTypes, `{"name":"mine","parameters":[]}`, 409, apitest.Failure("NameExistsError", `"mine"`)},
		{"a built-in name", "POST", strategyTypes, `{"name":"default","parameters":[]}`, 409, apitest.Failure("NameExistsError", `"default"`)},
		{"no name", "POST", strategyTypes, `{"parameters":[]}`, 400, apitest.Invalid("/name")},
		{"no parameters", "POST", strategyTypes, `{"name":"x"}`, 400, apitest.Invalid("/parameters")},
		{"an invalid name", "POST", strategyTypes, `{"name":"a b","parameters":[]}`, 400, apitest.Invalid("/name")},
		{"invalid parameters", "POST", strategyTypes, `{"name":"x","parameters":[{"name":"a","type":"nosuch"},{"type":"list"},{"name":"a","type":"list"}]}`, 400,
			apitest.Invalid("/parameters/0/type", "/parameters/1/name", "/parameters/2/name")},
		{"changed", "PUT", strategyTypes + "/mine", `{"name":"mine","title":null,"parameters":[]}`, 200, ""},
		{"fields that were left out stay, except parameters", "GET", strategyTypes + "/mine", "", 200, strategyType("mine", `"description":"d"`)},
		{"changed without parameters", "PUT", strategyTypes + "/mine", `{"title":"t"}`, 400, apitest.Invalid("/parameters")},
		{"renamed", "PUT", strategyTypes + "/mine", `{"name":"other","parameters":[]}`, 400, apitest.Invalid("/name")},
		{"a built-in one changed", "PUT", strategyTypes + "/default", `{"parameters":[]}`, 400, apitest.Malformed("built in")},
		{"deprecated", "POST", strategyTypes + "/mine/deprecate", "", 200, ""},
		{"again", "POST", strategyTypes + "/mine/deprecate", "", 200, ""},
		{"read as deprecated", "GET", strategyTypes + "/mine", "", 200, strategyType("mine", `"description":"d"`, `"deprecated":true`)},
		{"reactivated", "POST", strategyTypes + "/mine/reactivate", "", 200, ""},
		{"a built-in one deprecated", "POST", strategyTypes + "/default/deprecate", "", 400, apitest.Malformed("built in")},
		{"deleted", "DELETE", strategyTypes + "/mine", "", 200, ""},
		{"deleted again", "DELETE", strategyTypes + "/mine", "", 404, apitest.NotFound(`"mine"`)},
		{"a built-in one deleted", "DELETE", strategyTypes + "/default", "", 400, apitest.Malformed("built in")},
		{"the remaining types", "GET", strategyTypes, "", 200, all(strategyType("plain"))},
	})
	s.WantHistoryOf(t, &flags.StrategyTypes{},
		flags.StrategyTypeCreated, flags.StrategyTypeCreated, flags.StrategyTypeUpdated, flags.StrategyTypeDeprecated,
		flags.StrategyTypeReactivated, flags.StrategyTypeDeleted)
}

// TestStrategiesOfTypes gives a flag strategies of a custom type.
func TestStrategiesOfTypes(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	list := apitest.In("f", "development") + "/strategies"
	s.Check(t, apitest.Call{"before it is defined", "POST", list, `{"name":"mine"}`, 400, apitest.Invalid("/name")})
	s.Must(t, "POST", strategyTypes, `{"name":"mine","parameters":[{"name":"need","type":"string","required":true},{"name":"share","type":"percentage"},{"name":"on","type":"boolean"}]}`)
	one := list + "/" + s.AddStrategy(t, "f", `{"name":"mine","parameters":{"need":"x","share":50,"on":true,"other":1}}`)
	const mine, parameters = `"name":"mine"`, `"parameters":{"need":"x","share":"50","on":"true","other":"1"}`
	s.Check(t, apitest.Call{"added", "GET", one, "", 200, apitest.Strategy("f", mine, parameters)})
	s.Unchanged(t, "f", []apitest.Call{
		{"without a required parameter", "POST", list, `{"name":"mine"}`, 400, apitest.Invalid("/parameters/need")},
		{"with invalid values", "POST", list, `{"name":"mine","parameters":{"need":"","share":"half","on":1}}`, 400, apitest.Invalid("/parameters/need", "/parameters/share", "/parameters/on")},
		{"checked before the path", "POST", apitest.In("nosuch", "development") + "/strategies", `{"name":"mine"}`, 400, apitest.Invalid("/parameters/need")},
		{"valid, for a flag that does not exist", "POST", apitest.In("nosuch", "development") + "/strategies", `{"name":"mine","parameters":{"need":"x"}}`, 404, apitest.NotFound(`"nosuch"`)},
		{"replaced with invalid parameters", "PUT", one, `{"parameters":{"need":"x","share":101}}`, 400, apitest.Invalid("/parameters/share")},
		{"replaced without parameters", "PUT", one, `{"title":"t"}`, 400, apitest.Invalid("/parameters/need")},
		{"replaced with an unknown type", "PUT", one, `{"name":"nosuch"}`, 400, apitest.Invalid("/name")},
		{"patched to invalid parameters", "PATCH", one, `[{"op":"remove","path":"/parameters/need"}]`, 400, apitest.Invalid("/parameters/need")},
		{"patched to an unknown type", "PATCH", one, `[{"op":"replace","path":"/name","value":"nosuch"}]`, 400, apitest.Invalid("/name")},
	})
	s.Run(t, []apitest.Call{
		{"replaced", "PUT", one, `{"title":"t",` + parameters + `}`, 200, apitest.Strategy("f", mine, `"title":"t"`, parameters)},
		{"patched", "PATCH", one, `[{"op":"replace","path":"/parameters/share","value":7}]`, 200, apitest.Anything},
		{"patched to another type", "PATCH", one, `[{"op":"replace","path":"/name","value":"default"}]`, 200, apitest.Anything},
		{"and back", "PATCH", one, `[{"op":"replace","path":"/name","value":"mine"}]`, 200, apitest.Anything},
		{"as a default strategy", "POST", apitest.Project + "/environments/production/default-strategy", `{"name":"mine","parameters":{"need":"x"}}`, 200, apitest.Anything},
		{"as a default strategy without a required parameter", "POST", apitest.Project + "/environments/production/default-strategy", `{"name":"mine"}`, 400, apitest.Invalid("/parameters/need")},
		{"enabled with the default strategy", "POST", apitest.In("f", "production") + "/on", "", 200, apitest.Anything},
	})
}

// TestStrategyTypeInUse deletes a strategy type that a flag uses. The strategy stays and can be changed; new ones are refused.
func TestStrategyTypeInUse(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	list := apitest.In("f", "development") + "/strategies"
	s.Must(t, "POST", strategyTypes, `{"name":"mine","parameters":[{"name":"need","type":"string","required":true}]}`)
	one := list + "/" + s.AddStrategy(t, "f", `{"name":"mine","parameters":{"need":"x"}}`)
	s.Must(t, "POST", apitest.In("f", "development")+"/on", "")
	s.Must(t, "DELETE", strategyTypes+"/mine", "")
	const mine, need = `"name":"mine"`, `"parameters":{"need":"x"}`
	s.Run(t, []apitest.Call{
		{"kept", "GET", one, "", 200, apitest.Strategy("f", mine, need)},
		{"patched", "PATCH", one, `[{"op":"replace","path":"/title","value":"t"}]`, 200, apitest.Strategy("f", mine, need, `"title":"t"`)},
		{"replaced with the same type", "PUT", one, `{"name":"mine","title":"u",` + need + `}`, 200, apitest.Strategy("f", mine, need, `"title":"u"`)},
		{"with an invalid constraint", "PUT", one, `{"name":"mine","constraints":[{"contextName":"c","operator":"IN"}]}`, 400, apitest.Invalid("/constraints/0/values")},
		{"another type", "PUT", one, `{"name":"nosuch"}`, 400, apitest.Invalid("/name")},
		{"cloned", "POST", apitest.Features + "/f/clone", `{"name":"clone"}`, 201, apitest.Anything},
		{"a second one of the deleted type", "POST", list, `{"name":"mine",` + need + `}`, 400, apitest.Invalid("/name")},
		{"changed to a known type", "PUT", one, `{"name":"default"}`, 200, apitest.Strategy("f", `"title":"u"`)},
		{"back to the deleted type", "PUT", one, `{"name":"mine"}`, 400, apitest.Invalid("/name")},
	})
}

func TestParallelStrategyTypes(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.WantParallel(t, map[int]int{201: 12, 409: 12}, 24, func(i int) apitest.Call {
		return apitest.Call{Method: "POST", Path: strategyTypes, Body: fmt.Sprintf(`{"name":"type-%d","parameters":[]}`, i%12)}
	})
	list := apitest.Decode[struct{ Strategies []struct{ Name string } }](t, s.Must(t, "GET", strategyTypes, "").Body)
	if n := len(list.Strategies); n != 20 {
		t.Errorf("%d strategy types, want 8 built-in ones and 12", n)
	}
}

func TestValidateConstraint(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	const validate = "/api/admin/constraints/validate"
	s.Run(t, []apitest.Call{
		{"a list", "POST", validate, `{"contextName":"userId","operator":"IN","values":["1"]}`, 204, ""},
		{"one value", "POST", validate, `{"contextName":"age","operator":"NUM_GT","value":"17.5","inverted":true}`, 204, ""},
		{"any context field", "POST", validate, `{"contextName":"nosuch","operator":"STR_CONTAINS","values":["x"],"caseInsensitive":true}`, 204, ""},
		{"nothing", "POST", validate, `{}`, 400, apitest.Invalid("/contextName", "/operator")},
		{"a list", "POST", validate, `[]`, 400, apitest.Invalid("")},
		{"not a number", "POST", validate, `{"contextName":"age","operator":"NUM_EQ","value":"x"}`, 400, apitest.Invalid("/value")},
		{"a number as a value", "POST", validate, `{"contextName":"age","operator":"NUM_EQ","value":1}`, 400, apitest.Invalid("/value")},
	})
}
