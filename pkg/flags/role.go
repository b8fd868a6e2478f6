package flags

import (
	"fmt"
	"slices"
)

// The built-in roles.
const (
	RoleAdmin  int64 = 1
	RoleEditor int64 = 2
	RoleViewer int64 = 3
	RoleOwner  int64 = 4
	RoleMember int64 = 5
)

// RoleType says where a role is held, and whether somebody made it.
type RoleType string

// The role types.
const (
	RootRole          RoleType = "root"
	ProjectRole       RoleType = "project"
	CustomRootRole    RoleType = "root-custom"
	CustomProjectRole RoleType = "custom"
)

// OfProject tells whether the role is held in a project, not in the whole service.
func (t RoleType) IsProjectRole() bool { return t == ProjectRole || t == CustomProjectRole }

// BuiltIn tells whether the role came with the service and cannot be changed.
func (t RoleType) BuiltIn() bool { return t == RootRole || t == ProjectRole }

// A Role is a set of permissions with a name (contract: Role record).
type Role struct {
	ID          int64
	Type        RoleType
	Name        string
	Description string
	Permissions []Grant
}

// A Grant is a permission that a role holds, in one environment or, with none named, in all.
type Grant struct {
	Permission  Permission
	Environment string
}

// Roles is the registry of all roles, one aggregate.
type Roles struct {
	Version int64
	Custom  []Role
	NextID  int64 // ids are not used again

	// EnvironmentsDeleted counts them, so that the deletion of one always changes the registry: whoever gives a permission
	// in it at the same time is either seen by it or sees it.
	EnvironmentsDeleted int64
}

// Key names the registry.
func (r *Roles) Key() Key { return RolesKey() }

func (r *Roles) version() int64 { return r.Version }

// Clone is a copy to change.
func (r *Roles) Clone() *Roles {
	c := *r
	c.Custom = slices.Clone(r.Custom)
	return &c
}

// List is every role by id, the built-in ones first.
func (r *Roles) List() []Role { return append(slices.Clone(builtInRoles), r.Custom...) }

// Find is the role of that id, or nil.
func (r *Roles) Find(id int64) *Role {
	return findRole(r.List(), func(role Role) bool { return role.ID == id })
}

// FindName is the role of that name, or nil.
func (r *Roles) FindByName(name string) *Role {
	return findRole(r.List(), func(role Role) bool { return role.Name == name })
}

// OfProject lists the roles that can be held in a project: Owner first, then by id.
func (r *Roles) ProjectRoles() []Role {
	return slices.DeleteFunc(r.List(), func(role Role) bool { return !role.Type.IsProjectRole() })
}

// OfService lists the roles that can be held in the whole service, by id.
func (r *Roles) RootRoles() []Role {
	return slices.DeleteFunc(r.List(), func(role Role) bool { return role.Type.IsProjectRole() })
}

func findRole(list []Role, is func(Role) bool) *Role {
	if i := slices.IndexFunc(list, is); i >= 0 {
		return &list[i]
	}
	return nil
}

// Add makes a role, with the next id. NameExists when the name is taken.
func (r *Roles) Add(role Role) (Role, error) {
	if r.FindByName(role.Name) != nil {
		return role, Errorf(NameExists, "a role named %q exists already", role.Name)
	}
	role.ID = max(r.NextID, RoleMember+1)
	r.NextID = role.ID + 1
	r.Custom = append(r.Custom, role)
	return role, nil
}

// Replace puts a role in the place of the one with its id. NotFound without one, Invalid for a built-in one and for
// another type, NameExists when another has the name.
func (r *Roles) Replace(role Role) error {
	i, err := r.custom(role.ID)
	if err != nil {
		return err
	}
	if was := r.Custom[i].Type; was != role.Type {
		return Problems{{Path: "/type", Message: fmt.Sprintf("is %s for good and cannot become %s: it may be held by some", was, role.Type)}}.Err()
	}
	if other := r.FindByName(role.Name); other != nil && other.ID != role.ID {
		return Errorf(NameExists, "a role named %q exists already", role.Name)
	}
	r.Custom = slices.Clone(r.Custom)
	r.Custom[i] = role
	return nil
}

// Remove takes a role away. NotFound without one, Invalid for a built-in one.
func (r *Roles) Remove(id int64) error {
	i, err := r.custom(id)
	if err == nil {
		r.Custom = slices.Delete(slices.Clone(r.Custom), i, i+1)
	}
	return err
}

// DropEnvironment takes away what roles hold in an environment that is deleted: one made later under its name starts
// without.
func (r *Roles) RemoveEnvironment(name string) {
	r.EnvironmentsDeleted++
	r.Custom = slices.Clone(r.Custom)
	for i, role := range r.Custom {
		r.Custom[i].Permissions = slices.DeleteFunc(slices.Clone(role.Permissions), func(g Grant) bool { return g.Environment == name })
	}
}

// Changeable says why the role must stay as it is, if it must: Invalid for a built-in one.
func (r Role) CheckChangeable() error {
	if r.Type.BuiltIn() {
		return Errorf(Invalid, "role %d, %q, is built in and cannot be changed", r.ID, r.Name)
	}
	return nil
}

func (r *Roles) custom(id int64) (int, error) {
	i := slices.IndexFunc(r.Custom, func(role Role) bool { return role.ID == id })
	if i >= 0 {
		return i, nil
	}
	if role := r.Find(id); role != nil {
		return 0, role.CheckChangeable()
	}
	return 0, Errorf(NotFound, "there is no role %d", id)
}

// Has tells whether the role holds a permission in an environment: "" asks for all of them, AnyEnvironment for at least one.
func (r Role) Has(p Permission, environment string) bool {
	return slices.ContainsFunc(r.Permissions, func(g Grant) bool {
		return g.Permission.includes(p) && (g.Environment == "" || g.Environment == environment || environment == AnyEnvironment)
	})
}

// Check says what is wrong with a custom role by itself, and with the environments that it names.
func (r Role) Check(registry *Environments, problems *Problems) {
	if r.Type.BuiltIn() || r.Type != CustomRootRole && r.Type != CustomProjectRole {
		problems.Add("/type", "must be %s or %s, not %q", CustomRootRole, CustomProjectRole, r.Type)
	}
	for i, g := range r.Permissions {
		if g.Environment != "" && registry.Find(g.Environment) == nil {
			problems.Add(fmt.Sprintf("/permissions/%d/environment", i), "there is no environment %q", g.Environment)
		}
	}
}

// memberPermissions are what a project's member may do with its flags, but not with the project itself or who has access
// to it; an owner may everything in the project.
var memberPermissions = []Permission{
	CreateFeature, UpdateFeature, DeleteFeature, UpdateDependency, UpdateFeatureEnvironment, UpdateFeatureVariants,
	CreateFeatureStrategy, UpdateFeatureStrategy, DeleteFeatureStrategy,
}

// editorPermissions are what an editor may do in the whole service: not users, roles, environments or admin tokens.
var editorPermissions = []Permission{
	CreateProject, CreateStrategy, UpdateStrategy, DeleteStrategy, CreateTagType, UpdateTagType, DeleteTagType,
	CreateContextField, UpdateContextField, DeleteContextField, CreateSegment, UpdateSegment, DeleteSegment,
	ReadClientToken, CreateClientToken, UpdateClientToken, DeleteClientToken,
	ReadFrontendToken, CreateFrontendToken, UpdateFrontendToken, DeleteFrontendToken,
}

var builtInRoles = []Role{
	{RoleAdmin, RootRole, "Admin", "May do everything.", grants(Admin)},
	{RoleEditor, RootRole, "Editor", "May make projects, which they then own, and change most things but users and roles; is an owner of the project default.", grants(editorPermissions...)},
	{RoleViewer, RootRole, "Viewer", "May read flags and what belongs to them, not tokens, users or roles.", nil},
	{RoleOwner, ProjectRole, "Owner", "May do everything in the project.", grants(projectPermissions()...)},
	{RoleMember, ProjectRole, "Member", "May make, change and archive the project's flags, but not change the project or who has access to it.", grants(memberPermissions...)},
}

// projectPermissions is every permission that is held in a project.
func projectPermissions() []Permission {
	var list []Permission
	for _, p := range permissions {
		if p.Scope != RootScope {
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
