package shape

import "guidon/pkg/access"

// A UserView is a user or service account (contract: User record). A name, username or email that is not set is left out.
type UserView struct {
	ID            int64   `json:"id"`
	IsAPI         bool    `json:"isAPI"` // deprecated, always false
	AccountType   string  `json:"accountType"`
	Name          string  `json:"name,omitzero"`
	Username      string  `json:"username,omitzero"`
	Email         string  `json:"email,omitzero"`
	ImageURL      string  `json:"imageUrl"`
	InviteLink    string  `json:"inviteLink"`    // always empty: a sign-in link is an operation of its own
	LoginAttempts int     `json:"loginAttempts"` // always 0: users have no passwords
	RootRole      int64   `json:"rootRole"`
	SeenAt        *Time   `json:"seenAt"`
	CreatedAt     Time    `json:"createdAt"`
	ScimID        *string `json:"scimId"` // always null: there is no external provisioning
}

// UserViewOf returns a user or service account.
func UserViewOf(u *access.User) UserView {
	kind := "User"
	if u.ServiceAccount {
		kind = "Service Account"
	}
	return UserView{
		ID: u.ID, AccountType: kind, Name: u.Name, Username: u.Username, Email: u.Email, ImageURL: u.Image(),
		RootRole: u.RootRole, SeenAt: TimeOrNull(u.SeenAt), CreatedAt: Time(u.CreatedAt),
	}
}

// A ServiceAccountView is a service account with its tokens, without their secrets.
type ServiceAccountView struct {
	UserView
	Tokens []AccountToken `json:"tokens"`
}

// An AccountToken is a token of a service account.
type AccountToken struct {
	ID          int64  `json:"id"`
	Description string `json:"description"`
	CreatedAt   Time   `json:"createdAt"`
	ExpiresAt   Time   `json:"expiresAt"`
	SeenAt      *Time  `json:"seenAt"`
}

// ServiceAccountViewOf returns a service account.
func ServiceAccountViewOf(u *access.User) ServiceAccountView {
	return ServiceAccountView{UserViewOf(u), Each(u.Tokens, func(t access.UserToken) AccountToken {
		return AccountToken{t.ID, t.Description, Time(t.CreatedAt), Time(t.ExpiresAt), TimeOrNull(t.SeenAt)}
	})}
}

// A RoleView is a role (contract: Role record). The description is a string even if it is empty, for clients that print it.
type RoleView struct {
	ID          int64           `json:"id"`
	Type        access.RoleType `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
}

// RoleViewOf returns a role without its permissions.
func RoleViewOf(r access.Role) RoleView { return RoleView{r.ID, r.Type, r.Name, r.Description} }

// RoleWithPermissions is a role with its permissions.
type RoleWithPermissions struct {
	RoleView
	Permissions []PermissionView `json:"permissions"`
}

// RoleWithPermissionsOf returns a role with its permissions.
func RoleWithPermissionsOf(r access.Role) RoleWithPermissions {
	return RoleWithPermissions{RoleViewOf(r), Each(r.Permissions, func(g access.Grant) PermissionView {
		return PermissionViewOf(g, r.ScopeOf(g.Permission))
	})}
}

// A PermissionView is a permission that a role grants or can grant.
type PermissionView struct {
	ID          int               `json:"id"` // 0 for one that grants nothing
	Name        access.Permission `json:"name"`
	DisplayName string            `json:"displayName"`
	Type        string            `json:"type"`                 // root, project or environment
	Environment string            `json:"environment,omitzero"` // the only environment in which it is granted
}

// PermissionViewOf returns a permission.
func PermissionViewOf(g access.Grant, scope access.Scope) PermissionView {
	info, _ := access.DescribePermission(g.Permission)
	return PermissionView{g.Permission.ID(), g.Permission, info.DisplayName, scope.String(), g.Environment}
}
