package flags

// Limits bounds how much one aggregate may hold. Each is a setting of the deployment, and each holds under parallel
// calls too, because it is checked on the very version that the change is committed over.
type Limits struct {
	Strategies            int // per flag environment
	Constraints           int // per strategy
	ConstraintValues      int // per constraint
	ConstraintValueLength int // characters of one constraint value
	Environments          int // per service
	Tags                  int // per flag
	StrategySegments      int // per strategy
	SegmentValues         int // per segment, in all its constraints together
	ContextFields         int // per service
}

// MaxFlagSize is the most bytes that a flag may take: an item of the store holds no more.
const MaxFlagSize = 400 << 10

// DefaultLimits are the limits of a deployment that sets none.
func DefaultLimits() Limits {
	return Limits{Strategies: 30, Constraints: 30, ConstraintValues: 250, ConstraintValueLength: 100, Environments: 50, Tags: 30,
		StrategySegments: 5, SegmentValues: 1000, ContextFields: 100}
}
