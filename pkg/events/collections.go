package events

import (
	"guidon/pkg/flags"
	"guidon/pkg/shape"
)

type tagType struct {
	Name        string  `json:"name"`
	Description *string `json:"description"`
	Icon        *string `json:"icon"`
}

func tagTypeOf(t flags.TagType) tagType {
	return tagType{t.Name, orNull(t.Description), orNull(t.Icon)}
}

// TagTypeCreated is the event of a new tag type.
func TagTypeCreated(t flags.TagType) flags.Event {
	return flags.Event{Type: flags.TagTypeCreated, Data: tagTypeOf(t)}
}

// TagTypeUpdated is the event of a tag type that changed.
func TagTypeUpdated(before, after flags.TagType) flags.Event {
	return flags.Event{Type: flags.TagTypeUpdated, Data: tagTypeOf(after), PreData: tagTypeOf(before)}
}

// TagTypeDeleted is the event of a deleted tag type.
func TagTypeDeleted(t flags.TagType) flags.Event {
	return flags.Event{Type: flags.TagTypeDeleted, PreData: tagTypeOf(t)}
}

type contextField struct {
	Name        string       `json:"name"`
	Description *string      `json:"description"`
	Stickiness  bool         `json:"stickiness"`
	SortOrder   int64        `json:"sortOrder"`
	LegalValues []legalValue `json:"legalValues"`
	CreatedAt   shape.Time   `json:"createdAt"`
}

type legalValue struct {
	Value       string  `json:"value"`
	Description *string `json:"description,omitzero"`
}

func contextFieldOf(f flags.ContextField) contextField {
	values := list(f.LegalValues, func(v flags.LegalValue) legalValue { return legalValue(v) })
	return contextField{f.Name, f.Description, f.Stickiness, f.SortOrder, values, shape.Time(f.CreatedAt)}
}

// ContextFieldCreated is the event of a new context field.
func ContextFieldCreated(f flags.ContextField) flags.Event {
	return flags.Event{Type: flags.ContextFieldCreated, Data: contextFieldOf(f)}
}

// ContextFieldUpdated is the event of a context field that changed.
func ContextFieldUpdated(before, after flags.ContextField) flags.Event {
	return flags.Event{Type: flags.ContextFieldUpdated, Data: contextFieldOf(after), PreData: contextFieldOf(before)}
}

// ContextFieldDeleted is the event of a deleted context field.
func ContextFieldDeleted(f flags.ContextField) flags.Event {
	return flags.Event{Type: flags.ContextFieldDeleted, PreData: contextFieldOf(f)}
}

type segment struct {
	ID          int64              `json:"id"`
	Name        string             `json:"name"`
	Description *string            `json:"description"`
	Project     *string            `json:"project,omitzero"` // the only one that can use it; absent for all
	Constraints []shape.Constraint `json:"constraints"`
	CreatedBy   string             `json:"createdBy"`
	CreatedAt   shape.Time         `json:"createdAt"`
}

func segmentOf(s *flags.Segment) segment {
	return segment{
		ID: s.ID, Name: s.Name, Description: s.Description, Project: orNull(s.Project),
		Constraints: shape.Constraints(s.Constraints), CreatedBy: s.CreatedBy, CreatedAt: shape.Time(s.CreatedAt),
	}
}

// SegmentCreated is the event of a new segment.
func SegmentCreated(s *flags.Segment) flags.Event {
	return flags.Event{Type: flags.SegmentCreated, Project: s.Project, Data: segmentOf(s)}
}

// SegmentUpdated is the event of a segment that changed.
func SegmentUpdated(before, after *flags.Segment) flags.Event {
	return flags.Event{Type: flags.SegmentUpdated, Project: after.Project, Data: segmentOf(after), PreData: segmentOf(before)}
}

// SegmentDeleted is the event of a deleted segment.
func SegmentDeleted(s *flags.Segment) flags.Event {
	return flags.Event{Type: flags.SegmentDeleted, Project: s.Project, PreData: segmentOf(s)}
}

type strategyType struct {
	Name        string              `json:"name"`
	DisplayName *string             `json:"displayName"` // null for one that is not built in
	Title       *string             `json:"title"`
	Description *string             `json:"description"`
	Editable    bool                `json:"editable"` // false for a built-in one
	Deprecated  bool                `json:"deprecated"`
	Parameters  []strategyParameter `json:"parameters"`
}

type strategyParameter struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
}

func strategyTypeOf(t flags.StrategyType) strategyType {
	return strategyType{
		Name: t.Name, DisplayName: orNull(t.DisplayName), Title: orNull(t.Title), Description: orNull(t.Description),
		Editable: !t.BuiltIn(), Deprecated: t.Deprecated,
		Parameters: list(t.Parameters, func(p flags.StrategyParameter) strategyParameter { return strategyParameter(p) }),
	}
}

// StrategyTypeCreated is the event of a new strategy type.
func StrategyTypeCreated(t flags.StrategyType) flags.Event {
	return flags.Event{Type: flags.StrategyTypeCreated, Data: strategyTypeOf(t)}
}

// StrategyTypeUpdated is the event of a strategy type that changed.
func StrategyTypeUpdated(before, after flags.StrategyType) flags.Event {
	return flags.Event{Type: flags.StrategyTypeUpdated, Data: strategyTypeOf(after), PreData: strategyTypeOf(before)}
}

// StrategyTypeDeprecated is the event of a strategy type that was deprecated, or reactivated.
func StrategyTypeDeprecated(before, after flags.StrategyType) flags.Event {
	kind := flags.StrategyTypeReactivated
	if after.Deprecated {
		kind = flags.StrategyTypeDeprecated
	}
	return flags.Event{Type: kind, Data: strategyTypeOf(after), PreData: strategyTypeOf(before)}
}

// StrategyTypeDeleted is the event of a deleted strategy type.
func StrategyTypeDeleted(t flags.StrategyType) flags.Event {
	return flags.Event{Type: flags.StrategyTypeDeleted, PreData: strategyTypeOf(t)}
}
