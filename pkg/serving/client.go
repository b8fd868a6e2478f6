package serving

import (
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// ClientGroup returns the operations that server-side SDKs and Unleash Edge call. store stores the last use of tokens; nil to
// store none.
func ClientGroup(source Source, store flags.Store, config httpapi.Config) httpapi.Group {
	_ = newServer(source, store, config)
	return httpapi.Group{Name: "client"}
}
