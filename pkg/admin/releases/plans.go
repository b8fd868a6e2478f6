package releases

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"guidon/pkg/access"
	"guidon/pkg/admin/wire"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
	"guidon/pkg/shape"
)

// PlanGroup is the operations on release plans.
func PlanGroup() httpapi.Group {
	const (
		environment = "/api/admin/projects/{projectId}/features/{featureName}/environments/{environment}"
		list        = environment + "/release-plans"
		one         = list + "/{planId}"
	)
	types := []flags.Key{flags.StrategyTypesKey()}
	return httpapi.Group{Name: "release-plans", Function: "features", Operations: []httpapi.Operation{
		{Route: "GET " + list, Permission: access.Read, Handle: httpapi.Handle(listPlans)},
		{Route: "POST " + list, Permission: access.CreateFeatureStrategy, Ahead: types, Handle: httpapi.HandleBody(addPlan)},
		{Route: "DELETE " + one, Permission: access.DeleteFeatureStrategy, Handle: httpapi.Handle(removePlan)},
		{Route: "POST " + one + "/detach", Permission: access.DeleteFeatureStrategy, Handle: httpapi.Handle(detachPlan)},
		{Route: "POST " + one + "/pause", Permission: access.UpdateFeatureStrategy, Handle: httpapi.Handle(pausePlan)},
		{Route: "PUT " + one + "/safeguards", Permission: access.UpdateFeatureStrategy, Status: http.StatusNoContent, Handle: httpapi.DoBody(setSafeguard)},
		{Route: "DELETE " + one + "/safeguards/{safeguardId}", Permission: access.UpdateFeatureStrategy, Status: http.StatusNoContent, Handle: httpapi.Do(deleteSafeguard)},
		{Route: "POST " + environment + "/progressions/{planId}/resume", Permission: access.UpdateFeatureStrategy, Handle: httpapi.HandleOptional(resumePlan)},
		{Route: "PUT " + environment + "/progressions/{milestoneId}", Permission: access.UpdateFeatureStrategy, Handle: httpapi.HandleBody(setProgression)},
		{Route: "DELETE " + environment + "/progressions/{milestoneId}", Permission: access.UpdateFeatureStrategy, Status: http.StatusNoContent, Handle: httpapi.Do(deleteProgression)},
		{Route: "POST " + one + "/milestones/{milestoneId}/start", Permission: access.UpdateFeatureStrategy, Handle: httpapi.HandleOptional(startMilestone)},
	}}
}

// inPlan is the place of an operation on a release plan.
type inPlan struct {
	httpapi.InFeatureEnvironment
	ID string `path:"planId"`
}

// A planView is a release plan with its state.
type planView struct {
	shape.ReleasePlanView
	State  flags.PlanState `json:"state"`
	Reason string          `json:"stateReason"`
	NextAt *shape.Time     `json:"nextAt"`
}

func planViewOf(tx *httpapi.Tx, p *flags.Project, f *flags.Feature, env flags.ProjectEnvironment, plan flags.ReleasePlan) planView {
	freeze, frozen := tx.Environments().Frozen(p, env.Environment, tx.Now)
	next := f.NextAt(env, freeze)
	held := ""
	if f.Plan(env) != nil && !next.IsZero() && !next.After(tx.Now) {
		held = wire.HeldBy(tx, &plan, tx.Caller.HasPermission(access.UpdateFeatureStrategy, p, env.Name))
	}
	state, reason := plan.StateNow(f.Enabled(env), frozen, next, held)
	return planView{shape.ReleasePlanViewOf(plan, f.Name, env.Name), state, reason, shape.TimeOrNull(next)}
}

func listPlans(tx *httpapi.Tx, at httpapi.InFeatureEnvironment) ([]planView, error) {
	f, env := at.Find(tx)
	list := []planView{}
	if plan := f.Plan(env); plan != nil {
		list = append(list, planViewOf(tx, at.Project(tx), f, env, *plan))
	}
	return list, nil
}

// A PlanBody adds a plan.
type PlanBody = addPlanBody

// An addPlanBody names a template, or is a plan that was edited before it is added. With both, the template is where the plan comes from.
type addPlanBody struct {
	Template jsonbody.Maybe[string] `json:"templateId"`
	Existing jsonbody.Maybe[string] `json:"existing"`

	templateBody
}

// Check adds the problems that can be found without the store.
func (b addPlanBody) Check(limits flags.Limits, problems *flags.Problems) {
	if b.Existing.Set && b.Existing.Value != flags.ExistingReplace && b.Existing.Value != flags.ExistingKeep {
		problems.Add("/existing", `must be "replace" or "keep"`)
	}
	flags.CheckLength("/templateId", b.Template.Value, flags.MaxIdentifier, problems)
	if b.whole() {
		b.templateBody.Check(limits, problems)
	}
}

// whole reports whether the body has a whole plan.
func (b addPlanBody) whole() bool {
	return !b.Template.Set || b.Name != "" || b.Milestones.Set || len(b.Safeguards) > 0
}

// Payload returns the members of the body that adds the plan.
func Payload(plan *flags.ReleasePlan) (map[string]any, error) {
	made, err := json.Marshal(shape.ReleasePlanViewOf(*plan, "", "").Milestones)
	if err != nil {
		return nil, err
	}
	var milestones []map[string]any
	if err := json.Unmarshal(made, &milestones); err != nil {
		return nil, err
	}
	for _, m := range milestones {
		drop(m, "id", "releasePlanDefinitionId", "startedAt")
		for _, s := range m["strategies"].([]any) {
			drop(s.(map[string]any), "id", "milestoneId")
		}
	}
	members := map[string]any{"name": plan.Name, "description": plan.Description, "milestones": milestones}
	if len(plan.Safeguards) > 0 {
		members["safeguards"] = httpapi.Each(plan.Safeguards, func(s flags.Safeguard) map[string]any {
			view := shape.SafeguardViewOf(s)
			return map[string]any{"signal": view.Signal, "action": shape.SafeguardAction{Type: view.Action.Type}}
		})
	}
	return members, nil
}

func drop(from map[string]any, names ...string) {
	maps.DeleteFunc(from, func(name string, _ any) bool { return slices.Contains(names, name) })
}

// An addedPlan is a new plan, and what is to be known about it.
type addedPlan struct {
	planView
	Warnings []string `json:"warnings"`
}

func addPlan(tx *httpapi.Tx, at httpapi.InFeatureEnvironment, in addPlanBody) (view addedPlan, err error) {
	f, env := at.Find(tx)
	t := &flags.ReleaseTemplate{ID: in.Template.Value, Name: in.Name, Description: in.Description.Value, Milestones: in.milestones()}
	t.Safeguards = in.safeguards()
	if !in.whole() {
		t = inTemplate{ID: in.Template.Value}.find(tx)
	}
	if !t.ArchivedAt.IsZero() {
		return view, flags.Errorf(flags.Conflict, "release template %q is archived; use another one, or send the milestones", t.Name)
	}
	p := at.Project(tx)
	tx.Load(httpapi.Each(t.Segments(), flags.SegmentKey)...)
	var problems flags.Problems
	flags.CheckMilestonesFor(p, t.Milestones, tx.StrategyTypes(), tx.FindSegment, tx.Limits, &problems)
	checkSafeguards(tx, &env, t.Safeguards, &problems)
	if err := problems.Err(); err != nil {
		return view, err
	}
	if err := authorizeOff(tx, p, env, t.Safeguards); err != nil {
		return view, err
	}
	plan := flags.NewReleasePlan(t, tx.Caller.UserID(), tx.Now, tx.NewID)
	if err := f.AddPlan(env, plan, in.Existing.Value, tx.Limits); err != nil {
		return view, err
	}
	if err := checkSwitchesOff(tx, f, env); err != nil {
		return view, err
	}
	before := httpapi.Was(tx, f)
	tx.Save(events.ReleasePlanAdded(f, env), f)
	if f.Plan(env).Active > 0 {
		tx.Save(events.ReleasePlanProgressed(flags.ReleasePlanStarted, before, f, env, ""))
	}
	return addedPlan{planViewOf(tx, p, f, env, *f.Plan(env)), append(plan.Warnings(), alarmWarnings(tx, plan.Safeguards)...)}, nil
}

// A removedView says what removing a plan did to its flag.
type removedView struct {
	SwitchedOff bool `json:"switchedOff"`
}

func removePlan(tx *httpapi.Tx, at inPlan) (removedView, error) {
	f, env := at.Find(tx)
	before := httpapi.Was(tx, f)
	if err := f.RemovePlan(env, at.ID); err != nil {
		return removedView{}, err
	}
	tx.Save(events.ReleasePlanRemoved(before, f, env), f)
	off := before.Enabled(env) && !f.Enabled(env)
	if off {
		tx.Save(events.FeatureSwitched(before, f, env))
	}
	return removedView{off}, nil
}

// detachPlan ends a plan, and returns it as it was.
func detachPlan(tx *httpapi.Tx, at inPlan) (view planView, err error) {
	f, env := at.Find(tx)
	plan, err := f.FindPlan(env, at.ID)
	if err != nil {
		return view, err
	}
	if err := f.DetachPlan(env, at.ID); err != nil {
		return view, err
	}
	tx.Save(events.ReleasePlanRemoved(httpapi.Was(tx, f), f, env), f)
	return planViewOf(tx, at.Project(tx), f, env, plan), nil
}

func pausePlan(tx *httpapi.Tx, at inPlan) (planView, error) {
	return at.progress(tx, flags.ReleasePlanPaused, func(f *flags.Feature, env flags.ProjectEnvironment) (string, error) {
		return "", f.PausePlan(env, at.ID)
	})
}

func resumePlan(tx *httpapi.Tx, at inPlan, in wire.ForceBody) (planView, error) {
	return at.progress(tx, flags.ReleasePlanResumed, func(f *flags.Feature, env flags.ProjectEnvironment) (cause string, err error) {
		plan, err := f.FindPlan(env, at.ID)
		if err != nil || !plan.Paused {
			return "", err
		}
		var acknowledged map[string]time.Time
		if f.Enabled(env) {
			if acknowledged, cause, err = wire.CheckQuiet(tx, &plan, in.Force.Value); err != nil {
				return "", err
			}
		}
		if err := f.ResumePlan(env, at.ID, tx.Now); err != nil {
			return "", err
		}
		f.Acknowledge(env, acknowledged)
		return cause, nil
	})
}

// inMilestone is the place of an operation on a milestone of a release plan.
type inMilestone struct {
	inPlan
	Milestone string `path:"milestoneId"`
	restart   bool
}

// Parse reads whether the running milestone is to begin again.
func (at *inMilestone) Parse(r httpapi.Request) (err error) {
	at.restart, err = r.Query().Bool("restart")
	return err
}

func startMilestone(tx *httpapi.Tx, at inMilestone, in wire.ForceBody) (view shape.MilestoneView, err error) {
	plan, err := at.progress(tx, flags.ReleasePlanStarted, func(f *flags.Feature, env flags.ProjectEnvironment) (cause string, err error) {
		var acknowledged map[string]time.Time
		if plan, err := f.FindPlan(env, at.ID); err == nil && plan.IsLater(at.Milestone) && f.Enabled(env) {
			if acknowledged, cause, err = wire.CheckQuiet(tx, &plan, in.Force.Value); err != nil {
				return "", err
			}
		}
		if err := f.StartMilestone(env, at.ID, at.Milestone, at.restart, tx.Now); err != nil {
			return "", err
		}
		f.Acknowledge(env, acknowledged)
		return cause, nil
	})
	if err != nil {
		return view, err
	}
	i := slices.IndexFunc(plan.Milestones, func(m shape.MilestoneView) bool { return m.ID == at.Milestone })
	return plan.Milestones[i], nil
}

// progress changes where a plan is, and saves it with the cause that change returns. The run in If-Match must be the current one, unless nothing
// changes.
func (at inPlan) progress(tx *httpapi.Tx, event flags.EventType, change func(f *flags.Feature, env flags.ProjectEnvironment) (cause string, err error)) (view planView, err error) {
	f, env := at.Find(tx)
	before := httpapi.Was(tx, f)
	cause, err := change(f, env)
	if err != nil {
		return view, err
	}
	was, plan := before.Plan(env), f.Plan(env)
	if was.Run != plan.Run {
		if _, err := tx.CheckRevision(strconv.FormatInt(was.Run, 10)); err != nil {
			return view, err
		}
	}
	tx.Save(events.ReleasePlanProgressed(event, before, f, env, cause), f)
	return planViewOf(tx, at.Project(tx), f, env, *plan), nil
}

// inProgression is the place of an operation on how a milestone of the plan is followed by the next one.
type inProgression struct {
	httpapi.InFeatureEnvironment
	Milestone string `path:"milestoneId"`
}

// A progressionBody says after how many minutes the next milestone starts.
type progressionBody struct {
	Target     string              `json:"targetMilestone"`
	Transition transitionCondition `json:"transitionCondition"`
}

// Check adds the problems that can be found without the store.
func (b progressionBody) Check(_ flags.Limits, problems *flags.Problems) {
	flags.CheckLength("/targetMilestone", b.Target, flags.MaxIdentifier, problems)
	b.Transition.check("/transitionCondition", problems)
}

func setProgression(tx *httpapi.Tx, at inProgression, in progressionBody) (*shape.Progression, error) {
	return at.set(tx, in.Target, in.Transition.Minutes)
}

func deleteProgression(tx *httpapi.Tx, at inProgression) error {
	_, err := at.set(tx, "", 0)
	return err
}

// set sets after how many minutes the next milestone starts; 0 if a person starts it. Change requests only add and delete whole plans.
func (at inProgression) set(tx *httpapi.Tx, target string, minutes int) (*shape.Progression, error) {
	f, env := at.Find(tx)
	if err := checkWhole(tx, at.InFeatureEnvironment, env); err != nil {
		return nil, err
	}
	if err := f.SetProgression(env, at.Milestone, target, minutes); err != nil {
		return nil, err
	}
	tx.Save(events.ProgressionChanged(httpapi.Was(tx, f), f, env, at.Milestone), f)
	return shape.ProgressionOf(f.Plan(env), at.Milestone), nil
}

// checkWhole returns ReviewRequired where change requests are on: they only add and delete whole plans.
func checkWhole(tx *httpapi.Tx, at httpapi.InFeatureEnvironment, env flags.ProjectEnvironment) error {
	p := at.Project(tx)
	if _, on := p.Review(env.Environment); on && !tx.Caller.HasPermission(access.SkipChangeRequest, p, env.Name) {
		return &flags.Error{Kind: flags.ReviewRequired, Permissions: []string{string(access.SkipChangeRequest)},
			Message: "change requests are on in this environment, and do not change parts of a release plan: propose to delete the plan, and to add another one"}
	}
	return nil
}
