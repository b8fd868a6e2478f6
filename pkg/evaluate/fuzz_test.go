package evaluate_test

import (
	"encoding/json"
	"os"
	"testing"

	"guidon/internal/clientspec"
	"guidon/pkg/evaluate"
)

// FuzzEvaluate evaluates any flags for any context. It must not panic, and a trace must have the same result.
func FuzzEvaluate(f *testing.F) {
	files, err := clientspec.Load(f.Context(), os.Stderr)
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		var s struct {
			State json.RawMessage
			Tests []struct{ Context json.RawMessage }
		}
		if err := json.Unmarshal(file.JSON, &s); err != nil {
			f.Fatal(err)
		}
		if len(s.Tests) > 0 {
			f.Add([]byte(s.State), []byte(s.Tests[0].Context))
		}
	}
	f.Fuzz(func(t *testing.T, state, context []byte) {
		var s struct {
			Features []evaluate.Flag
			Segments []evaluate.Segment
		}
		c := evaluate.Context{Random: func(n uint32) uint32 { return 4711 % n }}
		if json.Unmarshal(state, &s) != nil || json.Unmarshal(context, &c) != nil {
			return
		}
		set := evaluate.NewSet(s.Features, s.Segments)
		for name, result := range set.All(&c) {
			if trace := set.Trace(name, &c); trace.Result != result {
				t.Errorf("%q: Evaluate has %+v, Trace %+v", name, result, trace.Result)
			}
			if result.Variant != nil && !result.Enabled {
				t.Errorf("%q is off and has variant %q", name, result.Variant.Name)
			}
		}
	})
}

// FuzzConstraint compares a constraint with its inverted form: exactly one of them is satisfied, or neither.
func FuzzConstraint(f *testing.F) {
	for _, c := range satisfiedConstraints {
		f.Add(c.Operator, c.Value, "a,b", "a", false)
	}
	f.Add("REGEX", "(a+)+$", "", "aaaaaaaaaaaaaaaaaaaaaaaaaaaa!", true)
	f.Fuzz(func(t *testing.T, operator, value, other, field string, caseInsensitive bool) {
		c := evaluate.Constraint{ContextName: "x", Operator: operator, Value: value, Values: []string{value, other}, CaseInsensitive: caseInsensitive}
		inverted := c
		inverted.Inverted = true
		strategy := func(c evaluate.Constraint) []evaluate.Strategy {
			return []evaluate.Strategy{{Name: "default", Constraints: []evaluate.Constraint{c}}}
		}
		set := evaluate.NewSet([]evaluate.Flag{{Name: "plain", Enabled: true, Strategies: strategy(c)}, {Name: "inverted", Enabled: true, Strategies: strategy(inverted)}}, nil)
		ctx := &evaluate.Context{Properties: map[string]string{"x": field}}
		plain, not := set.Trace("plain", ctx), set.Trace("inverted", ctx)
		invalid := not.Strategies[0].Outcome.Kind == evaluate.ConstraintUnreadable // never satisfied
		if invalid && plain.Strategies[0].Outcome.Kind != evaluate.ConstraintUnreadable {
			t.Errorf("only one is invalid: %+v, inverted %+v", plain, not)
		}
		if invalid && (plain.Enabled || not.Enabled) || !invalid && plain.Enabled == not.Enabled {
			t.Errorf("on: %t, inverted: %t, invalid: %t", plain.Enabled, not.Enabled, invalid)
		}
	})
}
