package admin_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"guidon/pkg/admin"
	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
)

// TestOrderOfChecks sends requests with several errors. The order is 401, 403, 415 and 413, 400, 404, 409.
func TestOrderOfChecks(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "taken")
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
		{"400 for a strategy before 404", "POST", apitest.In("nosuch", "nosuch") + "/strategies", `{"name":"nosuch"}`, nil, 400, "ValidationError"},
		{"400 for a patch before 404", "PATCH", apitest.Features + "/nosuch", `[{"op":"replace","path":"/nosuch","value":1}]`, nil, 400, "ValidationError"},
		{"400 for variants before 404", "PUT", apitest.Features + "/nosuch/variants", `[{"name":""}]`, nil, 400, "ValidationError"},
		{"400 before 409", "POST", apitest.Features, `{"name":"taken","type":"nosuch"}`, nil, 400, "ValidationError"},
		{"404 before 409", "POST", nowhere, `{"name":"taken"}`, nil, 404, "NotFoundError"},
		{"404 before 409 for a clone", "POST", apitest.Features + "/nosuch/clone", `{"name":"taken"}`, nil, 404, "NotFoundError"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s.Check(t, apitest.Call{tt.name, tt.method, tt.path, tt.body, tt.status, `{"...":0,"id":"<uuid>","name":"` + tt.kind + `","message":"<any>"}`}, tt.headers...)
		})
	}
}

// TestContentTypes sends content types to an operation with a body and to one without.
func TestContentTypes(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	f := apitest.Features + "/f"
	unsupported := apitest.Failure("ContentTypeerror", "application/json")
	tests := []struct {
		name, header, method, path, body string
		status                           int
		want                             string
	}{
		{"JSON", "application/json", "PUT", f, `{}`, 200, apitest.Anything},
		{"with a charset", "application/json; charset=utf-8", "PUT", f, `{}`, 200, apitest.Anything},
		{"in another case", "Application/JSON;Charset=UTF-8", "PUT", f, `{}`, 200, apitest.Anything},
		{"no content type", "", "PUT", f, `{}`, 415, unsupported},
		{"text", "text/plain", "PUT", f, `{}`, 415, unsupported},
		{"a form", "application/x-www-form-urlencoded", "PUT", f, `{}`, 415, unsupported},
		{"a type related to JSON", "application/json-patch+json", "PATCH", f, `[]`, 415, unsupported},
		{"an invalid type", "/;;", "PUT", f, `{}`, 415, unsupported},
		{"text for an operation without a body", "text/plain", "POST", apitest.In("f", "development") + "/off", `x`, 415, unsupported},
		{"an empty body is never a 415", "text/plain", "PUT", f, ``, 400, apitest.Malformed("required")},
		{"an empty body without a type", "", "POST", apitest.Features, ``, 400, apitest.Malformed("required")},
		{"an empty body for an operation without a body", "text/plain", "POST", apitest.In("f", "development") + "/off", ``, 200, apitest.Anything},
		{"a read", "text/plain", "GET", f, ``, 200, apitest.Anything},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s.Check(t, apitest.Call{tt.name, tt.method, tt.path, tt.body, tt.status, tt.want}, "Content-Type: "+tt.header)
		})
	}
}

// unknownNames has a name that does not exist for each parameter of paths, and the part of the message that names it.
var unknownNames = map[string]struct {
	part   string
	change func(on *subject)
}{
	"{projectId}":       {"nosuch", func(on *subject) { on.project = "nosuch" }},
	"{featureName}":     {"nosuch", func(on *subject) { on.flag = "nosuch" }},
	"{environment}":     {"nosuch", func(on *subject) { on.environment = "nosuch" }},
	"{environmentName}": {"nosuch", func(on *subject) { on.environment = "nosuch" }},
	"{tagType}":         {"nosuch", func(on *subject) { on.kind = "nosuch" }},
	"{planId}":          {"nosuch", func(on *subject) { on.plan = "nosuch" }},
	"{milestoneId}":     {"nosuch", func(on *subject) { on.milestone = "nosuch" }},
	"{safeguardId}":     {"nosuch", func(on *subject) { on.safeguard = "nosuch" }},
	"{signalName}":      {"nosuch", func(on *subject) { on.kind = "nosuch" }},
	"{templateId}":      {"nosuch", func(on *subject) { on.kind = "nosuch" }},
	"{strategyType}":    {"nosuch", func(on *subject) { on.kind = "nosuch" }},
	"{contextField}":    {"nosuch", func(on *subject) { on.kind = "nosuch" }},
	"{appName}":         {"nosuch", func(on *subject) { on.kind = "nosuch" }},
	"{parent}":          {"nosuch", func(on *subject) { on.kind = "nosuch" }},
	"{freezeId}":        {"nosuch", func(on *subject) { on.kind = "nosuch" }},
	"{linkId}":          {"nosuch", func(on *subject) { on.link = "nosuch" }},
	"{id}":              {"999", func(on *subject) { on.segment = "999" }},
	"{addonId}":         {"999", func(on *subject) { on.addon = "999" }},
	"{changeRequestId}": {"999", func(on *subject) { on.request = "999" }},
	"{userId}":          {"999", func(on *subject) { on.user = "999" }},
	"{roleId}":          {"999", func(on *subject) { on.role = "999" }},
	"{token}":           {"", func(on *subject) { on.secret = "nosuch" }}, // a secret is never named
}

// mayBeUnknown has the parameters of which an unknown name is not an error.
var mayBeUnknown = map[string]bool{
	"GET /api/admin/events/{featureName} {featureName}":                                          true, // it has no events
	"GET /api/admin/client-metrics/features/{featureName} {featureName}":                         true, // it has no usage
	"GET /api/admin/client-metrics/features/{featureName}/raw {featureName}":                     true,
	"DELETE /api/admin/metrics/applications/{appName} {appName}":                                 true,
	"POST /api/admin/metrics/applications/{appName} {appName}":                                   true, // it is created
	"GET /api/admin/metrics/instances/{appName}/environment/{environmentName} {appName}":         true,
	"GET /api/admin/metrics/instances/{appName}/environment/{environmentName} {environmentName}": true,
}

// TestNotFound calls every operation with names in the path that do not exist.
func TestNotFound(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	good := newSubject(t, s)
	archived := newSubject(t, s)
	s.Must(t, "DELETE", apitest.Features+"/"+archived.flag, "")
	s.Must(t, "POST", "/api/admin/projects", `{"id":"other"}`)
	for _, route := range protectedRoutes(t) {
		t.Run(route, func(t *testing.T) {
			refusedNaming := func(part, name string, on subject) {
				t.Helper()
				c := on.call(route)
				c.Name, c.Body, c.Status, c.Want = name, good.call(route).Body, 404, apitest.NotFound(part)
				s.Check(t, c)
			}
			refused := func(name string, on subject) { t.Helper(); refusedNaming("", name, on) }
			with := func(change func(*subject)) subject { c := good; change(&c); return c }
			for parameter, unknown := range unknownNames {
				if strings.Contains(route, "/"+parameter) && !mayBeUnknown[route+" "+parameter] {
					on := good
					unknown.change(&on)
					refusedNaming(unknown.part, "an unknown "+parameter, on)
				}
			}
			if strings.Contains(route, "{projectId}") {
				refused("a project in another case", with(func(on *subject) { on.project = "DEFAULT" }))
				refused("a name that no project can have", with(func(on *subject) { on.project = "%ff%00%2Fx" }))
				refused("a very long name", with(func(on *subject) { on.project = strings.Repeat("x", 3000) }))
			}
			if strings.Contains(route, "{featureName}") {
				refused("a name that no flag can have", with(func(on *subject) { on.flag = "%ff%00%2Fx" }))
				refused("a very long name", with(func(on *subject) { on.flag = strings.Repeat("x", 3000) }))
			}
			if strings.Contains(route, "{projectId}/features/{featureName}") {
				refused("a flag of another project", with(func(on *subject) { on.project = "other" }))
				if !strings.HasPrefix(route, "DELETE "+"/api/admin/projects/{projectId}/features/{featureName}") || strings.Contains(route, "{environment}") {
					if !strings.HasPrefix(route, "GET ") || !strings.HasSuffix(route, "/lifecycle") { // an archived flag still has a lifecycle
						refusedNaming("archived", "an archived flag", archived)
					}
				}
			}
			if strings.Contains(route, "/{environment}") {
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
	if got := len(s.Events(t, good.flag)); got != 4 {
		t.Errorf("%d events, want only the 4 from its creation", got)
	}
}

// TestUnknownPaths calls every group on its own, as a Lambda function is called. Every unknown path gets a 404 in JSON and no
// redirect.
func TestUnknownPaths(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	paths := []string{
		"/", "/nosuch", "/api", "/api/admin", "/api/admin/nosuch", "/api/admin/projectsx", "/API/admin/projects/default", "/api/admin/Projects/default",
		apitest.Features + "/f/nosuch", apitest.In("f", "development") + "/nosuch", "/api/admin/archive", "/favicon.ico",
		// paths that net/http's mux would redirect
		"//", "/./health", "/x/../health", "/api/admin//projects/default", "/api/admin/./projects/default",
		"/api/admin/x/../projects/default", apitest.Features + "//f", apitest.Features + "/./f", apitest.Features + "/x/../f",
		apitest.Features + "/.", apitest.Features + "/..", apitest.Features + "/%2e", apitest.Features + "/%2e%2e", apitest.Features + "/%2E%2E/f", apitest.Features + "/f/%2e", apitest.Features + "/x/%2e%2e/f", apitest.Features + "/f%2F",
		apitest.Features + "/%2Ff", "/api/admin/projects/%2e%2e/features", apitest.In("f", "%2e%2e") + "/on", apitest.In("f", "development") + "//strategies",
	}
	for _, group := range admin.Groups() {
		handler := httpapi.New(s.Store, group, httpapi.Config{Open: true})
		for _, path := range paths {
			for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
				t.Run(fmt.Sprintf("%s %s %s", group.Name, method, path), func(t *testing.T) {
					got := apitest.Direct(handler, method, path, "")
					if got.Status != 404 || len(apitest.Match(apitest.NotFound(""), got.Body)) > 0 || got.Header.Get("Location") != "" {
						t.Errorf("%d %s %s, want a 404 in JSON", got.Status, got.Header, got.Body)
					}
				})
			}
		}
	}
	for _, path := range paths { // the same through a real connection
		s.Check(t, apitest.Call{path, "GET", path, "", 404, apitest.NotFound("")})
		s.Check(t, apitest.Call{path, "GET", path, "", 404, apitest.NotFound("")}, "Authorization:")
	}
}

// TestUnknownMethods sends methods that a path does not support. The status is 404, never 405.
func TestUnknownMethods(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	on := newSubject(t, s)
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
				method == "DELETE" && strings.HasPrefix(path, apitest.ChangeRequests+"/") {
				continue // that path is the name of a strategy, segment, context field, tag type or user, or the number of a change request
			}
			if c := (apitest.Call{path, method, path, "", 404, apitest.NotFound("")}); !known[method+" "+path] {
				s.Check(t, c)
			}
		}
		for _, header := range []string{"Authorization: " + dynamotest.AdminToken, "Authorization:", "Authorization: nosuch"} {
			s.Check(t, apitest.Call{"preflight", "OPTIONS", path, "", 204, ""}, header, "Origin: https://example.org", "Access-Control-Request-Method: PUT")
		}
	}
	for _, path := range []string{"/", "/nosuch", "/api/admin/features", apitest.Features + "//f", apitest.Features + "/%2e%2e/x"} {
		s.Check(t, apitest.Call{"preflight", "OPTIONS", path, "", 204, ""}, "Authorization:")
	}
}

// TestRemovedEndpoints calls the endpoints of the contract's section "Removed legacy endpoints".
func TestRemovedEndpoints(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	const instead = "/api/admin/projects/{projectId}/features"
	const old = "/api/admin/features"
	s.Run(t, []apitest.Call{
		{"list", "GET", old, "", 404, apitest.NotFound("GET " + instead)},
		{"list by a tag", "GET", old + "?tag=simple:x&project=default&namePrefix=f", "", 404, apitest.NotFound("GET " + instead)},
		{"read", "GET", old + "/f", "", 404, apitest.NotFound("GET " + instead + "/{featureName}")},
		{"create", "POST", old, `{"name":"x"}`, 404, apitest.NotFound("POST " + instead)},
		{"update", "PUT", old + "/f", `{"name":"f"}`, 404, apitest.NotFound("PUT " + instead + "/{featureName}")},
		{"archive", "DELETE", old + "/f", "", 404, apitest.NotFound("DELETE " + instead + "/{featureName}")},
		{"toggle", "POST", old + "/f/toggle", "", 404, apitest.NotFound("POST " + instead + "/{featureName}/environments/{environment}/on or /off")},
		{"enable", "POST", old + "/f/toggle/on", "", 404, apitest.NotFound("POST " + instead + "/{featureName}/environments/{environment}/on")},
		{"disable", "POST", old + "/f/toggle/off", "", 404, apitest.NotFound("POST " + instead + "/{featureName}/environments/{environment}/off")},
		{"mark stale", "POST", old + "/f/stale/on", "", 404, apitest.NotFound("PATCH " + instead + `/{featureName} with [{"op":"replace","path":"/stale","value":true}]`)},
		{"mark not stale", "POST", old + "/f/stale/off", "", 404, apitest.NotFound("PATCH " + instead + `/{featureName} with [{"op":"replace","path":"/stale","value":false}]`)},
		{"with a bad body", "POST", old, `{`, 404, apitest.NotFound("POST " + instead)},
		{"another method", "PATCH", old + "/f", "[]", 404, apitest.NotFound("")},
	})
	if got := s.Events(t, "f"); len(got) != 1 {
		t.Errorf("events %q, want only its creation", got)
	}
}

// TestOtherMethods checks that the 404 of a path that exists names its methods, and that of a path that has none does not.
func TestOtherMethods(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	handler := httpapi.New(s.Store, httpapi.Join(admin.Groups()...), httpapi.Config{})
	for path, has := range map[string]string{
		"/health": "has no PUT; it has GET;", apitest.Features: "has no PUT; it has GET, POST;", apitest.Features + "/f/environments/development/on": "has no PUT; it has POST;",
		"/api/admin/features/f/toggle": "no such endpoint; see /docs", "/nothing": "no such endpoint; see /docs",
	} {
		if got := apitest.Direct(handler, "PUT", path, ""); got.Status != http.StatusNotFound || !strings.Contains(got.Body, has) {
			t.Errorf("PUT %s: %d %s, want a 404 with %q", path, got.Status, got.Body, has)
		}
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Check(t, apitest.Call{"without a token", "GET", "/health", "", 200, `{"health":"GOOD"}`}, "Authorization:")
	s.Check(t, apitest.Call{"Unleash's check for readiness", "GET", "/ready", "", 200, `{"health":"GOOD"}`}, "Authorization:")
	handler := httpapi.New(nil, admin.Group("fallback"), httpapi.Config{})
	if got := apitest.Direct(handler, "GET", "/health", ""); got.Status != http.StatusOK {
		t.Errorf("without a store %d, want 200", got.Status)
	}
}
