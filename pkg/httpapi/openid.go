package httpapi

import (
	"context"
	"log/slog"
	"net/http"

	"guidon/pkg/flags"
)

// An OpenIDProvider is an OpenID provider at which people sign in. Package oidc has it; the kernel does not link it.
type OpenIDProvider interface {
	Name() string             // for people
	Rules() flags.SignInRules // what people may do

	// Begin starts a sign-in: it returns the address at the provider, and cookies to set.
	Begin(ctx context.Context, publicURL string, cookies []*http.Cookie, next string) (location string, set []*http.Cookie, err error)

	// Finish ends it: it returns the person, the path to go on to, and cookies to set. They are also for a sign-in that failed.
	Finish(ctx context.Context, publicURL string, cookies []*http.Cookie, query interface{ Get(name string) string }) (who *flags.Identity, next string, set []*http.Cookie, err error)
}

// OpenID is the provider at which people sign in; nil if none is set. It can take a call, the first time in a process.
func (tx *Tx) OpenID() (OpenIDProvider, error) {
	open := tx.service.config.OpenID
	if open == nil {
		return nil, nil
	}
	type opened struct {
		provider OpenIDProvider
		err      error
	}
	once := tx.fixed("provider", tx.request.values, func() any {
		provider, err := open(tx.ctx)
		return opened{provider, err}
	}).(opened)
	return once.provider, once.err
}

// BeginSignIn calls Begin of a provider once in the request, although the operation can run several times.
func (tx *Tx) BeginSignIn(provider OpenIDProvider, next string) (location string, set []*http.Cookie, err error) {
	type begun struct {
		location string
		set      []*http.Cookie
		err      error
	}
	once := tx.fixed("sign-in", tx.request.values, func() any {
		location, set, err := provider.Begin(tx.ctx, tx.PublicURL(), tx.request.http.Cookies(), next)
		return begun{location, set, err}
	}).(begun)
	return once.location, once.set, once.err
}

// FinishSignIn calls Finish of a provider once in the request: what the browser brings can only be used once.
func (tx *Tx) FinishSignIn(provider OpenIDProvider) (who *flags.Identity, next string, set []*http.Cookie, err error) {
	type finished struct {
		who  *flags.Identity
		next string
		set  []*http.Cookie
		err  error
	}
	once := tx.fixed("sign-in", tx.request.values, func() any {
		who, next, set, err := provider.Finish(tx.ctx, tx.PublicURL(), tx.request.http.Cookies(), tx.Query())
		return finished{who, next, set, err}
	}).(finished)
	return once.who, once.next, once.set, once.err
}

// FindIdentityLink is the link of a person at an OpenID provider to a user; nil when it does not exist.
func (tx *Tx) FindIdentityLink(who flags.Identity) *flags.IdentityLink {
	return find[*flags.IdentityLink](tx, flags.IdentityKey(who.Issuer, who.Subject))
}

// LogFailedSignIn writes a log line with the cause, which must not have names.
func (tx *Tx) LogFailedSignIn(code string, cause error) {
	tx.After(func(ctx context.Context, _ flags.Store) error {
		if logger := tx.service.config.Logger; logger != nil {
			logger.LogAttrs(ctx, slog.LevelWarn, "sign-in failed", slog.String("code", code), slog.String("cause", cause.Error()))
		}
		return nil
	})
}
