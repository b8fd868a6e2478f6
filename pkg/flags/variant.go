package flags

import (
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// A Variant is one of the values that an enabled flag resolves to, by weight (contract: Variant).
type Variant struct {
	Name       string
	Weight     float64 // 0 to 1000 as it comes in; a whole number once distributed
	WeightType WeightType
	Stickiness string // the context field that keeps a user on one variant
	Payload    *Payload
	Overrides  []Override // environment-level only
}

// WeightType says whether a variant's weight stays as given or is a share of what is left.
type WeightType string

// The weight types.
const (
	Variable WeightType = "variable"
	Fix      WeightType = "fix"
)

// A Payload is what a variant carries: json, csv, string or number.
type Payload struct {
	Type  string
	Value string
}

// An Override gives its variant to certain values of a context field, before any weight counts.
type Override struct {
	ContextName string
	Values      []string
}

// How much the variants of a flag may hold. The lists of all its environments must fit into the flag together: see
// CheckVariantSizes.
const (
	MaxVariants       = 100   // in one environment, or in one strategy
	MaxOverrides      = 30    // of one variant
	MaxOverrideValues = 1_000 // of one override
)

// totalWeight is what the weights of a list of variants add up to (contract: Limits).
const totalWeight = 1000

// CheckVariants notes every fault of a list of variants, with paths below path: those of each variant (contract:
// Variant, Payload) and those of the list (contract: Variants, rules 1 and 2).
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
			p.Add(at+"/name", "is the name of variant %d as well: names must be unique", first)
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
		p.Add(path, "the weights of variants with the weightType %s must add up to less than %d, not to %v", Fix, totalWeight, fixed)
	}
}

func (v Variant) check(path string, p *Problems) {
	if v.Name == "" {
		p.Add(path+"/name", "is required")
	}
	v.checkTexts(path, p)
	if !(v.Weight >= 0 && v.Weight <= totalWeight) { // so that NaN is a fault too
		p.Add(path+"/weight", "must be from 0 to %d, is %v", totalWeight, v.Weight)
	}
	if v.WeightType != Variable && v.WeightType != Fix {
		p.Add(path+"/weightType", "must be %s or %s", Variable, Fix)
	}
	if v.Stickiness == "" {
		p.Add(path+"/stickiness", "must not be empty")
	}
	if v.Payload != nil {
		v.Payload.check(path+"/payload", p)
	}
	for i, o := range v.Overrides {
		if o.ContextName == "" {
			p.Add(path+"/overrides/"+strconv.Itoa(i)+"/contextName", "is required")
		}
	}
}

// CheckVariantSizes returns Invalid if the variants of several environments, of which each has variants of one size (see
// VariantsSize), cannot fit into one flag. It is for finding that out before the variants are copied to each environment.
func CheckVariantSizes(size int) error {
	if size <= MaxFlagSize {
		return nil
	}
	return Errorf(Invalid, "the variants of all these environments would take more than the 400 KiB that one flag may hold; nothing was changed")
}

// VariantsSize is the least number of bytes that a flag takes for a list of variants.
func VariantsSize(variants []Variant) int {
	size := 0
	for _, v := range variants {
		size += perElement + len(v.Name) + len(v.Stickiness)
		if v.Payload != nil {
			size += len(v.Payload.Type) + len(v.Payload.Value)
		}
		for _, o := range v.Overrides {
			size += perElement + len(o.ContextName) + len(o.Values)*len(`"",`)
			for _, value := range o.Values {
				size += len(value)
			}
		}
	}
	return size
}

// perElement is less than what any variant or override takes besides its texts.
const perElement = 10

// check holds the value to its type, because an SDK that cannot read it would fail in the
// application, far from whoever wrote it.
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

// Distribute gives each variant the weight that it ends up with, in a copy of the list (contract: Variants, rule 3).
// Fix weights are rounded down to whole numbers; what they leave of 1000 is shared among the
// variable ones by largest remainder: shares differ by at most 1, and earlier variants get the larger share. The list
// must be one that CheckVariants has no fault with; the total of a non-empty one is then exactly 1000.
func Distribute(variants []Variant) []Variant {
	if len(variants) == 0 {
		return nil // so that an empty list compares equal to none, and setting it is no change
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
			share := (rest + sharers - 1) / sharers // what is left, by those who are left, rounded up
			v.Weight = float64(share)
			rest, sharers = rest-share, sharers-1
		}
	}
	return distributed
}

// SetVariants makes variants, distributed, the flag's variants in env.
func (f *Feature) SetVariants(env ProjectEnvironment, variants []Variant) {
	fe := f.In(env)
	if len(variants) == 0 && len(fe.Variants) == 0 {
		return // an entry that holds nothing would look like a change
	}
	fe.Variants = Distribute(variants)
	f.set(env, fe)
}
