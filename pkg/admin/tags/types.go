package tags

import (
	"guidon/pkg/admin/wire"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
	"guidon/pkg/shape"
)

// inTagType is the place of an operation on a tag type.
type inTagType struct {
	httpapi.InService
	Name string `path:"tagType"`
}

// A tagTypeBody creates a tag type.
type tagTypeBody struct {
	Name string `json:"name"`
	tagTypeMembers
}

func (b tagTypeBody) Check(_ flags.Limits, problems *flags.Problems) { b.tagType().Check(problems) }

func (b tagTypeBody) tagType() flags.TagType { return b.applyTo(flags.TagType{Name: b.Name}) }

// An updateTagTypeBody changes a tag type. It can repeat the name, but not change it.
type updateTagTypeBody struct {
	Name jsonbody.Maybe[string] `json:"name"`
	tagTypeMembers
}

func (b updateTagTypeBody) Check(_ flags.Limits, problems *flags.Problems) {
	b.applyTo(flags.TagType{}).CheckTexts(problems)
}

// tagTypeMembers are the fields of a tag type that can change. A field that is left out stays as it is.
type tagTypeMembers struct {
	Description jsonbody.Maybe[*string] `json:"description"`
	Icon        jsonbody.Maybe[*string] `json:"icon"`
}

// applyTo returns the tag type with the fields of the body.
func (b tagTypeMembers) applyTo(t flags.TagType) flags.TagType {
	t.Description, t.Icon = wire.TextOver(b.Description, t.Description), wire.TextOver(b.Icon, t.Icon)
	return t
}

// A tagTypeList is the list of all tag types.
type tagTypeList struct {
	Version  int                 `json:"version"`
	TagTypes []shape.TagTypeView `json:"tagTypes"`
}

// A tagTypeAnswer is one tag type.
type tagTypeAnswer struct {
	Version int               `json:"version"`
	TagType shape.TagTypeView `json:"tagType"`
}

// A validatedTagType is a tag type that could be created.
type validatedTagType struct {
	Valid   bool              `json:"valid"` // always true: a tag type that is not valid is an error
	TagType shape.TagTypeView `json:"tagType"`
}

func listTagTypes(tx *httpapi.Tx, _ httpapi.InService) (tagTypeList, error) {
	return tagTypeList{Version: 1, TagTypes: httpapi.Each(tx.TagTypes().List, shape.TagTypeViewOf)}, nil
}

func readTagType(tx *httpapi.Tx, at inTagType) (tagTypeAnswer, error) {
	tagType, err := tx.TagTypes().Get(at.Name)
	if err != nil {
		return tagTypeAnswer{}, err
	}
	return tagTypeAnswer{1, shape.TagTypeViewOf(tagType)}, nil
}

func createTagType(tx *httpapi.Tx, _ httpapi.InService, in tagTypeBody) (shape.TagTypeView, error) {
	types, created := tx.TagTypes(), in.tagType()
	if err := types.Add(created); err != nil {
		return shape.TagTypeView{}, err
	}
	tx.Save(events.TagType.Created(created), types)
	tx.Created(tagTypesPath, created.Name)
	return shape.TagTypeViewOf(created), nil
}

// validateTagType checks what createTagType checks, and changes nothing.
func validateTagType(tx *httpapi.Tx, _ httpapi.InService, in tagTypeBody) (validatedTagType, error) {
	if err := tx.TagTypes().Add(in.tagType()); err != nil { // a copy, which is not saved
		return validatedTagType{}, err
	}
	return validatedTagType{true, shape.TagTypeViewOf(in.tagType())}, nil
}

func updateTagType(tx *httpapi.Tx, at inTagType, in updateTagTypeBody) error {
	var problems flags.Problems
	wire.CheckSameName(in.Name, at.Name, &problems)
	if err := problems.Err(); err != nil {
		return err
	}
	types := tx.TagTypes()
	before, err := types.Get(at.Name)
	if err != nil {
		return err
	}
	after := in.applyTo(before)
	if err := types.Replace(after); err != nil {
		return err
	}
	tx.Save(events.TagType.Updated(before, after), types)
	return nil
}

func deleteTagType(tx *httpapi.Tx, at inTagType) error {
	types := tx.TagTypes()
	deleted, err := types.Get(at.Name)
	if err != nil {
		return err
	}
	if err := types.Remove(at.Name); err != nil {
		return err
	}
	tx.Save(events.TagType.Deleted(deleted), types)
	return nil
}
