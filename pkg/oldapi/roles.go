package oldapi

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"guidon/pkg/events"
	"guidon/pkg/flags"
)

// A roleView is a role (contract: Role record). The description is always a string, for clients that print it.
type roleView struct {
	ID          int64          `json:"id"`
	Type        flags.RoleType `json:"type"`
	Name        string         `json:"name"`
	Description string         `json:"description"`
}

func roleViewOf(r flags.Role) roleView { return roleView{r.ID, r.Type, r.Name, r.Description} }

// A roleWithPermissions is a role with what it holds.
type roleWithPermissions struct {
	roleView
	Permissions []permissionView `json:"permissions"`
}

func roleWithPermissionsOf(r flags.Role) roleWithPermissions {
	return roleWithPermissions{roleViewOf(r), each(r.Permissions, func(g flags.Grant) permissionView { return permissionOf(g, r.Type) })}
}

// A permissionView is a permission, as one can be had or as a role has it.
type permissionView struct {
	ID          int              `json:"id"` // 0 for one that grants nothing
	Name        flags.Permission `json:"name"`
	DisplayName string           `json:"displayName"`
	Type        string           `json:"type"`                 // root, project or environment
	Environment string           `json:"environment,omitzero"` // the only one that it is held in
}

// permissionOf is a permission that a role of some type holds.
func permissionOf(g flags.Grant, of flags.RoleType) permissionView {
	info, known := flags.DescribePermission(g.Permission)
	scope := info.Scope
	if !known && of.IsProjectRole() {
		scope = flags.ProjectScope
	}
	return permissionView{g.Permission.ID(), g.Permission, info.DisplayName, scopeNames[scope], g.Environment}
}

var scopeNames = map[flags.Scope]string{flags.RootScope: "root", flags.ProjectScope: "project", flags.EnvironmentScope: "environment"}

// A permissionList is every permission that an operation here asks for.
type permissionList struct {
	Version     int              `json:"version"`
	Permissions permissionGroups `json:"permissions"`
}

type permissionGroups struct {
	Root         []permissionView         `json:"root"`
	Project      []permissionView         `json:"project"`
	Environments []environmentPermissions `json:"environments"`
}

// An environmentPermissions is what can be held in one environment.
type environmentPermissions struct {
	Name        string           `json:"name"`
	Permissions []permissionView `json:"permissions"`
}

func listPermissions(c *call) (decision, error) {
	in := func(scope flags.Scope, environment string) []permissionView {
		return each(flags.Permissions(scope), func(info flags.PermissionInfo) permissionView {
			return permissionOf(flags.Grant{Permission: info.Name, Environment: environment}, flags.CustomProjectRole)
		})
	}
	return ok(permissionList{1, permissionGroups{
		Root: in(flags.RootScope, ""), Project: in(flags.ProjectScope, ""),
		Environments: each(c.registry.Sorted(), func(e flags.Environment) environmentPermissions {
			return environmentPermissions{e.Name, in(flags.EnvironmentScope, e.Name)}
		}),
	}})
}

// A roleList is every role.
type roleList struct {
	Version int        `json:"version"`
	Roles   []roleView `json:"roles"`
}

// A changedRole is the one role that was made or changed, under the name of a list: so clients read it.
type changedRole struct {
	Version int                 `json:"version"`
	Roles   roleWithPermissions `json:"roles"`
}

// A roleBody makes a custom role, or changes one; what a change leaves out but the name stays.
type roleBody struct {
	Name        string                      `json:"name"`
	Description maybe[*string]              `json:"description"`
	Type        maybe[flags.RoleType]       `json:"type"`
	Permissions maybe[[]rolePermissionBody] `json:"permissions"`
}

type rolePermissionBody struct {
	Name        string         `json:"name"`
	Environment maybe[*string] `json:"environment"`
}

const (
	maxRoleName     = 100
	maxRoleProblems = 20 // that one answer lists; one of them is enough for a 400
)

func (b roleBody) check(_ flags.Limits, problems *flags.Problems) {
	switch n := utf8.RuneCountInString(b.Name); {
	case strings.TrimSpace(b.Name) == "":
		problems.Add("/name", "is required")
	case n > maxRoleName:
		problems.Add("/name", "must have at most %d characters, has %d", maxRoleName, n)
	default:
		flags.CheckPrintable("/name", b.Name, problems)
	}
	flags.Role{Description: orEmpty(b.Description.Value)}.CheckTexts(problems)
	for i, p := range b.Permissions.Value {
		if len(*problems) > maxRoleProblems {
			break // to suggest the nearest name takes time
		}
		if problem := flags.CheckPermissionName(p.Name); problem != "" {
			problems.Add("/permissions/"+strconv.Itoa(i)+"/name", "%s", problem)
		}
		flags.CheckLength("/permissions/"+strconv.Itoa(i)+"/environment", orEmpty(p.Environment.Value), flags.MaxName, problems)
	}
}

// over is a role with what the body says, checked against the environments that there are.
func (b roleBody) over(role flags.Role, registry *flags.Environments) (flags.Role, error) {
	role.Name, role.Type = b.Name, b.Type.or(role.Type)
	if b.Description.Set {
		role.Description = ""
		if text := b.Description.Value; text != nil {
			role.Description = *text
		}
	}
	var problems flags.Problems
	if b.Permissions.Set {
		role.Permissions = each(b.Permissions.Value, rolePermissionBody.grant)
	}
	role.Check(registry, &problems)
	role.Permissions = distinct(role.Permissions)
	return role, problems.Err()
}

func (p rolePermissionBody) grant() flags.Grant {
	g := flags.Grant{Permission: flags.Permission(p.Name)}
	if p.Environment.Value != nil {
		g.Environment = *p.Environment.Value
	}
	return g
}

// distinct keeps the first of each grant, in order.
func distinct(list []flags.Grant) []flags.Grant {
	seen := map[flags.Grant]bool{}
	return slices.DeleteFunc(slices.Clone(list), func(g flags.Grant) bool {
		again := seen[g]
		seen[g] = true
		return again
	})
}

func listRoles(c *call) (decision, error) { return ok(roleList{1, each(c.roles.List(), roleViewOf)}) }

func readRole(c *call) (decision, error) { return ok(roleWithPermissionsOf(*c.role)) }

func createRole(c *call, in roleBody) (decision, error) {
	role, err := in.over(flags.Role{Type: flags.CustomProjectRole}, c.registry)
	if err != nil {
		return decision{}, err
	}
	roles := c.roles.Clone()
	if role, err = roles.Add(role); err != nil {
		return decision{}, err
	}
	return c.changesRoles(roles, events.RoleCreated(role), changedRole{1, roleWithPermissionsOf(role)})
}

func updateRole(c *call, in roleBody) (decision, error) {
	if err := c.role.CheckChangeable(); err != nil {
		return decision{}, err
	}
	role, err := in.over(*c.role, c.registry)
	if err != nil {
		return decision{}, err
	}
	roles := c.roles.Clone()
	if err := roles.Replace(role); err != nil {
		return decision{}, err
	}
	return c.changesRoles(roles, events.RoleUpdated(*c.role, role), changedRole{1, roleWithPermissionsOf(role)})
}

// deleteRole deletes a role that nobody holds. Who is given it in that very moment holds a role that is not there, which
// is no role: ids are not used again, and every list leaves it out.
func deleteRole(c *call) (decision, error) {
	roles := c.roles.Clone()
	if err := roles.Remove(c.role.ID); err != nil {
		return decision{}, err
	}
	if holder := c.holderOf(c.role.ID); holder != "" {
		return decision{}, flags.Errorf(flags.Conflict, "the role %q is still held %s; take it away first", c.role.Name, holder)
	}
	return c.changesRoles(roles, events.RoleDeleted(*c.role), nil)
}

// holderOf says who of the listed users holds a role, or in which of the listed projects it is held; "" for nobody.
func (c *call) holderOf(role int64) string {
	if holders := c.usersWhere(func(u *flags.User) bool { return u.RootRole == role }); len(holders) > 0 {
		return "by user " + strconv.FormatInt(holders[0].ID, 10)
	}
	for _, p := range c.projects() {
		for _, held := range p.Members {
			if slices.Contains(held, role) {
				return "in project " + strconv.Quote(p.ID)
			}
		}
	}
	return ""
}

// changesRoles is a decision that replaces the registry of roles, which is made by whoever writes to it first.
func (c *call) changesRoles(after *flags.Roles, event flags.Event, body any) (decision, error) {
	if flags.VersionOf(c.roles) == 0 {
		return c.changes(nil, after, event, http.StatusOK, body)
	}
	return c.changes(c.roles, after, event, http.StatusOK, body)
}
