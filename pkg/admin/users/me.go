package users

import (
	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/shape"
)

// A meView is the caller and the caller's permissions. Feedback and splash belong to Unleash's console, and are empty.
type meView struct {
	User        meUser            `json:"user"`
	Permissions []permissionOfMe  `json:"permissions"`
	Feedback    []map[string]bool `json:"feedback"`
	Splash      map[string]bool   `json:"splash"`
}

// A meUser is the user or service account of a personal token, or an API token, which has no ID.
type meUser struct {
	ID          int64               `json:"id,omitzero"`
	IsAPI       bool                `json:"isAPI"` // whether it is an API token
	AccountType string              `json:"accountType,omitzero"`
	Name        string              `json:"name,omitzero"`
	Username    string              `json:"username,omitzero"`
	Email       string              `json:"email,omitzero"`
	ImageURL    string              `json:"imageUrl,omitzero"`
	RootRole    int64               `json:"rootRole,omitzero"`
	CreatedAt   *shape.Time         `json:"createdAt,omitzero"`
	SeenAt      *shape.Time         `json:"seenAt"`
	Type        access.TokenType    `json:"type,omitzero"`
	Environment string              `json:"environment,omitzero"`
	Projects    []string            `json:"projects,omitzero"`
	Permissions []access.Permission `json:"permissions,omitzero"`
}

// A permissionOfMe is a permission that the caller holds.
type permissionOfMe struct {
	Permission  access.Permission `json:"permission"`
	Project     string            `json:"project,omitzero"`     // absent: in the whole service
	Environment string            `json:"environment,omitzero"` // absent: in all environments
}

func readMe(tx *httpapi.Tx, _ httpapi.InService) (meView, error) {
	held := tx.Caller.HeldPermissions(tx.CallersProjects())
	return meView{
		User: meUserOf(tx.Caller), Feedback: []map[string]bool{}, Splash: map[string]bool{},
		Permissions: httpapi.Each(held, func(h access.HeldPermission) permissionOfMe { return permissionOfMe(h) }),
	}, nil
}

func meUserOf(caller access.Caller) meUser {
	u := caller.User
	if u == nil { // an admin token: other API tokens cannot call the operation
		return meUser{
			IsAPI: true, Name: caller.Name, Username: caller.Name, Type: access.AdminToken, Environment: flags.All,
			Projects: []string{flags.All}, Permissions: []access.Permission{access.Admin},
		}
	}
	all := shape.UserViewOf(u)
	return meUser{
		ID: u.ID, AccountType: all.AccountType, Name: u.Name, Username: u.Username, Email: u.Email, ImageURL: all.ImageURL,
		RootRole: u.RootRole, CreatedAt: &all.CreatedAt, SeenAt: all.SeenAt,
	}
}

// A userAccessView is the users that can be given access to a project.
type userAccessView struct {
	Users  []briefUser `json:"users"`
	Groups []struct{}  `json:"groups"` // always empty
}

// A briefUser is a user in the list to choose from.
type briefUser struct {
	ID          int64  `json:"id"`
	AccountType string `json:"accountType"`
	Name        string `json:"name,omitzero"`
	Username    string `json:"username,omitzero"`
	Email       string `json:"email,omitzero"`
}

func listUserAccess(tx *httpapi.Tx, _ httpapi.InService) (userAccessView, error) {
	users := httpapi.Each(usersWhere(tx, isPerson), func(u *access.User) briefUser {
		return briefUser{u.ID, shape.UserViewOf(u).AccountType, u.Name, u.Username, u.Email}
	})
	return userAccessView{Users: users, Groups: []struct{}{}}, nil
}

// An adminCount is the number of administrators. Users have no passwords, so no administrator has one.
type adminCount struct {
	Password   int `json:"password"`
	NoPassword int `json:"noPassword"`
	Service    int `json:"service"`
}

func countAdmins(tx *httpapi.Tx, _ httpapi.InService) (adminCount, error) {
	roles := tx.Roles()
	var n adminCount
	for _, u := range tx.Users() {
		switch {
		case !u.IsAdmin(roles):
		case u.ServiceAccount:
			n.Service++
		default:
			n.NoPassword++
		}
	}
	return n, nil
}
