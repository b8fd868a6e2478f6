package evaluate_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guidon/pkg/evaluate"
)

// TestTrace checks with random flags that a trace has the result of Evaluate, and that its checks agree with that result.
func TestTrace(t *testing.T) {
	g := newGenerator(14)
	for range 300 {
		flags, segments := g.flags(10), g.segments()
		for i := range flags {
			for j := range flags[i].Strategies {
				flags[i].Strategies[j].Disabled = g.chance(20)
			}
		}
		set := evaluate.NewSet(flags, segments)
		for range 10 {
			c := g.context()
			drawn := g.Uint32()
			c.Random = func(n uint32) uint32 { return drawn % n }
			for i := range flags {
				f := &flags[i]
				got := set.Trace(f.Name, &c)
				if want := set.Evaluate(f.Name, &c); got.Result != want {
					t.Fatalf("%+v for %+v: the trace has %+v, Evaluate %+v", f, c, got.Result, want)
				}
				checkTrace(t, f, got)
			}
		}
	}
}

func checkTrace(t *testing.T, f *evaluate.Flag, got evaluate.Trace) {
	t.Helper()
	active, matched, missing := false, -1, false
	for i, check := range got.Strategies {
		kind := check.Outcome.Kind
		if f.Strategies[i].Disabled != (kind == evaluate.StrategyDisabled) {
			t.Fatalf("%+v: strategy %d has the outcome %v", f, i, kind)
		}
		switch kind {
		case evaluate.Matched, evaluate.NotSelected:
			if !check.Satisfied() {
				t.Fatalf("%+v: strategy %d has the outcome %v, and unsatisfied constraints: %+v", f, i, kind, check)
			}
		case evaluate.ConstraintUnsatisfied, evaluate.ConstraintUnreadable, evaluate.SegmentMissing:
			if check.Satisfied() {
				t.Fatalf("%+v: strategy %d has the outcome %v, and all its constraints are satisfied", f, i, kind)
			}
		}
		active = active || !f.Strategies[i].Disabled
		if matched < 0 && !missing && kind == evaluate.Matched {
			matched = i
		}
		missing = missing || kind == evaluate.SegmentMissing && matched < 0
	}
	enabled := f.Enabled && got.Parent == "" && !missing && (matched >= 0 || !active)
	if got.Enabled != enabled {
		t.Fatalf("%+v: enabled is %t, and the checks say %t: %+v", f, got.Enabled, enabled, got)
	}
	if got.Enabled && active && got.Reason.Strategy != matched {
		t.Fatalf("%+v: strategy %d decided, and the checks say %d", f, got.Reason.Strategy, matched)
	}
	if got.Enabled && active && len(f.Strategies[matched].Variants) > 0 && got.Strategies[matched].Variant != got.Variant {
		t.Fatalf("%+v: the variant is %+v, and the check says %+v", f, got.Variant, got.Strategies[matched].Variant)
	}
}

// TestDisabledStrategies checks that disabled strategies count as if they were left out.
func TestDisabledStrategies(t *testing.T) {
	g := newGenerator(15)
	for range 300 {
		with := g.flags(5)
		without := slices.Clone(with)
		for i := range with {
			with[i].Strategies = slices.Clone(with[i].Strategies)
			without[i].Strategies = nil
			for j := range with[i].Strategies {
				s := &with[i].Strategies[j]
				if s.Disabled = g.chance(40); !s.Disabled {
					without[i].Strategies = append(without[i].Strategies, *s)
				}
			}
		}
		segments := g.segments()
		a, b := evaluate.NewSet(with, segments), evaluate.NewSet(without, segments)
		for range 5 {
			c := g.context()
			c.Random = func(uint32) uint32 { return 0 }
			for i := range with {
				got, want := a.Evaluate(with[i].Name, &c), b.Evaluate(with[i].Name, &c)
				got.Reason.Strategy, want.Reason.Strategy = 0, 0
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("%+v for %+v: with disabled strategies -want +got\n%s", with[i], c, diff)
				}
			}
		}
	}
}

// TestTraceOfEverything checks the trace of a flag that is off, with each kind of check.
func TestTraceOfEverything(t *testing.T) {
	in := func(values ...string) evaluate.Constraint {
		return evaluate.Constraint{ContextName: "country", Operator: "IN", Values: values}
	}
	red := evaluate.Variant{Name: "red", Weight: 1}
	set := evaluate.NewSet([]evaluate.Flag{
		{Name: "parent"},
		{Name: "flag", Dependencies: []evaluate.Dependency{{Feature: "parent"}}, Strategies: []evaluate.Strategy{
			{Name: "default", Disabled: true, Constraints: []evaluate.Constraint{in("de")}},
			{Name: "custom", Constraints: []evaluate.Constraint{in("de"), in("fr")}},
			{Name: "default", Segments: []int64{1, 404}},
			{Name: "flexibleRollout", Parameters: map[string]string{"rollout": "0"}, Variants: []evaluate.Variant{red}},
			{Name: "default"},
		}},
	}, []evaluate.Segment{{ID: 1, Constraints: []evaluate.Constraint{in("fr"), in("de")}}})
	got := set.Trace("flag", &evaluate.Context{Properties: map[string]string{"country": "de"}})
	want := evaluate.Trace{
		Result: evaluate.Result{Reason: evaluate.Reason{Kind: evaluate.FlagDisabled}}, Parent: "parent",
		Strategies: []evaluate.Check{
			{Outcome: evaluate.Outcome{Kind: evaluate.StrategyDisabled}, Constraints: []bool{true}},
			{Outcome: evaluate.Outcome{Kind: evaluate.StrategyUnknown}, Constraints: []bool{true, false}},
			{Outcome: evaluate.Outcome{Kind: evaluate.SegmentMissing, Segment: 404}, Constraints: []bool{}, Segments: []evaluate.SegmentCheck{
				{ID: 1, Constraints: []bool{false, true}}, {ID: 404, Missing: true, Constraints: []bool{}}}},
			{Outcome: evaluate.Outcome{Kind: evaluate.NotSelected}, Constraints: []bool{}, Variant: &red},
			{Outcome: evaluate.Outcome{Kind: evaluate.Matched}, Constraints: []bool{}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if diff := cmp.Diff(evaluate.Trace{}, set.Trace("nosuch", &evaluate.Context{})); diff != "" {
		t.Errorf("an unknown flag: -want +got\n%s", diff)
	}
}
