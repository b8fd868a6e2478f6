package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"guidon/pkg/admin"
	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
	"guidon/pkg/lambdahttp"
)

// TestConditionalReads sends the ETag of a response back, in every valid form. The status is 304 until the data changes.
func TestConditionalReads(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	for _, path := range []string{apitest.Features + "/f", apitest.Features, apitest.Project, "/api/admin/projects", "/api/admin/environments", "/api/admin/tags"} {
		first := s.Do(t, "GET", path, "")
		etag := first.Header.Get("ETag")
		if !strings.HasPrefix(etag, `W/"`) || first.Header.Get("Cache-Control") != "private, no-cache" {
			t.Errorf("GET %s: ETag %q, Cache-Control %q, want a weak tag and private, no-cache", path, etag, first.Header.Get("Cache-Control"))
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
			got := s.Do(t, "GET", path, "", "If-None-Match: "+tt.header)
			if got.Status != tt.status || (got.Status == 304) != (got.Body == "") || got.Header.Get("ETag") != etag {
				t.Errorf("GET %s with %s: %d, ETag %s, body %.100s; want %d, %s", path, tt.name, got.Status, got.Header.Get("ETag"), got.Body, tt.status, etag)
			}
		}
	}
	before := s.Do(t, "GET", apitest.Features+"/f", "").Header.Get("ETag")
	s.Check(t, apitest.Call{"a change", "PUT", apitest.Features + "/f", `{"description":"new"}`, 200, `{"...":0}`})
	if got := s.Do(t, "GET", apitest.Features+"/f", "", "If-None-Match: "+before); got.Status != 200 {
		t.Errorf("after a change: %d, want 200", got.Status)
	}
}

// TestErrorsHaveNoETag checks that only successful reads are conditional.
func TestErrorsHaveNoETag(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	for _, got := range []apitest.Answer{
		s.Do(t, "GET", apitest.Features+"/none", "", "If-None-Match: *"),
		s.Do(t, "PUT", apitest.Features+"/f", `{"stale":true}`, "If-None-Match: *"),
		s.Do(t, "GET", apitest.Features+"/f", "", "If-None-Match: *", "Authorization:"),
	} {
		if got.Status == http.StatusNotModified || got.Header.Get("ETag") != "" {
			t.Errorf("%d with ETag %q, want neither a 304 nor an ETag", got.Status, got.Header.Get("ETag"))
		}
	}
}

// TestAcceptEncoding reads a list with various Accept-Encoding headers.
func TestAcceptEncoding(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	for _, name := range []string{"flag-a", "flag-b", "flag-c", "flag-d", "flag-e"} {
		s.Create(t, name)
	}
	plain := s.Do(t, "GET", apitest.Features, "", "Accept-Encoding: identity")
	for header, gzipped := range map[string]bool{
		"gzip": true, "GZIP": true, "deflate, gzip;q=1.0, *;q=0.5": true, "*": true, "br;q=1, *;q=0.1": true, "gzip; q=0.5": true,
		"identity": false, "deflate, br": false, "gzip;q=0": false, "gzip;q=0, *": false, "*;q=0": false, "gzip;q=x": false, "gzipped": false,
	} {
		got := s.Do(t, "GET", apitest.Features, "", "Accept-Encoding: "+header)
		if (got.Header.Get("Content-Encoding") == "gzip") != gzipped {
			t.Errorf("Accept-Encoding %q: Content-Encoding %q, want gzip: %t", header, got.Header.Get("Content-Encoding"), gzipped)
		}
		if got.Header.Get("ETag") != plain.Header.Get("ETag") || !strings.Contains(strings.Join(got.Header.Values("Vary"), ","), "Accept-Encoding") {
			t.Errorf("Accept-Encoding %q: ETag %s, Vary %q, want %s and Accept-Encoding", header, got.Header.Get("ETag"), got.Header.Values("Vary"), plain.Header.Get("ETag"))
		}
	}
	if small := s.Do(t, "GET", apitest.Features+"/flag-a", "", "Accept-Encoding: gzip"); small.Header.Get("Content-Encoding") != "" || len(small.Body) > 1400 {
		t.Errorf("a response of %d bytes: Content-Encoding %q, want none below 1400", len(small.Body), small.Header.Get("Content-Encoding"))
	}
}

// TestListedHeaders sends events of API Gateway, whose headers the adapter splits at commas.
func TestListedHeaders(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	for _, name := range []string{"flag-a", "flag-b", "flag-c", "flag-d", "flag-e"} {
		s.Create(t, name)
	}
	function := lambdahttp.Handler(httpapi.New(s.Store, admin.Group("features"), httpapi.Config{}))
	send := func(header, value string) events.APIGatewayV2HTTPResponse {
		event := events.APIGatewayV2HTTPRequest{Version: "2.0", RawPath: apitest.Features,
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
	s := apitest.Serve(t)
	for _, path := range []string{"/api/admin/api-tokens", apitest.Project + "/api-tokens", "/api/admin/invite-link/tokens"} {
		if got := s.Do(t, "GET", path, ""); got.Header.Get("Cache-Control") != "no-store" || got.Header.Get("ETag") != "" {
			t.Errorf("GET %s: Cache-Control %q, ETag %q; want no-store and none", path, got.Header.Get("Cache-Control"), got.Header.Get("ETag"))
		}
	}
}
