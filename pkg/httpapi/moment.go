package httpapi

import (
	"time"

	"guidon/pkg/flags"
	"guidon/pkg/jsonbody"
)

// CheckMoment checks a date-time of a body; nil is none.
func CheckMoment(path string, text *string, problems *flags.Problems) {
	if text == nil {
		return
	}
	if _, ok := ParseMoment(*text); !ok {
		problems.Add(path, "must be a date-time such as 2030-01-31T12:00:00Z, not %q", jsonbody.Shorten(*text))
	}
}

// MomentOf returns a date-time that was checked; the zero time for none.
func MomentOf(text *string) time.Time {
	if text == nil {
		return time.Time{}
	}
	t, _ := ParseMoment(*text)
	return t
}

// ParseMoment reads an ISO 8601 date-time with an offset, to the millisecond. Go's zero time stands for "never", so that moment
// becomes the millisecond after it: a token that expired long ago must not become one that never expires.
func ParseMoment(text string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339, text)
	if t = t.UTC().Truncate(time.Millisecond); t.IsZero() {
		t = t.Add(time.Millisecond)
	}
	return t, err == nil && t.Year() >= 1 && t.Year() <= 9999
}
