package flags

import (
	"cmp"
	"reflect"
	"slices"
	"time"
)

// A GuardedPart is what a write changes of the parts that change requests and freezes guard: where a flag is on, its strategies and variants,
// whether it is archived, its project and dependencies, its value type and default value where it has strategies, variants or a release plan; and
// which environments a project has. Descriptions, tags and other metadata are free, and so is a new flag that is off.
type GuardedPart struct {
	Project, ProjectUID string
	All                 bool // in all environments of the project
	Environments        []GuardedEnvironment
}

// A GuardedEnvironment is an environment in which a write changes guarded parts.
type GuardedEnvironment struct {
	UID string
	Off bool // the write only switches the flag off there, and no other flag depends on it: one may need it to be off
}

// Guarded returns the guarded parts that a write of a flag or project changes. Those of segments depend on who uses them, and those
// of the registry of environments on the projects, see SegmentGuarded and RemovedEnvironments.
func (w Write) Guarded() []GuardedPart {
	switch a := cmp.Or(w.After, w.Before).(type) {
	case *Feature:
		before, _ := w.Before.(*Feature)
		after, _ := w.After.(*Feature)
		if before == nil || after == nil {
			return guardedOn(a)
		}
		return guardedFeature(before, after)
	case *Project:
		before, _ := w.Before.(*Project)
		after, _ := w.After.(*Project)
		return guardedProject(before, after)
	}
	return nil
}

// guardedOn returns what a new flag guards: where it is on, and everywhere if it depends on others, which thereby become parents.
func guardedOn(f *Feature) []GuardedPart {
	part := GuardedPart{Project: f.Project, ProjectUID: f.ProjectUID, All: len(f.Dependencies) > 0}
	for _, fe := range f.Environments {
		if fe.EnabledIn != "" {
			part.Environments = append(part.Environments, GuardedEnvironment{UID: fe.EnvironmentUID})
		}
	}
	return part.list()
}

func guardedFeature(before, after *Feature) []GuardedPart {
	whole := GuardedPart{Project: after.Project, ProjectUID: after.ProjectUID, All: true}
	switch {
	case before.ProjectUID != after.ProjectUID:
		return []GuardedPart{{Project: before.Project, ProjectUID: before.ProjectUID, All: true}, whole}
	case before.Archived && after.Archived:
		return nil
	case before.Archived:
		return guardedOn(after)
	case after.Archived, !sameContent(reflect.ValueOf(before.Dependencies), reflect.ValueOf(after.Dependencies)):
		return []GuardedPart{whole}
	}
	part := GuardedPart{Project: after.Project, ProjectUID: after.ProjectUID}
	old, now := guardedByUID(before), guardedByUID(after)
	if !before.Typing.sameValues(after.Typing) {
		for uid, fe := range now {
			if fe.EnabledIn != "" || len(fe.Strategies)+len(fe.Variants) > 0 || fe.Plan != nil {
				part.Environments = append(part.Environments, GuardedEnvironment{UID: uid})
			}
		}
	}
	for uid := range now {
		if _, had := old[uid]; !had {
			old[uid] = FeatureEnvironment{}
		}
	}
	for uid, was := range old {
		is := now[uid]
		if was.Plan != nil && is.Plan != nil && is.Plan.Paused {
			was.Plan.Paused = true // pausing is free
		}
		if sameContent(reflect.ValueOf(was), reflect.ValueOf(is)) {
			continue
		}
		off := was.EnabledIn != "" && is.EnabledIn == "" && len(after.Children) == 0
		was.EnabledIn = is.EnabledIn
		part.Environments = append(part.Environments, GuardedEnvironment{uid, off && sameContent(reflect.ValueOf(was), reflect.ValueOf(is))})
	}
	return part.list()
}

// guardedByUID is what is guarded of a flag in each environment: not titles, IDs of strategies or when it was last seen. Sort orders are, even
// if the order stays: a change request that was approved would lead to another order.
func guardedByUID(f *Feature) map[string]FeatureEnvironment {
	list := make(map[string]FeatureEnvironment, len(f.Environments))
	for _, fe := range f.Environments {
		g := FeatureEnvironment{EnvironmentState: EnvironmentState{EnabledIn: fe.EnabledIn}, Variants: fe.Variants}
		for _, s := range fe.Strategies {
			s.ID, s.Title = "", nil
			g.Strategies = append(g.Strategies, s)
		}
		if fe.Plan != nil { // its progress is not guarded, but who starts another milestone, even with the same strategies, or resumes it
			g.Plan = fe.Plan.withoutProgress()
			g.Plan.Active, g.Plan.Paused = fe.Plan.Active, fe.Plan.Paused
		}
		list[fe.EnvironmentUID] = g
	}
	return list
}

// guardedProject is the attachments of environments that end, begin or are replaced.
func guardedProject(before, after *Project) []GuardedPart {
	if before == nil {
		return nil
	}
	part := GuardedPart{Project: before.ID, ProjectUID: before.UID, All: after == nil}
	if after != nil {
		for _, pair := range [][2]*Project{{before, after}, {after, before}} {
			for name, a := range pair[0].Environments {
				if other := pair[1].Environments[name]; other.ID != a.ID || other.EnvironmentUID != a.EnvironmentUID {
					part.Environments = append(part.Environments, GuardedEnvironment{UID: a.EnvironmentUID})
				}
			}
		}
	}
	return part.list()
}

// list is a list of the part, or none if it is empty.
func (g GuardedPart) list() []GuardedPart {
	if !g.All && len(g.Environments) == 0 {
		return nil
	}
	return []GuardedPart{g}
}

// in returns whether the part is guarded in an environment, and whether the write does no more there than GuardedEnvironment.Off says.
func (g GuardedPart) in(env Environment) (guarded, off bool) {
	if g.All {
		return true, false
	}
	i := slices.IndexFunc(g.Environments, func(e GuardedEnvironment) bool { return e.UID == env.UID })
	if i < 0 {
		return false, false
	}
	return true, g.Environments[i].Off
}

// Reviewed returns the environments in which the part can only change with a change request, or by skipping it, and those where it could
// not if switching off did not need none. project must be as it is stored before the write.
func (g GuardedPart) Reviewed(project *Project, registry *Environments) (list, switchedOff []Environment) {
	for _, env := range registry.Sorted() {
		if _, on := project.Review(env); !on {
			continue
		}
		switch guarded, off := g.in(env); {
		case guarded && off && env.OffAllowed:
			switchedOff = append(switchedOff, env)
		case guarded:
			list = append(list, env)
		}
	}
	return list, switchedOff
}

// Frozen returns the freezes in effect at a moment in which the part cannot change. project must be as it is stored before the write.
func (g GuardedPart) Frozen(project *Project, registry *Environments, at time.Time) (list []Frozen) {
	for _, env := range registry.Sorted() {
		guarded, off := g.in(env)
		if !guarded || g.All && !project.HasEnvironment(env) {
			continue
		}
		if frozen, is := registry.Frozen(project, env, at); is && (!off || !frozen.OffAllowed) {
			list = append(list, frozen)
		}
	}
	return list
}

// CheckByPlan returns Internal if writes do anything else than what a release plan may do by itself, see onlyByPlan.
func CheckByPlan(writes []Write) error {
	for _, w := range writes {
		before, _ := w.Before.(*Feature)
		after, _ := w.After.(*Feature)
		if len(writes) > 1 || before == nil || after == nil || !onlyByPlan(before, after) {
			return Errorf(Internal, "internal error: a release plan changed more than its strategies")
		}
	}
	return nil
}

// SegmentGuarded returns the segment if the write changes which users match it, in which project it can be used, or deletes it. A
// new segment is not used yet.
func (w Write) SegmentGuarded() (*Segment, bool) {
	before, _ := w.Before.(*Segment)
	after, _ := w.After.(*Segment)
	guarded := before != nil && (after == nil || before.ProjectUID != after.ProjectUID || !after.SameConstraints(before.Constraints))
	return before, guarded
}

// RemovedEnvironments returns the environments that a write of the registry removes.
func (w Write) RemovedEnvironments() (list []Environment) {
	before, _ := w.Before.(*Environments)
	after, _ := w.After.(*Environments)
	if before == nil || after == nil {
		return nil
	}
	for _, env := range before.List {
		if other := after.Find(env.Name); other == nil || other.UID != env.UID {
			list = append(list, env)
		}
	}
	return list
}
