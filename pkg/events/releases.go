package events

import (
	"slices"

	"guidon/pkg/flags"
	"guidon/pkg/shape"
)

// A planProgress says where a release plan is.
type planProgress struct {
	Plan      string  `json:"planId"`
	Name      string  `json:"name"`
	Milestone *string `json:"milestoneId"` // that has run last; null before the first
	Title     string  `json:"milestoneName,omitzero"`
	Run       int64   `json:"run"`
	Paused    bool    `json:"paused"`
	Enabled   bool    `json:"enabledInEnvironment"`
	Cause     string  `json:"cause,omitzero"` // why it went on by itself, or although a signal fired

	Strategies []shape.StrategyView `json:"strategies"` // of the flag in the environment
}

// progressOf is where a plan of a flag is; nil if it has none.
func progressOf(f *flags.Feature, env flags.ProjectEnvironment, cause string) any {
	plan := f.Plan(env)
	if plan == nil {
		return nil
	}
	progress := planProgress{Cause: cause, Plan: plan.ID, Name: plan.Name, Run: plan.Run, Paused: plan.Paused, Enabled: f.Enabled(env), Strategies: shape.StrategyViews(f, env)}
	if plan.Active > 0 {
		m := plan.Milestones[plan.Active-1]
		progress.Milestone, progress.Title = &m.ID, m.Name
	}
	return progress
}

// ReleasePlanAdded is the event of a flag that got a release plan.
func ReleasePlanAdded(after *flags.Feature, env flags.ProjectEnvironment) flags.Event {
	return inEnvironment(flags.ReleasePlanAdded, after, env, shape.ReleasePlanViewOf(*after.Plan(env), after.Name, env.Name), nil)
}

// A removedPlan says what a flag keeps of a plan.
type removedPlan struct {
	Enabled    bool                 `json:"enabledInEnvironment"`
	Strategies []shape.StrategyView `json:"strategies"`
}

// ReleasePlanRemoved is the event of a flag that lost its release plan, with or without the strategies.
func ReleasePlanRemoved(before, after *flags.Feature, env flags.ProjectEnvironment) flags.Event {
	return inEnvironment(flags.ReleasePlanRemoved, after, env, removedPlan{after.Enabled(env), shape.StrategyViews(after, env)},
		shape.ReleasePlanViewOf(*before.Plan(env), before.Name, env.Name))
}

// ReleasePlanProgressed is the event of a plan that was paused or resumed, or of which a milestone was started. cause says why it went on by
// itself; "" if a person did it.
func ReleasePlanProgressed(kind flags.EventType, before, after *flags.Feature, env flags.ProjectEnvironment, cause string) flags.Event {
	return inEnvironment(kind, after, env, progressOf(after, env, cause), progressOf(before, env, ""))
}

// ProgressionChanged is the event of a milestone that is followed by the next one after another time, or no longer by itself.
func ProgressionChanged(before, after *flags.Feature, env flags.ProjectEnvironment, milestone string) flags.Event {
	was, is := shape.ProgressionOf(before.Plan(env), milestone), shape.ProgressionOf(after.Plan(env), milestone)
	if is == nil {
		return inEnvironment(flags.ProgressionDeleted, after, env, nil, was)
	}
	if was == nil {
		return inEnvironment(flags.ProgressionChanged, after, env, is, nil)
	}
	return inEnvironment(flags.ProgressionChanged, after, env, is, was)
}

// safeguardOf is the safeguard of a signal; nil if the plan has none.
func safeguardOf(plan *flags.ReleasePlan, is func(s flags.Safeguard) bool) any {
	if plan != nil {
		if i := slices.IndexFunc(plan.Safeguards, is); i >= 0 {
			return shape.SafeguardViewOf(plan.Safeguards[i])
		}
	}
	return nil
}

// SafeguardChanged is the event of a safeguard of a signal that a plan got, lost, or that does something else now.
func SafeguardChanged(before, after *flags.Feature, env flags.ProjectEnvironment, signal string) flags.Event {
	of := func(s flags.Safeguard) bool { return s.Signal == signal }
	was, is := safeguardOf(before.Plan(env), of), safeguardOf(after.Plan(env), of)
	if is == nil {
		return inEnvironment(flags.SafeguardDeleted, after, env, nil, was)
	}
	return inEnvironment(flags.SafeguardChanged, after, env, is, was)
}

// A triggered safeguard says what it did, and why.
type triggered struct {
	Cause     string `json:"cause"`
	Safeguard any    `json:"safeguard"`
	Plan      any    `json:"plan"`
}

// SafeguardTriggered is the event of a safeguard that acted.
func SafeguardTriggered(before, after *flags.Feature, env flags.ProjectEnvironment, id, cause string) flags.Event {
	is := safeguardOf(after.Plan(env), func(s flags.Safeguard) bool { return s.ID == id })
	return inEnvironment(flags.SafeguardTriggered, after, env, triggered{cause, is, progressOf(after, env, "")}, progressOf(before, env, ""))
}
