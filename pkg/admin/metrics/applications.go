package metrics

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/shape"
	"guidon/pkg/usage"
)

// inApplication is the place of an operation on an application.
type inApplication struct {
	httpapi.InService
	Name string `path:"appName"`
}

// Keys names the application.
func (at *inApplication) Keys() []flags.Key { return httpapi.ApplicationKeys(at.Name) }

// An applicationView has the fields that every response about an application has.
type applicationView struct {
	AppName     string     `json:"appName"`
	CreatedAt   shape.Time `json:"createdAt"`
	UpdatedAt   shape.Time `json:"updatedAt"`
	CreatedBy   *string    `json:"createdBy"` // null if its first report created it
	Description *string    `json:"description"`
	URL         *string    `json:"url"`
	Color       *string    `json:"color"`
	Icon        *string    `json:"icon"`
}

func applicationViewOf(a *usage.Application) applicationView {
	updated := a.LastSeenAt
	if updated.Before(a.CreatedAt) {
		updated = a.CreatedAt
	}
	return applicationView{
		AppName: a.Name, CreatedAt: shape.Time(a.CreatedAt), UpdatedAt: shape.Time(updated), CreatedBy: shape.NullIfEmpty(a.CreatedBy),
		Description: shape.NullIfEmpty(a.Description), URL: shape.NullIfEmpty(a.URL), Color: shape.NullIfEmpty(a.Color), Icon: shape.NullIfEmpty(a.Icon),
	}
}

type applicationList struct {
	Applications []applicationRow `json:"applications"`
	Total        int              `json:"total"`
}

// An applicationRow is an application in the list.
type applicationRow struct {
	applicationView
	Strategies []string           `json:"strategies"`
	Usage      []applicationUsage `json:"usage"`
}

// An applicationUsage says in which environments of a project an application reported. The project is "*" if its token was for
// all projects.
type applicationUsage struct {
	Project      string   `json:"project"`
	Environments []string `json:"environments"`
}

// listApplications lists the applications by name, which is the only order that Unleash has: sortBy has no effect.
func listApplications(tx *httpapi.Tx, _ httpapi.InService) (applicationList, error) {
	query := tx.Query()
	matching := []*usage.Application{}
	for _, a := range tx.Applications() {
		if containsFold(a.Name, query.Get("query")) {
			matching = append(matching, a)
		}
	}
	sortByName(query, matching)
	return applicationList{Total: len(matching), Applications: httpapi.Each(httpapi.PageOf(query, matching), applicationRowOf)}, nil
}

func applicationRowOf(a *usage.Application) applicationRow {
	row := applicationRow{applicationView: applicationViewOf(a), Strategies: notNil(a.Strategies), Usage: []applicationUsage{}}
	for _, project := range slices.Sorted(maps.Keys(a.Projects)) {
		row.Usage = append(row.Usage, applicationUsage{project, notNil(a.Projects[project])})
	}
	return row
}

// sortByName sorts by name: backwards if the query says sortOrder=desc.
func sortByName(query httpapi.Query, applications []*usage.Application) {
	slices.SortFunc(applications, func(a, b *usage.Application) int { return strings.Compare(a.Name, b.Name) })
	if strings.EqualFold(query.Get("sortOrder"), "desc") {
		slices.Reverse(applications)
	}
}

// containsFold reports whether a text contains a part, without regard to case.
func containsFold(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// notNil is a list that is [] in JSON when it is empty.
func notNil(list []string) []string { return append([]string{}, list...) }

// An application is everything about one application.
type application struct {
	applicationView
	Strategies []seenStrategy    `json:"strategies"`
	Instances  []instanceOfApp   `json:"instances"`
	Features   []seenFeature     `json:"seenToggles"`
	Links      map[string]string `json:"links"`
}

// A seenStrategy is a strategy type that an application registered. Its other fields are absent if it does not exist.
type seenStrategy struct {
	Name        string  `json:"name"`
	NotFound    bool    `json:"notFound,omitzero"`
	DisplayName *string `json:"displayName,omitzero"`
	Description *string `json:"description,omitzero"`
}

// A seenFeature is a flag that an application evaluated. Its other fields are absent if it does not exist.
type seenFeature struct {
	Name           string            `json:"name"`
	NotFound       bool              `json:"notFound,omitzero"`
	Type           flags.FeatureType `json:"type,omitzero"`
	Description    *string           `json:"description,omitzero"`
	Project        string            `json:"project,omitzero"`
	Stale          *bool             `json:"stale,omitzero"`
	ImpressionData *bool             `json:"impressionData,omitzero"`
	Archived       *bool             `json:"archived,omitzero"`
	CreatedAt      *shape.Time       `json:"createdAt,omitzero"`
	LastSeenAt     *shape.Time       `json:"lastSeenAt,omitzero"`
	ArchivedAt     *shape.Time       `json:"archivedAt,omitzero"`
}

// An instanceOfApp is an instance with its application and environment.
type instanceOfApp struct {
	AppName     string `json:"appName"`
	Environment string `json:"environment"`
	instanceView
	CreatedAt shape.Time `json:"createdAt"`
}

// An instanceView is a process that evaluates flags.
type instanceView struct {
	InstanceID string     `json:"instanceId"`
	SDK        *string    `json:"sdkVersion"`
	ClientIP   *string    `json:"clientIp"`
	LastSeen   shape.Time `json:"lastSeen"`
}

func instanceViewOf(i usage.Instance) instanceView {
	return instanceView{InstanceID: i.Name, SDK: shape.NullIfEmpty(i.SDK), ClientIP: shape.NullIfEmpty(i.Address), LastSeen: shape.Time(i.LastSeenAt)}
}

func readApplication(tx *httpapi.Tx, at inApplication) (application, error) {
	a := tx.Application(at.Name)
	view := application{
		applicationView: applicationViewOf(a), Strategies: seenStrategies(tx, a), Instances: []instanceOfApp{}, Features: []seenFeature{},
		Links: map[string]string{"self": "/api/admin/metrics/applications/" + url.PathEscape(a.Name)},
	}
	err := visit(tx, instancesKeys(a, nil), func(list *usage.Instances) {
		for _, i := range list.List {
			view.Instances = append(view.Instances, instanceOfApp{a.Name, list.Environment, instanceViewOf(i), shape.Time(i.CreatedAt)})
		}
	})
	if err != nil {
		return view, err
	}
	slices.SortStableFunc(view.Instances, func(a, b instanceOfApp) int { return time.Time(b.LastSeen).Compare(time.Time(a.LastSeen)) })
	names := tx.ApplicationNames(a)
	for _, name := range unknownNames(names) {
		view.Features = append(view.Features, seenFeature{Name: name, NotFound: true})
	}
	err = visitFeatures(tx, names, func(f *flags.Feature) {
		created := shape.Time(f.CreatedAt)
		view.Features = append(view.Features, seenFeature{
			Name: f.Name, Type: f.Type, Description: f.Description, Project: f.Project,
			Stale: new(f.Stale), ImpressionData: new(f.ImpressionData), Archived: new(f.Archived), CreatedAt: &created, LastSeenAt: shape.TimeOrNull(f.LastSeenAt), ArchivedAt: shape.TimeOrNull(f.ArchivedAt),
		})
	})
	slices.SortFunc(view.Features, func(a, b seenFeature) int { return strings.Compare(a.Name, b.Name) })
	return view, err
}

func seenStrategies(tx *httpapi.Tx, a *usage.Application) []seenStrategy {
	types := tx.StrategyTypes()
	return httpapi.Each(a.Strategies, func(name string) seenStrategy {
		t, known := types.Find(name)
		return seenStrategy{name, !known, shape.NullIfEmpty(t.DisplayName), shape.NullIfEmpty(t.Description)}
	})
}

// unknownNames are the names that an application evaluated in any environment and that no flag has.
func unknownNames(n *usage.ApplicationNames) []string {
	names := map[string]bool{}
	for environment := range n.Unknown {
		for _, name := range missingIn(n, environment) {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// missingIn are the names that an application evaluated in an environment and that no flag has. A flag that one of its tokens is
// for is not missing, even if another token is not for it.
func missingIn(n *usage.ApplicationNames, environment string) []string {
	missing := []string{}
	for _, name := range n.Unknown[environment] {
		if _, found := slices.BinarySearch(n.Features, name); !found {
			missing = append(missing, name)
		}
	}
	return missing
}

// visitFeatures visits the flags that an application evaluated.
func visitFeatures(tx *httpapi.Tx, n *usage.ApplicationNames, do func(*flags.Feature)) error {
	return visit(tx, httpapi.FeatureKeys(n.Features...), do)
}

// visit visits the aggregates that there are of some keys.
func visit[A flags.Aggregate](tx *httpapi.Tx, keys []flags.Key, do func(A)) error {
	return tx.Pages(keys, func(keys []flags.Key, found flags.View) error {
		for _, key := range keys {
			if a, exists := found[key].(A); exists {
				do(a)
			}
		}
		return nil
	})
}

// instancesKeys are the keys of the instances of an application in some environments, or in all if environments is nil.
func instancesKeys(a *usage.Application, environments []string) []flags.Key {
	var keys []flags.Key
	for _, name := range slices.Sorted(maps.Keys(a.Environments)) {
		if environments == nil || slices.Contains(environments, name) {
			keys = append(keys, usage.InstancesKey(a.Name, name))
		}
	}
	return keys
}
