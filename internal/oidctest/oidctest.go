// Package oidctest runs a real OpenID provider in a test: the certified one of github.com/zitadel/oidc, with the sign-in page
// and the storage of its example. Tests change what it says of people, and take it away.
package oidctest

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// The client that the provider knows.
const (
	ClientID = "guidon"
	Secret   = "client-secret-of-the-tests"
)

const password = "password-of-all-people"

// A Person can sign in at the provider.
type Person struct {
	ID            string
	Email         string
	EmailVerified bool
	Claims        map[string]any // besides those of the example, such as groups; or instead of them
}

// A Provider is an OpenID provider on a free port of this machine.
type Provider struct {
	Issuer string

	server *httptest.Server

	mu       sync.Mutex
	people   map[string]*Person
	audience []string
	away     map[string]bool
	calls    map[string]int
}

// New starts a provider that sends browsers back to callback. It ends with the test. The library has variables that all providers
// of a process share, so tests with a provider must not run in parallel.
func New(t testing.TB, callback string, people ...Person) *Provider {
	t.Helper()
	p := &Provider{people: map[string]*Person{}, away: map[string]bool{}, calls: map[string]int{}}
	p.Put(people...)
	p.server = httptest.NewUnstartedServer(nil)
	p.Issuer = "http://" + p.server.Listener.Addr().String()
	client := storage.WebClient(ClientID, Secret, callback)
	store := &store{storage.NewStorageWithClients(p, map[string]*storage.Client{ClientID: client}), p}
	next := exampleop.SetupServer(p.Issuer, store, slog.New(slog.DiscardHandler), false)
	p.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.note(r.URL.Path) {
			panic(http.ErrAbortHandler) // closes the connection without a response
		}
		next.ServeHTTP(w, r)
	})
	p.server.Config.ErrorLog = nil
	p.server.Start()
	t.Cleanup(p.server.Close)
	return p
}

// note counts a call, and tells whether the endpoint is away.
func (p *Provider) note(path string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls[path]++
	return p.away[path] || p.away["*"]
}

// Calls returns how often a path was called.
func (p *Provider) Calls(path string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls[path]
}

// SetAway has the endpoint with the path, "*" for all, close connections without a response, or answer again.
func (p *Provider) SetAway(path string, away bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.away[path] = away
}

// SetAudience has ID tokens name these clients too, besides the one that they are for.
func (p *Provider) SetAudience(clients ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.audience = clients
}

// Put adds people, or changes those with the same ID.
func (p *Provider) Put(people ...Person) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, person := range people {
		p.people[person.ID] = &person
	}
}

// GetUserByID implements storage.UserStore.
func (p *Provider) GetUserByID(id string) *storage.User {
	p.mu.Lock()
	defer p.mu.Unlock()
	person := p.people[id]
	if person == nil {
		return nil
	}
	return &storage.User{
		ID: id, Username: id, Password: password, FirstName: "Test", LastName: strings.ToUpper(id[:1]) + id[1:],
		Email: person.Email, EmailVerified: person.EmailVerified,
	}
}

// GetUserByUsername implements storage.UserStore.
func (p *Provider) GetUserByUsername(name string) *storage.User { return p.GetUserByID(name) }

// ExampleClientID implements storage.UserStore.
func (p *Provider) ExampleClientID() string { return storage.ServiceUserID }

// store is the example's storage with the claims of people.
type store struct {
	*storage.Storage
	provider *Provider
}

// SetUserinfoFromRequest sets the claims of an ID token.
func (s *store) SetUserinfoFromRequest(ctx context.Context, info *oidc.UserInfo, token op.IDTokenRequest, scopes []string) error {
	return s.extend(info, token.GetSubject(), s.Storage.SetUserinfoFromRequest(ctx, info, token, scopes))
}

// SetUserinfoFromToken sets the claims of the userinfo endpoint.
func (s *store) SetUserinfoFromToken(ctx context.Context, info *oidc.UserInfo, tokenID, subject, origin string) error {
	return s.extend(info, subject, s.Storage.SetUserinfoFromToken(ctx, info, tokenID, subject, origin))
}

func (s *store) extend(info *oidc.UserInfo, subject string, err error) error {
	s.provider.mu.Lock()
	defer s.provider.mu.Unlock()
	person := s.provider.people[subject]
	if err != nil || person == nil {
		return err
	}
	for name, value := range person.Claims {
		info.AppendClaims(name, value)
	}
	return nil
}

// AuthRequestByCode returns the request of a code, with the audience that the test wants.
func (s *store) AuthRequestByCode(ctx context.Context, code string) (op.AuthRequest, error) {
	request, err := s.Storage.AuthRequestByCode(ctx, code)
	s.provider.mu.Lock()
	defer s.provider.mu.Unlock()
	if err != nil || len(s.provider.audience) == 0 {
		return request, err
	}
	return wideAudience{request, s.provider.audience}, nil
}

type wideAudience struct {
	op.AuthRequest
	audience []string
}

// GetAudience implements op.AuthRequest.
func (r wideAudience) GetAudience() []string { return r.audience }

// SignIn does what a person does: it opens the address with the browser, fills the form of the provider's page, and returns the
// address to which the provider sends the browser back. The browser must not follow redirects by itself.
func (p *Provider) SignIn(browser *http.Client, address, person string) (*url.URL, error) {
	at, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	for range 10 {
		if at.Host != strings.TrimPrefix(p.Issuer, "http://") {
			return at, nil
		}
		var res *http.Response
		if id := at.Query().Get("authRequestID"); id != "" {
			form := url.Values{"username": {person}, "password": {password}, "id": {id}}
			res, err = browser.PostForm(at.String(), form)
		} else {
			res, err = browser.Get(at.String())
		}
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
		res.Body.Close()
		if err != nil {
			return nil, err
		}
		location, err := res.Location()
		if err != nil {
			return nil, fmt.Errorf("%s answers %s: %s", at, res.Status, body)
		}
		at = location
	}
	return nil, fmt.Errorf("%s redirects more than 10 times", address)
}

// Environment returns the settings for this provider as environment variables, with more of them.
func (p *Provider) Environment(more map[string]string) map[string]string {
	settings := map[string]string{"OIDC_ISSUER": p.Issuer, "OIDC_CLIENT_ID": ClientID, "OIDC_CLIENT_SECRET": Secret, "OIDC_NAME": "Test provider"}
	maps.Copy(settings, more)
	return settings
}
