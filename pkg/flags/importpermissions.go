package flags

// importPermissions lists which permission an import of a flag needs, and when. existing is nil for a new flag;
// has is its current configuration in the environment.
var importPermissions = []struct {
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
	{CreateFeatureStrategy, func(b ImportedFlag, _ *Feature, _ FeatureEnvironment) bool { return len(b.effectiveStrategies()) > 0 }},
	{DeleteFeatureStrategy, func(_ ImportedFlag, _ *Feature, has FeatureEnvironment) bool { return len(has.Strategies) > 0 }},
}

// Authorize returns Forbidden if the caller lacks a permission to import the flag into env. existing is the
// stored flag, or nil for a new one. Validating an import calls it too, with Caller.DryRun.
func (b ImportedFlag) Authorize(before *Feature, project *Project, env ProjectEnvironment, caller Caller) error {
	var has FeatureEnvironment
	if before != nil {
		has = before.In(env)
	}
	for _, need := range importPermissions {
		if !need.takes(b, before, has) {
			continue
		}
		if err := caller.Authorize(need.permission, project, env.permissionEnvironment(need.permission)); err != nil {
			return err
		}
	}
	return nil
}

// permissionEnvironment returns the environment to check a permission with: "" unless the permission has
// environment scope.
func (e ProjectEnvironment) permissionEnvironment(p Permission) string {
	if scopeOf(p) == EnvironmentScope {
		return e.Name
	}
	return ""
}
