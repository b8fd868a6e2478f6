package features

import (
	"slices"
	"strings"
	"time"

	"guidon/pkg/admin/wire"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// criteria are what a search asks for.
type criteria struct {
	texts         []string // in lower case; one of them is in the name or in a tag
	project       operator
	state         operator
	kind          operator
	owner         operator
	lifecycle     operator
	tag           operator
	segment       operator
	status        []string // environment:enabled, environment:disabled or environment:plan, one of them
	createdAt     func(at time.Time) bool
	archived      bool // archived flags instead of active ones
	sortBy        string
	descending    bool
	favorites     bool
	offset, limit int
	keyed         bool  // whether the query has a cursor
	after         place // of the cursor
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
// orders or pages the response falls back to its default instead.
func criteriaOf(query httpapi.Query) (criteria, error) {
	var problems flags.Problems
	is := []string{"IS", "IS_NOT", "IS_ANY_OF", "IS_NONE_OF"}
	includes := []string{"INCLUDE", "DO_NOT_INCLUDE", "INCLUDE_ALL_OF", "INCLUDE_ANY_OF", "EXCLUDE_IF_ANY_OF", "EXCLUDE_ALL"}
	c := criteria{
		project: operatorOf(query, "project", is, &problems), state: operatorOf(query, "state", is, &problems),
		lifecycle: operatorOf(query, "lifecycle", is, &problems), owner: operatorOf(query, "owner", is, &problems),
		tag: operatorOf(query, "tag", includes, &problems), segment: operatorOf(query, "segment", includes, &problems),
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
	c.status = append(slices.Clone(query.All("status")), query.All("status[]")...)
	c.readCreatedAt(query, &problems)
	c.readCursor(query, &problems)
	c.archived = query.Get("archived") == "IS:true"
	if query.Has("archived") && !c.archived && query.Get("archived") != "IS:false" {
		problems.Add("archived", "must be IS:true or IS:false")
	}
	if text := query.Get("favoritesFirst"); query.Has("favoritesFirst") && text != "true" && text != "false" {
		problems.Add("favoritesFirst", "must be true or false")
	}
	c.checkValues(&problems)
	return c, httpapi.QueryFault(problems)
}

// namedProjects are the IDs of the only projects that can match, if the query names them.
func (c criteria) namedProjects() []string {
	if !c.project.isOneOf() {
		return nil
	}
	return slices.Compact(slices.Sorted(slices.Values(c.project.values)))
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
		{"owner", c.owner.values, nil},
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
		if _, state, _ := strings.Cut(status, ":"); state != "enabled" && state != "disabled" && state != "plan" {
			problems.Add("status", "must be the name of an environment, a colon, and enabled, disabled or plan")
		}
	}
}

// kindOf reads the flag types that are asked for: type=IS:release, or type[]=release as often as wanted.
func kindOf(query httpapi.Query, operators []string, problems *flags.Problems) operator {
	if listed := query.All("type[]"); len(listed) > 0 {
		return operator{"IS_ANY_OF", listed}
	}
	return operatorOf(query, "type", operators, problems)
}

// defaultSort is the order of a search that asks for no other, or for one that does not exist.
const defaultSort = "createdAt"

// sortBy reads what to sort by: a member of the rows, or environment: and the name of one.
func sortBy(query httpapi.Query) string {
	by := query.Get("sortBy")
	environment, found := strings.CutPrefix(by, "environment:")
	if slices.Contains([]string{"name", "type", "project", "createdAt", "archivedAt", "lastSeenAt", "stale"}, by) || found && flags.CheckName(environment) == "" {
		return by
	}
	return defaultSort
}

// readCreatedAt reads createdAt=IS_BEFORE:2026-01-31 and IS_ON_OR_AFTER, days in UTC.
func (c *criteria) readCreatedAt(query httpapi.Query, problems *flags.Problems) {
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
func operatorOf(query httpapi.Query, parameter string, names []string, problems *flags.Problems) operator {
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

// isOneOf tells whether only the values match, and nothing else does.
func (o operator) isOneOf() bool { return o.name == "IS" || o.name == "IS_ANY_OF" }

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
