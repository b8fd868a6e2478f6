package oldapi

import (
	"maps"
	"net/http"
	"slices"
	"strconv"

	"guidon/pkg/events"
	"guidon/pkg/flags"
)

// Projects serves projects and the environments they are made of (contract: Projects and flags).
func Projects() Group {
	const (
		all  = "/api/admin/projects"
		one  = all + "/{projectId}"
		envs = one + "/environments"
		env  = envs + "/{environment}"
	)
	const inProject = theProject | theEnvironments
	return Group{Name: "projects", Operations: slices.Concat(statisticsOperations(), []Operation{
		{"GET " + all, flags.Read, 0, does(listProjects).listing(flags.EntityProject).counting().answers(200, projectList{})},
		{"POST " + all, flags.CreateProject, theEnvironments, loadingFor(takes(createProject), derivedID).listing(flags.EntityProject).answers(201, createdProject{})},
		{"GET " + one, flags.Read, inProject | activeRows, does(readProject).answers(200, projectOverview{})},
		{"GET " + one + "/overview", flags.Read, inProject | activeRows, does(readProjectSummary).answers(200, projectSummary{})},
		{"GET " + one + "/health-report", flags.Read, inProject | activeRows, does(readHealthReport).answers(200, healthReport{})},
		{"POST " + one + "/favorites", flags.Read, theProject, does(addFavoriteProject).answers(200)},
		{"DELETE " + one + "/favorites", flags.Read, theProject, does(removeFavoriteProject).answers(200)},
		{"PUT " + one, flags.UpdateProject, theProject, takes(updateProject).listing(flags.EntityProject).answers(200)},
		{"PUT " + one + "/settings", flags.UpdateProject, theProject, takes(updateSettings).listing(flags.EntityProject).answers(200)},
		{"DELETE " + one, flags.DeleteProject, theProject, does(deleteProject).answers(200)},
		{"POST " + envs, flags.UpdateProject, inProject | theStrategyTypes, loadingFor(takes(attachEnvironment), attachedSegmentKeys).answers(200)},
		{"DELETE " + env, flags.UpdateProject, inProject, does(detachEnvironment).answers(200)},
		{"POST " + env + "/default-strategy", flags.UpdateProject, inProject | theStrategyTypes, loadingFor(takes(setDefaultStrategy), newSegmentKeys).answers(200, defaultStrategyView{})},
		{"GET " + one + "/change-requests/config", flags.Read, theProject, does(readChangeRequests).answers(200, []struct{}{})},
		{"PUT " + env + "/change-requests/config", flags.UpdateProject, inProject, takes(configureChangeRequests).answers(204)},
	})}
}

func listProjects(c *call) (decision, error) {
	return ok(projectList{Version: 1, Projects: each(pageOf(c.query, c.projects()), func(p *flags.Project) projectRow {
		n := c.count[p.UID]
		return projectRow{
			ID: p.ID, describedProject: describedProjectOf(p), Health: flags.Health(n.active, n.stale),
			FeatureCount: n.active, StaleFeatureCount: n.stale, MemberCount: p.MemberCount(),
			Favorite: p.IsFavoriteOf(c.caller),
		}
	})})
}

func readProject(c *call) (decision, error) {
	return ok(projectOverview{projectCore: c.projectCore(), Features: c.rows()})
}

// projectCore is what all reads of a project say of it.
func (c *call) projectCore() projectCore {
	return projectCore{
		Version: 1, projectView: projectViewOf(c.project), Description: c.project.Description,
		Health: flags.Health(len(c.summaries), c.stale()), Members: c.project.MemberCount(), Favorite: c.project.IsFavoriteOf(c.caller),
		Stats:        projectStatsOf(c.summaries, c.now),
		Environments: each(c.environments, attachedViewOf),
	}
}

// stale is the number of stale flags among the listed ones.
func (c *call) stale() int {
	return count(c.summaries, func(s flags.FeatureSummary) bool { return s.Stale })
}

// readProjectSummary counts the project's flags by type, where readProject lists them.
func readProjectSummary(c *call) (decision, error) {
	byType := map[flags.FeatureType]int{}
	for _, s := range c.summaries {
		byType[s.Type]++
	}
	summary := projectSummary{projectCore: c.projectCore(), Types: []featureTypeCount{}}
	for _, kind := range slices.Sorted(maps.Keys(byType)) {
		summary.Types = append(summary.Types, featureTypeCount{kind, byType[kind]})
	}
	return ok(summary)
}

func readHealthReport(c *call) (decision, error) {
	stale := c.stale()
	return ok(healthReport{projectCore: c.projectCore(), Features: c.rows(), Active: len(c.summaries) - stale, Stale: stale})
}

// derivedID asks whether the id that a project's name suggests is taken, where its maker gives none.
func derivedID(_ *call, in createProjectBody) []flags.Key {
	if in.ID.Value != "" {
		return nil
	}
	return []flags.Key{flags.ProjectKey(flags.DeriveID(in.Name.Value))}
}

// projectID is the id for a new project, and whether it was derived from the name.
func (c *call) projectID(in createProjectBody) (id string, derived bool) {
	if in.ID.Value != "" {
		return in.ID.Value, false
	}
	id = flags.DeriveID(in.Name.Value)
	if len(c.more) > 0 { // somebody has it
		id += "-" + flags.ShortID(c.newID())
	}
	return id, true
}

func createProject(c *call, in createProjectBody) (decision, error) {
	id, derived := c.projectID(in)
	p := &flags.Project{
		ID: id, UID: flags.ProjectUID(c.newID()), Name: in.Name.or(id), Settings: in.over(flags.DefaultSettings()), CreatedAt: c.now, UpdatedAt: c.now,
	}
	if text := in.Description.Value; text != nil {
		p.Description = *text
	}
	if err := c.attachFirst(p, in.Environments); err != nil {
		return decision{}, err
	}
	if err := flags.CheckListSize(c.lists[flags.EntityProject], nil, p); err != nil {
		return decision{}, err
	}
	writes := []flags.Write{{After: p}}
	if user := c.caller.User; user != nil { // whoever makes a project owns it
		owner := user.Clone()
		p.SetRoles(owner, []int64{flags.RoleOwner})
		writes = append(writes, flags.Write{Before: user, After: owner})
	}
	answer := createdProject{ID: p.ID, describedProject: describedProjectOf(p), ChangeRequests: []string{},
		Environments: each(p.AvailableEnvironments(c.registry), func(e flags.ProjectEnvironment) string { return e.Name })}
	d, err := c.changesAll(writes, events.ProjectCreated(p, c.registry), http.StatusCreated, answer)
	d.derived = derived
	return created(d, "/api/admin/projects", p.ID), err
}

// attachFirst gives a new project its environments: those of names, or all that are enabled if none are given.
func (c *call) attachFirst(p *flags.Project, names maybe[[]string]) error {
	var problems flags.Problems
	for i, name := range names.Value {
		if c.registry.Find(name) == nil {
			problems.Add("/environments/"+strconv.Itoa(i), "there is no environment %q", name)
		}
	}
	if err := problems.Err(); err != nil {
		return err
	}
	for _, env := range c.registry.List {
		if !names.Set && env.Enabled || slices.Contains(names.Value, env.Name) {
			if err := p.Attach(env, flags.ShortID(c.newID())); err != nil {
				return err
			}
		}
	}
	return nil
}

func updateProject(c *call, in updateProjectBody) (decision, error) {
	p := c.project.Clone()
	p.Name = in.Name.or(p.Name)
	if in.Description.Set {
		p.Description = ""
		if text := in.Description.Value; text != nil {
			p.Description = *text
		}
	}
	p.Settings = in.over(p.Settings)
	return c.revises(p)
}

func updateSettings(c *call, in settingsBody) (decision, error) {
	p := c.project.Clone()
	p.Settings = in.over(p.Settings)
	return c.revises(p)
}

// revises is a decision that replaces the project by what somebody now says of it.
func (c *call) revises(p *flags.Project) (decision, error) {
	if err := flags.CheckListSize(c.lists[flags.EntityProject], c.project, p); err != nil {
		return decision{}, err
	}
	p.MarkUpdated(c.project, c.now)
	return c.changesProject(p, events.ProjectUpdated(c.project, p), nil)
}

// changesProject is a decision that replaces the project of the call by p.
func (c *call) changesProject(p *flags.Project, event flags.Event, body any) (decision, error) {
	return c.changes(c.project, p, event, http.StatusOK, body)
}

// deleteProject takes a project away with its members, environments and tokens: they belong to its UID, which no other
// project will have. Its archived flags stay, and with them their names. Users keep its id among those of their
// projects, where it means nothing: what a user may do is said by the project alone.
func deleteProject(c *call) (decision, error) {
	if err := c.project.CheckDeletable(); err != nil {
		return decision{}, err
	}
	return c.changes(c.project, nil, events.ProjectDeleted(c.project), http.StatusOK, nil)
}
