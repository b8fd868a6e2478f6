// Package shape has the public JSON of what both responses and events contain. It lists every field, unlike the stored form, which is
// that of the types in pkg/flags and leaves out empty values. Requests have their own types, which know whether a field was sent.
//
// Golden files of events (pkg/events) catch a change.
package shape

import (
	"time"

	"guidon/pkg/flags"
)

// A Variant is a variant of a flag or of a strategy.
type Variant struct {
	Name       string           `json:"name"`
	Weight     float64          `json:"weight"`
	WeightType flags.WeightType `json:"weightType"`
	Stickiness string           `json:"stickiness"`
	Payload    *Payload         `json:"payload,omitzero"`
	Overrides  []Override       `json:"overrides,omitempty"`
}

// A Payload is what a variant gives an application.
type Payload struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

// An Override gives a variant to users with one of some values of a context field.
type Override struct {
	ContextName string   `json:"contextName"`
	Values      []string `json:"values"`
}

// VariantOf is the shape of a variant.
func VariantOf(v flags.Variant) Variant {
	return Variant{
		Name: v.Name, Weight: v.Weight, WeightType: v.WeightType, Stickiness: v.Stickiness, Payload: (*Payload)(v.Payload),
		Overrides: Each(v.Overrides, func(o flags.Override) Override { return Override(o) }),
	}
}

// Variants are the shapes of variants.
func Variants(variants []flags.Variant) []Variant { return Each(variants, VariantOf) }

// A Constraint is a constraint of a strategy or a segment.
type Constraint struct {
	ContextName     string         `json:"contextName"`
	Operator        flags.Operator `json:"operator"`
	CaseInsensitive bool           `json:"caseInsensitive"`
	Inverted        bool           `json:"inverted"`
	Values          []string       `json:"values"`
	Value           *string        `json:"value,omitzero"`
}

// ConstraintOf is the shape of a constraint.
func ConstraintOf(c flags.Constraint) Constraint {
	return Constraint{
		ContextName: c.ContextName, Operator: c.Operator, CaseInsensitive: c.CaseInsensitive, Inverted: c.Inverted,
		Values: c.Values, Value: c.Value,
	}
}

// Constraints are the shapes of constraints.
func Constraints(constraints []flags.Constraint) []Constraint {
	return Each(constraints, ConstraintOf)
}

// A Tag is a tag of a flag.
type Tag struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

// Tags are the shapes of tags.
func Tags(tags []flags.Tag) []Tag {
	return Each(tags, func(t flags.Tag) Tag { return Tag(t) })
}

// A Dependency is a parent of a flag.
type Dependency struct {
	Feature  string   `json:"feature"`
	Enabled  bool     `json:"enabled"`
	Variants []string `json:"variants"`
}

// Dependencies are the shapes of dependencies.
func Dependencies(dependencies []flags.Dependency) []Dependency {
	return Each(dependencies, func(d flags.Dependency) Dependency { return Dependency(d) })
}

// A Time is written in ISO 8601, UTC, to the millisecond.
type Time time.Time

// MarshalText writes the time.
func (t Time) MarshalText() ([]byte, error) {
	return time.Time(t).UTC().AppendFormat(nil, "2006-01-02T15:04:05.000Z"), nil
}

// TimeOrNull is a time, or nil for the zero time.
func TimeOrNull(t time.Time) *Time {
	if t.IsZero() {
		return nil
	}
	shape := Time(t)
	return &shape
}

// NullIfEmpty is a text, or nil for an empty one.
func NullIfEmpty(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// Each converts a list. The result is not nil, so it is [] in JSON.
func Each[A, B any](list []A, convert func(A) B) []B {
	converted := make([]B, len(list))
	for i, a := range list {
		converted[i] = convert(a)
	}
	return converted
}
