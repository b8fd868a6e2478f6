// Package features has the operations on flags: read, list, create, change, clone, archive, enable and disable, move,
// dependencies, lifecycle, bulk changes and search (contract: Projects and flags).
package features

import (
	"net/http"
	"slices"
	"strings"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
)

const (
	inProject = "/api/admin/projects/{projectId}"
	all       = inProject + "/features"
	one       = all + "/{featureName}"
	env       = one + "/environments/{environment}"
	archive   = "/api/admin/archive"
)

// environments is loaded ahead by operations that need the environments of a project.
var environments = []flags.Key{flags.EnvironmentsKey()}

// Group has the operations on flags.
func Group() httpapi.Group {
	return httpapi.Group{Name: "features", Operations: slices.Concat([]httpapi.Operation{
		{Route: "GET " + all, Permission: flags.Read, Ahead: environments, Handle: httpapi.Handle(listFeatures)},
		{Route: "POST " + all, Permission: flags.CreateFeature, Ahead: environments, Status: http.StatusCreated, Handle: httpapi.HandleBody(createFeature)},
		{Route: "GET " + one, Permission: flags.Read, Ahead: environments, Handle: httpapi.Handle(readFeature)},
		{Route: "PUT " + one, Permission: flags.UpdateFeature, Ahead: environments, Handle: httpapi.HandleBody(updateFeature)},
		{Route: "PATCH " + one, Permission: flags.UpdateFeature, Ahead: environments, Handle: httpapi.HandleBody(patchFeature)},
		{Route: "DELETE " + one, Permission: flags.DeleteFeature, Status: http.StatusAccepted, Handle: httpapi.Do(archiveFeature)},
		{Route: "POST " + one + "/clone", Permission: flags.CreateFeature, Ahead: environments, Status: http.StatusCreated, Handle: httpapi.HandleBody(cloneFeature)},
		{Route: "POST " + one + "/changeProject", Permission: flags.MoveFeature, Ahead: environments, Handle: httpapi.DoBody(moveFeature)},
		{Route: "POST " + one + "/favorites", Permission: flags.Read, Handle: httpapi.Do(addFavorite)},
		{Route: "DELETE " + one + "/favorites", Permission: flags.Read, Handle: httpapi.Do(removeFavorite)},
		{Route: "GET " + env, Permission: flags.Read, Ahead: environments, Handle: httpapi.Handle(readFeatureEnvironment)},
		{Route: "POST " + env + "/on", Permission: flags.UpdateFeatureEnvironment, Ahead: environments, Handle: httpapi.Handle(enableFeature)},
		{Route: "POST " + env + "/off", Permission: flags.UpdateFeatureEnvironment, Ahead: environments, Handle: httpapi.Handle(disableFeature)},
		{Route: "GET " + archive + "/features/{projectId}", Permission: flags.Read, Ahead: environments, Handle: httpapi.Handle(listArchived)},
		{Route: "GET " + archive + "/features", Permission: flags.Read, Ahead: environments, Handle: httpapi.Handle(listAllArchived)},
		{Route: "POST " + archive + "/revive/{featureName}", Permission: flags.UpdateFeature, Handle: httpapi.Do(reviveFeature)},
		{Route: "GET /api/admin/feature-types", Permission: flags.Read, Handle: httpapi.Handle(listFeatureTypes)},
		{Route: "POST /api/admin/features/validate", Permission: flags.Read, Handle: httpapi.DoBody(validateFeature)},
	}, dependencyOperations(), lifecycleOperations(), bulkOperations(), searchOperations())}
}

// inList is the place of the list of a project's flags, with what its query asks for.
type inList struct {
	httpapi.InProject
	tags   []flags.Tag // a flag must have one of them, if there are any
	prefix string      // of the names
}

// Parse reads tag=type:value, or tag[] as PHP clients write it, and namePrefix.
func (at *inList) Parse(r httpapi.Request) error {
	if err := at.InProject.Parse(r); err != nil {
		return err
	}
	query := r.Query()
	at.prefix = query.Get("namePrefix")
	for _, text := range slices.Concat(query["tag"], query["tag[]"]) {
		kind, value, found := strings.Cut(text, ":")
		if !found || kind == "" || value == "" {
			return flags.Errorf(flags.Invalid, "the tag %q in the query must be a type and a value with a colon between them, such as simple:mine", jsonbody.Shorten(text))
		}
		at.tags = append(at.tags, flags.Tag{Type: kind, Value: value})
	}
	return nil
}

func (at *inList) matches(s flags.FeatureSummary) bool {
	tagged := len(at.tags) == 0 || slices.ContainsFunc(s.Tags, func(t flags.Tag) bool { return slices.Contains(at.tags, t) })
	return tagged && strings.HasPrefix(s.Name, at.prefix)
}

func listFeatures(tx *httpapi.Tx, at inList) (featureList, error) {
	p := at.Project(tx)
	envs := tx.ProjectEnvironments(p)
	var rows []flags.FeatureSummary
	for _, s := range tx.Summaries(p) {
		if at.matches(s) {
			rows = append(rows, s)
		}
	}
	return featureList{Version: 2, Features: httpapi.Each(httpapi.PageOf(tx.Query(), rows), func(s flags.FeatureSummary) listedFeature {
		return listedFeatureOf(s, envs, tx.Caller.FavoritesKey())
	})}, nil
}

func readFeature(tx *httpapi.Tx, at httpapi.InFeature) (featureRecord, error) {
	p := at.Project(tx)
	return record(tx, tx.FeatureOf(p, at.FeatureName), tx.ProjectEnvironments(p)), nil
}

func readFeatureEnvironment(tx *httpapi.Tx, at httpapi.InFeatureEnvironment) (featureEnvironmentView, error) {
	f, env := at.Find(tx)
	return environmentOf(f, env), nil
}

func listArchived(tx *httpapi.Tx, at httpapi.InProject) (archivedList, error) {
	p := at.Project(tx)
	envs := tx.ProjectEnvironments(p)
	return archivedList{Version: 2, Features: httpapi.Each(httpapi.PageOf(tx.Query(), tx.ArchivedSummaries(p)), func(s flags.FeatureSummary) archivedFeature {
		return archivedFeatureOf(s, envs)
	})}, nil
}

// listAllArchived lists the archived flags of all projects by name.
func listAllArchived(tx *httpapi.Tx, _ httpapi.InService) (archivedList, error) {
	projects := tx.Projects()
	summaries := tx.SummariesOf(projects, true)
	list := []archivedFeature{}
	for _, p := range projects {
		envs := tx.ProjectEnvironments(p)
		for _, s := range summaries[p.UID] {
			list = append(list, archivedFeatureOf(s, envs))
		}
	}
	slices.SortFunc(list, func(a, b archivedFeature) int { return strings.Compare(a.Name, b.Name) })
	return archivedList{Version: 2, Features: httpapi.PageOf(tx.Query(), list)}, nil
}
