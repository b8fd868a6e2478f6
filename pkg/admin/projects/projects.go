// Package projects has the operations on projects, their environments, the environments of the service, and statistics.
package projects

import (
	"maps"
	"net/http"
	"slices"
	"strconv"

	"guidon/pkg/access"
	"guidon/pkg/admin/wire"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/shape"
)

// Projects is the group of projects, their environments (contract: Projects and flags) and statistics.
func Projects() httpapi.Group {
	const (
		all  = "/api/admin/projects"
		one  = all + "/{projectId}"
		envs = one + "/environments"
		env  = envs + "/{environment}"
	)
	environments := []flags.Key{flags.EnvironmentsKey()}
	favorites := []flags.Key{httpapi.CallersFavorites}
	shown := slices.Concat(environments, favorites)
	strategyTypes := []flags.Key{flags.EnvironmentsKey(), flags.StrategyTypesKey()}
	return httpapi.Group{Name: "projects", Function: "projects", Operations: slices.Concat(statisticsOperations(), projectFreezeOperations(), []httpapi.Operation{
		{Route: "GET " + all, Permission: access.Read, Ahead: favorites, Handle: httpapi.Handle(listProjects)},
		{Route: "POST " + all, Permission: access.CreateProject, Ahead: environments, Status: http.StatusCreated, Handle: httpapi.HandleBody(createProject)},
		{Route: "GET " + one, Permission: access.Read, Ahead: shown, Handle: httpapi.Handle(readProject)},
		{Route: "GET " + one + "/overview", Permission: access.Read, Ahead: shown, Handle: httpapi.Handle(readProjectSummary)},
		{Route: "GET " + one + "/health-report", Permission: access.Read, Ahead: shown, Handle: httpapi.Handle(readHealthReport)},
		{Route: "GET " + one + "/insights", Permission: access.Read, Handle: httpapi.Handle(readInsights)},
		{Route: "POST " + one + "/favorites", Permission: access.Read, Ahead: favorites, Handle: httpapi.Do(addFavorite)},
		{Route: "DELETE " + one + "/favorites", Permission: access.Read, Ahead: favorites, Handle: httpapi.Do(removeFavorite)},
		{Route: "PUT " + one, Permission: access.UpdateProject, Handle: httpapi.DoBody(updateProject)},
		{Route: "PUT " + one + "/settings", Permission: access.UpdateProject, Handle: httpapi.DoBody(updateSettings)},
		{Route: "DELETE " + one, Permission: access.DeleteProject, Ahead: environments, Handle: httpapi.Do(deleteProject)},
		{Route: "POST " + envs, Permission: access.UpdateProject, Ahead: strategyTypes, Handle: httpapi.DoBody(attachEnvironment)},
		{Route: "DELETE " + env, Permission: access.UpdateProject, Ahead: environments, Handle: httpapi.Do(detachEnvironment)},
		{Route: "POST " + env + "/default-strategy", Permission: access.UpdateProject, Ahead: strategyTypes, Handle: httpapi.HandleBody(setDefaultStrategy)},
		{Route: "GET " + one + "/change-requests/config", Permission: access.Read, Ahead: environments, Handle: httpapi.Handle(readReviews)},
		{Route: "PUT " + env + "/change-requests/config", Permission: access.ChangeRequestWrite, Ahead: environments, Status: http.StatusNoContent,
			Handle: httpapi.DoBody(configureReviews)},
	})}
}

func listProjects(tx *httpapi.Tx, _ httpapi.InService) (projectList, error) {
	page := httpapi.PageOf(tx.Query(), tx.Projects())
	counts, favorites := tx.CountsOf(page), tx.Favorites()
	return projectList{Version: 1, Projects: httpapi.Each(page, func(p *flags.Project) projectRow {
		n := counts[p.UID]
		return projectRow{
			ID: p.ID, DescribedProject: shape.DescribedProjectOf(p), Health: flags.Health(n.Active, n.Stale),
			FeatureCount: n.Active, StaleFeatureCount: n.Stale, MemberCount: p.MemberCount(), Favorite: favorites.HasProject(p),
		}
	})}, nil
}

func readProject(tx *httpapi.Tx, at httpapi.InProject) (projectOverview, error) {
	p := at.Project(tx)
	active, err := wholeList(tx, p)
	if err != nil {
		return projectOverview{}, err
	}
	return projectOverview{projectCore: projectCoreOf(tx, p, flags.CountFlags(active)), Features: featureRows(tx, p, active)}, nil
}

// readProjectSummary reads what is counted of the flags of a project, where readProject lists them.
func readProjectSummary(tx *httpapi.Tx, at httpapi.InProject) (projectSummary, error) {
	p := at.Project(tx)
	counts := tx.CountsOf([]*flags.Project{p})[p.UID]
	return projectSummary{projectCore: projectCoreOf(tx, p, counts), Types: typeCountsOf(counts), Owners: ownersOf(tx, p)}, nil
}

// typeCountsOf returns how many flags there are of each type, by type.
func typeCountsOf(all flags.FlagCounts) []featureTypeCount {
	counts := []featureTypeCount{}
	for _, kind := range slices.Sorted(maps.Keys(all.Types)) {
		if n := all.Types[kind]; n > 0 {
			counts = append(counts, featureTypeCount{kind, n})
		}
	}
	return counts
}

func readHealthReport(tx *httpapi.Tx, at httpapi.InProject) (healthReport, error) {
	p := at.Project(tx)
	active, err := wholeList(tx, p)
	if err != nil {
		return healthReport{}, err
	}
	counts := flags.CountFlags(active)
	return healthReport{
		projectCore: projectCoreOf(tx, p, counts), Features: featureRows(tx, p, active), Active: counts.Active - counts.Stale, Stale: counts.Stale,
	}, nil
}

func createProject(tx *httpapi.Tx, _ httpapi.InService, in createProjectBody) (shape.CreatedProject, error) {
	registry := tx.Environments()
	environments, err := in.chooseEnvironments(registry)
	if err != nil {
		return shape.CreatedProject{}, err
	}
	id := chooseProjectID(tx, in)
	p := &flags.Project{
		ID: id, UID: flags.ProjectUID(tx.NewID()), Name: in.Name.Or(id), Description: wire.TextOver(in.Description, ""),
		Settings: in.applyTo(flags.DefaultSettings()), CreatedAt: tx.Now, UpdatedAt: tx.Now,
	}
	for _, env := range environments {
		if err := p.Attach(env, flags.ShortID(tx.NewID())); err != nil {
			return shape.CreatedProject{}, err
		}
		if env.RequiredApprovals > 0 {
			if err := setReview(tx, p, env, true, 0); err != nil {
				return shape.CreatedProject{}, err
			}
		}
	}
	if err := in.setReviews(tx, p); err != nil {
		return shape.CreatedProject{}, err
	}
	if err := wire.CheckListSize(tx, p); err != nil {
		return shape.CreatedProject{}, err
	}
	saved := withRegistry(tx, p)
	if tx.Caller.User != nil { // a user owns the projects that the user creates
		owner := tx.User(tx.Caller.User.ID)
		owner.SetRoles(p, []int64{access.RoleOwner})
		saved = append(saved, owner)
	}
	tx.Save(events.ProjectCreated(p, registry), saved...)
	tx.Created("/api/admin/projects", p.ID)
	return shape.CreatedProjectOf(p, registry), nil
}

// chooseProjectID returns the id of the body, or else one derived from the name. A derived id that is taken gets a suffix.
func chooseProjectID(tx *httpapi.Tx, in createProjectBody) string {
	if in.ID.Value != "" {
		return in.ID.Value
	}
	tx.RetryNameExists()
	id := flags.DeriveID(in.Name.Value)
	if tx.FindProject(id) != nil {
		id += "-" + flags.ShortID(tx.NewID())
	}
	return id
}

// chooseEnvironments returns the environments that the body names, or all enabled ones if it names none. Invalid if one does
// not exist.
func (b createProjectBody) chooseEnvironments(registry *flags.Environments) ([]flags.Environment, error) {
	var problems flags.Problems
	for i, name := range b.Environments.Value {
		if registry.Find(name) == nil {
			problems.Add("/environments/"+strconv.Itoa(i), "there is no environment %q", name)
		}
	}
	var chosen []flags.Environment
	for _, env := range registry.List {
		if !b.Environments.Set && env.Enabled || slices.Contains(b.Environments.Value, env.Name) {
			chosen = append(chosen, env)
		}
	}
	return chosen, problems.Err()
}

func updateProject(tx *httpapi.Tx, at httpapi.InProject, in updateProjectBody) error {
	p := at.Project(tx)
	p.Name = in.Name.Or(p.Name)
	p.Description = wire.TextOver(in.Description, p.Description)
	p.Settings = in.applyTo(p.Settings)
	return saveUpdated(tx, p)
}

func updateSettings(tx *httpapi.Tx, at httpapi.InProject, in settingsBody) error {
	p := at.Project(tx)
	p.Settings = in.applyTo(p.Settings)
	return saveUpdated(tx, p)
}

// saveUpdated saves a project whose name, description or settings may have changed.
func saveUpdated(tx *httpapi.Tx, p *flags.Project) error {
	if err := wire.CheckListSize(tx, p); err != nil {
		return err
	}
	before := httpapi.Was(tx, p)
	p.MarkUpdated(before, tx.Now)
	tx.Save(events.ProjectUpdated(before, p), p)
	return nil
}

// deleteProject deletes a project with its members, environments and tokens: they refer to its UID, which is never used
// again. Its archived flags stay, and so their names stay taken. Users keep its id in their list of projects, where it has no
// effect, because the project alone says which roles its members have.
func deleteProject(tx *httpapi.Tx, at httpapi.InProject) error {
	p := at.Project(tx)
	if err := p.CheckDeletable(); err != nil {
		return err
	}
	tx.Delete(events.ProjectDeleted(p), p)
	references := flags.CodeReferencesKey(p.ID)
	var signals []flags.Key
	for _, attachment := range p.Environments {
		signals = append(signals, flags.SignalsKey(attachment.ID))
	}
	tx.Load(append(signals, references)...)
	deleteSignals(tx, signals...)
	if stored := httpapi.Find[*flags.CodeReferences](tx, references); stored != nil {
		tx.AlsoDelete(stored)
	}
	return nil
}

func addFavorite(tx *httpapi.Tx, at httpapi.InProject) error { return setFavorite(tx, at, true) }

func removeFavorite(tx *httpapi.Tx, at httpapi.InProject) error { return setFavorite(tx, at, false) }

// setFavorite changes a favorite of the caller. Reading the project is enough permission, because favorites are the caller's
// own. Setting what is set changes nothing.
func setFavorite(tx *httpapi.Tx, at httpapi.InProject, favorite bool) error {
	p, favorites := at.Project(tx), tx.Favorites()
	if err := favorites.SetProject(p, favorite); err != nil {
		return err
	}
	tx.SaveFavorites(favorites)
	return nil
}
