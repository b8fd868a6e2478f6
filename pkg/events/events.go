// Package events builds the events that changes leave in the log. There is one function per type of event, or per
// family of types. It takes domain values and returns the event with its type, place (project, flag, environment) and
// data. The caller adds id, time and author.
//
// Data tells what is there after the change, PreData what was there before. Both are stored as JSON and stay for years,
// so their shapes are defined here, except the small values in pkg/shape: a change of an answer does not change the log.
// The golden files in testdata hold one event of every type, as a test of the whole interface left it.
package events

import (
	"guidon/pkg/flags"
)

// list converts a list; an empty one is not nil, so that it is there in a field marked omitzero.
func list[A, B any](from []A, convert func(A) B) []B {
	to := make([]B, len(from))
	for i, a := range from {
		to[i] = convert(a)
	}
	return to
}

// orNull is a text, or nil for an empty one.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// ofFeature is an event about a flag.
func ofFeature(kind flags.EventType, f *flags.Feature, data, preData any) flags.Event {
	return flags.Event{Type: kind, Project: f.Project, FeatureName: f.Name, Data: data, PreData: preData}
}

// inEnvironment is an event about a flag in one environment.
func inEnvironment(kind flags.EventType, f *flags.Feature, env flags.ProjectEnvironment, data, preData any) flags.Event {
	event := ofFeature(kind, f, data, preData)
	event.Environment = env.Name
	return event
}
