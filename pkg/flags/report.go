package flags

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

// Add adds a report. instances is how many instances of the environment are known with this report.
func (a *Application) Add(r Report, instances int) {
	a.LastSeenAt = laterSeen(a.LastSeenAt, r.At)
	a.Features = unite(a.Features, r.Features, MaxApplicationFeatures)
	a.Strategies = unite(a.Strategies, r.Strategies, MaxStrategyTypes)
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
		a.Projects[project] = unite(a.Projects[project], []string{r.Environment}, MaxSumApplications)
	}
	env := a.Environments[r.Environment]
	env.LastSeenAt = laterSeen(env.LastSeenAt, r.At)
	env.Instances = instances
	env.Unknown = unite(slices.DeleteFunc(slices.Clone(env.Unknown), func(name string) bool {
		return slices.Contains(r.Features, name) // it was created since
	}), r.Unknown, MaxUnknownFeatures)
	for _, i := range r.Instances {
		if i.SDK != "" {
			env.SDKs = unite(env.SDKs, []string{i.SDK}, MaxApplicationSDKs)
		}
	}
	a.Environments[r.Environment] = env
}

// laterSeen returns when something was last seen: to ReportInterval, so that it is not written each time.
func laterSeen(last, at time.Time) time.Time {
	if at.Sub(last) < ReportInterval {
		return last
	}
	return at
}

// unite adds names to a sorted list, up to a limit. It returns the same list if there is nothing to add.
func unite(list, names []string, limit int) []string {
	for _, name := range names {
		i, has := slices.BinarySearch(list, name)
		if !has && len(list) < limit {
			list = slices.Insert(slices.Clone(list), i, name)
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

// maxInstanceNames is the size that the names of all instances of an application may have, in bytes.
const maxInstanceNames = 200 << 10

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
			if oldest < 0 || r.LastSeenAt.Sub(i.List[oldest].LastSeenAt) < 2*ReportInterval || i.List[oldest].size() < r.size() {
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

func (i Instance) size() int { return len(i.Name) + len(i.SDK) + len(i.Address) + 70 }

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
