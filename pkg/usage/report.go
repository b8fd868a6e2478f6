package usage

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Adding a report again changes nothing: reports are united, and times only rise. So it does not matter if two aggregations add
// the same one.

// NewApplication returns an application that reports for the first time.
func NewApplication(name string, at time.Time) *Application {
	return &Application{Name: name, CreatedAt: at}
}

// How many bytes of JSON the names may have that a client sends, so that lists of all applications stay small, and no client takes the
// room of what is known to exist: flags, projects and environments.
const (
	maxUnknownNames  = 16 << 10  // in ApplicationNames
	maxReportedNames = 2 << 10   // of strategies in an application, and likewise of SDKs
	maxTokenNames    = 16 << 10  // of applications with one token
	maxPublicNames   = 3 << 10   // of applications with a token that is public: each sum of a flag can have all of them, and is written as a whole
	maxExistingNames = 250 << 10 // of flags in ApplicationNames, and likewise of projects in an application
)

// Add adds a report. instances is how many instances of the environment are known with this report.
func (a *Application) Add(r Report, instances int) {
	a.LastSeenAt = laterSeen(a.LastSeenAt, r.At)
	a.Strategies = unite(a.Strategies, r.Strategies, MaxStrategyTypes, roomFor(maxReportedNames, a.Strategies))
	if r.Environment == "" {
		return
	}
	a.Projects = uniteEnvironments(a.Projects, r.Projects, r.Environment)
	a.Uses = uniteEnvironments(a.Uses, r.Uses, r.Environment)
	if a.Environments == nil {
		a.Environments = map[string]ApplicationEnvironment{}
	}
	var sdks [][]string
	for _, e := range a.Environments {
		sdks = append(sdks, e.SDKs)
	}
	room, env := roomFor(maxReportedNames, sdks...), a.Environments[r.Environment]
	env.LastSeenAt, env.Instances = laterSeen(env.LastSeenAt, r.At), instances
	for _, i := range r.Instances {
		if i.SDK != "" {
			env.SDKs = unite(env.SDKs, []string{i.SDK}, MaxApplicationSDKs, room)
		}
	}
	a.Environments[r.Environment] = env
}

// Add adds a report.
func (n *ApplicationNames) Add(r Report) {
	if r.At.Sub(n.SeenAt) >= 24*time.Hour {
		n.SeenAt = r.At
	}
	n.Features = unite(n.Features, r.Features, MaxApplicationFeatures, roomFor(maxExistingNames, n.Features))
	if r.Environment == "" {
		return
	}
	known := slices.DeleteFunc(slices.Clone(n.Unknown[r.Environment]), func(name string) bool {
		return slices.Contains(r.Features, name) // it was created since
	})
	room := roomFor(maxUnknownNames, append(slices.Collect(maps.Values(n.Unknown)), []string{r.Environment})...)
	if known = unite(known, r.Unknown, MaxUnknownFeatures, room); len(known) > 0 {
		if n.Unknown == nil {
			n.Unknown = map[string][]string{}
		}
		n.Unknown[r.Environment] = known
	} else {
		delete(n.Unknown, r.Environment)
	}
}

// uniteEnvironments adds an environment to those of projects.
func uniteEnvironments(all map[string][]string, projects []string, environment string) map[string][]string {
	lists := slices.Collect(maps.Values(all))
	room := roomFor(maxExistingNames, append(lists, slices.Collect(maps.Keys(all)))...)
	for _, project := range projects {
		environments, known := all[project]
		if size := jsonSize(project); !known && size+jsonSize(environment) > *room {
			continue
		} else if !known {
			*room -= size
		}
		if all == nil {
			all = map[string][]string{}
		}
		all[project] = unite(environments, []string{environment}, maxExistingNames, room)
	}
	return all
}

// roomFor is what is left of a number of bytes beside lists of names.
func roomFor(most int, lists ...[]string) *int {
	for _, list := range lists {
		for _, name := range list {
			most -= jsonSize(name)
		}
	}
	return &most
}

// jsonSize is at least the size of a text in JSON, with a comma.
func jsonSize(text string) int {
	size := len(text) + len(`"",`)
	for _, c := range []byte(text) {
		if c < ' ' || c == '"' || c == '\\' || c == 0x7f {
			size += len(`\u0000`) - 1
		}
	}
	return size
}

// laterSeen returns when something was last seen: to ReportInterval, so that it is not written each time.
func laterSeen(last, at time.Time) time.Time {
	if at.Sub(last) < ReportInterval {
		return last
	}
	return at
}

// unite adds names to a sorted list, up to a limit and while there is room for them.
func unite(list, names []string, limit int, room *int) []string {
	for _, name := range names {
		i, has := slices.BinarySearch(list, name)
		if size := jsonSize(name); !has && len(list) < limit && size <= *room {
			list = slices.Insert(slices.Clone(list), i, name)
			*room -= size
		}
	}
	return list
}

// Clone returns a copy that can be changed.
func (i *Instances) Clone() *Instances {
	c := *i
	c.List = slices.Clone(i.List)
	return &c
}

// The sizes that all instances of an application in an environment may have, in bytes of JSON. Anyone can invent instances with a public
// token, and each report of one of them can write all of them.
const (
	maxInstanceNames       = 300 << 10
	maxPublicInstanceNames = 16 << 10 // beyond which a public token adds nothing
)

// Add adds the instances of a report. If there is no room, they replace those that have not reported for a while, or they are
// left out. Instances that have not reported for InstanceTTL are removed with the next change.
func (i *Instances) Add(report Report, now time.Time) {
	names, most := 0, maxInstanceNames
	if report.Public {
		most = maxPublicInstanceNames
	}
	for _, known := range i.List {
		names += known.size()
	}
	for _, r := range report.Instances {
		at, found := slices.BinarySearchFunc(i.List, r, compareInstances)
		if found {
			known, was := &i.List[at], i.List[at]
			known.SDK = cmp.Or(known.SDK, r.SDK)
			if seen := laterSeen(known.LastSeenAt, r.LastSeenAt); seen != known.LastSeenAt {
				known.LastSeenAt, known.SDK, known.Address = seen, cmp.Or(r.SDK, known.SDK), cmp.Or(r.Address, known.Address)
			}
			if more := known.size() - was.size(); more > 0 && names+more > most {
				known.SDK, known.Address = was.SDK, was.Address
			} else {
				names += more
			}
			continue
		}
		if len(i.List) >= MaxInstances || names+r.size() > most {
			oldest := i.oldest()
			if oldest < 0 || r.LastSeenAt.Sub(i.List[oldest].LastSeenAt) < 2*ReportInterval || names-i.List[oldest].size()+r.size() > most {
				continue
			}
			names -= i.List[oldest].size()
			i.List = slices.Delete(i.List, oldest, oldest+1)
			at, _ = slices.BinarySearchFunc(i.List, r, compareInstances)
		}
		names += r.size()
		i.List = slices.Insert(i.List, at, r)
	}
	i.List = slices.DeleteFunc(i.List, func(known Instance) bool { return now.Sub(known.LastSeenAt) > InstanceTTL })
}

func compareInstances(a, b Instance) int { return cmp.Compare(a.Name, b.Name) }

func (i Instance) size() int { return jsonSize(i.Name) + jsonSize(i.SDK) + jsonSize(i.Address) + 90 }

// oldest is the index of the instance that was last seen first; -1 if there is none.
func (i *Instances) oldest() int {
	oldest := -1
	for n, known := range i.List {
		if oldest < 0 || known.LastSeenAt.Before(i.List[oldest].LastSeenAt) {
			oldest = n
		}
	}
	return oldest
}

// Clone returns a copy that can be changed.
func (t *TokenApplications) Clone() *TokenApplications {
	c := *t
	c.Names = maps.Clone(t.Names)
	return &c
}

// Admit adds applications that reported with the token, and returns those that may: at most MaxTokenApplications of
// maxTokenNames at a time, with a public token fewer. Those that are known may in any case.
func (t *TokenApplications) Admit(names []string, public bool, now time.Time) map[string]bool {
	day := now.UTC().Truncate(24 * time.Hour)
	admitted := map[string]bool{}
	for _, name := range names {
		seen, known := t.Names[name]
		if !known && t.isFullFor(name, public) {
			maps.DeleteFunc(t.Names, func(_ string, seen time.Time) bool { return now.Sub(seen) > TokenApplicationsTTL })
		}
		if !known && t.isFullFor(name, public) {
			continue
		}
		if t.Names == nil {
			t.Names = map[string]time.Time{}
		}
		admitted[name] = true
		if day.After(seen) {
			t.Names[name] = day
		}
	}
	return admitted
}

// isFullFor reports whether there is no room for another name.
func (t *TokenApplications) isFullFor(name string, public bool) bool {
	most, bytes := MaxTokenApplications, maxTokenNames
	if public {
		most, bytes = MaxPublicApplications, maxPublicNames
	}
	return len(t.Names) >= most || *roomFor(bytes, slices.Collect(maps.Keys(t.Names))) < jsonSize(name)
}

// Refuses returns whether Admit would leave out one of these names.
func (t *TokenApplications) Refuses(names []string, public bool, now time.Time) bool {
	return len(t.Clone().Admit(names, public, now)) < len(names)
}
