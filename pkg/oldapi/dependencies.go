package oldapi

import (
	"net/http"
	"slices"

	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/shape"
)

// dependencyOperations are what a flag depends on (contract: Dependency). What is said of a child and of its parents is
// written in one transaction, so one of the flags is loaded with the call and the others by a second load.
func dependencyOperations(one string) []Operation {
	const read = theProject | theFeature
	return []Operation{
		{"POST " + one + "/dependencies", flags.UpdateDependency, read, loadingFor(takes(addDependency),
			func(_ *call, in dependencyBody) []flags.Key { return []flags.Key{flags.FeatureKey(in.Feature)} }).answers(200)},
		{"DELETE " + one + "/dependencies", flags.UpdateDependency, read, does(removeDependencies).loading(parentKeys).answers(200)},
		{"DELETE " + one + "/dependencies/{parent}", flags.UpdateDependency, read, does(removeDependency).loading(parentKeys).answers(200)},
		{"GET " + one + "/parents", flags.Read, read | activeRows, does(listParents).answers(200, []string{})},
		{"GET " + one + "/parent-variants", flags.Read, read | theEnvironments, does(listParentVariants).answers(200, []string{})},
		{"GET /api/admin/projects/{projectId}/dependencies", flags.Read, theProject | activeRows, does(anyDependencies).answers(200, false)},
	}
}

// A dependencyBody makes another flag a parent.
type dependencyBody struct {
	Feature  string      `json:"feature"`
	Enabled  maybe[bool] `json:"enabled"` // default true
	Variants []string    `json:"variants"`
}

func (b dependencyBody) check(_ flags.Limits, problems *flags.Problems) {
	b.dependency().Check(problems)
}

func (b dependencyBody) dependency() flags.Dependency {
	return flags.Dependency{Feature: b.Feature, Enabled: b.Enabled.or(true), Variants: b.Variants}
}

// A dependencyView is a parent of a flag in an answer.
type dependencyView = shape.Dependency

func dependencyOf(d flags.Dependency) dependencyView { return shape.Dependency(d) }

// parentKeys name the parents of the call's flag.
func parentKeys(c *call) []flags.Key {
	return each(c.feature.Dependencies, func(d flags.Dependency) flags.Key { return flags.FeatureKey(d.Feature) })
}

// parents are the loaded parents of the call's flag as copies to change, and their writes.
func (c *call) parents() (copies []*flags.Feature, writes []flags.Write) {
	for _, key := range parentKeys(c) {
		if parent := flags.Find[*flags.Feature](c.more, key); parent != nil {
			after := parent.Clone()
			copies, writes = append(copies, after), append(writes, flags.Write{Before: parent, After: after})
		}
	}
	return copies, writes
}

func addDependency(c *call, in dependencyBody) (decision, error) {
	f, d := c.feature.Clone(), in.dependency()
	before := flags.Find[*flags.Feature](c.more, flags.FeatureKey(d.Feature))
	if before == nil {
		return decision{}, f.SetDependency(nil, d)
	}
	parent := before.Clone()
	if err := f.SetDependency(parent, d); err != nil {
		return decision{}, err
	}
	return c.changesFeature(f, events.DependencyAdded(c.feature, d), http.StatusOK, nil, flags.Write{Before: before, After: parent})
}

func removeDependency(c *call) (decision, error) {
	f := c.feature.Clone()
	was, err := f.Dependency(c.param(parentParam))
	if err != nil {
		return decision{}, err
	}
	parents, writes := c.parents()
	for _, parent := range parents {
		if parent.Name == was.Feature {
			f.RemoveDependencies(parent)
		}
	}
	return c.changesFeature(f, events.DependencyRemoved(f, was), http.StatusOK, nil, writes...)
}

func removeDependencies(c *call) (decision, error) {
	f := c.feature.Clone()
	parents, writes := c.parents()
	f.RemoveDependencies(parents...)
	return c.changesFeature(f, events.DependenciesRemoved(c.feature), http.StatusOK, nil, writes...)
}

// listParents lists what the flag could depend on. A flag that others depend on can depend on none.
func listParents(c *call) (decision, error) {
	names := []string{}
	for _, s := range c.summaries {
		if len(c.feature.Children) == 0 && s.Name != c.feature.Name && s.Relation != flags.Child {
			names = append(names, s.Name)
		}
	}
	return ok(names)
}

// listParentVariants lists the names of all variants of the flag, which a flag that depends on it can ask for.
func listParentVariants(c *call) (decision, error) { return ok(c.feature.VariantNames(c.environments)) }

func anyDependencies(c *call) (decision, error) {
	return ok(slices.ContainsFunc(c.summaries, func(s flags.FeatureSummary) bool { return s.Relation == flags.Child }))
}
