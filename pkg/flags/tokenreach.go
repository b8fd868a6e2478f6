package flags

import (
	"slices"
	"strings"
)

// A Reach is the projects that a token reaches, by what is there now.
//
// A token never widens. It names
// projects and an environment by the UIDs that they had when it was made, so it does not reach what is made under their
// names later; and once nothing is left of what it names, it is revoked. Nobody has to find the tokens when a project or
// an environment is deleted: whoever uses a token asks for its reach. For tokens of SDKs that is the function that
// serves SDKs; an admin token is scoped to nothing.
type TokenScope struct {
	All      bool       // every project
	Projects []*Project // those that are left, in the order of the token
	Unbound  []string   // ids that a seeded token names and that nobody had made when it was seeded: it does not reach them
}

// Reach is how far the token reaches; false when it is revoked. project finds a project by its id, or nil.
func (t *Token) Scope(project func(id string) *Project, registry *Environments) (TokenScope, bool) {
	var r TokenScope
	for i, id := range t.Projects {
		uid := t.projectUID(i)
		switch p := project(id); {
		case id == All:
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
	if t.Environment != All && t.EnvironmentUID != "" {
		env := registry.Find(t.Environment)
		return r, env != nil && env.UID == t.EnvironmentUID
	}
	return r, true
}

// Names are the projects as the token's record lists them.
func (r TokenScope) ProjectIDs() []string {
	if r.All {
		return []string{All}
	}
	names := make([]string, 0, len(r.Projects)+len(r.Unbound))
	for _, p := range r.Projects {
		names = append(names, p.ID)
	}
	return append(names, r.Unbound...)
}

// Resolve binds the token to the projects and the environment that have its names now, where it is not bound yet.
func (t *Token) Bind(project func(id string) *Project, registry *Environments) {
	uids := make([]string, len(t.Projects))
	for i, id := range t.Projects {
		if uids[i] = t.projectUID(i); uids[i] == "" && id != All {
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

// A TokenRight is what somebody may do with API tokens.
type TokenRight int

// The rights.
const (
	ReadTokens TokenRight = iota
	CreateTokens
	UpdateTokens
	DeleteTokens
)

// tokenPermissions are what gives a right: over all client tokens, over all frontend tokens, and over those of a
// project. Unleash knows no permission to change a project's tokens: who may make one with any expiry may change it.
var tokenPermissions = map[TokenRight]struct{ client, frontend, project Permission }{
	ReadTokens:   {ReadClientToken, ReadFrontendToken, ReadProjectToken},
	CreateTokens: {CreateClientToken, CreateFrontendToken, CreateProjectToken},
	UpdateTokens: {UpdateClientToken, UpdateFrontendToken, CreateProjectToken},
	DeleteTokens: {DeleteClientToken, DeleteFrontendToken, DeleteProjectToken},
}

// HasTokenRight tells whether the caller has a right over a token of that reach: nobody has one over a token that reaches
// further than they do. Admin tokens are for admins. The others take the permission for all of their type, or the
// project's in every project that the token reaches.
func (c Caller) HasTokenRight(right TokenRight, kind TokenType, reach TokenScope) bool {
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
		return false // personal ones belong to their user
	}
	further := reach.All || len(reach.Unbound) > 0 || len(reach.Projects) == 0
	return !further && !slices.ContainsFunc(reach.Projects, func(p *Project) bool { return !c.HasPermission(of.project, p, "") })
}

// AuthorizeAnyToken checks that there can be tokens that the caller has a right over, where mine are the projects that the
// caller has a role in. Forbidden when not.
func (c Caller) AuthorizeAnyToken(right TokenRight, mine []*Project) error {
	of := tokenPermissions[right]
	if c.HasPermission(of.client, nil, "") || c.HasPermission(of.frontend, nil, "") || c.HasPermission(of.project, nil, "") ||
		slices.ContainsFunc(mine, func(p *Project) bool { return c.HasPermission(of.project, p, "") }) {
		return nil
	}
	return Errorf(Forbidden, "%s needs the permission %s or %s, or %s in a project", c.Name, of.client, of.frontend, of.project)
}

// AuthorizeToken checks that the caller has a right over one token. Forbidden when not.
func (c Caller) AuthorizeToken(right TokenRight, kind TokenType, reach TokenScope) error {
	if c.HasTokenRight(right, kind, reach) {
		return nil
	}
	of := tokenPermissions[right]
	all := of.client
	switch kind {
	case AdminToken:
		return Errorf(Forbidden, "admin tokens are for admins alone, and %s is none", c.Name)
	case FrontendToken:
		all = of.frontend
	}
	return Errorf(Forbidden, "%s needs the permission %s, or %s in every project that the token reaches", c.Name, all, of.project)
}
