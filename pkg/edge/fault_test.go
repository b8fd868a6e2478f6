package edge

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
)

// cut sends a response of the upstream without its second half.
func cut(w http.ResponseWriter, r *http.Request, next http.Handler) {
	r.Header.Del("If-None-Match")
	whole := httptest.NewRecorder()
	next.ServeHTTP(whole, r)
	for name, values := range whole.Header() {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Length", fmt.Sprint(whole.Body.Len()))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(whole.Body.Bytes()[:whole.Body.Len()/2])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// hang keeps a request open for longer than Edge waits.
func hang(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
	select {
	case <-r.Context().Done():
	case <-time.After(3 * time.Second):
	}
}

// slow sends a byte at a time, for longer than a request may take.
func slow(w http.ResponseWriter, r *http.Request, _ http.Handler) {
	w.Header().Set("Content-Type", "application/json")
	for range 60 {
		_, _ = io.WriteString(w, " ")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func answerWith(media, body string) fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", media)
		w.Header().Set("ETag", `"x:99999999:00000000"`)
		_, _ = io.WriteString(w, body)
	}
}

// TestFaults checks that Edge goes on with what it has while the upstream fails in any way, says so once, and then follows again.
func TestFaults(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]fault{
		"killed":          func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) },
		"hanging":         hang,
		"slow":            slow,
		"cut":             cut,
		"garbage":         answerWith("application/json", `{"events":[{"type":"hydration","features":[{"na`),
		"other JSON":      answerWith("application/json", `{"message":"welcome"}`),
		"no events":       answerWith("application/json", `{"events":[]}`),
		"unknown event":   answerWith("application/json", `{"events":[{"type":"surprise","eventId":7}]}`),
		"nameless flag":   answerWith("application/json", `{"events":[{"type":"hydration","eventId":9,"features":[{"enabled":true}],"segments":[]}]}`),
		"HTML":            answerWith("text/html", `<html>Sign in to the Wi-Fi</html>`),
		"HTML as JSON":    answerWith("application/json", `<html></html>`),
		"empty":           answerWith("application/json", ``),
		"401":             status(http.StatusUnauthorized),
		"403":             status(http.StatusForbidden),
		"500":             status(http.StatusInternalServerError),
		"too many":        status(http.StatusTooManyRequests),
		"redirect":        status(http.StatusFound),
		"changes without": answerWith("application/json", `{"events":[{"type":"feature-removed","eventId":9,"featureName":"a"}]}`), // of another epoch
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGuidon(t)
			g.flag("a")
			own := g.token("client", "*", "development")
			e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": own})
			client, frontend := g.token("client", "default", "development"), g.token("frontend", "default", "development")
			e.awaitOn(client, "a")
			e.ask("GET", "/api/frontend", frontend, "").want(t, 200)
			unknown := g.token("client", "default", "development")
			g.fails(f)
			failed := func(times int64) {
				t.Helper()
				failures := e.Edge.metrics.failures.Load()
				await(t, "failures", true, func() bool { return e.Edge.metrics.failures.Load() >= failures+times })
			}
			failed(1) // a request that had begun before would still see the change
			g.turnA("off")
			failed(2)
			if on := e.on(client); on != "a" {
				t.Errorf("while the upstream fails, %q is on", on)
			}
			e.ask("GET", "/api/frontend", frontend, "").want(t, 200, `"name":"a"`)
			e.ask("GET", "/health", "", "").want(t, 200)
			e.ask("GET", "/ready", "", "").want(t, 200)
			if a := e.ask("GET", "/api/client/features", unknown, "").want(t, 503); a.header.Get("Retry-After") == "" {
				t.Error("the 503 has no Retry-After")
			}
			if n := strings.Count(e.logs.String(), "did not say which flags there are"); n != 1 {
				t.Errorf("Edge logged the failure %d times, want once", n)
			}
			g.fails(nil)
			e.awaitOn(client, "")
			e.awaitLog("says again which flags there are")
			await(t, "the status of the token that was unknown", 200, func() int { return e.ask("GET", "/api/client/features", unknown, "").status })
		})
	}
}

// TestClockJump checks that Edge serves on when the clock jumps by a year while the upstream is gone.
func TestClockJump(t *testing.T) {
	t.Parallel()
	for name, jump := range map[string]time.Duration{"forward": 365 * 24 * time.Hour, "back": -365 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, own, e := following(t)
			client := g.token("client", "default", "development")
			e.awaitOn(client, "a")
			g.fails(status(http.StatusInternalServerError))
			e.tokens.mu.Lock()
			for _, known := range e.tokens.known {
				known.checked.Store(before(known.checked.Load(), jump))
			}
			e.tokens.mu.Unlock()
			confirmed := &e.sourceWith(own).confirmed
			confirmed.Store(before(confirmed.Load(), jump))
			e.tokens.forget()
			if age := e.ask("GET", "/api/client/features", client, "").want(t, 200, `"name":"a"`).header.Get("Age"); len(age) > 2 {
				t.Errorf("the flags are %s s old", age)
			}
			g.fails(nil)
			g.turnA("off")
			e.awaitOn(client, "")
		})
	}
}

// before returns a time as it was noted before the clock jumped: the clock that people see differs, the monotonic one does not. The
// former is in the higher bits of the first field, in seconds.
func before(at *time.Time, jump time.Duration) *time.Time {
	earlier := *at
	wall := (*uint64)(unsafe.Pointer(&earlier))
	*wall -= uint64(int64(jump/time.Second)) << 30
	return &earlier
}

func (i *instance) sourceWith(token string) *source {
	for _, s := range i.all() {
		if s.token == token {
			return s
		}
	}
	i.t.Fatal("Edge does not read with this token")
	return nil
}

// TestNeverOlder checks that Edge does not take an older state of the same epoch, and that it says so.
func TestNeverOlder(t *testing.T) {
	t.Parallel()
	g, own, e := following(t)
	old := ask(t, "GET", g.URL+"/api/client/delta", own, "").want(t, 200, "hydration")
	g.turnA("off")
	e.awaitOn(own, "")
	g.fails(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.URL.Path != "/api/client/delta" {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("ETag", old.header.Get("ETag"))
		_, _ = io.WriteString(w, old.body)
	})
	e.awaitLog("older than those that Edge already has")
	if on := e.on(own); on != "" {
		t.Errorf("%q is on again", on)
	}
}

// TestEmptied checks that Edge holds a state without nearly all flags, until the upstream has insisted on it.
func TestEmptied(t *testing.T) {
	t.Parallel()
	g := newGuidon(t)
	for i := range 12 {
		g.do("POST", defaultProject+"/features", fmt.Sprintf(`{"name": "f%d"}`, i))
	}
	g.flag("on")
	own := g.token("client", "*", "development")
	e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": own}, func(e *Edge) { e.holdFor = 2 * time.Second })
	e.awaitOn(own, "on")
	var flags atomic.Value
	flags.Store(`{"name":"other","enabled":true,"project":"default","strategies":[{"name":"default"}]}`)
	g.fails(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.URL.Path != "/api/client/delta" {
			next.ServeHTTP(w, r)
			return
		}
		answerWith("application/json", `{"events":[{"type":"hydration","eventId":3,"features":[`+flags.Load().(string)+`],"segments":[]}]}`)(w, r, next)
	})
	began := time.Now()
	e.awaitLog("lost nearly all flags")
	if on := e.on(own); on != "on" && time.Since(began) < time.Second {
		t.Errorf("%q is on at once", on)
	}
	e.awaitOn(own, "other")
	if took := time.Since(began); took < 2*time.Second {
		t.Errorf("it was taken after %s", took)
	}
}

// TestEmptiedByGuidon checks that Guidon may remove nearly all flags: its numbers tell that this is a change.
func TestEmptiedByGuidon(t *testing.T) {
	t.Parallel()
	g := newGuidon(t)
	g.flag("on")
	for i := range 12 {
		g.do("POST", defaultProject+"/features", fmt.Sprintf(`{"name": "f%d"}`, i))
	}
	own := g.token("client", "*", "development")
	e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": own, "FEATURES_REFRESH_INTERVAL_SECONDS": "1s"})
	e.awaitOn(own, "on")
	names := `"on"`
	for i := range 12 {
		names += fmt.Sprintf(`, "f%d"`, i)
	}
	g.do("POST", defaultProject+"/archive", `{"features": [`+names+`]}`)
	e.awaitOn(own, "")
	if strings.Contains(e.logs.String(), "lost nearly all") {
		t.Error("Edge held the change")
	}
}

// TestFailover checks that Edge goes to the next upstream when one fails, and back to the first.
func TestFailover(t *testing.T) {
	t.Parallel()
	g := newGuidon(t)
	var dead atomic.Bool
	var first, second atomic.Int64
	via := func(count *atomic.Int64, dead *atomic.Bool) *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if dead.Load() {
				panic(http.ErrAbortHandler)
			}
			count.Add(1)
			g.Config.Handler.ServeHTTP(w, r)
		}))
		t.Cleanup(s.Close)
		return s
	}
	a, b := via(&first, &dead), via(&second, &atomic.Bool{})
	g.flag("a")
	own := g.token("client", "*", "development")
	e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": a.URL + "," + b.URL + "/api/", "TOKENS": own})
	e.awaitOn(own, "a")
	if second.Load() != 0 {
		t.Error("Edge asked the second upstream while the first one works")
	}
	dead.Store(true)
	g.turnA("off")
	e.awaitOn(own, "")
	dead.Store(false)
	before := first.Load()
	await(t, "Edge asks the first upstream again", true, func() bool { return first.Load() > before })
	time.Sleep(100 * time.Millisecond)
	was := second.Load()
	g.turnA("on")
	e.awaitOn(own, "a")
	if second.Load() != was {
		t.Error("Edge still asks the second upstream")
	}
}

// TestWithoutDelta checks that Edge follows an Unleash or an Unleash Edge, which have no deltas, and tells them itself.
func TestWithoutDelta(t *testing.T) {
	t.Parallel()
	t.Run("Unleash", func(t *testing.T) { followWithoutDelta(t, http.StatusNotFound) })
	t.Run("Unleash Edge", func(t *testing.T) { followWithoutDelta(t, http.StatusInternalServerError) })
}

func followWithoutDelta(t *testing.T, code int) {
	t.Helper()
	g := newGuidon(t)
	g.flag("a")
	g.flag("b")
	g.fails(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.URL.Path == "/api/client/delta" {
			status(code)(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	})
	own := g.token("client", "*", "development")
	e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": own})
	e.awaitOn(own, "a b")
	delta := e.ask("GET", "/api/client/delta", own, "").want(t, 200, "hydration")
	g.turnA("off")
	g.do("DELETE", defaultProject+"/features/b", "")
	e.awaitOn(own, "")
	await(t, "the flags", false, func() bool { return strings.Contains(e.ask("GET", "/api/client/features", own, "").body, `"b"`) })
	e.ask("GET", "/api/client/delta", own, "", "If-None-Match: "+delta.header.Get("ETag")).want(t, 200, `"featureName":"b"`, `"feature-updated"`)
	if n := g.served("GET /api/client/delta"); n != 1 && code == http.StatusNotFound {
		t.Errorf("Edge asked for deltas %d times, want once an hour", n)
	}
}

// TestUnleashForms checks that Edge reads what Unleash may leave out, and that a dependency needs its parent to be on by default.
func TestUnleashForms(t *testing.T) {
	t.Parallel()
	u := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		switch r.URL.Path {
		case "/api/client/features":
			w.Header().Set("ETag", `"0207eb08:20310"`)
			_, _ = io.WriteString(w, `{"version": 2, "features": [
				{"name": "parent", "type": "release", "enabled": true, "project": "default", "stale": false, "strategies": [{"name": "default", "constraints": [], "parameters": {}, "variants": [{"name": "inner", "weight": 1000}]}], "variants": [{"name": "outer", "weight": 1000, "weightType": "variable"}], "description": null, "impressionData": null, "createdAt": "2026-01-01T00:00:00Z"},
				{"name": "child", "enabled": true, "strategies": [{"name": "default", "title": "t", "disabled": false}], "dependencies": [{"feature": "parent"}]}],
				"query": {"environment": "development", "inlineSegmentConstraints": false}, "segments": [{"id": 3, "name": "s", "constraints": [{"operator": "IN", "contextName": "userId", "values": ["7"]}]}],
				"meta": {"revisionId": 20310, "etag": "\"0207eb08:20310\"", "queryHash": "0207eb08"}}`)
		case "/edge/validate":
			_, _ = io.WriteString(w, `{"tokens": [{"token": "*:development.own", "type": "client", "projects": ["*"]}, {"token": "*:development.web", "type": "frontend", "projects": ["default"]}]}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"name": "NotFoundError"}`)
		}
	}))
	t.Cleanup(u.Close)
	e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": u.URL, "TOKENS": "*:development.own"})
	e.awaitOn("*:development.own", "child parent")
	e.ask("GET", "/api/frontend", "*:development.web", "").want(t, 200, `"name":"child"`, `"name":"parent"`)
	e.ask("GET", "/api/client/features", "*:development.own", "", "Unleash-Client-Spec: 5.2.0").want(t, 200, `"revisionId":20310`, `"variants":[]`, `"name":"inner","weight":1000,"weightType":"variable","stickiness":"default"`, `"name":"outer","weight":1000,"weightType":"variable","stickiness":"default"`, `"segments":[{"id":3`)
	e.ask("GET", "/api/client/delta", "*:development.own", "").want(t, 200, `"eventId":20310`)
}

// TestBehindAnEdge checks an Edge whose upstream is an Edge: flags, changes, tokens, and usage.
func TestBehindAnEdge(t *testing.T) {
	t.Parallel()
	g := newGuidon(t)
	g.flag("a")
	own, client := g.token("client", "*", "development"), g.token("client", "default", "development")
	first := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": own})
	second := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": first.url, "TOKENS": own, "UPSTREAM_SOCKET_TIMEOUT": "10s", "UPSTREAM_REQUEST_TIMEOUT": "10s"})
	second.awaitOn(client, "a")
	a, b := first.ask("GET", "/api/client/delta", client, ""), second.ask("GET", "/api/client/delta", client, "")
	if a.header.Get("ETag") != b.header.Get("ETag") || a.body != b.body {
		t.Errorf("the deltas are\n%s %s\n%s %s", a, a.header, b, b.header)
	}
	g.turnA("off")
	second.awaitOn(client, "")
	second.ask("GET", "/api/client/features", "default:development.nosuch", "").want(t, 401)
	second.ask("POST", "/api/client/metrics", client, metricsOf("app", "a", 3, 1)).want(t, 202)
	await(t, "the usage that Guidon has", "a development app 3 1", g.usage)
	g.do("DELETE", "/api/admin/api-tokens/"+client, "")
	await(t, "the status of a deleted token", 401, func() int { return second.ask("GET", "/api/client/features", client, "").status })
}

// TestCompare checks that Edge reads everything again if its flags differ from those of Guidon.
func TestCompare(t *testing.T) {
	t.Parallel()
	g := newGuidon(t)
	g.flag("a")
	own := g.token("client", "*", "development")
	var wrong atomic.Bool
	wrong.Store(true)
	g.fails(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.URL.Path != "/api/client/delta" || !wrong.CompareAndSwap(true, false) {
			next.ServeHTTP(w, r)
			return
		}
		whole := httptest.NewRecorder() // the ETag of the state, with another flag
		next.ServeHTTP(whole, r)
		answer := strings.ReplaceAll(whole.Body.String(), `"name":"a"`, `"name":"wrong"`)
		w.Header().Set("ETag", whole.Header().Get("ETag"))
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer)
	})
	e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": own}, func(e *Edge) { e.compareInterval = 10 * time.Millisecond })
	e.awaitOn(own, "a")
	e.awaitLog("differ from those of the upstream")
	time.Sleep(200 * time.Millisecond)
	if n := strings.Count(e.logs.String(), "differ from those"); n != 1 {
		t.Errorf("they differ %d times", n)
	}
}
