package oidc

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestLocalPath(t *testing.T) {
	for _, path := range []string{"/", "/projects", "/projects/shop/flags/a?tab=usage#top", "/search?q=https://example.com//x", "/projects/%2F%2Fexample.com"} {
		if got := LocalPath(path); got != path {
			t.Errorf("LocalPath(%q) = %q, want it as it is", path, got)
		}
	}
	for _, path := range []string{
		"", "projects", "//example.com", "///example.com", "/\\example.com", "\\\\example.com", "https://example.com", "HTTPS:/example.com",
		"javascript:alert(1)", "/\t/example.com", "/\n/example.com", "/a\r\nSet-Cookie: b=c", " /projects", "/a b", "/\"", "/{a}", "/\x00", "/\u2028/a", "/é",
		"/a/../../b", "/..//example.com", "/./a", "/projects//x", "/auth/oidc/login", "/auth/oidc/login?next=/", "/api/admin/user", "/sign-in", "/sign-in?next=/",
		"/" + strings.Repeat("a", 500),
	} {
		if got := LocalPath(path); got != "/" {
			t.Errorf("LocalPath(%q) = %q, want /", path, got)
		}
	}
}

// FuzzLocalPath checks that no path leads to another host, as a browser resolves it.
func FuzzLocalPath(f *testing.F) {
	for _, seed := range []string{"/projects?a=b#c", "//example.com", "/\\example.com", "/\t/example.com", "https:example.com", "/%2F/example.com", "/%2F\"", "/a/..//example.com"} {
		f.Add(seed)
	}
	base, _ := url.Parse("https://flags.example.org" + CallbackPath)
	f.Fuzz(func(t *testing.T, path string) {
		got := LocalPath(path)
		to, err := base.Parse(got)
		if err != nil {
			return // the browser resolves it as a path: it begins with "/", and has no second one
		}
		if to.Scheme != base.Scheme || to.Host != base.Host || to.User != nil || !strings.HasPrefix(to.Path, "/") || strings.HasPrefix(to.EscapedPath(), "//") {
			t.Errorf("LocalPath(%q) = %q, which leads to %s", path, got, to)
		}
	})
}

// FuzzAttempt reads any cookie with any state.
func FuzzAttempt(f *testing.F) {
	now := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	p, j := New(Settings{}, func() time.Time { return now }), jarOf("https://flags.example.com")
	a := newAttempt("/projects", now)
	value, _ := base64.RawURLEncoding.DecodeString(j.cookie(a).Value)
	f.Add(string(value), a.State)
	f.Add(`{"s":""}`, "")
	f.Fuzz(func(t *testing.T, value, state string) {
		c := &http.Cookie{Name: j.prefix + cut(state, idLength), Value: base64.RawURLEncoding.EncodeToString([]byte(value))}
		j.surplus([]*http.Cookie{c})
		got, err := p.find(j, []*http.Cookie{c}, state)
		if err == nil && (got.State != state || got.Nonce == "" || got.Verifier == "") {
			t.Errorf("an incomplete attempt is accepted: %+v", got)
		}
	})
}
