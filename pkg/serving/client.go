package serving

import (
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// ClientGroup returns the operations that server-side SDKs and Unleash Edge call. store stores the last use of tokens; nil to
// store none.
func ClientGroup(source Source, store flags.Store, config httpapi.Config) httpapi.Group {
	s := newServer(source, store, config)
	return httpapi.Group{Name: "client", Operations: []httpapi.Operation{
		{Route: "GET /api/client/features", Handle: httpapi.Serve(nil, clientFeatures{}, s.features)},
		{Route: "GET /api/client/features/{featureName}", Handle: httpapi.Serve(nil, clientFeature{}, s.feature)},
		{Route: "GET /api/client/delta", Handle: httpapi.Serve(nil, clientDelta{}, s.delta)},
	}}
}
