package flags

import (
	"reflect"
	"strings"
	"testing"
)

func TestAttach(t *testing.T) {
	development := Environment{Name: "development", UID: "uid-1"}
	again := Environment{Name: "development", UID: "uid-2"}
	preset := &Strategy{Name: "default"}
	tests := []struct {
		name     string
		attached map[string]Attachment
		env      Environment
		conflict bool
		want     map[string]Attachment
	}{
		{"the first", nil, development, false, map[string]Attachment{"development": {ID: "new", Environment: "uid-1"}}},
		{"another", map[string]Attachment{"x": {ID: "x"}}, development, false,
			map[string]Attachment{"x": {ID: "x"}, "development": {ID: "new", Environment: "uid-1"}}},
		{"already there", map[string]Attachment{"development": {ID: "old", Environment: "uid-1"}}, development, true,
			map[string]Attachment{"development": {ID: "old", Environment: "uid-1"}}},
		// What was left of a deleted environment must not stand in the way of its successor, nor lend it anything.
		{"an environment made again", map[string]Attachment{"development": {ID: "old", Environment: "uid-1", DefaultStrategy: preset}}, again, false,
			map[string]Attachment{"development": {ID: "new", Environment: "uid-2"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := &Project{ID: "p", Environments: tt.attached}
			kept := before.Clone()
			p := before.Clone()
			err := p.Attach(tt.env, "new")
			if (err != nil) != tt.conflict || tt.conflict && KindOf(err) != Conflict {
				t.Errorf("error %v, want a conflict: %t", err, tt.conflict)
			}
			if !reflect.DeepEqual(p.Environments, tt.want) {
				t.Errorf("attached %v, want %v", p.Environments, tt.want)
			}
			if !reflect.DeepEqual(before, kept) {
				t.Errorf("the project it was copied from is now %v, want %v", before, kept)
			}
		})
	}
}

func TestAvailable(t *testing.T) {
	registry := &Environments{List: []Environment{
		{Name: "z", UID: "uid-z", SortOrder: 1}, {Name: "b", UID: "uid-b", SortOrder: 2}, {Name: "a", UID: "uid-a", SortOrder: 2},
		{Name: "off", UID: "uid-off", SortOrder: -1, Enabled: false}, {Name: "again", UID: "uid-2"}, {Name: "elsewhere", UID: "uid-e"},
	}}
	all := map[string]Attachment{
		"a": {ID: "1", Environment: "uid-a"}, "b": {ID: "2", Environment: "uid-b"}, "z": {ID: "3", Environment: "uid-z"},
		"off": {ID: "4", Environment: "uid-off"}, "again": {ID: "5", Environment: "uid-1"}, "deleted": {ID: "6", Environment: "uid-d"},
	}
	tests := []struct {
		name     string
		attached map[string]Attachment
		want     string
	}{
		{"none", nil, ""},
		{"by sort order, then by name; none that were deleted or made again", all, "off z a b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			available := (&Project{Environments: tt.attached}).Available(registry)
			if available == nil {
				t.Error("nil, want a list: it is answered as one")
			}
			names := make([]string, len(available))
			for i, env := range available {
				names[i] = env.Name
				if env.Attachment != tt.attached[env.Name] {
					t.Errorf("attachment of %s is %v, want %v", env.Name, env.Attachment, tt.attached[env.Name])
				}
			}
			if got := strings.Join(names, " "); got != tt.want {
				t.Errorf("available %q, want %q", got, tt.want)
			}
		})
	}
}
