package flags

import (
	"fmt"
	"slices"
	"strconv"
)

// A Dependency makes a flag, the child, depend on another one, its parent (contract: Dependency). The child is
// only on for users for whom the parent is in the required state. A flag with several parents needs all of them
// in their required states.
type Dependency struct {
	Feature  string   `json:"feature"`            // name of the parent
	Enabled  bool     `json:"enabled,omitzero"`   // whether the parent must be on, or off
	Variants []string `json:"variants,omitempty"` // the parent must resolve to one of these; empty for any. Only for an enabled parent
}

// MaxParents is how many parents a flag can have. They are all written in one transaction with the flag.
const MaxParents = 30

// Check adds the problems that the dependency has independent of the flags.
func (d Dependency) Check(p *Problems) {
	if fault := CheckName(d.Feature); fault != "" {
		p.Add("/feature", "%s", fault)
	}
	if !d.Enabled && len(d.Variants) > 0 {
		p.Add("/variants", "are only allowed if the parent must be enabled; leave them out, or set enabled to true")
	}
	if !CheckCount("/variants", "variants", len(d.Variants), MaxVariants, p) {
		return
	}
	for i, v := range d.Variants {
		if v == "" {
			p.Add("/variants/"+strconv.Itoa(i), "must not be empty")
		}
		CheckLength("/variants/"+strconv.Itoa(i), v, MaxTitle, p)
	}
}

// SetDependency makes d.Feature a parent of the flag, or replaces an existing dependency on it. parent must be a
// clone of that flag, because it is changed too, or nil if there is no such flag. envs are the environments of the project.
// There is only one level: a parent cannot have parents, a child cannot have children.
//
// It returns Invalid if the flag cannot have this parent, and Conflict if other flags depend on the flag.
func (f *Feature) SetDependency(parent *Feature, d Dependency, envs []ProjectEnvironment) error {
	var p Problems
	switch {
	case d.Feature == f.Name:
		p.Add("/feature", "flag %q cannot depend on itself", f.Name)
	case parent == nil || parent.ProjectUID != f.ProjectUID:
		p.Add("/feature", "there is no flag %q in project %q", d.Feature, f.Project)
	case parent.Archived:
		p.Add("/feature", "flag %q is archived and cannot be a parent; revive it first", d.Feature)
	case len(parent.Dependencies) > 0:
		p.Add("/feature", "flag %q has a parent and cannot be one itself: there is only one level of dependencies", d.Feature)
	case f.parentIndex(d.Feature) < 0 && len(f.Dependencies) >= MaxParents:
		p.Add("/feature", "flag %q has %d parents and no more than %d are allowed; remove one first", f.Name, len(f.Dependencies), MaxParents)
	}
	if err := p.Err(); err != nil {
		return err
	}
	if len(f.Children) > 0 {
		return f.childrenConflict(fmt.Sprintf("flag %q is a parent and cannot have one itself: there is only one level of dependencies", f.Name))
	}
	for _, env := range envs {
		if plan := parent.Plan(env); !d.Enabled && plan.SwitchesOff() {
			return Errorf(Conflict, "flag %q cannot be on where %q is off, because a safeguard of release plan %q can switch %[2]q off in environment %[4]q; remove the plan or its safeguard first", f.Name, parent.Name, plan.Name, env.Name)
		}
	}
	if len(d.Variants) == 0 {
		d.Variants = nil // the stored form has no empty list; a repeated import must find no difference
	}
	f.Dependencies = slices.Clone(f.Dependencies)
	if i := f.parentIndex(d.Feature); i >= 0 {
		f.Dependencies[i] = d
	} else {
		f.Dependencies = append(f.Dependencies, d)
	}
	if i, had := slices.BinarySearch(parent.Children, f.Name); !had {
		parent.Children = slices.Insert(slices.Clone(parent.Children), i, f.Name)
	}
	return nil
}

// RemoveDependencies ends the flag's dependencies on the parents. They are changed too, so they must be clones.
func (f *Feature) RemoveDependencies(parents ...*Feature) {
	for _, parent := range parents {
		f.Dependencies = without(f.Dependencies, func(d Dependency) bool { return d.Feature == parent.Name })
		parent.Children = without(parent.Children, func(child string) bool { return child == f.Name })
	}
}

// Dependency returns the flag's dependency on a parent, or NotFound.
func (f *Feature) Dependency(parent string) (Dependency, error) {
	if i := f.parentIndex(parent); i >= 0 {
		return f.Dependencies[i], nil
	}
	return Dependency{}, Errorf(NotFound, "flag %q does not depend on %q", f.Name, parent)
}

// parentIndex returns the position of a parent in the list of dependencies, or -1.
func (f *Feature) parentIndex(name string) int {
	return slices.IndexFunc(f.Dependencies, func(d Dependency) bool { return d.Feature == name })
}

// Related returns the names of the flag's parents and children. Dependencies never cross projects, so none of
// these flags can be moved.
func (f *Feature) Related() []string {
	related := slices.Clone(f.Children)
	for _, d := range f.Dependencies {
		related = append(related, d.Feature)
	}
	return related
}

// A Relation says on which side of dependencies a flag is.
type Relation string

// The relations. A flag without dependencies has the relation "".
const (
	Parent Relation = "parent" // other flags depend on it
	Child  Relation = "child"  // it depends on other flags
)

// Relation returns on which side of dependencies the flag is.
func (f *Feature) Relation() Relation {
	switch {
	case len(f.Dependencies) > 0:
		return Child
	case len(f.Children) > 0:
		return Parent
	}
	return ""
}

// childrenConflict returns the Conflict of a change that is impossible while the flag has children. The details
// name them.
func (f *Feature) childrenConflict(message string) error {
	err := Errorf(Conflict, "%s", message)
	var children Problems
	for _, child := range f.Children {
		children.Add("", "%s", child)
	}
	err.Details = children
	return err
}

// without returns a new list without the items that match; nil if none is left.
func without[T any](list []T, matches func(T) bool) []T {
	var rest []T
	for _, item := range list {
		if !matches(item) {
			rest = append(rest, item)
		}
	}
	return rest
}
