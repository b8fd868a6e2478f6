package segments

import (
	"guidon/pkg/admin/wire"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
	"guidon/pkg/shape"
)

// A namedBody is the name of a context field to check.
type namedBody struct {
	Name string `json:"name"`
}

func (b namedBody) Check(_ flags.Limits, problems *flags.Problems) {
	wire.CheckName("/name", b.Name, problems)
}

// A contextFieldBody creates a context field.
type contextFieldBody struct {
	Name string `json:"name"`
	contextFieldMembers
}

func (b contextFieldBody) Check(_ flags.Limits, problems *flags.Problems) {
	b.applyTo(flags.ContextField{Name: b.Name}).Check(problems)
}

// An updateContextFieldBody changes a context field. It can repeat the name, but not change it.
type updateContextFieldBody struct {
	Name jsonbody.Maybe[string] `json:"name"`
	contextFieldMembers
}

func (b updateContextFieldBody) Check(_ flags.Limits, problems *flags.Problems) {
	b.applyTo(flags.ContextField{Name: "name"}).Check(problems)
}

// contextFieldMembers are the fields of a context field that can change. As in Unleash, the description and the sort order
// stay as they are when they are left out; without stickiness it is off, and without legal values any value is legal.
type contextFieldMembers struct {
	Description jsonbody.Maybe[*string] `json:"description"`
	Stickiness  bool                    `json:"stickiness"`
	SortOrder   jsonbody.Maybe[int64]   `json:"sortOrder"`
	LegalValues []legalValueBody        `json:"legalValues"`
}

// applyTo returns the context field with the fields of the body.
func (b contextFieldMembers) applyTo(f flags.ContextField) flags.ContextField {
	f.Description, f.Stickiness, f.SortOrder = b.Description.Or(f.Description), b.Stickiness, b.SortOrder.Or(f.SortOrder)
	f.LegalValues = httpapi.Each(b.LegalValues, legalValueBody.value)
	return f
}

// A legalValueBody is a value that a context field can have.
type legalValueBody struct {
	Value       string                  `json:"value"`
	Description jsonbody.Maybe[*string] `json:"description"`
}

func (b legalValueBody) value() flags.LegalValue {
	return flags.LegalValue{Value: b.Value, Description: b.Description.Value}
}

func (b legalValueBody) Check(_ flags.Limits, problems *flags.Problems) {
	b.value().Check("", problems)
}

// A contextFieldRow is a context field in the list of all context fields.
type contextFieldRow struct {
	shape.ContextFieldView
	UsedInFeatures int `json:"usedInFeatures"`
	UsedInProjects int `json:"usedInProjects"`

	Undefined bool `json:"undefined,omitzero"`
}

// A usingStrategyList lists the strategies that have constraints on a context field.
type usingStrategyList struct {
	Strategies        []usingStrategy `json:"strategies"`
	DefaultStrategies []usingDefault  `json:"defaultStrategies"`
	Next              string          `json:"next,omitzero"` // the cursor of the next page
}
