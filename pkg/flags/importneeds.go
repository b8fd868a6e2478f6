package flags

import "slices"

// A bringing is what matters of a flag and what an import says of it to who may import it.
type bringing struct {
	before *Feature // nil for a new flag
	was    FeatureEnvironment
	touch
}

// A touch tells of what an import says something.
type touch struct{ tags, parents, environment, variants, strategies bool }

// bringingTakes is what takes which permission.
var bringingTakes = []struct {
	permission Permission
	takes      func(b bringing) bool
}{
	{CreateFeature, func(b bringing) bool { return b.before == nil }},
	{UpdateFeature, func(b bringing) bool { return b.before != nil || b.tags }},
	{UpdateDependency, func(b bringing) bool { return b.parents }},
	{UpdateFeatureEnvironment, func(b bringing) bool { return b.environment }},
	{UpdateFeatureVariants, func(b bringing) bool { return b.variants || len(b.was.Variants) > 0 }},
	{CreateFeatureStrategy, func(b bringing) bool { return b.strategies }},
	{DeleteFeatureStrategy, func(b bringing) bool { return len(b.was.Strategies) > 0 }},
}

// bring is the bringing of a flag over what is there.
func (t touch) bring(before *Feature, env ProjectEnvironment) bringing {
	b := bringing{before: before, touch: t}
	if before != nil {
		b.was = before.In(env)
	}
	return b
}

// lackingFor are the permissions that bringing flags takes and that the caller does not have.
func (c Caller) lackingFor(all []bringing, project *Project, env ProjectEnvironment) (lacking []Permission) {
	for _, need := range bringingTakes {
		if slices.ContainsFunc(all, need.takes) && !c.May(need.permission, project, env.where(need.permission)) {
			lacking = append(lacking, need.permission)
		}
	}
	return lacking
}

// where is the environment to ask for a permission with: "" for one that is not held by environment.
func (e ProjectEnvironment) where(p Permission) string {
	if scopeOf(p) == EnvironmentScope {
		return e.Name
	}
	return ""
}

// touches is what is brought says something about.
func (b Brought) touches() touch {
	return touch{
		tags: len(b.Tags) > 0, parents: len(b.Parents) > 0, environment: b.Variants != nil || b.Enabled != nil,
		variants: len(b.Variants) > 0, strategies: len(b.Strategies) > 0,
	}
}

// Authorize says whether a caller may have before made what is brought, in env of a project. before is nil for a new flag.
func (b Brought) Authorize(before *Feature, project *Project, env ProjectEnvironment, caller Caller) error {
	lacking := caller.lackingFor([]bringing{b.touches().bring(before, env)}, project, env)
	if len(lacking) == 0 {
		return nil
	}
	return caller.Authorize(lacking[0], project, env.where(lacking[0]))
}

// touches is what the set says something about, by flag.
func (s ImportSet) touches() map[string]touch {
	all := map[string]touch{}
	on := func(name string, change func(t *touch)) {
		t := all[name]
		change(&t)
		all[name] = t
	}
	for _, tag := range s.Tagged {
		on(tag.Feature, func(t *touch) { t.tags = true })
	}
	for _, d := range s.Dependencies {
		on(d.Feature, func(t *touch) { t.parents = t.parents || len(d.Parents) > 0 })
	}
	for _, e := range s.Environments { // of several for one flag, the last is imported
		on(e.Feature, func(t *touch) { t.environment, t.variants = true, e.Variants > 0 })
	}
	for _, st := range s.Strategies {
		on(st.Feature, func(t *touch) { t.strategies = true })
	}
	return all
}

// lacking are the permissions that the import takes in the project and the environment, and that the caller does not have.
func (s ImportSet) lacking(to ImportTarget, sorted fate, caller Caller) []string {
	var all []bringing
	touches := s.touches()
	for _, name := range slices.Concat(sorted.created, sorted.overwritten) {
		all = append(all, touches[name].bring(to.Feature(name), to.Environment))
	}
	lacking := caller.lackingFor(all, to.Project, to.Environment)
	for _, need := range []struct {
		permission Permission
		needed     bool
	}{
		{CreateTagType, len(s.newTagTypes(to)) > 0},
		{CreateContextField, len(s.newContextFields(to)) > 0},
		{CreateSegment, s.makesBeyond(to, caller)},
	} {
		if need.needed && !caller.May(need.permission, nil, "") {
			lacking = append(lacking, need.permission)
		}
	}
	var names []string
	for _, p := range lacking {
		names = append(names, string(p))
	}
	return names
}

// makesBeyond tells whether the import makes a segment that is not the project's own, for who may make those of the project.
func (s ImportSet) makesBeyond(to ImportTarget, caller Caller) bool {
	own := caller.May(UpdateProjectSegment, to.Project, "")
	made := setOf(s.unknownSegments(to, true))
	return slices.ContainsFunc(s.Segments, func(one ImportSegment) bool { return made[one.Name] && one.Whole && (!one.Own || !own) })
}
