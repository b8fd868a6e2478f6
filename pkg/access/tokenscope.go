package access

import (
	"slices"
	"strings"
	"time"

	"guidon/pkg/flags"
)

// A TokenScope is the set of existing projects that a token gives access to.
//
// The scope of a token never grows. A token stores the UIDs of its projects and its environment, so it does not
// apply to new ones with the same names. If all of its projects, or its environment, are deleted, the token is
// revoked. Deleting a project or environment does not touch tokens: package serving checks client and frontend tokens
// when they are used. Admin tokens are not scoped.
type TokenScope struct {
	All      bool             // every project
	Projects []*flags.Project // those that still exist, in the order of the token
	Unbound  []string         // IDs in a seeded token that did not exist when it was seeded; the token gives no access to them
}

// Scope returns the scope of the token; false if the token is revoked. project returns a project by its ID, or
// nil.
func (t *Token) Scope(project func(id string) *flags.Project, registry *flags.Environments) (TokenScope, bool) {
	var r TokenScope
	for i, id := range t.Projects {
		uid := t.projectUID(i)
		switch p := project(id); {
		case id == flags.All:
			r.All = true
		case uid == "":
			r.Unbound = append(r.Unbound, id)
		case p != nil && p.UID == uid:
			r.Projects = append(r.Projects, p)
		}
	}
	if len(t.Projects) > 0 && len(r.ProjectIDs()) == 0 {
		return r, false
	}
	if t.Environment != flags.All && t.EnvironmentUID != "" {
		env := registry.Find(t.Environment)
		return r, env != nil && env.UID == t.EnvironmentUID
	}
	return r, true
}

// ProjectIDs returns the list of project IDs that responses show.
func (r TokenScope) ProjectIDs() []string {
	if r.All {
		return []string{flags.All}
	}
	names := make([]string, 0, len(r.Projects)+len(r.Unbound))
	for _, p := range r.Projects {
		names = append(names, p.ID)
	}
	return append(names, r.Unbound...)
}

// CanRead reports whether the token gives SDKs access to an environment in at least one project. project returns a
// project by its ID, or nil.
func (t *Token) CanRead(env flags.Environment, project func(id string) *flags.Project, registry *flags.Environments, now time.Time) bool {
	if t.Type == AdminToken || t.Expired(now) || t.Environment != flags.All && t.Environment != env.Name {
		return false
	}
	scope, ok := t.Scope(project, registry)
	return ok && (scope.All || len(scope.Projects) > 0)
}

// Bind sets the UIDs of the projects and the environment that currently have the token's names. UIDs that are
// set already stay.
func (t *Token) Bind(project func(id string) *flags.Project, registry *flags.Environments) {
	uids := make([]string, len(t.Projects))
	for i, id := range t.Projects {
		if uids[i] = t.projectUID(i); uids[i] == "" && id != flags.All {
			if p := project(id); p != nil {
				uids[i] = p.UID
			}
		}
	}
	if t.ProjectUIDs = nil; strings.Join(uids, "") != "" {
		t.ProjectUIDs = uids
	}
	if env := registry.Find(t.Environment); env != nil && t.EnvironmentUID == "" {
		t.EnvironmentUID = env.UID
	}
}

func (t *Token) projectUID(i int) string {
	if i < len(t.ProjectUIDs) {
		return t.ProjectUIDs[i]
	}
	return ""
}

// A TokenRight is an operation on tokens that needs a permission.
type TokenRight int

// The rights.
const (
	ReadTokens TokenRight = iota
	CreateTokens
	UpdateTokens
	DeleteTokens
)

// tokenPermissions has the permissions that give a right: over all client tokens, over all frontend tokens, and
// over tokens of a project. Unleash has no permission to update a project's tokens. A caller who can create
// tokens with any expiry can update them too.
var tokenPermissions = map[TokenRight]struct{ client, frontend, project Permission }{
	ReadTokens:   {ReadClientToken, ReadFrontendToken, ReadProjectToken},
	CreateTokens: {CreateClientToken, CreateFrontendToken, CreateProjectToken},
	UpdateTokens: {UpdateClientToken, UpdateFrontendToken, CreateProjectToken},
	DeleteTokens: {DeleteClientToken, DeleteFrontendToken, DeleteProjectToken},
}

// HasTokenRight reports whether the caller has a right over a token of that type and scope. Admin tokens require
// an administrator. Other tokens require the permission for all tokens of their type, or the project permission
// in every project of the scope. So callers cannot use tokens to go beyond their own permissions.
func (c Caller) HasTokenRight(right TokenRight, kind TokenType, scope TokenScope) bool {
	of := tokenPermissions[right]
	switch kind {
	case AdminToken:
		return c.Admin
	case ClientToken:
		if c.HasPermission(of.client, nil, "") {
			return true
		}
	case FrontendToken:
		if c.HasPermission(of.frontend, nil, "") {
			return true
		}
	default:
		return false // personal tokens belong to their user
	}
	beyondProjects := scope.All || len(scope.Unbound) > 0 || len(scope.Projects) == 0
	return !beyondProjects && !slices.ContainsFunc(scope.Projects, func(p *flags.Project) bool { return !c.HasPermission(of.project, p, "") })
}

// AuthorizeAnyToken returns Forbidden if there can be no token that the caller has the right over. memberOf are
// the projects in which the caller has a role.
func (c Caller) AuthorizeAnyToken(right TokenRight, memberOf []*flags.Project) error {
	of := tokenPermissions[right]
	if c.HasPermission(of.client, nil, "") || c.HasPermission(of.frontend, nil, "") || c.HasPermission(of.project, nil, "") ||
		slices.ContainsFunc(memberOf, func(p *flags.Project) bool { return c.HasPermission(of.project, p, "") }) {
		return nil
	}
	return flags.Errorf(flags.Forbidden, "%s needs the permission %s or %s, or %s in a project", c.Name, of.client, of.frontend, of.project)
}

// AuthorizeToken returns Forbidden if the caller lacks the right over a token of that type and scope.
func (c Caller) AuthorizeToken(right TokenRight, kind TokenType, scope TokenScope) error {
	if c.HasTokenRight(right, kind, scope) {
		return nil
	}
	of := tokenPermissions[right]
	all := of.client
	switch kind {
	case AdminToken:
		return flags.Errorf(flags.Forbidden, "only administrators can read, create or change admin tokens, and %s is not one", c.Name)
	case FrontendToken:
		all = of.frontend
	}
	return flags.Errorf(flags.Forbidden, "%s needs the permission %s, or %s in every project of the token", c.Name, all, of.project)
}
