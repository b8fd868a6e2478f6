package tokens

import (
	"slices"
	"strconv"
	"strings"

	"guidon/pkg/access"
	"guidon/pkg/admin/wire"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
)

// A createTokenBody is a new API token.
type createTokenBody struct {
	TokenName   jsonbody.Maybe[string]   `json:"tokenName"`
	Username    jsonbody.Maybe[string]   `json:"username"` // deprecated: use tokenName
	Type        jsonbody.Maybe[string]   `json:"type"`     // backend, client, frontend or admin, in upper or lower case
	Environment jsonbody.Maybe[string]   `json:"environment"`
	Project     jsonbody.Maybe[string]   `json:"project"`
	Projects    jsonbody.Maybe[[]string] `json:"projects"`
	ExpiresAt   jsonbody.Maybe[*string]  `json:"expiresAt"`
}

// maxTokenProjects is how many projects one token may name. Each is read when the token is created, and in every list.
const maxTokenProjects = 1000

// Check checks everything that does not depend on stored data.
func (b createTokenBody) Check(_ flags.Limits, problems *flags.Problems) {
	wire.CheckTitle("/tokenName", b.name(), problems)
	flags.CheckLength("/username", b.Username.Value, wire.MaxTitle, problems)
	b.checkType(problems)
	b.checkProjects(problems)
	if b.tokenType() == access.AdminToken {
		if !slices.Equal(b.projects(), []string{flags.All}) {
			problems.Add("/projects", "must be * or left out: an admin token has access to every project")
		}
		if b.environment() != flags.All {
			problems.Add("/environment", "must be * or left out: an admin token has access to every environment")
		}
	}
	httpapi.CheckMoment("/expiresAt", b.ExpiresAt.Value, problems)
}

func (b createTokenBody) checkType(problems *flags.Problems) {
	switch b.tokenType() {
	case access.AdminToken, access.BackendToken, access.ClientToken, access.FrontendToken:
	case "":
		problems.Add("/type", "is required, and must be backend, client, frontend or admin")
	default:
		problems.Add("/type", "must be backend, client, frontend or admin, not %q", jsonbody.Shorten(b.Type.Value))
	}
}

func (b createTokenBody) checkProjects(problems *flags.Problems) {
	ids := b.Projects.Value
	if b.Projects.Set && len(ids) == 0 {
		problems.Add("/projects", "must name at least one project; leave it out for every project")
	}
	if len(ids) > maxTokenProjects {
		problems.Add("/projects", "must name at most %d projects, not %d; use * for every project", maxTokenProjects, len(ids))
	}
	if b.Projects.Set && b.Project.Set && !slices.Equal(ids, []string{b.Project.Value}) {
		problems.Add("/project", "must be left out, or be the only one of projects")
	}
}

func (b createTokenBody) name() string { return b.TokenName.Or(b.Username.Value) }

func (b createTokenBody) tokenType() access.TokenType {
	return access.TokenType(strings.ToLower(b.Type.Value))
}

// projects returns the IDs in the body without duplicates. If flags.All is among them, or there are none, it returns only
// flags.All.
func (b createTokenBody) projects() []string {
	ids := b.Projects.Or([]string{b.Project.Or(flags.All)})
	if slices.Contains(ids, flags.All) {
		return []string{flags.All}
	}
	return flags.Distinct(ids)
}

func (b createTokenBody) environment() string {
	if b.tokenType() == access.AdminToken {
		return b.Environment.Or(flags.All)
	}
	return b.Environment.Or("development")
}

func createToken(tx *httpapi.Tx, _ httpapi.InService, in createTokenBody) (apiToken, error) {
	return newToken(tx, in)
}

// newToken creates a token. The caller needs the right to create tokens of its scope, and its projects and environment must
// exist.
func newToken(tx *httpapi.Tx, in createTokenBody) (apiToken, error) {
	t := &access.Token{
		Name: in.name(), Projects: in.projects(), Environment: in.environment(),
		CreatedAt: tx.Now, ExpiresAt: httpapi.MomentOf(in.ExpiresAt.Value),
	}
	t.SetType(in.tokenType())
	tx.Load(httpapi.ProjectKeys(t.Projects...)...)
	t.Bind(tx.FindProject, tx.Environments())
	scope, _ := scopeOf(tx, t)
	if err := tx.Caller.AuthorizeToken(access.CreateTokens, t.Type, scope); err != nil {
		return apiToken{}, err
	}
	if err := checkNamesExist(t, scope); err != nil {
		return apiToken{}, err
	}
	secret := t.FormatSecret(tx.Random())
	t.Hash = access.HashSecret(secret)
	t.Sealed = tx.Seal(secret, t.Hash)
	if err := wire.CheckListSize(tx, t); err != nil {
		return apiToken{}, err
	}
	tx.Save(events.TokenCreated(t), t)
	tx.Created(apiTokensPath, t.Name)
	return apiTokenOf(tx, t, scope)
}

// checkNamesExist checks that the projects and the environment of a new token exist. Invalid when one does not.
func checkNamesExist(t *access.Token, scope access.TokenScope) error {
	var problems flags.Problems
	for _, id := range scope.Unbound {
		problems.Add("/projects/"+strconv.Itoa(slices.Index(t.Projects, id)), "there is no project %q", jsonbody.Shorten(id))
	}
	if t.Environment != flags.All && t.EnvironmentUID == "" {
		problems.Add("/environment", "there is no environment %q", jsonbody.Shorten(t.Environment))
	}
	return problems.Err()
}
