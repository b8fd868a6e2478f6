package oldapi

import (
	"maps"
	"net/http"
	"strconv"

	"guidon/pkg/events"
	"guidon/pkg/flags"
)

// newSegmentKeys names the segments of a new strategy.
func newSegmentKeys(_ *call, in newStrategyBody) []flags.Key {
	return each(in.Segments, flags.SegmentKey)
}

// checkSegments finds segments of s that are not there, or are another project's.
func (c *call) checkSegments(s flags.Strategy, had []int64) error {
	var problems flags.Problems
	s.CheckSegments("/segments", had, c.project, c.segmentNamed, &problems)
	return problems.Err()
}

// changesStrategies is a decision that replaces the flag by f. Where the change of a strategy switched the environment
// off, that has an event too.
func (c *call) changesStrategies(f *flags.Feature, event flags.Event, answer any) (decision, error) {
	d, err := c.changesFeature(f, event, http.StatusOK, answer)
	if c.feature.Enabled(c.environment) && !f.Enabled(c.environment) {
		c.also(&d, events.FeatureSwitched(c.feature, f, c.environment, c.caller))
	}
	return d, err
}

// removesStrategy is a decision that takes a strategy of the call's flag and environment away.
func (c *call) removesStrategy(s flags.Strategy) (decision, error) {
	f := c.feature.Clone()
	if err := f.RemoveStrategy(c.environment, s.ID); err != nil {
		return decision{}, err
	}
	return c.changesStrategies(f, events.StrategyRemoved(c.feature, f, c.environment, s.ID, c.caller), nil)
}

// A newStrategyBody makes a strategy: a strategyBody with a name.
type newStrategyBody struct{ strategyBody }

func (b newStrategyBody) check(limits flags.Limits, problems *flags.Problems) {
	b.checkMembers(problems)
	b.over(flags.Strategy{}).CheckWithoutRegistry(limits, problems)
}

// review finds what the registry of strategy types tells about the body.
func (b newStrategyBody) review(c *call, problems *flags.Problems) {
	b.over(flags.Strategy{}).CheckType(c.types, problems)
}

// A strategyBody changes a strategy. What is left out of constraints, variants, segments and parameters is emptied, or
// goes back to its defaults; the rest stays.
type strategyBody struct {
	Name        maybe[string]         `json:"name"`
	Title       maybe[*string]        `json:"title"`
	Disabled    maybe[*bool]          `json:"disabled"`
	SortOrder   maybe[float64]        `json:"sortOrder"`
	Segments    []int64               `json:"segments"`
	Constraints []constraintBody      `json:"constraints"`
	Parameters  map[string]parameter  `json:"parameters"`
	Variants    []strategyVariantBody `json:"variants"`
}

// check finds what is wrong whatever the strategy is now; what depends on that comes with the merged strategy.
func (b strategyBody) check(limits flags.Limits, problems *flags.Problems) {
	b.checkMembers(problems)
	b.over(flags.Strategy{Name: "default"}).CheckWithoutRegistry(limits, problems)
}

// checkMembers finds what only the body can tell: a member that is missing.
func (b strategyBody) checkMembers(problems *flags.Problems) {
	for i, v := range b.Variants {
		v.checkMembers("/variants/"+strconv.Itoa(i), problems)
	}
}

// over is the strategy s with what the body says over it.
func (b strategyBody) over(s flags.Strategy) flags.Strategy {
	s.Name, s.Title, s.SortOrder = b.Name.or(s.Name), b.Title.or(s.Title), b.SortOrder.or(s.SortOrder)
	if b.Disabled.Set {
		s.Disabled = b.Disabled.Value != nil && *b.Disabled.Value
	}
	s.Segments = b.Segments
	s.Constraints = each(b.Constraints, constraintBody.constraint)
	s.Variants = each(b.Variants, strategyVariantBody.variant)
	s.Parameters = make(map[string]string, len(b.Parameters))
	for name, value := range b.Parameters {
		s.Parameters[name] = string(value)
	}
	return s
}

// A strategyView is a strategy as it is answered (contract: Activation strategy).
type strategyView struct {
	ID          string            `json:"id"`
	Name        string            `json:"name"`
	Title       *string           `json:"title"`
	Disabled    bool              `json:"disabled"`
	FeatureName string            `json:"featureName"`
	SortOrder   float64           `json:"sortOrder"`
	Segments    []int64           `json:"segments"`
	Constraints []constraintView  `json:"constraints"`
	Variants    []variantView     `json:"variants"`
	Parameters  map[string]string `json:"parameters"`
}

func strategyViewOf(s flags.Strategy, feature string) strategyView {
	return strategyView{
		ID: s.ID, Name: s.Name, Title: s.Title, Disabled: s.Disabled, FeatureName: feature, SortOrder: s.SortOrder,
		Segments: s.Segments, Constraints: each(s.Constraints, constraintViewOf), Variants: variantViews(s.Variants),
		Parameters: maps.Clone(s.Parameters),
	}
}

func strategyViews(f *flags.Feature, env flags.ProjectEnvironment) []strategyView {
	return each(f.In(env).Strategies, func(s flags.Strategy) strategyView { return strategyViewOf(s, f.Name) })
}
