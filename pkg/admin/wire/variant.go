package wire

import (
	"strconv"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
)

// A VariantBody is a variant of a flag in a request.
type VariantBody struct {
	Name       string                      `json:"name"`
	Weight     jsonbody.Maybe[float64]     `json:"weight"`
	WeightType jsonbody.Maybe[string]      `json:"weightType"`
	Stickiness jsonbody.Maybe[string]      `json:"stickiness"`
	Payload    jsonbody.Maybe[PayloadBody] `json:"payload"`
	Overrides  []OverrideBody              `json:"overrides"`
}

// A PayloadBody is the payload of a variant in a request.
type PayloadBody struct {
	Type  string                 `json:"type"`
	Value jsonbody.Maybe[string] `json:"value"`
}

// An OverrideBody is an override of a variant in a request.
type OverrideBody struct {
	ContextName string                   `json:"contextName"`
	Values      jsonbody.Maybe[[]string] `json:"values"`
}

// CheckMembers adds a problem for each required field that is missing.
func (b VariantBody) CheckMembers(path string, problems *flags.Problems) {
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

// Variant returns the variant, with the defaults of fields that are left out.
func (b VariantBody) Variant() flags.Variant {
	v := flags.Variant{
		Name: b.Name, Weight: b.Weight.Value, WeightType: flags.WeightType(b.WeightType.Or(string(flags.Variable))),
		Stickiness: b.Stickiness.Or("default"),
		Overrides: httpapi.Each(b.Overrides, func(o OverrideBody) flags.Override {
			return flags.Override{ContextName: o.ContextName, Values: o.Values.Value}
		}),
	}
	if b.Payload.Set {
		v.Payload = &flags.Payload{Type: b.Payload.Value.Type, Value: b.Payload.Value.Value.Value}
	}
	return v
}

// A StrategyVariantBody is a variant of a strategy in a request (contract: Strategy-level variant).
type StrategyVariantBody struct{ VariantBody }

// CheckMembers adds a problem for each required field that is missing.
func (b StrategyVariantBody) CheckMembers(path string, problems *flags.Problems) {
	b.VariantBody.CheckMembers(path, problems)
	if !b.WeightType.Set {
		problems.Add(path+"/weightType", "is required")
	}
	if !b.Stickiness.Set {
		problems.Add(path+"/stickiness", "is required")
	}
}
