package e2e

import (
	"slices"
	"strconv"
	"testing"
	"time"

	unleash "github.com/Unleash/unleash-server-api-go/client"
)

// The predefined root roles.
const editor, viewer int32 = 2, 3

// A grant is a permission as the provider writes it: in an environment, or "" for all.
type grant struct{ Name, Environment string }

// A roleState is the state of a role in the provider.
type roleState struct {
	Name, Type, Description string
	Permissions             []grant
}

func terraformRole(t *testing.T, p *provider) {
	want := roleState{"tf-deployer", "custom", "Switches in development", []grant{{"UPDATE_FEATURE_ENVIRONMENT", "development"}, {"CREATE_FEATURE", ""}}}
	roleID := p.createRole(t, want)
	equal(t, "the role", p.role(t, roleID), want)

	want.Name, want.Description, want.Permissions = "tf-maker", "Makes flags", []grant{{"CREATE_FEATURE", ""}}
	changed := got(p.UsersAPI.UpdateRole(t.Context(), roleID).CreateRoleWithPermissionsSchema(roleBody(want)).Execute()).is(t, 200).Roles
	equal(t, "the answer to the change", [3]string{id(changed.Id), changed.Name, changed.GetDescription()}, [3]string{roleID, "tf-maker", "Makes flags"})
	equal(t, "the changed role", p.role(t, roleID), want)

	list := got(p.UsersAPI.GetRoles(t.Context()).Execute()).is(t, 200).Roles
	var names []string
	for _, role := range list {
		names = append(names, id(role.Id)+" "+role.Type+" "+role.Name)
	}
	equal(t, "the roles", names, []string{"1 root Admin", "2 root Editor", "3 root Viewer", "4 project Owner", "5 project Member", roleID + " custom tf-maker"})
	done(p.UsersAPI.DeleteRole(t.Context(), roleID).Execute()).is(t, 200)
	got(p.UsersAPI.GetRoleById(t.Context(), roleID).Execute()).isNot(t)

	root := p.createRole(t, roleState{"tf-root", "root-custom", "Makes projects", []grant{{"CREATE_PROJECT", ""}}})
	done(p.UsersAPI.DeleteRole(t.Context(), root).Execute()).is(t, 200)

	permissions := got(p.AuthAPI.GetPermissions(t.Context()).Execute()).is(t, 200).Permissions
	if len(permissions.Root) == 0 || len(permissions.Project) == 0 || len(permissions.Environments) != 3 {
		t.Errorf("the permissions are %+v, want some of the root, some of projects, and those of three environments", permissions)
	}
}

// createRole creates a role and returns its id as in the provider.
func (p *provider) createRole(t *testing.T, r roleState) string {
	t.Helper()
	made := got(p.UsersAPI.CreateRole(t.Context()).CreateRoleWithPermissionsSchema(roleBody(r)).Execute()).is(t, 200).Roles
	if made.Name != r.Name || made.Type != r.Type || made.Description == nil || *made.Description != r.Description {
		t.Errorf("the new role is %+v, want %+v", made, r)
	}
	return id(made.Id)
}

func roleBody(r roleState) unleash.CreateRoleWithPermissionsSchema {
	body := unleash.NewCreateRoleWithPermissionsSchemaAnyOf(r.Name)
	body.SetType(r.Type)
	body.SetDescription(r.Description)
	for _, g := range r.Permissions {
		permission := unleash.NewCreateRoleWithPermissionsSchemaAnyOfPermissionsInner(g.Name)
		if g.Environment != "" {
			permission.SetEnvironment(g.Environment)
		}
		body.Permissions = append(body.Permissions, *permission)
	}
	return unleash.CreateRoleWithPermissionsSchema{CreateRoleWithPermissionsSchemaAnyOf: body}
}

func (p *provider) role(t *testing.T, roleID string) roleState {
	t.Helper()
	role := got(p.UsersAPI.GetRoleById(t.Context(), roleID).Execute()).is(t, 200)
	s := roleState{role.Name, role.Type, role.GetDescription(), nil}
	for _, permission := range role.Permissions {
		s.Permissions = append(s.Permissions, grant{permission.Name, given(t, "the environment of "+permission.Name, permission.Environment)})
	}
	return s
}

// A userState is the state of a user in the provider.
type userState struct {
	Username, Email, Name string
	RootRole              int32
}

func terraformUser(t *testing.T, p *provider) {
	body := unleash.NewCreateUserSchema(unleash.Int32AsCreateUserSchemaRootRole(ptr(viewer)))
	body.SetUsername("tf-user")
	body.SetEmail("tf-user@example.com")
	body.SetPassword("a password of a user")
	body.SetSendEmail(false)
	made := got(p.UsersAPI.CreateUser(t.Context()).CreateUserSchema(*body).Execute()).is(t, 201)
	equal(t, "the new user", createdUser(t, made), userState{"tf-user", "tf-user@example.com", "", viewer})
	equal(t, "the user", p.user(t, made.Id), userState{"tf-user", "tf-user@example.com", "", viewer})

	update := unleash.NewUpdateUserSchema()
	update.SetName("Terry Form")
	update.SetEmail("terry@example.com")
	update.SetRootRole(unleash.Int32AsCreateUserSchemaRootRole(ptr(editor)))
	changed := got(p.UsersAPI.UpdateUser(t.Context(), made.Id).UpdateUserSchema(*update).Execute()).is(t, 200)
	want := userState{"tf-user", "terry@example.com", "Terry Form", editor}
	equal(t, "the answer to the change", createdUser(t, changed), want)
	equal(t, "the changed user", p.user(t, made.Id), want)
	found := got(p.UsersAPI.SearchUsers(t.Context()).Q("terry@").Execute()).is(t, 200)
	if len(found) != 1 || found[0].Id != made.Id {
		t.Errorf("the search finds %+v, want the user", found)
	}
	got(p.UsersAPI.CreateUser(t.Context()).CreateUserSchema(*body).Execute()).fails(t, 400, "ValidationError")

	done(p.UsersAPI.DeleteUser(t.Context(), made.Id).Execute()).is(t, 200)
	got(p.UsersAPI.GetUser(t.Context(), made.Id).Execute()).isNot(t)

	bare := unleash.NewCreateUserSchema(unleash.StringAsCreateUserSchemaRootRole(ptr("Viewer")))
	bare.SetEmail("bare@example.com")
	second := got(p.UsersAPI.CreateUser(t.Context()).CreateUserSchema(*bare).Execute()).is(t, 201)
	equal(t, "a user with an email only", p.user(t, second.Id), userState{"", "bare@example.com", "", viewer})
	done(p.UsersAPI.DeleteUser(t.Context(), second.Id).Execute()).is(t, 200)
}

func createdUser(t *testing.T, u *unleash.CreateUserResponseSchema) userState {
	t.Helper()
	if u.RootRole == nil || u.RootRole.Int32 == nil {
		t.Fatalf("the root role of %+v is no number", u)
	}
	return userState{given(t, "username", u.Username), u.GetEmail(), given(t, "name", u.Name), *u.RootRole.Int32}
}

func (p *provider) user(t *testing.T, userID int32) userState {
	t.Helper()
	u := got(p.UsersAPI.GetUser(t.Context(), userID).Execute()).is(t, 200)
	return userState{given(t, "username", u.Username), u.GetEmail(), given(t, "name", u.Name), u.GetRootRole()}
}

// An accountState is the state of a service account in the provider.
type accountState struct {
	Username, Name string
	RootRole       int32
	Tokens         int
}

func terraformServiceAccount(t *testing.T, p *provider) {
	accountID := p.createAccount(t, "tf-bot")
	equal(t, "the account", p.account(t, accountID), &accountState{"tf-bot", "tf-bot", viewer, 0})
	update := unleash.NewUpdateServiceAccountSchema()
	update.SetName("Changed")
	update.SetRootRole(editor)
	changed := got(p.ServiceAccountsAPI.UpdateServiceAccount(t.Context(), accountID).UpdateServiceAccountSchema(*update).Execute()).is(t, 200)
	equal(t, "the answer to the change", accountStateOf(changed), accountState{"tf-bot", "Changed", editor, 0})

	expires := time.Date(2099, 1, 31, 12, 0, 0, 0, time.UTC)
	token := got(p.ServiceAccountsAPI.CreateServiceAccountToken(t.Context(), accountID).CreatePatSchema(*unleash.NewCreatePatSchema("ci", expires)).Execute()).is(t, 201)
	if token.Secret == nil || token.Description != "ci" || !token.ExpiresAt.Equal(expires) {
		t.Fatalf("the new token is %+v, want one with a secret, description and expiry", token)
	}
	equal(t, "the account with a token", p.account(t, accountID), &accountState{"tf-bot", "Changed", editor, 1})
	bot := &gateway{port: p.g.port, token: *token.Secret, http: p.g.http}
	bot.do(t, 200, "GET", "/api/admin/projects", nil, nil)

	pats := got(p.ServiceAccountsAPI.GetServiceAccountTokens(t.Context(), accountID).Execute()).is(t, 200).Pats
	if len(pats) != 1 || pats[0].Id != token.Id || pats[0].Secret != nil || !pats[0].ExpiresAt.Equal(expires) {
		t.Errorf("the tokens are %+v, want the one, without its secret", pats)
	}
	done(p.ServiceAccountsAPI.DeleteServiceAccountToken(t.Context(), accountID, id(token.Id)).Execute()).is(t, 200)
	equal(t, "the account without a token", p.account(t, accountID), &accountState{"tf-bot", "Changed", editor, 0})
	bot.fails(t, 401, "AuthenticationRequired", "GET", "/api/admin/projects", nil)

	done(p.ServiceAccountsAPI.DeleteServiceAccount(t.Context(), accountID).Execute()).is(t, 200)
	equal(t, "the deleted account", p.account(t, accountID), nil)
	done(p.ServiceAccountsAPI.DeleteServiceAccount(t.Context(), accountID).Execute()).isNot(t)
}

// createAccount creates a service account with the role Viewer and returns its id as in the provider.
func (p *provider) createAccount(t *testing.T, name string) string {
	t.Helper()
	body := unleash.NewCreateServiceAccountSchema(name, name, viewer)
	made := got(p.ServiceAccountsAPI.CreateServiceAccount(t.Context()).CreateServiceAccountSchema(*body).Execute()).is(t, 201)
	equal(t, "the new account", accountStateOf(made), accountState{name, name, viewer, 0})
	return strconv.Itoa(int(made.Id))
}

func accountStateOf(a *unleash.ServiceAccountSchema) accountState {
	return accountState{a.GetUsername(), a.GetName(), a.GetRootRole(), len(a.Tokens)}
}

// account finds a service account as the provider does, in the list of all. It returns nil if there is none.
func (p *provider) account(t *testing.T, accountID string) *accountState {
	t.Helper()
	list := got(p.ServiceAccountsAPI.GetServiceAccounts(t.Context()).Execute()).is(t, 200)
	if len(list.RootRoles) < 3 {
		t.Errorf("the list has the root roles %+v, want all", list.RootRoles)
	}
	for _, a := range list.ServiceAccounts {
		if id(a.Id) == accountID {
			return ptr(accountStateOf(&a))
		}
	}
	return nil
}

func terraformAccess(t *testing.T, p *provider) {
	p.makeProject(t, "tf-access")
	role := number(t, p.createRole(t, roleState{"tf-switcher", "custom", "", []grant{{"UPDATE_FEATURE_ENVIRONMENT", "development"}}}))
	bot := number(t, p.createAccount(t, "tf-member"))
	const owner, member, admin int32 = 4, 5, 1

	p.setAccess(t, map[int32][]int32{owner: {admin}, role: {bot}, member: nil})
	equal(t, "the access", p.access(t), map[int32][]int32{owner: {admin}, role: {bot}})
	p.setAccess(t, map[int32][]int32{owner: {admin, bot}, role: {bot}})
	equal(t, "the changed access", p.access(t), map[int32][]int32{owner: {admin, bot}, role: {bot}})
	p.setAccess(t, nil)
	equal(t, "no access", p.access(t), map[int32][]int32{})

	done(p.UsersAPI.DeleteRole(t.Context(), id(role)).Execute()).is(t, 200)
	done(p.ServiceAccountsAPI.DeleteServiceAccount(t.Context(), id(bot)).Execute()).is(t, 200)
	done(p.ProjectsAPI.DeleteProject(t.Context(), "tf-access").Execute()).is(t, 200)
	got(p.ProjectsAPI.GetProjectAccess(t.Context(), "tf-access").Execute()).isNot(t)
}

func number(t *testing.T, text string) int32 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return int32(n)
}

// setAccess replaces the users of each role in the project.
func (p *provider) setAccess(t *testing.T, users map[int32][]int32) {
	t.Helper()
	roles := []unleash.ProjectAccessConfigurationSchemaRolesInner{}
	for role, ids := range users {
		roles = append(roles, unleash.ProjectAccessConfigurationSchemaRolesInner{Id: &role, Users: ids})
	}
	body := unleash.NewProjectAccessConfigurationSchema(roles)
	done(p.ProjectsAPI.SetProjectAccess(t.Context(), "tf-access").ProjectAccessConfigurationSchema(*body).Execute()).is(t, 200)
}

// access returns the users of each role in the project.
func (p *provider) access(t *testing.T) map[int32][]int32 {
	t.Helper()
	access := got(p.ProjectsAPI.GetProjectAccess(t.Context(), "tf-access").Execute()).is(t, 200)
	offered := map[int32]bool{}
	for _, role := range access.Roles {
		offered[role.Id] = true
	}
	users := map[int32][]int32{}
	for _, user := range access.Users {
		for _, role := range user.Roles {
			if !offered[role] {
				t.Errorf("user %d has the role %d, which is not in the list of roles", user.Id, role)
			}
			users[role] = append(users[role], user.Id)
		}
	}
	for _, ids := range users {
		slices.Sort(ids)
	}
	if len(access.Groups) != 0 {
		t.Errorf("the groups are %+v, want none", access.Groups)
	}
	return users
}
