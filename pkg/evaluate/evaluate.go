// Package evaluate decides whether a feature flag is on for a context, which variant it has, and why.
//
// It implements Unleash's client specification (npm @unleash/client-specification 6.1.0): all strategies, operators,
// segments, variants and dependencies, with the results that Unleash's SDKs have; where these differ, mostly with those of Yggdrasil
// (docs/reference/sdk-behavior.md). It is pure: it reads no clock, network or
// file, so a result depends on its arguments only (and on chance, for random stickiness).
//
// A Set holds the flags of one environment in compiled form. It is created once for each revision of the flags and then
// evaluates any number of contexts:
//
//	set := evaluate.NewSet(flags, segments)
//	result := set.Evaluate("checkout", &evaluate.Context{UserID: "7", Now: time.Now()})
//	if result.Enabled { … result.Variant … }
//
// Trace returns the same result with everything that was compared, also after the step that decided.
//
// # Cost
//
// Compiling parses numbers, dates, versions, addresses and regular expressions, so evaluating only compares. A flag with
// one rollout and one constraint takes about 100 ns and no allocation. An Evaluation of many flags evaluates each segment once.
// Hostile input takes bounded time: context values have a maximum length, regular expressions have a maximum size and never
// backtrack without end, and an Evaluation ends after MaxWork.
package evaluate

import (
	"iter"
	"maps"
	"slices"
)

// A Set holds the flags and segments of one revision. It never changes, and may be used by several goroutines at once.
type Set struct {
	flags    map[string]*flag
	segments map[int64][]constraint
}

// NewSet compiles flags and segments. It keeps references to them, so they must not be changed afterwards. What cannot be
// compiled, such as an invalid regular expression, is no error: it makes its constraint or strategy false, as in SDKs.
func NewSet(flags []Flag, segments []Segment) *Set {
	return new(Set).With(Changes{Flags: flags, Segments: segments})
}

// Changes are the differences between two revisions.
type Changes struct {
	Flags           []Flag // new and changed ones
	RemovedFlags    []string
	Segments        []Segment // new and changed ones
	RemovedSegments []int64
}

// With returns a set with the changes. It compiles only what the changes contain and shares the rest.
func (s *Set) With(changes Changes) *Set {
	next := &Set{flags: make(map[string]*flag, len(s.flags)+len(changes.Flags)),
		segments: make(map[int64][]constraint, len(s.segments)+len(changes.Segments))}
	maps.Copy(next.flags, s.flags)
	maps.Copy(next.segments, s.segments)
	for _, name := range changes.RemovedFlags {
		delete(next.flags, name)
	}
	for _, id := range changes.RemovedSegments {
		delete(next.segments, id)
	}
	for i := range changes.Flags {
		next.flags[changes.Flags[i].Name] = compileFlag(&changes.Flags[i])
	}
	for _, segment := range changes.Segments {
		next.segments[segment.ID] = compileConstraints(segment.Constraints)
	}
	return next
}

// Len returns the number of flags.
func (s *Set) Len() int { return len(s.flags) }

// A Result is the result of an evaluation.
type Result struct {
	Enabled bool
	// Variant is nil if the flag is off or has no variants. SDKs call that variant DisabledVariant. It belongs to the
	// set and must not be changed.
	Variant        *Variant
	ImpressionData bool // whether the application should report the evaluation
	Reason         Reason
}

// DisabledVariant is the name that SDKs give to the absence of a variant. A dependency can name it.
const DisabledVariant = "disabled"

// Evaluate evaluates a flag. A flag that does not exist is off.
func (s *Set) Evaluate(name string, c *Context) Result {
	return s.evaluate(s.flags[name], c)
}

// All evaluates all flags, in no particular order.
func (s *Set) All(c *Context) iter.Seq2[string, Result] {
	return func(yield func(string, Result) bool) {
		with := &s.For(c).context
		for name, f := range s.flags {
			if !yield(name, s.evaluate(f, with)) {
				return
			}
		}
	}
}

// A flag is a compiled flag.
type flag struct {
	enabled        bool
	impressionData bool
	strategies     []strategy
	unconditional  bool // whether all strategies are disabled, or there is none
	variants       *variants
	dependencies   []Dependency
}

func compileFlag(f *Flag) *flag {
	compiled := &flag{
		enabled: f.Enabled, impressionData: f.ImpressionData,
		variants: compileVariants(f.Variants, f.Name, ""), dependencies: f.Dependencies, unconditional: true,
	}
	if len(f.Strategies) > 0 {
		compiled.strategies = make([]strategy, len(f.Strategies))
		for i := range f.Strategies {
			compiled.strategies[i] = compileStrategy(f.Name, f.Strategies[i])
			compiled.unconditional = compiled.unconditional && f.Strategies[i].Disabled
		}
	}
	return compiled
}

func (s *Set) evaluate(f *flag, c *Context) Result {
	if f == nil {
		return Result{Reason: Reason{Kind: FlagUnknown}}
	}
	result := s.evaluateAlone(f, c)
	if result.Enabled {
		if parent, unmet := s.unmetParent(f, c); unmet {
			result.Enabled, result.Variant, result.Reason = false, nil, Reason{Kind: ParentUnmet, Parent: parent}
		}
	}
	return result
}

// evaluateAlone evaluates a flag without its parents.
func (s *Set) evaluateAlone(f *flag, c *Context) Result {
	result := Result{ImpressionData: f.impressionData}
	switch {
	case !f.enabled:
		result.Reason.Kind = FlagDisabled
		return result
	case f.unconditional:
		result.Reason.Kind = NoStrategies
		return result.enable(f.variants, c)
	}
	for i := range f.strategies {
		st := &f.strategies[i]
		switch s.check(st, c).Kind {
		case Matched:
			result.Reason = Reason{Kind: StrategyMatched, Strategy: i}
			if st.variants != nil {
				return result.enable(st.variants, c)
			}
			return result.enable(f.variants, c)
		case SegmentMissing:
			result.Reason = Reason{Kind: SegmentUnknown, Strategy: i}
			return result
		}
	}
	result.Reason.Kind = NoStrategyMatched
	return result
}

func (r Result) enable(v *variants, c *Context) Result {
	r.Enabled, r.Variant = true, v.choose(c)
	return r
}

// unmetParent returns the name of the first parent that is not in the required state, and whether there is one. There is only one level
// of dependencies, so a parent that has parents is never in the required state, and cycles end here.
func (s *Set) unmetParent(f *flag, c *Context) (name string, unmet bool) {
	for i := range f.dependencies {
		d := &f.dependencies[i]
		parent := s.flags[d.Feature]
		if parent == nil || len(parent.dependencies) > 0 || !d.metBy(s.evaluateAlone(parent, c)) {
			return d.Feature, true
		}
	}
	return "", false
}

func (d *Dependency) metBy(parent Result) bool {
	if d.Enabled != nil && !*d.Enabled {
		return !parent.Enabled
	}
	if !parent.Enabled || len(d.Variants) == 0 {
		return parent.Enabled
	}
	name := DisabledVariant
	if parent.Variant != nil {
		name = parent.Variant.Name
	}
	return slices.Contains(d.Variants, name)
}
