package flags

import (
	"context"
	"strconv"
	"time"
)

// An Aggregate is a type that is loaded, changed and stored as a whole, such as a *Feature or *Project. A change
// is only committed if the stored version is still the one that was loaded.
type Aggregate interface {
	Key() Key

	// StoredVersion returns the version at which the aggregate was loaded; 0 if it was never stored.
	StoredVersion() int64
}

// VersionOf returns the version at which the aggregate was loaded; 0 if it was never stored.
func VersionOf(a Aggregate) int64 { return a.StoredVersion() }

// An Entity is a kind of aggregate.
type Entity string

// The entities.
const (
	EntityFeature       Entity = "feature"
	EntityProject       Entity = "project"
	EntityEnvironments  Entity = "environments"   // registry of all environments
	EntityTagTypes      Entity = "tag types"      // registry of all tag types
	EntityStrategyTypes Entity = "strategy types" // registry of the custom strategy types
	EntityContextFields Entity = "context fields" // registry of context fields
	EntitySegment       Entity = "segment"
	EntityUse           Entity = "use"       // which segments and context fields a flag uses; only in lists
	EntityUseCount      Entity = "use count" // how often a strategy started to use a segment; only loaded
	EntityFeed          Entity = "feed"      // the changes that applications see; only loaded
	EntityAddons        Entity = "addons"    // registry of addons
	EntitySnapshot      Entity = "snapshot"  // which snapshot of what applications see is the current one; only loaded

)

// A Key identifies an aggregate.
type Key struct {
	Entity Entity
	ID     string // "" for registries
}

// FeatureKey returns the key of a flag by name.
func FeatureKey(name string) Key { return Key{EntityFeature, name} }

// ProjectKey returns the key of a project by ID.
func ProjectKey(id string) Key { return Key{EntityProject, id} }

// EnvironmentsKey returns the key of the registry of environments.
func EnvironmentsKey() Key { return Key{Entity: EntityEnvironments} }

// TagTypesKey returns the key of the registry of tag types.
func TagTypesKey() Key { return Key{Entity: EntityTagTypes} }

// StrategyTypesKey returns the key of the registry of strategy types.
func StrategyTypesKey() Key { return Key{Entity: EntityStrategyTypes} }

// ContextFieldsKey returns the key of the registry of context fields.
func ContextFieldsKey() Key { return Key{Entity: EntityContextFields} }

// AddonsKey returns the key of the registry of addons.
func AddonsKey() Key { return Key{Entity: EntityAddons} }

// SegmentKey returns the key of a segment by ID.
func SegmentKey(id int64) Key { return Key{EntitySegment, strconv.FormatInt(id, 10)} }

// UseCountKey returns the key of the use count of a segment, by the segment's ID.
func UseCountKey(id int64) Key { return Key{EntityUseCount, strconv.FormatInt(id, 10)} }

// FeedKey returns the key of the feed.
func FeedKey() Key { return Key{Entity: EntityFeed} }

// SnapshotKey returns the key of the head of the snapshots.
func SnapshotKey() Key { return Key{Entity: EntitySnapshot} }

// A View is the result of a load. Keys of aggregates that do not exist are missing.
type View map[Key]Aggregate

// Find returns the aggregate at key as its own type, or nil if the view does not have it.
func Find[A Aggregate](v View, key Key) A {
	a, _ := v[key].(A)
	return a
}

// A Write replaces Before, as it was loaded, by After. If Before is nil, After is created; if After is nil,
// Before is deleted.
type Write struct {
	Before, After Aggregate
}

// A Change is everything that one operation writes in one transaction, with its event. Writes that alter nothing
// are dropped. If no write is left, nothing happens and no event is stored.
type Change struct {
	Writes []Write
	Event  Event

	// MoreEvents are further events of the same change. The version of the first altered aggregate rises by the
	// number of events, and each event is stored at a version of its own.
	MoreEvents []Event

	// Feed is the feed as it was loaded before the change. With it, the change can move older entries out of the feed's
	// item, so that the item stays small. Nil if it was not loaded: it must be loaded for some changes, not for all.
	Feed *Feed

	// Addons is the registry of addons as it was loaded before the change. Each event gets an entry in the outbox of each
	// addon that matches it. Nil if there are none.
	Addons *Addons
}

// Store stores aggregates, the summaries that lists return, and events. TestStore in pkg/dynamo has its tests.
//
// Every method sees everything that was committed before it was called, except Log. Errors are of type *Error:
// Unavailable if the store throttles, fails or does not answer before the deadline of the context, Internal for
// a defect, such as a missing permission.
type Store interface {
	// Load returns the aggregates that exist among keys. Each is read consistently, but not all at one moment. They must not be
	// modified: other callers can have the same ones. Clone an aggregate before changing it.
	Load(ctx context.Context, keys []Key) (View, error)

	// Summaries returns all active or all archived flags of a project, sorted by name.
	Summaries(ctx context.Context, projectUID string, archived bool) ([]FeatureSummary, error)

	// SummaryPage returns the first flags that a query selects, sorted by name, and whether it selects more. Without tags it
	// reads only these flags.
	SummaryPage(ctx context.Context, projectUID string, query SummaryQuery) (list []FeatureSummary, more bool, err error)

	// EachSummary calls visit with each active or archived flag of a project, sorted by name. It keeps none of them. It stops at
	// the first error of visit and returns it.
	EachSummary(ctx context.Context, projectUID string, archived bool, visit func(SummaryRow) error) error

	// SummariesAfter returns the next active flags of a project, sorted by name, whose names are greater than after, with a
	// single query: at most limit flags and 1 MB. more reports whether there can be further flags.
	SummariesAfter(ctx context.Context, projectUID, after string, limit int) (page []SummaryRow, more bool, err error)

	// EachUse calls visit with what each flag uses, sorted by the name of the flag, until visit returns false or an error, which
	// it returns. It keeps none of them.
	EachUse(ctx context.Context, visit func(FeatureUse) (goOn bool, err error)) error

	// UsesAfter returns what the next flags use, sorted by name, of the flags whose names are greater than after, with a single
	// query: at most limit flags and 1 MB. more reports whether there can be further flags.
	UsesAfter(ctx context.Context, after string, limit int) (page []FeatureUse, more bool, err error)

	// Uses returns what the flags of these names use, sorted by name. Flags that use nothing are missing.
	Uses(ctx context.Context, features []string) ([]FeatureUse, error)

	// Tags returns the tags of a project's active and archived flags, without duplicates, sorted by type and value.
	Tags(ctx context.Context, projectUID string) ([]Tag, error)

	// List returns all aggregates of an entity: projects, API tokens, users, signup tokens, segments, feature
	// uses or applications. Load an aggregate before changing it.
	List(ctx context.Context, entity Entity) ([]Aggregate, error)

	// NextID returns a new integer ID for an entity, starting from 1. IDs are never repeated; some may be skipped.
	NextID(ctx context.Context, entity Entity) (int64, error)

	// Counts returns how many active flags a project has, and how many of those are stale.
	Counts(ctx context.Context, projectUID string) (active, stale int, err error)

	// Usage returns the sums of a flag for the hours or days from a time on, oldest first. It can lag behind by what was not
	// aggregated yet.
	Usage(ctx context.Context, feature string, unit UsageUnit, from time.Time) ([]UsageSum, error)

	// OutboxEvents returns the events of entries, by their IDs.
	OutboxEvents(ctx context.Context, entries []OutboxEntry) (map[string]Event, error)

	// Deliveries returns entries of an addon: the latest that were sent or parked, the oldest that wait, or all of these,
	// newest event first.
	Deliveries(ctx context.Context, addon int64, which WhichDeliveries, limit int) ([]Delivery, error)

	// Parked returns the oldest parked entries of an addon, at most limit and MaxOutboxPage, and whether there are more.
	Parked(ctx context.Context, addon int64, limit int) (entries []OutboxEntry, more bool, err error)

	// PutOutbox puts an entry into the outbox without a change, for a test.
	PutOutbox(ctx context.Context, entry OutboxEntry) error

	// Resend moves parked entries back into the outbox, with no attempts.
	Resend(ctx context.Context, entries []OutboxEntry) error

	// Touch records when a token was last used. It is not a change: it has no version and no event.
	Touch(ctx context.Context, seen *TokenUse) error

	// Commit applies the whole change or nothing, and exactly once, even if responses of the database get lost.
	// It returns
	//   - VersionConflict if an aggregate is no longer at the version that was loaded, or if a new registry exists
	//     already;
	//   - NameExists if any other new aggregate exists already;
	//   - Invalid if an aggregate is too large for an item, a user's name is taken, or a strategy starts to use a
	//     segment that its project cannot use;
	//   - Conflict if a project to delete still has active flags;
	//   - NotFound if a new or revived flag's project was deleted.
	Commit(ctx context.Context, change Change) error

	// CommitAll applies each change as Commit does, independently and several at a time, and returns their errors in
	// the same order. No two changes may write the same aggregate.
	CommitAll(ctx context.Context, changes []Change) []error

	// Log returns a page of the log of all events, newest first, with a single query. It can lag behind commits by
	// about a second, except when it selects one flag. It returns Invalid if the cursor is not from a query of the
	// same kind.
	Log(ctx context.Context, query LogQuery) (LogPage, error)

	// Events returns the events of one aggregate, oldest first.
	Events(ctx context.Context, of Aggregate) ([]Event, error)
}
