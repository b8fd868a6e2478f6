package oldapi

import (
	"maps"
	"net/http"
	"slices"
	"strconv"

	"guidon/pkg/events"
	"guidon/pkg/flags"
)

// A heldRoleBody may repeat what the path says (contract: Project users), and nothing else.
type heldRoleBody struct {
	UserID    maybe[int64]  `json:"userId"`
	ProjectID maybe[string] `json:"projectId"`
	RoleID    maybe[int64]  `json:"roleId"`
}

// review checks that the body does not contradict the path.
func (b heldRoleBody) review(c *call, problems *flags.Problems) {
	same := func(at string, said maybe[string], param string) {
		if path := c.param(param); said.or(path) != path {
			problems.Add(at, "must be the one in the path, %s, or be left out", shorten(path))
		}
	}
	asText := func(id maybe[int64]) maybe[string] { return maybe[string]{id.Set, strconv.FormatInt(id.Value, 10)} }
	same("/userId", asText(b.UserID), userParam)
	same("/projectId", b.ProjectID, projectParam)
	same("/roleId", asText(b.RoleID), roleParam)
}

// addProjectRole gives a user a role in the project, beside those that the user has there.
func addProjectRole(c *call, _ heldRoleBody) (decision, error) {
	if err := c.mayGive(); err != nil {
		return decision{}, err
	}
	project, user := c.project.Clone(), c.user.Clone()
	if err := project.AddRole(user, c.role.ID); err != nil {
		return decision{}, err
	}
	return c.changesMember(project, user, events.ProjectUserAdded(c.project, project, user.ID))
}

// replaceProjectRoles gives a user the role instead of all others. When the user is not in the project, nothing happens.
func replaceProjectRoles(c *call, _ heldRoleBody) (decision, error) {
	if err := c.mayGive(); err != nil {
		return decision{}, err
	}
	if len(c.project.RolesOf(c.user.ID)) == 0 {
		return ok(nil)
	}
	project, user := c.project.Clone(), c.user.Clone()
	project.SetRoles(user, []int64{c.role.ID})
	return c.changesMember(project, user, events.ProjectUserRoleChanged(c.project, project, user.ID))
}

// removeProjectRole takes a role in the project from a user, who with the last one leaves the project.
func removeProjectRole(c *call, _ heldRoleBody) (decision, error) {
	project, user := c.project.Clone(), c.user.Clone()
	if err := project.RemoveRole(user, c.role.ID); err != nil {
		return decision{}, err
	}
	return c.changesMember(project, user, events.ProjectUserRemoved(c.project, project, user.ID))
}

// mayGive checks that the role of the path can be held in a project, and that the caller may give it.
func (c *call) mayGive() error {
	if !c.role.Type.IsProjectRole() {
		return flags.Errorf(flags.Invalid, "role %d, %q, is held in the whole service, not in a project", c.role.ID, c.role.Name)
	}
	return c.caller.AuthorizeGrant(*c.role, c.project)
}

// changesMember is a decision that changes what the user of the path holds in the project.
func (c *call) changesMember(project *flags.Project, user *flags.User, event flags.Event) (decision, error) {
	return c.changesAll([]flags.Write{{Before: c.project, After: project}, {Before: c.user, After: user}}, event, http.StatusOK, nil)
}

// An accessView is who holds what in a project.
type accessView struct {
	Roles  []roleView   `json:"roles"` // those that can be held in it
	Users  []memberView `json:"users"`
	Groups []struct{}   `json:"groups"` // there are none
}

// A memberView is a user with what the user holds in a project.
type memberView struct {
	userView
	RoleID int64   `json:"roleId"` // the first of them
	Roles  []int64 `json:"roles"`
}

// membersOf are the users that hold a role in the project.
func membersOf(c *call) []flags.Key {
	return each(slices.Sorted(maps.Keys(c.project.Members)), flags.UserKey)
}

func readAccess(c *call) (decision, error) {
	view := accessView{Roles: each(c.roles.ProjectRoles(), roleViewOf), Users: []memberView{}, Groups: []struct{}{}}
	for _, key := range membersOf(c) {
		u := flags.Find[*flags.User](c.more, key)
		if u == nil {
			continue
		}
		roles := slices.DeleteFunc(slices.Clone(c.project.RolesOf(u.ID)), func(id int64) bool { return c.roles.Find(id) == nil })
		if len(roles) > 0 {
			view.Users = append(view.Users, memberView{userViewOf(u), roles[0], roles})
		}
	}
	return ok(view)
}

// An accessBody says who is to hold what in a project; whoever it does not name is to hold nothing.
type accessBody struct {
	Roles maybe[[]roleHolders] `json:"roles"`
}

// A roleHolders is who is to hold one role.
type roleHolders struct {
	ID     int64   `json:"id"`
	Users  []int64 `json:"users"`
	Groups []int64 `json:"groups"`
}

// maxAccess is how many users one call may name, each of whom is loaded.
const maxAccess = 5_000

func (b accessBody) check(_ flags.Limits, problems *flags.Problems) {
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
		problems.Add("/roles", "name %d users, and at most %d are allowed in one call", users, maxAccess)
	}
}

// members is what each user is to hold.
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

// changedIn are the users that are to hold something else than they do, in order.
func (b accessBody) changedIn(p *flags.Project) []int64 {
	members := b.members()
	changed := map[int64]bool{}
	for user, roles := range members {
		changed[user] = !slices.Equal(roles, p.RolesOf(user))
	}
	for user := range p.Members {
		changed[user] = !slices.Equal(members[user], p.RolesOf(user))
	}
	maps.DeleteFunc(changed, func(_ int64, is bool) bool { return !is })
	return slices.Sorted(maps.Keys(changed))
}

func changedMembers(c *call, in accessBody) []flags.Key {
	return each(in.changedIn(c.project), flags.UserKey)
}

// changeAtOnce is how many members are changed in one transaction, which may have a hundred items. More are changed in
// several rounds; everything about the body is checked before the first.
const changeAtOnce = 50

// setAccess sets who holds what in the project.
func setAccess(c *call, in accessBody) (decision, error) {
	if err := c.checkAccess(in); err != nil {
		return decision{}, err
	}
	members, changed := in.members(), c.selfLast(in.changedIn(c.project))
	now := changed[:min(changeAtOnce, len(changed))]
	project := c.project.Clone()
	writes := []flags.Write{{Before: c.project, After: project}}
	for _, id := range now {
		before := flags.Find[*flags.User](c.more, flags.UserKey(id))
		if before == nil { // gone, and to hold nothing
			project.RemoveMember(id)
			continue
		}
		after := before.Clone()
		project.SetRoles(after, members[id])
		writes = append(writes, flags.Write{Before: before, After: after})
	}
	d, err := c.changesAll(writes, events.ProjectAccessUpdated(c.project, project, now), http.StatusOK, nil)
	d.unfinished = len(now) < len(changed)
	return d, err
}

// selfLast puts the caller behind all others: whoever gives their own access away still has it until the last round.
func (c *call) selfLast(users []int64) []int64 {
	if c.caller.User == nil || !slices.Contains(users, c.caller.User.ID) {
		return users
	}
	others := slices.DeleteFunc(users, func(id int64) bool { return id == c.caller.User.ID })
	return append(others, c.caller.User.ID)
}

// checkAccess finds what the body names that is not there, and what the caller may not give.
func (c *call) checkAccess(in accessBody) error {
	var problems flags.Problems
	for i, holders := range in.Roles.Value {
		at := "/roles/" + strconv.Itoa(i)
		if role := c.roles.Find(holders.ID); role == nil || !role.Type.IsProjectRole() {
			problems.Add(at+"/id", "there is no project role %d", holders.ID)
		}
		for j, user := range holders.Users {
			_, there := c.more[flags.UserKey(user)]
			if _, member := c.project.Members[user]; !there && !member {
				problems.Add(at+"/users/"+strconv.Itoa(j), "there is no user %d", user)
			}
		}
	}
	if err := problems.Err(); err != nil {
		return err
	}
	for _, holders := range in.Roles.Value {
		given := slices.ContainsFunc(holders.Users, func(user int64) bool {
			return !slices.Contains(c.project.RolesOf(user), holders.ID)
		})
		if !given {
			continue
		}
		if err := c.caller.AuthorizeGrant(*c.roles.Find(holders.ID), c.project); err != nil {
			return err
		}
	}
	return nil
}
