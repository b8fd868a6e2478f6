package evaluate

import (
	"cmp"
	"math"
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
	with, ok := parseConstraintDate(c.Value)
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

// dateLayouts are the other forms of ISO 8601 that the administration accepts, and normalizes. A date without a time zone is in UTC.
var dateLayouts = []string{"2006-01-02", "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04"}

// parseConstraintDate parses the date of a constraint, which may also have one of the dateLayouts.
func parseConstraintDate(s string) (time.Time, bool) {
	date, ok := parseDate(s)
	for i := 0; !ok && i < len(dateLayouts); i++ {
		var err error
		date, err = time.Parse(dateLayouts[i], s)
		ok = err == nil
	}
	return date, ok
}

func versionOrder(c Constraint) order {
	if !ValidVersion(c.Value) {
		return nil
	}
	return func(value string, _ time.Time) (int, bool) { return CompareVersions(value, c.Value) }
}

// ValidVersion reports whether s is a full semantic version, such as 1.2.3-beta.1. Like Unleash's SDKs, it refuses short forms
// such as 1.2, a leading v and numbers of more than 64 bits.
func ValidVersion(s string) bool {
	if !semver.IsValid("v" + s) {
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
		return cmp.Compare(n, with), ok
	}
}

// nearlyEqual is the order of NUM_EQ, which tolerates the rounding of a float64 near 1, so that 0.1 + 0.2 is 0.3.
func nearlyEqual(c Constraint) order {
	with, ok := parseNumber(c.Value)
	if !ok {
		return nil
	}
	const tolerance = 0x1p-52
	return func(value string, _ time.Time) (int, bool) {
		n, ok := parseNumber(value)
		if math.Abs(n-with) < tolerance {
			return 0, ok
		}
		return 1, ok
	}
}

// parseNumber parses a decimal number, or an infinite one such as inf or -Infinity. Numbers are compared as float64, as in SDKs, so large
// IDs can be equal to others. strconv also accepts hexadecimal numbers and NaN.
func parseNumber(s string) (float64, bool) {
	if strings.ContainsAny(s, "xX_") {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, (err == nil || math.IsInf(n, 0)) && !math.IsNaN(n)
}
