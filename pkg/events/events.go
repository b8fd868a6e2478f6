// Package events builds the events that changes leave in the log. There is one function or method per type of event, or per
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

// A Family is the events of an entity that is created, updated and deleted.
type Family[A any] struct {
	created, updated, deleted flags.EventType
	shape                     func(A) any // what Data and PreData contain of it
}

func familyOf[A, Shape any](created, updated, deleted flags.EventType, shape func(A) Shape) Family[A] {
	return Family[A]{created, updated, deleted, func(a A) any { return shape(a) }}
}

// Created is the event of a new one.
func (f Family[A]) Created(a A) flags.Event { return flags.Event{Type: f.created, Data: f.shape(a)} }

// Updated is the event of one that changed.
func (f Family[A]) Updated(before, after A) flags.Event {
	return flags.Event{Type: f.updated, Data: f.shape(after), PreData: f.shape(before)}
}

// Deleted is the event of a deleted one.
func (f Family[A]) Deleted(a A) flags.Event { return flags.Event{Type: f.deleted, PreData: f.shape(a)} }
