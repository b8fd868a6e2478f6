package flags

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
)

// A Strategy decides for which users a flag is on in one environment (contract: Activation strategy). Its slices
// and maps are replaced, never changed in place, because copies of a flag share them.
type Strategy struct {
	ID          string            `json:"id"`   // UUID, never changes
	Name        string            `json:"name"` // name of its strategy type
	Title       *string           `json:"title,omitzero"`
	Disabled    bool              `json:"disabled,omitzero"` // kept, but not evaluated
	SortOrder   float64           `json:"sortOrder"`         // lower comes first; the older first if equal
	Segments    []int64           `json:"segments,omitempty"`
	Constraints []Constraint      `json:"constraints,omitempty"`
	Parameters  map[string]string `json:"parameters,omitempty"`
	Variants    []Variant         `json:"variants,omitempty"` // strategy-level: without overrides
}

// size estimates the stored size of the strategy in bytes.
func (s Strategy) size() int {
	const each = 20 // bytes in addition to the texts
	size := each + len(s.Name) + len(valueOrEmpty(s.Title)) + len(s.Segments)*each
	for name, value := range s.Parameters {
		size += each + len(name) + len(value)
	}
	for _, c := range s.Constraints {
		size += each + len(c.ContextName) + len(valueOrEmpty(c.Value))
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

// Size estimates the stored size of the strategies and variants in bytes. Their JSON is larger.
func (fe FeatureEnvironment) Size() int {
	size := VariantsSize(fe.Variants)
	for _, s := range fe.Strategies {
		size += s.size()
	}
	return size
}

// WithDefaults returns the strategy as it is stored for a flag of that name: missing parameters get the defaults
// of the strategy type, and Parameters is never nil.
func (s Strategy) WithDefaults(feature string) Strategy {
	parameters := make(map[string]string, len(s.Parameters))
	maps.Copy(parameters, s.Parameters)
	if t := findBuiltInType(s.Name); t != nil {
		t.withDefaults(parameters, feature)
	}
	s.Parameters = parameters
	return s
}

// Check adds all problems of the strategy, which must have its default parameters. CheckSegments checks
// separately whether its segments exist.
func (s Strategy) Check(types *StrategyTypes, limits Limits, p *Problems) {
	s.CheckType(types, p)
	s.checkFields(limits, p)
}

// CheckWithoutRegistry adds all problems that can be found without the registry of strategy types. It skips the
// type and parameters of custom strategy types.
func (s Strategy) CheckWithoutRegistry(limits Limits, p *Problems) {
	if s.Name == "" || findBuiltInType(s.Name) != nil {
		s.CheckType(&StrategyTypes{}, p)
	}
	s.checkFields(limits, p)
}

// CheckType adds a problem if the strategy type is unknown, or the problems of its parameters.
func (s Strategy) CheckType(types *StrategyTypes, p *Problems) {
	switch t, known := types.Find(s.Name); {
	case s.Name == "":
		p.Add("/name", "is required: a strategy type such as %s", builtInNames())
	case !known:
		p.Add("/name", "is an unknown strategy type; use one of %s, or define it first", builtInNames())
	default:
		t.checkParameters(s.Parameters, p)
	}
}

// checkFields adds the problems that do not depend on the strategy type.
func (s Strategy) checkFields(limits Limits, p *Problems) {
	s.checkTexts(p)
	checkConstraints(s.Constraints, limits, p)
	CheckSegmentIDs("/segments", s.Segments, limits, p)
	s.checkVariants(p)
}

// checkConstraints adds the problems of a list of constraints at /constraints.
func checkConstraints(list []Constraint, limits Limits, p *Problems) {
	if n := len(list); n > limits.Constraints {
		p.Add("/constraints", "must have at most %d constraints, but has %d", limits.Constraints, n)
		return
	}
	for i, c := range list {
		c.Check("/constraints/"+strconv.Itoa(i), limits, p)
	}
}

// checkVariants checks strategy-level variants, which have stricter rules than others (contract: Strategy-level
// variant). Overrides are refused rather than ignored, because users would not get the variant that the caller
// expects.
func (s Strategy) checkVariants(p *Problems) {
	CheckVariants(s.Variants, "/variants", p)
	if len(s.Variants) > MaxVariants {
		return
	}
	for i, v := range s.Variants {
		path := "/variants/" + strconv.Itoa(i)
		if v.Weight != math.Trunc(v.Weight) {
			p.Add(path+"/weight", "must be a whole number for a variant of a strategy")
		}
		if len(v.Overrides) > 0 {
			p.Add(path+"/overrides", "must be empty: variants of a strategy cannot have overrides")
		}
	}
}

// AddStrategy adds a strategy in env as the youngest one, with the weights of its variants distributed. It
// returns Invalid if the limit is reached.
func (f *Feature) AddStrategy(env ProjectEnvironment, s Strategy, limits Limits) error {
	strategies := f.In(env).Strategies
	if err := limits.CheckStrategies(f.Name, env.Name, len(strategies)+1); err != nil {
		return err
	}
	s.Variants = Distribute(s.Variants)
	f.setStrategies(env, append(slices.Clone(strategies), s))
	return nil
}

// Strategy returns the flag's strategy of that ID in env, or NotFound.
func (f *Feature) Strategy(env ProjectEnvironment, id string) (Strategy, error) {
	i, err := f.indexStrategy(env, id)
	if err != nil {
		return Strategy{}, err
	}
	return f.In(env).Strategies[i], nil
}

// ReplaceStrategy replaces the strategy of the same ID in env, with the weights of its variants distributed. It
// returns NotFound if there is none. Disabling the only enabled strategy disables the flag in env.
func (f *Feature) ReplaceStrategy(env ProjectEnvironment, s Strategy) error {
	i, err := f.indexStrategy(env, s.ID)
	if err != nil {
		return err
	}
	if err := f.checkNotOfPlan(env, s.ID); err != nil {
		return err
	}
	s.Variants = Distribute(s.Variants)
	strategies := slices.Clone(f.In(env).Strategies)
	strategies[i] = s
	f.setStrategies(env, strategies)
	return nil
}

// RemoveStrategy removes a strategy. It returns NotFound if there is none. Removing the last strategy, or the
// only enabled one, disables the flag in env.
func (f *Feature) RemoveStrategy(env ProjectEnvironment, id string) error {
	i, err := f.indexStrategy(env, id)
	if err != nil {
		return err
	}
	if err := f.checkNotOfPlan(env, id); err != nil {
		return err
	}
	f.setStrategies(env, slices.Delete(slices.Clone(f.In(env).Strategies), i, i+1))
	return nil
}

// OrderStrategies sets the sort orders of strategies in env, by ID. The others keep theirs. If an ID is unknown,
// it returns Invalid and changes nothing.
func (f *Feature) OrderStrategies(env ProjectEnvironment, order map[string]float64) error {
	if len(order) == 0 {
		return nil
	}
	strategies := slices.Clone(f.In(env).Strategies)
	for _, id := range slices.Sorted(maps.Keys(order)) {
		i, err := f.indexStrategy(env, id)
		if err != nil {
			return Errorf(Invalid, "%s", err.Message) // Invalid, not NotFound: the ID comes from the body, not from the path
		}
		if err := f.checkNotOfPlan(env, id); err != nil {
			return err
		}
		strategies[i].SortOrder = order[id]
	}
	f.setStrategies(env, strategies)
	return nil
}

// maxSortOrder is the largest sort order that is assigned: JSON readers round larger integers.
const maxSortOrder = 1<<53 - 1

// NextStrategyOrder returns a sort order that places a strategy after all others in env.
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

// setStrategies stores the strategies in their order; those of equal sort order stay in the given order, older
// before younger. It sorts the list in place. A flag that has lost its last strategy in env, or its last enabled
// one, is disabled there: SDKs evaluate an enabled flag without strategies as on for everyone.
func (f *Feature) setStrategies(env ProjectEnvironment, strategies []Strategy) {
	slices.SortStableFunc(strategies, bySortOrder)
	active := func(s Strategy) bool { return !s.Disabled }
	fe := f.In(env)
	lost := slices.ContainsFunc(fe.Strategies, active) && !slices.ContainsFunc(strategies, active)
	if len(strategies) == 0 || lost {
		fe.EnabledIn = ""
	}
	fe.Strategies = strategies
	f.setEnvironment(env, fe)
}

func bySortOrder(a, b Strategy) int { return cmp.Compare(a.SortOrder, b.SortOrder) }
