package admin_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

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
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = late })
	s.create(t, "one")
	for _, tt := range []struct {
		name, method, path, body string
		last                     lastCall
	}{
		{"validation of an import", "POST", validateImport, importOf(`"features":[{"name":"a"}]`), lastCall{"BatchGetItem", 2}},
		{"search", "GET", "/api/admin/search/features", "", lastCall{"Query", 2}},
		{"search with cursor", "GET", "/api/admin/search/features?cursor=", "", lastCall{"Query", 2}},
		{"export of all flags", "POST", exportData, `{"environment":"development","features":[]}`, lastCall{"BatchGetItem", 2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := direct(s.handler, tt.method, tt.path, tt.body); got.status != 200 {
				t.Fatalf("with enough time: %d %.300s, want 200", got.status, got.body)
			}
			*late = tt.last
			ctx, cancel := context.WithTimeout(t.Context(), time.Second+500*time.Millisecond) // the last second is for the response
			defer cancel()
			got := directIn(ctx, s.handler, tt.method, tt.path, tt.body)
			if got.status != 503 || got.header.Get("Retry-After") == "" || !strings.Contains(got.body, "took too long") {
				t.Errorf("%d %.300s, want a 503 with \"took too long\"", got.status, got.body)
			}
			if late.nth != 0 {
				t.Errorf("%d more calls of %s expected, want the last call delayed", late.nth, late.name)
			}
		})
	}
}
