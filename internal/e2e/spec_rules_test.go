package e2e

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// This file says by itself what the contract makes of a flag of the specification: what it refuses, and how what it
// takes is read back. None of it comes from the product.

// A fault is why a strategy is refused, and where in the body the answer has to point.
type fault struct{ reason, path string }

// Why flags are not loaded as they are.
const (
	badName      = "refused: a name that is not URL-friendly"
	badType      = "strategy refused: a strategy type that is not defined"
	badOperator  = "strategy refused: an operator beyond the fifteen"
	noValues     = "strategy refused: IN or NOT_IN without values"
	badSemver    = "strategy refused: a version that is not a full semver"
	hasSegments  = "strategy refused, then loaded without its segments"
	bareVariants = "strategy refused, then loaded with the weightType and stickiness that its variants lack"
)

// says is a part of the message that makes each 400 clear: what would be right.
var says = map[string]string{
	badName:      "use only A-Z",
	badType:      "one of default, flexibleRollout, userWithId",
	badOperator:  "one of NOT_IN, IN, STR_ENDS_WITH",
	noValues:     "at least one value",
	badSemver:    "full semantic version, such as 1.2.3",
	hasSegments:  "there is no segment",
	noParent:     "there is no flag",
	twoLevels:    "there is only one level",
	bareVariants: "is required",
}

// final tells whether nothing of a strategy with the fault can be loaded; one without a final fault can be mended.
func (f fault) final() bool { return f.reason != hasSegments && f.reason != bareVariants }

var (
	strategyTypes = []string{"default", "flexibleRollout", "userWithId", "remoteAddress", "applicationHostname"}
	operators     = []string{
		"NOT_IN", "IN", "STR_ENDS_WITH", "STR_STARTS_WITH", "STR_CONTAINS", "NUM_EQ", "NUM_GT", "NUM_GTE", "NUM_LT", "NUM_LTE",
		"DATE_AFTER", "DATE_BEFORE", "SEMVER_EQ", "SEMVER_GT", "SEMVER_LT",
	}
	friendlyName = regexp.MustCompile(`^[A-Za-z0-9._~-]{1,100}$`)
	fullSemver   = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)
)

// faults are those that the contract finds in the strategy as it stands in the specification.
func (s specStrategy) faults() (faults []fault) {
	if !slices.Contains(strategyTypes, s.Name) {
		faults = append(faults, fault{badType, "/name"})
	}
	for i, c := range s.Constraints {
		at := fmt.Sprintf("/constraints/%d", i)
		switch {
		case !slices.Contains(operators, c.Operator):
			faults = append(faults, fault{badOperator, at + "/operator"})
		case (c.Operator == "IN" || c.Operator == "NOT_IN") && len(c.Values) == 0:
			faults = append(faults, fault{noValues, at + "/values"})
		case strings.HasPrefix(c.Operator, "SEMVER_") && !fullSemver.MatchString(*c.Value):
			faults = append(faults, fault{badSemver, at + "/value"})
		}
	}
	for i := range s.Segments {
		faults = append(faults, fault{hasSegments, fmt.Sprintf("/segments/%d", i)})
	}
	for i, v := range s.Variants {
		at := fmt.Sprintf("/variants/%d", i)
		if v.WeightType == nil {
			faults = append(faults, fault{bareVariants, at + "/weightType"})
		}
		if v.Stickiness == nil {
			faults = append(faults, fault{bareVariants, at + "/stickiness"})
		}
	}
	return faults
}

// mended is the strategy without those faults that are not final.
func (s specStrategy) mended() specStrategy {
	variable, standard := "variable", "default"
	s.Segments = nil
	s.Variants = slices.Clone(s.Variants)
	for i := range s.Variants {
		v := &s.Variants[i]
		if v.WeightType == nil {
			v.WeightType = &variable
		}
		if v.Stickiness == nil {
			v.Stickiness = &standard
		}
	}
	return s
}

// A terseStrategy is a strategy that leaves out what is the default.
type terseStrategy struct {
	specStrategy
	Parameters map[string]any `json:"parameters,omitzero"`
}

// terse is the same strategy in fewer words: of flexibleRollout the parameters that have their default value, and the
// group always, are left out, and the rollout is a number.
func (s specStrategy) terse() any {
	if s.Name != "flexibleRollout" {
		return s
	}
	t := terseStrategy{specStrategy: s, Parameters: map[string]any{}}
	if rollout := s.Parameters["rollout"]; rollout != "100" {
		t.Parameters["rollout"] = json.Number(rollout)
	}
	if stickiness := s.Parameters["stickiness"]; stickiness != "default" {
		t.Parameters["stickiness"] = stickiness
	}
	return t
}

// want is how the strategy is read back from a flag where it is the nth, all but its id: lists that were left out are
// empty, no title is null, disabled is false, and parameters are there.
func (s specStrategy) want(flag string, nth int) strategy {
	w := strategy{
		Name: s.Name, FeatureName: flag, SortOrder: float64(nth),
		Segments: []int{}, Constraints: []constraint{}, Variants: wantVariants(s.Variants), Parameters: map[string]string{},
	}
	for _, c := range s.Constraints {
		w.Constraints = append(w.Constraints, c.want())
	}
	for name, value := range s.Parameters {
		w.Parameters[name] = value
	}
	return w
}

// wantTerse is how a terse strategy is read back: its default parameters filled in, its group the flag's name.
func (s specStrategy) wantTerse(flag string, nth int) strategy {
	w := s.want(flag, nth)
	if s.Name == "flexibleRollout" {
		w.Parameters["groupId"] = flag
	}
	return w
}

// want is how the constraint is read back: the two switches are false and the list is empty unless given; a value that
// was not given is left out.
func (c specConstraint) want() constraint {
	w := constraint{ContextName: c.ContextName, Operator: c.Operator, Values: []string{}, Value: c.Value}
	w.Values = append(w.Values, c.Values...)
	w.CaseInsensitive = c.CaseInsensitive != nil && *c.CaseInsensitive
	w.Inverted = c.Inverted != nil && *c.Inverted
	return w
}

// wantVariants is how variants are read back: in their order, weightType and stickiness filled in, and the weight of
// 1000 shared evenly, earlier ones getting what does not divide. The specification has no fix weights.
func wantVariants(variants []specVariant) []variant {
	w := []variant{}
	for i, v := range variants {
		share := 1000 / len(variants)
		if i < 1000%len(variants) {
			share++
		}
		w = append(w, variant{
			Name: v.Name, Weight: float64(share), WeightType: or(v.WeightType, "variable"), Stickiness: or(v.Stickiness, "default"),
			Payload: v.Payload, Overrides: v.Overrides,
		})
	}
	return w
}

func or[T any](value *T, otherwise T) T {
	if value == nil {
		return otherwise
	}
	return *value
}
