package evaluate

import (
	"strings"
	"time"
	"unicode"
)

// parseDate parses a date of a context, in the forms that Yggdrasil takes. These are RFC 3339 and what is close to it: a space in place
// of the T, spaces between the parts, numbers without leading zeros, +0200 and UTC, and years of more than four digits with a sign. A
// date without a time or without a time zone is none of them.
func parseDate(s string) (time.Time, bool) {
	if isUsual(s) {
		if date, err := time.Parse(time.RFC3339, s); err == nil {
			return date, true
		}
	}
	d := dateScanner{rest: s}
	year := d.year()
	month := d.after("-").number(2)
	day := d.after("-").number(2)
	d.separator()
	hour := d.number(2)
	minute := d.after(":").number(2)
	second := d.after(":").number(2)
	nanosecond := d.fraction()
	offset := d.offset()
	d.blanks()
	const leapSecond, beforeIt = 60, 999_999_999
	if second == leapSecond { // later than the second before it, and earlier than the one after it
		second, nanosecond = leapSecond-1, beforeIt
	}
	date := time.Date(year, time.Month(month), day, hour, minute, second, nanosecond, time.UTC)
	exists := date.Month() == time.Month(month) && date.Day() == day && date.Hour() == hour && date.Minute() == minute && date.Second() == second
	return date.Add(-offset), !d.failed && d.rest == "" && exists
}

// ValidDate reports whether a context can have the date as its currentTime, or in a property that DATE operators compare.
func ValidDate(s string) bool {
	_, ok := parseDate(s)
	return ok
}

// isUsual reports whether a text has the punctuation of a date such as 2026-01-31T00:00:00.000Z, which time.Parse reads ten times faster.
func isUsual(s string) bool {
	const like = "2006-01-02T15:04:05Z"
	last := len(like) - 1
	return len(s) >= len(like) && s[10] == 'T' && s[13] == ':' && (s[last] == 'Z' || s[last] == '.') && s[len(s)-1] == 'Z'
}

// A dateScanner reads the parts of a date. What it returns is meaningless once it failed.
type dateScanner struct {
	rest   string
	failed bool
}

func (d *dateScanner) blanks() { d.rest = strings.TrimLeftFunc(d.rest, unicode.IsSpace) }

// cut cuts off a prefix, and reports whether the rest had it.
func (d *dateScanner) cut(prefix string) (found bool) {
	d.rest, found = strings.CutPrefix(d.rest, prefix)
	return found
}

// after skips a punctuation mark, with spaces before it.
func (d *dateScanner) after(mark string) *dateScanner {
	d.blanks()
	d.failed = !d.cut(mark) || d.failed
	return d
}

// number reads a number of 1 to most digits, with spaces before it.
func (d *dateScanner) number(most int) int {
	d.blanks()
	n, digits := 0, d.digits(most)
	for _, c := range []byte(digits) {
		n = 10*n + int(c-'0')
	}
	d.failed = d.failed || digits == ""
	return n
}

func (d *dateScanner) digits(most int) (digits string) {
	n := 0
	for n < min(most, len(d.rest)) && d.rest[n] >= '0' && d.rest[n] <= '9' {
		n++
	}
	digits, d.rest = d.rest[:n], d.rest[n:]
	return digits
}

// year reads a year of up to four digits, or of more after a sign.
func (d *dateScanner) year() int {
	const signed, largest = 18, 262_142
	d.blanks()
	sign, most := 1, 4
	switch {
	case d.cut("-"):
		sign, most = -1, signed
	case d.cut("+"):
		most = signed
	}
	n := sign * d.number(most)
	d.failed = d.failed || n > largest || n < -largest-1
	return n
}

func (d *dateScanner) separator() {
	d.failed = d.failed || !d.cut("T") && !d.cut("t") && !strings.HasPrefix(d.rest, " ")
}

// fraction reads the nanoseconds after a point, if there is one. It ignores what is smaller.
func (d *dateScanner) fraction() (nanoseconds int) {
	if !d.cut(".") {
		return 0
	}
	const digits = 9
	fraction := d.digits(len(d.rest))
	d.failed = d.failed || fraction == ""
	for i := range digits {
		nanoseconds *= 10
		if i < len(fraction) {
			nanoseconds += int(fraction[i] - '0')
		}
	}
	return nanoseconds
}

// offset reads the difference from UTC, with spaces before it.
func (d *dateScanner) offset() time.Duration {
	d.blanks()
	for _, utc := range []string{"Z", "z"} {
		if d.cut(utc) {
			return 0
		}
	}
	const utc = "UTC"
	if len(d.rest) >= len(utc) && strings.EqualFold(d.rest[:len(utc)], utc) {
		d.rest = d.rest[len(utc):]
		return 0
	}
	sign := time.Duration(1)
	switch {
	case d.cut("-"), d.cut("−"):
		sign = -1
	case !d.cut("+"):
		d.failed = true
	}
	hours := d.twoDigits()
	d.rest = strings.TrimLeftFunc(d.rest, func(r rune) bool { return r == ':' || unicode.IsSpace(r) })
	minutes := d.twoDigits()
	d.failed = d.failed || hours > 23 || minutes > 59
	return sign * (time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute)
}

func (d *dateScanner) twoDigits() (n int) {
	const digits = 2
	before := len(d.rest)
	if n = d.number(digits); before-len(d.rest) != digits {
		d.failed = true
	}
	return n
}
