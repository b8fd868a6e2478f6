package oidc

import (
	"cmp"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// Limits of attempts. All cookies of attempts together are far below what API Gateway accepts in headers, 10 KB.
const (
	attemptAge  = 10 * time.Minute
	maxAttempts = 5 // at the same time in one browser
	maxNext     = 500
	maxCookie   = 1500 // bytes of a cookie's value
	idLength    = 12   // of the state, in the cookie's name
)

// An attempt is one sign-in that has begun. It is kept in a cookie of the browser in which it began, so that its end is only
// accepted there. There is a cookie for each attempt, so that two tabs can sign in at the same time.
type attempt struct {
	State    string `json:"s"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"` // of PKCE
	Next     string `json:"x"`
	Begun    int64  `json:"t"` // Unix time
}

func newAttempt(next string, now time.Time) attempt {
	return attempt{State: randomText(), Nonce: randomText(), Verifier: oauth2.GenerateVerifier(), Next: LocalPath(next), Begun: now.Unix()}
}

// randomText returns 256 random bits as 43 characters.
func randomText() string {
	random := make([]byte, 32)
	rand.Read(random) // never fails
	return base64.RawURLEncoding.EncodeToString(random)
}

// LocalPath returns the path with its query if it is one of this service, and "/" otherwise. A sign-in never leads to another
// host, and never to another sign-in.
func LocalPath(path string) string {
	unsafe := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\\\"<>^`{|}", r) }
	route, _, _ := strings.Cut(path, "?")
	route, _, _ = strings.Cut(route, "#")
	if len(path) > maxNext || !strings.HasPrefix(path, "/") || strings.ContainsFunc(path, unsafe) ||
		strings.Contains(route, "//") || strings.Contains(route, "/.") ||
		strings.HasPrefix(route, "/auth/") || strings.HasPrefix(route, "/api/") || route == "/sign-in" {
		return "/"
	}
	return path
}

// A jar makes the cookies of attempts.
type jar struct {
	prefix string // of the names
	secure bool
}

// jarOf returns the jar for a public address. Over https, only this host can set a cookie whose name begins with __Host-.
func jarOf(publicURL string) jar {
	if strings.HasPrefix(publicURL, "http://") {
		return jar{prefix: "guidon-oidc-"}
	}
	return jar{prefix: "__Host-guidon-oidc-", secure: true}
}

func (j jar) name(state string) string { return j.prefix + state[:idLength] }

// cookie returns the cookie of an attempt.
func (j jar) cookie(a attempt) *http.Cookie {
	value, _ := json.Marshal(a)  // a struct of texts and a number always has a JSON form
	c := j.bare(j.name(a.State)) //nolint:gosec // it has all attributes, see bare
	c.Value, c.MaxAge = base64.RawURLEncoding.EncodeToString(value), int(attemptAge/time.Second)
	return c
}

// removal returns a cookie that removes the one with the name.
func (j jar) removal(name string) *http.Cookie {
	c := j.bare(name) //nolint:gosec // it has all attributes, see bare
	c.MaxAge = -1
	return c
}

// bare has SameSite=Lax: the provider's redirect comes from another site.
func (j jar) bare(name string) *http.Cookie {
	return &http.Cookie{Name: name, Path: "/", HttpOnly: true, Secure: j.secure, SameSite: http.SameSiteLaxMode} //nolint:gosec // not Secure over http, which PUBLIC_URL allows on this machine only
}

// parseAttempt reads the value of a cookie.
func parseAttempt(value string) (attempt, bool) {
	if len(value) > maxCookie {
		return attempt{}, false
	}
	text, err := base64.RawURLEncoding.DecodeString(value)
	if err != nil {
		return attempt{}, false
	}
	var a attempt
	if json.Unmarshal(text, &a) != nil || len(a.State) < idLength || a.Nonce == "" || a.Verifier == "" {
		return attempt{}, false
	}
	return a, true
}

// surplus returns cookies that remove attempts, the oldest first, until one more has room. Unreadable ones count as oldest.
func (j jar) surplus(cookies []*http.Cookie) []*http.Cookie {
	begun, names := map[string]int64{}, []string{}
	for _, c := range cookies {
		if _, seen := begun[c.Name]; !strings.HasPrefix(c.Name, j.prefix) || seen {
			continue
		}
		a, _ := parseAttempt(c.Value)
		begun[c.Name] = a.Begun
		names = append(names, c.Name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(begun[a], begun[b]), strings.Compare(a, b)) })
	var removals []*http.Cookie
	for i := range max(0, len(names)-maxAttempts+1) {
		removals = append(removals, j.removal(names[i]))
	}
	return removals
}

// find returns the attempt with the state.
func (p *Provider) find(j jar, cookies []*http.Cookie, state string) (attempt, error) {
	if len(state) != len(randomText()) {
		return attempt{}, Fail(Expired, "the state %.60q has not the form of a state", state)
	}
	for _, c := range cookies {
		a, ok := parseAttempt(c.Value)
		if c.Name != j.name(state) || !ok || subtle.ConstantTimeCompare([]byte(a.State), []byte(state)) != 1 {
			continue
		}
		age := p.now().Sub(time.Unix(a.Begun, 0))
		if age > attemptAge || age < -leeway {
			return attempt{}, Fail(Expired, "the attempt began %s ago, and ends after %s", age, attemptAge)
		}
		return a, nil
	}
	return attempt{}, Fail(Expired, "the browser has no cookie of this attempt")
}
