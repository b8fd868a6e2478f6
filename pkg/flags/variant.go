package flags

import (
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// A Variant is one of the values that an enabled flag resolves to, chosen by weight (contract: Variant).
type Variant struct {
	Name       string     `json:"name"`
	Weight     float64    `json:"weight"` // 0 to 1000; a whole number after Distribute
	WeightType WeightType `json:"weightType"`
	Stickiness string     `json:"stickiness"` // the context field that keeps a user on the same variant
	Payload    *Payload   `json:"payload,omitzero"`
	Overrides  []Override `json:"overrides,omitempty"` // not in strategy-level variants
}

// A WeightType says whether a variant's weight is fixed or a share of the rest.
type WeightType string

// The weight types.
const (
	Variable WeightType = "variable"
	Fix      WeightType = "fix"
)

// A Payload is the value of a variant: of type json, csv, string or number.
type Payload struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

// An Override gives the variant to certain values of a context field, regardless of weights.
type Override struct {
	ContextName string   `json:"contextName"`
	Values      []string `json:"values"`
}

// The maximum number of variants and overrides. All environments of a flag must also fit into one item together,
// see CheckVariantSizes.
const (
	MaxVariants       = 100   // in one environment, or in one strategy
	MaxOverrides      = 30    // of one variant
	MaxOverrideValues = 1_000 // of one override
)

// totalWeight is the sum of the weights of a list of variants (contract: Limits).
const totalWeight = 1000

// CheckVariants adds all problems of a list of variants, at paths below path: of each variant (contract:
// Variant, Payload) and of the list (contract: Variants, rules 1 and 2).
func CheckVariants(variants []Variant, path string, p *Problems) {
	if !CheckCount(path, "variants", len(variants), MaxVariants, p) {
		return
	}
	named := make(map[string]int, len(variants))
	variable, fixed := false, 0.0
	for i, v := range variants {
		at := path + "/" + strconv.Itoa(i)
		v.check(at, p)
		if first, taken := named[v.Name]; taken && v.Name != "" {
			p.Add(at+"/name", "is also the name of the variant at index %d; names must be unique", first)
		} else {
			named[v.Name] = i
		}
		switch v.WeightType {
		case Variable:
			variable = true
		case Fix:
			fixed += v.Weight
		}
	}
	if len(variants) > 0 && !variable {
		p.Add(path, "at least one variant must have the weightType %s", Variable)
	}
	if fixed >= totalWeight {
		p.Add(path, "the weights of variants with the weightType %s must add up to less than %d; they add up to %v", Fix, totalWeight, fixed)
	}
}

func (v Variant) check(path string, p *Problems) {
	if v.Name == "" {
		p.Add(path+"/name", "is required")
	}
	v.checkTexts(path, p)
	if !(v.Weight >= 0 && v.Weight <= totalWeight) { // written this way to refuse NaN
		p.Add(path+"/weight", "must be from 0 to %d, not %v", totalWeight, v.Weight)
	}
	if v.WeightType != Variable && v.WeightType != Fix {
		p.Add(path+"/weightType", "must be %s or %s", Variable, Fix)
	}
	if v.Stickiness == "" {
		p.Add(path+"/stickiness", "must not be empty")
	}
	checkIdentifier(path+"/stickiness", v.Stickiness, p)
	if v.Payload != nil {
		v.Payload.check(path+"/payload", p)
	}
	for i, o := range v.Overrides {
		o.check(path+"/overrides/"+strconv.Itoa(i), p)
	}
}

func (o Override) check(path string, p *Problems) {
	if o.ContextName == "" {
		p.Add(path+"/contextName", "is required")
	}
	checkIdentifier(path+"/contextName", o.ContextName, p)
	if i := slices.Index(o.Values, ""); i >= 0 {
		p.Add(path+"/values/"+strconv.Itoa(i), emptyValue)
	}
}

// CheckVariantSizes returns Invalid if variants of that total size (see VariantsSize) cannot fit into one flag.
// It is called before the variants are copied to several environments.
func CheckVariantSizes(size int) error {
	if size <= MaxFlagSize {
		return nil
	}
	return Errorf(Invalid, "the variants of all these environments would take more than 400 KiB, the maximum size of a flag; nothing was changed")
}

// VariantsSize returns a lower bound of the bytes that a list of variants takes in a stored flag.
func VariantsSize(variants []Variant) int {
	size := 0
	for _, v := range variants {
		size += minElementSize + len(v.Name) + len(v.Stickiness)
		if v.Payload != nil {
			size += len(v.Payload.Type) + len(v.Payload.Value)
		}
		for _, o := range v.Overrides {
			size += minElementSize + len(o.ContextName) + len(o.Values)*len(`"",`)
			for _, value := range o.Values {
				size += len(value)
			}
		}
	}
	return size
}

// minElementSize is a lower bound of the bytes that a variant or override takes in addition to its texts.
const minElementSize = 10

// check adds a problem if the value does not match the type. SDKs would otherwise fail in the application.
func (payload Payload) check(path string, p *Problems) {
	switch payload.Type {
	case "json":
		if !jsontext.Value(payload.Value).IsValid() {
			p.Add(path+"/value", "must be one JSON document, without duplicate keys, for a payload of type json")
		}
	case "number":
		if !isNumber(payload.Value) {
			p.Add(path+"/value", "must be a decimal number for a payload of type number")
		}
	case "csv", "string":
	default:
		p.Add(path+"/type", "must be one of json, csv, string, number")
	}
}

// Distribute returns a copy of the list with final weights (contract: Variants, rule 3). Weights of type fix are
// rounded down to whole numbers. The rest up to 1000 is divided among the variable ones by largest remainder:
// shares differ by at most 1, and earlier variants get the larger share. For a non-empty list that passes
// CheckVariants the total is exactly 1000.
func Distribute(variants []Variant) []Variant {
	if len(variants) == 0 {
		return nil // an empty list is the same as none, so setting it is no change
	}
	distributed := slices.Clone(variants)
	rest, sharers := totalWeight, 0
	for i := range distributed {
		v := &distributed[i]
		if v.WeightType != Fix {
			sharers++
			continue
		}
		whole := int(v.Weight)
		v.Weight = float64(whole)
		rest -= whole
	}
	for i := range distributed {
		v := &distributed[i]
		if v.WeightType != Fix {
			share := (rest + sharers - 1) / sharers // the rest, divided by the remaining variants and rounded up
			v.Weight = float64(share)
			rest, sharers = rest-share, sharers-1
		}
	}
	return distributed
}

// SetVariants sets the flag's variants in env, with their weights distributed.
func (f *Feature) SetVariants(env ProjectEnvironment, variants []Variant) {
	fe := f.In(env)
	if len(variants) == 0 && len(fe.Variants) == 0 {
		return // an empty entry would count as a change
	}
	fe.Variants = Distribute(variants)
	f.setEnvironment(env, fe)
}
