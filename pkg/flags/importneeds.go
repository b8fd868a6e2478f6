package flags

// bringingTakes is what takes which permission, of an import of a flag over what the flag has in the environment. before is
// nil for a new flag.
var bringingTakes = []struct {
	permission Permission
	takes      func(b ImportedFlag, before *Feature, has FeatureEnvironment) bool
}{
	{CreateFeature, func(_ ImportedFlag, before *Feature, _ FeatureEnvironment) bool { return before == nil }},
	{UpdateFeature, func(b ImportedFlag, before *Feature, _ FeatureEnvironment) bool {
		return before != nil || len(b.Tags) > 0
	}},
	{UpdateDependency, func(b ImportedFlag, _ *Feature, _ FeatureEnvironment) bool { return len(b.Parents) > 0 }},
	{UpdateFeatureEnvironment, func(b ImportedFlag, _ *Feature, _ FeatureEnvironment) bool {
		return b.Variants != nil || b.Enabled != nil
	}},
	{UpdateFeatureVariants, func(b ImportedFlag, _ *Feature, has FeatureEnvironment) bool {
		return len(b.Variants)+len(has.Variants) > 0
	}},
	{CreateFeatureStrategy, func(b ImportedFlag, _ *Feature, _ FeatureEnvironment) bool { return len(b.strategies()) > 0 }},
	{DeleteFeatureStrategy, func(_ ImportedFlag, _ *Feature, has FeatureEnvironment) bool { return len(has.Strategies) > 0 }},
}

// Authorize says whether a caller may have before made what is brought, in env of a project. before is nil for a new flag.
// An import asks it of every flag, and so does the rehearsal that validates the import (see Caller.DryRun).
func (b ImportedFlag) Authorize(before *Feature, project *Project, env ProjectEnvironment, caller Caller) error {
	var has FeatureEnvironment
	if before != nil {
		has = before.In(env)
	}
	for _, need := range bringingTakes {
		if !need.takes(b, before, has) {
			continue
		}
		if err := caller.Authorize(need.permission, project, env.where(need.permission)); err != nil {
			return err
		}
	}
	return nil
}

// where is the environment to ask for a permission with: "" for one that is not held by environment.
func (e ProjectEnvironment) where(p Permission) string {
	if scopeOf(p) == EnvironmentScope {
		return e.Name
	}
	return ""
}
