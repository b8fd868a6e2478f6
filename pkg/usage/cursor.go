package usage

import (
	"time"

	"guidon/pkg/flags"
)

// A Cursor says how far posts were added to the sums. Package aggregate explains how it advances.
type Cursor struct {
	Next   int64     // number of the next batch
	From   time.Time // posts received before were added, except late ones
	Looked time.Time // the start of the last period in which late posts were looked for
}

// EntityCursor is the entity of the cursor.
const EntityCursor flags.Entity = "usage cursor"

// CursorKey returns the key of the cursor, of which there is only one.
func CursorKey() flags.Key { return flags.Key{Entity: EntityCursor} }

// Key returns the key of the cursor.
func (c *Cursor) Key() flags.Key { return CursorKey() }

// StoredVersion returns the number of the next batch, which rises by one with each batch.
func (c *Cursor) StoredVersion() int64 { return c.Next }

// NewCursor returns the cursor of a table without one. It begins an hour ago, for posts that came before the first
// aggregation. The number is the time, so that it is higher than before if the cursor was lost.
func NewCursor(now time.Time) *Cursor {
	from := now.UTC().Add(-time.Hour).Truncate(Period)
	return &Cursor{Next: now.UnixMilli(), From: from, Looked: from.Add(-Period)}
}

// lookAgainAfter is how long after its end a period is looked at again. A post is stored within seconds after it was received,
// and clocks differ by seconds.
const lookAgainAfter = Period

// LateIn returns the period whose late posts come next, or false if the next batch has new posts. This and the period of a
// batch must depend on the cursor only, and not on the clock: two runs at the same cursor must store their batch at the same
// key, so that only one of them can.
func (c *Cursor) LateIn() (period time.Time, is bool) {
	period = c.Looked.Add(Period)
	return period, !period.Add(Period + lookAgainAfter).After(c.From)
}

// Period returns the period of the next batch.
func (c *Cursor) Period() time.Time {
	if period, late := c.LateIn(); late {
		return period
	}
	return c.From.Truncate(Period)
}

// PostTTL is how long posts are kept.
const PostTTL = 2 * 24 * time.Hour

// After returns the cursor after a batch of posts that were received before a time. If there was no aggregation for so long that
// posts have expired, it skips the periods without posts.
func (c *Cursor) After(to, now time.Time) Cursor {
	next := Cursor{Next: c.Next + 1, From: to, Looked: c.Looked}
	if oldest := now.Add(-PostTTL).Truncate(Period); to.Before(oldest) && to.Equal(to.Truncate(Period)) {
		next.From, next.Looked = oldest, oldest.Add(-Period)
	}
	return next
}

// A Batch is a set of posts that are added to the sums together.
type Batch struct {
	Number   int64
	Period   time.Time // start of the period in which its posts were received
	From, To time.Time // all its posts were received at or after From, and before To
	Posts    []string  // their IDs
	After    Cursor
}
