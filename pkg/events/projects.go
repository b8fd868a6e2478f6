package events

import (
	"guidon/pkg/flags"
	"guidon/pkg/shape"
)

// ProjectCreated is the event of a new project.
func ProjectCreated(p *flags.Project, registry *flags.Environments) flags.Event {
	return flags.Event{Type: flags.ProjectCreated, Project: p.ID, Data: shape.CreatedProjectOf(p, registry)}
}

// ProjectUpdated is the event of a project whose name, description or settings changed.
func ProjectUpdated(before, after *flags.Project) flags.Event {
	return flags.Event{Type: flags.ProjectUpdated, Project: after.ID, Data: shape.DescribedProjectOf(after), PreData: shape.DescribedProjectOf(before)}
}

// ProjectDeleted is the event of a deleted project.
func ProjectDeleted(p *flags.Project) flags.Event {
	return flags.Event{Type: flags.ProjectDeleted, Project: p.ID, PreData: shape.DescribedProjectOf(p)}
}

// An attachment is an environment of a project.
type attachment struct {
	Environment     string                     `json:"environment"`
	DefaultStrategy *shape.DefaultStrategyView `json:"defaultStrategy"`
}

func attachmentOf(environment string, a flags.Attachment) attachment {
	return attachment{environment, shape.DefaultStrategyViewOf(a.DefaultStrategy)}
}

// ProjectEnvironmentAdded is the event of a project that got an environment.
func ProjectEnvironmentAdded(after *flags.Project, environment string) flags.Event {
	return flags.Event{
		Type: flags.ProjectEnvironmentAdded, Project: after.ID, Environment: environment,
		Data: attachmentOf(environment, after.Environments[environment]),
	}
}

// ProjectEnvironmentRemoved is the event of a project that lost an environment.
func ProjectEnvironmentRemoved(before *flags.Project, environment string) flags.Event {
	return flags.Event{
		Type: flags.ProjectEnvironmentRemoved, Project: before.ID, Environment: environment,
		PreData: attachmentOf(environment, before.Environments[environment]),
	}
}

// DefaultStrategyUpdated is the event of a project whose default strategy for an environment changed.
func DefaultStrategyUpdated(before, after *flags.Project, environment string) flags.Event {
	event := flags.Event{Type: flags.DefaultStrategyUpdated, Project: after.ID, Environment: environment}
	if s := after.Environments[environment].DefaultStrategy; s != nil {
		event.Data = shape.DefaultStrategyViewOf(s)
	}
	if s := before.Environments[environment].DefaultStrategy; s != nil {
		event.PreData = shape.DefaultStrategyViewOf(s)
	}
	return event
}

// EnvironmentCreated is the event of a new environment.
func EnvironmentCreated(e flags.Environment) flags.Event {
	return flags.Event{Type: flags.EnvironmentCreated, Environment: e.Name, Data: shape.EnvironmentViewOf(e)}
}

// EnvironmentUpdated is the event of an environment that changed.
func EnvironmentUpdated(before, after flags.Environment) flags.Event {
	return flags.Event{Type: flags.EnvironmentUpdated, Environment: after.Name, Data: shape.EnvironmentViewOf(after), PreData: shape.EnvironmentViewOf(before)}
}

// EnvironmentDeleted is the event of a deleted environment.
func EnvironmentDeleted(e flags.Environment) flags.Event {
	return flags.Event{Type: flags.EnvironmentDeleted, Environment: e.Name, PreData: shape.EnvironmentViewOf(e)}
}

// EnvironmentsOrdered is the event of environments that got other sort orders, which order has by their names.
func EnvironmentsOrdered(before *flags.Environments, order map[string]int64) flags.Event {
	old := make(map[string]int64, len(order))
	for name := range order {
		if env := before.Find(name); env != nil {
			old[name] = env.SortOrder
		}
	}
	return flags.Event{Type: flags.EnvironmentUpdated, Data: order, PreData: old}
}
