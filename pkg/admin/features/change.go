package features

import (
	"reflect"
	"strconv"
	"time"

	"guidon/pkg/admin/wire"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
	"guidon/pkg/shape"
)

func createFeature(tx *httpapi.Tx, at httpapi.InProject, in createFeatureBody) (featureSubset, error) {
	p := at.Project(tx)
	f := flags.NewFeature(p, in.Name, in.metadata(), tx.Caller.Name, tx.Now)
	created := events.FeatureCreated(f)
	if len(in.Tags.Value) == 0 {
		tx.Save(created, f)
	} else {
		untagged, tags := f.Clone(), httpapi.Each(in.Tags.Value, wire.TagBody.Tag)
		if err := checkTagTypes(tx, tags); err != nil {
			return featureSubset{}, err
		}
		if err := f.ChangeTags(tags, nil, tx.Limits); err != nil {
			return featureSubset{}, err
		}
		tx.Save(created, f)
		tx.Save(events.FeatureTagsChanged(untagged, f, tags))
	}
	tx.Created("/api/admin/projects/"+f.Project+"/features", f.Name)
	return subset(f, tx.ProjectEnvironments(p), nil), nil
}

// checkTagTypes returns Invalid if tags in a body have a type that does not exist.
func checkTagTypes(tx *httpapi.Tx, tags []flags.Tag) error {
	var problems flags.Problems
	for i, tag := range tags {
		if !tx.TagTypes().Has(tag.Type) {
			problems.Add("/tags/"+strconv.Itoa(i)+"/type", "there is no tag type %q", jsonbody.Shorten(tag.Type))
		}
	}
	return problems.Err()
}

func updateFeature(tx *httpapi.Tx, at httpapi.InFeature, in updateFeatureBody) (featureSubset, error) {
	if in.Name.Set && in.Name.Value != at.FeatureName {
		return featureSubset{}, flags.Problems{{Path: "/name", Message: "must be the name in the path, or be omitted: a flag cannot be renamed"}}.Err()
	}
	f := at.Feature(tx)
	saveMetadata(tx, f, in.ApplyTo(f.Metadata))
	return subset(f, tx.ProjectEnvironments(at.Project(tx)), nil), nil
}

// patchFeature applies a JSON Patch to the metadata of the flag. A field
// that the patch removes gets the value that it has in a new flag.
func patchFeature(tx *httpapi.Tx, at httpapi.InFeature, patch metadataPatch) (featureSubset, error) {
	f := at.Feature(tx)
	var in wire.MetadataBody
	if err := jsonbody.Patch(patch).Apply(patchedFeatureOf(f), &in); err != nil {
		return featureSubset{}, err
	}
	var problems, before flags.Problems
	in.Check(tx.Limits, &problems)
	f.CheckTexts(&before)
	if err := problems.Without(before).Err(); err != nil {
		return featureSubset{}, err
	}
	saveMetadata(tx, f, in.ApplyTo(flags.DefaultMetadata()))
	return subset(f, tx.ProjectEnvironments(at.Project(tx)), nil), nil
}

// saveMetadata saves a flag with other metadata. Whether it is stale has an event of its own; what else changed has another.
func saveMetadata(tx *httpapi.Tx, f *flags.Feature, m flags.Metadata) {
	before := httpapi.Was(tx, f).Clone()
	f.Metadata = m
	if f.Stale == before.Stale {
		tx.Save(events.FeatureMetadataUpdated(before, f), f)
		return
	}
	tx.Save(events.FeatureStale(f), f)
	before.Stale = f.Stale
	if !reflect.DeepEqual(f.Metadata, before.Metadata) {
		tx.Save(events.FeatureMetadataUpdated(before, f))
	}
}

func cloneFeature(tx *httpapi.Tx, at httpapi.InFeature, in cloneFeatureBody) (featureSubset, error) {
	p := at.Project(tx)
	original := tx.FeatureOf(p, at.FeatureName)
	f := original.CloneAs(in.Name, in.ReplaceGroupID.Or(true), tx.Environments(), tx.Caller.Name, tx.Now, tx.NewID)
	if _, err := original.Dependency(f.Name); err == nil { // the clone would depend on itself
		return featureSubset{}, flags.Errorf(flags.NameExists, "the flag name %q is taken by a flag that %q depends on", f.Name, original.Name)
	}
	parents := parentsOf(tx, original)
	for i, d := range original.Dependencies {
		if err := f.SetDependency(parents[i], d, tx.ProjectEnvironments(p)); err != nil {
			return featureSubset{}, err
		}
	}
	tx.Save(events.FeatureCloned(f, original, tx.Environments()), append([]flags.Aggregate{f}, aggregates(parents)...)...)
	tx.Created("/api/admin/projects/"+f.Project+"/features", f.Name)
	envs := tx.ProjectEnvironments(p)
	variants := shape.Variants(f.AllVariants(envs))
	return subset(f, envs, &variants), nil
}

func archiveFeature(tx *httpapi.Tx, at httpapi.InFeature) error {
	return archiveIn(tx, at.FeatureOrArchived(tx))
}

func archiveIn(tx *httpapi.Tx, f *flags.Feature) error {
	parents := parentsOf(tx, f)
	if err := f.Archive(tx.Now, parents...); err != nil {
		return err
	}
	before := httpapi.Was(tx, f)
	tx.Save(events.FeatureArchived(before, f), append([]flags.Aggregate{f}, aggregates(parents)...)...)
	if len(before.Dependencies) > 0 {
		tx.Save(events.DependenciesRemoved(before))
	}
	return nil
}

func reviveFeature(tx *httpapi.Tx, at httpapi.InFeatureAlone) error {
	return reviveIn(tx, at.FeatureOrArchived(tx))
}

func reviveIn(tx *httpapi.Tx, f *flags.Feature) error {
	f.Revive(tx.Now)
	tx.Save(events.FeatureRevived(httpapi.Was(tx, f), f), f)
	return nil
}

func enableFeature(tx *httpapi.Tx, at httpapi.InFeatureEnvironment, in wire.ForceBody) (featureRecord, error) {
	f, env := at.Find(tx)
	if err := enableIn(tx, f, env, in.Force.Value); err != nil {
		return featureRecord{}, err
	}
	return switched(tx, at, f, env), nil
}

func disableFeature(tx *httpapi.Tx, at httpapi.InFeatureEnvironment) (featureRecord, error) {
	f, env := at.Find(tx)
	disableIn(tx, f, env)
	return switched(tx, at, f, env), nil
}

// enableIn switches a flag on. Conflict while the signal of a safeguard of its plan fires, unless force says why it is to be on in spite of that.
func enableIn(tx *httpapi.Tx, f *flags.Feature, env flags.ProjectEnvironment, force string) (err error) {
	before, plan := httpapi.Was(tx, f), f.Plan(env)
	var acknowledged map[string]time.Time
	cause := ""
	if plan != nil && !f.Enabled(env) {
		if acknowledged, cause, err = wire.CheckQuiet(tx, plan, force); err != nil {
			return err
		}
	}
	if err := f.Enable(env, tx.NewID, tx.Now); err != nil {
		return err
	}
	f.Acknowledge(env, acknowledged)
	tx.Save(events.FeatureSwitched(before, f, env), f)
	if plan != nil && plan.Active == 0 || cause != "" {
		tx.Save(events.ReleasePlanProgressed(flags.ReleasePlanStarted, before, f, env, cause))
	}
	return nil
}

func disableIn(tx *httpapi.Tx, f *flags.Feature, env flags.ProjectEnvironment) {
	f.Disable(env)
	tx.Save(events.FeatureSwitched(httpapi.Was(tx, f), f, env), f)
}

// switched is the response of on and off: the flag, enabled as it is in the environment.
func switched(tx *httpapi.Tx, at httpapi.InFeatureEnvironment, f *flags.Feature, env flags.ProjectEnvironment) featureRecord {
	answer := record(tx, f, tx.ProjectEnvironments(at.Project(tx)))
	answer.Enabled = f.Enabled(env)
	return answer
}

// Favorites are an item of the caller, so READ is enough, and the flag does not change. Adding one twice, or removing what is not one,
// changes nothing.

func addFavorite(tx *httpapi.Tx, at httpapi.InFeature) error { return setFavorite(tx, at, true) }

func removeFavorite(tx *httpapi.Tx, at httpapi.InFeature) error { return setFavorite(tx, at, false) }

func setFavorite(tx *httpapi.Tx, at httpapi.InFeature, favorite bool) error {
	f, favorites := at.Feature(tx), tx.Favorites()
	if err := favorites.SetFlag(f, favorite); err != nil {
		return err
	}
	tx.SaveFavorites(favorites)
	return nil
}
