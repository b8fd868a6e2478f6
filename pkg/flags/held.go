package flags

// A HeldPermission is a permission that a caller holds: in the whole service when Project is empty, or else in one
// project; and in all environments when Environment is empty, or else in one.
type HeldPermission struct {
	Permission  Permission
	Project     string // an id
	Environment string // a name
}

// Held lists the caller's permissions: those of the root role, then those of the roles in each of projects. An
// administrator holds Admin, which includes all others. An editor is an owner of the default project, whether or not it
// is among projects.
func (c Caller) HeldPermissions(projects []*Project) []HeldPermission {
	if c.Admin {
		return []HeldPermission{{Permission: Admin}}
	}
	if c.User == nil || c.root == nil {
		return nil
	}
	held := heldBy(c.root, "")
	for _, p := range withDefault(projects) {
		for _, role := range c.rolesIn(p) {
			held = append(held, heldBy(role, p.ID)...)
		}
	}
	return held
}

func heldBy(role *Role, project string) []HeldPermission {
	held := make([]HeldPermission, len(role.Permissions))
	for i, g := range role.Permissions {
		held[i] = HeldPermission{g.Permission, project, g.Environment}
	}
	return held
}

// withDefault is projects and, if it is not one of them, a default project without members.
func withDefault(projects []*Project) []*Project {
	for _, p := range projects {
		if p.ID == DefaultProject {
			return projects
		}
	}
	return append([]*Project{{ID: DefaultProject}}, projects...)
}

// IsAdmin tells whether the user's root role holds everything.
func (u *User) IsAdmin(roles *Roles) bool {
	root := roles.Find(u.RootRole)
	return root != nil && root.Has(Admin, "")
}
