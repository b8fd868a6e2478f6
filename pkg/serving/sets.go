package serving

import (
	"slices"
	"sync"

	"guidon/pkg/answers"
	"guidon/pkg/flags"
	"guidon/pkg/shape"
)

// maxSets is how many bytes of encoded and compiled flags are kept, in all environments together. The environment that was used
// last is kept at any size.
const maxSets = 128 << 20

// sets keeps the Sets of the environments that were asked for last.
type sets struct {
	mu   sync.Mutex
	max  int    // bytes
	list []*set // the last used one last
}

// A set is the Set of an environment, and the state that it was made from.
type set struct {
	environment string // its name and UID
	state       *State
	*answers.Set
}

// of returns the Set of an environment, made from the state or from a newer one. nil stands for an environment that does not exist,
// in which every flag is disabled.
func (s *sets) of(state *State, environment *flags.Environment) *answers.Set {
	key, uid := "", ""
	if environment != nil {
		key, uid = environment.Name+" "+environment.UID, environment.UID
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.list, func(kept *set) bool { return kept.environment == key })
	var last *set
	if i >= 0 {
		last = s.list[i]
		s.list = slices.Delete(s.list, i, i+1)
	}
	state = state.served() // a change of a token needs no other Set
	if last == nil || last.state != state && (last.state.Epoch != state.Epoch || last.state.Number <= state.Number) {
		if last == nil {
			last = &set{key, &State{}, answers.NewSet(uid)}
		}
		last = &set{key, state, last.With(state.revision(), changesOf(last, state, environment))}
		s.shrink(last.Size())
	}
	s.list = append(s.list, last)
	return last.Set
}

// shrink forgets the Sets that were not used for the longest time, if all of them and another one of a size take too much.
func (s *sets) shrink(size int) {
	for i := len(s.list) - 1; i >= 0; i-- {
		if size += s.list[i].Size(); size > s.max {
			s.list = slices.Delete(s.list, 0, i+1)
			return
		}
	}
}

func (s *State) revision() answers.Revision {
	return answers.Revision{Epoch: s.Epoch, Number: s.Number, Since: s.Since, Gone: s.Gone}
}

// changesOf returns the differences between a set and a state. What belongs to a deleted project is not there for anyone.
func changesOf(last *set, state *State, environment *flags.Environment) (changes answers.Changes) {
	name := ""
	if environment != nil {
		name = environment.Name
	}
	for _, f := range state.Flags {
		p, before := state.projectOf(f.Project, f.ProjectUID), last.state.Flags[f.Name]
		switch {
		case p == nil:
			changes.RemovedFlags = append(changes.RemovedFlags, f.Name)
			continue
		case before == f && last.state.Projects[f.Project] == p:
			continue
		}
		env := inProject(p, environment)
		next := answers.Flag{Feature: func() answers.ClientFeature { return clientFeature(f.Feature, env) }}
		if was, found := last.Flag(f.Name); found && before != nil && before.Feature == f.Feature &&
			inProject(last.state.Projects[f.Project], environment) == env {
			next = was // it was only marked as changed
		}
		next.Name, next.Project, next.ProjectUID, next.Tags = f.Name, f.Project, f.ProjectUID, f.Tags
		next.Changed, next.Touched = f.changedIn(name), f.Changed
		changes.Flags = append(changes.Flags, next)
	}
	for name := range last.state.Flags {
		if state.Flags[name] == nil {
			changes.RemovedFlags = append(changes.RemovedFlags, name)
		}
	}
	for id, segment := range state.Segments {
		switch {
		case segment.ProjectUID != "" && state.projectOf(segment.Project, segment.ProjectUID) == nil:
			changes.RemovedSegments = append(changes.RemovedSegments, id)
		case last.state.Segments[id] != segment || last.state.Projects[segment.Project] != state.Projects[segment.Project]:
			changes.Segments = append(changes.Segments, &answers.Segment{
				ClientSegment: answers.ClientSegment{ID: id, Name: segment.Name, Project: segment.Project, Constraints: shape.Constraints(segment.Constraints)},
				ProjectUID:    segment.ProjectUID, Changed: segment.Changed,
			})
		}
	}
	for id := range last.state.Segments {
		if state.Segments[id] == nil {
			changes.RemovedSegments = append(changes.RemovedSegments, id)
		}
	}
	return changes
}

// projectOf returns the project of a flag or segment; nil if it was deleted.
func (s *State) projectOf(id, uid string) *flags.Project {
	if p := s.Projects[id]; p != nil && p.UID == uid {
		return p
	}
	return nil
}

// inProject returns an environment as a project has it; the zero value if the project does not have it.
func inProject(p *flags.Project, environment *flags.Environment) flags.ProjectEnvironment {
	if environment == nil || p == nil || !p.HasEnvironment(*environment) {
		return flags.ProjectEnvironment{}
	}
	return flags.ProjectEnvironment{Environment: *environment, Attachment: p.Environments[environment.Name]}
}

// clientFeature returns a flag as an environment of its project serves it. It is disabled and has no strategies without one.
func clientFeature(f *flags.Feature, env flags.ProjectEnvironment) answers.ClientFeature {
	var fe flags.FeatureEnvironment
	enabled := false
	if env.UID != "" {
		fe, enabled = f.In(env), f.EnabledForApplications(env)
	}
	feature := answers.ClientFeature{
		Name: f.Name, Type: f.Type, Enabled: enabled, Project: f.Project, Stale: f.Stale, Description: f.Description,
		ImpressionData: f.ImpressionData, Strategies: make([]answers.ClientStrategy, len(fe.Strategies)),
		Variants: shape.Variants(fe.Variants), Dependencies: shape.Dependencies(f.Dependencies),
		ValueType: f.ValueType, DefaultValue: f.DefaultValue,
	}
	for i, s := range fe.Strategies {
		feature.Strategies[i] = answers.ClientStrategy{
			Name: s.Name, Constraints: shape.Constraints(s.Constraints), Parameters: s.Parameters,
			Variants: shape.Variants(s.Variants), Segments: s.Segments,
		}
	}
	return feature
}
