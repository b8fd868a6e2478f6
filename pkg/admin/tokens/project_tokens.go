package tokens

import (
	"slices"

	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
)

// projectTokens are the operations on the API tokens of one project, for callers who have the permissions for them in that
// project. The tokens are the same as those of apiTokens, and so are the rules: see access.Caller.HasTokenRight.
func projectTokens() []httpapi.Operation {
	const all = "/api/admin/projects/{projectId}/api-tokens"
	ahead := []flags.Key{flags.EnvironmentsKey()}
	return []httpapi.Operation{
		{Route: "GET " + all, Permission: access.ReadProjectToken, Ahead: ahead, Handle: httpapi.Handle(listProjectTokens)},
		{Route: "POST " + all, Permission: access.CreateProjectToken, Ahead: ahead, Status: 201, Handle: httpapi.HandleBody(createProjectToken)},
		{Route: "DELETE " + all + "/{" + tokenParam + "}", Permission: access.DeleteProjectToken, Ahead: ahead, Handle: httpapi.Do(deleteProjectToken)},
	}
}

// inProjectToken is the place of an operation on an API token of a project.
type inProjectToken struct {
	httpapi.InProject
	secretInPath
}

// Keys names the project and the token.
func (at *inProjectToken) Keys() []flags.Key {
	return append(at.InProject.Keys(), access.TokenKey(at.hash))
}

// listProjectTokens lists the tokens that name the project. It leaves out tokens for all projects.
func listProjectTokens(tx *httpapi.Tx, at httpapi.InProject) (tokenList, error) {
	project := at.Project(tx)
	visible := visibleTokens(tx)
	return tokenListOf(tx, slices.DeleteFunc(visible, func(t scopedToken) bool { return !includes(t.scope, project) }))
}

// includes reports whether a scope has a project, and not a deleted one that had the same ID.
func includes(scope access.TokenScope, project *flags.Project) bool {
	return slices.ContainsFunc(scope.Projects, func(p *flags.Project) bool { return p.UID == project.UID })
}

// A createProjectTokenBody is a new API token of the project in the path.
type createProjectTokenBody struct{ createTokenBody }

// Check checks everything that does not depend on the path or on stored data.
func (b createProjectTokenBody) Check(limits flags.Limits, problems *flags.Problems) {
	if b.tokenType() == access.AdminToken {
		problems.Add("/type", "must be backend, client or frontend: an admin token has access to every project")
		return
	}
	b.createTokenBody.Check(limits, problems)
}

// checkProject checks that the body names no project but the one in the path.
func (b createProjectTokenBody) checkProject(id string) error {
	var problems flags.Problems
	if b.Projects.Set && !slices.Equal(b.Projects.Value, []string{id}) {
		problems.Add("/projects", "must be left out, or have the project %q only", jsonbody.Shorten(id))
	}
	if b.Project.Set && b.Project.Value != id {
		problems.Add("/project", "must be left out, or be %q", jsonbody.Shorten(id))
	}
	return problems.Err()
}

func createProjectToken(tx *httpapi.Tx, at httpapi.InProject, in createProjectTokenBody) (apiToken, error) {
	if err := in.checkProject(at.ProjectID); err != nil {
		return apiToken{}, err
	}
	project := at.Project(tx)
	in.Projects = jsonbody.Maybe[[]string]{Set: true, Value: []string{project.ID}}
	return newToken(tx, in.createTokenBody)
}

func deleteProjectToken(tx *httpapi.Tx, at inProjectToken) error {
	project := at.Project(tx)
	t, err := findAPIToken(tx, at.hash)
	if err != nil {
		return err
	}
	tx.Load(httpapi.ProjectKeys(t.Projects...)...)
	if scope, _ := scopeOf(tx, t); !includes(scope, project) {
		return noToken
	}
	return removeToken(tx, t)
}
