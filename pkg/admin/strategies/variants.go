package strategies

import (
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"

	"guidon/pkg/access"
	"guidon/pkg/admin/wire"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
	"guidon/pkg/shape"
)

// VariantGroup serves the variants of a flag, in one environment or in several (contract: Variants).
func VariantGroup() httpapi.Group {
	const (
		flag  = "/api/admin/projects/{projectId}/features/{featureName}"
		all   = flag + "/variants"
		batch = flag + "/variants-batch"
		one   = flag + "/environments/{environment}/variants"
	)
	registry := []flags.Key{flags.EnvironmentsKey()}
	return httpapi.Group{Name: "variants", Function: "features", Operations: []httpapi.Operation{
		{Route: "GET " + all, Permission: access.Read, Ahead: registry, Handle: httpapi.Handle(readAllVariants)},
		{Route: "PUT " + all, Permission: access.UpdateFeatureVariants, Ahead: registry, Handle: httpapi.HandleBody(replaceAllVariants)},
		{Route: "PATCH " + all, Permission: access.UpdateFeatureVariants, Ahead: registry, Handle: httpapi.HandleBody(patchAllVariants)},
		{Route: "PUT " + batch, Permission: access.UpdateFeatureVariants, Ahead: registry, Handle: httpapi.HandleBody(replaceVariantsBatch)},
		{Route: "GET " + one, Permission: access.Read, Handle: httpapi.Handle(readVariants)},
		{Route: "PUT " + one, Permission: access.UpdateFeatureVariants, Handle: httpapi.HandleBody(replaceVariants)},
		{Route: "PATCH " + one, Permission: access.UpdateFeatureVariants, Handle: httpapi.HandleBody(patchVariants)},
	}}
}

func readVariants(tx *httpapi.Tx, at httpapi.InFeatureEnvironment) (variantList, error) {
	f, env := at.Find(tx)
	return environmentVariants(f, env), nil
}

// environmentVariants is the response with the variants of one environment.
func environmentVariants(f *flags.Feature, env flags.ProjectEnvironment) variantList {
	return variantList{Version: 1, Variants: shape.Variants(f.In(env).Variants)}
}

func replaceVariants(tx *httpapi.Tx, at httpapi.InFeatureEnvironment, in variantsBody) (variantList, error) {
	f, env := at.Find(tx)
	if err := setVariants(f, in.variants(), env); err != nil {
		return variantList{}, err
	}
	return saveVariants(tx, f, env)
}

func patchVariants(tx *httpapi.Tx, at httpapi.InFeatureEnvironment, patch jsonbody.Patch) (variantList, error) {
	f, env := at.Find(tx)
	if err := applyPatch(patch, f, env); err != nil {
		return variantList{}, err
	}
	return saveVariants(tx, f, env)
}

// saveVariants saves a flag whose variants in an environment were changed.
func saveVariants(tx *httpapi.Tx, f *flags.Feature, env flags.ProjectEnvironment) (variantList, error) {
	before := httpapi.Was(tx, f)
	if err := tx.CheckIfMatch(environmentVariants(before, env), environmentVariants(f, env)); err != nil {
		return variantList{}, err
	}
	tx.Save(events.VariantsUpdated(before, f, env), f)
	return variantsIn(f, env), nil
}

func readAllVariants(tx *httpapi.Tx, at httpapi.InFeature) (variantList, error) {
	f := at.Feature(tx)
	return variantsIn(f, tx.ProjectEnvironments(at.Project(tx))...), nil
}

func replaceAllVariants(tx *httpapi.Tx, at httpapi.InFeature, in variantsBody) (variantList, error) {
	f := at.Feature(tx)
	envs := tx.ProjectEnvironments(at.Project(tx))
	if err := setVariants(f, in.variants(), envs...); err != nil {
		return variantList{}, err
	}
	tx.Save(events.AllVariantsUpdated(httpapi.Was(tx, f), f, envs), f)
	return variantsIn(f, envs...), nil
}

func patchAllVariants(tx *httpapi.Tx, at httpapi.InFeature, patch jsonbody.Patch) (variantList, error) {
	f := at.Feature(tx)
	envs := tx.ProjectEnvironments(at.Project(tx))
	if err := applyPatch(patch, f, envs...); err != nil {
		return variantList{}, err
	}
	tx.Save(events.VariantsUpdatedIn(httpapi.Was(tx, f), f, envs), f)
	return variantsIn(f, envs...), nil
}

// replaceVariantsBatch sets the same variants in the environments that the body names.
func replaceVariantsBatch(tx *httpapi.Tx, at httpapi.InFeature, in variantsBatchBody) (variantList, error) {
	f := at.Feature(tx)
	envs, err := in.find(tx, at.Project(tx))
	if err != nil {
		return variantList{}, err
	}
	if err := setVariants(f, in.Variants.Value.variants(), envs...); err != nil {
		return variantList{}, err
	}
	tx.Save(events.VariantsUpdatedIn(httpapi.Was(tx, f), f, envs), f)
	return variantsIn(f, envs...), nil
}

// setVariants sets the same variants of a flag in each of the environments.
func setVariants(f *flags.Feature, variants []flags.Variant, envs ...flags.ProjectEnvironment) error {
	if err := flags.CheckVariantSizes(len(envs) * flags.VariantsSize(variants)); err != nil {
		return err
	}
	for _, env := range envs {
		f.SetVariants(env, variants)
	}
	return nil
}

// applyPatch applies a patch to the list of variants that a flag has in each of the environments. Problems that a list
// already has are accepted: it may have been saved under other rules.
func applyPatch(patch jsonbody.Patch, f *flags.Feature, envs ...flags.ProjectEnvironment) error {
	if err := checkWork(patch, f, envs); err != nil {
		return err
	}
	size := 0
	for _, env := range envs {
		before := f.In(env).Variants
		var in variantsBody
		if err := patch.Apply(shape.Variants(before), &in); err != nil {
			return err
		}
		var problems, existing flags.Problems
		in.checkAt("", &problems)
		flags.CheckVariants(before, "", &existing)
		if err := problems.Without(existing).Err(); err != nil {
			return err
		}
		after := in.variants()
		size += flags.VariantsSize(after)
		if err := flags.CheckVariantSizes(size); err != nil {
			return err
		}
		f.SetVariants(env, after)
	}
	return nil
}

// checkWork refuses a patch that is too large to be applied in all these environments.
func checkWork(patch jsonbody.Patch, f *flags.Feature, envs []flags.ProjectEnvironment) error {
	lists := make([][]shape.Variant, len(envs))
	for i, env := range envs {
		lists[i] = shape.Variants(f.In(env).Variants)
	}
	all, err := json.Marshal(lists)
	if err != nil {
		return err
	}
	return patch.CheckWork(len(lists), len(all))
}

// A variantsBody is the list of variants in a request.
type variantsBody []wire.VariantBody

func (b variantsBody) variants() []flags.Variant {
	return httpapi.Each(b, wire.VariantBody.Variant)
}

// Check adds the problems of the body.
func (b variantsBody) Check(_ flags.Limits, problems *flags.Problems) { b.checkAt("", problems) }

// checkAt adds the problems of the list, which is at that path of the body.
func (b variantsBody) checkAt(path string, problems *flags.Problems) {
	if !flags.CheckCount(path, "variants", len(b), flags.MaxVariants, problems) {
		return
	}
	for i, v := range b {
		v.CheckMembers(path+"/"+strconv.Itoa(i), problems)
	}
	flags.CheckVariants(b.variants(), path, problems)
}

// A variantsBatchBody sets the same variants in several environments.
type variantsBatchBody struct {
	Environments []string                     `json:"environments"`
	Variants     jsonbody.Maybe[variantsBody] `json:"variants"`
}

// Check adds the problems of the body.
func (b variantsBatchBody) Check(_ flags.Limits, problems *flags.Problems) {
	if len(b.Environments) == 0 {
		problems.Add("/environments", "must name at least one environment")
	}
	if n := len(b.Environments); n > wire.MaxBulk {
		problems.Add("/environments", "must name at most %d environments, names %d; send the others in further requests", wire.MaxBulk, n)
	}
	if !b.Variants.Set {
		problems.Add("/variants", "is required; send [] to remove all variants")
	}
	b.Variants.Value.checkAt("/variants", problems)
}

// find returns the environments that the body names, each once. Invalid when the project does not have one of them.
func (b variantsBatchBody) find(tx *httpapi.Tx, p *flags.Project) ([]flags.ProjectEnvironment, error) {
	envs := make([]flags.ProjectEnvironment, 0, len(b.Environments))
	var problems flags.Problems
	for i, name := range b.Environments {
		if slices.Contains(b.Environments[:i], name) {
			continue
		}
		env, found := tx.FindProjectEnvironment(p, name)
		if !found {
			problems.Add("/environments/"+strconv.Itoa(i), "there is no environment %q in project %q", name, p.ID)
			continue
		}
		envs = append(envs, env)
	}
	return envs, problems.Err()
}

type variantList struct {
	Version  int             `json:"version"`
	Variants []shape.Variant `json:"variants"`
}

// variantsIn returns the variants of a flag in the environments. Of variants with the same name it returns the first.
func variantsIn(f *flags.Feature, envs ...flags.ProjectEnvironment) variantList {
	return variantList{Version: 1, Variants: shape.Variants(f.AllVariants(envs))}
}
