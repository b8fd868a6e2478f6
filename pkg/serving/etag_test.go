package serving

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// TestNotModified answers without a body to each form of If-None-Match that has the ETag.
func TestNotModified(t *testing.T) {
	w := recorded(t)
	c := w.client(w.token("t"))
	for _, path := range []string{"/api/client/features", "/api/client/features/dif-sdk-on", "/api/client/delta"} {
		etag := c.get(path, "t").Header().Get("ETag")
		strong, weak := strings.CutPrefix(etag, "W/")
		if compressed := c.get(path, "t", "Accept-Encoding", "gzip").Header().Get("ETag"); !weak || compressed != etag {
			t.Errorf("%s: %s, and compressed %s, want the same weak ETag", path, etag, compressed)
		}
		for given, want := range map[string]int{
			etag: 304, strong: 304, `"other", W/"another", ` + etag: 304, "*": 304,
			strong[:len(strong)-1] + `-gzip"`: 304, etag[:len(etag)-1] + `-br"`: 304, // of a proxy that compresses
			"": 200, `"other"`: 200, `"` + strong[2:]: 200, strong[:len(strong)-1] + `-other"`: 200, etag[:len(etag)-1]: 200, "garbage": 200, `""`: 200,
		} {
			answer := c.get(path, "t", "If-None-Match", given)
			if answer.Code != want {
				t.Errorf("%s with %s: %d, want %d", path, given, answer.Code, want)
			}
			header := answer.Header()
			if header.Get("ETag") != etag || header.Get("Cache-Control") != "private, no-cache" || header.Get("Vary") == "" {
				t.Errorf("%s with %s: %v", path, given, header)
			}
			if answer.Code == http.StatusNotModified && (answer.Body.Len() > 0 || header.Get("Content-Length") != "" || header.Get("Content-Type") != "") {
				t.Errorf("%s with %s: a 304 with %v and a body of %d bytes", path, given, header, answer.Body.Len())
			}
		}
	}
}

// TestWhatChangesTheETag has changes that a token sees or not. The ETag changes with the answer, and with nothing else.
func TestWhatChangesTheETag(t *testing.T) {
	w := recorded(t)
	w.addProject("other")
	w.addFlag("other", "secret", nil)
	w.setSegment(7, func(s *flags.Segment) { s.SetProject(w.projects["other"]) })
	c := w.client(w.token("t", "default"))
	for _, tt := range []struct {
		name   string
		seen   bool
		change func()
	}{
		{"a description", true, func() {
			w.changeFlag("dif-sdk-on", func(f *flags.Feature) { d := "new"; f.Description = &d })
		}},
		{"last seen", false, func() { w.changeFlag("dif-sdk-on", func(f *flags.Feature) { f.LastSeenAt = time.Now() }) }},
		{"a tag", false, func() {
			w.changeFlag("dif-sdk-on", func(f *flags.Feature) { f.Tags = []flags.Tag{{Type: "a", Value: "b"}} })
		}},
		{"another environment", false, func() { w.on("dif-sdk-on", "production", w.strategy("dif-sdk-on")) }},
		{"the environment", true, func() { w.on("dif-sdk-on", "development", w.strategy("dif-sdk-on")) }},
		{"another project", false, func() { w.on("secret", "development", w.strategy("secret")) }},
		{"a segment of another project", false, func() { w.setSegment(7, func(s *flags.Segment) { s.Name = "new" }) }},
		{"a segment of all projects", true, func() { w.setSegment(3, func(s *flags.Segment) { s.Name = "new" }) }},
		{"a new segment", true, func() { w.setSegment(4, func(*flags.Segment) {}) }},
		{"a deleted segment", true, func() { w.deleteSegment(4) }},
		{"a flag moves in", true, func() {
			w.changeFlag("secret", func(f *flags.Feature) { f.Project, f.ProjectUID = "default", w.projects["default"].UID })
		}},
		{"a flag moves out", true, func() {
			w.changeFlag("secret", func(f *flags.Feature) { f.Project, f.ProjectUID = "other", w.projects["other"].UID })
		}},
		{"another project's environment", false, func() {
			w.changeProject("other", func(p *flags.Project) { p.Detach(w.environment("other", "development")) })
		}},
		{"another environment of the project", false, func() {
			w.changeProject("default", func(p *flags.Project) { p.Detach(w.environment("default", "production")) })
		}},
		{"the environment of the project", true, func() {
			w.changeProject("default", func(p *flags.Project) { p.Detach(w.environment("default", "development")) })
		}},
		{"archived", true, func() { w.changeFlag("dif-sdk-off", func(f *flags.Feature) { f.Archived = true }) }},
		{"another project is deleted", false, func() { w.deleteProject("other") }},
	} {
		features, delta := c.get("/api/client/features", "t"), c.get("/api/client/delta", "t")
		tt.change()
		again := c.get("/api/client/features", "t", "If-None-Match", features.Header().Get("ETag"))
		if seen := again.Code == http.StatusOK; seen != tt.seen {
			t.Errorf("%s: features %d, seen %t", tt.name, again.Code, tt.seen)
		}
		changed := c.get("/api/client/delta", "t", "If-None-Match", delta.Header().Get("ETag"))
		if seen := changed.Code == http.StatusOK; seen != tt.seen {
			t.Errorf("%s: delta %d %s, seen %t", tt.name, changed.Code, changed.Body, tt.seen)
		}
	}
}

// TestSameETagEverywhere makes the same flags in another order, on another instance: the answers have the same ETag.
func TestSameETagEverywhere(t *testing.T) {
	build := func(seed uint64) *client {
		w := newWorld(t)
		random := rand.New(rand.NewPCG(seed, 0))
		w.setSegment(1, func(*flags.Segment) {})
		w.setSegment(2, func(s *flags.Segment) { s.Name = "two" })
		for _, i := range random.Perm(30) {
			name := fmt.Sprintf("f%02d", i)
			w.addFlag("default", name, nil)
			if random.IntN(2) == 0 { // on the way, the instances answer at different times
				w.client(w.token("t")).get("/api/client/features", "t")
			}
			w.on(name, "development", w.strategy(name, 1, 2))
		}
		return w.client(w.token("t"), w.token("scoped", "default"))
	}
	one, two := build(1), build(2)
	for _, path := range []string{"/api/client/features", "/api/client/features?namePrefix=f1", "/api/client/features?environment=production", "/api/client/features/f01"} {
		for _, spec := range []string{"", newSpec} {
			for _, token := range []string{"t", "scoped", "admin"} {
				a, b := one.get(path, token, "Unleash-Client-Spec", spec), two.get(path, token, "Unleash-Client-Spec", spec)
				if a.Header().Get("ETag") != b.Header().Get("ETag") || a.Code != http.StatusOK {
					t.Errorf("%s %s %q: %s and %s", path, token, spec, a.Header().Get("ETag"), b.Header().Get("ETag"))
				}
			}
		}
	}
}

// TestCacheControl lets shared caches keep answers as long as CLIENT_MAX_AGE allows.
func TestCacheControl(t *testing.T) {
	w := newWorld(t)
	answer := w.configured(httpapi.Config{MaxAge: 15 * time.Second}, w.token("t")).get("/api/client/features", "t")
	if got := answer.Header().Get("Cache-Control"); got != "public, max-age=15" {
		t.Errorf("%q", got)
	}
	delta := w.configured(httpapi.Config{MaxAge: 15 * time.Second}, w.token("t")).get("/api/client/delta", "t")
	if got := delta.Header().Get("Cache-Control"); got != "private, no-cache" {
		t.Errorf("a delta has %q, but depends on the ETag that the caller sends", got)
	}
}
