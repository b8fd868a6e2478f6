package gateway

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"guidon/pkg/lambdahttp"
)

// capture serves routes of one function, keeps the event of each request and responds with 204.
func capture(t *testing.T, keys ...string) (url string, got *events.APIGatewayV2HTTPRequest) {
	t.Helper()
	got = &events.APIGatewayV2HTTPRequest{}
	return serve(t, func(r *http.Request, body []byte, route *Route) (err error) {
		*got, err = NewEvent(r, body, route)
		return err
	}, keys...), got
}

func serve(t *testing.T, handle func(r *http.Request, body []byte, route *Route) error, keys ...string) (url string) {
	t.Helper()
	router, err := NewRouter(&Template{Functions: []Function{{Routes: keys}}}, func(w http.ResponseWriter, r *http.Request, route *Route) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = handle(r, body, route)
		}
		if err != nil {
			t.Error(err)
		}
		w.WriteHeader(http.StatusNoContent)
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(router)
	t.Cleanup(server.Close)
	return server.URL
}

// send writes a request byte for byte, because HTTP clients would normalize it, and waits for the response.
func send(t *testing.T, url, request string) {
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
	response.Body.Close()
}

func TestEvent(t *testing.T) {
	url, got := capture(t, "ANY /api/admin/features/{a}/tags/{rest+}")
	send(t, url, "POST /api/admin/features/caf%C3%A9/tags/simple/a%2Fb/c?q=1&q=%26&r HTTP/1.1\r\n"+
		"Host: flags.example:8080\r\nUser-Agent: client/1.0\r\nContent-Type: application/json; charset=utf-8\r\n"+
		"X-Many: one\r\nx-many: two, three\r\nCookie: a=1; b=2\r\nCookie: c=3\r\nX-Forwarded-For: 203.0.113.7\r\n"+
		"Authorization: secret\r\nConnection: close\r\nContent-Length: 14\r\n\r\n"+`{"name":"é"}`+"\n")

	if _, err := time.Parse("02/Jan/2006:15:04:05 +0000", got.RequestContext.Time); err != nil {
		t.Error(err)
	}
	if age := time.Since(time.UnixMilli(got.RequestContext.TimeEpoch)); age < 0 || age > time.Minute {
		t.Errorf("timeEpoch is %s ago", age)
	}
	if got.RequestContext.RequestID == "" {
		t.Error("no request id")
	}
	got.RequestContext.Time, got.RequestContext.TimeEpoch, got.RequestContext.RequestID = "", 0, ""
	const key, path = "ANY /api/admin/features/{a}/tags/{rest+}", "/api/admin/features/café/tags/simple/a/b/c"
	want := events.APIGatewayV2HTTPRequest{
		Version: "2.0", RouteKey: key, RawPath: path, RawQueryString: "q=1&q=%26&r",
		Cookies: []string{"a=1", "b=2", "c=3"},
		Headers: map[string]string{
			"authorization": "secret", "content-length": "14", "content-type": "application/json; charset=utf-8",
			"host": "flags.example:8080", "user-agent": "client/1.0", "x-many": "one,two, three",
			"x-forwarded-for": "203.0.113.7, 127.0.0.1", "x-forwarded-port": "8080", "x-forwarded-proto": "http",
		},
		QueryStringParameters: map[string]string{"q": "1,&", "r": ""},
		PathParameters:        map[string]string{"a": "café", "rest": "simple/a/b/c"},
		RequestContext: events.APIGatewayV2HTTPRequestContext{
			RouteKey: key, AccountID: "000000000000", Stage: "$default", APIID: "local",
			DomainName: "flags.example:8080", DomainPrefix: "local",
			HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{
				Method: "POST", Path: path, Protocol: "HTTP/1.1", SourceIP: "127.0.0.1", UserAgent: "client/1.0",
			},
		},
		Body: `{"name":"é"}` + "\n",
	}
	if diff := cmp.Diff(want, *got); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}

// TestRawPath checks that a path arrives decoded, as measured on API Gateway, and otherwise unchanged.
func TestRawPath(t *testing.T) {
	url, got := capture(t, "$default")
	for target, want := range map[string]string{
		"/a%2Fb": "/a/b", "/100%25": "/100%", "/a%20b": "/a b", "/what%3Fx": "/what?x", "/a%23b": "/a#b", "/a%00b": "/a\x00b",
		"/a//b/": "/a//b/", "/a/../b": "/a/../b", "/a/./b": "/a/./b", "/%252F": "/%2F", "/%ff": "/\uFFFD", "/+": "/+",
		"//a": "//a", "/": "/", "/a;b": "/a;b",
	} {
		send(t, url, "GET "+target+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		if got.RawPath != want || got.RequestContext.HTTP.Path != want {
			t.Errorf("%s: rawPath is %q, and %q in the context, want %q", target, got.RawPath, got.RequestContext.HTTP.Path, want)
		}
		if got.RawQueryString != "" || got.RouteKey != "$default" || got.PathParameters != nil {
			t.Errorf("%s: event is %+v", target, *got)
		}
	}
}

func TestBodyEncoding(t *testing.T) {
	url, got := capture(t, "$default")
	const invalid = "{\"name\":\"\xff\"}"
	tests := []struct {
		name, contentType, encoding, body string
		base64                            bool
	}{
		{"JSON", "application/json", "", `{"a":"é"}`, false},
		{"JSON with a charset", "Application/JSON; charset=utf-8", "", `{}`, false},
		{"text", "text/csv", "", "a,b", false},
		{"XML", "application/xml", "", "<a/>", false},
		{"a form", "application/x-www-form-urlencoded", "", "a=b", true},
		{"no type", "", "", "{}", true},
		{"a broken type", ";;", "", "{}", true},
		{"bytes", "application/octet-stream", "", "\x00\xff", true},
		{"compressed JSON", "application/json", "gzip", "{}", true},
		{"JSON that is not UTF-8", "application/json", "", invalid, true},
		{"empty", "application/octet-stream", "", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req, err := http.NewRequest(http.MethodPut, url, strings.NewReader(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			if tt.contentType != "" {
				req.Header.Set("Content-Type", tt.contentType)
			}
			if tt.encoding != "" {
				req.Header.Set("Content-Encoding", tt.encoding)
			}
			response, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			body := got.Body
			if got.IsBase64Encoded {
				decoded, err := base64.StdEncoding.DecodeString(body)
				if err != nil {
					t.Fatal(err)
				}
				body = string(decoded)
			}
			if got.IsBase64Encoded != tt.base64 || body != tt.body {
				t.Errorf("body is %q, base64 %t; want %q, %t", got.Body, got.IsBase64Encoded, tt.body, tt.base64)
			}
		})
	}
}

func TestEventSize(t *testing.T) {
	for name, body := range map[string][]byte{"text": bytes.Repeat([]byte("a"), 7<<20), "text that is longer as JSON": bytes.Repeat([]byte("\x01"), 2<<20)} {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.Header.Set("Content-Type", "application/json")
		if _, err := NewURLEvent(r, body); !errors.Is(err, errTooLarge) {
			t.Errorf("%s: %v, want %v", name, err, errTooLarge)
		}
	}
}

// TestURLEvent checks that a handler behind a function URL gets the request that the caller sent.
func TestURLEvent(t *testing.T) {
	var event events.APIGatewayV2HTTPRequest
	url := serve(t, func(r *http.Request, body []byte, _ *Route) (err error) {
		event, err = NewURLEvent(r, body)
		return err
	}, "$default")
	send(t, url, "POST /api/client/features/a%20b%252Fc?tag=simple%3Aa%26b HTTP/1.1\r\nHost: flags.example\r\nConnection: close\r\nCookie: a=1; b=2\r\n"+
		"Authorization: secret\r\nContent-Type: application/octet-stream\r\nContent-Length: 3\r\n\r\n\x1f\x8b\xff")
	if want := "/api/client/features/a%20b%252Fc"; event.RawPath != want || event.RequestContext.HTTP.Path != want || event.RouteKey != fallback || event.PathParameters != nil {
		t.Errorf("the event is %+v, want the path %s", event, want)
	}
	if diff := cmp.Diff([]string{"a=1", "b=2"}, event.Cookies); diff != "" || !event.IsBase64Encoded || event.Headers["cookie"] != "" || event.Headers["x-forwarded-proto"] != "https" {
		t.Errorf("cookies (-want +got):\n%s\nbase64 %t, headers %v", diff, event.IsBase64Encoded, event.Headers)
	}
	_, err := lambdahttp.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path != "/api/client/features/a b%2Fc" || r.URL.RawQuery != "tag=simple%3Aa%26b" || string(body) != "\x1f\x8b\xff" || r.RemoteAddr != "127.0.0.1" {
			t.Errorf("the handler gets %s from %s with %q", r.URL, r.RemoteAddr, body)
		}
		if cookie, err := r.Cookie("b"); err != nil || cookie.Value != "2" || r.Header.Get("Authorization") != "secret" {
			t.Errorf("the handler gets the headers %v", r.Header)
		}
		w.WriteHeader(http.StatusNoContent)
	}))(t.Context(), event)
	if err != nil {
		t.Error(err)
	}
}
