package admin_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guidon/pkg/admin"
	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
)

const (
	console = "https://console.example.com"
	laptop  = "http://localhost:3000"
)

// corsHeaders returns the CORS headers of a response.
func corsHeaders(h http.Header) map[string]string {
	got := map[string]string{}
	for name, values := range h {
		if name == "Vary" || strings.HasPrefix(name, "Access-Control-") {
			got[name] = strings.Join(values, ", ")
		}
	}
	return got
}

// TestCORS sends requests as browsers do, from listed and from unlisted origins.
func TestCORS(t *testing.T) {
	t.Parallel()
	listed := apitest.Serve(t, func(c *httpapi.Config, _ *http.RoundTripper) { c.Origins = []string{console, laptop} })
	none := apitest.Serve(t)
	preflight := []string{"Access-Control-Request-Method: PATCH", "Access-Control-Request-Headers: authorization,content-type", "Authorization:"}
	allowed := func(origin string) map[string]string {
		return map[string]string{
			"Access-Control-Allow-Origin": origin, "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
			"Access-Control-Allow-Headers": "Authorization, Content-Type, If-Match, If-None-Match", "Access-Control-Max-Age": "600",
			"Vary": "Origin, Access-Control-Request-Method",
		}
	}
	simple := map[string]string{"Access-Control-Allow-Origin": console, "Access-Control-Expose-Headers": "ETag, Retry-After", "Vary": "Origin, Accept-Encoding"}
	refused := map[string]string{"Vary": "Origin, Accept-Encoding"}
	refusedPreflight := map[string]string{"Vary": "Origin, Access-Control-Request-Method"}
	tests := []struct {
		name         string
		s            *apitest.Server
		method, path string
		headers      []string
		status       int
		want         map[string]string
	}{
		{"a preflight", listed, "OPTIONS", apitest.Features, append(preflight, "Origin: "+console), 204, allowed(console)},
		{"a preflight of another listed origin", listed, "OPTIONS", apitest.Features, append(preflight, "Origin: "+laptop), 204, allowed(laptop)},
		{"a preflight with an invalid token", listed, "OPTIONS", apitest.Features, append(preflight, "Origin: "+console, "Authorization: *:*.wrong"), 204, allowed(console)},
		{"a preflight of an unknown path", listed, "OPTIONS", "/nosuch", append(preflight, "Origin: "+console), 204, allowed(console)},
		{"a preflight of an unlisted origin", listed, "OPTIONS", apitest.Features, append(preflight, "Origin: https://evil.example.com"), 204, refusedPreflight},
		{"a preflight of an origin with a listed prefix", listed, "OPTIONS", apitest.Features, append(preflight, "Origin: "+console+".evil.example.com"), 204, refusedPreflight},
		{"a preflight of the origin null", listed, "OPTIONS", apitest.Features, append(preflight, "Origin: null"), 204, refusedPreflight},
		{"OPTIONS that is not a preflight", listed, "OPTIONS", apitest.Features, nil, 204, refusedPreflight},
		{"a preflight with no origins configured", none, "OPTIONS", apitest.Features, append(preflight, "Origin: "+console), 204, map[string]string{}},
		{"a request", listed, "GET", apitest.Features, []string{"Origin: " + console}, 200, simple},
		{"an error, which the page may read", listed, "GET", apitest.Features, []string{"Origin: " + console, "Authorization:"}, 401, simple},
		{"an unknown path", listed, "GET", "/nosuch", []string{"Origin: " + console}, 404, simple},
		{"a request of an unlisted origin", listed, "GET", apitest.Features, []string{"Origin: https://evil.example.com"}, 200, refused},
		{"a request without an origin", listed, "GET", apitest.Features, nil, 200, refused},
		{"a request with no origins configured", none, "GET", apitest.Features, []string{"Origin: " + console}, 200, map[string]string{"Vary": "Accept-Encoding"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.s.Do(t, tt.method, tt.path, "", tt.headers...)
			if got.Status != tt.status {
				t.Errorf("status %d, want %d: %s", got.Status, tt.status, got.Body)
			}
			if diff := cmp.Diff(tt.want, corsHeaders(got.Header)); diff != "" {
				t.Errorf("headers (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCORSOfErrors checks that a page may read the response to a panic.
func TestCORSOfErrors(t *testing.T) {
	t.Parallel()
	handler := httpapi.New(brokenStore{}, admin.Group("features"), httpapi.Config{Origins: []string{console}})
	web := apitest.Server{URL: serveHandler(t, handler), Client: http.DefaultClient}
	got := web.Do(t, "GET", apitest.Features, "", "Origin: "+console, "Authorization: "+dynamotest.AdminToken)
	if got.Status != 500 || got.Header.Get("Access-Control-Allow-Origin") != console {
		t.Errorf("%d with %q, want the 500 of a panic that the page may read", got.Status, corsHeaders(got.Header))
	}
}

func TestOrigins(t *testing.T) {
	tests := []struct {
		name, value string
		want        []string
		error       string // part of the error
	}{
		{"none", "", nil, ""},
		{"one", console, []string{console}, ""},
		{"several", " HTTPS://Console.example.com ,," + laptop, []string{console, laptop}, ""},
		{"all", "*", nil, `"*"`},
		{"all of a domain", "https://*.example.com", nil, "* is not allowed"},
		{"null", "null", nil, `"null"`},
		{"no scheme", "console.example.com", nil, "https://host"},
		{"another scheme", "ftp://console.example.com", nil, "https://host"},
		{"with a path", console + "/", nil, "without a path"},
		{"with a user", "https://me@console.example.com", nil, "without a path"},
		{"one good, one bad", console + ",*", nil, `"*"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("CORS_ORIGINS", tt.value)
			c, err := httpapi.ConfigFromEnv()
			if text := fmt.Sprint(err); (err != nil) != (tt.error != "") || !strings.Contains(text, tt.error) || err != nil && !strings.Contains(text, "CORS_ORIGINS") {
				t.Errorf("error %v, want %q", err, tt.error)
			}
			if diff := cmp.Diff(tt.want, c.Origins); diff != "" {
				t.Errorf("origins (-want +got):\n%s", diff)
			}
		})
	}
}
