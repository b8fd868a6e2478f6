// Package httpapi runs the operations of the HTTP interface. It knows nothing of what they are about: packages below
// pkg/admin define them, as plain functions.
//
// An Operation is a route, the permission that it takes, and a function:
//
//	{Route: "POST " + env + "/on", Permission: flags.UpdateFeatureEnvironment, Handle: httpapi.Handle(enableFeature)}
//
//	func enableFeature(tx *httpapi.Tx, at httpapi.InFeatureEnvironment) (wire.Feature, error) {
//		f, env := at.Find(tx) // ends the transaction with the 404 if one of them does not exist
//		if err := f.Enable(env, tx.NewID); err != nil {
//			return wire.Feature{}, err
//		}
//		tx.Save(events.FeatureSwitched(httpapi.Was(tx, f), f, env, tx.Caller), f)
//		return record(tx, f), nil
//	}
//
// The function reads and changes through a Tx, and runs again when another writer was first (run.go). The path and query
// are a Place (places.go), the body and the answer are types: the description of the interface is made from them. An
// operation of several transactions takes a Many (many.go).
//
// A request goes: load what the place names with the caller's token (one call), 401, 403, Operation.Allow, 415 and 413, 400
// of the body, 400 of the path and query, and then the function itself.
package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"guidon/pkg/flags"
	"guidon/pkg/version"
)

// A Group is the operations that one Lambda function serves.
type Group struct {
	Name       string
	Operations []Operation
	Gone       map[string]string // routes that Guidon does not have, and what their 404 says
}

// Routes lists the group's routes as net/http writes them: "GET /api/admin/projects/{projectId}".
func (g Group) Routes() []string {
	routes := make([]string, 0, len(g.Operations))
	for _, op := range g.Operations {
		routes = append(routes, op.Route)
	}
	return routes
}

// Config is how a deployment sets the interface up.
type Config struct {
	Open   bool         // AUTH_TYPE=none: everybody is the administrator
	Limits flags.Limits // LIMIT_…
	Logger *slog.Logger // one line a request; nil logs nothing
	Now    func() time.Time

	Origins []string // CORS_ORIGINS: whose pages may call from a browser
	Metrics *Metrics // METRICS: what the log lines are to count; nil for nothing
	Version string   // AWS_LAMBDA_FUNCTION_VERSION: of the function, for the log; empty outside Lambda

	// Sealer brings what keeps the secrets of tokens, for the group tokens alone: it may take a call, the first time.
	Sealer func(ctx context.Context) (flags.Sealer, error)

	// Twice, in tests, has the function of every operation run twice in each round, and is given what it did each time: it
	// must be the same. Nil in production.
	Twice func(route string, first, second Result)
}

// ConfigFromEnv reads AUTH_TYPE (none, or api-token, the default), LOG_LEVEL (debug, info, warn, error; default info)
// and the limits: LIMIT_STRATEGIES (per flag environment), LIMIT_CONSTRAINTS (per strategy), LIMIT_CONSTRAINT_VALUES
// (per constraint), LIMIT_CONSTRAINT_VALUE_LENGTH (characters), LIMIT_ENVIRONMENTS (per service),
// LIMIT_TAGS (per flag); CORS_ORIGINS (origins between commas; none by default); METRICS (none, the default, or emf: see
// Metrics).
func ConfigFromEnv() (Config, error) {
	c := Config{Limits: flags.DefaultLimits(), Now: time.Now, Version: os.Getenv("AWS_LAMBDA_FUNCTION_VERSION")}
	switch auth := os.Getenv("AUTH_TYPE"); auth {
	case "none":
		c.Open = true
	case "", "api-token":
	default:
		return c, fmt.Errorf("AUTH_TYPE is %q; it can be none or api-token", auth)
	}
	var level slog.Level
	if name := os.Getenv("LOG_LEVEL"); name != "" {
		if err := level.UnmarshalText([]byte(name)); err != nil {
			return c, fmt.Errorf("LOG_LEVEL is %q; it can be debug, info, warn or error", name)
		}
	}
	c.Logger = newLogger(level)
	var err error
	if c.Origins, err = parseOrigins(os.Getenv("CORS_ORIGINS")); err != nil {
		return c, err
	}
	if c.Metrics, err = newMetrics(os.Getenv); err != nil {
		return c, err
	}
	for name, limit := range map[string]*int{
		"LIMIT_STRATEGIES": &c.Limits.Strategies, "LIMIT_CONSTRAINTS": &c.Limits.Constraints,
		"LIMIT_CONSTRAINT_VALUES": &c.Limits.ConstraintValues, "LIMIT_CONSTRAINT_VALUE_LENGTH": &c.Limits.ConstraintValueLength,
		"LIMIT_ENVIRONMENTS": &c.Limits.Environments, "LIMIT_TAGS": &c.Limits.Tags,
		"LIMIT_STRATEGY_SEGMENTS": &c.Limits.StrategySegments, "LIMIT_SEGMENT_VALUES": &c.Limits.SegmentValues,
		"LIMIT_CONTEXT_FIELDS": &c.Limits.ContextFields,
	} {
		value := os.Getenv(name)
		if value == "" {
			continue
		}
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return c, fmt.Errorf("%s is %q; it must be a whole number above 0", name, value)
		}
		*limit = n
	}
	return c, nil
}

// New serves a group's operations, and the JSON 404 for every other path and method. Fallback needs no store.
func New(store flags.Store, group Group, config Config) http.Handler {
	if config.Now == nil {
		config.Now = time.Now
	}
	s := &service{store: store, config: config}
	mux := &Mux{}
	for _, op := range group.Operations {
		if op.Handle.legacy != nil {
			mux.Handle(op.Route, op.Handle.legacy(store, config))
			continue
		}
		mux.Handle(op.Route, s.handler(op))
	}
	for route, message := range group.Gone {
		mux.Handle(route, s.fails(route, flags.Errorf(flags.NotFound, "%s", message)))
	}
	nothing := http.HandlerFunc(s.notFound)
	mux.Handle("/", nothing)
	for _, op := range group.Operations {
		if before, tail := withoutTail(op.Route); tail && !slices.Contains(group.Routes(), before) { // net/http would redirect to it with a slash behind
			mux.Handle(before, nothing)
		}
	}
	return s.guard(mux, nothing)
}

// guard answers preflights, before any authentication, and rejects paths that are not in canonical form: net/http's mux
// would redirect them, or would if they were not escaped. Slashes that SDKs make of an address that ends in a slash are the
// exception: such a path is served as the one without them.
func (s *service) guard(mux *Mux, nothing http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer s.recover(w, r)
		s.cors(w.Header(), r)
		if r.URL.Path == healthPath {
			w.Header().Set("Guidon-Version", version.String())
		}
		switch {
		case r.Method == http.MethodOptions:
			s.preflight(w, r)
		case isCanonical(r.URL, endsInText(mux, r)):
			mux.ServeHTTP(w, r)
		default:
			shorter := withoutSpareSlashes(r)
			if shorter == nil || !isCanonical(shorter.URL, false) {
				nothing.ServeHTTP(w, r)
				return
			}
			if _, route := mux.Handler(shorter); route == "/" || strings.HasSuffix(route, "...}") { // a text may have slashes of its own
				nothing.ServeHTTP(w, r)
				return
			}
			mux.ServeHTTP(w, shorter)
		}
	})
}

// isCanonical tells whether a path is written in the one form that is served: no empty or dotted segment, none that is
// escaped, unless it is in the text that the path ends in.
func isCanonical(u *url.URL, endsInText bool) bool {
	escaped := u.EscapedPath()
	return strings.HasPrefix(escaped, "/") && path.Clean(escaped) == escaped && (endsInText || path.Clean(u.Path) == u.Path)
}

// withoutSpareSlashes is the request without the slashes that clients add to its path: at its end, at its head, and after
// /api, where an SDK adds its own path to an address that ends in a slash. Nil when there are none. A doubled slash further
// down stays, and so does one at the end of what is to be deleted: there it is more likely a name that a script left empty.
func withoutSpareSlashes(r *http.Request) *http.Request {
	escaped := r.URL.EscapedPath()
	shorter := "/" + strings.TrimLeft(escaped, "/")
	if r.Method != http.MethodDelete {
		shorter = "/" + strings.Trim(escaped, "/")
	}
	if rest, found := strings.CutPrefix(shorter, "/api/"); found {
		shorter = "/api/" + strings.TrimLeft(rest, "/")
	}
	if shorter == escaped {
		return nil
	}
	decoded, err := url.PathUnescape(shorter)
	if err != nil {
		return nil
	}
	c := r.Clone(r.Context())
	c.URL.Path, c.URL.RawPath = decoded, shorter
	return c
}

// notFound answers a request for a path and method that this group does not serve.
func (s *service) notFound(w http.ResponseWriter, r *http.Request) {
	if toDocs(r) {
		s.log(r, outcome{path: pathPattern(r.URL.Path)}, http.StatusFound, errorBody{})
		http.Redirect(w, r, "/docs", http.StatusFound)
		return
	}
	s.respond(w, r, outcome{path: pathPattern(r.URL.Path), err: unknownPath(r)})
}

// endsInText tells whether the path ends in a text of any characters, such as the value of a tag.
func endsInText(mux *Mux, r *http.Request) bool {
	_, route := mux.Handler(r)
	return strings.HasSuffix(route, "...}")
}

// fails answers every request with one failure.
func (s *service) fails(route string, failure *flags.Error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.respond(w, r, outcome{route: route, err: failure})
	})
}

// withoutTail is a route less the remainder that it ends in, if it does.
func withoutTail(route string) (before string, tail bool) {
	if !strings.HasSuffix(route, "...}") {
		return route, false
	}
	return route[:strings.LastIndex(route, "/")], true
}
