package projects

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/admin/wire"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/shape"
)

// A projectRow is a project in the list of all projects.
type projectRow struct {
	ID string `json:"id"`
	shape.DescribedProject
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

// A projectCore has the fields that all reads of one project have.
type projectCore struct {
	Version int `json:"version"`
	shape.ProjectView
	Description  string         `json:"description"` // never omitted here (contract: Project overview)
	Health       int            `json:"health"`      // percentage of active flags that are not stale
	Members      int            `json:"members"`     // users with a role in the project
	Favorite     bool           `json:"favorite"`    // of the caller
	Stats        projectStats   `json:"stats"`
	Environments []attachedView `json:"environments"`
}

// projectCoreOf returns the fields of a project with so many flags.
func projectCoreOf(tx *httpapi.Tx, p *flags.Project, counts flags.FlagCounts) projectCore {
	return projectCore{
		Version: 1, ProjectView: shape.ProjectViewOf(p), Description: p.Description,
		Health: flags.Health(counts.Active, counts.Stale), Members: p.MemberCount(), Favorite: tx.Favorites().HasProject(p),
		Stats:        projectStatsOf(counts, tx.Now),
		Environments: httpapi.Each(tx.ProjectEnvironments(p), attachedViewOf),
	}
}

// featureRows returns flags of a project as lists show them.
func featureRows(tx *httpapi.Tx, p *flags.Project, summaries []flags.FeatureSummary) []wire.FeatureRow {
	environments, favorites := tx.ProjectEnvironments(p), tx.Favorites()
	return httpapi.Each(summaries, func(s flags.FeatureSummary) wire.FeatureRow { return wire.FeatureRowOf(s, environments, favorites) })
}

// wholeList returns all active flags of a project. TooLarge if an answer cannot have the rows of all.
func wholeList(tx *httpapi.Tx, p *flags.Project) ([]flags.FeatureSummary, error) {
	row := wire.FeatureRowOf(flags.FeatureSummary{}, tx.ProjectEnvironments(p), &flags.Favorites{})
	found, err := wire.ListFlags(tx, []*flags.Project{p}, flags.SummaryQuery{}, wire.FlagPage{}, httpapi.JSONSize(row))
	return found.Flags, err
}

// A projectOverview is a project with its flags (contract: Project overview).
type projectOverview struct {
	projectCore
	Features []wire.FeatureRow `json:"features"`
}

// A projectSummary is a project with the number of its flags of each type.
type projectSummary struct {
	projectCore
	Types  []featureTypeCount `json:"featureTypeCounts"`
	Owners []ownerView        `json:"owners"`
}

// An ownerView is whom people ask about a project: a user with the role Owner or, in a project without one, the administrators.
type ownerView struct {
	Type  string  `json:"ownerType"` // user or system
	Name  *string `json:"name,omitzero"`
	Email *string `json:"email,omitzero"`
	Image *string `json:"imageUrl,omitzero"`
}

// maxOwners is how many owners an answer names.
const maxOwners = 20

// ownersOf returns the first owners of a project, by ID.
func ownersOf(tx *httpapi.Tx, p *flags.Project) []ownerView {
	owners := slices.DeleteFunc(slices.Sorted(maps.Keys(p.Members)), func(id int64) bool { return !slices.Contains(p.RolesOf(id), access.RoleOwner) })
	owners = owners[:min(len(owners), maxOwners)]
	tx.Load(httpapi.Each(owners, access.UserKey)...)
	var views []ownerView
	for _, id := range owners {
		if u := tx.FindUser(id); u != nil {
			views = append(views, ownerView{"user", new(cmp.Or(u.Name, u.DisplayName())), shape.NullIfEmpty(u.Email), new(u.Image())})
		}
	}
	if views == nil {
		return []ownerView{{Type: "system"}}
	}
	return views
}

type featureTypeCount struct {
	Type  flags.FeatureType `json:"type"`
	Count int               `json:"count"`
}

// A healthReport is a project with its flags and the number of stale ones.
type healthReport struct {
	projectCore
	Features         []wire.FeatureRow `json:"features"`
	Active           int               `json:"activeCount"` // not stale
	Stale            int               `json:"staleCount"`
	PotentiallyStale int               `json:"potentiallyStaleCount"` // always 0: only users mark flags as stale
}

// An attachedView is an environment of a project in its overview.
type attachedView struct {
	Environment     string                     `json:"environment"`
	DefaultStrategy *shape.DefaultStrategyView `json:"defaultStrategy,omitzero"`
}

func attachedViewOf(e flags.ProjectEnvironment) attachedView {
	return attachedView{Environment: e.Name, DefaultStrategy: shape.DefaultStrategyViewOf(e.Attachment.DefaultStrategy)}
}

// projectStats has the fields of Unleash's project statistics. A window is 30 days in UTC. Of a project's flags, only those that were
// created on each day are counted. The other fields are always 0, as the API description says.
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

func projectStatsOf(counts flags.FlagCounts, now time.Time) projectStats {
	var stats projectStats
	today := flags.DayOf(now)
	for day, n := range counts.Created {
		stats.CreatedCurrent += n * inWindow(day, today)
		stats.CreatedPast += n * inWindow(day, today-window)
	}
	return stats
}

// window is the length of a window of the statistics in days.
const window = flags.CountedDays / 2

// inWindow is 1 for a day in the window that ends with another day, 0 for others.
func inWindow(day, end flags.Day) int {
	if day > end-window && day <= end {
		return 1
	}
	return 0
}

// count returns the number of elements that match.
func count[A any](list []A, matches func(A) bool) int {
	n := 0
	for _, a := range list {
		if matches(a) {
			n++
		}
	}
	return n
}
