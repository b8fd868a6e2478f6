package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"guidon/pkg/httpapi"
)

// TestLargeBodiesAreCut checks that a handler gets one byte more of a body than its operations take, so that it refuses the body
// itself, and that the rest is not kept.
func TestLargeBodiesAreCut(t *testing.T) {
	const limit = 1 << 20
	got := 0
	url, a := serve(t, limit, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = len(body)
		w.WriteHeader(http.StatusUnauthorized)
	})
	for _, body := range []io.Reader{bytes.NewReader(bytes.Repeat([]byte("a"), 5<<20)), io.MultiReader(bytes.NewReader(bytes.Repeat([]byte("a"), 5<<20)))} {
		req, err := http.NewRequest(http.MethodPost, url, body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		if response, _ := do(t, req); response.StatusCode != http.StatusUnauthorized || got != limit+1 {
			t.Errorf("%s, and the handler got %d bytes; want 401 and %d", response.Status, got, limit+1)
		}
	}
	checkFree(t, "requests", a.requests, requestsInFlight)
}

// TestLimitsOfFunctions checks that only the function that imports flags takes large bodies.
func TestLimitsOfFunctions(t *testing.T) {
	a := opened(t, httpapi.Config{})
	for _, group := range groups(a.reader, nil, httpapi.Config{}) {
		want := httpapi.DefaultMaxBody
		if group.Function == "transfer" {
			want = 4 << 20
		}
		for _, route := range group.Routes() {
			if f := a.functions[route]; f.maxBody > want || f.maxBody == 0 {
				t.Errorf("%s takes bodies of %d bytes, want at most %d", route, f.maxBody, want)
			}
		}
	}
}

// TestRequestsShareABudget has callers that send half of a body and stop. When they hold the budget, another large body gets a 503
// and a small one is served.
func TestRequestsShareABudget(t *testing.T) {
	const size = 1 << 20
	url, a := serve(t, size, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	a.requests = newBudget(2 * size)
	var slow []net.Conn
	for range 2 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1048576\r\n\r\n{"); err != nil {
			t.Fatal(err)
		}
		slow = append(slow, conn)
	}
	for a.requests.TryAcquire(1) { // until both have begun
		a.requests.Release(1)
		time.Sleep(time.Millisecond)
	}
	for body, want := range map[string]int{strings.Repeat("a", size): http.StatusServiceUnavailable, "{}": http.StatusNoContent} {
		response, err := http.Post(url, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != want || want == http.StatusServiceUnavailable && response.Header.Get("Retry-After") == "" {
			t.Errorf("%d bytes: %s, want %d", len(body), response.Status, want)
		}
	}
	response, err := http.Post(url, "application/json", io.MultiReader(strings.NewReader("{}"))) // chunked, so its size is unknown
	if err != nil {
		t.Fatal(err)
	}
	if response.Body.Close(); response.StatusCode != http.StatusNoContent {
		t.Errorf("a small chunked body: %s, want %d", response.Status, http.StatusNoContent)
	}
	for _, conn := range slow {
		conn.Close()
	}
	checkFree(t, "requests", a.requests, 2*size)
}

// TestSlowReaders has callers that do not read a large response. The server gives up on them, and their memory is free again.
func TestSlowReaders(t *testing.T) {
	large := strings.Repeat("a", 16<<20) // more than the system keeps of a connection
	url, a := serve(t, maxBody, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, large) })
	a.readGrace = time.Second - time.Duration(len(large))*time.Second/slowestReader
	for range 3 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(20 * time.Second); a.answers.TryAcquire(answersInFlight); a.answers.Release(answersInFlight) {
		if time.Sleep(time.Millisecond); time.Now().After(deadline) { // until one is being sent
			t.Fatal("no response is being sent")
		}
	}
	checkFree(t, "answers", a.answers, answersInFlight)
}

// checkFree waits until a budget is free.
func checkFree(t *testing.T, name string, b budget, bytes int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := b.Acquire(ctx, bytes); err != nil {
		t.Errorf("the budget of %s is not free: %v", name, err)
	}
}

// TestWaitingIsBounded fills the budget and the room to wait: another body is refused while the first that waits is still waiting.
func TestWaitingIsBounded(t *testing.T) {
	const size = 1 << 20
	b := newBudget(size)
	release, err := b.take(t.Context(), size)
	if err != nil {
		t.Fatal(err)
	}
	waited := make(chan error)
	go func() {
		_, err := b.take(t.Context(), size)
		waited <- err
	}()
	for b.waiting.TryAcquire(1) { // until the other one waits
		b.waiting.Release(1)
		time.Sleep(time.Millisecond)
	}
	if _, err := b.take(t.Context(), size); !errors.Is(err, errNoRoom) {
		t.Errorf("another body: %v, want %v", err, errNoRoom)
	}
	release()
	if err := <-waited; err != nil {
		t.Errorf("the body that waited first: %v", err)
	}
}

// TestOtherNames checks that a server on loopback, and one that needs no token, refuse names that any page could point to them.
func TestOtherNames(t *testing.T) {
	served := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	for _, tt := range []struct {
		listens, public, host string
		open                  bool
		want                  int
	}{
		{"127.0.0.1", "http://127.0.0.1:4242", "127.0.0.1:4242", false, 204},
		{"127.0.0.1", "http://127.0.0.1:4242", "LOCALHOST:4242", false, 204},
		{"127.0.0.1", "http://127.0.0.1:4242", "guidon.localhost", false, 204},
		{"127.0.0.1", "http://127.0.0.1:4242", "[::1]:4242", false, 204},
		{"127.0.0.1", "http://127.0.0.1:4242", "192.168.0.7", false, 204},
		{"127.0.0.1", "http://127.0.0.1:4242", "host.docker.internal:4242", false, 204},
		{"127.0.0.1", "http://127.0.0.1:4242", "attacker.example:4242", false, 403},
		{"127.0.0.1", "http://127.0.0.1:4242", "127.0.0.1.attacker.example", false, 403},
		{"127.0.0.1", "http://127.0.0.1:4242", "localhost.attacker.example", false, 403},
		{"::1", "http://127.0.0.1:4242", "attacker.example", false, 403},
		{"127.0.0.1", "https://flags.example.com", "Flags.example.com", false, 204},
		{"127.0.0.1", "https://flags.example.com", "other.example.com", false, 403},
		{"0.0.0.0", "http://127.0.0.1:4242", "attacker.example", false, 204},
		{"0.0.0.0", "http://127.0.0.1:4242", "attacker.example", true, 403},
		{"0.0.0.0", "http://127.0.0.1:4242", "guidon:4242", true, 204},
		{"0.0.0.0", "http://127.0.0.1:4242", "10.0.0.7:4242", true, 204},
		{"0.0.0.0", "https://flags.example.com", "flags.example.com", true, 204},
	} {
		s := settings{host: tt.listens}
		s.config.PublicURL, s.config.Open = tt.public, tt.open
		r := httptest.NewRequest(http.MethodGet, "/health", nil)
		r.Host = tt.host
		w := httptest.NewRecorder()
		s.onlyOwnNames(served).ServeHTTP(w, r)
		if w.Code != tt.want || w.Code == 403 && !strings.Contains(w.Body.String(), "PUBLIC_URL") {
			t.Errorf("%s with %s for %s (open %t): %d %s, want %d", tt.listens, tt.public, tt.host, tt.open, w.Code, w.Body, tt.want)
		}
	}
}

// TestFilesAreAnsweredInTurn checks that only the function with the files of the site answers a few calls at a time.
func TestFilesAreAnsweredInTurn(t *testing.T) {
	a := opened(t, httpapi.Config{})
	for _, group := range groups(a.reader, nil, httpapi.Config{}) {
		for _, route := range group.Routes() {
			if limited := a.functions[route].slots != nil; limited != (group.Function == "site") {
				t.Errorf("%s of the function %s: limited %v", route, group.Function, limited)
			}
		}
	}
	if a.site.slots == nil {
		t.Error("the site is not limited")
	}
	var running, most atomic.Int32
	f := function{slots: make(chan struct{}, maxSiteCalls), handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		most.Store(max(most.Load(), running.Add(1)))
		time.Sleep(time.Millisecond)
		running.Add(-1)
	})}
	call := func(ctx context.Context, path string) error {
		_, err := f.call(httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil), nil)
		return err
	}
	var calls errgroup.Group
	for range 50 {
		calls.Go(func() error { return call(t.Context(), "/") })
	}
	if err := calls.Wait(); err != nil || most.Load() > maxSiteCalls {
		t.Errorf("%d calls at the same time, want at most %d (%v)", most.Load(), maxSiteCalls, err)
	}
	for range maxSiteCalls {
		f.slots <- struct{}{}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := call(gone, "/"); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who is gone waits for a slot: %v", err)
	}
	if err := call(t.Context(), "/health"); err != nil {
		t.Errorf("a probe, while all slots are taken: %v", err)
	}
}
