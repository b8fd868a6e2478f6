package oldapi

import (
	"slices"

	"guidon/pkg/flags"
)

// projectTokens are the API tokens of one project, for callers who hold the permissions for them in that project. They
// are the same tokens as those of /api/admin/api-tokens, under the same rules: see flags.Caller.HasTokenRight.
func projectTokens() []Operation {
	const all, one = "/api/admin/projects/{projectId}/api-tokens", "/api/admin/projects/{projectId}/api-tokens/{token}"
	const read = theProject | theEnvironments
	return []Operation{
		{"GET " + all, flags.ReadProjectToken, read, does(listProjectTokens).listing(flags.EntityToken).loading(listedKeys).sealing().answers(200, tokenList{})},
		{"POST " + all, flags.CreateProjectToken, read, takes(createProjectToken).listing(flags.EntityToken).sealing().answers(201, apiToken{})},
		{"DELETE " + one, flags.DeleteProjectToken, read | theToken, does(deleteProjectToken).loading(reachKeys).answers(200)},
	}
}

// listProjectTokens lists the tokens that name the project: a token of all projects is not one of them.
func listProjectTokens(c *call) (decision, error) {
	list, err := c.tokens(c.reachesProject)
	if err != nil {
		return decision{}, err
	}
	return ok(tokenList{list})
}

// reachesProject tells whether a token names the project of the path, and not an earlier project of that id.
func (c *call) reachesProject(t *flags.Token) bool {
	reach, _ := c.reach(t)
	return slices.ContainsFunc(reach.Projects, func(p *flags.Project) bool { return p.UID == c.project.UID })
}

// A createProjectTokenBody makes an API token of the project in the path.
type createProjectTokenBody struct{ createTokenBody }

func (b createProjectTokenBody) check(limits flags.Limits, problems *flags.Problems) {
	if b.kind() == flags.AdminToken {
		problems.Add("/type", "must be client or frontend: an admin token reaches every project")
		return
	}
	b.createTokenBody.check(limits, problems)
}

func (b createProjectTokenBody) review(c *call, problems *flags.Problems) {
	id := c.param(projectParam)
	if b.Projects.Set && !slices.Equal(b.Projects.Value, []string{id}) {
		problems.Add("/projects", "must be left out, or name the project %q alone", shorten(id))
	}
	if b.Project.Set && b.Project.Value != id {
		problems.Add("/project", "must be left out, or be %q", shorten(id))
	}
}

func createProjectToken(c *call, in createProjectTokenBody) (decision, error) {
	in.Projects.Set, in.Projects.Value = true, []string{c.project.ID}
	c.more = flags.View{c.project.Key(): c.project}
	return createToken(c, in.createTokenBody)
}

func deleteProjectToken(c *call) (decision, error) {
	if !c.reachesProject(c.token) {
		return decision{}, noToken
	}
	return deleteToken(c)
}

// noToken is the answer about a secret that no token has, or none that the path can mean. It never repeats the secret.
var noToken = flags.Errorf(flags.NotFound, "there is no API token with this secret")
