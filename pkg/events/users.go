package events

import (
	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/shape"
)

// A user is a user or a service account. A name, username or e-mail that is not set is left out.
type user struct {
	ID            int64       `json:"id"`
	IsAPI         bool        `json:"isAPI"` // always false
	AccountType   string      `json:"accountType"`
	Name          string      `json:"name,omitzero"`
	Username      string      `json:"username,omitzero"`
	Email         string      `json:"email,omitzero"`
	ImageURL      string      `json:"imageUrl"`
	InviteLink    string      `json:"inviteLink"`    // always empty: a sign-in link is an event of its own
	LoginAttempts int         `json:"loginAttempts"` // always 0: users have no passwords
	RootRole      int64       `json:"rootRole"`
	SeenAt        *shape.Time `json:"seenAt"`
	CreatedAt     shape.Time  `json:"createdAt"`
	ScimID        *string     `json:"scimId"` // always null: there is no external provisioning
}

func userOf(u *access.User) user {
	kind := "User"
	if u.ServiceAccount {
		kind = "Service Account"
	}
	return user{
		ID: u.ID, AccountType: kind, Name: u.Name, Username: u.Username, Email: u.Email, ImageURL: u.Image(),
		RootRole: u.RootRole, SeenAt: shape.TimeOrNull(u.SeenAt), CreatedAt: shape.Time(u.CreatedAt),
	}
}

// A serviceAccount is a service account with its tokens, without their secrets.
type serviceAccount struct {
	user
	Tokens []accountToken `json:"tokens"`
}

type accountToken struct {
	ID          int64       `json:"id"`
	Description string      `json:"description"`
	CreatedAt   shape.Time  `json:"createdAt"`
	ExpiresAt   shape.Time  `json:"expiresAt"`
	SeenAt      *shape.Time `json:"seenAt"`
}

// accountOf is a user, or a service account with its tokens.
func accountOf(u *access.User) any {
	if !u.ServiceAccount {
		return userOf(u)
	}
	return serviceAccount{userOf(u), list(u.Tokens, func(t access.UserToken) accountToken {
		return accountToken{t.ID, t.Description, shape.Time(t.CreatedAt), shape.Time(t.ExpiresAt), shape.TimeOrNull(t.SeenAt)}
	})}
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
		return membersAccess{list(users, func(id int64) memberRoles { return memberRolesOf(p, id) })}
	}
	return flags.Event{Type: flags.ProjectAccessUpdated, Project: after.ID, Data: in(after), PreData: in(before)}
}

type role struct {
	ID          int64           `json:"id"`
	Type        access.RoleType `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Permissions []permission    `json:"permissions"`
}

type permission struct {
	ID          int               `json:"id"` // 0 for one that grants nothing
	Name        access.Permission `json:"name"`
	DisplayName string            `json:"displayName"`
	Type        string            `json:"type"`                 // root, project or environment
	Environment string            `json:"environment,omitzero"` // the only one that it is held in
}

func roleOf(r access.Role) role {
	return role{r.ID, r.Type, r.Name, r.Description, list(r.Permissions, func(g access.Grant) permission {
		info, _ := access.DescribePermission(g.Permission)
		return permission{g.Permission.ID(), g.Permission, info.DisplayName, r.ScopeOf(g.Permission).String(), g.Environment}
	})}
}

// RoleCreated is the event of a new role.
func RoleCreated(r access.Role) flags.Event {
	return flags.Event{Type: flags.RoleCreated, Data: roleOf(r)}
}

// RoleUpdated is the event of a role that changed.
func RoleUpdated(before, after access.Role) flags.Event {
	return flags.Event{Type: flags.RoleUpdated, Data: roleOf(after), PreData: roleOf(before)}
}

// RoleDeleted is the event of a deleted role.
func RoleDeleted(r access.Role) flags.Event {
	return flags.Event{Type: flags.RoleDeleted, PreData: roleOf(r)}
}
