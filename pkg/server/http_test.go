package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"guidon/pkg/httpapi"
)

// serve serves one function that takes bodies of maxBody bytes, for all paths.
func serve(t *testing.T, maxBody int, handler http.HandlerFunc) (url string, a *app) {
	t.Helper()
	a = newApp()
	a.mux, a.site = &httpapi.Mux{}, &function{handler: handler, maxBody: maxBody}
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	return server.URL, a
}

// send writes a request byte for byte, because HTTP clients would normalize it, and returns the response.
func send(t *testing.T, url, request string) (*http.Response, string) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

func TestBodyLimits(t *testing.T) {
	called := false
	url, _ := serve(t, maxBody, func(w http.ResponseWriter, _ *http.Request) {
		called = true
		w.WriteHeader(http.StatusNoContent)
	})
	tests := []struct {
		name string
		body []byte
		want int
	}{
		{"what Lambda takes", bytes.Repeat([]byte("a"), 5<<20), http.StatusNoContent},
		{"too much for API Gateway", make([]byte, 11<<20), http.StatusRequestEntityTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			called = false
			req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			// As curl does for large bodies: else the answer may come while the client still writes.
			req.Header.Set("Expect", "100-continue")
			response, answer := do(t, req)
			if response.StatusCode != tt.want || called != (tt.want == http.StatusNoContent) {
				t.Errorf("status is %d, and the handler was called: %t; want %d", response.StatusCode, called, tt.want)
			}
			var failure struct{ ID, Name, Message string }
			if err := json.Unmarshal([]byte(answer), &failure); !called && (err != nil || failure.Name != "PayloadTooLargeError" || failure.ID == "") {
				t.Errorf("answer is %q (%v), want the JSON error", answer, err)
			}
		})
	}
}

func TestResponse(t *testing.T) {
	url, _ := serve(t, maxBody, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Add("X-Many", "a")
		w.Header().Add("X-Many", "b")
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "1"})
		http.SetCookie(w, &http.Cookie{Name: "b", Value: "2"})
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, "\x1f\x8b\xff")
	})
	for method, want := range map[string]string{http.MethodGet: "\x1f\x8b\xff", http.MethodHead: ""} {
		req, err := http.NewRequest(method, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, body := do(t, req)
		if response.StatusCode != http.StatusAccepted || body != want || response.ContentLength != 3 {
			t.Errorf("%s: answer is %d %q of %d bytes", method, response.StatusCode, body, response.ContentLength)
		}
		want := map[string][]string{"X-Many": {"a", "b"}, "Set-Cookie": {"a=1", "b=2"}, "Content-Type": {"application/octet-stream"}}
		for name, values := range want {
			if diff := cmp.Diff(values, response.Header[name]); diff != "" {
				t.Errorf("%s %s (-want +got):\n%s", method, name, diff)
			}
		}
	}
}

// TestRequest checks that a handler gets what the caller sent, and its address; except for two headers. API Gateway joins repeated tokens,
// and sets X-Forwarded-Proto, by which a response tells browsers to use HTTPS.
func TestRequest(t *testing.T) {
	var got *http.Request
	url, _ := serve(t, maxBody, func(_ http.ResponseWriter, r *http.Request) { got = r })
	send(t, url, "GET /a%20b?c=%26 HTTP/1.1\r\nHost: flags.example:8080\r\nConnection: close\r\nX-Many: one\r\nX-Many: two\r\nCookie: a=1; b=2\r\n"+
		"Authorization: a\r\nAuthorization: b\r\nX-Forwarded-Proto: https\r\nX-Forwarded-For: 203.0.113.7\r\n\r\n")
	if got.URL.String() != "/a%20b?c=%26" || got.Host != "flags.example:8080" || httpapi.RemoteAddress(got) != "127.0.0.1" {
		t.Errorf("the handler gets %s for %s from %s", got.URL, got.Host, got.RemoteAddr)
	}
	want := http.Header{
		"Connection": {"close"}, "X-Many": {"one", "two"}, "Cookie": {"a=1; b=2"}, "Authorization": {"a,b"}, "X-Forwarded-For": {"203.0.113.7"},
	}
	if diff := cmp.Diff(want, got.Header); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

// TestCallContext checks that a handler has a deadline, and continues when its caller disconnects: a change in progress must complete, as on
// Lambda.
func TestCallContext(t *testing.T) {
	entered, left := make(chan struct{}), make(chan error, 1)
	url, _ := serve(t, maxBody, func(w http.ResponseWriter, r *http.Request) {
		if deadline, ok := r.Context().Deadline(); !ok || time.Until(deadline) > callTimeout || time.Until(deadline) < callTimeout-2*time.Second {
			t.Errorf("deadline is %v, want it in %s", deadline, callTimeout)
		}
		close(entered)
		time.Sleep(100 * time.Millisecond)
		left <- r.Context().Err()
	})
	ctx, hangUp := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-entered
		hangUp()
	}()
	if response, err := http.DefaultClient.Do(req); err == nil {
		_ = response.Body.Close()
		t.Error("the answer came before the caller hung up")
	}
	if err := <-left; err != nil {
		t.Errorf("the handler's context ended with its caller: %v", err)
	}
}

func do(t *testing.T, req *http.Request) (*http.Response, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: 5 * time.Second, DisableKeepAlives: true}}
	response, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}
