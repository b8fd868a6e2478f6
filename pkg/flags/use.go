package flags

import (
	"fmt"
	"maps"
	"slices"
)

// A Use says which segments and context fields the strategies of a flag name. The store keeps one beside each flag that
// has such strategies, and changes both together, so that what uses a segment is one list, and no flag is read for it.
// It is an aggregate without a version, for lists alone.
type FeatureUse struct {
	Feature    string
	Project    string // its id
	ProjectUID string // the project itself: an id may be used again by another. "" for one stored before that was
	Archived   bool
	Strategies []StrategyUse
}

// A StrategyUse is a strategy with segments or constraints.
type StrategyUse struct {
	ID             string
	Name           string // of its type
	Environment    string
	EnvironmentUID string // the environment itself: a name may be used again by another
	Segments       []int64
	ContextFields  []string // those of its constraints, sorted
}

// Key names the use by its flag.
func (u FeatureUse) Key() Key { return Key{EntityUse, u.Feature} }

func (u FeatureUse) version() int64 { return 0 }

// UsesSegment tells whether the strategy uses a segment.
func (s StrategyUse) UsesSegment(id int64) bool { return slices.Contains(s.Segments, id) }

// UsesContextField tells whether the strategy constrains a context field.
func (s StrategyUse) UsesContextField(name string) bool {
	return slices.Contains(s.ContextFields, name)
}

// Use is what the flag's strategies name, by environment; without any, its list of strategies is empty.
func (f *Feature) Use() FeatureUse {
	u := FeatureUse{Feature: f.Name, Project: f.Project, ProjectUID: f.ProjectUID, Archived: f.Archived}
	for _, env := range slices.Sorted(maps.Keys(f.Environments)) {
		fe := f.Environments[env]
		for _, s := range fe.Strategies {
			if len(s.Segments) == 0 && len(s.Constraints) == 0 {
				continue
			}
			u.Strategies = append(u.Strategies, StrategyUse{
				ID: s.ID, Name: s.Name, Environment: env, EnvironmentUID: fe.EnvironmentUID,
				Segments: s.Segments, ContextFields: s.contextFields(),
			})
		}
	}
	return u
}

func (s Strategy) contextFields() []string {
	var names []string
	for _, c := range s.Constraints {
		names = append(names, c.ContextName)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// in tells whether the strategy's environment is there, and no later one of its name.
func (s StrategyUse) in(registry *Environments) bool {
	env := registry.Find(s.Environment)
	return env != nil && env.UID == s.EnvironmentUID
}

// gone tells whether nobody can see the strategy any more, and nothing can bring it back: its environment was deleted, or
// its flag is an archived one of a project that was. One that an environment was merely taken out of is not gone: it is
// back with the environment.
func (u FeatureUse) gone(s StrategyUse, projects []*Project, registry *Environments) bool {
	return !s.in(registry) || u.ProjectUID != "" && u.project(projects) == nil
}

// project is the flag's, nil when it is not among those.
func (u FeatureUse) project(projects []*Project) *Project {
	for _, p := range projects {
		if p.UID == u.ProjectUID {
			return p
		}
	}
	return nil
}

// A UseCount tells how often a strategy, or a default strategy, began to use a segment, or took it to another project. It
// only rises. The store keeps it with the uses, in the same transactions. A change of a segment that relies on who uses it
// is committed only over the count that was read before the uses were listed: so no use has begun since.
type UseCount struct {
	Segment int64
	Count   int64
}

// Key names the count by its segment.
func (u *UseCount) Key() Key { return UseCountKey(u.Segment) }

func (u *UseCount) version() int64 { return u.Count }

// A FeatureStrategyUse is a strategy of a flag that uses something.
type FeatureStrategyUse struct {
	StrategyUse
	Feature, Project string
}

// Place is where its flag has it, even if there is no such environment any more.
func (s FeatureStrategyUse) ProjectEnvironment() ProjectEnvironment {
	return ProjectEnvironment{Environment: Environment{Name: s.Environment, UID: s.EnvironmentUID}}
}

// FindStrategyUses lists the strategies of active flags that use something, in environments that are there still.
func FindStrategyUses(uses []FeatureUse, registry *Environments, using func(StrategyUse) bool) []FeatureStrategyUse {
	var list []FeatureStrategyUse
	for _, u := range uses {
		for _, s := range u.Strategies {
			if !u.Archived && s.in(registry) && using(s) {
				list = append(list, FeatureStrategyUse{s, u.Feature, u.Project})
			}
		}
	}
	return list
}

// A DefaultStrategyUse is a default strategy that uses something: flags of its project get it when they are switched on.
type DefaultStrategyUse struct {
	Project, ProjectUID string
	Environment         string
	Name                string // of its type
}

// user names the default strategy in a message.
func (d DefaultStrategyUse) user() string {
	return fmt.Sprintf("default strategy of project %q in environment %q", d.Project, d.Environment)
}

// FindDefaultStrategyUses lists the default strategies of projects that use something. Those of environments that the project no
// longer has do not count: nothing brings them back.
func FindDefaultStrategyUses(projects []*Project, registry *Environments, using func(Strategy) bool) (list []DefaultStrategyUse) {
	for _, p := range projects {
		for _, env := range p.AvailableEnvironments(registry) {
			if d := env.Attachment.DefaultStrategy; d != nil && using(*d) {
				list = append(list, DefaultStrategyUse{p.ID, p.UID, env.Name, d.Name})
			}
		}
	}
	return list
}

// HasSegment tells whether the strategy uses a segment.
func (s Strategy) UsesSegment(id int64) bool { return slices.Contains(s.Segments, id) }

// HasField tells whether the strategy has a constraint on a context field.
func (s Strategy) UsesContextField(name string) bool { return hasField(s.Constraints, name) }

func hasField(constraints []Constraint, name string) bool {
	return slices.ContainsFunc(constraints, func(c Constraint) bool { return c.ContextName == name })
}

// CountFeaturesAndProjects counts the flags that strategies belong to, and the projects of those and of default strategies.
func CountFeaturesAndProjects(list []FeatureStrategyUse, defaults []DefaultStrategyUse) (features, projects int) {
	f, p := map[string]bool{}, map[string]bool{}
	for _, s := range list {
		f[s.Feature], p[s.Project] = true, true
	}
	for _, d := range defaults {
		p[d.Project] = true
	}
	return len(f), len(p)
}
