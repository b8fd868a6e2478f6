package evaluate

import "math"

// A Reason says what decided the result of an evaluation.
type Reason struct {
	Kind     ReasonKind
	Strategy int    // index of the strategy, for StrategyMatched and SegmentUnknown
	Parent   string // name of the first parent that is not in the required state, for ParentUnmet
}

// A ReasonKind is the kind of a Reason.
type ReasonKind uint8

// The kinds of reasons.
const (
	FlagUnknown       ReasonKind = iota // there is no flag of that name
	FlagDisabled                        // the flag is disabled in the environment
	ParentUnmet                         // a parent is missing, not in the required state, or has a parent itself
	NoStrategies                        // the flag has no strategies, and so is on for everyone
	StrategyMatched                     // a strategy matched
	NoStrategyMatched                   // the flag has strategies, and none of them matched
	SegmentUnknown                      // a strategy uses a segment that does not exist, which turns the flag off
)

var reasonKinds = [...]string{"flag unknown", "flag disabled", "parent unmet", "no strategies", "strategy matched",
	"no strategy matched", "segment unknown"}

// String returns the kind in words.
func (k ReasonKind) String() string { return reasonKinds[k] }

// An Outcome says whether a strategy matched, and if not, what the first obstacle was.
type Outcome struct {
	Kind       OutcomeKind
	Segment    int64 // ID of the segment that is missing or has the constraint; 0 for a constraint of the strategy itself
	Constraint int   // index of the constraint in the strategy or in the segment
}

// An OutcomeKind is the kind of an Outcome.
type OutcomeKind uint8

// The kinds of outcomes.
const (
	Matched               OutcomeKind = iota
	ConstraintUnsatisfied             // the context does not satisfy a constraint
	ConstraintUnreadable              // a constraint or the value it is compared with is invalid, such as "abc" for a number
	SegmentMissing                    // the strategy uses a segment that does not exist
	NotSelected                       // the user is not in the rollout or list, or the parameters are invalid
	StrategyUnknown                   // the strategy is not built in
	StrategyDisabled                  // the strategy is disabled
)

var outcomeKinds = [...]string{"matched", "constraint unsatisfied", "constraint unreadable", "segment missing", "not selected",
	"strategy unknown", "strategy disabled"}

// String returns the kind in words.
func (k OutcomeKind) String() string { return outcomeKinds[k] }

// A Trace is a result with everything that an evaluation can compare, also what comes after the step that decided. It says
// what each strategy would do alone, even if the flag is disabled or another strategy matched.
type Trace struct {
	Result
	Strategies []Check // one for each strategy, in the order of the flag
	Parent     string  // the first parent that is not in the required state, even if the flag is off; "" for none
}

// A Check is what one strategy does alone.
type Check struct {
	Outcome     Outcome // with the first obstacle
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
		return Trace{Result: s.evaluate(nil, c)}
	}
	once := *c
	drawn := c.random(math.MaxUint32)
	once.Random = func(n uint32) uint32 { return drawn % n }
	trace := Trace{Result: s.evaluate(f, &once)}
	trace.Parent, _ = s.unmetParent(f, &once)
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
