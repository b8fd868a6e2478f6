package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"

	unleash "github.com/Unleash/unleash-server-api-go/client"
)

// A projectState is the state of a project in the provider.
type projectState struct{ Name, Description, Mode string }

func terraformProject(t *testing.T, p *provider) {
	body := unleash.NewCreateProjectSchema("Made by Terraform")
	body.SetId("tf")
	body.SetDescription("The first")
	body.Environments = []string{}
	made := got(p.ProjectsAPI.CreateProject(t.Context()).CreateProjectSchema(*body).Execute()).is(t, 201)
	equal(t, "the answer's id and name", [2]string{made.Id, made.Name}, [2]string{"tf", "Made by Terraform"})
	if text := given(t, "the description of a new project", made.Description); text != "The first" || len(made.Environments) != 0 {
		t.Errorf("the new project is %+v, want its description and no environments", made)
	}
	settings := unleash.NewUpdateProjectEnterpriseSettingsSchema()
	settings.SetMode("protected")
	done(p.ProjectsAPI.UpdateProjectEnterpriseSettings(t.Context(), "tf").UpdateProjectEnterpriseSettingsSchema(*settings).Execute()).is(t, 200)
	equal(t, "the project", p.project(t, "tf"), &projectState{"Made by Terraform", "The first", "protected"})

	settings = unleash.NewUpdateProjectEnterpriseSettingsSchema()
	settings.SetMode("private")
	settings.SetFeatureNaming(*unleash.NewCreateFeatureNamingPatternSchema(*unleash.NewNullableString(ptr("^tf-.*$"))))
	settings.SetLinkTemplates([]unleash.ProjectLinkTemplateSchema{*unleash.NewProjectLinkTemplateSchema("https://issues.example.com/{{feature}}")})
	done(p.ProjectsAPI.UpdateProjectEnterpriseSettings(t.Context(), "tf").UpdateProjectEnterpriseSettingsSchema(*settings).Execute()).is(t, 200)
	update := unleash.NewUpdateProjectSchema("Changed by Terraform")
	update.SetDescription("The second")
	done(p.ProjectsAPI.UpdateProject(t.Context(), "tf").UpdateProjectSchema(*update).Execute()).is(t, 200)
	equal(t, "the changed project", p.project(t, "tf"), &projectState{"Changed by Terraform", "The second", "private"})

	done(p.ProjectsAPI.DeleteProject(t.Context(), "tf").Execute()).is(t, 200)
	equal(t, "the deleted project", p.project(t, "tf"), nil)
	done(p.ProjectsAPI.DeleteProject(t.Context(), "tf").Execute()).isNot(t)

	bare := got(p.ProjectsAPI.CreateProject(t.Context()).CreateProjectSchema(*unleash.NewCreateProjectSchema("Bare")).Execute()).is(t, 201)
	equal(t, "a project without a description", given(t, "the description of a bare project", bare.Description), "")
	equal(t, "a project of which only the name is said", p.project(t, bare.Id), &projectState{"Bare", "", "open"})
	done(p.ProjectsAPI.DeleteProject(t.Context(), bare.Id).Execute()).is(t, 200)
}

// project finds a project as the provider does, in the list of all. It returns nil if there is none.
func (p *provider) project(t *testing.T, id string) *projectState {
	t.Helper()
	list := got(p.ProjectsAPI.GetProjects(t.Context()).Execute()).is(t, 200)
	i := slices.IndexFunc(list.Projects, func(row unleash.ProjectSchema) bool { return row.Id == id })
	if i < 0 {
		return nil
	}
	row := list.Projects[i]
	return &projectState{row.Name, given(t, "the description of "+id, row.Description), row.GetMode()}
}

func terraformEnvironment(t *testing.T, p *provider) {
	made := got(p.EnvironmentsAPI.CreateEnvironment(t.Context()).CreateEnvironmentSchema(*unleash.NewCreateEnvironmentSchema("staging", "test")).Execute()).is(t, 201)
	equal(t, "the new environment", [2]string{made.Name, made.Type}, [2]string{"staging", "test"})
	read := got(p.EnvironmentsAPI.GetEnvironment(t.Context(), "staging").Execute()).is(t, 200)
	equal(t, "the environment's type", read.Type, "test")
	if !read.Enabled || read.Protected {
		t.Errorf("the environment is %+v, want it enabled and not protected", read)
	}
	update := unleash.NewUpdateEnvironmentSchema()
	update.SetType("preproduction")
	changed := got(p.EnvironmentsAPI.UpdateEnvironment(t.Context(), "staging").UpdateEnvironmentSchema(*update).Execute()).is(t, 200)
	equal(t, "the changed environment", [2]string{changed.Name, changed.Type}, [2]string{"staging", "preproduction"})
	equal(t, "the environments", p.environments(t), []string{"default production", "development development", "production production", "staging preproduction"})

	done(p.EnvironmentsAPI.RemoveEnvironment(t.Context(), "staging").Execute()).is(t, 200)
	got(p.EnvironmentsAPI.GetEnvironment(t.Context(), "staging").Execute()).isNot(t)
	done(p.EnvironmentsAPI.RemoveEnvironment(t.Context(), "default").Execute()).fails(t, 400, "ValidationError")
}

// environments returns the names and types of all environments, in order.
func (p *provider) environments(t *testing.T) (list []string) {
	t.Helper()
	for _, e := range got(p.EnvironmentsAPI.GetAllEnvironments(t.Context()).Execute()).is(t, 200).Environments {
		list = append(list, e.Name+" "+e.Type)
	}
	return list
}

func terraformProjectEnvironment(t *testing.T, p *provider) {
	p.makeProject(t, "tf-envs")
	defer func() { done(p.ProjectsAPI.DeleteProject(t.Context(), "tf-envs").Execute()).is(t, 200) }()
	add := unleash.NewProjectEnvironmentSchema("production")
	done(p.ProjectsAPI.AddEnvironmentToProject(t.Context(), "tf-envs").ProjectEnvironmentSchema(*add).Execute()).is(t, 200)
	done(p.ProjectsAPI.AddEnvironmentToProject(t.Context(), "tf-envs").ProjectEnvironmentSchema(*add).Execute()).fails(t, 409, "ConflictError")
	add = unleash.NewProjectEnvironmentSchema("development")
	add.SetDefaultStrategy(unleash.CreateFeatureStrategySchema{Name: "flexibleRollout", Parameters: &map[string]string{"rollout": "100"}})
	done(p.ProjectsAPI.AddEnvironmentToProject(t.Context(), "tf-envs").ProjectEnvironmentSchema(*add).Execute()).is(t, 200)
	equal(t, "the environments of the project", p.environmentsOf(t, "tf-envs"), []string{"development flexibleRollout", "production "})

	off := unleash.NewUpdateChangeRequestEnvironmentConfigSchema(false)
	done(p.ChangeRequestsAPI.UpdateProjectChangeRequestConfig(t.Context(), "tf-envs", "production").UpdateChangeRequestEnvironmentConfigSchema(*off).Execute()).is(t, 204)
	off.SetRequiredApprovals(0) // as before a deletion
	done(p.ChangeRequestsAPI.UpdateProjectChangeRequestConfig(t.Context(), "tf-envs", "production").UpdateChangeRequestEnvironmentConfigSchema(*off).Execute()).is(t, 204)
	equal(t, "where change requests are on", p.changeRequests(t, "tf-envs"), []string{"development false", "production false"})
	on := unleash.NewUpdateChangeRequestEnvironmentConfigSchema(true)
	on.SetRequiredApprovals(2)
	done(p.ChangeRequestsAPI.UpdateProjectChangeRequestConfig(t.Context(), "tf-envs", "production").UpdateChangeRequestEnvironmentConfigSchema(*on).Execute()).is(t, 204)
	equal(t, "where change requests are on", p.changeRequests(t, "tf-envs"), []string{"development false", "production true 2"})
	done(p.ChangeRequestsAPI.UpdateProjectChangeRequestConfig(t.Context(), "tf-envs", "production").UpdateChangeRequestEnvironmentConfigSchema(*off).Execute()).is(t, 204)

	done(p.ProjectsAPI.RemoveEnvironmentFromProject(t.Context(), "tf-envs", "production").Execute()).is(t, 200)
	equal(t, "the environments that are left", p.environmentsOf(t, "tf-envs"), []string{"development flexibleRollout"})
	done(p.ProjectsAPI.RemoveEnvironmentFromProject(t.Context(), "tf-envs", "production").Execute()).isNot(t)
}

func (p *provider) makeProject(t *testing.T, id string) {
	t.Helper()
	body := unleash.NewCreateProjectSchema(id)
	body.SetId(id)
	body.Environments = []string{}
	got(p.ProjectsAPI.CreateProject(t.Context()).CreateProjectSchema(*body).Execute()).is(t, 201)
}

// changeRequests returns in which environments of a project change requests are on, with the number of approvals.
func (p *provider) changeRequests(t *testing.T, project string) (list []string) {
	t.Helper()
	for _, c := range got(p.ChangeRequestsAPI.GetProjectChangeRequestConfig(t.Context(), project).Execute()).is(t, 200) {
		row := fmt.Sprint(c.Environment, " ", c.ChangeRequestEnabled)
		if n := c.RequiredApprovals.Get(); n != nil {
			row += fmt.Sprint(" ", *n)
		}
		list = append(list, row)
	}
	return list
}

// environmentsOf returns the environments of a project, with the names of their default strategies.
func (p *provider) environmentsOf(t *testing.T, project string) (list []string) {
	t.Helper()
	for _, e := range got(p.EnvironmentsAPI.GetProjectEnvironments(t.Context(), project).Execute()).is(t, 200).Environments {
		if !e.GetVisible() {
			t.Errorf("%s is not visible in %s", e.Name, project)
		}
		strategy := ""
		if e.DefaultStrategy != nil {
			strategy = e.DefaultStrategy.Name
		}
		list = append(list, e.Name+" "+strategy)
	}
	return list
}

// A tokenState is the state of an API token in the provider.
type tokenState struct {
	Name, Type, Environment, Project string
	Projects                         []string
	Expires                          string // as RFC 3339, to the second
}

func tokenStateOf(token *unleash.ApiTokenSchema) tokenState {
	s := tokenState{token.TokenName, token.Type, token.GetEnvironment(), token.GetProject(), token.Projects, ""}
	if expires := token.ExpiresAt.Get(); expires != nil {
		s.Expires = expires.Format(time.RFC3339)
	}
	return s
}

func terraformToken(t *testing.T, p *provider) {
	p.makeProject(t, "tf-tokens")
	defer func() { done(p.ProjectsAPI.DeleteProject(t.Context(), "tf-tokens").Execute()).is(t, 200) }()
	body := unleash.NewCreateApiTokenSchemaOneOf("client", "tf-client")
	body.SetEnvironment("development")
	body.SetProjects([]string{"tf-tokens", "default"})
	body.SetExpiresAt(time.Date(2099, 1, 31, 12, 0, 0, 0, time.UTC))
	made := p.makeToken(t, body)
	want := tokenState{"tf-client", "client", "development", made.GetProject(), made.Projects, "2099-01-31T12:00:00Z"}
	equal(t, "the new token", tokenStateOf(made), want)
	equal(t, "its projects", slices.Sorted(slices.Values(made.Projects)), []string{"default", "tf-tokens"})
	equal(t, "the token that is read", p.token(t, made.Secret), &want)

	change := unleash.NewUpdateApiTokenSchema(time.Date(2100, 1, 31, 12, 0, 0, 0, time.UTC))
	done(p.APITokensAPI.UpdateApiToken(t.Context(), made.Secret).UpdateApiTokenSchema(*change).Execute()).is(t, 200)
	want.Expires = "2100-01-31T12:00:00Z"
	equal(t, "the changed token", p.token(t, made.Secret), &want)
	byName := got(p.APITokensAPI.GetApiTokensByName(t.Context(), "tf-client").Execute()).is(t, 200)
	if len(byName.Tokens) != 1 || byName.Tokens[0].Secret != made.Secret {
		t.Errorf("the tokens named tf-client are %+v, want the one", byName.Tokens)
	}

	done(p.APITokensAPI.DeleteApiToken(t.Context(), made.Secret).Execute()).is(t, 200)
	equal(t, "the deleted token", p.token(t, made.Secret), nil)
	done(p.APITokensAPI.DeleteApiToken(t.Context(), made.Secret).Execute()).isNot(t)

	bare := p.makeToken(t, unleash.NewCreateApiTokenSchemaOneOf("frontend", "tf-bare"))
	equal(t, "a token of which only type and name are said", tokenStateOf(bare), tokenState{"tf-bare", "frontend", "development", "*", []string{"*"}, ""})
	done(p.APITokensAPI.DeleteApiToken(t.Context(), bare.Secret).Execute()).is(t, 200)
}

func (p *provider) makeToken(t *testing.T, body *unleash.CreateApiTokenSchemaOneOf) *unleash.ApiTokenSchema {
	t.Helper()
	request := unleash.CreateApiTokenSchemaOneOfAsCreateApiTokenSchema(body)
	return got(p.APITokensAPI.CreateApiToken(t.Context()).CreateApiTokenSchema(request).Execute()).is(t, 201)
}

// token finds a token as the provider does, by its secret in the list of all. It returns nil if there is none.
func (p *provider) token(t *testing.T, secret string) *tokenState {
	t.Helper()
	list := got(p.APITokensAPI.GetAllApiTokens(t.Context()).Execute()).is(t, 200)
	for _, token := range list.Tokens {
		if token.Secret == secret {
			return ptr(tokenStateOf(&token))
		}
	}
	return nil
}
