// Package tags has the operations on tag types, and on the tags of flags (contract: Tags).
package tags

import (
	"slices"

	"guidon/pkg/access"
	"guidon/pkg/admin/wire"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
	"guidon/pkg/shape"
)

// tagTypesPath is where tag types are.
const tagTypesPath = "/api/admin/tag-types"

// Group is the operations on the tags of flags.
func Group() httpapi.Group {
	const (
		tags   = "/api/admin/tags"
		ofFlag = "/api/admin/features/{featureName}/tags"
	)
	tagTypes := []flags.Key{flags.TagTypesKey()}
	return httpapi.Group{Name: "tags", Function: "features", Operations: []httpapi.Operation{
		{Route: "GET " + tags, Permission: access.Read, Ahead: tagTypes, Handle: httpapi.Handle(listTags)},
		{Route: "GET " + tags + "/{tagType}", Permission: access.Read, Ahead: tagTypes, Handle: httpapi.Handle(listTagsOfType)},
		{Route: "GET " + tags + "/{tagType}/{value...}", Permission: access.Read, Ahead: tagTypes, Handle: httpapi.Handle(readTag)},
		{Route: "GET " + ofFlag, Permission: access.Read, Handle: httpapi.Handle(listFeatureTags)},
		{Route: "POST " + ofFlag, Permission: access.UpdateFeature, Ahead: tagTypes, Status: 201, Handle: httpapi.HandleBody(addTag)},
		{Route: "PUT " + ofFlag, Permission: access.UpdateFeature, Ahead: tagTypes, Handle: httpapi.HandleBody(changeTags)},
		{Route: "DELETE " + ofFlag + "/{tagType}/{value...}", Permission: access.UpdateFeature, Handle: httpapi.Do(removeTag)},
	}}
}

// TypeGroup is the operations on tag types.
func TypeGroup() httpapi.Group {
	const tagType = tagTypesPath + "/{tagType}"
	tagTypes := []flags.Key{flags.TagTypesKey()}
	return httpapi.Group{Name: "tag-types", Function: "configuration", Operations: []httpapi.Operation{
		{Route: "GET " + tagTypesPath, Permission: access.Read, Ahead: tagTypes, Handle: httpapi.Handle(listTagTypes)},
		{Route: "POST " + tagTypesPath, Permission: access.CreateTagType, Ahead: tagTypes, Status: 201, Handle: httpapi.HandleBody(createTagType)},
		{Route: "GET " + tagType, Permission: access.Read, Ahead: tagTypes, Handle: httpapi.Handle(readTagType)},
		{Route: "PUT " + tagType, Permission: access.UpdateTagType, Ahead: tagTypes, Handle: httpapi.DoBody(updateTagType)},
		{Route: "DELETE " + tagType, Permission: access.DeleteTagType, Ahead: tagTypes, Handle: httpapi.Do(deleteTagType)},
		{Route: "POST " + tagTypesPath + "/validate", Permission: access.Read, Ahead: tagTypes, Handle: httpapi.HandleBody(validateTagType)},
	}}
}

// inTag is the place of an operation on a tag of any flag.
type inTag struct {
	httpapi.InService
	tagInPath
}

// tagInPath is the part of a place whose path has a tag.
type tagInPath struct {
	Type  string `path:"tagType"`
	Value string `path:"value"` // the rest of the path: any characters, slashes included
}

// inFeatureTag is the place of an operation on a tag of a flag.
type inFeatureTag struct {
	httpapi.InFeatureAlone
	tagInPath
}

// A tagAnswer is one tag.
type tagAnswer struct {
	Version int       `json:"version"`
	Tag     shape.Tag `json:"tag"`
}

// A tagList is a list of tags.
type tagList struct {
	Version int         `json:"version"`
	Tags    []shape.Tag `json:"tags"`
}

func tagListOf(tags []flags.Tag) tagList { return tagList{Version: 1, Tags: shape.Tags(tags)} }

// listTags lists the tags of all flags. Tags whose type was deleted are left out.
func listTags(tx *httpapi.Tx, _ httpapi.InService) (tagList, error) {
	types := tx.TagTypes()
	tags := slices.DeleteFunc(tx.TagsOf(tx.Projects()), func(t flags.Tag) bool { return !types.Has(t.Type) })
	return tagListOf(page(tx, tags)), nil
}

// listTagsOfType lists the tags of one type.
func listTagsOfType(tx *httpapi.Tx, at inTagType) (tagList, error) {
	if _, err := tx.TagTypes().Get(at.Name); err != nil {
		return tagList{}, err
	}
	tags := slices.DeleteFunc(tx.TagsOf(tx.Projects()), func(t flags.Tag) bool { return t.Type != at.Name })
	return tagListOf(page(tx, tags)), nil
}

// page is the part of the list that the query asks for. It has a maximum, because the number of tags has none.
func page(tx *httpapi.Tx, tags []flags.Tag) []flags.Tag {
	tags = httpapi.PageOf(tx.Query(), tags)
	return tags[:min(len(tags), httpapi.MaxPage)]
}

// readTag tells that a flag has the tag. NotFound when none has.
func readTag(tx *httpapi.Tx, at inTag) (tagAnswer, error) {
	if _, err := tx.TagTypes().Get(at.Type); err != nil {
		return tagAnswer{}, err
	}
	if !slices.Contains(tx.TagsOf(tx.Projects()), flags.Tag(at.tagInPath)) {
		return tagAnswer{}, flags.Errorf(flags.NotFound, "no flag has a tag %q of type %q", jsonbody.Shorten(at.Value), at.Type)
	}
	return tagAnswer{1, shape.Tag(at.tagInPath)}, nil
}

func listFeatureTags(tx *httpapi.Tx, at httpapi.InFeatureAlone) (tagList, error) {
	return tagListOf(at.Feature(tx).Tags), nil
}

func addTag(tx *httpapi.Tx, at httpapi.InFeatureAlone, in wire.TagBody) (shape.Tag, error) {
	f, tag := at.Feature(tx), in.Tag()
	if err := tx.TagTypes().CheckTags([]flags.Tag{tag}); err != nil {
		return shape.Tag{}, err
	}
	if err := f.ChangeTags([]flags.Tag{tag}, nil, tx.Limits); err != nil {
		return shape.Tag{}, err
	}
	tx.Save(events.FeatureTagged(f, tag), f)
	tx.Created("/api/admin/features/"+f.Name, "tags")
	return shape.Tag(tag), nil
}

// changeTags adds and removes tags of a flag in one change.
func changeTags(tx *httpapi.Tx, at httpapi.InFeatureAlone, in wire.ChangeTagsBody) (tagList, error) {
	f := at.Feature(tx)
	added, removed := in.Tags()
	if err := tx.TagTypes().CheckTags(added); err != nil {
		return tagList{}, err
	}
	if err := f.ChangeTags(added, removed, tx.Limits); err != nil {
		return tagList{}, err
	}
	tx.Save(events.FeatureTagsChanged(httpapi.Was(tx, f), f, added), f)
	return tagListOf(f.Tags), nil
}

func removeTag(tx *httpapi.Tx, at inFeatureTag) error {
	f := at.Feature(tx)
	if err := f.RemoveTag(flags.Tag(at.tagInPath)); err != nil {
		return err
	}
	tx.Save(events.FeatureUntagged(f, flags.Tag(at.tagInPath)), f)
	return nil
}
