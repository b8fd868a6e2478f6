package access

import (
	"slices"

	"guidon/pkg/flags"
)

// SetRoles sets the roles that the user has in a project. Without roles, the user is removed from it. The project and the user
// are both changed, so both must be clones and be committed in one transaction (contract: Project users).
func (u *User) SetRoles(p *flags.Project, roles []int64) {
	u.Projects = slices.DeleteFunc(slices.Clone(u.Projects), func(id string) bool { return id == p.ID })
	if len(roles) > 0 {
		u.Projects = append(u.Projects, p.ID)
		slices.Sort(u.Projects)
	}
	p.SetMember(u.ID, roles)
}

// AddRole adds a role of the user in a project. It returns Conflict if the user has it already.
func (u *User) AddRole(p *flags.Project, role int64) error {
	if slices.Contains(p.RolesOf(u.ID), role) {
		return flags.Errorf(flags.Conflict, "user %d already has role %d in project %q", u.ID, role, p.ID)
	}
	u.SetRoles(p, append(slices.Clone(p.RolesOf(u.ID)), role))
	return nil
}

// RemoveRole removes a role of the user in a project. It returns NotFound if the user does not have it.
func (u *User) RemoveRole(p *flags.Project, role int64) error {
	left := slices.DeleteFunc(slices.Clone(p.RolesOf(u.ID)), func(id int64) bool { return id == role })
	if len(left) == len(p.RolesOf(u.ID)) {
		return flags.Errorf(flags.NotFound, "user %d does not have role %d in project %q", u.ID, role, p.ID)
	}
	u.SetRoles(p, left)
	return nil
}
