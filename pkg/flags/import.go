package flags

import (
	"reflect"
	"slices"
	"strconv"
)

// A ImportedFlag is what an import says of one flag: what it is, and what it has in the environment that it is imported into
// (contract: Import data set). A list that is nil was not said anything about, and stays as it is; an empty one is empty.
type ImportedFlag struct {
	Metadata
	Tags       []Tag
	Parents    []Dependency // others that the flag has stay
	Strategies []Strategy   // without ids, in their order
	Variants   []Variant
	Enabled    *bool
}

// Check notes every fault of what is brought, as a flag of that name would have it.
func (b ImportedFlag) Check(name string, types *StrategyTypes, limits Limits, p *Problems) {
	for i, s := range b.Strategies {
		p.CheckAt("/strategies/"+strconv.Itoa(i), func(below *Problems) { s.WithDefaults(name).Check(types, limits, below) })
	}
	CheckVariants(b.Variants, "/variants", p)
	for i, t := range b.Tags {
		t.Check("/tags/"+strconv.Itoa(i), p)
	}
	for i, d := range b.Parents {
		p.CheckAt("/dependencies/"+strconv.Itoa(i), d.Check)
	}
}

// Bring makes the flag what an import says it is, with env alone of its environments. A strategy that the flag has
// already, but for the id, keeps its id; so the same import again changes nothing.
func (f *Feature) Import(env ProjectEnvironment, b ImportedFlag, newID func() string, limits Limits) error {
	f.Metadata = b.Metadata
	if b.Tags != nil {
		f.Tags = nil
		if err := f.ChangeTags(b.Tags, nil, limits); err != nil {
			return err
		}
	}
	if b.Strategies != nil {
		if err := f.bringStrategies(env, b, newID, limits); err != nil {
			return err
		}
	}
	if b.Variants != nil {
		f.SetVariants(env, b.Variants)
	}
	if b.Enabled == nil {
		return nil
	}
	if !*b.Enabled {
		f.Disable(env)
		return nil
	}
	return f.Enable(env, newID)
}

// forEverybody is what a flag has that is on without any strategy: some servers have such flags, and to an SDK they are on
// for everybody.
var forEverybody = Strategy{Name: "default"}

// CheckStrategies returns Invalid if a flag would have too many strategies in an environment.
func (l Limits) CheckStrategies(flag, environment string, n int) error {
	if n <= l.Strategies {
		return nil
	}
	return Errorf(Invalid, "flag %q would have %d strategies in environment %q, and no more than %d are allowed", flag, n, environment, l.Strategies)
}

// strategies are those that the import gives the flag: what it says, and for everybody where it says that the flag is on
// without any. An import that says nothing about strategies gives none. The flag is then switched on as by itself, which
// adds the project's default strategy and takes no permission to add one.
func (b ImportedFlag) strategies() []Strategy {
	if b.Strategies != nil && len(b.Strategies) == 0 && b.Enabled != nil && *b.Enabled {
		return []Strategy{forEverybody}
	}
	return b.Strategies
}

func (f *Feature) bringStrategies(env ProjectEnvironment, b ImportedFlag, newID func() string, limits Limits) error {
	strategies := b.strategies()
	if err := limits.CheckStrategies(f.Name, env.Name, len(strategies)); err != nil {
		return err
	}
	had := slices.Clone(f.In(env).Strategies)
	brought := make([]Strategy, len(strategies))
	for i, s := range strategies {
		s = s.WithDefaults(f.Name)
		s.Variants = Distribute(s.Variants)
		if at := slices.IndexFunc(had, func(h Strategy) bool { return sameStrategy(h, s) }); at >= 0 {
			s.ID = had[at].ID
			had = slices.Delete(had, at, at+1)
		} else {
			s.ID = newID()
		}
		brought[i] = s
	}
	slices.SortStableFunc(brought, bySortOrder)
	if slices.EqualFunc(f.In(env).Strategies, brought, func(a, b Strategy) bool { return a.ID == b.ID }) {
		return nil // the very same: an environment without any keeps having no entry
	}
	f.setStrategies(env, brought)
	return nil
}

// sameStrategy tells whether two strategies are the same but for their ids.
func sameStrategy(a, b Strategy) bool {
	a.ID, b.ID = "", ""
	return reflect.DeepEqual(a.normal(), b.normal())
}

// normal is the strategy with every empty list as none, to compare it.
func (s Strategy) normal() Strategy {
	s.Segments, s.Variants, s.Constraints = some(s.Segments), some(slices.Clone(s.Variants)), some(slices.Clone(s.Constraints))
	for i := range s.Variants {
		s.Variants[i].Overrides = some(s.Variants[i].Overrides)
	}
	if len(s.Parameters) == 0 {
		s.Parameters = nil
	}
	for i := range s.Constraints {
		s.Constraints[i].Values = some(s.Constraints[i].Values)
	}
	return s
}

// some is the list, or nil for an empty one.
func some[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}
