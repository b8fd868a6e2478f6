package usage

import (
	"context"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/flags"
)

// A Post is what a client reported in one request: the applications and instances behind it, and how often they
// evaluated flags; or which tokens were used. It is stored as it came in and added to the sums later, see UsageStore.
type Post struct {
	ID        string    // a UUID, fixed before the first attempt to store it
	At        time.Time // when it was received, by the server's clock, to the millisecond
	TokenHash string    // of the token that it came with; "" without one, with AUTH_TYPE=none
	Projects  []string  // All if it counts for the flags of all projects; else it counts for those of the token's
	Public    bool      // anyone can have sent it, so its stored form is limited more. It is not stored
	Instances []PostInstance
	Counts    []Count
	Uses      map[string]time.Time // when tokens were used, by their hashes. That of TokenHash was used at At
}

// The limits of what a post says, so that no client can fill the table. Lengths are in characters.
const (
	MaxBody                   = 1 << 20   // bytes of the request. Unleash takes 100 KB, and its clients know that
	MaxFrontendBody           = 100 << 10 // the same from a browser
	MaxName                   = 255       // the names of applications, instances and SDKs, as long as in Unleash
	MaxFeature                = 250       // a name that no flag has is reported as it is, so it can be longer than that of a flag
	MaxVariants               = 100       // names of variants for each flag
	MaxCounts                 = 10_000    // flags, or with Unleash Edge, flags and applications
	MaxFrontendCounts         = 1_000     // flags from a browser, each of which is looked for when they are added to the sums. Others are left out
	MaxPostApplications       = 100       // Unleash Edge reports several
	MaxPostInstances          = 1_000     // the same
	MaxStrategies             = 200       // names of strategies that an application knows
	MaxCount            int64 = 1 << 40   // evaluations in one post: sums of them cannot overflow
)

// A PostInstance is an instance of an application that reported something.
type PostInstance struct {
	Application string    `json:"a"`
	Instance    string    `json:"i,omitzero"`  // its own name for itself; "" if it sent none
	Environment string    `json:"e"`           // name
	SDK         string    `json:"s,omitzero"`  // name and version as the SDK sends them: unleash-node-sdk:6.12.1; "" if unknown
	Address     string    `json:"ip,omitzero"` // the IP address of the caller; "" if unknown
	Registered  bool      `json:"r,omitzero"`  // whether it registered: then Strategies and Started are what it sent
	Strategies  []string  `json:"st,omitempty"`
	Started     time.Time `json:"at,omitzero"`
}

// A Count is how often an application evaluated a flag.
type Count struct {
	Feature     string
	Application string
	Environment string // name
	Yes, No     int64
	Variants    map[string]int64
}

// Period is the length of the periods in which posts are stored and added to the sums. An hour has a whole number of them.
const Period = 10 * time.Minute

// A Unit is the length of time of a Sum.
type Unit string

// The units. Sums of hours are kept for a week, sums of days for 90 days.
const (
	Hour Unit = "hour"
	Day  Unit = "day"
)

// A Sum is how often applications evaluated a flag in an hour or a day.
type Sum struct {
	Feature string
	Unit    Unit
	Start   time.Time // of the hour or day, in UTC
	Counts  []Count   // by application and environment, sorted
	Batch   int64     // number of the last batch that was added
}

// A UsageReader reads the sums.
type UsageReader interface {
	// Usage returns the sums of a flag for the hours or days from a time on, oldest first. It can lag behind by what was not
	// aggregated yet.
	Usage(ctx context.Context, feature string, unit Unit, from time.Time) ([]Sum, error)
}

// A UsageStore stores posts.
type UsageStore interface {
	// PutPost stores a post. Storing the same post again changes nothing.
	PutPost(ctx context.Context, post *Post) error
}

// A SumStore is what adding posts to the sums needs of a store in addition to aggregates.
type SumStore interface {
	// Posts returns posts of one period, oldest first, and until which time it returned all that the query selects: an
	// earlier one than To if there are more than its limits allow. At that limit, it may leave out posts of the same
	// millisecond. A post that cannot be read has no token, no instances and no counts.
	Posts(ctx context.Context, query PostQuery) (posts []*Post, until time.Time, err error)

	// PostIDs returns the IDs of all posts that were received in a period.
	PostIDs(ctx context.Context, period time.Time) ([]string, error)

	// Batches returns the batches of a period.
	Batches(ctx context.Context, period time.Time) ([]Batch, error)

	// PutBatch stores a batch, unless its period has one with the same number. It returns the batch that is stored.
	PutBatch(ctx context.Context, batch Batch) (stored Batch, err error)

	// AdvanceUsage replaces the cursor. It returns VersionConflict if it is no longer the one before, which is nil if there
	// was none.
	AdvanceUsage(ctx context.Context, before, after *Cursor) error

	// Sums loads the stored sums among those of these flags, units and starts.
	Sums(ctx context.Context, keys []Sum) ([]Sum, error)

	// Listed returns which of some flags are in their projects, given by UID, by their list rows: it does not read the flags.
	Listed(ctx context.Context, projects map[string]string) ([]string, error)

	// PutSum stores a sum with a batch, unless the stored sum has this batch or a later one already.
	PutSum(ctx context.Context, sum *Sum) error

	// PutReport stores an aggregate that only reports of applications change: without an event. It expires. It returns
	// VersionConflict if the aggregate is no longer the one before, which is nil for a new one.
	PutReport(ctx context.Context, before, after flags.Aggregate, expires time.Time) error

	access.TokenUseStore

	// PutSeen stores when a flag was last evaluated, and its lifecycle, without a new version or an event. It returns
	// VersionConflict if the flag is no longer at the version that was loaded.
	PutSeen(ctx context.Context, before, after *flags.Feature) error

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
