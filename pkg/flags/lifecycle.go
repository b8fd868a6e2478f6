package flags

import (
	"slices"
	"time"
)

// A Stage is how far a flag has come (contract: Lifecycle).
type Stage string

// The stages, in their order.
const (
	Initial   Stage = "initial"  // made, or revived, and not seen in use since
	PreLive   Stage = "pre-live" // in use, in no production environment yet
	Live      Stage = "live"     // in use in production
	Completed Stage = "completed"
	Retired   Stage = "archived"
)

// Stages lists the stages in their order.
func Stages() []Stage { return []Stage{Initial, PreLive, Live, Completed, Retired} }

// A Phase is a stage that a flag has entered.
type Phase struct {
	Stage     Stage
	EnteredAt time.Time
	Completion
}

// A Completion is what came of a flag that is completed. Both are empty where nobody said.
type Completion struct {
	Status Status
	Value  string // such as the variant that was kept
}

// A Status is what has become of what a flag switched.
type Status string

// The statuses.
const (
	Kept            Status = "kept"
	KeptWithVariant Status = "kept-with-variant"
	Discarded       Status = "discarded"
)

// Statuses lists what a completed flag can have come to.
func Statuses() []Status { return []Status{Kept, KeptWithVariant, Discarded} }

// History lists the stages that the flag has been through since it was made or revived, in their order, each once. The
// last one is where it is.
func (f *Feature) History() []Phase {
	history := slices.Clone(f.Lifecycle)
	if len(history) == 0 {
		history = []Phase{{Stage: Initial, EnteredAt: f.CreatedAt}}
	}
	if f.Archived {
		history = append(history, Phase{Stage: Retired, EnteredAt: f.ArchivedAt})
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
	case Retired:
	case Completed:
		f.Lifecycle = slices.Clone(f.Lifecycle)
		f.Lifecycle[len(f.Lifecycle)-1].Completion = c
	default:
		f.Lifecycle = append(f.History(), Phase{Completed, at, c})
	}
}

// Uncomplete takes back that the flag has done its work: it is in the stage that it was in before.
func (f *Feature) Uncomplete() {
	if f.Phase().Stage == Completed {
		f.Lifecycle = slices.Clone(f.Lifecycle[:len(f.Lifecycle)-1])
	}
}

// Used moves the flag on when its use is reported from an environment: to pre-live, and to live from a production one.
// It never moves back, and what is completed or archived stays so.
func (f *Feature) Used(env ProjectEnvironment, at time.Time) {
	to := PreLive
	if env.Type == ProductionType {
		to = Live
	}
	if now := f.Phase(); now.Stage == Initial || now.Stage == PreLive && to == Live {
		f.Lifecycle = append(f.History(), Phase{Stage: to, EnteredAt: at})
	}
}

// ProductionType is the type of environments that are in production.
const ProductionType = "production"
