package oldapi

import (
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"

	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/shape"
)

// Variants serves the variants of a flag, in one environment or in all (contract: Variants).
func Variants() Group {
	const (
		all   = "/api/admin/projects/{projectId}/features/{featureName}/variants"
		batch = "/api/admin/projects/{projectId}/features/{featureName}/variants-batch"
		one   = "/api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/variants"
		reads = theProject | theFeature | theEnvironments
	)
	return Group{Name: "variants", Operations: []Operation{
		{"GET " + all, flags.Read, reads, does(readAllVariants).answers(200, variantList{})},
		{"PUT " + all, flags.UpdateFeatureVariants, reads, takes(putAllVariants).answers(200, variantList{})},
		{"PATCH " + all, flags.UpdateFeatureVariants, reads, takes(patchAllVariants).answers(200, variantList{})},
		{"PUT " + batch, flags.UpdateFeatureVariants, reads, takes(putVariantsBatch).answers(200, variantList{})},
		{"GET " + one, flags.Read, reads, does(readVariants).answers(200, variantList{})},
		{"PUT " + one, flags.UpdateFeatureVariants, reads, takes(putVariants).answers(200, variantList{})},
		{"PATCH " + one, flags.UpdateFeatureVariants, reads, takes(patchVariants).answers(200, variantList{})},
	}}
}

func readAllVariants(c *call) (decision, error) {
	return ok(variantList{1, variantViews(c.feature.AllVariants(c.environments))})
}

func readVariants(c *call) (decision, error) {
	return ok(variantList{1, variantViews(c.feature.In(c.environment).Variants)})
}

func putAllVariants(c *call, in variantsBody) (decision, error) {
	f, err := c.withVariants(c.environments, func(flags.ProjectEnvironment) ([]flags.Variant, error) { return in.variants(), nil })
	if err != nil {
		return decision{}, err
	}
	return c.changesVariants(f, c.environments, events.AllVariantsUpdated(c.feature, f, c.environments))
}

func putVariants(c *call, in variantsBody) (decision, error) {
	return c.setVariants(func(flags.ProjectEnvironment) ([]flags.Variant, error) { return in.variants(), nil })
}

func putVariantsBatch(c *call, in variantsBatchBody) (decision, error) {
	envs := make([]flags.ProjectEnvironment, 0, len(in.Environments))
	var problems flags.Problems
	seen := map[string]bool{}
	for i, name := range in.Environments {
		if seen[name] {
			continue
		}
		seen[name] = true
		at := slices.IndexFunc(c.environments, func(env flags.ProjectEnvironment) bool { return env.Name == name })
		if at < 0 {
			problems.Add("/environments/"+strconv.Itoa(i), "there is no environment %q in project %q", name, c.project.ID)
			continue
		}
		envs = append(envs, c.environments[at])
	}
	if err := problems.Err(); err != nil {
		return decision{}, err
	}
	return c.setVariantsIn(envs, func(flags.ProjectEnvironment) ([]flags.Variant, error) { return in.Variants.Value.variants(), nil })
}

func patchAllVariants(c *call, patch patchBody) (decision, error) {
	if err := c.checkPatchOfAll(patch); err != nil {
		return decision{}, err
	}
	return c.setVariantsIn(c.environments, c.patched(patch))
}

func patchVariants(c *call, patch patchBody) (decision, error) {
	return c.setVariants(c.patched(patch))
}

// checkPatchOfAll refuses a patch that is too large to be applied to the variants of every environment.
func (c *call) checkPatchOfAll(patch patchBody) error {
	documents := make([][]variantView, len(c.environments))
	for i, env := range c.environments {
		documents[i] = variantViews(c.feature.In(env).Variants)
	}
	all, err := json.Marshal(documents)
	if err != nil {
		return err
	}
	return patch.checkWork(len(documents), len(all))
}

// patched applies a JSON Patch to the list of variants that an environment has.
func (c *call) patched(patch patchBody) func(flags.ProjectEnvironment) ([]flags.Variant, error) {
	return func(env flags.ProjectEnvironment) ([]flags.Variant, error) {
		var in variantsBody
		if err := patch.apply(variantViews(c.feature.In(env).Variants), &in); err != nil {
			return nil, err
		}
		var problems, before flags.Problems
		in.check(c.limits, &problems)
		flags.CheckVariants(c.feature.In(env).Variants, "", &before)
		return in.variants(), problems.Without(before).Err()
	}
}

// setVariants sets the flag's variants in the environment of the path.
func (c *call) setVariants(of func(flags.ProjectEnvironment) ([]flags.Variant, error)) (decision, error) {
	envs := []flags.ProjectEnvironment{c.environment}
	f, err := c.withVariants(envs, of)
	if err != nil {
		return decision{}, err
	}
	return c.changesVariants(f, envs, events.VariantsUpdated(c.feature, f, c.environment))
}

// setVariantsIn sets the flag's variants in several environments.
func (c *call) setVariantsIn(envs []flags.ProjectEnvironment, of func(flags.ProjectEnvironment) ([]flags.Variant, error)) (decision, error) {
	f, err := c.withVariants(envs, of)
	if err != nil {
		return decision{}, err
	}
	return c.changesVariants(f, envs, events.VariantsUpdatedIn(c.feature, f, envs))
}

// withVariants is the flag with the variants that of returns, in each of envs.
func (c *call) withVariants(envs []flags.ProjectEnvironment, of func(flags.ProjectEnvironment) ([]flags.Variant, error)) (*flags.Feature, error) {
	f := c.feature.Clone()
	size := 0
	for _, env := range envs {
		variants, err := of(env)
		if err != nil {
			return nil, err
		}
		size += flags.VariantsSize(variants)
		if err := flags.CheckVariantSizes(size); err != nil {
			return nil, err
		}
		f.SetVariants(env, variants)
	}
	return f, nil
}

// changesVariants is a decision that replaces the flag by f, and answers with its variants in envs.
func (c *call) changesVariants(f *flags.Feature, envs []flags.ProjectEnvironment, event flags.Event) (decision, error) {
	return c.changesFeature(f, event, 200, variantList{1, variantViews(f.AllVariants(envs))})
}

// A variantsBody is a list of variants as it comes in.
type variantsBody []variantBody

func (b variantsBody) variants() []flags.Variant { return each(b, variantBody.variant) }

func (b variantsBody) check(_ flags.Limits, problems *flags.Problems) { b.checkAt("", problems) }

func (b variantsBody) checkAt(path string, problems *flags.Problems) {
	if !flags.CheckCount(path, "variants", len(b), flags.MaxVariants, problems) {
		return
	}
	for i, v := range b {
		v.checkMembers(path+"/"+strconv.Itoa(i), problems)
	}
	flags.CheckVariants(b.variants(), path, problems)
}

// A variantsBatchBody gives some environments the same variants.
type variantsBatchBody struct {
	Environments []string            `json:"environments"`
	Variants     maybe[variantsBody] `json:"variants"`
}

func (b variantsBatchBody) check(_ flags.Limits, problems *flags.Problems) {
	if len(b.Environments) == 0 {
		problems.Add("/environments", "must name at least one environment")
	}
	if n := len(b.Environments); n > MaxBulk {
		problems.Add("/environments", "must name at most %d environments, names %d; make several calls of it", MaxBulk, n)
	}
	if !b.Variants.Set {
		problems.Add("/variants", "is required; an empty list takes all variants away")
	}
	b.Variants.Value.checkAt("/variants", problems)
}

// A variantBody is a variant of a flag's environment as it comes in.
type variantBody struct {
	Name       string             `json:"name"`
	Weight     maybe[float64]     `json:"weight"`
	WeightType maybe[string]      `json:"weightType"`
	Stickiness maybe[string]      `json:"stickiness"`
	Payload    maybe[payloadBody] `json:"payload"`
	Overrides  []overrideBody     `json:"overrides"`
}

type payloadBody struct {
	Type  string        `json:"type"`
	Value maybe[string] `json:"value"`
}

type overrideBody struct {
	ContextName string          `json:"contextName"`
	Values      maybe[[]string] `json:"values"`
}

// checkMembers finds what is missing.
func (b variantBody) checkMembers(path string, problems *flags.Problems) {
	if !b.Weight.Set {
		problems.Add(path+"/weight", "is required")
	}
	if b.Payload.Set && !b.Payload.Value.Value.Set {
		problems.Add(path+"/payload/value", "is required")
	}
	for i, o := range b.Overrides {
		if !o.Values.Set {
			problems.Add(path+"/overrides/"+strconv.Itoa(i)+"/values", "is required")
		}
	}
}

func (b variantBody) variant() flags.Variant {
	v := flags.Variant{
		Name: b.Name, Weight: b.Weight.Value, WeightType: flags.WeightType(b.WeightType.or(string(flags.Variable))),
		Stickiness: b.Stickiness.or("default"),
		Overrides: each(b.Overrides, func(o overrideBody) flags.Override {
			return flags.Override{ContextName: o.ContextName, Values: o.Values.Value}
		}),
	}
	if b.Payload.Set {
		v.Payload = &flags.Payload{Type: b.Payload.Value.Type, Value: b.Payload.Value.Value.Value}
	}
	return v
}

// A strategyVariantBody is a variant of a strategy as it comes in (contract: Strategy-level variant).
type strategyVariantBody struct{ variantBody }

func (b strategyVariantBody) checkMembers(path string, problems *flags.Problems) {
	b.variantBody.checkMembers(path, problems)
	if !b.WeightType.Set {
		problems.Add(path+"/weightType", "is required")
	}
	if !b.Stickiness.Set {
		problems.Add(path+"/stickiness", "is required")
	}
}

// A variantView is a variant in an answer (contract: Variant).
type variantView = shape.Variant

type variantList struct {
	Version  int           `json:"version"`
	Variants []variantView `json:"variants"`
}

func variantViews(variants []flags.Variant) []variantView { return shape.Variants(variants) }

// each maps a list.
func each[A, B any](list []A, f func(A) B) []B {
	out := make([]B, len(list))
	for i, a := range list {
		out[i] = f(a)
	}
	return out
}
