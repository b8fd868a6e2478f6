package edge

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
)

const asSeven = `{"context":{"targetingKey":"7"}}`

var streamPath = regexp.MustCompile(`,"eventStreams":\[\{"type":"sse","endpoint":\{"requestUri":"([^"]+)"\}\}\]\}$`)

// bulk evaluates all flags by OFREP, and returns the response and the path of its event stream, or "".
func (i *instance) bulk(token string, headers ...string) (a answer, events string) {
	i.t.Helper()
	a = i.ask("POST", "/ofrep/v1/evaluate/flags", token, asSeven, headers...)
	if found := streamPath.FindStringSubmatch(a.body); found != nil {
		events = found[1]
	}
	return a, events
}

const refetch = `"type":"refetchEvaluation"`

// TestEvents checks what a page hears: each change of what its token reads, and after a reconnect that it missed some.
func TestEvents(t *testing.T) {
	t.Parallel()
	g := newGuidon(t)
	g.flag("a")
	g.do("POST", "/api/admin/projects", `{"id":"other","name":"other"}`)
	own, token := g.token("client", "*", "development"), g.token("frontend", "default", "development")
	e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": own}, func(e *Edge) { e.spread = 1 })
	e.awaitOn(own, "a")
	first, path := e.bulk(token)
	if path == "" || strings.Contains(path, token) {
		t.Fatalf("the bulk evaluation answers %s, want the path of a stream without the token", first)
	}
	if again, _ := e.bulk(token, "If-None-Match: "+first.header.Get("ETag")); again.status != 304 {
		t.Errorf("the same again is a %s", again)
	}
	if _, client := e.bulk(own); client == path {
		t.Error("two tokens have the same stream")
	}
	events := e.listenAt(path, "", "", "Origin: https://shop.example")
	known := next(t, events, "", refetch) // its flags are from less than a minute ago
	g.do("POST", "/api/admin/projects/other/features", `{"name":"foreign"}`)
	await(t, "a flag of another project", true, func() bool { return e.all()[0].state.Load().flags["foreign"] != nil })
	g.turnA("off")
	changed := next(t, events, "", refetch, `"etag":`)
	if changed.id == known.id {
		t.Error("a change has the ID of the state before")
	}
	if ahead, again := e.bulk(token, "If-None-Match: "+first.header.Get("ETag")); ahead.status != 200 || again != path {
		t.Errorf("after a change the bulk evaluation is %s with the stream %q, want a 200 with %q", ahead, again, path)
	}

	missed := e.listenAt(path, "", known.id)
	next(t, missed, "", refetch)
	nothing := e.listenAt(path, "", changed.id)
	g.turnA("on")
	if late := next(t, nothing, "", refetch); late.id == changed.id { // the first event: there was none for the reconnect
		t.Errorf("a page that missed nothing is told so with %+v", late)
	}
	next(t, e.listenAt(path, "", "garbage"), "", refetch)
}

// TestNoEvents checks that a stream which a page cannot have is a 200 that ends, and that it says when to come back.
func TestNoEvents(t *testing.T) {
	t.Parallel()
	g := newGuidon(t)
	g.flag("a")
	own, token := g.token("client", "*", "development"), g.token("frontend", "default", "development")
	e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": own, "MAX_STREAMS": "1"}, func(e *Edge) { e.spread = 1; e.streams.over = 0 })
	e.awaitOn(own, "a")
	first, path := e.bulk(token)
	events := e.listenAt(path, "", "")
	next(t, events, "", refetch)

	if full, at := e.bulk(token, "If-None-Match: "+first.header.Get("ETag")); full.status != 200 || at != "" {
		t.Errorf("with as many streams as MAX_STREAMS the bulk evaluation is %s, want a 200 without a stream", full)
	}
	listening := e.ask("POST", `/ofrep/v1/evaluate/flags?flagConfigEtag=W/"x"`, token, asSeven)
	if !streamPath.MatchString(listening.body) {
		t.Errorf("a page with a stream loses it: %s", listening)
	}
	e.comesBack(path, "", later, "")
	e.ask("POST", path, "", "{}").want(t, 404)

	for _, forged := range []string{"nosuch", strings.ToUpper(path[len(eventsPath):]), path[len(eventsPath):] + "x", "%00", strings.Repeat("x", 5000)} {
		e.comesBack(eventsPath+forged, "", soon, refetch)
		e.comesBack(eventsPath+forged, unknown, later, "")
	}
	for _, elsewhere := range []string{"/api/client/features", "/api/frontend"} {
		e.ask("GET", elsewhere, path[len(eventsPath):], "").want(t, 401)
	}

	g.do("DELETE", "/api/admin/api-tokens/"+token, "")
	await(t, "the status of the deleted token", 401, func() int { a, _ := e.bulk(token); return a.status })
	g.turnA("off")
	for e := range events {
		t.Errorf("a stream with a deleted token gets %+v", e)
	}
	await(t, "open streams", 0, e.streams.count)
	e.comesBack(path, "", soon, refetch)
	e.stop()
}

// comesBack checks that a stream ends at once with a pause of about this length, and an event with a text.
func (i *instance) comesBack(path, last string, pause time.Duration, text string) {
	i.t.Helper()
	a := i.ask("GET", path, "", "", "Last-Event-ID: "+last).want(i.t, http.StatusOK, text)
	var milliseconds int64
	if _, err := fmt.Sscanf(a.body, "retry: %d\n", &milliseconds); err != nil || a.header.Get("Content-Type") != "text/event-stream" {
		i.t.Fatalf("GET %s is %s, want a pause", path, a)
	}
	if got := time.Duration(milliseconds) * time.Millisecond; got < pause/2 || got > pause*2 || text == "" && strings.Contains(a.body, "data:") {
		i.t.Errorf("GET %s is %s, want a pause of %s and %q", path, a, pause, text)
	}
}

// TestEventsOfAnother checks that a page which hears of a change from one Edge gets it from another one, too, that has not asked yet.
func TestEventsOfAnother(t *testing.T) {
	t.Parallel()
	g := newGuidon(t)
	g.flag("a")
	own, token := g.token("client", "*", "development"), g.token("frontend", "default", "development")
	first := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": own}, func(e *Edge) { e.spread = 1 })
	late := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": own, "FEATURES_REFRESH_INTERVAL_SECONDS": "1h"})
	first.awaitOn(own, "a")
	late.awaitOn(own, "a")
	_, path := first.bulk(token)
	if _, same := late.bulk(token); same != path {
		t.Errorf("another Edge has the stream %s for the token, want %s", same, path)
	}
	events := first.listenAt(path, "", "")
	next(t, events, "", refetch)
	g.turnA("off")
	changed := next(t, events, "", refetch)
	late.ask("POST", "/ofrep/v1/evaluate/flags?flagConfigEtag="+url.QueryEscape(changed.id), token, asSeven).want(t, 200, `"value":false`)
}
