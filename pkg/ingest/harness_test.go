package ingest

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"guidon/pkg/admin"
	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/serving"
	"guidon/pkg/usage"
)

func TestMain(m *testing.M) { os.Exit(dynamotest.Run(m)) }

// A watchedStore is a real store that keeps the posts that it has stored.
type watchedStore struct {
	*dynamo.Store
	mu    sync.Mutex
	posts []*usage.Post
}

func (s *watchedStore) PutPost(ctx context.Context, post *usage.Post) error {
	return s.keep(post, s.Store.PutPost(ctx, post))
}

func (s *watchedStore) PutPublicPost(ctx context.Context, post *usage.Post) error {
	return s.keep(post, s.Store.PutPublicPost(ctx, post))
}

// keep keeps a post unless there was an error, which it returns.
func (s *watchedStore) keep(post *usage.Post, err error) error {
	if err == nil {
		s.mu.Lock()
		s.posts = append(s.posts, post)
		s.mu.Unlock()
	}
	return err
}

// last returns the post that was stored last.
func (s *watchedStore) last(t testing.TB) *usage.Post {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.posts) == 0 {
		t.Fatal("no post was stored")
	}
	return s.posts[len(s.posts)-1]
}

// A service is the groups usage over a table of its own, in an instance that has read the flags.
type service struct {
	store   *watchedStore
	reader  *serving.Reader
	handler http.Handler
	config  httpapi.Config
}

// serve starts a service. Its requests to the engine go through transport, unless that is nil.
func serve(t testing.TB, transport http.RoundTripper, set ...func(*httpapi.Config)) *service {
	t.Helper()
	store := dynamotest.Open(t, transport)
	dynamotest.Seed(t, store)
	s := &service{store: &watchedStore{Store: store}, config: httpapi.Config{Limits: flags.DefaultLimits(), Sealer: dynamotest.Sealer}}
	for _, change := range set {
		change(&s.config)
	}
	s.reader = serving.NewReader(store, serving.OptionsOf(s.config))
	if _, err := s.reader.Read(t.Context(), "", false); err != nil {
		t.Fatal(err)
	}
	s.forget()
	return s
}

// still stops the clock: a token that was read stays young enough for reports.
func still(c *httpapi.Config) {
	now := time.Now()
	c.Now = func() time.Time { return now }
}

// forget makes the service forget which reports it has stored.
func (s *service) forget() {
	s.handler = httpapi.New(s.store, httpapi.Join(Groups(s.store, s.reader, s.config)...), s.config)
}

// replace is forget for a new instance, which has read nothing.
func (s *service) replace() {
	s.reader = serving.NewReader(s.store, serving.OptionsOf(s.config))
	s.forget()
}

// post sends a report. Each header is "Name: value", in place of the usual one; the body is JSON unless a header says otherwise.
func (s *service) post(path, token, body string, headers ...string) *httptest.ResponseRecorder {
	return s.do(httptest.NewRequest(http.MethodPost, path, strings.NewReader(body)), append([]string{"Content-Type: application/json", "Authorization: " + token}, headers...))
}

// request sends a request without a body.
func (s *service) request(method, path string, headers ...string) *httptest.ResponseRecorder {
	return s.do(httptest.NewRequest(method, path, http.NoBody), headers)
}

func (s *service) do(r *http.Request, headers []string) *httptest.ResponseRecorder {
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ":")
		if value = strings.TrimSpace(value); value == "" {
			r.Header.Del(name)
		} else {
			r.Header.Set(name, value)
		}
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}

// administer sends a request of an administrator, which must succeed, and returns the answer.
func (s *service) administer(t testing.TB, group, method, path, body string) map[string]any {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Authorization", dynamotest.AdminToken)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	httpapi.New(s.store, admin.Group(group), s.config).ServeHTTP(w, r)
	if w.Code >= 300 {
		t.Fatalf("%s %s %s: %d %s", method, path, body, w.Code, w.Body)
	}
	answer := map[string]any{}
	if w.Body.Len() > 0 {
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
	}
	return answer
}

// token creates a token and returns its secret. The fields are added to its body.
func (s *service) token(t testing.TB, fields string) string {
	t.Helper()
	return s.administer(t, "tokens", "POST", "/api/admin/api-tokens", fields)["secret"].(string)
}

// A counter records the DynamoDB calls that pass through it.
type counter struct {
	mu    sync.Mutex
	calls []string
}

func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	c.mu.Lock()
	c.calls = append(c.calls, operation)
	c.mu.Unlock()
	return http.DefaultTransport.RoundTrip(r)
}

// during returns the calls that f makes.
func (c *counter) during(f func()) string {
	c.mu.Lock()
	c.calls = nil
	c.mu.Unlock()
	f()
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.calls, " ")
}

// messageOf returns the message of an answer that is an error.
func messageOf(t testing.TB, w *httptest.ResponseRecorder) string {
	t.Helper()
	var failure struct{ ID, Name, Message string }
	body, _ := io.ReadAll(w.Result().Body)
	if err := json.Unmarshal(body, &failure); err != nil || failure.ID == "" || failure.Name == "" || failure.Message == "" {
		t.Fatalf("%d %s is not an error of Guidon (%v)", w.Code, body, err)
	}
	return failure.Message
}
