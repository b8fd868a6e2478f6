// Package fallback serves the paths that no other group serves: health, the files and pages of the console, and a helpful 404 for
// endpoints that exist, or existed, in Unleash but not in Guidon. It needs no store.
package fallback

import (
	"maps"

	"guidon/console"
	"guidon/pkg/httpapi"
)

// Group has the health endpoints, which respond as those of Unleash do, the console, and the routes whose 404 has its own message.
func Group() httpapi.Group {
	gone := maps.Clone(notSupported)
	for route, instead := range removed {
		gone[route] = route + " was removed in Unleash 5; use " + instead
	}
	return httpapi.Group{
		Name:       "fallback",
		Function:   "site",
		Operations: []httpapi.Operation{{Route: "GET /health", Handle: httpapi.Handle(readHealth)}, {Route: "GET /ready", Handle: httpapi.Handle(readHealth)}},
		Gone:       gone,
		Site:       console.Site(),
	}
}

type healthBody struct {
	Health string `json:"health"`
}

func readHealth(*httpapi.Tx, httpapi.InService) (healthBody, error) {
	return healthBody{Health: "GOOD"}, nil
}

// removed maps the endpoints that Unleash 5 removed to what replaces them (contract: Removed legacy endpoints).
var removed = map[string]string{
	"GET /api/admin/features":                           "GET " + features,
	"POST /api/admin/features":                          "POST " + features,
	"GET /api/admin/features/{featureName}":             "GET " + feature,
	"PUT /api/admin/features/{featureName}":             "PUT " + feature,
	"DELETE /api/admin/features/{featureName}":          "DELETE " + feature,
	"POST /api/admin/features/{featureName}/toggle":     enable + " or /off",
	"POST /api/admin/features/{featureName}/toggle/on":  enable,
	"POST /api/admin/features/{featureName}/toggle/off": disable,
	"POST /api/admin/features/{featureName}/stale/on":   "PATCH " + feature + ` with [{"op":"replace","path":"/stale","value":true}]`,
	"POST /api/admin/features/{featureName}/stale/off":  "PATCH " + feature + ` with [{"op":"replace","path":"/stale","value":false}]`,
}

const (
	features = "/api/admin/projects/{projectId}/features"
	feature  = features + "/{featureName}"
	enable   = "POST " + feature + "/environments/{environment}/on"
	disable  = "POST " + feature + "/environments/{environment}/off"
)

// notSupported maps endpoints of Unleash that Guidon does not have to the reason.
var notSupported = map[string]string{
	"GET /invite/{token}/validate": "GET /invite/{token}/validate: " + noSignup,
	"POST /invite/{token}/signup":  "POST /invite/{token}/signup: " + noSignup,
}

const noSignup = "users cannot sign up with a public signup token, because Guidon has no sign-up; an administrator creates users with POST /api/admin/user-admin"
