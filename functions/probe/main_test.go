package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"guidon/pkg/admin"
	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
)

func TestMain(m *testing.M) { os.Exit(dynamotest.Run(m)) }

// TestProbe calls the real API, with a table and without one.
func TestProbe(t *testing.T) {
	lost, err := dynamo.Open(t.Context(), dynamo.Options{Table: "no-such-table", Endpoint: dynamotest.Engine().URL()})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		store httpapi.Store
		says  string
	}{
		"good":          {dynamotest.Open(t, nil), ""},
		"without table": {lost, "GET /api/admin/projects answered 500, want 401"},
	} {
		t.Run(name, func(t *testing.T) {
			mux := http.NewServeMux()
			mux.Handle("/health", httpapi.New(nil, admin.Group("fallback"), httpapi.Config{}))
			mux.Handle("/api/admin/projects", httpapi.New(tt.store, admin.Group("projects"), httpapi.Config{}))
			server := httptest.NewServer(mux)
			defer server.Close()
			err := probe(t.Context(), server.URL+"/")
			if tt.says == "" && err != nil || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
				t.Errorf("it says %v, want %q", err, tt.says)
			}
		})
	}
	if err := probe(t.Context(), "http://127.0.0.1:1"); err == nil {
		t.Error("the probe succeeded without an API")
	}
}
