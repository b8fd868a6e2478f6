package admin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"reflect"
	"strings"
	"testing"

	"guidon/pkg/admin"
	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

func TestMain(m *testing.M) { os.Exit(dynamotest.Run(m)) }

// The paths that most tests use.
const (
	project  = "/api/admin/projects/default"
	features = project + "/features"
)

// in is the path of an environment of a flag in the project "default".
func in(flag, environment string) string {
	return features + "/" + flag + "/environments/" + environment
}

// A server serves all operations over its own store.
type server struct {
	url     string
	client  *http.Client
	store   *dynamo.Store
	handler http.Handler
}

// An option changes the configuration of a server, or the transport of the store's requests.
type option func(config *httpapi.Config, transport *http.RoundTripper)

// serve starts a server with the data of a new deployment and the three tokens of dynamotest.
func serve(t *testing.T, options ...option) *server {
	t.Helper()
	config := httpapi.Config{Limits: flags.DefaultLimits(), Sealer: dynamotest.Sealer, Twice: sameTwice(t), QueryRead: describedQuery(t)}
	var transport http.RoundTripper
	for _, o := range options {
		o(&config, &transport)
	}
	store := dynamotest.Open(t, newIAM(transport))
	dynamotest.Seed(t, store)
	handler := described(t, everyGroup(store, config))
	web := httptest.NewServer(handler)
	t.Cleanup(web.Close)
	client := web.Client()
	client.Transport.(*http.Transport).MaxIdleConnsPerHost = 64
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &server{url: web.URL, client: client, store: store, handler: handler}
}

// sameTwice fails a test if the function of an operation does something else when it runs a second time in the same round, or if it
// changes what applications see without changing what change requests guard.
func sameTwice(t *testing.T) func(route string, first, second httpapi.Result) {
	return func(route string, first, second httpapi.Result) {
		first.Err, _, _ = strings.Cut(first.Err, "\ngoroutine ") // the stack of a panic has addresses, which differ
		second.Err, _, _ = strings.Cut(second.Err, "\ngoroutine ")
		if !reflect.DeepEqual(first, second) {
			t.Errorf("%s did something else when it ran again:\n%+v\n%+v", route, first, second)
		}
		for _, w := range first.Writes {
			if unguarded(w) {
				t.Errorf("%s changes what applications see, but nothing that change requests guard, from\n%+v to\n%+v", route, w.Before, w.After)
			}
		}
	}
}

// everyGroup sends each request to the group that has a route for it, as the gateway does. Requests without a route, and
// requests that a mux would redirect, go to the fallback.
func everyGroup(store httpapi.Store, config httpapi.Config) http.Handler {
	mux := &httpapi.Mux{}
	var fallback http.Handler
	for _, group := range admin.Groups() {
		handler := byFunction(group.Function, httpapi.New(store, group, config))
		for _, route := range group.Routes() {
			mux.Handle(route, handler)
			if before, _, tail := strings.Cut(route, "/{legalValue...}"); tail { // the mux would redirect the path without a slash
				mux.Handle(before, handler)
			}
		}
		for route := range group.Gone {
			mux.Handle(route, handler)
		}
		if group.Name == "fallback" {
			fallback = handler
		}
	}
	mux.Handle("/", fallback)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path.Clean(r.URL.EscapedPath()) != r.URL.EscapedPath() {
			fallback.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// An answer is a response.
type answer struct {
	status int
	header http.Header
	body   string
}

// try sends a request with the admin token. A header is "Name: value". "Name:" removes a header.
func (s *server) try(method, path, body string, headers ...string) (answer, error) {
	r, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Authorization", dynamotest.AdminToken)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ":")
		r.Header.Del(name)
		if value = strings.TrimSpace(value); value != "" {
			r.Header.Set(name, value)
		}
	}
	response, err := s.client.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, string(content)}, err
}

func (s *server) do(t *testing.T, method, path, body string, headers ...string) answer {
	t.Helper()
	got, err := s.try(method, path, body, headers...)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// must sends a request that has to succeed, such as the preparation of a test.
func (s *server) must(t *testing.T, method, path, body string) answer {
	t.Helper()
	got := s.do(t, method, path, body)
	if got.status >= 300 {
		t.Fatalf("%s %s %.300s: %d %.500s, want success", method, path, body, got.status, got.body)
	}
	return got
}

// create creates flags in the project "default".
func (s *server) create(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		s.must(t, "POST", features, fmt.Sprintf(`{"name":%q}`, name))
	}
}

// strategy adds a strategy to a flag in development, and returns its id.
func (s *server) strategy(t *testing.T, flag, body string) string {
	t.Helper()
	var added struct{ ID string }
	if err := json.Unmarshal([]byte(s.must(t, "POST", in(flag, "development")+"/strategies", body).body), &added); err != nil {
		t.Fatal(err)
	}
	return added.ID
}

// enabled creates flags with a strategy in development and enables them there.
func (s *server) enabled(t *testing.T, names ...string) {
	t.Helper()
	s.create(t, names...)
	for _, name := range names {
		s.strategy(t, name, `{"name":"default"}`)
		s.must(t, "POST", in(name, "development")+"/on", "")
	}
}

// events returns the types of a flag's events, oldest first.
func (s *server) events(t *testing.T, flag string) []flags.EventType {
	t.Helper()
	return s.eventsOf(t, &flags.Feature{Name: flag})
}

func (s *server) eventsOf(t *testing.T, of flags.Aggregate) []flags.EventType {
	t.Helper()
	events, err := s.store.Events(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	types := make([]flags.EventType, len(events))
	for i, e := range events {
		types[i] = e.Type
	}
	return types
}

// A call is a request and the expected response.
type call struct {
	name   string
	method string
	path   string
	body   string
	status int
	want   string // see match
}

// run makes calls in order, so a call may depend on those before it.
func (s *server) run(t *testing.T, calls []call) {
	t.Helper()
	for _, c := range calls {
		t.Run(c.name, func(t *testing.T) { s.check(t, c) })
	}
}

func (s *server) check(t *testing.T, c call, headers ...string) {
	t.Helper()
	got := s.do(t, c.method, c.path, c.body, headers...)
	if got.status != c.status {
		t.Errorf("%s: %s %.300s %.300s: status %d, want %d; body %.500s", c.name, c.method, c.path, c.body, got.status, c.status, got.body)
		return
	}
	media := "application/json; charset=utf-8"
	if strings.HasSuffix(c.path, "/csv") && got.status < 300 {
		media = "text/csv; charset=utf-8"
	}
	if kind := got.header.Get("Content-Type"); got.body != "" && kind != media {
		t.Errorf("%s %s: content type %q, want %q", c.method, c.path, kind, media)
	}
	if different := match(c.want, got.body); len(different) > 0 {
		t.Errorf("%s: %s %.300s %.300s: %s\nbody %s\nwant %s", c.name, c.method, c.path, c.body, strings.Join(different, "\n"), got.body, c.want)
	}
}

// unchanged makes calls and checks that they did not change the flag or its events. Events are never removed, so one check
// after all calls is enough.
func (s *server) unchanged(t *testing.T, flag string, calls []call) {
	t.Helper()
	was, events := s.do(t, "GET", features+"/"+flag, ""), len(s.events(t, flag))
	s.run(t, calls)
	if now := s.do(t, "GET", features+"/"+flag, ""); now.body != was.body || now.status != was.status {
		t.Errorf("the flag changed from %d %.2000s to %d %.2000s", was.status, was.body, now.status, now.body)
	}
	if now := s.events(t, flag); len(now) != events {
		t.Errorf("events %q, want the %d from before", now, events)
	}
}

// direct calls a handler without a network.
func direct(handler http.Handler, method, path, body string) answer {
	return directIn(context.Background(), handler, method, path, body)
}

func directIn(ctx context.Context, handler http.Handler, method, path, body string) answer {
	r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	r.Header.Set("Authorization", dynamotest.AdminToken)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return answer{w.Code, w.Header(), w.Body.String()}
}
