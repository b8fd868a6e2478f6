package flags

import (
	"slices"
	"strconv"
)

// A Dependency is a flag that another one depends on, its parent, and how that must stand for the child to count as on
// (contract: Dependency). A flag with several parents needs all of them so.
type Dependency struct {
	Feature  string
	Enabled  bool     // whether the parent must be on, or else off
	Variants []string // what an enabled parent must resolve to, one of them; none for any
}

// MaxParents is how many parents a flag can have: they change with it, in one transaction.
const MaxParents = 30

// Check notes what is wrong with the dependency by itself.
func (d Dependency) Check(p *Problems) {
	if fault := CheckName(d.Feature); fault != "" {
		p.Add("/feature", "%s", fault)
	}
	if !d.Enabled && len(d.Variants) > 0 {
		p.Add("/variants", "a parent that must be off has no variants: leave them out, or ask for an enabled parent")
	}
	if !CheckCount("/variants", "variants", len(d.Variants), MaxVariants, p) {
		return
	}
	for i, v := range d.Variants {
		if v == "" {
			p.Add("/variants/"+strconv.Itoa(i), "must be the name of a variant")
		}
		CheckLength("/variants/"+strconv.Itoa(i), v, MaxTitle, p)
	}
}

// SetDependency makes d.Feature a parent of the flag, or changes what is asked of it. parent is that flag, to change too, or
// nil when there is none. There is one level: a parent has no parents, and a child no children.
//
// Invalid when the parent is none that the flag can have; Conflict when others depend on the flag.
func (f *Feature) SetDependency(parent *Feature, d Dependency) error {
	var p Problems
	switch {
	case d.Feature == f.Name:
		p.Add("/feature", "flag %q cannot depend on itself", f.Name)
	case parent == nil || parent.ProjectUID != f.ProjectUID:
		p.Add("/feature", "there is no flag %q in project %q", d.Feature, f.Project)
	case parent.Archived:
		p.Add("/feature", "flag %q is archived, and nothing can depend on it", d.Feature)
	case len(parent.Dependencies) > 0:
		p.Add("/feature", "flag %q depends on others itself, and there is only one level", d.Feature)
	case f.parent(d.Feature) < 0 && len(f.Dependencies) >= MaxParents:
		p.Add("/feature", "flag %q depends on %d others already, and no more than %d are allowed", f.Name, len(f.Dependencies), MaxParents)
	}
	if err := p.Err(); err != nil {
		return err
	}
	if len(f.Children) > 0 {
		return f.hasChildren("flag %q cannot depend on another: %s on it, and there is only one level")
	}
	f.Dependencies = slices.Clone(f.Dependencies)
	if i := f.parent(d.Feature); i >= 0 {
		f.Dependencies[i] = d
	} else {
		f.Dependencies = append(f.Dependencies, d)
	}
	if i, had := slices.BinarySearch(parent.Children, f.Name); !had {
		parent.Children = slices.Insert(slices.Clone(parent.Children), i, f.Name)
	}
	return nil
}

// Release ends the flag's dependencies on parents, which are to change too.
func (f *Feature) RemoveDependencies(parents ...*Feature) {
	for _, parent := range parents {
		f.Dependencies = without(f.Dependencies, func(d Dependency) bool { return d.Feature == parent.Name })
		parent.Children = without(parent.Children, func(child string) bool { return child == f.Name })
	}
}

// Dependency is what the flag asks of a parent. NotFound when it does not depend on it.
func (f *Feature) Dependency(parent string) (Dependency, error) {
	if i := f.parent(parent); i >= 0 {
		return f.Dependencies[i], nil
	}
	return Dependency{}, Errorf(NotFound, "flag %q does not depend on %q", f.Name, parent)
}

// parent is where in its dependencies the flag has a parent; -1 for nowhere.
func (f *Feature) parent(name string) int {
	return slices.IndexFunc(f.Dependencies, func(d Dependency) bool { return d.Feature == name })
}

// Related are the parents and children of the flag, which stay in its project as it does.
func (f *Feature) Related() []string {
	related := slices.Clone(f.Children)
	for _, d := range f.Dependencies {
		related = append(related, d.Feature)
	}
	return related
}

// A Relation is a flag's place among dependencies.
type Relation string

// The relations. A flag that has none is on its own: "".
const (
	Parent Relation = "parent" // others depend on it
	Child  Relation = "child"  // it depends on others
)

// Relation is the flag's place among dependencies.
func (f *Feature) Relation() Relation {
	switch {
	case len(f.Dependencies) > 0:
		return Child
	case len(f.Children) > 0:
		return Parent
	}
	return ""
}

// hasChildren is the Conflict of what children forbid, with their names as its details. The format takes the flag's name
// and how many depend.
func (f *Feature) hasChildren(format string) error {
	depend := "another flag depends"
	if n := len(f.Children); n > 1 {
		depend = strconv.Itoa(n) + " other flags depend"
	}
	err := Errorf(Conflict, format, f.Name, depend)
	var children Problems
	for _, child := range f.Children {
		children.Add("", "%s", child)
	}
	err.Details = children
	return err
}

// without is a list less what matches, as a new one; nil when nothing is left.
func without[T any](list []T, matches func(T) bool) []T {
	var rest []T
	for _, item := range list {
		if !matches(item) {
			rest = append(rest, item)
		}
	}
	return rest
}
