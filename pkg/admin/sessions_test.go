package admin_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
	"guidon/pkg/session"
)

const (
	aSignInLink = "/api/admin/user-admin/{userId}/sign-in-link"
	aSignOut    = "/api/admin/user-admin/{userId}/sign-out"
	useLink     = "/auth/link"
)

// link creates a sign-in link for a user and returns its secret.
func (s *server) link(t *testing.T, user int64) string {
	t.Helper()
	created := s.must(t, "POST", fmt.Sprintf("%s/%d/sign-in-link", people, user), "")
	return secretOfLink(decoded[struct{ URL string }](t, created.body).URL)
}

func secretOfLink(url string) string {
	_, secret, _ := strings.Cut(url, "#link=")
	return secret
}

func withSecret(secret string) string { return fmt.Sprintf(`{"secret":%q}`, secret) }

// signIn signs a user in by a link. It returns the header with the cookie of the session.
func (s *server) signIn(t *testing.T, user int64) string {
	t.Helper()
	got := s.do(t, "POST", useLink, withSecret(s.link(t, user)), "Authorization:")
	if got.status != 204 {
		t.Fatalf("the link: %d %s, want 204", got.status, got.body)
	}
	pair, _, _ := strings.Cut(got.header.Get("Set-Cookie"), ";")
	return "Cookie: " + pair
}

// inSession has the headers of a request of the console with a session and no token.
func inSession(cookie string) []string {
	return []string{"Authorization:", cookie, session.ConsoleHeader + ": 1"}
}

// clock is a clock that tests move.
type clock struct{ now atomic.Pointer[time.Time] }

func newClock() *clock {
	c := &clock{}
	start := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	c.now.Store(&start)
	return c
}

func (c *clock) time() time.Time { return *c.now.Load() }

func (c *clock) advance(d time.Duration) {
	later := c.time().Add(d)
	c.now.Store(&later)
}

// serveAt starts a server with a clock, and changes its configuration.
func serveAt(t *testing.T, c *clock, changes ...func(*httpapi.Config)) *server {
	t.Helper()
	return serve(t, func(config *httpapi.Config, _ *http.RoundTripper) {
		config.Now = c.time
		for _, change := range changes {
			change(config)
		}
	})
}

// TestSignInByLink uses a link, and what is not one. The response to every link that cannot be used is the same.
func TestSignInByLink(t *testing.T) {
	t.Parallel()
	now := newClock()
	s := serveAt(t, now)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	id, _ := s.person(t, access.RoleEditor)

	created := s.must(t, "POST", fmt.Sprintf("%s/%d/sign-in-link", people, id), "")
	if different := match(`{"url":"<has /sign-in#link=>","expiresAt":"2026-01-05T12:15:00.000Z"}`, created.body); len(different) > 0 {
		t.Errorf("the link: %v", different)
	}
	if got := created.header.Get("Cache-Control"); got != "no-store" || created.status != 201 {
		t.Errorf("the link: status %d and Cache-Control %q, want 201 and no-store", created.status, got)
	}
	url, _, _ := strings.Cut(created.body, `","`)
	secret := secretOfLink(url)
	if len(secret) != 64 {
		t.Fatalf("the secret is %q, want 64 digits", secret)
	}

	refused := func(name, secret string) {
		t.Helper()
		s.check(t, call{name, "POST", useLink, withSecret(secret), 401, failure("AuthenticationRequired", access.ErrLinkInvalid.Message)}, "Authorization:")
	}
	got := s.do(t, "POST", useLink, withSecret(secret), "Authorization:")
	if got.status != 204 || got.body != "" || got.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %s, Cache-Control %q; want 204 and no-store", got.status, got.body, got.header.Get("Cache-Control"))
	}
	s.check(t, call{"the last sign-in", "GET", fmt.Sprintf("%s/%d", people, id), "", 200, `{"...":0,"seenAt":"2026-01-05T12:00:00.000Z"}`})
	refused("the same link again", secret)
	refused("an unknown link", strings.Repeat("0", 64))
	refused("a token", dynamotest.AdminToken)
	refused("upper case", strings.ToUpper(secret))
	for name, body := range map[string]string{"no secret": `{}`, "an empty secret": `{"secret":""}`, "a long secret": withSecret(strings.Repeat("a", 201))} {
		s.check(t, call{name, "POST", useLink, body, 400, invalid("/secret")}, "Authorization:")
	}

	late := s.link(t, id)
	now.advance(15 * time.Minute)
	refused("an expired link", late)
	other, _ := s.person(t, access.RoleViewer)
	orphan := s.link(t, other)
	s.must(t, "DELETE", fmt.Sprintf("%s/%d", people, other), "")
	refused("a link of a deleted user", orphan)
}

// TestNewestLink checks that only the newest link of a user works.
func TestNewestLink(t *testing.T) {
	t.Parallel()
	s := serve(t)
	id, _ := s.person(t, access.RoleEditor)
	first, others := s.link(t, id), s.link(t, 1)
	second := s.link(t, id)
	s.check(t, call{"an earlier link", "POST", useLink, withSecret(first), 401, failure("AuthenticationRequired", "newer one")}, "Authorization:")
	for _, secret := range []string{second, others} {
		s.check(t, call{"the newest link", "POST", useLink, withSecret(secret), 204, ""}, "Authorization:")
	}
	s.check(t, call{"an earlier link, after the newest", "POST", useLink, withSecret(first), 401, anything}, "Authorization:")
}

// TestLinkAsksBeforeItReplacesASession opens links in browsers in which somebody is signed in.
func TestLinkAsksBeforeItReplacesASession(t *testing.T) {
	t.Parallel()
	s := serve(t)
	id, _ := s.person(t, access.RoleEditor)
	cookie := s.signIn(t, id)
	session, secret := inSession(cookie), s.link(t, 1)
	replace := `{"secret":"` + secret + `","replace":true}`
	s.check(t, call{"the link of another user", "POST", useLink, withSecret(secret), 409, failure("ConflictError", "you are signed in as person-")}, session...)
	s.check(t, call{"the session stays", "GET", me, "", 200, anything}, session...)
	s.check(t, call{"the person agrees", "POST", useLink, replace, 204, ""}, session...)
	s.check(t, call{"the same user", "POST", useLink, withSecret(s.link(t, id)), 204, ""}, session...)
	s.must(t, "POST", fmt.Sprintf("%s/%d/sign-out", people, id), "")
	s.check(t, call{"the session has ended", "POST", useLink, withSecret(s.link(t, 1)), 204, ""}, session...)
}

// TestOneLinkOnce uses a link in several requests at once. One of them starts a session.
func TestOneLinkOnce(t *testing.T) {
	t.Parallel()
	s := serve(t)
	const n = 8
	secret := s.link(t, 1)
	statuses := make([]int, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			got, err := s.try("POST", useLink, withSecret(secret), "Authorization:")
			if err != nil {
				t.Error(err)
			}
			statuses[i] = got.status
		})
	}
	wg.Wait()
	slices.Sort(statuses)
	if want := append([]int{204}, slices.Repeat([]int{401}, n-1)...); !slices.Equal(statuses, want) {
		t.Errorf("statuses %v, want %v", statuses, want)
	}
}

// TestSessionCookie checks the attributes of the cookie, which depend on the address that people use.
func TestSessionCookie(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ publicURL, name, attributes string }{
		{"https://flags.example.com", "__Host-guidon", "Path=/; Max-Age=7200; HttpOnly; Secure; SameSite=Lax"},
		{"", "__Host-guidon", "Path=/; Max-Age=7200; HttpOnly; Secure; SameSite=Lax"},
		{"http://127.0.0.1:4242", "guidon-session", "Path=/; Max-Age=7200; HttpOnly; SameSite=Lax"},
	} {
		s := serve(t, func(c *httpapi.Config, _ *http.RoundTripper) {
			c.PublicURL, c.SessionLifetime = tt.publicURL, 2*time.Hour
		})
		created := s.must(t, "POST", people+"/1/sign-in-link", "").body
		if want := tt.publicURL + "/sign-in#link="; !strings.Contains(created, `"url":"`+want) && tt.publicURL != "" {
			t.Errorf("%s: the link is %s, want %s…", tt.publicURL, created, want)
		}
		got := s.do(t, "POST", useLink, withSecret(s.link(t, 1)), "Authorization:")
		cookies := got.header.Values("Set-Cookie")
		if len(cookies) != 1 {
			t.Fatalf("%s: the cookies %q, want one", tt.publicURL, cookies)
		}
		pair, attributes, _ := strings.Cut(cookies[0], "; ")
		if !strings.HasPrefix(pair, tt.name+"=1.") || attributes != tt.attributes {
			t.Errorf("%s: the cookie %s, want %s=1.… with %s", tt.publicURL, cookies[0], tt.name, tt.attributes)
		}
		out := s.do(t, "POST", "/auth/sign-out", "", inSession("Cookie: "+pair)...)
		if cleared := out.header.Get("Set-Cookie"); out.status != 204 || !strings.HasPrefix(cleared, tt.name+"=; Path=/; Max-Age=0; HttpOnly;") {
			t.Errorf("%s: sign-out: %d and the cookie %s, want 204 and a deleted one", tt.publicURL, out.status, cleared)
		}
	}
}

// TestSessionActsAsUser checks that a session has the permissions of its user, as they are at each request.
func TestSessionActsAsUser(t *testing.T) {
	t.Parallel()
	s := serve(t)
	id, token := s.person(t, access.RoleEditor)
	session := inSession(s.signIn(t, id))
	s.check(t, call{"who am I", "GET", me, "", 200, s.do(t, "GET", me, "", token).body}, session...)
	s.check(t, call{"a change", "POST", features, `{"name":"by-session"}`, 201, anything}, session...)
	s.check(t, call{"no permission", "GET", people, "", 403, failure("NoAccessError", "ADMIN")}, session...)
	s.check(t, call{"a personal token", "POST", ownTokens, `{"description":"laptop","expiresAt":"2100-01-01T00:00:00Z"}`, 201, anything}, session...)
	s.check(t, call{"the personal tokens", "GET", ownTokens, "", 200, anything}, session...)
	log := s.must(t, "GET", "/api/admin/events?limit=2", "").body
	if want := fmt.Sprintf(`"createdBy":"person-%d","createdByUserId":%d`, id, id); strings.Count(log, want) != 2 {
		t.Errorf("the log %s, want two events with %s", log, want)
	}

	user := fmt.Sprintf("%s/%d", people, id)
	s.must(t, "PUT", user, `{"rootRole":3}`)
	s.check(t, call{"as a viewer", "POST", features, `{"name":"x"}`, 403, anything}, session...)
	s.must(t, "PUT", user, `{"rootRole":1}`)
	s.check(t, call{"as an administrator", "GET", people, "", 200, anything}, session...)
	s.must(t, "DELETE", user, "")
	s.check(t, call{"a deleted user", "GET", me, "", 401, failure("AuthenticationRequired", access.ErrSessionEnded.Message)}, session...)
	dynamotest.Check(t, s.store)
}

// TestSessionEnds checks all that ends a session: sign-out, everywhere or not, by the user or an administrator, and time.
func TestSessionEnds(t *testing.T) {
	t.Parallel()
	now := newClock()
	s := serveAt(t, now, func(c *httpapi.Config) { c.SessionLifetime = time.Hour })
	id, token := s.person(t, access.RoleViewer)
	active := func(name string, cookie string, want bool) {
		t.Helper()
		status := map[bool]int{true: 200, false: 401}[want]
		s.check(t, call{name, "GET", me, "", status, anything}, inSession(cookie)...)
	}
	post := func(path string, status int, headers ...string) {
		t.Helper()
		s.check(t, call{path, "POST", path, "", status, anything}, headers...)
	}
	one, two, three := s.signIn(t, id), s.signIn(t, id), s.signIn(t, id)
	other := s.signIn(t, 1)

	post("/auth/sign-out", 204, inSession(one)...)
	active("signed out", one, false)
	active("another session", two, true)
	post("/auth/sign-out", 401, inSession(one)...)

	unused := s.link(t, id)
	post("/auth/sign-out-everywhere", 204, inSession(two)...)
	active("signed out everywhere", two, false)
	active("signed out by another session", three, false)
	active("another user", other, true)
	s.check(t, call{"a link from before", "POST", useLink, withSecret(unused), 401, anything}, "Authorization:")

	four := s.signIn(t, id)
	post(fmt.Sprintf("%s/%d/sign-out", people, id), 204)
	active("signed out by an administrator", four, false)
	s.check(t, call{"a token stays valid", "GET", me, "", 200, anything}, token)

	five := s.signIn(t, id)
	now.advance(time.Hour - time.Millisecond)
	active("before the end", five, true)
	now.advance(time.Millisecond)
	active("expired", five, false)

	post("/auth/sign-out", 403, token)
	post("/auth/sign-out-everywhere", 403)
	post("/auth/sign-out", 401, "Authorization:")
	account, _ := s.accountWithTokens(t)
	post(people+"/"+account+"/sign-in-link", 400)
	post(people+"/"+account+"/sign-out", 400)
	post(people+"/999/sign-in-link", 404)
	post(people+"/999/sign-out", 404)
	post(people+"/1/sign-in-link", 403, token)
	dynamotest.Check(t, s.store)
}

// TestSessionsAreBounded signs in more often than a user can have sessions. The oldest ones end.
func TestSessionsAreBounded(t *testing.T) {
	t.Parallel()
	s := serve(t)
	var cookies []string
	for range access.MaxSessions + 2 {
		cookies = append(cookies, s.signIn(t, 1))
	}
	for i, cookie := range cookies {
		want := 200
		if i < 2 {
			want = 401
		}
		s.check(t, call{fmt.Sprintf("session %d", i), "GET", me, "", want, anything}, inSession(cookie)...)
	}
}

// TestChangesBySession refuses changes that a page of another site could cause with the cookie.
func TestChangesBySession(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *httpapi.Config, _ *http.RoundTripper) { c.PublicURL = "https://flags.example.com" })
	cookie := s.signIn(t, 1)
	host := strings.TrimPrefix(s.url, "http://")
	const marked = "X-Guidon-Console: 1"
	for i, tt := range []struct {
		name    string
		headers []string
		want    int
	}{
		{"without the header", nil, 403},
		{"with another value", []string{"X-Guidon-Console: 0"}, 403},
		{"with the header", []string{marked}, 201},
		{"from the same origin", []string{marked, "Sec-Fetch-Site: same-origin", "Origin: http://" + host}, 201},
		{"from the public address", []string{marked, "Origin: https://flags.example.com"}, 201},
		{"from the public host over http", []string{marked, "Origin: http://flags.example.com"}, 403},
		{"from another site", []string{marked, "Sec-Fetch-Site: cross-site"}, 403},
		{"from a sibling host", []string{marked, "Sec-Fetch-Site: same-site"}, 403},
		{"from the address bar", []string{marked, "Sec-Fetch-Site: none"}, 403},
		{"from another origin", []string{marked, "Sec-Fetch-Site: same-origin", "Origin: https://evil.example.com"}, 403},
		{"from another port", []string{marked, "Origin: http://127.0.0.1:1"}, 403},
		{"from a sandbox", []string{marked, "Origin: null"}, 403},
		{"with the host in the path", []string{marked, "Origin: https://evil.example.com/" + host}, 403},
	} {
		body := fmt.Sprintf(`{"name":"f%d"}`, i)
		want := anything
		if tt.want == 403 {
			want = failure("NoAccessError", "token in the Authorization header")
		}
		s.check(t, call{tt.name, "POST", features, body, tt.want, want}, append([]string{"Authorization:", cookie}, tt.headers...)...)
	}
	s.check(t, call{"a read needs no header", "GET", features, "", 200, anything}, "Authorization:", cookie, "Origin: https://evil.example.com")
	s.check(t, call{"a token needs no header", "POST", features, `{"name":"by-token"}`, 201, anything}, "Origin: https://evil.example.com", "Sec-Fetch-Site: cross-site")
	s.check(t, call{"a link of another site", "POST", useLink, withSecret(s.link(t, 1)), 403, anything}, "Authorization:", "Sec-Fetch-Site: cross-site")
	if got := s.do(t, "GET", me, "", inSession(cookie)...).header.Get("Access-Control-Allow-Credentials"); got != "" {
		t.Errorf("Access-Control-Allow-Credentials is %q, want none", got)
	}
}

// TestForgedCookies checks that only the cookie that a sign-in set is accepted.
func TestForgedCookies(t *testing.T) {
	t.Parallel()
	s := serve(t)
	id, token := s.person(t, access.RoleViewer)
	admin, viewer := s.signIn(t, 1), s.signIn(t, id)
	_, secret, _ := strings.Cut(viewer, ".")
	for name, cookie := range map[string]string{
		"another secret":         "Cookie: __Host-guidon=1." + strings.Repeat("0", 64),
		"of another user":        "Cookie: __Host-guidon=1." + secret,
		"an unknown user":        "Cookie: __Host-guidon=99." + secret,
		"no user":                "Cookie: __Host-guidon=." + secret,
		"a user with zeros":      fmt.Sprintf("Cookie: __Host-guidon=00%d.%s", id, secret),
		"a negative user":        "Cookie: __Host-guidon=-1." + secret,
		"a huge user":            "Cookie: __Host-guidon=99999999999999999999." + secret,
		"a changed secret":       viewer[:len(viewer)-1] + "g",
		"a longer secret":        viewer + "0",
		"no secret":              "Cookie: __Host-guidon=1.",
		"nothing":                "Cookie: __Host-guidon=",
		"the hash of the secret": fmt.Sprintf("Cookie: __Host-guidon=%d.%s", id, access.HashSecret(secret)),
		"the name without https": strings.Replace(viewer, "__Host-guidon", "guidon-session", 1),
		"a sign-in link":         "Cookie: __Host-guidon=1." + s.link(t, 1),
	} {
		s.check(t, call{name, "GET", me, "", 401, failure("AuthenticationRequired", "")}, inSession(cookie)...)
	}
	asViewer := s.do(t, "GET", me, "", token).body
	s.check(t, call{"a token beside a cookie", "GET", me, "", 200, asViewer}, token, admin)
	s.check(t, call{"a wrong token beside a cookie", "GET", me, "", 401, anything}, as("wrong"), admin)
	s.check(t, call{"a token for SDKs beside a cookie", "GET", me, "", 403, anything}, as(dynamotest.ClientToken), admin)
}

// TestOpenWithoutSignIn checks that AUTH_TYPE=none needs no session and ignores one.
func TestOpenWithoutSignIn(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *httpapi.Config, _ *http.RoundTripper) {
		c.Open, c.Origins = true, []string{"https://allowed.example.com"}
	})
	s.check(t, call{"the ways to sign in", "GET", "/auth/methods", "", 200, `{"open":true,"link":true,"oidc":null}`}, "Authorization:")
	s.check(t, call{"a change", "POST", features, `{"name":"a"}`, 201, anything}, "Authorization:", "Cookie: __Host-guidon=1.x")
	for i, tt := range []struct {
		from    string
		headers []string
		want    int
	}{
		{"a script", nil, 201},
		{"the console", []string{"Sec-Fetch-Site: same-origin", "Origin: " + s.url}, 201},
		{"a page of another site", []string{"Sec-Fetch-Site: cross-site", "Origin: https://evil.example.com"}, 403},
		{"a page of another port", []string{"Origin: http://127.0.0.1:1"}, 403},
		{"a page of another site, with a token, which it may not send without asking", []string{"Origin: https://evil.example.com", as("any")}, 201},
		{"a page that may call", []string{"Sec-Fetch-Site: cross-site", "Origin: https://allowed.example.com"}, 201},
	} {
		s.check(t, call{tt.from, "POST", features, fmt.Sprintf(`{"name":"from-%d"}`, i), tt.want, anything}, append([]string{"Authorization:"}, tt.headers...)...)
	}
	s.check(t, call{"a read of another site, which its page cannot see", "GET", features, "", 200, anything}, "Authorization:", "Sec-Fetch-Site: cross-site")
	closed := serve(t)
	closed.check(t, call{"the ways to sign in", "GET", "/auth/methods", "", 200, `{"open":false,"link":true,"oidc":null}`}, "Authorization:")
	if cache := closed.do(t, "GET", "/auth/methods", "").header.Get("Cache-Control"); cache != "no-store" {
		t.Errorf("Cache-Control %q, want no-store", cache)
	}
}

// TestBudgetOfSessions checks that a session costs no call: it is loaded with what the operation reads.
func TestBudgetOfSessions(t *testing.T) {
	t.Parallel()
	count := &counter{}
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	s.create(t, "f")
	session := inSession(s.signIn(t, 1))
	for _, tt := range []struct {
		method, path, body string
		headers            []string
		status             int
		want               string
	}{
		{"GET", features + "/f", "", session, 200, "BatchGetItem"},
		{"GET", me, "", session, 200, "BatchGetItem"},
		{"PUT", features + "/f", `{"stale":true}`, session, 200, "BatchGetItem TransactWriteItems"},
		{"GET", me, "", inSession("Cookie: __Host-guidon=x"), 401, ""},
		{"GET", me, "", inSession("Cookie: __Host-guidon=1." + strings.Repeat("0", 64)), 401, "BatchGetItem"},
		{"POST", useLink, withSecret("wrong"), []string{"Authorization:"}, 401, ""},
		{"POST", useLink, withSecret(strings.Repeat("0", 64)), []string{"Authorization:"}, 401, "BatchGetItem"},
		{"POST", "/auth/sign-out", "", session, 204, "BatchGetItem TransactWriteItems"},
	} {
		var got answer
		calls := strings.Join(count.during(func() { got = s.do(t, tt.method, tt.path, tt.body, tt.headers...) }), " ")
		if got.status != tt.status || calls != tt.want {
			t.Errorf("%s %s: %d with the calls %q; want %d and %q", tt.method, tt.path, got.status, calls, tt.status, tt.want)
		}
	}
}
