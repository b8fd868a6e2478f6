package storetest

import (
	"time"

	"guidon/pkg/flags"
)

// The samples have something in every field that their types have, so that a field which is not stored is missed; a
// test holds them to it. The golden files of pkg/dynamo hold them as they are stored.

// FullFeature is a flag with everything in it.
func FullFeature() *flags.Feature {
	return &flags.Feature{
		Name: "checkout.new-Flow_2~x", Project: "shop", ProjectUID: "0f1e2d3c",
		Metadata: flags.Metadata{Type: flags.Experiment, Description: text("für \"alle\" <b>\n\u2028 𝄞"), Stale: true, ImpressionData: true},
		Archived: true, CreatedAt: at, CreatedBy: "admin", ArchivedAt: at.Add(time.Hour), LastSeenAt: at.Add(time.Minute),
		Environments: map[string]flags.FeatureEnvironment{
			"production": {
				Standing:   flags.Standing{Environment: "aaaa1111", EnabledIn: "bbbb2222"},
				Strategies: []flags.Strategy{FullStrategy(), {ID: "s-2", Name: "default", SortOrder: 1e21}},
				Variants:   []flags.Variant{fullVariant("blue", flags.Variable), fullVariant("green", flags.Fix)},
				LastSeenAt: at.Add(time.Second),
			},
			"__proto__": {Standing: flags.Standing{Environment: "cccc3333"}},
		},
	}
}

// FullStrategy is a strategy with everything in it.
func FullStrategy() flags.Strategy {
	return flags.Strategy{
		ID: "8f2e3a52-5d3c-4a43-8f1c-2f3c1b0f9d10", Name: "flexibleRollout", Title: text("half of them"), Disabled: true,
		SortOrder: -0.5, Segments: []int64{1, 1 << 60},
		Constraints: []flags.Constraint{
			{ContextName: "userId", Operator: flags.In, Values: []string{"1", "", "ü,2"}, CaseInsensitive: true, Inverted: true},
			{ContextName: "version", Operator: flags.SemverGt, Value: text("1.2.3")},
			{ContextName: "empty", Operator: flags.NumEq, Value: text("")},
		},
		Parameters: map[string]string{"rollout": "50", "stickiness": "default", "groupId": "checkout", "constructor": ""},
		Variants:   []flags.Variant{fullVariant("of-the-strategy", flags.Variable)},
	}
}

func fullVariant(name string, kind flags.WeightType) flags.Variant {
	return flags.Variant{
		Name: name, Weight: 333, WeightType: kind, Stickiness: "sessionId",
		Payload:   &flags.Payload{Type: "json", Value: `{"a":[1, 2]}`},
		Overrides: []flags.Override{{ContextName: "userId", Values: []string{"7", "8"}}},
	}
}

// FullProject is a project with everything in it.
func FullProject() *flags.Project {
	s := FullStrategy()
	return &flags.Project{
		ID: "shop", UID: "0f1e2d3c", Name: "The shop", Description: "where people buy", CreatedAt: at,
		Environments: map[string]flags.Attachment{
			"production":  {ID: "bbbb2222", Environment: "aaaa1111", DefaultStrategy: &s},
			"development": {ID: "dddd4444", Environment: "eeee5555"},
		},
	}
}

// FullEnvironments is a registry with everything in it.
func FullEnvironments() *flags.Environments {
	return &flags.Environments{List: []flags.Environment{
		{Name: "production", UID: "aaaa1111", Type: "production", Enabled: true, Protected: true, SortOrder: 3, CreatedAt: at},
		{Name: "development", UID: "eeee5555", Type: "development", SortOrder: -1, CreatedAt: at},
	}}
}

// FullToken is an API token with everything in it.
func FullToken() *flags.Token {
	return &flags.Token{
		Hash: flags.HashSecret("shop:production.secret"), Name: "ci", Type: flags.ClientToken,
		Projects: []string{"shop", "other"}, Environment: "production", CreatedAt: at, ExpiresAt: at.Add(24 * time.Hour),
	}
}

// FullEvent is an event with everything in it.
func FullEvent() flags.Event {
	return flags.Event{
		ID: "01960000-0000-7000-8000-000000000001", Type: flags.FeatureStrategyUpdate, CreatedAt: at, CreatedBy: "admin",
		Project: "shop", Environment: "production", FeatureName: "checkout",
		Data: map[string]any{"name": "flexibleRollout", "list": []any{1.5, nil}}, PreData: map[string]any{"name": "default"},
	}
}

func text(s string) *string { return &s }

// flag is a plain flag of a project.
func flag(uid, name string) *flags.Feature {
	return &flags.Feature{
		Name: name, Project: "p-" + uid, ProjectUID: uid, Metadata: flags.Metadata{Type: flags.Release},
		CreatedAt: at, CreatedBy: "storetest",
	}
}

// retired is an archived flag of a project.
func retired(uid, name string) *flags.Feature {
	f := flag(uid, name)
	f.Archive(at)
	return f
}

func describe(s string) func(*flags.Feature) {
	return func(f *flags.Feature) { f.Description = &s }
}
