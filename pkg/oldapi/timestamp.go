package oldapi

import (
	"time"

	"guidon/pkg/shape"
)

// A timestamp is a time in an answer: ISO 8601, UTC, to the millisecond.
type timestamp = shape.Time

// timestampOf is a time that may be absent: null for the zero time.
func timestampOf(t time.Time) *timestamp { return shape.TimeOrNull(t) }
