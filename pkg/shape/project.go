package shape

import (
	"cmp"

	"guidon/pkg/flags"
)

// A ProjectView has the fields that every response and event about a project contains.
type ProjectView struct {
	Name              string         `json:"name"`
	Mode              string         `json:"mode"`
	DefaultStickiness string         `json:"defaultStickiness"`
	FeatureLimit      *int64         `json:"featureLimit"`
	FeatureNaming     NamingView     `json:"featureNaming"`
	LinkTemplates     []LinkTemplate `json:"linkTemplates"`
	CreatedAt         Time           `json:"createdAt"`
	UpdatedAt         Time           `json:"updatedAt"`
}

// A NamingView is the naming convention of a project's flags.
type NamingView struct {
	Pattern     *string `json:"pattern"`
	Example     *string `json:"example"`
	Description *string `json:"description"`
}

// A LinkTemplate is a link that consoles show for a project's flags.
type LinkTemplate struct {
	Title *string `json:"title"`
	URL   string  `json:"urlTemplate"`
}

// ProjectViewOf returns what every response says of a project.
func ProjectViewOf(p *flags.Project) ProjectView {
	updated := p.UpdatedAt
	if updated.IsZero() {
		updated = p.CreatedAt
	}
	standard := flags.DefaultSettings()
	return ProjectView{
		Name: p.Name, Mode: cmp.Or(p.Mode, standard.Mode), DefaultStickiness: cmp.Or(p.DefaultStickiness, standard.DefaultStickiness),
		FeatureLimit:  p.FeatureLimit,
		FeatureNaming: NamingView{NullIfEmpty(p.Naming.Pattern), NullIfEmpty(p.Naming.Example), NullIfEmpty(p.Naming.Description)},
		LinkTemplates: Each(p.LinkTemplates, func(l flags.LinkTemplate) LinkTemplate { return LinkTemplate(l) }),
		CreatedAt:     Time(p.CreatedAt), UpdatedAt: Time(updated),
	}
}

// A DescribedProject is a ProjectView with the description. An empty description is omitted, because clients take null for a
// text.
type DescribedProject struct {
	ProjectView
	Description string `json:"description,omitzero"`
}

// DescribedProjectOf returns a project with its description.
func DescribedProjectOf(p *flags.Project) DescribedProject {
	return DescribedProject{ProjectViewOf(p), p.Description}
}

// A CreatedProject is a new project with the names of its environments.
type CreatedProject struct {
	ID string `json:"id"`
	DescribedProject
	Environments   []string              `json:"environments"`
	ChangeRequests []ReviewedEnvironment `json:"changeRequestEnvironments"` // where change requests are on
}

// A ReviewedEnvironment is an environment of a new project in which change requests are on.
type ReviewedEnvironment struct {
	Name      string `json:"name"`
	Approvals int    `json:"requiredApprovals"`
}

// CreatedProjectOf returns a new project.
func CreatedProjectOf(p *flags.Project, registry *flags.Environments) CreatedProject {
	names := Each(p.AvailableEnvironments(registry), func(e flags.ProjectEnvironment) string { return e.Name })
	reviewed := []ReviewedEnvironment{}
	for _, e := range p.AvailableEnvironments(registry) {
		if rule, on := p.Review(e.Environment); on {
			reviewed = append(reviewed, ReviewedEnvironment{e.Name, rule.Approvals})
		}
	}
	return CreatedProject{p.ID, DescribedProjectOf(p), names, reviewed}
}

// An EnvironmentView is an environment of the service.
type EnvironmentView struct {
	Name      string `json:"name"`
	Type      string `json:"type"`
	Enabled   bool   `json:"enabled"` // whether new projects get it
	Protected bool   `json:"protected"`
	SortOrder int64  `json:"sortOrder"`

	RequiredApprovals int  `json:"requiredApprovals,omitzero"` // of change requests where they are on; left out without such a rule
	NobodySkips       bool `json:"nobodySkips,omitzero"`       // even administrators cannot skip change requests
	OffAllowed        bool `json:"offAllowed,omitzero"`        // switching a flag off needs no change request
}

// EnvironmentViewOf returns an environment.
func EnvironmentViewOf(e flags.Environment) EnvironmentView {
	return EnvironmentView{e.Name, e.Type, e.Enabled, e.Protected, e.SortOrder, e.RequiredApprovals, e.NobodySkips, e.OffAllowed}
}
