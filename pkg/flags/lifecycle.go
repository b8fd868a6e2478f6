package flags

import (
	"slices"
	"time"
)

// A Stage is how far a flag has come (contract: Lifecycle).
type Stage string

// The stages, in their order.
const (
	StageInitial   Stage = "initial"  // made, or revived, and not seen in use since
	StagePreLive   Stage = "pre-live" // in use, in no production environment yet
	StageLive      Stage = "live"     // in use in production
	StageCompleted Stage = "completed"
	StageArchived  Stage = "archived"
)

// Stages lists the stages in their order.
func Stages() []Stage {
	return []Stage{StageInitial, StagePreLive, StageLive, StageCompleted, StageArchived}
}

// A Phase is a stage that a flag has entered.
type Phase struct {
	Stage     Stage
	EnteredAt time.Time
	Completion
}

// A Completion is what came of a flag that is completed. Both are empty where nobody said.
type Completion struct {
	Status CompletionStatus
	Value  string // such as the variant that was kept
}

// A Status is what has become of what a flag switched.
type CompletionStatus string

// The statuses.
const (
	Kept            CompletionStatus = "kept"
	KeptWithVariant CompletionStatus = "kept-with-variant"
	Discarded       CompletionStatus = "discarded"
)

// Statuses lists what a completed flag can have come to.
func CompletionStatuses() []CompletionStatus {
	return []CompletionStatus{Kept, KeptWithVariant, Discarded}
}

// History lists the stages that the flag has been through since it was made or revived, in their order, each once. The
// last one is where it is.
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

// Phase is the stage that the flag is in.
func (f *Feature) Phase() Phase {
	history := f.History()
	return history[len(history)-1]
}

// Complete says that the flag has done its work. Said again it may tell of another outcome; when that was stays as it is.
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

// Uncomplete takes back that the flag has done its work: it is in the stage that it was in before.
func (f *Feature) Uncomplete() {
	if f.Phase().Stage == StageCompleted {
		f.Lifecycle = slices.Clone(f.Lifecycle[:len(f.Lifecycle)-1])
	}
}

// Used moves the flag on when its use is reported from an environment: to pre-live, and to live from a production one.
// It never moves back, and what is completed or archived stays so.
func (f *Feature) RecordUse(env ProjectEnvironment, at time.Time) {
	to := StagePreLive
	if env.Type == ProductionType {
		to = StageLive
	}
	if now := f.Phase(); now.Stage == StageInitial || now.Stage == StagePreLive && to == StageLive {
		f.Lifecycle = append(f.History(), Phase{Stage: to, EnteredAt: at})
	}
}

// ProductionType is the type of environments that are in production.
const ProductionType = "production"
