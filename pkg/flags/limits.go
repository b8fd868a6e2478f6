package flags

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Limits are the limits of one aggregate that a deployment can set. They hold for concurrent changes too,
// because each is checked on the version over which the change is committed.
type Limits struct {
	Strategies            int // per flag environment
	Constraints           int // per strategy
	ConstraintValues      int // per constraint
	ConstraintValueLength int // characters per constraint value
	Environments          int // per service
	Tags                  int // per flag
	StrategySegments      int // per strategy
	SegmentValues         int // per segment, over all its constraints
	ContextFields         int // per service
}

// MaxFlagSize is the largest size of a flag in bytes: an item of the store cannot be larger.
const MaxFlagSize = 400 << 10

// The largest numbers of entries in lists that are returned whole. Each list is also limited in bytes, see wire.CheckListSize.
const (
	MaxProjects  = 2_000
	MaxSegments  = 1_000
	MaxFavorites = 200 // flags and projects that one caller marked as favorites
)

// DefaultLimits returns the limits of a deployment that sets none.
func DefaultLimits() Limits {
	return Limits{Strategies: 30, Constraints: 30, ConstraintValues: 250, ConstraintValueLength: 100, Environments: 50, Tags: 30,
		StrategySegments: 5, SegmentValues: 1000, ContextFields: 100}
}

// ParseLimits returns the default limits with those that a text such as "strategies=50,tags=40" names.
func ParseLimits(text string) (Limits, error) {
	limits := DefaultLimits()
	byName := map[string]*int{
		"strategies": &limits.Strategies, "constraints": &limits.Constraints, "constraintValues": &limits.ConstraintValues,
		"constraintValueLength": &limits.ConstraintValueLength, "environments": &limits.Environments, "tags": &limits.Tags,
		"strategySegments": &limits.StrategySegments, "segmentValues": &limits.SegmentValues, "contextFields": &limits.ContextFields,
	}
	if text == "" {
		return limits, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		limit := byName[name]
		if limit == nil {
			return limits, fmt.Errorf("there is no limit %q; the limits are %s", name, strings.Join(slices.Sorted(maps.Keys(byName)), ", "))
		}
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return limits, fmt.Errorf("the limit %s is %q; it must be a whole number above 0, as in %[1]s=50", name, value)
		}
		*limit = n
	}
	return limits, nil
}
