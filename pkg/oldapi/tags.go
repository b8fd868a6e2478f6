package oldapi

import (
	"net/http"
	"slices"
	"strconv"

	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/shape"
)

// changesTagTypes is a decision that replaces the registry, which nobody may have written before.
func (c *call) changesTagTypes(registry *flags.TagTypes, event flags.Event, status int, body any) (decision, error) {
	return c.changes(ifStored(c.tagTypes), registry, event, status, body)
}

// ifStored is a registry as it was read, nil when it is not in the store yet.
func ifStored(registry flags.Aggregate) flags.Aggregate {
	if flags.VersionOf(registry) == 0 {
		return nil
	}
	return registry
}

func changeTags(c *call, in changeTagsBody) (decision, error) {
	added := each(in.Added.Value, tagBody.tag)
	f, err := c.withTags(added, each(in.Removed.Value, tagBody.tag))
	if err != nil {
		return decision{}, err
	}
	return c.changesFeature(f, events.FeatureTagsChanged(c.feature, f, added), http.StatusOK, tagList{Version: 1, Tags: tagViews(f.Tags)})
}

// withTags is the flag with other tags.
func (c *call) withTags(add, remove []flags.Tag) (*flags.Feature, error) {
	if err := c.knowTypes(add); err != nil {
		return nil, err
	}
	f := c.feature.Clone()
	return f, f.ChangeTags(add, remove, c.limits)
}

// knowTypes sees that the types of tags that are added are there: NotFound when one is not (contract: Tags).
func (c *call) knowTypes(add []flags.Tag) error {
	for _, tag := range add {
		if _, err := c.tagTypes.Get(tag.Type); err != nil {
			return err
		}
	}
	return nil
}

// A tagBody is a tag as it comes in.
type tagBody struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

func (b tagBody) tag() flags.Tag { return flags.Tag(b) }

func (b tagBody) check(_ flags.Limits, problems *flags.Problems) { b.tag().Check("", problems) }

// A changeTagsBody adds some tags to a flag and removes others, in one change.
type changeTagsBody struct {
	Added   maybe[[]tagBody] `json:"addedTags"`
	Removed maybe[[]tagBody] `json:"removedTags"`
}

func (b changeTagsBody) check(_ flags.Limits, problems *flags.Problems) {
	if !b.Added.Set {
		problems.Add("/addedTags", "is required, if only as []")
	}
	if !b.Removed.Set {
		problems.Add("/removedTags", "is required, if only as []")
	}
	if n := len(b.Added.Value); n > flags.MaxTagChanges {
		problems.Add("/addedTags", "must have at most %d tags, has %d", flags.MaxTagChanges, n)
		return
	}
	if n := len(b.Removed.Value); n > flags.MaxTagChanges {
		problems.Add("/removedTags", "must have at most %d tags, has %d; make several calls of it", flags.MaxTagChanges, n)
		return
	}
	for i, tag := range b.Added.Value {
		tag.tag().Check("/addedTags/"+strconv.Itoa(i), problems)
	}
	for i, tag := range b.Removed.Value {
		if slices.Contains(b.Added.Value, tag) {
			problems.Add("/removedTags/"+strconv.Itoa(i), "is one of addedTags too")
		}
		flags.CheckLength("/removedTags/"+strconv.Itoa(i)+"/type", tag.Type, flags.MaxTag, problems)
		flags.CheckLength("/removedTags/"+strconv.Itoa(i)+"/value", tag.Value, flags.MaxTag, problems)
	}
}

// A tagView is a tag in an answer (contract: Tag).
type tagView = shape.Tag

func tagViews(tags []flags.Tag) []tagView { return shape.Tags(tags) }

type tagList struct {
	Version int       `json:"version"`
	Tags    []tagView `json:"tags"`
}

// A tagTypeView is a tag type as it is answered.
type tagTypeView struct {
	Name        string  `json:"name"`
	Description *string `json:"description"`
	Icon        *string `json:"icon"`
}

func tagTypeViewOf(t flags.TagType) tagTypeView {
	return tagTypeView{t.Name, textOrNull(t.Description), textOrNull(t.Icon)}
}

// textOrNull is a text that is null when empty.
func textOrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
