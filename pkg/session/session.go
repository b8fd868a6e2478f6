// Package session keeps people signed in to the console. It finds the session in the cookie of a request, decides who the caller is,
// and refuses changes that another site could have caused. The rules of sessions are in the domain; how people sign in is in
// pkg/admin/signin.
package session

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/flags"
)

// The cookies of a session. A browser accepts a cookie with the prefix __Host- only over https, and no other host can set it.
const (
	secureCookie = "__Host-guidon"
	localCookie  = "guidon-session" // on this machine over http, see Settings.PublicURL
)

// ConsoleHeader is the header that every change by a session needs. A page of another origin cannot send it.
const ConsoleHeader = "X-Guidon-Console"

// A Claim is the session that the cookie of a request names, before anything is checked.
type Claim struct {
	user int64 // 0 if it cannot be the cookie of a session
	hash string

	ambiguous bool // whether the request has different cookies of the name
}

// Of returns the claim of a request; nil without one. An Authorization header takes precedence over a cookie.
func (s Settings) Of(r *http.Request) *Claim {
	if r.Header.Get("Authorization") != "" {
		return nil
	}
	cookies := r.CookiesNamed(s.cookieName())
	if len(cookies) == 0 {
		return nil
	}
	for _, other := range cookies[1:] {
		if other.Value != cookies[0].Value {
			return &Claim{ambiguous: true}
		}
	}
	user, hash, _ := access.ParseSession(cookies[0].Value)
	return &Claim{user: user, hash: hash}
}

// User returns the ID of the user; 0 if it cannot be the cookie of a session.
func (c *Claim) User() int64 { return c.user }

// Hash returns the hash of the session; "" if it cannot be the cookie of a session.
func (c *Claim) Hash() string { return c.hash }

// Keys returns the aggregates with which Authenticate decides; none for a cookie that is refused anyway.
func (c *Claim) Keys() []flags.Key {
	if c.user == 0 {
		return nil
	}
	return []flags.Key{access.SessionsKey(c.user), access.UserKey(c.user), access.RolesKey()}
}

// errSeveral is the error for different session cookies. Over http, other programs of the host can set one for a longer path, which
// browsers send first: the person would act as another user.
var errSeveral = flags.Errorf(flags.Unauthenticated,
	"the request has several cookies of a session; delete the cookies of this address in the browser, and sign in again")

// Caller returns who is signed in. view has the aggregates of Keys.
func (c *Claim) Caller(view flags.View, now time.Time) (access.Caller, error) {
	switch {
	case c.ambiguous:
		return access.Caller{}, errSeveral
	case c.user == 0:
		return access.Caller{}, access.ErrSessionEnded
	}
	return access.AuthenticateSession(flags.Find[*access.Sessions](view, access.SessionsKey(c.user)), c.hash,
		flags.Find[*access.User](view, access.UserKey(c.user)), flags.Find[*access.Roles](view, access.RolesKey()), now)
}

// Authenticate is Caller for a request that needs a token or session. A change must come from a page of this origin: browsers also
// send the cookie with some requests that pages of other origins make.
func (s Settings) Authenticate(c *Claim, r *http.Request, view flags.View, now time.Time) (access.Caller, error) {
	caller, err := c.Caller(view, now)
	if err == nil {
		err = s.checkChange(r)
	}
	return caller, err
}

// checkChange refuses a change that another site could have caused.
func (s Settings) checkChange(r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	if r.Header.Get(ConsoleHeader) != "1" {
		return flags.Errorf(flags.Forbidden, "a change with a session cookie needs the header %s: 1; send it, or send a token in the Authorization header", ConsoleHeader)
	}
	return s.CheckSameOrigin(r)
}

// CheckSameOrigin returns Forbidden if the browser says that the request comes from a page of another origin.
func (s Settings) CheckSameOrigin(r *http.Request) error {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return errOtherOrigin
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return nil
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) && !s.isPublicOrigin(u) {
		return errOtherOrigin
	}
	return nil
}

var errOtherOrigin = flags.Errorf(flags.Forbidden,
	"this request comes from a page of another origin; use the console at its own address, or send a token in the Authorization header. "+
		"If the console is behind a proxy, set PUBLIC_URL to the address that people use")

// New returns a session that starts now, with that secret.
func (s Settings) New(how access.SignInMethod, secret string, now time.Time) access.Session {
	return access.Session{Hash: access.HashSecret(secret), How: how, CreatedAt: now, ExpiresAt: now.Add(s.lifetime())}
}

// Cookie returns the cookie that keeps a session of a user in the browser until the session expires.
func (s Settings) Cookie(user int64, secret string) *http.Cookie {
	return s.cookie(access.FormatSession(user, secret), int(s.lifetime()/time.Second))
}

// NoCookie returns the cookie that deletes that of a session.
func (s Settings) NoCookie() *http.Cookie { return s.cookie("", -1) }

func (s Settings) cookie(value string, maxAge int) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // G124: Secure everywhere except over plain HTTP on this machine
		Name: s.cookieName(), Value: value, MaxAge: maxAge, Path: "/",
		HttpOnly: true, Secure: !s.isLocal(), SameSite: http.SameSiteLaxMode,
	}
}
