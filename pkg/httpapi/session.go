package httpapi

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"guidon/pkg/flags"
)

// The cookies of a session. A browser accepts a cookie with the prefix __Host- only over https, and no other host can set it.
const (
	secureSessionCookie = "__Host-guidon"
	localSessionCookie  = "guidon-session" // on this machine over http, see Config.PublicURL
)

// ConsoleHeader is the header that every change by a session needs. A page of another origin cannot send it.
const ConsoleHeader = "X-Guidon-Console"

// A sessionCookie is what the cookie of a request tells: the user, and the hash of the secret. The user is 0 if it cannot be the
// cookie of a session.
type sessionCookie struct {
	user int64
	hash string

	ambiguous bool // whether the request has different cookies of the name
}

// keys are the aggregates that authenticate the session: all are loaded with what the operation reads, in one call.
func (c *sessionCookie) keys() []flags.Key {
	if c.user == 0 {
		return nil
	}
	return []flags.Key{flags.SessionsKey(c.user), flags.UserKey(c.user), flags.RolesKey()}
}

// sessionOf returns the session of a request; nil if it has none. An Authorization header takes precedence over a cookie.
func (s *service) sessionOf(r *http.Request) *sessionCookie {
	if r.Header.Get("Authorization") != "" {
		return nil
	}
	cookies := r.CookiesNamed(s.config.sessionCookie())
	if len(cookies) == 0 {
		return nil
	}
	for _, other := range cookies[1:] {
		if other.Value != cookies[0].Value {
			return &sessionCookie{ambiguous: true}
		}
	}
	user, hash, _ := flags.ParseSession(cookies[0].Value)
	return &sessionCookie{user: user, hash: hash}
}

// errSeveralSessions is the error for different session cookies. Over http, other programs of the host can set one for a longer
// path, which browsers send first: the person would act as another user.
var errSeveralSessions = flags.Errorf(flags.Unauthenticated,
	"the request has several cookies of a session; delete the cookies of this address in the browser, and sign in again")

// authenticateSession finds out who is signed in. A change must come from a page of this origin: browsers send the cookie also
// with some requests that pages of other origins make.
func (tx *Tx) authenticateSession(c *sessionCookie) error {
	switch {
	case c.ambiguous:
		return errSeveralSessions
	case c.user == 0:
		return flags.ErrSessionEnded
	}
	view := tx.round.view
	caller, err := flags.AuthenticateSession(flags.Find[*flags.Sessions](view, flags.SessionsKey(c.user)), c.hash,
		flags.Find[*flags.User](view, flags.UserKey(c.user)), flags.Find[*flags.Roles](view, flags.RolesKey()), tx.Now)
	if err != nil {
		return err
	}
	tx.Caller = caller
	if err := tx.checkSessionChange(); err != nil {
		return err
	}
	if place, ok := tx.request.place.(placeOfMore); ok {
		tx.Load(place.MoreKeys(tx)...)
	}
	return nil
}

// checkSessionChange refuses a change by a session that another site could have caused.
func (tx *Tx) checkSessionChange() error {
	r := tx.request.http
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	if r.Header.Get(ConsoleHeader) != "1" {
		return flags.Errorf(flags.Forbidden, "a change with a session cookie needs the header %s: 1; send it, or send a token in the Authorization header", ConsoleHeader)
	}
	return tx.CheckSameOrigin()
}

// CheckSameOrigin returns Forbidden if the browser tells that the request comes from a page of another origin.
func (tx *Tx) CheckSameOrigin() error {
	r := tx.request.http
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return errOtherOrigin
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return nil
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) && !tx.service.config.isPublicOrigin(u) {
		return errOtherOrigin
	}
	return nil
}

var errOtherOrigin = flags.Errorf(flags.Forbidden,
	"this request comes from a page of another origin; use the console at its own address, or send a token in the Authorization header. "+
		"If the console is behind a proxy, set PUBLIC_URL to the address that people use")

// NewSession is a session that starts now, with that secret.
func (tx *Tx) NewSession(how flags.SignInMethod, secret string) flags.Session {
	return flags.Session{
		Hash: flags.HashSecret(secret), How: how, CreatedAt: tx.Now, ExpiresAt: tx.Now.Add(tx.service.config.sessionLifetime()),
	}
}

// SetSession has the browser keep a session of a user, which ends there when it expires.
func (tx *Tx) SetSession(user int64, secret string) {
	tx.setSessionCookie(flags.FormatSession(user, secret), int(tx.service.config.sessionLifetime()/time.Second))
}

// ClearSession has the browser delete the cookie of its session.
func (tx *Tx) ClearSession() { tx.setSessionCookie("", -1) }

func (tx *Tx) setSessionCookie(value string, maxAge int) {
	config := tx.service.config
	tx.SetCookie(&http.Cookie{ //nolint:gosec // G124: Secure everywhere except over plain HTTP on this machine
		Name: config.sessionCookie(), Value: value, MaxAge: maxAge, Path: "/",
		HttpOnly: true, Secure: !config.local(), SameSite: http.SameSiteLaxMode,
	})
}

// SetCookie has the browser keep a cookie. It is only sent if the operation succeeds.
func (tx *Tx) SetCookie(cookie *http.Cookie) {
	tx.cookies = append(tx.cookies, cookie.String())
	tx.NoStore()
}

// Cookie is the value of a cookie of the request; "" if it has none of that name.
func (tx *Tx) Cookie(name string) string {
	cookie, err := tx.request.http.Cookie(name)
	if err != nil {
		return ""
	}
	return cookie.Value
}

// Open tells whether every caller is an administrator, without a token or session (AUTH_TYPE=none).
func (tx *Tx) Open() bool { return tx.service.config.Open }

// PublicURL is the address that people use, without a slash at its end: PUBLIC_URL, or the address of the request.
func (tx *Tx) PublicURL() string {
	if public := tx.service.config.PublicURL; public != "" {
		return public
	}
	return "https://" + tx.request.http.Host
}

// FindSessions are the sessions of a user; nil if the user never signed in.
func (tx *Tx) FindSessions(user int64) *flags.Sessions {
	return find[*flags.Sessions](tx, flags.SessionsKey(user))
}

// Sessions are the sessions of a user, which may be none.
func (tx *Tx) Sessions(user int64) *flags.Sessions {
	if found := tx.FindSessions(user); found != nil {
		return found
	}
	return created(tx, flags.SessionsKey(user), &flags.Sessions{User: user})
}

// FindSignInLink is the sign-in link whose secret has that hash; nil when it does not exist.
func (tx *Tx) FindSignInLink(hash string) *flags.SignInLink {
	return find[*flags.SignInLink](tx, flags.SignInLinkKey(hash))
}

// Redirect sends the browser to another address. The status of the operation must be a redirect.
func (tx *Tx) Redirect(to string) { tx.location = to }
