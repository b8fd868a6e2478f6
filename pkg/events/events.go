// Package events builds the events that changes leave in the log. There is one function per type of event, or per
// family of types. It takes domain values and returns the event with its type, place (project, flag, environment) and
// data. The caller adds id, time and author.
//
// Data tells what is there after the change, PreData what was there before. Both are stored as JSON and stay for years. What
// responses contain too is in pkg/shape. The golden files in testdata hold one event of every type, as a test of the whole API
// left it, so a change of these forms does not go unnoticed.
package events

import (
	"guidon/pkg/flags"
)

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
