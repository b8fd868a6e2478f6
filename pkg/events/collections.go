package events

import (
	"guidon/pkg/flags"
	"guidon/pkg/shape"
)

// TagType has the events of tag types.
var TagType = familyOf(flags.TagTypeCreated, flags.TagTypeUpdated, flags.TagTypeDeleted, shape.TagTypeViewOf)

// ContextField has the events of context fields.
var ContextField = familyOf(flags.ContextFieldCreated, flags.ContextFieldUpdated, flags.ContextFieldDeleted, shape.ContextFieldViewOf)

// SegmentCreated is the event of a new segment.
func SegmentCreated(s *flags.Segment) flags.Event {
	return flags.Event{Type: flags.SegmentCreated, Project: s.Project, Data: shape.SegmentViewOf(s)}
}

// SegmentUpdated is the event of a segment that changed.
func SegmentUpdated(before, after *flags.Segment) flags.Event {
	return flags.Event{Type: flags.SegmentUpdated, Project: after.Project, Data: shape.SegmentViewOf(after), PreData: shape.SegmentViewOf(before)}
}

// SegmentDeleted is the event of a deleted segment.
func SegmentDeleted(s *flags.Segment) flags.Event {
	return flags.Event{Type: flags.SegmentDeleted, Project: s.Project, PreData: shape.SegmentViewOf(s)}
}

// StrategyType has the events of strategy types.
var StrategyType = familyOf(flags.StrategyTypeCreated, flags.StrategyTypeUpdated, flags.StrategyTypeDeleted, shape.StrategyTypeViewOf)

// StrategyTypeDeprecated is the event of a strategy type that was deprecated, or reactivated.
func StrategyTypeDeprecated(before, after flags.StrategyType) flags.Event {
	kind := flags.StrategyTypeReactivated
	if after.Deprecated {
		kind = flags.StrategyTypeDeprecated
	}
	return flags.Event{Type: kind, Data: shape.StrategyTypeViewOf(after), PreData: shape.StrategyTypeViewOf(before)}
}

// ReleaseTemplate has the events of release templates.
var ReleaseTemplate = familyOf(flags.ReleaseTemplateCreated, flags.ReleaseTemplateUpdated, flags.ReleaseTemplateDeleted, shape.ReleaseTemplateViewOf)

// ReleaseTemplateArchived is the event of an archived release template.
func ReleaseTemplateArchived(before, after *flags.ReleaseTemplate) flags.Event {
	return flags.Event{Type: flags.ReleaseTemplateArchived, Data: shape.ReleaseTemplateViewOf(after), PreData: shape.ReleaseTemplateViewOf(before)}
}
