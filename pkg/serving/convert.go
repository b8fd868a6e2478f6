package serving

import (
	"guidon/pkg/evaluate"
	"guidon/pkg/flags"
)

// newEvaluateFlag returns a flag as the evaluator takes it, with its configuration in one environment. A disabled flag is off
// with any strategies, so they are left out.
func newEvaluateFlag(f *flags.Feature, fe flags.FeatureEnvironment, enabled bool) evaluate.Flag {
	result := evaluate.Flag{Name: f.Name, Enabled: enabled, ImpressionData: f.ImpressionData}
	if !enabled {
		return result
	}
	for _, s := range fe.Strategies {
		if s.Disabled {
			continue
		}
		result.Strategies = append(result.Strategies, evaluate.Strategy{
			Name: s.Name, Parameters: s.Parameters, Segments: s.Segments,
			Constraints: newEvaluateConstraints(s.Constraints), Variants: newEvaluateVariants(s.Variants),
		})
	}
	result.Variants = newEvaluateVariants(fe.Variants)
	for _, d := range f.Dependencies {
		result.Dependencies = append(result.Dependencies, evaluate.Dependency{Feature: d.Feature, Enabled: &d.Enabled, Variants: d.Variants})
	}
	return result
}

func newEvaluateConstraints(list []flags.Constraint) []evaluate.Constraint {
	if len(list) == 0 {
		return nil
	}
	result := make([]evaluate.Constraint, len(list))
	for i, c := range list {
		result[i] = evaluate.Constraint{
			ContextName: c.ContextName, Operator: string(c.Operator), Values: c.Values, CaseInsensitive: c.CaseInsensitive, Inverted: c.Inverted,
		}
		if c.Value != nil {
			result[i].Value = *c.Value
		}
	}
	return result
}

func newEvaluateVariants(list []flags.Variant) []evaluate.Variant {
	if len(list) == 0 {
		return nil
	}
	result := make([]evaluate.Variant, len(list))
	for i, v := range list {
		result[i] = evaluate.Variant{Name: v.Name, Weight: int(v.Weight), Stickiness: v.Stickiness}
		if v.Payload != nil {
			result[i].Payload = &evaluate.Payload{Type: v.Payload.Type, Value: v.Payload.Value}
		}
		for _, o := range v.Overrides {
			result[i].Overrides = append(result[i].Overrides, evaluate.Override{ContextName: o.ContextName, Values: o.Values})
		}
	}
	return result
}
