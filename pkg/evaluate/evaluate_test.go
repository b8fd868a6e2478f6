package evaluate_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guidon/pkg/evaluate"
)

// TestOutcomes checks the reason of a result, and the outcomes of the strategies up to the one that decided.
func TestOutcomes(t *testing.T) {
	inCountry := evaluate.Constraint{ContextName: "country", Operator: "IN", Values: []string{"de"}}
	adult := evaluate.Constraint{ContextName: "age", Operator: "NUM_GTE", Value: "18"}
	strategies := []evaluate.Strategy{
		{Name: "custom"},
		{Name: "default", Constraints: []evaluate.Constraint{inCountry, adult}},
		{Name: "default", Segments: []int64{1}},
		{Name: "flexibleRollout", Parameters: map[string]string{"rollout": "0"}},
		{Name: "flexibleRollout", Parameters: map[string]string{"rollout": "many"}},
		{Name: "userWithId", Parameters: map[string]string{"userIds": "7"}},
		{Name: "default"},
	}
	no, yes := false, true
	set := evaluate.NewSet([]evaluate.Flag{
		{Name: "flag", Enabled: true, Strategies: strategies, ImpressionData: true},
		{Name: "nobody", Enabled: true, Strategies: strategies[:5]},
		{Name: "everyone", Enabled: true},
		{Name: "disabled", Strategies: strategies},
		{Name: "missing-segment", Enabled: true, Strategies: []evaluate.Strategy{{Name: "default", Segments: []int64{1, 404}}, {Name: "default"}}},
		{Name: "child", Enabled: true, Dependencies: []evaluate.Dependency{{Feature: "everyone", Enabled: &yes}, {Feature: "disabled"}}},
		{Name: "child-of-disabled", Enabled: true, Dependencies: []evaluate.Dependency{{Feature: "disabled", Enabled: &no}}},
		{Name: "grandchild", Enabled: true, Dependencies: []evaluate.Dependency{{Feature: "child-of-disabled"}}},
		{Name: "nameless-parent", Enabled: true, Dependencies: []evaluate.Dependency{{}}},
		{Name: "orphan", Enabled: true, Dependencies: []evaluate.Dependency{{Feature: "none", Enabled: &no}}},
	}, []evaluate.Segment{{ID: 1, Constraints: []evaluate.Constraint{inCountry}}})

	unmatched := func(kinds ...evaluate.Outcome) []evaluate.Outcome { return kinds }
	inGermany := &evaluate.Context{UserID: "7", Properties: map[string]string{"country": "de", "age": "abc"}}
	elsewhere := &evaluate.Context{UserID: "7", Properties: map[string]string{"country": "fr", "age": "42"}}
	tests := []struct {
		flag    string
		context *evaluate.Context
		enabled bool
		reason  evaluate.Reason
		want    []evaluate.Outcome
	}{
		{"flag", inGermany, true, evaluate.Reason{Kind: evaluate.StrategyMatched, Strategy: 2}, unmatched(
			evaluate.Outcome{Kind: evaluate.StrategyUnknown},
			evaluate.Outcome{Kind: evaluate.ConstraintUnreadable, Constraint: 1},
			evaluate.Outcome{Kind: evaluate.Matched})},
		{"flag", elsewhere, true, evaluate.Reason{Kind: evaluate.StrategyMatched, Strategy: 5}, unmatched(
			evaluate.Outcome{Kind: evaluate.StrategyUnknown},
			evaluate.Outcome{Kind: evaluate.ConstraintUnsatisfied, Constraint: 0},
			evaluate.Outcome{Kind: evaluate.ConstraintUnsatisfied, Segment: 1, Constraint: 0},
			evaluate.Outcome{Kind: evaluate.NotSelected},
			evaluate.Outcome{Kind: evaluate.NotSelected},
			evaluate.Outcome{Kind: evaluate.Matched})},
		{"nobody", elsewhere, false, evaluate.Reason{Kind: evaluate.NoStrategyMatched}, unmatched(
			evaluate.Outcome{Kind: evaluate.StrategyUnknown},
			evaluate.Outcome{Kind: evaluate.ConstraintUnsatisfied},
			evaluate.Outcome{Kind: evaluate.ConstraintUnsatisfied, Segment: 1},
			evaluate.Outcome{Kind: evaluate.NotSelected},
			evaluate.Outcome{Kind: evaluate.NotSelected})},
		{"everyone", inGermany, true, evaluate.Reason{Kind: evaluate.NoStrategies}, nil},
		{"disabled", inGermany, false, evaluate.Reason{Kind: evaluate.FlagDisabled}, nil},
		{"none", inGermany, false, evaluate.Reason{Kind: evaluate.FlagUnknown}, nil},
		{"missing-segment", elsewhere, false, evaluate.Reason{Kind: evaluate.SegmentUnknown}, unmatched(
			evaluate.Outcome{Kind: evaluate.SegmentMissing, Segment: 404})},
		{"child", inGermany, false, evaluate.Reason{Kind: evaluate.ParentUnmet, Parent: "disabled"}, nil},
		{"child-of-disabled", inGermany, true, evaluate.Reason{Kind: evaluate.NoStrategies}, nil},
		{"grandchild", inGermany, false, evaluate.Reason{Kind: evaluate.ParentUnmet, Parent: "child-of-disabled"}, nil},
		{"nameless-parent", inGermany, false, evaluate.Reason{Kind: evaluate.ParentUnmet}, nil},
		{"orphan", inGermany, false, evaluate.Reason{Kind: evaluate.ParentUnmet, Parent: "none"}, nil},
	}
	for _, test := range tests {
		got := set.Trace(test.flag, test.context)
		want := evaluate.Result{Enabled: test.enabled, ImpressionData: test.flag == "flag", Reason: test.reason}
		if diff := cmp.Diff(want, got.Result); diff != "" {
			t.Errorf("%s: -want +got\n%s", test.flag, diff)
		}
		var outcomes []evaluate.Outcome
		for i := range test.want {
			outcomes = append(outcomes, got.Strategies[i].Outcome)
		}
		if diff := cmp.Diff(test.want, outcomes); diff != "" {
			t.Errorf("%s: -want +got\n%s", test.flag, diff)
		}
		if result := set.Evaluate(test.flag, test.context); result != got.Result {
			t.Errorf("%s: Evaluate has %+v, Trace %+v", test.flag, result, got.Result)
		}
	}
}

// TestWith checks that a set with changes is the same as a new one, and that the old one stays as it was.
func TestWith(t *testing.T) {
	old := evaluate.NewSet([]evaluate.Flag{{Name: "a", Enabled: true}, {Name: "b", Enabled: true}, {Name: "c", Enabled: true, Strategies: []evaluate.Strategy{{Name: "default", Segments: []int64{1}}}}},
		[]evaluate.Segment{{ID: 1}})
	changed := old.With(evaluate.Changes{Flags: []evaluate.Flag{{Name: "a"}, {Name: "d", Enabled: true}}, RemovedFlags: []string{"b"}, RemovedSegments: []int64{1}})
	check := func(set *evaluate.Set, want map[string]bool) {
		t.Helper()
		got := map[string]bool{}
		for name, result := range set.All(&evaluate.Context{}) {
			got[name] = result.Enabled
		}
		if diff := cmp.Diff(want, got); diff != "" || set.Len() != len(want) {
			t.Errorf("-want +got\n%s", diff)
		}
	}
	check(changed, map[string]bool{"a": false, "c": false, "d": true})
	check(old, map[string]bool{"a": true, "b": true, "c": true})
}

// TestVariantsAtTheEdge checks variants that have no weight, no group, or the stickiness of a property that has the name of a stickiness.
func TestVariantsAtTheEdge(t *testing.T) {
	a, b := evaluate.Variant{Name: "a", Weight: 1, Stickiness: "random"}, evaluate.Variant{Name: "b", Weight: 1}
	of := func(parameters map[string]string, list ...evaluate.Variant) evaluate.Flag {
		return evaluate.Flag{Name: "flag", Enabled: true, Strategies: []evaluate.Strategy{{Name: "default", Parameters: parameters, Variants: list}}}
	}
	for _, c := range []struct {
		flag evaluate.Flag
		want string // "" for none
	}{
		{evaluate.Flag{Name: "flag", Enabled: true, Variants: []evaluate.Variant{{Name: "a"}}}, ""},
		{of(nil, b), "b"},
		{of(map[string]string{"groupId": "a"}, a, b), "b"},
	} {
		got := evaluate.NewSet([]evaluate.Flag{c.flag}, nil).Evaluate("flag", &evaluate.Context{UserID: "7", Properties: map[string]string{"random": "5"},
			Random: func(n uint32) uint32 { return n - 1 }}) // the last; the property would have the first
		name := ""
		if got.Variant != nil {
			name = got.Variant.Name
		}
		if !got.Enabled || name != c.want {
			t.Errorf("%+v: got %+v with the variant %q, want %q", c.flag, got, name, c.want)
		}
	}
}

// TestRandom checks the share of users without an ID, whose result is random.
func TestRandom(t *testing.T) {
	const rounds = 20_000
	random := rand.New(rand.NewPCG(1, 2))
	for _, s := range []evaluate.Strategy{
		{Name: "flexibleRollout", Parameters: map[string]string{"rollout": "30", "stickiness": "default"}},
		{Name: "flexibleRollout", Parameters: map[string]string{"rollout": "30", "stickiness": "random"}},
		{Name: "gradualRolloutRandom", Parameters: map[string]string{"percentage": "30"}},
	} {
		set := evaluate.NewSet([]evaluate.Flag{{Name: "flag", Enabled: true, Strategies: []evaluate.Strategy{s},
			Variants: []evaluate.Variant{{Name: "a", Weight: 900, Stickiness: "random"}, {Name: "b", Weight: 100}}}}, nil)
		on, second := 0, 0
		for range rounds {
			result := set.Evaluate("flag", &evaluate.Context{Random: random.Uint32N})
			if result.Enabled {
				on++
				if result.Variant.Name == "b" {
					second++
				}
			}
		}
		if share := float64(on) / rounds; math.Abs(share-0.3) > 0.02 {
			t.Errorf("%s: on for %.3f of the users, want 0.3", s.Name, share)
		}
		if share := float64(second) / float64(on); math.Abs(share-0.1) > 0.02 {
			t.Errorf("%s: the second variant has %.3f of the users, want 0.1", s.Name, share)
		}
	}
	for _, percentage := range []string{"0", "100"} {
		set := evaluate.NewSet([]evaluate.Flag{{Name: "flag", Enabled: true, Strategies: []evaluate.Strategy{
			{Name: "flexibleRollout", Parameters: map[string]string{"rollout": percentage, "stickiness": "random"}}}}}, nil)
		for range 1_000 {
			if set.Evaluate("flag", &evaluate.Context{}).Enabled != (percentage == "100") {
				t.Fatalf("a rollout of %s %% is random", percentage)
			}
		}
	}
}
