package oldapi

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"unicode/utf8"

	"guidon/pkg/events"
	"guidon/pkg/flags"
)

// Users serves users, service accounts, roles, and who holds which role in a project (contract: Project users). What
// users act with, their tokens, is the tokens group's.
func Users() Group {
	const (
		users    = "/api/admin/user-admin"
		accounts = "/api/admin/service-account"
		roles    = "/api/admin/roles"
		access   = "/api/admin/projects/{projectId}/access"
		held     = "/api/admin/projects/{projectId}/users/{userId}/roles/{roleId}"
	)
	const member = theProject | theUser | theRoles | theRole
	return Group{Name: "users", Operations: []Operation{
		{"GET " + users, flags.Admin, theRoles, does(listUsers).listing(flags.EntityUser).answers(200, userList{})},
		{"POST " + users, flags.Admin, theRoles, takes(createUser).listing(flags.EntityUser).allocating(flags.EntityUser).answers(201, createdUser{})},
		{"GET " + users + "/search", flags.Admin, 0, does(searchUsers).listing(flags.EntityUser).answers(200, []userView{})},
		{"GET " + users + "/access", flags.Admin, 0, does(listUserAccess).listing(flags.EntityUser).answers(200, userAccessView{})},
		{"GET " + users + "/admin-count", flags.Admin, theRoles, does(countAdmins).listing(flags.EntityUser).answers(200, adminCount{})},
		{"GET /api/admin/user", flags.Read, 0, does(readMe).loading(myProjects).answers(200, meView{})},
		{"GET " + users + "/{userId}", flags.Admin, theUser, does(readUser).answers(200, userView{})},
		{"PUT " + users + "/{userId}", flags.Admin, theUser | theRoles, takes(updateUser).listing(flags.EntityUser).answers(200, userView{})},
		{"DELETE " + users + "/{userId}", flags.Admin, theUser, does(deleteUser).loading(projectsToLeave).answers(200)},

		{"GET " + accounts, flags.Admin, theRoles, does(listAccounts).listing(flags.EntityUser).answers(200, serviceAccountList{})},
		{"POST " + accounts, flags.Admin, theRoles, takes(createAccount).listing(flags.EntityUser).allocating(flags.EntityUser).answers(201, serviceAccountView{})},
		{"PUT " + accounts + "/{userId}", flags.Admin, theUser | theRoles, takes(updateAccount).listing(flags.EntityUser).answers(200, serviceAccountView{})},
		{"DELETE " + accounts + "/{userId}", flags.Admin, theUser, does(deleteAccount).loading(projectsToLeave).answers(200)},

		{"GET /api/admin/permissions", flags.ReadRole, theEnvironments, does(listPermissions).answers(200, permissionList{})},
		{"GET " + roles, flags.ReadRole, theRoles, does(listRoles).answers(200, roleList{})},
		{"POST " + roles, flags.Admin, theRoles | theEnvironments, takes(createRole).answers(200, changedRole{})},
		{"GET " + roles + "/{roleId}", flags.ReadRole, theRoles | theRole, does(readRole).answers(200, roleWithPermissions{})},
		{"PUT " + roles + "/{roleId}", flags.Admin, theRoles | theRole | theEnvironments, takes(updateRole).answers(200, changedRole{})},
		{"DELETE " + roles + "/{roleId}", flags.Admin, theRoles | theRole, does(deleteRole).listing(flags.EntityUser, flags.EntityProject).answers(200)},

		{"GET " + access, flags.UserAccessRead, theProject | theRoles, does(readAccess).loading(membersOf).answers(200, accessView{})},
		{"PUT " + access, flags.UserAccessWrite, theProject | theRoles, loadingFor(takes(setAccess), changedMembers).answers(200)},
		{"POST " + held, flags.UserAccessWrite, member, optional[heldRoleBody](takes(addProjectRole)).answers(200)},
		{"PUT " + held, flags.UserAccessWrite, member, optional[heldRoleBody](takes(replaceProjectRoles)).answers(200)},
		{"DELETE " + held, flags.UserAccessWrite, member, optional[heldRoleBody](takes(removeProjectRole)).answers(200)},
	}, gone: []string{"GET " + users + "/inactive"}}
}

func listUsers(c *call) (decision, error) {
	return ok(userList{Users: each(pageOf(c.query, c.usersWhere(isPerson)), userViewOf), RootRoles: each(c.roles.RootRoles(), roleViewOf)})
}

// minSearch is how many characters a search needs before it finds anybody.
const minSearch = 2

func searchUsers(c *call) (decision, error) {
	q := c.query.Get("q")
	if utf8.RuneCountInString(q) < minSearch {
		return ok([]userView{})
	}
	return ok(each(c.usersWhere(func(u *flags.User) bool { return isPerson(u) && u.Matches(q) }), userViewOf))
}

func readUser(c *call) (decision, error) {
	if err := c.findKind(isPerson, "user"); err != nil {
		return decision{}, err
	}
	return ok(userViewOf(c.user))
}

func createUser(c *call, in createUserBody) (decision, error) {
	u, err := c.newUser(in.user(), in.RootRole)
	if err != nil {
		return decision{}, err
	}
	d, err := c.changes(nil, u, events.UserCreated(u), http.StatusCreated, createdUser{userView: userViewOf(u)})
	return created(d, "/api/admin/user-admin", strconv.FormatInt(u.ID, 10)), err
}

func updateUser(c *call, in updateUserBody) (decision, error) {
	if err := c.findKind(isPerson, "user"); err != nil {
		return decision{}, err
	}
	u, err := c.updated(in)
	if err != nil {
		return decision{}, err
	}
	return c.changes(c.user, u, events.UserUpdated(c.user, u), http.StatusOK, userViewOf(u))
}

func deleteUser(c *call) (decision, error) {
	if err := c.findKind(isPerson, "user"); err != nil {
		return decision{}, err
	}
	return c.removeUser()
}

func isPerson(u *flags.User) bool { return !u.ServiceAccount }

func isAccount(u *flags.User) bool { return u.ServiceAccount }

// usersWhere are those of the listed users that are meant, by id.
func (c *call) usersWhere(meant func(*flags.User) bool) []*flags.User {
	var list []*flags.User
	for _, a := range c.lists[flags.EntityUser] {
		if u := a.(*flags.User); meant(u) {
			list = append(list, u)
		}
	}
	slices.SortFunc(list, func(a, b *flags.User) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// findKind sees that the user of the path is of the kind that the path is about: users and service accounts share their
// ids, but not their paths.
func (c *call) findKind(is func(*flags.User) bool, kind string) error {
	if !is(c.user) {
		return flags.Errorf(flags.NotFound, "there is no %s %d", kind, c.user.ID)
	}
	return nil
}

// newUser is u with the id allocated for it and the root role that the body names.
func (c *call) newUser(u flags.User, ref maybe[roleRef]) (*flags.User, error) {
	made, err := flags.NewUser(u, c.id, c.now)
	if err != nil {
		return nil, err
	}
	if err := flags.CheckListSize(c.lists[flags.EntityUser], nil, made); err != nil {
		return nil, err
	}
	return made, made.SetRootRole(c.rootRole(ref.Value))
}

// updated is the user of the path with what the body changes.
func (c *call) updated(in updateUserBody) (*flags.User, error) {
	u := c.user.Clone()
	in.over(u)
	var before, problems flags.Problems
	c.user.Check(&before)
	u.Check(&problems)
	if err := problems.Without(before).Err(); err != nil {
		return nil, err
	}
	if err := flags.CheckListSize(c.lists[flags.EntityUser], c.user, u); err != nil {
		return nil, err
	}
	if !in.RootRole.Set {
		return u, nil
	}
	return u, u.SetRootRole(c.rootRole(in.RootRole.Value))
}

// rootRole is the id of the role that a body names by id or name; 0 when there is none, which review has seen.
func (c *call) rootRole(ref roleRef) int64 {
	for _, role := range c.roles.RootRoles() {
		if role.ID == ref.ID || ref.ID == 0 && role.Name == ref.Name {
			return role.ID
		}
	}
	return 0
}
