package flags

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"guidon/pkg/evaluate"
)

// A Constraint limits a strategy to contexts that satisfy it (contract: Constraint).
type Constraint struct {
	ContextName     string   `json:"contextName"`
	Operator        Operator `json:"operator"`
	Values          []string `json:"values,omitempty"` // for operators that compare with a list
	Value           *string  `json:"value,omitzero"`   // for operators that compare with one value
	CaseInsensitive bool     `json:"caseInsensitive,omitzero"`
	Inverted        bool     `json:"inverted,omitzero"`
}

// Normalized returns the constraint with its value in the form that every SDK reads: 0.5 for .5, dates in UTC with milliseconds, and
// addresses without blanks. SDKs built on Yggdrasil (Java, Python, Rust, Unleash Edge) switch a flag off if they cannot read one of its
// values.
func (c Constraint) Normalized() Constraint {
	if c.Operator.Kind() == Addresses {
		c.Values = trimmed(c.Values)
	}
	if c.Value == nil {
		return c
	}
	if normal := c.Operator.Kind().rule().normal; normal != nil {
		value := normal(*c.Value)
		c.Value = &value
	}
	return c
}

// trimmed returns texts without blanks around them. It does not change the list.
func trimmed(list []string) []string {
	if !slices.ContainsFunc(list, func(s string) bool { return s != strings.TrimSpace(s) }) {
		return list
	}
	list = slices.Clone(list)
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}

// Check adds all problems of the constraint, at paths below path.
func (c Constraint) Check(path string, limits Limits, p *Problems) {
	if c.ContextName == "" {
		p.Add(path+"/contextName", "is required")
	}
	CheckLength(path+"/contextName", c.ContextName, MaxIdentifier, p)
	checkQuote(path+"/contextName", c.ContextName, p)
	c.checkSizes(path, limits, p)
	switch kind := c.Operator.Kind(); {
	case kind == "":
		p.Add(path+"/operator", "must be one of %s", CommaList(Operators()))
	case !kind.IsList():
		c.checkValue(path, kind.rule(), limits, p)
	case len(c.Values) == 0:
		p.Add(path+"/values", "must have at least one value: %s compares with a list", c.Operator)
	case len(c.Values) <= limits.ConstraintValues:
		c.checkList(path, limits, p)
	}
}

// checkList adds a problem for each value that is not an address, or is empty. The evaluator would ignore it.
func (c Constraint) checkList(path string, limits Limits, p *Problems) {
	for i, value := range c.Values {
		switch at := path + "/values/" + strconv.Itoa(i); {
		case c.Operator.Kind() == Addresses && utf8.RuneCountInString(value) <= limits.ConstraintValueLength && !evaluate.ValidAddress(value):
			p.Add(at, "must be an IP address or a network, such as 10.0.0.1, 10.0.0.0/8 or 2001:db8::/32")
		case value == "":
			p.Add(at, emptyValue)
		}
	}
}

const emptyValue = "must not be empty: an empty value matches no context"

// checkQuote adds a problem if a text has a double quote. SDKs built on Yggdrasil cannot read the strategy then.
func checkQuote(path, text string, p *Problems) {
	if strings.Contains(text, `"`) {
		p.Add(path, "must not contain a double quote: several SDKs would switch the flag off")
	}
}

// checkSizes applies to every operator, because a field that the operator ignores is stored too.
func (c Constraint) checkSizes(path string, limits Limits, p *Problems) {
	if c.Value != nil {
		CheckLength(path+"/value", *c.Value, limits.ConstraintValueLength, p)
	}
	if n := len(c.Values); n > limits.ConstraintValues {
		p.Add(path+"/values", "must have at most %d values, but has %d", limits.ConstraintValues, n)
		return // do not check each value of a list that is refused
	}
	for i, v := range c.Values {
		CheckLength(path+"/values/"+strconv.Itoa(i), v, limits.ConstraintValueLength, p)
	}
}

func (c Constraint) checkValue(path string, kind valueRule, limits Limits, p *Problems) {
	path += "/value"
	switch {
	case c.Value == nil && len(c.Values) > 0:
		p.Add(path, `is required: %s compares with "value", which must be %s, and ignores "values"`, c.Operator, kind.description)
	case c.Value == nil:
		p.Add(path, "is required: the value of %s must be %s", c.Operator, kind.description)
	case utf8.RuneCountInString(*c.Value) > limits.ConstraintValueLength: // see checkSizes
	default:
		if fault := c.regexFault(); fault != "" || !kind.valid(*c.Value) {
			p.Add(path, "must be %s for the operator %s%s", kind.description, c.Operator, fault)
		}
	}
}

// regexFault says why the value of the operator REGEX cannot be evaluated, after a colon. It is "" for other operators.
func (c Constraint) regexFault() string {
	if c.Operator.Kind() != Pattern {
		return ""
	}
	if *c.Value == "" {
		return ": it is empty" // it would match everyone
	}
	if _, _, err := evaluate.CompileRegex(*c.Value, c.CaseInsensitive); err != nil {
		return ": " + err.Error()
	}
	return ""
}

// isNumber reports whether s is a finite decimal number. ParseFloat alone also accepts hexadecimal numbers, NaN
// and Inf.
func isNumber(s string) bool {
	if strings.ContainsFunc(s, func(r rune) bool { return !strings.ContainsRune("0123456789+-.eE", r) }) {
		return false
	}
	n, err := strconv.ParseFloat(s, 64)
	return err == nil && !math.IsInf(n, 0)
}

// datePattern is stricter than time.Parse, which accepts hours of one digit, a comma before the fraction and
// offsets of a whole day. SDKs in other languages cannot parse those, and the constraint would never match. It is compiled
// when it is first used, not at the start of each function.
var datePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)?)?$`)
})

// dateLayouts are the forms that datePattern accepts. time.Parse accepts a fraction after the seconds in all of
// them.
var dateLayouts = []string{
	"2006-01-02", "2006-01-02T15:04", "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04:05Z07:00",
}

// isDate reports whether s is an ISO 8601 date or date-time that exists in the calendar, with or without a time
// zone.
func isDate(s string) bool {
	return datePattern().MatchString(s) && slices.ContainsFunc(dateLayouts, func(layout string) bool {
		_, err := time.Parse(layout, s)
		return err == nil
	})
}

// normalNumber returns a number without a plus sign, and without a point at the start or end.
func normalNumber(s string) string {
	if !isNumber(s) {
		return s
	}
	digits := strings.TrimLeft(s, "+-")
	mantissa, exponent := digits, ""
	if i := strings.IndexAny(digits, "eE"); i >= 0 {
		mantissa, exponent = digits[:i], digits[i:]
	}
	if mantissa = strings.TrimSuffix(mantissa, "."); mantissa[0] == '.' {
		mantissa = "0" + mantissa
	}
	if s[0] == '-' {
		mantissa = "-" + mantissa
	}
	return mantissa + exponent
}

const normalLayout = "2006-01-02T15:04:05.000Z"

// normalDate returns a date as 2026-01-31T00:00:00.000Z. One without a time zone is in UTC. Only years of four digits have this form.
func normalDate(s string) string {
	if len(s) == len(normalLayout) && s[len(s)-1] == 'Z' || !isDate(s) {
		return s
	}
	for _, layout := range dateLayouts {
		if date, err := time.Parse(layout, s); err == nil {
			if normal := date.UTC().Format(normalLayout); isDate(normal) {
				return normal
			}
		}
	}
	return s
}

// CommaList joins words with commas, for messages.
func CommaList[T ~string](words []T) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(w))
	}
	return b.String()
}
