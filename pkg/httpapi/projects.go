package httpapi

import (
	"math"
	"net/http"
	"slices"
	"strconv"

	"guidon/pkg/flags"
)

// Projects serves projects and the environments they are made of (contract: Projects and flags).
func Projects() Group {
	const one = "/api/admin/projects/{projectId}"
	return Group{Name: "projects", Operations: []Operation{
		{"POST /api/admin/projects", flags.CreateProject, theEnvironments, takes(createProject)},
		{"GET " + one, flags.Read, theProject | theEnvironments | activeRows, does(readProject)},
		{"POST " + one + "/environments", flags.UpdateProject, theProject | theEnvironments, takes(attachEnvironment)},
	}}
}

// A projectOverview is a project with its flags (contract: Project overview).
type projectOverview struct {
	Version      int               `json:"version"`
	Name         string            `json:"name"`
	Description  string            `json:"description"`
	Health       int               `json:"health"`  // percentage of active flags that are not stale
	Members      int               `json:"members"` // users with a role in the project; users come with a later version
	Environments []environmentName `json:"environments"`
	Features     []featureRow      `json:"features"`
}

type environmentName struct {
	Environment string `json:"environment"`
}

func readProject(c *call) (decision, error) {
	return ok(projectOverview{
		Version: 1, Name: c.project.Name, Description: c.project.Description, Health: health100(c.summaries),
		Environments: each(c.environments, func(e flags.ProjectEnvironment) environmentName { return environmentName{e.Name} }),
		Features:     c.rows(),
	})
}

func health100(summaries []flags.FeatureSummary) int {
	if len(summaries) == 0 {
		return 100
	}
	stale := 0
	for _, s := range summaries {
		if s.Stale {
			stale++
		}
	}
	return int(math.Round(100 * float64(len(summaries)-stale) / float64(len(summaries))))
}

// A createProjectBody makes a project.
type createProjectBody struct {
	ID           string          `json:"id"`
	Name         maybe[string]   `json:"name"`
	Description  maybe[*string]  `json:"description"`
	Environments maybe[[]string] `json:"environments"` // left out: all that are enabled
}

func (b createProjectBody) check(_ flags.Limits, problems *flags.Problems) {
	checkName("/id", b.ID, problems)
	if b.Name.Set && b.Name.Value == "" {
		problems.Add("/name", "must not be empty")
	}
}

// A projectView is a project as its creation answers.
type projectView struct {
	ID           string   `json:"id"`
	Name         string   `json:"name"`
	Description  string   `json:"description"`
	Environments []string `json:"environments"`
}

func createProject(c *call, in createProjectBody) (decision, error) {
	p := &flags.Project{ID: in.ID, UID: flags.ShortID(c.newID()), Name: in.Name.or(in.ID), CreatedAt: c.now}
	if text := in.Description.Value; text != nil {
		p.Description = *text
	}
	var problems flags.Problems
	for i, name := range in.Environments.Value {
		if c.registry.Find(name) == nil {
			problems.Add("/environments/"+strconv.Itoa(i), "there is no environment %q", name)
		}
	}
	if err := problems.Err(); err != nil {
		return decision{}, err
	}
	for _, env := range c.registry.List {
		if !in.Environments.Set && env.Enabled || slices.Contains(in.Environments.Value, env.Name) {
			if err := p.Attach(env, flags.ShortID(c.newID())); err != nil {
				return decision{}, err
			}
		}
	}
	answer := projectView{p.ID, p.Name, p.Description,
		each(p.Available(c.registry), func(e flags.ProjectEnvironment) string { return e.Name })}
	return c.changes(nil, p, flags.Event{Type: flags.ProjectCreated, Project: p.ID, Data: answer}, http.StatusCreated, answer)
}

// An attachEnvironmentBody names the environment to add to a project.
type attachEnvironmentBody struct {
	Environment string `json:"environment"`
}

func (b attachEnvironmentBody) check(_ flags.Limits, problems *flags.Problems) {
	checkName("/environment", b.Environment, problems)
}

func attachEnvironment(c *call, in attachEnvironmentBody) (decision, error) {
	env := c.registry.Find(in.Environment)
	if env == nil {
		return decision{}, flags.Problems{{Path: "/environment", Message: "there is no environment " + strconv.Quote(in.Environment)}}.Err()
	}
	p := c.project.Clone()
	if err := p.Attach(*env, flags.ShortID(c.newID())); err != nil {
		return decision{}, err
	}
	event := flags.Event{Type: flags.ProjectEnvironmentAdded, Project: p.ID, Environment: env.Name}
	return c.changes(c.project, p, event, http.StatusOK, nil)
}
