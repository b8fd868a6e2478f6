package flags

import (
	"math"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/Masterminds/semver/v3"
)

// FuzzConstraint checks that SDKs understand all constraints that are accepted.
func FuzzConstraint(f *testing.F) {
	f.Fuzz(func(t *testing.T, which uint, field, value, other string, single bool) {
		c := Constraint{ContextName: field, Operator: Operators()[which%uint(len(operators))], Values: []string{value, other}}
		if single {
			c.Values, c.Value = nil, &value
		}
		var problems Problems
		c.Check("", DefaultLimits(), &problems)
		if len(problems) > 0 {
			return
		}
		limits := DefaultLimits()
		if field == "" || utf8.RuneCountInString(value) > limits.ConstraintValueLength {
			t.Errorf("%+v is taken", c)
		}
		if !single {
			return
		}
		switch c.Operator.Kind() {
		case Number:
			if n, err := strconv.ParseFloat(value, 64); err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
				t.Errorf("%q is taken for a number", value)
			}
		case Date:
			if _, err := time.Parse(time.DateOnly, value[:min(10, len(value))]); err != nil {
				t.Errorf("%q is taken for a date", value)
			}
		case Pattern:
			if _, err := regexp.Compile(value); err != nil || value == "" {
				t.Errorf("%q is taken for a regular expression", value)
			}
		case Version:
			if v, err := semver.StrictNewVersion(value); err != nil || v.Original() != value {
				t.Errorf("%q is taken for a version", value)
			}
		default:
			t.Errorf("%s takes one value", c.Operator)
		}
	})
}

// FuzzName checks that valid names need no escaping in paths and keys.
func FuzzName(f *testing.F) {
	f.Fuzz(func(t *testing.T, name string) {
		if CheckName(name) != "" {
			return
		}
		if name == "" || name == "." || name == ".." || len(name) > MaxName {
			t.Errorf("%q is a name", name)
		}
		if escaped := url.PathEscape(name); escaped != name || strings.ContainsAny(name, "$&+:=@#") {
			t.Errorf("%q is a name, and must be escaped in a path or a key", name)
		}
	})
}
