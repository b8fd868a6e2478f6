package users

import (
	"maps"
	"slices"
	"strconv"

	"guidon/pkg/access"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
	"guidon/pkg/shape"
)

// An accessView is the roles that users hold in a project.
type accessView struct {
	Roles  []shape.RoleView `json:"roles"` // that can be held in a project
	Users  []memberView     `json:"users"`
	Groups []struct{}       `json:"groups"` // always empty
}

// A memberView is a user with the roles that the user holds in a project.
type memberView struct {
	shape.UserView
	RoleID int64   `json:"roleId"` // the first of them
	Roles  []int64 `json:"roles"`
}

func readAccess(tx *httpapi.Tx, at httpapi.InProject) (accessView, error) {
	project, roles := at.Project(tx), tx.Roles()
	members := slices.Sorted(maps.Keys(project.Members))
	tx.Load(httpapi.Each(members, access.UserKey)...)
	view := accessView{Roles: httpapi.Each(roles.ProjectRoles(), shape.RoleViewOf), Users: []memberView{}, Groups: []struct{}{}}
	for _, id := range members {
		u := tx.FindUser(id)
		if u == nil {
			continue
		}
		held := slices.DeleteFunc(slices.Clone(project.RolesOf(id)), func(role int64) bool { return roles.Find(role) == nil })
		if len(held) > 0 {
			view.Users = append(view.Users, memberView{shape.UserViewOf(u), held[0], held})
		}
	}
	return view, nil
}

// An accessBody sets the roles that users hold in a project. Users that it does not name lose their roles there.
type accessBody struct {
	Roles jsonbody.Maybe[[]roleHolders] `json:"roles"`
}

// A roleHolders is the users with one role.
type roleHolders struct {
	ID     int64   `json:"id"`
	Users  []int64 `json:"users"`
	Groups []int64 `json:"groups"`
}

// maxAccess is how many users one body can name. Each of them is loaded.
const maxAccess = 5_000

// Check adds the problems of the body that do not depend on what is stored.
func (b accessBody) Check(_ flags.Limits, problems *flags.Problems) {
	if !b.Roles.Set {
		problems.Add("/roles", "is required")
	}
	users := 0
	for i, role := range b.Roles.Value {
		if len(role.Groups) > 0 {
			problems.Add("/roles/"+strconv.Itoa(i)+"/groups", "must be empty: there are no groups")
		}
		users += len(role.Users)
	}
	if users > maxAccess {
		problems.Add("/roles", "must name at most %d users, names %d", maxAccess, users)
	}
}

// members are the roles that each user is to hold, sorted.
func (b accessBody) members() map[int64][]int64 {
	members := map[int64][]int64{}
	for _, role := range b.Roles.Value {
		for _, user := range role.Users {
			members[user] = append(members[user], role.ID)
		}
	}
	for user, roles := range members {
		slices.Sort(roles)
		members[user] = slices.Compact(roles)
	}
	return members
}

// changedUsers are the users whose roles in the project differ from those that they are to hold, by ID.
func changedUsers(p *flags.Project, members map[int64][]int64) []int64 {
	changed := map[int64]bool{}
	for user, roles := range members {
		if !slices.Equal(roles, p.RolesOf(user)) {
			changed[user] = true
		}
	}
	for user, roles := range p.Members {
		if !slices.Equal(roles, members[user]) {
			changed[user] = true
		}
	}
	return slices.Sorted(maps.Keys(changed))
}

// changeAtOnce is how many members one transaction changes. It can have a hundred items.
const changeAtOnce = 50

// setAccess sets the roles that users hold in a project, in one transaction for each changeAtOnce of them. The whole body
// is checked before the first transaction, and again before each further one.
func setAccess(m *httpapi.Many, at httpapi.InProject, in accessBody) error {
	return m.Until(func(tx *httpapi.Tx) (last bool, err error) {
		project, members := at.Project(tx), in.members()
		changed := changedUsers(project, members)
		tx.Load(httpapi.Each(changed, access.UserKey)...)
		if err := in.checkUsersAndRoles(tx, project); err != nil {
			return false, err
		}
		if err := in.authorize(tx, project); err != nil {
			return false, err
		}
		changed = callerLast(tx.Caller, changed)
		next := changed[:min(changeAtOnce, len(changed))]
		saved := []flags.Aggregate{project}
		for _, id := range next {
			u := tx.FindUser(id)
			if u == nil { // a member that was deleted, and is to hold nothing
				project.RemoveMember(id)
				continue
			}
			u.SetRoles(project, members[id])
			saved = append(saved, u)
		}
		tx.Save(events.ProjectAccessUpdated(httpapi.Was(tx, project), project, next), saved...)
		return len(next) == len(changed), nil
	})
}

// checkUsersAndRoles returns Invalid if the body names a role or a user that does not exist.
func (b accessBody) checkUsersAndRoles(tx *httpapi.Tx, project *flags.Project) error {
	var problems flags.Problems
	roles := tx.Roles()
	for i, holders := range b.Roles.Value {
		at := "/roles/" + strconv.Itoa(i)
		if role := roles.Find(holders.ID); role == nil || !role.Type.IsProjectRole() {
			problems.Add(at+"/id", "there is no project role %d", holders.ID)
		}
		for j, user := range holders.Users {
			if _, member := project.Members[user]; !member && tx.FindUser(user) == nil {
				problems.Add(at+"/users/"+strconv.Itoa(j), "there is no user %d", user)
			}
		}
	}
	return problems.Err()
}

// authorize returns Forbidden if the body gives a user a role that the caller must not give.
func (b accessBody) authorize(tx *httpapi.Tx, project *flags.Project) error {
	roles := tx.Roles()
	for _, holders := range b.Roles.Value {
		isNew := func(user int64) bool { return !slices.Contains(project.RolesOf(user), holders.ID) }
		if !slices.ContainsFunc(holders.Users, isNew) {
			continue
		}
		if err := tx.Caller.AuthorizeGrant(*roles.Find(holders.ID), project); err != nil {
			return err
		}
	}
	return nil
}

// callerLast moves the caller to the end of a list of users. Callers who remove their own access need it until then.
func callerLast(caller access.Caller, users []int64) []int64 {
	if caller.User == nil || !slices.Contains(users, caller.User.ID) {
		return users
	}
	others := slices.DeleteFunc(users, func(id int64) bool { return id == caller.User.ID })
	return append(others, caller.User.ID)
}
