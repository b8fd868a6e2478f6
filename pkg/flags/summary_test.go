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
				Strategies:       []Strategy{{ID: "a"}, {ID: "b", Disabled: true}, {ID: "c"}},
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
	if err := f.Archive(tuesday); err != nil {
		t.Fatal(err)
	}
	want.Archived, want.ArchivedAt = true, tuesday
	if got := f.Summary(); !reflect.DeepEqual(got, want) {
		t.Errorf("archived: %+v, want %+v", got, want)
	}
}
