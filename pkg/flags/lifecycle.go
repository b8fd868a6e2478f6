package flags

import (
	"slices"
	"time"
)

// A Stage is a stage in the lifecycle of a flag (contract: Lifecycle).
type Stage string

// The stages, in their order.
const (
	StageInitial   Stage = "initial"  // created or revived, and not used since
	StagePreLive   Stage = "pre-live" // used, but not in a production environment
	StageLive      Stage = "live"     // used in production
	StageCompleted Stage = "completed"
	StageArchived  Stage = "archived"
)

// Stages returns the stages in their order.
func Stages() []Stage {
	return []Stage{StageInitial, StagePreLive, StageLive, StageCompleted, StageArchived}
}

// A Phase is a stage that a flag entered, and when.
type Phase struct {
	Stage     Stage     `json:"s"`
	EnteredAt time.Time `json:"at"`
	Completion
}

// A Completion is the outcome of a completed flag. Both fields are empty if the user gave none.
type Completion struct {
	Status CompletionStatus `json:"st,omitzero"`
	Value  string           `json:"v,omitzero"` // for example the name of the variant that was kept
}

// A CompletionStatus says what happened to the feature behind a completed flag.
type CompletionStatus string

// The completion statuses.
const (
	Kept            CompletionStatus = "kept"
	KeptWithVariant CompletionStatus = "kept-with-variant"
	Discarded       CompletionStatus = "discarded"
)

// CompletionStatuses returns all completion statuses.
func CompletionStatuses() []CompletionStatus {
	return []CompletionStatus{Kept, KeptWithVariant, Discarded}
}

// History returns the stages that the flag has been in since it was created or revived, in their order. The last
// one is the current stage.
func (f *Feature) History() []Phase {
	history := slices.Clone(f.Lifecycle)
	if len(history) == 0 {
		history = []Phase{{Stage: StageInitial, EnteredAt: f.CreatedAt}}
	}
	if f.Archived {
		history = append(history, Phase{Stage: StageArchived, EnteredAt: f.ArchivedAt})
	}
	return history
}

// Phase returns the current stage of the flag.
func (f *Feature) Phase() Phase {
	history := f.History()
	return history[len(history)-1]
}

// Complete marks the flag as completed. If it is completed already, the outcome is replaced and the time stays.
func (f *Feature) Complete(c Completion, at time.Time) {
	now := f.Phase()
	switch now.Stage {
	case StageArchived:
	case StageCompleted:
		f.Lifecycle = slices.Clone(f.Lifecycle)
		f.Lifecycle[len(f.Lifecycle)-1].Completion = c
	default:
		f.Lifecycle = append(f.History(), Phase{StageCompleted, at, c})
	}
}

// Uncomplete undoes Complete: the flag returns to the stage before.
func (f *Feature) Uncomplete() {
	if f.Phase().Stage == StageCompleted {
		f.Lifecycle = slices.Clone(f.Lifecycle[:len(f.Lifecycle)-1])
	}
}

// RecordUse advances the lifecycle when use of the flag is reported: to pre-live, or to live from a production
// environment. The stage never goes back, and a completed or archived flag does not change.
func (f *Feature) RecordUse(env ProjectEnvironment, at time.Time) {
	to := StagePreLive
	if env.Type == ProductionType {
		to = StageLive
	}
	if now := f.Phase(); now.Stage == StageInitial || now.Stage == StagePreLive && to == StageLive {
		f.Lifecycle = append(f.History(), Phase{Stage: to, EnteredAt: at})
	}
}

// RecordSeen records that the flag was evaluated: at most once an hour, so that a flag that is used all the time is not written
// all the time.
func (f *Feature) RecordSeen(at time.Time) {
	if f.LastSeenAt.Before(at.Truncate(time.Hour)) {
		f.LastSeenAt = at
	}
}

// RecordEvaluation records that the flag was evaluated in an environment of its project: when it was last seen, and its
// lifecycle. Nothing that applications see changes.
func (f *Feature) RecordEvaluation(env ProjectEnvironment, at time.Time) {
	f.RecordSeen(at)
	f.RecordUse(env, at)
	stored, has := f.Environments[env.Name]
	if has && stored.EnvironmentUID != env.UID {
		return // it is of a deleted environment with this name, and a user's change replaces it
	}
	if fe := f.In(env); fe.LastSeenAt.Before(at.Truncate(time.Hour)) {
		fe.LastSeenAt = at
		f.setEnvironment(env, fe)
	}
}

// ProductionType is the type of production environments.
const ProductionType = "production"
