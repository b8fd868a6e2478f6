package flags

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// An Environment is a stage that flags are switched in (contract: Project environment).
type Environment struct {
	Name      string
	UID       string // new each time the name is made: what flags hold for an earlier one of that name is not seen
	Type      string // such as development or production; any word
	Enabled   bool   // new projects get the enabled ones
	Protected bool   // cannot be deleted
	SortOrder int64  // lower comes first
	CreatedAt time.Time
}

// Environments is the registry of all environments of the service, one aggregate.
type Environments struct {
	Version int64
	List    []Environment
}

// Key names the registry.
func (e *Environments) Key() Key { return EnvironmentsKey() }

func (e *Environments) version() int64 { return e.Version }

// Clone is a copy to change.
func (e *Environments) Clone() *Environments {
	c := *e
	c.List = slices.Clone(e.List)
	return &c
}

// Find is the environment of that name, or nil.
func (e *Environments) Find(name string) *Environment {
	for i := range e.List {
		if e.List[i].Name == name {
			return &e.List[i]
		}
	}
	return nil
}

// Add makes an environment. Invalid past the limit, NameExists when the name is taken.
func (e *Environments) Add(env Environment, limits Limits) error {
	if e.Find(env.Name) != nil {
		return Errorf(NameExists, "an environment named %q exists already", env.Name)
	}
	if len(e.List) >= limits.Environments {
		return Errorf(Invalid, "there are %d environments already, and no more than %d are allowed", len(e.List), limits.Environments)
	}
	e.List = append(e.List, env)
	return nil
}

// Get is the environment of that name. NotFound when there is none.
func (e *Environments) Get(name string) (*Environment, error) {
	if env := e.Find(name); env != nil {
		return env, nil
	}
	return nil, Errorf(NotFound, "there is no environment %q", name)
}

// Sorted is every environment, by sort order, then by name.
func (e *Environments) Sorted() []Environment {
	return slices.SortedFunc(slices.Values(e.List), func(a, b Environment) int { return a.compare(b) })
}

// compare orders environments by sort order, then by name.
func (e Environment) compare(other Environment) int {
	return cmp.Or(cmp.Compare(e.SortOrder, other.SortOrder), cmp.Compare(e.Name, other.Name))
}

// Order gives environments, by name, new sort orders; those that are not named keep theirs. Invalid when a name is
// unknown, and then nothing changes.
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

// Remove takes an environment away, whoever has it: what projects, flags and tokens keep for its UID is not seen any
// more, not even when an environment of that name is made again. NotFound without one, Invalid for a protected one.
func (e *Environments) Remove(name string) error {
	env, err := e.Get(name)
	if err != nil {
		return err
	}
	if env.Protected {
		return Errorf(Invalid, "environment %q is protected and cannot be deleted", name)
	}
	e.List = slices.DeleteFunc(e.List, func(env Environment) bool { return env.Name == name })
	return nil
}

// NextSortOrder places an environment behind all others.
func (e *Environments) NextSortOrder() int64 {
	var next int64
	for _, env := range e.List {
		next = max(next, min(env.SortOrder+1, maxSortOrder))
	}
	return next
}

// ShortID tells one environment or attachment from a later one of the same name: the first eight characters of a UUID,
// short because every list row holds some. It is compared with those of the same name only.
func ShortID(uuid string) string { return uuid[:8] }
