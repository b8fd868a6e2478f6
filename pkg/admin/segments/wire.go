package segments

import (
	"guidon/pkg/admin/wire"
	"guidon/pkg/flags"
	"guidon/pkg/jsonbody"
	"guidon/pkg/shape"
)

// A segmentNameBody is a name to check.
type segmentNameBody struct {
	Name string `json:"name"`
}

func (b segmentNameBody) Check(_ flags.Limits, problems *flags.Problems) {
	if fault := flags.CheckSegmentName(b.Name); fault != "" {
		problems.Add("/name", "%s", fault)
	}
}

// A strategySegmentsBody sets the segments of a strategy.
type strategySegmentsBody struct {
	Project     string                  `json:"projectId"`
	Strategy    string                  `json:"strategyId"`
	Environment string                  `json:"environmentId"`
	Segments    jsonbody.Maybe[[]int64] `json:"segmentIds"`
}

func (b strategySegmentsBody) Check(limits flags.Limits, problems *flags.Problems) {
	wire.CheckName("/projectId", b.Project, problems)
	wire.CheckName("/environmentId", b.Environment, problems)
	if b.Strategy == "" {
		problems.Add("/strategyId", "is required")
	}
	flags.CheckLength("/strategyId", b.Strategy, flags.MaxIdentifier, problems)
	if !b.Segments.Set {
		problems.Add("/segmentIds", "is required; it can be []")
	}
	flags.CheckSegmentIDs("/segmentIds", b.Segments.Value, limits, problems)
}

// A strategySegmentsView repeats what was set.
type strategySegmentsView struct {
	Project     string  `json:"projectId"`
	Strategy    string  `json:"strategyId"`
	Environment string  `json:"environmentId"`
	Segments    []int64 `json:"segmentIds"`
}

// A segmentRow is a segment in the list of all segments.
type segmentRow struct {
	shape.SegmentView
	UsedInFeatures int `json:"usedInFeatures"`
	UsedInProjects int `json:"usedInProjects"`
}

// segmentRows is the list of all segments.
type segmentRows struct {
	Segments []segmentRow `json:"segments"`
}

// A segmentList is the list of the segments of a strategy.
type segmentList struct {
	Segments []shape.SegmentView `json:"segments"`
}

// segmentStrategies lists the strategies that use a segment. It does not list those that change requests propose.
type segmentStrategies struct {
	Strategies              []usingStrategy `json:"strategies"`
	DefaultStrategies       []usingDefault  `json:"defaultStrategies"`
	ChangeRequestStrategies []usingStrategy `json:"changeRequestStrategies"`
	Next                    string          `json:"next,omitzero"` // the cursor of the next page
}

// A usingStrategy is a strategy of a flag that uses a segment or a context field.
type usingStrategy struct {
	ID           string `json:"id"`
	FeatureName  string `json:"featureName"`
	ProjectID    string `json:"projectId"`
	Environment  string `json:"environment"`
	StrategyName string `json:"strategyName"`
}

func usingStrategyOf(s flags.FeatureStrategyUse) usingStrategy {
	return usingStrategy{s.ID, s.Feature, s.Project, s.Environment, s.Name}
}

// A usingDefault is a default strategy of a project that uses a segment or a context field.
type usingDefault struct {
	ProjectID    string `json:"projectId"`
	Environment  string `json:"environment"`
	StrategyName string `json:"strategyName"`
}

func usingDefaultOf(d flags.DefaultStrategyUse) usingDefault {
	return usingDefault{d.Project, d.Environment, d.Name}
}
