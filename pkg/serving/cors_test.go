package serving

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guidon/pkg/httpapi"
)

// TestFrontendCORS sends requests as browsers do.
func TestFrontendCORS(t *testing.T) {
	f := newFixture()
	all, listed := f.handler(httpapi.Config{}), f.handler(httpapi.Config{FrontendOrigins: []string{"https://app.example"}, Origins: []string{"https://console.example"}})
	preflight := func(origin, headers string) []string {
		return []string{"Origin: " + origin, "Access-Control-Request-Method: GET", "Access-Control-Request-Headers: " + headers}
	}
	const sdk = "authorization,unleash-appname,unleash-sdk,unleash-connection-id,if-none-match,content-type"
	allowed := func(origin, headers, vary string) map[string]string {
		return map[string]string{
			"Access-Control-Allow-Origin": origin, "Access-Control-Allow-Methods": "GET, HEAD, POST", "Access-Control-Allow-Headers": headers,
			"Access-Control-Max-Age": "86400", "Vary": vary,
		}
	}
	const varyAll, varyListed = "Access-Control-Request-Method, Access-Control-Request-Headers", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"
	const varies = "Accept-Encoding, Authorization, Unleash-Client-Spec"
	tests := []struct {
		name    string
		h       http.Handler
		method  string
		headers []string
		status  int
		want    map[string]string
	}{
		{"preflight", all, "OPTIONS", preflight("https://a.example", sdk), 204, allowed("*", strings.ReplaceAll(sdk, ",", ", "), varyAll)},
		{"preflight without headers", all, "OPTIONS", preflight("https://a.example", ""), 204, allowed("*", "Authorization, Content-Type, If-None-Match", varyAll)},
		{"preflight with nonsense", all, "OPTIONS", preflight("https://a.example", "a\"b, c"), 204, allowed("*", "Authorization, Content-Type, If-None-Match", varyAll)},
		{"preflight with too much", all, "OPTIONS", preflight("https://a.example", strings.Repeat("abcdefghi,", 300)+"a"), 204, allowed("*", "Authorization, Content-Type, If-None-Match", varyAll)},
		{"preflight of a listed origin", listed, "OPTIONS", preflight("https://app.example", "authorization"), 204, allowed("https://app.example", "authorization", varyListed)},
		{"preflight of another origin", listed, "OPTIONS", preflight("https://a.example", "authorization"), 204, map[string]string{"Vary": varyListed}},
		{"preflight of the console", listed, "OPTIONS", preflight("https://console.example", "authorization"), 204, map[string]string{"Vary": varyListed}},
		{"request", all, "GET", []string{"Authorization: frontend", "Origin: https://a.example"}, 200,
			map[string]string{"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "ETag, Retry-After", "Vary": varies}},
		{"304", all, "GET", []string{"Authorization: frontend", "Origin: https://a.example", "If-None-Match: *"}, 304,
			map[string]string{"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "ETag, Retry-After", "Vary": varies}},
		{"request of a listed origin", listed, "GET", []string{"Authorization: frontend", "Origin: https://app.example"}, 200,
			map[string]string{"Access-Control-Allow-Origin": "https://app.example", "Access-Control-Expose-Headers": "ETag, Retry-After", "Vary": "Origin, " + varies}},
		{"request of another origin", listed, "GET", []string{"Authorization: frontend", "Origin: https://a.example"}, 200, map[string]string{"Vary": "Origin, " + varies}},
		{"refused", all, "GET", []string{"Authorization: client", "Origin: https://a.example"}, 403,
			map[string]string{"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "ETag, Retry-After", "Vary": "Accept-Encoding"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := call(tt.h, tt.method, "/api/frontend?userId=7", "", tt.headers...)
			got := map[string]string{}
			for name, values := range w.Header() {
				if name == "Vary" || strings.HasPrefix(name, "Access-Control-") {
					got[name] = strings.Join(values, ", ")
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || w.Code != tt.status {
				t.Errorf("status %d, want %d; headers (-want +got):\n%s", w.Code, tt.status, diff)
			}
		})
	}
}
