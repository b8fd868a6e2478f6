package flags

// Authorize returns Forbidden if the caller lacks a permission to import the flag into env. existing is the
// stored flag, or nil for a new one. Validating an import calls it too, with Caller.DryRun.
func (b ImportedFlag) Authorize(existing *Feature, project *Project, env ProjectEnvironment, caller Caller) error {
	for _, p := range b.neededPermissions(existing, env) {
		environment := ""
		if scopeOf(p) == EnvironmentScope {
			environment = env.Name
		}
		if err := caller.Authorize(p, project, environment); err != nil {
			return err
		}
	}
	return nil
}

// neededPermissions returns the permissions for importing the flag, in the order in which they are checked.
func (b ImportedFlag) neededPermissions(existing *Feature, env ProjectEnvironment) []Permission {
	var current FeatureEnvironment
	if existing != nil {
		current = existing.In(env)
	}
	var needed []Permission
	need := func(p Permission, condition bool) {
		if condition {
			needed = append(needed, p)
		}
	}
	need(CreateFeature, existing == nil)
	need(UpdateFeature, existing != nil || len(b.Tags) > 0)
	need(UpdateDependency, len(b.Parents) > 0)
	need(UpdateFeatureEnvironment, b.Variants != nil || b.Enabled != nil)
	need(UpdateFeatureVariants, len(b.Variants)+len(current.Variants) > 0)
	need(CreateFeatureStrategy, len(b.effectiveStrategies()) > 0)
	need(DeleteFeatureStrategy, len(current.Strategies) > 0)
	return needed
}
