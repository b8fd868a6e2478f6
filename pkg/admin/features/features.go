// Package features has the operations on flags: read, list, create, change, clone, archive, enable and disable, move,
// dependencies, lifecycle, bulk changes and search (contract: Projects and flags).
package features

import (
	"net/http"
	"slices"
	"strings"

	"guidon/pkg/access"
	"guidon/pkg/admin/wire"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
)

const (
	inProject       = "/api/admin/projects/{projectId}"
	flagsPath       = inProject + "/features"
	flagPath        = flagsPath + "/{featureName}"
	environmentPath = flagPath + "/environments/{environment}"
	archive         = "/api/admin/archive"
)

// environments is loaded ahead by operations that need the environments of a project.
var environments = []flags.Key{flags.EnvironmentsKey()}

// favorites is loaded ahead by operations on the favorites of the caller, and shown by those that return flags, which say whether they are
// favorites.
var (
	favorites = []flags.Key{httpapi.CallersFavorites}
	shown     = []flags.Key{flags.EnvironmentsKey(), httpapi.CallersFavorites}
)

// Group has the operations on flags.
func Group() httpapi.Group {
	return httpapi.Group{Name: "features", Function: "features", Operations: slices.Concat([]httpapi.Operation{
		{Route: "GET " + flagsPath, Permission: access.Read, Ahead: shown, Handle: httpapi.Handle(listFeatures)},
		{Route: "POST " + flagsPath, Permission: access.CreateFeature, Ahead: environments, Status: http.StatusCreated, Handle: httpapi.HandleBody(createFeature)},
		{Route: "GET " + flagPath, Permission: access.Read, Ahead: shown, Handle: httpapi.Handle(readFeature)},
		{Route: "PUT " + flagPath, Permission: access.UpdateFeature, Ahead: shown, Handle: httpapi.HandleBody(updateFeature)},
		{Route: "PATCH " + flagPath, Permission: access.UpdateFeature, Ahead: shown, Handle: httpapi.HandleBody(patchFeature)},
		{Route: "DELETE " + flagPath, Permission: access.DeleteFeature, Ahead: environments, Status: http.StatusAccepted, Handle: httpapi.Do(archiveFeature)},
		{Route: "POST " + flagPath + "/clone", Permission: access.CreateFeature, Ahead: environments, Status: http.StatusCreated, Handle: httpapi.HandleBody(cloneFeature)},
		{Route: "POST " + flagPath + "/changeProject", Permission: access.MoveFeature, Ahead: environments, Handle: httpapi.DoBody(moveFeature)},
		{Route: "POST " + flagPath + "/link", Permission: access.UpdateFeature, Status: http.StatusNoContent, Handle: httpapi.DoBody(addLink)},
		{Route: "PUT " + flagPath + "/link/{linkId}", Permission: access.UpdateFeature, Status: http.StatusNoContent, Handle: httpapi.DoBody(updateLink)},
		{Route: "DELETE " + flagPath + "/link/{linkId}", Permission: access.UpdateFeature, Status: http.StatusNoContent, Handle: httpapi.Do(removeLink)},
		{Route: "POST " + flagPath + "/comments", Permission: access.UpdateFeature, Status: http.StatusNoContent, Handle: httpapi.DoBody(addComment)},
		{Route: "POST " + flagPath + "/favorites", Permission: access.Read, Ahead: favorites, Handle: httpapi.Do(addFavorite)},
		{Route: "DELETE " + flagPath + "/favorites", Permission: access.Read, Ahead: favorites, Handle: httpapi.Do(removeFavorite)},
		{Route: "GET " + environmentPath, Permission: access.Read, Ahead: environments, Handle: httpapi.Handle(readFeatureEnvironment)},
		{Route: "POST " + environmentPath + "/on", Permission: access.UpdateFeatureEnvironment, Ahead: shown, Handle: httpapi.HandleOptional(enableFeature)},
		{Route: "POST " + environmentPath + "/off", Permission: access.UpdateFeatureEnvironment, Ahead: shown, Handle: httpapi.Handle(disableFeature)},
		{Route: "GET " + archive + "/features/{projectId}", Permission: access.Read, Ahead: environments, Handle: httpapi.Handle(listArchived)},
		{Route: "GET " + archive + "/features", Permission: access.Read, Ahead: environments, Handle: httpapi.Handle(listAllArchived)},
		{Route: "POST " + archive + "/revive/{featureName}", Permission: access.UpdateFeature, Handle: httpapi.Do(reviveFeature)},
		{Route: "GET /api/admin/feature-types", Permission: access.Read, Handle: httpapi.Handle(listFeatureTypes)},
		{Route: "POST /api/admin/features/validate", Permission: access.Read, Handle: httpapi.DoBody(validateFeature)},
	}, dependencyOperations(), lifecycleOperations(), bulkOperations(), searchOperations()), Gone: map[string]string{
		"DELETE " + archive + "/{featureName}": neverErased,
		"POST " + inProject + "/delete":        neverErased,
	}}
}

// neverErased is the 404 of the operations of Unleash that erase archived flags.
const neverErased = "archived flags are never erased, and their names stay taken, so that code that still asks for an old name can never get another flag; " +
	"an archived flag can stay where it is, or be revived with POST " + archive + "/revive/{featureName}"

// inPage is the place of a list of a project's flags, with the page that its query requests.
type inPage struct {
	httpapi.InProject
	wire.FlagPage
}

// inServicePage is inPage for a list of the flags of all projects.
type inServicePage struct {
	httpapi.InService
	wire.FlagPage
}

// inList is the place of the list of a project's flags, with what its query asks for.
type inList struct {
	inPage
	tags   []flags.Tag // a flag must have one of them, if there are any
	prefix string      // of the names
}

// Parse reads tag=type:value, or tag[] as PHP clients write it, namePrefix, and the page.
func (at *inList) Parse(r httpapi.Request) error {
	if err := at.inPage.Parse(r); err != nil {
		return err
	}
	query := r.Query()
	at.prefix = query.Get("namePrefix")
	for _, text := range slices.Concat(query.All("tag"), query.All("tag[]")) {
		kind, value, found := strings.Cut(text, ":")
		if !found || kind == "" || value == "" {
			return flags.Errorf(flags.Invalid, "the tag %q in the query must be a type and a value with a colon between them, such as simple:mine", jsonbody.Shorten(text))
		}
		at.tags = append(at.tags, flags.Tag{Type: kind, Value: value})
	}
	return nil
}

func listFeatures(tx *httpapi.Tx, at inList) (featureList, error) {
	p := at.Project(tx)
	envs, favorites := tx.ProjectEnvironments(p), tx.Favorites()
	view := func(s flags.FeatureSummary) listedFeature { return listedFeatureOf(s, envs, favorites) }
	found, err := wire.ListFlags(tx, []*flags.Project{p}, flags.SummaryQuery{Prefix: at.prefix, Tags: at.tags}, at.FlagPage, leastSize(view))
	return featureList{Version: 2, Features: httpapi.Each(found.Flags, view), Next: found.Next}, err
}

// leastSize returns the bytes of JSON that an entry of a list has at least, before its quotes are escaped.
func leastSize[V any](view func(flags.FeatureSummary) V) int {
	return httpapi.JSONSize(view(flags.FeatureSummary{}))
}

func readFeature(tx *httpapi.Tx, at httpapi.InFeature) (featureRecord, error) {
	p := at.Project(tx)
	return record(tx, tx.FeatureOf(p, at.FeatureName), tx.ProjectEnvironments(p)), nil
}

func readFeatureEnvironment(tx *httpapi.Tx, at httpapi.InFeatureEnvironment) (featureEnvironmentView, error) {
	f, env := at.Find(tx)
	return environmentOf(f, env), nil
}

func listArchived(tx *httpapi.Tx, at inPage) (archivedList, error) {
	p := at.Project(tx)
	envs := tx.ProjectEnvironments(p)
	view := func(s flags.FeatureSummary) archivedFeature { return archivedFeatureOf(s, envs) }
	found, err := wire.ListFlags(tx, []*flags.Project{p}, flags.SummaryQuery{Archived: true}, at.FlagPage, leastSize(view))
	return archivedList{Version: 2, Features: httpapi.Each(found.Flags, view), Next: found.Next}, err
}

// listAllArchived lists the archived flags of all projects by name.
func listAllArchived(tx *httpapi.Tx, at inServicePage) (archivedList, error) {
	projects := tx.Projects()
	envs := map[string][]flags.ProjectEnvironment{} // by the id of the project
	for _, p := range projects {
		envs[p.ID] = tx.ProjectEnvironments(p)
	}
	view := func(s flags.FeatureSummary) archivedFeature { return archivedFeatureOf(s, envs[s.Project]) }
	found, err := wire.ListFlags(tx, projects, flags.SummaryQuery{Archived: true}, at.FlagPage, leastSize(view))
	return archivedList{Version: 2, Features: httpapi.Each(found.Flags, view), Next: found.Next}, err
}
