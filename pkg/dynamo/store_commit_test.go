package dynamo_test

import (
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"guidon/pkg/access"
	"guidon/pkg/dynamo"
	"guidon/pkg/flags"
)

var commitCases = []testCase{
	{"all kinds of aggregates with all fields", func(t *storeTest) {
		feature, project, environments, token := dynamo.FullFeature(), dynamo.FullProject(), dynamo.FullEnvironments(), dynamo.FullToken()
		user, roles, signup := dynamo.FullUser(), dynamo.FullRoles(), dynamo.FullSignupToken()
		tagTypes, strategyTypes := dynamo.FullTagTypes(), dynamo.FullStrategyTypes()
		t.mustAdd(feature, project, environments, token, user, roles, signup, tagTypes, strategyTypes)
		feature.Version, project.Version, environments.Version, token.Version = 1, 1, 1, 1
		user.Version, roles.Version, signup.Version, tagTypes.Version, strategyTypes.Version = 1, 1, 1, 1, 1
		for _, want := range []flags.Aggregate{
			feature, project, environments, token, user, roles, signup, tagTypes, strategyTypes,
		} {
			wantSame(t, mustFind[flags.Aggregate](t, want.Key()), want)
		}
	}},
	{"a flag with minimal content", func(t *storeTest) {
		f := flag("u1", "bare")
		f.Environments = map[string]flags.FeatureEnvironment{"e": {
			Strategies: []flags.Strategy{{Parameters: map[string]string{}, Constraints: []flags.Constraint{{Values: []string{}}}}},
			Variants:   []flags.Variant{{Overrides: []flags.Override{{}}}},
		}}
		t.mustAdd(f)
		f.Version = 1
		wantSame(t, mustFind[*flags.Feature](t, f.Key()), f, cmpopts.EquateEmpty())
	}},
	{"changes of all kinds of aggregates", func(t *storeTest) {
		t.mustAdd(dynamo.FullFeature(), dynamo.FullProject(), dynamo.FullEnvironments(), dynamo.FullToken())
		f := mustFind[*flags.Feature](t, dynamo.FullFeature().Key())
		p := mustFind[*flags.Project](t, dynamo.FullProject().Key())
		e := mustFind[*flags.Environments](t, flags.EnvironmentsKey())
		token := mustFind[*access.Token](t, dynamo.FullToken().Key())
		f2, p2, e2, token2 := f.Clone(), p.Clone(), e.Clone(), *token
		f2.Revive(at)
		f2.Description = nil
		delete(p2.Environments, "production")
		e2.List[0].Protected = false
		token2.ExpiresAt = time.Time{}
		t.mustCommit(change("changed", flags.Write{Before: f, After: f2}))
		t.mustCommit(change("changed", flags.Write{Before: p, After: p2}, flags.Write{Before: e, After: e2}))
		t.mustCommit(change("changed", flags.Write{Before: token, After: &token2}))
		f2.Version, p2.Version, e2.Version, token2.Version = 2, 2, 2, 2
		wantSame(t, mustFind[*flags.Feature](t, f.Key()), f2)
		wantSame(t, mustFind[*flags.Project](t, p.Key()), p2)
		wantSame(t, mustFind[*flags.Environments](t, e.Key()), e2)
		wantSame(t, mustFind[*access.Token](t, token.Key()), &token2)
	}},
	{"a change that alters nothing is not stored", func(t *storeTest) {
		t.mustAdd(dynamo.FullFeature())
		f := mustFind[*flags.Feature](t, dynamo.FullFeature().Key())
		t.mustCommit(change("nothing", flags.Write{Before: f, After: f.Clone()}))
		t.mustCommit(change("nothing", flags.Write{Before: f, After: f}))
		t.mustCommit(change("nothing"))
		t.wantVersion(f, 1)
	}},
	{"a write that alters nothing is left out of the change", func(t *storeTest) {
		t.mustAdd(flag("u1", "still"), flag("u1", "moved"))
		still := mustFind[*flags.Feature](t, flags.FeatureKey("still"))
		moved := mustFind[*flags.Feature](t, flags.FeatureKey("moved"))
		t.mustCommit(change("changed",
			write(still, func(*flags.Feature) {}), write(moved, describe("new"))))
		t.wantVersion(still, 1)
		t.wantVersion(moved, 2)
	}},
	{"an empty list equals nil", func(t *storeTest) {
		f := flag("u1", "f")
		f.Environments = map[string]flags.FeatureEnvironment{"e": {EnvironmentState: flags.EnvironmentState{EnvironmentUID: "x"}}}
		t.mustAdd(f)
		read := mustFind[*flags.Feature](t, f.Key())
		t.mustCommit(change("nothing", write(read, func(f *flags.Feature) {
			f.Environments["e"] = flags.FeatureEnvironment{EnvironmentState: flags.EnvironmentState{EnvironmentUID: "x"},
				Strategies: []flags.Strategy{}, Variants: []flags.Variant{}}
		})))
		t.wantVersion(f, 1)
	}},
	{"many flags in one change", func(t *storeTest) {
		c, names := change("added"), []string{}
		for _, letter := range "abcdefghijklmnopqrst" {
			name := "flag-" + string(letter)
			names = append(names, name)
			c.Writes = append(c.Writes, addition(flag("u1", name)))
		}
		t.mustCommit(c)
		t.wantNames("u1", false, names...)
	}},
	{"a flag of the maximum size", func(t *storeTest) {
		long := strings.Repeat("y", 398<<10)
		f := flag("u1", strings.Repeat("n", 100))
		f.Description = &long
		t.mustAdd(f)
		read := mustFind[*flags.Feature](t, f.Key())
		t.mustCommit(change("archived", write(read, archive)))
		read = mustFind[*flags.Feature](t, f.Key())
		t.mustCommit(change("revived", write(read, revive)))
		t.wantVersion(f, 3)
	}},
}

// wantSame compares an aggregate as it was read back with the one that was written.
func wantSame[A flags.Aggregate](t *storeTest, got, want A, options ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, options...); diff != "" {
		t.Errorf("%v differs after reading it back (-want +got):\n%s", want.Key(), diff)
	}
}
