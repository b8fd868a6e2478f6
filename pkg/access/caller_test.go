package access_test

import (
	"strings"
	"testing"
	"time"

	"guidon/pkg/access"
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

func registry() *access.Roles {
	return &access.Roles{Custom: []access.Role{
		{ID: switcher, Type: access.CustomProjectRole, Name: "switcher", Permissions: []access.Grant{{access.UpdateFeatureEnvironment, "development"}}},
		{ID: everywhere, Type: access.CustomProjectRole, Name: "everywhere", Permissions: []access.Grant{{access.UpdateFeatureEnvironment, ""}}},
		{ID: librarian, Type: access.CustomRootRole, Name: "librarian", Permissions: []access.Grant{{access.UpdateTagType, ""}, {access.ReadRole, ""}}},
		{ID: custodian, Type: access.CustomProjectRole, Name: "custodian", Permissions: []access.Grant{{access.UpdateProject, ""}}},
		{ID: outsider, Type: access.CustomProjectRole, Name: "outsider", Permissions: []access.Grant{{access.CreateProject, ""}, {"FLY_TO_THE_MOON", ""}}},
		{ID: deputy, Type: access.CustomRootRole, Name: "deputy", Permissions: []access.Grant{{access.Admin, ""}}},
		{ID: half, Type: access.CustomProjectRole, Name: "half", Permissions: []access.Grant{{access.Admin, "development"}}},
	}}
}

// someone returns a caller with a personal token and that root role.
func someone(t *testing.T, root int64, service bool) access.Caller {
	t.Helper()
	token := &access.Token{Hash: "h", Type: access.PersonalToken, User: 7}
	u := &access.User{ID: 7, Username: "someone", RootRole: root, ServiceAccount: service, Tokens: []access.UserToken{{ID: 1, Hash: "h"}}}
	c, err := access.AuthenticateUser(token, u, registry())
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
		may     map[access.Permission]string // where, of "all dev prod any": environments that it is asked in
	}{
		{"admin", access.RoleAdmin, in("shop"), map[access.Permission]string{
			access.Read: "all dev prod any", access.Admin: "all dev prod any", access.ReadRole: "all dev prod any", access.CreateProject: "all dev prod any",
			access.UpdateFeature: "all dev prod any", access.UpdateFeatureEnvironment: "all dev prod any", access.UserAccessWrite: "all dev prod any", "FLY_TO_THE_MOON": "all dev prod any",
		}},
		{"a custom administrator", deputy, in("shop"), map[access.Permission]string{
			access.Read: "all dev prod any", access.Admin: "all dev prod any", access.ReadRole: "all dev prod any", access.CreateProject: "all dev prod any",
			access.UpdateFeature: "all dev prod any", access.UpdateFeatureEnvironment: "all dev prod any", access.UserAccessWrite: "all dev prod any", "FLY_TO_THE_MOON": "all dev prod any",
		}},
		{"editor", access.RoleEditor, in("shop"), map[access.Permission]string{access.Read: "all dev prod any", access.CreateProject: "all dev prod any"}},
		{"editor in default", access.RoleEditor, in("default"), map[access.Permission]string{
			access.Read: "all dev prod any", access.CreateProject: "all dev prod any",
			access.UpdateFeature: "all dev prod any", access.UpdateFeatureEnvironment: "all dev prod any", access.UserAccessWrite: "all dev prod any",
		}},
		{"editor outside of projects", access.RoleEditor, nowhere, map[access.Permission]string{access.Read: "all dev prod any", access.CreateProject: "all dev prod any"}},
		{"viewer", access.RoleViewer, in("shop"), map[access.Permission]string{access.Read: "all dev prod any"}},
		{"viewer in default", access.RoleViewer, in("default"), map[access.Permission]string{access.Read: "all dev prod any"}},
		{"owner", access.RoleViewer, in("shop", access.RoleOwner), map[access.Permission]string{
			access.Read:          "all dev prod any",
			access.UpdateFeature: "all dev prod any", access.UpdateFeatureEnvironment: "all dev prod any", access.UserAccessWrite: "all dev prod any",
		}},
		{"owner of another project", access.RoleViewer, &flags.Project{ID: "shop", Members: map[int64][]int64{8: {access.RoleOwner}}}, map[access.Permission]string{
			access.Read: "all dev prod any",
		}},
		{"member", access.RoleViewer, in("shop", access.RoleMember), map[access.Permission]string{
			access.Read: "all dev prod any", access.UpdateFeature: "all dev prod any", access.UpdateFeatureEnvironment: "all dev prod any",
		}},
		{"in one environment only", access.RoleViewer, in("shop", switcher), map[access.Permission]string{
			access.Read: "all dev prod any", access.UpdateFeatureEnvironment: "dev any",
		}},
		{"in every environment", access.RoleViewer, in("shop", everywhere), map[access.Permission]string{
			access.Read: "all dev prod any", access.UpdateFeatureEnvironment: "all dev prod any",
		}},
		{"everything in one environment", access.RoleViewer, in("shop", half), map[access.Permission]string{
			access.Read: "all dev prod any", access.UpdateFeature: "dev any", access.UpdateFeatureEnvironment: "dev any", access.UserAccessWrite: "dev any",
		}},
		{"two roles", access.RoleViewer, in("shop", switcher, access.RoleMember), map[access.Permission]string{
			access.Read: "all dev prod any", access.UpdateFeature: "all dev prod any", access.UpdateFeatureEnvironment: "all dev prod any",
		}},
		{"changing the project is changing who has access", access.RoleViewer, in("shop", custodian), map[access.Permission]string{
			access.Read: "all dev prod any", access.UserAccessWrite: "all dev prod any",
		}},
		{"what is of the whole service is not had in a project", access.RoleViewer, in("shop", outsider), map[access.Permission]string{access.Read: "all dev prod any"}},
		{"a custom root role", librarian, in("shop"), map[access.Permission]string{access.Read: "all dev prod any", access.ReadRole: "all dev prod any"}},
		{"a deleted project role", access.RoleViewer, in("shop", gone), map[access.Permission]string{access.Read: "all dev prod any"}},
		{"a deleted root role", gone, in("shop", access.RoleOwner), nil},
	}
	environments := map[string]string{"all": all, "dev": dev, "prod": prod, "any": access.AnyEnvironment}
	asked := []access.Permission{
		access.Read, access.Admin, access.ReadRole, access.CreateProject, access.UpdateFeature, access.UpdateFeatureEnvironment, access.UserAccessWrite, "FLY_TO_THE_MOON",
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
	for kind, want := range map[access.TokenType]bool{access.AdminToken: true, access.ClientToken: false, access.FrontendToken: false} {
		c, err := access.Authenticate(&access.Token{Type: kind, Name: "t"}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []access.Permission{access.Read, access.Admin, access.UpdateFeature, "FLY_TO_THE_MOON"} {
			if got := c.HasPermission(p, in("default", access.RoleOwner), ""); got != want {
				t.Errorf("a token of type %s: %s: %t, want %t", kind, p, got, want)
			}
		}
	}
}

func TestAuthenticateUser(t *testing.T) {
	token := &access.Token{Hash: "h", Type: access.PersonalToken, User: 7}
	mine := []access.UserToken{{ID: 1, Hash: "other"}, {ID: 2, Hash: "h"}}
	for _, tt := range []struct {
		name string
		user *access.User
		want bool
	}{
		{"a user with the token", &access.User{ID: 7, Username: "u", Tokens: mine}, true},
		{"a user who was deleted", nil, false},
		{"a user without the token", &access.User{ID: 7, Tokens: mine[:1]}, false},
		{"another user", &access.User{ID: 8, Tokens: mine}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := access.AuthenticateUser(token, tt.user, &access.Roles{})
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
		{"an admin, anything", access.RoleAdmin, nil, half, true},
		{"an owner, ownership", access.RoleViewer, []int64{access.RoleOwner}, access.RoleOwner, true},
		{"an owner, membership", access.RoleViewer, []int64{access.RoleOwner}, access.RoleMember, true},
		{"an owner, one environment", access.RoleViewer, []int64{access.RoleOwner}, switcher, true},
		{"an owner, what is of the whole service", access.RoleViewer, []int64{access.RoleOwner}, outsider, false},
		{"an owner, everything", access.RoleViewer, []int64{access.RoleOwner}, half, false},
		{"a member, ownership", access.RoleViewer, []int64{access.RoleMember}, access.RoleOwner, false},
		{"a member, membership", access.RoleViewer, []int64{access.RoleMember}, access.RoleMember, true},
		{"one environment, that one", access.RoleViewer, []int64{switcher}, switcher, true},
		{"one environment, all of them", access.RoleViewer, []int64{switcher}, everywhere, false},
		{"all environments, one", access.RoleViewer, []int64{everywhere}, switcher, true},
		{"nothing, something", access.RoleViewer, nil, switcher, false},
		{"an editor, in a project of others", access.RoleEditor, nil, access.RoleMember, false},
		{"whose root role was deleted", gone, []int64{access.RoleOwner}, access.RoleMember, false},
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
	for want, c := range map[string]access.Caller{"token:user:1": {Name: "user:1"}, "user:1": {Name: "ann", User: &access.User{ID: 1}}, "user:10": {Name: "ann", User: &access.User{ID: 10}}} {
		if got := c.FavoritesKey(); got != want {
			t.Errorf("%s has the key %q, want %q", c.Name, got, want)
		}
	}
	if got := (access.Caller{Name: "another", User: &access.User{ID: 1}}).FavoritesKey(); got != "user:1" {
		t.Errorf("a renamed user has the key %q", got)
	}
}
