package oldapi

import (
	"cmp"

	"guidon/pkg/flags"
)

// latestRegistry is the registry of environments that was loaded last. An environment that was created while the call was
// loaded has not been deleted: what flags have there counts.
func (c *call) latestRegistry() *flags.Environments {
	return cmp.Or(flags.Find[*flags.Environments](c.more, flags.EnvironmentsKey()), c.registry)
}
