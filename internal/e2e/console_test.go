package e2e

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// TestConsole opens the console on the local server.
func TestConsole(t *testing.T) {
	g := start(t)
	checkConsole(t, g)
	g.stop(t)
	served := strings.Count(g.stderr.String(), `"route":"GET /{page...}"`)
	if served == 0 {
		t.Errorf("the log has no line of a page: %s", g.stderr.End())
	}
}

// checkConsole opens a page of the console as a browser does, and loads the files that it names. make test, make build and sam build
// build the console first; without it, the page says how to build it.
func checkConsole(t *testing.T, g *gateway) {
	t.Helper()
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	page, text := g.fetch(t, "/projects/default", browser)
	if page.StatusCode == http.StatusNotFound && strings.Contains(text, "make console") {
		t.Log("the console is not built")
		return
	}
	if page.StatusCode != http.StatusOK || page.Header.Get("Content-Type") != "text/html; charset=utf-8" || page.Header.Get("Cache-Control") != "no-cache" {
		t.Fatalf("%d %v %.300s, want the page of the console", page.StatusCode, page.Header, text)
	}
	if !strings.Contains(page.Header.Get("Content-Security-Policy"), "default-src 'none'") || page.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("the page has the headers %v, want a strict policy", page.Header)
	}
	named := regexp.MustCompile(`"(/assets/[^"]+\.(?:js|css))"`).FindAllStringSubmatch(text, -1)
	if len(named) == 0 {
		t.Fatalf("the page names no files: %s", text)
	}
	for _, match := range named {
		asset, content := g.fetch(t, match[1], "*/*")
		if asset.StatusCode != http.StatusOK || asset.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" || content == "" {
			t.Errorf("%s: %d %v and %d bytes, want a file that browsers keep", match[1], asset.StatusCode, asset.Header, len(content))
		}
		if strings.Contains(content, "<html") {
			t.Errorf("%s is a page, want a script or styles", match[1])
		}
	}
	for path, accept := range map[string]string{"/assets/nosuch-1a2b.js": browser, "/api/admin/nosuch": browser, "/projects": "application/json", "/": "*/*"} {
		missing, text := g.fetch(t, path, accept)
		var f failure
		if err := json.Unmarshal([]byte(text), &f); err != nil || missing.StatusCode != http.StatusNotFound || f.Name != "NotFoundError" {
			t.Errorf("GET %s with Accept: %s: %d %.300s, want a 404 in JSON", path, accept, missing.StatusCode, text)
		}
	}
}

// fetch gets a path without a token, and decompresses the answer.
func (g *gateway) fetch(t *testing.T, path, accept string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.url()+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", accept)
	r.Header.Set("Accept-Encoding", "gzip")
	response, err := g.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var body io.Reader = response.Body
	if response.Header.Get("Content-Encoding") == "gzip" {
		if body, err = gzip.NewReader(response.Body); err != nil {
			t.Fatal(err)
		}
	}
	content, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(content)
}
