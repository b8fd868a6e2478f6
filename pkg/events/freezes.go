package events

import (
	"guidon/pkg/flags"
	"guidon/pkg/shape"
)

// FreezeSet is the event of a freeze of an environment of a project, or with "" of all projects.
func FreezeSet(project string, env flags.Environment, f flags.Freeze) flags.Event {
	return flags.Event{Type: flags.FreezeSet, Project: project, Environment: env.Name, Data: shape.FreezeViewOf(f, project == "")}
}

// FreezeLifted is the event of a freeze that was lifted.
func FreezeLifted(project string, env flags.Environment, f flags.Freeze) flags.Event {
	return flags.Event{Type: flags.FreezeLifted, Project: project, Environment: env.Name, PreData: shape.FreezeViewOf(f, project == "")}
}

// A skippedFreeze is where someone changed what a freeze guards.
type skippedFreeze struct {
	Environments []string `json:"environments"`
}

// FreezeSkipped is the event beside the event of a change that someone made in a freeze.
func FreezeSkipped(of flags.Event, environments []string) flags.Event {
	return flags.Event{
		Type: flags.FreezeSkipped, Project: of.Project, Environment: of.Environment, FeatureName: of.FeatureName, Data: skippedFreeze{environments},
	}
}
