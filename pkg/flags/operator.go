package flags

import "guidon/pkg/evaluate"

// An Operator compares a context field with the value or values of a constraint.
type Operator string

// operators are all operators, in the order of messages and of the API description. A new one gets a row here and its comparison in
// pkg/evaluate; then texts in console/src/constraints/operators.ts, docs/contract.md and, if SDKs lack it, docs/reference/sdk-behavior.md.
var operators = []operatorRow{
	{"NOT_IN", Texts, nil}, {"IN", Texts, nil}, {"STR_ENDS_WITH", Texts, nil}, {"STR_STARTS_WITH", Texts, nil}, {"STR_CONTAINS", Texts, nil},
	{"NUM_EQ", Number, nil}, {"NUM_GT", Number, nil}, {"NUM_GTE", Number, nil}, {"NUM_LT", Number, nil}, {"NUM_LTE", Number, nil},
	{"DATE_AFTER", Date, nil}, {"DATE_BEFORE", Date, nil},
	{"SEMVER_EQ", Version, nil}, {"SEMVER_GT", Version, nil}, {"SEMVER_LT", Version, nil},
	{"SEMVER_GTE", Version, lackGTE}, {"SEMVER_LTE", Version, lackGTE}, {"REGEX", Pattern, lackRegex}, {"IN_CIDR", Addresses, lackGTE},
}

type operatorRow struct {
	name Operator
	kind ValueKind
	// lack maps the names of SDKs that switch off strategies with the operator to their last versions that do, as in
	// docs/reference/sdk-behavior.md.
	lack map[string]string
}

var (
	lackRegex = map[string]string{
		"unleash-client-go": "4.5.0", "unleash-go-sdk": "5.1.0", "unleash-client-java": "11.999.999",
		"unleash-client-dotnet": "6.0.999", "unleash-dotnet-sdk": "6.0.999", "unleash-client-php": "2.10.999", "unleash-php-sdk": "2.10.999",
		"unleash-client-ruby": "6.4.999", "unleash-ruby-sdk": "6.4.999",
	}
	lackGTE = map[string]string{
		"unleash-client-go": "4.5.0", "unleash-go-sdk": "5.1.0", "unleash-client-java": "12.2.999",
		"unleash-client-dotnet": "6.1.999", "unleash-dotnet-sdk": "6.1.999", "unleash-client-php": "2.10.999", "unleash-php-sdk": "2.10.999",
		"unleash-client-ruby": "6.6.999", "unleash-ruby-sdk": "6.6.999",
	}
)

// Operators returns all operators, in the order of messages.
func Operators() []Operator {
	names := make([]Operator, len(operators))
	for i, row := range operators {
		names[i] = row.name
	}
	return names
}

func (o Operator) row() operatorRow {
	for _, row := range operators {
		if row.name == o {
			return row
		}
	}
	return operatorRow{}
}

// Kind returns what the operator compares with, or "" if there is no such operator.
func (o Operator) Kind() ValueKind { return o.row().kind }

// LackedUntil returns the last version of an SDK that switches off strategies with the operator, or "" if all versions know it.
func (o Operator) LackedUntil(sdk string) string { return o.row().lack[sdk] }

// A ValueKind is what an operator compares with: the list in values, or one value of a kind.
type ValueKind string

// The kinds of values.
const (
	Texts     ValueKind = "texts"
	Addresses ValueKind = "addresses"
	Number    ValueKind = "number"
	Date      ValueKind = "date"
	Version   ValueKind = "version"
	Pattern   ValueKind = "pattern"
)

// IsList reports whether operators of the kind compare with a list.
func (k ValueKind) IsList() bool { return k == Texts || k == Addresses }

// A valueRule checks the value of an operator or parameter.
type valueRule struct {
	valid       func(string) bool
	description string
	normal      func(string) string // returns a valid value in the form that every SDK reads, and others as they are; nil for one form
}

func (k ValueKind) rule() valueRule {
	switch k {
	case Number:
		return valueRule{isNumber, "a decimal number", normalNumber}
	case Date:
		return valueRule{isDate, "an ISO 8601 date or date-time, such as 2026-01-31T00:00:00.000Z", normalDate}
	case Version:
		return valueRule{evaluate.ValidVersion, "a full semantic version, such as 1.2.3", nil}
	case Pattern:
		return valueRule{anyValue, "a regular expression in the syntax of RE2", nil}
	}
	return valueRule{}
}
