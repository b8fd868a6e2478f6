package oldapi

import (
	"net/http"
	"strconv"

	"guidon/pkg/events"
	"guidon/pkg/flags"
)

// Environments serves the environments of the service, and those that a project has (contract: Environments).
func Environments() Group {
	const (
		all = "/api/admin/environments"
		one = all + "/{environmentName}"
	)
	return Group{Name: "environments", Operations: []Operation{
		{"GET " + all, flags.Read, theEnvironments, does(listEnvironments).listing(flags.EntityProject, flags.EntityToken).answers(200, environmentList{})},
		{"POST " + all, flags.CreateEnvironment, theEnvironments, takes(createEnvironment).answers(201, environmentView{})},
		{"POST " + all + "/validate", flags.Read, theEnvironments, takes(validateEnvironment).answers(200)},
		{"PUT " + all + "/sort-order", flags.UpdateEnvironment, theEnvironments, takes(orderEnvironments).answers(200)},
		{"PUT " + all + "/update/{environmentName}", flags.UpdateEnvironment, theEnvironments, takes(updateEnvironment).answers(200, environmentView{})},
		{"GET " + all + "/project/{projectId}", flags.Read, theProject | theEnvironments | activeRows,
			does(listProjectEnvironments).listing(flags.EntityToken).answers(200, projectEnvironmentList{})},
		{"GET " + one, flags.Read, theEnvironments, does(readEnvironment).answers(200, environmentView{})},
		{"DELETE " + one, flags.DeleteEnvironment, theEnvironments | theRoles, does(deleteEnvironment).answers(200)},
		{"POST " + one + "/on", flags.UpdateEnvironment, theEnvironments, does(switchEnvironment(true)).answers(204)},
		{"POST " + one + "/off", flags.UpdateEnvironment, theEnvironments, does(switchEnvironment(false)).answers(204)},
	}}
}

func listEnvironments(c *call) (decision, error) {
	all := c.projects()
	projects := make(map[string]*flags.Project, len(all))
	for _, p := range all {
		projects[p.ID] = p
	}
	list := environmentList{Version: 1, Environments: each(c.registry.Sorted(), func(env flags.Environment) countedEnvironment {
		return countedEnvironment{
			environmentView: environmentViewOf(env),
			ProjectCount:    count(all, func(p *flags.Project) bool { return p.HasEnvironment(env) }),
			TokenCount:      c.tokensReaching(env, func(id string) *flags.Project { return projects[id] }),
		}
	})}
	return ok(list)
}

// tokensReaching is the number of listed tokens for SDKs that are good for an environment in one of some projects, which
// project finds by id.
func (c *call) tokensReaching(env flags.Environment, project func(id string) *flags.Project) int {
	return count(c.lists[flags.EntityToken], func(a flags.Aggregate) bool {
		t := a.(*flags.Token)
		if t.Type == flags.AdminToken || t.Expired(c.now) || t.Environment != flags.All && t.Environment != env.Name {
			return false
		}
		reach, good := t.Scope(project, c.registry)
		return good && (reach.All || len(reach.Projects) > 0)
	})
}

// count is the number of those in a list that are so.
func count[A any](list []A, is func(A) bool) int {
	n := 0
	for _, a := range list {
		if is(a) {
			n++
		}
	}
	return n
}

func listProjectEnvironments(c *call) (decision, error) {
	return ok(projectEnvironmentList{Version: 1, Environments: each(c.environments, c.projectEnvironment)})
}

func (c *call) projectEnvironment(env flags.ProjectEnvironment) projectEnvironmentView {
	view := projectEnvironmentView{
		environmentView: environmentViewOf(env.Environment), Visible: true,
		TokenCount:   c.tokensReaching(env.Environment, c.thisProject),
		EnabledCount: count(c.summaries, func(s flags.FeatureSummary) bool { _, enabled := s.In(env); return enabled }),
	}
	if s := env.Attachment.DefaultStrategy; s != nil {
		strategy := defaultStrategyViewOf(*s)
		view.DefaultStrategy = &strategy
	}
	return view
}

// thisProject is the project of the call, if it is asked for by its id.
func (c *call) thisProject(id string) *flags.Project {
	if id == c.project.ID {
		return c.project
	}
	return nil
}

// findEnvironmentByName is the environment of the service that the path names.
func (c *call) findEnvironmentByName() (*flags.Environment, error) {
	return c.registry.Get(c.param(environmentNameParam))
}

func readEnvironment(c *call) (decision, error) {
	env, err := c.findEnvironmentByName()
	if err != nil {
		return decision{}, err
	}
	return ok(environmentViewOf(*env))
}

func createEnvironment(c *call, in createEnvironmentBody) (decision, error) {
	registry := c.registry.Clone()
	env := flags.Environment{
		Name: in.Name, UID: flags.ShortID(c.newID()), Type: in.Type.Value, Enabled: in.Enabled.or(true),
		SortOrder: in.SortOrder.or(registry.NextSortOrder()), CreatedAt: c.now,
	}
	if err := registry.Add(env, c.limits); err != nil {
		return decision{}, err
	}
	d, err := c.changes(c.registry, registry, events.EnvironmentCreated(env), http.StatusCreated, environmentViewOf(env))
	return created(d, "/api/admin/environments", env.Name), err
}

// validateEnvironment tells whether an environment could be made under a name. Here a taken one is a 400: it is what was
// asked about.
func validateEnvironment(c *call, in environmentNameBody) (decision, error) {
	if c.registry.Find(in.Name) != nil {
		return decision{}, flags.Problems{{Path: "/name", Message: "an environment named " + strconv.Quote(in.Name) + " exists already"}}.Err()
	}
	return ok(nil)
}

func updateEnvironment(c *call, in updateEnvironmentBody) (decision, error) {
	return c.changesEnvironment(http.StatusOK, func(env *flags.Environment) any {
		env.Type, env.SortOrder = in.Type.or(env.Type), in.SortOrder.or(env.SortOrder)
		return environmentViewOf(*env)
	})
}

// switchEnvironment makes an environment one that new projects get, or do not get. It is no switch for flags.
func switchEnvironment(on bool) func(c *call) (decision, error) {
	return func(c *call) (decision, error) {
		return c.changesEnvironment(http.StatusNoContent, func(env *flags.Environment) any {
			env.Enabled = on
			return nil
		})
	}
}

// changesEnvironment changes the environment that the path names, and answers with what alter makes of it.
func (c *call) changesEnvironment(status int, alter func(env *flags.Environment) any) (decision, error) {
	before, err := c.findEnvironmentByName()
	if err != nil {
		return decision{}, err
	}
	registry := c.registry.Clone()
	env := registry.Find(before.Name)
	body := alter(env)
	return c.changes(c.registry, registry, events.EnvironmentUpdated(*before, *env), status, body)
}

func orderEnvironments(c *call, in environmentOrderBody) (decision, error) {
	registry := c.registry.Clone()
	if err := registry.SetSortOrders(in); err != nil {
		return decision{}, err
	}
	return c.changes(c.registry, registry, events.EnvironmentsOrdered(c.registry, in), http.StatusOK, nil)
}

// deleteEnvironment takes an environment away everywhere, by changing one item: flags and projects keep what they have
// for it, which nobody sees any more. Roles know environments by name, so that what they hold in this one goes with it.
func deleteEnvironment(c *call) (decision, error) {
	env, err := c.findEnvironmentByName()
	if err != nil {
		return decision{}, err
	}
	registry := c.registry.Clone()
	if err := registry.Remove(env.Name); err != nil {
		return decision{}, err
	}
	roles := c.roles.Clone()
	roles.RemoveEnvironment(env.Name)
	return c.changesAll([]flags.Write{{Before: c.registry, After: registry}, {Before: c.roles, After: roles}}, events.EnvironmentDeleted(*env), http.StatusOK, nil)
}

// A createEnvironmentBody makes an environment.
type createEnvironmentBody struct {
	Name      string        `json:"name"`
	Type      maybe[string] `json:"type"`
	Enabled   maybe[bool]   `json:"enabled"`
	SortOrder maybe[int64]  `json:"sortOrder"`
}

func (b createEnvironmentBody) check(_ flags.Limits, problems *flags.Problems) {
	checkName("/name", b.Name, problems)
	if b.Type.Value == "" {
		problems.Add("/type", "is required, such as development, test, preproduction or production")
	}
	flags.Environment{Type: b.Type.Value}.CheckTexts(problems)
}

// An environmentNameBody asks about a name.
type environmentNameBody struct {
	Name string `json:"name"`
}

func (b environmentNameBody) check(_ flags.Limits, problems *flags.Problems) {
	checkName("/name", b.Name, problems)
}

// An updateEnvironmentBody changes an environment; what it leaves out stays.
type updateEnvironmentBody struct {
	Type      maybe[string] `json:"type"`
	SortOrder maybe[int64]  `json:"sortOrder"`
}

func (b updateEnvironmentBody) check(_ flags.Limits, problems *flags.Problems) {
	if b.Type.Set && b.Type.Value == "" {
		problems.Add("/type", "must not be empty")
	}
	flags.Environment{Type: b.Type.Value}.CheckTexts(problems)
}

// An environmentOrderBody gives environments, by name, their places.
type environmentOrderBody map[string]int64

func (b environmentOrderBody) check(_ flags.Limits, problems *flags.Problems) {
	if n := len(b); n > MaxBulk {
		problems.Add("", "must have at most %d environments, has %d; make several calls of it", MaxBulk, n)
	}
}

// An environmentView is an environment as it is answered.
type environmentView struct {
	Name      string `json:"name"`
	Type      string `json:"type"`
	Enabled   bool   `json:"enabled"` // whether new projects get it
	Protected bool   `json:"protected"`
	SortOrder int64  `json:"sortOrder"`
}

func environmentViewOf(env flags.Environment) environmentView {
	return environmentView{env.Name, env.Type, env.Enabled, env.Protected, env.SortOrder}
}

// A countedEnvironment is an environment in the list of all. How many flags are on in it is not said: that would be one
// query a project.
type countedEnvironment struct {
	environmentView
	ProjectCount int  `json:"projectCount"`
	TokenCount   int  `json:"apiTokenCount"`      // client and frontend tokens that reach it
	EnabledCount *int `json:"enabledToggleCount"` // always null: it would take reading every flag of the service
}

type environmentList struct {
	Version      int                  `json:"version"`
	Environments []countedEnvironment `json:"environments"`
}

// A projectEnvironmentView is an environment as a project has it (contract: Project environment).
type projectEnvironmentView struct {
	environmentView
	TokenCount      int                  `json:"projectApiTokenCount"`
	EnabledCount    int                  `json:"projectEnabledToggleCount"`
	DefaultStrategy *defaultStrategyView `json:"defaultStrategy,omitzero"`
	Visible         bool                 `json:"visible"`
}

type projectEnvironmentList struct {
	Version      int                      `json:"version"`
	Environments []projectEnvironmentView `json:"environments"`
}
