package evaluate

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

// An Explanation is a result with what each strategy contributed to it.
type Explanation struct {
	Result
	// Strategies has an outcome for each strategy up to the one that decided, in the order of the flag. It is empty if
	// the flag does not exist, is disabled or has no strategies.
	Strategies []Outcome
}

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
