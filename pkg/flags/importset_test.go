package flags

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// importTarget returns a project with an active flag "kept", which has a strategy and a variant, an archived
// flag, and a flag of another project.
func importTarget() ImportTarget {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	env := ProjectEnvironment{Environment: Environment{Name: "development", UID: "e1"}, Attachment: Attachment{ID: "a1", EnvironmentUID: "e1"}}
	project := &Project{ID: "shop", UID: "p1"}
	kept := NewFeature(project, "kept", Metadata{}, "test", at)
	kept.SetVariants(env, []Variant{{Name: "v", WeightType: Variable}})
	if err := kept.AddStrategy(env, Strategy{ID: "s1", Name: "default"}, DefaultLimits()); err != nil {
		panic(err)
	}
	plain := NewFeature(project, "plain", Metadata{}, "test", at)
	old := NewFeature(project, "old", Metadata{}, "test", at)
	old.Archived, old.ArchivedAt = true, at
	other := NewFeature(&Project{ID: "other", UID: "p2"}, "other", Metadata{}, "test", at)
	there := map[string]*Feature{"kept": kept, "plain": plain, "old": old, "other": other}
	return ImportTarget{
		Project: project, Environment: env,
		Feature:       func(name string) *Feature { return there[name] },
		StrategyTypes: &StrategyTypes{},
		TagTypes:      &TagTypes{List: []TagType{{Name: "simple"}}},
		ContextFields: &ContextFields{List: []ContextField{{Name: "appName"}, {Name: "userId"}}},
		Segments:      []*Segment{{Name: "all"}, {Name: "ours", ProjectUID: "p1"}, {Name: "theirs", ProjectUID: "p2"}},
	}
}

// affected returns the names in a report, one list per finding.
func affected(findings []ImportFinding) [][]string {
	var lists [][]string
	for _, f := range findings {
		lists = append(lists, f.Affected)
	}
	return lists
}

func TestValidateImport(t *testing.T) {
	type lists [][]string
	tests := []struct {
		name             string
		set              ImportSet
		errors, warnings lists
	}{
		{"nothing", ImportSet{}, nil, nil},
		{"new flags", ImportSet{Features: []string{"a", "b"}}, nil, nil},
		{"of another project", ImportSet{Features: []string{"a", "other", "other"}}, lists{{"other"}}, nil},
		{"overwritten", ImportSet{Features: []string{"kept", "a", "plain"}}, nil, lists{{"kept", "plain"}}},
		{"archived", ImportSet{Features: []string{"old"}}, nil, lists{{"old"}}},
		{"parents", ImportSet{Features: []string{"a", "b"}, Dependencies: []ImportDependency{
			{Feature: "a", Parents: []string{"b", "kept", "gone", "old"}}, {Feature: "b", Parents: []string{"gone", "other"}},
		}}, lists{{"gone", "old", "other"}}, nil},
		{"a parent that is skipped", ImportSet{Features: []string{"a", "old"}, Dependencies: []ImportDependency{
			{Feature: "a", Parents: []string{"old"}},
		}}, lists{{"old"}}, lists{{"old"}}},
		{"segments", ImportSet{
			Strategies: []ImportStrategy{{Feature: "a", Type: "default", Segments: []int64{1, 2}}},
			Segments:   []ImportSegment{{ID: 1, Name: "beta"}},
		}, lists{{"beta", "2"}}, nil},
		{"existing segments, matched by name", ImportSet{
			Strategies: []ImportStrategy{{Feature: "a", Type: "default", Segments: []int64{1, 2, 3, 4}}},
			Segments:   []ImportSegment{{ID: 1, Name: "all"}, {ID: 2, Name: "ours"}, {ID: 3, Name: "theirs", Defined: true}, {ID: 4, Name: "new", Defined: true}},
		}, lists{{"theirs"}}, lists{{"new"}}},
		{"custom strategy types", ImportSet{Strategies: []ImportStrategy{
			{Type: "flexibleRollout"}, {Type: "mine"}, {Type: "yours"}, {Type: "mine"}, {Type: "default"}, {Type: "userWithId"},
		}}, nil, lists{{"mine", "yours"}}},
		{"tag types", ImportSet{
			TagTypes: []string{"simple", "team"}, Tagged: []ImportTag{{Type: "simple"}, {Type: "owner"}, {Type: "team"}},
		}, nil, lists{{"team", "owner"}}},
		{"context fields", ImportSet{ContextFields: []string{"userId", "country", "appName"}}, nil, lists{{"country"}}},
		{"everything at once", ImportSet{
			Features: []string{"kept", "old", "other"}, TagTypes: []string{"team"}, ContextFields: []string{"country"},
			Strategies: []ImportStrategy{{Type: "mine", Segments: []int64{9}}}, Dependencies: []ImportDependency{{Feature: "kept", Parents: []string{"gone"}}},
		}, lists{{"other"}, {"gone"}, {"9"}}, lists{{"kept"}, {"old"}, {"mine"}, {"team"}, {"country"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.set.Validate(importTarget())
			if diff := cmp.Diff([][]string(tt.errors), affected(got.Errors)); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([][]string(tt.warnings), affected(got.Warnings)); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			if len(got.Permissions) > 0 {
				t.Errorf("permissions %v, want none lacking to an administrator", got.Permissions)
			}
		})
	}
}

// TestMissingPermissions checks that the report names the permissions that the caller lacks.
func TestMissingPermissions(t *testing.T) {
	target := importTarget()
	target.MissingPermissions = []string{"UPDATE_FEATURE", "CREATE_FEATURE"}
	if diff := cmp.Diff([][]string{{"UPDATE_FEATURE", "CREATE_FEATURE"}}, affected((ImportSet{}).Validate(target).Permissions)); diff != "" {
		t.Errorf("permissions (-want +got):\n%s", diff)
	}
}
