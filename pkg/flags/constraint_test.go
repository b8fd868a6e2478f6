package flags

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"guidon/pkg/evaluate"
)

// paths returns the paths of the problems, for tests that do not compare messages.
func paths(problems Problems) []string {
	at := []string{}
	for _, d := range problems {
		at = append(at, d.Path)
	}
	return at
}

func one(value string) *string { return &value }

// TestEverythingAcceptedIsEvaluated compares the operators, built-in strategies and context fields of the domain with those of the
// evaluator. If the evaluator lacked one, the flags that use it would be off for everyone.
func TestEverythingAcceptedIsEvaluated(t *testing.T) {
	var accepted, builtIn []string
	for _, operator := range Operators() {
		accepted = append(accepted, string(operator))
	}
	for _, builtInType := range builtInTypes {
		builtIn = append(builtIn, builtInType.Name)
	}
	slices.Sort(accepted)
	slices.Sort(builtIn)
	if evaluated := evaluate.Operators(); !slices.Equal(accepted, evaluated) {
		t.Errorf("the domain has the operators %v, and the evaluator %v", accepted, evaluated)
	}
	if evaluated := evaluate.Strategies(); !slices.Equal(builtIn, evaluated) {
		t.Errorf("the domain has the built-in strategies %v, and the evaluator %v", builtIn, evaluated)
	}
	for _, field := range StandardContextFields(time.Time{}) {
		var c evaluate.Context
		if err := json.Unmarshal(fmt.Appendf(nil, `{%q: "7"}`, field.Name), &c); err != nil {
			t.Fatal(err)
		}
		set := evaluate.NewSet([]evaluate.Flag{{Name: "flag", Enabled: true, Strategies: []evaluate.Strategy{{
			Name: "flexibleRollout", Parameters: map[string]string{"rollout": "100", "stickiness": field.Name},
			Constraints: []evaluate.Constraint{{ContextName: field.Name, Operator: "IN", Values: []string{"7"}}},
		}}}}, nil)
		if !set.Evaluate("flag", &c).Enabled {
			t.Errorf("the evaluator does not find the context field %s", field.Name)
		}
	}
}

// TestNormalizedAddresses checks that blanks around addresses are removed, and that the list of the caller stays.
func TestNormalizedAddresses(t *testing.T) {
	sent := []string{" 10.0.0.0/8\t", "::1", "\u00a0"}
	got := Constraint{ContextName: "c", Operator: "IN_CIDR", Values: sent}.Normalized()
	if want := []string{"10.0.0.0/8", "::1", ""}; !slices.Equal(got.Values, want) || sent[0] != " 10.0.0.0/8\t" {
		t.Errorf("got %q from %q, want %q", got.Values, sent, want)
	}
	if got := (Constraint{ContextName: "c", Operator: "IN", Values: sent}).Normalized(); !slices.Equal(got.Values, sent) {
		t.Errorf("%s: got %q, want %q", "IN", got.Values, sent)
	}
}

// TestNormalizedConstraint checks the forms of values that SDKs built on Yggdrasil read. What is invalid stays, so that Check refuses it.
func TestNormalizedConstraint(t *testing.T) {
	for operator, values := range map[Operator]map[string]string{
		"NUM_GT": {".5": "0.5", "-.5": "-0.5", "5.": "5", "+1": "1", "+.5e3": "0.5e3", "5.e3": "5e3", "-12.5e3": "-12.5e3", "1234567890123456789": "1234567890123456789",
			"": "", ".": ".", "abc": "abc", "1..2": "1..2", "--1": "--1"},
		"DATE_AFTER": {"2026-01-31": "2026-01-31T00:00:00.000Z", "2026-01-31T12:00": "2026-01-31T12:00:00.000Z", "2026-01-31T12:00Z": "2026-01-31T12:00:00.000Z",
			"2026-01-31T12:00:01": "2026-01-31T12:00:01.000Z", "2026-01-31T12:00:01+02:00": "2026-01-31T10:00:01.000Z", "2026-01-31T12:00:01.123456789Z": "2026-01-31T12:00:01.123Z",
			"2026-01-31T12:00:01.123Z": "2026-01-31T12:00:01.123Z", "0000-01-01T00:00:00+01:00": "0000-01-01T00:00:00+01:00", "2026-02-30": "2026-02-30", "soon": "soon", "": ""},
		"SEMVER_EQ": {"1.2.3": "1.2.3"}, "REGEX": {".5": ".5"}, "IN": {".5": ".5"},
	} {
		for value, want := range values {
			if got := *(Constraint{Operator: operator, Value: &value}).Normalized().Value; got != want {
				t.Errorf("%s %q: got %q, want %q", operator, value, got, want)
			}
		}
	}
}

func TestConstraintCheck(t *testing.T) {
	limits := DefaultLimits()
	limits.ConstraintValues, limits.ConstraintValueLength = 3, 5
	tests := []struct {
		name       string
		constraint Constraint
		want       []string // paths of the problems
		message    string   // part of the first one
	}{
		{"a list", Constraint{ContextName: "c", Operator: "IN", Values: []string{"a", "b"}}, nil, ""},
		{"an empty string in a list that is not used", Constraint{ContextName: "c", Operator: "NUM_EQ", Value: one("1"), Values: []string{""}}, nil, ""},
		{"an unused value", Constraint{ContextName: "c", Operator: "NOT_IN", Values: []string{"a"}, Value: one("")}, nil, ""},
		{"one value", Constraint{ContextName: "c", Operator: "NUM_EQ", Value: one("1")}, nil, ""},
		{"an unused list", Constraint{ContextName: "c", Operator: "NUM_EQ", Value: one("1"), Values: []string{"a"}}, nil, ""},
		{"as many values as allowed", Constraint{ContextName: "c", Operator: "IN", Values: []string{"a", "b", "c"}}, nil, ""},
		{"values as long as allowed", Constraint{ContextName: "c", Operator: "IN", Values: []string{"ééééé"}}, nil, ""},
		{"a value as long as allowed", Constraint{ContextName: "c", Operator: "SEMVER_EQ", Value: one("1.2.3")}, nil, ""},

		{"nothing", Constraint{}, []string{"/contextName", "/operator"}, "required"},
		{"no operator", Constraint{ContextName: "c"}, []string{"/operator"}, "must be one of NOT_IN, IN, STR_ENDS_WITH"},
		{"another operator", Constraint{ContextName: "c", Operator: "EQ"}, []string{"/operator"}, "SEMVER_LT"},
		{"an operator in lower case", Constraint{ContextName: "c", Operator: "in"}, []string{"/operator"}, "IN"},
		{"an empty string in a list", Constraint{ContextName: "c", Operator: "NOT_IN", Values: []string{"a", ""}}, []string{"/values/1"}, "matches no context"},
		{"a double quote in the field", Constraint{ContextName: `a"b`, Operator: "IN", Values: []string{`"`}}, []string{"/contextName"}, "must not contain a double quote"},
		{"no list", Constraint{ContextName: "c", Operator: "IN"}, []string{"/values"}, "at least one"},
		{"an empty list", Constraint{ContextName: "c", Operator: "STR_CONTAINS", Values: []string{}}, []string{"/values"}, "at least one"},
		{"one value for a list", Constraint{ContextName: "c", Operator: "STR_ENDS_WITH", Value: one("a")}, []string{"/values"}, "list"},
		{"too many values", Constraint{ContextName: "c", Operator: "IN", Values: make([]string, 4)}, []string{"/values"}, "at most 3 values, but has 4"},
		{"too many unused values", Constraint{ContextName: "c", Operator: "NUM_EQ", Value: one("1"), Values: make([]string, 4)}, []string{"/values"}, "at most 3"},
		{"values too long", Constraint{ContextName: "c", Operator: "IN", Values: []string{"abcdef", "a", "éééééé"}}, []string{"/values/0", "/values/2"}, "at most 5 characters, but has 6"},
		{"an unused value too long", Constraint{ContextName: "c", Operator: "NUM_EQ", Value: one("1"), Values: []string{"a", "abcdef"}}, []string{"/values/1"}, "at most 5"},
		{"no value", Constraint{ContextName: "c", Operator: "NUM_GT"}, []string{"/value"}, "the value of NUM_GT must be a decimal number"},
		{"a list for one value", Constraint{ContextName: "c", Operator: "SEMVER_GT", Values: []string{"1.2.3"}}, []string{"/value"}, `with "value"`},
		{"a value too long", Constraint{ContextName: "c", Operator: "NUM_LT", Value: one("123456")}, []string{"/value"}, "at most 5 characters, but has 6"},
		{"a value of another kind", Constraint{ContextName: "c", Operator: "DATE_AFTER", Value: one("soon")}, []string{"/value"}, "ISO 8601"},
		{"addresses", Constraint{ContextName: "c", Operator: "IN_CIDR", Values: []string{"::1", "::/0"}}, nil, ""},
		{"no addresses", Constraint{ContextName: "c", Operator: "IN_CIDR"}, []string{"/values"}, "at least one"},
		{"what is no address", Constraint{ContextName: "c", Operator: "IN_CIDR", Values: []string{"::1", "10.x", ""}}, []string{"/values/1", "/values/2"}, "must be an IP address or a network, such as 10.0.0.1"},
		{"an address too long", Constraint{ContextName: "c", Operator: "IN_CIDR", Values: []string{"10.0.0.1"}}, []string{"/values/0"}, "at most 5 characters"},
		{"too many addresses", Constraint{ContextName: "c", Operator: "IN_CIDR", Values: make([]string, 4)}, []string{"/values"}, "at most 3 values"},
		{"an invalid expression", Constraint{ContextName: "c", Operator: "REGEX", Value: one("(a")}, []string{"/value"}, "syntax of RE2 for the operator REGEX: error parsing regexp: missing closing )"},
		{"an empty expression", Constraint{ContextName: "c", Operator: "REGEX", Value: one("")}, []string{"/value"}, "it is empty"},
		{"a list for an expression", Constraint{ContextName: "c", Operator: "REGEX", Values: []string{"a"}}, []string{"/value"}, `with "value"`},
		{"many faults", Constraint{Operator: "NUM_LTE", Value: one("x"), Values: []string{"abcdef"}}, []string{"/contextName", "/values/0", "/value"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p Problems
			tt.constraint.Check("/constraints/7", limits, &p)
			want := []string{}
			for _, path := range tt.want {
				want = append(want, "/constraints/7"+path)
			}
			if got := paths(p); !slices.Equal(got, want) {
				t.Fatalf("faults at %q, want %q: %v", got, want, p)
			}
			if len(p) > 0 && !strings.Contains(p[0].Message, tt.message) {
				t.Errorf("message %q, want %q in it", p[0].Message, tt.message)
			}
		})
	}
}

// TestConstraintValueTypes checks valid and invalid values for each operator that compares with one value.
func TestConstraintValueTypes(t *testing.T) {
	kinds := map[ValueKind]struct{ good, bad []string }{
		Number: {
			[]string{"0", "5", "-5", "+5", "5.5", ".5", "007", "1e3", "1E-3", "9007199254740993"},
			[]string{"", "abc", "NaN", "nan", "Inf", "-Inf", "infinity", "0x10", "0x1p-2", "1_000", "1,5", " 5", "5 ", "1e999", "-", "1.2.3", "e5", "٣"},
		},
		Date: {
			[]string{
				"2026-01-31", "2024-02-29", "2026-01-31T12:00", "2026-01-31T12:00Z", "2026-01-31T12:00:30",
				"2026-01-31T12:00:30Z", "2026-01-31T12:00:30.123", "2026-01-31T12:00:30.123456789Z",
				"2026-01-31T12:00:30+02:00", "2026-01-31T12:00-23:59", "2026-01-31T12:00:30.5-05:30",
			},
			[]string{
				"", "today", "2026", "2026-01", "2026-1-31", "2026-02-30", "2025-02-29", "2026-13-01", "31.01.2026",
				"20260131", "2026-01-31T", "2026-01-31T12", "2026-01-31T1:00", "2026-01-31T24:00", "2026-01-31T12:60",
				"2026-01-31T12:00:60Z", "2026-01-31T12:00:30,5Z", "2026-01-31T12:00:30.", "2026-01-31 12:00",
				"2026-01-31t12:00z", "2026-01-31Z", "2026-01-31T12:00:30+24:00", "2026-01-31T12:00:30+02:60",
				"2026-01-31T12:00:30 Z", "2026-01-31\n", "1767225600",
			},
		},
		Pattern: {
			[]string{"a", "^user\\d{3}$", "(?i)^abc$", "^[^@]+@example\\.com$", "[[:alpha:]]+", "(foo|fo)", "^a.*?b$", "\\p{Greek}", "ä"},
			[]string{"", "(", "a(?=b)", "(a)\\1", "a**", "[", "\\", "(a{1,30}){1,30}", "a{1001}", "(?<!a)b", "\\p{Nonsense}"},
		},
		Version: {
			[]string{"0.0.0", "1.2.3", "1.2.3-rc.1", "1.2.3+build.5", "1.2.3-rc.1+build.5", "10.20.30"},
			[]string{"", "1", "1.2", "v1.2.3", "1.2.3.4", "01.2.3", "1.2.3-", "1.2.x", " 1.2.3", "latest", "-1.2.3", "1.2.3-01"},
		},
	}
	for _, operator := range Operators() {
		if kind := kinds[operator.Kind()]; !operator.Kind().IsList() {
			check := func(value string) Problems {
				var p Problems
				Constraint{ContextName: "c", Operator: operator, Value: &value}.Check("", DefaultLimits(), &p)
				return p
			}
			for _, value := range kind.good {
				t.Run(fmt.Sprintf("%s takes %q", operator, value), func(t *testing.T) {
					if p := check(value); len(p) > 0 {
						t.Errorf("got %v, want no fault", p)
					}
				})
			}
			for _, value := range kind.bad {
				t.Run(fmt.Sprintf("%s refuses %q", operator, value), func(t *testing.T) {
					if got, want := paths(check(value)), []string{"/value"}; !slices.Equal(got, want) {
						t.Errorf("faults at %q, want %q", got, want)
					}
				})
			}
		}
	}
}

// TestRegexCase checks that an expression is checked as it will be evaluated: with or without case.
func TestRegexCase(t *testing.T) {
	expression := `[b-\x{FFFF}][b-\x{FFFF}][b-\x{FFFF}]`
	for caseInsensitive, want := range map[bool][]string{false: nil, true: {"/c/value"}} {
		var p Problems
		Constraint{ContextName: "c", Operator: "REGEX", Value: &expression, CaseInsensitive: caseInsensitive}.Check("/c", DefaultLimits(), &p)
		if got := paths(p); !slices.Equal(got, want) {
			t.Errorf("case-insensitive %t: faults at %q, want %q: %v", caseInsensitive, got, want, p)
		}
	}
}
