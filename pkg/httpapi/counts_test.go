package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// TestSuccessesAreCounted serves requests of applications: successes are counted, and written as metrics once a minute, while each
// failure has its line. Of those that are refused because there are too many, one a minute has it.
func TestSuccessesAreCounted(t *testing.T) {
	type line struct {
		Message                string
		Status, Requests, Cold float64
	}
	for _, tt := range []struct {
		name    string
		level   slog.Level
		metrics *httpapi.Metrics
		want    []line
	}{
		{"with metrics", slog.LevelInfo, &httpapi.Metrics{Stack: "s"}, []line{
			{"requests", 200, 1, 1}, {"request", 401, 1, 0}, {"requests", 200, 2, 0}, {"requests", 304, 1, 0}, {"requests", 304, 2, 0},
			{"request", 503, 1, 0}, {"requests", 503, 2, 0}, {"request", 503, 1, 0},
		}},
		{"at another level", slog.LevelError, &httpapi.Metrics{Stack: "s"}, []line{
			{"requests", 200, 1, 1}, {"request", 401, 1, 0}, {"requests", 200, 2, 0}, {"requests", 304, 1, 0}, {"requests", 304, 2, 0},
			{"request", 503, 1, 0}, {"requests", 503, 2, 0}, {"request", 503, 1, 0},
		}},
		{"without metrics", slog.LevelInfo, nil, []line{{"request", 401, 0, 0}, {"request", 503, 0, 0}, {"request", 503, 0, 0}, {"request", 503, 0, 0}, {"request", 503, 0, 0}}},
		{"for debugging", slog.LevelDebug, nil, []line{
			{"request", 200, 0, 0}, {"request", 304, 0, 0}, {"request", 401, 0, 0}, {"request", 200, 0, 0}, {"request", 200, 0, 0}, {"request", 304, 0, 0},
			{"request", 503, 0, 0}, {"request", 503, 0, 0}, {"request", 503, 0, 0}, {"request", 503, 0, 0},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log bytes.Buffer
			now, status := time.Now(), 0
			serve := func(context.Context, *http.Request) (httpapi.Response, error) {
				if status == 503 {
					return httpapi.Response{}, flags.Errorf(flags.Unavailable, "too many")
				}
				if status >= 400 {
					return httpapi.Response{}, flags.Errorf(flags.Unauthenticated, "no")
				}
				return httpapi.Response{Status: status}, nil
			}
			group := httpapi.Group{Operations: []httpapi.Operation{{Route: "GET /poll", Handle: httpapi.Serve(nil, nil, serve)}}}
			handler := httpapi.New(nil, group, httpapi.Config{
				Now: func() time.Time { return now }, Metrics: tt.metrics, Logger: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: tt.level})),
			})
			for _, request := range []struct{ after, status int }{{0, 200}, {1, 304}, {1, 401}, {30, 200}, {61, 200}, {61, 304}, {62, 503}, {63, 503}, {64, 503}, {122, 304}, {123, 503}} {
				if request.after == 122 && tt.metrics == nil {
					continue // only writes what is left
				}
				before := now
				now, status = now.Add(time.Duration(request.after)*time.Second), request.status
				handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/poll", http.NoBody))
				now = before
			}
			var got []line
			for decoder := json.NewDecoder(&log); decoder.More(); {
				var l map[string]any
				if err := decoder.Decode(&l); err != nil {
					t.Fatal(err)
				}
				requests, _ := l["Requests"].(float64)
				cold, _ := l["ColdStarts"].(float64)
				got = append(got, line{l["msg"].(string), l["status"].(float64), requests, cold})
			}
			order := func(a, b line) int { return int(a.Status - b.Status) } // lines of the same time have any order
			slices.SortStableFunc(got, order)
			slices.SortStableFunc(tt.want, order)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}
