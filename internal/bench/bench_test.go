package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// A stub is a server that refuses requests that change nothing, and those of applications without their headers.
type stub struct {
	mu          sync.Mutex
	polls       int               // with the token and the headers of the phase
	description map[string]string // by active flag
	enabled     map[string]bool
	refused     []string // requests that changed nothing
}

func (s *stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r.URL.Path {
	case "/api/admin/projects/default/archive":
		s.archive(w, r)
		return
	case "/api/admin/projects/default/delete", "/api/admin/projects/default/overview", "/api/admin/projects":
		return
	case "/api/client/register":
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if !strings.HasPrefix(r.URL.Path, projectPath) && r.URL.Path != "/api/admin/search/features" {
		s.serveApplication(w, r)
		return
	}
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, projectPath), "/")
	flag, verb := "", r.Method
	if len(parts) > 1 {
		flag = parts[1]
	}
	if len(parts) > 4 {
		verb = parts[4]
	}
	text, _ := io.ReadAll(r.Body)
	var body struct{ Name, Description string }
	_ = json.Unmarshal(text, &body)
	_, exists := s.description[flag]

	changed, status := exists, http.StatusOK
	switch {
	case r.URL.Query().Has("query"):
		changed = s.finds(r.URL.Query().Get("query")) == 10
	case r.URL.Query().Has("sortBy"):
		changed = true
	case verb == "GET" && flag == "":
		s.list(w)
		return
	case verb == "POST":
		_, exists = s.description[body.Name]
		changed, status = !exists, http.StatusCreated
		s.description[body.Name] = body.Description
	case verb == "on" || verb == "off":
		changed = exists && s.enabled[flag] == (verb == "off")
		s.enabled[flag] = verb == "on"
	case verb == "PUT":
		changed = exists && s.description[flag] != body.Description
		s.description[flag] = body.Description
	}
	if !changed {
		s.refused, status = append(s.refused, r.Method+" "+r.URL.Path), http.StatusTeapot
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, "stub")
}

func (s *stub) archive(w http.ResponseWriter, r *http.Request) {
	var body struct{ Features []string }
	_ = json.NewDecoder(r.Body).Decode(&body)
	for _, flag := range body.Features {
		delete(s.description, flag)
	}
	w.WriteHeader(http.StatusAccepted)
}

// serveApplication creates tokens, and answers polls and evaluations.
func (s *stub) serveApplication(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		var token struct{ Type string }
		_ = json.NewDecoder(r.Body).Decode(&token)
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"secret":"`+token.Type+` token"}`)
		return
	}
	application, list := client, "features"
	if r.URL.Path == "/api/frontend" {
		application, list = frontend, "toggles"
	}
	if r.Header.Get("Authorization") != application+" token" {
		s.refused = append(s.refused, "a poll without its token")
	}
	if r.Header.Get("Accept-Encoding") != "" || r.Header.Get("If-None-Match") != "" {
		s.polls++
	}
	if r.Header.Get("If-None-Match") == `"the state"` {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	rows := []map[string]any{}
	for name := range s.description {
		rows = append(rows, map[string]any{"name": name, "enabled": s.enabled[name]})
	}
	w.Header().Set("ETag", `"the state"`)
	_ = json.NewEncoder(w).Encode(map[string]any{list: rows})
}

// finds returns how many flags have a text in their names.
func (s *stub) finds(text string) (found int) {
	for name := range s.description {
		if strings.Contains(name, text) {
			found++
		}
	}
	return found
}

func (s *stub) list(w io.Writer) {
	type row struct {
		Name string `json:"name"`
	}
	rows := []row{}
	for name := range s.description {
		rows = append(rows, row{name})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"features": rows})
}

// TestPhases checks for every phase that each write changes something, and that applications get what they ask for.
func TestPhases(t *testing.T) {
	for _, p := range phases {
		t.Run(p.name, func(t *testing.T) {
			s := &stub{description: map[string]string{"theirs": ""}, enabled: map[string]bool{}}
			srv := httptest.NewServer(s)
			defer srv.Close()
			settled := false
			l := &load{
				options: options{callers: 4, flags: 40, spend: 200 * time.Millisecond}, prefix: "bench-test-",
				server: &server{url: srv.URL, own: func() time.Duration { return 0 }, settle: func(context.Context) error { settled = true; return nil }},
			}
			if err := l.prepare(t.Context()); err != nil || !settled {
				t.Fatalf("preparing: error %v, settled %t", err, settled)
			}
			f, err := l.measure(t.Context(), p)
			if err != nil || len(s.refused) > 0 {
				t.Fatalf("got error %v and requests that changed nothing: %q", err, s.refused)
			}
			if f.rate <= 0 || f.p99 <= 0 {
				t.Errorf("got %+v", f)
			}
			if want := p.compressed || p.unchanged; (s.polls > 0) != want {
				t.Errorf("got %d polls with the headers of the phase", s.polls)
			}
			if err := l.cleanUp(t.Context()); err != nil || len(s.description) > 0 {
				t.Errorf("got error %v and %d active flags at the end", err, len(s.description))
			}
		})
	}
}

// TestUnexpectedStatus checks that the error has the request, the status and the body.
func TestUnexpectedStatus(t *testing.T) {
	srv := httptest.NewServer(&stub{description: map[string]string{}, enabled: map[string]bool{}})
	defer srv.Close()
	err := (&load{server: &server{url: srv.URL}}).send(t.Context(), turn("nosuch", "on"), nil)
	want := "POST " + environmentPath("nosuch") + "/on: got status 418, expected 200: stub"
	if err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

func TestPercentile(t *testing.T) {
	var values []float64
	for ms := 100; ms > 0; ms-- {
		values = append(values, float64(ms))
	}
	for p, want := range map[int]float64{0: 1, 50: 50, 99: 99, 100: 100} {
		if got := percentile(values, p); got != want {
			t.Errorf("percentile %d: got %v, expected %v", p, got, want)
		}
	}
}
