package admin_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"guidon/pkg/admin"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
)

// TestOrderOfChecks sends requests with several errors. The order is 401, 403, 415 and 413, 400, 404, 409.
func TestOrderOfChecks(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "taken")
	const nowhere = "/api/admin/projects/nosuch/features"
	large := `{"name":"` + strings.Repeat("x", 1<<20) + `"}`
	text, client, none := "Content-Type: text/plain", "Authorization: "+dynamotest.ClientToken, "Authorization:"
	tests := []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		kind                     string
	}{
		{"401 before 415, 400 and 404", "POST", nowhere, `{`, []string{none, text}, 401, "AuthenticationRequired"},
		{"401 before 413", "POST", nowhere, large, []string{none}, 401, "AuthenticationRequired"},
		{"403 before 415, 400 and 404", "POST", nowhere, `{`, []string{client, text}, 403, "NoAccessError"},
		{"403 before 413", "POST", nowhere, large, []string{client}, 403, "NoAccessError"},
		{"415 before 400 and 404", "POST", nowhere, `{`, []string{text}, 415, "ContentTypeerror"},
		{"413 before 400 and 404", "POST", nowhere, large + `{`, nil, 413, "PayloadTooLargeError"},
		{"400 for invalid JSON before 404", "POST", nowhere, `{`, nil, 400, "ValidationError"},
		{"400 for an invalid name before 404", "POST", nowhere, `{"name":"a b"}`, nil, 400, "ValidationError"},
		{"400 for a strategy before 404", "POST", in("nosuch", "nosuch") + "/strategies", `{"name":"nosuch"}`, nil, 400, "ValidationError"},
		{"400 for a patch before 404", "PATCH", features + "/nosuch", `[{"op":"replace","path":"/nosuch","value":1}]`, nil, 400, "ValidationError"},
		{"400 for variants before 404", "PUT", features + "/nosuch/variants", `[{"name":""}]`, nil, 400, "ValidationError"},
		{"400 before 409", "POST", features, `{"name":"taken","type":"nosuch"}`, nil, 400, "ValidationError"},
		{"404 before 409", "POST", nowhere, `{"name":"taken"}`, nil, 404, "NotFoundError"},
		{"404 before 409 for a clone", "POST", features + "/nosuch/clone", `{"name":"taken"}`, nil, 404, "NotFoundError"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s.check(t, call{tt.name, tt.method, tt.path, tt.body, tt.status, `{"...":0,"id":"<uuid>","name":"` + tt.kind + `","message":"<any>"}`}, tt.headers...)
		})
	}
}

// TestContentTypes sends content types to an operation with a body and to one without.
func TestContentTypes(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "f")
	f := features + "/f"
	unsupported := failure("ContentTypeerror", "application/json")
	tests := []struct {
		name, header, method, path, body string
		status                           int
		want                             string
	}{
		{"JSON", "application/json", "PUT", f, `{}`, 200, anything},
		{"with a charset", "application/json; charset=utf-8", "PUT", f, `{}`, 200, anything},
		{"in another case", "Application/JSON;Charset=UTF-8", "PUT", f, `{}`, 200, anything},
		{"no content type", "", "PUT", f, `{}`, 415, unsupported},
		{"text", "text/plain", "PUT", f, `{}`, 415, unsupported},
		{"a form", "application/x-www-form-urlencoded", "PUT", f, `{}`, 415, unsupported},
		{"a type related to JSON", "application/json-patch+json", "PATCH", f, `[]`, 415, unsupported},
		{"an invalid type", "/;;", "PUT", f, `{}`, 415, unsupported},
		{"text for an operation without a body", "text/plain", "POST", in("f", "development") + "/off", `x`, 415, unsupported},
		{"an empty body is never a 415", "text/plain", "PUT", f, ``, 400, malformed("required")},
		{"an empty body without a type", "", "POST", features, ``, 400, malformed("required")},
		{"an empty body for an operation without a body", "text/plain", "POST", in("f", "development") + "/off", ``, 200, anything},
		{"a read", "text/plain", "GET", f, ``, 200, anything},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s.check(t, call{tt.name, tt.method, tt.path, tt.body, tt.status, tt.want}, "Content-Type: "+tt.header)
		})
	}
}

// TestNotFound calls every operation with names in the path that do not exist.
func TestNotFound(t *testing.T) {
	t.Parallel()
	s := serve(t)
	good := s.newSubject(t)
	archived := s.newSubject(t)
	s.must(t, "DELETE", features+"/"+archived.flag, "")
	s.must(t, "POST", "/api/admin/projects", `{"id":"other"}`)
	for _, route := range protectedRoutes(t) {
		t.Run(route, func(t *testing.T) {
			refused := func(name string, on subject) {
				t.Helper()
				c := on.call(route)
				c.name, c.body, c.status, c.want = name, good.call(route).body, 404, notFound("")
				s.check(t, c)
			}
			with := func(change func(*subject)) subject { c := good; change(&c); return c }
			if strings.Contains(route, "{projectId}") {
				refused("an unknown project", with(func(on *subject) { on.project = "nosuch" }))
				refused("a project in another case", with(func(on *subject) { on.project = "DEFAULT" }))
				refused("a name that no project can have", with(func(on *subject) { on.project = "%ff%00%2Fx" }))
				refused("a very long name", with(func(on *subject) { on.project = strings.Repeat("x", 3000) }))
			}
			if strings.Contains(route, "{featureName}") {
				if route != "GET /api/admin/events/{featureName}" && !strings.Contains(route, "/client-metrics/") { // it has no events, and no usage
					refused("an unknown flag", with(func(on *subject) { on.flag = "nosuch" }))
				}
				refused("a name that no flag can have", with(func(on *subject) { on.flag = "%ff%00%2Fx" }))
				refused("a very long name", with(func(on *subject) { on.flag = strings.Repeat("x", 3000) }))
			}
			if strings.Contains(route, "{projectId}/features/{featureName}") {
				refused("a flag of another project", with(func(on *subject) { on.project = "other" }))
				if !strings.HasPrefix(route, "DELETE "+"/api/admin/projects/{projectId}/features/{featureName}") || strings.Contains(route, "{environment}") {
					if !strings.HasPrefix(route, "GET ") || !strings.HasSuffix(route, "/lifecycle") { // an archived flag still has a lifecycle
						refused("an archived flag", archived)
					}
				}
			}
			if strings.Contains(route, "/{environment}") {
				refused("an unknown environment", with(func(on *subject) { on.environment = "nosuch" }))
				refused("an environment that the project does not have", with(func(on *subject) { on.environment = "default" }))
				refused("a name that no environment can have", with(func(on *subject) { on.environment = "%ff%00%2Fx" }))
			}
			if strings.Contains(route, "{strategyId}") && !strings.Contains(route, "/segments/") { // an unknown strategy has no segments
				refused("an unknown strategy", with(func(on *subject) { on.strategy = "00000000-0000-4000-8000-000000000000" }))
				refused("a strategy of another environment", with(func(on *subject) { on.environment = "production" }))
				refused("an id that no strategy can have", with(func(on *subject) { on.strategy = "%ff%00%2Fx" }))
			}
		})
	}
	if got := len(s.events(t, good.flag)); got != 3 {
		t.Errorf("%d events, want only the 3 from its creation", got)
	}
}

// TestUnknownPaths calls every group on its own, as a Lambda function is called. Every unknown path gets a 404 in JSON and no
// redirect.
func TestUnknownPaths(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "f")
	paths := []string{
		"/", "/nosuch", "/api", "/api/admin", "/api/admin/nosuch", "/api/admin/projectsx", "/API/admin/projects/default", "/api/admin/Projects/default",
		features + "/f/nosuch", in("f", "development") + "/nosuch", "/api/admin/archive", "/favicon.ico",
		// paths that net/http's mux would redirect
		"//", "/./health", "/x/../health", "/api/admin//projects/default", "/api/admin/./projects/default",
		"/api/admin/x/../projects/default", features + "//f", features + "/./f", features + "/x/../f",
		features + "/.", features + "/..", features + "/%2e", features + "/%2e%2e", features + "/%2E%2E/f", features + "/f/%2e", features + "/x/%2e%2e/f", features + "/f%2F",
		features + "/%2Ff", "/api/admin/projects/%2e%2e/features", in("f", "%2e%2e") + "/on", in("f", "development") + "//strategies",
	}
	for _, group := range admin.Groups() {
		handler := httpapi.New(s.store, group, httpapi.Config{Open: true})
		for _, path := range paths {
			for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
				t.Run(fmt.Sprintf("%s %s %s", group.Name, method, path), func(t *testing.T) {
					got := direct(handler, method, path, "")
					if got.status != 404 || len(match(notFound(""), got.body)) > 0 || got.header.Get("Location") != "" {
						t.Errorf("%d %s %s, want a 404 in JSON", got.status, got.header, got.body)
					}
				})
			}
		}
	}
	for _, path := range paths { // the same through a real connection
		s.check(t, call{path, "GET", path, "", 404, notFound("")})
		s.check(t, call{path, "GET", path, "", 404, notFound("")}, "Authorization:")
	}
}

// TestUnknownMethods sends methods that a path does not support. The status is 404, never 405.
func TestUnknownMethods(t *testing.T) {
	t.Parallel()
	s := serve(t)
	on := s.newSubject(t)
	known := map[string]bool{}
	paths := map[string]bool{}
	for _, route := range routes(t) {
		method, path, _ := strings.Cut(route, " ")
		known[method+" "+on.fill(path)], paths[on.fill(path)] = true, true
	}
	for path := range paths {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "NOSUCH"} {
			if asName := slices.ContainsFunc([]string{"/set-sort-order", "/segments/validate", "/segments/strategies", "/context/validate", "/events/search"}, func(end string) bool {
				return strings.HasSuffix(path, end)
			}); method != "POST" && asName || strings.Contains(path, "/user-admin/") || strings.HasSuffix(path, "/tag-types/validate") ||
				method == "DELETE" && strings.HasPrefix(path, allRequests+"/") {
				continue // that path is the name of a strategy, segment, context field, tag type or user, or the number of a change request
			}
			if c := (call{path, method, path, "", 404, notFound("")}); !known[method+" "+path] {
				s.check(t, c)
			}
		}
		for _, header := range []string{"Authorization: " + dynamotest.AdminToken, "Authorization:", "Authorization: nosuch"} {
			s.check(t, call{"preflight", "OPTIONS", path, "", 204, ""}, header, "Origin: https://example.org", "Access-Control-Request-Method: PUT")
		}
	}
	for _, path := range []string{"/", "/nosuch", "/api/admin/features", features + "//f", features + "/%2e%2e/x"} {
		s.check(t, call{"preflight", "OPTIONS", path, "", 204, ""}, "Authorization:")
	}
}

// TestRemovedEndpoints calls the endpoints of the contract's section "Removed legacy endpoints".
func TestRemovedEndpoints(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "f")
	const instead = "/api/admin/projects/{projectId}/features"
	const old = "/api/admin/features"
	s.run(t, []call{
		{"list", "GET", old, "", 404, notFound("GET " + instead)},
		{"list by a tag", "GET", old + "?tag=simple:x&project=default&namePrefix=f", "", 404, notFound("GET " + instead)},
		{"read", "GET", old + "/f", "", 404, notFound("GET " + instead + "/{featureName}")},
		{"create", "POST", old, `{"name":"x"}`, 404, notFound("POST " + instead)},
		{"update", "PUT", old + "/f", `{"name":"f"}`, 404, notFound("PUT " + instead + "/{featureName}")},
		{"archive", "DELETE", old + "/f", "", 404, notFound("DELETE " + instead + "/{featureName}")},
		{"toggle", "POST", old + "/f/toggle", "", 404, notFound("POST " + instead + "/{featureName}/environments/{environment}/on or /off")},
		{"enable", "POST", old + "/f/toggle/on", "", 404, notFound("POST " + instead + "/{featureName}/environments/{environment}/on")},
		{"disable", "POST", old + "/f/toggle/off", "", 404, notFound("POST " + instead + "/{featureName}/environments/{environment}/off")},
		{"mark stale", "POST", old + "/f/stale/on", "", 404, notFound("PATCH " + instead + `/{featureName} with [{"op":"replace","path":"/stale","value":true}]`)},
		{"mark not stale", "POST", old + "/f/stale/off", "", 404, notFound("PATCH " + instead + `/{featureName} with [{"op":"replace","path":"/stale","value":false}]`)},
		{"with a bad body", "POST", old, `{`, 404, notFound("POST " + instead)},
		{"another method", "PATCH", old + "/f", "[]", 404, notFound("")},
	})
	if got := s.events(t, "f"); len(got) != 1 {
		t.Errorf("events %q, want only its creation", got)
	}
}

// TestOtherMethods checks that the 404 of a path that exists names its methods, and that of a path that has none does not.
func TestOtherMethods(t *testing.T) {
	t.Parallel()
	s := serve(t)
	handler := httpapi.New(s.store, httpapi.Join(admin.Groups()...), httpapi.Config{})
	for path, has := range map[string]string{
		"/health": "has no PUT; it has GET;", features: "has no PUT; it has GET, POST;", features + "/f/environments/development/on": "has no PUT; it has POST;",
		"/api/admin/features/f/toggle": "no such endpoint; see /docs", "/nothing": "no such endpoint; see /docs",
	} {
		if got := direct(handler, "PUT", path, ""); got.status != http.StatusNotFound || !strings.Contains(got.body, has) {
			t.Errorf("PUT %s: %d %s, want a 404 with %q", path, got.status, got.body, has)
		}
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.check(t, call{"without a token", "GET", "/health", "", 200, `{"health":"GOOD"}`}, "Authorization:")
	s.check(t, call{"Unleash's check for readiness", "GET", "/ready", "", 200, `{"health":"GOOD"}`}, "Authorization:")
	handler := httpapi.New(nil, admin.Group("fallback"), httpapi.Config{})
	if got := direct(handler, "GET", "/health", ""); got.status != http.StatusOK {
		t.Errorf("without a store %d, want 200", got.status)
	}
}
