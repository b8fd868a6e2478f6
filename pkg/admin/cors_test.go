package admin_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guidon/pkg/admin"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
)

const (
	console = "https://console.example.com"
	laptop  = "http://localhost:3000"
)

// corsHeaders are the headers of an answer that are about CORS.
func corsHeaders(h http.Header) map[string]string {
	got := map[string]string{}
	for name, values := range h {
		if name == "Vary" || strings.HasPrefix(name, "Access-Control-") {
			got[name] = strings.Join(values, ", ")
		}
	}
	return got
}

// TestCORS asks as browsers do, for pages of origins that are listed and of others, through HTTP.
func TestCORS(t *testing.T) {
	listed := serve(t, func(c *httpapi.Config, _ *http.RoundTripper) { c.Origins = []string{console, laptop} })
	none := serve(t)
	preflight := []string{"Access-Control-Request-Method: PATCH", "Access-Control-Request-Headers: authorization,content-type", "Authorization:"}
	allowed := func(origin string) map[string]string {
		return map[string]string{
			"Access-Control-Allow-Origin": origin, "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
			"Access-Control-Allow-Headers": "Authorization, Content-Type", "Access-Control-Max-Age": "600",
			"Vary": "Origin, Access-Control-Request-Method",
		}
	}
	simple := map[string]string{"Access-Control-Allow-Origin": console, "Access-Control-Expose-Headers": "Retry-After", "Vary": "Origin, Accept-Encoding"}
	refused := map[string]string{"Vary": "Origin, Accept-Encoding"}
	refusedPreflight := map[string]string{"Vary": "Origin, Access-Control-Request-Method"}
	tests := []struct {
		name         string
		s            *server
		method, path string
		headers      []string
		status       int
		want         map[string]string
	}{
		{"a preflight", listed, "OPTIONS", features, append(preflight, "Origin: "+console), 204, allowed(console)},
		{"of another that is listed", listed, "OPTIONS", features, append(preflight, "Origin: "+laptop), 204, allowed(laptop)},
		{"with a token that is wrong", listed, "OPTIONS", features, append(preflight, "Origin: "+console, "Authorization: *:*.wrong"), 204, allowed(console)},
		{"where there is nothing", listed, "OPTIONS", "/nosuch", append(preflight, "Origin: "+console), 204, allowed(console)},
		{"of nobody's", listed, "OPTIONS", features, append(preflight, "Origin: https://evil.example.com"), 204, refusedPreflight},
		{"of one that begins alike", listed, "OPTIONS", features, append(preflight, "Origin: "+console+".evil.example.com"), 204, refusedPreflight},
		{"of null", listed, "OPTIONS", features, append(preflight, "Origin: null"), 204, refusedPreflight},
		{"OPTIONS that is no preflight", listed, "OPTIONS", features, nil, 204, refusedPreflight},
		{"a preflight where none are listed", none, "OPTIONS", features, append(preflight, "Origin: "+console), 204, map[string]string{}},
		{"a call", listed, "GET", features, []string{"Origin: " + console}, 200, simple},
		{"a failure, which the page may read too", listed, "GET", features, []string{"Origin: " + console, "Authorization:"}, 401, simple},
		{"a path of nobody's", listed, "GET", "/nosuch", []string{"Origin: " + console}, 404, simple},
		{"a call of nobody's", listed, "GET", features, []string{"Origin: https://evil.example.com"}, 200, refused},
		{"a call of no page", listed, "GET", features, nil, 200, refused},
		{"a call where none are listed", none, "GET", features, []string{"Origin: " + console}, 200, map[string]string{"Vary": "Accept-Encoding"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.s.do(t, tt.method, tt.path, "", tt.headers...)
			if got.status != tt.status {
				t.Errorf("status %d, want %d: %s", got.status, tt.status, got.body)
			}
			if diff := cmp.Diff(tt.want, corsHeaders(got.header)); diff != "" {
				t.Errorf("headers (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCORSOfErrors holds that pages may read what a panic is answered with.
func TestCORSOfErrors(t *testing.T) {
	handler := httpapi.New(brokenStore{}, admin.Group("features"), httpapi.Config{Origins: []string{console}})
	web := server{url: serveHandler(t, handler), client: http.DefaultClient}
	got := web.do(t, "GET", features, "", "Origin: "+console, "Authorization: "+dynamotest.AdminToken)
	if got.status != 500 || got.header.Get("Access-Control-Allow-Origin") != console {
		t.Errorf("%d with %q, want the 500 of a panic that the page may read", got.status, corsHeaders(got.header))
	}
}

// TestCORSInTemplate holds that API Gateway is told to answer what is answered here.
func TestCORSInTemplate(t *testing.T) {
	raw, err := os.ReadFile("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(raw), "\n      CorsConfiguration:")
	if !found {
		t.Fatal("template.yaml has no CorsConfiguration")
	}
	block, _, _ = strings.Cut(block, "      AccessLogSettings:")
	for name, want := range map[string]string{
		"AllowMethods": "[GET, POST, PUT, PATCH, DELETE]", "AllowHeaders": "[Authorization, Content-Type]", "ExposeHeaders": "[Retry-After]", "MaxAge": "600",
	} {
		if line := " " + name + ": " + want + "\n"; !strings.Contains(block, line) {
			t.Errorf("CorsConfiguration is %s, want it to have %q, as cors.go", block, line)
		}
	}
	if strings.Contains(block, "*") || strings.Contains(block, "AllowCredentials") {
		t.Errorf("CorsConfiguration is %s, want no * and no credentials", block)
	}
}

func TestOrigins(t *testing.T) {
	tests := []struct {
		name, value string
		want        []string
		says        string // of the error
	}{
		{"none", "", nil, ""},
		{"one", console, []string{console}, ""},
		{"several", " HTTPS://Console.example.com ,," + laptop, []string{console, laptop}, ""},
		{"all", "*", nil, `"*"`},
		{"all of a domain", "https://*.example.com", nil, "* is not taken"},
		{"null", "null", nil, `"null"`},
		{"no scheme", "console.example.com", nil, "https://host"},
		{"another scheme", "ftp://console.example.com", nil, "https://host"},
		{"with a path", console + "/", nil, "nothing behind it"},
		{"with a user", "https://me@console.example.com", nil, "nothing behind it"},
		{"one good, one bad", console + ",*", nil, `"*"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("CORS_ORIGINS", tt.value)
			c, err := httpapi.ConfigFromEnv()
			if text := fmt.Sprint(err); (err != nil) != (tt.says != "") || !strings.Contains(text, tt.says) || err != nil && !strings.Contains(text, "CORS_ORIGINS") {
				t.Errorf("error %v, want %q", err, tt.says)
			}
			if diff := cmp.Diff(tt.want, c.Origins); diff != "" {
				t.Errorf("origins (-want +got):\n%s", diff)
			}
		})
	}
}
