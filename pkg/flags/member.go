package flags

import "slices"

// RolesOf returns the IDs of the roles that a user has in the project, sorted.
func (p *Project) RolesOf(user int64) []int64 { return p.Members[user] }

// RemoveMember removes a deleted user from the project.
func (p *Project) RemoveMember(user int64) { p.SetMember(user, nil) }

// SetMember sets the roles that a user has in the project, without the project in the user; see User.SetRoles.
func (p *Project) SetMember(user int64, roles []int64) {
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
