package admin_test

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
)

// The state of a flag, as in responses, in the model and in the replay of its events. It leaves out the times (createdAt,
// archivedAt, lastSeenAt, when a stage was entered) and the creator.

type flagState struct {
	Name, Type, Project   string
	Description           *string
	Stale, ImpressionData bool
	Archived, Favorite    bool
	Tags                  []tagState        // by type and value
	Dependencies          []dependencyState // in the order in which they were added
	Lifecycle             phaseState
	Environments          map[string]environmentState // those of its project
}

type tagState struct{ Type, Value string }

type dependencyState struct {
	Feature  string
	Enabled  bool
	Variants []string
}

type phaseState struct{ Stage, Status, StatusValue string }

type environmentState struct {
	Enabled    bool
	Strategies []strategyState
	Variants   []variantState
}

type strategyState struct {
	ID, Name    string
	Title       *string
	Disabled    bool
	SortOrder   float64
	Segments    []int64
	Constraints []constraintState
	Parameters  map[string]string
	Variants    []variantState
}

type constraintState struct {
	ContextName, Operator     string
	Values                    []string
	CaseInsensitive, Inverted bool
}

type variantState struct {
	Name, WeightType, Stickiness string
	Weight                       float64
	Payload                      *struct{ Type, Value string }
}

// A world is the model. It is small, and independent of the implementation.
type world struct {
	flags        map[string]*modelFlag
	environments map[string]int                    // of the service; the number tells environments with the same name apart
	projects     map[string]map[string]*attachment // by project and environment
	segments     map[int64]string                  // the project of each, "" for all projects; without deleted segments
	leftovers    map[int64]bool                    // segments that were used in a deleted environment
	counter      int                               // for new numbers
}

// An attachment is an environment in a project.
type attachment struct {
	environment int // its number in world.environments
	id          int
	strategy    *strategyState // the default strategy
}

// A modelFlag is a flag, including its data in environments that are removed from the project.
type modelFlag struct {
	flagState
	in      map[string]*setup
	changes int // the number of events that it must have
}

// A setup is the data of a flag in an environment: the number of the environment, and the attachment in which it was enabled.
type setup struct {
	environment, enabledIn int
	strategies             []strategyState
	variants               []variantState
}

func newWorld() *world {
	w := &world{flags: map[string]*modelFlag{}, environments: map[string]int{}, projects: map[string]map[string]*attachment{"default": {}, "shop": {}},
		segments: map[int64]string{1: "", 2: "", 3: ""}, leftovers: map[int64]bool{}}
	for _, name := range []string{"development", "production", "stage"} {
		w.environments[name] = w.next()
	}
	for _, project := range w.projects {
		for name := range w.environments {
			project[name] = &attachment{environment: w.environments[name], id: w.next()}
		}
	}
	return w
}

func (w *world) next() int { w.counter++; return w.counter }

// attached returns the environment of a project; nil if the project does not have it.
func (w *world) attached(project, environment string) *attachment {
	a := w.projects[project][environment]
	if a == nil || w.environments[environment] != a.environment {
		return nil
	}
	return a
}

// active returns a flag that exists and is not archived; nil if there is none.
func (w *world) active(name string) *modelFlag {
	if f := w.flags[name]; f != nil && !f.Archived {
		return f
	}
	return nil
}

// at returns the data of a flag in an environment of its project.
func (w *world) at(f *modelFlag, environment string) *setup {
	a := w.attached(f.Project, environment)
	s := f.in[environment]
	if s == nil || s.environment != a.environment {
		s = &setup{environment: a.environment}
		f.in[environment] = s
	}
	return s
}

func (w *world) enabled(f *modelFlag, environment string) bool {
	a, s := w.attached(f.Project, environment), f.in[environment]
	return a != nil && s != nil && s.environment == a.environment && s.enabledIn == a.id
}

func (w *world) enable(f *modelFlag, environment string, on bool) {
	s := w.at(f, environment)
	s.enabledIn = 0
	if on {
		s.enabledIn = w.attached(f.Project, environment).id
	}
}

// children returns the active flags that depend on a flag.
func (w *world) children(name string) (list []string) {
	for child, f := range w.flags {
		if slices.ContainsFunc(f.Dependencies, func(d dependencyState) bool { return d.Feature == name }) {
			list = append(list, child)
		}
	}
	return list
}

// state returns a flag as in a response.
func (w *world) state(f *modelFlag) flagState {
	state := f.flagState
	state.Tags, state.Dependencies = slices.Clone(f.Tags), slices.Clone(f.Dependencies)
	state.Environments = map[string]environmentState{}
	for name := range w.projects[f.Project] {
		if w.attached(f.Project, name) == nil {
			continue
		}
		e := environmentState{Enabled: w.enabled(f, name)}
		if s := f.in[name]; s != nil && s.environment == w.environments[name] {
			e.Strategies, e.Variants = slices.Clone(s.strategies), slices.Clone(s.variants)
		}
		state.Environments[name] = e
	}
	return state
}

// changing changes a flag and counts the events of the change.
func (w *world) changing(f *modelFlag, change func()) {
	was := w.state(f).normal()
	change()
	if now := w.state(f).normal(); !reflect.DeepEqual(was, now) {
		f.changes += 1 + additionalEvents(was, now)
	}
}

// additionalEvents returns the number of events of a change after the first one.
func additionalEvents(was, now flagState) (n int) {
	if was.Stale != now.Stale {
		described := now
		if described.Stale = was.Stale; !reflect.DeepEqual(described, was) {
			n++
		}
	}
	if now.Archived && !was.Archived && len(was.Dependencies) > 0 {
		n++
	}
	for name, before := range was.Environments {
		after := now.Environments[name]
		if before.Enabled && !after.Enabled && !reflect.DeepEqual(before.Strategies, after.Strategies) {
			n++
		}
	}
	return n
}

// normal returns a copy with nil for empty lists, so that states can be compared.
func (s flagState) normal() flagState {
	s.Tags, s.Dependencies = none(slices.Clone(s.Tags)), none(slices.Clone(s.Dependencies))
	slices.SortFunc(s.Tags, func(a, b tagState) int { return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Value, b.Value)) })
	for i := range s.Dependencies {
		s.Dependencies[i].Variants = none(s.Dependencies[i].Variants)
	}
	s.Environments = maps.Clone(s.Environments)
	for name, e := range s.Environments {
		e.Strategies, e.Variants = none(slices.Clone(e.Strategies)), none(e.Variants)
		for i, one := range e.Strategies {
			e.Strategies[i] = one.normal()
		}
		s.Environments[name] = e
	}
	return s
}

func (s strategyState) normal() strategyState {
	s.Segments, s.Variants, s.Constraints = none(s.Segments), none(s.Variants), none(slices.Clone(s.Constraints))
	for i := range s.Constraints {
		s.Constraints[i].Values = none(s.Constraints[i].Values)
	}
	if len(s.Parameters) == 0 {
		s.Parameters = nil
	}
	return s
}

func none[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

// setStrategies sets and sorts the strategies. It disables the flag in the environment if none of them is enabled any more.
func (w *world) setStrategies(f *modelFlag, environment string, list []strategyState) {
	s := w.at(f, environment)
	active := func(one strategyState) bool { return !one.Disabled }
	if len(list) == 0 || slices.ContainsFunc(s.strategies, active) && !slices.ContainsFunc(list, active) {
		s.enabledIn = 0
	}
	slices.SortStableFunc(list, func(a, b strategyState) int { return cmp.Compare(a.SortOrder, b.SortOrder) })
	s.strategies = list
}

// sharedWeights returns variants with variable weights as Guidon distributes them.
func sharedWeights(names []string) (list []variantState) {
	rest := 1000
	for i, name := range names {
		share := (rest + len(names) - i - 1) / (len(names) - i)
		list, rest = append(list, variantState{Name: name, WeightType: "variable", Stickiness: "default", Weight: float64(share)}), rest-share
	}
	return list
}
