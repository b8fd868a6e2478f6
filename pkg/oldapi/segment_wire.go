package oldapi

import "guidon/pkg/flags"

// A segmentBody makes or replaces a segment: what it leaves out is emptied.
type segmentBody struct {
	Name        string                  `json:"name"`
	Description maybe[*string]          `json:"description"`
	Project     maybe[*string]          `json:"project"`
	Constraints maybe[[]constraintBody] `json:"constraints"`
}

func (b segmentBody) check(limits flags.Limits, problems *flags.Problems) {
	if !b.Constraints.Set {
		problems.Add("/constraints", "is required, if only as []")
	}
	if project := b.Project.Value; project != nil {
		checkName("/project", *project, problems)
	}
	var s flags.Segment
	b.over(&s)
	s.Check(limits, problems)
}

// over puts what the body says into s, but for the project.
func (b segmentBody) over(s *flags.Segment) {
	s.Name, s.Description = b.Name, b.Description.Value
	s.Constraints = each(b.Constraints.Value, constraintBody.constraint)
}

// A segmentNameBody is a name to ask about.
type segmentNameBody struct {
	Name string `json:"name"`
}

func (b segmentNameBody) check(_ flags.Limits, problems *flags.Problems) {
	if fault := flags.CheckSegmentName(b.Name); fault != "" {
		problems.Add("/name", "%s", fault)
	}
}

// A strategySegmentsBody gives a strategy its segments.
type strategySegmentsBody struct {
	Project     string         `json:"projectId"`
	Strategy    string         `json:"strategyId"`
	Environment string         `json:"environmentId"`
	Segments    maybe[[]int64] `json:"segmentIds"`
}

func (b strategySegmentsBody) check(limits flags.Limits, problems *flags.Problems) {
	checkName("/projectId", b.Project, problems)
	checkName("/environmentId", b.Environment, problems)
	if b.Strategy == "" {
		problems.Add("/strategyId", "is required")
	}
	flags.CheckLength("/strategyId", b.Strategy, flags.MaxIdentifier, problems)
	if !b.Segments.Set {
		problems.Add("/segmentIds", "is required, if only as []")
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

// A segmentView is a segment as it is answered.
type segmentView struct {
	ID          int64            `json:"id"`
	Name        string           `json:"name"`
	Description *string          `json:"description"`
	Project     *string          `json:"project,omitzero"` // only of a project's own
	Constraints []constraintView `json:"constraints"`
	CreatedBy   string           `json:"createdBy"`
	CreatedAt   timestamp        `json:"createdAt"`
}

func segmentViewOf(s *flags.Segment) segmentView {
	return segmentView{
		ID: s.ID, Name: s.Name, Description: s.Description, Project: textOrNull(s.Project),
		Constraints: each(s.Constraints, constraintViewOf), CreatedBy: s.CreatedBy, CreatedAt: timestamp(s.CreatedAt),
	}
}

// A segmentRow is a segment in the list of all.
type segmentRow struct {
	segmentView
	UsedInFeatures int `json:"usedInFeatures"`
	UsedInProjects int `json:"usedInProjects"`
}

type segmentRows struct {
	Segments []segmentRow `json:"segments"`
}

type segmentList struct {
	Segments []segmentView `json:"segments"`
}

// A segmentStrategies lists the strategies that use a segment. There are no change requests.
type segmentStrategies struct {
	Strategies              []usingStrategy `json:"strategies"`
	DefaultStrategies       []usingDefault  `json:"defaultStrategies"`
	ChangeRequestStrategies []usingStrategy `json:"changeRequestStrategies"`
}
