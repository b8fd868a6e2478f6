package flags

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestTagCheck(t *testing.T) {
	tests := []struct {
		name string
		tag  Tag
		want []string
	}{
		{"the shortest", Tag{"ab", "cd"}, nil},
		{"the longest", Tag{strings.Repeat("t", 50), strings.Repeat("v", 50)}, nil},
		{"characters, not bytes", Tag{"simple", strings.Repeat("😀", 50)}, nil},
		{"any character in the value", Tag{"simple", "a/b c%?#:\x00é"}, nil},
		{"spaces count", Tag{"simple", "  "}, nil},
		{"nothing", Tag{}, []string{"/0/type", "/0/value"}},
		{"too short", Tag{"a", "b"}, []string{"/0/type", "/0/value"}},
		{"one character of several bytes", Tag{"simple", "😀"}, []string{"/0/value"}},
		{"too long", Tag{strings.Repeat("t", 51), strings.Repeat("v", 51)}, []string{"/0/type", "/0/value"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p Problems
			tt.tag.Check("/0", &p)
			if got := paths(p); !slices.Equal(got, tt.want) {
				t.Errorf("faults at %q, want %q: %v", got, tt.want, p)
			}
		})
	}
}

func TestTagTypeCheck(t *testing.T) {
	tests := []struct {
		name string
		ok   bool
	}{
		{"simple", true}, {"ab", true}, {"A-z_0.9~", true}, {strings.Repeat("t", 50), true},
		{"", false}, {"a", false}, {"..", false}, {"a b", false}, {"a:b", false}, {"a/b", false}, {"éé", false}, {strings.Repeat("t", 51), false},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%q", tt.name), func(t *testing.T) {
			var p Problems
			TagType{Name: tt.name}.Check(&p)
			if got := len(p) == 0; got != tt.ok {
				t.Errorf("good: %t, want %t: %v", got, tt.ok, p)
			}
			if len(p) > 1 {
				t.Errorf("faults %v, want one", p)
			}
		})
	}
}

func TestChangeTags(t *testing.T) {
	tag := func(value string) Tag { return Tag{"simple", value} }
	tags := func(values string) []Tag {
		var list []Tag
		for _, v := range strings.Fields(values) {
			list = append(list, tag(v))
		}
		return list
	}
	limits := DefaultLimits()
	limits.Tags = 3
	tests := []struct {
		name, has, add, remove string
		want                   string
		refused                bool
	}{
		{"the first", "", "aa", "", "aa", false},
		{"in order", "bb", "cc aa", "", "aa bb cc", false},
		{"what it has", "aa bb", "bb", "", "aa bb", false},
		{"one twice", "", "aa aa", "", "aa", false},
		{"removed", "aa bb", "", "aa", "bb", false},
		{"all removed", "aa", "", "aa", "", false},
		{"what it has not removed", "aa", "", "xx", "aa", false},
		{"one for another", "aa bb cc", "dd", "aa", "bb cc dd", false},
		{"as many as allowed", "aa bb", "cc", "", "aa bb cc", false},
		{"what it has, at the limit", "aa bb cc", "aa", "", "aa bb cc", false},
		{"past the limit", "aa bb cc", "dd", "", "aa bb cc", true},
		{"many past the limit", "", "aa bb cc dd", "", "", true},
		{"fewer, though past a limit that was lowered", "aa bb cc dd ee", "", "aa", "bb cc dd ee", false},
		{"one for another, though past it", "aa bb cc dd ee", "ff", "aa", "bb cc dd ee ff", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := &Feature{Name: "f", Tags: tags(tt.has)}
			f := before.Clone()
			err := f.ChangeTags(tags(tt.add), tags(tt.remove), limits)
			if refused := KindOf(err) == Invalid && err != nil; refused != tt.refused {
				t.Fatalf("error %v, want one: %t", err, tt.refused)
			}
			if !slices.Equal(f.Tags, tags(tt.want)) {
				t.Errorf("tags %v, want %s", f.Tags, tt.want)
			}
			if !slices.Equal(before.Tags, tags(tt.has)) {
				t.Errorf("the flag it was copied from has %v, want %s", before.Tags, tt.has)
			}
		})
	}
}

func TestRemoveTag(t *testing.T) {
	before := &Feature{Name: "f", Tags: []Tag{{"simple", "aa"}, {"simple", "bb"}}}
	f := before.Clone()
	for _, absent := range []Tag{{"simple", "cc"}, {"other", "aa"}, {"simple", "AA"}} {
		if err := f.RemoveTag(absent); KindOf(err) != NotFound {
			t.Errorf("%v removed: %v, want NotFound", absent, err)
		}
	}
	if err := f.RemoveTag(Tag{"simple", "aa"}); err != nil || !reflect.DeepEqual(f.Tags, []Tag{{"simple", "bb"}}) {
		t.Errorf("tags %v (%v), want bb", f.Tags, err)
	}
	if len(before.Tags) != 2 || before.Tags[0].Value != "aa" {
		t.Errorf("the flag it was copied from has %v, want both still", before.Tags)
	}
}

func TestTagTypes(t *testing.T) {
	registry := &TagTypes{List: []TagType{SimpleTagType}}
	tests := []struct {
		name   string
		change func(*TagTypes) error
		kind   Kind
		want   string // the names after it
	}{
		{"added", func(r *TagTypes) error { return r.Add(TagType{Name: "team"}) }, -1, "simple team"},
		{"a taken name", func(r *TagTypes) error { return r.Add(TagType{Name: "simple"}) }, NameExists, "simple"},
		{"replaced", func(r *TagTypes) error { return r.Replace(TagType{Name: "simple", Icon: "x"}) }, -1, "simple"},
		{"an unknown one replaced", func(r *TagTypes) error { return r.Replace(TagType{Name: "team"}) }, NotFound, "simple"},
		{"removed", func(r *TagTypes) error { return r.Remove("simple") }, -1, ""},
		{"an unknown one removed", func(r *TagTypes) error { return r.Remove("team") }, NotFound, "simple"},
		{"an unknown one", func(r *TagTypes) error { _, err := r.Get("team"); return err }, NotFound, "simple"},
		{"known types of tags", func(r *TagTypes) error { return r.CheckTags([]Tag{{"simple", "a"}, {"simple", "b"}}) }, -1, "simple"},
		{"an unknown type of a tag", func(r *TagTypes) error { return r.CheckTags([]Tag{{"simple", "a"}, {"team", "b"}}) }, NotFound, "simple"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := registry.Clone()
			err := tt.change(r)
			if err == nil && tt.kind != -1 || err != nil && KindOf(err) != tt.kind {
				t.Errorf("error %v, want kind %d", err, tt.kind)
			}
			var names []string
			for _, one := range r.List {
				names = append(names, one.Name)
			}
			if got := strings.Join(names, " "); got != tt.want {
				t.Errorf("tag types %q, want %q", got, tt.want)
			}
			if !reflect.DeepEqual(registry.List, []TagType{SimpleTagType}) {
				t.Errorf("the registry it was copied from is now %v", registry.List)
			}
		})
	}
}

// TestFavorites adds and removes favorites.
func TestFavorites(t *testing.T) {
	own, p := &Feature{Name: "own"}, &Project{ID: "p", UID: "1"}
	f := &Favorites{Owner: "user:1"}
	for _, is := range []bool{true, true, false, false, true} {
		before := f
		f = before.Clone()
		if err := errors.Join(f.SetFlag(own, is), f.SetProject(p, is)); err != nil {
			t.Fatal(err)
		}
		if f.HasFlag("own") != is || f.HasProject(p) != is {
			t.Errorf("%+v, want all to be favorites: %t", f, is)
		}
	}
	if want := (&Favorites{Owner: "user:1", Flags: map[string]bool{"own": true}, Projects: map[string]bool{"1": true}}); !reflect.DeepEqual(f, want) {
		t.Errorf("%+v, want %+v", f, want)
	}
}

func TestFeatureTypes(t *testing.T) {
	infos := FeatureTypeInfos()
	infos[0].Name = "changed"
	if FeatureTypeInfos()[0].Name == "changed" {
		t.Error("the list is shared, want a copy")
	}
	if got, want := fmt.Sprint(FeatureTypes()), "[experiment kill-switch release operational permission]"; got != want {
		t.Errorf("feature types %s, want %s", got, want)
	}
}
