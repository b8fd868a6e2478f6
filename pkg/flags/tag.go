package flags

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// A Tag is a label on a flag, identified by type and value (contract: Tag). A tag exists as long as a flag has
// it, archived flags included.
type Tag struct {
	Type  string `json:"type"`  // name of a tag type
	Value string `json:"value"` // any characters, including leading and trailing spaces
}

// The lengths of a tag's type and value in characters (contract: Limits).
const (
	minTag = 2
	maxTag = 50
)

// Check adds the problems of the tag's texts, at paths below path. It does not check whether the tag type
// exists.
func (t Tag) Check(path string, p *Problems) {
	checkTagText(path+"/type", t.Type, p)
	checkTagText(path+"/value", t.Value, p)
}

// checkTagText adds a problem if the text is too short or too long, and reports whether it is valid.
func checkTagText(path, text string, p *Problems) bool {
	switch n := utf8.RuneCountInString(text); {
	case n == 0:
		p.Add(path, "is required")
	case n < minTag || n > maxTag:
		p.Add(path, "must have %d to %d characters, but has %d", minTag, maxTag, n)
	default:
		return true
	}
	return false
}

func compareTags(a, b Tag) int {
	return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Value, b.Value))
}

// DistinctTags sorts tags by type and value and removes duplicates, in place.
func DistinctTags(tags []Tag) []Tag {
	slices.SortFunc(tags, compareTags)
	return slices.Compact(tags)
}

// MaxTagChanges is how many tags one call can add.
const MaxTagChanges = 90

// ChangeTags adds and removes tags. Adding a tag that the flag has, or removing one that it lacks, changes
// nothing. It returns Invalid if the flag would have too many tags.
func (f *Feature) ChangeTags(add, remove []Tag, limits Limits) error {
	tags := slices.DeleteFunc(slices.Clone(f.Tags), func(t Tag) bool { return slices.Contains(remove, t) })
	tags = DistinctTags(append(tags, add...))
	if len(tags) > limits.Tags && len(tags) > len(f.Tags) { // even if the limit was lowered, tags can be removed
		return Errorf(Invalid, "flag %q would have %d tags, but no more than %d are allowed; remove some first", f.Name, len(tags), limits.Tags)
	}
	f.Tags = tags
	return nil
}

// RemoveTag removes a tag from the flag. It returns NotFound if the flag does not have it.
func (f *Feature) RemoveTag(t Tag) error {
	i := slices.Index(f.Tags, t)
	if i < 0 {
		return Errorf(NotFound, "flag %q has no tag %q of type %q", f.Name, t.Value, t.Type)
	}
	f.Tags = slices.Delete(slices.Clone(f.Tags), i, i+1)
	return nil
}

// A TagType is a kind of tag.
type TagType struct {
	Name        string `json:"name"`
	Description string `json:"description,omitzero"` // "" for none
	Icon        string `json:"icon,omitzero"`        // "" for none
}

// SimpleTagType is the tag type that a new service starts with. It can be deleted.
var SimpleTagType = TagType{Name: "simple", Description: "Labels to find flags by.", Icon: "#"}

// Check adds all problems of the tag type. Its name is the type of tags, so their length limits apply.
func (t TagType) Check(p *Problems) {
	if checkTagText("/name", t.Name, p) {
		if fault := CheckName(t.Name); fault != "" {
			p.Add("/name", "%s", fault)
		}
	}
	t.CheckTexts(p)
}

// TagTypes is the registry of tag types: one aggregate.
type TagTypes struct {
	Version int64     `json:"version,omitzero"`
	List    []TagType `json:"list"`
}

// Key returns the key of the registry.
func (t *TagTypes) Key() Key { return TagTypesKey() }

// StoredVersion returns the version of the whole registry: changes of different types conflict, too, and are retried.
func (t *TagTypes) StoredVersion() int64 { return t.Version }

// Clone returns a copy that can be changed.
func (t *TagTypes) Clone() *TagTypes {
	c := *t
	c.List = slices.Clone(t.List)
	return &c
}

// Get returns the tag type of that name, or NotFound.
func (t *TagTypes) Get(name string) (TagType, error) {
	i, err := t.index(name)
	if err != nil {
		return TagType{}, err
	}
	return t.List[i], nil
}

// Has reports whether a tag type of that name exists.
func (t *TagTypes) Has(name string) bool {
	return slices.ContainsFunc(t.List, func(one TagType) bool { return one.Name == name })
}

// CheckTags returns NotFound if one of the tags has a type that does not exist.
func (t *TagTypes) CheckTags(tags []Tag) error {
	for _, tag := range tags {
		if _, err := t.index(tag.Type); err != nil {
			return err
		}
	}
	return nil
}

// Add adds a tag type. It returns NameExists if the name is taken.
func (t *TagTypes) Add(made TagType) error {
	if t.Has(made.Name) {
		return Errorf(NameExists, "a tag type named %q exists already", made.Name)
	}
	t.List = append(t.List, made)
	return nil
}

// Replace replaces the tag type of the same name. It returns NotFound if there is none.
func (t *TagTypes) Replace(changed TagType) error {
	i, err := t.index(changed.Name)
	if err == nil {
		t.List[i] = changed
	}
	return err
}

// Remove deletes a tag type. It returns NotFound if there is none. Flags keep their tags of that type, which can
// still be removed; new ones cannot be added.
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
