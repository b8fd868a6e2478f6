package evaluate

import "math"

// A Trace is a result with everything that an evaluation can compare, also what comes after the step that decided. It says
// what each strategy would do alone, even if the flag is disabled or another strategy matched.
type Trace struct {
	Result
	Strategies []Check // one for each strategy, in the order of the flag
	Parent     string  // the first parent that is not in the required state, even if the flag is off; "" for none
}

// A Check is what one strategy does alone.
type Check struct {
	Outcome     Outcome // with the first obstacle, as in an Explanation
	Constraints []bool  // whether the context satisfies each constraint
	Segments    []SegmentCheck
	Variant     *Variant // what the variants of the strategy give the context, even if it does not match; nil without variants
}

// Satisfied reports whether the context satisfies all constraints and segments.
func (c Check) Satisfied() bool {
	for _, s := range c.Segments {
		if !s.Satisfied() {
			return false
		}
	}
	return allTrue(c.Constraints)
}

// A SegmentCheck is the check of one segment of a strategy.
type SegmentCheck struct {
	ID          int64
	Missing     bool   // whether there is no such segment, which turns the flag off
	Constraints []bool // whether the context satisfies each constraint
}

// Satisfied reports whether the segment exists and the context satisfies all of its constraints.
func (s SegmentCheck) Satisfied() bool { return !s.Missing && allTrue(s.Constraints) }

func allTrue(list []bool) bool {
	for _, satisfied := range list {
		if !satisfied {
			return false
		}
	}
	return true
}

// Trace evaluates a flag like Evaluate, and checks everything. Random stickiness is drawn once for the whole trace, so the
// checks agree with the result.
func (s *Set) Trace(name string, c *Context) Trace {
	f := s.flags[name]
	if f == nil {
		return Trace{Result: s.evaluate(nil, c, nil)}
	}
	once := *c
	drawn := c.random(math.MaxUint32)
	once.Random = func(n uint32) uint32 { return drawn % n }
	trace := Trace{Result: s.evaluate(f, &once, nil), Parent: s.unmetParent(f, &once)}
	for i := range f.strategies {
		st := &f.strategies[i]
		check := Check{Outcome: s.check(st, &once), Constraints: checkEach(st.constraints, &once), Variant: st.variants.choose(&once)}
		for _, id := range st.segments {
			constraints, found := s.segments[id]
			check.Segments = append(check.Segments, SegmentCheck{ID: id, Missing: !found, Constraints: checkEach(constraints, &once)})
		}
		trace.Strategies = append(trace.Strategies, check)
	}
	return trace
}

// checkEach reports for each constraint whether the context satisfies it.
func checkEach(constraints []constraint, c *Context) []bool {
	satisfied := make([]bool, len(constraints))
	for i := range constraints {
		satisfied[i] = constraints[i].check(c) == yes
	}
	return satisfied
}
