package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"time"

	"guidon/pkg/flags"
	"guidon/pkg/session"
)

// Config contains the settings of the API.
type Config struct {
	Open   bool         // AUTH_TYPE=none: every caller is an administrator
	Limits flags.Limits // LIMITS
	Logger *slog.Logger // gets one line a request; nil for no log
	Now    func() time.Time

	MaxAge time.Duration // CLIENT_MAX_AGE: the maximum age of responses to applications; 0: always current

	Origins         []string // CORS_ORIGINS: the origins whose pages may call the administration from a browser
	FrontendOrigins []string // FRONTEND_ORIGINS: those whose pages may evaluate flags; AllOrigins or nil for all
	Metrics         *Metrics // METRICS: the metrics of the log lines; nil for none
	Version         string   // AWS_LAMBDA_FUNCTION_VERSION, for the log; empty outside Lambda

	session.Settings // of the people who sign in

	// Sealer returns the key that encrypts the secrets of tokens and of webhooks. Only the groups access and integrations need
	// it. The first call may send a request to the key's store.
	Sealer func(ctx context.Context) (flags.Sealer, error)

	// CheckWebhook returns the reason why events cannot be sent to a URL. Only the group integrations needs it. Nil allows any: those who
	// send events check it, too.
	CheckWebhook func(url string) error

	// Alarms reads CloudWatch alarms, for safeguards of release plans. Nil reads none: safeguards cannot have alarms.
	Alarms *Alarms

	// Twice, in tests, makes every operation run twice in each round and gets both results, which must be the same. Nil in
	// production.
	Twice func(route string, first, second Result)

	// QueryRead, in tests, gets each parameter of a query that an operation reads. Nil in production.
	QueryRead func(route, name string)
}

// Alarms reads the CloudWatch alarms of an account in a region.
type Alarms struct {
	Prefix string // of the ARN of each of them, up to and with ":alarm:"

	// Read returns the states of alarms by their ARNs, one call a hundred. One that does not exist is not in the result.
	Read func(ctx context.Context, arns []string) (map[string]flags.AlarmState, error)
}

// maxMaxAge is the maximum of CLIENT_MAX_AGE in seconds.
const maxMaxAge = 3600

// ConfigFromEnv reads the settings from the environment: AUTH_TYPE (none or api-token, the default), LOG_LEVEL (debug, info,
// warn or error; default info), CORS_ORIGINS (comma-separated; default none), FRONTEND_ORIGINS (comma-separated; default *, all),
// CLIENT_MAX_AGE (seconds; default 0), PUBLIC_URL (default: that of the request), SESSION_HOURS (default 12), METRICS (none, the default, or emf: see Metrics), and LIMITS (default none; see
// flags.ParseLimits).
func ConfigFromEnv() (Config, error) {
	c := Config{Limits: flags.DefaultLimits(), Now: time.Now, Version: os.Getenv("AWS_LAMBDA_FUNCTION_VERSION")}
	switch auth := os.Getenv("AUTH_TYPE"); auth {
	case "none":
		c.Open = true
	case "", "api-token":
	default:
		return c, fmt.Errorf("AUTH_TYPE is %q; use none or api-token", auth)
	}
	var level slog.Level
	if name := os.Getenv("LOG_LEVEL"); name != "" {
		if err := level.UnmarshalText([]byte(name)); err != nil {
			return c, fmt.Errorf("LOG_LEVEL is %q; use debug, info, warn or error", name)
		}
	}
	c.Logger = newLogger(level)
	var err error
	if c.Origins, err = parseOrigins("CORS_ORIGINS", os.Getenv("CORS_ORIGINS")); err != nil {
		return c, fmt.Errorf("%w; * is not allowed for the administration", err)
	}
	if c.FrontendOrigins, err = parseFrontendOrigins(os.Getenv("FRONTEND_ORIGINS")); err != nil {
		return c, err
	}
	if c.Metrics, err = newMetrics(os.Getenv); err != nil {
		return c, err
	}
	if c.Settings, err = session.SettingsFromEnv(); err != nil {
		return c, err
	}
	if age := os.Getenv("CLIENT_MAX_AGE"); age != "" {
		seconds, err := strconv.Atoi(age)
		if err != nil || seconds < 0 || seconds > maxMaxAge {
			return c, fmt.Errorf("CLIENT_MAX_AGE is %q; it must be a whole number of seconds from 0 to %d", age, maxMaxAge)
		}
		c.MaxAge = time.Duration(seconds) * time.Second
	}
	if c.Limits, err = flags.ParseLimits(os.Getenv("LIMITS")); err != nil {
		return c, fmt.Errorf("LIMITS: %w", err)
	}
	return c, nil
}
