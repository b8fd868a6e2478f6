package flags

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
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
	EntityFeature         Entity = "feature"
	EntityProject         Entity = "project"
	EntityEnvironments    Entity = "environments"   // registry of all environments
	EntityTagTypes        Entity = "tag types"      // registry of all tag types
	EntityStrategyTypes   Entity = "strategy types" // registry of the custom strategy types
	EntityContextFields   Entity = "context fields" // registry of context fields
	EntitySegment         Entity = "segment"
	EntityReleaseTemplate Entity = "release template"
	EntitySignals         Entity = "signals"         // of an environment of a project
	EntityCodeReferences  Entity = "code references" // to the flags of a project
	EntityUse             Entity = "use"             // which segments and context fields a flag uses; only in lists
	EntityUseCount        Entity = "use count"       // how often a strategy started to use a segment; only loaded
	EntityFeed            Entity = "feed"            // the changes that applications see; only loaded
	EntityAddons          Entity = "addons"          // registry of addons
	EntitySnapshot        Entity = "snapshot"        // which snapshot of what applications see is the current one; only loaded
	EntityFavorites       Entity = "favorites"       // of a caller
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

// ReleaseTemplateKey returns the key of a release template by ID.
func ReleaseTemplateKey(id string) Key { return Key{EntityReleaseTemplate, id} }

// UseCountKey returns the key of the use count of a segment, by the segment's ID.
func UseCountKey(id int64) Key { return Key{EntityUseCount, strconv.FormatInt(id, 10)} }

// FeedKey returns the key of the feed.
func FeedKey() Key { return Key{Entity: EntityFeed} }

// SnapshotForm is the version of the stored form of snapshots, and of what Served returns: versions of Guidon with the same one agree on what
// applications see. Increase it with each change of these, which TestSnapshotFormat finds. Each form has a head of its own: during a deployment, versions of
// different forms write snapshots beside each other.
const SnapshotForm = 1

// SnapshotKey returns the key of the head of the snapshots of this version's form.
func SnapshotKey() Key { return Key{EntitySnapshot, strconv.Itoa(SnapshotForm)} }

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

// Adds returns the flag by which the write increases the active flags of a project: a new one, or one that is revived or moves there; nil
// for none.
func (w Write) Adds() *Feature {
	before, _ := w.Before.(*Feature)
	after, _ := w.After.(*Feature)
	if after == nil || after.Archived || before != nil && !before.Archived && before.ProjectUID == after.ProjectUID {
		return nil
	}
	return after
}

// A Change is everything that one operation writes in one transaction, with its event. Writes that alter nothing
// are dropped. If no write is left, nothing happens and no event is stored.
type Change struct {
	Writes []Write
	Event  Event

	// MoreEvents are further events of the same change. The version of the first altered aggregate rises by the
	// number of events, and each event is stored at a version of its own.
	MoreEvents []Event

	// Then are further changes of the same transaction, its steps: each was decided on what the steps before it left, so its writes
	// begin there. Each step has its own events, in the history of the first aggregate that the step alters, as if it was committed
	// alone. Their Feed and Addons are not used.
	Then []Change

	// Feed is the feed as it was loaded before the change. With it, the change can move older entries out of the feed's
	// item, so that the item stays small. Nil if it was not loaded: it must be loaded for some changes, not for all.
	Feed *Feed

	// Addons is the registry of addons as it was loaded before the change. Each event gets an entry in the outbox of each
	// addon that matches it. Nil if there are none.
	Addons *Addons

	// Assumed is what was read of change requests and freezes when it was decided that they allow the change.
	Assumed ReviewAssumption

	// Unchanged are further aggregates that the change depends on: it is only committed if they still are as they were loaded.
	Unchanged []Aggregate
}

// Steps returns the steps of the change: itself, and those of Then.
func (c Change) Steps() []Change { return append([]Change{c}, c.Then...) }

// A ReviewAssumption is what a change depends on if applications see it: it is only committed if no change requests were switched on
// and no freeze was set since. It costs nothing, because such a change writes the feed anyway, which knows the latest numbers.
type ReviewAssumption struct {
	Projects map[string]int64 // Project.ReviewChange, by UID
	Changes  *int64           // Environments.ReviewChanges; nil if the change does not depend on it
	Served   *int64           // Feed.Number: applications see the same since then; nil if the change does not depend on it

	Added map[string]int64 // by UID of a project with a limit of flags: what FlagCounts.Added may be after the change

	SegmentUses []int64         // IDs of written segments that no flag may have begun to use since they were loaded
	Segments    map[int64]int64 // versions of segments, by ID: if the change begins to use one, its content may not have changed since
}

// And returns what two steps of a change depend on together. Of a project that both have read, the first one says what was stored.
func (a ReviewAssumption) And(b ReviewAssumption) ReviewAssumption {
	both := ReviewAssumption{
		Projects: map[string]int64{}, Segments: map[int64]int64{}, Changes: cmp.Or(a.Changes, b.Changes), Served: cmp.Or(a.Served, b.Served),
		SegmentUses: slices.Concat(a.SegmentUses, b.SegmentUses), Added: map[string]int64{},
	}
	maps.Copy(both.Added, b.Added)
	maps.Copy(both.Added, a.Added)
	maps.Copy(both.Projects, b.Projects)
	maps.Copy(both.Projects, a.Projects)
	maps.Copy(both.Segments, b.Segments)
	maps.Copy(both.Segments, a.Segments)
	return both
}

// MergeWrites returns what several writes, each made on what those before it left, change together: of each aggregate what was there first,
// and what is there last.
func MergeWrites(writes []Write) (merged []Write) {
	at := map[Key]int{}
	for _, w := range writes {
		key := cmp.Or(w.After, w.Before).Key()
		i, known := at[key]
		if !known {
			i = len(merged)
			at[key], merged = i, append(merged, Write{Before: w.Before})
		}
		merged[i].After = w.After
	}
	return slices.DeleteFunc(merged, func(w Write) bool { return w.Before == nil && w.After == nil })
}

// An UnloggedStore stores what is no change that others see.
type UnloggedStore interface {
	// PutUnlogged stores favorites, signals or code references without an event. It returns VersionConflict if they are no longer at the
	// version that was loaded. before is nil for the first ones.
	PutUnlogged(ctx context.Context, before, after Aggregate) error
}

// A WatchStore knows the safeguards of release plans.
type WatchStore interface {
	// Watched returns the safeguards of plans under an attachment of an environment, those that are looked at first.
	Watched(ctx context.Context, attachment string) ([]Due, error)
}

// Store stores aggregates. What lists, logs and deliveries need in addition is in the interfaces SummaryStore, UseStore, EventStore,
// DeliveryStore, OutboxStore and FeedStore; each package asks for what it uses. TestStore in pkg/dynamo has the tests.
//
// Every method sees everything that was committed before it was called, except Log. Errors are of type *Error:
// Unavailable if the store throttles, fails or does not answer before the deadline of the context, Internal for
// a defect, such as a missing permission.
type Store interface {
	// Load returns the aggregates that exist among keys. Each is read consistently, but not all at one moment. They must not be
	// modified: other callers can have the same ones. Clone an aggregate before changing it.
	Load(ctx context.Context, keys []Key) (View, error)

	// List returns all aggregates of an entity: projects, API tokens, users, signup tokens, segments, feature
	// uses or applications. Load an aggregate before changing it.
	List(ctx context.Context, entity Entity) ([]Aggregate, error)

	// NextID returns a new integer ID for an entity, starting from 1. IDs are never repeated; some may be skipped.
	NextID(ctx context.Context, entity Entity) (int64, error)

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
}
