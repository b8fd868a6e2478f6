package shape

import "guidon/pkg/flags"

// A TagTypeView is a tag type.
type TagTypeView struct {
	Name        string  `json:"name"`
	Description *string `json:"description"`
	Icon        *string `json:"icon"`
}

// TagTypeViewOf returns a tag type.
func TagTypeViewOf(t flags.TagType) TagTypeView {
	return TagTypeView{t.Name, NullIfEmpty(t.Description), NullIfEmpty(t.Icon)}
}

// A ContextFieldView is a context field.
type ContextFieldView struct {
	Name        string           `json:"name"`
	Description *string          `json:"description"`
	Stickiness  bool             `json:"stickiness"`
	SortOrder   int64            `json:"sortOrder"`
	LegalValues []LegalValueView `json:"legalValues"`
	CreatedAt   Time             `json:"createdAt"`
}

// A LegalValueView is an allowed value of a context field.
type LegalValueView struct {
	Value       string  `json:"value"`
	Description *string `json:"description,omitzero"`
}

// ContextFieldViewOf returns a context field.
func ContextFieldViewOf(f flags.ContextField) ContextFieldView {
	return ContextFieldView{f.Name, f.Description, f.Stickiness, f.SortOrder, LegalValueViews(f), Time(f.CreatedAt)}
}

// LegalValueViews returns the allowed values of a context field.
func LegalValueViews(f flags.ContextField) []LegalValueView {
	return Each(f.LegalValues, func(v flags.LegalValue) LegalValueView { return LegalValueView(v) })
}

// A SegmentView is a segment.
type SegmentView struct {
	ID          int64        `json:"id"`
	Name        string       `json:"name"`
	Description *string      `json:"description"`
	Project     *string      `json:"project,omitzero"` // the only one that can use it; absent for all
	Constraints []Constraint `json:"constraints"`
	CreatedBy   string       `json:"createdBy"`
	CreatedAt   Time         `json:"createdAt"`
}

// SegmentViewOf returns a segment.
func SegmentViewOf(s *flags.Segment) SegmentView {
	return SegmentView{
		ID: s.ID, Name: s.Name, Description: s.Description, Project: NullIfEmpty(s.Project),
		Constraints: Constraints(s.Constraints), CreatedBy: s.CreatedBy, CreatedAt: Time(s.CreatedAt),
	}
}

// A StrategyTypeView is a strategy type.
type StrategyTypeView struct {
	Name        string                  `json:"name"`
	DisplayName *string                 `json:"displayName"` // null for custom types
	Title       *string                 `json:"title"`
	Description *string                 `json:"description"`
	Editable    bool                    `json:"editable"` // false for built-in types
	Deprecated  bool                    `json:"deprecated"`
	Parameters  []StrategyParameterView `json:"parameters"`
}

// A StrategyParameterView is a parameter of a strategy type.
type StrategyParameterView struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
}

// StrategyTypeViewOf returns a strategy type.
func StrategyTypeViewOf(t flags.StrategyType) StrategyTypeView {
	return StrategyTypeView{
		Name: t.Name, DisplayName: NullIfEmpty(t.DisplayName), Title: NullIfEmpty(t.Title), Description: NullIfEmpty(t.Description),
		Editable: !t.BuiltIn(), Deprecated: t.Deprecated,
		Parameters: Each(t.Parameters, func(p flags.StrategyParameter) StrategyParameterView { return StrategyParameterView(p) }),
	}
}
