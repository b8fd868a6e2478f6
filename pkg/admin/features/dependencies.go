package features

import (
	"slices"

	"guidon/pkg/access"
	"guidon/pkg/admin/wire"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// dependencyOperations are the parents of a flag (contract: Dependency). A child and its parents name each other, so they
// change in one transaction.
func dependencyOperations() []httpapi.Operation {
	return []httpapi.Operation{
		{Route: "POST " + flagPath + "/dependencies", Permission: access.UpdateDependency, Ahead: environments, Handle: httpapi.DoBody(addDependency)},
		{Route: "DELETE " + flagPath + "/dependencies", Permission: access.UpdateDependency, Ahead: environments, Handle: httpapi.Do(removeDependencies)},
		{Route: "DELETE " + flagPath + "/dependencies/{parent}", Permission: access.UpdateDependency, Ahead: environments, Handle: httpapi.Do(removeDependency)},
		{Route: "GET " + flagPath + "/parents", Permission: access.Read, Handle: httpapi.Handle(listParents)},
		{Route: "GET " + flagPath + "/parent-variants", Permission: access.Read, Ahead: environments, Handle: httpapi.Handle(listParentVariants)},
		{Route: "GET " + inProject + "/dependencies", Permission: access.Read, Handle: httpapi.Handle(anyDependencies)},
	}
}

// atParent is a flag and one of its parents.
type atParent struct {
	httpapi.InFeature
	Parent string `path:"parent"`
}

// parentsOf are the parents of a flag, in the order of its dependencies.
func parentsOf(tx *httpapi.Tx, f *flags.Feature) []*flags.Feature {
	names := httpapi.Each(f.Dependencies, func(d flags.Dependency) string { return d.Feature })
	tx.Load(httpapi.FeatureKeys(names...)...)
	var parents []*flags.Feature
	for _, name := range names {
		if parent := tx.FindFeature(name); parent != nil {
			parents = append(parents, parent)
		}
	}
	return parents
}

func aggregates(features []*flags.Feature) []flags.Aggregate {
	return httpapi.Each(features, func(f *flags.Feature) flags.Aggregate { return f })
}

func addDependency(tx *httpapi.Tx, at httpapi.InFeature, in wire.DependencyBody) error {
	f, d := at.Feature(tx), in.Dependency()
	parent := tx.FindFeature(d.Feature)
	if parent == f {
		parent = f.Clone()
	}
	if err := f.SetDependency(parent, d, tx.ProjectEnvironments(at.Project(tx))); err != nil {
		return err
	}
	if !d.Enabled {
		tx.Assume(parent) // it is not written if it has the child already, and may have got a safeguard that switches it off
	}
	tx.Save(events.DependencyAdded(httpapi.Was(tx, f), d), f, parent)
	return nil
}

func removeDependency(tx *httpapi.Tx, at atParent) error {
	f := at.Feature(tx)
	d, err := f.Dependency(at.Parent)
	if err != nil {
		return err
	}
	changed := []flags.Aggregate{f}
	if parent := tx.FindFeature(d.Feature); parent != nil {
		f.RemoveDependencies(parent)
		changed = append(changed, parent)
	}
	tx.Save(events.DependencyRemoved(f, d), changed...)
	return nil
}

func removeDependencies(tx *httpapi.Tx, at httpapi.InFeature) error {
	f := at.Feature(tx)
	parents := parentsOf(tx, f)
	f.RemoveDependencies(parents...)
	tx.Save(events.DependenciesRemoved(httpapi.Was(tx, f)), append([]flags.Aggregate{f}, aggregates(parents)...)...)
	return nil
}

// listParents lists the flags that the flag could depend on. A flag that others depend on can depend on none.
func listParents(tx *httpapi.Tx, at httpapi.InFeature) ([]string, error) {
	f := at.Feature(tx)
	names := []string{}
	for _, s := range tx.Summaries(at.Project(tx)) {
		if len(f.Children) == 0 && s.Name != f.Name && s.Relation != flags.Child {
			names = append(names, s.Name)
		}
	}
	return names, nil
}

// listParentVariants lists the names of all variants of the flag, which a flag that depends on it can ask for.
func listParentVariants(tx *httpapi.Tx, at httpapi.InFeature) ([]string, error) {
	p := at.Project(tx)
	return tx.FeatureOf(p, at.FeatureName).VariantNames(tx.ProjectEnvironments(p)), nil
}

func anyDependencies(tx *httpapi.Tx, at httpapi.InProject) (bool, error) {
	return slices.ContainsFunc(tx.Summaries(at.Project(tx)), func(s flags.FeatureSummary) bool { return s.Relation == flags.Child }), nil
}
