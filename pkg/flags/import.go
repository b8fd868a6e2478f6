package flags

import (
	"reflect"
	"slices"
	"strconv"
	"time"
)

// An ImportedFlag is one flag of an import: its metadata, and its configuration in the target environment
// (contract: Import data set). A nil list means that the import does not contain it, and the flag keeps what it
// has. An empty list makes it empty.
type ImportedFlag struct {
	Metadata
	Tags       []Tag
	Links      []Link       // without IDs
	Parents    []Dependency // added to the parents that the flag has
	Strategies []Strategy   // without IDs, in their order
	Variants   []Variant
	Enabled    *bool
}

// Check adds all problems of the imported flag, with default parameters for a flag of that name.
func (b ImportedFlag) Check(name string, types *StrategyTypes, limits Limits, p *Problems) {
	for i, s := range b.Strategies {
		p.CheckAt("/strategies/"+strconv.Itoa(i), func(below *Problems) { s.WithDefaults(name).Check(types, limits, below) })
	}
	CheckVariants(b.Variants, "/variants", p)
	for i, t := range b.Tags {
		t.Check("/tags/"+strconv.Itoa(i), p)
	}
	CheckCount("/links", "links", len(b.Links), MaxLinks, p)
	for i, l := range b.Links {
		l.Check("/links/"+strconv.Itoa(i), p)
	}
	for i, d := range b.Parents {
		p.CheckAt("/dependencies/"+strconv.Itoa(i), d.Check)
	}
}

// Import applies the import to the flag. Of the environments, only env changes. A strategy that differs from an
// existing one only in its ID keeps the existing ID, so repeating an import changes nothing.
func (f *Feature) Import(env ProjectEnvironment, b ImportedFlag, newID func() string, at time.Time, limits Limits) error {
	f.Metadata = b.Metadata
	if b.Tags != nil {
		f.Tags = nil
		if err := f.ChangeTags(b.Tags, nil, limits); err != nil {
			return err
		}
	}
	if b.Links != nil {
		f.importLinks(b.Links, newID)
	}
	if b.Strategies != nil {
		if err := f.importStrategies(env, b, newID, limits); err != nil {
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
	f.KeepStopped(env)
	return f.Enable(env, newID, at)
}

// onForEveryone is added to a flag that is enabled without strategies. Some servers have such flags, and SDKs
// evaluate them as on for everyone.
var onForEveryone = Strategy{Name: "default"}

// CheckStrategies returns Invalid if a flag would have too many strategies in an environment.
func (l Limits) CheckStrategies(flag, environment string, n int) error {
	if n <= l.Strategies {
		return nil
	}
	return Errorf(Invalid, "flag %q would have %d strategies in environment %q, but no more than %d are allowed; remove some first", flag, n, environment, l.Strategies)
}

// EffectiveStrategies returns the strategies that the import gives the flag. An enabled flag with an explicitly
// empty list gets onForEveryone. If the import has no list, it returns none: enabling the flag then adds the
// project's default strategy, which needs no permission to create strategies.
func (b ImportedFlag) EffectiveStrategies() []Strategy {
	if b.Strategies != nil && len(b.Strategies) == 0 && b.Enabled != nil && *b.Enabled {
		return []Strategy{onForEveryone}
	}
	return b.Strategies
}

func (f *Feature) importStrategies(env ProjectEnvironment, b ImportedFlag, newID func() string, limits Limits) error {
	strategies := b.EffectiveStrategies()
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
		return nil // unchanged: do not create an entry for an environment without strategies
	}
	if plan := f.Plan(env); plan != nil {
		return Errorf(Conflict, "flag %q has release plan %q in environment %q, so its strategies there cannot be imported; remove it or detach it first", f.Name, plan.Name, env.Name)
	}
	f.setStrategies(env, brought)
	return nil
}

// sameStrategy reports whether two strategies differ at most in their IDs.
func sameStrategy(a, b Strategy) bool {
	a.ID, b.ID = "", ""
	return reflect.DeepEqual(a.normalized(), b.normalized())
}

// normalized returns the strategy with nil in place of empty lists, for comparing.
func (s Strategy) normalized() Strategy {
	s.Segments, s.Variants, s.Constraints = nilIfEmpty(s.Segments), nilIfEmpty(slices.Clone(s.Variants)), nilIfEmpty(slices.Clone(s.Constraints))
	for i := range s.Variants {
		s.Variants[i].Overrides = nilIfEmpty(s.Variants[i].Overrides)
	}
	if len(s.Parameters) == 0 {
		s.Parameters = nil
	}
	for i := range s.Constraints {
		s.Constraints[i].Values = nilIfEmpty(s.Constraints[i].Values)
	}
	return s
}

func nilIfEmpty[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}
