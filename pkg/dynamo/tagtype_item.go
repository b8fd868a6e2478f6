package dynamo

import "guidon/pkg/flags"

var tagTypesEntity = entity{
	name:   flags.EntityTagTypes,
	key:    func(string) itemKey { return registryKey(flags.EntityTagTypes) },
	title:  func(string) string { return "the list of tag types" },
	exists: registryExists,
	codec:  jsonCodec(storeTagTypes, tagTypesDocument.tagTypes),
}

// A tagTypesDocument is the stored form of the registry of tag types.
type tagTypesDocument struct {
	Format int               `json:"format"`
	List   []tagTypeDocument `json:"list"`
}

type tagTypeDocument struct {
	Name        string `json:"name"`
	Description string `json:"description,omitzero"`
	Icon        string `json:"icon,omitzero"`
}

func storeTagTypes(t *flags.TagTypes) tagTypesDocument {
	return tagTypesDocument{Format: format, List: convert(t.List, func(tt flags.TagType) tagTypeDocument { return tagTypeDocument(tt) })}
}

func (doc tagTypesDocument) tagTypes(version int64) *flags.TagTypes {
	return &flags.TagTypes{Version: version, List: convert(doc.List, func(tt tagTypeDocument) flags.TagType { return flags.TagType(tt) })}
}
