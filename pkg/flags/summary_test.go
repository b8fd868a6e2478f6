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

func TestCount(t *testing.T) {
	tests := []struct {
		name          string
		feature       *Feature
		active, stale int
	}{
		{"no flag", nil, 0, 0},
		{"active", &Feature{}, 1, 0},
		{"stale", &Feature{Metadata: Metadata{Stale: true}}, 1, 1},
		{"archived", &Feature{Archived: true}, 0, 0},
		{"archived and stale", &Feature{Archived: true, Metadata: Metadata{Stale: true}}, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if active, stale := tt.feature.Count(); active != tt.active || stale != tt.stale {
				t.Errorf("counts %d active, %d stale; want %d and %d", active, stale, tt.active, tt.stale)
			}
		})
	}
}
