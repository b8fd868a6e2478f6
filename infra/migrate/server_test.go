package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// serverOf is a side of a move that answers as handle does.
func serverOf(t *testing.T, handle http.HandlerFunc) *server {
	t.Helper()
	h := httptest.NewServer(handle)
	t.Cleanup(h.Close)
	s, err := newServer("the source", h.URL+"/api/", "a-token")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRetries(t *testing.T) {
	for _, tt := range []struct {
		name     string
		statuses []int
		header   string // Retry-After of all but the last
		body     string // sent and to arrive each time
		least    time.Duration
		err      string // "" for none
	}{
		{"at once", []int{200}, "", "", 0, ""},
		{"busy, and back in a second", []int{503, 200}, "1", `{"a":1}`, time.Second, ""},
		{"busy twice", []int{429, 502, 200}, "", `{"a":1}`, 0, ""},
		{"a date to come back at is no number", []int{503, 200}, "Wed, 21 Oct 2026 07:28:00 GMT", "", 0, ""},
		{"wrong for good", []int{400}, "", "", 0, "the source answers 400 to POST /x: what was wrong; at/one one thing"},
		{"not known", []int{401}, "", "", 0, "is its token right"},
		{"not allowed", []int{403}, "", "", 0, "lacks a permission"},
		{"broken", []int{500}, "", "", 0, "answers 500"},
		{"elsewhere", []int{308}, "", "", 0, "sends on to https://elsewhere.example"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			s := serverOf(t, func(w http.ResponseWriter, r *http.Request) {
				body := make([]byte, len(tt.body)+1)
				if n, _ := r.Body.Read(body); string(body[:n]) != tt.body {
					t.Errorf("call %d came with the body %q, want %q", calls, body[:n], tt.body)
				}
				if got := r.Header.Get("Authorization"); got != "a-token" {
					t.Errorf("call %d came with the token %q", calls, got)
				}
				w.Header().Set("Retry-After", tt.header)
				w.Header().Set("Location", "https://elsewhere.example/x")
				w.WriteHeader(tt.statuses[min(calls, len(tt.statuses)-1)])
				calls++
				_, _ = fmt.Fprint(w, `{"message":"what was wrong","details":[{"path":"at/one","message":"one thing"}]}`)
			})
			began := time.Now()
			var body any
			if tt.body != "" {
				body = map[string]int{"a": 1}
			}
			err := s.call(t.Context(), http.MethodPost, "/x", body, nil)
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("got the error %v, want %q", err, tt.err)
			}
			if calls != len(tt.statuses) {
				t.Errorf("%d calls, want %d", calls, len(tt.statuses))
			}
			if took := time.Since(began); took < tt.least {
				t.Errorf("it took %s, want at least %s", took, tt.least)
			}
		})
	}
}

func TestAnswerThatIsNone(t *testing.T) {
	s := serverOf(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "<html>") })
	if err := s.get(t.Context(), "/x", &struct{}{}); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("got %v, want that it cannot be read", err)
	}
}
