package access

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"guidon/pkg/flags"
)

// aService has two projects and two environments.
type aService struct {
	projects map[string]*flags.Project
	registry *flags.Environments
}

func newService() aService {
	return aService{
		projects: map[string]*flags.Project{"a": {ID: "a", UID: "uid-a"}, "b": {ID: "b", UID: "uid-b"}},
		registry: &flags.Environments{List: []flags.Environment{{Name: "dev", UID: "uid-dev"}, {Name: "prod", UID: "uid-prod"}}},
	}
}

func (p aService) find(id string) *flags.Project { return p.projects[id] }

func TestTokenScope(t *testing.T) {
	tests := []struct {
		name     string
		projects []string
		change   func(p aService) // after the token was bound
		want     string           // its projects; "" if revoked
	}{
		{"all", []string{flags.All}, nil, "*"},
		{"one", []string{"a"}, nil, "a"},
		{"two", []string{"b", "a"}, nil, "b a"},
		{"one of two deleted", []string{"b", "a"}, func(p aService) { delete(p.projects, "b") }, "a"},
		{"one of two created again", []string{"b", "a"}, func(p aService) { p.projects["b"] = &flags.Project{ID: "b", UID: "uid-b2"} }, "a"},
		{"the only one deleted", []string{"a"}, func(p aService) { delete(p.projects, "a") }, ""},
		{"the only one created again", []string{"a"}, func(p aService) { p.projects["a"] = &flags.Project{ID: "a", UID: "uid-a2"} }, ""},
		{"both deleted", []string{"a", "b"}, func(p aService) { clear(p.projects) }, ""},
		{"all, when all are deleted", []string{flags.All}, func(p aService) { clear(p.projects) }, "*"},
		{"its environment deleted", []string{"a"}, func(p aService) { p.registry.List = p.registry.List[1:] }, ""},
		{"its environment created again", []string{flags.All}, func(p aService) { p.registry.List[0].UID = "uid-dev2" }, ""},
		{"another environment deleted", []string{"a"}, func(p aService) { p.registry.List = p.registry.List[:1] }, "a"},
		{"a project that does not exist yet", []string{"a", "later"}, nil, "a later"},
		{"a project that did not exist when it was created", []string{"later"}, func(p aService) { p.projects["later"] = &flags.Project{ID: "later", UID: "uid-l"} }, "later"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, token := newService(), &Token{Projects: tt.projects, Environment: "dev"}
			token.Bind(p.find, p.registry)
			if tt.change != nil {
				tt.change(p)
			}
			reach, there := token.Scope(p.find, p.registry)
			if got := strings.Join(reach.ProjectIDs(), " "); there != (tt.want != "") || there && got != tt.want {
				t.Errorf("scope %q, revoked %t; want %q", got, !there, tt.want)
			}
			for _, project := range reach.Projects {
				if project.UID != "uid-"+project.ID {
					t.Errorf("scope includes %s, want no project that was created later", project.UID)
				}
			}
		})
	}
}

// TestBindKeepsUIDs checks that a bound token never switches to new projects or environments of the same names.
func TestBindKeepsUIDs(t *testing.T) {
	p, token := newService(), &Token{Projects: []string{"a", "later"}, Environment: "dev"}
	token.Bind(p.find, p.registry)
	p.projects["a"].UID, p.projects["later"], p.registry.List[0].UID = "uid-a2", &flags.Project{ID: "later", UID: "uid-l"}, "uid-dev2"
	token.Bind(p.find, p.registry)
	if want := []string{"uid-a", "uid-l"}; !slices.Equal(token.ProjectUIDs, want) || token.EnvironmentUID != "uid-dev" {
		t.Errorf("bound to %q in %q, want %q in uid-dev", token.ProjectUIDs, token.EnvironmentUID, want)
	}
	none := &Token{Projects: []string{}, Environment: flags.All}
	none.Bind(p.find, p.registry)
	if reach, there := none.Scope(p.find, p.registry); !there || len(reach.ProjectIDs()) != 0 || reach.All || none.ProjectUIDs != nil {
		t.Errorf("a token without projects has the scope %q (%t), want nothing", reach.ProjectIDs(), there)
	}
}

func TestHasTokenRight(t *testing.T) {
	p := newService()
	p.projects["a"].Members = map[int64][]int64{9: {RoleOwner}}
	roles := &Roles{Custom: []Role{{ID: 6, Type: CustomRootRole, Permissions: grants(ReadFrontendToken)}}}
	person := func(root int64) Caller {
		return Caller{Name: "p", User: &User{ID: 9}, roles: roles, root: roles.Find(root)}
	}
	admin, editor, owner, frontend := Caller{Admin: true}, person(RoleEditor), person(RoleViewer), person(6)
	a, b := p.projects["a"], p.projects["b"]
	tests := []struct {
		name   string
		caller Caller
		right  TokenRight
		kind   TokenType
		reach  TokenScope
		want   bool
	}{
		{"an admin's, by an admin", admin, ReadTokens, AdminToken, TokenScope{All: true}, true},
		{"an admin's, by an editor", editor, ReadTokens, AdminToken, TokenScope{All: true}, false},
		{"of all, by an editor", editor, DeleteTokens, ClientToken, TokenScope{All: true}, true},
		{"of all, by an owner", owner, ReadTokens, ClientToken, TokenScope{All: true}, false},
		{"of the project, by its owner", owner, UpdateTokens, FrontendToken, TokenScope{Projects: []*flags.Project{a}}, true},
		{"of it and another", owner, ReadTokens, ClientToken, TokenScope{Projects: []*flags.Project{a, b}}, false},
		{"of it and one to come", owner, ReadTokens, ClientToken, TokenScope{Projects: []*flags.Project{a}, Unbound: []string{"x"}}, false},
		{"of none", owner, ReadTokens, ClientToken, TokenScope{}, false},
		{"of none, by an editor", editor, ReadTokens, ClientToken, TokenScope{}, true},
		{"a frontend's by who may read those", frontend, ReadTokens, FrontendToken, TokenScope{Projects: []*flags.Project{b}}, true},
		{"a client's by the same", frontend, ReadTokens, ClientToken, TokenScope{Projects: []*flags.Project{b}}, false},
		{"a personal one, by an admin", admin, ReadTokens, PersonalToken, TokenScope{}, false},
		{"by a token for SDKs", Caller{Name: "c"}, ReadTokens, ClientToken, TokenScope{Projects: []*flags.Project{a}}, false},
	}
	for _, tt := range tests {
		if got := tt.caller.HasTokenRight(tt.right, tt.kind, tt.reach); got != tt.want {
			t.Errorf("%s: %t, want %t", tt.name, got, tt.want)
		}
		if err := tt.caller.AuthorizeToken(tt.right, tt.kind, tt.reach); (err == nil) != tt.want || err != nil && flags.KindOf(err) != flags.Forbidden {
			t.Errorf("%s: error %v, want Forbidden: %t", tt.name, err, !tt.want)
		}
	}
}

// TestUserTokenDescriptions checks that long descriptions do not make the item of a user large.
func TestUserTokenDescriptions(t *testing.T) {
	u, long := &User{ID: 9}, strings.Repeat("\U0010FFFD", 250)
	for i := range 10 {
		u.Tokens = append(u.Tokens, UserToken{ID: int64(i + 1), Description: strconv.Itoa(i) + long})
	}
	if _, _, err := u.WithToken(long, "hash", now, now); flags.KindOf(err) != flags.Invalid || !strings.Contains(err.Error(), "11010 bytes together") {
		t.Errorf("an eleventh long description: %v, want Invalid", err)
	}
	if after, _, err := u.WithToken("short", "hash", now, now); err != nil || len(after.Tokens) != 11 {
		t.Errorf("a short one: %v, want no error", err)
	}
}

func TestUserTokens(t *testing.T) {
	u := &User{ID: 9}
	for i, description := range []string{"a", "b", "c"} {
		after, token, err := u.WithToken(description, "hash-"+description, now, now)
		if err != nil || len(after.Tokens) != len(u.Tokens)+1 || token.User != 9 || token.Type != PersonalToken || after.Tokens[i].Hash != token.Hash {
			t.Fatalf("%s: %+v, %+v, %v", description, after, token, err)
		}
		u = after
	}
	if _, _, err := u.WithToken("b", "hash", now, now); flags.KindOf(err) != flags.NameExists {
		t.Errorf("a taken description: %v, want NameExists", err)
	}
	less, err := u.WithoutToken(3)
	if err != nil || len(less.Tokens) != 2 || len(u.Tokens) != 3 {
		t.Fatalf("without one: %+v, %v; want 2 left, and 3 in what was", less, err)
	}
	if _, err := less.WithoutToken(3); flags.KindOf(err) != flags.NotFound {
		t.Errorf("without it again: %v, want NotFound", err)
	}
	again, _, err := less.WithToken("d", "hash-d", now, now)
	if err != nil || again.Tokens[2].ID != 4 {
		t.Errorf("after a deletion: %+v, %v; want the id 4", again, err)
	}
	for n := len(again.Tokens); err == nil; n++ {
		if again, _, err = again.WithToken(strconv.Itoa(n), "hash", now, now); (err == nil) != (n < 100) {
			t.Fatalf("token %d: %v, want 100 and no more", n+1, err)
		}
	}
}

func TestCanRead(t *testing.T) {
	now := time.Unix(1000, 0)
	tests := []struct {
		name  string
		token Token
		want  string // the environments that it can read
	}{
		{"a client token for everything", Token{Type: ClientToken, Projects: []string{flags.All}, Environment: flags.All}, "dev prod"},
		{"a frontend token for one project and environment", Token{Type: FrontendToken, Projects: []string{"a"}, Environment: "prod"}, "prod"},
		{"a token that expires later", Token{Type: ClientToken, Projects: []string{flags.All}, Environment: "dev", ExpiresAt: now.Add(time.Second)}, "dev"},
		{"an expired token", Token{Type: ClientToken, Projects: []string{flags.All}, Environment: "dev", ExpiresAt: now}, ""},
		{"an admin token", Token{Type: AdminToken, Projects: []string{flags.All}, Environment: flags.All}, ""},
		{"a token for a project that does not exist yet", Token{Type: ClientToken, Projects: []string{"later"}, Environment: "dev"}, ""},
		{"a token whose project was deleted", Token{Type: ClientToken, Projects: []string{"old"}, ProjectUIDs: []string{"uid-old"}, Environment: "dev"}, ""},
		{"a token whose environment was deleted", Token{Type: ClientToken, Projects: []string{flags.All}, Environment: "dev", EnvironmentUID: "uid-old"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newService()
			tt.token.Bind(s.find, s.registry)
			var can []string
			for _, env := range s.registry.List {
				if tt.token.CanRead(env, s.find, s.registry, now) {
					can = append(can, env.Name)
				}
			}
			if got := strings.Join(can, " "); got != tt.want {
				t.Errorf("it can read %q, want %q", got, tt.want)
			}
		})
	}
}
