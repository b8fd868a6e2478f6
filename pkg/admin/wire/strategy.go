package wire

import (
	"strconv"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
)

// A NewStrategyBody creates a strategy. Unlike in a StrategyBody, the name is required.
type NewStrategyBody struct{ StrategyBody }

// Check adds the problems that can be found without the registry of strategy types.
func (b NewStrategyBody) Check(limits flags.Limits, problems *flags.Problems) {
	b.CheckMembers(problems)
	b.ApplyTo(flags.Strategy{}).CheckWithoutRegistry(limits, problems)
}

// CheckType adds the problems of the strategy type and its parameters.
func (b NewStrategyBody) CheckType(types *flags.StrategyTypes, problems *flags.Problems) {
	s := b.ApplyTo(flags.Strategy{})
	s.CheckType(types, problems)
	if _, known := types.Find(s.Name); !known && s.Name != "" {
		(*problems)[len(*problems)-1].Message += " with POST /api/admin/strategies"
	}
}

// A StrategyBody changes a strategy. Segments, constraints, variants and parameters are replaced: those that are left out
// become empty, and parameters get their defaults. Other fields that are left out stay.
type StrategyBody struct {
	Name        jsonbody.Maybe[string]  `json:"name"`
	Title       jsonbody.Maybe[*string] `json:"title"`
	Disabled    jsonbody.Maybe[*bool]   `json:"disabled"`
	SortOrder   jsonbody.Maybe[float64] `json:"sortOrder"`
	Segments    []int64                 `json:"segments"`
	Constraints []ConstraintBody        `json:"constraints"`
	Parameters  map[string]Parameter    `json:"parameters"`
	Variants    []StrategyVariantBody   `json:"variants"`
}

// Check adds the problems that do not depend on the stored strategy.
func (b StrategyBody) Check(limits flags.Limits, problems *flags.Problems) {
	b.CheckMembers(problems)
	b.ApplyTo(flags.Strategy{Name: "default"}).CheckWithoutRegistry(limits, problems)
}

// CheckMembers adds the problems that only the body shows: required fields of variants that are missing.
func (b StrategyBody) CheckMembers(problems *flags.Problems) {
	for i, v := range b.Variants {
		v.CheckMembers("/variants/"+strconv.Itoa(i), problems)
	}
}

// ApplyTo returns the strategy s with the fields of the body.
func (b StrategyBody) ApplyTo(s flags.Strategy) flags.Strategy {
	s.Name, s.Title, s.SortOrder = b.Name.Or(s.Name), b.Title.Or(s.Title), b.SortOrder.Or(s.SortOrder)
	if b.Disabled.Set {
		s.Disabled = b.Disabled.Value != nil && *b.Disabled.Value
	}
	s.Segments = b.Segments
	s.Constraints = httpapi.Each(b.Constraints, ConstraintBody.Constraint)
	s.Variants = httpapi.Each(b.Variants, StrategyVariantBody.Variant)
	s.Parameters = make(map[string]string, len(b.Parameters))
	for name, value := range b.Parameters {
		s.Parameters[name] = string(value)
	}
	flags.NormalizeParameters(s.Name, s.Parameters)
	return s
}
