package oldapi

import (
	"time"

	"guidon/pkg/flags"
)

// checkExpiry says what is wrong with a body's expiresAt; nil is none.
func checkExpiry(text *string, problems *flags.Problems) {
	if text == nil {
		return
	}
	if _, ok := parseMoment(*text); !ok {
		problems.Add("/expiresAt", "must be a date-time such as 2030-01-31T12:00:00Z, not %q", shorten(*text))
	}
}

// momentOf is a date-time that was checked; the zero time for none.
func momentOf(text *string) time.Time {
	if text == nil {
		return time.Time{}
	}
	t, _ := parseMoment(*text)
	return t
}

// parseMoment reads an ISO 8601 date-time with its offset, to the millisecond. The first moment of all, which is how
// Go writes "none", becomes the one after it: what is long past must not become what never comes.
func parseMoment(text string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339, text)
	if t = t.UTC().Truncate(time.Millisecond); t.IsZero() {
		t = t.Add(time.Millisecond)
	}
	return t, err == nil && t.Year() >= 1 && t.Year() <= 9999
}
