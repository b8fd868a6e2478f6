package oldapi

import (
	"slices"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// What other operations of this package still use of the tokens, which moved to pkg/admin/tokens. TEMPORARY.

const maxTitle = flags.MaxTitle

var noToken = flags.Errorf(flags.NotFound, "there is no API token with this secret")

func projectKeys(ids []string) []flags.Key { return httpapi.ProjectKeys(slices.Clone(ids)...) }

func (c *call) projectNamed(id string) *flags.Project {
	return flags.Find[*flags.Project](c.more, flags.ProjectKey(id))
}
