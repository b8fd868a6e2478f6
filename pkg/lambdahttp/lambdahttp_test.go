package lambdahttp_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"guidon/pkg/lambdahttp"
)

// seen is the request that a handler gets.
type seen struct {
	Method, Path, Query, Body string
	Header                    map[string][]string // only the wanted ones
}

func TestRequest(t *testing.T) {
	tests := []struct {
		file string
		want seen
	}{
		{"get.json", seen{
			Method: "GET", Path: "/api/admin/projects/default", Query: "archived=true&tag=simple%3Aa%26b&tag=%C3%A9",
			Header: map[string][]string{
				"Authorization":   {"*:*.some-secret, with a comma"},
				"User-Agent":      {"client/1.0 (one, two)"},
				"Accept-Encoding": {"gzip", "deflate"},
				"X-Many":          {"first", "second", "third"},
			},
		}},
		{"post-json.json", seen{
			Method: "POST", Path: "/api/admin/projects/default", Body: `{"name":"é","description":"a \"quoted\" text"}`,
			Header: map[string][]string{"Content-Type": {"application/json"}},
		}},
		{"post-base64.json", seen{
			Method: "POST", Path: "/api/admin/projects/default", Body: "{\"name\":\"\xff\xfe\"}",
			Header: map[string][]string{"Content-Type": {"application/octet-stream"}},
		}},
		{"cookies.json", seen{
			Method: "GET", Path: "/api/admin/projects/default", Query: "archived=true&tag=simple%3Aa%26b&tag=%C3%A9",
			Header: map[string][]string{"Cookie": {"a=1", "b=2"}},
		}},
		{"cookies-sam-local.json", seen{
			Method: "GET", Path: "/api/admin/projects/default", Query: "archived=true&tag=simple%3Aa%26b&tag=%C3%A9",
			Header: map[string][]string{"Cookie": {"a=1", "b=2"}},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			var got seen
			invoke(t, record(&got, tt.want.Header), event(t, tt.file))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPath sends decoded paths, as API Gateway does.
func TestPath(t *testing.T) {
	tests := []struct{ raw, want string }{
		{"/", "/"},
		{"/api/admin/projects", "/api/admin/projects"},
		{"/api/100%", "/api/100%25"},
		{"/api/a%2Fb", "/api/a%252Fb"},
		{"/api/what?x=1", "/api/what%3Fx=1"},
		{"/api/a#b", "/api/a%23b"},
		{"/api/../health", "/api/../health"},
		{"/api/./x", "/api/./x"},
		{"/api//x/", "/api//x/"},
		{"//host/x", "//host/x"},
		{"/api/a b", "/api/a%20b"},
		{"/api/é", "/api/%C3%A9"},
		{"/api/\x00", "/api/%00"},
		{"/api/a\nb", "/api/a%0Ab"},
		{"/api/a;b,c", "/api/a%3Bb%2Cc"},
		{"/api/a:b@c&d=e+f$g", "/api/a:b@c&d=e+f$g"},
		{"/api/admin/features/f/tags/simple/ab", "/api/admin/features/f/tags/simple/ab"},
		{"/api/admin/features/f/tags/simple/a/b//c/", "/api/admin/features/f/tags/simple/a%2Fb%2F%2Fc%2F"},
		{"/api/admin/features/f/tags/simple/..", "/api/admin/features/f/tags/simple/%2E%2E"},
		{"/api/admin/features/f/tags/simple/../..", "/api/admin/features/f/tags/simple/..%2F.."},
		{"/api/admin/features/f g/tags/sim%ple/100% é/?#", "/api/admin/features/f%20g/tags/sim%25ple/100%25%20%C3%A9%2F%3F%23"},
		{"/api/admin/features/f/tags/simple/", "/api/admin/features/f/tags/simple/"},
		{"/api/admin/features/f/nosuch/simple/a/b", "/api/admin/features/f/nosuch/simple/a/b"},
		{`/api/"<>[]{}|\^` + "`", "/api/%22%3C%3E%5B%5D%7B%7D%7C%5C%5E%60"},
	}
	for _, tt := range tests {
		t.Run(tt.raw, func(t *testing.T) {
			e := event(t, "get.json")
			e.RawPath, e.RawQueryString, e.QueryStringParameters = tt.raw, "", nil
			e.RequestContext.HTTP.Path = tt.raw
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if got := r.URL.EscapedPath(); got != tt.want {
					t.Errorf("escaped path is %q, want %q", got, tt.want)
				}
				if got := r.URL.Path; got != tt.raw {
					t.Errorf("path is %q, want %q", got, tt.raw)
				}
				if got := r.URL.RawQuery; got != "" {
					t.Errorf("query is %q, want none", got)
				}
				w.WriteHeader(http.StatusNoContent)
			})
			if got := invoke(t, h, e).StatusCode; got != http.StatusNoContent {
				t.Errorf("status is %d: the handler was not reached", got)
			}
		})
	}
}

// TestPathOfFunctionURL sends paths as a function URL does: as the caller has escaped them. The event has the form of the Lambda
// developer guide; none was recorded on AWS.
func TestPathOfFunctionURL(t *testing.T) {
	for _, tt := range []struct{ raw, path, escaped string }{
		{"/api/client/features/a%20b", "/api/client/features/a b", "/api/client/features/a%20b"},
		{"/api/client/features", "/api/client/features", "/api/client/features"},
		{"/api/a%252Fb", "/api/a%2Fb", "/api/a%252Fb"},
		{"/api/a%2Fb", "/api/a/b", "/api/a%2Fb"},
		{"/api/%C3%A9", "/api/é", "/api/%C3%A9"},
		{"/api/100%", "/api/100%", "/api/100%25"}, // invalid: taken as it is
		{"/api/a?b", "/api/a?b", "/api/a%3Fb"},
		{"/api/a#b", "/api/a#b", "/api/a%23b"},
		{"//host/x", "//host/x", "//host/x"},
	} {
		e := event(t, "function-url.json")
		e.RawPath, e.RequestContext.HTTP.Path = tt.raw, tt.raw
		reached := false
		invoke(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			reached = true
			if r.URL.Path != tt.path || r.URL.EscapedPath() != tt.escaped || r.URL.RawQuery != e.RawQueryString || r.RemoteAddr != "203.0.113.7" {
				t.Errorf("%s: path %q, escaped %q, query %q, caller %q; want %q, %q", tt.raw, r.URL.Path, r.URL.EscapedPath(), r.URL.RawQuery, r.RemoteAddr, tt.path, tt.escaped)
			}
			w.WriteHeader(http.StatusNoContent)
		}), e)
		if !reached {
			t.Errorf("%s: the handler was not reached", tt.raw)
		}
	}
}

func TestIncompleteEvents(t *testing.T) {
	tests := []struct {
		name   string
		change func(*events.APIGatewayV2HTTPRequest)
		want   string // path and query of the request
	}{
		{"no raw path", func(e *events.APIGatewayV2HTTPRequest) { e.RawPath = "" }, "/api/admin/projects/default?a=b"},
		{"no path at all", func(e *events.APIGatewayV2HTTPRequest) { e.RawPath, e.RequestContext.HTTP.Path = "", "" }, "/?a=b"},
		{"no domain", func(e *events.APIGatewayV2HTTPRequest) { e.RequestContext.DomainName = "" }, "/api/admin/projects/default?a=b"},
		{"hash and control characters in the query",
			func(e *events.APIGatewayV2HTTPRequest) { e.RawQueryString = "a=#\x00 \xff&b=%41" },
			"/api/admin/projects/default?a=%23%00%20%FF&b=%41"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := event(t, "get.json")
			e.RawQueryString = "a=b"
			tt.change(&e)
			var got seen
			invoke(t, record(&got, nil), e)
			if got := got.Path + "?" + got.Query; got != tt.want {
				t.Errorf("request for %q, want %q", got, tt.want)
			}
		})
	}
}

func TestResponse(t *testing.T) {
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header()["X-Many"] = []string{"a", "b"}
		w.Header()["Set-Cookie"] = []string{"a=1", "b=2"}
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"name":"é"}`)
	})
	want := events.APIGatewayV2HTTPResponse{
		StatusCode: http.StatusCreated, Body: `{"name":"é"}`, Cookies: []string{"a=1", "b=2"},
		Headers: map[string]string{"Content-Type": "application/json", "X-Many": "a,b"},
	}
	if diff := cmp.Diff(want, invoke(t, h, event(t, "get.json"))); diff != "" {
		t.Errorf("response (-want +got):\n%s", diff)
	}
}

func TestBinaryResponse(t *testing.T) {
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte{0x1f, 0x8b, 0xff}) })
	got := invoke(t, h, event(t, "get.json"))
	if !got.IsBase64Encoded || got.Body != "H4v/" {
		t.Errorf("body is %q, base64 %t; want H4v/ as base64", got.Body, got.IsBase64Encoded)
	}
}

// TestNoResponse has events without a response, for which the adapter would send a 504.
func TestNoResponse(t *testing.T) {
	tests := []struct {
		name, file string
		h          http.HandlerFunc
	}{
		{"a body that is not base64", "post-broken-base64.json", func(w http.ResponseWriter, r *http.Request) {
			t.Error("the handler was reached")
		}},
		{"a handler that writes nothing", "get.json", func(http.ResponseWriter, *http.Request) {}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := invoke(t, tt.h, event(t, tt.file))
			var body struct{ ID, Name, Message string }
			if err := json.Unmarshal([]byte(got.Body), &body); err != nil {
				t.Fatalf("body %q: %v", got.Body, err)
			}
			if got.StatusCode != http.StatusInternalServerError || body.Name != "InternalError" || body.ID == "" || body.Message == "" {
				t.Errorf("response is %d %s, want a 500 with a JSON error", got.StatusCode, got.Body)
			}
		})
	}
}

func TestDeadlineReachesHandler(t *testing.T) {
	want := time.Now().Add(7 * time.Second)
	ctx, cancel := context.WithDeadline(t.Context(), want)
	defer cancel()
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got, ok := r.Context().Deadline(); !ok || !got.Equal(want) {
			t.Errorf("deadline is %v, want %v", got, want)
		}
		w.WriteHeader(http.StatusNoContent)
	})
	if _, err := lambdahttp.Handler(h)(ctx, event(t, "get.json")); err != nil {
		t.Fatal(err)
	}
}

// record returns a handler that stores the request, with the wanted headers.
func record(got *seen, wanted map[string][]string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(err)
		}
		*got = seen{Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.RawQuery, Body: string(body)}
		for name := range wanted {
			if got.Header == nil {
				got.Header = map[string][]string{}
			}
			got.Header[name] = r.Header[name]
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

func invoke(t *testing.T, h http.Handler, e events.APIGatewayV2HTTPRequest) events.APIGatewayV2HTTPResponse {
	t.Helper()
	response, err := lambdahttp.Handler(h)(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	if response.Cookies != nil && len(response.Cookies) == 0 {
		response.Cookies = nil // the same to API Gateway
	}
	return response
}

func event(t *testing.T, file string) (e events.APIGatewayV2HTTPRequest) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return e
}
