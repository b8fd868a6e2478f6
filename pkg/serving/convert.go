package serving

import (
	"slices"

	"guidon/pkg/evaluate"
	"guidon/pkg/flags"
)

// newEvaluateFlag returns a flag as the evaluator takes it, with its configuration in one environment. A disabled flag is off
// with any strategies, so they are left out to save memory, and so are disabled strategies.
func newEvaluateFlag(f *flags.Feature, fe flags.FeatureEnvironment, enabled bool) evaluate.Flag {
	if !enabled {
		return evaluate.Flag{Name: f.Name, ImpressionData: f.ImpressionData}
	}
	fe.Strategies = slices.DeleteFunc(slices.Clone(fe.Strategies), func(s flags.Strategy) bool { return s.Disabled })
	return f.ForEvaluation(fe, true)
}
