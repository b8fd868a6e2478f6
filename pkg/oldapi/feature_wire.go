package oldapi

import (
	"slices"
	"strings"
	"time"

	"guidon/pkg/flags"
)

// A createFeatureBody makes a flag.
type createFeatureBody struct {
	Name           string         `json:"name"`
	Type           maybe[string]  `json:"type"`
	Description    maybe[*string] `json:"description"`
	Stale          maybe[bool]    `json:"stale"`
	ImpressionData maybe[bool]    `json:"impressionData"`
}

func (b createFeatureBody) check(_ flags.Limits, problems *flags.Problems) {
	checkName("/name", b.Name, problems)
	checkType(b.Type, problems)
	b.metadata().CheckTexts(problems)
}

func (b createFeatureBody) metadata() flags.Metadata {
	return metadataBody{b.Type, b.Description, b.Stale, b.ImpressionData}.over(flags.DefaultMetadata())
}

// An updateFeatureBody changes a flag's metadata. It may repeat the name, not change it.
type updateFeatureBody struct {
	Name maybe[string] `json:"name"`
	metadataBody
}

// review holds the name, if there is one, to that of the path.
func (b updateFeatureBody) review(c *call, problems *flags.Problems) {
	if b.Name.Set && b.Name.Value != c.param(featureParam) {
		problems.Add("/name", "a flag cannot be renamed: it must be the name in the path, or be left out")
	}
}

// A metadataBody says what may be said of a flag; what it leaves out stays.
type metadataBody struct {
	Type           maybe[string]  `json:"type"`
	Description    maybe[*string] `json:"description"`
	Stale          maybe[bool]    `json:"stale"`
	ImpressionData maybe[bool]    `json:"impressionData"`
}

func (b metadataBody) check(_ flags.Limits, problems *flags.Problems) {
	checkType(b.Type, problems)
	b.over(flags.Metadata{}).CheckTexts(problems)
}

// over is the metadata m with what the body says over it.
func (b metadataBody) over(m flags.Metadata) flags.Metadata {
	return flags.Metadata{
		Type:           flags.FeatureType(b.Type.or(string(m.Type))),
		Description:    b.Description.or(m.Description),
		Stale:          b.Stale.or(m.Stale),
		ImpressionData: b.ImpressionData.or(m.ImpressionData),
	}
}

// A metadataPatch is a JSON Patch of a flag's metadata, and of nothing else of the flag.
type metadataPatch patchBody

var metadataMembers = []string{
	"name", "project", "type", "description", "stale", "impressionData", "archived", "createdAt", "lastSeen", "lastSeenAt",
}

func (p metadataPatch) check(limits flags.Limits, problems *flags.Problems) {
	patchBody(p).check(limits, problems)
	patchBody(p).members(func(at, member string) {
		if !slices.Contains(metadataMembers, member) {
			problems.Add(at, "must be one of /%s", strings.Join(metadataMembers, ", /"))
		}
	})
}

// A cloneFeatureBody names the new flag.
type cloneFeatureBody struct {
	Name           string      `json:"name"`
	ReplaceGroupID maybe[bool] `json:"replaceGroupId"` // strategies grouped under the old name get the new one; default true
}

func (b cloneFeatureBody) check(_ flags.Limits, problems *flags.Problems) {
	checkName("/name", b.Name, problems)
}

func checkName(path, name string, problems *flags.Problems) {
	if fault := flags.CheckName(name); fault != "" {
		problems.Add(path, "%s", fault)
	}
}

func checkType(name maybe[string], problems *flags.Problems) { checkTypeAt("/type", name, problems) }

func checkTypeAt(path string, name maybe[string], problems *flags.Problems) {
	if name.Set && !slices.Contains(flags.FeatureTypes(), flags.FeatureType(name.Value)) {
		problems.Add(path, "%q must be one of %s", shorten(name.Value), strings.Join(each(flags.FeatureTypes(), toString), ", "))
	}
}

func toString[T ~string](s T) string { return string(s) }

// A metadataView is what is said of a flag everywhere.
type metadataView struct {
	Name           string            `json:"name"`
	Type           flags.FeatureType `json:"type"`
	Description    *string           `json:"description"`
	Project        string            `json:"project"`
	Stale          bool              `json:"stale"`
	ImpressionData bool              `json:"impressionData"`
	CreatedAt      timestamp         `json:"createdAt"`
	LastSeenAt     *timestamp        `json:"lastSeenAt"`
}

func metadataOf(name, project string, m flags.Metadata, createdAt, lastSeenAt time.Time) metadataView {
	return metadataView{
		Name: name, Type: m.Type, Description: m.Description, Project: project, Stale: m.Stale,
		ImpressionData: m.ImpressionData, CreatedAt: timestamp(createdAt), LastSeenAt: timestampOf(lastSeenAt),
	}
}

// metadata is what is said of a flag everywhere.
func metadata(f *flags.Feature) metadataView {
	return metadataOf(f.Name, f.Project, f.Metadata, f.CreatedAt, f.LastSeenAt)
}

// A patchedFeature is the document that a JSON Patch of a flag works on.
type patchedFeature struct {
	metadataView
	Archived bool       `json:"archived"`
	LastSeen *timestamp `json:"lastSeen"`
}

// A featureSubset is a flag as create, update, patch and clone return it (contract: Feature).
type featureSubset struct {
	metadataView
	Archived   bool           `json:"archived"`
	ArchivedAt *timestamp     `json:"archivedAt"`
	Enabled    bool           `json:"enabled"`  // whether any environment is
	Variants   *[]variantView `json:"variants"` // null, or a list after clone
}

func (c *call) subset(f *flags.Feature, variants *[]variantView) featureSubset {
	return featureSubset{metadata(f), f.Archived, timestampOf(f.ArchivedAt), c.enabledAnywhere(f), variants}
}

func (c *call) enabledAnywhere(f *flags.Feature) bool {
	return slices.ContainsFunc(c.environments, f.Enabled)
}

// An archivedFeature is a flag in the list of archived ones.
type archivedFeature struct {
	metadataView
	Archived     bool             `json:"archived"`
	ArchivedAt   timestamp        `json:"archivedAt"`
	Environments []rowEnvironment `json:"environments"` // those of the project, all of them off
}

type archivedList struct {
	Version  int               `json:"version"`
	Features []archivedFeature `json:"features"`
}

// A featureRecord is a flag as it is read by itself.
type featureRecord struct {
	metadataView
	Archived     bool                     `json:"archived"`
	ArchivedAt   *timestamp               `json:"archivedAt"`
	Enabled      bool                     `json:"enabled"` // whether any environment is; after on and off, whether that one is
	Favorite     bool                     `json:"favorite"`
	Environments []featureEnvironmentView `json:"environments"`
	Variants     []variantView            `json:"variants"`   // deprecated: the union of the environments' variants by name
	Strategies   []strategyView           `json:"strategies"` // deprecated: always empty
	Children     []string                 `json:"children"`
	Dependencies []dependencyView         `json:"dependencies"`
	Lifecycle    phaseView                `json:"lifecycle"`
	Tags         []tagView                `json:"tags"`
}

func (c *call) record(f *flags.Feature) featureRecord {
	r := featureRecord{
		metadataView: metadata(f), Archived: f.Archived, ArchivedAt: timestampOf(f.ArchivedAt), Enabled: c.enabledAnywhere(f),
		Environments: make([]featureEnvironmentView, len(c.environments)),
		Variants:     variantViews(f.AllVariants(c.environments)),
		Favorite:     slices.Contains(f.Favorites, c.caller.FavoritesKey()), Tags: tagViews(f.Tags),
		Children: f.Children, Dependencies: each(f.Dependencies, dependencyOf), Lifecycle: phaseOf(f.Phase()),
	}
	for i, env := range c.environments {
		r.Environments[i] = environmentOf(f, env)
	}
	return r
}

// A featureEnvironmentView is a flag in one environment (contract: Feature environment).
type featureEnvironmentView struct {
	rowEnvironment
	FeatureName string         `json:"featureName"`
	Environment string         `json:"environment"`
	Strategies  []strategyView `json:"strategies"`
	Variants    []variantView  `json:"variants"`
}

func environmentOf(f *flags.Feature, env flags.ProjectEnvironment) featureEnvironmentView {
	fe := f.In(env)
	return featureEnvironmentView{
		rowEnvironment: rowEnvironmentOf(fe.Summary(), f.Enabled(env), env),
		FeatureName:    f.Name, Environment: env.Name,
		Strategies: strategyViews(f, env), Variants: variantViews(fe.Variants),
	}
}

// A featureRow is a flag in a list (contract: Project overview).
type featureRow struct {
	Name           string            `json:"name"`
	Type           flags.FeatureType `json:"type"`
	Description    *string           `json:"description"`
	Stale          bool              `json:"stale"`
	ImpressionData bool              `json:"impressionData"`
	CreatedAt      timestamp         `json:"createdAt"`
	LastSeenAt     *timestamp        `json:"lastSeenAt"`
	Favorite       bool              `json:"favorite"`
	Environments   []rowEnvironment  `json:"environments"`
	Tags           []tagView         `json:"tags,omitempty"` // only of a flag that has some
}

// A rowEnvironment is what lists say of a flag in one environment.
type rowEnvironment struct {
	Name                 string     `json:"name"`
	DisplayName          string     `json:"displayName"`
	Enabled              bool       `json:"enabled"`
	Type                 string     `json:"type"`
	SortOrder            int64      `json:"sortOrder"`
	VariantCount         int        `json:"variantCount"`
	HasStrategies        bool       `json:"hasStrategies"`
	HasEnabledStrategies bool       `json:"hasEnabledStrategies"`
	LastSeenAt           *timestamp `json:"lastSeenAt"`
}

func rowEnvironmentOf(s flags.EnvironmentSummary, enabled bool, env flags.ProjectEnvironment) rowEnvironment {
	return rowEnvironment{
		Name: env.Name, DisplayName: env.Name, Enabled: enabled, Type: env.Type, SortOrder: env.SortOrder,
		VariantCount: s.Variants, HasStrategies: s.Strategies > 0, HasEnabledStrategies: s.EnabledStrategies > 0,
		LastSeenAt: timestampOf(s.LastSeenAt),
	}
}

type featureList struct {
	Version  int          `json:"version"`
	Features []featureRow `json:"features"`
}

// rows are the project's flags as lists show them.
func (c *call) rows() []featureRow {
	key := c.caller.FavoritesKey()
	return each(c.summaries, func(s flags.FeatureSummary) featureRow { return featureRowOf(s, c.environments, key) })
}

func featureRowOf(s flags.FeatureSummary, environments []flags.ProjectEnvironment, favoritesKey string) featureRow {
	return featureRow{
		Name: s.Name, Type: s.Type, Description: s.Description, Stale: s.Stale, ImpressionData: s.ImpressionData,
		CreatedAt: timestamp(s.CreatedAt), LastSeenAt: timestampOf(s.LastSeenAt),
		Favorite: slices.Contains(s.Favorites, favoritesKey), Tags: tagViews(s.Tags), Environments: rowEnvironments(s, environments),
	}
}

func rowEnvironments(s flags.FeatureSummary, environments []flags.ProjectEnvironment) []rowEnvironment {
	return each(environments, func(env flags.ProjectEnvironment) rowEnvironment {
		summary, enabled := s.In(env)
		return rowEnvironmentOf(summary, enabled && !s.Archived, env)
	})
}

// filter keeps the project's flags that the query asks for: those with one of its tags (tag=type:value, or tag[] as PHP-like
// clients write it), and those whose names begin with namePrefix.
func (c *call) filter() error {
	var wanted []flags.Tag
	for _, text := range slices.Concat(c.query["tag"], c.query["tag[]"]) {
		kind, value, found := strings.Cut(text, ":")
		if !found || kind == "" || value == "" {
			return flags.Errorf(flags.Invalid, "the tag %q in the query must be a type and a value with a colon between them, such as simple:mine", shorten(text))
		}
		wanted = append(wanted, flags.Tag{Type: kind, Value: value})
	}
	prefix := c.query.Get("namePrefix")
	c.summaries = slices.DeleteFunc(c.summaries, func(s flags.FeatureSummary) bool {
		tagged := len(wanted) == 0 || slices.ContainsFunc(s.Tags, func(t flags.Tag) bool { return slices.Contains(wanted, t) })
		return !tagged || !strings.HasPrefix(s.Name, prefix)
	})
	return nil
}
