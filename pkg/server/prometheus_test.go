package server

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"guidon/pkg/httpapi"
)

// TestPrometheus checks that requests are counted by route, and that no metric contains a secret of a path.
func TestPrometheus(t *testing.T) {
	a := newApp()
	a.mux, a.functions = &httpapi.Mux{}, map[string]*function{}
	a.site = &function{handler: http.NotFoundHandler()}
	const route = "GET /a/{secret}"
	a.functions[route] = &function{handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
	a.mux.Handle(route, a.functions[route].handler)
	ask := func(method, path string) string {
		w := httptest.NewRecorder()
		a.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody))
		return w.Body.String()
	}
	ask("GET", "/nosuch")
	ask("MADEUP", "/nosuch-either")
	page := ask("GET", prometheusPath)
	for _, want := range []string{
		`http_request_duration_milliseconds_count{method="GET",path="none",status="404"} 1`,
		`http_request_duration_milliseconds_count{method="other",path="none",status="404"} 1`,
		`go_goroutines`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in the metrics:\n%s", want, page)
		}
	}
	ask("GET", "/a/key")
	page = ask("GET", prometheusPath)
	if want := `_count{method="GET",path="/a/{secret}",status="200"} 1`; !strings.Contains(page, want) || strings.Contains(page, "nosuch") || strings.Contains(page, "key") {
		t.Errorf("want %s, and no path of a request, in the metrics:\n%s", want, page)
	}
	if got := ask("POST", prometheusPath); !strings.Contains(got, "404") {
		t.Errorf("POST: %s, want no route", got)
	}
}
