package httpapi

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"guidon/pkg/flags"
	"guidon/pkg/lambdahttp"
)

func gzipped(texts ...string) string {
	var out bytes.Buffer
	for _, text := range texts {
		w := gzip.NewWriter(&out)
		_, _ = w.Write([]byte(text))
		_ = w.Close()
	}
	return out.String()
}

// TestReadBody sends bodies in the forms of clients and proxies, over HTTP and as events of API Gateway.
func TestReadBody(t *testing.T) {
	const maximum = 2 << 10
	small, large := `{"a":1}`, strings.Repeat(" ", maximum-1)+"1"
	type header = map[string][]string
	const json = "application/json"
	for _, tt := range []struct {
		name    string
		header  header
		body    string
		want    string
		kind    flags.Kind // of the error; Internal for none
		message string
	}{
		{"plain", header{"Content-Type": {json}}, small, small, 0, ""},
		{"none", header{}, "", "", 0, ""},
		{"of another type without a body", header{"Content-Type": {"text/plain"}, "Content-Encoding": {"br"}}, "", "", 0, ""},
		{"as large as allowed", header{"Content-Type": {json}}, large, large, 0, ""},
		{"too large", header{"Content-Type": {json}}, large + " ", "", flags.TooLarge, "the body is larger than 2 KiB"},
		{"a byte order mark", header{"Content-Type": {json}}, "\ufeff" + small, small, 0, ""},
		{"two marks", header{"Content-Type": {json}}, "\ufeff\ufeff" + small, "\ufeff" + small, 0, ""},
		{"two equal types", header{"Content-Type": {json, json}}, small, small, 0, ""},
		{"joined types", header{"Content-Type": {json + ", " + json}}, small, small, 0, ""},
		{"joined types with a charset", header{"Content-Type": {json + "; charset=utf-8," + json}}, small, small, 0, ""},
		{"another type first", header{"Content-Type": {"text/plain, " + json}}, small, "", flags.UnsupportedMediaType, "must be application/json, not text/plain"},
		{"no type", header{}, small, "", flags.UnsupportedMediaType, "must be application/json, not none"},
		{"gzip", header{"Content-Type": {json}, "Content-Encoding": {"gzip"}}, gzipped(small), small, 0, ""},
		{"x-gzip", header{"Content-Type": {json}, "Content-Encoding": {"X-GZIP"}}, gzipped(small), small, 0, ""},
		{"gzip and a mark", header{"Content-Type": {json}, "Content-Encoding": {"gzip"}}, gzipped("\ufeff", small), small, 0, ""},
		{"gzip as large as allowed", header{"Content-Type": {json}, "Content-Encoding": {"gzip"}}, gzipped(large), large, 0, ""},
		{"gzip too large", header{"Content-Type": {json}, "Content-Encoding": {"gzip"}}, gzipped(large, " "), "", flags.TooLarge, "the decompressed body is larger than 2 KiB"},
		{"a gzip bomb", header{"Content-Type": {json}, "Content-Encoding": {"gzip"}}, gzipped(strings.Repeat(" ", 1<<20)), "", flags.TooLarge, "the decompressed body is larger than 2 KiB"},
		{"not gzip", header{"Content-Type": {json}, "Content-Encoding": {"gzip"}}, small, "", flags.Invalid, "not valid gzip data"},
		{"gzip cut off", header{"Content-Type": {json}, "Content-Encoding": {"gzip"}}, gzipped(small)[:20], "", flags.Invalid, "not valid gzip data"},
		{"gzip without the header", header{"Content-Type": {json}}, gzipped(small), gzipped(small), 0, ""},
		{"identity", header{"Content-Type": {json}, "Content-Encoding": {"identity"}}, small, small, 0, ""},
		{"deflate", header{"Content-Type": {json}, "Content-Encoding": {"deflate"}}, small, "", flags.UnsupportedMediaType, "must be gzip or none, not deflate"},
		{"br", header{"Content-Type": {json}, "Content-Encoding": {"br"}}, small, "", flags.UnsupportedMediaType, "must be gzip or none, not br"},
		{"gzip twice", header{"Content-Type": {json}, "Content-Encoding": {"gzip, gzip"}}, gzipped(gzipped(small)), "", flags.UnsupportedMediaType, "not gzip, gzip"},
	} {
		check := func(t *testing.T, r *http.Request) {
			t.Helper()
			got, err := ReadBody(r, maximum)
			if err == nil && (tt.message != "" || string(got) != tt.want) {
				t.Errorf("%q, want %q %s", got, tt.want, tt.message)
			}
			if err != nil && (tt.message == "" || flags.KindOf(err) != tt.kind || !strings.Contains(err.Error(), tt.message)) {
				t.Errorf("%v, want %q", err, tt.message)
			}
		}
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(tt.body))
			r.Header = tt.header
			check(t, r)
		})
		t.Run(tt.name+", as an event", func(t *testing.T) {
			event := events.APIGatewayV2HTTPRequest{Version: "2.0", RawPath: "/", Headers: map[string]string{}, Body: base64.StdEncoding.EncodeToString([]byte(tt.body)), IsBase64Encoded: true}
			event.RequestContext.HTTP.Method = http.MethodPost
			for name, values := range tt.header {
				event.Headers[strings.ToLower(name)] = strings.Join(values, ",") // as API Gateway joins them
			}
			called := false
			handler := lambdahttp.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				called = true
				check(t, r)
				w.WriteHeader(http.StatusNoContent)
			}))
			if _, err := handler(context.Background(), event); err != nil || !called {
				t.Errorf("called: %t, %v", called, err)
			}
		})
	}
}
