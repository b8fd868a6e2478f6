package server

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"guidon/pkg/bootstrap"
)

// unsupported are the settings of Unleash that Guidon does not have, as its documentation lists them, and what to use instead. The first
// pattern that matches a name counts.
var unsupported = []struct{ names, instead string }{
	{"DATABASE_*", "Guidon keeps its data in DATA_DIR, or in the DynamoDB at AWS_ENDPOINT_URL_DYNAMODB"},
	{"HTTP_HOST", "use HOST"},
	{"HTTP_PORT", "use PORT"},
	{"UNLEASH_URL", "use PUBLIC_URL"},
	{"BASE_URI_PATH", "Guidon is at the root of its host; a proxy in front of it can remove a path"},
	{"UNLEASH_DEFAULT_ADMIN_*", "Guidon has no passwords; at the first start it prints a link that signs in"},
	{"AUTH_ENABLE_API_TOKEN", "use AUTH_TYPE=none if requests need no token"},
	{"AUTH_DEMO_ALLOW_ADMIN_LOGIN", "at the first start Guidon prints a link that signs in"},
	{"EMAIL_*", "Guidon sends no email; people sign in with a link or with OpenID Connect (OIDC_…)"},
	{"SESSION_TTL_HOURS", "use SESSION_HOURS"},
	{"SESSION_CLEAR_SITE_DATA_ON_LOGOUT", "signing out always ends the session on the server"},
	{"MAX_PARALLEL_SESSIONS", "an administrator can sign a user out everywhere"},
	{"UNLEASH_FRONTEND_API_ORIGINS", "use FRONTEND_ORIGINS"},
	{"ACCESS_CONTROL_MAX_AGE", "Guidon chooses how long browsers may remember CORS"},
	{"UNLEASH_STRATEGY_SEGMENTS_LIMIT", "use LIMITS=strategySegments=…"},
	{"UNLEASH_SEGMENT_VALUES_LIMIT", "use LIMITS=segmentValues=…"},
	{"ENABLED_ENVIRONMENTS", "switch environments with the API or the console"},
	{"CLIENT_FEATURE_CACHING_*", "use CLIENT_MAX_AGE, in seconds"},
	{"FRONTEND_API_REFRESH_INTERVAL_MS", "use CLIENT_MAX_AGE, in seconds"},
	{"REQUEST_LOGGER_ENABLE", "use LOG_LEVEL; every request has a log line"},
	{"CHECK_VERSION", "Guidon never asks for new versions"},
	{"UNLEASH_VERSION_URL", "Guidon never asks for new versions"},
	{"SEND_TELEMETRY", "Guidon sends no telemetry"},
	{"SECURE_HEADERS", "Guidon always sends security headers"},
	{"CSP_ALLOWED_*", "the console loads nothing from other hosts"},
	{"CDN_PREFIX", "the console loads nothing from other hosts"},
	{"*_RATE_LIMIT_PER_MINUTE", "limit the rate of requests in a proxy in front of Guidon"},
	{"SIMPLE_LOGIN_LIMIT_PER_MINUTE", "Guidon has no passwords"},
	{"DAILY_METRICS_STORAGE_DAYS", "Guidon chooses how long it keeps usage"},
	{"SERVER_KEEPALIVE_TIMEOUT", "Guidon chooses how long connections stay open"},
	{"SERVER_DISABLE_COMPRESSION", "Guidon compresses responses for clients that ask for it"},
	{"GRACEFUL_SHUTDOWN_*", "Guidon always ends open requests before it stops"},
	{"ENABLE_SCHEDULED_CREATED_BY_MIGRATION", "it has no effect"},
	{"DISABLE_LEGACY_FEATURES_API", "Guidon never serves that API"},
	{"INIT_*_API_TOKENS", "use " + strings.Join(bootstrap.TokenVariables(), ", ")},
	{"UNLEASH_*", "it has no effect"},
}

// warnOfUnsupported prints a line for each kind of Unleash setting in the environment that Guidon does not have.
func warnOfUnsupported(w io.Writer, environ []string) {
	found := make([][]string, len(unsupported))
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if value == "" || slices.Contains(bootstrap.TokenVariables(), name) {
			continue
		}
		for i, u := range unsupported {
			if ok, _ := path.Match(u.names, name); ok {
				found[i] = append(found[i], name)
				break
			}
		}
	}
	for i, names := range found {
		if len(names) == 0 {
			continue
		}
		slices.Sort(names)
		what := "is a setting of Unleash"
		if len(names) > 1 {
			what = "are settings of Unleash"
		}
		_, _ = fmt.Fprintf(w, "guidon: warning: %s %s that Guidon does not have: %s\n", strings.Join(names, ", "), what, unsupported[i].instead)
	}
}
