package access

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"guidon/pkg/flags"
)

// A Caller is the API token, the user or the user's session behind a request.
type Caller struct {
	Name  string // of the token or user
	Admin bool   // has every permission
	User  *User  // nil for an API token

	Session string // hash of the session that the user is signed in with; "" for a token
	Agent   string // the name that an AI agent gives itself, if one acts for the caller: it skips neither change requests nor freezes

	roles *Roles
	root  *Role // the user's root role; nil if it was deleted

	itself  bool          // see Guidon
	missing *[]Permission // set by DryRun: collects the permissions that the caller lacks
}

// Guidon returns Guidon itself as a caller, without permissions. Its events have no user ID, as those of the first start.
func Guidon() Caller { return Caller{Name: "Guidon", itself: true} }

var errUnauthenticated = flags.Errorf(flags.Unauthenticated,
	"the API token in the Authorization header is missing, unknown, deleted or expired; send a valid one")

// Authenticate returns the caller behind an API token. It returns Unauthenticated if there is no token, or if
// the token is deleted or expired. For a personal token, AuthenticateUser must follow.
func Authenticate(token *Token, now time.Time) (Caller, error) {
	if token == nil || token.Deleted || token.Expired(now) {
		return Caller{}, errUnauthenticated
	}
	return Caller{Name: token.Name, Admin: token.Type == AdminToken}, nil
}

// The refusals of applications have the texts of Unleash, which some clients search for.
var (
	ErrNoToken = flags.Errorf(flags.Unauthenticated,
		"This endpoint requires an API token. Please add an authorization header to your request with a valid token")
)

// wrongTokenType is the refusal of a valid token that is for another endpoint.
func wrongTokenType(got TokenType, types []TokenType) error {
	if len(types) == 0 {
		types = []TokenType{AdminToken}
	}
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = string(t)
	}
	return flags.Errorf(flags.Forbidden, "invalid token: expected a different token type for this endpoint: use a token of the type %s, not %s",
		strings.Join(names, " or "), got)
}

// AuthenticateApplication returns an error unless the token is valid and is an admin token or of one of these types. hash is that
// of the secret in the request. Whether the token's projects and environment still exist is checked apart, see Token.Scope.
func AuthenticateApplication(token *Token, hash string, now time.Time, types ...TokenType) error {
	if token == nil || !token.HasHash(hash) || token.Deleted || token.Expired(now) { // an item that was not written by Guidon gives no access
		return ErrNoToken
	}
	if token.Type != AdminToken && !slices.Contains(types, token.Type) {
		return wrongTokenType(token.Type, types)
	}
	return nil
}

// AuthenticateUser returns the caller behind a personal token. It returns Unauthenticated if the user, or the
// token in the user's list, no longer exists.
func AuthenticateUser(token *Token, user *User, roles *Roles) (Caller, error) {
	if user == nil || roles == nil || user.ID != token.User ||
		!slices.ContainsFunc(user.Tokens, func(t UserToken) bool { return token.HasHash(t.Hash) }) {
		return Caller{}, errUnauthenticated
	}
	return callerOf(user, roles), nil
}

// ErrNoUser is the error of what was to happen in the name of a user who no longer exists.
var ErrNoUser = flags.Errorf(flags.Forbidden, "the user no longer exists")

// AsUser returns a user as a caller, with the permissions that the user has now, for what happens later in the user's name. It returns
// ErrNoUser if the user no longer exists.
func AsUser(user *User, roles *Roles) (Caller, error) {
	if user == nil || roles == nil {
		return Caller{}, ErrNoUser
	}
	return callerOf(user, roles), nil
}

// callerOf returns a user as a caller.
func callerOf(user *User, roles *Roles) Caller {
	root := roles.Find(user.RootRole)
	return Caller{Name: user.DisplayName(), Admin: root != nil && root.Has(Admin, ""), User: user, roles: roles, root: root}
}

// AnyEnvironment, passed as the environment of a permission check, means that holding the permission in at least
// one environment is enough.
const AnyEnvironment = "*"

// HasPermission reports whether the caller holds a permission: in the whole service, or, for a permission of
// project scope, in the project. For a permission of environment scope, environment names the environment; ""
// requires all environments. project is nil for operations outside of projects. A user whose root role was
// deleted has no permissions.
func (c Caller) HasPermission(p Permission, project *flags.Project, environment string) bool {
	if c.Agent != "" && (p == SkipChangeRequest || p == SkipChangeFreeze) {
		return false
	}
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

// HasPermissionInAny reports whether the caller holds a permission in at least one of the projects, or in the
// default project, which editors own. One environment is enough.
func (c Caller) HasPermissionInAny(p Permission, projects []*flags.Project) bool {
	own := &flags.Project{ID: flags.DefaultProject}
	return slices.ContainsFunc(append([]*flags.Project{own}, projects...), func(in *flags.Project) bool { return c.HasPermission(p, in, AnyEnvironment) })
}

// rolesIn returns the roles that the caller holds in a project. Editors own the default project.
func (c Caller) rolesIn(project *flags.Project) []*Role {
	var list []*Role
	for _, id := range project.Members[c.User.ID] {
		if role := c.roles.Find(id); role != nil {
			list = append(list, role)
		}
	}
	if project.ID == flags.DefaultProject && c.root.ID == RoleEditor {
		list = append(list, c.roles.Find(RoleOwner))
	}
	return list
}

// UserID returns the ID of the user who makes the request; flags.TokenUserID for an API token, and 0 for Guidon itself.
func (c Caller) UserID() int64 {
	switch {
	case c.itself:
		return 0
	case c.User == nil:
		return flags.TokenUserID
	}
	return c.User.ID
}

// FavoritesKey returns the key under which a caller's favorites are stored: the user's ID, so that renaming
// keeps them, or the name of the token.
func (c Caller) FavoritesKey() string {
	if c.User != nil {
		return "user:" + strconv.FormatInt(c.User.ID, 10)
	}
	return "token:" + c.Name
}

// AuthorizeGrant returns Forbidden if the caller must not give the project role to a user. Callers can only
// grant permissions that they hold themselves, and only administrators can grant those about change requests and freezes. Owners of a project can
// also grant permissions that this version does not know.
func (c Caller) AuthorizeGrant(role Role, project *flags.Project) error {
	for _, g := range role.Permissions {
		if c.Admin {
			continue
		}
		if slices.Contains(reviewPermissions, g.Permission) {
			return flags.Errorf(flags.Forbidden, "the role %q includes the permission %s, which only administrators can grant", role.Name, g.Permission)
		}
		if c.HasPermission(g.Permission, project, g.Environment) || c.isOwnerOf(project) && !isRootPermission(g.Permission) {
			continue
		}
		where := ""
		if g.Environment != "" {
			where = " in environment " + strconv.Quote(g.Environment)
		}
		return flags.Errorf(flags.Forbidden, "the role %q includes the permission %s%s, which %s does not have in project %q and therefore cannot grant",
			role.Name, g.Permission, where, c.Name, project.ID)
	}
	return nil
}

// isOwnerOf reports whether the caller has the role Owner in the project.
func (c Caller) isOwnerOf(project *flags.Project) bool {
	return c.User != nil && c.root != nil &&
		slices.ContainsFunc(c.rolesIn(project), func(r *Role) bool { return r.ID == RoleOwner })
}

// DryRun returns a copy of the caller for validating a request without executing it: Authorize never refuses, and
// adds each permission that the caller lacks to missing, once.
func (c Caller) DryRun(missing *[]Permission) Caller {
	c.missing = missing
	return c
}

// AuthorizeSkip returns ReviewRequired unless the caller can change an environment of a project without a change request, where one is
// needed: with SkipChangeRequest there, or, if nobody skips in that environment, as an administrator with a reason.
func (c Caller) AuthorizeSkip(project *flags.Project, env flags.Environment, reason string) error {
	off, through := "", ""
	if c.Agent != "" {
		through = ", through " + c.Agent + ","
	}
	if env.OffAllowed {
		off = "; only flags on which no other flag depends can be switched off without a change request"
	}
	required := func(format string) error {
		return &flags.Error{Kind: flags.ReviewRequired, Permissions: []string{string(SkipChangeRequest)},
			Message: fmt.Sprintf(format, env.Name, project.ID, c.Name+through) + off}
	}
	switch {
	case !c.HasPermission(SkipChangeRequest, project, env.Name) && c.missing != nil:
		if !slices.Contains(*c.missing, SkipChangeRequest) {
			*c.missing = append(*c.missing, SkipChangeRequest)
		}
		return nil
	case !c.HasPermission(SkipChangeRequest, project, env.Name):
		return required("change requests are on in environment %[1]q of project %[2]q: propose this change (POST /api/admin/projects/%[2]s/environments/%[1]s/change-requests), or ask someone who may skip change requests there; %[3]s may not")
	case env.NobodySkips && !c.Admin:
		return required("environment %q of project %q only changes with a change request, and nobody skips them there: in an emergency, an administrator can, but %s cannot")
	case env.NobodySkips && reason == "":
		return required("environment %q of project %q only changes with a change request, and nobody skips them there: in an emergency, %s can send the reason in the header Break-Glass")
	}
	return nil
}

// AuthorizeFrozen returns Conflict unless the caller can change an environment of a project that is frozen, with SkipChangeFreeze there.
func (c Caller) AuthorizeFrozen(project *flags.Project, frozen flags.Frozen) error {
	if c.HasPermission(SkipChangeFreeze, project, frozen.Environment.Name) {
		return nil
	}
	if c.missing != nil {
		if !slices.Contains(*c.missing, SkipChangeFreeze) {
			*c.missing = append(*c.missing, SkipChangeFreeze)
		}
		return nil
	}
	where := fmt.Sprintf("environment %q of project %q", frozen.Environment.Name, project.ID)
	if frozen.OfService {
		where = fmt.Sprintf("environment %q, in all projects,", frozen.Environment.Name)
	}
	off := ""
	if frozen.OffAllowed {
		off = "; until then, only flags on which no other flag depends can be switched off"
	}
	return flags.Errorf(flags.Conflict, "%s is frozen until %s: %s (freeze %s); try again after that, or ask someone with the permission %s there%s",
		where, frozen.Until.UTC().Format(time.RFC3339), frozen.Reason, frozen.ID, SkipChangeFreeze, off)
}

// Authorize returns Forbidden if the caller lacks the permission. See HasPermission for the arguments.
func (c Caller) Authorize(p Permission, project *flags.Project, environment string) error {
	if c.HasPermission(p, project, environment) {
		return nil
	}
	if c.missing != nil {
		if !slices.Contains(*c.missing, p) {
			*c.missing = append(*c.missing, p)
		}
		return nil
	}
	switch {
	case c.User == nil:
		return flags.Errorf(flags.Forbidden, "the token %q is for SDKs and cannot be used with the admin API; use an admin token, or a personal token of a user with the permission %s", c.Name, p)
	case environment != "" && environment != AnyEnvironment && project != nil && scopeOf(p) == EnvironmentScope:
		return flags.Errorf(flags.Forbidden, "%s needs the permission %s in environment %q of project %q", c.Name, p, environment, project.ID)
	case scopeOf(p) != RootScope && project != nil:
		return flags.Errorf(flags.Forbidden, "%s needs the permission %s in project %q", c.Name, p, project.ID)
	}
	return flags.Errorf(flags.Forbidden, "%s needs the permission %s", c.Name, p)
}
