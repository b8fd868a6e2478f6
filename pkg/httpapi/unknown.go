package httpapi

import (
	"net/http"
	"strings"

	"guidon/pkg/flags"
)

// healthPath answers in the form of Unleash, so the version is in a header.
const healthPath = "/health"

// notServed maps the start of a path of Unleash that Guidon does not serve to what to use instead. The first match counts.
var notServed = []struct{ prefix, message string }{
	{"/api/client/streaming", "Guidon does not stream: have the SDK poll, which GET /api/client/features and GET /api/client/delta serve"},
	{"/api/client/metrics", noReport}, {"/api/client/register", noReport}, {"/api/frontend/client", noReport}, {"/api/client/applications", noReport},
	{"/edge", "no such endpoint; Unleash Edge validates its tokens with POST /edge/validate, and reports usage with POST /api/client/metrics/bulk; " + applications},
	{"/api/proxy", "Guidon has the frontend API at /api/frontend; " + applications},
	{"/api/client", noEndpoint}, {"/api/frontend", noEndpoint}, {"/ofrep", noEndpoint},
}

const (
	applications = "see docs/interface.md in its repository"
	noReport     = "no such endpoint; applications report usage with POST /api/client/register, /api/client/metrics and " +
		"/api/client/metrics/bulk, browsers with POST /api/frontend/client/metrics and /api/frontend/client/register; see /docs"
	noEndpoint = "no such endpoint; SDKs read GET /api/client/features or /api/client/delta, browsers GET or POST /api/frontend, " +
		"and OpenFeature providers POST /ofrep/v1/evaluate/flags; see /docs"
)

// unknownPath is the 404 of a path that this group does not serve.
func unknownPath(r *http.Request) *flags.Error {
	if escaped := r.URL.EscapedPath(); strings.Contains(escaped, "//") || len(escaped) > 1 && strings.HasSuffix(escaped, "/") {
		return flags.Errorf(flags.NotFound, "no such endpoint: remove the extra slash; see /docs")
	}
	path := r.URL.Path
	for _, p := range notServed {
		if path == p.prefix || strings.HasPrefix(path, p.prefix+"/") {
			return flags.Errorf(flags.NotFound, "%s", p.message)
		}
	}
	return flags.Errorf(flags.NotFound, "no such endpoint; see /docs")
}

// toDocs reports whether a path is that of the documentation with a slash at its end: it is redirected.
func toDocs(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && r.URL.Path == "/docs/" && r.URL.RawPath == ""
}

const (
	unknownSegment = "{…}" // in place of a segment that could be a name or a secret
	maxSegments    = 8     // of a path in the log
)

// pathPattern is a path for the log, as the pattern that clients ask for: words of Unleash's and Guidon's API stay, and
// all other segments become {…}, since they may be names or secrets. Its length is bounded.
func pathPattern(path string) string {
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

// apiWords are the fixed segments of paths that clients of Unleash may ask for.
var apiWords = func() map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(`
		api admin client frontend proxy edge ofrep docs health ready auth invite internal-backstage prometheus
		features feature metrics register bulk all delta streaming v1 v2 evaluate flags configuration validate heartbeat
		expose-metrics edge-licensing instance edge-token issue-token validate-token hello
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
