package access

import "guidon/pkg/flags"

// AuthorizeImport returns Forbidden if the caller lacks a permission to import the flag into env. existing is the stored flag, or
// nil for a new one. Validating an import calls it too, with DryRun.
func (c Caller) AuthorizeImport(b flags.ImportedFlag, existing *flags.Feature, project *flags.Project, env flags.ProjectEnvironment) error {
	for _, p := range importPermissions(b, existing, env) {
		environment := ""
		if scopeOf(p) == EnvironmentScope {
			environment = env.Name
		}
		if err := c.Authorize(p, project, environment); err != nil {
			return err
		}
	}
	return nil
}

// importPermissions returns the permissions for importing the flag, in the order in which they are checked.
func importPermissions(b flags.ImportedFlag, existing *flags.Feature, env flags.ProjectEnvironment) []Permission {
	var current flags.FeatureEnvironment
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
	need(CreateFeatureStrategy, len(b.EffectiveStrategies()) > 0)
	need(DeleteFeatureStrategy, len(current.Strategies) > 0)
	return needed
}
