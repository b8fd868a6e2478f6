package httpapi

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"guidon/pkg/apipath"
	"guidon/pkg/version"
)

func TestUnknownPaths(t *testing.T) {
	var log bytes.Buffer
	handler := New(nil, Group{Name: "fallback"}, Config{Logger: slog.New(slog.NewJSONHandler(&log, nil))})
	for _, tt := range []struct {
		name, method, path string
		status             int
		message            string // a part of it
		location           string
		logged             string // the path in the log
	}{
		{"streaming", "GET", "/api/client/streaming", 404, "Guidon itself does not stream: use the address of Guidon Edge", "", "/api/client/streaming"},
		{"metrics", "GET", "/api/client/metrics", 404, "applications report usage with POST", "", "/api/client/metrics"},
		{"metrics of a browser", "GET", "/api/frontend/client/metrics", 404, "applications report usage with POST", "", "/api/frontend/client/metrics"},
		{"Edge", "POST", "/edge/issue-token", 404, "POST /edge/validate", "", "/edge/issue-token"},
		{"the proxy", "GET", "/api/proxy", 404, "/api/frontend", "", "/api/proxy"},
		{"another path of an SDK", "GET", "/api/client/features/my-flag/x", 404, "SDKs read GET /api/client/features", "", "/api/client/features/{…}/{…}"},
		{"OpenFeature", "GET", "/ofrep/v1/configuration", 404, "OpenFeature providers POST /ofrep/v1/evaluate/flags", "", "/ofrep/v1/configuration"},
		{"not an SDK", "GET", "/api/clients", 404, "no such endpoint; see /docs", "", "/api/{…}"},
		{"a secret", "GET", "/*:*.secret", 404, "no such endpoint", "", "/{…}"},
		{"a slash at the end", "GET", "/nothing/", 404, "no such endpoint: remove the extra slash; see /docs", "", "/{…}/"},
		{"an SDK with a slash at the end", "GET", "/api/frontend/?userId=a%20b", 308, "", "/api/frontend?userId=a%20b", "/api/frontend/"},
		{"an SDK with two slashes", "GET", "/api//client/features", 308, "", "/api/client/features", "/api//client/features"},
		{"an SDK with many slashes", "GET", "//api//client/delta//?a=//b", 308, "", "/api/client/delta?a=//b", "//api//client/delta//"},
		{"OpenFeature with two slashes", "POST", "//ofrep/v1/evaluate/flags/f", 308, "", "/ofrep/v1/evaluate/flags/f", "//ofrep/v1/evaluate/flags/{…}"},
		{"another host", "GET", "//evil.example/api/client/features", 404, "remove the extra slash", "", "//{…}/api/client/features"},
		{"metrics with two slashes", "POST", "/api//client/metrics", 308, "", "/api/client/metrics", "/api//client/metrics"},
		{"Edge with two slashes", "POST", "//edge/validate", 308, "", "/edge/validate", "//edge/validate"},
		{"the root", "GET", "/", 404, "no such endpoint; see /docs", "", "/"},
		{"docs with a slash", "GET", "/docs/", 302, "", "/docs", "/docs/"},
		{"no browser", "POST", "/", 404, "no such endpoint", "", "/"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			log.Reset()
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), tt.method, tt.path, http.NoBody))
			if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.message) || w.Header().Get("Location") != tt.location {
				t.Errorf("status %d, location %q: %s", w.Code, w.Header().Get("Location"), w.Body)
			}
			var line struct{ Route, Path string }
			if err := json.Unmarshal(log.Bytes(), &line); err != nil || line.Path != tt.logged || line.Route != "" {
				t.Errorf("the log line is %s (%v), want the path %s and no route", &log, err, tt.logged)
			}
			if strings.Contains(log.String(), "secret") {
				t.Errorf("the log line has a secret: %s", &log)
			}
		})
	}
}

func TestHealthVersion(t *testing.T) {
	w := httptest.NewRecorder()
	New(nil, Group{Name: "fallback"}, Config{}).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, apipath.Health, http.NoBody))
	if got := w.Header().Get("Guidon-Version"); got != version.String() {
		t.Errorf("version %q, want %s", got, version.String())
	}
}
