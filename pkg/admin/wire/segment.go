package wire

import (
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
	"guidon/pkg/shape"
)

// A SegmentBody makes or replaces a segment: what it leaves out is emptied.
type SegmentBody struct {
	Name        string                           `json:"name"`
	Description jsonbody.Maybe[*string]          `json:"description"`
	Project     jsonbody.Maybe[*string]          `json:"project"`
	Constraints jsonbody.Maybe[[]ConstraintBody] `json:"constraints"`
}

// Check finds what is wrong with the body by itself.
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

// A SegmentView is a segment as it is answered.
type SegmentView struct {
	ID          int64              `json:"id"`
	Name        string             `json:"name"`
	Description *string            `json:"description"`
	Project     *string            `json:"project,omitzero"` // only of a project's own
	Constraints []shape.Constraint `json:"constraints"`
	CreatedBy   string             `json:"createdBy"`
	CreatedAt   shape.Time         `json:"createdAt"`
}

// SegmentViewOf returns it as answers have it.
func SegmentViewOf(s *flags.Segment) SegmentView {
	return SegmentView{
		ID: s.ID, Name: s.Name, Description: s.Description, Project: NullIfEmpty(s.Project),
		Constraints: httpapi.Each(s.Constraints, shape.ConstraintOf), CreatedBy: s.CreatedBy, CreatedAt: shape.Time(s.CreatedAt),
	}
}
