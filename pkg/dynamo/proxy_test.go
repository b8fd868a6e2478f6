package dynamo_test

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

// A proxy stands between a store and the engine. It spoils the first responses, after the engine has applied the request.
type proxy struct {
	engine string
	spoil  func(w http.ResponseWriter, body []byte)
	left   atomic.Int64 // responses to spoil
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request, err := http.NewRequestWithContext(r.Context(), r.Method, p.engine+"/", r.Body)
	if err != nil {
		panic(err) // ends the connection
	}
	request.Header = r.Header
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if p.left.Add(-1) >= 0 {
		p.spoil(w, body)
		return
	}
	w.WriteHeader(response.StatusCode)
	_, _ = w.Write(body)
}

// answer is a response with a status and a body.
func answer(status int, body string) func(http.ResponseWriter, []byte) {
	return func(w http.ResponseWriter, _ []byte) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// raw writes bytes to the connection, and closes it; with reset, so that the other side gets an error.
func raw(w http.ResponseWriter, reset bool, format string, args ...any) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	_, _ = fmt.Fprintf(connection, format, args...)
	if tcp, is := connection.(*net.TCPConn); is && reset {
		_ = tcp.SetLinger(0)
	}
	_ = connection.Close()
}

// TestSpoiledResponses reads and writes while a proxy spoils responses on their way. Each request is sent again until a response
// is whole: nothing is missing in a list, and a change is made once.
func TestSpoiledResponses(t *testing.T) {
	const conflict = `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","CancellationReasons":[{"Code":null},{}]}`
	for name, spoil := range map[string]func(http.ResponseWriter, []byte){
		"reset":         func(w http.ResponseWriter, _ []byte) { raw(w, true, "") },
		"closed":        func(w http.ResponseWriter, _ []byte) { raw(w, false, "") },
		"half a header": func(w http.ResponseWriter, _ []byte) { raw(w, false, "HTTP/1.1 200 OK\r\nContent-Le") },
		"not HTTP":      func(w http.ResponseWriter, _ []byte) { raw(w, false, "SSH-2.0-OpenSSH_9.6\r\n") },
		"long header": func(w http.ResponseWriter, _ []byte) {
			raw(w, false, "HTTP/1.1 200 OK\r\nA: %s", strings.Repeat("a", 1<<20))
		},
		"half": func(w http.ResponseWriter, body []byte) {
			raw(w, false, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body[:len(body)/2])
		},
		"half, and reset": func(w http.ResponseWriter, body []byte) {
			raw(w, true, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body[:len(body)/2])
		},
		"length too small": func(w http.ResponseWriter, body []byte) {
			raw(w, false, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body)-1, body[:len(body)-1])
		},
		"length too large": func(w http.ResponseWriter, body []byte) {
			raw(w, false, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body)+1, body)
		},
		"huge length": func(w http.ResponseWriter, body []byte) {
			raw(w, false, "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n%s", body)
		},
		"half a chunk": func(w http.ResponseWriter, body []byte) {
			raw(w, false, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s", len(body), body[:len(body)/2])
		},
		"no last chunk": func(w http.ResponseWriter, body []byte) {
			raw(w, false, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(body), body)
		},
		"checksum that is no number": func(w http.ResponseWriter, body []byte) {
			w.Header().Set("X-Amz-Crc32", "one")
			_, _ = w.Write(body)
		},
		"compressed": func(w http.ResponseWriter, body []byte) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write(body)
			_ = z.Close()
		},
		"deep":           answer(200, strings.Repeat(`{"Items":`, 100_000)),
		"deep in a list": answer(200, `{"Items":[],"Responses":{},"x":`+strings.Repeat("[", 1_000_000)),
		"empty":          answer(200, ""),
		"null":           answer(200, "null"),
		"list":           answer(200, "[]"),
		"text":           answer(200, `"{}"`),
		"HTML":           answer(200, "<html>Sign in to this network</html>"),
		"one brace":      answer(200, "{"),
		"no content":     answer(204, ""),
		"redirect": func(w http.ResponseWriter, _ []byte) {
			http.Redirect(w, httptest.NewRequest(http.MethodPost, "/", nil), "/", http.StatusTemporaryRedirect)
		},
		"bad gateway":    answer(502, "<html>Bad gateway</html>"),
		"unavailable":    answer(503, ""),
		"error of types": answer(400, `{"__type":7}`),
		"throttled":      answer(400, `{"__type":"ThrottlingException"}`),
		"throttled, in a header": func(w http.ResponseWriter, _ []byte) {
			w.Header().Set("X-Amzn-Errortype", "RequestLimitExceeded:http://example.com/")
			w.WriteHeader(http.StatusBadRequest)
		},
		"canceled without a reason": answer(400, conflict),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &proxy{engine: dynamotest.Engine().URL(), spoil: spoil}
			server := httptest.NewServer(p)
			defer server.Close()
			table := newTable()
			plain := dynamotest.OpenOn(t, dynamotest.Engine(), table, nil)
			store, err := dynamo.Open(t.Context(), dynamo.Options{Table: table, Endpoint: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			for i := range 2 {
				p.left.Store(1)
				if err := store.Commit(ctx, newChange(flags.Write{After: newFlag(fmt.Sprintf("f%d", i))})); err != nil {
					t.Fatalf("create: %v", reason(err))
				}
			}
			before := find(t, plain, "f1")
			p.left.Store(1)
			if err := store.Commit(ctx, newChange(write(before, func(f *flags.Feature) { f.Stale = true }))); err != nil {
				t.Fatalf("change: %v", reason(err))
			}
			p.left.Store(1)
			if view, err := store.Load(ctx, []flags.Key{flags.FeatureKey("f0"), flags.FeatureKey("f1")}); err != nil || len(view) != 2 {
				t.Errorf("load: %d flags, %v; want 2", len(view), reason(err))
			}
			p.left.Store(1)
			if rows, err := store.Summaries(ctx, before.ProjectUID, false); err != nil || len(rows) != 2 {
				t.Errorf("list: %d flags, %v; want 2", len(rows), reason(err))
			}
			if f := find(t, plain, "f1"); !f.Stale || f.Version != before.Version+1 {
				t.Errorf("the flag is stale: %t, at version %d; want one change of version %d", f.Stale, f.Version, before.Version)
			}
			if p.left.Load() >= 0 {
				t.Error("no response was spoiled")
			}
			if events, err := plain.Events(ctx, before); err != nil || len(events) != 2 {
				t.Errorf("%d events, %v; want one for each change", len(events), err)
			}
		})
	}
}
