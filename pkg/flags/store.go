package flags

import (
	"context"
	"strconv"
)

// An Aggregate is what is loaded, changed and stored as a whole: a *Feature, *Project, *Environments or *Token.
// The store knows which version of it was read, and a change is committed only over that version.
type Aggregate interface {
	Key() Key
	version() int64
}

// VersionOf is the version an aggregate was read at; 0 means that it was never stored.
func VersionOf(a Aggregate) int64 { return a.version() }

// Entity names a sort of aggregate.
type Entity string

// The entities.
const (
	EntityFeature       Entity = "feature"
	EntityProject       Entity = "project"
	EntityEnvironments  Entity = "environments" // the registry of all environments, one for the service
	EntityToken         Entity = "token"        // an API token, by the hash of its secret
	EntityRoles         Entity = "roles"        // the registry of all roles
	EntityUser          Entity = "user"
	EntityTagTypes      Entity = "tag types"      // the registry of all tag types
	EntityStrategyTypes Entity = "strategy types" // the registry of the strategy types that are not built in
	EntitySignupToken   Entity = "signup token"
	EntityTokenUse      Entity = "token use"      // when a token was last used
	EntityContextFields Entity = "context fields" // the registry of context fields
	EntitySegment       Entity = "segment"
	EntityUse           Entity = "use"       // what a flag uses of segments and context fields; for lists alone
	EntityUseCount      Entity = "use count" // how often a segment began to be used; for reading alone
)

// A Key names one aggregate.
type Key struct {
	Entity Entity
	ID     string // "" where there is only one
}

// FeatureKey names the flag of that name.
func FeatureKey(name string) Key { return Key{EntityFeature, name} }

// ProjectKey names the project of that id.
func ProjectKey(id string) Key { return Key{EntityProject, id} }

// EnvironmentsKey names the registry of environments.
func EnvironmentsKey() Key { return Key{Entity: EntityEnvironments} }

// TokenKey names the API token whose secret has that hash (see HashSecret).
func TokenKey(hash string) Key { return Key{EntityToken, hash} }

// RolesKey names the registry of roles.
func RolesKey() Key { return Key{Entity: EntityRoles} }

// TagTypesKey names the registry of tag types.
func TagTypesKey() Key { return Key{Entity: EntityTagTypes} }

// StrategyTypesKey names the registry of strategy types.
func StrategyTypesKey() Key { return Key{Entity: EntityStrategyTypes} }

// ContextFieldsKey names the registry of context fields.
func ContextFieldsKey() Key { return Key{Entity: EntityContextFields} }

// SegmentKey names the segment of that id.
func SegmentKey(id int64) Key { return Key{EntitySegment, strconv.FormatInt(id, 10)} }

// UseCountKey names the count of uses of the segment of that id.
func UseCountKey(id int64) Key { return Key{EntityUseCount, strconv.FormatInt(id, 10)} }

// SignupTokenKey names the public signup token whose secret has that hash.
func SignupTokenKey(hash string) Key { return Key{EntitySignupToken, hash} }

// TokenUseKey names the last use of the token whose secret has that hash.
func TokenUseKey(hash string) Key { return Key{EntityTokenUse, hash} }

// UserKey names the user of that id.
func UserKey(id int64) Key { return Key{EntityUser, strconv.FormatInt(id, 10)} }

// A View is what one load brought; what is not there is not in it.
type View map[Key]Aggregate

// Find is the aggregate at key as its own type, or nil when the view has none.
func Find[A Aggregate](v View, key Key) A {
	a, _ := v[key].(A)
	return a
}

// A Write replaces Before, as it was loaded, by After. A nil Before makes After new, a nil After deletes Before.
type Write struct {
	Before, After Aggregate
}

// A Change is everything that one operation does, in one transaction, with the event that tells of it.
// A write that alters nothing is left out, and a change with nothing left is no change: it leaves no event.
type Change struct {
	Writes []Write
	Event  Event

	// Further events of the same change. Each is stored at a version of its own of the first aggregate that is altered,
	// whose version rises by the number of events.
	MoreEvents []Event
}

// Store keeps aggregates, the summaries that lists read, and events.
//
// Every method sees all that was committed before it was called. Its errors are *Error: Unavailable when the store
// throttles, fails or does not answer until the context's deadline, Internal for a defect, such as a missing permission.
type Store interface {
	// Load brings the aggregates that exist among keys, in one consistent read each.
	Load(ctx context.Context, keys []Key) (View, error)

	// Summaries lists a project's active or archived flags by name, complete and consistent.
	Summaries(ctx context.Context, projectUID string, archived bool) ([]FeatureSummary, error)

	// Tags lists the tags that a project's flags have, active and archived ones, each once, by type and value.
	Tags(ctx context.Context, projectUID string) ([]Tag, error)

	// List brings every aggregate of an entity: projects, API tokens, users, signup tokens, segments or uses. They are for reading: to
	// change one, load it.
	List(ctx context.Context, entity Entity) ([]Aggregate, error)

	// NextID is a new integer id for an entity, from 1, never given out twice; some may be left out.
	NextID(ctx context.Context, entity Entity) (int64, error)

	// Counts tells how many active flags a project has, and how many of them are stale.
	Counts(ctx context.Context, projectUID string) (active, stale int, err error)

	// Touch notes when a token was last used. It is no change: it has no version and leaves no event.
	Touch(ctx context.Context, seen *TokenUse) error

	// Commit applies all of a change or nothing of it, exactly once however often an answer is lost on the way.
	// VersionConflict when an aggregate is no longer at the version that was read, NameExists when one that was to be made
	// is there already (VersionConflict for a registry, which nobody gave a name), Invalid when one has grown past what an item
	// of the store can hold, a user's name is taken, or a strategy begins to use a segment that its project cannot use, Conflict when a project that is to be deleted still has active
	// flags.
	Commit(ctx context.Context, change Change) error

	// CommitAll applies changes as Commit does, each by itself and several at the same time, and tells how each ended, in
	// their order. No two of them may write the same aggregate.
	CommitAll(ctx context.Context, changes []Change) []error

	// Log brings a page of the log of all events, newest first, by one query of the engine's whatever the size of the log.
	// Unlike all else it may lag behind commits, by a second or so, except for the events of one flag. Invalid when the
	// cursor is not one that such a query gave.
	Log(ctx context.Context, query LogQuery) (LogPage, error)

	// Events lists what happened to one aggregate, oldest first.
	Events(ctx context.Context, of Aggregate) ([]Event, error)
}
