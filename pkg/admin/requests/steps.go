package requests

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/access"
	"guidon/pkg/admin/features"
	"guidon/pkg/admin/releases"
	"guidon/pkg/admin/segments"
	"guidon/pkg/admin/strategies"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/review"
	"guidon/pkg/shape"
)

// The routes of the operations that changes run.
const (
	flagRoute = "/api/admin/projects/{projectId}/features/{featureName}"
	envRoute  = flagRoute + "/environments/{environment}"
)

// operations has the operations that changes run, by route.
var operations = sync.OnceValue(func() map[string]httpapi.Operation {
	byRoute := map[string]httpapi.Operation{}
	for _, group := range []httpapi.Group{features.Group(), strategies.Group(), strategies.VariantGroup(), segments.Group(), releases.PlanGroup()} {
		for _, op := range group.Operations {
			byRoute[op.Route] = op
		}
	}
	return byRoute
})

// A step is an operation that makes a change: its route, the names in its path, and its body.
type step struct {
	route string
	path  map[string]string
	body  []byte
}

// stepOf is the operation that makes a change in an environment. Invalid if the payload is not that of the action.
func stepOf(c review.Change, p *flags.Project, env flags.ProjectEnvironment) (step, error) {
	path := map[string]string{"projectId": p.ID, "featureName": c.Feature, "environment": env.Name}
	var payload struct {
		ID       jsontext.Value `json:"id"`
		Enabled  *bool          `json:"enabled"`
		Variants jsontext.Value `json:"variants"`
		Feature  string         `json:"feature"`
		planPayload
		forced
	}
	if len(c.Payload) > 0 && c.Action != review.ReorderStrategy {
		if err := json.Unmarshal(c.Payload, &payload); err != nil {
			return step{}, flags.Errorf(flags.Invalid, "the payload must be an object with the fields of the action")
		}
	}
	strategy := func() error {
		var id string
		if json.Unmarshal(payload.ID, &id) != nil || id == "" {
			return flags.Errorf(flags.Invalid, "the payload must have the id of the strategy")
		}
		path["strategyId"] = id
		return nil
	}
	var force []byte
	if payload.Force != nil {
		force = slices.Concat([]byte(`{"force":`), payload.Force, []byte("}"))
	}
	switch c.Action {
	case review.UpdateEnabled:
		switch {
		case payload.Enabled == nil:
			return step{}, flags.Errorf(flags.Invalid, "the payload must have enabled, true or false")
		case *payload.Enabled:
			return step{"POST " + envRoute + "/on", path, force}, nil
		case force != nil:
			return step{}, flags.Errorf(flags.Invalid, "the payload must not have force: to switch off needs none")
		}
		return step{"POST " + envRoute + "/off", path, nil}, nil
	case review.AddStrategy:
		return step{"POST " + envRoute + "/strategies", path, c.Payload}, nil
	case review.UpdateStrategy:
		return step{"PUT " + envRoute + "/strategies/{strategyId}", path, c.Payload}, strategy()
	case review.DeleteStrategy:
		return step{"DELETE " + envRoute + "/strategies/{strategyId}", path, nil}, strategy()
	case review.PatchVariant:
		if payload.Variants == nil {
			return step{}, flags.Errorf(flags.Invalid, "the payload must have variants; [] removes all")
		}
		return step{"PUT " + envRoute + "/variants", path, payload.Variants}, nil
	case review.ReorderStrategy:
		return step{"POST " + envRoute + "/strategies/set-sort-order", path, c.Payload}, nil
	case review.ArchiveFeature:
		return step{"DELETE " + flagRoute, path, nil}, nil
	case review.AddDependency:
		return step{"POST " + flagRoute + "/dependencies", path, c.Payload}, nil
	case review.DeleteDependency:
		if payload.Feature != "" {
			path["parent"] = payload.Feature
			return step{"DELETE " + flagRoute + "/dependencies/{parent}", path, nil}, nil
		}
		return step{"DELETE " + flagRoute + "/dependencies", path, nil}, nil
	case review.AddReleasePlan:
		return step{"POST " + envRoute + "/release-plans", path, c.Payload}, nil
	case review.DeleteReleasePlan, review.StartMilestone, review.ResumeMilestoneProgression:
		if payload.Plan == "" || payload.Milestone == "" && c.Action == review.StartMilestone {
			return step{}, flags.Errorf(flags.Invalid, "the payload must have planId, and milestoneId to start one")
		}
		path["planId"], path["milestoneId"] = payload.Plan, payload.Milestone
		return step{map[review.Action]string{
			review.DeleteReleasePlan:          "DELETE " + envRoute + "/release-plans/{planId}",
			review.StartMilestone:             "POST " + envRoute + "/release-plans/{planId}/milestones/{milestoneId}/start",
			review.ResumeMilestoneProgression: "POST " + envRoute + "/progressions/{planId}/resume",
		}[c.Action], path, force}, nil
	case review.UpdateSegment:
		return step{"PUT /api/admin/segments/{id}", map[string]string{"id": strconv.FormatInt(c.Segment, 10)}, c.Payload}, nil
	}
	return step{}, flags.Errorf(flags.Internal, "the action %q has no operation", c.Action)
}

// run makes a change as a step of the transaction.
func run(tx *httpapi.Tx, caller access.Caller, c review.Change, p *flags.Project, env flags.ProjectEnvironment) error {
	if c.Action == review.DeleteSegment {
		return segments.Delete(tx, caller, c.Segment)
	}
	s, err := stepOf(c, p, env)
	if err != nil {
		return err
	}
	if c.Default != nil { // the one that was approved, even if the project has another one now; it belongs to switching on
		var missing []access.Permission
		add := step{"POST " + envRoute + "/strategies", s.path, c.Default}
		if _, err := tx.Operate(caller.DryRun(&missing), operations()[add.route], add.path, add.body); err != nil {
			return err
		}
	}
	_, err = tx.Operate(caller, operations()[s.route], s.path, s.body)
	return err
}

// aboutChange says which change an error is about. The kinds that only mean that the change does not fit become other.
func aboutChange(err error, n int, c review.Change, other flags.Kind) error {
	var about string
	if c.Feature != "" {
		about = fmt.Sprintf("%s of flag %q", c.Action, c.Feature)
	} else {
		about = fmt.Sprintf("%s of segment %d", c.Action, c.Segment)
	}
	e, is := errors.AsType[*flags.Error](err)
	if !is {
		return err
	}
	switch e.Kind {
	case flags.Invalid, flags.NotFound, flags.Conflict, flags.NameExists, flags.PreconditionFailed:
		return &flags.Error{Kind: other, Message: fmt.Sprintf("change %d (%s): %s", n, about, e.Message), Details: e.Details, Err: e.Err}
	}
	return err
}

// A rehearsal is what trying changes has shown.
type rehearsal struct {
	guarded   []review.Guarded
	elsewhere string // an environment of another project whose protection the changes touch; "" for none
}

// rehearse tries changes one after the other, without making them. It sets the default strategies that they add, and the names of
// segments. It tries them without asking for permissions: those who apply the request need them. It returns the environments whose
// protection they touch, and the segments that the flags use after them.
func rehearse(tx *httpapi.Tx, p *flags.Project, env flags.ProjectEnvironment, changes []review.Change) ([]review.Guarded, map[string][]int64, error) {
	found := rehearsal{guarded: []review.Guarded{{UID: env.UID, Name: env.Name}}}
	var missing []access.Permission
	caller := tx.Caller.DryRun(&missing)
	tx.Approved(func(part flags.GuardedPart, env flags.Environment) bool { return found.note(p, part, env) })
	items, uses := 0, map[string][]int64{}
	_, err := tx.DryRun(func(dry *httpapi.Tx) (err error) {
		for i := range changes {
			dry.CheckTime()
			if err := try(dry, caller, &changes[i], i+1, p, env); err != nil {
				return err
			}
		}
		r := review.Request{Changes: changes}
		if err := dry.Step(caller, func(step *httpapi.Tx) error {
			for _, name := range r.Features() {
				where := []flags.ProjectEnvironment{env}
				if r.OfWholeFlag(name) {
					where = append(where, elsewhere(step, p, env, found.guarded)...)
				}
				if ids := segmentsOf(step.FindFeature(name), where...); len(ids) > 0 {
					uses[name] = ids
				}
			}
			return nil
		}); err != nil {
			return err
		}
		items, err = dry.Items()
		return err
	})
	tx.Approved(nil)
	switch {
	case err != nil:
		return nil, nil, err
	case found.elsewhere != "":
		return nil, nil, flags.Errorf(flags.Invalid, "a segment of the changes is also used in %s, which this request cannot change; someone with the permission SKIP_CHANGE_REQUEST there must change it", found.elsewhere)
	case items > review.MaxItems:
		return nil, nil, flags.Errorf(flags.Invalid, "the changes would write %d items in one transaction, more than the limit of %d; send the others in another change request", items, review.MaxItems)
	}
	return found.guarded, uses, nil
}

// segmentsOf are the IDs of the segments that a flag uses in environments, also those of milestones of a plan that do not run yet, sorted.
func segmentsOf(f *flags.Feature, in ...flags.ProjectEnvironment) (ids []int64) {
	for _, env := range in {
		for _, s := range f.AllStrategies(env) {
			ids = append(ids, s.Segments...)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// note notes that the changes touch the protection of an environment.
func (r *rehearsal) note(own *flags.Project, part flags.GuardedPart, env flags.Environment) (approved bool) {
	switch {
	case part.ProjectUID != own.UID:
		r.elsewhere = fmt.Sprintf("environment %q of project %q", env.Name, part.Project)
	case !concerns(r.guarded, env):
		r.guarded = append(r.guarded, review.Guarded{UID: env.UID, Name: env.Name})
	}
	return true
}

// concerns reports whether an environment is one of these.
func concerns(guarded []review.Guarded, env flags.Environment) bool {
	return slices.ContainsFunc(guarded, func(g review.Guarded) bool { return g.UID == env.UID })
}

// try tries one change after those before it.
func try(tx *httpapi.Tx, caller access.Caller, c *review.Change, n int, p *flags.Project, env flags.ProjectEnvironment) error {
	c.Default, c.Name = nil, ""
	state := func() (f *flags.Feature, s *flags.Segment, err error) {
		err = tx.Step(caller, func(step *httpapi.Tx) error {
			if c.Feature != "" {
				f = step.FindFeature(c.Feature)
			} else {
				s = step.FindSegment(c.Segment)
			}
			return nil
		})
		return f, s, err
	}
	f, s, err := state()
	if err != nil {
		return err
	}
	if s != nil {
		c.Name = s.Name
	}
	if err := run(tx, caller, *c, p, env); err != nil {
		return aboutChange(err, n, *c, flags.Invalid)
	}
	after, segment, err := state()
	if err != nil {
		return err
	}
	switch c.Action {
	case review.UpdateEnabled:
		if added := after.In(env).Strategies; len(added) > 0 && len(f.In(env).Strategies) == 0 && after.Plan(env) == nil { // those of a plan are no default
			c.Default, err = json.Marshal(shape.StrategyViewOf(added[0], after.Name), json.Deterministic(true))
		}
	case review.AddStrategy, review.UpdateStrategy:
		if err := checkStrategy(*c, f.In(env).Strategies, after.In(env).Strategies); err != nil {
			return aboutChange(err, n, *c, flags.Invalid)
		}
		i := slices.IndexFunc(after.In(env).Strategies, func(s flags.Strategy) bool {
			return s.ID == c.Strategy || c.Strategy == "" && !slices.ContainsFunc(f.In(env).Strategies, func(was flags.Strategy) bool { return was.ID == s.ID })
		})
		made := shape.StrategyViewOf(after.In(env).Strategies[i], after.Name)
		err = complete(c, map[string]any{
			"name": made.Name, "parameters": made.Parameters, "constraints": made.Constraints, "segments": made.Segments, "variants": made.Variants,
		})
	case review.AddReleasePlan: // whole: the template may change until the request is applied
		members, madeErr := releases.Payload(after.Plan(env))
		if madeErr != nil {
			return madeErr
		}
		err = complete(c, members)
	case review.PatchVariant:
		err = complete(c, map[string]any{"variants": shape.Variants(after.In(env).Variants)})
	case review.UpdateSegment:
		made, marshalErr := json.Marshal(shape.SegmentViewOf(segment))
		if marshalErr != nil {
			return marshalErr
		}
		members := map[string]any{"project": nil} // which the view leaves out if it has none
		if err = json.Unmarshal(made, &members); err != nil {
			return err
		}
		for _, kept := range []string{"id", "createdBy", "createdAt"} {
			delete(members, kept)
		}
		err = complete(c, members)
	}
	return err
}

// checkStrategy returns Invalid if the change of a strategy also changes the order, which those who approve see only in a reorderStrategy, or
// if it names another flag or strategy than the one that it changes.
func checkStrategy(c review.Change, before, after []flags.Strategy) error {
	var payload struct {
		ID          any `json:"id"`
		FeatureName any `json:"featureName"`
	}
	if err := json.Unmarshal(c.Payload, &payload); err != nil {
		return err
	}
	if payload.FeatureName != nil && payload.FeatureName != c.Feature {
		return flags.Errorf(flags.Invalid, "featureName is not the name of the flag; leave it out")
	}
	for i, s := range before {
		adds := c.Action == review.AddStrategy
		switch {
		case adds && payload.ID == s.ID:
			return flags.Errorf(flags.Invalid, "id is that of a strategy that the flag has; leave it out, or use the action updateStrategy")
		case adds && after[i].ID != s.ID:
			return flags.Errorf(flags.Invalid, "the strategy would not come last; leave out sortOrder, and use the action reorderStrategy")
		case !adds && s.ID == c.Strategy && !slices.ContainsFunc(after, func(a flags.Strategy) bool { return a.ID == s.ID && a.SortOrder == s.SortOrder }):
			return flags.Errorf(flags.Invalid, "sortOrder is not the present one; leave it out, and use the action reorderStrategy")
		}
	}
	return nil
}

// complete sets members of the payload to what the operation makes of them, so that those who approve also see what it fills, corrects, or
// empties because it was left out.
func complete(c *review.Change, made map[string]any) error {
	var members map[string]any
	if err := json.Unmarshal(c.Payload, &members); err != nil {
		return err
	}
	maps.Copy(members, made)
	payload, err := json.Marshal(members, json.Deterministic(true))
	c.Payload = payload
	return err
}
