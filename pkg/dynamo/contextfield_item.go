package dynamo

import (
	"time"

	"guidon/pkg/flags"
)

var contextFieldsEntity = entity{
	name:   flags.EntityContextFields,
	key:    func(string) itemKey { return registryKey(flags.EntityContextFields) },
	title:  func(string) string { return "the list of context fields" },
	exists: registryExists,
	codec:  jsonCodec(storeContextFields, contextFieldsDocument.contextFields),
}

// A contextFieldsDocument is the stored form of the registry of context fields.
type contextFieldsDocument struct {
	Format int                    `json:"format"`
	List   []contextFieldDocument `json:"list"`
}

type contextFieldDocument struct {
	Name        string               `json:"name"`
	Description *string              `json:"description,omitzero"`
	Stickiness  bool                 `json:"stickiness,omitzero"`
	SortOrder   int64                `json:"sortOrder"`
	LegalValues []legalValueDocument `json:"legalValues,omitempty"`
	CreatedAt   time.Time            `json:"createdAt"`
}

type legalValueDocument struct {
	Value       string  `json:"value"`
	Description *string `json:"description,omitzero"`
}

func storeContextFields(r *flags.ContextFields) contextFieldsDocument {
	return contextFieldsDocument{Format: format, List: convert(r.List, func(f flags.ContextField) contextFieldDocument {
		return contextFieldDocument{f.Name, f.Description, f.Stickiness, f.SortOrder,
			convert(f.LegalValues, func(v flags.LegalValue) legalValueDocument { return legalValueDocument(v) }), f.CreatedAt}
	})}
}

func (doc contextFieldsDocument) contextFields(version int64) *flags.ContextFields {
	return &flags.ContextFields{Version: version, List: convert(doc.List, func(f contextFieldDocument) flags.ContextField {
		return flags.ContextField{Name: f.Name, Description: f.Description, Stickiness: f.Stickiness, SortOrder: f.SortOrder, CreatedAt: f.CreatedAt,
			LegalValues: convert(f.LegalValues, func(v legalValueDocument) flags.LegalValue { return flags.LegalValue(v) })}
	})}
}
