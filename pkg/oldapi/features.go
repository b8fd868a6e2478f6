package oldapi

import (
	"net/http"
	"slices"
	"strings"

	"guidon/pkg/events"
	"guidon/pkg/flags"
)

// Features serves flags as such: reading and listing, making, changing, cloning, archiving, switching on and off
// (contract: Projects and flags), favorites and feature types.
func Features() Group {
	const (
		project = "/api/admin/projects/{projectId}"
		list    = project + "/features"
		one     = list + "/{featureName}"
		env     = one + "/environments/{environment}"
		archive = "/api/admin/archive"
	)
	return Group{Name: "features", Operations: slices.Concat([]Operation{
		{"GET " + list, flags.Read, theProject | theEnvironments | activeRows, does(listFeatures).answers(200, featureList{})},
		{"POST " + list, flags.CreateFeature, theProject | theEnvironments, takes(createFeature).answers(201, featureSubset{})},
		{"GET " + one, flags.Read, theProject | theFeature | theEnvironments, does(readFeature).answers(200, featureRecord{})},
		{"PUT " + one, flags.UpdateFeature, theProject | theFeature | theEnvironments, takes(updateFeature).answers(200, featureSubset{})},
		{"PATCH " + one, flags.UpdateFeature, theProject | theFeature | theEnvironments, takes(patchFeature).answers(200, featureSubset{})},
		{"DELETE " + one, flags.DeleteFeature, theProject | theFeature | evenArchived, does(archiveFeature).loading(parentKeys).answers(202)},
		{"POST " + one + "/clone", flags.CreateFeature, theProject | theFeature | theEnvironments, takes(cloneFeature).loading(parentKeys).answers(201, featureSubset{})},
		{"POST " + one + "/changeProject", flags.MoveFeature, theProject | theFeature | theEnvironments, loadingFor(takes(moveFeature),
			func(c *call, in moveBody) []flags.Key { return append(segmentKeys(c), in.keys()...) }).answers(200)},
		{"POST " + one + "/favorites", flags.Read, theProject | theFeature, does(addFavorite).answers(200)},
		{"DELETE " + one + "/favorites", flags.Read, theProject | theFeature, does(removeFavorite).answers(200)},
		{"GET " + env, flags.Read, theProject | theFeature | theEnvironments, does(readFeatureEnvironment).answers(200, featureEnvironmentView{})},
		{"POST " + env + "/on", flags.UpdateFeatureEnvironment, theProject | theFeature | theEnvironments, does(enableFeature).answers(200, featureRecord{})},
		{"POST " + env + "/off", flags.UpdateFeatureEnvironment, theProject | theFeature | theEnvironments, does(disableFeature).answers(200, featureRecord{})},
		{"GET " + archive + "/features/{projectId}", flags.Read, theProject | theEnvironments | archivedRows, does(listArchived).answers(200, archivedList{})},
		{"GET " + archive + "/features", flags.Read, theEnvironments | archivedRows, surveyingAll(does(listAllArchived).listing(flags.EntityProject)).answers(200, archivedList{})},
		{"POST " + archive + "/revive/{featureName}", flags.UpdateFeature, theFeature | evenArchived, does(reviveFeature).answers(200)},
		{"GET /api/admin/feature-types", flags.Read, 0, does(listFeatureTypes).answers(200, featureTypeList{})},
		{"POST /api/admin/features/validate", flags.Read, 0, loadingFor(takes(validateFeature),
			func(_ *call, in validateFeatureBody) []flags.Key { return in.keys() }).answers(200)},
	}, dependencyOperations(one), lifecycleOperations(one), bulkOperations(project), searchOperations())}
}

func listFeatures(c *call) (decision, error) {
	if err := c.filter(); err != nil {
		return decision{}, err
	}
	c.summaries = pageOf(c.query, c.summaries)
	return ok(featureList{Version: 2, Features: c.rows()})
}

func readFeature(c *call) (decision, error) { return ok(c.record(c.feature)) }

func readFeatureEnvironment(c *call) (decision, error) {
	return ok(environmentOf(c.feature, c.environment))
}

func listArchived(c *call) (decision, error) {
	return ok(archivedList{Version: 2, Features: each(pageOf(c.query, c.summaries), func(s flags.FeatureSummary) archivedFeature {
		return archivedFeatureOf(s, c.environments)
	})})
}

// listAllArchived lists the archived flags of all projects by name.
func listAllArchived(c *call) (decision, error) {
	all := []archivedFeature{}
	for _, p := range c.projects() {
		environments := p.AvailableEnvironments(c.registry)
		for _, s := range c.survey[p.UID] {
			all = append(all, archivedFeatureOf(s, environments))
		}
	}
	slices.SortFunc(all, func(a, b archivedFeature) int { return strings.Compare(a.Name, b.Name) })
	return ok(archivedList{Version: 2, Features: pageOf(c.query, all)})
}

func archivedFeatureOf(s flags.FeatureSummary, environments []flags.ProjectEnvironment) archivedFeature {
	return archivedFeature{
		metadataOf(s.Name, s.Project, s.Metadata, s.CreatedAt, s.LastSeenAt), true, timestamp(s.ArchivedAt), rowEnvironments(s, environments),
	}
}

func createFeature(c *call, in createFeatureBody) (decision, error) {
	f := flags.NewFeature(c.project, in.Name, in.metadata(), c.caller.Name, c.now)
	d, err := c.makesFeature(f, events.FeatureCreated(f), http.StatusCreated, c.subset(f, nil))
	return created(d, "/api/admin/projects/"+f.Project+"/features", f.Name), err
}

func updateFeature(c *call, in updateFeatureBody) (decision, error) {
	return c.changeMetadata(in.over(c.feature.Metadata))
}

// patchFeature applies a JSON Patch to the flag's metadata. What cannot be changed may be named, and stays; a member
// that the patch removes goes back to what a new flag has.
func patchFeature(c *call, patch metadataPatch) (decision, error) {
	document := patchedFeature{metadataView: metadata(c.feature), Archived: c.feature.Archived, LastSeen: timestampOf(c.feature.LastSeenAt)}
	var in metadataBody
	if err := patchBody(patch).apply(document, &in); err != nil {
		return decision{}, err
	}
	var problems, before flags.Problems
	in.check(c.limits, &problems)
	c.feature.CheckTexts(&before)
	if err := problems.Without(before).Err(); err != nil {
		return decision{}, err
	}
	return c.changeMetadata(in.over(flags.DefaultMetadata()))
}

func (c *call) changeMetadata(m flags.Metadata) (decision, error) {
	f := c.feature.Clone()
	f.Metadata = m
	d, err := c.changesFeature(f, events.FeatureMetadataUpdated(c.feature, f), http.StatusOK, c.subset(f, nil))
	if f.Stale != c.feature.Stale {
		c.also(&d, events.FeatureStale(f))
	}
	return d, err
}

func cloneFeature(c *call, in cloneFeatureBody) (decision, error) {
	f := c.feature.CloneAs(in.Name, in.ReplaceGroupID.or(true), c.registry, c.caller.Name, c.now, c.newID)
	variants := variantViews(f.AllVariants(c.environments))
	answer := c.subset(f, &variants)
	parents, writes := c.parents()
	if _, err := c.feature.Dependency(f.Name); err == nil { // else the new flag would be said to depend on itself
		return decision{}, flags.Errorf(flags.NameExists, "the flag name %q is taken by a flag that %q depends on", f.Name, c.feature.Name)
	}
	for i, d := range c.feature.Dependencies {
		if err := f.SetDependency(parents[i], d); err != nil {
			return decision{}, err
		}
	}
	d, err := c.makesFeature(f, events.FeatureCloned(f, c.feature, c.registry), http.StatusCreated, answer, writes...)
	return created(d, "/api/admin/projects/"+f.Project+"/features", f.Name), err
}

func archiveFeature(c *call) (decision, error) {
	f := c.feature.Clone()
	parents, writes := c.parents()
	if err := f.Archive(c.now, parents...); err != nil {
		return decision{}, err
	}
	d, err := c.changesFeature(f, events.FeatureArchived(c.feature, f, c.caller), http.StatusAccepted, nil, writes...)
	if len(c.feature.Dependencies) > 0 {
		c.also(&d, events.DependenciesRemoved(c.feature))
	}
	return d, err
}

func reviveFeature(c *call) (decision, error) {
	f := c.feature.Clone()
	f.Revive(c.now)
	return c.changesFeature(f, events.FeatureRevived(c.feature, f, c.caller), http.StatusOK, nil)
}

func enableFeature(c *call) (decision, error) {
	f := c.feature.Clone()
	if err := f.Enable(c.environment, c.newID); err != nil {
		return decision{}, err
	}
	return c.switched(f)
}

func disableFeature(c *call) (decision, error) {
	f := c.feature.Clone()
	f.Disable(c.environment)
	return c.switched(f)
}

// switched answers on and off with the flag, whose enabled is that of the environment.
func (c *call) switched(f *flags.Feature) (decision, error) {
	answer := c.record(f)
	answer.Enabled = f.Enabled(c.environment)
	return c.changesFeature(f, events.FeatureSwitched(c.feature, f, c.environment, c.caller), http.StatusOK, answer)
}
