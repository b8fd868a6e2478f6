package oidc

import (
	"context"
	"crypto/subtle"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"guidon/pkg/access"
)

// Limits of the parameters with which a browser comes back.
const (
	maxCode      = 4096
	maxParameter = 200
)

// algorithms are the accepted signatures of ID tokens: all that have a public key.
var algorithms = []string{
	oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA,
}

// parameters are those of a query, such as url.Values.
type parameters = interface{ Get(name string) string }

// Finish ends a sign-in: query are the parameters with which the browser came back to CallbackPath, the others are as for Begin. It returns the person and the path to go on to, and cookies to set, with an error too: an attempt that has ended
// cannot be used again. The error is an *Error.
func (p *Provider) Finish(ctx context.Context, publicURL string, cookies []*http.Cookie, query parameters) (who *access.Identity, next string, set []*http.Cookie, err error) {
	jar := jarOf(publicURL)
	a, err := p.find(jar, cookies, query.Get("state"))
	if err != nil {
		return nil, "/", nil, err
	}
	set = []*http.Cookie{jar.removal(jar.name(a.State))}
	ctx, cancel := context.WithTimeout(ctx, finishTimeout)
	defer cancel()
	who, err = p.identify(ctx, publicURL, a, query)
	return who, LocalPath(a.Next), set, err
}

// identify exchanges the code and checks what the provider answers.
func (p *Provider) identify(ctx context.Context, publicURL string, a attempt, query parameters) (*access.Identity, error) {
	if refusal := query.Get("error"); refusal != "" {
		return nil, refusedBy(refusal)
	}
	found, err := p.discover(ctx)
	if err != nil {
		return nil, err
	}
	if issuer := query.Get("iss"); issuer != p.settings.Issuer && (issuer != "" || found.names) {
		return nil, Fail(Refused, "the response is from the issuer %.*q, not from %q", maxParameter, issuer, p.settings.Issuer)
	}
	code := query.Get("code")
	if code == "" || len(code) > maxCode {
		return nil, Fail(Refused, "the code has %d bytes, it must have 1 to %d", len(code), maxCode)
	}

	ctx = oidc.ClientContext(ctx, p.client)
	token, err := found.client(publicURL).Exchange(ctx, code, oauth2.VerifierOption(a.Verifier))
	if err != nil {
		return nil, exchangeError(err)
	}
	idToken, err := p.verify(ctx, found, token, a.Nonce)
	if err != nil {
		return nil, err
	}
	claims, err := p.claims(ctx, found, token, idToken)
	if err != nil {
		return nil, err
	}
	return newIdentity(p.settings, idToken.Subject, claims)
}

// refusedBy returns the error for a response with an error of OAuth (RFC 6749, section 4.1.2.1). Its description can name the person.
func refusedBy(name string) error {
	code := Refused
	switch name {
	case "server_error", "temporarily_unavailable":
		code = ProviderUnavailable
	case "invalid_scope", "unauthorized_client", "unsupported_response_type", "invalid_request":
		code = Misconfigured
	}
	return Fail(code, "the provider refused: %.*q", maxParameter, name)
}

// exchangeError returns the error of a failed exchange of the code. It never has the secret.
func exchangeError(err error) error {
	refusal := new(oauth2.RetrieveError)
	if !errors.As(err, &refusal) {
		return wrap(ProviderUnavailable, err, "the provider did not exchange the code")
	}
	// The text of a RetrieveError has the whole response.
	cause := errors.New(refusal.Response.Status + " " + cut(refusal.ErrorCode, maxParameter) + " " + cut(refusal.ErrorDescription, maxParameter))
	switch {
	case refusal.ErrorCode == "invalid_grant":
		return wrap(Expired, cause, "the code is expired or already used")
	case refusal.Response.StatusCode >= 500 || refusal.Response.StatusCode == http.StatusTooManyRequests:
		return wrap(ProviderUnavailable, cause, "the provider did not exchange the code")
	}
	return wrap(Misconfigured, cause, "the provider refused to exchange the code; check OIDC_CLIENT_ID and OIDC_CLIENT_SECRET")
}

// verify checks the ID token: signature, issuer, audience, expiry and nonce (OpenID Connect Core 1.0, section 3.1.3.7).
func (p *Provider) verify(ctx context.Context, found *discovered, token *oauth2.Token, nonce string) (*oidc.IDToken, error) {
	raw, _ := token.Extra("id_token").(string)
	if raw == "" {
		return nil, Fail(Refused, "the provider sent no ID token")
	}
	keys := &watchedKeys{KeySet: found.keys}
	idToken, err := oidc.NewVerifier(p.settings.Issuer, keys, &oidc.Config{
		ClientID:             p.settings.ClientID,
		SupportedSigningAlgs: algorithms,
		Now:                  func() time.Time { return p.now().Add(-leeway) },
	}).Verify(ctx, raw)
	if err != nil && keys.unavailable {
		return nil, wrap(ProviderUnavailable, err, "the keys of the provider")
	} else if err != nil {
		return nil, wrap(Refused, err, "the ID token is not valid")
	}
	if subtle.ConstantTimeCompare([]byte(idToken.Nonce), []byte(nonce)) != 1 {
		return nil, Fail(Refused, "the nonce of the ID token is not that of the attempt")
	}
	if idToken.AccessTokenHash != "" {
		if err := idToken.VerifyAccessToken(token.AccessToken); err != nil {
			return nil, wrap(Refused, err, "the access token does not belong to the ID token")
		}
	}
	var party struct {
		AZP string `json:"azp"`
	}
	if err := idToken.Claims(&party); err != nil {
		return nil, wrap(Refused, err, "the ID token is not valid")
	}
	if party.AZP != "" && party.AZP != p.settings.ClientID || party.AZP == "" && len(idToken.Audience) > 1 {
		return nil, Fail(Refused, "the ID token was issued to the client %.*q", maxParameter, party.AZP)
	}
	return idToken, nil
}

// watchedKeys notes whether the keys of the provider could not be fetched, which the error of a verifier does not tell.
type watchedKeys struct {
	oidc.KeySet
	unavailable bool
}

// VerifySignature implements oidc.KeySet.
func (k *watchedKeys) VerifySignature(ctx context.Context, jwt string) ([]byte, error) {
	payload, err := k.KeySet.VerifySignature(ctx, jwt)
	cause := new(url.Error)
	k.unavailable = errors.As(err, &cause) || errors.Is(err, context.DeadlineExceeded)
	return payload, err
}
