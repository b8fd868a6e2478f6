package flags

import (
	"context"
	"time"
)

// A UsagePost is what a client reported in one request: the applications and instances behind it, and how often they
// evaluated flags. It is stored as it came in and added to the sums later, see UsageStore.
type UsagePost struct {
	ID        string    // a UUID, fixed before the first attempt to store it
	At        time.Time // when it was received, by the server's clock, to the millisecond
	TokenHash string    // of the token that it came with; "" without one, with AUTH_TYPE=none
	Projects  []string  // the IDs of the token's projects, or only All: it counts for flags of these projects only
	Instances []UsageInstance
	Counts    []UsageCount
}

// The limits of what a post says, so that no client can fill the table. Lengths are in characters.
const (
	MaxUsageBody               = 1 << 20 // bytes of the request. Unleash takes 100 KB, and its clients know that
	MaxUsageName               = 255     // the names of applications, instances and SDKs, as long as in Unleash
	MaxUsageFeature            = 250     // a name that no flag has is reported as it is, so it can be longer than that of a flag
	MaxUsageVariants           = 100     // names of variants for each flag
	MaxUsageCounts             = 10_000  // flags, or with Unleash Edge, flags and applications
	MaxUsageApplications       = 100     // Unleash Edge reports several
	MaxUsageInstances          = 1_000   // the same
	MaxUsageStrategies         = 200     // names of strategies that an application knows
	MaxUsageCount        int64 = 1 << 40 // evaluations in one post: sums of them cannot overflow
)

// A UsageInstance is an instance of an application that reported something.
type UsageInstance struct {
	Application string
	Instance    string // its own name for itself; "" if it sent none
	Environment string // name
	SDK         string // name and version as the SDK sends them: unleash-node-sdk:6.12.1; "" if unknown
	Address     string // the IP address of the caller; "" if unknown
	Registered  bool   // whether it registered: then Strategies and Started are what it sent
	Strategies  []string
	Started     time.Time
}

// A UsageCount is how often an application evaluated a flag.
type UsageCount struct {
	Feature     string
	Application string
	Environment string // name
	Yes, No     int64
	Variants    map[string]int64
}

// UsagePeriod is the length of the periods in which posts are stored and added to the sums. An hour has a whole number of them.
const UsagePeriod = 10 * time.Minute

// A UsageUnit is the length of time of a UsageSum.
type UsageUnit string

// The units. Sums of hours are kept for a week, sums of days for 90 days.
const (
	UsageHour UsageUnit = "hour"
	UsageDay  UsageUnit = "day"
)

// A UsageSum is how often applications evaluated a flag in an hour or a day.
type UsageSum struct {
	Feature string
	Unit    UsageUnit
	Start   time.Time    // of the hour or day, in UTC
	Counts  []UsageCount // by application and environment, sorted
	Batch   int64        // number of the last batch that was added
}

// A UsageCursor says how far posts were added to the sums. Package usage explains how it advances.
type UsageCursor struct {
	Next   int64     // number of the next batch
	From   time.Time // posts received before were added, except late ones
	Looked time.Time // the start of the last period in which late posts were looked for
}

// UsageCursorKey returns the key of the cursor, of which there is only one.
func UsageCursorKey() Key { return Key{Entity: EntityUsageCursor} }

// Key returns the key of the cursor.
func (c *UsageCursor) Key() Key { return UsageCursorKey() }

func (c *UsageCursor) version() int64 { return c.Next }

// A UsageStore is what recording usage needs of a store in addition to Store.
type UsageStore interface {
	Store

	// PutPost stores a post: one call, one write unit per KB of its compressed form. Storing the same post again changes
	// nothing.
	PutPost(ctx context.Context, post *UsagePost) error
}
