package features

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"guidon/pkg/admin/wire"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// searchOperations find flags of all projects.
//
// Cost: the list rows of every project that the query does not rule out are read, one query a project and megabyte, and one
// query each for projects, segments and their uses, whatever the size of the page. Name the project where you can.
func searchOperations() []httpapi.Operation {
	return []httpapi.Operation{
		{Route: "GET /api/admin/search/features", Permission: flags.Read, Ahead: environments, Handle: httpapi.Handle(searchFeatures)},
	}
}

// inSearch is the place of a search: what its query asks for.
type inSearch struct {
	httpapi.InService
	criteria criteria
}

// Parse reads the query.
func (at *inSearch) Parse(r httpapi.Request) (err error) {
	at.criteria, err = criteriaOf(r.Query())
	return err
}

func searchFeatures(tx *httpapi.Tx, at inSearch) (foundFeatures, error) {
	criteria := at.criteria
	if name, found := strings.CutPrefix(criteria.sortBy, "environment:"); found && tx.Environments().Find(name) == nil {
		criteria.sortBy = defaultSort
	}
	projects := slices.DeleteFunc(slices.Clone(tx.Projects()), func(p *flags.Project) bool { return !criteria.project.matches([]string{p.ID}) })
	names := map[int64]string{}
	for _, s := range tx.Segments() {
		names[s.ID] = s.Name
	}
	segments := map[string][]string{}
	for _, s := range flags.FindStrategyUses(tx.FeatureUses(), tx.Environments(), func(flags.StrategyUse) bool { return true }) {
		for _, id := range s.Segments {
			segments[s.Feature] = append(segments[s.Feature], names[id])
		}
	}
	summaries := tx.SummariesOf(projects, false)
	var found []finding
	for _, p := range projects {
		envs := tx.ProjectEnvironments(p)
		for _, row := range summaries[p.UID] {
			tx.CheckTime()
			used := segments[row.Name]
			slices.Sort(used)
			if f := (finding{row, envs, slices.Compact(used)}); criteria.match(f) {
				found = append(found, f)
			}
		}
	}
	key := tx.Caller.FavoritesKey()
	slices.SortFunc(found, func(a, b finding) int { return criteria.compare(a, b, key) })
	from := min(criteria.offset, len(found))
	page := found[from:min(from+criteria.limit, len(found))]
	return foundFeatures{Total: len(found), Features: httpapi.Each(page, func(f finding) foundFeature { return f.view(key) })}, nil
}

// A finding is a flag that a search compares with its criteria.
type finding struct {
	flags.FeatureSummary
	environments []flags.ProjectEnvironment
	segments     []string // the names of those that its strategies use
}

// criteria are what a search asks for.
type criteria struct {
	texts         []string // in lower case; one of them is in the name or in a tag
	project       operator
	state         operator
	kind          operator
	lifecycle     operator
	tag           operator
	segment       operator
	status        []string // environment:enabled or environment:disabled, one of them
	createdAt     func(at time.Time) bool
	sortBy        string
	descending    bool
	favorites     bool
	offset, limit int
}

// How much a search may ask for: each text and value is compared with every flag.
const (
	MaxSearchTexts  = 20  // in query
	MaxSearchValues = 100 // of one filter
)

// The sizes of a page, in flags.
const (
	defaultFound = 50
	maxFound     = 100
)

// criteriaOf reads the query. Invalid when a filter is not understood, since leaving it out would show too much; what only
// orders or pages the answer falls back to its default instead.
func criteriaOf(query url.Values) (criteria, error) {
	var problems flags.Problems
	is := []string{"IS", "IS_NOT", "IS_ANY_OF", "IS_NONE_OF"}
	includes := []string{"INCLUDE", "DO_NOT_INCLUDE", "INCLUDE_ALL_OF", "INCLUDE_ANY_OF", "EXCLUDE_IF_ANY_OF", "EXCLUDE_ALL"}
	c := criteria{
		project: operatorOf(query, "project", is, &problems), state: operatorOf(query, "state", is, &problems),
		lifecycle: operatorOf(query, "lifecycle", is, &problems),
		tag:       operatorOf(query, "tag", includes, &problems), segment: operatorOf(query, "segment", includes, &problems),
		sortBy: sortBy(query), descending: query.Get("sortOrder") == "desc", favorites: query.Get("favoritesFirst") == "true",
		offset: httpapi.WholeNumber(query, "offset", 0, 0, httpapi.MaxOffset),
		limit:  httpapi.WholeNumber(query, "limit", defaultFound, 1, maxFound),
	}
	for _, text := range strings.Split(query.Get("query"), ",") {
		if text = strings.ToLower(strings.TrimSpace(text)); text != "" {
			c.texts = append(c.texts, text)
		}
	}
	flags.CheckCount("query", "texts", len(c.texts), MaxSearchTexts, &problems)
	c.kind = kindOf(query, is, &problems)
	c.status = append(slices.Clone(query["status"]), query["status[]"]...)
	c.readCreatedAt(query, &problems)
	if query.Has("archived") && query.Get("archived") != "IS:false" {
		problems.Add("archived", "can only be IS:false: archived flags are listed by GET /api/admin/archive/features/:project")
	}
	if text := query.Get("favoritesFirst"); query.Has("favoritesFirst") && text != "true" && text != "false" {
		problems.Add("favoritesFirst", "must be true or false")
	}
	c.checkValues(&problems)
	return c, httpapi.QueryFault(problems)
}

// checkValues finds filters with too many values, and values that nothing can be: a filter by them would find nothing, or
// leave nothing out, and not say so.
func (c criteria) checkValues(problems *flags.Problems) {
	for _, filter := range []struct {
		name   string
		values []string
		known  []string // nil for any
	}{
		{"project", c.project.values, nil},
		{"tag", c.tag.values, nil},
		{"segment", c.segment.values, nil},
		{"status", c.status, nil},
		{"state", c.state.values, []string{"active", "stale"}},
		{"type", c.kind.values, httpapi.Each(flags.FeatureTypes(), wire.ToString)},
		{"lifecycle", c.lifecycle.values, httpapi.Each(flags.Stages(), wire.ToString)},
	} {
		if !flags.CheckCount(filter.name, "values", len(filter.values), MaxSearchValues, problems) {
			continue
		}
		for _, value := range filter.values {
			if filter.known != nil && !slices.Contains(filter.known, value) {
				problems.Add(filter.name, "must have values among %s", strings.Join(filter.known, ", "))
			}
		}
	}
	for _, status := range c.status {
		if _, state, _ := strings.Cut(status, ":"); state != "enabled" && state != "disabled" {
			problems.Add("status", "must be the name of an environment, a colon, and enabled or disabled")
		}
	}
}

// kindOf reads the flag types that are asked for: type=IS:release, or type[]=release as often as wanted.
func kindOf(query url.Values, operators []string, problems *flags.Problems) operator {
	if listed := query["type[]"]; len(listed) > 0 {
		return operator{"IS_ANY_OF", listed}
	}
	return operatorOf(query, "type", operators, problems)
}

// defaultSort is the order of a search that asks for no other, or for one that does not exist.
const defaultSort = "createdAt"

// sortBy reads what to sort by: a member of the rows, or environment: and the name of one.
func sortBy(query url.Values) string {
	by := query.Get("sortBy")
	environment, found := strings.CutPrefix(by, "environment:")
	if slices.Contains([]string{"name", "type", "project", "createdAt", "lastSeenAt", "stale"}, by) || found && flags.CheckName(environment) == "" {
		return by
	}
	return defaultSort
}

// readCreatedAt reads createdAt=IS_BEFORE:2026-01-31 and IS_ON_OR_AFTER, days in UTC.
func (c *criteria) readCreatedAt(query url.Values, problems *flags.Problems) {
	if !query.Has("createdAt") {
		return
	}
	name, date, _ := strings.Cut(query.Get("createdAt"), ":")
	day, err := time.Parse(time.DateOnly, date)
	if err != nil || name != "IS_BEFORE" && name != "IS_ON_OR_AFTER" {
		problems.Add("createdAt", "must be IS_BEFORE or IS_ON_OR_AFTER with a date, such as IS_BEFORE:2026-01-31")
	}
	c.createdAt = func(at time.Time) bool { return at.Before(day) == (name == "IS_BEFORE") }
}

// An operator asks something of a list: of the one value that a flag has of something, or of the many. One that was not
// given asks nothing.
type operator struct {
	name   string
	values []string
}

// operatorOf reads NAME:value,value.
func operatorOf(query url.Values, parameter string, names []string, problems *flags.Problems) operator {
	if !query.Has(parameter) {
		return operator{}
	}
	name, list, found := strings.Cut(query.Get(parameter), ":")
	if !found || !slices.Contains(names, name) || strings.TrimSpace(list) == "" {
		problems.Add(parameter, "must be one of %s, a colon, and values between commas, such as %s:value", strings.Join(names, ", "), names[0])
		return operator{}
	}
	return operator{name, httpapi.Each(strings.Split(list, ","), strings.TrimSpace)}
}

// matches tells whether what a flag has is what is asked for.
func (o operator) matches(has []string) bool {
	in := func(value string) bool { return slices.Contains(has, value) }
	all := !slices.ContainsFunc(o.values, func(v string) bool { return !in(v) })
	switch o.name {
	case "IS", "IS_ANY_OF", "INCLUDE", "INCLUDE_ANY_OF":
		return slices.ContainsFunc(o.values, in)
	case "IS_NOT", "IS_NONE_OF", "DO_NOT_INCLUDE", "EXCLUDE_IF_ANY_OF":
		return !slices.ContainsFunc(o.values, in)
	case "INCLUDE_ALL_OF":
		return all
	case "EXCLUDE_ALL":
		return !all
	}
	return true
}

func (c criteria) match(f finding) bool {
	state := "active"
	if f.Stale {
		state = "stale"
	}
	return c.project.matches([]string{f.Project}) && c.state.matches([]string{state}) && c.kind.matches([]string{string(f.Type)}) &&
		c.lifecycle.matches([]string{string(f.Phase().Stage)}) && c.tag.matches(f.tags()) && c.segment.matches(f.segments) &&
		(c.createdAt == nil || c.createdAt(f.CreatedAt)) && c.matchText(f) && c.matchStatus(f)
}

func (c criteria) matchText(f finding) bool {
	if len(c.texts) == 0 {
		return true
	}
	has := []string{strings.ToLower(f.Name)}
	for _, tag := range f.tags() {
		has = append(has, strings.ToLower(tag))
	}
	return slices.ContainsFunc(c.texts, func(text string) bool {
		return slices.ContainsFunc(has, func(h string) bool { return strings.Contains(h, text) })
	})
}

func (c criteria) matchStatus(f finding) bool {
	return len(c.status) == 0 || slices.ContainsFunc(f.environments, func(env flags.ProjectEnvironment) bool {
		return slices.Contains(c.status, env.Name+":"+f.status(env))
	})
}

// compare puts a before b, by name where they are the same otherwise.
func (c criteria) compare(a, b finding, favoritesKey string) int {
	if c.favorites {
		if first := compareBool(a.favorite(favoritesKey), b.favorite(favoritesKey)); first != 0 {
			return -first
		}
	}
	order := c.compareBy(a, b)
	if c.descending {
		order = -order
	}
	return cmp.Or(order, strings.Compare(a.Name, b.Name))
}

func (c criteria) compareBy(a, b finding) int {
	switch c.sortBy {
	case "name":
		return strings.Compare(a.Name, b.Name)
	case "type":
		return strings.Compare(string(a.Type), string(b.Type))
	case "project":
		return strings.Compare(a.Project, b.Project)
	case "stale":
		return compareBool(a.Stale, b.Stale)
	case "lastSeenAt":
		return a.LastSeenAt.Compare(b.LastSeenAt)
	case "createdAt":
		return a.CreatedAt.Compare(b.CreatedAt)
	}
	name, _ := strings.CutPrefix(c.sortBy, "environment:")
	return strings.Compare(a.statusIn(name), b.statusIn(name))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func (f finding) tags() []string {
	return httpapi.Each(f.Tags, func(t flags.Tag) string { return t.Type + ":" + t.Value })
}

func (f finding) favorite(key string) bool { return slices.Contains(f.Favorites, key) }

// status is enabled or disabled.
func (f finding) status(env flags.ProjectEnvironment) string {
	if _, enabled := f.In(env); enabled {
		return "enabled"
	}
	return "disabled"
}

// statusIn orders flags by an environment: those that are on last, those that do not have it first.
func (f finding) statusIn(name string) string {
	for _, env := range f.environments {
		if env.Name == name {
			return map[string]string{"enabled": "2", "disabled": "1"}[f.status(env)]
		}
	}
	return ""
}

// A foundFeatures is a page of what a search finds.
type foundFeatures struct {
	Features []foundFeature `json:"features"`
	Total    int            `json:"total"`
}

// A foundFeature is a flag that a search finds.
type foundFeature struct {
	listedFeature
	Project        string          `json:"project"`
	DependencyType *flags.Relation `json:"dependencyType"` // parent, child or null
	Segments       []string        `json:"segments"`
}

func (f finding) view(favoritesKey string) foundFeature {
	view := foundFeature{
		listedFeature: listedFeatureOf(f.FeatureSummary, f.environments, favoritesKey), Project: f.Project, Segments: f.segments,
	}
	if f.Relation != "" {
		view.DependencyType = &f.Relation
	}
	return view
}
