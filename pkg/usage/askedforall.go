package usage

import (
	"time"

	"guidon/pkg/flags"
)

// OFREP is the name of the application in reports about evaluations through OFREP, whose providers send no name. As an instance it says that
// pages asked for all flags of the projects of its token at once: which of them they use is unknown.
const OFREP = "OFREP"

// AskedForAll is when a provider of OFREP last asked for all flags of a project.
type AskedForAll struct {
	Version int64     `json:"version,omitzero"`
	Project string    `json:"project"` // ID; flags.All for those with a token of all projects
	At      time.Time `json:"at"`      // can be an hour behind
}

// EntityAskedForAll is the entity of AskedForAll.
const EntityAskedForAll flags.Entity = "asked for all"

// AskedForAllKey returns the key for a project, by its ID, or for flags.All.
func AskedForAllKey(project string) flags.Key {
	return flags.Key{Entity: EntityAskedForAll, ID: project}
}

// Key returns the key.
func (a *AskedForAll) Key() flags.Key { return AskedForAllKey(a.Project) }

// StoredVersion returns the version at which it was loaded; 0 before the first time.
func (a *AskedForAll) StoredVersion() int64 { return a.Version }

// Clone returns a copy that can be changed.
func (a *AskedForAll) Clone() *AskedForAll {
	c := *a
	return &c
}
