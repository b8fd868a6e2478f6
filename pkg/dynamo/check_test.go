package dynamo_test

import (
	"strings"
	"testing"

	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

// TestCheckFindsDuplicateStrategyIDs stores flags whose strategies have the same ID, which no operation does, and checks that
// dynamotest.Check reports them.
func TestCheckFindsDuplicateStrategyIDs(t *testing.T) {
	withStrategies := func(name string, byEnvironment map[string][]string) flags.Write {
		f := newFlag(name)
		f.Environments = map[string]flags.FeatureEnvironment{}
		for env, ids := range byEnvironment {
			fe := flags.FeatureEnvironment{EnvironmentState: flags.EnvironmentState{EnvironmentUID: env}}
			for _, id := range ids {
				fe.Strategies = append(fe.Strategies, flags.Strategy{ID: id, Name: "default"})
			}
			f.Environments[env] = fe
		}
		return flags.Write{After: f}
	}
	for _, c := range []struct {
		name   string
		writes []flags.Write
		want   string // part of the only report; "" for none
	}{
		{"different IDs", []flags.Write{withStrategies("f", map[string][]string{"dev": {"a", "b"}, "prod": {"c"}}), withStrategies("g", map[string][]string{"dev": {"d"}})}, ""},
		{"in one environment", []flags.Write{withStrategies("f", map[string][]string{"dev": {"a", "a"}})}, "a is used twice: by flag f in environment dev and by flag f in environment dev"},
		{"in two environments", []flags.Write{withStrategies("f", map[string][]string{"dev": {"a"}, "prod": {"a"}})}, "a is used twice"},
		{"in two flags", []flags.Write{withStrategies("f", map[string][]string{"dev": {"a"}}), withStrategies("g", map[string][]string{"dev": {"a"}})}, "a is used twice"},
		{"no ID", []flags.Write{withStrategies("f", map[string][]string{"dev": {""}})}, "has no ID"},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := dynamotest.Open(t, nil)
			for _, w := range c.writes {
				mustCommit(t, store, w)
			}
			mustCommit(t, store, flags.Write{After: newProject(newFlag("f").ProjectUID)})
			found := dynamotest.Inconsistencies(t, dynamotest.Engine().URL(), store.Table())
			if c.want == "" && len(found) > 0 || c.want != "" && (len(found) != 1 || !strings.Contains(found[0], c.want)) {
				t.Errorf("found %q, want one inconsistency with %q, or none for an empty text", found, c.want)
			}
		})
	}
}
