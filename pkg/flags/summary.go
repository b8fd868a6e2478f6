package flags

import (
	"context"
	"slices"
	"strconv"
	"time"
)

// A FeatureSummary is what lists show of a flag. The store keeps it as a row beside the flag and writes both in
// one transaction, so that lists read no flags. It has no ValueSchema, and no DefaultValue of more than MaxSummaryValue bytes.
type FeatureSummary struct {
	Name    string
	Project string
	Metadata
	Archived   bool
	CreatedAt  time.Time
	ArchivedAt time.Time
	LastSeenAt time.Time
	Tags       []Tag
	Relation   Relation
	LastPhase  Phase // last entry of Feature.Lifecycle; zero for a new flag. Read with Phase

	Environments map[string]EnvironmentSummary
}

// MaxSummaryValue bounds the default values in summaries, of which lists read thousands.
const MaxSummaryValue = 500

// A SummaryQuery selects flags of a project.
type SummaryQuery struct {
	Archived bool   // the archived flags instead of the active ones
	Prefix   string // of the names
	Tags     []Tag  // a flag has one of them, if there are any
	After    string // a name: only flags after it, in the order of names
	Limit    int    // the most flags to return, at least 1
}

// An EnvironmentSummary is what lists show of a flag in one environment.
type EnvironmentSummary struct {
	EnvironmentState
	Strategies        int
	EnabledStrategies int
	Segments          []int64 // that the strategies use, each once
	Withheld          int     // percentage of users that the widest enabled strategy for all users leaves out; 100 if there is only a narrower one
	Targeted          bool    // with Withheld: an enabled strategy is for users that constraints, segments or its parameters select
	Variants          int
	Split             bool // users get different variants
	LastSeenAt        time.Time
	OffSince          time.Time    // when the flag was last switched off; zero for never
	Plan              *PlanSummary // nil for none; read it with PlanIn
}

// PlanIn returns what lists show of the flag's plan in env; nil if it has none that counts, see Feature.Plan.
func (s EnvironmentSummary) PlanIn(env ProjectEnvironment) *PlanSummary {
	if s.Plan != nil && s.Plan.Attachment == env.Attachment.ID {
		return s.Plan
	}
	return nil
}

// A PlanSummary is what lists show of a release plan.
type PlanSummary struct {
	Attachment string `json:"a"` // under which it counts
	Milestone  string `json:"m"` // the name of the milestone that has run last; "" before the first
	Active     int    `json:"n"` // its number, from 1
	Total      int    `json:"t"`
	Paused     bool   `json:"p,omitzero"`
	Stopped    bool   `json:"s,omitzero"` // by a safeguard

	NextAt time.Time `json:"d,omitzero"` // when the next milestone starts by itself; zero if it does not
}

// State returns the state of the plan as lists show it, which do not know of freezes.
func (s *PlanSummary) State(enabled bool) PlanState {
	switch {
	case !enabled:
		return PlanOff
	case s.Stopped:
		return PlanStopped
	case s.Paused:
		return PlanPaused
	case s.Active == s.Total:
		return PlanLast
	}
	return PlanRunning
}

// A SummaryRow is a summary that is decoded in two steps, for searches that read many and return few. Environments is only set in
// what Whole returns.
type SummaryRow struct {
	FeatureSummary
	Whole func() (FeatureSummary, error)
}

// In returns the summary of env, and whether the flag is enabled there.
func (s FeatureSummary) In(env ProjectEnvironment) (EnvironmentSummary, bool) {
	es := s.Environments[env.Name]
	present, enabled := es.EnvironmentState.In(env)
	if !present {
		return EnvironmentSummary{}, false
	}
	return es, enabled
}

// Phase returns the current stage of the flag.
func (s FeatureSummary) Phase() Phase {
	f := Feature{Archived: s.Archived, CreatedAt: s.CreatedAt, ArchivedAt: s.ArchivedAt}
	if s.LastPhase != (Phase{}) {
		f.Lifecycle = []Phase{s.LastPhase}
	}
	return f.Phase()
}

// Summary returns what lists show of the flag.
func (f *Feature) Summary() FeatureSummary {
	s := FeatureSummary{
		Name: f.Name, Project: f.Project, Metadata: f.Metadata, Archived: f.Archived,
		CreatedAt: f.CreatedAt, ArchivedAt: f.ArchivedAt, LastSeenAt: f.LastSeenAt, Tags: f.Tags,
		Relation: f.Relation(), Environments: make(map[string]EnvironmentSummary, len(f.Environments)),
	}
	if s.ValueSchema = nil; len(s.DefaultValue) > MaxSummaryValue {
		s.DefaultValue = nil
	}
	if last := len(f.Lifecycle) - 1; last >= 0 {
		s.LastPhase = f.Lifecycle[last]
	}
	for name, fe := range f.Environments {
		s.Environments[name] = fe.Summary()
	}
	return s
}

// Summary returns what lists show of the environment.
func (fe FeatureEnvironment) Summary() EnvironmentSummary {
	enabled, widest, targeted, split, segments := 0, 0, false, false, []int64(nil)
	for _, s := range fe.Strategies {
		if !s.Disabled {
			enabled++
			split = split || isSplit(s.Variants) || len(s.Variants) == 0 && isSplit(fe.Variants)
			if percentage, everyone := s.share(); everyone {
				widest = max(widest, percentage)
			} else {
				targeted = true
			}
		}
		segments = append(segments, s.Segments...)
	}
	slices.Sort(segments)
	summary := EnvironmentSummary{
		Plan:             fe.Plan.summary(),
		EnvironmentState: fe.EnvironmentState, Strategies: len(fe.Strategies), EnabledStrategies: enabled,
		Segments: slices.Compact(segments), Variants: len(fe.Variants), Split: split, LastSeenAt: fe.LastSeenAt, OffSince: fe.offSince(),
	}
	if summary.Plan != nil {
		summary.Plan.NextAt = fe.nextAt()
	}
	if enabled > 0 && widest < 100 {
		summary.Withheld, summary.Targeted = 100-widest, targeted
	}
	return summary
}

// isSplit reports whether a list of variants has more than one that can be chosen.
func isSplit(variants []Variant) bool {
	chosen := 0
	for _, v := range variants {
		if v.Weight > 0 || len(v.Overrides) > 0 {
			chosen++
		}
	}
	return chosen > 1
}

// share returns the percentage of all users that a strategy gives the flag, or false if it is for some users only.
func (s Strategy) share() (percentage int, everyone bool) {
	if len(s.Constraints) > 0 || len(s.Segments) > 0 {
		return 0, false
	}
	parameter := "percentage"
	switch s.Name {
	case "default":
		return 100, true
	case "flexibleRollout":
		parameter = "rollout"
	case "gradualRolloutUserId", "gradualRolloutSessionId", "gradualRolloutRandom":
	default:
		return 0, false
	}
	percentage, err := strconv.Atoi(s.Parameters[parameter])
	return percentage, err == nil
}

// FlagCounts counts flags.
type FlagCounts struct {
	Active  int // all flags, stale ones included
	Stale   int
	Types   map[FeatureType]int
	Created map[Day]int // by the day of their creation, at least the last CountedDays days
	Added   int64       // how many flags were added while the project had a limit, see ReviewAssumption.Added
}

// CountFlags counts flags.
func CountFlags(list []FeatureSummary) FlagCounts {
	counts := FlagCounts{Types: map[FeatureType]int{}, Created: map[Day]int{}}
	for _, s := range list {
		counts.Active++
		if s.Stale {
			counts.Stale++
		}
		counts.Types[s.Type]++
		counts.Created[DayOf(s.CreatedAt)]++
	}
	return counts
}

// A Day is a day in UTC, counted from 1970.
type Day int

// DayOf returns the day of a time.
func DayOf(at time.Time) Day { return Day(at.Unix() / (24 * 60 * 60)) }

// CountedDays is for how many days, up to today, the store counts the flags that were created on each.
const CountedDays = 60

// A SummaryStore reads the summaries of flags, which lists return, and what is counted over the flags of a project.
type SummaryStore interface {
	// Summaries returns all active or all archived flags of a project, sorted by name.
	Summaries(ctx context.Context, projectUID string, archived bool) ([]FeatureSummary, error)

	// SummaryPage returns the first flags that a query selects, sorted by name, and whether it selects more. Without tags it
	// reads only these flags.
	SummaryPage(ctx context.Context, projectUID string, query SummaryQuery) (list []FeatureSummary, more bool, err error)

	// EachSummary calls visit with each active or archived flag of a project, sorted by name. It keeps none of them. It stops at
	// the first error of visit and returns it. With texts, which are in lower case, it may leave out flags that have none of them in
	// their name or a tag, in lower case.
	EachSummary(ctx context.Context, projectUID string, archived bool, texts []string, visit func(SummaryRow) error) error

	// SummariesAfter returns the next active or archived flags of a project, sorted by name, whose names are greater than after, with a
	// single query: at most limit flags and 1 MB. more reports whether there can be further flags.
	SummariesAfter(ctx context.Context, projectUID string, archived bool, after string, limit int) (page []SummaryRow, more bool, err error)

	// Tags returns the tags of a project's active and archived flags, without duplicates, sorted by type and value.
	Tags(ctx context.Context, projectUID string) ([]Tag, error)

	// Counts counts the active flags of a project, with the same effort however many there are.
	Counts(ctx context.Context, projectUID string) (FlagCounts, error)
}
