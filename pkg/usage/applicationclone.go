package usage

import (
	"maps"
	"slices"
)

// Clone returns a copy that can be changed.
func (a *Application) Clone() *Application {
	c := *a
	c.Projects, c.Environments = maps.Clone(a.Projects), maps.Clone(a.Environments)
	c.Features, c.Strategies = slices.Clone(a.Features), slices.Clone(a.Strategies)
	return &c
}
