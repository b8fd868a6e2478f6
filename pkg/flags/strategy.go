package flags

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
)

// A Strategy decides for whom a flag is on in one environment (contract: Activation strategy).
// Its slices and maps are replaced, never changed in place: copies of a flag share them.
type Strategy struct {
	ID          string // UUID, never changes
	Name        string // of its type
	Title       *string
	Disabled    bool    // a disabled strategy is kept, but not evaluated
	SortOrder   float64 // lower comes first; equal ones by age
	Segments    []int64
	Constraints []Constraint
	Parameters  map[string]string
	Variants    []Variant // strategy-level: no overrides
}

// size is about how many bytes the strategy takes when it is stored.
func (s Strategy) size() int {
	const each = 20 // beside the texts
	size := each + len(s.Name) + len(textOf(s.Title)) + len(s.Segments)*each
	for name, value := range s.Parameters {
		size += each + len(name) + len(value)
	}
	for _, c := range s.Constraints {
		size += each + len(c.ContextName) + len(textOf(c.Value))
		for _, value := range c.Values {
			size += len(value) + 3
		}
	}
	for _, v := range s.Variants {
		size += each + len(v.Name) + len(v.Stickiness)
		if v.Payload != nil {
			size += len(v.Payload.Value)
		}
	}
	return size
}

// WithDefaults is the strategy as the flag of that name has it: missing parameters are those of its type, and there
// are always parameters, if only none.
func (s Strategy) WithDefaults(feature string) Strategy {
	parameters := make(map[string]string, len(s.Parameters))
	maps.Copy(parameters, s.Parameters)
	if t := builtInType(s.Name); t != nil {
		t.withDefaults(parameters, feature)
	}
	s.Parameters = parameters
	return s
}

// Check notes every fault of the strategy, as the strategy that WithDefaults makes of it. Whether its
// segments are there is for CheckSegments.
func (s Strategy) Check(types *StrategyTypes, limits Limits, p *Problems) {
	s.CheckType(types, p)
	s.checkRest(limits, p)
}

// CheckWithoutRegistry notes the faults that show without the registry of strategy types: all, but for those of a type that is
// not built in.
func (s Strategy) CheckWithoutRegistry(limits Limits, p *Problems) {
	if s.Name == "" || builtInType(s.Name) != nil {
		s.CheckType(&StrategyTypes{}, p)
	}
	s.checkRest(limits, p)
}

// CheckType notes that the strategy is of no known type, or what its type finds wrong with its parameters.
func (s Strategy) CheckType(types *StrategyTypes, p *Problems) {
	switch t, known := types.Find(s.Name); {
	case s.Name == "":
		p.Add("/name", "is required: the strategy's type, one of %s", builtInNames())
	case !known:
		p.Add("/name", "must be a strategy type that is known, one of %s; others must be defined first, by POST /api/admin/strategies", builtInNames())
	default:
		t.checkParameters(s.Parameters, p)
	}
}

// checkRest notes the faults that have nothing to do with the type.
func (s Strategy) checkRest(limits Limits, p *Problems) {
	s.checkTexts(p)
	checkConstraints(s.Constraints, limits, p)
	CheckSegmentIDs("/segments", s.Segments, limits, p)
	s.checkVariants(p)
}

// checkConstraints notes the faults of constraints, which are at /constraints.
func checkConstraints(list []Constraint, limits Limits, p *Problems) {
	if n := len(list); n > limits.Constraints {
		p.Add("/constraints", "must have at most %d constraints, has %d", limits.Constraints, n)
		return
	}
	for i, c := range list {
		c.Check("/constraints/"+strconv.Itoa(i), limits, p)
	}
}

// checkVariants adds to the rules of all variants those of strategy-level ones (contract: Strategy-level variant).
// Overrides are refused, because whoever sends them expects users to get a variant that they would not get.
func (s Strategy) checkVariants(p *Problems) {
	CheckVariants(s.Variants, "/variants", p)
	if len(s.Variants) > MaxVariants {
		return
	}
	for i, v := range s.Variants {
		path := "/variants/" + strconv.Itoa(i)
		if v.Weight != math.Trunc(v.Weight) {
			p.Add(path+"/weight", "must be a whole number in a variant of a strategy")
		}
		if len(v.Overrides) > 0 {
			p.Add(path+"/overrides", "must be empty: the variants of a strategy have no overrides")
		}
	}
}

// AddStrategy gives the flag another strategy in env, the youngest there, its variants distributed. Invalid past the
// limit.
func (f *Feature) AddStrategy(env ProjectEnvironment, s Strategy, limits Limits) error {
	strategies := f.In(env).Strategies
	if n := len(strategies); n >= limits.Strategies {
		return Errorf(Invalid, "flag %q has %d strategies in environment %q already, and no more than %d are allowed", f.Name, n, env.Name, limits.Strategies)
	}
	s.Variants = Distribute(s.Variants)
	f.setStrategies(env, append(slices.Clone(strategies), s))
	return nil
}

// Strategy is the flag's strategy of that id in env. NotFound when there is none.
func (f *Feature) Strategy(env ProjectEnvironment, id string) (Strategy, error) {
	i, err := f.indexStrategy(env, id)
	if err != nil {
		return Strategy{}, err
	}
	return f.In(env).Strategies[i], nil
}

// ReplaceStrategy puts s, its variants distributed, in the place of the strategy in env with its id. NotFound when
// there is none. Disabling the only enabled strategy disables the environment.
func (f *Feature) ReplaceStrategy(env ProjectEnvironment, s Strategy) error {
	i, err := f.indexStrategy(env, s.ID)
	if err != nil {
		return err
	}
	s.Variants = Distribute(s.Variants)
	strategies := slices.Clone(f.In(env).Strategies)
	strategies[i] = s
	f.setStrategies(env, strategies)
	return nil
}

// RemoveStrategy takes a strategy away. NotFound when it is not there. Removing the last strategy, or the only enabled
// one, disables the environment.
func (f *Feature) RemoveStrategy(env ProjectEnvironment, id string) error {
	i, err := f.indexStrategy(env, id)
	if err != nil {
		return err
	}
	f.setStrategies(env, slices.Delete(slices.Clone(f.In(env).Strategies), i, i+1))
	return nil
}

// OrderStrategies gives the strategies in env, by id, new sort orders; those that are not named keep theirs.
// Invalid when an id is unknown there, and then nothing changes.
func (f *Feature) OrderStrategies(env ProjectEnvironment, order map[string]float64) error {
	if len(order) == 0 {
		return nil
	}
	strategies := slices.Clone(f.In(env).Strategies)
	for _, id := range slices.Sorted(maps.Keys(order)) {
		i, err := f.indexStrategy(env, id)
		if err != nil {
			return Errorf(Invalid, "%s", err.Message) // the body names it, not the path
		}
		strategies[i].SortOrder = order[id]
	}
	f.setStrategies(env, strategies)
	return nil
}

// maxSortOrder is the largest sort order that is given out: past it, JSON readers round whole numbers.
const maxSortOrder = 1<<53 - 1

// NextStrategyOrder is the sort order that places a strategy behind all others in env.
func (f *Feature) NextStrategyOrder(env ProjectEnvironment) float64 {
	strategies := f.In(env).Strategies
	if len(strategies) == 0 {
		return 0
	}
	return min(strategies[len(strategies)-1].SortOrder+1, maxSortOrder)
}

func (f *Feature) indexStrategy(env ProjectEnvironment, id string) (int, *Error) {
	i := slices.IndexFunc(f.In(env).Strategies, func(s Strategy) bool { return s.ID == id })
	if i < 0 {
		return i, Errorf(NotFound, "flag %q has no strategy %q in environment %q", f.Name, id, env.Name)
	}
	return i, nil
}

// setStrategies keeps strategies, a list of the flag's own, in their order: ones of equal sort order stay as they
// stand, the older before the younger. A flag that has lost its last strategy in env, or its last enabled one, is
// switched off there: to an SDK, a flag that is on without any is on for everybody.
func (f *Feature) setStrategies(env ProjectEnvironment, strategies []Strategy) {
	slices.SortStableFunc(strategies, bySortOrder)
	active := func(s Strategy) bool { return !s.Disabled }
	fe := f.In(env)
	lost := slices.ContainsFunc(fe.Strategies, active) && !slices.ContainsFunc(strategies, active)
	if len(strategies) == 0 || lost {
		fe.EnabledIn = ""
	}
	fe.Strategies = strategies
	f.set(env, fe)
}

func bySortOrder(a, b Strategy) int { return cmp.Compare(a.SortOrder, b.SortOrder) }
