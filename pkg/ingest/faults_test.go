package ingest

import (
	"context"
	"fmt"
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

// TestBatches sends a report with the same name again, as Guidon Edge does when it got no response: it is stored once, whatever happened
// to the earlier one. The name belongs to the token.
func TestBatches(t *testing.T) {
	for _, fault := range []dynamotest.Fault{
		dynamotest.NoFault, dynamotest.LoseResponse, dynamotest.DeliverTwice, dynamotest.DeliverLate, dynamotest.Throttle, dynamotest.FailAfter, dynamotest.DropRequest,
	} {
		t.Run(fmt.Sprint(fault), func(t *testing.T) {
			faults := &dynamotest.Faults{}
			s := serve(t, faults)
			faults.ResetCalls()
			faults.Change(func(f *dynamotest.Faults) {
				f.Script = func(operation string, n int) dynamotest.Fault {
					if operation == "TransactWriteItems" && n <= 2 {
						return fault
					}
					return dynamotest.NoFault
				}
			})
			const batch = "Guidon-Batch: 0b0f0e80-5d3c-4a3e-9c5b-0d8f0a6f0b01"
			send := func(token string, headers ...string) int {
				t.Helper()
				return s.post("/api/client/metrics/bulk", token, bulkMetricsOfEdge, headers...).Code
			}
			for range 3 {
				if status := send(dynamotest.ClientToken, batch); status != 202 && status != 503 {
					t.Fatalf("%d, want 202 or 503", status)
				}
			}
			if status := send(dynamotest.ClientToken, batch); status != 202 {
				t.Errorf("the last time: %d, want 202", status)
			}
			faults.Drain()
			stored := func() int {
				t.Helper()
				table := dynamotest.Scan(t, s.store.Store)
				return strings.Count(table, `"POST#`) - strings.Count(table, `"POST#NAME#`)
			}
			if got := stored(); got != 1 {
				t.Errorf("%d posts are stored, want 1", got)
			}
			other := s.token(t, `{"tokenName":"other","type":"client","environment":"development"}`)
			for _, status := range []int{send(other, batch), send(dynamotest.ClientToken, "Guidon-Batch: 0b0f0e80-5d3c-4a3e-9c5b-0d8f0a6f0b02")} {
				if status != 202 {
					t.Errorf("another token or name: %d, want 202", status)
				}
			}
			if status := send(dynamotest.ClientToken, "Guidon-Batch: 7"); status != 400 {
				t.Errorf("a name that is no UUID: %d, want 400", status)
			}
			if got := stored(); got != 3 {
				t.Errorf("%d posts are stored, want 3", got)
			}
		})
	}
}
