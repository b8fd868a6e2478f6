package strategies_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"guidon/pkg/apitest"
	"guidon/pkg/flags"
)

// rollout is the field "parameters" of a flexibleRollout.
func rollout(percent, stickiness, group string) string {
	return fmt.Sprintf(`"parameters":{"rollout":%q,"stickiness":%q,"groupId":%q}`, percent, stickiness, group)
}

const flexible = `"name":"flexibleRollout"`

func TestAddStrategy(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	list := apitest.In("f", "development") + "/strategies"
	constraints := `"constraints":[{"contextName":"c","operator":"NOT_IN","values":["a","b"],"inverted":true,"caseInsensitive":true}]`
	variants := `"variants":[{"name":"v","weight":1000,"weightType":"variable","stickiness":"userId","payload":{"type":"json","value":"{\"a\":1}"}}]`
	s.Run(t, []apitest.Call{
		{"none yet", "GET", list, "", 200, `[]`},
		{"with a name only", "POST", list, `{"name":"default"}`, 200, apitest.Strategy("f")},
		{"the next one is last", "POST", list, `{"name":"default","title":"t"}`, 200, apitest.Strategy("f", `"sortOrder":1`, `"title":"t"`)},
		{"with everything", "POST", list, `{"name":"flexibleRollout","title":"","disabled":true,"sortOrder":7.5,"segments":[],` + constraints + `,` + variants + `,"parameters":{"rollout":"12.0","stickiness":"random","groupId":"g"}}`, 200,
			apitest.Strategy("f", flexible, `"title":""`, `"disabled":true`, `"sortOrder":7.5`, constraints, variants, rollout("12", "random", "g"))},
		{"after a given sort order", "POST", list, `{"name":"default"}`, 200, apitest.Strategy("f", `"sortOrder":8.5`)},
		{"null where it is allowed", "POST", list, `{"name":"default","title":null,"disabled":null,"sortOrder":-1}`, 200, apitest.Strategy("f", `"sortOrder":-1`)},
		{"default parameters of a gradual rollout", "POST", list, `{"name":"flexibleRollout"}`, 200, apitest.Strategy("f", flexible, `"sortOrder":9.5`, rollout("100", "default", "f"))},
		{"defaults of parameters that are left out", "POST", list, `{"name":"flexibleRollout","parameters":{"rollout":50}}`, 200, apitest.Strategy("f", flexible, `"sortOrder":10.5`, rollout("50", "default", "f"))},
		{"userWithId", "POST", list, `{"name":"userWithId","parameters":{"userIds":"1,2"}}`, 200, apitest.Strategy("f", `"name":"userWithId"`, `"sortOrder":11.5`, `"parameters":{"userIds":"1,2"}`)},
		{"remoteAddress", "POST", list, `{"name":"remoteAddress","parameters":{"IPs":"::1"}}`, 200, apitest.Strategy("f", `"name":"remoteAddress"`, `"sortOrder":12.5`, `"parameters":{"IPs":"::1"}`)},
		{"applicationHostname", "POST", list, `{"name":"applicationHostname","parameters":{"hostNames":"h"}}`, 200, apitest.Strategy("f", `"name":"applicationHostname"`, `"sortOrder":13.5`, `"parameters":{"hostNames":"h"}`)},
		{"gradualRolloutUserId", "POST", list, `{"name":"gradualRolloutUserId","parameters":{"percentage":25}}`, 200, apitest.Strategy("f", `"name":"gradualRolloutUserId"`, `"sortOrder":14.5`, `"parameters":{"groupId":"f","percentage":"25"}`)},
		{"parameters become strings", "POST", list, `{"name":"default","parameters":{"i":50,"f":1.50,"e":1e2,"n":-0.5,"t":true,"x":false,"o":null,"s":""}}`, 200,
			apitest.Strategy("f", `"sortOrder":15.5`, `"parameters":{"i":"50","f":"1.50","e":"100","n":"-0.5","t":"true","x":"false","o":"","s":""}`)},
		{"fields that it cannot set are ignored", "POST", list, `{"name":"default","id":"mine","featureName":"other","nosuch":1}`, 200, apitest.Strategy("f", `"sortOrder":16.5`)},
	})
	s.Run(t, []apitest.Call{
		{"ordered by sort order", "GET", list, "", 200, `[{"...":0,"sortOrder":-1},{"...":0,"sortOrder":0},{"...":0,"sortOrder":1},{"...":0,"sortOrder":7.5},{"...":0,"sortOrder":8.5},
			{"...":0,"sortOrder":9.5},{"...":0,"sortOrder":10.5},{"...":0,"sortOrder":11.5},{"...":0,"sortOrder":12.5},{"...":0,"sortOrder":13.5},{"...":0,"sortOrder":14.5},{"...":0,"sortOrder":15.5},{"...":0,"sortOrder":16.5}]`},
		{"no strategies in another environment", "GET", apitest.In("f", "production") + "/strategies", "", 200, `[]`},
	})
	if got := s.Events(t, "f"); len(got) != 14 || slices.ContainsFunc(got[1:], func(e flags.EventType) bool { return e != flags.FeatureStrategyAdd }) {
		t.Errorf("events %q, want the creation and 13 times %s", got, flags.FeatureStrategyAdd)
	}
}

func TestReplaceStrategy(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	constraint := `"constraints":[{"contextName":"c","operator":"SEMVER_GT","value":"1.2.3","values":[],"inverted":false,"caseInsensitive":false}]`
	variants := `"variants":[{"name":"v","weight":1000,"weightType":"variable","stickiness":"default"}]`
	id := s.AddStrategy(t, "f", `{"name":"flexibleRollout","title":"t","disabled":true,"sortOrder":3,"parameters":{"rollout":10,"groupId":"g"},`+constraint+`,`+variants+`}`)
	one := apitest.In("f", "development") + "/strategies/" + id
	kept := []string{`"id":"` + id + `"`, flexible, `"title":"t"`, `"disabled":true`, `"sortOrder":3`}
	whole := append(slices.Clone(kept), constraint, variants, rollout("10", "default", "g"))
	s.Run(t, []apitest.Call{
		{"as created", "GET", one, "", 200, apitest.Strategy("f", whole...)},
		{"fields that are left out: emptied, reset or kept", "PUT", one, `{}`, 200, apitest.Strategy("f", append(kept, rollout("100", "default", "f"))...)},
		{"read back", "GET", one, "", 200, apitest.Strategy("f", append(kept, rollout("100", "default", "f"))...)},
		{"everything", "PUT", one, `{"name":"flexibleRollout","title":"t","disabled":true,"sortOrder":3,"segments":[],"parameters":{"rollout":"10","groupId":"g"},` + constraint + `,` + variants + `}`, 200, apitest.Strategy("f", whole...)},
		{"another type", "PUT", one, `{"name":"userWithId","parameters":{"userIds":"1"}}`, 200,
			apitest.Strategy("f", `"id":"`+id+`"`, `"name":"userWithId"`, `"title":"t"`, `"disabled":true`, `"sortOrder":3`, `"parameters":{"userIds":"1"}`)},
		{"null where it is allowed", "PUT", one, `{"name":"default","title":null,"disabled":null,"sortOrder":0}`, 200, apitest.Strategy("f", `"id":"`+id+`"`)},
		{"the id never changes", "PUT", one, `{"id":"0b5a4f3e-0000-4000-8000-000000000000","featureName":"g"}`, 200, apitest.Strategy("f", `"id":"`+id+`"`)},
	})
	if got := s.Events(t, "f"); len(got) != 6 || got[5] != flags.FeatureStrategyUpdate {
		t.Errorf("events %q, want 6: the last PUT changed nothing", got)
	}
	s.Unchanged(t, "f", []apitest.Call{
		{"in another environment", "PUT", apitest.In("f", "production") + "/strategies/" + id, `{}`, 404, apitest.NotFound(id)},
		{"an unknown type", "PUT", one, `{"name":"nosuch"}`, 400, apitest.Invalid("/name")},
		{"an empty type", "PUT", one, `{"name":""}`, 400, apitest.Invalid("/name")},
		{"an invalid rollout, checked by the rules of the new type", "PUT", one, `{"name":"flexibleRollout","parameters":{"rollout":101}}`, 400, apitest.Invalid("/parameters/rollout")},
	})
}

func TestPatchStrategy(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	id := s.AddStrategy(t, "f", `{"name":"flexibleRollout","title":"t","disabled":true,"sortOrder":3,"parameters":{"groupId":"g"}}`)
	one, mine := apitest.In("f", "development")+"/strategies/"+id, `"id":"`+id+`"`
	constraint := `{"contextName":"c","operator":"IN","values":["x"]}`
	constraints := func(values string) string {
		return `"constraints":[{"contextName":"c","operator":"IN","values":` + values + `,"inverted":false,"caseInsensitive":false}]`
	}
	base := []string{mine, flexible, `"title":"t"`, `"disabled":true`, `"sortOrder":3`}
	with := func(others ...string) string { return apitest.Strategy("f", append(base, others...)...) }
	s.Run(t, []apitest.Call{
		{"a parameter", "PATCH", one, `[{"op":"replace","path":"/parameters/rollout","value":50}]`, 200, with(rollout("50", "default", "g"))},
		{"another parameter", "PATCH", one, `[{"op":"add","path":"/parameters/x","value":true}]`, 200, with(`"parameters":{"rollout":"50","stickiness":"default","groupId":"g","x":"true"}`)},
		{"a removed parameter gets its default", "PATCH", one, `[{"op":"remove","path":"/parameters/x"},{"op":"remove","path":"/parameters/groupId"}]`, 200, with(rollout("50", "default", "f"))},
		{"a constraint", "PATCH", one, `[{"op":"add","path":"/constraints/-","value":` + constraint + `}]`, 200, with(rollout("50", "default", "f"), constraints(`["x"]`))},
		{"a value of it", "PATCH", one, `[{"op":"add","path":"/constraints/0/values/0","value":"w"}]`, 200, with(rollout("50", "default", "f"), constraints(`["w","x"]`))},
		{"removed parameters get their defaults", "PATCH", one, `[{"op":"remove","path":"/parameters"},{"op":"remove","path":"/constraints"}]`, 200, with(rollout("100", "default", "f"))},
		{"a test of the id", "PATCH", one, `[{"op":"test","path":"/id","value":"` + id + `"},{"op":"test","path":"/featureName","value":"f"}]`, 200, with(rollout("100", "default", "f"))},
		{"a test that succeeds", "PATCH", one, `[{"op":"test","path":"/sortOrder","value":3},{"op":"replace","path":"/title","value":null}]`, 200, with(rollout("100", "default", "f"), `"title":null`)},
		{"removed fields are as in a new strategy; name and sort order stay", "PATCH", one, `[{"op":"remove","path":"/title"},{"op":"remove","path":"/disabled"},{"op":"remove","path":"/name"},{"op":"remove","path":"/sortOrder"}]`, 200,
			with(rollout("100", "default", "f"), `"title":null`, `"disabled":false`)},
		{"none", "PATCH", one, `[]`, 200, with(rollout("100", "default", "f"), `"title":null`, `"disabled":false`)},
	})
	before := len(s.Events(t, "f"))
	if before != 10 {
		t.Errorf("%d events, want 10: none where nothing changed", before)
	}
	s.Unchanged(t, "f", []apitest.Call{
		{"an invalid rollout", "PATCH", one, `[{"op":"replace","path":"/parameters/rollout","value":"abc"}]`, 400, apitest.Invalid("/parameters/rollout")},
		{"an unknown type", "PATCH", one, `[{"op":"replace","path":"/name","value":"nosuch"}]`, 400, apitest.Invalid("/name")},
		{"an unknown segment", "PATCH", one, `[{"op":"add","path":"/segments/-","value":1}]`, 400, apitest.Invalid("/segments/0")},
		{"an invalid constraint", "PATCH", one, `[{"op":"add","path":"/constraints/-","value":{"contextName":"c","operator":"NUM_EQ","value":"x"}}]`, 400, apitest.Invalid("/constraints/0/value")},
		{"the id", "PATCH", one, `[{"op":"replace","path":"/id","value":"x"}]`, 400, apitest.Invalid("/0/path")},
		{"the flag", "PATCH", one, `[{"op":"test","path":"/sortOrder","value":3},{"op":"replace","path":"/featureName","value":"y"}]`, 400, apitest.Invalid("/1/path")},
		{"the id is moved away", "PATCH", one, `[{"op":"move","from":"/id","path":"/title"}]`, 400, apitest.Invalid("/0/from")},
		{"an unknown field", "PATCH", one, `[{"op":"add","path":"/nosuch","value":1}]`, 400, `{"...":0,"message":"<has must be one of /name, /title, >"}`},
		{"a missing path", "PATCH", one, `[{"op":"replace","path":"/parameters/nosuch/rollout","value":1}]`, 400, apitest.Malformed("cannot be applied")},
		{"a missing field", "PATCH", one, `[{"op":"remove","path":"/parameters/nosuch"}]`, 400, apitest.Malformed("cannot be applied")},
		{"a failing test after a change", "PATCH", one, `[{"op":"replace","path":"/title","value":"half"},{"op":"test","path":"/sortOrder","value":4}]`, 400, apitest.Malformed("nothing was changed")},
		{"null where it is not allowed", "PATCH", one, `[{"op":"replace","path":"/parameters","value":null}]`, 400, apitest.Invalid("/parameters")},
		{"not a patch", "PATCH", one, `{"title":"x"}`, 400, apitest.Invalid("")},
	})
}

func TestRemoveStrategy(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	dev := apitest.In("f", "development")
	list := dev + "/strategies"
	a, b, c := s.AddStrategy(t, "f", `{"name":"default"}`), s.AddStrategy(t, "f", `{"name":"default"}`), s.AddStrategy(t, "f", `{"name":"default","disabled":true}`)
	s.Must(t, "POST", dev+"/on", "")
	on := func(name string, want bool) apitest.Call {
		return apitest.Call{name, "GET", dev, "", 200, fmt.Sprintf(`{"...":0,"enabled":%t}`, want)}
	}
	s.Run(t, []apitest.Call{
		{"one of two enabled ones", "DELETE", list + "/" + a, "", 200, ""},
		on("still on", true),
		{"twice", "DELETE", list + "/" + a, "", 404, apitest.NotFound(a)},
		{"in another environment", "DELETE", apitest.In("f", "production") + "/strategies/" + b, "", 404, apitest.NotFound(b)},
		{"the only enabled one disabled", "PATCH", list + "/" + b, `[{"op":"replace","path":"/disabled","value":true}]`, 200, `{"...":0,"disabled":true}`},
		on("disabled with it", false),
		{"enabled with disabled strategies only", "POST", dev + "/on", "", 200, apitest.Anything},
		{"one of two disabled ones", "DELETE", list + "/" + b, "", 200, ""},
		on("still on with one disabled strategy", true),
		{"the last one", "DELETE", list + "/" + c, "", 200, ""},
		on("disabled with the last one", false),
		{"none left", "GET", list, "", 200, `[]`},
	})
	if got, want := s.Last(t, "f", 2), []flags.EventType{flags.FeatureStrategyRemove, flags.FeatureEnvironmentDisabled}; !slices.Equal(got, want) {
		t.Errorf("last events %q, want %q", got, want)
	}
}

func TestSortOrder(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	list := apitest.In("f", "development") + "/strategies"
	a, b := s.AddStrategy(t, "f", `{"name":"default"}`), s.AddStrategy(t, "f", `{"name":"default"}`)
	order := func(pairs ...any) string {
		body := []map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			body = append(body, map[string]any{"id": pairs[i], "sortOrder": pairs[i+1]})
		}
		text, _ := json.Marshal(body) // strings and numbers always marshal
		return string(text)
	}
	ids := func(x, y string) string { return fmt.Sprintf(`[{"...":0,"id":%q},{"...":0,"id":%q}]`, x, y) }
	s.Run(t, []apitest.Call{
		{"reverse the order", "POST", list + "/set-sort-order", order(a, 5, b, 2), 200, ""},
		{"the reversed list", "GET", list, "", 200, ids(b, a)},
		{"one of them", "POST", list + "/set-sort-order", order(a, -1.5), 200, ""},
		{"it is first", "GET", list, "", 200, ids(a, b)},
		{"equal sort orders", "POST", list + "/set-sort-order", order(a, 1, b, 1), 200, ""},
		{"the former order decides", "GET", list, "", 200, ids(a, b)},
		{"none", "POST", list + "/set-sort-order", `[]`, 200, ""},
		{"the same again", "POST", list + "/set-sort-order", order(a, 1, b, 1), 200, ""},
	})
	if got := s.Events(t, "f"); len(got) != 6 || got[5] != flags.FeatureStrategyOrder {
		t.Errorf("events %q, want 6, including 3 changes of the order", got)
	}
	s.Unchanged(t, "f", []apitest.Call{
		{"an unknown one among them", "POST", list + "/set-sort-order", order(a, 9, "nosuch", 1), 400, apitest.Malformed(`"nosuch"`)},
		{"no id", "POST", list + "/set-sort-order", `[{"sortOrder":1}]`, 400, apitest.Invalid("/0/id")},
		{"no order", "POST", list + "/set-sort-order", `[{"id":"` + a + `"}]`, 400, apitest.Invalid("/0/sortOrder")},
		{"not a list", "POST", list + "/set-sort-order", `{}`, 400, apitest.Invalid("")},
	})
}
