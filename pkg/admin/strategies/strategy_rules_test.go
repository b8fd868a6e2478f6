package strategies_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"guidon/pkg/apitest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// TestStrategyRules breaks rules of each part of a strategy, with POST and with PUT. pkg/flags tests all rules.
func TestStrategyRules(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	id := s.AddStrategy(t, "f", `{"name":"default"}`)
	list := apitest.In("f", "development") + "/strategies"
	many := func(n int, one string) string { return strings.TrimSuffix(strings.Repeat(one+",", n), ",") }
	in30 := many(31, `{"contextName":"c","operator":"IN","values":["x"]}`)
	variant := func(members string) string { return `"variants":[{` + members + `}]` }
	const good = `"name":"v","weight":1,"weightType":"variable","stickiness":"default"`
	tests := []struct{ name, members, path string }{
		{"a rollout over 100", `"name":"flexibleRollout","parameters":{"rollout":100.5}`, "/parameters/rollout"},
		{"a parameter that is an object", `"name":"default","parameters":{"o":{}}`, "/parameters/o"},
		{"31 constraints", `"name":"default","constraints":[` + in30 + `]`, "/constraints"},
		{"251 values", `"name":"default","constraints":[{"contextName":"c","operator":"IN","values":[` + many(251, `"x"`) + `]}]`, "/constraints/0/values"},
		{"a value of 101 characters", `"name":"default","constraints":[{"contextName":"c","operator":"IN","values":["` + strings.Repeat("é", 101) + `"]}]`, "/constraints/0/values/0"},
		{"a constraint without contextName", `"name":"default","constraints":[{"operator":"IN","values":["x"]}]`, "/constraints/0/contextName"},
		{"gradualRolloutRandom without a percentage", `"name":"gradualRolloutRandom"`, "/parameters/percentage"},
		{"a segment that does not exist", `"name":"default","segments":[7]`, "/segments/0"},
		{"only variants with a fixed weight", `"name":"default",` + variant(`"name":"v","weight":1,"weightType":"fix","stickiness":"default"`), "/variants"},
		{"a variant without weightType", `"name":"default",` + variant(`"name":"v","weight":1,"stickiness":"default"`), "/variants/0/weightType"},
		{"a variant without weight", `"name":"default",` + variant(`"name":"v","weightType":"variable","stickiness":"default"`), "/variants/0/weight"},
		{"a variant without a name", `"name":"default",` + variant(`"weight":1,"weightType":"variable","stickiness":"default"`), "/variants/0/name"},
		{"a variant with overrides", `"name":"default",` + variant(good+`,"overrides":[{"contextName":"c","values":["x"]}]`), "/variants/0/overrides"},
		{"a variant's payload that does not parse", `"name":"default",` + variant(good+`,"payload":{"type":"json","value":"{"}`), "/variants/0/payload/value"},
		{"two variants with the same name", `"name":"default","variants":[{` + good + `},{` + good + `}]`, "/variants/1/name"},
	}
	calls := []apitest.Call{
		{"no type", "POST", list, `{"parameters":{}}`, 400, apitest.Invalid("/name")},
		{"an unknown type", "POST", list, `{"name":"nosuch"}`, 400, apitest.Invalid("/name")},
		{"a type in another case", "POST", list, `{"name":"Default"}`, 400, apitest.Invalid("/name")},
	}
	for _, tt := range tests {
		calls = append(calls, apitest.Call{tt.name, "POST", list, "{" + tt.members + "}", 400, apitest.Invalid(tt.path)},
			apitest.Call{tt.name + ", by PUT", "PUT", list + "/" + id, "{" + tt.members + "}", 400, apitest.Invalid(tt.path)})
	}
	s.Unchanged(t, "f", calls)
}

// TestConstraintsAreKept saves constraints with every operator, up to the limits, and reads them back.
func TestConstraintsAreKept(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	values, err := json.Marshal(strings.Split(strings.Repeat(strings.Repeat("é", 100)+",", 250), ",")[:250])
	if err != nil {
		t.Fatal(err)
	}
	one := map[string]string{"NUM": "-12.5e3", "DATE": "2026-01-31T12:00:00+02:00", "SEMVER": "1.2.3-rc.1+build", "REGEX": "^[a-z]{3}$"}
	var sent, want []string
	for _, operator := range flags.Operators() {
		kind, _, _ := strings.Cut(string(operator), "_")
		content := `"values":` + string(values)
		if operator.Kind() == flags.Addresses {
			content = `"values":["10.0.0.1","10.0.0.0/8","2001:db8::/32"]`
		}
		answered := content
		if value, single := one[kind]; single {
			content, answered = fmt.Sprintf(`"value":%q`, value), fmt.Sprintf(`"values":[],"value":%q`, strings.Replace(value, "12:00:00+02:00", "10:00:00.000Z", 1))
		}
		sent = append(sent, fmt.Sprintf(`{"contextName":"any field","operator":%q,%s}`, operator, content),
			fmt.Sprintf(`{"contextName":"userId","operator":%q,%s,"inverted":true,"caseInsensitive":true,"nosuch":1}`, operator, content))
		want = append(want, fmt.Sprintf(`{"contextName":"any field","operator":%q,%s,"inverted":false,"caseInsensitive":false}`, operator, answered),
			fmt.Sprintf(`{"contextName":"userId","operator":%q,%s,"inverted":true,"caseInsensitive":true}`, operator, answered))
	}
	// 10 lists of 250 values of 200 bytes do not fit into an item, so these are tested one at a time.
	list := apitest.In("f", "development") + "/strategies"
	var small, smallWant []string
	for i := range sent {
		if strings.Contains(sent[i], `"value":`) {
			small, smallWant = append(small, sent[i]), append(smallWant, want[i])
		}
	}
	id := s.AddStrategy(t, "f", `{"name":"default","constraints":[`+strings.Join(small, ",")+`]}`)
	s.Check(t, apitest.Call{"one value", "GET", list + "/" + id, "", 200, apitest.Strategy("f", `"constraints":[`+strings.Join(smallWant, ",")+`]`)})
	for i := range sent {
		if !strings.Contains(sent[i], `"value":`) {
			s.Check(t, apitest.Call{"values", "PUT", list + "/" + id, `{"constraints":[` + sent[i] + `]}`, 200, apitest.Strategy("f", `"constraints":[`+want[i]+`]`)})
		}
	}
	for _, value := range [][3]string{{"DATE_BEFORE", "2026-01-31", "2026-01-31T00:00:00.000Z"}, {"DATE_BEFORE", "2026-01-31T12:00:00.123Z", "2026-01-31T12:00:00.123Z"}, {"NUM_GT", ".5", "0.5"}} {
		constraint := fmt.Sprintf(`{"contextName":"c","operator":%q,"value":%q}`, value[0], value[1])
		s.Check(t, apitest.Call{"values are normalized", "PUT", list + "/" + id, `{"constraints":[` + constraint + `]}`, 200,
			`{"...":0,"constraints":[{"...":0,"value":"` + value[2] + `"}]}`})
	}
}

// TestStrategyLimits checks the limits that are settings (LIMITS).
func TestStrategyLimits(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t, func(c *httpapi.Config, _ *http.RoundTripper) {
		c.Limits.Strategies, c.Limits.Constraints, c.Limits.ConstraintValues, c.Limits.ConstraintValueLength = 2, 1, 1, 3
	})
	s.Create(t, "f")
	list := apitest.In("f", "development") + "/strategies"
	constraint := `{"contextName":"c","operator":"IN","values":["abc"]}`
	s.Run(t, []apitest.Call{
		{"at the limits", "POST", list, `{"name":"default","constraints":[` + constraint + `]}`, 200, apitest.Anything},
		{"the last strategy", "POST", list, `{"name":"default"}`, 200, apitest.Anything},
	})
	s.Unchanged(t, "f", []apitest.Call{
		{"a strategy too many", "POST", list, `{"name":"default"}`, 400, apitest.Malformed("no more than 2")},
		{"a constraint too many", "POST", list, `{"name":"default","constraints":[` + constraint + `,` + constraint + `]}`, 400, apitest.Invalid("/constraints")},
		{"a value too many", "POST", list, `{"name":"default","constraints":[{"contextName":"c","operator":"IN","values":["a","b"]}]}`, 400, apitest.Invalid("/constraints/0/values")},
		{"a value too long", "POST", list, `{"name":"default","constraints":[{"contextName":"c","operator":"IN","values":["abcd"]}]}`, 400, apitest.Invalid("/constraints/0/values/0")},
	})
	s.Check(t, apitest.Call{"each environment has its own limit", "POST", apitest.In("f", "production") + "/strategies", `{"name":"default"}`, 200, apitest.Anything})
}

// TestStrategyVariants checks the weights of strategy-level variants: the rules are those of a flag's variants.
func TestStrategyVariants(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	list := apitest.In("f", "development") + "/strategies"
	v := func(name, kind string, weight int) string {
		return fmt.Sprintf(`{"name":%q,"weight":%d,"weightType":%q,"stickiness":"default"}`, name, weight, kind)
	}
	all := func(variants ...string) string { return `"variants":[` + strings.Join(variants, ",") + `]` }
	id := s.AddStrategy(t, "f", `{"name":"default",`+all(v("z", "variable", 300), v("a", "variable", 300))+`}`)
	s.Run(t, []apitest.Call{
		{"equal shares, in the order of the request", "GET", list + "/" + id, "", 200, apitest.Strategy("f", all(v("z", "variable", 500), v("a", "variable", 500)))},
		{"variable weights share the rest", "PUT", list + "/" + id, `{` + all(v("a", "fix", 99), v("b", "variable", 1), v("c", "variable", 1)) + `}`, 200,
			apitest.Strategy("f", all(v("a", "fix", 99), v("b", "variable", 451), v("c", "variable", 450)))},
		{"with a patch", "PATCH", list + "/" + id, `[{"op":"remove","path":"/variants/0"}]`, 200, apitest.Strategy("f", all(v("b", "variable", 500), v("c", "variable", 500)))},
	})
}

// TestTooManySegmentsAreNotLoaded checks that a patch which gives a strategy too many segments is refused before they are
// loaded: a body of 1 MiB can name some 100,000.
func TestTooManySegmentsAreNotLoaded(t *testing.T) {
	t.Parallel()
	count := &apitest.Counter{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	s.Create(t, "f")
	one := apitest.In("f", "development") + "/strategies/" + s.AddStrategy(t, "f", `{"name":"default"}`)
	ids := make([]string, 1000)
	for i := range ids {
		ids[i] = strconv.Itoa(i + 1)
	}
	patch := `[{"op":"replace","path":"/segments","value":[` + strings.Join(ids, ",") + `]}]`
	calls := count.During(func() {
		s.Check(t, apitest.Call{"1,000 segments", "PATCH", one, patch, 400, apitest.Invalid("/segments")})
	})
	if len(calls) != 1 {
		t.Errorf("calls %v, want one BatchGetItem", calls)
	}
}
