package access

import (
	"fmt"
	"slices"

	"guidon/pkg/flags"
)

// The IDs of the built-in roles.
const (
	RoleAdmin  int64 = 1
	RoleEditor int64 = 2
	RoleViewer int64 = 3
	RoleOwner  int64 = 4
	RoleMember int64 = 5
)

// A RoleType says where a role is held, and whether it is built in or custom.
type RoleType string

// The role types.
const (
	RootRole          RoleType = "root"
	ProjectRole       RoleType = "project"
	CustomRootRole    RoleType = "root-custom"
	CustomProjectRole RoleType = "custom"
)

// IsProjectRole reports whether roles of the type are held in a project, not in the whole service.
func (t RoleType) IsProjectRole() bool { return t == ProjectRole || t == CustomProjectRole }

// BuiltIn reports whether roles of the type are built in and cannot be changed.
func (t RoleType) BuiltIn() bool { return t == RootRole || t == ProjectRole }

// A Role is a named set of permissions (contract: Role record).
type Role struct {
	ID          int64    `json:"id"`
	Type        RoleType `json:"type"`
	Name        string   `json:"name"`
	Description string   `json:"description,omitzero"`
	Permissions []Grant  `json:"permissions,omitempty"`
}

// A Grant is a permission of a role, in one environment or, if Environment is empty, in all.
type Grant struct {
	Permission  Permission `json:"permission"`
	Environment string     `json:"environment,omitzero"`
}

// Roles is the registry of all roles: one aggregate. Built-in roles are not stored.
type Roles struct {
	Version int64  `json:"version,omitzero"`
	Custom  []Role `json:"custom"`
	NextID  int64  `json:"nextId"` // IDs are never used again

	// EnvironmentsDeleted counts deletions of environments, so that each changes the registry. A concurrent change
	// that grants a permission in that environment then conflicts.
	EnvironmentsDeleted int64 `json:"environmentsDeleted,omitzero"`
}

// Key returns the key of the registry.
func (r *Roles) Key() flags.Key { return RolesKey() }

// StoredVersion returns the version of the whole registry: changes of different roles conflict, too, and are retried.
func (r *Roles) StoredVersion() int64 { return r.Version }

// Clone returns a copy that can be changed.
func (r *Roles) Clone() *Roles {
	c := *r
	c.Custom = slices.Clone(r.Custom)
	return &c
}

// List returns all roles by ID.
func (r *Roles) List() []Role { return append(slices.Clone(builtInRoles), r.Custom...) }

// Find returns the role of that ID, or nil.
func (r *Roles) Find(id int64) *Role {
	return findRole(r.List(), func(role Role) bool { return role.ID == id })
}

// FindByName returns the role of that name, or nil.
func (r *Roles) FindByName(name string) *Role {
	return findRole(r.List(), func(role Role) bool { return role.Name == name })
}

// ProjectRoles returns the roles that can be held in a project: Owner first, then by ID.
func (r *Roles) ProjectRoles() []Role {
	return slices.DeleteFunc(r.List(), func(role Role) bool { return !role.Type.IsProjectRole() })
}

// RootRoles returns the roles that can be held in the whole service, by ID.
func (r *Roles) RootRoles() []Role {
	return slices.DeleteFunc(r.List(), func(role Role) bool { return role.Type.IsProjectRole() })
}

func findRole(list []Role, is func(Role) bool) *Role {
	if i := slices.IndexFunc(list, is); i >= 0 {
		return &list[i]
	}
	return nil
}

// Add adds a role with the next ID. It returns NameExists if the name is taken.
func (r *Roles) Add(role Role) (Role, error) {
	if r.FindByName(role.Name) != nil {
		return role, flags.Errorf(flags.NameExists, "a role named %q exists already", role.Name)
	}
	role.ID = max(r.NextID, RoleMember+1)
	r.NextID = role.ID + 1
	r.Custom = append(r.Custom, role)
	return role, nil
}

// Replace replaces the role of the same ID. It returns NotFound if there is none, Invalid if it is built in or
// its type would change, and NameExists if another role has the name.
func (r *Roles) Replace(role Role) error {
	i, err := r.customIndex(role.ID)
	if err != nil {
		return err
	}
	if was := r.Custom[i].Type; was != role.Type {
		return flags.Problems{{Path: "/type", Message: fmt.Sprintf("cannot be changed from %s to %s, because users may have the role; create another role instead", was, role.Type)}}.Err()
	}
	if other := r.FindByName(role.Name); other != nil && other.ID != role.ID {
		return flags.Errorf(flags.NameExists, "a role named %q exists already", role.Name)
	}
	r.Custom = slices.Clone(r.Custom)
	r.Custom[i] = role
	return nil
}

// Remove deletes a role. It returns NotFound if there is none, and Invalid if it is built in.
func (r *Roles) Remove(id int64) error {
	i, err := r.customIndex(id)
	if err == nil {
		r.Custom = slices.Delete(slices.Clone(r.Custom), i, i+1)
	}
	return err
}

// RemoveEnvironment removes the permissions in an environment that is deleted from all roles, so that a new
// environment of the same name starts without them.
func (r *Roles) RemoveEnvironment(name string) {
	r.EnvironmentsDeleted++
	r.Custom = slices.Clone(r.Custom)
	for i, role := range r.Custom {
		r.Custom[i].Permissions = slices.DeleteFunc(slices.Clone(role.Permissions), func(g Grant) bool { return g.Environment == name })
	}
}

// CheckChangeable returns Invalid if the role is built in.
func (r Role) CheckChangeable() error {
	if r.Type.BuiltIn() {
		return flags.Errorf(flags.Invalid, "role %d (%q) is built in and cannot be changed", r.ID, r.Name)
	}
	return nil
}

// customIndex returns the position of a custom role.
func (r *Roles) customIndex(id int64) (int, error) {
	i := slices.IndexFunc(r.Custom, func(role Role) bool { return role.ID == id })
	if i >= 0 {
		return i, nil
	}
	if role := r.Find(id); role != nil {
		return 0, role.CheckChangeable()
	}
	return 0, flags.Errorf(flags.NotFound, "there is no role %d", id)
}

// Has reports whether the role has a permission in an environment: "" requires all environments, AnyEnvironment
// at least one.
func (r Role) Has(p Permission, environment string) bool {
	return slices.ContainsFunc(r.Permissions, func(g Grant) bool {
		return g.Permission.includes(p) && (g.Environment == "" || g.Environment == environment || environment == AnyEnvironment)
	})
}

// ScopeOf returns the scope of a permission of the role. An unknown permission of a project role has project scope.
func (r Role) ScopeOf(p Permission) Scope {
	info, known := DescribePermission(p)
	if !known && r.Type.IsProjectRole() {
		return ProjectScope
	}
	return info.Scope
}

// Check adds the problems of a custom role's type and of the environments that it names.
func (r Role) Check(registry *flags.Environments, problems *flags.Problems) {
	if r.Type.BuiltIn() || r.Type != CustomRootRole && r.Type != CustomProjectRole {
		problems.Add("/type", "must be %s or %s, not %q", CustomRootRole, CustomProjectRole, r.Type)
	}
	for i, g := range r.Permissions {
		if g.Environment != "" && registry.Find(g.Environment) == nil {
			problems.Add(fmt.Sprintf("/permissions/%d/environment", i), "there is no environment %q", g.Environment)
		}
	}
}

// CheckTexts adds a problem for each text that is too long.
func (r Role) CheckTexts(p *flags.Problems) {
	flags.CheckLength("/description", r.Description, flags.MaxDescription, p)
}

// memberPermissions are the permissions of the role Member: changing flags, but not the project or who has
// access to it.
var memberPermissions = []Permission{
	CreateFeature, UpdateFeature, DeleteFeature, UpdateDependency, UpdateFeatureEnvironment, UpdateFeatureVariants,
	CreateFeatureStrategy, UpdateFeatureStrategy, DeleteFeatureStrategy,
}

// editorPermissions are the permissions of the role Editor: not users, roles, environments or admin tokens.
var editorPermissions = []Permission{
	CreateProject, CreateStrategy, UpdateStrategy, DeleteStrategy, CreateTagType, UpdateTagType, DeleteTagType,
	CreateContextField, UpdateContextField, DeleteContextField, CreateSegment, UpdateSegment, DeleteSegment,
	ReadClientToken, CreateClientToken, UpdateClientToken, DeleteClientToken,
	ReadFrontendToken, CreateFrontendToken, UpdateFrontendToken, DeleteFrontendToken, UpdateApplication,
	CreateAddon, UpdateAddon, DeleteAddon, CreateReleaseTemplate, UpdateReleaseTemplate, DeleteReleaseTemplate,
}

var builtInRoles = []Role{
	{RoleAdmin, RootRole, "Admin", "Can do everything.", grants(Admin)},
	{RoleEditor, RootRole, "Editor", "Owns the default project and those that it creates; in other projects, reads and proposes changes. Also changes what projects share, such as segments, tokens and webhooks, but not users, roles, environments or admin tokens.", grants(editorPermissions...)},
	{RoleViewer, RootRole, "Viewer", "Can read flags and everything that belongs to them, but not tokens, users or roles.", nil},
	{RoleOwner, ProjectRole, "Owner", "Can do everything in the project.", grants(projectPermissions()...)},
	{RoleMember, ProjectRole, "Member", "Can create, change and archive flags of the project, but not change the project or who has access to it.", grants(memberPermissions...)},
}

// projectPermissions returns all permissions of project and environment scope, except those that only administrators grant.
func projectPermissions() []Permission {
	var list []Permission
	for _, p := range permissions {
		if p.Scope != RootScope && !slices.Contains(reviewPermissions, p.Name) {
			list = append(list, p.Name)
		}
	}
	return list
}

func grants(list ...Permission) []Grant {
	out := make([]Grant, len(list))
	for i, p := range list {
		out[i] = Grant{Permission: p}
	}
	return out
}
