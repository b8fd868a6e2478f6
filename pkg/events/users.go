package events

import (
	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/shape"
)

// accountOf is a user, or a service account with its tokens.
func accountOf(u *access.User) any {
	if !u.ServiceAccount {
		return shape.UserViewOf(u)
	}
	return shape.ServiceAccountViewOf(u)
}

// ofAccount is the type of an event of a user, or that of a service account.
func ofAccount(u *access.User, person, account flags.EventType) flags.EventType {
	if u.ServiceAccount {
		return account
	}
	return person
}

// UserCreated is the event of a new user or service account.
func UserCreated(u *access.User) flags.Event {
	return flags.Event{Type: ofAccount(u, flags.UserCreated, flags.ServiceAccountCreated), Data: accountOf(u)}
}

// UserUpdated is the event of a user or service account that changed.
func UserUpdated(before, after *access.User) flags.Event {
	return flags.Event{Type: ofAccount(after, flags.UserUpdated, flags.ServiceAccountUpdated), Data: accountOf(after), PreData: accountOf(before)}
}

// UserDeleted is the event of a deleted user or service account.
func UserDeleted(u *access.User) flags.Event {
	return flags.Event{Type: ofAccount(u, flags.UserDeleted, flags.ServiceAccountDeleted), PreData: accountOf(u)}
}

// UserLeftProjects is the event of a user who is being deleted and left the first of many projects.
func UserLeftProjects(u *access.User) flags.Event {
	return flags.Event{Type: flags.ProjectUserRemoved, PreData: accountOf(u)}
}

// memberRoles are the roles that a user has in a project.
type memberRoles struct {
	UserID int64   `json:"userId"`
	Roles  []int64 `json:"roles"`
}

func memberRolesOf(p *flags.Project, user int64) memberRoles {
	return memberRoles{user, p.RolesOf(user)}
}

// ProjectUserAdded is the event of a user who got a role in a project.
func ProjectUserAdded(before, after *flags.Project, user int64) flags.Event {
	return ofMember(flags.ProjectUserAdded, before, after, user)
}

// ProjectUserRoleChanged is the event of a user who got one role in a project instead of others.
func ProjectUserRoleChanged(before, after *flags.Project, user int64) flags.Event {
	return ofMember(flags.ProjectUserRoleChanged, before, after, user)
}

// ProjectUserRemoved is the event of a user who lost a role in a project.
func ProjectUserRemoved(before, after *flags.Project, user int64) flags.Event {
	return ofMember(flags.ProjectUserRemoved, before, after, user)
}

func ofMember(kind flags.EventType, before, after *flags.Project, user int64) flags.Event {
	return flags.Event{Type: kind, Project: after.ID, Data: memberRolesOf(after, user), PreData: memberRolesOf(before, user)}
}

// membersAccess is what several users have in a project.
type membersAccess struct {
	Users []memberRoles `json:"users"`
}

// ProjectAccessUpdated is the event of a project some of whose users, by their ids, got other roles.
func ProjectAccessUpdated(before, after *flags.Project, users []int64) flags.Event {
	in := func(p *flags.Project) membersAccess {
		return membersAccess{shape.Each(users, func(id int64) memberRoles { return memberRolesOf(p, id) })}
	}
	return flags.Event{Type: flags.ProjectAccessUpdated, Project: after.ID, Data: in(after), PreData: in(before)}
}

// Role has the events of roles.
var Role = familyOf(flags.RoleCreated, flags.RoleUpdated, flags.RoleDeleted, shape.RoleWithPermissionsOf)
