package dynamo

import (
	"reflect"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/review"
	"guidon/pkg/usage"
)

// SampleTime is the time of everything in the samples. Stores keep milliseconds.
var SampleTime = time.Date(2026, 3, 4, 5, 6, 7, 89e6, time.UTC)

// The samples set every field of their types, so that a test finds a field that is not stored. TestSamplesAreFull
// checks them. The golden files contain them as they are stored.

// FullFeature returns a flag with all fields set.
func FullFeature() *flags.Feature {
	return &flags.Feature{
		Name: "checkout.new-Flow_2~x", Project: "shop", ProjectUID: "0f1e2d3c",
		Metadata: flags.Metadata{Type: flags.Experiment, Description: text("für \"alle\" <b>\n\u2028 𝄞"), Stale: true, ImpressionData: true, Owner: "Team Checkout",
			Typing: flags.Typing{ValueType: flags.ObjectValue, DefaultValue: jsontext.Value(`{"size":1}`), ValueSchema: jsontext.Value(`{"type":"object"}`)}},
		Archived: true, CreatedAt: SampleTime, CreatedBy: "admin", ArchivedAt: SampleTime.Add(time.Hour), LastSeenAt: SampleTime.Add(time.Minute),
		Tags:         []flags.Tag{{Type: "simple", Value: "a/b %2F 𝄞"}},
		Links:        []flags.Link{{ID: "3a1c7f0e-6f6d-4a53-9a3b-0a5c9d2f1e10", URL: "https://example.com/1", Title: text("Ticket")}},
		Comments:     2,
		Dependencies: []flags.Dependency{{Feature: "payments", Enabled: true, Variants: []string{"blue", "green"}}, {Feature: "legacy"}},
		Children:     []string{"checkout.banner"},
		Lifecycle: []flags.Phase{
			{Stage: flags.StageInitial, EnteredAt: SampleTime},
			{Stage: flags.StageCompleted, EnteredAt: SampleTime.Add(time.Minute), Completion: flags.Completion{Status: flags.KeptWithVariant, Value: "blue"}},
		},
		Environments: map[string]flags.FeatureEnvironment{
			"production": {
				EnvironmentState: flags.EnvironmentState{EnvironmentUID: "aaaa1111", EnabledIn: "bbbb2222"},
				Strategies:       []flags.Strategy{FullStrategy(), {ID: "s-2", Name: "default", SortOrder: 1e21}},
				Variants:         []flags.Variant{fullVariant("blue", flags.Variable), fullVariant("green", flags.Fix)},
				LastSeenAt:       SampleTime.Add(time.Second),
				OffSince:         SampleTime.Add(2 * time.Second).Unix(),
				Plan: &flags.ReleasePlan{
					ID: "p-1", Attachment: "bbbb2222", TemplateID: "t-1", Name: "Canary", Description: text("a few first"), CreatedAt: SampleTime, CreatedByID: 7,
					Milestones: []flags.Milestone{{ID: "m-1", Name: "Some", SortOrder: 1, Minutes: 60, StartedAt: SampleTime, Strategies: []flags.Strategy{FullStrategy()}}},
					Active:     1, Run: 2, RunAt: SampleTime, Paused: true, Safeguards: sampleSafeguards,
				},
			},
			"__proto__": {EnvironmentState: flags.EnvironmentState{EnvironmentUID: "cccc3333"}},
		},
	}
}

// FullStrategy returns a strategy with all fields set.
func FullStrategy() flags.Strategy {
	return flags.Strategy{
		ID: "8f2e3a52-5d3c-4a43-8f1c-2f3c1b0f9d10", Name: "flexibleRollout", Title: text("half of them"), Disabled: true,
		SortOrder: -0.5, Segments: []int64{1, 1 << 60},
		Constraints: []flags.Constraint{
			{ContextName: "userId", Operator: "IN", Values: []string{"1", "", "ü,2"}, CaseInsensitive: true, Inverted: true},
			{ContextName: "version", Operator: "SEMVER_GT", Value: text("1.2.3")},
			{ContextName: "empty", Operator: "NUM_EQ", Value: text("")},
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

// FullProject returns a project with all fields set.
func FullProject() *flags.Project {
	s, limit := FullStrategy(), int64(7)
	return &flags.Project{
		ID: "shop", UID: "0f1e2d3c", Name: "The shop", Description: "where people buy", CreatedAt: SampleTime, UpdatedAt: SampleTime.Add(time.Second),
		Settings: flags.Settings{
			Mode: "protected", DefaultStickiness: "userId", FeatureLimit: &limit,
			Naming:        flags.Naming{Pattern: "^[a-z]+$", Example: "abc", Description: "small letters"},
			LinkTemplates: []flags.LinkTemplate{{Title: text("issue"), URL: "https://example.com/{{feature}}"}, {URL: "https://example.com"}},
		},
		Members: map[int64][]int64{2: {4}, 11: {5, 6}},
		Environments: map[string]flags.Attachment{
			"production":  {ID: "bbbb2222", EnvironmentUID: "aaaa1111", DefaultStrategy: &s},
			"development": {ID: "dddd4444", EnvironmentUID: "eeee5555"},
		},
		Reviews: map[string]flags.ReviewRule{"production": {EnvironmentUID: "aaaa1111", Approvals: 2}}, ReviewChange: 5,
		Freezes: []flags.Freeze{FullFreeze("c0ffee01")},
	}
}

// FullFavorites returns favorites with all fields set.
func FullFavorites() *flags.Favorites {
	return &flags.Favorites{Owner: "user:2", Flags: map[string]bool{"checkout": true}, Projects: map[string]bool{"0f1e2d3c": true}}
}

// FullEnvironments returns a registry with all fields set.
func FullEnvironments() *flags.Environments {
	return &flags.Environments{List: []flags.Environment{
		{Name: "production", UID: "aaaa1111", Type: "production", Enabled: true, Protected: true, SortOrder: 3, CreatedAt: SampleTime,
			ReviewPolicy: flags.ReviewPolicy{RequiredApprovals: 2, NobodySkips: true, OffAllowed: true}},
		{Name: "development", UID: "eeee5555", Type: "development", SortOrder: -1, CreatedAt: SampleTime},
	}, ReviewChanges: 6, RecentReviews: []flags.ReviewChange{{ProjectUID: "0f1e2d3c", Number: 5, At: SampleTime}}, Freezes: []flags.Freeze{FullFreeze("c0ffee02")}}
}

// FullFreeze returns a freeze with all fields set, although one is either weekly or has a beginning and an end.
func FullFreeze(id string) flags.Freeze {
	return flags.Freeze{
		ID: id, EnvironmentUID: "aaaa1111", Reason: "holidays", From: SampleTime, To: SampleTime.Add(time.Hour), OffAllowed: true,
		Weekly: &flags.Weekly{From: "Fri 17:00", To: "Mon 08:00", Zone: "Europe/Zurich"},
	}
}

// FullToken returns an API token with all fields set.
func FullToken() *access.Token {
	return &access.Token{
		Hash: access.HashSecret("shop:production.secret"), Sealed: "c2VhbGVk", Name: "ci", Type: access.ClientToken, Backend: true, User: 3,
		Projects: []string{"shop", "other"}, ProjectUIDs: []string{"0f1e2d3c"}, Environment: "production", EnvironmentUID: "aaaa1111",
		CreatedAt: SampleTime, ExpiresAt: SampleTime.Add(24 * time.Hour), Deleted: true,
	}
}

// FullUser returns a user with all fields set.
func FullUser() *access.User {
	return &access.User{
		ID: 3, ServiceAccount: true, Name: "Zoë", Username: "zoe", Email: "Zoe@example.com", ImageURL: "https://example.com/z.png",
		RootRole: 2, CreatedAt: SampleTime, SeenAt: SampleTime.Add(time.Hour), Projects: []string{"shop"}, NextToken: 9,
		Issuer: "https://login.example.com", Subject: "zoe-1",
		Tokens: []access.UserToken{{ID: 8, Description: "laptop", Hash: "abcd", CreatedAt: SampleTime, ExpiresAt: SampleTime.Add(time.Hour), SeenAt: SampleTime.Add(time.Minute)}},
	}
}

// FullRoles returns a registry of roles with all fields set.
func FullRoles() *access.Roles {
	return &access.Roles{NextID: 7, EnvironmentsDeleted: 2, Custom: []access.Role{{
		ID: 6, Type: access.CustomProjectRole, Name: "releaser", Description: "switches flags",
		Permissions: []access.Grant{{Permission: access.UpdateFeatureEnvironment, Environment: "development"}, {Permission: access.CreateFeature}},
	}}}
}

// FullTagTypes returns a registry of tag types with all fields set.
func FullTagTypes() *flags.TagTypes {
	return &flags.TagTypes{List: []flags.TagType{{Name: "simple", Description: "any word", Icon: "#"}, {Name: "bare"}}}
}

// FullStrategyTypes returns a registry of strategy types with all fields set, except those of built-in types.
func FullStrategyTypes() *flags.StrategyTypes {
	return &flags.StrategyTypes{List: []flags.StrategyType{{
		Name: "moon", Title: "Phase of the moon", Description: "on at full moon", Deprecated: true,
		Parameters: []flags.StrategyParameter{{Name: "phase", Type: "string", Description: "which", Required: true}, {Name: "hour", Type: "number"}},
	}}}
}

// FullAddons returns a registry of addons with all fields set.
func FullAddons() *flags.Addons {
	return &flags.Addons{List: []flags.Addon{{
		ID: 3, Provider: "webhook", Enabled: true, Description: text("to the chat"),
		Parameters: map[string]string{"contentType": "application/json"}, Sealed: map[string]string{"url": "v1.abc"},
		Events: []flags.EventType{flags.FeatureCreated, flags.FeatureArchived}, Projects: []string{"default"}, Environments: []string{"development"},
		CreatedAt: SampleTime,
	}, {ID: 4, Provider: "slack", CreatedAt: SampleTime}}}
}

// FullContextFields returns a registry of context fields with all fields set.
func FullContextFields() *flags.ContextFields {
	return &flags.ContextFields{List: []flags.ContextField{{
		Name: "country", Description: text("where they live"), Stickiness: true, SortOrder: 7, CreatedAt: SampleTime,
		LegalValues: []flags.LegalValue{{Value: "NO", Description: text("Norway")}, {Value: "SE"}},
	}, {Name: "tier", CreatedAt: SampleTime}}}
}

// FullSegment returns a segment with all fields set.
func FullSegment() *flags.Segment {
	return &flags.Segment{
		ID: 7, Name: "beta", Description: text("who tries it first"), Project: "shop", ProjectUID: "0f1e2d3c", CreatedAt: SampleTime, CreatedBy: "admin",
		Constraints: []flags.Constraint{
			{ContextName: "country", Operator: "IN", Values: []string{"NO", "SE"}, CaseInsensitive: true, Inverted: true},
			{ContextName: "age", Operator: "NUM_GT", Value: text("17")},
		},
	}
}

// FullSignals returns signals with all fields set.
func FullSignals() *flags.Signals {
	return &flags.Signals{Attachment: "0b5a4f3e-0000-4000-8000-000000000004", Project: "shop", Environment: "production", List: []flags.Signal{
		{Name: "errors", Hash: "5e88", CreatedAt: SampleTime, Firing: true, FiredAt: SampleTime, ReceivedAt: SampleTime},
	}}
}

// FullCodeReferences returns code references with all fields set.
func FullCodeReferences() *flags.CodeReferences {
	return &flags.CodeReferences{Project: "shop", ProjectUID: "0f1e2d3c", Repositories: []flags.CodeScan{{
		Repository: "example/shop", Branch: "main", Commit: "0f1e2d3c", URL: "https://example.com/{commit}/{path}#L{line}", Sequence: 7, Partial: true, ScannedAt: SampleTime,
		Flags: map[string][]flags.CodePlace{"checkout": {{Path: "src/a.go", Line: 12, Count: 2}}},
	}}}
}

// FullAskedForAll returns an AskedForAll with all fields set.
func FullAskedForAll() *usage.AskedForAll {
	return &usage.AskedForAll{Project: "shop", At: SampleTime}
}

// FullReleaseTemplate returns a release template with all fields set.
func FullReleaseTemplate() *flags.ReleaseTemplate {
	strategy := FullFeature().Environments["production"].Strategies[0]
	return &flags.ReleaseTemplate{
		ID: "0b5a4f3e-0000-4000-8000-000000000001", Name: "Canary", Description: text("a few first"), CreatedAt: SampleTime, CreatedByID: 7, ArchivedAt: SampleTime, Safeguards: sampleSafeguards,
		Milestones: []flags.Milestone{
			{ID: "0b5a4f3e-0000-4000-8000-000000000002", Name: "Some", SortOrder: 1, Minutes: 60, StartedAt: SampleTime, Strategies: []flags.Strategy{strategy}},
			{ID: "0b5a4f3e-0000-4000-8000-000000000003", Name: "All", SortOrder: 2, Strategies: []flags.Strategy{strategy}},
		},
	}
}

// FullFeatureUse returns a FeatureUse with all fields set.
func FullFeatureUse() flags.FeatureUse {
	return flags.FeatureUse{Feature: "checkout", Project: "shop", ProjectUID: "bbbb2222", Archived: true, Strategies: []flags.StrategyUse{{
		ID: "s1", Name: "default", Environment: "production", EnvironmentUID: "aaaa1111", Segments: []int64{7, 9}, ContextFields: []string{"country"}, Plan: "bbbb2222",
	}}}
}

// FullSignupToken returns a public signup token with all fields set.
func FullSignupToken() *access.SignupToken {
	return &access.SignupToken{
		Hash: "beef", Sealed: "c2VhbGVk", Name: "workshop", Enabled: true, ExpiresAt: SampleTime.Add(time.Hour), CreatedAt: SampleTime,
		CreatedBy: "admin", Users: []int64{3, 4}, Role: 3,
	}
}

// FullSessions returns the sessions of a user.
func FullSessions() *access.Sessions {
	return &access.Sessions{User: 3, Link: "the hash of a link", List: []access.Session{
		{Hash: "abcd", How: access.SignInByLink, CreatedAt: SampleTime, ExpiresAt: SampleTime.Add(12 * time.Hour)},
	}}
}

// FullSignInLink returns a sign-in link with all fields set.
func FullSignInLink() *access.SignInLink {
	return &access.SignInLink{Hash: "abcd", User: 3, CreatedAt: SampleTime, ExpiresAt: SampleTime.Add(15 * time.Minute)}
}

// FullIdentityLink returns a link of a person at an OpenID provider to a user.
func FullIdentityLink() *access.IdentityLink {
	return &access.IdentityLink{Issuer: "https://login.example.com", Subject: "zoe-1", User: 3, CreatedAt: SampleTime}
}

// FullTokenUse returns the last use of a token.
func FullTokenUse() *access.TokenUse { return &access.TokenUse{Hash: "abcd", At: SampleTime} }

// FullEvent returns an event with all fields set.
func FullEvent() flags.Event {
	return flags.Event{
		ID: "01960000-0000-7000-8000-000000000001", Type: flags.FeatureStrategyUpdate, CreatedAt: SampleTime, CreatedBy: "admin", Agent: "claude-code/1.2.3", UserID: 7,
		Project: "shop", Environment: "production", FeatureName: "checkout",
		Data: map[string]any{"name": "flexibleRollout", "list": []any{1.5, nil}}, PreData: map[string]any{"name": "default"},
		FormerProject: "other", SkippedReviews: []string{"production"}, GroupType: flags.RequestGroup, GroupID: "7",
	}
}

func text(s string) *string { return &s }

// FullApplication returns an application with all fields set.
func FullApplication() *usage.Application {
	return &usage.Application{
		Name: "shöp/web #1", CreatedAt: SampleTime, CreatedBy: "admin", LastSeenAt: SampleTime.Add(time.Hour),
		ApplicationDetails: usage.ApplicationDetails{Description: "the \"shop\"", URL: "https://shop.example", Icon: "cart", Color: "#ff0000"},
		Projects:           map[string][]string{"*": {"development", "production"}},
		Uses:               map[string][]string{"shop": {"production"}},
		Environments: map[string]usage.ApplicationEnvironment{
			"production": {SDKs: []string{"unleash-client-node:6.0.0"}, LastSeenAt: SampleTime.Add(time.Minute), Instances: 2},
		},
		Strategies: []string{"default", "flexibleRollout"},
	}
}

// FullApplicationNames returns the names of an application with all fields set.
func FullApplicationNames() *usage.ApplicationNames {
	return &usage.ApplicationNames{Application: "shöp/web #1", Features: []string{"checkout"}, Unknown: map[string][]string{"production": {"a b\n"}}, SeenAt: SampleTime}
}

// FullInstances returns instances with all fields set.
func FullInstances() *usage.Instances {
	return &usage.Instances{
		Application: "shöp/web #1", Environment: "production",
		List: []usage.Instance{{Name: "host-1", SDK: "unleash-client-node:6.0.0", Address: "192.0.2.1", CreatedAt: SampleTime, LastSeenAt: SampleTime.Add(time.Hour)}},
	}
}

// FullTokenApplications returns the applications of a token.
func FullTokenApplications() *usage.TokenApplications {
	return &usage.TokenApplications{Hash: "abcd", Names: map[string]time.Time{"shop": SampleTime}}
}

// FullPost returns a post with all fields set.
func FullPost() *usage.Post {
	return &usage.Post{
		ID: "0199d3a0-5d3c-7a43-8f1c-2f3c1b0f9d10", At: SampleTime, TokenHash: "abcd", Projects: []string{"shop", "*"},
		Instances: []usage.PostInstance{{
			Application: "shöp", Instance: "host-1", Environment: "production", SDK: "unleash-client-node:6.0.0", Address: "192.0.2.1",
			Registered: true, Strategies: []string{"default"}, Started: SampleTime.Add(-time.Hour),
		}},
		Counts: []usage.Count{
			{Feature: "checkout", Application: "shöp", Environment: "production", Yes: 3, No: 1 << 40, Variants: map[string]int64{"blue": 2, "": 1}},
			{Feature: "a b", Application: "shöp", Environment: "production"},
			{Feature: "checkout", Application: "shöp", Environment: "development", Yes: 1},
		},
		Uses: map[string]time.Time{"abcd": SampleTime.Add(-time.Minute)},
	}
}

// FullSum returns a sum with all fields set.
func FullSum() usage.Sum {
	return usage.Sum{
		Feature: "checkout", Unit: usage.Hour, Start: SampleTime.Truncate(time.Hour), Batch: 1_772_601_600_000,
		Counts: []usage.Count{
			{Feature: "checkout", Application: "(other)", Environment: "production", Yes: 1},
			{Feature: "checkout", Application: "shöp", Environment: "production", Yes: 3, No: 1 << 50, Variants: map[string]int64{"blue": 2, "": 1}},
		},
	}
}

// FullRequest returns a change request with all fields set.
func FullRequest() *review.Request {
	ada, bob := review.Person{Key: "user:3", ID: 3, Name: "ada", DisplayName: "Ada", Program: true}, review.Person{Key: "user:4", ID: 4, Name: "bob", DisplayName: "Bob", Program: true}
	base := review.FeatureBase{Project: "0f1e2d3c", Archived: true, Dependencies: "d", On: true, Strategies: "s", Variants: "v", Plan: "p", Run: 3, Segments: "g", Children: "c", Elsewhere: "e", Values: "t"}
	return &review.Request{
		ID: 7, Project: "shop", ProjectUID: "0f1e2d3c", Environment: "production", EnvironmentUID: "aaaa1111", AttachmentID: "bbbb2222",
		Title: "Launch", State: review.InReview, Entered: map[review.State]time.Time{review.Draft: SampleTime},
		CreatedBy: ada, CreatedAt: SampleTime, Contributors: []review.Person{ada},
		Changes: []review.Change{
			{ID: 1, Action: review.UpdateEnabled, Feature: "checkout", Payload: jsontext.Value(`{"enabled":true}`), Default: jsontext.Value(`{"name":"default"}`), Before: jsontext.Value(`{"enabled":false}`), By: ada, At: SampleTime},
			{ID: 3, Action: review.DeleteStrategy, Feature: "checkout", Strategy: "3f2e", Payload: jsontext.Value(`{"id":"3f2e"}`), By: ada, At: SampleTime},
			{ID: 2, Action: review.UpdateSegment, Segment: 5, Name: "beta", Payload: jsontext.Value(`{"id":5}`), By: ada, At: SampleTime},
		},
		LastChange: 2, Bases: review.Bases{Features: map[string]review.FeatureBase{"checkout": base}, Segments: map[int64]review.SegmentBase{5: {Project: "0f1e2d3c", Name: "beta", Constraints: "c", Begun: 3, Uses: "u"}},
			Uses: map[string][]int64{"checkout": {5}}},
		Guarded: []review.Guarded{{UID: "aaaa1111", Name: "production"}}, ChangedAt: SampleTime, Revision: "5f2c",
		Approvals: []review.Approval{{By: bob, At: SampleTime, Revision: "5f2c"}}, Rejections: []review.Approval{{By: bob, At: SampleTime, Revision: "5f2c"}},
		Reviewers: []int64{4}, Comments: 1, Schedule: &review.Schedule{At: SampleTime, By: ada, Status: review.Failed, Reason: "refused"},
		Untried: true, Edited: 2048,
	}
}

// FullComment returns a comment with all fields set.
func FullComment() *review.Comment {
	return &review.Comment{Request: 7, Number: 1, Text: "Why?", By: review.Person{Key: "user:4", ID: 4, Name: "bob", DisplayName: "Bob", Program: true}, At: SampleTime}
}

// fullAggregates returns a sample of each aggregate that is stored as a document.
func fullAggregates() []flags.Aggregate {
	return []flags.Aggregate{
		FullFeature(), FullProject(), FullEnvironments(), FullToken(), FullUser(), FullRoles(), FullTagTypes(), FullStrategyTypes(),
		FullSignupToken(), FullTokenUse(), FullContextFields(), FullSegment(), FullReleaseTemplate(), FullSignals(), FullCodeReferences(), FullFeatureUse(), FullAddons(),
		FullApplication(), FullApplicationNames(), FullInstances(), FullTokenApplications(), FullAskedForAll(), FullSessions(), FullSignInLink(), FullIdentityLink(), FullFavorites(), FullRequest(), FullComment(),
	}
}

// TestEveryEntityHasASample checks that no entity is missing in the samples, except for those that are only loaded.
func TestEveryEntityHasASample(t *testing.T) {
	sampled := map[flags.Entity]bool{
		flags.EntityFeed: true, flags.EntitySnapshot: true, usage.EntityCursor: true, flags.EntityUseCount: true, // only loaded
	}
	for _, a := range fullAggregates() {
		sampled[a.Key().Entity] = true
	}
	for _, e := range entities {
		if !sampled[e.name] {
			t.Errorf("the entity %q has no sample in fullAggregates, so fields that are not stored are not found", e.name)
		}
	}
}

// TestSamplesAreFull checks that each field of the domain types is set in its sample. For lists and maps, one
// element with the field is enough. TestStore and TestGolden store the samples and compare what is loaded, so a field that is not
// stored fails there.
func TestSamplesAreFull(t *testing.T) {
	samples := []any{FullEvent(), FullPost(), FullSum()}
	for _, a := range fullAggregates() {
		samples = append(samples, a)
	}
	for _, sample := range samples {
		empty := map[string]bool{}
		inspect(reflect.ValueOf(sample), reflect.TypeOf(sample).String(), empty)
		for path, isEmpty := range empty {
			if isEmpty {
				t.Errorf("%s is empty in the sample", path)
			}
		}
	}
}

// inspect records for each field below v whether it is empty in all places.
func inspect(v reflect.Value, path string, empty map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			inspect(v.Elem(), path, empty)
		}
	case reflect.Slice:
		for i := range v.Len() {
			inspect(v.Index(i), path+"[]", empty)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			inspect(v.MapIndex(key), path+"[]", empty)
		}
	case reflect.Struct:
		if v.Type().PkgPath() == "time" {
			return
		}
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if name == "Version" || name == "UseCount" {
				continue // set by the store, or when a segment is loaded with its use count
			}
			if v.Type() == reflect.TypeFor[flags.StrategyType]() && name == "DisplayName" {
				continue // only of built-in types, which are not stored
			}
			below := path + "." + name
			before, seen := empty[below]
			empty[below] = v.Field(i).IsZero() && (before || !seen)
			inspect(v.Field(i), below, empty)
		}
	}
}

var sampleSafeguards = []flags.Safeguard{{
	ID: "0b5a4f3e-0000-4000-8000-000000000004", Signal: "checkout-errors", Action: flags.SafeguardPause, TriggeredAt: SampleTime, Acted: 2, Acknowledged: SampleTime,
}}
