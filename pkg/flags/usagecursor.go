package flags

import "time"

// A UsageCursor says how far posts were added to the sums. Package aggregate explains how it advances.
type UsageCursor struct {
	Next   int64     // number of the next batch
	From   time.Time // posts received before were added, except late ones
	Looked time.Time // the start of the last period in which late posts were looked for
}

// EntityUsageCursor is the entity of the cursor.
const EntityUsageCursor Entity = "usage cursor"

// UsageCursorKey returns the key of the cursor, of which there is only one.
func UsageCursorKey() Key { return Key{Entity: EntityUsageCursor} }

// Key returns the key of the cursor.
func (c *UsageCursor) Key() Key { return UsageCursorKey() }

func (c *UsageCursor) StoredVersion() int64 { return c.Next }

// NewUsageCursor returns the cursor of a table without one. It begins an hour ago, for posts that came before the first
// aggregation. The number is the time, so that it is higher than before if the cursor was lost.
func NewUsageCursor(now time.Time) *UsageCursor {
	from := now.UTC().Add(-time.Hour).Truncate(UsagePeriod)
	return &UsageCursor{Next: now.UnixMilli(), From: from, Looked: from.Add(-UsagePeriod)}
}

// lookAgainAfter is how long after its end a period is looked at again. A post is stored within seconds after it was received,
// and clocks differ by seconds.
const lookAgainAfter = UsagePeriod

// LateIn returns the period whose late posts come next, or false if the next batch has new posts. This and the period of a
// batch must depend on the cursor only, and not on the clock: two runs at the same cursor must store their batch at the same
// key, so that only one of them can.
func (c *UsageCursor) LateIn() (period time.Time, is bool) {
	period = c.Looked.Add(UsagePeriod)
	return period, !period.Add(UsagePeriod + lookAgainAfter).After(c.From)
}

// Period returns the period of the next batch.
func (c *UsageCursor) Period() time.Time {
	if period, late := c.LateIn(); late {
		return period
	}
	return c.From.Truncate(UsagePeriod)
}

// UsagePostTTL is how long posts are kept.
const UsagePostTTL = 2 * 24 * time.Hour

// After returns the cursor after a batch of posts that were received before a time. If there was no aggregation for so long that
// posts have expired, it skips the periods without posts.
func (c *UsageCursor) After(to, now time.Time) UsageCursor {
	next := UsageCursor{Next: c.Next + 1, From: to, Looked: c.Looked}
	if oldest := now.Add(-UsagePostTTL).Truncate(UsagePeriod); to.Before(oldest) && to.Equal(to.Truncate(UsagePeriod)) {
		next.From, next.Looked = oldest, oldest.Add(-UsagePeriod)
	}
	return next
}

// A UsageBatch is a set of posts that are added to the sums together.
type UsageBatch struct {
	Number   int64
	Period   time.Time // start of the period in which its posts were received
	From, To time.Time // all its posts were received at or after From, and before To
	Posts    []string  // their IDs
	After    UsageCursor
}
