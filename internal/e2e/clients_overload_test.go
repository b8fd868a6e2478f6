//go:build clients

package e2e

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"guidon/internal/engine"
	"guidon/pkg/dynamo/dynamotest"
)

// overloadTime is how long the store throttles. It is shorter than the shortest Retry-After.
const overloadTime = 15 * time.Second

// mostPolls is the most requests that each SDK may send in overloadTime, with an interval of a second: those that its source, under the MIT
// license, sends after refusals, and one more. All are fewer than without an overload.
var mostPolls = map[string]int{"node": 10, "node-delta": 10, "python": 2, "go-client": 6, "go-sdk": 6, javaClient: 6}

// TestClientsOverload lets DynamoDB throttle everything while unmodified SDKs poll (only that for Java in make test-clients-more), so Guidon
// sheds their polls. No SDK stops or sends more requests than mostPolls, and all of them follow the next changes. Those behind
// Guidon Edge notice nothing.
func TestClientsOverload(t *testing.T) {
	e, err := engine.Start(t.Context(), engine.Options{DataFile: filepath.Join(t.TempDir(), "engine.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Stop)
	faults := &dynamotest.Faults{}
	store := httptest.NewServer(proxyTo(t, e.URL(), faults, nil))
	t.Cleanup(store.Close)
	s := &clientScenario{t: t, g: start(t, "AWS_ENDPOINT_URL_DYNAMODB="+store.URL), want: answers{}}
	s.create()
	polls := &pollCount{refused: map[string]int{}}
	front := httptest.NewServer(proxyTo(t, s.g.url(), http.DefaultTransport, polls))
	t.Cleanup(front.Close)
	s.clients = startClients(t, s.g, clientRun{url: front.URL, flags: clientFlags, only: counted})
	s.edge = startGuidonEdge(t, s.g, "UPSTREAM_URL="+front.URL)
	edgePolls := &pollCount{refused: map[string]int{}}
	behind := httptest.NewServer(proxyTo(t, s.edge.url(), http.DefaultTransport, edgePolls))
	t.Cleanup(behind.Close)
	s.clients = append(s.clients, startClients(t, s.g, clientRun{url: behind.URL, prefix: throughEdge, flags: clientFlags,
		only: func(name string) bool { return counted(name) && mostPolls[name] > 0 }})...)
	s.await("the start")

	faults.Change(func(f *dynamotest.Faults) {
		f.Script = func(string, int) dynamotest.Fault { return dynamotest.Throttle }
	})
	time.Sleep(overloadTime)
	faults.Change(func(f *dynamotest.Faults) { f.Script = nil })
	polls.mu.Lock()
	t.Logf("503 in %s: %v; %d polls served before and after", overloadTime, polls.refused, polls.served)
	for name, most := range mostPolls {
		if n := polls.refused[name]; isMore(name) == moreClients() && (n < 1 || n > most) {
			t.Errorf("%s sent %d polls in %s of overload, want 1 to %d", name, n, overloadTime, most)
		}
	}
	if polls.other > 0 {
		t.Errorf("%d polls got another status than 200, 304 and 503", polls.other)
	}
	polls.mu.Unlock()
	edgePolls.mu.Lock()
	t.Logf("through Guidon Edge: %d polls served", edgePolls.served)
	if len(edgePolls.refused) > 0 || edgePolls.other > 0 {
		t.Errorf("through Guidon Edge, SDKs got 503 %v, and another status %d times", edgePolls.refused, edgePolls.other)
	}
	edgePolls.mu.Unlock()
	s.switchOff()
	s.await("a flag is switched off after the overload")
	s.switchOn()
	s.await("it is switched on again")
	for _, c := range s.clients {
		c.end(t)
	}
	s.g.kill(t) // not stop, which takes every 503 in the log for a failure
}

// proxyTo is a proxy for a URL, which may have a path.
func proxyTo(t *testing.T, to string, transport http.RoundTripper, polls *pollCount) *httputil.ReverseProxy {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	if polls != nil {
		proxy.ModifyResponse = polls.add
	}
	return proxy
}

// A pollCount counts the polls of each SDK that get a 503, and those that get something else.
type pollCount struct {
	mu            sync.Mutex
	refused       map[string]int // by the name of the application
	served, other int            // with 200 or 304, and with another status
}

func (p *pollCount) add(response *http.Response) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := response.Request
	switch status := response.StatusCode; {
	case r.Method != http.MethodGet || !strings.HasPrefix(r.URL.Path, "/api/client/"):
	case status == http.StatusServiceUnavailable:
		p.refused[r.Header.Get("Unleash-Appname")]++
	case status == http.StatusOK || status == http.StatusNotModified:
		p.served++
	default:
		p.other++
	}
	return nil
}
