package admin_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"guidon/pkg/admin"
	"guidon/pkg/apitest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// TestAdditionalSlashes checks that paths with repeated or trailing slashes work like those without them, in the functions
// to which API Gateway sends them. Where they do not work, the 404 mentions the slash.
func TestAdditionalSlashes(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	s.Must(t, "POST", "/api/admin/features/f/tags", `{"type":"simple","value":"a/"}`)
	config := httpapi.Config{Limits: flags.DefaultLimits()}
	projects, flagsOf := httpapi.New(s.Store, admin.Group("projects"), config), httpapi.New(s.Store, admin.Group("features"), config)
	tags, fallback := httpapi.New(s.Store, admin.Group("tags"), config), httpapi.New(nil, admin.Group("fallback"), config)
	tests := []struct {
		name string
		in   http.Handler
		apitest.Call
	}{
		{"a slash at the end", projects, apitest.Call{"", "GET", apitest.Project + "/", "", 200, ""}},
		{"a doubled slash", projects, apitest.Call{"", "GET", "/api//admin/projects/default", "", 200, ""}},
		{"several slashes", projects, apitest.Call{"", "GET", "//api///admin/projects//", "", 200, ""}},
		{"a doubled slash before a name", flagsOf, apitest.Call{"", "DELETE", apitest.Features + "//f", "", 404, "slash"}},
		{"a flag", flagsOf, apitest.Call{"", "GET", apitest.Features + "/f/", "", 200, ""}},
		{"a change", flagsOf, apitest.Call{"", "PUT", apitest.Features + "/f//", `{"stale":true}`, 200, ""}},
		{"an empty name at the end", flagsOf, apitest.Call{"", "DELETE", apitest.Features + "/f/dependencies/", "", 404, "slash"}},
		{"archive a flag", flagsOf, apitest.Call{"", "DELETE", apitest.Features + "/f/", "", 404, "slash"}},
		{"a flag that does not exist", flagsOf, apitest.Call{"", "GET", apitest.Features + "/g/", "", 404, "there is no flag"}},
		{"no endpoint", flagsOf, apitest.Call{"", "GET", "/api/admin/nothing/", "", 404, "slash"}},
		{"dots", flagsOf, apitest.Call{"", "GET", apitest.Features + "/x/../f/", "", 404, ""}},
		{"an escaped slash", flagsOf, apitest.Call{"", "GET", apitest.Features + "%2Ff/", "", 404, ""}},
		{"the slashes of a tag's value", tags, apitest.Call{"", "DELETE", "/api/admin/features/f/tags/simple/a//", "", 404, ""}},
		{"the tag itself", tags, apitest.Call{"", "DELETE", "/api/admin/features/f/tags/simple/a%2F", "", 200, ""}},
		{"in the fallback function", fallback, apitest.Call{"", "GET", "/api//admin/projects", "", 404, "slash"}},
		{"an endpoint that SDKs do not have", fallback, apitest.Call{"", "GET", "/api//client/other", "", 404, "slash"}},
		{"health", fallback, apitest.Call{"", "GET", "/health/", "", 200, ""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := apitest.Direct(tt.in, tt.Method, tt.Path, tt.Body)
			if got.Status != tt.Status || !strings.Contains(got.Body, tt.Want) {
				t.Errorf("%s %s: %d %.200s, want %d %s", tt.Method, tt.Path, got.Status, got.Body, tt.Status, tt.Want)
			}
		})
	}
	if got := apitest.Direct(fallback, "GET", "/api/admin/nothing", ""); strings.Contains(got.Body, "slash") {
		t.Errorf("a path without additional slashes: %s, want no mention of a slash", got.Body)
	}
}

// TestSlashesOfSDKs requests what SDKs do with a base URL that ends in a slash. API Gateway sends these paths to the fallback
// function, which redirects to the right ones.
func TestSlashesOfSDKs(t *testing.T) {
	t.Parallel()
	fallback := httpapi.New(nil, admin.Group("fallback"), httpapi.Config{})
	for path, want := range map[string]string{
		"/api//client/features":                    "/api/client/features",
		"//api/client/features?namePrefix=a&tag=b": "/api/client/features?namePrefix=a&tag=b",
		"/api//client/features/a%20b":              "/api/client/features/a%20b",
		"/api/client/delta/":                       "/api/client/delta",
		"/api/frontend/?userId=7":                  "/api/frontend?userId=7",
		"//ofrep/v1/evaluate/flags/x":              "/ofrep/v1/evaluate/flags/x",
		"//example.com/api/client/features":        "",
		"/api//client/features/../../admin":        "",
		"/api/client/features":                     "", // the gateway's mistake, not the caller's
	} {
		answer := apitest.Direct(fallback, "POST", path, "")
		if got := answer.Header.Get("Location"); got != want || (want != "") != (answer.Status == http.StatusPermanentRedirect) {
			t.Errorf("%s: %d to %q, want %q", path, answer.Status, got, want)
		}
	}
}

// TestFrontendPathsOfTheFallback sends what a page of another origin sends to paths that the fallback function gets: the page must
// be able to follow the redirect, and to read the error.
func TestFrontendPathsOfTheFallback(t *testing.T) {
	t.Parallel()
	for _, origins := range [][]string{nil, {"https://shop.example"}} {
		fallback := httpapi.New(nil, admin.Group("fallback"), httpapi.Config{FrontendOrigins: origins})
		for path, want := range map[string]bool{
			"/api/frontend/": true, "/api//frontend": true, "/api/frontend/client/metrics": true, "//ofrep/v1/evaluate/flags": true,
			"/api/admin/projects": false, "/api/frontends": false, "/api/client/metrics": false,
		} {
			for _, origin := range []string{"https://shop.example", "https://other.example"} {
				for _, method := range []string{"OPTIONS", "POST"} {
					r := httptest.NewRequest(method, path, nil)
					r.Header.Set("Origin", origin)
					r.Header.Set("Access-Control-Request-Method", "POST")
					w := httptest.NewRecorder()
					fallback.ServeHTTP(w, r)
					allowed := w.Header().Get("Access-Control-Allow-Origin") != ""
					if allowed != (want && (origins == nil || origin == origins[0])) {
						t.Errorf("%s %s from %s with %q: allowed %t", method, path, origin, origins, allowed)
					}
				}
			}
		}
	}
}
