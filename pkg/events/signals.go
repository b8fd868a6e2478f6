package events

import (
	"guidon/pkg/flags"
	"guidon/pkg/shape"
)

// SignalCreated is the event of a new signal.
func SignalCreated(in *flags.Signals, s flags.Signal) flags.Event {
	return flags.Event{Type: flags.SignalCreated, Project: in.Project, Environment: in.Environment, Data: shape.SignalViewOf(s)}
}

// SignalRotated is the event of a signal with a new secret.
func SignalRotated(in *flags.Signals, s flags.Signal) flags.Event {
	return flags.Event{Type: flags.SignalRotated, Project: in.Project, Environment: in.Environment, Data: shape.SignalViewOf(s)}
}

// SignalDeleted is the event of a deleted signal.
func SignalDeleted(in *flags.Signals, s flags.Signal) flags.Event {
	return flags.Event{Type: flags.SignalDeleted, Project: in.Project, Environment: in.Environment, PreData: shape.SignalViewOf(s)}
}
