package evaluate

// The input types have the fields and the JSON names of GET /api/client/features, so an answer of that endpoint can be
// decoded into them.

// A Flag is a feature flag as one environment has it.
type Flag struct {
	Name           string       `json:"name"`
	Enabled        bool         `json:"enabled"`
	ImpressionData bool         `json:"impressionData"`
	Strategies     []Strategy   `json:"strategies"` // none that is not disabled: on for everyone if Enabled
	Variants       []Variant    `json:"variants"`
	Dependencies   []Dependency `json:"dependencies"`
}

// A Strategy turns a flag on for some contexts: for those that satisfy all constraints, all constraints of all segments
// and the rule that Name stands for.
type Strategy struct {
	Name        string            `json:"name"`
	Parameters  map[string]string `json:"parameters"`
	Segments    []int64           `json:"segments"`
	Constraints []Constraint      `json:"constraints"`
	Variants    []Variant         `json:"variants"` // take precedence over the variants of the flag

	// Disabled strategies are ignored, as if they were left out. A Trace shows them.
	Disabled bool `json:"-"`
}

// A Constraint compares a field of the context with its value or values.
type Constraint struct {
	ContextName     string   `json:"contextName"`
	Operator        string   `json:"operator"`
	Value           string   `json:"value"`  // of the operators NUM_, DATE_, SEMVER_ and REGEX
	Values          []string `json:"values"` // of IN, NOT_IN, STR_ and IN_CIDR
	CaseInsensitive bool     `json:"caseInsensitive"`
	Inverted        bool     `json:"inverted"`
}

// A Segment is a list of constraints that several strategies share.
type Segment struct {
	ID          int64        `json:"id"`
	Constraints []Constraint `json:"constraints"`
}

// A Variant is one of the values that an enabled flag can have.
type Variant struct {
	Name       string     `json:"name"`
	Weight     int        `json:"weight"`     // relative to the sum of the weights in the list
	Stickiness string     `json:"stickiness"` // that of the first variant counts for the list
	Payload    *Payload   `json:"payload"`
	Overrides  []Override `json:"overrides"`
}

// A Payload is what the application gets with a variant.
type Payload struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

// An Override gives a variant to certain values of a context field, whatever the weights are.
type Override struct {
	ContextName string   `json:"contextName"`
	Values      []string `json:"values"`
}

// A Dependency requires another flag, the parent, to be on or off. A parent cannot have parents.
type Dependency struct {
	Feature  string   `json:"feature"`
	Enabled  *bool    `json:"enabled"`  // nil means true
	Variants []string `json:"variants"` // the parent must have one of these; empty for any. Only for an enabled parent
}
