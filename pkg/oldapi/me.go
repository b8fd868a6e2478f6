package oldapi

import "guidon/pkg/flags"

// A meView is the caller, and what the caller may do. Feedback and splash are Unleash's; they are always empty.
type meView struct {
	User        meUser            `json:"user"`
	Permissions []permissionOfMe  `json:"permissions"`
	Feedback    []map[string]bool `json:"feedback"`
	Splash      map[string]bool   `json:"splash"`
}

// A meUser is the user or service account of a personal token, or an API token, which has no id.
type meUser struct {
	ID          int64              `json:"id,omitzero"`
	IsAPI       bool               `json:"isAPI"` // whether it is an API token
	AccountType string             `json:"accountType,omitzero"`
	Name        string             `json:"name,omitzero"`
	Username    string             `json:"username,omitzero"`
	Email       string             `json:"email,omitzero"`
	ImageURL    string             `json:"imageUrl,omitzero"`
	RootRole    int64              `json:"rootRole,omitzero"`
	CreatedAt   *timestamp         `json:"createdAt,omitzero"`
	SeenAt      *timestamp         `json:"seenAt"`
	Type        flags.TokenType    `json:"type,omitzero"`
	Environment string             `json:"environment,omitzero"`
	Projects    []string           `json:"projects,omitzero"`
	Permissions []flags.Permission `json:"permissions,omitzero"`
}

// A permissionOfMe is a permission that the caller holds.
type permissionOfMe struct {
	Permission  flags.Permission `json:"permission"`
	Project     string           `json:"project,omitzero"`     // absent: in the whole service
	Environment string           `json:"environment,omitzero"` // absent: in all environments
}

// myProjects names the projects that the caller has a role in.
func myProjects(c *call) []flags.Key {
	if c.caller.User == nil || c.caller.Admin {
		return nil
	}
	return each(c.caller.User.Projects, flags.ProjectKey)
}

func readMe(c *call) (decision, error) {
	var projects []*flags.Project
	for _, key := range myProjects(c) {
		if p := flags.Find[*flags.Project](c.more, key); p != nil {
			projects = append(projects, p)
		}
	}
	view := meView{
		User: meUserOf(c.caller), Feedback: []map[string]bool{}, Splash: map[string]bool{},
		Permissions: each(c.caller.HeldPermissions(projects), func(h flags.HeldPermission) permissionOfMe { return permissionOfMe(h) }),
	}
	return ok(view)
}

func meUserOf(caller flags.Caller) meUser {
	u := caller.User
	if u == nil { // only admin tokens may call
		return meUser{
			IsAPI: true, Name: caller.Name, Username: caller.Name, Type: flags.AdminToken, Environment: flags.All,
			Projects: []string{flags.All}, Permissions: []flags.Permission{flags.Admin},
		}
	}
	all := userViewOf(u)
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

// A briefUser is what is needed to choose a user.
type briefUser struct {
	ID          int64  `json:"id"`
	AccountType string `json:"accountType"`
	Name        string `json:"name,omitzero"`
	Username    string `json:"username,omitzero"`
	Email       string `json:"email,omitzero"`
}

func listUserAccess(c *call) (decision, error) {
	users := each(c.usersWhere(isPerson), func(u *flags.User) briefUser {
		return briefUser{u.ID, userViewOf(u).AccountType, u.Name, u.Username, u.Email}
	})
	return ok(userAccessView{Users: users, Groups: []struct{}{}})
}

// An adminCount is the number of administrators. Users have no passwords, so no administrator has one.
type adminCount struct {
	Password   int `json:"password"`
	NoPassword int `json:"noPassword"`
	Service    int `json:"service"`
}

func countAdmins(c *call) (decision, error) {
	isAdmin := func(u *flags.User) bool { return u.IsAdmin(c.roles) }
	return ok(adminCount{
		NoPassword: count(c.usersWhere(isPerson), isAdmin),
		Service:    count(c.usersWhere(isAccount), isAdmin),
	})
}
