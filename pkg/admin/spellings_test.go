package admin_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"guidon/pkg/access"
	"guidon/pkg/admin"
	"guidon/pkg/apitest"
	"guidon/pkg/docs"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/lambdahttp"
)

// These tests send requests without permission to every route, with the path written in many ways. All must be rejected.

// hidden is part of all stored texts that no path contains. A response that contains it has leaked data.
const hidden = "hush-hush"

// A spelling is a way to write a path. write gets the correct path, escaped where necessary.
type spelling struct {
	name  string
	write func(path string) string
}

// spellings are those that some server, proxy or framework has treated like the path itself.
func spellings() []spelling {
	last := func(path string) (before, end string) {
		i := strings.LastIndex(path, "/")
		return path[:i], path[i+1:]
	}
	return []spelling{
		{"unchanged", func(p string) string { return p }},
		{"an additional slash at the start", func(p string) string { return "/" + p }},
		{"additional slashes at the start", func(p string) string { return "///" + p }},
		{"each slash doubled", func(p string) string { return strings.ReplaceAll(p, "/", "//") }},
		{"an additional slash at the end", func(p string) string { return p + "/" }},
		{"additional slashes at the end", func(p string) string { return p + "//" }},
		{"a dot at the end", func(p string) string { return p + "/." }},
		{"a dot in the middle", func(p string) string { b, e := last(p); return b + "/./" + e }},
		{"a dot at the start", func(p string) string { return "/." + p }},
		{"two dots at the start", func(p string) string { return "/.." + p }},
		{"into a directory and back", func(p string) string { b, e := last(p); return b + "/x/../" + e }},
		{"out of the public path /health", func(p string) string { return "/health/.." + p }},
		{"out of the public path /docs", func(p string) string { return "/docs/../" + strings.TrimPrefix(p, "/") }},
		{"up to the public path /health", func(p string) string { return p + strings.Repeat("/..", strings.Count(p, "/")) + "/health" }},
		{"an escaped dot", func(p string) string { b, e := last(p); return b + "/%2e/" + e }},
		{"escaped dots", func(p string) string { b, e := last(p); return b + "/x/%2e%2e/" + e }},
		{"escaped dots, in upper case", func(p string) string { return "/health/%2E%2E" + p }},
		{"half escaped dots", func(p string) string { return "/health/.%2e" + p }},
		{"dots escaped twice", func(p string) string { return "/health/%252e%252e" + p }},
		{"escaped slashes", func(p string) string { return "/" + strings.ReplaceAll(p[1:], "/", "%2f") }},
		{"all slashes escaped", func(p string) string { return strings.ReplaceAll(p, "/", "%2F") }},
		{"the last slash escaped", func(p string) string { b, e := last(p); return b + "%2f" + e }},
		{"the last slash escaped twice", func(p string) string { b, e := last(p); return b + "%252f" + e }},
		{"out of /health with an escaped slash", func(p string) string { return "/health%2f.." + p }},
		{"a backslash", func(p string) string { b, e := last(p); return b + "%5c" + e }},
		{"a backslash and dots", func(p string) string { return "/health%5c..%5c" + p[1:] }},
		{"an overlong slash", func(p string) string { b, e := last(p); return b + "%c0%af" + e }},
		{"a full-width slash", func(p string) string { b, e := last(p); return b + "%ef%bc%8f" + e }},
		{"upper case", strings.ToUpper},
		{"upper case at the start", func(p string) string { return strings.Replace(p, "/api/admin", "/API/Admin", 1) }},
		{"a letter escaped", func(p string) string { return strings.Replace(p, "/api/", "/%61pi/", 1) }},
		{"a letter escaped twice", func(p string) string { return strings.Replace(p, "/api/", "/%2561pi/", 1) }},
		{"every letter escaped", func(p string) string {
			var b strings.Builder
			for _, c := range []byte(p) {
				if c == '/' {
					b.WriteByte(c)
				} else {
					_, _ = fmt.Fprintf(&b, "%%%02x", c)
				}
			}
			return b.String()
		}},
		{"a suffix", func(p string) string { return p + ".json" }},
		{"the suffix of a public file", func(p string) string { return p + "/openapi.json" }},
		{"followed by /health", func(p string) string { return p + "/health" }},
		{"followed by /docs", func(p string) string { return p + "/docs" }},
		{"preceded by /health", func(p string) string { return "/health" + p }},
		{"preceded by /docs", func(p string) string { return "/docs" + p }},
		{"a parameter of the path", func(p string) string { return p + ";a=b" }},
		{"a parameter with a public path", func(p string) string { return p + ";/health" }},
		{"NUL", func(p string) string { return p + "%00" }},
		{"NUL and a public path", func(p string) string { return p + "%00/health" }},
		{"a space", func(p string) string { return p + "%20" }},
		{"a space at the start", func(p string) string { return "/%20" + p }},
		{"a line break", func(p string) string { return p + "%0d%0a" }},
		{"a tab", func(p string) string { return p + "%09" }},
		{"an escaped question mark", func(p string) string { return p + "%3f" }},
		{"an escaped fragment", func(p string) string { return p + "%23/health" }},
		{"an escaped percent sign", func(p string) string { return p + "%25" }},
		{"followed by an escaped dot", func(p string) string { return p + "%2e" }},
		{"a soft hyphen", func(p string) string { return strings.Replace(p, "admin", "ad%c2%admin", 1) }},
		{"a long s", func(p string) string { return strings.ReplaceAll(p, "s", "%c5%bf") }},
		{"invalid UTF-8", func(p string) string { return p + "%ff" }},
		{"a query", func(p string) string { return p + "?path=/health&url=/health" }},
		{"the token in the query", func(p string) string {
			secret := url.QueryEscape(dynamotest.AdminToken)
			return p + "?token=" + secret + "&access_token=" + secret + "&authorization=" + secret + "&Authorization=" + secret
		}},
	}
}

// An intruder is a caller without permission.
type intruder struct {
	name   string
	header http.Header
	status int // of the response to an unchanged path
}

// intruders returns callers without a token, with an invalid token, and with a token for other purposes.
func intruders(t *testing.T, s *apitest.Server, now time.Time) []intruder {
	t.Helper()
	deleted := s.APIToken(t, `{"tokenName":"deleted","type":"admin"}`)
	s.Must(t, "DELETE", apitest.TokenPath(deleted), "")
	signup := apitest.SecretIn(s.Must(t, "POST", apitest.SignupTokens, `{"name":"n","expiresAt":"2100-01-01T00:00:00Z"}`).Body)
	const admin = dynamotest.AdminToken
	none := func(name string, pairs ...string) intruder {
		header := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			header.Add(pairs[i], pairs[i+1])
		}
		return intruder{name, header, 401}
	}
	with := func(name, secret string) intruder { return none(name, "Authorization", secret) }
	all := []intruder{
		none("no token"),
		none("the token elsewhere", "Cookie", "token="+admin+"; Authorization="+admin, "X-Api-Key", admin, "X-Authorization", admin, "Proxy-Authorization", admin),
		none("a different path in headers", "X-Original-Url", "/health", "X-Rewrite-Url", "/health", "X-Forwarded-Prefix", "/health", "X-Forwarded-Uri", "/health",
			"X-Http-Method-Override", "OPTIONS", "X-Forwarded-For", "127.0.0.1", "X-Forwarded-Host", "localhost"),
		none("two tokens", "Authorization", "*:*.nosuch", "Authorization", admin),
		with("a wrong token", "*:*.nosuch"),
		with("an expired token", s.AdminToken(t, now)),
		with("a deleted token", deleted),
		with("a token for signing up", signup),
		with("the hash of a token", access.HashSecret(admin)),
		with("two tokens in one", admin+","+admin),
		with("another scheme", "Basic "+admin),
		{"a client token", http.Header{"Authorization": {dynamotest.ClientToken}}, 403},
		{"a frontend token", http.Header{"Authorization": {"Bearer " + dynamotest.FrontendToken}}, 403},
	}
	for name, changed := range map[string]string{
		"the first character changed": "+" + admin[1:], "a character in the middle changed": strings.Replace(admin, ".", ":", 1),
		"the last character changed": admin[:len(admin)-1] + "m", "an additional character": admin + "n", "a missing character": admin[:len(admin)-1],
		"a character in another case": admin[:len(admin)-1] + "N", "followed by NUL": admin + "\x00",
	} {
		all = append(all, with(name, changed))
	}
	return all
}

// A remembering store reads everything once and writes nothing, so the data does not change during the test.
type remembering struct {
	httpapi.Store
	mu     sync.Mutex
	loads  map[string]flags.View
	writes atomic.Int64
}

func (r *remembering) Load(ctx context.Context, keys []flags.Key) (flags.View, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := fmt.Sprint(keys)
	if view, ok := r.loads[name]; ok {
		return maps.Clone(view), nil
	}
	view, err := r.Store.Load(ctx, keys)
	if err == nil {
		r.loads[name] = maps.Clone(view)
	}
	return view, err
}

func (r *remembering) Touch(context.Context, *access.TokenUse) error { return nil }

func (r *remembering) NextID(context.Context, flags.Entity) (int64, error) {
	r.writes.Add(1)
	return 1, nil
}

func (r *remembering) Commit(context.Context, flags.Change) error {
	r.writes.Add(1)
	return nil
}

func (r *remembering) CommitAll(_ context.Context, changes []flags.Change) []error {
	r.writes.Add(int64(len(changes)))
	return make([]error, len(changes))
}

// fillWithSecrets creates data with hidden texts, and returns a subject with all names that paths need.
func fillWithSecrets(t *testing.T, s *apitest.Server) subject {
	t.Helper()
	s.Must(t, "POST", "/api/admin/projects", `{"id":"ours","name":"`+hidden+`","description":"`+hidden+`"}`)
	s.Must(t, "POST", "/api/admin/projects/ours/features", `{"name":"`+hidden+`-flag"}`)
	s.Must(t, "POST", "/api/admin/projects/ours/features", `{"name":"ours","description":"`+hidden+`"}`)
	on := subject{project: "ours", flag: "ours", environment: "development"}
	addStrategyAndVariants(t, s, &on)
	s.Must(t, "POST", on.fill(inEnvironment("", "/strategies"))[1:], `{"name":"default","title":"`+hidden+`","parameters":{"a":"`+hidden+`"}}`)
	s.Must(t, "POST", "/api/admin/features/ours/tags", `{"type":"simple","value":"`+hidden+`"}`)
	s.Must(t, "POST", "/api/admin/tag-types", `{"name":"`+hidden+`","description":"`+hidden+`"}`)
	on.segment = s.ID(t, apitest.Segments, `{"name":"`+hidden+`","project":"ours","constraints":[{"contextName":"userId","operator":"IN","values":["`+hidden+`"]}]}`)
	on.user = s.ID(t, apitest.Users, `{"username":"`+hidden+`","email":"`+hidden+`@example.com","rootRole":3}`)
	s.Must(t, "POST", "/api/admin/projects/ours/users/"+on.user+"/roles/4", "")
	on.secret = s.APIToken(t, `{"tokenName":"`+hidden+`","type":"client","project":"ours"}`)
	return on
}

// TestNoPathBypassesAuthentication calls every route in every spelling as every intruder, through the mux and as a Lambda
// event. All responses are errors without stored data.
func TestNoPathBypassesAuthentication(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	s := apitest.Serve(t)
	on := fillWithSecrets(t, s)
	intruders := intruders(t, s, now)
	store := &remembering{Store: s.Store, loads: map[string]flags.View{}}
	config := httpapi.Config{Limits: flags.DefaultLimits(), Sealer: dynamotest.Sealer, Now: func() time.Time { return now }}
	functions := map[string]http.Handler{} // by route
	for _, group := range admin.Groups() {
		handler := httpapi.New(store, group, config)
		for _, route := range group.Routes() {
			functions[route] = handler
		}
	}
	ways := spellings()
	if len(ways) <= 30 {
		t.Errorf("%d spellings, want more than 30", len(ways))
	}
	var tried atomic.Int64
	t.Run("routes", func(t *testing.T) {
		for _, route := range protectedRoutes(t) {
			t.Run(route, func(t *testing.T) {
				t.Parallel()
				function, event := functions[route], lambdahttp.Handler(functions[route])
				method, pattern, _ := strings.Cut(route, " ")
				path, body := on.fill(pattern), on.fill(examples[route].body)
				for _, way := range ways {
					for _, who := range intruders {
						target := way.write(path)
						for _, got := range []apitest.Answer{
							callMux(t, function, method, target, body, who),
							callFunction(t, event, method, target, body, who),
						} {
							tried.Add(1)
							checkRejected(t, fmt.Sprintf("%s, %s: %s %s", way.name, who.name, method, target), got)
							if way.name == "unchanged" && got.Status != who.status {
								t.Errorf("%s: %s %s: status %d, want %d", who.name, method, target, got.Status, who.status)
							}
						}
					}
				}
			})
		}
	})
	if n := store.writes.Load(); n > 0 {
		t.Errorf("%d writes, want none", n)
	}
	t.Logf("%d requests: %d routes in %d spellings by %d intruders, two ways each", tried.Load(), len(functions)-1, len(ways), len(intruders))
}

// checkRejected checks that a response is an error without stored data.
func checkRejected(t *testing.T, name string, got apitest.Answer) {
	t.Helper()
	if !slices.Contains([]int{401, 403, 404}, got.Status) {
		t.Errorf("%s: status %d %.200s, want 401, 403 or 404", name, got.Status, got.Body)
	}
	if strings.Contains(got.Body, hidden) {
		t.Errorf("%s: %s contains stored data", name, got.Body)
	}
	if where := got.Header.Get("Location"); where != "" {
		t.Errorf("%s: a redirect to %q, want none", name, where)
	}
}

// callMux sends a request to a handler, with its target unchanged.
func callMux(t *testing.T, handler http.Handler, method, target, body string, who intruder) apitest.Answer {
	t.Helper()
	r := &http.Request{Method: method, Host: "flags.example", Header: who.header.Clone(), Body: http.NoBody, RequestURI: target}
	path, query, _ := strings.Cut(target, "?")
	decoded, err := url.PathUnescape(path)
	if err != nil {
		t.Fatalf("%s: %v", target, err)
	}
	r.URL = &url.URL{Path: decoded, RawPath: path, RawQuery: query}
	if body != "" {
		r.Body, r.ContentLength = readCloser{strings.NewReader(body)}, int64(len(body))
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r.WithContext(t.Context()))
	return apitest.Answer{Status: w.Code, Header: w.Header(), Body: w.Body.String()}
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }

// callFunction sends a request to a function as API Gateway does: with a decoded path, and headers of the same name joined.
func callFunction(t *testing.T, function lambdahttp.EventHandler, method, target, body string, who intruder) apitest.Answer {
	t.Helper()
	path, query, _ := strings.Cut(target, "?")
	decoded, err := url.PathUnescape(path)
	if err != nil {
		t.Fatalf("%s: %v", target, err)
	}
	event := events.APIGatewayV2HTTPRequest{
		Version: "2.0", RouteKey: "$default", RawPath: strings.ToValidUTF8(decoded, "\uFFFD"), RawQueryString: query, Body: body,
		Headers: map[string]string{"host": "flags.example"},
	}
	event.RequestContext.HTTP.Method, event.RequestContext.HTTP.Path, event.RequestContext.DomainName = method, event.RawPath, "flags.example"
	for name, values := range who.header {
		event.Headers[strings.ToLower(name)] = strings.Join(values, ",")
	}
	if body != "" {
		event.Headers["content-type"] = "application/json"
	}
	response, err := function(t.Context(), event)
	if err != nil {
		t.Fatalf("%s: %v", target, err)
	}
	header := http.Header{}
	for name, value := range response.Headers {
		header.Set(name, value)
	}
	return apitest.Answer{Status: response.StatusCode, Header: header, Body: response.Body}
}

// TestPublicPaths sends requests without a token. Only the health check, the ways to sign in, the documentation page and the API
// description are public.
func TestPublicPaths(t *testing.T) {
	t.Parallel()
	config := httpapi.Config{Limits: flags.DefaultLimits()}
	var public []string
	for _, group := range admin.Groups() {
		for _, op := range group.Operations {
			if op.Permission == "" {
				public = append(public, op.Route)
			}
		}
	}
	if !slices.Equal(public, publicRoutes) {
		t.Errorf("%q are public, want %q", public, publicRoutes)
	}
	page := httpapi.New(nil, docs.Group(), config)
	for path, want := range map[string]int{
		"/docs": 200, "/docs/openapi.json": 200, "/docs/page.js": 200, "/docs/page.css": 200, "/docs/rapidoc-min.js": 200,
		"/docs/": 200, "/docs/index.html": 404, "/docs/assets/LICENSE": 404, "/docs/../docs": 404, "/docs/%2e%2e/health": 404, "/docs/rapidoc-min.js.gz": 404,
		"/docs/..%2fdocs.go": 404, "/health": 404, "/api/admin/projects": 404,
	} {
		got := callMux(t, page, "GET", path, "", intruder{header: http.Header{}})
		if got.Status != want {
			t.Errorf("GET %s: status %d, want %d", path, got.Status, want)
		}
		if got := callMux(t, page, "POST", path, "", intruder{header: http.Header{}}); got.Status != 404 {
			t.Errorf("POST %s: status %d, want 404", path, got.Status)
		}
	}
	if got := callMux(t, httpapi.New(nil, admin.Group("fallback"), config), "GET", "/health", "", intruder{header: http.Header{}}); got.Body != `{"health":"GOOD"}` {
		t.Errorf("GET /health: %s, want only that it is good", got.Body)
	}
}
