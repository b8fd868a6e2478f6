package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/google/go-cmp/cmp"
)

// capture is a gateway whose only function keeps the event and answers 204.
func capture(t *testing.T, keys ...string) (url string, got *events.APIGatewayV2HTTPRequest) {
	t.Helper()
	got = &events.APIGatewayV2HTTPRequest{}
	return serve(t, func(_ context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		*got = e
		return events.APIGatewayV2HTTPResponse{StatusCode: http.StatusNoContent}, nil
	}, keys...), got
}

type eventHandler = func(context.Context, events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error)

func serve(t *testing.T, h eventHandler, keys ...string) string {
	t.Helper()
	url, _ := serveGateway(t, maxBody, h, keys...)
	return url
}

// serveGateway serves a gateway whose only function takes bodies of maxBody bytes.
func serveGateway(t *testing.T, maxBody int, h eventHandler, keys ...string) (url string, g *gateway) {
	t.Helper()
	g = newGateway()
	g.routes = testRouter(t, &function{handle: h, timeout: 7 * time.Second, maxBody: maxBody}, keys...)
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	return server.URL, g
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

func TestEvent(t *testing.T) {
	url, got := capture(t, "ANY /api/admin/features/{a}/tags/{rest+}")
	send(t, url, "POST /api/admin/features/caf%C3%A9/tags/simple/a%2Fb//c?q=1&q=%26&r HTTP/1.1\r\n"+
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
	const key, path = "ANY /api/admin/features/{a}/tags/{rest+}", "/api/admin/features/café/tags/simple/a/b//c"
	want := events.APIGatewayV2HTTPRequest{
		Version: "2.0", RouteKey: key, RawPath: path, RawQueryString: "q=1&q=%26&r",
		Cookies: []string{"a=1", "b=2", "c=3"},
		Headers: map[string]string{
			"authorization": "secret", "content-length": "14", "content-type": "application/json; charset=utf-8",
			"host": "flags.example:8080", "user-agent": "client/1.0", "x-many": "one,two, three",
			"x-forwarded-for": "203.0.113.7, 127.0.0.1", "x-forwarded-port": "8080", "x-forwarded-proto": "http",
		},
		QueryStringParameters: map[string]string{"q": "1,&", "r": ""},
		PathParameters:        map[string]string{"a": "café", "rest": "simple/a/b//c"},
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
			do(t, req)
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

func TestBodyLimits(t *testing.T) {
	url, got := capture(t, "$default")
	tests := []struct {
		name string
		body []byte
		want int
	}{
		{"what Lambda takes", bytes.Repeat([]byte("a"), 5<<20), http.StatusNoContent},
		{"too much for Lambda", bytes.Repeat([]byte("a"), 7<<20), http.StatusRequestEntityTooLarge},
		{"too much for Lambda once it is JSON", bytes.Repeat([]byte("\x01"), 2<<20), http.StatusRequestEntityTooLarge},
		{"too much for API Gateway", make([]byte, 11<<20), http.StatusRequestEntityTooLarge},
	}
	for _, tt := range tests {
		for _, length := range []string{"known", "unknown"} {
			t.Run(tt.name+", length "+length, func(t *testing.T) {
				*got = events.APIGatewayV2HTTPRequest{}
				var body io.Reader = bytes.NewReader(tt.body)
				if length == "unknown" {
					body = io.MultiReader(body)
				}
				req, err := http.NewRequest(http.MethodPost, url, body)
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("Content-Type", "application/json")
				// As curl does for large bodies: else the answer may come while the client still writes.
				req.Header.Set("Expect", "100-continue")
				response, answer := do(t, req)
				if response.StatusCode != tt.want {
					t.Errorf("status is %d, want %d", response.StatusCode, tt.want)
				}
				if tt.want == http.StatusNoContent {
					return
				}
				var failure struct{ ID, Name, Message string }
				if err := json.Unmarshal([]byte(answer), &failure); err != nil || failure.Name != "PayloadTooLargeError" || failure.ID == "" {
					t.Errorf("answer is %q (%v), want the JSON error", answer, err)
				}
				if got.Version != "" {
					t.Error("the function was called")
				}
			})
		}
	}
}

func TestResponse(t *testing.T) {
	url := serve(t, func(context.Context, events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		return events.APIGatewayV2HTTPResponse{
			StatusCode: http.StatusAccepted, Body: "H4v/", IsBase64Encoded: true, Cookies: []string{"a=1", "b=2"},
			Headers:           map[string]string{"Content-Type": "application/octet-stream", "X-One": "1"},
			MultiValueHeaders: map[string][]string{"X-Many": {"a", "b"}},
		}, nil
	}, "$default")
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, body := do(t, req)
	if response.StatusCode != http.StatusAccepted || body != "\x1f\x8b\xff" || response.ContentLength != 3 {
		t.Errorf("answer is %d %q of %d bytes", response.StatusCode, body, response.ContentLength)
	}
	want := map[string][]string{"X-One": {"1"}, "X-Many": {"a", "b"}, "Set-Cookie": {"a=1", "b=2"}, "Content-Type": {"application/octet-stream"}}
	for name, values := range want {
		if diff := cmp.Diff(values, response.Header[name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestInvocationContext checks that a function has the timeout of the template and a request id, and continues when its
// caller disconnects: a change in progress must complete, as on Lambda.
func TestInvocationContext(t *testing.T) {
	entered, left := make(chan struct{}), make(chan error, 1)
	url := serve(t, func(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) > 7*time.Second || time.Until(deadline) < 5*time.Second {
			t.Errorf("deadline is %v, want it in 7 s", deadline)
		}
		if lc, ok := lambdacontext.FromContext(ctx); !ok || lc.AwsRequestID != e.RequestContext.RequestID {
			t.Errorf("Lambda context is %+v", lc)
		}
		close(entered)
		time.Sleep(100 * time.Millisecond)
		left <- ctx.Err()
		return events.APIGatewayV2HTTPResponse{StatusCode: http.StatusOK}, nil
	}, "$default")
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
		t.Errorf("the function's context ended with its caller: %v", err)
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
