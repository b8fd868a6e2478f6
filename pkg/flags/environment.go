package flags

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// An Environment is a stage in which flags are switched on and off separately, such as production (contract:
// Project environment).
type Environment struct {
	Name      string    `json:"name"`
	UID       string    `json:"uid"`                // new each time the name is created; data of a deleted environment of that name does not apply
	Type      string    `json:"type"`               // for example development or production
	Enabled   bool      `json:"enabled"`            // new projects get all enabled environments
	Protected bool      `json:"protected,omitzero"` // cannot be deleted
	SortOrder int64     `json:"sortOrder"`          // lower comes first
	CreatedAt time.Time `json:"createdAt"`
	ReviewPolicy
}

// Environments is the registry of all environments of the service: one aggregate.
type Environments struct {
	Version int64         `json:"version,omitzero"`
	List    []Environment `json:"list"`

	// ReviewChanges counts the changes by which more is guarded: projects that switch change requests on or freeze an environment,
	// environments that get another policy, are frozen or deleted. 0 means that nothing is guarded. RecentReviews are those of projects in the
	// last minutes.
	ReviewChanges int64          `json:"reviewChanges,omitzero"`
	RecentReviews []ReviewChange `json:"recentReviews,omitempty"`

	Freezes []Freeze `json:"freezes,omitempty"` // of environments in all projects. Read them with Frozen
}

// Key returns the key of the registry.
func (e *Environments) Key() Key { return EnvironmentsKey() }

// StoredVersion returns the version of the whole registry: changes of different environments conflict, too, and are retried.
func (e *Environments) StoredVersion() int64 { return e.Version }

// Clone returns a copy that can be changed.
func (e *Environments) Clone() *Environments {
	c := *e
	c.List = slices.Clone(e.List)
	return &c
}

// Find returns the environment of that name, or nil.
func (e *Environments) Find(name string) *Environment {
	for i := range e.List {
		if e.List[i].Name == name {
			return &e.List[i]
		}
	}
	return nil
}

// Add adds an environment. It returns NameExists if the name is taken, and Invalid if the limit is reached.
func (e *Environments) Add(env Environment, limits Limits) error {
	if e.Find(env.Name) != nil {
		return Errorf(NameExists, "an environment named %q exists already", env.Name)
	}
	if len(e.List) >= limits.Environments {
		return Errorf(Invalid, "there are %d environments, and no more than %d are allowed; delete one first", len(e.List), limits.Environments)
	}
	e.List = append(e.List, env)
	return nil
}

// Get returns the environment of that name, or NotFound.
func (e *Environments) Get(name string) (*Environment, error) {
	if env := e.Find(name); env != nil {
		return env, nil
	}
	return nil, Errorf(NotFound, "there is no environment %q", name)
}

// Sorted returns all environments by sort order, then by name.
func (e *Environments) Sorted() []Environment {
	return slices.SortedFunc(slices.Values(e.List), func(a, b Environment) int { return a.compare(b) })
}

// compare orders environments by sort order, then by name.
func (e Environment) compare(other Environment) int {
	return cmp.Or(cmp.Compare(e.SortOrder, other.SortOrder), cmp.Compare(e.Name, other.Name))
}

// SetSortOrders sets the sort orders of environments, by name. The others keep theirs. If a name is unknown, it
// returns Invalid and changes nothing.
func (e *Environments) SetSortOrders(order map[string]int64) error {
	for _, name := range slices.Sorted(maps.Keys(order)) {
		if e.Find(name) == nil {
			return Errorf(Invalid, "there is no environment %q", name)
		}
	}
	for i, env := range e.List {
		if at, given := order[env.Name]; given {
			e.List[i].SortOrder = at
		}
	}
	return nil
}

// Remove deletes an environment. It returns NotFound if there is none, Invalid if it is protected, and Conflict if it is of the type
// production and not disabled. Projects,
// flags and tokens keep their entries for its UID. These entries are ignored from then on, even if an
// environment of the same name is created again.
func (e *Environments) Remove(name string) error {
	env, err := e.Get(name)
	if err != nil {
		return err
	}
	if env.Protected {
		return Errorf(Invalid, "environment %q is protected and cannot be deleted", name)
	}
	if env.Type == ProductionType && env.Enabled {
		return Errorf(Conflict, "environment %q is of the type production and cannot be deleted while it is enabled: disable it first", name)
	}
	e.ReviewChanges++ // a flag that was to be switched on in it cannot be any more
	uid := env.UID
	e.Freezes = without(e.Freezes, func(f Freeze) bool { return f.EnvironmentUID == uid })
	e.List = slices.DeleteFunc(e.List, func(env Environment) bool { return env.Name == name })
	return nil
}

// NextSortOrder returns a sort order that places an environment after all others.
func (e *Environments) NextSortOrder() int64 {
	var next int64
	for _, env := range e.List {
		next = max(next, min(env.SortOrder+1, maxSortOrder))
	}
	return next
}

// ShortID shortens a UUID to its first eight characters. It is used for UIDs that are only compared with others
// of the same name, and short because list rows hold many of them.
func ShortID(uuid string) string { return uuid[:8] }
