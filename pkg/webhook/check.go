package webhook

import (
	"encoding/base64"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"guidon/pkg/flags"
)

// The limits of what a user can set.
const (
	maxURL       = 2000
	maxHeaders   = 20
	maxHeader    = 1000 // characters of a header's value
	maxTemplate  = 10_000
	minSecret    = 16
	maxSecret    = 200
	secretPrefix = "whsec_" // of secrets in base64, as https://www.standardwebhooks.com has it
)

// CheckParameter returns the reason why a text cannot be the value of a parameter. "" counts as absent.
func CheckParameter(name, value string) error {
	if value == "" {
		return nil
	}
	switch name {
	case flags.AddonURL:
		return CheckURL(value)
	case flags.AddonContentType, flags.AddonAuthorization:
		return CheckHeaderValue(value)
	case flags.AddonHeaders:
		_, err := ParseHeaders(value)
		return err
	case flags.AddonBodyTemplate:
		return CheckTemplate(value)
	case flags.AddonSecretKey:
		return CheckSecret(value)
	}
	return nil
}

// CheckURL returns the reason why messages cannot be sent to a URL in any network. Networks.CheckURL also knows which ones are allowed.
func CheckURL(text string) error {
	if len(text) > maxURL {
		return invalid("the URL has more than %d characters", maxURL)
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Opaque != "" || u.Scheme != "https" && u.Scheme != "http":
		return invalid("expected a URL that begins with https:// or http://")
	case u.User != nil:
		return invalid("the URL must not contain a user or password; use the parameter authorization")
	case u.Hostname() == "":
		return invalid("the URL has no host")
	case u.Fragment != "" || strings.HasSuffix(text, "#"):
		return invalid("the URL must not contain a fragment (#)")
	case !portAllowed(u.Port()):
		return invalid("port %s is not allowed; use 80, 443, or a port from 1024 on", u.Port())
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil && addr.Zone() != "" {
		return invalid("the URL must not contain an address with a zone")
	}
	return nil
}

// portAllowed excludes the ports of other protocols, such as mail: a request could be read as one of theirs.
func portAllowed(port string) bool {
	if port == "" || port == "80" || port == "443" {
		return true
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n >= 1024
}

// ParseHeaders reads the parameter customHeaders: a JSON object whose values are strings.
func ParseHeaders(text string) (map[string]string, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var headers map[string]string
	if err := json.Unmarshal([]byte(text), &headers); err != nil {
		return nil, invalid(`customHeaders must be a JSON object whose values are texts, such as {"X-Team": "checkout"}`)
	}
	if len(headers) > maxHeaders {
		return nil, invalid("customHeaders has more than %d headers", maxHeaders)
	}
	for name, value := range headers {
		if !headerNameAllowed(name) {
			return nil, invalid("customHeaders: %q is not the name of a header, or cannot be set", shorten(name))
		}
		if err := CheckHeaderValue(value); err != nil {
			return nil, invalid("customHeaders, %s: %s", name, err.Error())
		}
	}
	return headers, nil
}

// CheckHeaderValue returns the reason why a text cannot be the value of a header, such as Authorization or Content-Type.
func CheckHeaderValue(value string) error {
	if len(value) > maxHeader {
		return invalid("a header's value can have at most %d characters", maxHeader)
	}
	for _, r := range value {
		if r < ' ' || r > '~' {
			return invalid("a header's value can have printable ASCII characters only")
		}
	}
	return nil
}

// headerNameAllowed excludes headers that say where a message ends or where it goes, and those that this package sets.
func headerNameAllowed(name string) bool {
	lower := strings.ToLower(name)
	if strings.Trim(lower, "abcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~") != "" { // the characters of RFC 9110
		return false
	}
	switch lower {
	case "", "host", "content-length", "content-encoding", "transfer-encoding", "connection", "keep-alive", "te", "trailer", "upgrade", "expect":
		return false
	}
	return len(name) <= 100 && !strings.HasPrefix(lower, "proxy-") && !strings.HasPrefix(lower, "webhook-")
}

// CheckSecret returns the reason why a text cannot be the secret that messages are signed with.
func CheckSecret(secret string) error {
	if len(secret) < minSecret || len(secret) > maxSecret || !utf8.ValidString(secret) {
		return invalid("the signing secret must have %d to %d characters", minSecret, maxSecret)
	}
	if _, err := secretKey(secret); err != nil {
		return invalid("a signing secret that begins with %s must go on in base64", secretPrefix)
	}
	return nil
}

// secretKey is the key of a secret: what follows the prefix in base64, or the text itself.
func secretKey(secret string) ([]byte, error) {
	if encoded, found := strings.CutPrefix(secret, secretPrefix); found {
		key, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return nil, fmt.Errorf("decode the secret: %w", err)
		}
		return key, nil
	}
	return []byte(secret), nil
}

func invalid(format string, args ...any) *flags.Error {
	return flags.Errorf(flags.Invalid, format, args...)
}

// shorten cuts a user's text for a message.
func shorten(text string) string { return flags.Shorten(text, 60) }
