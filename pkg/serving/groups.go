package serving

import (
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// Groups returns the groups of operations for applications. With nil for source and store they only describe themselves.
func Groups(source Source, store flags.Store, config httpapi.Config) []httpapi.Group {
	return []httpapi.Group{ClientGroup(source, store, config), FrontendGroup(source, store, config)}
}
