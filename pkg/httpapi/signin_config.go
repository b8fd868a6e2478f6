package httpapi

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"guidon/pkg/flags"
)

// The limits of SESSION_HOURS and of the length of PUBLIC_URL.
const (
	maxSessionHours = 720
	maxPublicURL    = 1000
)

// readSignIn reads PUBLIC_URL and SESSION_HOURS.
func (c *Config) readSignIn() (err error) {
	if c.PublicURL, err = parsePublicURL(os.Getenv("PUBLIC_URL")); err != nil {
		return err
	}
	hours := os.Getenv("SESSION_HOURS")
	if hours == "" {
		return nil
	}
	n, err := strconv.Atoi(hours)
	if err != nil || n < 1 || n > maxSessionHours {
		return fmt.Errorf("SESSION_HOURS is %q; it must be a whole number from 1 to %d", hours, maxSessionHours)
	}
	c.SessionLifetime = time.Duration(n) * time.Hour
	return nil
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

// local tells whether people use the service over http, on the machine that it runs on.
func (c Config) local() bool { return strings.HasPrefix(c.PublicURL, "http://") }

// isPublicOrigin tells whether an origin is that of PUBLIC_URL.
func (c Config) isPublicOrigin(origin *url.URL) bool {
	return c.PublicURL != "" && strings.EqualFold(origin.Scheme+"://"+origin.Host, c.PublicURL)
}

func (c Config) sessionCookie() string {
	if c.local() {
		return localSessionCookie
	}
	return secureSessionCookie
}

func (c Config) sessionLifetime() time.Duration {
	return cmp.Or(c.SessionLifetime, flags.DefaultSessionLifetime)
}
