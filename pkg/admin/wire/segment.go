package wire

import (
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
)

// A SegmentBody makes or replaces a segment: what it leaves out is emptied.
type SegmentBody struct {
	Name        string                           `json:"name"`
	Description jsonbody.Maybe[*string]          `json:"description"`
	Project     jsonbody.Maybe[*string]          `json:"project"`
	Constraints jsonbody.Maybe[[]ConstraintBody] `json:"constraints"`
}

func (b SegmentBody) Check(limits flags.Limits, problems *flags.Problems) {
	if !b.Constraints.Set {
		problems.Add("/constraints", "is required; it can be []")
	}
	if project := b.Project.Value; project != nil {
		CheckName("/project", *project, problems)
	}
	var s flags.Segment
	b.ApplyTo(&s)
	s.Check(limits, problems)
}

// ApplyTo puts what the body says into s, but for the project.
func (b SegmentBody) ApplyTo(s *flags.Segment) {
	s.Name, s.Description = b.Name, b.Description.Value
	s.Constraints = httpapi.Each(b.Constraints.Value, ConstraintBody.Constraint)
}
