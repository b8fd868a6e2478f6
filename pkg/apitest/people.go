package apitest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/session"
)

// AdminToken stores an admin token and returns its secret.
func (s *Server) AdminToken(t *testing.T, expiresAt time.Time) string {
	t.Helper()
	secret := "*:*." + t.Name() + expiresAt.String()
	err := s.Store.Commit(t.Context(), flags.Change{
		Writes: []flags.Write{{After: &access.Token{
			Hash: access.HashSecret(secret), Name: "named-" + access.HashSecret(secret)[:8], Type: access.AdminToken, Projects: []string{"*"}, Environment: "*", ExpiresAt: expiresAt,
		}}},
		Event: flags.Event{ID: uuid.Must(uuid.NewV7()).String(), Type: flags.APITokenCreated},
	})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// RoleOf creates a custom role with permissions: PERMISSION, or PERMISSION@environment.
func (s *Server) RoleOf(t *testing.T, kind, holds string) string {
	t.Helper()
	list := []string{}
	for _, held := range strings.Fields(holds) {
		name, only, _ := strings.Cut(held, "@")
		environment := "null"
		if only != "" {
			environment = fmt.Sprintf("%q", only)
		}
		list = append(list, fmt.Sprintf(`{"name":%q,"environment":%s}`, name, environment))
	}
	return s.ID(t, Roles, fmt.Sprintf(`{"name":%q,"type":%q,"permissions":[%s]}`, uuid.NewString(), kind, strings.Join(list, ",")))
}

// AccountWithTokens creates a service account that is an editor. It returns its ID and the path of its tokens.
func (s *Server) AccountWithTokens(t *testing.T) (id, tokens string) {
	t.Helper()
	id = s.ID(t, ServiceAccounts, fmt.Sprintf(`{"username":%q,"name":"A program","rootRole":2}`, uuid.NewString()))
	return id, ServiceAccounts + "/" + id + "/token"
}

// UseLink is the path that exchanges a sign-in link for a session.
const UseLink = "/auth/link"

// SignInLink creates a sign-in link for a user and returns its secret.
func (s *Server) SignInLink(t *testing.T, user int64) string {
	t.Helper()
	created := s.Must(t, "POST", fmt.Sprintf("%s/%d/sign-in-link", Users, user), "")
	return SecretOfLink(Decode[struct{ URL string }](t, created.Body).URL)
}

// SecretOfLink returns the secret in the URL of a sign-in link.
func SecretOfLink(url string) string {
	_, secret, _ := strings.Cut(url, "#link=")
	return secret
}

// WithSecret is the body that exchanges a sign-in link.
func WithSecret(secret string) string { return fmt.Sprintf(`{"secret":%q}`, secret) }

// SignIn signs a user in by a link. It returns the header with the cookie of the session.
func (s *Server) SignIn(t *testing.T, user int64) string {
	t.Helper()
	got := s.Do(t, "POST", UseLink, WithSecret(s.SignInLink(t, user)), "Authorization:")
	if got.Status != 204 {
		t.Fatalf("the link: %d %s, want 204", got.Status, got.Body)
	}
	pair, _, _ := strings.Cut(got.Header.Get("Set-Cookie"), ";")
	return "Cookie: " + pair
}

// InSession has the headers of a request of the console with a session and no token.
func InSession(cookie string) []string {
	return []string{"Authorization:", cookie, session.ConsoleHeader + ": 1"}
}

// Account creates a service account with that root role and roles in projects ("shop" to "4"). It returns the secret of a
// token of the account.
func (s *Server) Account(t *testing.T, rootRole string, roles map[string]string) string {
	t.Helper()
	id := s.ID(t, ServiceAccounts, fmt.Sprintf(`{"username":%q,"name":"A person","rootRole":%s}`, uuid.NewString(), rootRole))
	for project, role := range roles {
		s.Must(t, "POST", "/api/admin/projects/"+project+"/users/"+id+"/roles/"+role, "")
	}
	return SecretIn(s.Must(t, "POST", ServiceAccounts+"/"+id+"/token", `{"description":"d","expiresAt":"2100-01-01T00:00:00Z"}`).Body)
}

// APIToken creates an API token and returns its secret.
func (s *Server) APIToken(t *testing.T, body string) string {
	t.Helper()
	return SecretIn(s.Must(t, "POST", APITokens, body).Body)
}

// TokenNames returns the sorted names of the tokens in the list that a caller gets.
func (s *Server) TokenNames(t *testing.T, headers ...string) []string {
	t.Helper()
	got := s.Do(t, "GET", APITokens, "", headers...)
	if got.Status != 200 {
		return []string{fmt.Sprint(got.Status)}
	}
	var list struct{ Tokens []struct{ TokenName string } }
	if err := json.Unmarshal([]byte(got.Body), &list); err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, token := range list.Tokens {
		names = append(names, token.TokenName)
	}
	slices.Sort(names)
	return names
}

// As is the header of a request with a token.
func As(secret string) string { return "Authorization: " + secret }

// Person stores a user with a personal token, and returns the user's id and the Authorization header with the token.
func (s *Server) Person(t *testing.T, root int64) (id int64, header string) {
	t.Helper()
	id, err := s.Store.NextID(t.Context(), access.EntityUser)
	if err != nil {
		t.Fatal(err)
	}
	secret := fmt.Sprintf("user:%s-%d", t.Name(), id)
	hash := access.HashSecret(secret)
	expires := time.Now().Add(time.Hour)
	err = s.Store.Commit(t.Context(), flags.Change{
		Writes: []flags.Write{
			{After: &access.User{
				ID: id, Username: fmt.Sprintf("person-%d", id), RootRole: root,
				Tokens: []access.UserToken{{ID: 1, Description: "test", Hash: hash, ExpiresAt: expires}},
			}},
			{After: &access.Token{Hash: hash, Type: access.PersonalToken, User: id, ExpiresAt: expires}},
		},
		Event: flags.Event{ID: uuid.Must(uuid.NewV7()).String(), Type: flags.UserCreated, CreatedAt: time.Now()},
	})
	if err != nil {
		t.Fatal(err)
	}
	return id, "Authorization: " + secret
}
