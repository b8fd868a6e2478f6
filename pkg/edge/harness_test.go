package edge

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"guidon/internal/child"
	"guidon/pkg/admin"
	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/ingest"
	"guidon/pkg/serving"
	"guidon/pkg/usage"
)

func TestMain(m *testing.M) {
	if os.Getenv(runtimeAPI) != "" { // it is the function of a test
		lambda.Start(relay)
	}
	os.Exit(dynamotest.Run(m))
}

// patience is how long a test waits for what should happen at once.
const patience = 30 * time.Second

// A guidon is a real Guidon over a table of its own, behind HTTP. Its requests can be made to fail.
type guidon struct {
	t     testing.TB
	store *countingStore
	*httptest.Server
	fault    atomic.Pointer[fault]
	requests sync.Map // "GET /path" → *atomic.Int64
}

// A fault responds in place of Guidon. next is Guidon.
type fault func(w http.ResponseWriter, r *http.Request, next http.Handler)

// A countingStore is a real store that keeps the posts of usage.
type countingStore struct {
	*dynamo.Store
	mu    sync.Mutex
	posts []*usage.Post
	names map[string]bool // of posts with a name
}

func (s *countingStore) PutPost(ctx context.Context, post *usage.Post) error {
	err := s.Store.PutPost(ctx, post)
	if err == nil {
		s.mu.Lock()
		s.posts = append(s.posts, post)
		s.mu.Unlock()
	}
	return err
}

// PutPostOnce keeps a post of a name once, as the store does.
func (s *countingStore) PutPostOnce(ctx context.Context, name string, post *usage.Post) error {
	err := s.Store.PutPostOnce(ctx, name, post)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.names == nil {
			s.names = map[string]bool{}
		}
		if !s.names[name] {
			s.posts = append(s.posts, post)
		}
		s.names[name] = true
	}
	return err
}

func newGuidon(t testing.TB) *guidon {
	t.Helper()
	store := dynamotest.Open(t, nil)
	dynamotest.Seed(t, store)
	g := &guidon{t: t, store: &countingStore{Store: store}}
	config := httpapi.Config{Limits: flags.DefaultLimits(), Sealer: dynamotest.Sealer}
	reader := serving.NewReader(store, serving.OptionsOf(config))
	groups := slices.Concat(admin.Groups(), serving.Groups(reader, store, config), ingest.Groups(g.store, reader, config))
	mux := &httpapi.Mux{}
	for _, group := range groups {
		handler := httpapi.New(g.store, group, config)
		for _, route := range group.Routes() {
			mux.Handle(route, handler)
		}
	}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := g.requests.LoadOrStore(r.Method+" "+r.URL.Path, &atomic.Int64{})
		n.(*atomic.Int64).Add(1)
		if f := g.fault.Load(); f != nil && r.Header.Get("Authorization") != dynamotest.AdminToken {
			(*f)(w, r, mux)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		g.Server.CloseClientConnections()
		g.Server.Close()
	})
	return g
}

// fails makes requests of applications and Edges fail; nil for none.
func (g *guidon) fails(f fault) {
	if f == nil {
		g.fault.Store(nil)
		return
	}
	g.fault.Store(&f)
}

func status(code int) fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_, _ = io.WriteString(w, `{"message":"no"}`)
	}
}

// served returns how often a route was asked for.
func (g *guidon) served(route string) int64 {
	n, ok := g.requests.Load(route)
	if !ok {
		return 0
	}
	return n.(*atomic.Int64).Load()
}

// do sends a request of the administration, which must succeed.
func (g *guidon) do(method, path, body string) string {
	g.t.Helper()
	r, err := http.NewRequestWithContext(g.t.Context(), method, g.URL+path, strings.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	r.Header.Set("Authorization", dynamotest.AdminToken)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		g.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	if resp.StatusCode >= 300 {
		g.t.Fatalf("%s %s: %d %s", method, path, resp.StatusCode, text)
	}
	return string(text)
}

const defaultProject = "/api/admin/projects/default"

// flag creates a flag that is on for everyone in development.
func (g *guidon) flag(name string) {
	g.t.Helper()
	g.do("POST", defaultProject+"/features", fmt.Sprintf(`{"name": %q}`, name))
	at := defaultProject + "/features/" + name + "/environments/development"
	g.do("POST", at+"/strategies", `{"name": "flexibleRollout", "parameters": {"rollout": "100"}}`)
	g.do("POST", at+"/on", "")
}

func (g *guidon) turnA(to string) {
	g.t.Helper()
	g.do("POST", defaultProject+"/features/a/environments/development/"+to, "")
}

// token creates a token and returns its secret.
func (g *guidon) token(kind, project, environment string) string {
	g.t.Helper()
	var created struct{ Secret string }
	name := fmt.Sprintf("t%d", time.Now().UnixNano())
	body := fmt.Sprintf(`{"tokenName": %q, "type": %q, "projects": [%q], "environment": %q}`, name, kind, project, environment)
	if err := json.Unmarshal([]byte(g.do("POST", "/api/admin/api-tokens", body)), &created); err != nil {
		g.t.Fatal(err)
	}
	return created.Secret
}

// An instance is an Edge that runs, and a client of it.
type instance struct {
	t testing.TB
	*Edge
	url   string
	logs  *child.Output
	stop  func()
	ended chan error
}

// following runs a Guidon with a flag that is on, and an Edge that has read it with the token own.
func following(t testing.TB) (g *guidon, own string, e *instance) {
	t.Helper()
	g = newGuidon(t)
	g.flag("a")
	own = g.token("client", "*", "development")
	e = newEdge(t, "edge", map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": own})
	e.awaitOn(own, "a")
	return g, own, e
}

// newEdge runs an Edge with settings, and ends it with the test. Intervals are short.
func newEdge(t testing.TB, command string, settings map[string]string, set ...func(*Edge)) *instance {
	t.Helper()
	all := map[string]string{
		"PORT": "0", "INTERFACE": "127.0.0.1", "FEATURES_REFRESH_INTERVAL_SECONDS": "20ms", "METRICS_INTERVAL_SECONDS": "100ms",
		"TOKEN_REVALIDATION_INTERVAL_SECONDS": "100ms", "UPSTREAM_SOCKET_TIMEOUT": "1500ms", "UPSTREAM_REQUEST_TIMEOUT": "2s",
	}
	maps.Copy(all, settings)
	config, err := ReadConfig([]string{command}, func(name string) string { return all[name] })
	if err != nil {
		t.Fatal(err)
	}
	i := &instance{t: t, logs: &child.Output{}, ended: make(chan error, 1)}
	if i.Edge, err = New(config, i.logs); err != nil {
		t.Fatal(err)
	}
	for _, change := range set {
		change(i.Edge)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	listening := make(chan []net.Addr, 1)
	go func() { i.ended <- i.Run(ctx, func(a []net.Addr) { listening <- a }) }()
	select {
	case a := <-listening:
		i.url = "http://" + a[0].String() + config.BasePath
	case err := <-i.ended:
		t.Fatal(err)
	}
	i.stop = sync.OnceFunc(func() {
		stop()
		if err := <-i.ended; err != nil {
			t.Errorf("Edge ended with %v", err)
		}
	})
	t.Cleanup(i.stop)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("Edge logged:\n%s", i.logs.String())
		}
	})
	return i
}

// An answer is a response.
type answer struct {
	status int
	header http.Header
	body   string
}

func (a answer) String() string { return fmt.Sprintf("%d %s", a.status, a.body) }

// ask sends a request. Each header is "Name: value".
func ask(t testing.TB, method, url, token, body string, headers ...string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", token)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Accept-Encoding", "identity")
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if text, err = io.ReadAll(z); err != nil {
			t.Fatal(err)
		}
	}
	return answer{resp.StatusCode, resp.Header, string(text)}
}

func (i *instance) ask(method, path, token, body string, headers ...string) answer {
	i.t.Helper()
	return ask(i.t, method, i.url+path, token, body, headers...)
}

// want fails unless the response has a status and contains texts.
func (a answer) want(t testing.TB, status int, texts ...string) answer {
	t.Helper()
	if a.status != status {
		t.Fatalf("got %s, want %d", a, status)
	}
	for _, text := range texts {
		if !strings.Contains(a.body, text) {
			t.Fatalf("got %s, want %q in it", a, text)
		}
	}
	return a
}

// on returns the flags that are on, as /api/client/features has them.
func (i *instance) on(token string) string {
	i.t.Helper()
	var list struct {
		Features []struct {
			Name    string
			Enabled bool
		}
	}
	a := i.ask("GET", "/api/client/features", token, "", "Unleash-Client-Spec: 5.2.0").want(i.t, 200)
	if err := json.Unmarshal([]byte(a.body), &list); err != nil {
		i.t.Fatal(err)
	}
	var on []string
	for _, f := range list.Features {
		if f.Enabled {
			on = append(on, f.Name)
		}
	}
	return strings.Join(on, " ")
}

// await waits until something is as wanted.
func await[T comparable](t testing.TB, what string, want T, got func() T) {
	t.Helper()
	var last T
	for began := time.Now(); time.Since(began) < patience; time.Sleep(5 * time.Millisecond) {
		if last = got(); last == want {
			return
		}
	}
	t.Fatalf("%s: got %v, want %v", what, last, want)
}

func (i *instance) awaitOn(token, want string) {
	i.t.Helper()
	await(i.t, "flags that are on", want, func() string { return i.on(token) })
}

func (i *instance) awaitLog(text string) {
	i.t.Helper()
	await(i.t, "the log has "+text, true, func() bool { return strings.Contains(i.logs.String(), text) })
}
