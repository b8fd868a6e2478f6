package serving

import (
	"strconv"

	"guidon/pkg/evaluate"
)

// The reasons of OFREP 0.3. Its schema has no others: OpenFeature's DEFAULT is not one of them.
const (
	ofrepStatic    = "STATIC"          // the same for every context
	ofrepTargeting = "TARGETING_MATCH" // decided by the context
	ofrepSplit     = "SPLIT"           // decided by the hash of an ID, or by chance
	ofrepDisabled  = "DISABLED"        // the flag is disabled in the environment
	ofrepUnknown   = "UNKNOWN"
)

// reason returns the reason of a result in OFREP.
func (f *compiledFlag) reason(r evaluate.Reason) string {
	switch r.Kind {
	case evaluate.FlagDisabled:
		return ofrepDisabled
	case evaluate.NoStrategies:
		return f.matched[0]
	case evaluate.StrategyMatched:
		return f.matched[r.Strategy]
	case evaluate.NoStrategyMatched:
		return f.unmatched
	case evaluate.ParentUnmet:
		return ofrepTargeting
	}
	return ofrepUnknown
}

// newReasons returns the reasons of a flag: by the index of the strategy that matched, and for no match. A flag without
// strategies has the reason at index 0.
func newReasons(f *evaluate.Flag) (matched []string, unmatched string) {
	if len(f.Strategies) == 0 {
		return []string{matchReason(f, evaluate.Strategy{Name: "default"}, true)}, ofrepUnknown
	}
	unmatched = ofrepSplit
	for i, s := range f.Strategies {
		matched = append(matched, matchReason(f, s, i == 0))
		if !isRollout(s) || hasConstraints(s) {
			unmatched = ofrepTargeting
		}
	}
	return matched, unmatched
}

// matchReason returns the reason if a strategy matched. The first strategy of a flag is reached by every context.
func matchReason(f *evaluate.Flag, s evaluate.Strategy, first bool) string {
	variants := s.Variants
	if len(variants) == 0 {
		variants = f.Variants
	}
	switch {
	case isSplit(variants) || isRollout(s) && percentageOf(s) < 100:
		return ofrepSplit
	case first && len(f.Dependencies) == 0 && !hasConstraints(s) && (s.Name == "default" || isComplete(s)):
		return ofrepStatic
	}
	return ofrepTargeting
}

func hasConstraints(s evaluate.Strategy) bool { return len(s.Constraints)+len(s.Segments) > 0 }

// isSplit reports whether a list of variants has more than one that can be chosen.
func isSplit(variants []evaluate.Variant) bool {
	chosen := 0
	for _, v := range variants {
		if v.Weight > 0 || len(v.Overrides) > 0 {
			chosen++
		}
	}
	return chosen > 1
}

func isRollout(s evaluate.Strategy) bool { return rolloutParameter(s) != "" }

// rolloutParameter returns the name of the parameter that has the percentage; "" if the strategy is no rollout.
func rolloutParameter(s evaluate.Strategy) string {
	switch s.Name {
	case "flexibleRollout":
		return "rollout"
	case "gradualRolloutUserId", "gradualRolloutSessionId", "gradualRolloutRandom":
		return "percentage"
	}
	return ""
}

// isComplete reports whether a rollout takes every context, also those without the ID that others are chosen by.
func isComplete(s evaluate.Strategy) bool {
	sticky := s.Parameters["stickiness"]
	needsID := s.Name != "gradualRolloutRandom" && (s.Name != "flexibleRollout" || sticky != "" && sticky != "default" && sticky != "random")
	return isRollout(s) && percentageOf(s) >= 100 && !needsID
}

// percentageOf returns the percentage of a rollout, or 0 if it is invalid.
func percentageOf(s evaluate.Strategy) float64 {
	percentage, err := strconv.ParseFloat(s.Parameters[rolloutParameter(s)], 64)
	if err != nil {
		return 0
	}
	return percentage
}
