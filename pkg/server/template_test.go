package server

import (
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"guidon/internal/gateway"
	"guidon/pkg/admin"
	"guidon/pkg/docs"
	"guidon/pkg/httpapi"
)

// TestRoutesAndOperations sends every operation through the routes of template.yaml, with names that are also fixed segments of other routes:
// one route must match, and lead to the function that serves the operation. Every route must lead to an operation.
func TestRoutesAndOperations(t *testing.T) {
	template, match := routes(t)
	words := []string{"x", "projects", "features", "environments", "environment", "strategies", "variants", "variants-batch",
		"archive", "clone", "on", "off", "set-sort-order", "admin", "constructor", "__proto__"}
	used := map[string]bool{}
	for _, group := range groups(nil, nil, httpapi.Config{}) {
		for _, operation := range group.Routes() {
			method, pattern, _ := strings.Cut(operation, " ")
			for _, word := range words {
				path := variable.ReplaceAllString(pattern, word)
				if word != "x" && isAnother(operation, path) {
					continue // the word makes it an operation's fixed path, such as …/strategies/set-sort-order
				}
				route := match(method, path)
				if used[route.Key] = true; route.Function.Name != group.Function {
					t.Errorf("%s %s (%s) reaches %s by %q, want %s", method, path, operation, route.Function.Name, route.Key, group.Function)
				}
			}
		}
	}
	for path := range docs.Group().Site.Files {
		used[match(http.MethodGet, path).Key] = true
	}
	for _, f := range template.Functions {
		for _, key := range f.Routes {
			if !used[key] {
				t.Errorf("no operation is reached by %q of %s", key, f.ID)
			}
		}
	}
}

// TestGroupsOfFunctions checks that the program of a function joins every group that says it is served by that function.
func TestGroupsOfFunctions(t *testing.T) {
	list, err := os.ReadFile("../admin/admin.go")
	if err != nil {
		t.Fatal(err)
	}
	calls := regexp.MustCompile(`[a-z]+\.[A-Z]\w*\(\)`).FindAllString(string(list), -1) // in the order of the groups
	groups := admin.Groups()
	if len(calls) != len(groups) {
		t.Fatalf("admin.go calls %q for %d groups", calls, len(groups))
	}
	for i, group := range groups {
		program, err := os.ReadFile("../../functions/" + group.Function + "/main.go")
		if err != nil || !strings.Contains(string(program), calls[i]) {
			t.Errorf("functions/%s does not join %s, %v", group.Function, calls[i], err)
		}
	}
}

// TestFunctionOfPaths checks that a path reaches the function here that it reaches by the routes of template.yaml, whatever its method: that
// function responds to a method that the path does not have.
func TestFunctionOfPaths(t *testing.T) {
	a := opened(t, httpapi.Config{})
	_, match := routes(t)
	names := map[*function]string{}
	for _, group := range groups(nil, nil, httpapi.Config{}) {
		for _, route := range group.Routes() {
			names[a.functions[route]] = group.Function
		}
	}
	requests := []string{"GET /", "POST /nothing", "GET /docs", "GET /health/", "GET /api/admin/projects/", "GET /api//admin/projects", "GET /auth", "GET /auth/", "GET /api/client/features/", "DELETE /api/admin/archive/x"}
	for route := range a.functions {
		_, pattern, _ := strings.Cut(route, " ")
		path := variable.ReplaceAllString(pattern, "x")
		requests = append(requests, variable.ReplaceAllString(route, "x"), "OPTIONS "+path, "PURGE "+path, "GET "+path+"/", "DELETE "+path+"/", "GET "+path+"//")
	}
	for _, request := range requests {
		method, path, _ := strings.Cut(request, " ")
		f, _ := a.find(httptest.NewRequest(method, path, nil))
		if got, want := names[f], match(method, path).Function.Name; got != want {
			t.Errorf("%s reaches %s, want %s", request, got, want)
		}
	}
}

// TestTemplateLimits checks the limits of AWS: 300 routes per HTTP API, and the time that API Gateway waits. It also checks what this package
// has in common with the template: the longest timeout, and the rate of snapshots.
func TestTemplateLimits(t *testing.T) {
	template, _ := routes(t)
	count, longest := 0, time.Duration(0)
	for _, f := range template.Functions {
		if count += len(f.Routes); len(f.Routes) > 0 {
			longest = max(longest, f.Timeout)
		}
		if f.Name == "snapshot" && f.Every != snapshotEvery {
			t.Errorf("snapshots are written every %s, want %s as in the template", snapshotEvery, f.Every)
		}
	}
	if count > 300 {
		t.Errorf("%d routes", count)
	}
	if longest != callTimeout || longest >= 30*time.Second {
		t.Errorf("a function may take %s and a call %s, and API Gateway waits 30 s", longest, callTimeout)
	}
}

var variable = regexp.MustCompile(`\{[^}]*\}`)

// isAnother reports whether a path with a fixed segment as a name is the path of another operation.
func isAnother(operation, path string) bool {
	for _, group := range groups(nil, nil, httpapi.Config{}) {
		for _, other := range group.Routes() {
			_, pattern, _ := strings.Cut(other, " ")
			if other != operation && strings.Count(pattern, "{") < strings.Count(operation, "{") &&
				regexp.MustCompile("^"+variable.ReplaceAllString(pattern, "[^/]+")+"$").MatchString(path) {
				return true
			}
		}
	}
	return false
}

// routes returns the template, and a function that finds the route of a request by the rules of API Gateway.
func routes(t *testing.T) (template *gateway.Template, match func(method, path string) *gateway.Route) {
	t.Helper()
	template, err := gateway.ReadTemplate("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var matched *gateway.Route
	router, err := gateway.NewRouter(template, func(_ http.ResponseWriter, _ *http.Request, route *gateway.Route) { matched = route })
	if err != nil {
		t.Fatal(err)
	}
	return template, func(method, path string) *gateway.Route {
		router.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(method, path, nil))
		return matched
	}
}
