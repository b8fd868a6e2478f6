package transfer

import (
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/shape"
)

// An exportView is an exported data set.
type exportView struct {
	Features            []exportFeature      `json:"features"`
	FeatureStrategies   []shape.StrategyView `json:"featureStrategies"`
	FeatureEnvironments []exportEnvironment  `json:"featureEnvironments"`
	ContextFields       []exportContextField `json:"contextFields"` // in constraints of strategies and segments
	FeatureTags         []exportTag          `json:"featureTags"`
	Segments            []exportSegment      `json:"segments"`
	TagTypes            []shape.TagTypeView  `json:"tagTypes"`
	Dependencies        []exportDependency   `json:"dependencies"`
	Links               []exportLinks        `json:"links,omitempty"` // of the flags that have some
	Next                string               `json:"next,omitzero"`   // the cursor of the next page
}

// emptyExport is an exportView without null lists.
func emptyExport() exportView {
	return exportView{
		Features: []exportFeature{}, FeatureStrategies: []shape.StrategyView{}, FeatureEnvironments: []exportEnvironment{},
		ContextFields: []exportContextField{}, FeatureTags: []exportTag{}, Segments: []exportSegment{}, TagTypes: []shape.TagTypeView{},
		Dependencies: []exportDependency{},
	}
}

type exportFeature struct {
	Name           string            `json:"name"`
	Description    *string           `json:"description"`
	Type           flags.FeatureType `json:"type"`
	Project        string            `json:"project"`
	Stale          bool              `json:"stale"`
	ImpressionData bool              `json:"impressionData"`
	Owner          string            `json:"owner,omitzero"`
	flags.Typing
	Archived bool `json:"archived"` // always false: archived flags are not exported
}

// An exportEnvironment is what a flag has in the environment. Its name is that of the flag, as in Unleash.
type exportEnvironment struct {
	FeatureName string          `json:"featureName"`
	Name        string          `json:"name"`
	Environment string          `json:"environment"`
	Enabled     bool            `json:"enabled"`
	Variants    []shape.Variant `json:"variants"`
}

type exportTag struct {
	FeatureName string `json:"featureName"`
	TagType     string `json:"tagType"`
	TagValue    string `json:"tagValue"`
}

type exportDependency struct {
	Feature      string             `json:"feature"`
	Dependencies []shape.Dependency `json:"dependencies"`
}

type exportLinks struct {
	Feature string           `json:"feature"`
	Links   []shape.LinkView `json:"links"`
}

type exportContextField struct {
	Name        string                 `json:"name"`
	Description *string                `json:"description"`
	Stickiness  bool                   `json:"stickiness"`
	SortOrder   int64                  `json:"sortOrder"`
	LegalValues []shape.LegalValueView `json:"legalValues"`
}

func exportContextFieldOf(f flags.ContextField) exportContextField {
	return exportContextField{f.Name, f.Description, f.Stickiness, f.SortOrder, shape.LegalValueViews(f)}
}

// An exportSegment is a segment to which strategies refer by its id. The other fields are exported on request only.
type exportSegment struct {
	ID          int64               `json:"id"`
	Name        string              `json:"name"`
	Description *string             `json:"description,omitzero"`
	Project     *string             `json:"project,omitzero"`
	Constraints *[]shape.Constraint `json:"constraints,omitzero"`
}

func exportSegmentOf(s *flags.Segment, full bool) exportSegment {
	view := exportSegment{ID: s.ID, Name: s.Name}
	if full {
		constraints := httpapi.Each(s.Constraints, shape.ConstraintOf)
		view.Description, view.Project, view.Constraints = s.Description, shape.NullIfEmpty(s.Project), &constraints
	}
	return view
}
