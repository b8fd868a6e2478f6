package flags

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// family returns a child, its two parents, a flag without dependencies and an archived flag, all of one project.
func family(t *testing.T) (child, first, second, alone, gone *Feature) {
	t.Helper()
	member := func(name string) *Feature { return &Feature{Name: name, Project: "p", ProjectUID: "uid-p"} }
	child, first, second, alone, gone = member("child"), member("first"), member("second"), member("alone"), member("gone")
	gone.Archived = true
	for _, parent := range []*Feature{first, second} {
		if err := child.SetDependency(parent, Dependency{Feature: parent.Name, Enabled: true}, nil); err != nil {
			t.Fatal(err)
		}
	}
	return child, first, second, alone, gone
}

func TestSetDependency(t *testing.T) {
	child, first, second, alone, gone := family(t)
	elsewhere := &Feature{Name: "elsewhere", Project: "q", ProjectUID: "uid-q"}
	full, last := &Feature{Name: "full", Project: "p", ProjectUID: "uid-p"}, &Feature{}
	for i := range MaxParents {
		last = &Feature{Name: fmt.Sprintf("parent-%d", i), Project: "p", ProjectUID: "uid-p"}
		if err := full.SetDependency(last, Dependency{Feature: last.Name}, nil); err != nil {
			t.Fatal(err)
		}
	}
	needs := func(parent string) Dependency {
		return Dependency{Feature: parent, Enabled: true, Variants: []string{"v"}}
	}
	tests := []struct {
		name       string
		f, parent  *Feature
		dependency Dependency
		kind       Kind
		message    string // "" for no error
		parents    string // of f, afterwards
		children   string // of the parent
	}{
		{"a first parent", alone, first, needs("first"), 0, "", "first", "alone child"},
		{"one more", child, alone, needs("alone"), 0, "", "first second alone", "child"},
		{"one that it has", child, first, needs("first"), 0, "", "first second", "child"},
		{"one more than allowed", full, alone, needs("alone"), Invalid, "no more than 30", "", ""},
		{"one that it has, where no more are allowed", full, last, needs(last.Name), 0, "", "", "full"},
		{"itself", alone, alone, needs("alone"), Invalid, "itself", "", ""},
		{"no flag", alone, nil, needs("nosuch"), Invalid, `no flag "nosuch"`, "", ""},
		{"a flag of another project", alone, elsewhere, needs("elsewhere"), Invalid, `no flag "elsewhere" in project "p"`, "", ""},
		{"an archived flag", alone, gone, needs("gone"), Invalid, "archived", "", ""},
		{"a child of another", alone, child, needs("child"), Invalid, "only one level", "", ""},
		{"its own child", first, child, needs("child"), Invalid, "only one level", "", "child"},
		{"a parent's parent", second, alone, needs("alone"), Conflict, "is a parent and cannot have one itself", "", "child"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, parent := tt.f.Clone(), tt.parent
			if parent != nil {
				parent = parent.Clone()
			}
			was, parentWas := *f, *f
			if parent != nil {
				parentWas = *parent
			}
			err := f.SetDependency(parent, tt.dependency, nil)
			if (err == nil) != (tt.message == "") || err != nil && (KindOf(err) != tt.kind || !strings.Contains(err.Error(), tt.message)) {
				t.Fatalf("error %v, want one of kind %d that says %q", err, tt.kind, tt.message)
			}
			if err != nil {
				if !reflect.DeepEqual(*f, was) || parent != nil && !reflect.DeepEqual(*parent, parentWas) {
					t.Errorf("refused, and %+v was changed into %+v, or %+v into %+v", was, *f, parentWas, *parent)
				}
				return
			}
			if d, err := f.Dependency(parent.Name); err != nil || !reflect.DeepEqual(d, tt.dependency) {
				t.Errorf("depends as %+v, %v; want %+v", d, err, tt.dependency)
			}
			if got := strings.Join(parent.Children, " "); got != tt.children {
				t.Errorf("children %q, want %q", got, tt.children)
			}
			var parents []string
			for _, d := range f.Dependencies {
				parents = append(parents, d.Feature)
			}
			if got := strings.Join(parents, " "); tt.parents != "" && got != tt.parents {
				t.Errorf("parents %q, want %q", got, tt.parents)
			}
			if f.Relation() != Child || parent.Relation() != Parent {
				t.Errorf("they are %q and %q, want child and parent", f.Relation(), parent.Relation())
			}
			if !reflect.DeepEqual(tt.f.Dependencies, was.Dependencies) || !reflect.DeepEqual(tt.parent.Children, parentWas.Children) {
				t.Error("the flags that were copied have changed too")
			}
		})
	}
}

func TestDependencyCheck(t *testing.T) {
	tests := []struct {
		name       string
		dependency Dependency
		faults     string // their paths
	}{
		{"enabled", Dependency{Feature: "p", Enabled: true}, ""},
		{"disabled", Dependency{Feature: "p"}, ""},
		{"enabled with variants", Dependency{Feature: "p", Enabled: true, Variants: []string{"a", "disabled"}}, ""},
		{"disabled with variants", Dependency{Feature: "p", Variants: []string{"a"}}, "/variants"},
		{"disabled with no variants", Dependency{Feature: "p", Variants: []string{}}, ""},
		{"a variant without a name", Dependency{Feature: "p", Enabled: true, Variants: []string{"a", ""}}, "/variants/1"},
		{"no name", Dependency{Enabled: true}, "/feature"},
		{"what can be no name", Dependency{Feature: "a/b", Enabled: true}, "/feature"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p Problems
			tt.dependency.Check(&p)
			var places []string
			for _, fault := range p {
				places = append(places, fault.Path)
			}
			if got := strings.Join(places, " "); got != tt.faults {
				t.Errorf("faults at %q, want %q", got, tt.faults)
			}
		})
	}
}

func TestRemoveDependencies(t *testing.T) {
	child, first, second, alone, _ := family(t)
	child.RemoveDependencies(first, alone)
	if len(first.Children) != 0 || !slices.Equal(second.Children, []string{"child"}) || !slices.Equal(child.Related(), []string{"second"}) {
		t.Errorf("children %q and %q, related %q; want child with the second parent alone", first.Children, second.Children, child.Related())
	}
	if first.Relation() != "" || !slices.Equal(second.Related(), []string{"child"}) {
		t.Errorf("the first is a %q, the second related to %q; want nothing, and child", first.Relation(), second.Related())
	}
	if _, err := child.Dependency("first"); KindOf(err) != NotFound {
		t.Errorf("the removed dependency: %v, want NotFound", err)
	}
	child.RemoveDependencies(second)
	if child.Dependencies != nil || second.Children != nil {
		t.Errorf("%v and %v left, want nil, as of a flag that never had any: it is stored so", child.Dependencies, second.Children)
	}
}

func TestArchiveWithDependencies(t *testing.T) {
	child, first, _, _, _ := family(t)
	err := first.Archive(monday)
	if e, ok := errors.AsType[*Error](err); !ok || e.Kind != Conflict || len(e.Details) != 1 || e.Details[0].Message != "child" || first.Archived {
		t.Errorf("a parent is archived: %+v, want a Conflict that names the child", err)
	}
	if err := child.Archive(monday, first); KindOf(err) != Internal || err == nil || child.Archived {
		t.Errorf("without one of its parents: %v, archived %t; want it refused", err, child.Archived)
	}
	child, first, second, _, _ := family(t)
	if err := child.Archive(monday, first, second); err != nil || !child.Archived || len(child.Related()) > 0 {
		t.Errorf("with its parents: %v, archived %t, related to %q; want it archived and on its own", err, child.Archived, child.Related())
	}
	for _, parent := range []*Feature{first, second} {
		if err := parent.Archive(monday); err != nil || !parent.Archived {
			t.Errorf("a parent whose child is archived: %v, want it archived", err)
		}
	}
	child.Revive(tuesday)
	if child.Archived || len(child.Related()) > 0 {
		t.Errorf("revived: archived %t, related to %q; want it active and on its own", child.Archived, child.Related())
	}
}

// TestDependencyWithoutVariants checks that an empty list of variants equals an omitted one.
func TestDependencyWithoutVariants(t *testing.T) {
	parent := &Feature{Name: "parent", ProjectUID: "p"}
	child := &Feature{Name: "child", ProjectUID: "p"}
	if err := child.SetDependency(parent, Dependency{Feature: "parent", Variants: []string{}}, nil); err != nil || child.Dependencies[0].Variants != nil {
		t.Errorf("got %+v (%v), want no variants", child.Dependencies, err)
	}
}
