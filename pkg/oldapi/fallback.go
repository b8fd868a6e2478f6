package oldapi

import (
	"strings"

	"guidon/pkg/flags"
)

// Fallback serves every path that no other group does: health, and a 404 that helps for the rest. It needs no store.
func Fallback() Group {
	return Group{
		Name:       "fallback",
		Operations: []Operation{{Route: "GET /health", Decide: does(health).answers(200, healthBody{})}},
		gone:       gone,
	}
}

type healthBody struct {
	Health string `json:"health"`
}

func health(*call) (decision, error) { return ok(healthBody{Health: "GOOD"}) }

// gone lists what Unleash removed in version 5 (contract: Removed legacy endpoints), and public signup.
var gone = []string{
	"GET /api/admin/features",
	"POST /api/admin/features",
	"GET /api/admin/features/{featureName}",
	"PUT /api/admin/features/{featureName}",
	"DELETE /api/admin/features/{featureName}",
	"POST /api/admin/features/{featureName}/toggle",
	"POST /api/admin/features/{featureName}/toggle/on",
	"POST /api/admin/features/{featureName}/toggle/off",
	"POST /api/admin/features/{featureName}/stale/on",
	"POST /api/admin/features/{featureName}/stale/off",

	"GET /invite/{token}/validate",
	"POST /invite/{token}/signup",
}

const noSignup = "public signup tokens cannot be redeemed, because there is no sign-in yet; an administrator creates users, by POST /api/admin/user-admin"

// absent says why a route of Unleash is not here, by route.
var absent = map[string]string{
	"GET /invite/{token}/validate":       noSignup,
	"POST /invite/{token}/signup":        noSignup,
	"GET /api/admin/user-admin/inactive": "inactive users are not known: Guidon does not record sign-ins yet; GET /api/admin/user-admin lists all users",
}

// removed says why a route is not there, or what to call instead.
func removed(route string) *flags.Error {
	if why, ok := absent[route]; ok {
		return flags.Errorf(flags.NotFound, "%s: %s", route, why)
	}
	const flag = "/api/admin/projects/{projectId}/features/{featureName}"
	method, path, _ := strings.Cut(route, " ")
	instead := method + " " + strings.Replace(path, "/api/admin/features", "/api/admin/projects/{projectId}/features", 1)
	switch {
	case strings.Contains(path, "/toggle"):
		instead = "POST " + flag + "/environments/{environment}/on or /off"
	case strings.Contains(path, "/stale"):
		instead = "PATCH " + flag + ` with [{"op":"replace","path":"/stale","value":true}]`
	}
	return flags.Errorf(flags.NotFound, "%s was removed in Unleash 5; use %s", route, instead)
}
