package oldapi

import (
	"maps"
	"net/http"
	"strconv"

	"guidon/pkg/events"
	"guidon/pkg/flags"
)

// Strategies serves the activation strategies of a flag in one environment (contract: Strategies), and strategy types.
func Strategies() Group {
	const (
		list  = "/api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/strategies"
		one   = list + "/{strategyId}"
		reads = theProject | theFeature | theEnvironments
		types = theStrategyTypes
	)
	return Group{Name: "strategies", Operations: append(strategyTypes(), []Operation{
		{"GET " + list, flags.Read, reads, does(listStrategies).answers(200, []strategyView{})},
		{"POST " + list, flags.CreateFeatureStrategy, reads | types, loadingFor(takes(addStrategy), newSegmentKeys).answers(200, strategyView{})},
		{"POST " + list + "/set-sort-order", flags.UpdateFeatureStrategy, reads, takes(orderStrategies).answers(200)},
		{"GET " + one, flags.Read, reads, does(readStrategy).answers(200, strategyView{})},
		{"PUT " + one, flags.UpdateFeatureStrategy, reads | types, loadingFor(takes(replaceStrategy), replacedSegmentKeys).answers(200, strategyView{})},
		{"PATCH " + one, flags.UpdateFeatureStrategy, reads | types, loadingFor(takes(patchStrategy), patchedSegmentKeys).answers(200, strategyView{})},
		{"DELETE " + one, flags.DeleteFeatureStrategy, reads, does(removeStrategy).answers(200)},
	}...)}
}

func listStrategies(c *call) (decision, error) { return ok(strategyViews(c.feature, c.environment)) }

func readStrategy(c *call) (decision, error) {
	s, err := c.findStrategy()
	if err != nil {
		return decision{}, err
	}
	return ok(strategyViewOf(s, c.feature.Name))
}

// newSegmentKeys names the segments of a new strategy.
func newSegmentKeys(_ *call, in newStrategyBody) []flags.Key {
	return each(in.Segments, flags.SegmentKey)
}

// replacedSegmentKeys names the segments that the strategy gets and does not have yet.
func replacedSegmentKeys(c *call, in strategyBody) []flags.Key {
	s, err := c.findStrategy()
	if err != nil {
		return nil // for the operation to tell
	}
	return each(in.over(s).AddedSegments(s.Segments), flags.SegmentKey)
}

// patchedSegmentKeys names the segments that a patch gives the strategy.
func patchedSegmentKeys(c *call, patch patchBody) []flags.Key {
	_, in, err := c.patchedStrategy(patch)
	if err != nil {
		return nil
	}
	return replacedSegmentKeys(c, in)
}

// checkSegments finds segments of s that are not there, or are another project's.
func (c *call) checkSegments(s flags.Strategy, had []int64) error {
	var problems flags.Problems
	s.CheckSegments("/segments", had, c.project, c.segmentNamed, &problems)
	return problems.Err()
}

func addStrategy(c *call, in newStrategyBody) (decision, error) {
	f := c.feature.Clone()
	s := in.over(flags.Strategy{ID: c.newID(), SortOrder: f.NextStrategyOrder(c.environment)}).WithDefaults(f.Name)
	if err := c.checkSegments(s, nil); err != nil {
		return decision{}, err
	}
	if err := f.AddStrategy(c.environment, s, c.limits); err != nil {
		return decision{}, err
	}
	answer, err := c.strategyOf(f, s.ID)
	if err != nil {
		return decision{}, err
	}
	return c.changesFeature(f, events.StrategyAdded(f, c.environment, s.ID), http.StatusOK, answer)
}

func replaceStrategy(c *call, in strategyBody) (decision, error) {
	s, err := c.findStrategy()
	if err != nil {
		return decision{}, err
	}
	return c.putStrategy(s, in.over(s))
}

// patchStrategy applies a JSON Patch to the strategy as it is read. A member that the patch removes is as in a new
// strategy; its id, and the flag it belongs to, stay whatever the patch says.
func patchStrategy(c *call, patch patchBody) (decision, error) {
	s, in, err := c.patchedStrategy(patch)
	if err != nil {
		return decision{}, err
	}
	var problems flags.Problems
	in.checkMembers(&problems)
	if err := problems.Err(); err != nil {
		return decision{}, err
	}
	return c.putStrategy(s, in.over(flags.Strategy{ID: s.ID, Name: s.Name, SortOrder: s.SortOrder}))
}

// patchedStrategy is the strategy that the path names, and what a patch makes of it.
func (c *call) patchedStrategy(patch patchBody) (s flags.Strategy, in strategyBody, err error) {
	if s, err = c.findStrategy(); err == nil {
		err = patch.apply(strategyViewOf(s, c.feature.Name), &in)
	}
	return s, in, err
}

// putStrategy puts after in the place of before.
func (c *call) putStrategy(before, after flags.Strategy) (decision, error) {
	f := c.feature.Clone()
	after = after.WithDefaults(f.Name)
	var problems flags.Problems
	if _, known := c.types.Find(before.Name); known || after.Name != before.Name {
		after.Check(c.types, c.limits, &problems)
	} else { // its type was deleted since: what flags have of it can still be changed
		after.CheckWithoutRegistry(c.limits, &problems)
	}
	after.CheckSegments("/segments", before.Segments, c.project, c.segmentNamed, &problems)
	var stored flags.Problems
	before.CheckWithoutRegistry(c.limits, &stored)
	if err := problems.Without(stored).Err(); err != nil {
		return decision{}, err
	}
	if err := f.ReplaceStrategy(c.environment, after); err != nil {
		return decision{}, err
	}
	answer, err := c.strategyOf(f, after.ID)
	if err != nil {
		return decision{}, err
	}
	return c.changesStrategies(f, events.StrategyUpdated(c.feature, f, c.environment, after.ID), answer)
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

func removeStrategy(c *call) (decision, error) {
	s, err := c.findStrategy()
	if err != nil {
		return decision{}, err
	}
	return c.removesStrategy(s)
}

// removesStrategy is a decision that takes a strategy of the call's flag and environment away.
func (c *call) removesStrategy(s flags.Strategy) (decision, error) {
	f := c.feature.Clone()
	if err := f.RemoveStrategy(c.environment, s.ID); err != nil {
		return decision{}, err
	}
	return c.changesStrategies(f, events.StrategyRemoved(c.feature, f, c.environment, s.ID, c.caller), nil)
}

func orderStrategies(c *call, in strategyOrderBody) (decision, error) {
	order := make(map[string]float64, len(in))
	for _, s := range in {
		order[s.ID] = s.SortOrder.Value
	}
	f := c.feature.Clone()
	if err := f.OrderStrategies(c.environment, order); err != nil {
		return decision{}, err
	}
	return c.changesFeature(f, events.StrategiesOrdered(c.feature, f, c.environment, order), http.StatusOK, nil)
}

// strategyOf is a strategy of f as it is answered.
func (c *call) strategyOf(f *flags.Feature, id string) (strategyView, error) {
	s, err := f.Strategy(c.environment, id)
	return strategyViewOf(s, f.Name), err
}

// A strategyOrderBody gives strategies their places.
type strategyOrderBody []strategyPlaceBody

type strategyPlaceBody struct {
	ID        string         `json:"id"`
	SortOrder maybe[float64] `json:"sortOrder"`
}

func (b strategyOrderBody) check(_ flags.Limits, problems *flags.Problems) {
	if n := len(b); n > MaxBulk {
		problems.Add("", "must have at most %d strategies, has %d; make several calls of it", MaxBulk, n)
		return
	}
	for i, s := range b {
		at := "/" + strconv.Itoa(i)
		if s.ID == "" {
			problems.Add(at+"/id", "is required")
		}
		flags.CheckLength(at+"/id", s.ID, flags.MaxIdentifier, problems)
		if !s.SortOrder.Set {
			problems.Add(at+"/sortOrder", "is required")
		}
	}
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
