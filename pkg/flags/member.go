package flags

import (
	"slices"
)

// RolesOf returns the IDs of the roles that a user has in the project, sorted.
func (p *Project) RolesOf(user int64) []int64 { return p.Members[user] }

// SetRoles sets the roles that a user has in the project. Without roles, the user is removed from it. The
// project and the user are both changed, so both must be clones and be committed in one transaction (contract:
// Project users).
func (p *Project) SetRoles(u *User, roles []int64) {
	u.Projects = slices.DeleteFunc(slices.Clone(u.Projects), func(id string) bool { return id == p.ID })
	if len(roles) > 0 {
		u.Projects = append(u.Projects, p.ID)
		slices.Sort(u.Projects)
	}
	p.setMember(u.ID, roles)
}

// RemoveMember removes a deleted user from the project.
func (p *Project) RemoveMember(user int64) { p.setMember(user, nil) }

func (p *Project) setMember(user int64, roles []int64) {
	if len(roles) == 0 {
		delete(p.Members, user)
		return
	}
	if p.Members == nil {
		p.Members = map[int64][]int64{}
	}
	roles = slices.Clone(roles) // clones share the slice
	slices.Sort(roles)
	p.Members[user] = slices.Compact(roles)
}

// AddRole adds a role in the project to a user. It returns Conflict if the user has it already.
func (p *Project) AddRole(u *User, role int64) error {
	if slices.Contains(p.RolesOf(u.ID), role) {
		return Errorf(Conflict, "user %d already has role %d in project %q", u.ID, role, p.ID)
	}
	p.SetRoles(u, append(slices.Clone(p.RolesOf(u.ID)), role))
	return nil
}

// RemoveRole removes a role in the project from a user. It returns NotFound if the user does not have it.
func (p *Project) RemoveRole(u *User, role int64) error {
	left := slices.DeleteFunc(slices.Clone(p.RolesOf(u.ID)), func(id int64) bool { return id == role })
	if len(left) == len(p.RolesOf(u.ID)) {
		return Errorf(NotFound, "user %d does not have role %d in project %q", u.ID, role, p.ID)
	}
	p.SetRoles(u, left)
	return nil
}
