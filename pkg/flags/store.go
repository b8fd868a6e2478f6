package flags

import (
	"context"
	"strings"
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
	EntityFeature      Entity = "feature"
	EntityProject      Entity = "project"
	EntityEnvironments Entity = "environments" // the registry of all environments, one for the service
	EntityToken        Entity = "token"        // an API token, by the hash of its secret
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

// A View is what one load brought; what is not there is not in it.
type View map[Key]Aggregate

// Find is the aggregate at key as its own type, or nil when the view has none.
func Find[A Aggregate](v View, key Key) A {
	a, _ := v[key].(A)
	return a
}

// A Write replaces Before, as it was loaded, by After. A nil Before makes After new.
type Write struct {
	Before, After Aggregate
}

// A Change is everything that one operation does, in one transaction, with the event that tells of it.
// A write that alters nothing is left out, and a change with nothing left is no change: it leaves no event.
type Change struct {
	Writes []Write
	Event  Event
}

// Store keeps aggregates, the summaries that lists read, and events.
//
// Every method sees all that was committed before it was called. Its errors are *Error: Unavailable when the store
// throttles or an outcome could not be known before the context's deadline, Internal when it cannot be reached.
type Store interface {
	// Load brings the aggregates that exist among keys, in one consistent read each.
	Load(ctx context.Context, keys []Key) (View, error)

	// Summaries lists a project's active or archived flags by name, complete and consistent.
	Summaries(ctx context.Context, projectUID string, archived bool) ([]FeatureSummary, error)

	// Commit applies all of a change or nothing of it, exactly once however often an answer is lost on the way.
	// Outdated when an aggregate is no longer at the version that was read, NameExists when one that was to be made
	// is there already, Invalid when one has grown past what an item of the store can hold.
	Commit(ctx context.Context, change Change) error

	// Events lists what happened to one aggregate, oldest first.
	Events(ctx context.Context, of Aggregate) ([]Event, error)
}

// byName orders things by their names, byte by byte, which is also the order of the store.
func byName[T any](name func(T) string) func(a, b T) int {
	return func(a, b T) int { return strings.Compare(name(a), name(b)) }
}
