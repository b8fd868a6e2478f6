package admin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/admin"
	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// shortDeadline is a context whose deadline leaves an operation one second.
func shortDeadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// detail matches what a message must never show: details of the store, of Go, or of a secret.
var detail = regexp.MustCompile(`(?i)dynamo|dynoxide|aws|https?:|127\.0|localhost|table|test-\d|FLAG#|PROJECT#|TOKEN#|BatchGet|TransactWrite|condition|throughput|throttl|` +
	`goroutine|panic|runtime|\.go\b|connection|EOF|nil pointer|` + access.HashSecret(dynamotest.AdminToken))

func checkFailure(t *testing.T, got apitest.Answer, status int, name string) {
	t.Helper()
	if got.Status != status || len(apitest.Match(apitest.Failure(name, ""), got.Body)) > 0 {
		t.Errorf("%d %s, want %d %s", got.Status, got.Body, status, name)
	}
	if found := detail.FindString(got.Body); found != "" {
		t.Errorf("%s: shows %q, want no internals", got.Body, found)
	}
	if after := got.Header.Get("Retry-After"); (after != "") != (status == 503) {
		t.Errorf("Retry-After %q with %d, want it only with 503", after, status)
	}
}

// TestStoreFails injects all kinds of faults between Guidon and its store.
func TestStoreFails(t *testing.T) {
	faults := &dynamotest.Faults{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = faults })
	s.Create(t, "f")
	const read, write = "BatchGetItem", "TransactWriteItems"
	tests := []struct {
		name   string
		fails  string // the operation of the store
		fault  dynamotest.Fault
		method string
		status int
		kind   string
	}{
		{"lost read requests", read, dynamotest.DropRequest, "GET", 503, "ServiceUnavailableError"},
		{"lost read responses", read, dynamotest.LoseResponse, "GET", 503, "ServiceUnavailableError"},
		{"failed reads", read, dynamotest.FailBefore, "GET", 503, "ServiceUnavailableError"},
		{"reads with expired credentials", read, dynamotest.ExpireCredentials, "GET", 500, "InternalError"},
		{"throttled reads", read, dynamotest.Throttle, "GET", 503, "ServiceUnavailableError"},
		{"lost write requests", write, dynamotest.DropRequest, "PUT", 503, "ServiceUnavailableError"},
		{"failed writes", write, dynamotest.FailBefore, "PUT", 503, "ServiceUnavailableError"},
		{"throttled writes", write, dynamotest.Throttle, "PUT", 503, "ServiceUnavailableError"},
		{"writes that always conflict", write, dynamotest.Conflict, "PUT", 503, "ServiceUnavailableError"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			faults.Change(func(f *dynamotest.Faults) {
				f.Script = func(operation string, _ int) dynamotest.Fault {
					if operation == tt.fails {
						return tt.fault
					}
					return dynamotest.NoFault
				}
			})
			got := apitest.DirectIn(shortDeadline(t), s.Handler, tt.method, apitest.Features+"/f", `{"description":"never"}`)
			faults.Change(func(f *dynamotest.Faults) { f.Script = nil })
			checkFailure(t, got, tt.status, tt.kind)
			s.Check(t, apitest.Call{"nothing was changed", "GET", apitest.Features + "/f", "", 200, `{"...":0,"description":""}`})
		})
	}
}

// A brokenStore fails in ways that a correct store never does.
type brokenStore struct {
	httpapi.Store
	load   func(ctx context.Context, keys []flags.Key) (flags.View, error)
	commit func() error
}

func (b brokenStore) Load(ctx context.Context, keys []flags.Key) (flags.View, error) {
	if b.load != nil {
		return b.load(ctx, keys)
	}
	return b.Store.Load(ctx, keys)
}

func (b brokenStore) Commit(context.Context, flags.Change) error { return b.commit() }

func (b brokenStore) CommitAll(_ context.Context, changes []flags.Change) []error {
	errs := make([]error, len(changes))
	for i := range changes {
		errs[i] = b.commit()
	}
	return errs
}

func TestDefects(t *testing.T) {
	s := apitest.Serve(t)
	s.Create(t, "f")
	commits := func(err error) func() error { return func() error { return err } }
	rounds := 0
	slowLater := func(ctx context.Context, keys []flags.Key) (flags.View, error) {
		if rounds++; rounds == 1 {
			return s.Store.Load(ctx, keys)
		}
		<-ctx.Done()
		return nil, flags.Errorf(flags.Unavailable, "the store did not answer in time")
	}
	cause := errorOf("TOKEN#secret: connection refused at 127.0.0.1")
	tests := []struct {
		name   string
		store  brokenStore
		status int
		kind   string
	}{
		{"a panic", brokenStore{load: func(context.Context, []flags.Key) (flags.View, error) { panic("TOKEN#secret in table test-1") }}, 500, "InternalError"},
		{"an unknown error", brokenStore{load: func(context.Context, []flags.Key) (flags.View, error) { return nil, cause }}, 500, "InternalError"},
		{"an unknown error from a commit", brokenStore{Store: s.Store, commit: commits(cause)}, 500, "InternalError"},
		{"an internal error with a cause", brokenStore{Store: s.Store, commit: commits(&flags.Error{Kind: flags.Internal, Message: "sorry", Err: cause})}, 500, "InternalError"},
		{"an unknown error kind", brokenStore{Store: s.Store, commit: commits(&flags.Error{Kind: 99, Message: "sorry"})}, 500, "InternalError"},
		{"a version conflict in every round", brokenStore{Store: s.Store, commit: commits(flags.Errorf(flags.VersionConflict, "outdated"))}, 503, "ServiceUnavailableError"},
		{"a deadline in the second round", brokenStore{load: slowLater, commit: commits(flags.Errorf(flags.VersionConflict, "outdated"))}, 503, "ServiceUnavailableError"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			handler := httpapi.New(tt.store, admin.Group("features"), httpapi.Config{})
			checkFailure(t, apitest.DirectIn(shortDeadline(t), handler, "PUT", apitest.Features+"/f", `{"stale":true}`), tt.status, tt.kind)
		})
	}
}

// TestLargeResponses lists more than a Lambda response can hold. The response is compressed if the caller accepts that. If not, it
// is an error that names the parameters of pages.
func TestLargeResponses(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	for _, path := range []string{apitest.Project, apitest.Features} {
		for _, tt := range []struct {
			flags    int
			encoding string
			status   int
		}{
			{5_000, "", 200}, {20_000, "", 413}, {20_000, "br, gzip;q=0", 413},
			{5_000, "gzip, deflate", 200}, {10_000, "gzip", 200}, {20_000, "*", 200},
		} {
			for _, group := range []httpapi.Group{admin.Group("projects"), admin.Group("features")} {
				r := httptest.NewRequest(http.MethodGet, path, nil)
				r.Header.Set("Authorization", dynamotest.AdminToken)
				r.Header.Set("Accept-Encoding", tt.encoding)
				w := httptest.NewRecorder()
				httpapi.New(apitest.LongStore{Store: s.Store, Flags: tt.flags}, group, httpapi.Config{}).ServeHTTP(w, r)
				if w.Code == 404 {
					continue // a path of the other group
				}
				if w.Code != tt.status {
					t.Errorf("GET %s of %d flags, Accept-Encoding %q: %d %.300s, want %d", path, tt.flags, tt.encoding, w.Code, w.Body, tt.status)
					continue
				}
				if w.Code != 200 {
					if len(apitest.Match(apitest.Failure("PayloadTooLargeError", "/features?limit=1000, and then cursor"), w.Body.String())) > 0 {
						t.Errorf("GET %s of %d flags: %s, want a message that names the parameters of pages", path, tt.flags, w.Body)
					}
					continue
				}
				t.Logf("%d flags, Accept-Encoding %q: %d bytes", tt.flags, tt.encoding, w.Body.Len())
				var list struct{ Features []struct{ Name string } }
				if err := json.Unmarshal(apitest.Uncompressed(t, w.Header(), w.Body), &list); err != nil || len(list.Features) != tt.flags {
					t.Errorf("GET %s of %d flags: got %d of them, %v", path, tt.flags, len(list.Features), err)
				}
			}
		}
	}
}

type errorOf string

func (e errorOf) Error() string { return string(e) }

// TestUnseeded calls every operation on an empty table, which is a defect of the deployment. The errors are JSON.
func TestUnseeded(t *testing.T) {
	t.Parallel()
	store := dynamotest.Open(t, nil)
	for _, group := range admin.Groups() {
		handler := httpapi.New(store, group, httpapi.Config{})
		for _, route := range group.Routes() {
			if isPublic(route) {
				continue
			}
			c := subject{project: "default", flag: "f", environment: "development", strategy: "id"}.call(route)
			got := apitest.Direct(handler, c.Method, c.Path, c.Body)
			checkFailure(t, got, 401, "AuthenticationRequired")
		}
	}
	open := apitest.Handler(store, httpapi.Config{Open: true})
	checkFailure(t, apitest.Direct(open, "GET", apitest.Environments, ""), 500, "InternalError")
}

// TestLog checks that the log line of an error has its id, and no path, body or secret.
func TestLog(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := apitest.Serve(t, func(c *httpapi.Config, _ *http.RoundTripper) { c.Logger = slog.New(slog.NewJSONHandler(&log, nil)) })
	s.Create(t, "hidden-name")
	tests := []struct {
		name, method, path, body, route string
		status                          int
	}{
		{"a success", "GET", apitest.Features + "/hidden-name", "", "GET /api/admin/projects/{projectId}/features/{featureName}", 200},
		{"a 404", "GET", apitest.Features + "/hidden-other", "", "GET /api/admin/projects/{projectId}/features/{featureName}", 404},
		{"a 400", "POST", apitest.Features, `{"name":"hidden name"}`, "POST /api/admin/projects/{projectId}/features", 400},
		{"an unknown path", "GET", "/hidden", "", "", 404},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			log.Reset()
			got := apitest.Direct(s.Handler, tt.method, tt.path, tt.body)
			var line struct {
				Method, Route, ErrorID string
				Status                 int
			}
			if err := json.Unmarshal(log.Bytes(), &line); err != nil {
				t.Fatalf("log %q: %v, want one line of JSON", &log, err)
			}
			if line.Method != tt.method || line.Route != tt.route || line.Status != tt.status || got.Status != tt.status {
				t.Errorf("log %s of %d, want %s, %q, %d", &log, got.Status, tt.method, tt.route, tt.status)
			}
			if failed := tt.status >= 400; failed != (line.ErrorID != "") || failed && !strings.Contains(got.Body, line.ErrorID) {
				t.Errorf("error id %q in the log, body %s; want the same", line.ErrorID, got.Body)
			}
			if text := log.String(); strings.Contains(text, "hidden") || strings.Contains(text, dynamotest.AdminToken) {
				t.Errorf("log %s, want no path, body or secret in it", text)
			}
		})
	}
}

// TestNewIDs checks that every error has a different id.
func TestNewIDs(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	seen := map[string]bool{}
	for range 20 {
		_, rest, _ := strings.Cut(s.Do(t, "GET", "/nosuch", "").Body, `"id":"`)
		id, _, _ := strings.Cut(rest, `"`)
		if id == "" || seen[id] {
			t.Errorf("id %q is empty or repeated, want a new one", id)
		}
		seen[id] = true
	}
}
