package access

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"guidon/pkg/flags"
)

func TestFindUser(t *testing.T) {
	users := []*User{
		{ID: 1, Username: "admin"},
		{ID: 2, Email: "Anna@example.com"},
		{ID: 3, Email: "robot@example.com", ServiceAccount: true},
		{ID: 4, Email: "berta@example.com", Issuer: "https://a", Subject: "berta"},
		{ID: 5, Email: "sara@example.com"},
		{ID: 6, Email: "j\u00f6rg@example.com"},
	}
	tests := []struct {
		name string
		who  Identity
		want int64 // 0 for no user
		err  error
	}{
		{"no e-mail", Identity{Username: "admin", EmailVerified: true}, 0, nil},
		{"unknown e-mail", Identity{Email: "x@example.com", EmailVerified: true}, 0, nil},
		{"verified e-mail", Identity{Email: "anna@Example.com", EmailVerified: true}, 2, nil},
		{"e-mail that is not verified", Identity{Email: "anna@example.com"}, 0, ErrNotLinked},
		{"service account", Identity{Email: "robot@example.com", EmailVerified: true}, 0, ErrNotLinked},
		{"the same person", Identity{Issuer: "https://a", Subject: "berta", Email: "berta@example.com", EmailVerified: true}, 4, nil},
		{"a new person with an old address", Identity{Issuer: "https://a", Subject: "berta2", Email: "berta@example.com", EmailVerified: true}, 0, ErrNotLinked},
		{"another letter that Unicode takes for the same", Identity{Email: "\u017fara@example.com", EmailVerified: true}, 0, ErrNotLinked},
		{"the same letters beyond ASCII", Identity{Email: "j\u00f6rg@example.com", EmailVerified: true}, 6, nil},
		{"another provider", Identity{Issuer: "https://b", Subject: "b", Email: "berta@example.com", EmailVerified: true}, 4, nil},
	}
	for _, test := range tests {
		u, err := test.who.FindUser(users)
		if u == nil {
			u = &User{}
		}
		if u.ID != test.want || !errors.Is(err, test.err) {
			t.Errorf("%s: user %d, %v; want %d, %v", test.name, u.ID, err, test.want, test.err)
		}
	}
}

func TestNewUserOfIdentity(t *testing.T) {
	users := []*User{{ID: 1, Username: "admin"}, {ID: 2, Email: "ada@example.com"}}
	tests := []struct {
		name string
		who  Identity
		want User
		err  error
	}{
		{"verified e-mail", Identity{Email: "a@example.com", EmailVerified: true, Username: "admin", Name: "Anna"}, User{Email: "a@example.com", Name: "Anna"}, nil},
		{"e-mail that is not verified", Identity{Email: "a@example.com"}, User{Username: "a@example.com"}, nil},
		{"user name", Identity{Email: "a@example.com", Username: "anna", Subject: "s"}, User{Username: "anna"}, nil},
		{"subject only", Identity{Subject: "s"}, User{Username: "s"}, nil},
		{"taken user name", Identity{Username: "admin"}, User{Username: "admin"}, ErrNotLinked},
		{"taken user name in upper case", Identity{Username: "Admin"}, User{Username: "Admin"}, ErrNotLinked},
		{"e-mail address of another as user name", Identity{Username: "Ada@example.com"}, User{Username: "Ada@example.com"}, ErrNotLinked},
		{"long user name", Identity{Subject: strings.Repeat("s", 101)}, User{Username: strings.Repeat("s", 101)}, ErrNotLinked},
	}
	for _, test := range tests {
		u, err := test.who.NewUser(users)
		if u.Email != test.want.Email || u.Username != test.want.Username || u.Name != test.want.Name || !errors.Is(err, test.err) {
			t.Errorf("%s: %+v, %v; want %+v, %v", test.name, u, err, test.want, test.err)
		}
		var problems flags.Problems
		if u.Check(&problems); err == nil && problems.Err() != nil {
			t.Errorf("%s: %v", test.name, problems.Err())
		}
	}
}

func TestSignInRules(t *testing.T) {
	roles := &Roles{Custom: []Role{{ID: 6, Type: CustomRootRole, Name: "Auditor"}, {ID: 7, Type: CustomProjectRole, Name: "Releaser"}}}
	rules := SignInRules{DefaultRole: "Viewer", GroupRoles: []GroupRole{
		{"gone", "", "Deleted role"}, {"wrong", "", "Owner"}, {"platform", "", "Admin"}, {"audit", "", "Auditor"}, {"devs", "", "Editor"},
		{"shop", "shop", "Owner"}, {"shop", "shop", "Releaser"}, {"devs", "shop", "Releaser"}, {"devs", "pay", "Admin"},
	}}
	for groups, want := range map[string]int64{
		"": RoleViewer, "gone": RoleViewer, "wrong": RoleViewer, "devs": RoleEditor, "devs audit": 6, "audit platform devs": RoleAdmin, "PLATFORM": RoleViewer,
	} {
		if got := rules.RootRole(strings.Fields(groups), roles); got != want {
			t.Errorf("groups %q: root role %d, want %d", groups, got, want)
		}
	}
	if got := (SignInRules{}).RootRole([]string{"devs"}, roles); got != 0 {
		t.Errorf("no rules: root role %d, want none", got)
	}
	if got := rules.Projects(); !slices.Equal(got, []string{"shop", "pay"}) {
		t.Errorf("projects %v", got)
	}
	if !rules.MapsRootRoles() || (SignInRules{GroupRoles: rules.GroupRoles[5:]}).MapsRootRoles() {
		t.Error("MapsRootRoles must be true with rules of root roles only")
	}

	p, u := &flags.Project{ID: "shop", Members: map[int64][]int64{2: {RoleMember}}}, &User{ID: 2, Projects: []string{"shop"}}
	for _, step := range []struct {
		groups string
		want   []int64
		change bool
	}{
		{"", []int64{RoleMember}, false},
		{"shop", []int64{RoleOwner, RoleMember, 7}, true},
		{"shop devs", []int64{RoleOwner, RoleMember, 7}, false},
		{"devs", []int64{RoleMember, 7}, true},
		{"other", []int64{RoleMember}, true}, // it was given in Guidon, and no rule names it
	} {
		if changed := rules.UpdateProjectRoles(p, u, strings.Fields(step.groups), roles); changed != step.change || !slices.Equal(p.RolesOf(2), step.want) {
			t.Errorf("groups %q: roles %v, changed %t; want %v, %t", step.groups, p.RolesOf(2), changed, step.want, step.change)
		}
	}
	stranger := &User{ID: 3}
	if rules.UpdateProjectRoles(p, stranger, []string{"devs"}, roles); !slices.Equal(stranger.Projects, []string{"shop"}) {
		t.Errorf("projects %v of a new member, want shop", stranger.Projects)
	}
	if rules.UpdateProjectRoles(p, stranger, nil, roles); len(stranger.Projects) != 0 || p.RolesOf(3) != nil {
		t.Errorf("projects %v of someone who left the group, want none", stranger.Projects)
	}
}

func TestIdentityKey(t *testing.T) {
	if IdentityKey("https://a", "1b") == IdentityKey("https://a1", "b") {
		t.Error("two people have the same key")
	}
	l := &IdentityLink{Issuer: "https://a", Subject: "1"}
	if l.Key() != IdentityKey("https://a", "1") || l.Clone().Key() != l.Key() {
		t.Error("the key of a link is not that of its person")
	}
}
