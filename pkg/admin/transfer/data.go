package transfer

import (
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/admin/wire"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
)

// The limits of an import. An import of so many flags may take more than the time of one request: then the response is a
// 503, and the same import again does the rest.
const (
	maxImport       = 4 << 20 // bytes
	maxImportFlags  = 10_000  // flags that the data names
	maxImportOthers = 1_000   // tag types, context fields and segments
)

// An importBody is import data, and where to import it.
type importBody struct {
	Project     string                     `json:"project"`
	Environment string                     `json:"environment"`
	Data        jsonbody.Maybe[importData] `json:"data"`
}

// importData is a data set (contract: Import data set). Exports of Unleash have more fields; they are ignored.
type importData struct {
	Features            jsonbody.Maybe[[]importFeatureBody] `json:"features"`
	FeatureStrategies   []importStrategyBody                `json:"featureStrategies"`
	FeatureEnvironments []importEnvironmentBody             `json:"featureEnvironments"`
	ContextFields       []importContextFieldBody            `json:"contextFields"`
	FeatureTags         []importTagBody                     `json:"featureTags"`
	Segments            []importSegmentBody                 `json:"segments"`
	TagTypes            []importTagTypeBody                 `json:"tagTypes"`
	Dependencies        []importDependencyBody              `json:"dependencies"`
	Links               []importLinksBody                   `json:"links"`
}

// UnmarshalJSONFrom reads the values as other programs write them: in exports of Unleash, a weight can be a text, and a value a number.
func (d *importData) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	type plain importData
	return json.UnmarshalDecode(from, (*plain)(d), jsonbody.ForeignValues)
}

type importFeatureBody struct {
	Name           string                  `json:"name"`
	Type           jsonbody.Maybe[string]  `json:"type"`
	Description    jsonbody.Maybe[*string] `json:"description"`
	Project        jsonbody.Maybe[string]  `json:"project"`
	Stale          jsonbody.Maybe[bool]    `json:"stale"`
	ImpressionData jsonbody.Maybe[bool]    `json:"impressionData"`
	Archived       jsonbody.Maybe[bool]    `json:"archived"`
	Owner          jsonbody.Maybe[*string] `json:"owner"`
	*wire.TypingBody
}

// An importStrategyBody is a strategy with the name of its flag.
type importStrategyBody struct {
	FeatureName string `json:"featureName"`
	wire.StrategyBody
}

type importEnvironmentBody struct {
	FeatureName string                 `json:"featureName"`
	Environment jsonbody.Maybe[string] `json:"environment"` // from which it was exported; ignored
	Name        jsonbody.Maybe[string] `json:"name"`
	Enabled     jsonbody.Maybe[bool]   `json:"enabled"`
	Variants    []wire.VariantBody     `json:"variants"`
}

type importContextFieldBody struct {
	Name        string                  `json:"name"`
	Description jsonbody.Maybe[*string] `json:"description"`
	Stickiness  jsonbody.Maybe[bool]    `json:"stickiness"`
	SortOrder   jsonbody.Maybe[float64] `json:"sortOrder"`
	LegalValues []importLegalValue      `json:"legalValues"`
}

type importLegalValue struct {
	Value       string                  `json:"value"`
	Description jsonbody.Maybe[*string] `json:"description"`
}

type importTagBody struct {
	FeatureName string                 `json:"featureName"`
	TagType     string                 `json:"tagType"`
	TagValue    jsonbody.Maybe[string] `json:"tagValue"`
}

// An importSegmentBody is a segment with its id in the data. Unleash exports only id and name: then it is not created.
type importSegmentBody struct {
	ID jsonbody.Maybe[int64] `json:"id"`
	wire.SegmentBody
}

type importTagTypeBody struct {
	Name        string                  `json:"name"`
	Description jsonbody.Maybe[*string] `json:"description"`
	Icon        jsonbody.Maybe[*string] `json:"icon"`
}

// An importLinksBody has the links of a flag.
type importLinksBody struct {
	Feature string           `json:"feature"`
	Links   []importLinkBody `json:"links"`
}

type importLinkBody struct {
	URL   string                  `json:"url"`
	Title jsonbody.Maybe[*string] `json:"title"`
}

type importDependencyBody struct {
	Feature      string             `json:"feature"`
	Dependencies []importParentBody `json:"dependencies"`
}

type importParentBody struct {
	Feature  string                   `json:"feature"`
	Enabled  jsonbody.Maybe[bool]     `json:"enabled"`
	Variants jsonbody.Maybe[[]string] `json:"variants"`
}

func (b importParentBody) dependency() flags.Dependency {
	return wire.DependencyBody{Feature: b.Feature, Enabled: b.Enabled, Variants: b.Variants.Value}.Dependency()
}

// Check refuses what is not a data set. Problems of a single item do not refuse the import: that item is skipped.
func (b importBody) Check(_ flags.Limits, problems *flags.Problems) {
	wire.CheckName("/project", b.Project, problems)
	wire.CheckName("/environment", b.Environment, problems)
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
		wire.CheckName(at+"/name", f.Name, problems)
		wire.CheckTypeAt(at+"/type", f.Type, problems)
	}
	data.checkNames(problems)
	if n := len(data.flagNames()); n > maxImportFlags {
		problems.Add("/data", "names %d flags, and one import has at most %d; split it into several imports", n, maxImportFlags)
	}
	if n := len(data.allTagTypes()) + len(data.ContextFields) + len(data.Segments); n > maxImportOthers {
		problems.Add("/data", "has %d tag types, context fields and segments, and one import has at most %d; split it into several imports", n, maxImportOthers)
	}
}

// checkNames finds items without a name, and segment ids and environments that occur twice.
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
	seen := map[string]bool{}
	for i, e := range d.FeatureEnvironments {
		required("featureEnvironments", i, "featureName", e.FeatureName)
		if seen[e.FeatureName] {
			problems.Add("/data/featureEnvironments/"+strconv.Itoa(i), "is the second entry for the flag %q; an import changes one environment", jsonbody.Shorten(e.FeatureName))
		}
		seen[e.FeatureName] = true
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
			problems.Add("/data/segments/"+strconv.Itoa(i)+"/id", "is the id of the segment %q too; each segment needs an id of its own", jsonbody.Shorten(other))
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
			wire.CheckName(at, parent.Feature, problems)
		}
	}
}

// allTagTypes are the tag types of the data, and those that only its tags name.
func (d importData) allTagTypes() []importTagTypeBody {
	list, known := make([]importTagTypeBody, 0, len(d.TagTypes)), map[string]bool{}
	for _, t := range d.TagTypes {
		known[t.Name], list = true, append(list, t)
	}
	for _, t := range d.FeatureTags {
		if !known[t.TagType] {
			known[t.TagType], list = true, append(list, importTagTypeBody{Name: t.TagType})
		}
	}
	return list
}

// flagNames are the names of all flags in the data and of their parents, without duplicates.
func (d importData) flagNames() []string {
	names := httpapi.Each(d.Features.Value, func(f importFeatureBody) string { return f.Name })
	for _, of := range d.Dependencies {
		for _, parent := range of.Dependencies {
			names = append(names, parent.Feature)
		}
	}
	return flags.Distinct(names)
}

// customStrategies are the strategy types of the data that are defined here and are not built in.
func (d importData) customStrategies(types *flags.StrategyTypes) (names []string) {
	for _, s := range d.FeatureStrategies {
		if known, defined := types.Find(s.Name.Value); defined && !known.BuiltIn() {
			names = append(names, s.Name.Value)
		}
	}
	return names
}
