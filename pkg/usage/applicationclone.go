package usage

import (
	"maps"
	"slices"
)

// Clone returns a copy that can be changed.
func (a *Application) Clone() *Application {
	c := *a
	c.Projects, c.Uses, c.Environments = maps.Clone(a.Projects), maps.Clone(a.Uses), maps.Clone(a.Environments)
	c.Strategies = slices.Clone(a.Strategies)
	return &c
}

// Clone returns a copy that can be changed.
func (n *ApplicationNames) Clone() *ApplicationNames {
	c := *n
	c.Features, c.Unknown = slices.Clone(n.Features), maps.Clone(n.Unknown)
	return &c
}
