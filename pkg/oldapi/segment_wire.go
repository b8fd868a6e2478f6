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
