package metrics

import (
	"maps"
	"slices"
	"strings"
	"time"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
	"guidon/pkg/shape"
	"guidon/pkg/usage"
)

// An applicationOverview says what an application uses, and what is wrong with it.
type applicationOverview struct {
	Projects     []string              `json:"projects"` // of the flags that it evaluated
	FeatureCount int                   `json:"featureCount"`
	Environments []environmentOverview `json:"environments"`
	Issues       applicationIssues     `json:"issues"`
}

type environmentOverview struct {
	Name          string            `json:"name"`
	InstanceCount int               `json:"instanceCount"`
	SDKs          []string          `json:"sdks"`
	LastSeen      *shape.Time       `json:"lastSeen"`
	Issues        environmentIssues `json:"issues"`
}

type environmentIssues struct {
	MissingFeatures []string `json:"missingFeatures"`
	OutdatedSDKs    []string `json:"outdatedSdks"`

	UnknownOperators []unknownOperator `json:"unknownOperators"`
}

// An unknownOperator is an operator in a flag that an SDK of the application does not know. It switches the strategy off.
type unknownOperator struct {
	FeatureName string         `json:"featureName"`
	Operator    flags.Operator `json:"operator"`
}

const maxUnknownOperators = 100

// addUnknown adds the operators of a flag, and of its segments, that an SDK of the environment does not know.
func (v *environmentOverview) addUnknown(tx *httpapi.Tx, f *flags.Feature) {
	if !slices.ContainsFunc(v.SDKs, usage.LacksOperators) {
		return
	}
	tx.Segments() // for FindSegment
	for _, s := range f.Environments[v.Name].Strategies {
		constraints := slices.Clone(s.Constraints)
		for _, id := range s.Segments {
			if segment := tx.FindSegment(id); segment != nil {
				constraints = append(constraints, segment.Constraints...)
			}
		}
		for _, c := range constraints {
			unknown := unknownOperator{f.Name, c.Operator}
			forgets := func(sdk string) bool { return !usage.KnowsOperator(sdk, c.Operator) }
			list := &v.Issues.UnknownOperators
			if len(*list) < maxUnknownOperators && slices.ContainsFunc(v.SDKs, forgets) && !slices.Contains(*list, unknown) {
				*list = append(*list, unknown)
			}
		}
	}
}

type applicationIssues struct {
	MissingStrategies []string `json:"missingStrategies"`
}

func readOverview(tx *httpapi.Tx, at inApplication) (applicationOverview, error) {
	a := tx.Application(at.Name)
	names := tx.ApplicationNames(a)
	view := applicationOverview{
		Projects: []string{}, FeatureCount: len(names.Features) + len(unknownNames(names)), Environments: []environmentOverview{},
		Issues: applicationIssues{MissingStrategies: []string{}},
	}
	for _, name := range slices.Sorted(maps.Keys(a.Environments)) {
		e := a.Environments[name]
		view.Environments = append(view.Environments, environmentOverview{
			Name: name, InstanceCount: e.Instances, SDKs: notNil(e.SDKs), LastSeen: shape.TimeOrNull(e.LastSeenAt),
			Issues: environmentIssues{missingIn(names, name), outdatedOf(e.SDKs), []unknownOperator{}},
		})
	}
	for _, s := range seenStrategies(tx, a) {
		if s.NotFound {
			view.Issues.MissingStrategies = append(view.Issues.MissingStrategies, s.Name)
		}
	}
	projects := map[string]bool{}
	err := visitFeatures(tx, names, func(f *flags.Feature) {
		projects[f.Project] = true
		for i := range view.Environments {
			view.Environments[i].addUnknown(tx, f)
		}
	})
	view.Projects = append(view.Projects, slices.Sorted(maps.Keys(projects))...)
	return view, err
}

func outdatedOf(sdks []string) []string {
	outdated := []string{}
	for _, sdk := range sdks {
		if usage.OutdatedSDK(sdk) {
			outdated = append(outdated, sdk)
		}
	}
	return outdated
}

// inInstances is the place of an operation on the instances of an application in an environment. Unknown ones have no instances,
// as in Unleash.
type inInstances struct {
	inApplication
	Environment string `path:"environmentName"`
}

// Parse checks the name of the environment.
func (at *inInstances) Parse(httpapi.Request) error {
	if flags.CheckName(at.Environment) != "" {
		return flags.Errorf(flags.NotFound, "there is no environment %q", jsonbody.Shorten(at.Environment))
	}
	return nil
}

// Keys names the application and its instances.
func (at *inInstances) Keys() []flags.Key { return append(at.inApplication.Keys(), at.instances()...) }

func (at *inInstances) instances() []flags.Key { return httpapi.InstancesKeys(at.Name, at.Environment) }

type instanceList struct {
	Instances []instanceView `json:"instances"`
}

// listInstances lists the instances that reported in the last two days, the last one first.
func listInstances(tx *httpapi.Tx, at inInstances) (instanceList, error) {
	list := instanceList{Instances: []instanceView{}}
	if tx.FindApplication(at.Name) == nil {
		return list, nil
	}
	err := visit(tx, at.instances(), func(found *usage.Instances) {
		list.Instances = append(list.Instances, httpapi.Each(found.List, instanceViewOf)...)
	})
	slices.SortStableFunc(list.Instances, func(a, b instanceView) int { return time.Time(b.LastSeen).Compare(time.Time(a.LastSeen)) })
	return list, err
}

type projectApplications struct {
	Applications []projectApplication `json:"applications"`
	Total        int                  `json:"total"`
}

// A projectApplication is an application that uses a project.
type projectApplication struct {
	Name         string       `json:"name"`
	Environments []string     `json:"environments"`
	Instances    []string     `json:"instances"`
	SDKs         []projectSDK `json:"sdks"`
}

type projectSDK struct {
	Name     string   `json:"name"`
	Versions []string `json:"versions"`
}

// The number of applications on a page of a project's applications: without a limit, and at most.
const (
	defaultApplications = 50
	maxApplications     = 100
)

// listProjectApplications lists the applications that evaluated flags of a project, or whose token names the project.
func listProjectApplications(tx *httpapi.Tx, at httpapi.InProject) (projectApplications, error) {
	p := at.Project(tx)
	query, all := tx.Query(), tx.Applications()
	var matching []*usage.Application
	for _, a := range all {
		if environments := environmentsIn(a, p.ID); environments != nil && matches(a, environments, query.Get("query")) {
			matching = append(matching, a)
		}
	}
	sortByName(query, matching)
	answer := projectApplications{Total: len(matching), Applications: []projectApplication{}}
	from := min(httpapi.WholeNumber(query, "offset", 0, 0, httpapi.MaxOffset), len(matching))
	limit := httpapi.WholeNumber(query, "limit", defaultApplications, 1, maxApplications)
	var keys []flags.Key
	for _, a := range matching[from:min(from+limit, len(matching))] {
		environments := environmentsIn(a, p.ID)
		keys = append(keys, instancesKeys(a, environments)...)
		answer.Applications = append(answer.Applications, projectApplication{a.Name, environments, nil, projectSDKs(sdksOf(a, environments))})
	}
	instances := map[string][]string{}
	err := visit(tx, keys, func(list *usage.Instances) {
		for _, i := range list.List {
			instances[list.Application] = append(instances[list.Application], i.Name)
		}
	})
	for i, a := range answer.Applications {
		names := notNil(instances[a.Name])
		slices.Sort(names)
		answer.Applications[i].Instances = slices.Compact(names)
	}
	return answer, err
}

// environmentsIn returns the environments in which an application uses a project, sorted; nil if it does not use the project.
func environmentsIn(a *usage.Application, projectID string) []string {
	if environments := a.Projects[projectID]; environments != nil {
		return environments
	}
	return a.Uses[projectID]
}

// matches reports whether the name, an environment or an SDK of an application contains a text.
func matches(a *usage.Application, environments []string, text string) bool {
	for _, field := range slices.Concat([]string{a.Name}, environments, sdksOf(a, environments)) {
		if containsFold(field, text) {
			return true
		}
	}
	return false
}

// projectSDKs groups the versions of SDKs by name.
func projectSDKs(sdks []string) []projectSDK {
	grouped := []projectSDK{}
	for _, sdk := range sdks { // they are sorted, but "a-b:1" is before "a:1"
		name, version := usage.CutSDK(sdk)
		i := slices.IndexFunc(grouped, func(g projectSDK) bool { return g.Name == name })
		if i < 0 {
			i = len(grouped)
			grouped = append(grouped, projectSDK{name, []string{}})
		}
		if version != "" {
			grouped[i].Versions = append(grouped[i].Versions, version)
		}
	}
	slices.SortFunc(grouped, func(a, b projectSDK) int { return strings.Compare(a.Name, b.Name) })
	return grouped
}
