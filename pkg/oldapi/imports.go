package oldapi

import (
	"strconv"

	"guidon/pkg/flags"
)

// Imports serves the export and import of flags, and the validation of import data (contract: Import validation).
func Imports() Group {
	return Group{Name: "imports", Operations: []Operation{
		{"POST /api/admin/features-batch/validate", flags.Read, theEnvironments | theTagTypes | theStrategyTypes | theContextFields,
			loadingFor(takes(validateImport), importKeys).listing(flags.EntitySegment).upTo(maxImport).answers(200, importReportView{})},
		{"POST /api/admin/features-batch/import", flags.Read, theEnvironments | theTagTypes | theStrategyTypes | theContextFields, importFlags()},
		{"POST /api/admin/features-batch/export", flags.Read, theEnvironments | theTagTypes | theContextFields,
			surveying(takes(exportData), func(c *call, in exportBody) []*flags.Project { return in.surveyed(c.projects()) }).
				listing(flags.EntityProject, flags.EntitySegment).answers(200, exportView{})},
	}}
}

// What an import may be at most: bytes, and flags that it names. A hundred flags are one call of the store, so this many
// are still well within the time of the function.
const (
	maxImport       = 4 << 20
	maxImportFlags  = 10_000
	maxImportOthers = 1_000 // tag types, context fields and segments
)

// importKeys names the project and every flag of the data: what exists of them is all that there is to know.
func importKeys(_ *call, in importBody) []flags.Key {
	keys := []flags.Key{flags.ProjectKey(in.Project)}
	for _, name := range in.Data.Value.set().FeatureNames() {
		keys = append(keys, flags.FeatureKey(name))
	}
	return keys
}

// find puts project and environment into the call. The body names them, and yet they are a 404 (contract).
func (b importBody) find(c *call) error {
	if c.project = flags.Find[*flags.Project](c.more, flags.ProjectKey(b.Project)); c.project == nil {
		return flags.Errorf(flags.NotFound, "there is no project %q", b.Project)
	}
	c.environments = c.project.AvailableEnvironments(c.registry)
	return c.findEnvironment(b.Environment)
}

// validateImport says what an import would meet.
func validateImport(c *call, in importBody) (decision, error) {
	if err := in.find(c); err != nil {
		return decision{}, err
	}
	faults, lacking, err := newImporting(in).rehearse(c)
	if err != nil {
		return decision{}, err
	}
	report := in.Data.Value.set().Validate(flags.ImportTarget{
		Project: c.project, Environment: c.environment, TagTypes: c.tagTypes, StrategyTypes: c.types, ContextFields: c.fields,
		Segments: c.segments(), Faults: faults, MissingPermissions: lacking,
		Feature: func(name string) *flags.Feature { return flags.Find[*flags.Feature](c.more, flags.FeatureKey(name)) },
	})
	return ok(importReportView{findingViews(report.Errors), findingViews(report.Warnings), findingViews(report.Permissions)})
}

// An importReportView is what there is to know before an import (contract: Validation result).
type importReportView struct {
	Errors      []importFindingView `json:"errors"`
	Warnings    []importFindingView `json:"warnings"`
	Permissions []importFindingView `json:"permissions"` // that the caller lacks
}

type importFindingView struct {
	Message       string   `json:"message"`
	AffectedItems []string `json:"affectedItems"`
}

func findingViews(findings []flags.ImportFinding) []importFindingView {
	return each(findings, func(f flags.ImportFinding) importFindingView { return importFindingView{f.Message, f.Affected} })
}

// An importBody is import data, and where it is to go.
type importBody struct {
	Project     string            `json:"project"`
	Environment string            `json:"environment"`
	Data        maybe[importData] `json:"data"`
}

// importData is a data set (contract: Import data set). Exports of Unleash carry more, which does not matter here.
type importData struct {
	Features            maybe[[]importFeatureBody] `json:"features"`
	FeatureStrategies   []importStrategyBody       `json:"featureStrategies"`
	FeatureEnvironments []importEnvironmentBody    `json:"featureEnvironments"`
	ContextFields       []importContextFieldBody   `json:"contextFields"`
	FeatureTags         []importTagBody            `json:"featureTags"`
	Segments            []importSegmentBody        `json:"segments"`
	TagTypes            []importTagTypeBody        `json:"tagTypes"`
	Dependencies        []importDependencyBody     `json:"dependencies"`
}

type importFeatureBody struct {
	Name           string         `json:"name"`
	Type           maybe[string]  `json:"type"`
	Description    maybe[*string] `json:"description"`
	Project        maybe[string]  `json:"project"`
	Stale          maybe[bool]    `json:"stale"`
	ImpressionData maybe[bool]    `json:"impressionData"`
	Archived       maybe[bool]    `json:"archived"`
}

// An importStrategyBody is a strategy with the flag that it belongs to.
type importStrategyBody struct {
	FeatureName string `json:"featureName"`
	strategyBody
}

type importEnvironmentBody struct {
	FeatureName string        `json:"featureName"`
	Environment maybe[string] `json:"environment"` // that it was exported from, which is not where it goes
	Name        maybe[string] `json:"name"`
	Enabled     maybe[bool]   `json:"enabled"`
	Variants    []variantBody `json:"variants"`
}

type importContextFieldBody struct {
	Name        string             `json:"name"`
	Description maybe[*string]     `json:"description"`
	Stickiness  maybe[bool]        `json:"stickiness"`
	SortOrder   maybe[float64]     `json:"sortOrder"`
	LegalValues []importLegalValue `json:"legalValues"`
}

type importLegalValue struct {
	Value       string         `json:"value"`
	Description maybe[*string] `json:"description"`
}

type importTagBody struct {
	FeatureName string        `json:"featureName"`
	TagType     string        `json:"tagType"`
	TagValue    maybe[string] `json:"tagValue"`
}

type importSegmentBody struct {
	ID   maybe[int64] `json:"id"`
	Name string       `json:"name"`

	// What it takes to make it, which Unleash does not export.
	Description maybe[*string]          `json:"description"`
	Project     maybe[*string]          `json:"project"`
	Constraints maybe[[]constraintBody] `json:"constraints"`
}

type importTagTypeBody struct {
	Name        string         `json:"name"`
	Description maybe[*string] `json:"description"`
	Icon        maybe[*string] `json:"icon"`
}

type importDependencyBody struct {
	Feature      string             `json:"feature"`
	Dependencies []importParentBody `json:"dependencies"`
}

type importParentBody struct {
	Feature  string          `json:"feature"`
	Enabled  maybe[bool]     `json:"enabled"`
	Variants maybe[[]string] `json:"variants"`
}

func (b importParentBody) dependency() flags.Dependency {
	return dependencyBody{Feature: b.Feature, Enabled: b.Enabled, Variants: b.Variants.Value}.dependency()
}

// check finds what is no data set at all. Whether the import makes sense is for the report to say.
func (b importBody) check(_ flags.Limits, problems *flags.Problems) {
	checkName("/project", b.Project, problems)
	checkName("/environment", b.Environment, problems)
	data := b.Data.Value
	switch {
	case !b.Data.Set:
		problems.Add("/data", "is required")
		return
	case !data.Features.Set:
		problems.Add("/data/features", "is required")
	}
	for i, f := range data.Features.Value {
		at := "/data/features/" + strconv.Itoa(i)
		checkName(at+"/name", f.Name, problems)
		checkTypeAt(at+"/type", f.Type, problems)
	}
	data.checkNames(problems)
	if n := len(data.set().FeatureNames()); n > maxImportFlags {
		problems.Add("/data", "names %d flags, and one import has at most %d; make several of it", n, maxImportFlags)
	}
	types := (&importing{data: data}).tagTypes()
	if n := len(types) + len(data.ContextFields) + len(data.Segments); n > maxImportOthers {
		problems.Add("/data", "has %d tag types, context fields and segments, and one import has at most %d; make several of it", n, maxImportOthers)
	}
}

// checkNames finds whatever has no name, or belongs to nothing.
func (d importData) checkNames(problems *flags.Problems) {
	required := func(list string, i int, member, value string) {
		if value == "" {
			problems.Add("/data/"+list+"/"+strconv.Itoa(i)+"/"+member, "is required")
		}
	}
	for i, s := range d.FeatureStrategies {
		required("featureStrategies", i, "featureName", s.FeatureName)
		required("featureStrategies", i, "name", s.Name.Value)
	}
	said := map[string]bool{}
	for i, e := range d.FeatureEnvironments {
		required("featureEnvironments", i, "featureName", e.FeatureName)
		if said[e.FeatureName] {
			problems.Add("/data/featureEnvironments/"+strconv.Itoa(i), "is the second for the flag %q: an import goes into one environment", shorten(e.FeatureName))
		}
		said[e.FeatureName] = true
	}
	for i, f := range d.ContextFields {
		required("contextFields", i, "name", f.Name)
	}
	for i, t := range d.FeatureTags {
		required("featureTags", i, "featureName", t.FeatureName)
		required("featureTags", i, "tagType", t.TagType)
		required("featureTags", i, "tagValue", t.TagValue.Value)
	}
	names := map[int64]string{}
	for i, s := range d.Segments {
		required("segments", i, "name", s.Name)
		if other, known := names[s.ID.Value]; known && other != s.Name {
			problems.Add("/data/segments/"+strconv.Itoa(i)+"/id", "is the id of the segment %q as well", shorten(other))
		}
		names[s.ID.Value] = s.Name
	}
	for i, t := range d.TagTypes {
		required("tagTypes", i, "name", t.Name)
	}
	for i, dependency := range d.Dependencies {
		required("dependencies", i, "feature", dependency.Feature)
		for j, parent := range dependency.Dependencies {
			at := "/data/dependencies/" + strconv.Itoa(i) + "/dependencies/" + strconv.Itoa(j) + "/feature"
			checkName(at, parent.Feature, problems)
		}
	}
}

// set is what the rules about imports are asked about.
func (d importData) set() flags.ImportSet {
	return flags.ImportSet{
		Features: each(d.Features.Value, func(f importFeatureBody) string { return f.Name }),
		Strategies: each(d.FeatureStrategies, func(s importStrategyBody) flags.ImportStrategy {
			return flags.ImportStrategy{Feature: s.FeatureName, Type: s.Name.Value, Segments: s.Segments}
		}),
		Tagged:        each(d.FeatureTags, func(t importTagBody) flags.ImportTag { return flags.ImportTag{Feature: t.FeatureName, Type: t.TagType} }),
		TagTypes:      each(d.TagTypes, func(t importTagTypeBody) string { return t.Name }),
		ContextFields: each(d.ContextFields, func(f importContextFieldBody) string { return f.Name }),
		Segments: each(d.Segments, func(s importSegmentBody) flags.ImportSegment {
			return flags.ImportSegment{
				ID: s.ID.Value, Name: s.Name, Defined: s.Constraints.Set,
				Constraints: each(s.Constraints.Value, constraintBody.constraint),
			}
		}),
		Dependencies: each(d.Dependencies, func(d importDependencyBody) flags.ImportDependency {
			return flags.ImportDependency{Feature: d.Feature, Parents: each(d.Dependencies, func(p importParentBody) string { return p.Feature })}
		}),
	}
}
