package flags

// A Strategy decides for whom a flag is on in one environment (contract: Activation strategy).
// Its slices and maps are replaced, never changed in place: copies of a flag share them.
type Strategy struct {
	ID          string // UUID, never changes
	Name        string // a built-in strategy type
	Title       *string
	Disabled    bool    // a disabled strategy is kept, but not evaluated
	SortOrder   float64 // lower comes first; equal ones by age
	Segments    []int64
	Constraints []Constraint
	Parameters  map[string]string
	Variants    []Variant // strategy-level: no overrides
}
