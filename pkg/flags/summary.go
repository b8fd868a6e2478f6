package flags

import "time"

// A FeatureSummary is what lists show of a flag. The store keeps one beside each flag and changes both together, so a
// list of any length reads no flag.
type FeatureSummary struct {
	Name    string
	Project string
	Metadata
	Archived   bool
	CreatedAt  time.Time
	ArchivedAt time.Time
	LastSeenAt time.Time
	Tags       []Tag
	Favorites  []string
	Relation   Relation
	LastPhase  Phase // the last of its Lifecycle; zero for initial since it was made. Read by Phase

	Environments map[string]EnvironmentSummary
}

// An EnvironmentSummary is what lists show of a flag in one environment.
type EnvironmentSummary struct {
	EnvironmentState
	Strategies        int
	EnabledStrategies int
	Variants          int
	LastSeenAt        time.Time
}

// In is what the flag has in env, and whether it is on there.
func (s FeatureSummary) In(env ProjectEnvironment) (EnvironmentSummary, bool) {
	es := s.Environments[env.Name]
	present, enabled := es.EnvironmentState.In(env)
	if !present {
		return EnvironmentSummary{}, false
	}
	return es, enabled
}

// Phase is the stage that the flag is in.
func (s FeatureSummary) Phase() Phase {
	f := Feature{Archived: s.Archived, CreatedAt: s.CreatedAt, ArchivedAt: s.ArchivedAt}
	if s.LastPhase != (Phase{}) {
		f.Lifecycle = []Phase{s.LastPhase}
	}
	return f.Phase()
}

// Summary is what lists show of the flag.
func (f *Feature) Summary() FeatureSummary {
	s := FeatureSummary{
		Name: f.Name, Project: f.Project, Metadata: f.Metadata, Archived: f.Archived,
		CreatedAt: f.CreatedAt, ArchivedAt: f.ArchivedAt, LastSeenAt: f.LastSeenAt, Tags: f.Tags, Favorites: f.Favorites,
		Relation: f.Relation(), Environments: make(map[string]EnvironmentSummary, len(f.Environments)),
	}
	if last := len(f.Lifecycle) - 1; last >= 0 {
		s.LastPhase = f.Lifecycle[last]
	}
	for name, fe := range f.Environments {
		s.Environments[name] = fe.Summary()
	}
	return s
}

// Summary is what lists show of the environment.
func (fe FeatureEnvironment) Summary() EnvironmentSummary {
	enabled := 0
	for _, s := range fe.Strategies {
		if !s.Disabled {
			enabled++
		}
	}
	return EnvironmentSummary{
		EnvironmentState: fe.EnvironmentState, Strategies: len(fe.Strategies), EnabledStrategies: enabled,
		Variants: len(fe.Variants), LastSeenAt: fe.LastSeenAt,
	}
}

// Count is what a flag counts for in its project: active flags, and stale ones among them.
func (f *Feature) Count() (active, stale int) {
	if f == nil || f.Archived {
		return 0, 0
	}
	if f.Stale {
		return 1, 1
	}
	return 1, 0
}
