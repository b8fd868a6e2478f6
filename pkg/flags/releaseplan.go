package flags

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"
)

// A ReleasePlan is a copy of a template on one flag in one environment. While one of its milestones runs, the flag has the strategies of that
// milestone there, with their IDs.
type ReleasePlan struct {
	ID          string      `json:"id"`
	Attachment  string      `json:"attachment"`        // ID of the attachment under which it was added: it only counts under this one
	TemplateID  string      `json:"template,omitzero"` // "" if it was made without one
	Name        string      `json:"name"`
	Description *string     `json:"description,omitzero"`
	CreatedAt   time.Time   `json:"createdAt"`
	CreatedByID int64       `json:"createdById"` // of the user, or TokenUserID
	Milestones  []Milestone `json:"milestones"`
	Active      int         `json:"active,omitzero"`      // which milestone has run last, from 1; 0 before the first
	Run         int64       `json:"run,omitzero"`         // rises with each start of a milestone, resume and switching on
	RunAt       time.Time   `json:"runAt,omitzero"`       // when the run began
	Paused      bool        `json:"paused,omitzero"`      // by hand, or by a safeguard
	Safeguards  []Safeguard `json:"safeguards,omitempty"` // replaced, never changed in place
}

// A PlanState is the one state of a plan that is shown.
type PlanState string

// The states, in the order in which they are shown.
const (
	PlanOff     PlanState = "off"
	PlanStopped PlanState = "stopped" // by a safeguard
	PlanPaused  PlanState = "paused"
	PlanFrozen  PlanState = "frozen"
	PlanHeld    PlanState = "held" // the next milestone waits until all signals are quiet
	PlanRunning PlanState = "running"
	PlanLast    PlanState = "last"
)

// StateNow returns the state of a plan, and says in a sentence what follows from it. next is when the next milestone starts by itself; zero if
// it does not. held says what keeps it from that; "" for nothing.
func (p *ReleasePlan) StateNow(enabled, frozen bool, next time.Time, held string) (state PlanState, reason string) {
	by := p.StoppedBy()
	switch state = p.summary().State(enabled); {
	case state == PlanOff:
		why, milestone, then := "The flag is off in this environment.", p.Milestones[max(p.Active, 1)-1].Name, "begins"
		if by != nil && by.Action == SafeguardOff {
			why = by.stopped()
		}
		if p.Paused {
			then += ", and the plan stays paused"
		}
		return state, fmt.Sprintf("%s Switched on, milestone %q %s.", why, milestone, then)
	case state == PlanStopped:
		return state, by.stopped() + " Resume the plan, or start a milestone."
	case state == PlanPaused:
		return state, "The plan is paused. Resume it, or start a milestone."
	case frozen:
		return PlanFrozen, "The environment is frozen, so no milestone starts."
	case held != "":
		return PlanHeld, "The next milestone waits: " + held + "."
	case state == PlanLast:
		return state, "The last milestone is running. Detach the plan to keep its strategies."
	case !next.IsZero():
		return state, fmt.Sprintf("Milestone %q is running. The next one starts at %s.", p.Milestones[p.Active-1].Name, next.UTC().Format(time.RFC3339))
	}
	return state, fmt.Sprintf("Milestone %q is running. Start the next one when it is time.", p.Milestones[p.Active-1].Name)
}

// interval is how long the milestone that has run last lasts; 0 if a person ends it.
func (p *ReleasePlan) interval() time.Duration {
	if p.Active == 0 || p.Active == len(p.Milestones) {
		return 0
	}
	return time.Duration(p.Milestones[p.Active-1].Minutes) * time.Minute
}

// nextAt is when the next milestone of the plan starts by itself; zero if it does not.
func (fe FeatureEnvironment) nextAt() time.Time {
	p := fe.Plan
	if p == nil || p.Paused || p.Attachment == "" || fe.EnabledIn != p.Attachment || p.interval() == 0 {
		return time.Time{}
	}
	return p.RunAt.UTC().Truncate(time.Millisecond).Add(p.interval())
}

// NextAt returns when the next milestone of the flag's plan starts by itself; zero if it does not. A milestone that is due in a freeze waits for
// its end, and then for one interval more: otherwise all plans would go on in the same minute.
func (f *Feature) NextAt(env ProjectEnvironment, freeze Frozen) time.Time {
	next := f.In(env).nextAt()
	if next.IsZero() || f.Archived || f.Plan(env) == nil {
		return time.Time{}
	}
	if next.Before(freeze.Until) {
		return freeze.Until.Add(f.Plan(env).interval())
	}
	return next
}

// A Due is what is to be done at a time: to apply the change request of a key, to start the next milestone of a plan of the flag of a key, or to
// look at the signal of one of its safeguards.
type Due struct {
	Key    Key
	At     time.Time
	Plan   string // ID; "" for a change request
	Run    int64  // of the plan; 0 for a safeguard
	Frozen bool   // the plan has met a freeze

	Attachment string // of the environment, for a safeguard
	Safeguard  string // ID; "" for a milestone
	Signal     string // of the safeguard
}

// Due returns when next milestones start by themselves, and when safeguards are looked at: never while the flag is archived. Whether the
// environments still are in the project is not asked.
func (f *Feature) Due() (list []Due) {
	if f == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(f.Environments)) {
		fe := f.Environments[name]
		if f.Archived {
			fe.EnabledIn = ""
		}
		if at := fe.nextAt(); !at.IsZero() {
			list = append(list, Due{Key: f.Key(), At: at, Plan: fe.Plan.ID, Run: fe.Plan.Run})
		}
		list = append(list, fe.watch(f.Key())...)
	}
	return list
}

// Advance starts the next milestone of the flag's plan.
func (f *Feature) Advance(env ProjectEnvironment, at time.Time) { f.run(env, f.Plan(env).Active+1, at) }

// Wait begins another run of the milestone that is running.
func (f *Feature) Wait(env ProjectEnvironment, at time.Time) { f.run(env, f.Plan(env).Active, at) }

// onlyByPlan reports whether the flag has changed in what a plan may change by itself, in one environment: a run began, whose strategies are those
// of one of its milestones, or a safeguard acted.
func onlyByPlan(before, after *Feature) bool {
	want := before.Clone()
	for name, is := range after.Environments {
		was := before.Environments[name]
		if was.Plan == nil || is.Plan == nil || sameContent(reflect.ValueOf(was), reflect.ValueOf(is)) {
			continue
		}
		env := ProjectEnvironment{Environment{Name: name, UID: was.EnvironmentUID}, Attachment{ID: was.Plan.Attachment}}
		if is.Plan.Run != was.Plan.Run && is.Plan.Active > 0 && is.Plan.Active <= len(was.Plan.Milestones) {
			want.run(env, is.Plan.Active, is.Plan.RunAt)
		}
		for i, s := range is.Plan.Safeguards {
			if s.Acted == is.Plan.Run && i < len(was.Plan.Safeguards) && was.Plan.Safeguards[i].Acted != s.Acted {
				want.Trigger(env, was.Plan.Safeguards[i].ID, s.TriggeredAt)
			}
		}
		want.RecordSwitches(before, time.Unix(is.OffSince, 0))
		break
	}
	return sameContent(reflect.ValueOf(want), reflect.ValueOf(after))
}

// SetProgression sets after how many minutes the milestone source of the flag's plan is followed by the next one, which target can name. With 0
// minutes, a person starts it.
func (f *Feature) SetProgression(env ProjectEnvironment, source, target string, minutes int) error {
	plan := f.Plan(env)
	if plan == nil {
		return Errorf(NotFound, "flag %q has no release plan with a milestone %q in environment %q", f.Name, source, env.Name)
	}
	changed, i := *plan, slices.IndexFunc(plan.Milestones, func(m Milestone) bool { return m.ID == source })
	switch {
	case i < 0:
		return Errorf(NotFound, "release plan %q has no milestone %q", plan.Name, source)
	case minutes == 0 && plan.Milestones[i].Minutes == 0:
		return Errorf(NotFound, "milestone %q is not followed by another one by itself", plan.Milestones[i].Name)
	case minutes > 0 && (i+1 == len(plan.Milestones) || target != "" && plan.Milestones[i+1].ID != target):
		return Problems{{Path: "/targetMilestone", Message: "must be the id of the milestone that comes next: start others by hand"}}.Err()
	}
	changed.Milestones = slices.Clone(plan.Milestones)
	changed.Milestones[i].Minutes = minutes
	f.setPlan(env, &changed, f.In(env).Strategies)
	return nil
}

// NewReleasePlan returns a copy of a template, with IDs of its own.
func NewReleasePlan(t *ReleaseTemplate, by int64, at time.Time, newID func() string) ReleasePlan {
	plan := ReleasePlan{ID: newID(), TemplateID: t.ID, Name: t.Name, Description: t.Description, CreatedByID: by, CreatedAt: at}
	for _, s := range t.Safeguards {
		s = s.withoutProgress()
		s.ID = newID()
		plan.Safeguards = append(plan.Safeguards, s)
	}
	for _, m := range t.Milestones {
		m.ID, m.Strategies = newID(), slices.Clone(m.Strategies)
		for i := range m.Strategies {
			s := &m.Strategies[i]
			s.ID, s.Variants = newID(), Distribute(s.Variants)
		}
		plan.Milestones = append(plan.Milestones, m)
	}
	return plan
}

// CheckMilestonesFor adds the problems that milestones have on a flag of a project: they may be of a template that was stored when there
// were other strategy types, segments or limits.
func CheckMilestonesFor(project *Project, list []Milestone, types *StrategyTypes, find func(id int64) *Segment, limits Limits, p *Problems) {
	eachMilestoneStrategy(list, p, func(s Strategy, below *Problems) {
		s.Check(types, limits, below)
		s.CheckSegments("/segments", nil, project, find, below)
	})
}

// has reports whether a strategy is one of the plan's.
func (p *ReleasePlan) has(strategy string) bool {
	return slices.ContainsFunc(p.Milestones, func(m Milestone) bool {
		return slices.ContainsFunc(m.Strategies, func(s Strategy) bool { return s.ID == strategy })
	})
}

// Plan returns the flag's plan in env; nil if it has none, or only one that was added before the project lost the environment for a while.
func (f *Feature) Plan(env ProjectEnvironment) *ReleasePlan {
	if plan := f.In(env).Plan; plan != nil && plan.Attachment == env.Attachment.ID {
		return plan
	}
	return nil
}

// FindPlan returns a copy of the flag's plan in env, which can be changed. NotFound if it has no plan of that ID.
func (f *Feature) FindPlan(env ProjectEnvironment, id string) (ReleasePlan, error) {
	plan := f.Plan(env)
	if plan == nil || plan.ID != id {
		return ReleasePlan{}, Errorf(NotFound, "flag %q has no release plan %q in environment %q", f.Name, id, env.Name)
	}
	return *plan, nil
}

// setPlan stores the plan, with the strategies of the flag in env.
func (f *Feature) setPlan(env ProjectEnvironment, plan *ReleasePlan, strategies []Strategy) {
	fe := f.In(env)
	fe.Plan, fe.Strategies = plan, strategies
	f.setEnvironment(env, fe)
}

// withoutPlan returns the strategies of the flag in env that are not of its plan.
func (f *Feature) withoutPlan(env ProjectEnvironment) []Strategy {
	plan := f.Plan(env)
	if plan == nil {
		return f.In(env).Strategies
	}
	return slices.DeleteFunc(slices.Clone(f.In(env).Strategies), func(s Strategy) bool { return plan.has(s.ID) })
}

// WithoutProgress returns the strategies of the flag in env that are not of its plan, and the plan without what its runs change; nil for none.
func (f *Feature) WithoutProgress(env ProjectEnvironment) ([]Strategy, *ReleasePlan) {
	return f.withoutPlan(env), f.Plan(env).withoutProgress()
}

// AllStrategies returns the strategies of the flag in env, and those of all milestones of its plan.
func (f *Feature) AllStrategies(env ProjectEnvironment) []Strategy {
	list := slices.Clone(f.withoutPlan(env))
	if plan := f.Plan(env); plan != nil {
		for _, m := range plan.Milestones {
			list = append(list, m.Strategies...)
		}
	}
	return list
}

// withoutProgress returns the plan without what its runs change.
func (p *ReleasePlan) withoutProgress() *ReleasePlan {
	if p == nil {
		return nil
	}
	plan := &ReleasePlan{ID: p.ID, Attachment: p.Attachment, Milestones: slices.Clone(p.Milestones)}
	for i := range plan.Milestones {
		plan.Milestones[i].StartedAt = time.Time{}
	}
	for _, s := range p.Safeguards {
		plan.Safeguards = append(plan.Safeguards, s.withoutProgress())
	}
	return plan
}

// What happens to the strategies that a flag has when a plan is added.
const (
	ExistingReplace = "replace"
	ExistingKeep    = "keep"
)

// AddPlan adds a plan. Its first milestone starts if the flag is on, and else when it is switched on. Conflict if there is a plan, or if
// strategies of people would decide beside it and existing does not say what happens to them.
func (f *Feature) AddPlan(env ProjectEnvironment, plan ReleasePlan, existing string, limits Limits) error {
	if old := f.Plan(env); old != nil {
		return Errorf(Conflict, "flag %q has release plan %q in environment %q; remove it or detach it first", f.Name, old.Name, env.Name)
	}
	people := f.In(env).Strategies
	switch {
	case existing == ExistingReplace:
		people = nil
	case existing == "" && slices.ContainsFunc(people, func(s Strategy) bool { return !s.Disabled }):
		return Errorf(Conflict, `flag %q has strategies in environment %q that would decide beside the plan; send existing: "replace" to remove them, or "keep"`, f.Name, env.Name)
	}
	for _, m := range plan.Milestones {
		if err := limits.CheckStrategies(f.Name, env.Name, len(people)+len(m.Strategies)); err != nil {
			return err
		}
	}
	plan.Attachment = env.Attachment.ID
	f.setPlan(env, &plan, people)
	if f.Enabled(env) {
		f.run(env, 1, plan.CreatedAt)
	}
	return f.checkSafeguards()
}

// run begins a run of a milestone, from 1: its strategies replace those of the milestone before.
func (f *Feature) run(env ProjectEnvironment, milestone int, at time.Time) {
	plan, strategies := *f.Plan(env), f.withoutPlan(env)
	order := 0.0
	if n := len(strategies); n > 0 {
		order = strategies[n-1].SortOrder + 1
	}
	for i, s := range plan.Milestones[milestone-1].Strategies {
		s = s.WithDefaults(f.Name)
		s.SortOrder = min(order+float64(i), maxSortOrder)
		strategies = append(strategies, s)
	}
	plan.Milestones = slices.Clone(plan.Milestones)
	plan.Milestones[milestone-1].StartedAt = at
	plan.Active = milestone
	plan.begin(f.Enabled(env), at)
	f.setPlan(env, &plan, strategies)
}

// begin begins another run. While the flag is off, the safeguard that has stopped the plan stays known.
func (p *ReleasePlan) begin(enabled bool, at time.Time) {
	p.Safeguards = slices.Clone(p.Safeguards)
	for i := range p.Safeguards {
		if s := &p.Safeguards[i]; !enabled && s.Acted == p.Run && p.Run > 0 {
			s.Acted++
		}
	}
	p.RunAt = at
	p.Run++
}

// StartMilestone starts a milestone: a later one, or an earlier one again. Starting the running one changes nothing, unless it is to begin
// again. A started plan is no longer paused. Of a flag that is off, it is the milestone that goes on with switching on.
func (f *Feature) StartMilestone(env ProjectEnvironment, id, milestone string, restart bool, at time.Time) error {
	plan, err := f.FindPlan(env, id)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(plan.Milestones, func(m Milestone) bool { return m.ID == milestone })
	switch {
	case i < 0:
		return Errorf(NotFound, "release plan %q has no milestone %q", plan.Name, milestone)
	case i+1 == plan.Active && !restart:
		return nil
	}
	plan.Paused = false
	f.setPlan(env, &plan, f.In(env).Strategies)
	f.run(env, i+1, at)
	return nil
}

// IsLater reports whether the milestone comes after the one that has run last.
func (p *ReleasePlan) IsLater(milestone string) bool {
	return slices.IndexFunc(p.Milestones, func(m Milestone) bool { return m.ID == milestone }) >= p.Active
}

// PausePlan pauses the plan: no milestone starts by itself. The strategies stay.
func (f *Feature) PausePlan(env ProjectEnvironment, id string) error {
	plan, err := f.FindPlan(env, id)
	if err != nil || plan.Paused {
		return err
	}
	plan.Paused = true
	f.setPlan(env, &plan, f.In(env).Strategies)
	return nil
}

// KeepStopped pauses the flag's plan if a safeguard stopped it and the flag is off, so that the next run begins paused. It reports whether it did.
func (f *Feature) KeepStopped(env ProjectEnvironment) bool {
	plan := f.Plan(env)
	return plan != nil && plan.StoppedBy() != nil && !plan.Paused && !f.Enabled(env) && f.PausePlan(env, plan.ID) == nil
}

// ResumePlan ends a pause. The time of the milestone begins again.
func (f *Feature) ResumePlan(env ProjectEnvironment, id string, at time.Time) error {
	plan, err := f.FindPlan(env, id)
	if err != nil || !plan.Paused {
		return err
	}
	plan.Paused = false
	plan.begin(f.Enabled(env), at)
	f.setPlan(env, &plan, f.In(env).Strategies)
	return nil
}

// RemovePlan removes the plan and its strategies. If the flag has no other enabled strategy, that switches it off.
func (f *Feature) RemovePlan(env ProjectEnvironment, id string) error {
	if _, err := f.FindPlan(env, id); err != nil {
		return err
	}
	strategies := slices.Clone(f.withoutPlan(env))
	f.setStrategies(env, strategies)
	f.setPlan(env, nil, strategies)
	return nil
}

// DetachPlan ends the plan and keeps its strategies, as ordinary ones.
func (f *Feature) DetachPlan(env ProjectEnvironment, id string) error {
	_, err := f.FindPlan(env, id)
	if err == nil {
		f.setPlan(env, nil, f.In(env).Strategies)
	}
	return err
}

// checkNotOfPlan returns Conflict if the plan of the flag has put the strategy there.
func (f *Feature) checkNotOfPlan(env ProjectEnvironment, strategy string) error {
	if plan := f.Plan(env); plan != nil && plan.has(strategy) {
		return Errorf(Conflict, "strategy %q is of release plan %q, so it can be neither changed nor moved nor removed; detach the plan first, with POST …/release-plans/%s/detach", strategy, plan.Name, plan.ID)
	}
	return nil
}

// largest returns the milestone that would take the most space if it ran.
func (p *ReleasePlan) largest() (most Milestone) {
	size := -1
	for _, m := range p.Milestones {
		if n := (FeatureEnvironment{Strategies: m.Strategies}).Size(); n > size {
			most, size = m, n
		}
	}
	return most
}

// WithLargestMilestones returns the flag with the largest milestone of each plan running, and all that runs and safeguards add to the plan: a
// flag must have space for it. It returns f if it has no plans.
func (f *Feature) WithLargestMilestones() *Feature {
	large := f
	for name, fe := range f.Environments {
		if fe.Plan == nil {
			continue
		}
		if large == f {
			large = f.Clone()
		}
		fe.Strategies = slices.DeleteFunc(slices.Clone(fe.Strategies), func(s Strategy) bool { return fe.Plan.has(s.ID) })
		for _, s := range fe.Plan.largest().Strategies {
			fe.Strategies = append(fe.Strategies, s.WithDefaults(f.Name))
		}
		fe.Plan = fe.Plan.largestProgress()
		large.Environments[name] = fe
	}
	return large
}

// largestProgress returns the plan with as much as its runs can write into it.
func (p *ReleasePlan) largestProgress() *ReleasePlan {
	late := time.Date(2999, 1, 1, 1, 1, 1, 1e6, time.UTC)
	plan := *p
	plan.Active, plan.Run, plan.RunAt, plan.Paused = MaxMilestones, math.MaxInt64, late, true
	plan.Milestones, plan.Safeguards = slices.Clone(p.Milestones), slices.Clone(p.Safeguards)
	for i := range plan.Milestones {
		plan.Milestones[i].StartedAt = late
	}
	for i := range plan.Safeguards {
		s := &plan.Safeguards[i]
		s.TriggeredAt, s.Acted, s.Acknowledged = late, plan.Run, late
	}
	return &plan
}

// Warnings says where a milestone can take the flag from users who have it by the one before.
func (p *ReleasePlan) Warnings() []string {
	warnings := []string{}
	for i := range p.Milestones[1:] {
		before, after := p.Milestones[i], p.Milestones[i+1]
		old, now := enabledOf(before.Strategies), enabledOf(after.Strategies)
		warn := func(what string) {
			warnings = append(warnings, fmt.Sprintf("Milestone %q can take the flag from users of %q: %s.", after.Name, before.Name, what))
		}
		if len(now) < len(old) {
			warn("it has fewer strategies")
		}
		for j := range min(len(old), len(now)) {
			a, b := old[j], now[j]
			if a.Name != b.Name {
				warn("a strategy has another type")
				continue
			}
			for _, name := range []string{"stickiness", "groupId"} {
				if a.Parameters[name] != b.Parameters[name] {
					warn("a strategy has another " + name)
				}
			}
			if b.Parameters["stickiness"] == "random" {
				warn("the stickiness random chooses other users each time")
			}
			for _, name := range []string{"rollout", "percentage"} {
				if percent(b.Parameters[name]) < percent(a.Parameters[name]) {
					warn("a percentage falls")
				}
			}
			if slices.ContainsFunc(b.Constraints, func(c Constraint) bool {
				return !slices.ContainsFunc(a.Constraints, func(other Constraint) bool { return sameConstraint(c, other) })
			}) || len(b.AddedSegments(a.Segments)) > 0 {
				warn("a strategy has a new constraint or segment")
			}
		}
	}
	return warnings
}

func sameConstraint(a, b Constraint) bool {
	return sameStrategy(Strategy{Constraints: []Constraint{a}}, Strategy{Constraints: []Constraint{b}})
}

func enabledOf(list []Strategy) []Strategy {
	return slices.DeleteFunc(slices.Clone(list), func(s Strategy) bool { return s.Disabled })
}

// percent is a percentage of a strategy, which is 100 if it is left out.
func percent(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 100
	}
	return n
}

// summary returns what lists show of the plan; nil for none.
func (p *ReleasePlan) summary() *PlanSummary {
	if p == nil {
		return nil
	}
	s := &PlanSummary{Attachment: p.Attachment, Active: p.Active, Total: len(p.Milestones), Paused: p.Paused, Stopped: p.StoppedBy() != nil}
	if p.Active > 0 {
		s.Milestone = p.Milestones[p.Active-1].Name
	}
	return s
}

// notRunning returns the strategies of milestones of the plan that the flag does not have.
func (fe FeatureEnvironment) notRunning() (list []Strategy) {
	if fe.Plan == nil {
		return nil
	}
	for _, m := range fe.Plan.Milestones {
		for _, s := range m.Strategies {
			if !slices.ContainsFunc(fe.Strategies, func(had Strategy) bool { return had.ID == s.ID }) {
				list = append(list, s)
			}
		}
	}
	return list
}

// RemoveOrphan removes a strategy that can never be used again, or the plan of its milestone. NotFound if the flag does not have it.
func (f *Feature) RemoveOrphan(env ProjectEnvironment, id string) error {
	if slices.ContainsFunc(f.In(env).notRunning(), func(s Strategy) bool { return s.ID == id }) {
		f.setPlan(env, nil, f.In(env).Strategies)
		return nil
	}
	return f.RemoveStrategy(env, id)
}
