package signin_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"guidon/internal/oidctest"
	"guidon/pkg/access"
	"guidon/pkg/apitest"
	"guidon/pkg/httpapi"
)

// TestSeveralSessionCookies sends different session cookies, as a browser does when another program of the host has set one. None
// is used: it could be that of another user.
func TestSeveralSessionCookies(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	id, _ := s.Person(t, access.RoleViewer)
	admin, viewer := s.SignIn(t, 1), s.SignIn(t, id)
	_, second, _ := strings.Cut(viewer, ": ")
	_, first, _ := strings.Cut(admin, ": ")
	refused := apitest.Failure("AuthenticationRequired", "several cookies of a session")
	for name, cookies := range map[string]string{
		"of two users":         admin + "; " + second,
		"in the other order":   viewer + "; " + first,
		"an invalid one first": "Cookie: __Host-guidon=x; " + first,
		"an invalid one last":  admin + "; other=1; __Host-guidon=",
	} {
		s.Check(t, apitest.Call{name, "GET", apitest.Me, "", 401, refused}, apitest.InSession(cookies)...)
		s.Check(t, apitest.Call{name, "POST", "/auth/sign-out", "", 401, refused}, apitest.InSession(cookies)...)
	}
	s.Check(t, apitest.Call{"the same cookie twice", "GET", apitest.Me, "", 200, apitest.Anything}, apitest.InSession(admin+"; other=1; "+first)...)
}

// TestSignInGivesNewSession signs in with the cookie of another session, which must not become that of the user.
func TestSignInGivesNewSession(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	id, _ := s.Person(t, access.RoleViewer)
	for name, planted := range map[string]string{
		"a session of another user": s.SignIn(t, id),
		"an invented session":       "Cookie: __Host-guidon=1." + strings.Repeat("a", 64),
	} {
		before := s.Do(t, "GET", apitest.Me, "", apitest.InSession(planted)...)
		got := s.Do(t, "POST", apitest.UseLink, `{"secret":"`+s.SignInLink(t, 1)+`","replace":true}`, "Authorization:", planted)
		pair, _, _ := strings.Cut(got.Header.Get("Set-Cookie"), ";")
		if got.Status != 204 || "Cookie: "+pair == planted {
			t.Errorf("%s: %d with the cookie %s, want 204 and another one", name, got.Status, pair)
		}
		after := s.Do(t, "GET", apitest.Me, "", apitest.InSession(planted)...)
		if after.Status != before.Status || before.Status == 200 && after.Body != before.Body {
			t.Errorf("%s: %d %s after the sign-in, want what it was before: %d %s", name, after.Status, after.Body, before.Status, before.Body)
		}
	}
}

// TestRequestsOfForms sends what a page of another site can send without a preflight: forms, other content types, HEAD, and
// headers that some servers take for the method.
func TestRequestsOfForms(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "victim")
	cookie := s.SignIn(t, 1)
	flag := apitest.Features + "/victim"
	was, events := s.Do(t, "GET", flag, "").Body, len(s.Newest(t))
	for _, tt := range []struct {
		name, method, path, body string
		headers                  []string
		want                     int
	}{
		{"a form", "POST", apitest.Features, "name=f", []string{"Content-Type: application/x-www-form-urlencoded"}, 403},
		{"a form with files", "POST", apitest.Features, "--a--", []string{"Content-Type: multipart/form-data; boundary=a"}, 403},
		{"JSON as text", "POST", apitest.Features, `{"name":"f"}`, []string{"Content-Type: text/plain"}, 403},
		{"a form with the header in its query", "POST", apitest.Features + "?X-Guidon-Console=1", "name=f", []string{"Content-Type: application/x-www-form-urlencoded"}, 403},
		{"another method in a header", "POST", flag, "", []string{"X-HTTP-Method-Override: DELETE"}, 404},
		{"another method in a GET", "GET", flag, "", []string{"X-HTTP-Method-Override: DELETE", "X-Method-Override: DELETE"}, 200},
		{"another method in the query", "GET", flag + "?_method=DELETE", "", nil, 200},
		{"HEAD of a change", "HEAD", apitest.In("victim", "development") + "/on", "", nil, 404},
		{"HEAD of the sign-out", "HEAD", "/auth/sign-out-everywhere", "", nil, 404},
		{"GET of the sign-out", "GET", "/auth/sign-out-everywhere", "", nil, 404},
		{"GET of a sign-in link", "GET", apitest.Users + "/1/sign-in-link", "", nil, 404},
		{"sign-out by a form", "POST", "/auth/sign-out", "a=b", []string{"Content-Type: application/x-www-form-urlencoded"}, 403},
	} {
		got := s.Do(t, tt.method, tt.path, tt.body, append([]string{"Authorization:", cookie}, tt.headers...)...)
		if got.Status != tt.want {
			t.Errorf("%s: %d %.300s, want %d", tt.name, got.Status, got.Body, tt.want)
		}
	}
	link := s.SignInLink(t, 1)
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded"} {
		got := s.Do(t, "POST", apitest.UseLink, apitest.WithSecret(link), "Authorization:", "Content-Type: "+kind)
		if got.Status != 415 || got.Header.Get("Set-Cookie") != "" {
			t.Errorf("a link as %s: %d %s, want 415 and no cookie", kind, got.Status, got.Body)
		}
	}
	if now := s.Do(t, "GET", flag, "").Body; now != was {
		t.Errorf("the flag is %s, want %s", now, was)
	}
	if now := len(s.Newest(t)); now != events+1 { // the link
		t.Errorf("%d events more, want only that of the link", now-events)
	}
}

// TestPagesCannotReadWithCookies checks that a page in CORS_ORIGINS is never allowed to send the cookie or the header of the console.
func TestPagesCannotReadWithCookies(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t, func(c *httpapi.Config, _ *http.RoundTripper) { c.Origins = []string{"https://tool.example.com"} })
	cookie := s.SignIn(t, 1)
	const origin = "Origin: https://tool.example.com"
	for _, got := range []apitest.Answer{
		s.Do(t, "GET", apitest.Me, "", append(apitest.InSession(cookie), origin)...),
		s.Do(t, "GET", apitest.Features+"/<script>", "", append(apitest.InSession(cookie), origin)...),
		s.Do(t, "OPTIONS", apitest.Features, "", "Authorization:", origin, "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: x-guidon-console"),
	} {
		if credentials := got.Header.Get("Access-Control-Allow-Credentials"); credentials != "" {
			t.Errorf("Access-Control-Allow-Credentials is %q, want none", credentials)
		}
		if sniff := got.Header.Get("X-Content-Type-Options"); got.Body != "" && sniff != "nosniff" {
			t.Errorf("X-Content-Type-Options is %q, want nosniff", sniff)
		}
		if headers := got.Header.Get("Access-Control-Allow-Headers"); strings.Contains(strings.ToLower(headers), "guidon") {
			t.Errorf("a page may send the headers %s, which must not have that of the console", headers)
		}
	}
}

// TestSignInLinkOfChangedUser uses links that were created before the user's role changed or the user was deleted.
func TestSignInLinkOfChangedUser(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	id, _ := s.Person(t, access.RoleAdmin)
	user := fmt.Sprintf("%s/%d", apitest.Users, id)
	secret := s.SignInLink(t, id)
	s.Must(t, "PUT", user, `{"rootRole":3}`)
	got := s.Do(t, "POST", apitest.UseLink, apitest.WithSecret(secret), "Authorization:")
	pair, _, _ := strings.Cut(got.Header.Get("Set-Cookie"), ";")
	cookie := "Cookie: " + pair
	s.Check(t, apitest.Call{"a viewer", "GET", apitest.Me, "", 200, apitest.Anything}, apitest.InSession(cookie)...)
	s.Check(t, apitest.Call{"no administrator", "POST", apitest.Users + "/1/sign-in-link", "", 403, apitest.Failure("NoAccessError", "ADMIN")}, apitest.InSession(cookie)...)

	unused := s.SignInLink(t, id)
	s.Must(t, "DELETE", user, "")
	next, _ := s.Person(t, access.RoleAdmin)
	if next == id {
		t.Fatalf("the ID %d is used again", id)
	}
	_, secretOfSession, _ := strings.Cut(pair, ".")
	s.Check(t, apitest.Call{"a link of the deleted user", "POST", apitest.UseLink, apitest.WithSecret(unused), 401, apitest.Anything}, "Authorization:")
	s.Check(t, apitest.Call{"the session of the deleted user", "GET", apitest.Me, "", 401, apitest.Anything}, apitest.InSession(cookie)...)
	s.Check(t, apitest.Call{"the secret for the next user", "GET", apitest.Me, "", 401, apitest.Anything}, apitest.InSession(fmt.Sprintf("Cookie: __Host-guidon=%d.%s", next, secretOfSession))...)
}

// TestOpenIDCodeOfAnother gives a browser a code that the provider issued for another attempt. PKCE and the nonce bind a code to
// the browser in which the sign-in began.
func TestOpenIDCodeOfAnother(t *testing.T) {
	t.Parallel()
	s, idp := serveOpenID(t, "OIDC_DEFAULT_ROLE=Viewer")
	attacker, victim := newBrowser(t, s, idp), newBrowser(t, s, idp)
	theirs, err := attacker.begin("anna", "/")
	if err != nil {
		t.Fatal(err)
	}
	own, err := victim.begin("berta", "/")
	if err != nil {
		t.Fatal(err)
	}
	wantEnd(t, victim.finish(t, theirs), "/sign-in?error=expired") // the state of another browser
	mixed, err := url.Parse(own)
	if err != nil {
		t.Fatal(err)
	}
	code, err := url.Parse(theirs)
	if err != nil {
		t.Fatal(err)
	}
	query := mixed.Query()
	query.Set("code", code.Query().Get("code"))
	mixed.RawQuery = query.Encode()
	if end := victim.finish(t, mixed.String()); !strings.HasPrefix(end, "/sign-in?error=") {
		t.Errorf("the code of another attempt ends at %q, want an error", end)
	}
	victim.who(t, 401)
	wantEnd(t, victim.finish(t, own), "/sign-in?error=expired") // the attempt has ended
}

// TestOpenIDNamesOfOthers has people choose the names of existing users at the provider.
func TestOpenIDNamesOfOthers(t *testing.T) {
	t.Parallel()
	s, idp := serveOpenID(t, "OIDC_DEFAULT_ROLE=Viewer")
	s.Must(t, "POST", apitest.Users, `{"email":"sara@example.com","rootRole":1}`)
	for _, person := range []oidctest.Person{
		{ID: "Admin", Email: "a@example.com"},
		{ID: "Sara@example.com", Email: "b@example.com"},
		{ID: "sara", Email: "sara@example.com"},
		{ID: "long-s", Email: "\u017fara@example.com", EmailVerified: true},
	} {
		idp.Put(person)
		b := newBrowser(t, s, idp)
		wantEnd(t, b.signIn(t, person.ID, "/"), "/sign-in?error=not-linked")
		b.who(t, 401)
	}
}
