package oldapi

import (
	"net/http"
	"slices"
	"strconv"

	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/shape"
)

// tagValueParam is the path parameter of a tag's value.
const tagValueParam = "value"

// Tags serves tag types, and the tags of flags (contract: Tags).
//
// The paths of a flag's tags name no project: permission is asked in the flag's own. A value may hold any characters, so
// it is the rest of its path, slashes included.
func Tags() Group {
	const (
		tagTypes = "/api/admin/tag-types"
		tagType  = tagTypes + "/{tagType}"
		all      = "/api/admin/tags"
		ofFlag   = "/api/admin/features/{featureName}/tags"
	)
	return Group{Name: "tags", Operations: []Operation{
		{"GET " + tagTypes, flags.Read, theTagTypes, does(listTagTypes).answers(200, tagTypeList{})},
		{"POST " + tagTypes, flags.CreateTagType, theTagTypes, takes(createTagType).answers(201, tagTypeView{})},
		{"GET " + tagType, flags.Read, theTagTypes, does(readTagType).answers(200, tagTypeAnswer{})},
		{"PUT " + tagType, flags.UpdateTagType, theTagTypes, takes(updateTagType).answers(200)},
		{"DELETE " + tagType, flags.DeleteTagType, theTagTypes, does(deleteTagType).answers(200)},
		{"POST " + tagTypes + "/validate", flags.Read, theTagTypes, takes(validateTagType).answers(200, validatedTagType{})},
		{"GET " + all, flags.Read, theTagTypes, does(listTags).listingTags().answers(200, tagList{})},
		{"GET " + all + "/{tagType}", flags.Read, theTagTypes, does(listTagsOfType).listingTags().answers(200, tagList{})},
		{"GET " + all + "/{tagType}/{value...}", flags.Read, theTagTypes, does(readTag).listingTags().answers(200, tagAnswer{})},
		{"GET " + ofFlag, flags.Read, theFeature, does(listFeatureTags).answers(200, tagList{})},
		{"POST " + ofFlag, flags.UpdateFeature, theFeature | theTagTypes, takes(addTag).answers(201, tagView{})},
		{"PUT " + ofFlag, flags.UpdateFeature, theFeature | theTagTypes, takes(changeTags).answers(200, tagList{})},
		{"DELETE " + ofFlag + "/{tagType}/{value...}", flags.UpdateFeature, theFeature, does(removeTag).answers(200)},
	}}
}

func listTagTypes(c *call) (decision, error) {
	return ok(tagTypeList{Version: 1, TagTypes: each(c.tagTypes.List, tagTypeViewOf)})
}

func readTagType(c *call) (decision, error) {
	return ok(tagTypeAnswer{1, tagTypeViewOf(c.tagType)})
}

func createTagType(c *call, in tagTypeBody) (decision, error) {
	registry, made := c.tagTypes.Clone(), in.over(flags.TagType{Name: in.Name})
	if err := registry.Add(made); err != nil {
		return decision{}, err
	}
	d, err := c.changesTagTypes(registry, events.TagTypeCreated(made), http.StatusCreated, tagTypeViewOf(made))
	return created(d, "/api/admin/tag-types", made.Name), err
}

// A validatedTagType is a tag type that could be created.
type validatedTagType struct {
	Valid   bool        `json:"valid"` // always true: what is not valid is a failure
	TagType tagTypeView `json:"tagType"`
}

// validateTagType does what createTagType does, without the change.
func validateTagType(c *call, in tagTypeBody) (decision, error) {
	made := in.over(flags.TagType{Name: in.Name})
	if err := c.tagTypes.Clone().Add(made); err != nil {
		return decision{}, err
	}
	return ok(validatedTagType{true, tagTypeViewOf(made)})
}

func updateTagType(c *call, in updateTagTypeBody) (decision, error) {
	registry, after := c.tagTypes.Clone(), in.over(c.tagType)
	if err := registry.Replace(after); err != nil {
		return decision{}, err
	}
	return c.changesTagTypes(registry, events.TagTypeUpdated(c.tagType, after), http.StatusOK, nil)
}

func deleteTagType(c *call) (decision, error) {
	registry := c.tagTypes.Clone()
	if err := registry.Remove(c.tagType.Name); err != nil {
		return decision{}, err
	}
	return c.changesTagTypes(registry, events.TagTypeDeleted(c.tagType), http.StatusOK, nil)
}

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

// listTags lists the tags that flags have, of the types that there are.
func listTags(c *call) (decision, error) {
	return c.knownTags(func(t flags.Tag) bool { return c.tagTypes.Has(t.Type) })
}

func listTagsOfType(c *call) (decision, error) {
	return c.knownTags(func(t flags.Tag) bool { return t.Type == c.tagType.Name })
}

func (c *call) knownTags(wanted func(flags.Tag) bool) (decision, error) {
	known := slices.DeleteFunc(slices.Clone(c.tags), func(t flags.Tag) bool { return !wanted(t) })
	page := pageOf(c.query, known)
	page = page[:min(len(page), maxPage)] // nothing else bounds how many tags all flags have
	return ok(tagList{Version: 1, Tags: tagViews(page)})
}

// tagInPath is the tag that the path names.
func (c *call) tagInPath() flags.Tag {
	return flags.Tag{Type: c.param(tagTypeParam), Value: c.param(tagValueParam)}
}

func readTag(c *call) (decision, error) {
	tag := c.tagInPath()
	if !slices.Contains(c.tags, tag) {
		return decision{}, flags.Errorf(flags.NotFound, "no flag has a tag %q of type %q", shorten(tag.Value), tag.Type)
	}
	return ok(tagAnswer{1, tagView(tag)})
}

func listFeatureTags(c *call) (decision, error) {
	return ok(tagList{Version: 1, Tags: tagViews(c.feature.Tags)})
}

func addTag(c *call, in tagBody) (decision, error) {
	tag := flags.Tag(in)
	f, err := c.withTags([]flags.Tag{tag}, nil)
	if err != nil {
		return decision{}, err
	}
	d, err := c.changesFeature(f, events.FeatureTagged(f, tag), http.StatusCreated, tagView(tag))
	return created(d, "/api/admin/features/"+f.Name, "tags"), err
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

func removeTag(c *call) (decision, error) {
	tag, f := c.tagInPath(), c.feature.Clone()
	if err := f.RemoveTag(tag); err != nil {
		return decision{}, err
	}
	return c.changesFeature(f, events.FeatureUntagged(f, tag), http.StatusOK, nil)
}

// A tagTypeBody makes a tag type.
type tagTypeBody struct {
	Name string `json:"name"`
	tagTypeMembers
}

func (b tagTypeBody) check(_ flags.Limits, problems *flags.Problems) {
	b.over(flags.TagType{Name: b.Name}).Check(problems)
}

// An updateTagTypeBody changes a tag type. It may repeat the name, not change it.
type updateTagTypeBody struct {
	Name maybe[string] `json:"name"`
	tagTypeMembers
}

func (b updateTagTypeBody) check(_ flags.Limits, problems *flags.Problems) {
	b.over(flags.TagType{}).CheckTexts(problems)
}

func (b updateTagTypeBody) review(c *call, problems *flags.Problems) {
	checkSameName(b.Name, c.param(tagTypeParam), problems)
}

// checkSameName finds that a body would rename what the path names.
func checkSameName(name maybe[string], path string, problems *flags.Problems) {
	if name.Set && name.Value != path {
		problems.Add("/name", "must be the name in the path, or be left out: it cannot be changed")
	}
}

// tagTypeMembers are what may be said of a tag type; what is left out stays.
type tagTypeMembers struct {
	Description maybe[*string] `json:"description"`
	Icon        maybe[*string] `json:"icon"`
}

// over is the tag type t with what the body says over it.
func (b tagTypeMembers) over(t flags.TagType) flags.TagType {
	t.Description, t.Icon = textOver(b.Description, t.Description), textOver(b.Icon, t.Icon)
	return t
}

// textOver is what a member makes of a text: null empties it.
func textOver(member maybe[*string], text string) string {
	switch {
	case !member.Set:
		return text
	case member.Value == nil:
		return ""
	}
	return *member.Value
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

type tagAnswer struct {
	Version int     `json:"version"`
	Tag     tagView `json:"tag"`
}

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

type tagTypeList struct {
	Version  int           `json:"version"`
	TagTypes []tagTypeView `json:"tagTypes"`
}

type tagTypeAnswer struct {
	Version int         `json:"version"`
	TagType tagTypeView `json:"tagType"`
}
