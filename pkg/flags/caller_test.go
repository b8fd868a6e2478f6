package flags_test

import (
	"strings"
	"testing"
	"time"

	"guidon/pkg/flags"
)

// The roles that the tests below make beside the built-in ones.
const (
	switcher   int64 = 10 + iota // can enable flags in development only
	everywhere                   // can enable flags in all environments
	librarian                    // root role: can change tag types
	custodian                    // project role: can change the project
	outsider                     // project role: has a root permission, and an unknown one
	deputy                       // root role: an administrator
	half                         // project role: everything, but in development only
	gone                         // not in the registry
)

func registry() *flags.Roles {
	return &flags.Roles{Custom: []flags.Role{
		{ID: switcher, Type: flags.CustomProjectRole, Name: "switcher", Permissions: []flags.Grant{{flags.UpdateFeatureEnvironment, "development"}}},
		{ID: everywhere, Type: flags.CustomProjectRole, Name: "everywhere", Permissions: []flags.Grant{{flags.UpdateFeatureEnvironment, ""}}},
		{ID: librarian, Type: flags.CustomRootRole, Name: "librarian", Permissions: []flags.Grant{{flags.UpdateTagType, ""}, {flags.ReadRole, ""}}},
		{ID: custodian, Type: flags.CustomProjectRole, Name: "custodian", Permissions: []flags.Grant{{flags.UpdateProject, ""}}},
		{ID: outsider, Type: flags.CustomProjectRole, Name: "outsider", Permissions: []flags.Grant{{flags.CreateProject, ""}, {"FLY_TO_THE_MOON", ""}}},
		{ID: deputy, Type: flags.CustomRootRole, Name: "deputy", Permissions: []flags.Grant{{flags.Admin, ""}}},
		{ID: half, Type: flags.CustomProjectRole, Name: "half", Permissions: []flags.Grant{{flags.Admin, "development"}}},
	}}
}

// someone returns a caller with a personal token and that root role.
func someone(t *testing.T, root int64, service bool) flags.Caller {
	t.Helper()
	token := &flags.Token{Hash: "h", Type: flags.PersonalToken, User: 7}
	u := &flags.User{ID: 7, Username: "someone", RootRole: root, ServiceAccount: service, Tokens: []flags.UserToken{{ID: 1, Hash: "h"}}}
	c, err := flags.AuthenticateUser(token, u, registry())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// in returns a project in which the caller of someone has these roles.
func in(id string, roles ...int64) *flags.Project {
	return &flags.Project{ID: id, UID: "uid", Members: map[int64][]int64{7: roles}}
}

func TestHasPermission(t *testing.T) {
	const all, dev, prod = "", "development", "production"
	nowhere := (*flags.Project)(nil)
	tests := []struct {
		name    string
		root    int64
		project *flags.Project
		may     map[flags.Permission]string // where, of "all dev prod any": environments that it is asked in
	}{
		{"admin", flags.RoleAdmin, in("shop"), map[flags.Permission]string{
			flags.Read: "all dev prod any", flags.Admin: "all dev prod any", flags.ReadRole: "all dev prod any", flags.CreateProject: "all dev prod any",
			flags.UpdateFeature: "all dev prod any", flags.UpdateFeatureEnvironment: "all dev prod any", flags.UserAccessWrite: "all dev prod any", "FLY_TO_THE_MOON": "all dev prod any",
		}},
		{"a custom administrator", deputy, in("shop"), map[flags.Permission]string{
			flags.Read: "all dev prod any", flags.Admin: "all dev prod any", flags.ReadRole: "all dev prod any", flags.CreateProject: "all dev prod any",
			flags.UpdateFeature: "all dev prod any", flags.UpdateFeatureEnvironment: "all dev prod any", flags.UserAccessWrite: "all dev prod any", "FLY_TO_THE_MOON": "all dev prod any",
		}},
		{"editor", flags.RoleEditor, in("shop"), map[flags.Permission]string{flags.Read: "all dev prod any", flags.CreateProject: "all dev prod any"}},
		{"editor in default", flags.RoleEditor, in("default"), map[flags.Permission]string{
			flags.Read: "all dev prod any", flags.CreateProject: "all dev prod any",
			flags.UpdateFeature: "all dev prod any", flags.UpdateFeatureEnvironment: "all dev prod any", flags.UserAccessWrite: "all dev prod any",
		}},
		{"editor outside of projects", flags.RoleEditor, nowhere, map[flags.Permission]string{flags.Read: "all dev prod any", flags.CreateProject: "all dev prod any"}},
		{"viewer", flags.RoleViewer, in("shop"), map[flags.Permission]string{flags.Read: "all dev prod any"}},
		{"viewer in default", flags.RoleViewer, in("default"), map[flags.Permission]string{flags.Read: "all dev prod any"}},
		{"owner", flags.RoleViewer, in("shop", flags.RoleOwner), map[flags.Permission]string{
			flags.Read:          "all dev prod any",
			flags.UpdateFeature: "all dev prod any", flags.UpdateFeatureEnvironment: "all dev prod any", flags.UserAccessWrite: "all dev prod any",
		}},
		{"owner of another project", flags.RoleViewer, &flags.Project{ID: "shop", Members: map[int64][]int64{8: {flags.RoleOwner}}}, map[flags.Permission]string{
			flags.Read: "all dev prod any",
		}},
		{"member", flags.RoleViewer, in("shop", flags.RoleMember), map[flags.Permission]string{
			flags.Read: "all dev prod any", flags.UpdateFeature: "all dev prod any", flags.UpdateFeatureEnvironment: "all dev prod any",
		}},
		{"in one environment only", flags.RoleViewer, in("shop", switcher), map[flags.Permission]string{
			flags.Read: "all dev prod any", flags.UpdateFeatureEnvironment: "dev any",
		}},
		{"in every environment", flags.RoleViewer, in("shop", everywhere), map[flags.Permission]string{
			flags.Read: "all dev prod any", flags.UpdateFeatureEnvironment: "all dev prod any",
		}},
		{"everything in one environment", flags.RoleViewer, in("shop", half), map[flags.Permission]string{
			flags.Read: "all dev prod any", flags.UpdateFeature: "dev any", flags.UpdateFeatureEnvironment: "dev any", flags.UserAccessWrite: "dev any",
		}},
		{"two roles", flags.RoleViewer, in("shop", switcher, flags.RoleMember), map[flags.Permission]string{
			flags.Read: "all dev prod any", flags.UpdateFeature: "all dev prod any", flags.UpdateFeatureEnvironment: "all dev prod any",
		}},
		{"changing the project is changing who has access", flags.RoleViewer, in("shop", custodian), map[flags.Permission]string{
			flags.Read: "all dev prod any", flags.UserAccessWrite: "all dev prod any",
		}},
		{"what is of the whole service is not had in a project", flags.RoleViewer, in("shop", outsider), map[flags.Permission]string{flags.Read: "all dev prod any"}},
		{"a custom root role", librarian, in("shop"), map[flags.Permission]string{flags.Read: "all dev prod any", flags.ReadRole: "all dev prod any"}},
		{"a deleted project role", flags.RoleViewer, in("shop", gone), map[flags.Permission]string{flags.Read: "all dev prod any"}},
		{"a deleted root role", gone, in("shop", flags.RoleOwner), nil},
	}
	environments := map[string]string{"all": all, "dev": dev, "prod": prod, "any": flags.AnyEnvironment}
	asked := []flags.Permission{
		flags.Read, flags.Admin, flags.ReadRole, flags.CreateProject, flags.UpdateFeature, flags.UpdateFeatureEnvironment, flags.UserAccessWrite, "FLY_TO_THE_MOON",
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, service := range []bool{false, true} { // service accounts follow the same rules
				c := someone(t, tt.root, service)
				for _, p := range asked {
					for name, environment := range environments {
						want := strings.Contains(" "+tt.may[p]+" ", " "+name+" ")
						if got := c.HasPermission(p, tt.project, environment); got != want {
							t.Errorf("service account %t: %s in %q: %t, want %t", service, p, name, got, want)
						}
						if err := c.Authorize(p, tt.project, environment); (err == nil) != want || err != nil && flags.KindOf(err) != flags.Forbidden {
							t.Errorf("service account %t: %s in %q: Authorize: %v, want it to agree with %t", service, p, name, err, want)
						}
					}
				}
			}
		})
	}
}

// TestHasPermissionOfTokens checks API tokens, which have no user.
func TestHasPermissionOfTokens(t *testing.T) {
	for kind, want := range map[flags.TokenType]bool{flags.AdminToken: true, flags.ClientToken: false, flags.FrontendToken: false} {
		c, err := flags.Authenticate(&flags.Token{Type: kind, Name: "t"}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []flags.Permission{flags.Read, flags.Admin, flags.UpdateFeature, "FLY_TO_THE_MOON"} {
			if got := c.HasPermission(p, in("default", flags.RoleOwner), ""); got != want {
				t.Errorf("a token of type %s: %s: %t, want %t", kind, p, got, want)
			}
		}
	}
}

func TestAuthenticateUser(t *testing.T) {
	token := &flags.Token{Hash: "h", Type: flags.PersonalToken, User: 7}
	mine := []flags.UserToken{{ID: 1, Hash: "other"}, {ID: 2, Hash: "h"}}
	for _, tt := range []struct {
		name string
		user *flags.User
		want bool
	}{
		{"a user with the token", &flags.User{ID: 7, Username: "u", Tokens: mine}, true},
		{"a user who was deleted", nil, false},
		{"a user without the token", &flags.User{ID: 7, Tokens: mine[:1]}, false},
		{"another user", &flags.User{ID: 8, Tokens: mine}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := flags.AuthenticateUser(token, tt.user, &flags.Roles{})
			if (err == nil) != tt.want || err != nil && flags.KindOf(err) != flags.Unauthenticated {
				t.Errorf("error %v, want success %t", err, tt.want)
			}
			if tt.want && c.Name != "u" {
				t.Errorf("the caller is %q, want u", c.Name)
			}
		})
	}
}

// TestAuthorizeGrant checks that callers cannot grant permissions that they lack.
func TestAuthorizeGrant(t *testing.T) {
	for _, tt := range []struct {
		name string
		root int64
		held []int64
		give int64
		want bool
	}{
		{"an admin, anything", flags.RoleAdmin, nil, half, true},
		{"an owner, ownership", flags.RoleViewer, []int64{flags.RoleOwner}, flags.RoleOwner, true},
		{"an owner, membership", flags.RoleViewer, []int64{flags.RoleOwner}, flags.RoleMember, true},
		{"an owner, one environment", flags.RoleViewer, []int64{flags.RoleOwner}, switcher, true},
		{"an owner, what is of the whole service", flags.RoleViewer, []int64{flags.RoleOwner}, outsider, false},
		{"an owner, everything", flags.RoleViewer, []int64{flags.RoleOwner}, half, false},
		{"a member, ownership", flags.RoleViewer, []int64{flags.RoleMember}, flags.RoleOwner, false},
		{"a member, membership", flags.RoleViewer, []int64{flags.RoleMember}, flags.RoleMember, true},
		{"one environment, that one", flags.RoleViewer, []int64{switcher}, switcher, true},
		{"one environment, all of them", flags.RoleViewer, []int64{switcher}, everywhere, false},
		{"all environments, one", flags.RoleViewer, []int64{everywhere}, switcher, true},
		{"nothing, something", flags.RoleViewer, nil, switcher, false},
		{"an editor, in a project of others", flags.RoleEditor, nil, flags.RoleMember, false},
		{"whose root role was deleted", gone, []int64{flags.RoleOwner}, flags.RoleMember, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := someone(t, tt.root, false).AuthorizeGrant(*registry().Find(tt.give), in("shop", tt.held...))
			if (err == nil) != tt.want || err != nil && flags.KindOf(err) != flags.Forbidden {
				t.Errorf("error %v, want success %t", err, tt.want)
			}
		})
	}
}

// TestFavoritesKey checks that tokens and users have separate keys, and that a renamed user is the same one.
func TestFavoritesKey(t *testing.T) {
	for want, c := range map[string]flags.Caller{"token:user:1": {Name: "user:1"}, "user:1": {Name: "ann", User: &flags.User{ID: 1}}, "user:10": {Name: "ann", User: &flags.User{ID: 10}}} {
		if got := c.FavoritesKey(); got != want {
			t.Errorf("%s has the key %q, want %q", c.Name, got, want)
		}
	}
	if got := (flags.Caller{Name: "another", User: &flags.User{ID: 1}}).FavoritesKey(); got != "user:1" {
		t.Errorf("a renamed user has the key %q", got)
	}
}
