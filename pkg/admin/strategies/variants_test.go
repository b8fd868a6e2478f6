package strategies_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"guidon/pkg/apitest"
	"guidon/pkg/flags"
)

// v is a variant in a response.
func v(name, weightType string, weight int, others ...string) string {
	return apitest.Object([]string{
		fmt.Sprintf(`"name":%q`, name), fmt.Sprintf(`"weight":%d`, weight), fmt.Sprintf(`"weightType":%q`, weightType), `"stickiness":"default"`,
	}, others)
}

// variants is the response of every operation on variants.
func variants(list ...string) string {
	return `{"version":1,"variants":[` + strings.Join(list, ",") + `]}`
}

func TestVariantsOfOneEnvironment(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	one := apitest.In("f", "development") + "/variants"
	every := []string{`"stickiness":"userId"`, `"payload":{"type":"csv","value":"a,b"}`, `"overrides":[{"contextName":"userId","values":["1","2"]}]`}
	s.Run(t, []apitest.Call{
		{"none yet", "GET", one, "", 200, variants()},
		{"none set", "PUT", one, `[]`, 200, variants()},
		{"with name and weight only: variable by default", "PUT", one, `[{"name":"a","weight":1}]`, 200, variants(v("a", "variable", 1000))},
		{"with everything", "PUT", one, `[` + v("a", "variable", 7, every...) + `]`, 200, variants(v("a", "variable", 1000, every...))},
		{"unknown fields are ignored", "PUT", one, `[{"name":"a","weight":1,"nosuch":{},"payload":{"type":"string","value":"","x":1}}]`, 200,
			variants(v("a", "variable", 1000, `"payload":{"type":"string","value":""}`))},
		{"three equal shares: the first gets the rest", "PUT", one, `[{"name":"z","weight":1},{"name":"y","weight":999},{"name":"x","weight":0}]`, 200,
			variants(v("z", "variable", 334), v("y", "variable", 333), v("x", "variable", 333))},
		{"read back", "GET", one, "", 200, variants(v("z", "variable", 334), v("y", "variable", 333), v("x", "variable", 333))},
		{"with a fixed weight", "PUT", one, `[` + v("f", "fix", 101) + `,` + v("a", "variable", 1) + `,` + v("b", "variable", 1) + `]`, 200,
			variants(v("f", "fix", 101), v("a", "variable", 450), v("b", "variable", 449))},
		{"fixed weights of 999", "PUT", one, `[` + v("f", "fix", 500) + `,` + v("g", "fix", 499) + `,` + v("a", "variable", 0) + `]`, 200,
			variants(v("f", "fix", 500), v("g", "fix", 499), v("a", "variable", 1))},
		{"a fixed weight of 0", "PUT", one, `[` + v("f", "fix", 0) + `,` + v("a", "variable", 1000) + `]`, 200, variants(v("f", "fix", 0), v("a", "variable", 1000))},
		{"decimal weights become whole", "PUT", one, `[{"name":"f","weight":333.7,"weightType":"fix"},{"name":"a","weight":0.5}]`, 200,
			variants(v("f", "fix", 333), v("a", "variable", 667))},
		{"a number as payload", "PUT", one, `[` + v("a", "variable", 1, `"payload":{"type":"number","value":"-1.5e3"}`) + `]`, 200, apitest.Anything},
		{"JSON as payload", "PUT", one, `[` + v("a", "variable", 1, `"payload":{"type":"json","value":"[null]"}`) + `]`, 200, apitest.Anything},
		{"the other environment has none", "GET", apitest.In("f", "production") + "/variants", "", 200, variants()},
		{"cleared", "PUT", one, `[]`, 200, variants()},
		{"read back empty", "GET", one, "", 200, variants()},
	})
	if got := s.Events(t, "f"); len(got) != 12 || slices.ContainsFunc(got[1:], func(e flags.EventType) bool { return e != flags.FeatureVariantsUpdated }) {
		t.Errorf("%d events %q, want the creation and 11 changes of variants", len(got), got)
	}
	s.Unchanged(t, "f", []apitest.Call{
		{"no change", "PUT", one, `[]`, 200, variants()},
	})
}

// TestVariantRules breaks rules of each part of variants, with each operation that sets variants. pkg/flags tests all rules.
func TestVariantRules(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	s.Must(t, "PUT", apitest.Features+"/f/variants", `[{"name":"kept","weight":1}]`)
	f := apitest.Features + "/f"
	with := func(member string) string { return `{"name":"v","weight":1,` + member + `}` }
	tests := []struct{ name, list, path string }{
		{"no name", `{"weight":1}`, "/0/name"},
		{"an empty name", `{"name":"","weight":1}`, "/0/name"},
		{"a name twice", `{"name":"v","weight":1},{"name":"v","weight":1}`, "/1/name"},
		{"no weight", `{"name":"v"}`, "/0/weight"},
		{"no variable weight", with(`"weightType":"fix"`), ""},
		{"no payload type", with(`"payload":{"value":"x"}`), "/0/payload/type"},
		{"no payload value", with(`"payload":{"type":"string"}`), "/0/payload/value"},
		{"an override without a context", with(`"overrides":[{"values":["x"]}]`), "/0/overrides/0/contextName"},
		{"an override without values", with(`"overrides":[{"contextName":"c"}]`), "/0/overrides/0/values"},
	}
	var calls []apitest.Call
	for _, tt := range tests {
		list := "[" + tt.list + "]"
		calls = append(calls,
			apitest.Call{tt.name, "PUT", apitest.In("f", "development") + "/variants", list, 400, apitest.Invalid(tt.path)},
			apitest.Call{tt.name + ", in all environments", "PUT", f + "/variants", list, 400, apitest.Invalid(tt.path)},
			apitest.Call{tt.name + ", in some environments", "PUT", f + "/variants-batch", `{"environments":["production"],"variants":` + list + `}`, 400, apitest.Invalid("/variants" + tt.path)})
		if !strings.Contains(tt.list, "},{") {
			calls = append(calls,
				apitest.Call{tt.name + ", by a patch", "PATCH", apitest.In("f", "development") + "/variants", `[{"op":"replace","path":"/0","value":` + tt.list + `}]`, 400, apitest.Invalid(tt.path)},
				apitest.Call{tt.name + ", by a patch in all environments", "PATCH", f + "/variants", `[{"op":"replace","path":"/0","value":` + tt.list + `}]`, 400, apitest.Invalid(tt.path)})
		}
	}
	s.Unchanged(t, "f", calls)
}

func TestVariantsOfAllEnvironments(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	f, all := apitest.Features+"/f", apitest.Features+"/f/variants"
	s.Run(t, []apitest.Call{
		{"none yet", "GET", all, "", 200, variants()},
		{"the same in all environments", "PUT", all, `[{"name":"b","weight":1},{"name":"a","weight":1}]`, 200, variants(v("b", "variable", 500), v("a", "variable", 500))},
		{"in one environment", "GET", apitest.In("f", "development") + "/variants", "", 200, variants(v("b", "variable", 500), v("a", "variable", 500))},
		{"in the other environment", "GET", apitest.In("f", "production") + "/variants", "", 200, variants(v("b", "variable", 500), v("a", "variable", 500))},
		{"different variants in one environment", "PUT", apitest.In("f", "production") + "/variants", `[{"name":"c","weight":1},{"name":"a","weight":1},{"name":"d","weight":1}]`, 200, apitest.Anything},
		{"the union by name; the first environment wins", "GET", all, "", 200,
			variants(v("b", "variable", 500), v("a", "variable", 500), v("c", "variable", 334), v("d", "variable", 333))},
		{"the flag has the same union", "GET", f, "", 200, `{"...":0,"variants":[` +
			strings.Join([]string{v("b", "variable", 500), v("a", "variable", 500), v("c", "variable", 334), v("d", "variable", 333)}, ",") + `]}`},
		{"in some environments", "PUT", f + "/variants-batch", `{"environments":["production"],"variants":[{"name":"e","weight":1}]}`, 200, variants(v("e", "variable", 1000))},
		{"the other environment is unchanged", "GET", apitest.In("f", "development") + "/variants", "", 200, variants(v("b", "variable", 500), v("a", "variable", 500))},
		{"in both environments, one named twice", "PUT", f + "/variants-batch", `{"environments":["production","development","production"],"variants":[{"name":"g","weight":1}]}`, 200, variants(v("g", "variable", 1000))},
		{"cleared in all environments", "PUT", all, `[]`, 200, variants()},
	})
	s.Unchanged(t, "f", []apitest.Call{
		{"without a list: the name has another case", "PUT", f + "/variants-batch", `{"environments":["production"],"Variants":[]}`, 400, apitest.Invalid("/variants")},
		{"no environments", "PUT", f + "/variants-batch", `{"variants":[]}`, 400, apitest.Invalid("/environments")},
		{"an empty list of environments", "PUT", f + "/variants-batch", `{"environments":[],"variants":[]}`, 400, apitest.Invalid("/environments")},
		{"unknown environments", "PUT", f + "/variants-batch", `{"environments":["development","nosuch","default"],"variants":[{"name":"x","weight":1}]}`, 400,
			apitest.Invalid("/environments/1", "/environments/2")},
	})
}

func TestPatchVariants(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	dev, prod, all := apitest.In("f", "development")+"/variants", apitest.In("f", "production")+"/variants", apitest.Features+"/f/variants"
	s.Must(t, "PUT", dev, `[{"name":"a","weight":1},{"name":"b","weight":1}]`)
	s.Must(t, "PUT", prod, `[{"name":"c","weight":1}]`)
	s.Run(t, []apitest.Call{
		{"add at an index, weights shared again", "PATCH", dev, `[{"op":"add","path":"/1","value":{"name":"x","weight":1}}]`, 200,
			variants(v("a", "variable", 334), v("x", "variable", 333), v("b", "variable", 333))},
		{"add at the end", "PATCH", dev, `[{"op":"add","path":"/-","value":` + v("y", "fix", 100) + `}]`, 200,
			variants(v("a", "variable", 300), v("x", "variable", 300), v("b", "variable", 300), v("y", "fix", 100))},
		{"a field", "PATCH", dev, `[{"op":"replace","path":"/3/weight","value":400}]`, 200,
			variants(v("a", "variable", 200), v("x", "variable", 200), v("b", "variable", 200), v("y", "fix", 400))},
		{"remove, move and test", "PATCH", dev, `[{"op":"test","path":"/1/name","value":"x"},{"op":"remove","path":"/1"},{"op":"move","from":"/2","path":"/0"}]`, 200,
			variants(v("y", "fix", 400), v("a", "variable", 300), v("b", "variable", 300))},
		{"copy under another name", "PATCH", dev, `[{"op":"copy","from":"/1","path":"/-"},{"op":"replace","path":"/3/name","value":"z"}]`, 200,
			variants(v("y", "fix", 400), v("a", "variable", 200), v("b", "variable", 200), v("z", "variable", 200))},
		{"none", "PATCH", dev, `[]`, 200, variants(v("y", "fix", 400), v("a", "variable", 200), v("b", "variable", 200), v("z", "variable", 200))},
		{"the other environment is unchanged", "GET", prod, "", 200, variants(v("c", "variable", 1000))},
		{"in all: each list is patched, and the response is their union", "PATCH", all, `[{"op":"add","path":"/1","value":{"name":"n","weight":1}}]`, 200,
			variants(v("y", "fix", 400), v("n", "variable", 150), v("a", "variable", 150), v("b", "variable", 150), v("z", "variable", 150), v("c", "variable", 500))},
		{"the result in the other environment", "GET", prod, "", 200, variants(v("c", "variable", 500), v("n", "variable", 500))},
	})
	before := s.Do(t, "GET", prod, "").Body
	s.Unchanged(t, "f", []apitest.Call{
		{"in all environments, where it does not apply to one: none is changed", "PATCH", all, `[{"op":"remove","path":"/4"}]`, 400, apitest.Malformed("cannot be applied")},
		{"in all environments, where it breaks a rule in one: none is changed", "PATCH", all, `[{"op":"replace","path":"/0","value":{"name":"p","weight":1,"weightType":"fix"}},{"op":"replace","path":"/1","value":{"name":"q","weight":1,"weightType":"fix"}}]`, 400, apitest.Invalid("")},
		{"an index that does not exist", "PATCH", dev, `[{"op":"remove","path":"/99"}]`, 400, apitest.Malformed("cannot be applied")},
		{"an index after the end", "PATCH", dev, `[{"op":"add","path":"/99","value":{"name":"q","weight":1}}]`, 400, apitest.Malformed("cannot be applied")},
		{"a negative index", "PATCH", dev, `[{"op":"remove","path":"/-1"}]`, 400, apitest.Malformed("cannot be applied")},
		{"a negative index to add at", "PATCH", dev, `[{"op":"add","path":"/-1","value":{"name":"q","weight":1}}]`, 400, apitest.Malformed("cannot be applied")},
		{"not an index", "PATCH", dev, `[{"op":"remove","path":"/name"}]`, 400, apitest.Malformed("cannot be applied")},
		{"a test that fails", "PATCH", dev, `[{"op":"remove","path":"/0"},{"op":"test","path":"/0/name","value":"no"}]`, 400, apitest.Malformed("nothing was changed")},
		{"the whole list", "PATCH", dev, `[{"op":"replace","path":"","value":[]}]`, 400, apitest.Invalid("/0/path")},
		{"a name that is taken", "PATCH", dev, `[{"op":"copy","from":"/0","path":"/-"}]`, 400, apitest.Invalid("/5/name")},
		{"not a variant", "PATCH", dev, `[{"op":"add","path":"/0","value":"x"}]`, 400, apitest.Invalid("/0")},
		{"not a patch", "PATCH", dev, `{}`, 400, apitest.Invalid("")},
	})
	if after := s.Do(t, "GET", prod, "").Body; after != before {
		t.Errorf("production has now %s, want %s", after, before)
	}
}
