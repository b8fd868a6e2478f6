// Package oidc signs people in at an OpenID provider: authorization code flow with PKCE, as OpenID Connect Core 1.0 and
// RFC 9700 describe it. Begin leads a browser to the provider, Finish checks what it comes back with and returns who it is.
// The package keeps nothing: an attempt lives in a cookie. It knows nothing of users and sessions.
package oidc

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"guidon/pkg/access"
)

// CallbackPath is the path to which the provider sends browsers back.
const CallbackPath = "/auth/oidc/callback"

const (
	callTimeout   = 5 * time.Second // of one call of the provider
	finishTimeout = 9 * time.Second // of all calls of a sign-in
	discoveryAge  = time.Hour       // how long the provider's description is used
	retryAfter    = 2 * time.Second // how long a failed discovery is not repeated
	maxResponse   = 1 << 20         // bytes of a response of the provider
	maxHeader     = 64 << 10
)

// leeway is how far the clock of the provider may be off.
const leeway = time.Minute

// A Provider signs people in at an OpenID provider. It can be used by several goroutines.
type Provider struct {
	settings Settings
	now      func() time.Time
	client   *http.Client

	mu       sync.Mutex
	found    *discovered // nil before the first discovery
	foundAt  time.Time
	failed   error // of the last discovery
	failedAt time.Time
}

// discovered is what the provider says of itself.
type discovered struct {
	provider *oidc.Provider
	keys     *oidc.RemoteKeySet
	oauth    oauth2.Config
	userInfo bool
	names    bool // whether responses name the issuer (RFC 9207)
}

// New returns a provider, which takes the time from now: time.Now in production. It makes no call: the provider is discovered
// when it is first needed.
func New(settings Settings, now func() time.Time) *Provider {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableKeepAlives = true // a Lambda function sleeps between sign-ins: its old connections would be dead
	transport.MaxResponseHeaderBytes = maxHeader
	return &Provider{
		settings: settings,
		now:      now,
		client: &http.Client{
			Transport: limited{transport},
			Timeout:   callTimeout,
			// No endpoint of a provider redirects, and a redirect would send the client secret elsewhere.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Name returns the name of the provider, for people.
func (p *Provider) Name() string { return p.settings.Name }

// Rules say what people may do.
func (p *Provider) Rules() access.SignInRules { return p.settings.Rules }

// Begin starts a sign-in. It returns the address at the provider to which the browser goes, and the cookies to set. publicURL is
// the address of Guidon without a slash at its end, as people use it; cookies are those of the request; next is the path to which
// the person returns, see LocalPath. The error is an *Error.
func (p *Provider) Begin(ctx context.Context, publicURL string, cookies []*http.Cookie, next string) (location string, set []*http.Cookie, err error) {
	found, err := p.discover(ctx)
	if err != nil {
		return "", nil, err
	}
	a := newAttempt(next, p.now())
	location = found.client(publicURL).AuthCodeURL(a.State, oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier))
	jar := jarOf(publicURL)
	return location, append(jar.surplus(cookies), jar.cookie(a)), nil
}

// client is the provider as a service at that address uses it.
func (d *discovered) client(publicURL string) *oauth2.Config {
	client := d.oauth
	client.RedirectURL = publicURL + CallbackPath
	return &client
}

// discover returns what the provider says of itself, at most an hour old. While the provider does not answer, an older answer
// is used.
func (p *Provider) discover(ctx context.Context) (*discovered, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if p.found != nil && now.Sub(p.foundAt) < discoveryAge {
		return p.found, nil
	}
	if p.failed == nil || now.Sub(p.failedAt) >= retryAfter {
		found, err := p.ask(ctx)
		if err == nil {
			if p.found != nil && p.found.keys != nil && p.found.oauth.Endpoint == found.oauth.Endpoint {
				found.keys = p.found.keys // it fetches new keys when it needs them
			}
			p.found, p.foundAt, p.failed = found, now, nil
			return found, nil
		}
		p.failed, p.failedAt = err, p.now()
	}
	if p.found != nil {
		return p.found, nil
	}
	return nil, p.failed
}

// ask fetches the provider's description: one call.
func (p *Provider) ask(ctx context.Context) (*discovered, error) {
	// The call serves other requests too, so it does not end with this one.
	ctx, cancel := context.WithTimeout(oidc.ClientContext(context.WithoutCancel(ctx), p.client), callTimeout)
	defer cancel()
	provider, err := oidc.NewProvider(ctx, p.settings.Issuer)
	if mismatch := new(oidc.IssuerMismatchError); errors.As(err, &mismatch) {
		return nil, wrap(Misconfigured, err, "OIDC_ISSUER must be exactly what the provider says")
	} else if err != nil {
		return nil, wrap(ProviderUnavailable, err, "discovery at "+p.settings.Issuer)
	}
	var about struct {
		JWKS     string   `json:"jwks_uri"`
		Methods  []string `json:"token_endpoint_auth_methods_supported"`
		IssParam bool     `json:"authorization_response_iss_parameter_supported"`
	}
	if err := provider.Claims(&about); err != nil {
		return nil, wrap(ProviderUnavailable, err, "discovery at "+p.settings.Issuer)
	}
	endpoint := provider.Endpoint()
	for _, address := range []string{endpoint.TokenURL, about.JWKS} {
		if err := checkURL(address); err != nil {
			return nil, wrap(Misconfigured, err, "an endpoint of the provider")
		}
	}
	if u, err := url.Parse(endpoint.AuthURL); err != nil || u.Host == "" || u.Scheme != "https" && !isLoopback(u.Hostname()) {
		return nil, Fail(Misconfigured, "the authorization endpoint %q of the provider must begin with https://", endpoint.AuthURL)
	}
	endpoint.AuthStyle = oauth2.AuthStyleInHeader
	if about.Methods != nil && !slices.Contains(about.Methods, "client_secret_basic") {
		endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	return &discovered{
		provider: provider,
		keys:     oidc.NewRemoteKeySet(oidc.ClientContext(context.Background(), p.client), about.JWKS),
		oauth: oauth2.Config{
			ClientID: p.settings.ClientID, ClientSecret: p.settings.ClientSecret,
			Endpoint: endpoint, Scopes: p.settings.Scopes,
		},
		userInfo: checkURL(provider.UserInfoEndpoint()) == nil,
		names:    about.IssParam,
	}, nil
}

// limited is a transport that bounds the bodies of responses.
type limited struct{ *http.Transport }

// RoundTrip implements http.RoundTripper.
func (t limited) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := t.Transport.RoundTrip(r)
	if err == nil {
		res.Body = http.MaxBytesReader(nil, res.Body, maxResponse)
	}
	return res, err
}
