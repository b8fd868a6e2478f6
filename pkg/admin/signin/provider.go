package signin

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"guidon/pkg/access"
	"guidon/pkg/httpapi"
	"guidon/pkg/oidc"
	"guidon/pkg/session"
)

// OpenID is the setting of the API for a function that returns the OpenID provider, or nil if none is set. Its errors are of the type
// *oidc.Error, or say that the settings cannot be read.
func OpenID(provider func(ctx context.Context) (*oidc.Provider, error)) func(ctx context.Context) (session.Provider, error) {
	return func(ctx context.Context) (session.Provider, error) {
		p, err := provider(ctx)
		if _, known := errors.AsType[*oidc.Error](err); err != nil && !known {
			err = oidc.Fail(oidc.ProviderUnavailable, "the secret with the settings of OpenID Connect cannot be read: %v", err)
		}
		if err != nil || p == nil {
			return nil, err
		}
		return p, nil
	}
}

// findProvider is the provider at which people sign in; nil if none is set. It can take a call, the first time in a process.
func findProvider(tx *httpapi.Tx) (session.Provider, error) {
	type key struct{}
	type found struct {
		provider session.Provider
		err      error
	}
	once := httpapi.OncePerRequest(tx, key{}, func(ctx context.Context) (f found) {
		if open := tx.SignIn().OpenID; open != nil {
			f.provider, f.err = open(ctx)
		}
		return f
	})
	return once.provider, once.err
}

// begin calls Begin of a provider.
func begin(tx *httpapi.Tx, provider session.Provider) (location string, set []*http.Cookie, err error) {
	type key struct{}
	type begun struct {
		location string
		set      []*http.Cookie
		err      error
	}
	next := tx.Query().Get("next")
	once := httpapi.OncePerRequest(tx, key{}, func(ctx context.Context) (b begun) {
		b.location, b.set, b.err = provider.Begin(ctx, tx.PublicURL(), tx.Cookies(), next)
		return b
	})
	return once.location, once.set, once.err
}

// finish calls Finish of a provider: what the browser brings can only be used once.
func finish(tx *httpapi.Tx, provider session.Provider) (who *access.Identity, next string, set []*http.Cookie, err error) {
	type key struct{}
	type finished struct {
		who  *access.Identity
		next string
		set  []*http.Cookie
		err  error
	}
	once := httpapi.OncePerRequest(tx, key{}, func(ctx context.Context) (f finished) {
		f.who, f.next, f.set, f.err = provider.Finish(ctx, tx.PublicURL(), tx.Cookies(), tx.Query())
		return f
	})
	return once.who, once.next, once.set, once.err
}

// warn writes a line to the log with the cause of a failed sign-in, which must not have names.
func warn(tx *httpapi.Tx, code oidc.Code, cause error) {
	tx.Warn("sign-in failed", slog.String("code", string(code)), slog.String("cause", cause.Error()))
}
