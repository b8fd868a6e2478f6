package events

import (
	"cmp"

	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/shape"
)

type project struct {
	Name              string         `json:"name"`
	Mode              string         `json:"mode"`
	DefaultStickiness string         `json:"defaultStickiness"`
	FeatureLimit      *int64         `json:"featureLimit"`
	FeatureNaming     naming         `json:"featureNaming"`
	LinkTemplates     []linkTemplate `json:"linkTemplates"`
	CreatedAt         shape.Time     `json:"createdAt"`
	UpdatedAt         shape.Time     `json:"updatedAt"`
	Description       string         `json:"description,omitzero"`
}

type naming struct {
	Pattern     *string `json:"pattern"`
	Example     *string `json:"example"`
	Description *string `json:"description"`
}

type linkTemplate struct {
	Title *string `json:"title"`
	URL   string  `json:"urlTemplate"`
}

func projectOf(p *flags.Project) project {
	updated := p.UpdatedAt
	if updated.IsZero() {
		updated = p.CreatedAt
	}
	standard := flags.DefaultSettings()
	return project{
		Name: p.Name, Mode: cmp.Or(p.Mode, standard.Mode), DefaultStickiness: cmp.Or(p.DefaultStickiness, standard.DefaultStickiness),
		FeatureLimit:  p.FeatureLimit,
		FeatureNaming: naming{orNull(p.Naming.Pattern), orNull(p.Naming.Example), orNull(p.Naming.Description)},
		LinkTemplates: list(p.LinkTemplates, func(l flags.LinkTemplate) linkTemplate { return linkTemplate(l) }),
		CreatedAt:     shape.Time(p.CreatedAt), UpdatedAt: shape.Time(updated), Description: p.Description,
	}
}

// A createdProject is a new project with the names of its environments.
type createdProject struct {
	ID string `json:"id"`
	project
	Environments   []string `json:"environments"`
	ChangeRequests []string `json:"changeRequestEnvironments"` // always empty: change requests are not available
}

// ProjectCreated is the event of a new project.
func ProjectCreated(p *flags.Project, registry *flags.Environments) flags.Event {
	names := list(p.AvailableEnvironments(registry), func(e flags.ProjectEnvironment) string { return e.Name })
	data := createdProject{ID: p.ID, project: projectOf(p), Environments: names, ChangeRequests: []string{}}
	return flags.Event{Type: flags.ProjectCreated, Project: p.ID, Data: data}
}

// ProjectUpdated is the event of a project whose name, description or settings changed.
func ProjectUpdated(before, after *flags.Project) flags.Event {
	return flags.Event{Type: flags.ProjectUpdated, Project: after.ID, Data: projectOf(after), PreData: projectOf(before)}
}

// ProjectDeleted is the event of a deleted project.
func ProjectDeleted(p *flags.Project) flags.Event {
	return flags.Event{Type: flags.ProjectDeleted, Project: p.ID, PreData: projectOf(p)}
}

// A favoriteProject names the project that is a favorite, or no longer is.
type favoriteProject struct {
	Project string `json:"project"`
}

// ProjectFavorite is the event of a project that became a favorite of the caller, or is no longer one.
func ProjectFavorite(after *flags.Project, caller access.Caller) flags.Event {
	kind := flags.ProjectUnfavorited
	if after.IsFavoriteOf(caller.FavoritesKey()) {
		kind = flags.ProjectFavorited
	}
	return flags.Event{Type: kind, Project: after.ID, Data: favoriteProject{after.ID}}
}

// An attachment is an environment of a project.
type attachment struct {
	Environment     string           `json:"environment"`
	DefaultStrategy *defaultStrategy `json:"defaultStrategy"`
}

func attachmentOf(environment string, a flags.Attachment) attachment {
	data := attachment{Environment: environment}
	if a.DefaultStrategy != nil {
		s := defaultStrategyOf(*a.DefaultStrategy)
		data.DefaultStrategy = &s
	}
	return data
}

// A defaultStrategy is a strategy that belongs to no flag and has no id yet.
type defaultStrategy struct {
	Name        string             `json:"name"`
	Title       *string            `json:"title"`
	Disabled    bool               `json:"disabled"`
	SortOrder   float64            `json:"sortOrder"`
	Segments    []int64            `json:"segments"`
	Constraints []shape.Constraint `json:"constraints"`
	Variants    []shape.Variant    `json:"variants"`
	Parameters  map[string]string  `json:"parameters"`
}

func defaultStrategyOf(s flags.Strategy) defaultStrategy {
	return defaultStrategy{
		Name: s.Name, Title: s.Title, Disabled: s.Disabled, SortOrder: s.SortOrder, Segments: s.Segments,
		Constraints: shape.Constraints(s.Constraints), Variants: shape.Variants(s.Variants), Parameters: s.Parameters,
	}
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
		event.Data = defaultStrategyOf(*s)
	}
	if s := before.Environments[environment].DefaultStrategy; s != nil {
		event.PreData = defaultStrategyOf(*s)
	}
	return event
}

type environment struct {
	Name      string `json:"name"`
	Type      string `json:"type"`
	Enabled   bool   `json:"enabled"` // new projects get it
	Protected bool   `json:"protected"`
	SortOrder int64  `json:"sortOrder"`
}

func environmentOf(e flags.Environment) environment {
	return environment{e.Name, e.Type, e.Enabled, e.Protected, e.SortOrder}
}

// EnvironmentCreated is the event of a new environment.
func EnvironmentCreated(e flags.Environment) flags.Event {
	return flags.Event{Type: flags.EnvironmentCreated, Environment: e.Name, Data: environmentOf(e)}
}

// EnvironmentUpdated is the event of an environment that changed.
func EnvironmentUpdated(before, after flags.Environment) flags.Event {
	return flags.Event{Type: flags.EnvironmentUpdated, Environment: after.Name, Data: environmentOf(after), PreData: environmentOf(before)}
}

// EnvironmentDeleted is the event of a deleted environment.
func EnvironmentDeleted(e flags.Environment) flags.Event {
	return flags.Event{Type: flags.EnvironmentDeleted, Environment: e.Name, PreData: environmentOf(e)}
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
