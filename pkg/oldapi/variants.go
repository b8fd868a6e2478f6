package oldapi

import (
	"strconv"

	"guidon/pkg/flags"
	"guidon/pkg/shape"
)

// A variantBody is a variant of a flag's environment as it comes in.
type variantBody struct {
	Name       string             `json:"name"`
	Weight     maybe[float64]     `json:"weight"`
	WeightType maybe[string]      `json:"weightType"`
	Stickiness maybe[string]      `json:"stickiness"`
	Payload    maybe[payloadBody] `json:"payload"`
	Overrides  []overrideBody     `json:"overrides"`
}

type payloadBody struct {
	Type  string        `json:"type"`
	Value maybe[string] `json:"value"`
}

type overrideBody struct {
	ContextName string          `json:"contextName"`
	Values      maybe[[]string] `json:"values"`
}

// checkMembers finds what is missing.
func (b variantBody) checkMembers(path string, problems *flags.Problems) {
	if !b.Weight.Set {
		problems.Add(path+"/weight", "is required")
	}
	if b.Payload.Set && !b.Payload.Value.Value.Set {
		problems.Add(path+"/payload/value", "is required")
	}
	for i, o := range b.Overrides {
		if !o.Values.Set {
			problems.Add(path+"/overrides/"+strconv.Itoa(i)+"/values", "is required")
		}
	}
}

func (b variantBody) variant() flags.Variant {
	v := flags.Variant{
		Name: b.Name, Weight: b.Weight.Value, WeightType: flags.WeightType(b.WeightType.or(string(flags.Variable))),
		Stickiness: b.Stickiness.or("default"),
		Overrides: each(b.Overrides, func(o overrideBody) flags.Override {
			return flags.Override{ContextName: o.ContextName, Values: o.Values.Value}
		}),
	}
	if b.Payload.Set {
		v.Payload = &flags.Payload{Type: b.Payload.Value.Type, Value: b.Payload.Value.Value.Value}
	}
	return v
}

// A strategyVariantBody is a variant of a strategy as it comes in (contract: Strategy-level variant).
type strategyVariantBody struct{ variantBody }

func (b strategyVariantBody) checkMembers(path string, problems *flags.Problems) {
	b.variantBody.checkMembers(path, problems)
	if !b.WeightType.Set {
		problems.Add(path+"/weightType", "is required")
	}
	if !b.Stickiness.Set {
		problems.Add(path+"/stickiness", "is required")
	}
}

// A variantView is a variant in an answer (contract: Variant).
type variantView = shape.Variant

func variantViews(variants []flags.Variant) []variantView { return shape.Variants(variants) }

// each maps a list.
func each[A, B any](list []A, f func(A) B) []B {
	out := make([]B, len(list))
	for i, a := range list {
		out[i] = f(a)
	}
	return out
}
