package admin_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"guidon/pkg/apitest"
	"guidon/pkg/httpapi"
)

// A lastCall delays the response to a request's last DynamoDB call until the request's deadline.
type lastCall struct {
	name string // a DynamoDB operation
	nth  int    // which call of that operation, from 1; 0 for none
}

func (l *lastCall) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || l.nth == 0 || !strings.HasSuffix(r.Header.Get("X-Amz-Target"), "."+l.name) {
		return response, err
	}
	if l.nth--; l.nth > 0 {
		return response, nil
	}
	content, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(content))
	<-r.Context().Done()
	return response, err
}

// TestDeadlineAfterLoading checks that an operation on many flags responds with 503 at its deadline, even if it has loaded all
// the data that it needs.
func TestDeadlineAfterLoading(t *testing.T) {
	late := &lastCall{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = late })
	s.Create(t, "one")
	for _, tt := range []struct {
		name, method, path, body string
		last                     lastCall
	}{
		{"validation of an import", "POST", apitest.ValidateImport, apitest.ImportOf(`"features":[{"name":"a"}]`), lastCall{"BatchGetItem", 2}},
		{"search", "GET", "/api/admin/search/features", "", lastCall{"Query", 2}},
		{"search with cursor", "GET", "/api/admin/search/features?cursor=", "", lastCall{"Query", 2}},
		{"export of all flags", "POST", apitest.Export, `{"environment":"development","features":[]}`, lastCall{"BatchGetItem", 2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := apitest.Direct(s.Handler, tt.method, tt.path, tt.body); got.Status != 200 {
				t.Fatalf("with enough time: %d %.300s, want 200", got.Status, got.Body)
			}
			*late = tt.last
			ctx, cancel := context.WithTimeout(t.Context(), time.Second+500*time.Millisecond) // the last second is for the response
			defer cancel()
			got := apitest.DirectIn(ctx, s.Handler, tt.method, tt.path, tt.body)
			if got.Status != 503 || got.Header.Get("Retry-After") == "" || !strings.Contains(got.Body, "took too long") {
				t.Errorf("%d %.300s, want a 503 with \"took too long\"", got.Status, got.Body)
			}
			if late.nth != 0 {
				t.Errorf("%d more calls of %s expected, want the last call delayed", late.nth, late.name)
			}
		})
	}
}
