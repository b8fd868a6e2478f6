package access

import "guidon/pkg/flags"

// A HeldPermission is a permission that a caller has. It holds in one project and environment, or in all if the
// field is empty. Without a project it holds in the whole service.
type HeldPermission struct {
	Permission  Permission
	Project     string // an ID
	Environment string // a name
}

// HeldPermissions returns the caller's permissions: those of the root role, then those of the roles in each
// project. For an administrator it returns Admin, which includes all others. The default project is always
// included, because editors own it.
func (c Caller) HeldPermissions(projects []*flags.Project) []HeldPermission {
	if c.Admin {
		return []HeldPermission{{Permission: Admin}}
	}
	if c.User == nil || c.root == nil {
		return nil
	}
	held := rolePermissions(c.root, "")
	for _, p := range withDefault(projects) {
		for _, role := range c.rolesIn(p) {
			held = append(held, rolePermissions(role, p.ID)...)
		}
	}
	return held
}

// rolePermissions returns the permissions of a role that is held in a project, or in the whole service if
// project is empty.
func rolePermissions(role *Role, project string) []HeldPermission {
	held := make([]HeldPermission, len(role.Permissions))
	for i, g := range role.Permissions {
		held[i] = HeldPermission{g.Permission, project, g.Environment}
	}
	return held
}

// withDefault adds a default project without members to the list, unless it has the default project already.
func withDefault(projects []*flags.Project) []*flags.Project {
	for _, p := range projects {
		if p.ID == flags.DefaultProject {
			return projects
		}
	}
	return append([]*flags.Project{{ID: flags.DefaultProject}}, projects...)
}

// IsAdmin reports whether the user's root role has the permission Admin.
func (u *User) IsAdmin(roles *Roles) bool {
	root := roles.Find(u.RootRole)
	return root != nil && root.Has(Admin, "")
}
