package admin_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"guidon/pkg/admin"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
	"guidon/pkg/lambdahttp"
)

// TestConditionalReads sends the ETag of a response back, in every valid form. The status is 304 until the data changes.
func TestConditionalReads(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "f")
	for _, path := range []string{features + "/f", features, project, "/api/admin/projects", "/api/admin/environments", "/api/admin/tags"} {
		first := s.do(t, "GET", path, "")
		etag := first.header.Get("ETag")
		if !strings.HasPrefix(etag, `W/"`) || first.header.Get("Cache-Control") != "private, no-cache" {
			t.Errorf("GET %s: ETag %q, Cache-Control %q, want a weak tag and private, no-cache", path, etag, first.header.Get("Cache-Control"))
		}
		for _, tt := range []struct {
			name, header string
			status       int
		}{
			{"the tag", etag, 304},
			{"the strong form of the tag", strings.TrimPrefix(etag, "W/"), 304},
			{"a list that contains the tag", `"a", ` + etag + `,"b"`, 304},
			{"*", "*", 304},
			{"another tag", `W/"0123456789abcdef0123456789abcdef"`, 200},
			{"the tag without quotes", strings.Trim(strings.TrimPrefix(etag, "W/"), `"`), 200},
		} {
			got := s.do(t, "GET", path, "", "If-None-Match: "+tt.header)
			if got.status != tt.status || (got.status == 304) != (got.body == "") || got.header.Get("ETag") != etag {
				t.Errorf("GET %s with %s: %d, ETag %s, body %.100s; want %d, %s", path, tt.name, got.status, got.header.Get("ETag"), got.body, tt.status, etag)
			}
		}
	}
	before := s.do(t, "GET", features+"/f", "").header.Get("ETag")
	s.check(t, call{"a change", "PUT", features + "/f", `{"description":"new"}`, 200, `{"...":0}`})
	if got := s.do(t, "GET", features+"/f", "", "If-None-Match: "+before); got.status != 200 {
		t.Errorf("after a change: %d, want 200", got.status)
	}
}

// TestErrorsHaveNoETag checks that only successful reads are conditional.
func TestErrorsHaveNoETag(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "f")
	for _, got := range []answer{
		s.do(t, "GET", features+"/none", "", "If-None-Match: *"),
		s.do(t, "PUT", features+"/f", `{"stale":true}`, "If-None-Match: *"),
		s.do(t, "GET", features+"/f", "", "If-None-Match: *", "Authorization:"),
	} {
		if got.status == http.StatusNotModified || got.header.Get("ETag") != "" {
			t.Errorf("%d with ETag %q, want neither a 304 nor an ETag", got.status, got.header.Get("ETag"))
		}
	}
}

// TestAcceptEncoding reads a list with various Accept-Encoding headers.
func TestAcceptEncoding(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for _, name := range []string{"flag-a", "flag-b", "flag-c", "flag-d", "flag-e"} {
		s.create(t, name)
	}
	plain := s.do(t, "GET", features, "", "Accept-Encoding: identity")
	for header, gzipped := range map[string]bool{
		"gzip": true, "GZIP": true, "deflate, gzip;q=1.0, *;q=0.5": true, "*": true, "br;q=1, *;q=0.1": true, "gzip; q=0.5": true,
		"identity": false, "deflate, br": false, "gzip;q=0": false, "gzip;q=0, *": false, "*;q=0": false, "gzip;q=x": false, "gzipped": false,
	} {
		got := s.do(t, "GET", features, "", "Accept-Encoding: "+header)
		if (got.header.Get("Content-Encoding") == "gzip") != gzipped {
			t.Errorf("Accept-Encoding %q: Content-Encoding %q, want gzip: %t", header, got.header.Get("Content-Encoding"), gzipped)
		}
		if got.header.Get("ETag") != plain.header.Get("ETag") || !strings.Contains(strings.Join(got.header.Values("Vary"), ","), "Accept-Encoding") {
			t.Errorf("Accept-Encoding %q: ETag %s, Vary %q, want %s and Accept-Encoding", header, got.header.Get("ETag"), got.header.Values("Vary"), plain.header.Get("ETag"))
		}
	}
	if small := s.do(t, "GET", features+"/flag-a", "", "Accept-Encoding: gzip"); small.header.Get("Content-Encoding") != "" || len(small.body) > 1400 {
		t.Errorf("a response of %d bytes: Content-Encoding %q, want none below 1400", len(small.body), small.header.Get("Content-Encoding"))
	}
}

// uncompressed is the body of a response without its content encoding.
func uncompressed(t *testing.T, header http.Header, body io.Reader) []byte {
	t.Helper()
	var err error
	switch encoding := header.Get("Content-Encoding"); encoding {
	case "":
	case "gzip":
		if body, err = gzip.NewReader(body); err != nil {
			t.Fatal(err)
		}
	default:
		t.Fatalf("Content-Encoding %q", encoding)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestListedHeaders sends events of API Gateway, whose headers the adapter splits at commas.
func TestListedHeaders(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for _, name := range []string{"flag-a", "flag-b", "flag-c", "flag-d", "flag-e"} {
		s.create(t, name)
	}
	function := lambdahttp.Handler(httpapi.New(s.store, admin.Group("features"), httpapi.Config{}))
	send := func(header, value string) events.APIGatewayV2HTTPResponse {
		event := events.APIGatewayV2HTTPRequest{Version: "2.0", RawPath: features,
			Headers: map[string]string{"authorization": dynamotest.AdminToken, header: value}}
		event.RequestContext.HTTP.Method = http.MethodGet
		response, err := function(t.Context(), event)
		if err != nil {
			t.Fatal(err)
		}
		return response
	}
	for _, value := range []string{"deflate, gzip, br, zstd", "br,gzip;q=0.8", "identity, *"} {
		if got := send("accept-encoding", value); got.Headers["Content-Encoding"] != "gzip" || !got.IsBase64Encoded {
			t.Errorf("Accept-Encoding %q: Content-Encoding %q, want gzip", value, got.Headers["Content-Encoding"])
		}
	}
	etag := send("accept", "*/*").Headers["Etag"]
	if got := send("if-none-match", `"a", `+etag); got.StatusCode != http.StatusNotModified {
		t.Errorf("If-None-Match with %s after another tag: %d, want 304", etag, got.StatusCode)
	}
}

// TestSecretsAreNotStored checks that responses with token secrets may not be cached.
func TestSecretsAreNotStored(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for _, path := range []string{"/api/admin/api-tokens", project + "/api-tokens", "/api/admin/invite-link/tokens"} {
		if got := s.do(t, "GET", path, ""); got.header.Get("Cache-Control") != "no-store" || got.header.Get("ETag") != "" {
			t.Errorf("GET %s: Cache-Control %q, ETag %q; want no-store and none", path, got.header.Get("Cache-Control"), got.header.Get("ETag"))
		}
	}
}
