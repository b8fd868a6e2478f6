package evaluate

import (
	"cmp"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

// accepted has the orders that satisfy an operator: the value of the context is less than that of the constraint, equal to
// it, or greater.
type accepted struct{ less, equal, greater bool }

// An order compares values of one kind with the value of a constraint: negative if a value is less, positive if it is greater, 0
// if they are equal. ok is false for a value that is not of that kind.
type order func(value string, now time.Time) (result int, ok bool)

type orderOperand struct {
	order    order
	accepted accepted
}

// ordered returns the function that compiles an operator. newOrder returns nil for a value that is not of its kind.
func ordered(newOrder func(Constraint) order, a accepted) func(Constraint) operand {
	return func(c Constraint) operand {
		if o := newOrder(c); o != nil {
			return orderOperand{o, a}
		}
		return nil
	}
}

func (o orderOperand) compare(value string, c *Context) answer {
	switch result, ok := o.order(value, c.Now); {
	case !ok:
		return unreadable
	case result < 0:
		return answerOf(o.accepted.less)
	case result > 0:
		return answerOf(o.accepted.greater)
	}
	return answerOf(o.accepted.equal)
}

// dateOrder uses the current time if the context has no currentTime.
func dateOrder(c Constraint) order {
	with, ok := parseDate(c.Value)
	if !ok {
		return nil
	}
	isCurrent := newField(c.ContextName).kind == currentTimeField
	return func(value string, now time.Time) (int, bool) {
		if value == "" && isCurrent {
			return now.Compare(with), true
		}
		date, ok := parseDate(value)
		return date.Compare(with), ok
	}
}

// dateLayouts are the forms of ISO 8601 that the administration accepts. A date without a time zone is in UTC.
var dateLayouts = []string{
	time.RFC3339, "2006-01-02", "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04",
}

// maxDate is longer than any date, with any sensible number of decimals.
const maxDate = 64

func parseDate(s string) (time.Time, bool) {
	if s == "" || len(s) > maxDate {
		return time.Time{}, false
	}
	for _, layout := range dateLayouts {
		if date, err := time.Parse(layout, s); err == nil {
			return date, true
		}
	}
	return time.Time{}, false
}

const maxVersion = 256 // bytes

func versionOrder(c Constraint) order {
	if !ValidVersion(c.Value) {
		return nil
	}
	return func(value string, _ time.Time) (int, bool) { return CompareVersions(value, c.Value) }
}

// ValidVersion reports whether s is a full semantic version, such as 1.2.3-beta.1. Like Unleash's SDKs, it refuses short forms
// such as 1.2, a leading v and numbers of more than 64 bits.
func ValidVersion(s string) bool {
	if len(s) > maxVersion || !semver.IsValid("v"+s) {
		return false
	}
	core, _, _ := strings.Cut(s, "+")
	core, _, _ = strings.Cut(core, "-")
	numbers := 0
	for number := range strings.SplitSeq(core, ".") {
		if _, err := strconv.ParseUint(number, 10, 64); err != nil {
			return false
		}
		numbers++
	}
	return numbers == 3
}

// CompareVersions returns a negative number if version a is older than b, a positive one if it is newer, and 0 if they are equal.
// Build metadata does not count. ok is false if one of them is not valid.
func CompareVersions(a, b string) (order int, ok bool) {
	if !ValidVersion(a) || !ValidVersion(b) {
		return 0, false
	}
	return semver.Compare("v"+a, "v"+b), true
}

func numberOrder(c Constraint) order {
	with, ok := parseNumber(c.Value)
	if !ok {
		return nil
	}
	return func(value string, _ time.Time) (int, bool) {
		n, ok := parseNumber(value)
		return n.compare(with), ok
	}
}

// A number is a decimal number. Most are compared as float64. IDs of 19 digits, and numbers that differ after the
// fifteenth digit, need more precision; they are compared with math/big, as in Unleash's Go SDK.
type number struct {
	float float64
	exact bool   // whether equal floats mean equal numbers
	text  string // if it is not exact
}

const (
	maxNumber   = 400 // bytes; a float64 written in full has about 330
	exactDigits = 15  // decimal digits that a float64 always keeps
)

// parseNumber parses a finite decimal number. strconv alone also accepts hexadecimal numbers, NaN and Inf.
func parseNumber(s string) (number, bool) {
	if s == "" || len(s) > maxNumber || !plainNumber(s) {
		return number{}, false
	}
	float, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(float, 0) { // an infinite one is out of range and a number nevertheless
		return number{}, false
	}
	n := number{float: float, exact: exactFloat(s, float)}
	if !n.exact {
		n.text = s
	}
	return n, true
}

func plainNumber(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && strings.IndexByte("+-.eE", c) < 0 {
			return false
		}
	}
	return true
}

// exactFloat reports whether no other number of at most fifteen digits has the same float.
func exactFloat(s string, float float64) bool {
	digits := 0
	for i := 0; i < len(s) && s[i] != 'e' && s[i] != 'E'; i++ {
		if c := s[i]; c >= '1' && c <= '9' || c == '0' && digits > 0 { // without leading zeros
			digits++
		}
	}
	if float == 0 {
		return digits == 0
	}
	size := math.Abs(float)
	return digits <= exactDigits && size > 1e-300 && size < 1e300
}

func (n number) compare(other number) int {
	if n.float != other.float || n.exact && other.exact {
		return cmp.Compare(n.float, other.float)
	}
	return n.big().Cmp(other.big())
}

func (n number) big() *big.Float {
	if n.exact {
		n.text = strconv.FormatFloat(n.float, 'g', -1, 64)
	}
	f, _, err := big.ParseFloat(n.text, 10, 0, big.ToNearestEven)
	if err != nil { // the exponent does not fit
		return big.NewFloat(n.float)
	}
	return f
}
