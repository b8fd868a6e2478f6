package wire

import (
	"maps"
	"strconv"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/shape"
)

// A NewStrategyBody makes a strategy: a StrategyBody with a name.
type NewStrategyBody struct{ StrategyBody }

// Check finds what is wrong with the body by itself.
func (b NewStrategyBody) Check(limits flags.Limits, problems *flags.Problems) {
	b.CheckMembers(problems)
	b.ApplyTo(flags.Strategy{}).CheckWithoutRegistry(limits, problems)
}

// CheckType finds what the registry of strategy types tells about the body.
func (b NewStrategyBody) CheckType(types *flags.StrategyTypes, problems *flags.Problems) {
	b.ApplyTo(flags.Strategy{}).CheckType(types, problems)
}

// A StrategyBody changes a strategy. What is left out of constraints, variants, segments and parameters is emptied, or
// goes back to its defaults; the rest stays.
type StrategyBody struct {
	Name        httpapi.Maybe[string]  `json:"name"`
	Title       httpapi.Maybe[*string] `json:"title"`
	Disabled    httpapi.Maybe[*bool]   `json:"disabled"`
	SortOrder   httpapi.Maybe[float64] `json:"sortOrder"`
	Segments    []int64                `json:"segments"`
	Constraints []ConstraintBody       `json:"constraints"`
	Parameters  map[string]Parameter   `json:"parameters"`
	Variants    []StrategyVariantBody  `json:"variants"`
}

// Check finds what is wrong whatever the strategy is now; what depends on that comes with the merged strategy.
func (b StrategyBody) Check(limits flags.Limits, problems *flags.Problems) {
	b.CheckMembers(problems)
	b.ApplyTo(flags.Strategy{Name: "default"}).CheckWithoutRegistry(limits, problems)
}

// CheckMembers finds what only the body can tell: a member that is missing.
func (b StrategyBody) CheckMembers(problems *flags.Problems) {
	for i, v := range b.Variants {
		v.CheckMembers("/variants/"+strconv.Itoa(i), problems)
	}
}

// ApplyTo is the strategy s with what the body says over it.
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
	return s
}

// A StrategyView is a strategy as it is answered (contract: Activation strategy).
type StrategyView struct {
	ID          string             `json:"id"`
	Name        string             `json:"name"`
	Title       *string            `json:"title"`
	Disabled    bool               `json:"disabled"`
	FeatureName string             `json:"featureName"`
	SortOrder   float64            `json:"sortOrder"`
	Segments    []int64            `json:"segments"`
	Constraints []shape.Constraint `json:"constraints"`
	Variants    []shape.Variant    `json:"variants"`
	Parameters  map[string]string  `json:"parameters"`
}

// StrategyViewOf returns a strategy of a flag as answers have it.
func StrategyViewOf(s flags.Strategy, feature string) StrategyView {
	return StrategyView{
		ID: s.ID, Name: s.Name, Title: s.Title, Disabled: s.Disabled, FeatureName: feature, SortOrder: s.SortOrder,
		Segments: s.Segments, Constraints: httpapi.Each(s.Constraints, shape.ConstraintOf), Variants: shape.Variants(s.Variants),
		Parameters: maps.Clone(s.Parameters),
	}
}

// StrategyViews returns the strategies of a flag in an environment.
func StrategyViews(f *flags.Feature, env flags.ProjectEnvironment) []StrategyView {
	return httpapi.Each(f.In(env).Strategies, func(s flags.Strategy) StrategyView { return StrategyViewOf(s, f.Name) })
}
