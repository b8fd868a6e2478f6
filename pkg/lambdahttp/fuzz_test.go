package lambdahttp_test

import (
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"

	"guidon/pkg/lambdahttp"
)

// FuzzEvent checks that a handler gets the path, query, header and body of any event unchanged, and that its response is returned. A function
// URL may send the same event: there it decodes a path that is escaped.
func FuzzEvent(f *testing.F) {
	f.Fuzz(func(t *testing.T, path, query, header string, body []byte, encoded bool) {
		if !strings.HasPrefix(path, "/") || !utf8.ValidString(path) || !encoded && !utf8.Valid(body) {
			return // not possible in an event: it is JSON, and its path begins with a slash
		}
		event := events.APIGatewayV2HTTPRequest{RawPath: path, RawQueryString: query, Headers: map[string]string{"authorization": header, "x-other": header}}
		event.RequestContext.HTTP.Method, event.RequestContext.HTTP.Path, event.RequestContext.DomainName = "POST", path, "flags.example"
		atURL := event
		atURL.RequestContext.APIID, atURL.RequestContext.DomainName = "abc", "abc.lambda-url.eu-central-1.on.aws"
		none := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
		if response, err := lambdahttp.Handler(none)(t.Context(), atURL); err != nil || response.StatusCode != http.StatusTeapot {
			t.Errorf("%q, %q at a function URL: answer %d, %v", path, query, response.StatusCode, err)
		}
		if event.Body, event.IsBase64Encoded = string(body), encoded; encoded {
			event.Body = base64.StdEncoding.EncodeToString(body)
		}
		reached := false
		response, err := lambdahttp.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			reached = true
			sent, err := io.ReadAll(r.Body)
			if r.URL.Path != path || err != nil || string(sent) != string(body) || r.Header.Get("Authorization") != header || r.Host != "flags.example" {
				t.Errorf("the handler sees %q of %q with %q and %q, %v; want %q, %q and %q", r.URL.Path, r.Host, r.Header.Get("Authorization"), sent, err, path, header, body)
			}
			if r.URL.Fragment != "" || query == "" && r.URL.RawQuery != "" {
				t.Errorf("the path %q became a query %q, a fragment %q", path, r.URL.RawQuery, r.URL.Fragment)
			}
			w.WriteHeader(http.StatusTeapot)
			_, _ = w.Write(sent)
		}))(t.Context(), event)
		if err != nil || !reached || response.StatusCode != http.StatusTeapot {
			t.Errorf("%q, %q: answer %d, %v; the handler was reached: %t", path, query, response.StatusCode, err, reached)
		}
	})
}
