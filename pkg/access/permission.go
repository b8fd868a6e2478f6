package access

import (
	"fmt"
	"slices"
	"strings"

	"guidon/pkg/flags"
)

// A Permission is the right to do one kind of operation. The names are those of the roles of Unleash.
type Permission string

// Read is the permission to read flags and what belongs to them. All users and admin tokens have it. Roles
// cannot contain it, and it does not cover tokens, users and roles.
const Read Permission = "READ"

// Admin includes all other permissions.
const Admin Permission = "ADMIN"

// Permissions of root scope: they hold for the whole service.
const (
	CreateProject         Permission = "CREATE_PROJECT"
	CreateEnvironment     Permission = "CREATE_ENVIRONMENT"
	UpdateEnvironment     Permission = "UPDATE_ENVIRONMENT"
	DeleteEnvironment     Permission = "DELETE_ENVIRONMENT"
	CreateStrategy        Permission = "CREATE_STRATEGY"
	UpdateStrategy        Permission = "UPDATE_STRATEGY"
	DeleteStrategy        Permission = "DELETE_STRATEGY"
	CreateTagType         Permission = "CREATE_TAG_TYPE"
	UpdateTagType         Permission = "UPDATE_TAG_TYPE"
	DeleteTagType         Permission = "DELETE_TAG_TYPE"
	CreateContextField    Permission = "CREATE_CONTEXT_FIELD"
	UpdateApplication     Permission = "UPDATE_APPLICATION"
	UpdateContextField    Permission = "UPDATE_CONTEXT_FIELD"
	DeleteContextField    Permission = "DELETE_CONTEXT_FIELD"
	CreateSegment         Permission = "CREATE_SEGMENT"
	UpdateSegment         Permission = "UPDATE_SEGMENT"
	DeleteSegment         Permission = "DELETE_SEGMENT"
	ReadRole              Permission = "READ_ROLE"
	ReadClientToken       Permission = "READ_CLIENT_API_TOKEN"
	CreateClientToken     Permission = "CREATE_CLIENT_API_TOKEN"
	UpdateClientToken     Permission = "UPDATE_CLIENT_API_TOKEN"
	DeleteClientToken     Permission = "DELETE_CLIENT_API_TOKEN"
	ReadFrontendToken     Permission = "READ_FRONTEND_API_TOKEN"
	CreateFrontendToken   Permission = "CREATE_FRONTEND_API_TOKEN"
	UpdateFrontendToken   Permission = "UPDATE_FRONTEND_API_TOKEN"
	DeleteFrontendToken   Permission = "DELETE_FRONTEND_API_TOKEN"
	CreateAddon           Permission = "CREATE_ADDON"
	UpdateAddon           Permission = "UPDATE_ADDON"
	DeleteAddon           Permission = "DELETE_ADDON"
	CreateReleaseTemplate Permission = "RELEASE_PLAN_TEMPLATE_CREATE"
	UpdateReleaseTemplate Permission = "RELEASE_PLAN_TEMPLATE_UPDATE"
	DeleteReleaseTemplate Permission = "RELEASE_PLAN_TEMPLATE_DELETE"
)

// Permissions of project scope: they hold for one project.
const (
	UpdateProject        Permission = "UPDATE_PROJECT"
	DeleteProject        Permission = "DELETE_PROJECT"
	UserAccessRead       Permission = "PROJECT_USER_ACCESS_READ"
	UserAccessWrite      Permission = "PROJECT_USER_ACCESS_WRITE"
	CreateFeature        Permission = "CREATE_FEATURE"
	UpdateFeature        Permission = "UPDATE_FEATURE"
	DeleteFeature        Permission = "DELETE_FEATURE"
	MoveFeature          Permission = "MOVE_FEATURE_TOGGLE"
	UpdateDependency     Permission = "UPDATE_FEATURE_DEPENDENCY"
	ReadProjectToken     Permission = "READ_PROJECT_API_TOKEN"
	CreateProjectToken   Permission = "CREATE_PROJECT_API_TOKEN"
	DeleteProjectToken   Permission = "DELETE_PROJECT_API_TOKEN"
	UpdateProjectSegment Permission = "UPDATE_PROJECT_SEGMENT"
	ChangeRequestRead    Permission = "PROJECT_CHANGE_REQUEST_READ"
	ChangeRequestWrite   Permission = "PROJECT_CHANGE_REQUEST_WRITE"
)

// Permissions of environment scope: they hold for one environment of a project, or for all of its environments.
const (
	UpdateFeatureEnvironment Permission = "UPDATE_FEATURE_ENVIRONMENT"
	UpdateFeatureVariants    Permission = "UPDATE_FEATURE_ENVIRONMENT_VARIANTS"
	CreateFeatureStrategy    Permission = "CREATE_FEATURE_STRATEGY"
	UpdateFeatureStrategy    Permission = "UPDATE_FEATURE_STRATEGY"
	DeleteFeatureStrategy    Permission = "DELETE_FEATURE_STRATEGY"
	ApproveChangeRequest     Permission = "APPROVE_CHANGE_REQUEST"
	ApplyChangeRequest       Permission = "APPLY_CHANGE_REQUEST"
	SkipChangeRequest        Permission = "SKIP_CHANGE_REQUEST"
	SkipChangeFreeze         Permission = "SKIP_CHANGE_FREEZE"
)

// reviewPermissions belong to no built-in role, and only administrators grant them: whoever could give them to himself could
// change a guarded environment alone.
var reviewPermissions = []Permission{ApproveChangeRequest, ApplyChangeRequest, SkipChangeRequest, SkipChangeFreeze}

// A Scope says where a permission holds.
type Scope int

// The scopes.
const (
	RootScope Scope = iota
	ProjectScope
	EnvironmentScope
)

// String returns the name of the scope in the interface.
func (s Scope) String() string {
	switch s {
	case ProjectScope:
		return "project"
	case EnvironmentScope:
		return "environment"
	default:
		return "root"
	}
}

// A PermissionInfo describes a permission to users.
type PermissionInfo struct {
	Name        Permission
	DisplayName string
	Scope       Scope
}

// permissions lists the permissions that a role can contain.
var permissions = []PermissionInfo{
	{Admin, "Everything", RootScope},
	{CreateProject, "Create projects", RootScope},
	{CreateEnvironment, "Create environments", RootScope},
	{UpdateEnvironment, "Change, order, enable and disable environments", RootScope},
	{DeleteEnvironment, "Delete environments", RootScope},
	{CreateStrategy, "Create strategy types", RootScope},
	{UpdateStrategy, "Change strategy types", RootScope},
	{DeleteStrategy, "Delete strategy types", RootScope},
	{CreateTagType, "Create tag types", RootScope},
	{UpdateTagType, "Change tag types", RootScope},
	{DeleteTagType, "Delete tag types", RootScope},
	{CreateContextField, "Create context fields", RootScope},
	{UpdateContextField, "Change context fields", RootScope},
	{DeleteContextField, "Delete context fields", RootScope},
	{CreateSegment, "Create segments", RootScope},
	{UpdateSegment, "Change segments", RootScope},
	{DeleteSegment, "Delete segments", RootScope},
	{ReadRole, "Read roles", RootScope},
	{ReadClientToken, "Read server tokens", RootScope},
	{CreateClientToken, "Create server tokens", RootScope},
	{UpdateClientToken, "Change server tokens", RootScope},
	{DeleteClientToken, "Delete server tokens", RootScope},
	{ReadFrontendToken, "Read browser tokens", RootScope},
	{CreateFrontendToken, "Create browser tokens", RootScope},
	{UpdateFrontendToken, "Change browser tokens", RootScope},
	{DeleteFrontendToken, "Delete browser tokens", RootScope},
	{UpdateProject, "Change the project, its environments and who has access to it", ProjectScope},
	{DeleteProject, "Delete the project", ProjectScope},
	{UserAccessRead, "Read who has access to the project", ProjectScope},
	{UserAccessWrite, "Change who has access to the project", ProjectScope},
	{CreateFeature, "Create and clone flags", ProjectScope},
	{UpdateFeature, "Change flags and their tags, revive flags", ProjectScope},
	{DeleteFeature, "Archive flags", ProjectScope},
	{MoveFeature, "Move flags to another project (needs the right to create flags there)", ProjectScope},
	{UpdateDependency, "Change dependencies of flags", ProjectScope},
	{ReadProjectToken, "Read the project's tokens", ProjectScope},
	{CreateProjectToken, "Create tokens for the project", ProjectScope},
	{DeleteProjectToken, "Delete the project's tokens", ProjectScope},
	{UpdateProjectSegment, "Create, change and delete the project's segments", ProjectScope},
	{UpdateFeatureEnvironment, "Enable and disable flags", EnvironmentScope},
	{UpdateFeatureVariants, "Change variants", EnvironmentScope},
	{CreateFeatureStrategy, "Add strategies", EnvironmentScope},
	{UpdateFeatureStrategy, "Change strategies", EnvironmentScope},
	{DeleteFeatureStrategy, "Remove strategies", EnvironmentScope},
	{UpdateApplication, "Create, describe and delete applications", RootScope}, // new ones come last, because the position is a part of the ID
	{CreateAddon, "Create webhooks", RootScope},
	{UpdateAddon, "Change and test webhooks, and send their failed events again", RootScope},
	{DeleteAddon, "Delete webhooks", RootScope},
	{ChangeRequestRead, "Read the change request settings of the project", ProjectScope},
	{ChangeRequestWrite, "Change the change request settings of the project", ProjectScope},
	{ApproveChangeRequest, "Approve change requests", EnvironmentScope},
	{ApplyChangeRequest, "Apply change requests", EnvironmentScope},
	{SkipChangeRequest, "Change flags without a change request where one is needed", EnvironmentScope},
	{SkipChangeFreeze, "Change flags in a freeze", EnvironmentScope},
	{CreateReleaseTemplate, "Create release templates", RootScope},
	{UpdateReleaseTemplate, "Change release templates", RootScope},
	{DeleteReleaseTemplate, "Archive and delete release templates", RootScope},
}

// unleashOnlyPermissions are permissions of Unleash for features that Guidon lacks. Roles accept them so that
// Terraform configurations and migrations work unchanged. They grant nothing.
var unleashOnlyPermissions = map[Permission]string{
	"UPDATE_AUTH_CONFIGURATION":      "Change the sign-in settings",
	"UPDATE_PROJECT_CONTEXT":         "Change the context fields of the project",
	"UPDATE_CORS":                    "Change the origins that may call the frontend API",
	"UPDATE_INSTANCE_BANNERS":        "Change the banners of the service",
	"UPDATE_MAINTENANCE_MODE":        "Switch maintenance mode on and off",
	"READ_LOGS":                      "Read the logs of the service",
	"UPDATE_FEATURE_VARIANTS":        "Change variants of flags without environments",
	"PROJECT_SETTINGS_READ":          "Read the settings of the project",
	"PROJECT_SETTINGS_WRITE":         "Change the settings of the project",
	"PROJECT_DEFAULT_STRATEGY_READ":  "Read the default strategies of the project",
	"PROJECT_DEFAULT_STRATEGY_WRITE": "Change the default strategies of the project",
}

// Permissions returns the permissions of that scope that a role can contain, without those that grant nothing.
func Permissions(scope Scope) []PermissionInfo {
	var list []PermissionInfo
	for _, p := range permissions {
		if p.Scope == scope {
			list = append(list, p)
		}
	}
	return list
}

// DescribePermission returns the description of a permission; false if no operation requires it.
func DescribePermission(p Permission) (PermissionInfo, bool) {
	if i := permissionIndex(p); i >= 0 {
		return permissions[i], true
	}
	if name, ok := unleashOnlyPermissions[p]; ok {
		return PermissionInfo{Name: p, DisplayName: name + " (not in Guidon; grants nothing)"}, false
	}
	return PermissionInfo{Name: p, DisplayName: string(p)}, false // stored by a later version
}

// unleashPermissionIDs are the IDs that are known from the acceptance tests of Unleash's Terraform provider.
var unleashPermissionIDs = map[Permission]int{Admin: 1, CreateProject: 12, UpdateProject: 13, CreateFeatureStrategy: 25}

// firstOwnPermissionID is the first ID of the other permissions. It is high, so that none of them means another
// permission in Unleash.
const firstOwnPermissionID = 1000

// ID returns the ID of a permission; 0 if no operation requires it.
func (p Permission) ID() int {
	if n, known := unleashPermissionIDs[p]; known {
		return n
	}
	if i := permissionIndex(p); i >= 0 {
		return firstOwnPermissionID + i
	}
	return 0
}

// projectUpdates are the permissions that UpdateProject includes.
var projectUpdates = []Permission{UserAccessRead, UserAccessWrite, ChangeRequestRead, ChangeRequestWrite}

// includes reports whether a permission includes another one.
func (p Permission) includes(other Permission) bool {
	return p == other || p == Admin || p == UpdateProject && slices.Contains(projectUpdates, other)
}

// isRootPermission reports whether p is known and has root scope.
func isRootPermission(p Permission) bool {
	info, known := DescribePermission(p)
	return known && info.Scope == RootScope
}

// scopeOf returns the scope of a permission; RootScope if it is unknown.
func scopeOf(p Permission) Scope {
	info, _ := DescribePermission(p)
	return info.Scope // RootScope if unknown
}

func permissionIndex(p Permission) int {
	return slices.IndexFunc(permissions, func(info PermissionInfo) bool { return info.Name == p })
}

// CheckPermissionName checks the name of a permission, and returns the problem, or "".
func CheckPermissionName(name string) string {
	switch {
	case name == "":
		return "is required"
	case len(name) > flags.MaxName:
		return fmt.Sprintf("must have at most %d characters, but has %d", flags.MaxName, len(name))
	case permissionIndex(Permission(name)) >= 0 || unleashOnlyPermissions[Permission(name)] != "":
		return ""
	}
	if near := nearestPermission(name); near != "" {
		return fmt.Sprintf("there is no permission %q; did you mean %s?", name, near)
	}
	return fmt.Sprintf("there is no permission %q.", name)
}

// nearestPermission returns the permission with the most similar name; "" if more than half of it is different. It never suggests
// Admin, so that following a suggestion does not create administrators.
func nearestPermission(name string) (near Permission) {
	name = strings.ToUpper(name)
	least := len(name)/2 + 1
	for _, p := range permissions {
		if d := editDistance(name, string(p.Name)); d < least && p.Name != Admin {
			near, least = p.Name, d
		}
	}
	return near
}

// editDistance returns how many bytes must be inserted, removed or replaced to turn a into b (Levenshtein).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1) // distances of the processed part of a from each prefix of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
