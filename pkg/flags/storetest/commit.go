package storetest

import (
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"guidon/pkg/flags"
)

var commitCases = []testCase{
	{"every sort of aggregate, with everything in it", func(t *trial) {
		feature, project, environments, token := FullFeature(), FullProject(), FullEnvironments(), FullToken()
		user, roles, signup := FullUser(), FullRoles(), FullSignupToken()
		tagTypes, strategyTypes := FullTagTypes(), FullStrategyTypes()
		t.mustAdd(feature, project, environments, token, user, roles, signup, tagTypes, strategyTypes)
		feature.Version, project.Version, environments.Version, token.Version = 1, 1, 1, 1
		user.Version, roles.Version, signup.Version, tagTypes.Version, strategyTypes.Version = 1, 1, 1, 1, 1
		for _, want := range []flags.Aggregate{
			feature, project, environments, token, user, roles, signup, tagTypes, strategyTypes,
		} {
			wantSame(t, mustFind[flags.Aggregate](t, want.Key()), want)
		}
	}},
	{"a flag with as little in it as may be", func(t *trial) {
		f := flag("u1", "bare")
		f.Environments = map[string]flags.FeatureEnvironment{"e": {
			Strategies: []flags.Strategy{{Parameters: map[string]string{}, Constraints: []flags.Constraint{{Values: []string{}}}}},
			Variants:   []flags.Variant{{Overrides: []flags.Override{{}}}},
		}}
		t.mustAdd(f)
		f.Version = 1
		wantSame(t, mustFind[*flags.Feature](t, f.Key()), f, cmpopts.EquateEmpty())
	}},
	{"changes of each sort of aggregate", func(t *trial) {
		t.mustAdd(FullFeature(), FullProject(), FullEnvironments(), FullToken())
		f := mustFind[*flags.Feature](t, FullFeature().Key())
		p := mustFind[*flags.Project](t, FullProject().Key())
		e := mustFind[*flags.Environments](t, flags.EnvironmentsKey())
		token := mustFind[*flags.Token](t, FullToken().Key())
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
		wantSame(t, mustFind[*flags.Token](t, token.Key()), &token2)
	}},
	{"what alters nothing leaves no trace", func(t *trial) {
		t.mustAdd(FullFeature())
		f := mustFind[*flags.Feature](t, FullFeature().Key())
		t.mustCommit(change("nothing", flags.Write{Before: f, After: f.Clone()}))
		t.mustCommit(change("nothing", flags.Write{Before: f, After: f}))
		t.mustCommit(change("nothing"))
		t.wantVersion(f, 1)
	}},
	{"a write that alters nothing is left out of the change", func(t *trial) {
		t.mustAdd(flag("u1", "still"), flag("u1", "moved"))
		still := mustFind[*flags.Feature](t, flags.FeatureKey("still"))
		moved := mustFind[*flags.Feature](t, flags.FeatureKey("moved"))
		t.mustCommit(change("changed",
			changed(still, func(*flags.Feature) {}), changed(moved, describe("new"))))
		t.wantVersion(still, 1)
		t.wantVersion(moved, 2)
	}},
	{"an empty list is the same as none", func(t *trial) {
		f := flag("u1", "f")
		f.Environments = map[string]flags.FeatureEnvironment{"e": {EnvironmentState: flags.EnvironmentState{EnvironmentUID: "x"}}}
		t.mustAdd(f)
		read := mustFind[*flags.Feature](t, f.Key())
		t.mustCommit(change("nothing", changed(read, func(f *flags.Feature) {
			f.Environments["e"] = flags.FeatureEnvironment{EnvironmentState: flags.EnvironmentState{EnvironmentUID: "x"},
				Strategies: []flags.Strategy{}, Variants: []flags.Variant{}}
		})))
		t.wantVersion(f, 1)
	}},
	{"many flags of one project at once", func(t *trial) {
		c, names := change("added"), []string{}
		for _, letter := range "abcdefghijklmnopqrst" {
			name := "flag-" + string(letter)
			names = append(names, name)
			c.Writes = append(c.Writes, added(flag("u1", name)))
		}
		t.mustCommit(c)
		t.wantNames("u1", false, names...)
	}},
	{"as much as an item can hold", func(t *trial) {
		long := strings.Repeat("y", 398<<10)
		f := flag("u1", strings.Repeat("n", 100))
		f.Description = &long
		t.mustAdd(f)
		read := mustFind[*flags.Feature](t, f.Key())
		t.mustCommit(change("archived", changed(read, archive)))
		read = mustFind[*flags.Feature](t, f.Key())
		t.mustCommit(change("revived", changed(read, revive)))
		t.wantVersion(f, 3)
	}},
}

func wantSame[A flags.Aggregate](t *trial, got, want A, options ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, options...); diff != "" {
		t.Errorf("%v comes back otherwise (-want +got):\n%s", want.Key(), diff)
	}
}
