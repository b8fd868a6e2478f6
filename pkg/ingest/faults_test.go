package ingest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"guidon/pkg/dynamo/dynamotest"
)

// TestFaults reports while the store fails: a lost response does not store a report twice, and a caller learns that a report was not
// stored.
func TestFaults(t *testing.T) {
	for _, tt := range []struct {
		name   string
		always bool // the fault is in every PutItem, not only in the first
		fault  dynamotest.Fault
		status int
		posts  int
	}{
		{"a lost response", false, dynamotest.LoseResponse, 202, 1},
		{"delivered twice", false, dynamotest.DeliverTwice, 202, 1},
		{"delivered late", false, dynamotest.DeliverLate, 202, 1},
		{"throttled once", false, dynamotest.Throttle, 202, 1},
		{"failed after", false, dynamotest.FailAfter, 202, 1},
		{"throttled", true, dynamotest.Throttle, 503, 0},
		{"not reached", true, dynamotest.DropRequest, 503, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			faults := &dynamotest.Faults{}
			s := serve(t, faults)
			faults.ResetCalls()
			faults.Change(func(f *dynamotest.Faults) {
				f.Script = func(operation string, n int) dynamotest.Fault {
					if operation == "PutItem" && (tt.always || n == 1) {
						return tt.fault
					}
					return dynamotest.NoFault
				}
			})
			ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond) // less one second to answer
			defer cancel()
			r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/api/client/metrics", strings.NewReader(nodeMetrics))
			w := s.do(r, []string{"Content-Type: application/json", "Authorization: " + dynamotest.ClientToken})
			if faults.Drain(); faults.Injected()[tt.fault] == 0 {
				t.Fatal("no fault was injected")
			}
			if w.Code != tt.status {
				t.Errorf("%d %s, want %d", w.Code, w.Body, tt.status)
			}
			if w.Code == http.StatusServiceUnavailable && w.Header().Get("Retry-After") == "" {
				t.Error("the 503 has no Retry-After")
			}
			faults.Change(func(f *dynamotest.Faults) { f.Script = nil })
			if got := strings.Count(dynamotest.Scan(t, s.store.Store), `"POST#`); got != tt.posts {
				t.Errorf("%d posts are stored, want %d", got, tt.posts)
			}
		})
	}
}
