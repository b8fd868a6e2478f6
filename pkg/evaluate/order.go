package evaluate

import (
	"time"

	"guidon/pkg/semver"
)

// The operators NUM_, DATE_ and SEMVER_ compare two values of the same kind. accepted is true for the orders that
// satisfy the operator: value before operand, equal, value after operand.
type accepted struct{ less, equal, greater bool }

func (a accepted) has(order int) answer {
	switch {
	case order < 0:
		return answerOf(a.less)
	case order > 0:
		return answerOf(a.greater)
	}
	return answerOf(a.equal)
}

// orders are the names of operators after their kind.
var orders = map[string]accepted{
	"EQ": {equal: true}, "GT": {greater: true}, "GTE": {equal: true, greater: true}, "LT": {less: true}, "LTE": {less: true, equal: true},
}

// newOrderOperand returns nil if the operator is unknown or the value is not of its kind.
func newOrderOperand(kind, name, value string) operand {
	order, known := orders[name]
	switch {
	case kind == "NUM" && known:
		if n, ok := parseNumber(value); ok {
			return numberOperand{n, order}
		}
	case kind == "SEMVER" && known:
		if v, ok := semver.Parse(value); ok {
			return versionOperand{v, order}
		}
	case kind == "DATE" && (name == "AFTER" || name == "BEFORE"):
		if date, ok := parseDate(value); ok {
			return dateOperand{date, accepted{less: name == "BEFORE", greater: name == "AFTER"}}
		}
	}
	return nil
}

type numberOperand struct {
	number   number
	accepted accepted
}

func (o numberOperand) compare(value string, _ time.Time) answer {
	n, ok := parseNumber(value)
	if !ok {
		return unreadable
	}
	return o.accepted.has(n.compare(o.number))
}

type versionOperand struct {
	version  semver.Version
	accepted accepted
}

func (o versionOperand) compare(value string, _ time.Time) answer {
	v, ok := semver.Parse(value)
	if !ok {
		return unreadable
	}
	return o.accepted.has(v.Compare(o.version))
}

type dateOperand struct {
	date     time.Time
	accepted accepted
}

// compare uses the current time for an absent value, as all SDKs do for currentTime.
func (o dateOperand) compare(value string, now time.Time) answer {
	date, ok := now, true
	if value != "" {
		date, ok = parseDate(value)
	}
	if !ok {
		return unreadable
	}
	return o.accepted.has(date.Compare(o.date))
}
