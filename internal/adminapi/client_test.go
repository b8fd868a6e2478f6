package adminapi

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// clientOf is a client of a server that answers as handle does.
func clientOf(t *testing.T, handle http.HandlerFunc) *Client {
	t.Helper()
	h := httptest.NewServer(handle)
	t.Cleanup(h.Close)
	c, err := New("the source", h.URL+"/api/", "a-token")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRetries(t *testing.T) {
	for _, tt := range []struct {
		name     string
		statuses []int
		header   string // Retry-After of every response
		body     string // of every request
		least    time.Duration
		err      string // "" for none
	}{
		{"success", []int{200}, "", "", 0, ""},
		{"busy, with Retry-After", []int{503, 200}, "1", `{"a":1}`, time.Second, ""},
		{"busy twice", []int{429, 502, 200}, "", `{"a":1}`, 0, ""},
		{"Retry-After with a date", []int{503, 200}, "Wed, 21 Oct 2026 07:28:00 GMT", "", 0, ""},
		{"bad request", []int{400}, "", "", 0, "the source answers 400 to POST /x: what was wrong; at/one one thing"},
		{"unauthorized", []int{401}, "", "", 0, "check the token"},
		{"forbidden", []int{403}, "", "", 0, "lacks a permission"},
		{"internal error", []int{500}, "", "", 0, "answers 500"},
		{"redirect", []int{308}, "", "", 0, "redirects to https://elsewhere.example"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			c := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
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
			err := c.Call(t.Context(), http.MethodPost, "/x", body, nil)
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

func TestResponseWithoutJSON(t *testing.T) {
	c := clientOf(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "<html>") })
	if err := c.Get(t.Context(), "/x", &struct{}{}); err == nil || !strings.Contains(err.Error(), "not the expected JSON") {
		t.Errorf("got %v, want that it is not JSON", err)
	}
}

func TestCallOnce(t *testing.T) {
	calls := 0
	c := clientOf(t, func(w http.ResponseWriter, _ *http.Request) {
		calls++
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	if err := c.CallOnce(t.Context(), http.MethodPost, "/x", nil, nil); !Refused(err, http.StatusServiceUnavailable) || calls != 1 {
		t.Errorf("got %v after %d calls, want 503 after one", err, calls)
	}
}

func TestUnreachable(t *testing.T) {
	c := clientOf(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	c.Attempts = 1
	_, unreachable := errors.AsType[*UnreachableError](c.Get(t.Context(), "/x", nil))
	if !unreachable {
		t.Error("want an UnreachableError of a server that closes the connection")
	}
}

func TestRepeatedReason(t *testing.T) {
	const response = `{"message":"/type: must be client, not \"foo\"","details":[{"path":"/type","message":"must be client, not \"foo\""}]}`
	if got, want := reason([]byte(response)), `/type: must be client, not "foo"`; got != want {
		t.Errorf("got %q, want %q once", got, want)
	}
}
