package serving

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// A fixedSource has one state and some tokens. later is what Again reads; nil for the same.
type fixedSource struct {
	mu      sync.Mutex
	state   *State
	later   *State
	tokens  map[string]*access.Token // by hash
	rereads int
}

func (s *fixedSource) Read(_ context.Context, hash string, _ bool) (Reading, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Reading{Token: s.tokens[hash], State: s.state}, nil
}

func (s *fixedSource) set(state *State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = state
}

func (s *fixedSource) Again(ctx context.Context, hash string) (Reading, error) {
	s.rereads++
	if s.later != nil {
		s.state = s.later
	}
	return s.Read(ctx, hash, true)
}

// testToken is a token whose secret is its name.
func testToken(kind access.TokenType, name, environment string, projects ...*flags.Project) *access.Token {
	t := &access.Token{Hash: access.HashSecret(name), Name: name, Type: kind, Environment: environment, Projects: []string{flags.All}}
	if environment != flags.All {
		t.EnvironmentUID = environment + "-uid"
	}
	if len(projects) > 0 {
		t.Projects = nil
	}
	for _, p := range projects {
		t.Projects, t.ProjectUIDs = append(t.Projects, p.ID), append(t.ProjectUIDs, p.UID)
	}
	return t
}

func TestAccess(t *testing.T) {
	one, two := &flags.Project{ID: "one", UID: "one-uid"}, &flags.Project{ID: "two", UID: "two-uid"}
	environments := &flags.Environments{List: []flags.Environment{{Name: "development", UID: "development-uid"}}}
	full := &State{Projects: map[string]*flags.Project{"one": one, "two": two}, Environments: environments}
	recreated := &State{Projects: map[string]*flags.Project{"one": {ID: "one", UID: "other"}, "two": two}, Environments: environments}
	bare := &State{Projects: full.Projects, Environments: &flags.Environments{}}
	now := time.Now()

	expired := testToken(access.ClientToken, "t", "development")
	expired.ExpiresAt = now
	deleted := testToken(access.AdminToken, "t", flags.All).AsDeleted()
	foreign := testToken(access.ClientToken, "other", "development")
	unbound := testToken(access.ClientToken, "t", "development")
	unbound.EnvironmentUID = ""
	admin := testToken(access.AdminToken, "t", flags.All)
	client := testToken(access.ClientToken, "t", "development", one)

	for _, tt := range []struct {
		name         string
		token        *access.Token
		state, later *State
		open         bool
		query        string
		want         string // the error; "" for none
		projects     string // that it sees
		environment  string
		rereads      int
	}{
		{name: "client", token: client, state: full, projects: "one", environment: "development"},
		{name: "the query does not change the environment", token: client, state: full, query: "production", projects: "one", environment: "development"},
		{name: "admin", token: admin, state: full, projects: "one two"},
		{name: "admin with an environment", token: admin, state: full, query: "development", projects: "one two", environment: "development"},
		{name: "admin with an unknown environment", token: admin, state: full, query: "none", projects: "one two"},
		{name: "client of all environments", token: testToken(access.ClientToken, "t", flags.All, two), state: full, query: "development", projects: "two", environment: "development"},
		{name: "seeded before its environment", token: unbound, state: full, projects: "one two"},
		{name: "unknown", state: full, want: "401"},
		{name: "deleted", token: deleted, state: full, want: "401"},
		{name: "expired", token: expired, state: full, want: "401", rereads: 1},
		{name: "of another hash", token: foreign, state: full, want: "401"},
		{name: "frontend", token: testToken(access.FrontendToken, "t", "development"), state: full, want: "403"},
		{name: "personal", token: testToken(access.PersonalToken, "t", ""), state: full, want: "403"},
		{name: "deleted project", token: client, state: recreated, want: "401", rereads: 1},
		{name: "deleted environment", token: client, state: bare, want: "401", rereads: 1},
		{name: "project not read yet", token: client, state: recreated, later: full, projects: "one", environment: "development", rereads: 1},
		{name: "one of two projects deleted", token: testToken(access.ClientToken, "t", "development", one, two), state: recreated, projects: "two", environment: "development"},
		{name: "open: no token", state: full, open: true, query: "development", projects: "one two", environment: "development"},
		{name: "open: scoped token", token: client, state: full, open: true, projects: "one", environment: "development"},
		{name: "open: revoked token", token: client, state: recreated, open: true, projects: "one two"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			source := &fixedSource{state: tt.state, later: tt.later, tokens: map[string]*access.Token{access.HashSecret("t"): tt.token}}
			s := newServer(source, nil, httpapi.Config{Open: tt.open, Now: func() time.Time { return now }})
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Header.Set("Authorization", "t")
			a, err := s.access(t.Context(), r, tt.query, access.ClientToken)
			if source.rereads != tt.rereads {
				t.Errorf("read again %d times, want %d", source.rereads, tt.rereads)
			}
			status := map[error]string{nil: "", error(access.ErrNoToken): "401"}[err]
			if flags.KindOf(err) == flags.Forbidden && strings.HasSuffix(err.Error(), "use a token of the type client, not "+string(tt.token.Type)) {
				status = "403"
			}
			if status != tt.want || err != nil {
				if status != tt.want {
					t.Errorf("%v, want %q", err, tt.want)
				}
				return
			}
			var seen []string
			for _, id := range []string{"one", "two"} {
				if a.scope.Sees(source.state.Projects[id].UID) {
					seen = append(seen, id)
				}
			}
			environment := ""
			if a.environment != nil {
				environment = a.environment.Name
			}
			if got := strings.Join(seen, " "); got != tt.projects || environment != tt.environment {
				t.Errorf("sees %q in %q, want %q in %q", got, environment, tt.projects, tt.environment)
			}
		})
	}
}

// TestNoToken reads nothing for a request without a token.
func TestNoToken(t *testing.T) {
	s := newServer((*fixedSource)(nil), nil, httpapi.Config{})
	if _, err := s.access(t.Context(), httptest.NewRequest(http.MethodGet, "/", nil), "", access.ClientToken); !errors.Is(err, access.ErrNoToken) {
		t.Errorf("%v, want a 401", err)
	}
}
