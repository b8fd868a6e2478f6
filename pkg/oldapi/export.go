package oldapi

import (
	"net/http"
	"time"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// Export is a group for the new runner. TEMPORARY.
func Export(g Group) httpapi.Group {
	out := httpapi.Group{Name: g.Name}
	for _, op := range g.Operations {
		shape := op.Shape()
		out.Operations = append(out.Operations, httpapi.Operation{
			Route: op.Route, Permission: op.Permission, Status: shape.Status, MaxBody: shape.MaxBody,
			Handle: httpapi.Legacy(shape.Takes, shape.Answers, shape.Optional, func(store flags.Store, config httpapi.Config) http.Handler {
				if config.Now == nil {
					config.Now = time.Now
				}
				return (&executor{store: store, config: config}).handler(op)
			}),
		})
	}
	return out
}
