package features

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/admin/wire"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
	"guidon/pkg/shape"
)

// A createFeatureBody creates a flag.
type createFeatureBody struct {
	Name           string                  `json:"name"`
	Type           jsonbody.Maybe[string]  `json:"type"`
	Description    jsonbody.Maybe[*string] `json:"description"`
	Stale          jsonbody.Maybe[bool]    `json:"stale"`
	ImpressionData jsonbody.Maybe[bool]    `json:"impressionData"`
	Owner          jsonbody.Maybe[*string] `json:"owner"`
	wire.TypingBody

	Tags jsonbody.Maybe[[]wire.TagBody] `json:"tags"`
}

func (b createFeatureBody) Check(_ flags.Limits, problems *flags.Problems) {
	wire.CheckName("/name", b.Name, problems)
	wire.CheckType(b.Type, problems)
	b.metadata().CheckTexts(problems)
	wire.CheckTags("/tags", b.Tags.Value, problems)
}

func (b createFeatureBody) metadata() flags.Metadata {
	return wire.MetadataBody{Type: b.Type, Description: b.Description, Stale: b.Stale, ImpressionData: b.ImpressionData, Owner: b.Owner, TypingBody: b.TypingBody}.ApplyTo(flags.DefaultMetadata())
}

// An updateFeatureBody changes a flag's metadata. It may repeat the name, not change it.
type updateFeatureBody struct {
	Name jsonbody.Maybe[string] `json:"name"`
	wire.MetadataBody
}

// A metadataPatch is a JSON Patch of a flag's metadata.
type metadataPatch jsonbody.Patch

// The fields of a flag that a patch can change, and those that it can only test and copy.
var (
	metadataMembers = []string{"type", "description", "stale", "impressionData", "owner", "valueType", "defaultValue", "valueSchema"}
	fixedMembers    = []string{"name", "project", "archived", "createdAt", "lastSeen", "lastSeenAt"}
)

// Check finds what is wrong with the patch by itself.
func (p metadataPatch) Check(limits flags.Limits, problems *flags.Problems) {
	jsonbody.Patch(p).Check(limits, problems)
	jsonbody.Patch(p).CheckMembers("flag", metadataMembers, fixedMembers, problems)
}

// A cloneFeatureBody names the new flag.
type cloneFeatureBody struct {
	Name           string               `json:"name"`
	ReplaceGroupID jsonbody.Maybe[bool] `json:"replaceGroupId"` // strategies with the old name as groupId get the new one; default true
}

func (b cloneFeatureBody) Check(_ flags.Limits, problems *flags.Problems) {
	wire.CheckName("/name", b.Name, problems)
}

// A patchedFeature is the document that a JSON Patch of a flag changes.
type patchedFeature struct {
	shape.MetadataView
	Archived bool        `json:"archived"`
	LastSeen *shape.Time `json:"lastSeen"`

	// Also without one, so that it can be replaced.
	Owner        *string          `json:"owner"`
	ValueType    *flags.ValueType `json:"valueType"`
	DefaultValue *jsontext.Value  `json:"defaultValue"`
	ValueSchema  *jsontext.Value  `json:"valueSchema"`
}

func patchedFeatureOf(f *flags.Feature) patchedFeature {
	p := patchedFeature{MetadataView: shape.MetadataViewOf(f), Archived: f.Archived, LastSeen: shape.TimeOrNull(f.LastSeenAt), Owner: shape.NullIfEmpty(f.Owner)}
	if f.ValueType != "" {
		p.ValueType, p.DefaultValue = &f.ValueType, &f.DefaultValue
	}
	if f.ValueSchema != nil {
		p.ValueSchema = &f.ValueSchema
	}
	return p
}

// A featureSubset is a flag as create, update, patch and clone return it (contract: Feature).
type featureSubset struct {
	shape.MetadataView
	Archived   bool             `json:"archived"`
	ArchivedAt *shape.Time      `json:"archivedAt"`
	Enabled    bool             `json:"enabled"`  // in any environment
	Variants   *[]shape.Variant `json:"variants"` // null, or a list after clone
}

func subset(f *flags.Feature, envs []flags.ProjectEnvironment, variants *[]shape.Variant) featureSubset {
	return featureSubset{shape.MetadataViewOf(f), f.Archived, shape.TimeOrNull(f.ArchivedAt), slices.ContainsFunc(envs, f.Enabled), variants}
}

// An archivedFeature is a flag in the list of archived flags.
type archivedFeature struct {
	shape.MetadataView
	Archived     bool                  `json:"archived"`
	ArchivedAt   shape.Time            `json:"archivedAt"`
	Environments []wire.RowEnvironment `json:"environments"` // of the project; the flag is disabled in all of them
	WasEnabledIn []string              `json:"wasEnabledIn"` // the names of the environments in which it was enabled
}

type archivedList struct {
	Version  int               `json:"version"`
	Features []archivedFeature `json:"features"`
	Next     string            `json:"next,omitzero"` // the cursor of the next page
}

func archivedFeatureOf(s flags.FeatureSummary, envs []flags.ProjectEnvironment) archivedFeature {
	was := []string{}
	for _, env := range envs {
		if _, enabled := s.In(env); enabled {
			was = append(was, env.Name)
		}
	}
	s.DefaultValue = nil
	return archivedFeature{
		shape.NewMetadataView(s.Name, s.Project, s.Metadata, s.CreatedAt, s.LastSeenAt), true, shape.Time(s.ArchivedAt), wire.RowEnvironments(s, envs), was,
	}
}

// A featureRecord is a flag as it is read by itself.
type featureRecord struct {
	shape.MetadataView
	Archived     bool                     `json:"archived"`
	ArchivedAt   *shape.Time              `json:"archivedAt"`
	Enabled      bool                     `json:"enabled"` // in any environment; after on and off, in that one
	Favorite     bool                     `json:"favorite"`
	Environments []featureEnvironmentView `json:"environments"`
	Variants     []shape.Variant          `json:"variants"`   // deprecated: the variants of all environments, by name
	Strategies   []shape.StrategyView     `json:"strategies"` // deprecated: always empty
	Children     []string                 `json:"children"`
	Dependencies []shape.Dependency       `json:"dependencies"`
	Lifecycle    shape.PhaseView          `json:"lifecycle"`
	Tags         []shape.Tag              `json:"tags"`
	Links        []shape.LinkView         `json:"links"`
}

func record(tx *httpapi.Tx, f *flags.Feature, envs []flags.ProjectEnvironment) featureRecord {
	return featureRecord{
		MetadataView: shape.MetadataViewOf(f), Archived: f.Archived, ArchivedAt: shape.TimeOrNull(f.ArchivedAt),
		Enabled: slices.ContainsFunc(envs, f.Enabled), Favorite: flags.VersionOf(f) != 0 && tx.Favorites().HasFlag(f.Name),
		Environments: httpapi.Each(envs, func(env flags.ProjectEnvironment) featureEnvironmentView { return environmentOf(f, env) }),
		Variants:     shape.Variants(f.AllVariants(envs)), Tags: shape.Tags(f.Tags), Links: shape.LinkViews(f.Links),
		Children: f.Children, Dependencies: shape.Dependencies(f.Dependencies), Lifecycle: shape.PhaseViewOf(f.Phase()),
	}
}

// A featureEnvironmentView is a flag in one environment (contract: Feature environment).
type featureEnvironmentView struct {
	wire.RowEnvironment
	FeatureName string               `json:"featureName"`
	Environment string               `json:"environment"`
	Strategies  []shape.StrategyView `json:"strategies"`
	Variants    []shape.Variant      `json:"variants"`
}

func environmentOf(f *flags.Feature, env flags.ProjectEnvironment) featureEnvironmentView {
	fe := f.In(env)
	return featureEnvironmentView{
		RowEnvironment: wire.RowEnvironmentOf(fe.Summary(), f.Enabled(env), env),
		FeatureName:    f.Name, Environment: env.Name,
		Strategies: shape.StrategyViews(f, env), Variants: shape.Variants(fe.Variants),
	}
}

type featureList struct {
	Version  int             `json:"version"`
	Features []listedFeature `json:"features"`
	Next     string          `json:"next,omitzero"` // the cursor of the next page
}

// A listedFeature is a flag in the list of its project.
type listedFeature struct {
	wire.FeatureRow
	Lifecycle shape.PhaseView `json:"lifecycle"`
}

func listedFeatureOf(s flags.FeatureSummary, envs []flags.ProjectEnvironment, favorites *flags.Favorites) listedFeature {
	return listedFeature{FeatureRow: wire.FeatureRowOf(s, envs, favorites), Lifecycle: shape.PhaseViewOf(s.Phase())}
}
