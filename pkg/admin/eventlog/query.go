package eventlog

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"guidon/pkg/admin/wire"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
)

// The number of events on a page: without a limit, and at most.
const (
	defaultEvents = 100
	MaxEvents     = 1000
)

// maxFilter is how many values a filter can have. The store takes no more.
const maxFilter = 100

// inLog is the place of an operation whose query selects events.
type inLog struct {
	httpapi.InService
	Query flags.LogQuery
}

// Parse reads the query.
func (at *inLog) Parse(r httpapi.Request) (err error) {
	at.Query, err = parseQuery(r.Query())
	return err
}

// inFeatureLog is the place of an operation on the events of a flag. A flag that does not exist has no events, as in
// Unleash.
type inFeatureLog struct {
	inLog
	FeatureName string `path:"featureName"`
}

// Parse reads the flag and the query.
func (at *inFeatureLog) Parse(r httpapi.Request) error {
	if err := at.inLog.Parse(r); err != nil {
		return err
	}
	if at.Query.Features != nil {
		return flags.Errorf(flags.Invalid, "remove feature from the query: the path names the flag")
	}
	if flags.CheckName(at.FeatureName) != "" {
		return flags.Errorf(flags.NotFound, "there is no flag %q", jsonbody.Shorten(at.FeatureName))
	}
	at.Query.Features = []string{at.FeatureName}
	return nil
}

// parseQuery reads the parameters of a query in Unleash's forms: project=IS:a, type=IS_ANY_OF:b,c, or a value alone; from
// and to can also be named createdAtFrom and createdAtTo.
func parseQuery(query httpapi.Query) (flags.LogQuery, error) {
	q := flags.LogQuery{
		Limit: httpapi.WholeNumber(query, "limit", defaultEvents, 1, MaxEvents),
		Text:  query.Get("query"), Cursor: query.Get("cursor"),
	}
	var problems flags.Problems
	q.Projects = filter(query, "project", &problems)
	q.Features = filter(query, "feature", &problems)
	q.Environments = filter(query, "environment", &problems)
	q.Actors = filter(query, "createdBy", &problems)
	for _, name := range filter(query, "type", &problems) {
		q.Types = append(q.Types, flags.EventType(name))
	}
	q.From = timeBound(query, []string{"from", "createdAtFrom"}, 0, &problems)
	q.To = timeBound(query, []string{"to", "createdAtTo"}, 24*time.Hour-time.Millisecond, &problems)
	if offset := query.Get("offset"); offset != "" && offset != "0" {
		problems.Add("offset", "must be 0: the log has no offsets; send the next of the previous page as cursor")
	}
	if len(q.Text) > wire.MaxTitle {
		problems.Add("query", "must have at most %d bytes", wire.MaxTitle)
	}
	if !utf8.ValidString(q.Text) {
		problems.Add("query", "must be UTF-8")
	}
	if len(problems) > 0 {
		return q, flags.Errorf(flags.Invalid, "the query parameter %s %s", problems[0].Path, problems[0].Message)
	}
	return q, nil
}

// filter reads the values of a parameter, sorted. An absent parameter has none, which selects all events.
func filter(query httpapi.Query, name string, problems *flags.Problems) []string {
	if !query.Has(name) {
		return nil
	}
	text := query.Get(name)
	for _, operator := range []string{"IS_NOT:", "IS_NONE_OF:"} {
		if strings.HasPrefix(text, operator) {
			problems.Add(name, "does not support %s; use IS: or IS_ANY_OF:", operator)
		}
	}
	values := []string{text}
	if value, found := strings.CutPrefix(text, "IS:"); found {
		values = []string{value}
	} else if list, found := strings.CutPrefix(text, "IS_ANY_OF:"); found {
		values = strings.Split(list, ",")
	}
	for i, v := range values {
		values[i] = strings.TrimSpace(v)
	}
	slices.Sort(values)
	values = slices.Compact(values)
	switch {
	case len(values) > maxFilter:
		problems.Add(name, "must have at most %d values, but has %d", maxFilter, len(values))
	case values[0] == "":
		problems.Add(name, "must be a value, IS: and a value, or IS_ANY_OF: and values between commas; values must not be empty")
	case slices.ContainsFunc(values, func(v string) bool { return len(v) > wire.MaxTitle }):
		problems.Add(name, "must have values of at most %d bytes", wire.MaxTitle)
	}
	return values
}

// timeBound reads a time under the first of its names that is present: a date-time, or a date, to which dateOffset is added.
func timeBound(query httpapi.Query, names []string, dateOffset time.Duration, problems *flags.Problems) time.Time {
	for _, name := range names {
		text := strings.TrimPrefix(query.Get(name), "IS:")
		if text == "" {
			continue
		}
		if date, err := time.Parse(time.DateOnly, text); err == nil {
			return date.Add(dateOffset)
		}
		if t, ok := httpapi.ParseMoment(text); ok {
			return t
		}
		problems.Add(name, "must be a date such as 2026-01-31, or a date-time such as 2026-01-31T12:00:00Z, not %q", jsonbody.Shorten(text))
	}
	return time.Time{}
}

// An eventSearchBody selects events. Each filter is one value.
type eventSearchBody struct {
	Type    jsonbody.Maybe[string] `json:"type"`
	Project jsonbody.Maybe[string] `json:"project"`
	Feature jsonbody.Maybe[string] `json:"feature"`
	Query   jsonbody.Maybe[string] `json:"query"`
	Limit   jsonbody.Maybe[int64]  `json:"limit"`
	Offset  jsonbody.Maybe[int64]  `json:"offset"`
	Cursor  jsonbody.Maybe[string] `json:"cursor"`
}

// Check adds all problems of the body.
func (b eventSearchBody) Check(_ flags.Limits, problems *flags.Problems) {
	for _, filter := range []struct {
		path  string
		value jsonbody.Maybe[string]
	}{{"/type", b.Type}, {"/project", b.Project}, {"/feature", b.Feature}} {
		if filter.value.Set && filter.value.Value == "" {
			problems.Add(filter.path, "must not be empty; leave it out for all")
		}
		if len(filter.value.Value) > wire.MaxTitle {
			problems.Add(filter.path, "must have at most %d bytes", wire.MaxTitle)
		}
	}
	if len(b.Query.Value) > wire.MaxTitle {
		problems.Add("/query", "must have at most %d bytes", wire.MaxTitle)
	}
	if len(b.Cursor.Value) > wire.MaxTitle {
		problems.Add("/cursor", "must be the next of an earlier page")
	}
	if n := b.Limit.Or(defaultEvents); n < 1 || n > MaxEvents {
		problems.Add("/limit", "must be a whole number from 1 to %d", MaxEvents)
	}
	if b.Offset.Value != 0 {
		problems.Add("/offset", "must be 0: the log has no offsets; send the next of the previous page as cursor")
	}
}

// query is the query of the log that the body describes.
func (b eventSearchBody) query() flags.LogQuery {
	q := flags.LogQuery{Text: b.Query.Value, Cursor: b.Cursor.Value, Limit: int(b.Limit.Or(defaultEvents))}
	if b.Project.Set {
		q.Projects = []string{b.Project.Value}
	}
	if b.Feature.Set {
		q.Features = []string{b.Feature.Value}
	}
	if b.Type.Set {
		q.Types = []flags.EventType{flags.EventType(b.Type.Value)}
	}
	return q
}
