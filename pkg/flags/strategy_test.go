package flags

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestStrategyWithDefaults(t *testing.T) {
	type parameters = map[string]string
	tests := []struct {
		name     string
		strategy string
		given    parameters
		want     parameters
	}{
		{"none for default", "default", nil, parameters{}},
		{"all for flexibleRollout", "flexibleRollout", nil, parameters{"rollout": "100", "stickiness": "default", "groupId": "f"}},
		{"only what is missing", "flexibleRollout", parameters{"rollout": "50", "groupId": "g"}, parameters{"rollout": "50", "stickiness": "default", "groupId": "g"}},
		{"what is empty, but for a rollout", "flexibleRollout", parameters{"rollout": "", "stickiness": "", "groupId": ""}, parameters{"rollout": "", "stickiness": "default", "groupId": "f"}},
		{"unknown ones stay", "flexibleRollout", parameters{"x": "y"}, parameters{"rollout": "100", "stickiness": "default", "groupId": "f", "x": "y"}},
		{"none for userWithId", "userWithId", parameters{"userIds": ""}, parameters{"userIds": ""}},
		{"none for an unknown type", "other", nil, parameters{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			given := maps.Clone(tt.given)
			got := Strategy{Name: tt.strategy, Parameters: tt.given}.WithDefaults("f").Parameters
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("parameters %v, want %v", got, tt.want)
			}
			if !reflect.DeepEqual(tt.given, given) {
				t.Errorf("changed what it was given to %v, want %v", tt.given, given)
			}
			got["another"] = "one"
			if _, shared := tt.given["another"]; shared {
				t.Error("shares the map that it was given, want a copy")
			}
		})
	}
}

func TestStrategyCheck(t *testing.T) {
	limits := DefaultLimits()
	limits.Constraints = 2
	good := Constraint{ContextName: "c", Operator: "IN", Values: []string{"a"}}
	overridden := variant("a", Variable, 0)
	overridden.Overrides = []Override{{ContextName: "userId"}}
	tests := []struct {
		name     string
		strategy Strategy
		want     []string // paths of the problems
		message  string   // part of the first one
	}{
		{"default", Strategy{Name: "default"}, nil, ""},
		{"flexibleRollout", Strategy{Name: "flexibleRollout"}.WithDefaults("f"), nil, ""},
		{"userWithId", Strategy{Name: "userWithId", Parameters: map[string]string{"userIds": "1,2"}}, nil, ""},
		{"remoteAddress", Strategy{Name: "remoteAddress", Parameters: map[string]string{"IPs": "::1"}}, nil, ""},
		{"applicationHostname", Strategy{Name: "applicationHostname", Parameters: map[string]string{"hostNames": "h"}}, nil, ""},
		{"rollout of another type", Strategy{Name: "default", Parameters: map[string]string{"rollout": "abc"}}, nil, ""},
		{"as many constraints as allowed", Strategy{Name: "default", Constraints: []Constraint{good, good}}, nil, ""},
		{"segments and variants", Strategy{Name: "default", Segments: []int64{1}, Variants: []Variant{variant("a", Variable, 0)}}, nil, ""},

		{"no name", Strategy{}, []string{"/name"}, "default, flexibleRollout, userWithId, remoteAddress, applicationHostname"},
		{"another type", Strategy{Name: "gradual"}, []string{"/name"}, "or define it first"},
		{"a type in another case", Strategy{Name: "Default"}, []string{"/name"}, "default, flexibleRollout"},
		{"too many constraints", Strategy{Name: "default", Constraints: make([]Constraint, 3)}, []string{"/constraints"}, "at most 2 constraints, but has 3"},
		{"a faulty constraint", Strategy{Name: "default", Constraints: []Constraint{good, {ContextName: "c", Operator: "NUM_EQ"}}}, []string{"/constraints/1/value"}, ""},
		{"no variable variant", Strategy{Name: "default", Variants: []Variant{variant("a", Fix, 1)}}, []string{"/variants"}, "at least one"},
		{"a variant without stickiness", Strategy{Name: "default", Variants: []Variant{{Name: "a", WeightType: Variable}}}, []string{"/variants/0/stickiness"}, ""},
		{"a variant's weight with decimals", Strategy{Name: "default", Variants: []Variant{variant("a", Variable, 0.5)}}, []string{"/variants/0/weight"}, "whole number"},
		{"a variant with overrides", Strategy{Name: "default", Variants: []Variant{overridden}}, []string{"/variants/0/overrides"}, "cannot have overrides"},
		{"many faults", Strategy{Constraints: make([]Constraint, 1)}, []string{"/name", "/constraints/0/contextName", "/constraints/0/operator"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p Problems
			tt.strategy.Check(&StrategyTypes{}, limits, &p)
			if got := paths(p); !slices.Equal(got, tt.want) {
				t.Fatalf("faults at %q, want %q: %v", got, tt.want, p)
			}
			if len(p) > 0 && !strings.Contains(p[0].Message, tt.message) {
				t.Errorf("message %q, want %q in it", p[0].Message, tt.message)
			}
		})
	}
}

func TestStrategyCheckRollout(t *testing.T) {
	tests := []struct {
		rollout string
		ok      bool
	}{
		{"0", true}, {"100", true}, {"50", true}, {"100.0", true}, {"050", true},
		{"12.5", false}, {"0.01", false}, {"99.999", false}, {"", false}, {"abc", false}, {"-1", false}, {"-0", false}, {"+5", false}, {"100.1", false}, {"101", false},
		{"1e1", false}, {"0x10", false}, {"NaN", false}, {"Inf", false}, {"50%", false}, {" 50", false}, {"1,5", false},
		{"1.2.3", false}, {".", false}, {"1_0", false},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%q", tt.rollout), func(t *testing.T) {
			var p Problems
			Strategy{Name: "flexibleRollout", Parameters: map[string]string{"rollout": tt.rollout}}.Check(&StrategyTypes{}, DefaultLimits(), &p)
			var want []string
			if !tt.ok {
				want = append(want, "/parameters/rollout")
			}
			if got := paths(p); !slices.Equal(got, want) {
				t.Errorf("faults at %q, want %q", got, want)
			}
		})
	}
}

func TestNormalizeParameters(t *testing.T) {
	for value, want := range map[string]string{"50.0": "50", "100.": "100", "050": "50", "0.0": "0", "50": "50", "101.0": "101.0", "12.5": "12.5", "abc": "abc", "": ""} {
		parameters := map[string]string{"rollout": value, "groupId": "1.0"}
		if NormalizeParameters("flexibleRollout", parameters); parameters["rollout"] != want || parameters["groupId"] != "1.0" {
			t.Errorf("%q: got %v, want %q", value, parameters, want)
		}
	}
}

// TestQuotesOfParameters checks that a double quote is refused where SDKs built on Yggdrasil cannot read it.
func TestQuotesOfParameters(t *testing.T) {
	for name, parameter := range map[string]string{"flexibleRollout": "groupId", "gradualRolloutUserId": "groupId", "remoteAddress": "IPs", "applicationHostname": "hostNames", "userWithId": ""} {
		parameters := map[string]string{"percentage": "1", "userIds": `"`}
		var want []string
		if parameter != "" {
			parameters[parameter], want = `a"b`, []string{"/parameters/" + parameter}
		}
		var p Problems
		if (Strategy{Name: name, Parameters: parameters}).Check(&StrategyTypes{}, DefaultLimits(), &p); !slices.Equal(paths(p), want) {
			t.Errorf("%s: faults %v, want one at %s", name, p, want)
		}
	}
}

// development is an environment of a project.
func development() ProjectEnvironment {
	return ProjectEnvironment{
		Environment: Environment{Name: "development", UID: "environment-1"},
		Attachment:  Attachment{ID: "attachment-1", EnvironmentUID: "environment-1"},
	}
}

// withStrategies returns a flag that is enabled in development with these strategies.
func withStrategies(strategies ...Strategy) *Feature {
	fe := FeatureEnvironment{EnvironmentState: EnvironmentState{EnvironmentUID: "environment-1", EnabledIn: "attachment-1"}, Strategies: strategies}
	return &Feature{Name: "f", Environments: map[string]FeatureEnvironment{"development": fe}}
}

func place(id string, order float64) Strategy {
	return Strategy{ID: id, Name: "default", SortOrder: order}
}

// order returns the IDs of the strategies in development in their order, such as "a b".
func order(f *Feature) string {
	ids := []string{}
	for _, s := range f.In(development()).Strategies {
		ids = append(ids, s.ID)
	}
	return strings.Join(ids, " ")
}

func TestStrategyOrder(t *testing.T) {
	env := development()
	tests := []struct {
		name   string
		change func(f *Feature) error
		want   string
	}{
		{"one more of the same order", func(f *Feature) error { return f.AddStrategy(env, place("d", 1), DefaultLimits()) }, "a b d c"},
		{"one more before all", func(f *Feature) error { return f.AddStrategy(env, place("d", -0.5), DefaultLimits()) }, "d a b c"},
		{"one more behind all", func(f *Feature) error {
			return f.AddStrategy(env, place("d", f.NextStrategyOrder(env)), DefaultLimits())
		}, "a b c d"},
		{"replaced in place", func(f *Feature) error { return f.ReplaceStrategy(env, place("a", 1)) }, "a b c"},
		{"replaced and moved", func(f *Feature) error { return f.ReplaceStrategy(env, place("a", 3)) }, "b c a"},
		{"moved to the order of an older one", func(f *Feature) error { return f.ReplaceStrategy(env, place("c", 1)) }, "a b c"},
		{"removed", func(f *Feature) error { return f.RemoveStrategy(env, "b") }, "a c"},
		{"ordered", func(f *Feature) error { return f.OrderStrategies(env, map[string]float64{"a": 3, "b": 2, "c": 1}) }, "c b a"},
		{"some ordered", func(f *Feature) error { return f.OrderStrategies(env, map[string]float64{"c": 0}) }, "c a b"},
		{"ordered by nothing", func(f *Feature) error { return f.OrderStrategies(env, nil) }, "a b c"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := withStrategies(place("a", 1), place("b", 1), place("c", 2))
			was := slices.Clone(before.In(env).Strategies)
			f := before.Clone()
			if err := tt.change(f); err != nil {
				t.Fatal(err)
			}
			if got := order(f); got != tt.want {
				t.Errorf("order %q, want %q", got, tt.want)
			}
			if got := before.In(env).Strategies; !reflect.DeepEqual(got, was) {
				t.Errorf("strategies of the flag it was copied from %v, want %v", got, was)
			}
			if !f.Enabled(env) {
				t.Error("environment disabled, want it enabled")
			}
		})
	}
}

func TestUnknownStrategy(t *testing.T) {
	env := development()
	limits := DefaultLimits()
	limits.Strategies = 2
	tests := []struct {
		name    string
		change  func(f *Feature) error
		kind    Kind
		message string
	}{
		{"past the limit", func(f *Feature) error { return f.AddStrategy(env, place("c", 0), limits) }, Invalid, "no more than 2"},
		{"read", func(f *Feature) error { _, err := f.Strategy(env, "x"); return err }, NotFound, `flag "f" has no strategy "x" in environment "development"`},
		{"replaced", func(f *Feature) error { return f.ReplaceStrategy(env, place("x", 0)) }, NotFound, `"x"`},
		{"removed", func(f *Feature) error { return f.RemoveStrategy(env, "x") }, NotFound, `"x"`},
		{"ordered", func(f *Feature) error { return f.OrderStrategies(env, map[string]float64{"a": 9, "x": 1}) }, Invalid, `"x"`},
		{"ordered where none are", func(f *Feature) error {
			return f.OrderStrategies(ProjectEnvironment{Environment: Environment{Name: "production"}}, map[string]float64{"a": 9})
		}, Invalid, `"production"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, was := withStrategies(place("a", 0), place("b", 1)), withStrategies(place("a", 0), place("b", 1))
			err := tt.change(f)
			if KindOf(err) != tt.kind || err == nil || !strings.Contains(err.Error(), tt.message) {
				t.Errorf("error %v, want kind %d with %q in it", err, tt.kind, tt.message)
			}
			if !reflect.DeepEqual(f, was) {
				t.Errorf("flag is now %v, want %v", f, was)
			}
		})
	}
}

// TestLosingLastEnabledStrategyDisables checks which changes of strategies disable the flag in the environment.
func TestLosingLastEnabledStrategyDisables(t *testing.T) {
	env := development()
	off := func(id string) Strategy { return Strategy{ID: id, Name: "default", Disabled: true} }
	on := func(id string) Strategy { return Strategy{ID: id, Name: "default"} }
	replace := func(s Strategy) func(*Feature) error {
		return func(f *Feature) error { return f.ReplaceStrategy(env, s) }
	}
	remove := func(id string) func(*Feature) error {
		return func(f *Feature) error { return f.RemoveStrategy(env, id) }
	}
	tests := []struct {
		name    string
		before  []Strategy
		change  func(*Feature) error
		enabled bool
	}{
		{"the last removed", []Strategy{on("a")}, remove("a"), false},
		{"the last removed, disabled", []Strategy{off("a")}, remove("a"), false},
		{"one of two removed", []Strategy{on("a"), on("b")}, remove("a"), true},
		{"the only enabled one removed", []Strategy{on("a"), off("b")}, remove("a"), false},
		{"a disabled one removed", []Strategy{on("a"), off("b")}, remove("b"), true},
		{"one of two disabled ones removed", []Strategy{off("a"), off("b")}, remove("a"), true},
		{"the only one disabled", []Strategy{on("a")}, replace(off("a")), false},
		{"the only enabled one disabled", []Strategy{on("a"), off("b")}, replace(off("a")), false},
		{"one of two enabled ones disabled", []Strategy{on("a"), on("b")}, replace(off("a")), true},
		{"a disabled one replaced", []Strategy{off("a")}, replace(off("a")), true},
		{"a disabled one added", []Strategy{off("a")}, func(f *Feature) error { return f.AddStrategy(env, off("b"), DefaultLimits()) }, true},
		{"ordered", []Strategy{off("a")}, func(f *Feature) error { return f.OrderStrategies(env, map[string]float64{"a": 5}) }, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := withStrategies(tt.before...)
			if err := tt.change(f); err != nil {
				t.Fatal(err)
			}
			if got := f.Enabled(env); got != tt.enabled {
				t.Errorf("enabled %t, want %t", got, tt.enabled)
			}
		})
	}
}

func TestStrategyLimitAndNextOrder(t *testing.T) {
	env := development()
	f := &Feature{Name: "f"}
	limits := DefaultLimits()
	for i := range limits.Strategies {
		next := f.NextStrategyOrder(env)
		if next != float64(i) {
			t.Errorf("next order of strategy %d is %v, want %d", i, next, i)
		}
		if err := f.AddStrategy(env, place(fmt.Sprint(i), next), limits); err != nil {
			t.Fatalf("strategy %d: %v, want no error", i, err)
		}
	}
	if err := f.AddStrategy(env, place("more", 0), limits); KindOf(err) != Invalid {
		t.Errorf("one past the limit: %v, want Invalid", err)
	}
	if f.Enabled(env) {
		t.Error("environment enabled, want a flag that is off to stay off")
	}
	if got, want := len(f.In(env).Strategies), limits.Strategies; got != want {
		t.Errorf("%d strategies, want %d", got, want)
	}
}

func TestStrategyVariantsAreDistributed(t *testing.T) {
	env := development()
	f := &Feature{Name: "f"}
	s := place("a", 0)
	s.Variants = []Variant{variant("x", Variable, 1), variant("y", Variable, 1), variant("z", Variable, 1)}
	if err := f.AddStrategy(env, s, DefaultLimits()); err != nil {
		t.Fatal(err)
	}
	added, err := f.Strategy(env, "a")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := weights(added.Variants), []float64{334, 333, 333}; !slices.Equal(got, want) {
		t.Errorf("weights after AddStrategy %v, want %v", got, want)
	}
	s.Variants = []Variant{variant("x", Fix, 900), variant("y", Variable, 1)}
	if err := f.ReplaceStrategy(env, s); err != nil {
		t.Fatal(err)
	}
	replaced, _ := f.Strategy(env, "a")
	if got, want := weights(replaced.Variants), []float64{900, 100}; !slices.Equal(got, want) {
		t.Errorf("weights after ReplaceStrategy %v, want %v", got, want)
	}
}
