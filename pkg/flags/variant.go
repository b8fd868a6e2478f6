package flags

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
