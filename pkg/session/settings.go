package session

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"guidon/pkg/access"
)

// The limits of SESSION_HOURS and of the length of PUBLIC_URL.
const (
	maxSessionHours = 720
	maxPublicURL    = 1000
)

// Settings say where people sign in, and for how long.
type Settings struct {
	PublicURL       string        // PUBLIC_URL: the address that people use, without a slash at its end; "" for that of the request
	SessionLifetime time.Duration // SESSION_HOURS: how long a session lasts; 0 for access.DefaultSessionLifetime

	// OpenID returns the OpenID provider at which people sign in. Only the function with the sign-in needs it. The first call can
	// take a request to the store of its settings. Nil for none.
	OpenID func(ctx context.Context) (Provider, error)
}

// A Provider is an OpenID provider at which people sign in. Package oidc has it; only the function with the sign-in links it.
type Provider interface {
	Name() string              // for people
	Rules() access.SignInRules // what people may do

	// Begin starts a sign-in: it returns the address at the provider, and cookies to set.
	Begin(ctx context.Context, publicURL string, cookies []*http.Cookie, next string) (location string, set []*http.Cookie, err error)

	// Finish ends it: it returns the person, the path to go on to, and cookies to set. They are also for a sign-in that failed.
	Finish(ctx context.Context, publicURL string, cookies []*http.Cookie, query interface{ Get(name string) string }) (who *access.Identity, next string, set []*http.Cookie, err error)
}

// SettingsFromEnv reads PUBLIC_URL and SESSION_HOURS.
func SettingsFromEnv() (s Settings, err error) {
	if s.PublicURL, err = parsePublicURL(os.Getenv("PUBLIC_URL")); err != nil {
		return s, err
	}
	hours := os.Getenv("SESSION_HOURS")
	if hours == "" {
		return s, nil
	}
	n, err := strconv.Atoi(hours)
	if err != nil || n < 1 || n > maxSessionHours {
		return s, fmt.Errorf("SESSION_HOURS is %q; it must be a whole number from 1 to %d", hours, maxSessionHours)
	}
	s.SessionLifetime = time.Duration(n) * time.Hour
	return s, nil
}

// parsePublicURL returns an address without a slash at its end. Over http, the cookie of a session would not be safe from others
// in the network, so this is only allowed on the machine itself.
func parsePublicURL(address string) (string, error) {
	if address == "" {
		return "", nil
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || len(address) > maxPublicURL || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil ||
		strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("PUBLIC_URL is %q; it must be the address that people use, such as https://flags.example.com, without a path", address)
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		return "", fmt.Errorf("PUBLIC_URL is %q; http is only allowed for localhost and 127.0.0.1: use https", address)
	}
	return u.Scheme + "://" + u.Host, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// isLocal reports whether people use the service over http, on the machine that it runs on.
func (s Settings) isLocal() bool { return strings.HasPrefix(s.PublicURL, "http://") }

// isPublicOrigin reports whether an origin is that of PUBLIC_URL.
func (s Settings) isPublicOrigin(origin *url.URL) bool {
	return s.PublicURL != "" && strings.EqualFold(origin.Scheme+"://"+origin.Host, s.PublicURL)
}

func (s Settings) cookieName() string {
	if s.isLocal() {
		return localCookie
	}
	return secureCookie
}

func (s Settings) lifetime() time.Duration {
	return cmp.Or(s.SessionLifetime, access.DefaultSessionLifetime)
}
