// Package apitest serves the administration API over a real engine, for the tests of its areas. Every response is compared with the API
// description, every call of DynamoDB with the policy of the function that makes it, and at the end the whole table with itself.
package apitest

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"testing"

	"guidon/pkg/admin"
	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/webhook"
)

// A Server serves all operations over its own store.
type Server struct {
	URL     string
	Client  *http.Client
	Store   *dynamo.Store
	Handler http.Handler

	Unchecked bool // for tests that store what contradicts itself
}

// An Option changes the configuration of a server, or the transport of the store's requests.
type Option func(config *httpapi.Config, transport *http.RoundTripper)

// Serve starts a server with the data of a new deployment and the three tokens of dynamotest. At the end of the test, the items of
// its table must agree with each other.
func Serve(t *testing.T, options ...Option) *Server {
	t.Helper()
	config := httpapi.Config{Limits: flags.DefaultLimits(), Sealer: dynamotest.Sealer, CheckWebhook: webhook.Networks{}.CheckURL, Twice: SameTwice(t), QueryRead: describedQuery(t)}
	var transport http.RoundTripper
	for _, o := range options {
		o(&config, &transport)
	}
	store := dynamotest.Open(t, NewIAM(transport))
	dynamotest.Seed(t, store)
	s := &Server{Store: store, Handler: Described(t, Handler(store, config))}
	t.Cleanup(func() {
		if !s.Unchecked {
			dynamotest.Check(t, store)
		}
	})
	s.URL, s.Client = listen(t, s.Handler)
	return s
}

// Over serves another handler over the same store.
func (s *Server) Over(t *testing.T, handler http.Handler) *Server {
	t.Helper()
	url, client := listen(t, handler)
	return &Server{URL: url, Client: client, Store: s.Store, Handler: handler}
}

func listen(t *testing.T, handler http.Handler) (url string, client *http.Client) {
	t.Helper()
	web := httptest.NewServer(handler)
	t.Cleanup(web.Close)
	client = web.Client()
	client.Transport.(*http.Transport).MaxIdleConnsPerHost = 64
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return web.URL, client
}

// Handler sends each request to the group that has a route for it, as the gateway does. Requests without a route, and
// requests that a mux would redirect, go to the fallback.
func Handler(store httpapi.Store, config httpapi.Config) http.Handler {
	mux := &httpapi.Mux{}
	var fallback http.Handler
	for _, group := range admin.Groups() {
		handler := ByFunction(group.Function, httpapi.New(store, group, config))
		routes := group.Routes()
		for _, route := range routes {
			mux.Handle(route, handler)
			if before := route[:strings.LastIndex(route, "/")]; strings.HasSuffix(route, "...}") && !slices.Contains(routes, before) {
				mux.Handle(before, handler) // the mux would redirect the path without a slash
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

// An Answer is a response.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// Try sends a request with the admin token. A header is "Name: value". "Name:" removes a header that comes
// before it; a name can come several times.
func (s *Server) Try(method, path, body string, headers ...string) (Answer, error) {
	r, err := http.NewRequest(method, s.URL+path, strings.NewReader(body))
	if err != nil {
		return Answer{}, err
	}
	r.Header.Set("Authorization", dynamotest.AdminToken)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	given := http.Header{}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ":")
		if value = strings.TrimSpace(value); value == "" {
			given[http.CanonicalHeaderKey(name)] = nil
			continue
		}
		given.Add(name, value)
	}
	maps.Copy(r.Header, given) // the transport sends none of an empty list
	r.Host = given.Get("Host")
	response, err := s.Client.Do(r)
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return Answer{response.StatusCode, response.Header, string(content)}, err
}

// Do is Try for tests that end if there is no response.
func (s *Server) Do(t *testing.T, method, path, body string, headers ...string) Answer {
	t.Helper()
	got, err := s.Try(method, path, body, headers...)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Must sends a request that has to succeed, such as the preparation of a test.
func (s *Server) Must(t *testing.T, method, path, body string) Answer {
	t.Helper()
	got := s.Do(t, method, path, body)
	if got.Status >= 300 {
		t.Fatalf("%s %s %.300s: %d %.500s, want success", method, path, body, got.Status, got.Body)
	}
	return got
}

// Create creates flags in the project "default".
func (s *Server) Create(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		s.Must(t, "POST", Features, fmt.Sprintf(`{"name":%q}`, name))
	}
}

// AddStrategy adds a strategy to a flag in development, and returns its id.
func (s *Server) AddStrategy(t *testing.T, flag, body string) string {
	t.Helper()
	var added struct{ ID string }
	if err := json.Unmarshal([]byte(s.Must(t, "POST", In(flag, "development")+"/strategies", body).Body), &added); err != nil {
		t.Fatal(err)
	}
	return added.ID
}

// CreateEnabled creates flags with a strategy in development and enables them there.
func (s *Server) CreateEnabled(t *testing.T, names ...string) {
	t.Helper()
	s.Create(t, names...)
	for _, name := range names {
		s.AddStrategy(t, name, `{"name":"default"}`)
		s.Must(t, "POST", In(name, "development")+"/on", "")
	}
}

// Events returns the types of a flag's events, oldest first.
func (s *Server) Events(t *testing.T, flag string) []flags.EventType {
	t.Helper()
	return s.EventsOf(t, &flags.Feature{Name: flag})
}

// EventsOf returns the types of the events of an aggregate, oldest first.
func (s *Server) EventsOf(t *testing.T, of flags.Aggregate) []flags.EventType {
	t.Helper()
	events, err := s.Store.Events(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	types := make([]flags.EventType, len(events))
	for i, e := range events {
		types[i] = e.Type
	}
	return types
}

// WantHistory checks the types of a flag's events, oldest first.
func (s *Server) WantHistory(t *testing.T, flag string, want ...flags.EventType) {
	t.Helper()
	s.WantHistoryOf(t, &flags.Feature{Name: flag}, want...)
}

// WantHistoryOf checks the types of the events of an aggregate, oldest first.
func (s *Server) WantHistoryOf(t *testing.T, of flags.Aggregate, want ...flags.EventType) {
	t.Helper()
	if got := s.EventsOf(t, of); !slices.Equal(got, want) {
		t.Errorf("events of %v: %q, want %q", of.Key(), got, want)
	}
}

// Load reads an aggregate from the store.
func Load[A flags.Aggregate](t *testing.T, s *Server, key flags.Key) A {
	t.Helper()
	view, err := s.Store.Load(t.Context(), []flags.Key{key})
	if err != nil {
		t.Fatal(err)
	}
	return flags.Find[A](view, key)
}

// A Call is a request and the expected response.
type Call = struct {
	Name   string
	Method string
	Path   string
	Body   string
	Status int
	Want   string // see match
}

// Run makes calls in order, so a call may depend on those before it.
func (s *Server) Run(t *testing.T, calls []Call) {
	t.Helper()
	for _, c := range calls {
		t.Run(c.Name, func(t *testing.T) { s.Check(t, c) })
	}
}

// Check makes a call and compares the response.
func (s *Server) Check(t *testing.T, c Call, headers ...string) {
	t.Helper()
	got := s.Do(t, c.Method, c.Path, c.Body, headers...)
	if got.Status != c.Status {
		t.Errorf("%s: %s %.300s %.300s: status %d, want %d; body %.500s", c.Name, c.Method, c.Path, c.Body, got.Status, c.Status, got.Body)
		return
	}
	media := "application/json; charset=utf-8"
	if strings.HasSuffix(c.Path, "/csv") && got.Status < 300 {
		media = "text/csv; charset=utf-8"
	}
	if kind := got.Header.Get("Content-Type"); got.Body != "" && kind != media {
		t.Errorf("%s %s: content type %q, want %q", c.Method, c.Path, kind, media)
	}
	if different := Match(c.Want, got.Body); len(different) > 0 {
		t.Errorf("%s: %s %.300s %.300s: %s\nbody %s\nwant %s", c.Name, c.Method, c.Path, c.Body, strings.Join(different, "\n"), got.Body, c.Want)
	}
}

// Unchanged makes calls and checks that they did not change the flag or its events. Events are never removed, so one check
// after all calls is enough.
func (s *Server) Unchanged(t *testing.T, flag string, calls []Call) {
	t.Helper()
	was, events := s.Do(t, "GET", Features+"/"+flag, ""), len(s.Events(t, flag))
	s.Run(t, calls)
	if now := s.Do(t, "GET", Features+"/"+flag, ""); now.Body != was.Body || now.Status != was.Status {
		t.Errorf("the flag changed from %d %.2000s to %d %.2000s", was.Status, was.Body, now.Status, now.Body)
	}
	if now := s.Events(t, flag); len(now) != events {
		t.Errorf("events %q, want the %d from before", now, events)
	}
}

// Direct calls a handler without a network.
func Direct(handler http.Handler, method, path, body string) Answer {
	return DirectIn(context.Background(), handler, method, path, body)
}

// DirectIn is Direct in a context.
func DirectIn(ctx context.Context, handler http.Handler, method, path, body string) Answer {
	r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	r.Header.Set("Authorization", dynamotest.AdminToken)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return Answer{w.Code, w.Header(), w.Body.String()}
}

// Depend makes flags of the project "default" depend on a parent.
func (s *Server) Depend(t *testing.T, parent string, children ...string) {
	t.Helper()
	for _, child := range children {
		s.Must(t, "POST", Features+"/"+child+"/dependencies", fmt.Sprintf(`{"feature":%q}`, parent))
	}
}

// Uncompressed is the body of a response without its content encoding.
func Uncompressed(t *testing.T, header http.Header, body io.Reader) []byte {
	t.Helper()
	var err error
	switch encoding := header.Get("Content-Encoding"); encoding {
	case "":
	case "gzip":
		if body, err = gzip.NewReader(body); err != nil {
			t.Fatal(err)
		}
	default:
		t.Fatalf("Content-Encoding %q", encoding)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// FlagCounts returns the numbers of active and stale flags in the guards of a project.
func (s *Server) FlagCounts(t *testing.T, id string) (active, stale int) {
	t.Helper()
	view, err := s.Store.Load(t.Context(), []flags.Key{flags.ProjectKey(id)})
	if err != nil {
		t.Fatal(err)
	}
	counts, err := s.Store.Counts(t.Context(), flags.Find[*flags.Project](view, flags.ProjectKey(id)).UID)
	if err != nil {
		t.Fatal(err)
	}
	return counts.Active, counts.Stale
}

// SecretIn returns the secret in a response.
func SecretIn(answer string) string {
	_, rest, _ := strings.Cut(answer, `"secret":"`)
	secret, _, _ := strings.Cut(rest, `"`)
	return secret
}

// ID sends a POST and returns the id of what it creates.
func (s *Server) ID(t *testing.T, path, body string) string {
	t.Helper()
	_, rest, _ := strings.Cut(s.Must(t, "POST", path, body).Body, `"id":`)
	return rest[:strings.IndexAny(rest, ",}")]
}

// IDIn returns the field "id" of a document, which is a text.
func IDIn(document string) string {
	var made struct{ ID string }
	_ = json.Unmarshal([]byte(document), &made)
	return made.ID
}

// DecodeInto decodes a body.
func DecodeInto(t *testing.T, body string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), into); err != nil {
		t.Fatal(err)
	}
}

// AddSegment creates a segment and returns its id.
func (s *Server) AddSegment(t *testing.T, body string) string {
	t.Helper()
	return s.ID(t, Segments, body)
}

// Last returns the types of the newest n events of a flag, oldest first.
func (s *Server) Last(t *testing.T, flag string, n int) []flags.EventType {
	t.Helper()
	all := s.Events(t, flag)
	return all[max(0, len(all)-n):]
}

// Decode decodes a body.
func Decode[T any](t *testing.T, body string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Errorf("%v in %s", err, body)
	}
	return v
}

// AddLink adds a link to the flag at a path and returns its ID.
func AddLink(t *testing.T, s *Server, flag string) string {
	t.Helper()
	s.Must(t, "POST", flag+"/link", `{"url":"https://example.com/1","title":"One"}`)
	var f struct{ Links []struct{ ID string } }
	DecodeInto(t, s.Must(t, "GET", flag, "").Body, &f)
	return f.Links[len(f.Links)-1].ID
}
