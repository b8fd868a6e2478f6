package flags

import (
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

// NextSortOrder places an environment behind all others.
func (e *Environments) NextSortOrder() int64 {
	var next int64
	for _, env := range e.List {
		next = max(next, min(env.SortOrder+1, maxSortOrder))
	}
	return next
}

// ShortID is what tells one environment, project or attachment from a later one of the same name: the first eight
// characters of a UUID, short because every list row holds some.
func ShortID(uuid string) string { return uuid[:8] }
