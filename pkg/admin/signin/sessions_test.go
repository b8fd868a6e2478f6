package signin_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
)

// TestSignInByLink uses a link, and what is not one. The response to every link that cannot be used is the same.
func TestSignInByLink(t *testing.T) {
	t.Parallel()
	now := apitest.NewClock()
	s := apitest.ServeAt(t, now)
	id, _ := s.Person(t, access.RoleEditor)

	created := s.Must(t, "POST", fmt.Sprintf("%s/%d/sign-in-link", apitest.Users, id), "")
	if different := apitest.Match(`{"url":"<has /sign-in#link=>","expiresAt":"2026-01-12T12:00:00.000Z"}`, created.Body); len(different) > 0 {
		t.Errorf("the link: %v", different)
	}
	if got := created.Header.Get("Cache-Control"); got != "no-store" || created.Status != 201 {
		t.Errorf("the link: status %d and Cache-Control %q, want 201 and no-store", created.Status, got)
	}
	url, _, _ := strings.Cut(created.Body, `","`)
	secret := apitest.SecretOfLink(url)
	if len(secret) != 64 {
		t.Fatalf("the secret is %q, want 64 digits", secret)
	}

	refused := func(name, secret string) {
		t.Helper()
		s.Check(t, apitest.Call{name, "POST", apitest.UseLink, apitest.WithSecret(secret), 401, apitest.Failure("AuthenticationRequired", access.ErrLinkInvalid.Message)}, "Authorization:")
	}
	got := s.Do(t, "POST", apitest.UseLink, apitest.WithSecret(secret), "Authorization:")
	if got.Status != 204 || got.Body != "" || got.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %s, Cache-Control %q; want 204 and no-store", got.Status, got.Body, got.Header.Get("Cache-Control"))
	}
	s.Check(t, apitest.Call{"the last sign-in", "GET", fmt.Sprintf("%s/%d", apitest.Users, id), "", 200, `{"...":0,"seenAt":"2026-01-05T12:00:00.000Z"}`})
	refused("the same link again", secret)
	refused("an unknown link", strings.Repeat("0", 64))
	refused("a token", dynamotest.AdminToken)
	refused("upper case", strings.ToUpper(secret))
	for name, body := range map[string]string{"no secret": `{}`, "an empty secret": `{"secret":""}`, "a long secret": apitest.WithSecret(strings.Repeat("a", 201))} {
		s.Check(t, apitest.Call{name, "POST", apitest.UseLink, body, 400, apitest.Invalid("/secret")}, "Authorization:")
	}

	late := s.SignInLink(t, id)
	now.Advance(15 * time.Minute)
	refused("an expired link", late)
	other, _ := s.Person(t, access.RoleViewer)
	orphan := s.SignInLink(t, other)
	s.Must(t, "DELETE", fmt.Sprintf("%s/%d", apitest.Users, other), "")
	refused("a link of a deleted user", orphan)
}

// TestNewestLink checks that only the newest link of a user works.
func TestNewestLink(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	id, _ := s.Person(t, access.RoleEditor)
	first, others := s.SignInLink(t, id), s.SignInLink(t, 1)
	second := s.SignInLink(t, id)
	s.Check(t, apitest.Call{"an earlier link", "POST", apitest.UseLink, apitest.WithSecret(first), 401, apitest.Failure("AuthenticationRequired", "newer one")}, "Authorization:")
	for _, secret := range []string{second, others} {
		s.Check(t, apitest.Call{"the newest link", "POST", apitest.UseLink, apitest.WithSecret(secret), 204, ""}, "Authorization:")
	}
	s.Check(t, apitest.Call{"an earlier link, after the newest", "POST", apitest.UseLink, apitest.WithSecret(first), 401, apitest.Anything}, "Authorization:")
}

// TestLinkAsksBeforeItReplacesASession opens links in browsers in which somebody is signed in.
func TestLinkAsksBeforeItReplacesASession(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	id, _ := s.Person(t, access.RoleEditor)
	cookie := s.SignIn(t, id)
	session, secret := apitest.InSession(cookie), s.SignInLink(t, 1)
	replace := `{"secret":"` + secret + `","replace":true}`
	s.Check(t, apitest.Call{"the link of another user", "POST", apitest.UseLink, apitest.WithSecret(secret), 409, apitest.Failure("ConflictError", "you are signed in as person-")}, session...)
	s.Check(t, apitest.Call{"the session stays", "GET", apitest.Me, "", 200, apitest.Anything}, session...)
	s.Check(t, apitest.Call{"the person agrees", "POST", apitest.UseLink, replace, 204, ""}, session...)
	s.Check(t, apitest.Call{"the same user", "POST", apitest.UseLink, apitest.WithSecret(s.SignInLink(t, id)), 204, ""}, session...)
	s.Must(t, "POST", fmt.Sprintf("%s/%d/sign-out", apitest.Users, id), "")
	s.Check(t, apitest.Call{"the session has ended", "POST", apitest.UseLink, apitest.WithSecret(s.SignInLink(t, 1)), 204, ""}, session...)
}

// TestOneLinkOnce uses a link in several requests at once. One of them starts a session.
func TestOneLinkOnce(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	const n = 8
	secret := s.SignInLink(t, 1)
	statuses := make([]int, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			got, err := s.Try("POST", apitest.UseLink, apitest.WithSecret(secret), "Authorization:")
			if err != nil {
				t.Error(err)
			}
			statuses[i] = got.Status
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
		s := apitest.Serve(t, func(c *httpapi.Config, _ *http.RoundTripper) {
			c.PublicURL, c.SessionLifetime = tt.publicURL, 2*time.Hour
		})
		created := s.Must(t, "POST", apitest.Users+"/1/sign-in-link", "").Body
		if want := tt.publicURL + "/sign-in#link="; !strings.Contains(created, `"url":"`+want) && tt.publicURL != "" {
			t.Errorf("%s: the link is %s, want %s…", tt.publicURL, created, want)
		}
		got := s.Do(t, "POST", apitest.UseLink, apitest.WithSecret(s.SignInLink(t, 1)), "Authorization:")
		cookies := got.Header.Values("Set-Cookie")
		if len(cookies) != 1 {
			t.Fatalf("%s: the cookies %q, want one", tt.publicURL, cookies)
		}
		pair, attributes, _ := strings.Cut(cookies[0], "; ")
		if !strings.HasPrefix(pair, tt.name+"=1.") || attributes != tt.attributes {
			t.Errorf("%s: the cookie %s, want %s=1.… with %s", tt.publicURL, cookies[0], tt.name, tt.attributes)
		}
		out := s.Do(t, "POST", "/auth/sign-out", "", apitest.InSession("Cookie: "+pair)...)
		if cleared := out.Header.Get("Set-Cookie"); out.Status != 204 || !strings.HasPrefix(cleared, tt.name+"=; Path=/; Max-Age=0; HttpOnly;") {
			t.Errorf("%s: sign-out: %d and the cookie %s, want 204 and a deleted one", tt.publicURL, out.Status, cleared)
		}
	}
}

// TestSessionActsAsUser checks that a session has the permissions of its user, as they are at each request.
func TestSessionActsAsUser(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	id, token := s.Person(t, access.RoleEditor)
	session := apitest.InSession(s.SignIn(t, id))
	s.Check(t, apitest.Call{"who am I", "GET", apitest.Me, "", 200, s.Do(t, "GET", apitest.Me, "", token).Body}, session...)
	s.Check(t, apitest.Call{"a change", "POST", apitest.Features, `{"name":"by-session"}`, 201, apitest.Anything}, session...)
	s.Check(t, apitest.Call{"no permission", "GET", apitest.Users, "", 403, apitest.Failure("NoAccessError", "ADMIN")}, session...)
	s.Check(t, apitest.Call{"a personal token", "POST", apitest.OwnTokens, `{"description":"laptop","expiresAt":"2100-01-01T00:00:00Z"}`, 201, apitest.Anything}, session...)
	s.Check(t, apitest.Call{"the personal tokens", "GET", apitest.OwnTokens, "", 200, apitest.Anything}, session...)
	log := s.Must(t, "GET", "/api/admin/events?limit=2", "").Body
	if want := fmt.Sprintf(`"createdBy":"person-%d","createdByUserId":%d`, id, id); strings.Count(log, want) != 2 {
		t.Errorf("the log %s, want two events with %s", log, want)
	}

	user := fmt.Sprintf("%s/%d", apitest.Users, id)
	s.Must(t, "PUT", user, `{"rootRole":3}`)
	s.Check(t, apitest.Call{"as a viewer", "POST", apitest.Features, `{"name":"x"}`, 403, apitest.Anything}, session...)
	s.Must(t, "PUT", user, `{"rootRole":1}`)
	s.Check(t, apitest.Call{"as an administrator", "GET", apitest.Users, "", 200, apitest.Anything}, session...)
	s.Must(t, "DELETE", user, "")
	s.Check(t, apitest.Call{"a deleted user", "GET", apitest.Me, "", 401, apitest.Failure("AuthenticationRequired", access.ErrSessionEnded.Message)}, session...)
}

// TestSessionEnds checks all that ends a session: sign-out, everywhere or not, by the user or an administrator, and time.
func TestSessionEnds(t *testing.T) {
	t.Parallel()
	now := apitest.NewClock()
	s := apitest.ServeAt(t, now, func(c *httpapi.Config) { c.SessionLifetime = time.Hour })
	id, token := s.Person(t, access.RoleViewer)
	active := func(name string, cookie string, want bool) {
		t.Helper()
		status := map[bool]int{true: 200, false: 401}[want]
		s.Check(t, apitest.Call{name, "GET", apitest.Me, "", status, apitest.Anything}, apitest.InSession(cookie)...)
	}
	post := func(path string, status int, headers ...string) {
		t.Helper()
		s.Check(t, apitest.Call{path, "POST", path, "", status, apitest.Anything}, headers...)
	}
	one, two, three := s.SignIn(t, id), s.SignIn(t, id), s.SignIn(t, id)
	other := s.SignIn(t, 1)

	post("/auth/sign-out", 204, apitest.InSession(one)...)
	active("signed out", one, false)
	active("another session", two, true)
	post("/auth/sign-out", 401, apitest.InSession(one)...)

	unused := s.SignInLink(t, id)
	post("/auth/sign-out-everywhere", 204, apitest.InSession(two)...)
	active("signed out everywhere", two, false)
	active("signed out by another session", three, false)
	active("another user", other, true)
	s.Check(t, apitest.Call{"a link from before", "POST", apitest.UseLink, apitest.WithSecret(unused), 401, apitest.Anything}, "Authorization:")

	four := s.SignIn(t, id)
	post(fmt.Sprintf("%s/%d/sign-out", apitest.Users, id), 204)
	active("signed out by an administrator", four, false)
	s.Check(t, apitest.Call{"a token stays valid", "GET", apitest.Me, "", 200, apitest.Anything}, token)

	five := s.SignIn(t, id)
	now.Advance(time.Hour - time.Millisecond)
	active("before the end", five, true)
	now.Advance(time.Millisecond)
	active("expired", five, false)

	post("/auth/sign-out", 403, token)
	post("/auth/sign-out-everywhere", 403)
	post("/auth/sign-out", 401, "Authorization:")
	account, _ := s.AccountWithTokens(t)
	post(apitest.Users+"/"+account+"/sign-in-link", 400)
	post(apitest.Users+"/"+account+"/sign-out", 400)
	post(apitest.Users+"/999/sign-in-link", 404)
	post(apitest.Users+"/999/sign-out", 404)
	post(apitest.Users+"/1/sign-in-link", 403, token)
}

// TestSessionsAreBounded signs in more often than a user can have sessions. The oldest ones end.
func TestSessionsAreBounded(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	var cookies []string
	for range access.MaxSessions + 2 {
		cookies = append(cookies, s.SignIn(t, 1))
	}
	for i, cookie := range cookies {
		want := 200
		if i < 2 {
			want = 401
		}
		s.Check(t, apitest.Call{fmt.Sprintf("session %d", i), "GET", apitest.Me, "", want, apitest.Anything}, apitest.InSession(cookie)...)
	}
}

// TestChangesBySession refuses changes that a page of another site could cause with the cookie.
func TestChangesBySession(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t, func(c *httpapi.Config, _ *http.RoundTripper) { c.PublicURL = "https://flags.example.com" })
	cookie := s.SignIn(t, 1)
	host := strings.TrimPrefix(s.URL, "http://")
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
		want := apitest.Anything
		if tt.want == 403 {
			want = apitest.Failure("NoAccessError", "token in the Authorization header")
		}
		s.Check(t, apitest.Call{tt.name, "POST", apitest.Features, body, tt.want, want}, append([]string{"Authorization:", cookie}, tt.headers...)...)
	}
	s.Check(t, apitest.Call{"a read needs no header", "GET", apitest.Features, "", 200, apitest.Anything}, "Authorization:", cookie, "Origin: https://evil.example.com")
	s.Check(t, apitest.Call{"a token needs no header", "POST", apitest.Features, `{"name":"by-token"}`, 201, apitest.Anything}, "Origin: https://evil.example.com", "Sec-Fetch-Site: cross-site")
	s.Check(t, apitest.Call{"a link of another site", "POST", apitest.UseLink, apitest.WithSecret(s.SignInLink(t, 1)), 403, apitest.Anything}, "Authorization:", "Sec-Fetch-Site: cross-site")
	if got := s.Do(t, "GET", apitest.Me, "", apitest.InSession(cookie)...).Header.Get("Access-Control-Allow-Credentials"); got != "" {
		t.Errorf("Access-Control-Allow-Credentials is %q, want none", got)
	}
}

// TestForgedCookies checks that only the cookie that a sign-in set is accepted.
func TestForgedCookies(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	id, token := s.Person(t, access.RoleViewer)
	admin, viewer := s.SignIn(t, 1), s.SignIn(t, id)
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
		"a sign-in link":         "Cookie: __Host-guidon=1." + s.SignInLink(t, 1),
	} {
		s.Check(t, apitest.Call{name, "GET", apitest.Me, "", 401, apitest.Failure("AuthenticationRequired", "")}, apitest.InSession(cookie)...)
	}
	asViewer := s.Do(t, "GET", apitest.Me, "", token).Body
	s.Check(t, apitest.Call{"a token beside a cookie", "GET", apitest.Me, "", 200, asViewer}, token, admin)
	s.Check(t, apitest.Call{"a wrong token beside a cookie", "GET", apitest.Me, "", 401, apitest.Anything}, apitest.As("wrong"), admin)
	s.Check(t, apitest.Call{"a token for SDKs beside a cookie", "GET", apitest.Me, "", 403, apitest.Anything}, apitest.As(dynamotest.ClientToken), admin)
}

// TestOpenWithoutSignIn checks that AUTH_TYPE=none needs no session and ignores one.
func TestOpenWithoutSignIn(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t, func(c *httpapi.Config, _ *http.RoundTripper) {
		c.Open, c.Origins = true, []string{"https://allowed.example.com"}
	})
	s.Check(t, apitest.Call{"the ways to sign in", "GET", "/auth/methods", "", 200, `{"open":true,"link":true,"oidc":null}`}, "Authorization:")
	s.Check(t, apitest.Call{"a change", "POST", apitest.Features, `{"name":"a"}`, 201, apitest.Anything}, "Authorization:", "Cookie: __Host-guidon=1.x")
	for i, tt := range []struct {
		from    string
		headers []string
		want    int
	}{
		{"a script", nil, 201},
		{"the console", []string{"Sec-Fetch-Site: same-origin", "Origin: " + s.URL}, 201},
		{"a page of another site", []string{"Sec-Fetch-Site: cross-site", "Origin: https://evil.example.com"}, 403},
		{"a page of another port", []string{"Origin: http://127.0.0.1:1"}, 403},
		{"a page of another site, with a token, which it may not send without asking", []string{"Origin: https://evil.example.com", apitest.As("any")}, 201},
		{"a page that may call", []string{"Sec-Fetch-Site: cross-site", "Origin: https://allowed.example.com"}, 201},
	} {
		s.Check(t, apitest.Call{tt.from, "POST", apitest.Features, fmt.Sprintf(`{"name":"from-%d"}`, i), tt.want, apitest.Anything}, append([]string{"Authorization:"}, tt.headers...)...)
	}
	s.Check(t, apitest.Call{"a read of another site, which its page cannot see", "GET", apitest.Features, "", 200, apitest.Anything}, "Authorization:", "Sec-Fetch-Site: cross-site")
	closed := apitest.Serve(t)
	closed.Check(t, apitest.Call{"the ways to sign in", "GET", "/auth/methods", "", 200, `{"open":false,"link":true,"oidc":null}`}, "Authorization:")
	if cache := closed.Do(t, "GET", "/auth/methods", "").Header.Get("Cache-Control"); cache != "no-store" {
		t.Errorf("Cache-Control %q, want no-store", cache)
	}
}

// TestBudgetOfSessions checks that a session costs no call: it is loaded with what the operation reads.
func TestBudgetOfSessions(t *testing.T) {
	t.Parallel()
	count := &apitest.Counter{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	s.Create(t, "f")
	session := apitest.InSession(s.SignIn(t, 1))
	for _, tt := range []struct {
		method, path, body string
		headers            []string
		status             int
		want               string
	}{
		{"GET", apitest.Features + "/f", "", session, 200, "BatchGetItem"},
		{"GET", apitest.Me, "", session, 200, "BatchGetItem"},
		{"PUT", apitest.Features + "/f", `{"stale":true}`, session, 200, "BatchGetItem TransactWriteItems"},
		{"GET", apitest.Me, "", apitest.InSession("Cookie: __Host-guidon=x"), 401, ""},
		{"GET", apitest.Me, "", apitest.InSession("Cookie: __Host-guidon=1." + strings.Repeat("0", 64)), 401, "BatchGetItem"},
		{"POST", apitest.UseLink, apitest.WithSecret("wrong"), []string{"Authorization:"}, 401, ""},
		{"POST", apitest.UseLink, apitest.WithSecret(strings.Repeat("0", 64)), []string{"Authorization:"}, 401, "BatchGetItem"},
		{"POST", "/auth/sign-out", "", session, 204, "BatchGetItem TransactWriteItems"},
	} {
		var got apitest.Answer
		calls := strings.Join(count.During(func() { got = s.Do(t, tt.method, tt.path, tt.body, tt.headers...) }), " ")
		if got.Status != tt.status || calls != tt.want {
			t.Errorf("%s %s: %d with the calls %q; want %d and %q", tt.method, tt.path, got.Status, calls, tt.status, tt.want)
		}
	}
}
