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

// maxApplicationNames is the size that all names in an application may have, in bytes of JSON.
const maxApplicationNames = 250 << 10

// Add adds a report. instances is how many instances of the environment are known with this report.
func (a *Application) Add(r Report, instances int) {
	room := maxApplicationNames - a.namesSize()
	a.LastSeenAt = laterSeen(a.LastSeenAt, r.At)
	a.Features = unite(a.Features, r.Features, MaxApplicationFeatures, &room)
	a.Strategies = unite(a.Strategies, r.Strategies, MaxStrategyTypes, &room)
	if r.Environment == "" {
		return
	}
	if a.Projects == nil {
		a.Projects = map[string][]string{}
	}
	if a.Environments == nil {
		a.Environments = map[string]ApplicationEnvironment{}
	}
	for _, project := range r.Projects {
		environments, known := a.Projects[project]
		if size := jsonSize(project) + jsonSize(r.Environment); !known && size > room {
			continue
		} else if !known {
			room -= jsonSize(project)
		}
		a.Projects[project] = unite(environments, []string{r.Environment}, maxApplicationNames, &room)
	}
	env := a.Environments[r.Environment]
	env.LastSeenAt = laterSeen(env.LastSeenAt, r.At)
	env.Instances = instances
	env.Unknown = slices.DeleteFunc(slices.Clone(env.Unknown), func(name string) bool {
		return slices.Contains(r.Features, name) // it was created since
	})
	env.Unknown = unite(env.Unknown, r.Unknown, MaxUnknownFeatures, &room)
	for _, i := range r.Instances {
		if i.SDK != "" {
			env.SDKs = unite(env.SDKs, []string{i.SDK}, MaxApplicationSDKs, &room)
		}
	}
	a.Environments[r.Environment] = env
}

// namesSize is the size of all names in the application.
func (a *Application) namesSize() (size int) {
	lists := [][]string{a.Features, a.Strategies}
	for project, environments := range a.Projects {
		lists = append(lists, []string{project}, environments)
	}
	for _, env := range a.Environments {
		lists = append(lists, env.SDKs, env.Unknown)
	}
	for _, list := range lists {
		for _, name := range list {
			size += jsonSize(name)
		}
	}
	return size
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

// maxInstanceNames is the size that all instances of an application in an environment may have, in bytes of JSON.
const maxInstanceNames = 300 << 10

// Add adds instances that reported. If there is no room, they replace those that have not reported for a while, or they are
// left out. Instances that have not reported for InstanceTTL are removed with the next change.
func (i *Instances) Add(reported []Instance, now time.Time) {
	names := 0
	for _, known := range i.List {
		names += known.size()
	}
	for _, r := range reported {
		at, found := slices.BinarySearchFunc(i.List, r, compareInstances)
		if found {
			known := &i.List[at]
			known.SDK = cmp.Or(known.SDK, r.SDK)
			if seen := laterSeen(known.LastSeenAt, r.LastSeenAt); seen != known.LastSeenAt {
				known.LastSeenAt, known.SDK, known.Address = seen, cmp.Or(r.SDK, known.SDK), cmp.Or(r.Address, known.Address)
			}
			continue
		}
		if len(i.List) >= MaxInstances || names+r.size() > maxInstanceNames {
			oldest := i.oldest()
			if oldest < 0 || r.LastSeenAt.Sub(i.List[oldest].LastSeenAt) < 2*ReportInterval || names-i.List[oldest].size()+r.size() > maxInstanceNames {
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

// Admit adds applications that reported with the token, and returns those that may: at most MaxTokenApplications at a time.
func (t *TokenApplications) Admit(names []string, now time.Time) map[string]bool {
	day := now.UTC().Truncate(24 * time.Hour)
	admitted := map[string]bool{}
	for _, name := range names {
		seen, known := t.Names[name]
		if !known && len(t.Names) >= MaxTokenApplications {
			maps.DeleteFunc(t.Names, func(_ string, seen time.Time) bool { return now.Sub(seen) > TokenApplicationsTTL })
		}
		if !known && len(t.Names) >= MaxTokenApplications {
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
