package admin_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"guidon/pkg/admin"
	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// serveHandler starts a server for a handler and returns its address.
func serveHandler(t *testing.T, h http.Handler) string {
	t.Helper()
	web := httptest.NewServer(h)
	t.Cleanup(web.Close)
	return web.URL
}

// A measured has the metrics of one log line as CloudWatch reads them: the dimensions by metric.
type measured map[string]string

// measure reads a line according to the specification of the embedded metric format, and fails if it is invalid.
func measure(t *testing.T, line []byte) measured {
	t.Helper()
	var members map[string]any
	if err := json.Unmarshal(line, &members); err != nil { // duplicate names are an error too
		t.Fatalf("line %s: %v", line, err)
	}
	var envelope struct {
		AWS struct {
			Timestamp         int64
			CloudWatchMetrics []struct {
				Namespace  string
				Dimensions [][]string
				Metrics    []struct{ Name, Unit string }
			}
		} `json:"_aws"`
	}
	if err := json.Unmarshal(line, &envelope); err != nil {
		t.Fatalf("line %s: %v", line, err)
	}
	if at := time.UnixMilli(envelope.AWS.Timestamp); time.Since(at).Abs() > time.Minute {
		t.Errorf("line %s: of %s, want the current time in milliseconds", line, at)
	}
	found := measured{}
	for _, d := range envelope.AWS.CloudWatchMetrics {
		if d.Namespace != "Guidon" || len(d.Dimensions) != 1 || len(d.Metrics) == 0 {
			t.Errorf("line %s: %+v, want the namespace Guidon, one set of dimensions, and metrics", line, d)
		}
		var values []string
		for _, name := range d.Dimensions[0] {
			value, ok := members[name].(string)
			if !ok || value == "" || len(value) > 1024 {
				t.Errorf("line %s: dimension %s is %v, want a text", line, name, members[name])
			}
			values = append(values, name+"="+value)
		}
		for _, m := range d.Metrics {
			if value, ok := members[m.Name].(float64); !ok || value < 1 || m.Unit != "Count" || found[m.Name] != "" {
				t.Errorf("line %s: metric %+v is %v, want a count above 0, once", line, m, members[m.Name])
			}
			found[m.Name] = strings.Join(values, " ")
		}
	}
	return found
}

// TestMetrics checks the metrics in the log line of each request, at any log level.
func TestMetrics(t *testing.T) {
	t.Parallel()
	store := dynamotest.Open(t, nil)
	dynamotest.Seed(t, store)
	var log bytes.Buffer
	handlerOf := func(s httpapi.Store, group httpapi.Group) http.Handler {
		return httpapi.New(s, group, httpapi.Config{
			Limits: flags.DefaultLimits(), Version: "7", Metrics: &httpapi.Metrics{Stack: "guidon-test"},
			Logger: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelError})),
		})
	}
	late := 0
	conflicting := brokenStore{Store: store, commit: func() error {
		if late++; late <= 2 {
			return flags.Errorf(flags.VersionConflict, "another was first")
		}
		return nil
	}}
	panicking := brokenStore{load: func(context.Context, []flags.Key) (flags.View, error) { panic("oops") }}
	all := handlerOf(store, admin.Group("features"))
	list, add := "GET "+apitest.Features, "POST "+apitest.Features
	route := strings.NewReplacer("default", "{projectId}")
	tests := []struct {
		name    string
		handler http.Handler
		call    string
		body    string
		status  string
		want    []string // further metrics
		route   string
	}{
		{"the first request", all, add, `{"name":"a-secret-name"}`, "201", []string{"ColdStarts"}, route.Replace(add)},
		{"the second request", all, list, "", "200", nil, route.Replace(list)},
		{"a 400", all, add, `{"name":"a secret name"}`, "400", nil, route.Replace(add)},
		{"a 409", all, add, `{"name":"a-secret-name"}`, "409", nil, route.Replace(add)},
		{"an unknown path", all, "GET /a-secret-path", "", "404", nil, "none"},
		{"a version conflict", handlerOf(conflicting, admin.Group("features")), add, `{"name":"b-secret-name"}`, "201", []string{"ColdStarts", "Conflicts"}, route.Replace(add)},
		{"a panic", handlerOf(panicking, admin.Group("features")), list, "", "500", []string{"ColdStarts"}, route.Replace(list)},
		{"a removed route", handlerOf(nil, admin.Group("fallback")), "GET /api/admin/features", "", "404", []string{"ColdStarts"}, "GET /api/admin/features"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			log.Reset()
			method, path, _ := strings.Cut(tt.call, " ")
			apitest.Direct(tt.handler, method, path, tt.body)
			if lines := bytes.Count(log.Bytes(), []byte("\n")); lines != 1 {
				t.Fatalf("log %s: %d lines, want one", &log, lines)
			}
			want := measured{"Requests": "Stack=guidon-test Operation=" + tt.route + " Status=" + tt.status}
			for _, name := range tt.want {
				want[name] = "Stack=guidon-test"
			}
			if diff := cmp.Diff(want, measure(t, log.Bytes())); diff != "" {
				t.Errorf("metrics of %s (-want +got):\n%s", &log, diff)
			}
			if text := log.String(); strings.Contains(text, "secret") || strings.Contains(text, dynamotest.AdminToken) {
				t.Errorf("log %s, want no path, body or secret in it", text)
			}
		})
	}
	if late != 3 {
		t.Errorf("%d commits, want three", late)
	}
}

// TestLogInLambda checks the fields that a log line has in Lambda.
func TestLogInLambda(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	handler := httpapi.New(nil, admin.Group("fallback"), httpapi.Config{Version: "7", Logger: slog.New(slog.NewJSONHandler(&log, nil))})
	for _, cold := range []bool{true, false} {
		log.Reset()
		apitest.Direct(handler, "GET", "/health", "")
		var line map[string]any
		if err := json.Unmarshal(log.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		var names []string
		for name := range line {
			names = append(names, name)
		}
		slices.Sort(names)
		want := []string{"coldStart", "functionVersion", "level", "method", "ms", "msg", "rounds", "route", "status", "time"}
		if !slices.Equal(names, want) || line["coldStart"] != cold || line["functionVersion"] != "7" {
			t.Errorf("line %s, want %q, and a cold start: %t", &log, want, cold)
		}
	}
}

func TestMetricsSetting(t *testing.T) {
	tests := []struct {
		name, metrics, stack string
		want                 *httpapi.Metrics
		error                string // part of the error
	}{
		{"no setting", "", "", nil, ""},
		{"none", "none", "guidon", nil, ""},
		{"in the log", "emf", "guidon", &httpapi.Metrics{Stack: "guidon"}, ""},
		{"without a stack", "emf", "", nil, "STACK_NAME"},
		{"an invalid value", "yes", "guidon", nil, "none or emf"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("METRICS", tt.metrics)
			t.Setenv("STACK_NAME", tt.stack)
			c, err := httpapi.ConfigFromEnv()
			if (err != nil) != (tt.error != "") || err != nil && !strings.Contains(err.Error(), tt.error) {
				t.Errorf("error %v, want %q", err, tt.error)
			}
			if diff := cmp.Diff(tt.want, c.Metrics); diff != "" {
				t.Errorf("metrics (-want +got):\n%s", diff)
			}
		})
	}
}
