package flags

// A Constraint narrows a strategy to the contexts that meet it (contract: Constraint).
type Constraint struct {
	ContextName     string
	Operator        Operator
	Values          []string // for operators that take several
	Value           *string  // for operators that take one
	CaseInsensitive bool
	Inverted        bool
}

// Operator compares a context field with a constraint's value or values.
type Operator string

// The operators.
const (
	In            Operator = "IN"
	NotIn         Operator = "NOT_IN"
	StrEndsWith   Operator = "STR_ENDS_WITH"
	StrStartsWith Operator = "STR_STARTS_WITH"
	StrContains   Operator = "STR_CONTAINS"
	NumEq         Operator = "NUM_EQ"
	NumGt         Operator = "NUM_GT"
	NumGte        Operator = "NUM_GTE"
	NumLt         Operator = "NUM_LT"
	NumLte        Operator = "NUM_LTE"
	DateAfter     Operator = "DATE_AFTER"
	DateBefore    Operator = "DATE_BEFORE"
	SemverEq      Operator = "SEMVER_EQ"
	SemverGt      Operator = "SEMVER_GT"
	SemverLt      Operator = "SEMVER_LT"
)
