//go:build clients

package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// A line is a proxy in front of Guidon Edge that counts its requests, and can be cut.
type line struct {
	*httptest.Server
	mu       sync.Mutex
	isCut    bool
	requests map[string]int // evaluations by status, and streams
}

func newLine(t *testing.T, to string) *line {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	l := &line{requests: map[string]int{}}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.FlushInterval = -1
	proxy.ModifyResponse = func(resp *http.Response) error {
		l.mu.Lock()
		defer l.mu.Unlock()
		if kind := resp.Header.Get("Content-Type"); resp.Request.Method == http.MethodGet {
			l.requests["stream "+kind]++
		} else {
			l.requests[resp.Request.Method+" "+resp.Status[:3]]++
		}
		return nil
	}
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		isCut := l.isCut
		l.mu.Unlock()
		if isCut {
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(l.Close)
	t.Cleanup(l.CloseClientConnections)
	return l
}

// cut closes all connections and refuses new ones, or not any more.
func (l *line) cut(yes bool) {
	l.mu.Lock()
	l.isCut = yes
	l.mu.Unlock()
	l.CloseClientConnections()
}

func (l *line) count(kind string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.requests[kind]
}

// await waits until something is so.
func (l *line) await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for began := time.Now(); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > 3*seenTimeout {
			t.Fatalf("%s: still not; requests: %v", what, l.requests)
		}
	}
}

// TestClientsEvents opens a page with OpenFeature's web provider, which has its default options, in front of Guidon Edge. It shows a
// change although it does not poll, and one that was made while it was cut off. With a deleted token it does not ask again and again.
func TestClientsEvents(t *testing.T) {
	g := start(t)
	s := &clientScenario{t: t, g: g, want: answers{}}
	s.create()
	edge := startGuidonEdge(t, g)
	l := newLine(t, edge.url())
	token := g.createToken(t, "page", "frontend", "*", "development")
	mux := http.NewServeMux()
	var mu sync.Mutex
	shown := ""
	mux.HandleFunc("GET /settings", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, encoded(t, map[string]any{"url": l.URL, "token": token, "flag": "clients-all"}))
	})
	mux.HandleFunc("POST /shown", func(_ http.ResponseWriter, r *http.Request) {
		value, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		shown = string(value)
	})
	browse(t, "http://"+address(servePage(t, mux, "", `import "./events.js"`)))
	shows := func(value string) {
		t.Helper()
		began := time.Now()
		l.await(t, "the page shows "+value, func() bool { mu.Lock(); defer mu.Unlock(); return shown == value })
		t.Logf("the page shows %s after %s; requests: %v", value, time.Since(began), l.requests)
	}
	open := func() bool { return strings.Contains(edge.get(t, "/metrics", ""), "guidon_edge_streams 1\n") }
	flip := func(to string) {
		t.Helper()
		g.ask(t, "POST", "/api/admin/projects/default/features/clients-all/environments/development/"+to, g.token, "").has(t, 200, "")
	}
	shows("true")
	l.await(t, "the stream", open)
	flip("off")
	shows("false")
	l.cut(true)
	flip("on")
	l.await(t, "no stream", func() bool { return !open() })
	l.cut(false)
	shows("true")

	l.await(t, "the stream", open)
	g.ask(t, "DELETE", "/api/admin/api-tokens/"+token, g.token, "").has(t, 200, "")
	flip("off")
	before := l.count("stream text/event-stream")
	l.await(t, "four refused evaluations", func() bool { return l.count("POST 401") >= 4 })
	if streams := l.count("stream text/event-stream") - before; streams > 3 {
		t.Errorf("a page with a deleted token asked for %d streams, want three at most: %v", streams, l.requests)
	}
}
