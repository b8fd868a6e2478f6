package signin

import (
	"context"

	"guidon/pkg/httpapi"
	"guidon/pkg/oidc"
)

// OpenID is the setting of the interface for a function that returns the OpenID provider, or nil if none is set.
func OpenID(provider func(ctx context.Context) (*oidc.Provider, error)) func(ctx context.Context) (httpapi.OpenIDProvider, error) {
	return func(ctx context.Context) (httpapi.OpenIDProvider, error) {
		p, err := provider(ctx)
		if err != nil || p == nil {
			return nil, err
		}
		return p, nil
	}
}
