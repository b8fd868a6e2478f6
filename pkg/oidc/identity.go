package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/mail"
	"net/url"
	"strings"
	"unicode"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"guidon/pkg/access"
)

// Limits of what a provider says of a person. More is refused, except for names, which are cut.
const (
	maxSubject = 255 // OpenID Connect Core 1.0, section 2
	maxEmail   = 254 // RFC 5321
	maxName    = 100 // characters
	maxGroups  = 500
	maxGroup   = 256
)

// claims are what a provider says of a person.
type claims map[string]json.RawMessage

// claims returns the claims of the ID token, and those that only the userinfo endpoint has. It is called if one that Guidon
// uses is missing.
func (p *Provider) claims(ctx context.Context, found *discovered, token *oauth2.Token, idToken *oidc.IDToken) (claims, error) {
	all := claims{}
	if err := idToken.Claims(&all); err != nil {
		return nil, wrap(Refused, err, "the claims of the ID token")
	}
	if p.distributed(all) {
		return nil, Fail(Refused, "the provider leaves out the claim %q because the person is in too many groups: have it send only those that matter", p.settings.GroupsClaim)
	}
	if !found.userInfo || p.complete(all) {
		return all, nil
	}
	info, err := found.provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if cause := new(url.Error); errors.As(err, &cause) {
		return nil, wrap(ProviderUnavailable, err, "the userinfo endpoint")
	} else if err != nil {
		return nil, wrap(Refused, err, "the userinfo endpoint")
	}
	if info.Subject != idToken.Subject {
		return nil, Fail(Refused, "the userinfo endpoint answers for another person")
	}
	more := claims{}
	if err := info.Claims(&more); err != nil {
		return nil, wrap(Refused, err, "the claims of the userinfo endpoint")
	}
	if _, has := all["email"]; has {
		delete(more, "email_verified") // it belongs to another e-mail address
	}
	maps.Copy(more, all)
	return more, nil
}

// complete tells whether the userinfo endpoint has nothing to add.
func (p *Provider) complete(all claims) bool {
	needed := []string{"email", "name"}
	if len(p.settings.Rules.GroupRoles) > 0 {
		needed = append(needed, p.settings.GroupsClaim)
	}
	for _, name := range needed {
		if _, has := all[name]; !has {
			return false
		}
	}
	return true
}

// distributed tells whether the groups are elsewhere, as Entra does it with more than 200 groups.
func (p *Provider) distributed(all claims) bool {
	var sources map[string]string
	_ = json.Unmarshal(all["_claim_names"], &sources)
	_, has := sources[p.settings.GroupsClaim]
	return has && len(p.settings.Rules.GroupRoles) > 0
}

// newIdentity returns the person whom the claims describe.
func newIdentity(settings Settings, subject string, all claims) (*access.Identity, error) {
	who := &access.Identity{Issuer: settings.Issuer, Subject: subject}
	if subject == "" || len(subject) > maxSubject || unprintable(subject) {
		return nil, Fail(Refused, "the claim sub has %d bytes, it must have 1 to %d printable ones", len(subject), maxSubject)
	}
	var err error
	if who.Email, err = all.text("email"); err != nil {
		return nil, err
	}
	if who.Email != "" {
		address, err := mail.ParseAddress(who.Email)
		if len(who.Email) > maxEmail || unprintable(who.Email) || err != nil || address.Address != who.Email {
			return nil, Fail(Refused, "the claim email is not an e-mail address of at most %d characters", maxEmail)
		}
		who.EmailVerified = all.isTrue("email_verified")
		if !access.IsEmail(who.Email) { // bo@example, which a provider of a company's own network may send
			who.Email, who.EmailVerified = "", false
		}
	}
	if who.Name, err = all.text("name"); err != nil {
		return nil, err
	}
	if who.Username, err = all.text("preferred_username"); err != nil {
		return nil, err
	}
	who.Name, who.Username = cut(printable(who.Name), maxName), cut(printable(who.Username), maxName)
	if len(settings.Rules.GroupRoles) == 0 {
		return who, nil
	}
	if who.Groups, err = all.groups(settings.GroupsClaim); err != nil {
		return nil, err
	}
	return who, nil
}

// text returns a claim, "" if it is missing.
func (c claims) text(name string) (string, error) {
	var text *string
	if value, has := c[name]; has && json.Unmarshal(value, &text) != nil {
		return "", Fail(Refused, "the claim %s must be a text", name)
	}
	if text == nil {
		return "", nil
	}
	return *text, nil
}

// isTrue tells whether a claim is true. Cognito sends it as a text.
func (c claims) isTrue(name string) bool {
	value := string(c[name])
	return value == "true" || value == `"true"`
}

// groups returns the groups of the claim, which is a list of texts or one text. A missing claim means no groups: many
// providers leave it out.
func (c claims) groups(name string) ([]string, error) {
	value, has := c[name]
	if !has || string(value) == "null" {
		return nil, nil
	}
	var list []string
	if json.Unmarshal(value, &list) != nil {
		one, err := c.text(name)
		if err != nil {
			return nil, Fail(Refused, "the claim %s must be a list of texts", name)
		}
		list = []string{one}
	}
	if len(list) > maxGroups {
		return nil, Fail(Refused, "the claim %s has %d groups, and may have %d: have the provider send only those that matter", name, len(list), maxGroups)
	}
	for _, group := range list {
		if len(group) > maxGroup || unprintable(group) {
			return nil, Fail(Refused, "the claim %s has a group of %d bytes; a group may have %d printable ones", name, len(group), maxGroup)
		}
	}
	return list, nil
}

func unprintable(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// printable returns the text without unprintable characters.
func printable(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text))
}

// cut returns the first characters of a text.
func cut(text string, limit int) string {
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit])
	}
	return text
}
