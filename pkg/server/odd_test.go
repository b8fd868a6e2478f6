package server

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"guidon/pkg/bootstrap"
	"guidon/pkg/httpapi"
)

// serveAll starts an app, as `make run` does, and returns its address.
func serveAll(t *testing.T) string {
	t.Helper()
	config, err := httpapi.ConfigFromEnv() // for the limits
	if err != nil {
		t.Fatal(err)
	}
	config.Logger = nil
	a := opened(t, config)
	server := httptest.NewUnstartedServer(a)
	server.Config.MaxHeaderBytes = maxHeader
	server.Start()
	t.Cleanup(server.Close)
	return server.URL
}

// TestRequestsOnTheWire writes malformed and unusual requests, which no client sends. Each is answered, with a JSON body if
// Guidon answers, and never with a redirect or a 5xx. byNetHTTP marks requests that net/http itself refuses, with its own
// text, before it calls a handler.
func TestRequestsOnTheWire(t *testing.T) {
	url := serveAll(t)
	const authorization = "Authorization: " + bootstrap.LocalAdminToken
	tests := []struct {
		name, target string
		headers      []string
		status       int
		byNetHTTP    bool
	}{
		{"a percent sign alone", "/api/100%", nil, 400, true},
		{"no hexadecimals", "/api/%zz", nil, 400, true},
		{"a NUL that is not escaped", "/api/a\x00b", nil, 400, true},
		{"no slash at the head", "api/admin", nil, 400, true},
		{"a space within", "/api/a b", nil, 400, true},
		{"an escaped slash", "/api/admin/projects/a%2Fb", nil, 404, false},
		{"a hash", "/api/admin/projects/a#b", nil, 404, false},
		{"two dots", "/api/admin/../../health", nil, 404, false},
		{"escaped dots", "/api/admin/%2e%2e/%2E%2E/health", nil, 404, false},
		{"a dot", "/./health", nil, 404, false},
		{"another host", "//example.com/%2e%2e", nil, 404, false},
		{"an accent", "/api/admin/projects/caf%C3%A9", nil, 404, false},
		{"an accent that is not escaped", "/api/admin/projects/caf\xc3\xa9", nil, 404, false},
		{"a space", "/api/admin/projects/a%20b", nil, 404, false},
		{"a line's end", "/api/admin/projects/a%0d%0aSet-Cookie:%20x=1", nil, 404, false},
		{"a whole address", "http://example.com/health", nil, 200, false},
		{"an asterisk", "*", nil, 404, false},
		{"a query of nonsense", "/api/admin/projects/default?%zz&=&;&a=%00#", nil, 400, false},
		{"a header of 9 KB", "/api/admin/projects/default", []string{"X-Long: " + strings.Repeat("h", 9<<10)}, 200, false},
		{"a header of 20 KB", "/api/admin/projects/default", []string{"X-Long: " + strings.Repeat("h", 20<<10)}, 431, true},
		{"a path of 20 KB", "/api/" + strings.Repeat("n", 20<<10), nil, 431, true},
		{"the same header often", "/api/admin/projects/default", []string{"X-Many: a", "x-many: b,c", "X-MANY:"}, 200, false},
		{"a token twice", "/api/admin/projects/default", []string{authorization}, 401, false},
		{"a header of bytes", "/api/admin/projects/default", []string{"X-Bytes: \xff\xfe\x80"}, 200, false},
		{"a header with NUL", "/api/admin/projects/default", []string{"X-Nul: a\x00b"}, 400, true},
		{"a name with a space", "/api/admin/projects/default", []string{"X Y: a"}, 400, true},
		{"a type of nonsense", "/api/admin/projects/default", []string{"Content-Type: ;;=,", "Content-Encoding: x"}, 200, false},
		{"two lengths", "/api/admin/projects/default", []string{"Content-Length: 1", "Content-Length: 2"}, 400, true},
		{"a host of nonsense", "/api/admin/projects/default", []string{"Host: a b"}, 400, true},
		{"another method by header", "/api/admin/projects/default", []string{"X-HTTP-Method-Override: DELETE"}, 200, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			lines := append([]string{"GET " + tt.target + " HTTP/1.1", authorization, "Connection: close"}, tt.headers...)
			if !strings.Contains(strings.Join(tt.headers, "\n"), "Host:") {
				lines = append(lines, "Host: flags.example")
			}
			response, body := send(t, url, strings.Join(lines, "\r\n")+"\r\n\r\n")
			if response.StatusCode != tt.status {
				t.Errorf("status %d %.200s, want %d", response.StatusCode, body, tt.status)
			}
			if where := response.Header.Get("Location") + response.Header.Get("Set-Cookie"); where != "" {
				t.Errorf("a redirect or a cookie, %q", where)
			}
			switch json := json.Valid([]byte(body)); {
			case tt.byNetHTTP && (json || !strings.HasPrefix(body, http.StatusText(tt.status)) && !strings.HasPrefix(body, response.Status)):
				t.Errorf("%q, want the answer of net/http", body)
			case !tt.byNetHTTP && !json:
				t.Errorf("%q, want JSON", body)
			}
		})
	}
}
