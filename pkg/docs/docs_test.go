package docs_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"guidon/infra"
	"guidon/pkg/docs"
	"guidon/pkg/httpapi"
	"guidon/pkg/lambdahttp"
)

func get(t *testing.T, method, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	httpapi.New(nil, docs.Group(), httpapi.Config{}).ServeHTTP(w, r)
	return w
}

func TestFiles(t *testing.T) {
	tests := []struct {
		path, media string
		gzipped     bool
		part        string // a part of the content
	}{
		{"/docs", "text/html; charset=utf-8", false, `<script src="/docs/page.js">`},
		{"/docs/page.js", "text/javascript; charset=utf-8", true, `fetch("/docs/openapi.json")`},
		{"/docs/openapi.json", "application/json; charset=utf-8", true, `"openapi": "3.0.3"`},
		{"/docs/page.css", "text/css; charset=utf-8", false, "rapi-doc"},
		{"/docs/rapidoc-min.js", "text/javascript; charset=utf-8", true, "rapi-doc"},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			compressed := get(t, "GET", tt.path, "Accept-Encoding: br, gzip, deflate")
			if compressed.Code != 200 || compressed.Header().Get("Content-Type") != tt.media || (compressed.Header().Get("Content-Encoding") == "gzip") != tt.gzipped {
				t.Fatalf("%d %v, want a 200 of type %s, compressed: %t", compressed.Code, compressed.Header(), tt.media, tt.gzipped)
			}
			if compressed.Body.Len() > 2<<20 {
				t.Errorf("%d bytes, want less than 2 MiB", compressed.Body.Len())
			}
			content := compressed.Body.Bytes()
			if tt.gzipped {
				reader, err := gzip.NewReader(compressed.Body)
				if err != nil {
					t.Fatal(err)
				}
				if content, err = io.ReadAll(reader); err != nil {
					t.Fatal(err)
				}
			}
			plain := get(t, "GET", tt.path)
			if stored := tt.path == "/docs/rapidoc-min.js" || tt.path == "/docs/openapi.json"; stored != (plain.Header().Get("Content-Encoding") == "gzip") {
				t.Errorf("without Accept-Encoding: %v, want it compressed: %t", plain.Header(), stored)
			} else if !stored && !bytes.Equal(plain.Body.Bytes(), content) {
				t.Error("the decompressed content differs from that without compression")
			}
			if !bytes.Contains(content, []byte(tt.part)) {
				t.Errorf("%.200s… does not contain %q", content, tt.part)
			}
			tag := compressed.Header().Get("ETag")
			if again := get(t, "GET", tt.path, "If-None-Match: "+tag); again.Code != http.StatusNotModified || again.Body.Len() > 0 {
				t.Errorf("with If-None-Match %s: %d and %d bytes, want a 304 without a body", tag, again.Code, again.Body.Len())
			}
		})
	}
}

func TestUnknownPaths(t *testing.T) {
	for _, tt := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/docs/nosuch", 404}, {"GET", "/docs/../docs", 404}, {"GET", "/docs/assets/index.html", 404},
		{"GET", "/docs/LICENSE", 404}, {"POST", "/docs", 404}, {"GET", "/", 404}, {"OPTIONS", "/docs", 204},
	} {
		got := get(t, tt.method, tt.path)
		if got.Code != tt.status || tt.status == 404 && !strings.Contains(got.Body.String(), `"name":"NotFoundError"`) {
			t.Errorf("%s %s: %d %s, want %d", tt.method, tt.path, got.Code, got.Body, tt.status)
		}
	}
}

// TestNoOtherHost checks that neither the files nor the policy of the page allow other hosts.
func TestNoOtherHost(t *testing.T) {
	page := get(t, "GET", "/docs")
	for _, path := range []string{"/docs", "/docs/page.css", "/docs/page.js"} {
		if found := regexp.MustCompile(`(?i)(https?:)?//[a-z0-9.-]+\.[a-z]+`).FindString(get(t, "GET", path).Body.String()); found != "" {
			t.Errorf("%s contains the address %s", path, found)
		}
	}
	policy := page.Header().Get("Content-Security-Policy")
	if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "http") || strings.Contains(policy, "*") {
		t.Errorf("policy %q, want one that allows only this host", policy)
	}
}

// TestThroughLambda requests the largest file through an event of API Gateway.
func TestThroughLambda(t *testing.T) {
	event := events.APIGatewayV2HTTPRequest{Version: "2.0", RawPath: "/docs/rapidoc-min.js", Headers: map[string]string{"accept-encoding": "gzip"}}
	event.RequestContext.HTTP.Method, event.RequestContext.HTTP.Path = "GET", event.RawPath
	answer, err := lambdahttp.Handler(httpapi.New(nil, docs.Group(), httpapi.Config{}))(t.Context(), event)
	if err != nil || answer.StatusCode != http.StatusOK || !answer.IsBase64Encoded || answer.Headers["Content-Encoding"] != "gzip" {
		t.Fatalf("%d %v %t %v, want a 200 in base64", answer.StatusCode, answer.Headers, answer.IsBase64Encoded, err)
	}
	content, err := base64.StdEncoding.DecodeString(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if want := get(t, "GET", event.RawPath, "Accept-Encoding: gzip").Body.Bytes(); !bytes.Equal(content, want) {
		t.Errorf("%d bytes, want the %d of the file", len(content), len(want))
	}
}

func TestDescriptionIsJSON(t *testing.T) {
	var document struct {
		Paths map[string]any `json:"paths"`
	}
	if err := json.Unmarshal(infra.OpenAPI, &document); err != nil || len(document.Paths) < 50 {
		t.Errorf("%d paths, %v; want at least 50", len(document.Paths), err)
	}
}
