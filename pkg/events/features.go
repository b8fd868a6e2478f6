package events

import (
	"guidon/pkg/flags"
	"guidon/pkg/shape"
)

// FeatureCreated is the event of a new flag.
func FeatureCreated(f *flags.Feature) flags.Event {
	return ofFeature(flags.FeatureCreated, f, shape.MetadataViewOf(f), nil)
}

// A clonedFeature is everything that a clone has from the start.
type clonedFeature struct {
	shape.MetadataView
	ClonedFrom   string              `json:"clonedFrom"`
	Dependencies []shape.Dependency  `json:"dependencies,omitempty"`
	Environments []clonedEnvironment `json:"environments,omitempty"`
}

// A clonedEnvironment is what a clone has in one environment.
type clonedEnvironment struct {
	Name       string               `json:"name"`
	Strategies []shape.StrategyView `json:"strategies"`
	Variants   []shape.Variant      `json:"variants"`
}

// FeatureCloned is the event of a new flag that is a clone of another. It lists what the clone has in every environment
// of the service, also in those that its project does not have now.
func FeatureCloned(clone, original *flags.Feature, registry *flags.Environments) flags.Event {
	data := clonedFeature{MetadataView: shape.MetadataViewOf(clone), ClonedFrom: original.Name, Dependencies: shape.Dependencies(clone.Dependencies)}
	for _, env := range registry.Sorted() {
		in := flags.ProjectEnvironment{Environment: env}
		if fe := clone.In(in); len(fe.Strategies)+len(fe.Variants) > 0 {
			data.Environments = append(data.Environments, clonedEnvironment{env.Name, shape.StrategyViews(clone, in), shape.Variants(fe.Variants)})
		}
	}
	return ofFeature(flags.FeatureCreated, clone, data, nil)
}

// An importedFeature is a flag with what it has in the environment of the import.
type importedFeature struct {
	shape.MetadataView
	Tags         []shape.Tag          `json:"tags"`
	Links        []shape.LinkView     `json:"links,omitempty"`
	Enabled      bool                 `json:"enabled"`
	Strategies   []shape.StrategyView `json:"strategies"`
	Variants     []shape.Variant      `json:"variants"`
	Dependencies []shape.Dependency   `json:"dependencies"`
}

func importedFeatureOf(f *flags.Feature, env flags.ProjectEnvironment) importedFeature {
	return importedFeature{
		MetadataView: shape.MetadataViewOf(f), Tags: shape.Tags(f.Tags), Links: shape.LinkViews(f.Links), Enabled: f.Enabled(env), Strategies: shape.StrategyViews(f, env),
		Variants: shape.Variants(f.In(env).Variants), Dependencies: shape.Dependencies(f.Dependencies),
	}
}

// FeatureImported is the event of a flag that an import created, or updated if before is not nil.
func FeatureImported(before, after *flags.Feature, env flags.ProjectEnvironment) flags.Event {
	if before == nil {
		return inEnvironment(flags.FeatureCreated, after, env, importedFeatureOf(after, env), nil)
	}
	return inEnvironment(flags.FeatureUpdated, after, env, importedFeatureOf(after, env), importedFeatureOf(before, env))
}

// FeatureMetadataUpdated is the event of a flag whose metadata changed.
func FeatureMetadataUpdated(before, after *flags.Feature) flags.Event {
	return ofFeature(flags.FeatureMetadataUpdated, after, shape.MetadataViewOf(after), shape.MetadataViewOf(before))
}

// staleState tells whether a flag is stale.
type staleState struct {
	Stale bool `json:"stale"`
}

// FeatureStale is the event of a flag that became stale, or is no longer stale.
func FeatureStale(after *flags.Feature) flags.Event {
	kind := flags.FeatureStaleOff
	if after.Stale {
		kind = flags.FeatureStaleOn
	}
	return ofFeature(kind, after, staleState{after.Stale}, staleState{!after.Stale})
}

// featureState is the state of a flag that was archived, revived or switched.
type featureState struct {
	Archived   bool                 `json:"archived"`
	Enabled    *bool                `json:"enabled,omitzero"`
	Strategies []shape.StrategyView `json:"strategies,omitzero"` // in the environment: enabling a flag may add one
}

func stateOf(f *flags.Feature) featureState { return featureState{Archived: f.Archived} }

func stateIn(f *flags.Feature, env flags.ProjectEnvironment) featureState {
	state, enabled := stateOf(f), f.Enabled(env)
	state.Enabled, state.Strategies = &enabled, shape.StrategyViews(f, env)
	return state
}

// FeatureArchived is the event of a flag that was archived.
func FeatureArchived(before, after *flags.Feature) flags.Event {
	return ofFeature(flags.FeatureArchived, after, stateOf(after), stateOf(before))
}

// FeatureRevived is the event of a flag that was revived.
func FeatureRevived(before, after *flags.Feature) flags.Event {
	return ofFeature(flags.FeatureRevived, after, stateOf(after), stateOf(before))
}

// FeatureSwitched is the event of a flag that was enabled or disabled in an environment.
func FeatureSwitched(before, after *flags.Feature, env flags.ProjectEnvironment) flags.Event {
	kind := flags.FeatureEnvironmentDisabled
	if after.Enabled(env) {
		kind = flags.FeatureEnvironmentEnabled
	}
	return inEnvironment(kind, after, env, stateIn(after, env), stateIn(before, env))
}

// A move tells where a flag went.
type move struct {
	NewProject string `json:"newProject"`
	OldProject string `json:"oldProject"`
}

// FeatureMoved is the event of a flag that moved to another project.
func FeatureMoved(before, after *flags.Feature) flags.Event {
	event := ofFeature(flags.FeatureMoved, after, move{NewProject: after.Project, OldProject: before.Project}, nil)
	event.FormerProject = before.Project
	return event
}

// FeatureCompleted is the event of a flag that was marked completed.
func FeatureCompleted(before, after *flags.Feature) flags.Event {
	return ofFeature(flags.FeatureCompleted, after, shape.PhaseViewOf(after.Phase()), shape.PhaseViewOf(before.Phase()))
}

// FeatureUncompleted is the event of a flag that is no longer marked completed.
func FeatureUncompleted(before, after *flags.Feature) flags.Event {
	return ofFeature(flags.FeatureUncompleted, after, shape.PhaseViewOf(after.Phase()), shape.PhaseViewOf(before.Phase()))
}

// FeatureTagged is the event of a flag that got one tag.
func FeatureTagged(f *flags.Feature, tag flags.Tag) flags.Event {
	return ofFeature(flags.FeatureTagged, f, shape.Tag(tag), nil)
}

// FeatureUntagged is the event of a flag that lost one tag.
func FeatureUntagged(f *flags.Feature, tag flags.Tag) flags.Event {
	return ofFeature(flags.FeatureUntagged, f, nil, shape.Tag(tag))
}

// allTags are all tags of a flag.
type allTags struct {
	Tags []shape.Tag `json:"tags"`
}

// FeatureTagsChanged is the event of a flag some of whose tags were added or removed. It has the type of an untagged flag
// if the request added none.
func FeatureTagsChanged(before, after *flags.Feature, added []flags.Tag) flags.Event {
	kind := flags.FeatureTagged
	if len(added) == 0 {
		kind = flags.FeatureUntagged
	}
	return ofFeature(kind, after, allTags{shape.Tags(after.Tags)}, allTags{shape.Tags(before.Tags)})
}

// DependencyAdded is the event of a flag that depends on another one from now on, or depends on it in another way.
func DependencyAdded(before *flags.Feature, d flags.Dependency) flags.Event {
	event := ofFeature(flags.FeatureDependencyAdded, before, shape.Dependency(d), nil)
	if old, err := before.Dependency(d.Feature); err == nil {
		event.PreData = shape.Dependency(old)
	}
	return event
}

// DependencyRemoved is the event of a flag that no longer depends on another one.
func DependencyRemoved(f *flags.Feature, d flags.Dependency) flags.Event {
	return ofFeature(flags.FeatureDependencyRemoved, f, nil, shape.Dependency(d))
}

// allDependencies are all parents of a flag.
type allDependencies struct {
	Dependencies []shape.Dependency `json:"dependencies"`
}

// DependenciesRemoved is the event of a flag that no longer depends on any other.
func DependenciesRemoved(before *flags.Feature) flags.Event {
	return ofFeature(flags.FeatureDependenciesRemoved, before, nil, allDependencies{shape.Dependencies(before.Dependencies)})
}

// VariantsUpdated is the event of a flag whose variants in one environment changed.
func VariantsUpdated(before, after *flags.Feature, env flags.ProjectEnvironment) flags.Event {
	event := VariantsUpdatedIn(before, after, []flags.ProjectEnvironment{env})
	event.Environment = env.Name
	return event
}

// VariantsUpdatedIn is the event of a flag whose variants in several environments changed.
func VariantsUpdatedIn(before, after *flags.Feature, envs []flags.ProjectEnvironment) flags.Event {
	return ofFeature(flags.FeatureVariantsUpdated, after, variantsIn(after, envs), variantsIn(before, envs))
}

// AllVariantsUpdated is the event of a flag that got the same variants in all environments of its project.
func AllVariantsUpdated(before, after *flags.Feature, envs []flags.ProjectEnvironment) flags.Event {
	return ofFeature(flags.FeatureAllVariantsUpdated, after, variantsIn(after, envs), variantsIn(before, envs))
}

// variantsIn are a flag's variants by the names of environments.
func variantsIn(f *flags.Feature, envs []flags.ProjectEnvironment) map[string][]shape.Variant {
	variants := make(map[string][]shape.Variant, len(envs))
	for _, env := range envs {
		variants[env.Name] = shape.Variants(f.In(env).Variants)
	}
	return variants
}

// FeatureLinkAdded is the event of a flag that got a link.
func FeatureLinkAdded(f *flags.Feature, l flags.Link) flags.Event {
	return ofFeature(flags.FeatureLinkAdded, f, shape.LinkViewOf(l), nil)
}

// FeatureLinkUpdated is the event of a flag with a changed link.
func FeatureLinkUpdated(f *flags.Feature, before, after flags.Link) flags.Event {
	return ofFeature(flags.FeatureLinkUpdated, f, shape.LinkViewOf(after), shape.LinkViewOf(before))
}

// FeatureLinkRemoved is the event of a flag that lost a link.
func FeatureLinkRemoved(f *flags.Feature, l flags.Link) flags.Event {
	return ofFeature(flags.FeatureLinkRemoved, f, nil, shape.LinkViewOf(l))
}

// A comment is what someone says about a flag.
type comment struct {
	Text string `json:"text"`
}

// FeatureCommented is the event of a comment on a flag.
func FeatureCommented(f *flags.Feature, text string) flags.Event {
	return ofFeature(flags.FeatureCommented, f, comment{text}, nil)
}
