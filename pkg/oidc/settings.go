package oidc

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"guidon/pkg/access"
)

// Settings describe an OpenID provider and what its users may do. Parse reads and checks them.
type Settings struct {
	Issuer       string
	ClientID     string
	ClientSecret string
	Name         string   // of the provider, for the button of the sign-in page
	Scopes       []string // always with "openid"
	GroupsClaim  string   // the claim with the groups of a person
	Rules        access.SignInRules
}

// Names are the names of the settings, as environment variables and as fields of a secret.
var Names = []string{
	"OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET", "OIDC_NAME", "OIDC_SCOPES", "OIDC_GROUPS_CLAIM", "OIDC_GROUP_ROLES",
	"OIDC_CREATE_USERS", "OIDC_DEFAULT_ROLE",
}

// Limits of the settings.
const (
	maxSetting    = 1000   // bytes of a setting
	maxGroupRoles = 10_000 // bytes of OIDC_GROUP_ROLES
	maxMappings   = 200    // parts of OIDC_GROUP_ROLES
	maxProjects   = 10     // in OIDC_GROUP_ROLES: a sign-in changes all of them in one transaction
	maxScopes     = 20
)

const configurationPath = "/.well-known/openid-configuration"

// Parse reads the settings from the environment: get is os.Getenv, or reads a map. It returns nil if no setting is set. The
// error lists all problems.
func Parse(get func(name string) string) (*Settings, error) {
	if !slices.ContainsFunc(Names, func(name string) bool { return get(name) != "" }) {
		return nil, nil
	}
	s := &Settings{ClientID: get("OIDC_CLIENT_ID"), ClientSecret: get("OIDC_CLIENT_SECRET"), Name: get("OIDC_NAME")}
	var problems []error
	problem := func(name, format string, args ...any) {
		problems = append(problems, fmt.Errorf("%s %s", name, fmt.Sprintf(format, args...)))
	}
	for _, name := range Names {
		limit := maxSetting
		if name == "OIDC_GROUP_ROLES" {
			limit = maxGroupRoles
		}
		if len(get(name)) > limit {
			problem(name, "must have at most %d bytes", limit)
		} else if strings.ContainsFunc(get(name), unicode.IsControl) {
			problem(name, "must not contain control characters, such as a line break")
		}
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	for _, name := range []string{"OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET"} {
		if get(name) == "" {
			problem(name, "is required for sign-in with OpenID Connect")
		}
	}

	s.Issuer = get("OIDC_ISSUER")
	if s.Issuer != "" {
		if err := checkURL(s.Issuer); err != nil {
			problem("OIDC_ISSUER", "%v", err)
		} else if strings.HasSuffix(s.Issuer, configurationPath) {
			problem("OIDC_ISSUER", "must not end in %s: remove that part", configurationPath)
		} else if s.Name == "" {
			u, _ := url.Parse(s.Issuer)
			s.Name = u.Hostname()
		}
	}
	if len([]rune(s.Name)) > maxName {
		problem("OIDC_NAME", "must have at most %d characters", maxName)
	}

	s.Scopes = strings.Fields(valueOr(get("OIDC_SCOPES"), "openid profile email"))
	if !slices.Contains(s.Scopes, "openid") {
		problem("OIDC_SCOPES", "must contain openid, such as: openid profile email")
	} else if len(s.Scopes) > maxScopes {
		problem("OIDC_SCOPES", "must have at most %d scopes", maxScopes)
	}

	s.GroupsClaim = valueOr(get("OIDC_GROUPS_CLAIM"), "groups")
	var err error
	if s.Rules.GroupRoles, err = parseGroupRoles(get("OIDC_GROUP_ROLES")); err != nil {
		problem("OIDC_GROUP_ROLES", "%v", err)
	} else if len(s.Rules.Projects()) > maxProjects {
		problem("OIDC_GROUP_ROLES", "must name at most %d projects", maxProjects)
	}
	switch get("OIDC_CREATE_USERS") {
	case "", "on":
		s.Rules.CreateUsers = true
	case "off":
	default:
		problem("OIDC_CREATE_USERS", "must be on or off")
	}
	if role := get("OIDC_DEFAULT_ROLE"); !strings.EqualFold(role, "none") {
		s.Rules.DefaultRole = role
	}
	return s, errors.Join(problems...)
}

// NewFromJSON returns the provider with settings as ParseJSON reads them. The error is an *Error.
func NewFromJSON(text string) (*Provider, error) {
	settings, err := ParseJSON(text)
	if err != nil {
		return nil, Fail(Misconfigured, "the secret with the settings of OpenID Connect: %v", err)
	}
	return New(*settings, time.Now), nil
}

// ParseJSON reads the settings from a JSON object with the names of the environment variables, such as
// {"OIDC_ISSUER":"https://login.example.com"}. All values are strings.
func ParseJSON(text string) (*Settings, error) {
	var values map[string]string
	if err := json.Unmarshal([]byte(text), &values); err != nil {
		// The cause can quote the text, which has a secret.
		return nil, errors.New("the settings of OpenID Connect must be a JSON object whose values are strings")
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(Names, name) {
			return nil, fmt.Errorf("%q is not a setting of OpenID Connect: use %s", name, strings.Join(Names, ", "))
		}
	}
	settings, err := Parse(func(name string) string { return values[name] })
	if settings == nil && err == nil {
		return nil, errors.New("the settings of OpenID Connect are empty: OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET are required")
	}
	return settings, err
}

// parseGroupRoles reads a list such as platform=Admin,devs=Editor,shop=shop:Owner.
func parseGroupRoles(text string) ([]access.GroupRole, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var list []access.GroupRole
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		i := strings.LastIndexByte(part, '=') // a group can have a "=" in its name, a role cannot
		if i < 0 {
			return nil, fmt.Errorf("has the part %q: use group=Role, or group=project:Role for a role in a project", part)
		}
		m := access.GroupRole{Group: strings.TrimSpace(part[:i]), Role: strings.TrimSpace(part[i+1:])}
		if project, role, ok := strings.Cut(m.Role, ":"); ok {
			m.Project, m.Role = strings.TrimSpace(project), strings.TrimSpace(role)
			if m.Project == "" {
				m.Role = "" // refused below
			}
		}
		if m.Group == "" || m.Role == "" {
			return nil, fmt.Errorf("has the part %q: use group=Role, or group=project:Role for a role in a project", part)
		}
		if list = append(list, m); len(list) > maxMappings {
			return nil, fmt.Errorf("must have at most %d parts", maxMappings)
		}
	}
	return list, nil
}

// checkURL checks the address of the provider, or of one of its endpoints: https, or http on this machine.
func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || u.RawQuery != "" || u.ForceQuery:
		return fmt.Errorf("%q must be an address without a query, such as https://login.example.com", text)
	case u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname()):
		return nil
	}
	return fmt.Errorf("%q must begin with https://; http:// is for a provider on this machine", text)
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

func valueOr(value, other string) string {
	if strings.TrimSpace(value) == "" {
		return other
	}
	return value
}
