package events

import (
	"guidon/pkg/flags"
	"guidon/pkg/shape"
)

// TagTypeCreated is the event of a new tag type.
func TagTypeCreated(t flags.TagType) flags.Event {
	return flags.Event{Type: flags.TagTypeCreated, Data: shape.TagTypeViewOf(t)}
}

// TagTypeUpdated is the event of a tag type that changed.
func TagTypeUpdated(before, after flags.TagType) flags.Event {
	return flags.Event{Type: flags.TagTypeUpdated, Data: shape.TagTypeViewOf(after), PreData: shape.TagTypeViewOf(before)}
}

// TagTypeDeleted is the event of a deleted tag type.
func TagTypeDeleted(t flags.TagType) flags.Event {
	return flags.Event{Type: flags.TagTypeDeleted, PreData: shape.TagTypeViewOf(t)}
}

// ContextFieldCreated is the event of a new context field.
func ContextFieldCreated(f flags.ContextField) flags.Event {
	return flags.Event{Type: flags.ContextFieldCreated, Data: shape.ContextFieldViewOf(f)}
}

// ContextFieldUpdated is the event of a context field that changed.
func ContextFieldUpdated(before, after flags.ContextField) flags.Event {
	return flags.Event{Type: flags.ContextFieldUpdated, Data: shape.ContextFieldViewOf(after), PreData: shape.ContextFieldViewOf(before)}
}

// ContextFieldDeleted is the event of a deleted context field.
func ContextFieldDeleted(f flags.ContextField) flags.Event {
	return flags.Event{Type: flags.ContextFieldDeleted, PreData: shape.ContextFieldViewOf(f)}
}

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

// StrategyTypeCreated is the event of a new strategy type.
func StrategyTypeCreated(t flags.StrategyType) flags.Event {
	return flags.Event{Type: flags.StrategyTypeCreated, Data: shape.StrategyTypeViewOf(t)}
}

// StrategyTypeUpdated is the event of a strategy type that changed.
func StrategyTypeUpdated(before, after flags.StrategyType) flags.Event {
	return flags.Event{Type: flags.StrategyTypeUpdated, Data: shape.StrategyTypeViewOf(after), PreData: shape.StrategyTypeViewOf(before)}
}

// StrategyTypeDeprecated is the event of a strategy type that was deprecated, or reactivated.
func StrategyTypeDeprecated(before, after flags.StrategyType) flags.Event {
	kind := flags.StrategyTypeReactivated
	if after.Deprecated {
		kind = flags.StrategyTypeDeprecated
	}
	return flags.Event{Type: kind, Data: shape.StrategyTypeViewOf(after), PreData: shape.StrategyTypeViewOf(before)}
}

// StrategyTypeDeleted is the event of a deleted strategy type.
func StrategyTypeDeleted(t flags.StrategyType) flags.Event {
	return flags.Event{Type: flags.StrategyTypeDeleted, PreData: shape.StrategyTypeViewOf(t)}
}
