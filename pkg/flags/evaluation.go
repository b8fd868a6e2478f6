package flags

import (
	"slices"

	"guidon/pkg/evaluate"
)

// EnabledForApplications reports whether applications get the flag as enabled in env. They evaluate an enabled flag without
// strategies as on for everyone, so a flag whose strategies are all disabled is disabled for them.
func (f *Feature) EnabledForApplications(env ProjectEnvironment) bool {
	return f.Enabled(env) && slices.ContainsFunc(f.In(env).Strategies, func(s Strategy) bool { return !s.Disabled })
}

// ForEvaluation returns the flag as the evaluator takes it, with its configuration in one environment.
func (f *Feature) ForEvaluation(fe FeatureEnvironment, enabled bool) evaluate.Flag {
	result := evaluate.Flag{Name: f.Name, Enabled: enabled, ImpressionData: f.ImpressionData, Variants: variantsForEvaluation(fe.Variants)}
	for _, s := range fe.Strategies {
		result.Strategies = append(result.Strategies, evaluate.Strategy{
			Name: s.Name, Parameters: s.Parameters, Segments: s.Segments, Disabled: s.Disabled,
			Constraints: ConstraintsForEvaluation(s.Constraints), Variants: variantsForEvaluation(s.Variants),
		})
	}
	for _, d := range f.Dependencies {
		result.Dependencies = append(result.Dependencies, evaluate.Dependency{Feature: d.Feature, Enabled: &d.Enabled, Variants: d.Variants})
	}
	return result
}

// ConstraintsForEvaluation returns constraints of a strategy or segment as the evaluator takes them.
func ConstraintsForEvaluation(list []Constraint) []evaluate.Constraint {
	if len(list) == 0 {
		return nil
	}
	result := make([]evaluate.Constraint, len(list))
	for i, c := range list {
		result[i] = evaluate.Constraint{
			ContextName: c.ContextName, Operator: string(c.Operator), Value: valueOrEmpty(c.Value), Values: c.Values,
			CaseInsensitive: c.CaseInsensitive, Inverted: c.Inverted,
		}
	}
	return result
}

func variantsForEvaluation(list []Variant) []evaluate.Variant {
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
