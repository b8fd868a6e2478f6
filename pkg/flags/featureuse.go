package flags

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// A FeatureUse lists the segments and context fields that the strategies of a flag use. The store keeps it
// beside each flag that has such strategies and writes both in one transaction, so that finding the users of a
// segment reads no flags. It has no version and is only used in lists.
type FeatureUse struct {
	Feature    string        `json:"feature"`
	Project    string        `json:"project"`
	ProjectUID string        `json:"projectUid"`
	Archived   bool          `json:"archived,omitzero"`
	Strategies []StrategyUse `json:"strategies"`
}

// A StrategyUse is a strategy that has segments or constraints.
type StrategyUse struct {
	ID             string   `json:"id"`
	Name           string   `json:"name"` // name of its strategy type
	Environment    string   `json:"env"`
	EnvironmentUID string   `json:"envUid"` // UID of the environment: its name may be reused by a later one
	Segments       []int64  `json:"segments,omitempty"`
	ContextFields  []string `json:"fields,omitempty"` // of its constraints, sorted
	Plan           string   `json:"plan,omitzero"`    // of a milestone that is not running: the attachment under which its plan counts
}

// Key returns the key of the record.
func (u FeatureUse) Key() Key { return Key{EntityUse, u.Feature} }

// In reports whether the flag is in a project.
func (u FeatureUse) In(p *Project) bool { return u.ProjectUID == p.UID }

// StoredVersion returns 0, because a record has no version of its own: it is written with its flag.
func (u FeatureUse) StoredVersion() int64 { return 0 }

// UsesSegment reports whether the strategy uses a segment.
func (s StrategyUse) UsesSegment(id int64) bool { return slices.Contains(s.Segments, id) }

// UsesContextField reports whether the strategy has a constraint on a context field.
func (s StrategyUse) UsesContextField(name string) bool {
	return slices.Contains(s.ContextFields, name)
}

// Use returns the segments and context fields that the flag's strategies use, by environment. Its list of
// strategies is empty if there are none.
func (f *Feature) Use() FeatureUse {
	u := FeatureUse{Feature: f.Name, Project: f.Project, ProjectUID: f.ProjectUID, Archived: f.Archived}
	for _, env := range slices.Sorted(maps.Keys(f.Environments)) {
		fe := f.Environments[env]
		add := func(s Strategy, plan string) {
			if len(s.Segments) > 0 || len(s.Constraints) > 0 {
				u.Strategies = append(u.Strategies, StrategyUse{
					ID: s.ID, Name: s.Name, Environment: env, EnvironmentUID: fe.EnvironmentUID,
					Segments: s.Segments, ContextFields: s.contextFields(), Plan: plan,
				})
			}
		}
		for _, s := range fe.Strategies {
			add(s, "")
		}
		for _, s := range fe.notRunning() {
			add(s, fe.Plan.Attachment)
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

// environmentExists reports whether the strategy's environment still exists. A later environment of the same
// name does not count.
func (s StrategyUse) environmentExists(registry *Environments) bool {
	env := registry.Find(s.Environment)
	return env != nil && env.UID == s.EnvironmentUID
}

// unreachable reports whether the strategy can never be seen or used again, because its environment was deleted,
// or its flag was archived in a project that was deleted, or its plan no longer counts. A strategy in an environment that was only detached
// from the project is reachable: it returns when the environment is attached again.
func (u FeatureUse) unreachable(s StrategyUse, projects []*Project, registry *Environments) bool {
	project := u.project(projects)
	return !s.environmentExists(registry) || project == nil || s.Plan != "" && project.Environments[s.Environment].ID != s.Plan
}

// project returns the flag's project, or nil if it is not in the list.
func (u FeatureUse) project(projects []*Project) *Project {
	for _, p := range projects {
		if p.UID == u.ProjectUID {
			return p
		}
	}
	return nil
}

// A UseCount counts how often a strategy or default strategy started to use a segment, or took it to another
// project. It only rises. The store writes it in the same transactions. A change of a segment that depends on
// its users is only committed if the count is the one that was read before the users were listed, so no use was
// missed.
type UseCount struct {
	Segment int64
	Count   int64
	Flags   int64 // that use the segment when the count is read, in any environment, even a deleted one; archived ones too
}

// Key returns the key of the count.
func (u *UseCount) Key() Key { return UseCountKey(u.Segment) }

// StoredVersion returns the count itself, which rises with each new use.
func (u *UseCount) StoredVersion() int64 { return u.Count }

// A FeatureStrategyUse is a StrategyUse with its flag and project.
type FeatureStrategyUse struct {
	StrategyUse
	Feature, Project string
}

// ProjectEnvironment returns the environment of the strategy, for the methods of Feature. It works for deleted
// environments too.
func (s FeatureStrategyUse) ProjectEnvironment() ProjectEnvironment {
	return ProjectEnvironment{Environment: Environment{Name: s.Environment, UID: s.EnvironmentUID}}
}

// FindStrategyUses returns the matching strategies of active flags in existing environments.
func FindStrategyUses(uses []FeatureUse, registry *Environments, using func(StrategyUse) bool) []FeatureStrategyUse {
	var list []FeatureStrategyUse
	for _, u := range uses {
		for _, s := range u.Strategies {
			if !u.Archived && s.environmentExists(registry) && using(s) {
				list = append(list, FeatureStrategyUse{s, u.Feature, u.Project})
			}
		}
	}
	return list
}

// A DefaultStrategyUse is a default strategy that uses a segment or context field. Flags of its project get it
// when they are enabled.
type DefaultStrategyUse struct {
	Project, ProjectUID string
	Environment         string
	Name                string // name of its strategy type
}

// label names the default strategy in a message.
func (d DefaultStrategyUse) label() string {
	return fmt.Sprintf("default strategy of project %q in environment %q", d.Project, d.Environment)
}

// FindDefaultStrategyUses returns the matching default strategies of projects. Default strategies in
// environments that the project no longer has are ignored; they are never used again.
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

// UsesSegment reports whether the strategy uses a segment.
func (s Strategy) UsesSegment(id int64) bool { return slices.Contains(s.Segments, id) }

// UsesContextField reports whether the strategy has a constraint on a context field.
func (s Strategy) UsesContextField(name string) bool { return hasField(s.Constraints, name) }

func hasField(constraints []Constraint, name string) bool {
	return slices.ContainsFunc(constraints, func(c Constraint) bool { return c.ContextName == name })
}

// A UseStore reads what flags use.
type UseStore interface {
	// EachUse calls visit with what each flag uses, sorted by the name of the flag, until visit returns false or an error, which
	// it returns. It keeps none of them.
	EachUse(ctx context.Context, visit func(FeatureUse) (goOn bool, err error)) error

	// UsesAfter returns what the next flags use, sorted by name, of the flags whose names are greater than after, with a single
	// query: at most limit flags and 1 MB. more reports whether there can be further flags.
	UsesAfter(ctx context.Context, after string, limit int) (page []FeatureUse, more bool, err error)

	// Uses returns what the flags of these names use, sorted by name. Flags that use nothing are missing.
	Uses(ctx context.Context, features []string) ([]FeatureUse, error)
}
