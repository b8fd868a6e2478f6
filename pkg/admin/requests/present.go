package requests

import (
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/review"
	"guidon/pkg/shape"
)

// maxPresent is how much a response shows of what changes replace, in bytes.
const maxPresent = 1 << 20

// presentOf is what the changes of an open request replace as it is now, by the id of the change: the first one of each strategy, of the
// variants, of the order and so on, because the later ones replace what the earlier ones make. What does not fit into so many bytes is null.
// The request was examined before.
func presentOf(tx *httpapi.Tx, p *flags.Project, r *review.Request, most int) map[int64]jsontext.Value {
	type part struct {
		feature, strategy string
		segment           int64
		action            review.Action
	}
	env, found := environmentOf(tx, p, r)
	if !found {
		return nil
	}
	present, seen := map[int64]jsontext.Value{}, map[part]bool{}
	for _, c := range r.Changes {
		of := part{c.Feature, c.Strategy, c.Segment, c.Action}
		value := replacedBy(tx, env, c)
		if value == nil || seen[of] {
			continue
		}
		seen[of] = true
		text, err := json.Marshal(value, json.Deterministic(true))
		if err != nil {
			tx.Fail(err)
		}
		if len(text) > most {
			text = jsontext.Value("null")
		}
		present[c.ID], most = text, most-len(text)
	}
	return present
}

// beforeOf is presentOf for an open request, and what the changes of a closed one have replaced, or would have.
func beforeOf(tx *httpapi.Tx, p *flags.Project, r *review.Request) map[int64]jsontext.Value {
	if r.Open() {
		return presentOf(tx, p, r, maxPresent)
	}
	before := map[int64]jsontext.Value{}
	for _, c := range r.Changes {
		before[c.ID] = c.Before
	}
	return before
}

// replacedBy is what a change replaces, in the form of its payload; nil if it only adds, or if there is nothing.
func replacedBy(tx *httpapi.Tx, env flags.ProjectEnvironment, c review.Change) any {
	if c.Action.OfSegment() {
		if s := tx.FindSegment(c.Segment); s != nil {
			return shape.SegmentViewOf(s)
		}
		return nil
	}
	f := tx.FindFeature(c.Feature)
	if f == nil {
		return nil
	}
	strategies := f.In(env).Strategies
	switch c.Action {
	case review.UpdateEnabled:
		return map[string]any{"enabled": f.Enabled(env)}
	case review.UpdateStrategy, review.DeleteStrategy:
		if i := slices.IndexFunc(strategies, func(s flags.Strategy) bool { return s.ID == c.Strategy }); i >= 0 {
			return shape.StrategyViewOf(strategies[i], f.Name)
		}
	case review.ReorderStrategy:
		return httpapi.Each(strategies, func(s flags.Strategy) any { return map[string]any{"id": s.ID, "sortOrder": s.SortOrder} })
	case review.PatchVariant:
		return map[string]any{"variants": shape.Variants(f.In(env).Variants)}
	case review.DeleteReleasePlan, review.StartMilestone, review.ResumeMilestoneProgression:
		if plan := f.Plan(env); plan != nil {
			return shape.ReleasePlanViewOf(*plan, f.Name, env.Name)
		}
	case review.AddDependency, review.DeleteDependency:
		return map[string]any{"dependencies": shape.Dependencies(f.Dependencies)}
	}
	return nil
}

// A heldView is the freeze that keeps a request from being applied now.
type heldView struct {
	ID          string     `json:"id"`
	Environment string     `json:"environment"`
	Reason      string     `json:"reason"`
	Until       shape.Time `json:"until"`
}

// heldViewOf is the freeze that ends last of those that keep an open request from being applied; nil if none does. Callers with
// SKIP_CHANGE_FREEZE can apply it all the same.
func heldViewOf(tx *httpapi.Tx, p *flags.Project, r *review.Request) *heldView {
	if !r.Open() {
		return nil
	}
	held := freezesOf(tx, p, r)
	if len(held) == 0 {
		return nil
	}
	last := slices.MaxFunc(held, func(a, b flags.Frozen) int { return a.Until.Compare(b.Until) })
	return &heldView{last.ID, last.Environment.Name, last.Reason, shape.Time(last.Until)}
}
