package serving

import (
	"slices"
	"strings"
	"sync"

	"guidon/pkg/evaluate"
	"guidon/pkg/flags"
)

// A compiledSet is all flags of one environment, ready to be evaluated. It never changes.
type compiledSet struct {
	state    *State // that it was made from
	flags    []*compiledFlag
	set      *evaluate.Set
	segments map[int64]*flags.Segment
	size     int // in bytes, about
}

// A compiledFlag is a flag of a compiledSet, with the answers that it can give.
type compiledFlag struct {
	feature *flags.Feature // what it was made from
	project *flags.Project

	enabled bool
	answers map[*evaluate.Variant]*answer // by the variant that was chosen, nil for none; empty if not enabled
	off     *answer
	size    int // in bytes, about

	matched   []string // the OFREP reason by index of the strategy that matched
	unmatched string   // the OFREP reason if no strategy matched
}

// newCompiledSet compiles the flags of an environment; nil stands for an environment that does not exist, in which every flag
// is disabled. It takes over from previous, which may be nil, what did not change: states share it.
func newCompiledSet(previous *compiledSet, state *State, environment *flags.Environment) *compiledSet {
	if previous == nil {
		previous = &compiledSet{set: evaluate.NewSet(nil, nil)}
	}
	next := &compiledSet{state: state, flags: make([]*compiledFlag, 0, len(state.Names)), set: previous.set, segments: previous.segments}
	changes := next.changedSegments(previous)
	before := previous.flags
	for _, name := range state.Names {
		f := state.Flags[name]
		project := state.Projects[f.Project]
		if project == nil || project.UID != f.ProjectUID {
			continue // of a deleted project, and so not there for anyone
		}
		for len(before) > 0 && before[0].feature.Name < name {
			changes.RemovedFlags = append(changes.RemovedFlags, before[0].feature.Name)
			before = before[1:]
		}
		if len(before) > 0 && before[0].feature.Name == name {
			same := before[0].feature == f.Feature && before[0].project == project
			if same {
				next.flags = append(next.flags, before[0])
			}
			before = before[1:]
			if same {
				continue
			}
		}
		fe, enabled := state.configuration(f, environment)
		evaluated := newEvaluateFlag(f.Feature, fe, enabled)
		changes.Flags = append(changes.Flags, evaluated)
		next.flags = append(next.flags, newCompiledFlag(f.Feature, project, fe, &evaluated))
	}
	for _, f := range before {
		changes.RemovedFlags = append(changes.RemovedFlags, f.feature.Name)
	}
	for _, f := range next.flags {
		next.size += f.size
	}
	if len(changes.Flags)+len(changes.RemovedFlags)+len(changes.Segments)+len(changes.RemovedSegments) > 0 {
		next.set = previous.set.With(changes)
	}
	return next
}

// changedSegments returns the differences between the segments of the state and those of previous.
func (s *compiledSet) changedSegments(previous *compiledSet) (changes evaluate.Changes) {
	s.segments = make(map[int64]*flags.Segment, len(s.state.Segments))
	for id, segment := range s.state.Segments {
		s.segments[id] = segment.Segment
		if previous.segments[id] != segment.Segment {
			changes.Segments = append(changes.Segments, evaluate.Segment{ID: id, Constraints: flags.ConstraintsForEvaluation(segment.Constraints)})
		}
	}
	for id := range previous.segments {
		if s.segments[id] == nil {
			changes.RemovedSegments = append(changes.RemovedSegments, id)
		}
	}
	return changes
}

// newCompiledFlag returns a flag with all its answers. evaluated is the flag as it is given to the evaluator, which returns
// pointers to its variants.
func newCompiledFlag(f *flags.Feature, project *flags.Project, fe flags.FeatureEnvironment, evaluated *evaluate.Flag) *compiledFlag {
	c := &compiledFlag{feature: f, project: project, enabled: evaluated.Enabled, off: newOffAnswer(f, fe)}
	c.size = flagSize + len(c.off.evaluation)
	if !evaluated.Enabled {
		return c
	}
	c.matched, c.unmatched = newReasons(evaluated)
	c.answers = map[*evaluate.Variant]*answer{}
	c.addAnswer(nil)
	c.addAnswers(evaluated.Variants)
	for _, s := range evaluated.Strategies {
		c.addAnswers(s.Variants)
	}
	return c
}

func (f *compiledFlag) addAnswers(variants []evaluate.Variant) {
	for i := range variants {
		f.addAnswer(&variants[i])
	}
}

func (f *compiledFlag) addAnswer(variant *evaluate.Variant) {
	a := newAnswer(f.feature, variant)
	f.answers[variant] = a
	f.size += len(a.toggle) + len(a.evaluation)
}

// evaluate returns the result of a flag for a context, and its answer.
func (s *compiledSet) evaluate(f *compiledFlag, c *evaluate.Context) (evaluate.Result, *answer) {
	result := s.set.Evaluate(f.feature.Name, c)
	if !result.Enabled {
		return result, f.off
	}
	return result, f.answers[result.Variant]
}

// find returns the flag of that name, or nil.
func (s *compiledSet) find(name string) *compiledFlag {
	i, found := slices.BinarySearchFunc(s.flags, name, func(f *compiledFlag, name string) int { return strings.Compare(f.feature.Name, name) })
	if !found {
		return nil
	}
	return s.flags[i]
}

// maxCompiled is how many bytes of compiled flags are kept, in all environments together. The last used environment is kept
// at any size. A flag with a rollout, a constraint and two variants takes 2.2 KB, of which its answers are about half.
const (
	maxCompiled = 128 << 20
	flagSize    = 1200 // without answers
)

// compiledSets keeps the compiled flags of the environments that were asked for last.
type compiledSets struct {
	mu   sync.Mutex
	sets map[string]*compiledSet // by name and UID of the environment
	used []string                // the keys of sets, the last used one last
}

// of returns the flags of an environment, compiled from the state or from a newer one.
func (s *compiledSets) of(state *State, environment *flags.Environment) *compiledSet {
	key := ""
	if environment != nil {
		key = environment.Name + " " + environment.UID
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	set := s.sets[key]
	if set == nil || set.state != state && (set.state.Epoch != state.Epoch || set.state.Number < state.Number) {
		set = newCompiledSet(set, state, environment)
	}
	s.keep(key, set)
	return set
}

// keep remembers a set as the last used one, and forgets those that were not used for the longest time if all take too much.
func (s *compiledSets) keep(key string, set *compiledSet) {
	if s.sets == nil {
		s.sets = map[string]*compiledSet{}
	}
	s.sets[key] = set
	s.used = append(slices.DeleteFunc(s.used, func(k string) bool { return k == key }), key)
	total := 0
	for i := len(s.used) - 1; i >= 0; i-- {
		if total += s.sets[s.used[i]].size; total > maxCompiled && i < len(s.used)-1 {
			for _, old := range s.used[:i+1] {
				delete(s.sets, old)
			}
			s.used = slices.Delete(s.used, 0, i+1)
			return
		}
	}
}
