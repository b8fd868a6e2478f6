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
	Projects  []string  // whose flags it counts for: the IDs of the token's projects, or only All
	Instances []UsageInstance
	Counts    []UsageCount
}

// The limits of what a post says, so that no client can fill the table. Lengths are in characters.
const (
	MaxUsageBody               = 1 << 20   // bytes of the request. Unleash takes 100 KB, and its clients know that
	MaxFrontendUsageBody       = 100 << 10 // the same from a browser: its token is public, and the cost of storing a report grows with its size
	MaxUsageName               = 255       // the names of applications, instances and SDKs, as long as in Unleash
	MaxUsageFeature            = 250       // a name that no flag has is reported as it is, so it can be longer than that of a flag
	MaxUsageVariants           = 100       // names of variants for each flag
	MaxUsageCounts             = 10_000    // flags, or with Unleash Edge, flags and applications
	MaxUsageApplications       = 100       // Unleash Edge reports several
	MaxUsageInstances          = 1_000     // the same
	MaxUsageStrategies         = 200       // names of strategies that an application knows
	MaxUsageCount        int64 = 1 << 40   // evaluations in one post: sums of them cannot overflow
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

// A UsageReader reads the sums.
type UsageReader interface {
	// Usage returns the sums of a flag for the hours or days from a time on, oldest first. It can lag behind by what was not
	// aggregated yet.
	Usage(ctx context.Context, feature string, unit UsageUnit, from time.Time) ([]UsageSum, error)
}

// A UsageStore stores posts.
type UsageStore interface {
	// PutPost stores a post. Storing the same post again changes nothing.
	PutPost(ctx context.Context, post *UsagePost) error
}

// A SumStore is what adding posts to the sums needs of a store in addition to aggregates.
type SumStore interface {
	// Posts returns posts of one period, oldest first, and until which time it returned all that the query selects: an
	// earlier one than To if there are more than its limits allow. At that limit, it may leave out posts of the same
	// millisecond. A post that cannot be read has no token, no instances and no counts.
	Posts(ctx context.Context, query PostQuery) (posts []*UsagePost, until time.Time, err error)

	// PostIDs returns the IDs of all posts that were received in a period.
	PostIDs(ctx context.Context, period time.Time) ([]string, error)

	// Batches returns the batches of a period.
	Batches(ctx context.Context, period time.Time) ([]UsageBatch, error)

	// PutBatch stores a batch, unless its period has one with the same number. It returns the batch that is stored.
	PutBatch(ctx context.Context, batch UsageBatch) (stored UsageBatch, err error)

	// AdvanceUsage replaces the cursor. It returns VersionConflict if it is no longer the one before, which is nil if there
	// was none.
	AdvanceUsage(ctx context.Context, before, after *UsageCursor) error

	// Sums loads the stored sums among those of these flags, units and starts.
	Sums(ctx context.Context, keys []UsageSum) ([]UsageSum, error)

	// PutSum stores a sum with a batch, unless the stored sum has this batch or a later one already.
	PutSum(ctx context.Context, sum *UsageSum) error

	// PutReport stores an aggregate that only reports of applications change: without an event. It expires. It returns
	// VersionConflict if the aggregate is no longer the one before, which is nil for a new one.
	PutReport(ctx context.Context, before, after Aggregate, expires time.Time) error

	// PutSeen stores when a flag was last evaluated, and its lifecycle, without a new version or an event. It returns
	// VersionConflict if the flag is no longer at the version that was loaded.
	PutSeen(ctx context.Context, before, after *Feature) error

	// CountApplications returns how many applications there are.
	CountApplications(ctx context.Context) (int, error)
}

// A PostQuery selects posts of one period.
type PostQuery struct {
	From, To time.Time            // received at or after From, and before To
	Take     func(id string) bool // nil for all
	MaxPosts int                  // about; 0 for no limit
	MaxBytes int                  // about, before they were compressed; 0 for no limit
}
