package edge

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// An event is one of a stream.
type event struct{ name, id, data string }

// listen opens the stream of an SDK. Its channel has the events, and is closed with it.
func (i *instance) listen(token, last string) chan event {
	i.t.Helper()
	return i.listenAt("/api/client/streaming", token, last)
}

// listenAt opens a stream. Each header is "Name: value".
func (i *instance) listenAt(path, token, last string, headers ...string) chan event {
	i.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	i.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, i.url+path, nil)
	if err != nil {
		i.t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", token)
	}
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		i.t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" || r.Header.Get("Origin") != "" && resp.Header.Get("Access-Control-Allow-Origin") == "" {
		i.t.Fatalf("the stream begins with %d %v", resp.StatusCode, resp.Header)
	}
	events := make(chan event, 100)
	go func() {
		defer close(events)
		defer resp.Body.Close()
		var e event
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			switch name, value, _ := strings.Cut(lines.Text(), ": "); name {
			case ":":
				e.name = "comment"
			case "event":
				e.name = value
			case "id":
				e.id = value
			case "data":
				e.data = value
			case "":
				if e.name+e.data != "" {
					events <- e
				}
				e = event{}
			}
		}
	}()
	return events
}

// next returns the next event, which must have a name and contain texts.
func next(t testing.TB, events chan event, name string, texts ...string) event {
	t.Helper()
	select {
	case e, open := <-events:
		if !open || e.name != name {
			t.Fatalf("got %+v (open: %t), want %s", e, open, name)
		}
		for _, text := range texts {
			if !strings.Contains(e.data, text) {
				t.Fatalf("got %+v, want %q in it", e, text)
			}
		}
		return e
	case <-time.After(patience):
		t.Fatalf("no event %s", name)
		return event{}
	}
}

// TestStream checks what a stream tells: all flags first, then each change, and after a reconnect what was missed.
func TestStream(t *testing.T) {
	t.Parallel()
	g := newGuidon(t)
	g.flag("a")
	own, client := g.token("client", "*", "development"), g.token("client", "default", "development")
	e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": own}, func(e *Edge) { e.streams.over = 100 * time.Millisecond })
	e.awaitOn(client, "a")
	events := e.listen(client, "")
	first := next(t, events, "unleash-connected", `"type":"hydration"`, `"name":"a","type":"release","enabled":true`)
	if tag := e.ask("GET", "/api/client/delta", client, "").header.Get("ETag"); first.id != tag {
		t.Errorf("the ID is %s, want the ETag of the delta, %s", first.id, tag)
	}
	g.turnA("off")
	updated := next(t, events, "unleash-updated", `"type":"feature-updated"`, `"enabled":false`)
	g.flag("b")
	missed := e.listen(client, updated.id)
	e.awaitOn(client, "b")
	if late := next(t, missed, "unleash-connected"); strings.Contains(late.data, "hydration") {
		t.Errorf("after a reconnect it tells everything: %+v", late)
	}
	next(t, e.listen(client, `"other:1:00000000"`), "unleash-connected", "hydration")
	e.ask("GET", "/metrics", "", "").want(t, 200, "guidon_edge_streams 3")
	e.ask("GET", "/api/client/streaming", "default:development.nosuch", "").want(t, 401)

	// A client that is ahead, because it was at another Edge.
	ahead := fmt.Sprintf(`"%s:%d:%s`, e.all()[0].state.Load().revision.Epoch, e.all()[0].state.Load().revision.Number+1000, first.id[strings.LastIndex(first.id, ":")+1:])
	e.ask("GET", "/api/client/streaming", client, "", "Last-Event-ID: "+ahead).want(t, 503, "newer flags")

	e.stop()
	for {
		select {
		case _, open := <-events:
			if !open {
				return
			}
		case <-time.After(patience):
			t.Fatal("the stream is still open after the end of Edge")
		}
	}
}

// TestHeartbeat checks that an idle stream gets comments, every 15 seconds if a test does not ask for more.
func TestHeartbeat(t *testing.T) {
	t.Parallel()
	e, _ := newOffline(t, map[string]string{"CLIENT_TOKENS": "*:development.own"})
	if e.heartbeat != 15*time.Second {
		t.Errorf("the comments come every %s", e.heartbeat)
	}
	e.heartbeat = 20 * time.Millisecond
	events := e.listen("*:development.own", "")
	next(t, events, "unleash-connected")
	for range 3 {
		next(t, events, "comment")
	}
}

// TestStreamEnds checks that a stream is refused when there are too many, and closed when its token is deleted.
func TestStreamEnds(t *testing.T) {
	t.Parallel()
	g := newGuidon(t)
	g.flag("a")
	own, client := g.token("client", "*", "development"), g.token("client", "default", "development")
	e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": own, "MAX_STREAMS": "1"}, func(e *Edge) { e.streams.over = 100 * time.Millisecond })
	e.awaitOn(client, "a")
	events := e.listen(client, "")
	next(t, events, "unleash-connected")
	if a := e.ask("GET", "/api/client/streaming", client, "").want(t, 429, "MAX_STREAMS"); a.header.Get("Retry-After") == "" {
		t.Error("the 429 has no Retry-After")
	}
	g.do("DELETE", "/api/admin/api-tokens/"+client, "")
	await(t, "the status of the deleted token", 401, func() int { return e.ask("GET", "/api/client/features", client, "").status })
	g.turnA("off")
	if e, open := <-events; open {
		t.Errorf("a stream with a deleted token gets %+v", e)
	}
	await(t, "open streams", 0, e.streams.count)
}

// TestFollowsStream checks that an Edge hears of changes from the stream of another Edge, long before it asks again, and that it
// asks when a stream begins again after it was cut.
func TestFollowsStream(t *testing.T) {
	t.Parallel()
	g := newGuidon(t)
	g.flag("a")
	own := g.token("client", "*", "development")
	settings := map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": own}
	soon := func(e *Edge) { e.streams.over = 100 * time.Millisecond }
	first := newEdge(t, "edge", settings, soon)
	first.awaitOn(own, "a")
	e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": first.url, "TOKENS": own, "STREAMING": "true", "FEATURES_REFRESH_INTERVAL_SECONDS": "1h"})
	e.awaitOn(own, "a")
	await(t, "open streams", 1, first.streams.count)
	for range 3 {
		g.turnA("off")
		e.awaitOn(own, "")
		g.turnA("on")
		e.awaitOn(own, "a")
	}
	first.stop()
	g.turnA("off")
	settings["PORT"] = strings.TrimPrefix(first.url, "http://127.0.0.1:")
	first = newEdge(t, "edge", settings, soon)
	e.awaitOn(own, "")
	await(t, "open streams", 1, first.streams.count)
}

// TestSlowStream checks that a client that does not read is closed.
func TestSlowStream(t *testing.T) {
	t.Parallel()
	e, _ := newOffline(t, nil)
	e.streamTimeout = 50 * time.Millisecond
	token := "*:development.c"
	a, err := e.authenticateReader(newRequest(token), token, "client")
	if err != nil {
		t.Fatal(err)
	}
	server, client := net.Pipe()
	defer client.Close()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		e.stream(server, a, []byte("first"), "", e.hint)
	}()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatal("the stream is still open")
	}
}

// TestEndsWithStreams checks that Edge ends although the clients of its streams come back at once, and that it has reported what they used
// before.
func TestEndsWithStreams(t *testing.T) {
	t.Parallel()
	g := newGuidon(t)
	g.flag("a")
	own := g.token("client", "*", "development")
	settings := map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": own, "METRICS_INTERVAL_SECONDS": "1h"}
	e := newEdge(t, "edge", settings, func(e *Edge) { e.streams.over = time.Second })
	e.awaitOn(own, "a")
	ctx, cancel := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		clients.Wait()
	})
	for range 10 {
		clients.Go(func() {
			for ctx.Err() == nil {
				r, err := http.NewRequestWithContext(ctx, http.MethodGet, e.url+"/api/client/streaming", nil)
				if err != nil {
					t.Error(err)
					return
				}
				r.Header.Set("Authorization", own)
				if resp, err := http.DefaultClient.Do(r); err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
			}
		})
	}
	await(t, "open streams", 10, e.streams.count)
	e.ask("POST", "/api/client/metrics", own, metricsOf("app", "a", 3, 1)).want(t, 202)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		e.stop()
	}()
	select {
	case <-ended:
	case <-time.After(patience):
		cancel() // so that it ends
		<-ended
		t.Fatal("Edge does not end while clients come back")
	}
	if got, want := g.usage(), "a development app 3 1"; got != want {
		t.Errorf("Guidon got %s, want %s", got, want)
	}
}

// TestReportsBeforeStreamsEnd checks that usage is reported when Edge begins to end, before its streams are closed.
func TestReportsBeforeStreamsEnd(t *testing.T) {
	t.Parallel()
	g := newGuidon(t)
	g.flag("a")
	own := g.token("client", "*", "development")
	e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": own, "METRICS_INTERVAL_SECONDS": "1h"}, func(e *Edge) { e.streams.over = 0 })
	e.awaitOn(own, "a")
	if err := e.streams.enter(1); err != nil { // a stream that stays open
		t.Fatal(err)
	}
	e.ask("POST", "/api/client/metrics", own, metricsOf("app", "a", 3, 1)).want(t, 202)
	go e.stop()
	await(t, "the usage that Guidon has", "a development app 3 1", g.usage)
	await(t, "the status of another stream", 503, func() int { return e.ask("GET", "/api/client/streaming", own, "").status })
	e.streams.leave()
	e.stop()
}

// TestRefusedStream checks that a client that is one too many is refused before anything is made for it, or it waits for a state.
func TestRefusedStream(t *testing.T) {
	t.Parallel()
	e, _ := newOffline(t, map[string]string{"MAX_STREAMS": "1"})
	const token = "*:development.c"
	first := next(t, e.listen(token, ""), "unleash-connected")
	revision := e.all()[0].state.Load().revision
	ahead := fmt.Sprintf(`"%s:%d:%s`, revision.Epoch, revision.Number+1000, first.id[strings.LastIndex(first.id, ":")+1:])
	e.ask("GET", "/api/client/streaming", token, "", "Last-Event-ID: "+ahead).want(t, 429, "MAX_STREAMS")
	e.ask("GET", "/api/client/streaming", "*:development.nosuch", "").want(t, 401)
}
