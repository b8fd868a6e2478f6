package flags

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// A Tag labels a flag; the pair is what identifies it (contract: Tag). The service knows the tags that flags have,
// archived flags included, and no others.
type Tag struct {
	Type  string // the name of a tag type
	Value string // of any characters, spaces at its ends included
}

// The lengths of a tag's type and value, in characters (contract: Limits).
const (
	minTag = 2
	maxTag = 50
)

// Check notes what is wrong with the tag by itself, with paths below path.
func (t Tag) Check(path string, p *Problems) {
	checkTagText(path+"/type", t.Type, p)
	checkTagText(path+"/value", t.Value, p)
}

// checkTagText notes a text that is too short or too long, and tells whether it is not.
func checkTagText(path, text string, p *Problems) bool {
	switch n := utf8.RuneCountInString(text); {
	case n == 0:
		p.Add(path, "is required")
	case n < minTag || n > maxTag:
		p.Add(path, "must have %d to %d characters, has %d", minTag, maxTag, n)
	default:
		return true
	}
	return false
}

func compareTags(a, b Tag) int {
	return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Value, b.Value))
}

// DistinctTags sorts tags by type and value and leaves each once. It changes the list that it is given.
func DistinctTags(tags []Tag) []Tag {
	slices.SortFunc(tags, compareTags)
	return slices.Compact(tags)
}

// MaxTagChanges is how many tags one call may add.
const MaxTagChanges = 90

// ChangeTags takes some tags from the flag and gives it others. To remove what it does not have, or to add what it has,
// changes nothing. Invalid past the limit.
func (f *Feature) ChangeTags(add, remove []Tag, limits Limits) error {
	tags := slices.DeleteFunc(slices.Clone(f.Tags), func(t Tag) bool { return slices.Contains(remove, t) })
	tags = DistinctTags(append(tags, add...))
	if len(tags) > limits.Tags && len(tags) > len(f.Tags) { // a limit that was lowered since still lets tags go
		return Errorf(Invalid, "flag %q would have %d tags, and no more than %d are allowed", f.Name, len(tags), limits.Tags)
	}
	f.Tags = tags
	return nil
}

// RemoveTag takes a tag from the flag. NotFound when it does not have it.
func (f *Feature) RemoveTag(t Tag) error {
	i := slices.Index(f.Tags, t)
	if i < 0 {
		return Errorf(NotFound, "flag %q has no tag %q of type %q", f.Name, t.Value, t.Type)
	}
	f.Tags = slices.Delete(slices.Clone(f.Tags), i, i+1)
	return nil
}

// A TagType is a sort of tag.
type TagType struct {
	Name        string
	Description string // "" for none
	Icon        string // "" for none
}

// SimpleTagType is there from the start, until somebody deletes it.
var SimpleTagType = TagType{Name: "simple", Description: "Labels to find flags by.", Icon: "#"}

// Check notes what is wrong with the tag type. Its name is what tags have as their type, so it has their length.
func (t TagType) Check(p *Problems) {
	if checkTagText("/name", t.Name, p) {
		if fault := CheckName(t.Name); fault != "" {
			p.Add("/name", "%s", fault)
		}
	}
	t.CheckTexts(p)
}

// TagTypes is the registry of tag types, one aggregate.
type TagTypes struct {
	Version int64
	List    []TagType
}

// Key names the registry.
func (t *TagTypes) Key() Key { return TagTypesKey() }

func (t *TagTypes) version() int64 { return t.Version }

// Clone is a copy to change.
func (t *TagTypes) Clone() *TagTypes {
	c := *t
	c.List = slices.Clone(t.List)
	return &c
}

// Get is the tag type of that name. NotFound when there is none.
func (t *TagTypes) Get(name string) (TagType, error) {
	i, err := t.index(name)
	if err != nil {
		return TagType{}, err
	}
	return t.List[i], nil
}

// Has tells whether there is a tag type of that name.
func (t *TagTypes) Has(name string) bool {
	return slices.ContainsFunc(t.List, func(one TagType) bool { return one.Name == name })
}

// Add makes a tag type. NameExists when the name is taken.
func (t *TagTypes) Add(made TagType) error {
	if t.Has(made.Name) {
		return Errorf(NameExists, "a tag type named %q exists already", made.Name)
	}
	t.List = append(t.List, made)
	return nil
}

// Replace puts a tag type in the place of the one of its name. NotFound when there is none.
func (t *TagTypes) Replace(changed TagType) error {
	i, err := t.index(changed.Name)
	if err == nil {
		t.List[i] = changed
	}
	return err
}

// Remove takes a tag type away. Flags keep their tags of it, which can be removed one by one; none can be added.
// NotFound when there is none.
func (t *TagTypes) Remove(name string) error {
	i, err := t.index(name)
	if err == nil {
		t.List = slices.Delete(t.List, i, i+1)
	}
	return err
}

func (t *TagTypes) index(name string) (int, error) {
	i := slices.IndexFunc(t.List, func(one TagType) bool { return one.Name == name })
	if i < 0 {
		return i, Errorf(NotFound, "there is no tag type %q", name)
	}
	return i, nil
}
