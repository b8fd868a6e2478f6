package dynamotest

import (
	"context"
	"fmt"
	"strings"

	"guidon/pkg/flags"
)

// checkRows compares flags with their list rows.
func (c *checker) checkRows() {
	c.t.Helper()
	uids := map[string]bool{}
	for _, f := range c.flags {
		uids[f.ProjectUID] = true
	}
	for k := range c.items {
		if uid, is := strings.CutPrefix(k.pk, "PROJECT#"); is && (strings.HasPrefix(k.sk, "FLAG#") || strings.HasPrefix(k.sk, "ARCHIVED#")) {
			uids[uid] = true
		}
	}
	want, got := map[string]flags.FeatureSummary{}, map[string]flags.FeatureSummary{}
	for name, f := range c.flags {
		want[fmt.Sprint(f.ProjectUID, f.Archived, name)] = f.Summary()
	}
	for uid := range uids {
		for _, archived := range []bool{false, true} {
			rows, err := c.store.Summaries(context.WithoutCancel(c.t.Context()), uid, archived)
			if err != nil {
				c.t.Fatal(err)
			}
			for _, row := range rows {
				got[fmt.Sprint(uid, archived, row.Name)] = row
			}
		}
	}
	c.compare("the list rows of flags", want, got)
}

// checkStrategyIDs reports two strategies with the same ID, in one flag or in two. A strategy without an ID is reported too.
func (c *checker) checkStrategyIDs() {
	owners := map[string]string{} // by strategy ID
	for name, f := range c.flags {
		for env, fe := range f.Environments {
			for _, s := range fe.Strategies {
				owner := fmt.Sprintf("flag %s in environment %s", name, env)
				if s.ID == "" {
					c.report("a strategy of %s has no ID", owner)
				} else if other, taken := owners[s.ID]; taken {
					c.report("the strategy ID %s is used twice: by %s and by %s", s.ID, other, owner)
				}
				owners[s.ID] = owner
			}
		}
	}
}

// checkUses compares what flags use of segments and context fields with the items of it.
func (c *checker) checkUses() {
	c.t.Helper()
	list, err := c.store.List(context.WithoutCancel(c.t.Context()), flags.EntityUse)
	if err != nil {
		c.t.Fatal(err)
	}
	want, got := map[string]flags.FeatureUse{}, map[string]flags.FeatureUse{}
	for name, f := range c.flags {
		if use := f.Use(); len(use.Strategies) > 0 {
			want[name] = use
		}
	}
	for _, use := range list {
		got[use.(flags.FeatureUse).Feature] = use.(flags.FeatureUse)
	}
	c.compare("the uses of flags", want, got)
}

// checkDependencies compares the dependencies of children with those that their parents have.
func (c *checker) checkDependencies() {
	ofChildren, ofParents := map[string]bool{}, map[string]bool{}
	for name, f := range c.flags {
		for _, d := range f.Dependencies {
			ofChildren[name+" depends on "+d.Feature] = true
		}
		for _, child := range f.Children {
			ofParents[child+" depends on "+name] = true
		}
		if len(f.Dependencies) > 0 && (f.Archived || len(f.Children) > 0) {
			c.report("flag %s has parents, although it is archived (%t) or has children (%q)", name, f.Archived, f.Children)
		}
	}
	c.compare("the dependencies that children have, and those that parents have", ofChildren, ofParents)
}
