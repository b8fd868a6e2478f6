package users

import (
	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// inUser is the place of an operation on a user or a service account. They share their IDs, but not their paths.
type inUser struct {
	httpapi.InService
	UserID int64 `path:"userId"`
}

// Keys names the user.
func (at *inUser) Keys() []flags.Key { return []flags.Key{access.UserKey(at.UserID)} }

// user is the user of the path. NotFound when there is none, or when it is a service account.
func (at inUser) user(tx *httpapi.Tx) *access.User {
	u := tx.User(at.UserID)
	if u.ServiceAccount {
		tx.Fail(flags.Errorf(flags.NotFound, "there is no user %d: that is the id of a service account", at.UserID))
	}
	return u
}

// account is the service account of the path. NotFound when there is none, or when it is a user.
func (at inUser) account(tx *httpapi.Tx) *access.User {
	u := tx.FindUser(at.UserID)
	if u == nil {
		tx.Fail(flags.Errorf(flags.NotFound, "there is no service account %d", at.UserID))
	}
	if !u.ServiceAccount {
		tx.Fail(flags.Errorf(flags.NotFound, "there is no service account %d: that is the id of a user", at.UserID))
	}
	return u
}

// inRole is the place of an operation on a role.
type inRole struct {
	httpapi.InService
	RoleID int64 `path:"roleId"`
}

// inMemberRole is the place of an operation on a role that a user holds in a project.
type inMemberRole struct {
	httpapi.InProject
	UserID int64 `path:"userId"`
	RoleID int64 `path:"roleId"`
}

// Keys names the project and the user.
func (at *inMemberRole) Keys() []flags.Key {
	return append(at.InProject.Keys(), access.UserKey(at.UserID))
}

// find is the project, the user and the role of the path. NotFound when one of them does not exist.
func (at inMemberRole) find(tx *httpapi.Tx) (*flags.Project, *access.User, access.Role) {
	return tx.Project(at.ProjectID), tx.User(at.UserID), findRole(tx, at.RoleID)
}

// findRole is the role of that ID. NotFound when it does not exist.
func findRole(tx *httpapi.Tx, id int64) access.Role {
	role := tx.Roles().Find(id)
	if role == nil {
		tx.Fail(flags.Errorf(flags.NotFound, "there is no role %d", id))
	}
	return *role
}
