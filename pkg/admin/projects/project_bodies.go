package projects

import (
	"slices"
	"strconv"
	"strings"

	"guidon/pkg/admin/wire"
	"guidon/pkg/flags"
	"guidon/pkg/jsonbody"
	"guidon/pkg/shape"
)

// A createProjectBody creates a project. Without an id, one is derived from its name.
type createProjectBody struct {
	ID           jsonbody.Maybe[string]   `json:"id"`
	Name         jsonbody.Maybe[string]   `json:"name"`
	Description  jsonbody.Maybe[*string]  `json:"description"`
	Environments jsonbody.Maybe[[]string] `json:"environments"` // default: all that are enabled

	ChangeRequests jsonbody.Maybe[[]changeRequestEnvironment] `json:"changeRequestEnvironments"`
	settingsBody
}

// A changeRequestEnvironment switches change requests on in an environment of a new project.
type changeRequestEnvironment struct {
	Name      string                 `json:"name"`
	Approvals jsonbody.Maybe[*int64] `json:"requiredApprovals"`
}

func (b createProjectBody) Check(limits flags.Limits, problems *flags.Problems) {
	switch {
	case b.ID.Value != "", b.ID.Set && !b.Name.Set:
		wire.CheckName("/id", b.ID.Value, problems)
	case !b.Name.Set:
		problems.Add("/name", "is required if there is no id")
	}
	checkNameAndDescription(b.Name, b.Description, problems)
	if n := len(b.Environments.Value); n > wire.MaxBulk {
		problems.Add("/environments", "has %d environments, and no more than %d are allowed; add the others to the project afterwards", n, wire.MaxBulk)
	}
	if n := len(b.ChangeRequests.Value); n > wire.MaxBulk {
		problems.Add("/changeRequestEnvironments", "has %d environments, and no more than %d are allowed", n, wire.MaxBulk)
	}
	b.settingsBody.Check(limits, problems)
}

func checkNameAndDescription(name jsonbody.Maybe[string], description jsonbody.Maybe[*string], problems *flags.Problems) {
	if name.Set && strings.TrimSpace(name.Value) == "" {
		problems.Add("/name", "must not be blank")
	} else {
		flags.CheckPrintable("/name", name.Value, problems)
	}
	(&flags.Project{Name: name.Value, Description: wire.TextOver(description, "")}).CheckTexts(problems)
}

// An updateProjectBody updates a project. Fields that it omits stay the same.
type updateProjectBody struct {
	Name        jsonbody.Maybe[string]  `json:"name"`
	Description jsonbody.Maybe[*string] `json:"description"`
	settingsBody
}

func (b updateProjectBody) Check(limits flags.Limits, problems *flags.Problems) {
	checkNameAndDescription(b.Name, b.Description, problems)
	b.settingsBody.Check(limits, problems)
}

// A settingsBody updates the settings of a project. Fields that it omits stay the same.
type settingsBody struct {
	Mode              jsonbody.Maybe[string]               `json:"mode"`
	DefaultStickiness jsonbody.Maybe[string]               `json:"defaultStickiness"`
	FeatureLimit      jsonbody.Maybe[*int64]               `json:"featureLimit"` // null for none
	FeatureNaming     jsonbody.Maybe[namingBody]           `json:"featureNaming"`
	LinkTemplates     jsonbody.Maybe[[]shape.LinkTemplate] `json:"linkTemplates"`
}

// A namingBody replaces the naming convention of a project's flags.
type namingBody struct {
	Pattern     jsonbody.Maybe[*string] `json:"pattern"`
	Example     jsonbody.Maybe[*string] `json:"example"`
	Description jsonbody.Maybe[*string] `json:"description"`
}

var projectModes = []string{flags.ModeOpen, flags.ModeProtected, flags.ModePrivate}

func (b settingsBody) Check(_ flags.Limits, problems *flags.Problems) {
	if b.Mode.Set && !slices.Contains(projectModes, b.Mode.Value) {
		problems.Add("/mode", "%q must be one of %s", jsonbody.Shorten(b.Mode.Value), strings.Join(projectModes, ", "))
	}
	if b.DefaultStickiness.Set && b.DefaultStickiness.Value == "" {
		problems.Add("/defaultStickiness", "must not be empty")
	}
	if limit := b.FeatureLimit.Value; limit != nil && *limit < 0 {
		problems.Add("/featureLimit", "must be 0 or more, or null for no limit")
	}
	(&flags.Project{Settings: b.applyTo(flags.Settings{})}).CheckTexts(problems)
	problems.CheckAt("/featureNaming", b.applyTo(flags.Settings{}).Naming.Check)
	for i, link := range b.LinkTemplates.Value {
		field := "/linkTemplates/" + strconv.Itoa(i) + "/urlTemplate"
		if link.URL == "" {
			problems.Add(field, "is required")
		}
		flags.CheckLink(field, link.URL, problems)
	}
}

// applyTo returns the settings s with the fields of the body.
func (b settingsBody) applyTo(s flags.Settings) flags.Settings {
	s.Mode = b.Mode.Or(s.Mode)
	s.DefaultStickiness = b.DefaultStickiness.Or(s.DefaultStickiness)
	s.FeatureLimit = b.FeatureLimit.Or(s.FeatureLimit)
	if naming := b.FeatureNaming.Value; b.FeatureNaming.Set {
		s.Naming = flags.Naming{
			Pattern: wire.TextOver(naming.Pattern, ""), Example: wire.TextOver(naming.Example, ""), Description: wire.TextOver(naming.Description, ""),
		}
	}
	if b.LinkTemplates.Set {
		s.LinkTemplates = nil
		for _, link := range b.LinkTemplates.Value {
			s.LinkTemplates = append(s.LinkTemplates, flags.LinkTemplate(link))
		}
	}
	return s
}
