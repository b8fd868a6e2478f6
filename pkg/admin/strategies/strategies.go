// Package strategies has the operations on activation strategies, strategy types, constraints and variants.
package strategies

import (
	"net/http"
	"strconv"

	"guidon/pkg/access"
	"guidon/pkg/admin/wire"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
	"guidon/pkg/shape"
)

// Group serves the activation strategies of a flag in an environment (contract: Strategies), and the validation of constraints.
func Group() httpapi.Group {
	const (
		list     = "/api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/strategies"
		one      = list + "/{strategyId}"
		validate = "/api/admin/constraints/validate"
	)
	registry := []flags.Key{flags.StrategyTypesKey()}
	return httpapi.Group{Name: "strategies", Function: "features", Operations: []httpapi.Operation{
		{Route: "POST " + validate, Permission: access.Read, Status: http.StatusNoContent, Handle: httpapi.DoBody(validateConstraint)},
		{Route: "GET " + list, Permission: access.Read, Handle: httpapi.Handle(listStrategies)},
		{Route: "POST " + list, Permission: access.CreateFeatureStrategy, Ahead: registry, Handle: httpapi.HandleBody(addStrategy)},
		{Route: "POST " + list + "/set-sort-order", Permission: access.UpdateFeatureStrategy, Handle: httpapi.DoBody(orderStrategies)},
		{Route: "GET " + one, Permission: access.Read, Handle: httpapi.Handle(readStrategy)},
		{Route: "PUT " + one, Permission: access.UpdateFeatureStrategy, Ahead: registry, Handle: httpapi.HandleBody(replaceStrategy)},
		{Route: "PATCH " + one, Permission: access.UpdateFeatureStrategy, Ahead: registry, Handle: httpapi.HandleBody(patchStrategy)},
		{Route: "DELETE " + one, Permission: access.DeleteFeatureStrategy, Handle: httpapi.Do(removeStrategy)},
	}}
}

// inStrategy is the place of an operation on one strategy of a flag in an environment.
type inStrategy struct {
	httpapi.InFeatureEnvironment
	StrategyID string `path:"strategyId"`
}

// find returns the flag, the environment and the strategy of the path. NotFound when one of them does not exist.
func (at inStrategy) find(tx *httpapi.Tx) (*flags.Feature, flags.ProjectEnvironment, flags.Strategy) {
	f, env := at.Find(tx)
	s, err := f.Strategy(env, at.StrategyID)
	if err != nil {
		tx.Fail(err)
	}
	return f, env, s
}

func listStrategies(tx *httpapi.Tx, at httpapi.InFeatureEnvironment) ([]shape.StrategyView, error) {
	f, env := at.Find(tx)
	return shape.StrategyViews(f, env), nil
}

func readStrategy(tx *httpapi.Tx, at inStrategy) (shape.StrategyView, error) {
	f, _, s := at.find(tx)
	return shape.StrategyViewOf(s, f.Name), nil
}

func addStrategy(tx *httpapi.Tx, at httpapi.InFeatureEnvironment, in wire.NewStrategyBody) (view shape.StrategyView, err error) {
	var problems flags.Problems
	in.CheckType(tx.StrategyTypes(), &problems)
	if err := problems.Err(); err != nil {
		return view, err
	}
	f, env := at.Find(tx)
	s := in.ApplyTo(flags.Strategy{ID: tx.NewID(), SortOrder: f.NextStrategyOrder(env)}).WithDefaults(f.Name)
	if err := checkSegments(tx, at.Project(tx), s, nil); err != nil {
		return view, err
	}
	if err := f.AddStrategy(env, s, tx.Limits); err != nil {
		return view, err
	}
	tx.Save(events.StrategyAdded(f, env, s.ID), f)
	return strategyView(f, env, s.ID)
}

// replaceStrategy sets all fields of a strategy. Name, title, disabled and sort order stay when they are left out.
func replaceStrategy(tx *httpapi.Tx, at inStrategy, in wire.StrategyBody) (shape.StrategyView, error) {
	_, _, s := at.find(tx)
	return changeStrategy(tx, at, in.ApplyTo(s))
}

// patchStrategy applies a JSON Patch to the strategy as GET returns it. A field that the patch removes gets the value
// that it has in a new strategy.
func patchStrategy(tx *httpapi.Tx, at inStrategy, patch strategyPatch) (view shape.StrategyView, err error) {
	f, _, s := at.find(tx)
	var in wire.StrategyBody
	if err := jsonbody.Patch(patch).Apply(shape.StrategyViewOf(s, f.Name), &in); err != nil {
		return view, err
	}
	var problems flags.Problems
	in.CheckMembers(&problems)
	if err := problems.Err(); err != nil {
		return view, err
	}
	return changeStrategy(tx, at, in.ApplyTo(flags.Strategy{ID: s.ID, Name: s.Name, SortOrder: s.SortOrder}))
}

// changeStrategy checks and saves the new state of the strategy of the path.
func changeStrategy(tx *httpapi.Tx, at inStrategy, after flags.Strategy) (view shape.StrategyView, err error) {
	f, env, before := at.find(tx)
	after = after.WithDefaults(f.Name)
	if err := tx.CheckIfMatch(shape.StrategyViewOf(before, f.Name), shape.StrategyViewOf(after, f.Name)); err != nil {
		return view, err
	}
	if err := checkChange(tx, before, after); err != nil {
		return view, err
	}
	if err := checkSegments(tx, at.Project(tx), after, before.Segments); err != nil {
		return view, err
	}
	if err := f.ReplaceStrategy(env, after); err != nil {
		return view, err
	}
	saveStrategies(tx, f, env, events.StrategyUpdated(httpapi.Was(tx, f), f, env, after.ID))
	return strategyView(f, env, after.ID)
}

// checkChange checks the new state of a strategy. Problems that the stored strategy already has are accepted: it may have
// been saved under other limits. So is its strategy type if that was deleted since.
func checkChange(tx *httpapi.Tx, before, after flags.Strategy) error {
	var problems, existing flags.Problems
	types := tx.StrategyTypes()
	if _, known := types.Find(before.Name); known || after.Name != before.Name {
		after.Check(types, tx.Limits, &problems)
	} else {
		after.CheckWithoutRegistry(tx.Limits, &problems)
	}
	before.CheckWithoutRegistry(tx.Limits, &existing)
	return problems.Without(existing).Err()
}

// checkSegments checks that segments which the strategy did not have before exist and can be used in the project.
func checkSegments(tx *httpapi.Tx, p *flags.Project, s flags.Strategy, had []int64) error {
	tx.Load(httpapi.Each(s.AddedSegments(had), flags.SegmentKey)...)
	var problems flags.Problems
	s.CheckSegments("/segments", had, p, tx.FindSegment, &problems)
	return problems.Err()
}

func removeStrategy(tx *httpapi.Tx, at inStrategy) error {
	f, env, s := at.find(tx)
	if err := tx.CheckIfMatch(shape.StrategyViewOf(s, f.Name), nil); err != nil {
		return err
	}
	if err := f.RemoveStrategy(env, s.ID); err != nil {
		return err
	}
	saveStrategies(tx, f, env, events.StrategyRemoved(httpapi.Was(tx, f), f, env, s.ID))
	return nil
}

// saveStrategies saves a flag whose strategies changed. If the change also disabled the flag in the environment, an event
// of its own reports that.
func saveStrategies(tx *httpapi.Tx, f *flags.Feature, env flags.ProjectEnvironment, event flags.Event) {
	tx.Save(event, f)
	before := httpapi.Was(tx, f)
	if before.Enabled(env) && !f.Enabled(env) {
		tx.Save(events.FeatureSwitched(before, f, env))
	}
}

func orderStrategies(tx *httpapi.Tx, at httpapi.InFeatureEnvironment, in strategyOrderBody) error {
	order := make(map[string]float64, len(in))
	for _, s := range in {
		order[s.ID] = s.SortOrder.Value
	}
	f, env := at.Find(tx)
	before := httpapi.Was(tx, f)
	if err := f.OrderStrategies(env, order); err != nil {
		return err
	}
	if err := tx.CheckIfMatch(shape.StrategyViews(before, env), shape.StrategyViews(f, env)); err != nil {
		return err
	}
	tx.Save(events.StrategiesOrdered(before, f, env, order), f)
	return nil
}

// strategyView returns a strategy of a flag as responses have it.
func strategyView(f *flags.Feature, env flags.ProjectEnvironment, id string) (shape.StrategyView, error) {
	s, err := f.Strategy(env, id)
	return shape.StrategyViewOf(s, f.Name), err
}

// A strategyPatch is a JSON Patch of a strategy.
type strategyPatch jsonbody.Patch

var strategyMembers = []string{"name", "title", "disabled", "sortOrder", "segments", "constraints", "variants", "parameters"}

// Check finds what is wrong with the patch by itself.
func (p strategyPatch) Check(limits flags.Limits, problems *flags.Problems) {
	jsonbody.Patch(p).Check(limits, problems)
	jsonbody.Patch(p).CheckMembers("strategy", strategyMembers, []string{"id", "featureName"}, problems)
}

// A strategyOrderBody sets the sort orders of strategies.
type strategyOrderBody []strategyPlaceBody

type strategyPlaceBody struct {
	ID        string                  `json:"id"`
	SortOrder jsonbody.Maybe[float64] `json:"sortOrder"`
}

// Check adds the problems of the body.
func (b strategyOrderBody) Check(_ flags.Limits, problems *flags.Problems) {
	if n := len(b); n > wire.MaxBulk {
		problems.Add("", "must have at most %d strategies, but has %d; send the others in further requests", wire.MaxBulk, n)
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
