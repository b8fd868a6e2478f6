package httpapi

import "time"

// A timestamp is a time on the wire: ISO 8601, UTC, to the millisecond.
type timestamp time.Time

// AppendText writes the time.
func (t timestamp) AppendText(b []byte) ([]byte, error) {
	return time.Time(t).UTC().AppendFormat(b, "2006-01-02T15:04:05.000Z"), nil
}

// MarshalText writes the time.
func (t timestamp) MarshalText() ([]byte, error) { return t.AppendText(nil) }

// timestampOf is a time that may be absent: null for the zero time.
func timestampOf(t time.Time) *timestamp {
	if t.IsZero() {
		return nil
	}
	wire := timestamp(t)
	return &wire
}
