package users

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"guidon/pkg/access"
	"guidon/pkg/admin/wire"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
	"guidon/pkg/shape"
)

// A permissionList is all permissions that a role can have, without those that grant nothing.
type permissionList struct {
	Version     int              `json:"version"`
	Permissions permissionGroups `json:"permissions"`
}

type permissionGroups struct {
	Root         []shape.PermissionView   `json:"root"`
	Project      []shape.PermissionView   `json:"project"`
	Environments []environmentPermissions `json:"environments"`
}

// environmentPermissions are the permissions that a role can have in one environment.
type environmentPermissions struct {
	Name        string                 `json:"name"`
	Permissions []shape.PermissionView `json:"permissions"`
}

func listPermissions(tx *httpapi.Tx, _ httpapi.InService) (permissionList, error) {
	list := func(scope access.Scope, environment string) []shape.PermissionView {
		return httpapi.Each(access.Permissions(scope), func(info access.PermissionInfo) shape.PermissionView {
			return shape.PermissionViewOf(access.Grant{Permission: info.Name, Environment: environment}, scope)
		})
	}
	return permissionList{1, permissionGroups{
		Root: list(access.RootScope, ""), Project: list(access.ProjectScope, ""),
		Environments: httpapi.Each(tx.Environments().Sorted(), func(e flags.Environment) environmentPermissions {
			return environmentPermissions{e.Name, list(access.EnvironmentScope, e.Name)}
		}),
	}}, nil
}

// A roleList is all roles.
type roleList struct {
	Version int              `json:"version"`
	Roles   []shape.RoleView `json:"roles"`
}

// A changedRole is the one role that was created or changed. Clients expect it in a field named roles.
type changedRole struct {
	Version int                       `json:"version"`
	Roles   shape.RoleWithPermissions `json:"roles"`
}

// A roleBody creates or changes a custom role. The name is required; on a change, other fields that are absent stay as they
// are.
type roleBody struct {
	Name        string                               `json:"name"`
	Description jsonbody.Maybe[*string]              `json:"description"`
	Type        jsonbody.Maybe[access.RoleType]      `json:"type"`
	Permissions jsonbody.Maybe[[]rolePermissionBody] `json:"permissions"`
}

type rolePermissionBody struct {
	Name        string                  `json:"name"`
	Environment jsonbody.Maybe[*string] `json:"environment"`
}

// MaxRoleName is the maximum length of a role's name, in characters.
const MaxRoleName = 100

// maxRoleProblems is how many problems of a body are listed. Suggesting the nearest name of a permission takes time.
const maxRoleProblems = 20

// Check adds the problems of the body that do not depend on the environments of the service.
func (b roleBody) Check(_ flags.Limits, problems *flags.Problems) {
	switch n := utf8.RuneCountInString(b.Name); {
	case strings.TrimSpace(b.Name) == "":
		problems.Add("/name", "is required")
	case n > MaxRoleName:
		problems.Add("/name", "must have at most %d characters, but has %d", MaxRoleName, n)
	default:
		flags.CheckPrintable("/name", b.Name, problems)
	}
	access.Role{Description: wire.TextOver(b.Description, "")}.CheckTexts(problems)
	for i, p := range b.Permissions.Value {
		if len(*problems) > maxRoleProblems {
			break
		}
		at := "/permissions/" + strconv.Itoa(i)
		switch problem := access.CheckPermissionName(p.Name); {
		case strings.HasPrefix(problem, "there is no permission"):
			problems.Add(at+"/name", "%s GET /api/admin/permissions lists all", problem)
		case problem != "":
			problems.Add(at+"/name", "%s", problem)
		}
		flags.CheckLength(at+"/environment", wire.TextOver(p.Environment, ""), flags.MaxName, problems)
	}
}

// applyTo returns the role with the fields of the body. Invalid when it names an environment that does not exist.
func (b roleBody) applyTo(role access.Role, registry *flags.Environments) (access.Role, error) {
	role.Name, role.Type = b.Name, b.Type.Or(role.Type)
	role.Description = wire.TextOver(b.Description, role.Description)
	if b.Permissions.Set {
		role.Permissions = httpapi.Each(b.Permissions.Value, rolePermissionBody.grant)
	}
	var problems flags.Problems
	role.Check(registry, &problems)
	role.Permissions = flags.Distinct(role.Permissions)
	return role, problems.Err()
}

func (p rolePermissionBody) grant() access.Grant {
	return access.Grant{Permission: access.Permission(p.Name), Environment: wire.TextOver(p.Environment, "")}
}

func listRoles(tx *httpapi.Tx, _ httpapi.InService) (roleList, error) {
	return roleList{1, httpapi.Each(tx.Roles().List(), shape.RoleViewOf)}, nil
}

func readRole(tx *httpapi.Tx, at inRole) (shape.RoleWithPermissions, error) {
	return shape.RoleWithPermissionsOf(findRole(tx, at.RoleID)), nil
}

func createRole(tx *httpapi.Tx, _ httpapi.InService, in roleBody) (changedRole, error) {
	role, err := in.applyTo(access.Role{Type: access.CustomProjectRole}, tx.Environments())
	if err != nil {
		return changedRole{}, err
	}
	roles := tx.Roles()
	if role, err = roles.Add(role); err != nil {
		return changedRole{}, err
	}
	tx.Save(events.Role.Created(role), roles)
	return changedRole{1, shape.RoleWithPermissionsOf(role)}, nil
}

func updateRole(tx *httpapi.Tx, at inRole, in roleBody) (changedRole, error) {
	before := findRole(tx, at.RoleID)
	if err := before.CheckChangeable(); err != nil {
		return changedRole{}, err
	}
	role, err := in.applyTo(before, tx.Environments())
	if err != nil {
		return changedRole{}, err
	}
	roles := tx.Roles()
	if err := roles.Replace(role); err != nil {
		return changedRole{}, err
	}
	tx.Save(events.Role.Updated(before, role), roles)
	return changedRole{1, shape.RoleWithPermissionsOf(role)}, nil
}

// deleteRole deletes a role that no user holds. If a user is given the role at the same moment, the user then holds a role
// that does not exist: it grants nothing, lists leave it out, and its ID is not used again.
func deleteRole(tx *httpapi.Tx, at inRole) error {
	role, roles := findRole(tx, at.RoleID), tx.Roles()
	if err := roles.Remove(role.ID); err != nil {
		return err
	}
	if err := checkNotHeld(tx, role); err != nil {
		return err
	}
	tx.Save(events.Role.Deleted(role), roles)
	return nil
}

// checkNotHeld returns Conflict if a user holds the role, in the whole service or in a project.
func checkNotHeld(tx *httpapi.Tx, role access.Role) error {
	if holders := usersWhere(tx, func(u *access.User) bool { return u.RootRole == role.ID }); len(holders) > 0 {
		return flags.Errorf(flags.Conflict, "the role %q is held by user %d; give that user another role first", role.Name, holders[0].ID)
	}
	for _, p := range tx.Projects() {
		for _, user := range slices.Sorted(maps.Keys(p.Members)) {
			if slices.Contains(p.RolesOf(user), role.ID) {
				return flags.Errorf(flags.Conflict, "the role %q is held in project %q; remove it from user %d there first", role.Name, p.ID, user)
			}
		}
	}
	return nil
}
