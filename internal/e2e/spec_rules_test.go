package e2e

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// This file states the rules of the contract for flags of the specification, independently of the product: what is
// rejected, and how the rest is returned.

// A fault is the reason why a strategy is rejected, and the field that the response must point to.
type fault struct{ reason, path string }

// Why flags cannot be created as they are.
const (
	badName      = "refused: a name that is not URL-friendly"
	badType      = "strategy refused: a strategy type that is not defined"
	badOperator  = "strategy refused: an operator that does not exist"
	badRegex     = "strategy refused: a regular expression that RE2 does not have"
	badAddress   = "strategy refused: a value that is no IP address or network"
	noValues     = "strategy refused: IN or NOT_IN without values"
	badSemver    = "strategy refused: a version that is not a full semver"
	hasSegments  = "strategy refused, then loaded without its segments"
	bareVariants = "strategy refused, then loaded with the weightType and stickiness that its variants lack"
)

// says returns a part of the message of each 400: what would be correct.
var says = map[string]string{
	badName:      "use only A-Z",
	badType:      "one of default, flexibleRollout, userWithId",
	badOperator:  "one of NOT_IN, IN, STR_ENDS_WITH",
	badRegex:     "error parsing regexp",
	badAddress:   "an IP address or a network",
	noValues:     "at least one value",
	badSemver:    "full semantic version, such as 1.2.3",
	hasSegments:  "there is no segment",
	noParent:     "there is no flag",
	twoLevels:    "there is only one level",
	bareVariants: "is required",
}

// final reports whether a strategy with the fault cannot be corrected.
func (f fault) final() bool { return f.reason != hasSegments && f.reason != bareVariants }

var (
	strategyTypes = []string{"default", "flexibleRollout", "userWithId", "remoteAddress", "applicationHostname", "gradualRolloutUserId", "gradualRolloutSessionId", "gradualRolloutRandom"}
	operators     = []string{
		"NOT_IN", "IN", "STR_ENDS_WITH", "STR_STARTS_WITH", "STR_CONTAINS", "NUM_EQ", "NUM_GT", "NUM_GTE", "NUM_LT", "NUM_LTE",
		"DATE_AFTER", "DATE_BEFORE", "SEMVER_EQ", "SEMVER_GT", "SEMVER_LT", "SEMVER_GTE", "SEMVER_LTE", "REGEX", "IN_CIDR",
	}
	friendlyName = regexp.MustCompile(`^[A-Za-z0-9._~-]{1,100}$`)
	ipOrNetwork  = regexp.MustCompile(`^(\d+\.\d+\.\d+\.\d+|2001:db8::1?)(/\d+)?$`) // those of the specification
	fullSemver   = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)
)

func validRegex(pattern string) bool {
	_, err := regexp.Compile(pattern)
	return err == nil
}

// faults returns the faults of the strategy by the rules of the contract.
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
		case c.Operator == "REGEX" && !validRegex(*c.Value):
			faults = append(faults, fault{badRegex, at + "/value"})
		case c.Operator == "IN_CIDR":
			for n, value := range c.Values {
				if !ipOrNetwork.MatchString(value) {
					faults = append(faults, fault{badAddress, fmt.Sprintf("%s/values/%d", at, n)})
				}
			}
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

// mended returns the strategy with its faults corrected, except final ones.
func (s specStrategy) corrected() specStrategy {
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

// A terseStrategy is a strategy without default values.
type terseStrategy struct {
	specStrategy
	Parameters map[string]any `json:"parameters,omitzero"`
}

// terse returns the same strategy in a shorter form: flexibleRollout without its group and parameters with default
// values, and with the rollout as a number.
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

// want returns the strategy as in the response of a flag where it is the nth, without its id: missing lists are empty, a
// missing title is null, disabled is false, and parameters are present.
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

// wantTerse returns a terse strategy as in the response: with the default parameters, and the flag's name as its group.
func (s specStrategy) wantTerse(flag string, nth int) strategy {
	w := s.want(flag, nth)
	if s.Name == "flexibleRollout" {
		w.Parameters["groupId"] = flag
	}
	return w
}

// want returns the constraint as in the response: the two switches default to false and the list to empty; a missing value
// is left out. Dates are in UTC, with milliseconds.
func (c specConstraint) want() constraint {
	w := constraint{ContextName: c.ContextName, Operator: c.Operator, Values: []string{}, Value: c.Value}
	w.Values = append(w.Values, c.Values...)
	w.CaseInsensitive = c.CaseInsensitive != nil && *c.CaseInsensitive
	w.Inverted = c.Inverted != nil && *c.Inverted
	if strings.HasPrefix(c.Operator, "DATE_") {
		if date, err := time.Parse(time.RFC3339, or(c.Value, "")); err == nil {
			normal := date.UTC().Format("2006-01-02T15:04:05.000Z")
			w.Value = &normal
		}
	}
	return w
}

// wantVariants returns variants as in the response: in their order, with weightType and stickiness, and the weight of 1000
// divided evenly, with the remainder for the first ones. The specification has no fixed weights.
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
