package flags

import (
	"slices"
	"strconv"
	"time"
)

// A Caller is whoever an operation is done for: an API token, or a user by a personal one.
type Caller struct {
	Name  string // of the token, or of the user
	Admin bool   // may everything
	User  *User  // nil for an API token

	roles *Roles
	root  *Role // the user's, in the whole service; nil when it is gone

	lacking *[]Permission // in a rehearsal: what Authorize would have refused
}

// unauthenticated is the answer to whoever is nobody.
var unauthenticated = Errorf(Unauthenticated,
	"the Authorization header must carry a valid API token; this one is missing, unknown, deleted or expired")

// Authenticate tells who calls by an API token. Unauthenticated without a token, or with one that was deleted or has
// expired. For a personal token, the caller is known once AuthenticateUser has seen the user.
func Authenticate(token *Token, now time.Time) (Caller, error) {
	if token == nil || token.Deleted || token.Expired(now) {
		return Caller{}, unauthenticated
	}
	return Caller{Name: token.Name, Admin: token.Type == AdminToken}, nil
}

// AuthenticateUser tells who calls by a personal token. Unauthenticated when the user, or the user's token, is gone.
func AuthenticateUser(token *Token, user *User, roles *Roles) (Caller, error) {
	if user == nil || roles == nil || user.ID != token.User ||
		!slices.ContainsFunc(user.Tokens, func(t UserToken) bool { return token.HasHash(t.Hash) }) {
		return Caller{}, unauthenticated
	}
	root := roles.Find(user.RootRole)
	return Caller{Name: user.DisplayName(), Admin: root != nil && root.Has(Admin, ""), User: user, roles: roles, root: root}, nil
}

// AnyEnvironment stands for any environment: asked with it, a permission that is held in one of them is enough.
const AnyEnvironment = "*"

// May tells whether the caller holds a permission: in the whole service, or, where the permission is a project's, in
// project, and in an environment of it ("" asks for all environments). project is nil outside of any. Whose root role
// was deleted may nothing.
func (c Caller) HasPermission(p Permission, project *Project, environment string) bool {
	if c.Admin {
		return true
	}
	if c.User == nil || c.root == nil {
		return false
	}
	if p == Read || c.root.Has(p, environment) {
		return true
	}
	if project == nil || scopeOf(p) == RootScope {
		return false
	}
	return slices.ContainsFunc(c.rolesIn(project), func(r *Role) bool { return r.Has(p, environment) })
}

// HasPermissionInAny tells whether the caller holds a project's permission in one of some projects, or in the one that editors
// own, in an environment of it at least.
func (c Caller) HasPermissionInAny(p Permission, projects []*Project) bool {
	own := &Project{ID: DefaultProject}
	return slices.ContainsFunc(append([]*Project{own}, projects...), func(in *Project) bool { return c.HasPermission(p, in, AnyEnvironment) })
}

// rolesIn are the roles that the caller holds in a project. An editor is an owner of the project default.
func (c Caller) rolesIn(project *Project) []*Role {
	var list []*Role
	for _, id := range project.Members[c.User.ID] {
		if role := c.roles.Find(id); role != nil {
			list = append(list, role)
		}
	}
	if project.ID == DefaultProject && c.root.ID == RoleEditor {
		list = append(list, c.roles.Find(RoleOwner))
	}
	return list
}

// AuthorizeGrant checks that the caller may give a project role to somebody: nobody grants more than they hold, so whoever is
// no admin must hold every permission of the role, where the role holds it. Forbidden when not.
func (c Caller) AuthorizeGrant(role Role, project *Project) error {
	for _, g := range role.Permissions {
		if c.HasPermission(g.Permission, project, g.Environment) || c.owns(project) && !isRoot(g.Permission) {
			continue
		}
		where := ""
		if g.Environment != "" {
			where = " in environment " + strconv.Quote(g.Environment)
		}
		return Errorf(Forbidden, "the role %q holds %s%s, which %s does not have in project %q, and so cannot give",
			role.Name, g.Permission, where, c.Name, project.ID)
	}
	return nil
}

// owns tells whether the caller is an owner of the project, who holds what can be held in it: what only other versions
// know of, too.
func (c Caller) owns(project *Project) bool {
	return c.User != nil && c.root != nil &&
		slices.ContainsFunc(c.rolesIn(project), func(r *Role) bool { return r.ID == RoleOwner })
}

// DryRun is the caller for a rehearsal of what they ask for: Authorize refuses nothing, and adds to lacking each
// permission, once, that it would refuse for.
func (c Caller) DryRun(lacking *[]Permission) Caller {
	c.lacking = lacking
	return c
}

// Authorize checks that the caller holds a permission. Forbidden when not.
func (c Caller) Authorize(p Permission, project *Project, environment string) error {
	if c.HasPermission(p, project, environment) {
		return nil
	}
	if c.lacking != nil {
		if !slices.Contains(*c.lacking, p) {
			*c.lacking = append(*c.lacking, p)
		}
		return nil
	}
	switch {
	case c.User == nil:
		return Errorf(Forbidden, "the token %q is for SDKs and may do nothing under /api/admin; this needs %s, which an admin token has, or a user's own", c.Name, p)
	case environment != "" && environment != AnyEnvironment && project != nil:
		return Errorf(Forbidden, "%s needs the permission %s in environment %q of project %q", c.Name, p, environment, project.ID)
	case scopeOf(p) != RootScope && project != nil:
		return Errorf(Forbidden, "%s needs the permission %s in project %q", c.Name, p, project.ID)
	}
	return Errorf(Forbidden, "%s needs the permission %s", c.Name, p)
}
