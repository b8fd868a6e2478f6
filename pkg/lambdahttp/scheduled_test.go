package lambdahttp

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
)

// TestScheduled checks that an event of EventBridge calls run, and that a request does not, whatever the caller sends.
func TestScheduled(t *testing.T) {
	runs := 0
	handler := Scheduled(
		Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })),
		func(context.Context) error { runs++; return nil },
	)
	for _, tt := range []struct {
		name, event  string
		status, runs int
	}{
		{"a schedule", `{"version":"0","source":"aws.events","detail-type":"Scheduled Event","detail":{}}`, 0, 1},
		{"a request", `{"version":"2.0","rawPath":"/","headers":{"source":"aws.events"},"body":"{\"source\":\"aws.events\"}","requestContext":{"http":{"method":"POST","path":"/"}}}`,
			http.StatusTeapot, 0},
	} {
		runs = 0
		var event Event
		if err := json.Unmarshal([]byte(tt.event), &event); err != nil {
			t.Fatal(err)
		}
		response, err := handler(t.Context(), event)
		if err != nil || response.StatusCode != tt.status || runs != tt.runs {
			t.Errorf("%s: status %d, %d runs, %v; want %d and %d", tt.name, response.StatusCode, runs, err, tt.status, tt.runs)
		}
	}
}
