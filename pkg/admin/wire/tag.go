package wire

import (
	"guidon/pkg/flags"
)

// A TagBody is a tag as it comes in.
type TagBody struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

// Tag returns what the body says.
func (b TagBody) Tag() flags.Tag { return flags.Tag(b) }

// Check finds what is wrong with the body by itself.
func (b TagBody) Check(_ flags.Limits, problems *flags.Problems) { b.Tag().Check("", problems) }

// A TagTypeView is a tag type as it is answered.
type TagTypeView struct {
	Name        string  `json:"name"`
	Description *string `json:"description"`
	Icon        *string `json:"icon"`
}

// TagTypeViewOf returns it as answers have it.
func TagTypeViewOf(t flags.TagType) TagTypeView {
	return TagTypeView{t.Name, NullIfEmpty(t.Description), NullIfEmpty(t.Icon)}
}
