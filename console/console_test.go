package console

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/aws/aws-lambda-go/events"

	"guidon/pkg/httpapi"
	"guidon/pkg/lambdahttp"
)

const (
	script = "console.log('the console')\n"
	index  = `<!doctype html><script type="module" src="/assets/index-1a2b.js"></script>`
	html   = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" // what browsers accept
)

// built is a small console as `make console` builds it.
func built(t *testing.T) fstest.MapFS {
	t.Helper()
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	_, _ = io.WriteString(w, script)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return fstest.MapFS{
		".gitignore":                {Data: []byte("*")},
		".stamp":                    {Data: []byte("1")},
		"index.html":                {Data: []byte(index)},
		"favicon.svg":               {Data: []byte("<svg/>")},
		"licences.txt":              {Data: []byte("MIT")},
		"assets/index-1a2b.js.gz":   {Data: compressed.Bytes()},
		"assets/both-1a2b.css":      {Data: []byte("not served")},
		"assets/both-1a2b.css.gz":   {Data: compressed.Bytes()},
		"assets/inter-latin.woff2":  {Data: bytes.Repeat([]byte("w"), 3000)},
		"assets/.vite/manifest.txt": {Data: []byte("a file of no page")},
	}
}

func handler(t *testing.T, files fs.FS) http.Handler {
	t.Helper()
	site, err := read(files)
	if err != nil {
		t.Fatal(err)
	}
	return httpapi.New(nil, httpapi.Group{Name: "fallback", Site: site}, httpapi.Config{})
}

func send(t *testing.T, h http.Handler, method, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestPages(t *testing.T) {
	h := handler(t, built(t))
	for _, path := range []string{"/", "/sign-in", "/projects", "/projects/", "/projects/default/flags/my.flag", "/projects/default/flags/a%2Fb",
		"/index.html", "/apixyz", "/auth-settings", "/tokens?type=client"} {
		for _, method := range []string{"GET", "HEAD"} {
			got := send(t, h, method, path, "Accept: "+html)
			if got.Code != 200 || got.Header().Get("Content-Type") != "text/html; charset=utf-8" || got.Header().Get("Cache-Control") != "no-cache" {
				t.Errorf("%s %s: %d %v, want the page, revalidated each time", method, path, got.Code, got.Header())
			}
			if got.Body.String() != index {
				t.Errorf("%s %s: %s, want the page", method, path, got.Body)
			}
		}
	}
	first := send(t, h, "GET", "/", "Accept: "+html)
	again := send(t, h, "GET", "/projects", "Accept: "+html, "If-None-Match: "+first.Header().Get("ETag"))
	if again.Code != http.StatusNotModified || again.Body.Len() > 0 || again.Header().Get("Content-Security-Policy") == "" {
		t.Errorf("with If-None-Match: %d %v and %d bytes, want a 304 with the policy and without a body", again.Code, again.Header(), again.Body.Len())
	}
}

// TestNoPages checks that programs, other methods and paths of the interface get the 404 in JSON.
func TestNoPages(t *testing.T) {
	h := handler(t, built(t))
	for _, tt := range []struct{ name, method, path, accept string }{
		{"the API", "GET", "/api/admin/nosuch", html}, {"its prefix", "GET", "/api", html}, {"the API with dots", "GET", "/x/../api/nosuch", html},
		{"the API with slashes", "GET", "//api/admin/nosuch", html}, {"sign-in", "GET", "/auth/nosuch", html}, {"the documentation", "GET", "/docs/nosuch", html},
		{"Edge", "GET", "/edge/nosuch", html}, {"OpenFeature", "GET", "/ofrep/v1/nosuch", html}, {"health", "GET", "/health/nosuch", html},
		{"invitations", "GET", "/invite/abc", html},
		{"an unknown asset", "GET", "/assets/nosuch-1a2b.js", html}, {"the folder", "GET", "/assets/", html}, {"a compressed form", "GET", "/assets/index-1a2b.js.gz", html},
		{"a hidden file", "GET", "/.stamp", "*/*"}, {"a file in a hidden folder", "GET", "/assets/.vite/manifest.txt", html},
		{"a path out of the folder", "GET", "/assets/../../console.go", "*/*"}, {"escaped", "GET", "/assets/%2e%2e/%2e%2e/console.go", "*/*"},
		{"escaped slashes", "GET", "/assets/..%2f..%2fconsole.go", html},
		{"any type", "GET", "/", "*/*"}, {"no type", "GET", "/", ""}, {"JSON", "GET", "/projects", "application/json"}, {"HTML not wanted", "GET", "/", "text/html;q=0, */*"},
		{"another method", "POST", "/", html}, {"a change of a file", "DELETE", "/assets/index-1a2b.js", html}, {"an icon", "GET", "/favicon.ico", "image/*"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := send(t, h, tt.method, tt.path, "Accept: "+tt.accept)
			if got.Code != 404 || !strings.Contains(got.Body.String(), `"name":"NotFoundError"`) || got.Header().Get("Location") != "" {
				t.Errorf("%s %s: %d %s, want a 404 in JSON", tt.method, tt.path, got.Code, got.Body)
			}
		})
	}
}

func TestAssets(t *testing.T) {
	h := handler(t, built(t))
	for _, tt := range []struct {
		path, media, content string
		immutable            bool
		stored, gzipped      bool // compressed: always, and for callers that take it
	}{
		{"/assets/index-1a2b.js", "text/javascript; charset=utf-8", script, true, true, true},
		{"/assets/both-1a2b.css", "text/css; charset=utf-8", script, true, true, true},
		{"/assets/inter-latin.woff2", "font/woff2", strings.Repeat("w", 3000), true, false, true},
		{"/favicon.svg", "image/svg+xml", "<svg/>", false, false, false},
		{"/licences.txt", "text/plain; charset=utf-8", "MIT", false, false, false},
	} {
		t.Run(tt.path, func(t *testing.T) {
			caching := "no-cache"
			if tt.immutable {
				caching = "public, max-age=31536000, immutable"
			}
			tag := ""
			for header, compressed := range map[string]bool{"Accept: */*": tt.stored, "Accept-Encoding: gzip, br": tt.gzipped} {
				file := send(t, h, "GET", tt.path, header)
				got := file.Header()
				if file.Code != 200 || got.Get("Content-Type") != tt.media || got.Get("Cache-Control") != caching || got.Get("Vary") != "Accept-Encoding" {
					t.Errorf("%s: %d %v, want %s, %s, with Vary: Accept-Encoding", header, file.Code, got, tt.media, caching)
				}
				if (got.Get("Content-Encoding") == "gzip") != compressed {
					t.Errorf("%s: content encoding %q, want gzip: %t", header, got.Get("Content-Encoding"), compressed)
				}
				content := file.Body.String()
				if compressed {
					content = uncompressed(t, file.Body)
				}
				if content != tt.content {
					t.Errorf("%s: %.100q, want %.100q", header, content, tt.content)
				}
				tag = got.Get("ETag")
			}
			for _, condition := range []string{tag, `"other", ` + tag, "*"} {
				again := send(t, h, "GET", tt.path, "If-None-Match: "+condition)
				if again.Code != http.StatusNotModified || again.Body.Len() > 0 || again.Header().Get("Cache-Control") != caching {
					t.Errorf("If-None-Match: %s: %d %v, want a 304", condition, again.Code, again.Header())
				}
			}
			if other := send(t, h, "GET", tt.path, `If-None-Match: "other"`); other.Code != 200 {
				t.Errorf("with another tag: %d, want 200", other.Code)
			}
		})
	}
}

// TestSecurityHeaders checks the headers of pages, assets and 304s.
func TestSecurityHeaders(t *testing.T) {
	h := handler(t, built(t))
	for _, path := range []string{"/", "/assets/index-1a2b.js"} {
		got := send(t, h, "GET", path, "Accept: "+html, "X-Forwarded-Proto: https").Header()
		for name, want := range map[string]string{
			"Content-Security-Policy": Policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
			"Cross-Origin-Opener-Policy": "same-origin", "Strict-Transport-Security": "max-age=31536000",
		} {
			if got.Get(name) != want {
				t.Errorf("GET %s: %s is %q, want %q", path, name, got.Get(name), want)
			}
		}
		if !strings.Contains(got.Get("Permissions-Policy"), "camera=()") {
			t.Errorf("GET %s: Permissions-Policy is %q", path, got.Get("Permissions-Policy"))
		}
	}
	if got := send(t, h, "GET", "/", "Accept: "+html, "X-Forwarded-Proto: http").Header().Get("Strict-Transport-Security"); got != "" {
		t.Errorf("over HTTP: Strict-Transport-Security is %q, want none", got)
	}
	for _, part := range []string{"unsafe", "*", "http"} {
		if strings.Contains(Policy, part) {
			t.Errorf("the policy has %s: %s", part, Policy)
		}
	}
	for _, directive := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
		if !strings.Contains(Policy, directive) {
			t.Errorf("the policy is %s, want %s in it", Policy, directive)
		}
	}
}

func TestNotBuilt(t *testing.T) {
	h := handler(t, fstest.MapFS{".gitignore": {Data: []byte("*")}})
	page := send(t, h, "GET", "/projects", "Accept: "+html)
	if page.Code != 404 || !strings.Contains(page.Body.String(), "make console") || page.Header().Get("ETag") != "" {
		t.Errorf("%d %v %s, want a page with the status 404 that names make console", page.Code, page.Header(), page.Body)
	}
}

func TestUnknownType(t *testing.T) {
	if _, err := read(fstest.MapFS{"assets/a.exe": {}}); err == nil || !strings.Contains(err.Error(), "a.exe") {
		t.Errorf("error %v, want one that names the file", err)
	}
}

// TestThroughLambda requests a page and an asset through events of API Gateway.
func TestThroughLambda(t *testing.T) {
	function := lambdahttp.Handler(handler(t, built(t)))
	request := func(path string) events.APIGatewayV2HTTPResponse {
		t.Helper()
		event := events.APIGatewayV2HTTPRequest{Version: "2.0", RawPath: path, Headers: map[string]string{
			"accept": html, "accept-encoding": "gzip", "x-forwarded-proto": "https"}}
		event.RequestContext.HTTP.Method, event.RequestContext.HTTP.Path = "GET", path
		answer, err := function(t.Context(), event)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	page := request("/projects/default")
	if page.StatusCode != http.StatusOK || page.IsBase64Encoded || page.Body != index || page.Headers["Strict-Transport-Security"] == "" {
		t.Errorf("%d %v %s, want the page", page.StatusCode, page.Headers, page.Body)
	}
	asset := request("/assets/index-1a2b.js")
	if asset.StatusCode != http.StatusOK || !asset.IsBase64Encoded || asset.Headers["Content-Encoding"] != "gzip" {
		t.Fatalf("%d %v, want the compressed file in base64", asset.StatusCode, asset.Headers)
	}
	content, err := base64.StdEncoding.DecodeString(asset.Body)
	if err != nil || uncompressed(t, bytes.NewReader(content)) != script {
		t.Errorf("another content (%v)", err)
	}
}

// TestEmbedded checks the embedded console: every file that its page names is served, and the page loads nothing else. Without
// make console, the page says so.
func TestEmbedded(t *testing.T) {
	h := httpapi.New(nil, httpapi.Group{Name: "fallback", Site: Site()}, httpapi.Config{})
	page := send(t, h, "GET", "/", "Accept: "+html)
	if Site().Page.Status != 0 {
		if page.Code != 404 || !strings.Contains(page.Body.String(), "make console") {
			t.Errorf("%d %s, want a page that names make console", page.Code, page.Body)
		}
		return
	}
	if page.Code != 200 {
		t.Fatalf("%d %s, want the page", page.Code, page.Body)
	}
	named := regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(page.Body.String(), -1)
	scripts := 0
	for _, match := range named {
		got := send(t, h, "GET", match[1], "Accept: */*", "Accept-Encoding: gzip")
		if got.Code != 200 || !strings.HasPrefix(match[1], "/") || strings.HasPrefix(match[1], "//") {
			t.Errorf("the page names %s: %d, want a file of the console", match[1], got.Code)
		}
		if strings.HasSuffix(match[1], ".js") {
			scripts++
		}
	}
	if scripts == 0 {
		t.Errorf("the page names no script: %s", page.Body)
	}
	for _, inline := range []string{`<script[^>]*>\s*[^<\s]`, `<style`, ` style="`, ` on[a-z]+="`} {
		if found := regexp.MustCompile(inline).FindString(page.Body.String()); found != "" {
			t.Errorf("the page has %s, which the policy forbids", found)
		}
	}
	if got := uncompressed(t, send(t, h, "GET", "/licences.txt", "Accept: */*", "Accept-Encoding: gzip").Body); !strings.Contains(got, "\nreact 1") || !strings.Contains(got, "Licence: MIT") {
		t.Errorf("/licences.txt is %.300s, want the npm packages with their licences", got)
	}
	for path, file := range Site().Files {
		if len(file.Content) > 2<<20 {
			t.Errorf("%s has %d bytes, want at most 2 MiB, because a Lambda function answers with 6 MB at most", path, len(file.Content))
		}
		if got := send(t, h, "GET", path, "Accept: */*"); got.Code != 200 || got.Body.Len() == 0 {
			t.Errorf("GET %s: %d and %d bytes, want the file", path, got.Code, got.Body.Len())
		}
	}
}

func uncompressed(t *testing.T, body io.Reader) string {
	t.Helper()
	reader, err := gzip.NewReader(body)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
