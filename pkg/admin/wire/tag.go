package wire

import (
	"slices"
	"strconv"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
)

// A TagBody is a tag as it comes in.
type TagBody struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

// Tag returns what the body says.
func (b TagBody) Tag() flags.Tag { return flags.Tag(b) }

func (b TagBody) Check(_ flags.Limits, problems *flags.Problems) { b.Tag().Check("", problems) }

// A ChangeTagsBody adds some tags to a flag and removes others, in one change.
type ChangeTagsBody struct {
	Added   jsonbody.Maybe[[]TagBody] `json:"addedTags"`
	Removed jsonbody.Maybe[[]TagBody] `json:"removedTags"`
}

// Tags returns the tags to add and the tags to remove.
func (b ChangeTagsBody) Tags() (added, removed []flags.Tag) {
	return httpapi.Each(b.Added.Value, TagBody.Tag), httpapi.Each(b.Removed.Value, TagBody.Tag)
}

func (b ChangeTagsBody) Check(_ flags.Limits, problems *flags.Problems) {
	if !b.Added.Set {
		problems.Add("/addedTags", "is required; it can be []")
	}
	if !b.Removed.Set {
		problems.Add("/removedTags", "is required; it can be []")
	}
	CheckTags("/addedTags", b.Added.Value, problems)
	if n := len(b.Removed.Value); n > flags.MaxTagChanges {
		problems.Add("/removedTags", "must have at most %d tags, but has %d; send several requests", flags.MaxTagChanges, n)
		return
	}
	for i, tag := range b.Removed.Value {
		path := "/removedTags/" + strconv.Itoa(i)
		if slices.Contains(b.Added.Value, tag) {
			problems.Add(path, "is also in addedTags")
		}
		tag.Tag().Check(path, problems)
	}
}

// CheckTags adds the problems of tags that a body adds to a flag.
func CheckTags(path string, tags []TagBody, problems *flags.Problems) {
	if n := len(tags); n > flags.MaxTagChanges {
		problems.Add(path, "must have at most %d tags, but has %d", flags.MaxTagChanges, n)
		return
	}
	for i, tag := range tags {
		tag.Tag().Check(path+"/"+strconv.Itoa(i), problems)
	}
}
