// Package users has the operations on users, service accounts and roles, and on who holds which role in a project
// (contract: Project users). The operations on tokens are in another package.
package users

import (
	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// Group lists the operations on users, service accounts and roles.
func Group() httpapi.Group {
	const (
		users    = "/api/admin/user-admin"
		accounts = "/api/admin/service-account"
		roles    = "/api/admin/roles"
	)
	var (
		withRoles        = []flags.Key{access.RolesKey()}
		withEnvironments = []flags.Key{flags.EnvironmentsKey()}
		withBoth         = []flags.Key{access.RolesKey(), flags.EnvironmentsKey()}
	)
	return httpapi.Group{Name: "users", Function: "access", Operations: []httpapi.Operation{
		{Route: "GET " + users, Permission: access.Admin, Ahead: withRoles, Handle: httpapi.Handle(listUsers)},
		{Route: "POST " + users, Permission: access.Admin, Ahead: withRoles, Status: 201, Handle: httpapi.HandleBody(createUser)},
		{Route: "GET " + users + "/search", Permission: access.Admin, Handle: httpapi.Handle(searchUsers)},
		{Route: "GET " + users + "/access", Permission: access.Admin, Handle: httpapi.Handle(listUserAccess)},
		{Route: "GET " + users + "/admin-count", Permission: access.Admin, Ahead: withRoles, Handle: httpapi.Handle(countAdmins)},
		{Route: "GET " + users + "/{userId}", Permission: access.Admin, Handle: httpapi.Handle(readUser)},
		{Route: "PUT " + users + "/{userId}", Permission: access.Admin, Ahead: withRoles, Handle: httpapi.HandleBody(updateUser)},
		{Route: "DELETE " + users + "/{userId}", Permission: access.Admin, Handle: httpapi.DoMany(deleteUser)},
		{Route: "POST " + users + "/{userId}/sign-in-link", Permission: access.Admin, Status: 201, Handle: httpapi.Handle(createSignInLink)},
		{Route: "POST " + users + "/{userId}/sign-out", Permission: access.Admin, Status: 204, Handle: httpapi.Do(signOutUser)},
		{Route: "GET /api/admin/user", Permission: access.Read, Handle: httpapi.Handle(readMe)},

		{Route: "GET " + accounts, Permission: access.Admin, Ahead: withRoles, Handle: httpapi.Handle(listAccounts)},
		{Route: "POST " + accounts, Permission: access.Admin, Ahead: withRoles, Status: 201, Handle: httpapi.HandleBody(createAccount)},
		{Route: "PUT " + accounts + "/{userId}", Permission: access.Admin, Ahead: withRoles, Handle: httpapi.HandleBody(updateAccount)},
		{Route: "DELETE " + accounts + "/{userId}", Permission: access.Admin, Handle: httpapi.DoMany(deleteAccount)},

		{Route: "GET /api/admin/permissions", Permission: access.ReadRole, Ahead: withEnvironments, Handle: httpapi.Handle(listPermissions)},
		{Route: "GET " + roles, Permission: access.ReadRole, Ahead: withRoles, Handle: httpapi.Handle(listRoles)},
		{Route: "POST " + roles, Permission: access.Admin, Ahead: withBoth, Handle: httpapi.HandleBody(createRole)},
		{Route: "GET " + roles + "/{roleId}", Permission: access.ReadRole, Ahead: withRoles, Handle: httpapi.Handle(readRole)},
		{Route: "PUT " + roles + "/{roleId}", Permission: access.Admin, Ahead: withBoth, Handle: httpapi.HandleBody(updateRole)},
		{Route: "DELETE " + roles + "/{roleId}", Permission: access.Admin, Ahead: withRoles, Handle: httpapi.Do(deleteRole)},
	}, Gone: map[string]string{
		"GET " + users + "/inactive": "Guidon does not list inactive users; the event log has sign-ins (user-signed-in), and GET " + users + " lists all users",
	}}
}

// MemberGroup lists the operations on who has access to a project.
func MemberGroup() httpapi.Group {
	const (
		members = "/api/admin/projects/{projectId}/access"
		held    = "/api/admin/projects/{projectId}/users/{userId}/roles/{roleId}"
	)
	withRoles := []flags.Key{access.RolesKey()}
	return httpapi.Group{Name: "members", Function: "projects", Operations: []httpapi.Operation{
		{Route: "GET " + members, Permission: access.UserAccessRead, Ahead: withRoles, Handle: httpapi.Handle(readAccess)},
		{Route: "PUT " + members, Permission: access.UserAccessWrite, Ahead: withRoles, Handle: httpapi.DoManyBody(setAccess)},
		{Route: "POST " + held, Permission: access.UserAccessWrite, Ahead: withRoles, Handle: httpapi.DoOptional(addProjectRole)},
		{Route: "PUT " + held, Permission: access.UserAccessWrite, Ahead: withRoles, Handle: httpapi.DoOptional(replaceProjectRoles)},
		{Route: "DELETE " + held, Permission: access.UserAccessWrite, Ahead: withRoles, Handle: httpapi.DoOptional(removeProjectRole)},
	}}
}
