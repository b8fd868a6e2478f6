package flags

import (
	"reflect"
	"testing"
)

func TestSummary(t *testing.T) {
	description := "text"
	f := &Feature{
		Version: 3, Name: "f", Project: "p", ProjectUID: "uid-p", CreatedAt: monday, CreatedBy: "author", LastSeenAt: tuesday,
		Metadata: Metadata{Type: KillSwitch, Description: &description, Stale: true, ImpressionData: true},
		Environments: map[string]FeatureEnvironment{
			"development": {
				EnvironmentState: EnvironmentState{EnvironmentUID: "uid-d", EnabledIn: "attached"},
				Strategies:       []Strategy{{ID: "a", Name: "default"}, {ID: "b", Disabled: true}, {ID: "c", Name: "default"}},
				Variants:         []Variant{variant("v", Variable, 1000)}, LastSeenAt: monday,
			},
			"production": {EnvironmentState: EnvironmentState{EnvironmentUID: "uid-q"}, Strategies: []Strategy{{ID: "a", Disabled: true}}},
		},
	}
	want := FeatureSummary{
		Name: "f", Project: "p", CreatedAt: monday, LastSeenAt: tuesday,
		Metadata: Metadata{Type: KillSwitch, Description: &description, Stale: true, ImpressionData: true},
		Environments: map[string]EnvironmentSummary{
			"development": {EnvironmentState: EnvironmentState{EnvironmentUID: "uid-d", EnabledIn: "attached"}, Strategies: 3, EnabledStrategies: 2, Variants: 1, LastSeenAt: monday},
			"production":  {EnvironmentState: EnvironmentState{EnvironmentUID: "uid-q"}, Strategies: 1},
		},
	}
	if got := f.Summary(); !reflect.DeepEqual(got, want) {
		t.Errorf("active: %+v, want %+v", got, want)
	}
	rollout := func(percentage string) Strategy {
		return Strategy{Name: "flexibleRollout", Parameters: map[string]string{"rollout": percentage}}
	}
	targeted, disabled := rollout("100"), rollout("100")
	targeted.Segments, disabled.Disabled = []int64{1}, true
	for _, test := range []struct {
		strategies []Strategy
		withheld   int
		targeted   bool
	}{
		{nil, 0, false},
		{[]Strategy{disabled}, 0, false},
		{[]Strategy{{Name: "default"}, rollout("10"), targeted}, 0, false},
		{[]Strategy{rollout("10"), rollout("25"), disabled}, 75, false},
		{[]Strategy{rollout("10"), targeted}, 90, true},
		{[]Strategy{targeted}, 100, true},
		{[]Strategy{{Name: "userWithId"}}, 100, true},
		{[]Strategy{{Name: "gradualRolloutRandom", Parameters: map[string]string{"percentage": "40"}}}, 60, false},
	} {
		got := FeatureEnvironment{Strategies: test.strategies}.Summary()
		if got.Withheld != test.withheld || got.Targeted != test.targeted {
			t.Errorf("%+v: %d %% withheld, targeted %v, want %d, %v", test.strategies, got.Withheld, got.Targeted, test.withheld, test.targeted)
		}
	}
	if err := f.Archive(tuesday); err != nil {
		t.Fatal(err)
	}
	want.Archived, want.ArchivedAt = true, tuesday
	if got := f.Summary(); !reflect.DeepEqual(got, want) {
		t.Errorf("archived: %+v, want %+v", got, want)
	}
}
