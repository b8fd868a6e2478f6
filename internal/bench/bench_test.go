package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
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
	if r.URL.Path == "/api/admin/projects/default/archive" {
		s.archive(w, r)
		return
	}
	if !strings.HasPrefix(r.URL.Path, projectPath) && r.URL.Path != "/api/admin/search/features" {
		s.serveApplication(w, r)
		return
	}
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, projectPath), "/")
	if searched := r.URL.Query().Get("query"); searched != "" {
		parts = []string{"", searched}
	}
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

// TestPhases checks for every phase that each write changes something, that other flags are not touched, and that no flag of
// the benchmark remains.
func TestPhases(t *testing.T) {
	for _, p := range phases {
		t.Run(p.name, func(t *testing.T) {
			s := &stub{description: map[string]string{"theirs": ""}, enabled: map[string]bool{}}
			srv := httptest.NewServer(s)
			defer srv.Close()
			b := &bench{
				options: options{callers: 4, flags: 4, spend: 400 * time.Millisecond},
				target:  newTarget(srv.URL, "token"), phase: p, prefix: ours + "test-",
			}
			res, err := b.run(context.Background())
			if err != nil || len(s.refused) > 0 {
				t.Fatalf("got error %v and requests that changed nothing: %q", err, s.refused)
			}
			if len(res.times) <= 2*b.flags {
				t.Errorf("got %d responses, expected more than two passes over %d flags", len(res.times), b.flags)
			}
			if want := len(p.header) > 0; (s.polls > len(res.times)) != want {
				t.Errorf("got %d polls with the headers of the phase, and %d responses", s.polls, len(res.times))
			}
			if _, ok := s.description["theirs"]; !ok || len(s.description) != 1 {
				t.Errorf("got %d active flags at the end, expected only the other one", len(s.description))
			}
		})
	}
}

// TestUnexpectedStatus checks that the error has the request, the status and the body.
func TestUnexpectedStatus(t *testing.T) {
	srv := httptest.NewServer(&stub{description: map[string]string{}, enabled: map[string]bool{}})
	defer srv.Close()
	_, err := newTarget(srv.URL, "token").send(context.Background(), on("nosuch"), io.Discard)
	want := "POST " + environmentPath("nosuch") + "/on: got status 418, expected 200: stub"
	if err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

func TestPercentile(t *testing.T) {
	var r result
	for ms := 100; ms > 0; ms-- {
		r.times = append(r.times, time.Duration(ms)*time.Millisecond)
	}
	for p, want := range map[int]float64{0: 1, 50: 50, 99: 99, 100: 100} {
		if got := r.percentile(p); got != want {
			t.Errorf("percentile %d: got %v ms, expected %v", p, got, want)
		}
	}
}

func TestChoose(t *testing.T) {
	got, err := choose("PUT, read one")
	if err != nil || len(got) != 2 || got[0].name != "PUT" || got[1].name != "read one" {
		t.Errorf("got %d phases and error %v, expected PUT and read one", len(got), err)
	}
	if _, err := choose("nosuch"); err == nil {
		t.Error("got no error for an unknown phase")
	}
}

// TestPages checks that the tables of the pages show the stored figures.
func TestPages(t *testing.T) {
	const folder = "../../docs/performance"
	res, err := readResults(folder)
	if err != nil {
		t.Fatal(err)
	}
	for page, parts := range res.parts() {
		text, err := os.ReadFile(filepath.Join(folder, page))
		if err != nil {
			t.Fatal(err)
		}
		for name, part := range parts {
			want, err := replacePart(string(text), name, part)
			if err != nil {
				t.Fatal(err)
			}
			if want != string(text) {
				t.Errorf("%s: the part %q does not show the figures of %s; run go run ./internal/bench -render -out docs/performance", page, name, resultsFile)
			}
		}
	}
}

func TestSpread(t *testing.T) {
	p := phaseFigures{Runs: map[string][]figure{guidonSide: {{Own: 2}, {Own: 1}, {Own: 4}}, unleashSide: {{Own: 8}, {Own: 16}, {Own: 4}}}}
	if got, want := p.of(guidonSide, own), (spread{2, 1, 4}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := p.ratios(guidonSide, own), (spread{4, 1, 16}); got != want {
		t.Errorf("got ratios %v, want %v", got, want)
	}
}
