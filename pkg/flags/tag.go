package flags

import "slices"

// A Tag labels a flag; the pair is what identifies it (contract: Tag).
type Tag struct {
	Type  string // the name of a tag type
	Value string // 2 to 50 characters of any kind
}

// A TagType is a sort of tag.
type TagType struct {
	Name        string
	Description string
	Icon        string
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
