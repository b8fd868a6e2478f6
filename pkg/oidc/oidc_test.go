package oidc

import (
	"errors"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"guidon/internal/oidctest"
	"guidon/pkg/access"
)

// A harness is a service with the two endpoints of a sign-in, and a provider with one person.
type harness struct {
	t        *testing.T
	service  *httptest.Server
	idp      *oidctest.Provider
	provider *Provider
	moved    atomic.Int64     // nanoseconds by which the clock of the service differs
	who      *access.Identity // of the last call of the callback, as are the next ones
	next     string
	err      error
}

var anna = oidctest.Person{ID: "anna", Email: "anna@example.com", EmailVerified: true, Claims: map[string]any{"groups": []string{"devs", "shop"}}}

func newHarness(t *testing.T, settings map[string]string) *harness {
	t.Helper()
	h := &harness{t: t}
	h.service = httptest.NewUnstartedServer(nil)
	public := "http://" + h.service.Listener.Addr().String()
	h.idp = oidctest.New(t, public+CallbackPath, anna)
	parsed, err := settingsOf(h.idp.Environment(settings))
	if err != nil {
		t.Fatal(err)
	}
	h.provider = New(*parsed, h.now)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /auth/oidc/login", func(w http.ResponseWriter, r *http.Request) {
		location, cookies, err := h.provider.Begin(r.Context(), public, r.Cookies(), r.URL.Query().Get("next"))
		if h.err = err; err != nil {
			return
		}
		setCookies(w, cookies)
		http.Redirect(w, r, location, http.StatusFound)
	})
	mux.HandleFunc("GET "+CallbackPath, func(w http.ResponseWriter, r *http.Request) {
		var cookies []*http.Cookie
		h.who, h.next, cookies, h.err = h.provider.Finish(r.Context(), public, r.Cookies(), r.URL.Query())
		setCookies(w, cookies)
	})
	h.service.Config.Handler = mux
	h.service.Start()
	t.Cleanup(h.service.Close)
	return h
}

func setCookies(w http.ResponseWriter, cookies []*http.Cookie) {
	for _, c := range cookies {
		http.SetCookie(w, c)
	}
}

func (h *harness) now() time.Time { return time.Now().Add(time.Duration(h.moved.Load())) }

// newBrowser returns a client that keeps cookies and does not follow redirects by itself.
func newBrowser(t *testing.T) *http.Client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// open calls an address of the service, and returns the address to which it redirects.
func (h *harness) open(browser *http.Client, address string) string {
	h.t.Helper()
	res, err := browser.Get(address)
	if err != nil {
		h.t.Fatal(err)
	}
	res.Body.Close()
	return res.Header.Get("Location")
}

// begin opens the login endpoint, and returns the address at the provider.
func (h *harness) begin(browser *http.Client, next string) *url.URL {
	h.t.Helper()
	location, err := url.Parse(h.open(browser, h.service.URL+"/auth/oidc/login?next="+url.QueryEscape(next)))
	if err != nil || h.err != nil || location.Host == "" {
		h.t.Fatalf("begin: %v, %v, to %q", err, h.err, location)
	}
	return location
}

// consent signs Anna in at the provider, and returns the address of the callback.
func (h *harness) consent(browser *http.Client, location *url.URL) *url.URL {
	h.t.Helper()
	back, err := h.idp.SignIn(browser, location.String(), anna.ID)
	if err != nil {
		h.t.Fatal(err)
	}
	if !strings.HasPrefix(back.String(), h.service.URL+CallbackPath+"?") {
		h.t.Fatalf("the provider leads to %s", back)
	}
	return back
}

// wantCode checks the error of the last call.
func (h *harness) wantCode(want Code, text string) {
	h.t.Helper()
	failure := new(Error)
	if !errors.As(h.err, &failure) || failure.Code != want || !strings.Contains(failure.Error(), text) {
		h.t.Errorf("error %v (%+v), want %s with %q", h.err, failure, want, text)
	}
	if h.who != nil {
		h.t.Errorf("identity %+v in spite of an error", h.who)
	}
	if h.err != nil && strings.Contains(h.err.Error(), oidctest.Secret) {
		h.t.Errorf("the error has the client secret: %v", h.err)
	}
}

func (h *harness) wantIdentity(next string) {
	h.t.Helper()
	if h.err != nil || h.who == nil || h.who.Subject != anna.ID || h.next != next {
		h.t.Errorf("identity %+v, next %q, error %v; want %s, %q", h.who, h.next, h.err, anna.ID, next)
	}
}

func TestSignIn(t *testing.T) {
	h := newHarness(t, map[string]string{"OIDC_GROUP_ROLES": "devs=Editor"})
	browser := newBrowser(t)
	location := h.begin(browser, "/projects/shop?tab=flags")
	query := location.Query()
	if query.Get("code_challenge_method") != "S256" || query.Get("response_type") != "code" || len(query.Get("state")) != 43 || len(query.Get("nonce")) != 43 {
		t.Errorf("the provider is called with %v", query)
	}
	back := h.consent(browser, location)
	h.open(browser, back.String())
	h.wantIdentity("/projects/shop?tab=flags")
	want := &access.Identity{
		Issuer: h.idp.Issuer, Subject: "anna", Email: "anna@example.com", EmailVerified: true,
		Name: "Test Anna", Username: "anna", Groups: []string{"devs", "shop"},
	}
	if diff := cmp.Diff(want, h.who); diff != "" {
		t.Error(diff)
	}
	service, _ := url.Parse(h.service.URL)
	if left := browser.Jar.Cookies(service); len(left) != 0 {
		t.Errorf("cookies %v are left after the sign-in", left)
	}

	h.open(browser, back.String())
	h.wantCode(Expired, "no cookie")
	h.begin(browser, "/")
	if calls := h.idp.Calls(configurationPath); calls != 1 {
		t.Errorf("%d discoveries, want 1 for two sign-ins", calls)
	}
}

func TestAttemptCookie(t *testing.T) {
	for public, want := range map[string]string{
		"https://flags.example.com": "__Host-guidon-oidc-",
		"http://127.0.0.1:4242":     "guidon-oidc-",
	} {
		j := jarOf(public)
		c := j.cookie(newAttempt("/"+strings.Repeat("a", 499), time.Now()))
		if !strings.HasPrefix(c.Name, want) || c.Path != "/" || c.Domain != "" || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.MaxAge != 600 ||
			c.Secure != strings.HasPrefix(public, "https") || len(c.Value) > maxCookie || c.Valid() != nil {
			t.Errorf("%s: cookie %v", public, c)
		}
		if a, ok := parseAttempt(c.Value); !ok || j.name(a.State) != c.Name {
			t.Errorf("%s: the cookie is not read: %+v", public, a)
		}
	}
}

// TestForeignCallback covers callbacks that do not end an attempt of this browser.
func TestForeignCallback(t *testing.T) {
	h := newHarness(t, nil)
	browser := newBrowser(t)
	back := h.consent(browser, h.begin(browser, "/"))
	change := func(name, value string) string {
		u, query := *back, back.Query()
		query.Set(name, value)
		u.RawQuery = query.Encode()
		return u.String()
	}
	state := back.Query().Get("state")
	for name, value := range map[string]string{
		"another state": randomText(), "no state": "", "a changed state": state[:42] + "_", "a short state": state[:12], "a long state": state + "A",
	} {
		t.Run(name, func(t *testing.T) {
			if value == state {
				value = state[:42] + "-"
			}
			h.open(browser, change("state", value))
			h.wantCode(Expired, "")
		})
	}
	h.open(newBrowser(t), back.String())
	h.wantCode(Expired, "no cookie") // the callback of another browser
	h.open(browser, back.String())
	h.wantIdentity("/") // none of these has used the attempt
}

// TestRefusals covers callbacks of an attempt that must not succeed. Each ends the attempt.
func TestRefusals(t *testing.T) {
	h := newHarness(t, nil)
	tests := []struct {
		name   string
		change url.Values
		code   Code
		text   string
	}{
		{"made-up code", url.Values{"code": {"made-up"}}, Expired, "expired or already used"},
		{"no code", url.Values{"code": {""}}, Refused, "0 bytes"},
		{"long code", url.Values{"code": {strings.Repeat("c", 4097)}}, Refused, "4097 bytes"},
		{"other issuer", url.Values{"iss": {"https://evil.example.com"}}, Refused, "issuer"},
		{"person refuses", url.Values{"error": {"access_denied"}, "error_description": {strings.Repeat("d", 5000)}}, Refused, "access_denied"},
		{"provider overloaded", url.Values{"error": {"temporarily_unavailable"}}, ProviderUnavailable, "temporarily"},
		{"wrong scope", url.Values{"error": {"invalid_scope"}}, Misconfigured, "invalid_scope"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			browser := newBrowser(t)
			back := h.consent(browser, h.begin(browser, "/"))
			query := back.Query()
			for name, values := range test.change {
				query[name] = values
			}
			changed := *back
			changed.RawQuery = query.Encode()
			h.open(browser, changed.String())
			h.wantCode(test.code, test.text)
			if len(h.err.Error()) > 1000 {
				t.Errorf("the error has %d bytes", len(h.err.Error()))
			}
			h.open(browser, back.String())
			h.wantCode(Expired, "no cookie")
		})
	}
}

// TestReplayedCode checks that a code is worth nothing to another attempt, before and after it was used.
func TestReplayedCode(t *testing.T) {
	h := newHarness(t, nil)
	browser, other := newBrowser(t), newBrowser(t)
	back := h.consent(browser, h.begin(browser, "/"))
	replay := func() {
		own := h.consent(other, h.begin(other, "/"))
		query := own.Query()
		query.Set("code", back.Query().Get("code"))
		own.RawQuery = query.Encode()
		h.open(other, own.String())
		h.wantCode(Expired, "") // PKCE: the code belongs to another verifier
	}
	replay()
	h.open(browser, back.String())
	h.wantIdentity("/")
	replay()
}

func TestWrongNonce(t *testing.T) {
	h := newHarness(t, nil)
	browser := newBrowser(t)
	location := h.begin(browser, "/")
	query := location.Query()
	query.Set("nonce", randomText())
	location.RawQuery = query.Encode()
	h.open(browser, h.consent(browser, location).String())
	h.wantCode(Refused, "nonce")
}

func TestAudience(t *testing.T) {
	tests := []struct {
		name     string
		audience []string // besides the client
		client   string   // for which the service takes the ID token
		refuse   string   // part of the error, "" for a success
	}{
		{"this client", nil, oidctest.ClientID, ""},
		{"this client and another", []string{"another"}, oidctest.ClientID, ""},
		{"another client", nil, "another", "audience"},
		{"another client that may use the token", []string{"another"}, "another", "issued to the client"},
	}
	h := newHarness(t, nil)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			browser := newBrowser(t)
			h.idp.SetAudience(test.audience...)
			back := h.consent(browser, h.begin(browser, "/"))
			h.provider.settings.ClientID = test.client // the code is exchanged with the ID that was discovered with
			h.open(browser, back.String())
			if test.refuse == "" {
				h.wantIdentity("/")
			} else {
				h.wantCode(Refused, test.refuse)
			}
		})
	}
}

func TestExpiredAttempt(t *testing.T) {
	h := newHarness(t, nil)
	for _, test := range []struct {
		after time.Duration
		works bool
	}{{attemptAge / 2, true}, {attemptAge + time.Minute, false}, {-time.Hour, false}} {
		browser := newBrowser(t)
		h.moved.Store(0)
		back := h.consent(browser, h.begin(browser, "/"))
		h.moved.Store(int64(test.after))
		h.open(browser, back.String())
		if test.works {
			h.wantIdentity("/")
		} else {
			h.wantCode(Expired, "the attempt began")
		}
	}
}

// TestClockSkew has the service's clock differ from the provider's, whose ID tokens are valid for one hour.
func TestClockSkew(t *testing.T) {
	h := newHarness(t, nil)
	for _, test := range []struct {
		skew  time.Duration
		works bool
	}{{0, true}, {-5 * time.Minute, true}, {time.Hour + 30*time.Second, true}, {time.Hour + 2*time.Minute, false}} {
		h.moved.Store(int64(test.skew))
		browser := newBrowser(t)
		h.open(browser, h.consent(browser, h.begin(browser, "/")).String())
		if test.works {
			h.wantIdentity("/")
		} else {
			h.wantCode(Refused, "expired")
		}
	}
}

// TestTabs checks that several tabs sign in at the same time, and that attempts without an end do not pile up.
func TestTabs(t *testing.T) {
	h := newHarness(t, nil)
	browser := newBrowser(t)
	var tabs []*url.URL
	for i := range maxAttempts + 2 {
		h.moved.Store(int64(i) * int64(time.Second)) // attempts begin one after the other
		tabs = append(tabs, h.begin(browser, "/projects/"+string(rune('a'+i))))
	}
	service, _ := url.Parse(h.service.URL)
	if cookies := browser.Jar.Cookies(service); len(cookies) != maxAttempts {
		t.Errorf("%d cookies, want %d", len(cookies), maxAttempts)
	}
	for _, i := range []int{6, 2, 4} {
		h.open(browser, h.consent(browser, tabs[i]).String())
		h.wantIdentity("/projects/" + string(rune('a'+i)))
	}
	h.open(browser, h.consent(browser, tabs[0]).String())
	h.wantCode(Expired, "no cookie")
}

func TestOpenRedirect(t *testing.T) {
	h := newHarness(t, nil)
	for _, next := range []string{"//evil.example.com", "/\\evil.example.com", "https://evil.example.com/", "/\t//evil.example.com"} {
		browser := newBrowser(t)
		h.open(browser, h.consent(browser, h.begin(browser, next)).String())
		h.wantIdentity("/")
	}
}

// TestProviderAway takes endpoints away, and checks that the next sign-in works once they are back.
func TestProviderAway(t *testing.T) {
	h := newHarness(t, nil)
	h.idp.SetAway(configurationPath, true)
	h.open(newBrowser(t), h.service.URL+"/auth/oidc/login")
	h.wantCode(ProviderUnavailable, "discovery")
	h.provider.failedAt = h.now().Add(time.Hour)
	h.idp.SetAway(configurationPath, false)
	h.open(newBrowser(t), h.service.URL+"/auth/oidc/login")
	h.wantCode(ProviderUnavailable, "discovery") // a fresh failure is not repeated
	h.provider.failedAt = h.now().Add(-retryAfter)

	for _, path := range []string{"/oauth/token", "/keys", "/userinfo"} {
		browser := newBrowser(t)
		back := h.consent(browser, h.begin(browser, "/"))
		h.idp.SetAway(path, true)
		h.open(browser, back.String())
		h.wantCode(ProviderUnavailable, "")
		h.idp.SetAway(path, false)
		h.open(browser, h.consent(browser, h.begin(browser, "/")).String())
		h.wantIdentity("/")
		h.provider.found = nil // the keys are fetched again
	}

	// What is known of the provider is used on while it does not describe itself.
	h.begin(newBrowser(t), "/")
	h.idp.SetAway(configurationPath, true)
	h.moved.Add(int64(2 * discoveryAge))
	h.begin(newBrowser(t), "/")
}

func TestMisconfigured(t *testing.T) {
	t.Run("client secret", func(t *testing.T) {
		h := newHarness(t, map[string]string{"OIDC_CLIENT_SECRET": "wrong"})
		browser := newBrowser(t)
		h.open(browser, h.consent(browser, h.begin(browser, "/")).String())
		h.wantCode(Misconfigured, "OIDC_CLIENT_SECRET")
	})
	t.Run("issuer", func(t *testing.T) {
		h := newHarness(t, nil)
		h.provider.settings.Issuer += "/"
		h.open(newBrowser(t), h.service.URL+"/auth/oidc/login")
		h.wantCode(Misconfigured, "OIDC_ISSUER")
	})
}
