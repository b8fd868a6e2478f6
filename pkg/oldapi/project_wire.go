package oldapi

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"guidon/pkg/flags"
)

// A createProjectBody makes a project. Without an id, one is derived from its name.
type createProjectBody struct {
	ID           maybe[string]   `json:"id"`
	Name         maybe[string]   `json:"name"`
	Description  maybe[*string]  `json:"description"`
	Environments maybe[[]string] `json:"environments"` // left out: all that are enabled

	ChangeRequests maybe[[]changeRequestEnvironment] `json:"changeRequestEnvironments"`
	settingsBody
}

type changeRequestEnvironment struct {
	Name string `json:"name"`
}

func (b createProjectBody) check(limits flags.Limits, problems *flags.Problems) {
	switch {
	case b.ID.Value != "", b.ID.Set && !b.Name.Set:
		checkName("/id", b.ID.Value, problems)
	case !b.Name.Set:
		problems.Add("/name", "is required, where there is no id")
	}
	checkProjectName(b.Name, problems)
	(&flags.Project{Name: b.Name.Value, Description: orEmpty(b.Description.Value)}).CheckTexts(problems)
	if n := len(b.Environments.Value); n > MaxBulk {
		problems.Add("/environments", "must name at most %d environments, names %d; add the others to the project afterwards", MaxBulk, n)
	}
	for i := range b.ChangeRequests.Value {
		problems.Add("/changeRequestEnvironments/"+strconv.Itoa(i), changeRequestsAreOff)
	}
	b.settingsBody.check(limits, problems)
}

func checkProjectName(name maybe[string], problems *flags.Problems) {
	if name.Set && strings.TrimSpace(name.Value) == "" {
		problems.Add("/name", "must not be empty")
		return
	}
	flags.CheckPrintable("/name", name.Value, problems)
}

// An updateProjectBody changes a project; what it leaves out stays.
type updateProjectBody struct {
	Name        maybe[string]  `json:"name"`
	Description maybe[*string] `json:"description"`
	settingsBody
}

func (b updateProjectBody) check(limits flags.Limits, problems *flags.Problems) {
	checkProjectName(b.Name, problems)
	(&flags.Project{Name: b.Name.Value, Description: orEmpty(b.Description.Value)}).CheckTexts(problems)
	b.settingsBody.check(limits, problems)
}

// A settingsBody changes a project's settings; what it leaves out stays.
type settingsBody struct {
	Mode              maybe[string]         `json:"mode"`
	DefaultStickiness maybe[string]         `json:"defaultStickiness"`
	FeatureLimit      maybe[*int64]         `json:"featureLimit"` // null for none; kept, and not enforced
	FeatureNaming     maybe[namingBody]     `json:"featureNaming"`
	LinkTemplates     maybe[[]linkTemplate] `json:"linkTemplates"`
}

// A namingBody replaces how a project would like its flags to be called.
type namingBody struct {
	Pattern     maybe[*string] `json:"pattern"`
	Example     maybe[*string] `json:"example"`
	Description maybe[*string] `json:"description"`
}

// A linkTemplate is a link that consoles offer for a project's flags.
type linkTemplate struct {
	Title *string `json:"title"`
	URL   string  `json:"urlTemplate"`
}

var projectModes = []string{flags.ModeOpen, flags.ModeProtected, flags.ModePrivate}

func (b settingsBody) check(_ flags.Limits, problems *flags.Problems) {
	if b.Mode.Set && !slices.Contains(projectModes, b.Mode.Value) {
		problems.Add("/mode", "%q must be one of %s", shorten(b.Mode.Value), strings.Join(projectModes, ", "))
	}
	if b.DefaultStickiness.Set && b.DefaultStickiness.Value == "" {
		problems.Add("/defaultStickiness", "must not be empty")
	}
	if limit := b.FeatureLimit.Value; limit != nil && *limit < 0 {
		problems.Add("/featureLimit", "must be 0 or more, or null for no limit")
	}
	(&flags.Project{Settings: b.over(flags.Settings{})}).CheckTexts(problems)
	for i, link := range b.LinkTemplates.Value {
		if link.URL == "" {
			problems.Add("/linkTemplates/"+strconv.Itoa(i)+"/urlTemplate", "is required")
		}
	}
}

// over is the settings s with what the body says over them.
func (b settingsBody) over(s flags.Settings) flags.Settings {
	s.Mode = b.Mode.or(s.Mode)
	s.DefaultStickiness = b.DefaultStickiness.or(s.DefaultStickiness)
	s.FeatureLimit = b.FeatureLimit.or(s.FeatureLimit)
	if naming := b.FeatureNaming.Value; b.FeatureNaming.Set {
		s.Naming = flags.Naming{Pattern: orEmpty(naming.Pattern.Value), Example: orEmpty(naming.Example.Value), Description: orEmpty(naming.Description.Value)}
	}
	if b.LinkTemplates.Set {
		s.LinkTemplates = nil
		for _, link := range b.LinkTemplates.Value {
			s.LinkTemplates = append(s.LinkTemplates, flags.LinkTemplate(link))
		}
	}
	return s
}

func orEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// orNull is a text, or null for none.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// A projectView is what is said of a project everywhere.
type projectView struct {
	Name              string         `json:"name"`
	Mode              string         `json:"mode"`
	DefaultStickiness string         `json:"defaultStickiness"`
	FeatureLimit      *int64         `json:"featureLimit"`
	FeatureNaming     namingView     `json:"featureNaming"`
	LinkTemplates     []linkTemplate `json:"linkTemplates"`
	CreatedAt         timestamp      `json:"createdAt"`
	UpdatedAt         timestamp      `json:"updatedAt"`
}

// A describedProject is a projectView with the description, which is left out when it is empty: clients take null for a
// text that is there.
type describedProject struct {
	projectView
	Description string `json:"description,omitzero"`
}

func describedProjectOf(p *flags.Project) describedProject {
	return describedProject{projectViewOf(p), p.Description}
}

type namingView struct {
	Pattern     *string `json:"pattern"`
	Example     *string `json:"example"`
	Description *string `json:"description"`
}

func projectViewOf(p *flags.Project) projectView {
	updated := p.UpdatedAt
	if updated.IsZero() {
		updated = p.CreatedAt
	}
	standard := flags.DefaultSettings()
	return projectView{
		Name: p.Name, Mode: cmp.Or(p.Mode, standard.Mode), DefaultStickiness: cmp.Or(p.DefaultStickiness, standard.DefaultStickiness),
		FeatureLimit:  p.FeatureLimit,
		FeatureNaming: namingView{orNull(p.Naming.Pattern), orNull(p.Naming.Example), orNull(p.Naming.Description)},
		LinkTemplates: each(p.LinkTemplates, func(l flags.LinkTemplate) linkTemplate { return linkTemplate(l) }),
		CreatedAt:     timestamp(p.CreatedAt), UpdatedAt: timestamp(updated),
	}
}

// A projectRow is a project in the list of all.
type projectRow struct {
	ID string `json:"id"`
	describedProject
	Health            int  `json:"health"`       // percentage of active flags that are not stale
	FeatureCount      int  `json:"featureCount"` // active flags
	StaleFeatureCount int  `json:"staleFeatureCount"`
	MemberCount       int  `json:"memberCount"`
	Favorite          bool `json:"favorite"` // of the caller
}

type projectList struct {
	Version  int          `json:"version"`
	Projects []projectRow `json:"projects"`
}

// A createdProject is a project as its creation answers.
type createdProject struct {
	ID string `json:"id"`
	describedProject
	Environments   []string `json:"environments"`
	ChangeRequests []string `json:"changeRequestEnvironments"` // always empty: change requests are off
}

// A projectCore is what all reads of one project have.
type projectCore struct {
	Version int `json:"version"`
	projectView
	Description  string         `json:"description"` // always there: the contract has it in the overview
	Health       int            `json:"health"`      // percentage of active flags that are not stale
	Members      int            `json:"members"`     // users with a role in the project
	Favorite     bool           `json:"favorite"`
	Stats        projectStats   `json:"stats"`
	Environments []attachedView `json:"environments"`
}

// A projectOverview is a project with its flags (contract: Project overview).
type projectOverview struct {
	projectCore
	Features []featureRow `json:"features"`
}

// A projectSummary is a project with the number of its flags, by type.
type projectSummary struct {
	projectCore
	Types []featureTypeCount `json:"featureTypeCounts"`
}

type featureTypeCount struct {
	Type  flags.FeatureType `json:"type"`
	Count int               `json:"count"`
}

// A healthReport is a project with its flags, and how many of them are stale.
type healthReport struct {
	projectCore
	Features         []featureRow `json:"features"`
	Active           int          `json:"activeCount"` // not stale
	Stale            int          `json:"staleCount"`
	PotentiallyStale int          `json:"potentiallyStaleCount"` // always 0: nothing marks flags by itself
}

// An attachedView is an environment of a project in its overview.
type attachedView struct {
	Environment     string               `json:"environment"`
	DefaultStrategy *defaultStrategyView `json:"defaultStrategy,omitzero"`
}

func attachedViewOf(e flags.ProjectEnvironment) attachedView {
	view := attachedView{Environment: e.Name}
	if s := e.Attachment.DefaultStrategy; s != nil {
		strategy := defaultStrategyViewOf(*s)
		view.DefaultStrategy = &strategy
	}
	return view
}

// projectStats has the members of Unleash's project statistics. A window is 30 days. Only created flags can be told from
// what a project's list holds; the other members are 0, and their words in the description say so.
type projectStats struct {
	CreatedCurrent  int `json:"createdCurrentWindow"` // flags that are not archived
	CreatedPast     int `json:"createdPastWindow"`
	ArchivedCurrent int `json:"archivedCurrentWindow"`
	ArchivedPast    int `json:"archivedPastWindow"`
	ActivityCurrent int `json:"projectActivityCurrentWindow"`
	ActivityPast    int `json:"projectActivityPastWindow"`
	MembersAdded    int `json:"projectMembersAddedCurrentWindow"`
	TimeToProd      int `json:"avgTimeToProdCurrentWindow"`
}

func projectStatsOf(active []flags.FeatureSummary, now time.Time) projectStats {
	const window = 30 * 24 * time.Hour
	created := func(from, to time.Time) int {
		return count(active, func(s flags.FeatureSummary) bool { return s.CreatedAt.After(from) && !s.CreatedAt.After(to) })
	}
	return projectStats{CreatedCurrent: created(now.Add(-window), now), CreatedPast: created(now.Add(-2*window), now.Add(-window))}
}
