// Package apipath knows the paths that Unleash clients ask for: which of them browsers and SDKs use, what to use instead of those
// that Guidon does not serve, and which parts of a path may be in a log. It depends on nothing, so every function can use it.
package apipath

import (
	"slices"
	"strings"
)

// Health is the path of the health check. Its response has the same form as in Unleash, so the version is in a header.
const Health = "/health"

// ForBrowsers reports whether pages of all origins may call a path: those that browsers of users ask for flags.
func ForBrowsers(path string) bool { return below(path, "/api/frontend", "/api/proxy", "/ofrep") }

// ForSDKs reports whether SDKs call a path, or one below it.
func ForSDKs(path string) bool {
	return below(path, "/api/client/features", "/api/client/delta", "/api/client/register", "/api/client/metrics", "/api/frontend",
		"/ofrep/v1/evaluate/flags", "/edge")
}

// NoPage reports whether a path cannot be a page of the console: it belongs to the API, or to the files of the console.
func NoPage(path string) bool {
	return below(path, "/api", "/assets", "/auth", "/docs", "/edge", Health, "/invite", "/ofrep", "/ready")
}

// below reports whether a path is one of others, or below one.
func below(path string, others ...string) bool {
	return slices.ContainsFunc(others, func(other string) bool { return path == other || strings.HasPrefix(path, other+"/") })
}

// notServed maps the start of a path of Unleash that Guidon does not serve to what to use instead. The first match counts.
var notServed = []struct{ prefix, message string }{
	{"/api/client/streaming", "Guidon itself does not stream: use the address of Guidon Edge (guidon-edge), which does, or have the SDK poll"},
	{"/api/client/metrics", noReport}, {"/api/client/register", noReport}, {"/api/frontend/client", noReport}, {"/api/client/applications", noReport},
	{"/edge", "no such endpoint; Unleash Edge validates its tokens with POST /edge/validate, and reports usage with POST /api/client/metrics/bulk; " + applications},
	{"/api/proxy", "Guidon has the frontend API at /api/frontend; " + applications},
	{"/client", withoutAPI}, {"/frontend", withoutAPI},
	{"/api/client", noEndpoint}, {"/api/frontend", noEndpoint}, {"/ofrep", noEndpoint},
}

const (
	applications = "see docs/interface.md in its repository"
	noReport     = "no such endpoint; applications report usage with POST /api/client/register, /api/client/metrics and " +
		"/api/client/metrics/bulk, browsers with POST /api/frontend/client/metrics and /api/frontend/client/register; see /docs"
	withoutAPI = "no such endpoint; the URL that an SDK gets ends with /api, such as http://127.0.0.1:4242/api for a server on this machine"
	noEndpoint = "no such endpoint; SDKs read GET /api/client/features or /api/client/delta, browsers GET or POST /api/frontend, " +
		"and OpenFeature providers POST /ofrep/v1/evaluate/flags; see /docs"
)

// Unknown is the message of the 404 for a path that Guidon does not serve.
func Unknown(path string) string {
	for _, p := range notServed {
		if below(path, p.prefix) {
			return p.message
		}
	}
	return "no such endpoint; see /docs"
}

const (
	unknownSegment = "{…}" // in place of a segment that could be a name or a secret
	maxSegments    = 8     // of a path in the log
)

// Pattern is a path for the log, as the pattern that clients ask for: words of Unleash's and Guidon's API stay, and
// all other segments become {…}, since they may be names or secrets. Its length is bounded.
func Pattern(path string) string {
	segments := strings.SplitN(strings.TrimPrefix(path, "/"), "/", maxSegments+1)
	for i, segment := range segments {
		switch {
		case i == maxSegments:
			segments[i] = "…"
		case segment != "" && !apiWords[segment]:
			segments[i] = unknownSegment
		}
	}
	return "/" + strings.Join(segments, "/")
}

// apiWords are the fixed segments of paths that Unleash clients may ask for.
var apiWords = func() map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(`
		api admin client frontend proxy edge ofrep docs health ready auth invite internal-backstage prometheus
		features feature metrics register bulk all delta streaming v1 v2 evaluate flags configuration validate heartbeat
		expose-metrics edge-licensing instance edge-token issue-token validate-token hello
		openfeature v0 manifest
		login logout methods link sign-in sign-in-link sign-out sign-out-everywhere simple password google oidc saml reset reset-token
		access addons api-tokens applications archive archived banners change-requests clone constraints context
		context-fields dependencies disable enable environments event-creators events export favorites features-batch
		feature-types features-bulk groups health-report import impact-metrics insights instance-admin
		integrations invite-link latest legal-values license lifecycle login-history maintenance metrics-raw notifications
		off on openapi.json openapi overrides overview parents permissions personal-dashboard playground project-admin
		project-settings projects reactivate recommended release-plan-templates release-plans releases reorder revive roles
		root-role search segments service-account sdk-issues seen set-default signal-endpoints signals sort-order sorted
		splash stale state statistics status strategies strategy strategy-parameters tag-types tags telemetry toggle tokens
		traffic ui-config uptime usage user user-admin users value variants variants-batch version`) {
		words[word] = true
	}
	return words
}()
