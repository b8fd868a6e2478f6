package oldapi

import (
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/flags"
)

// Events is the group that reads the log of all changes. Who may read flags may read it, but for what that does not
// reach: events of tokens, users, roles and access are for administrators.
func Events() Group {
	const events = "/api/admin/events"
	return Group{Name: "events", Operations: []Operation{
		{"GET " + events, flags.Read, 0, does(listEvents).readingLog(queriedEvents).answers(200, eventList{})},
		{"GET " + events + "/{featureName}", flags.Read, 0, does(listFeatureEvents).readingLog(featureEvents).answers(200, featureEventList{})},
		{"POST " + events + "/search", flags.Read, 0, readingLogFor(takes(postedEventSearch), eventSearchQuery).answers(200, eventList{})},
		{"GET /api/admin/search/events", flags.Read, 0, does(searchEvents).readingLog(queriedEvents).answers(200, eventPage{})},
	}}
}

// An eventView is an event on the wire, as Unleash's users know it.
type eventView struct {
	ID          int64           `json:"id"`
	Type        flags.EventType `json:"type"`
	CreatedBy   string          `json:"createdBy"`
	UserID      *int64          `json:"createdByUserId"`
	CreatedAt   timestamp       `json:"createdAt"`
	Data        eventDocument   `json:"data"`
	PreData     eventDocument   `json:"preData"`
	FeatureName *string         `json:"featureName"`
	Project     *string         `json:"project"`
	Environment *string         `json:"environment"`
	Tags        []tagView       `json:"tags"` // always empty: those of the flag are told by the events that changed them
}

func eventViewOf(e flags.Event) eventView {
	view := eventView{
		ID: e.Number(), Type: e.Type, CreatedBy: e.CreatedBy, CreatedAt: timestamp(e.CreatedAt), Tags: []tagView{},
		Data: eventDocumentOf(e.Data), PreData: eventDocumentOf(e.PreData),
		FeatureName: orNull(e.FeatureName), Project: orNull(e.Project), Environment: orNull(e.Environment),
	}
	if e.UserID != 0 {
		view.UserID = &e.UserID
	}
	return view
}

// An eventDocument is what an event tells of one side of a change, as the store has it: an object; null for none.
type eventDocument jsontext.Value

func eventDocumentOf(data any) eventDocument {
	document, _ := data.(jsontext.Value)
	return eventDocument(document)
}

// MarshalJSON writes the document as it is.
func (d eventDocument) MarshalJSON() ([]byte, error) {
	if d == nil {
		return []byte("null"), nil
	}
	return d, nil
}

// An eventPage is what all pages of the log have. Total is absent where the one query of a page does not tell it.
type eventPage struct {
	Events []eventView `json:"events"`
	Next   *string     `json:"next"`
	Total  *int        `json:"totalEvents,omitzero"`
}

func eventPageOf(page flags.LogPage) eventPage {
	view := eventPage{Events: each(page.Events, eventViewOf), Next: orNull(page.Next)}
	if page.Total != flags.UnknownTotal {
		view.Total = &page.Total
	}
	return view
}

// An eventList is a page of the log.
type eventList struct {
	Version int `json:"version"`
	eventPage
}

// A featureEventList is a page of what happened to a flag.
type featureEventList struct {
	Version int    `json:"version"`
	Feature string `json:"toggleName"`
	eventPage
}

func listEvents(c *call) (decision, error) { return ok(eventList{1, eventPageOf(c.log)}) }

func listFeatureEvents(c *call) (decision, error) {
	return ok(featureEventList{1, c.param(featureParam), eventPageOf(c.log)})
}

func searchEvents(c *call) (decision, error) { return ok(eventPageOf(c.log)) }

func postedEventSearch(c *call, _ eventSearchBody) (decision, error) { return listEvents(c) }

// An eventSearchBody says which events are wanted, each member one value.
type eventSearchBody struct {
	Type    maybe[string] `json:"type"`
	Project maybe[string] `json:"project"`
	Feature maybe[string] `json:"feature"`
	Query   maybe[string] `json:"query"`
	Limit   maybe[int64]  `json:"limit"`
	Offset  maybe[int64]  `json:"offset"`
	Cursor  maybe[string] `json:"cursor"`
}

func (b eventSearchBody) check(_ flags.Limits, problems *flags.Problems) {
	for _, filter := range []struct {
		path  string
		value maybe[string]
	}{{"/type", b.Type}, {"/project", b.Project}, {"/feature", b.Feature}} {
		if filter.value.Set && filter.value.Value == "" {
			problems.Add(filter.path, "must not be empty; leave it out for all")
		}
		if len(filter.value.Value) > maxTitle {
			problems.Add(filter.path, "must have at most %d bytes", maxTitle)
		}
	}
	if len(b.Query.Value) > maxTitle {
		problems.Add("/query", "must have at most %d bytes", maxTitle)
	}
	if len(b.Cursor.Value) > maxTitle {
		problems.Add("/cursor", "must be the next of an earlier page")
	}
	if n := b.Limit.or(defaultEvents); n < 1 || n > maxEvents {
		problems.Add("/limit", "must be a whole number from 1 to %d", maxEvents)
	}
	if b.Offset.Value != 0 {
		problems.Add("/offset", "must be 0: the log is not read by offset; send the next of the page before as cursor")
	}
}

// eventSearchQuery is what the body asks the log for.
func eventSearchQuery(c *call, b eventSearchBody) (flags.LogQuery, error) {
	q := flags.LogQuery{Text: b.Query.Value, Cursor: b.Cursor.Value, Limit: int(b.Limit.or(defaultEvents)), IncludeReserved: c.caller.Admin}
	if b.Project.Set {
		q.Projects = []string{b.Project.Value}
	}
	if b.Feature.Set {
		q.Features = []string{b.Feature.Value}
	}
	if b.Type.Set {
		q.Types = []flags.EventType{flags.EventType(b.Type.Value)}
	}
	return q, nil
}

// The sizes of a page, in events.
const (
	defaultEvents = 100
	maxEvents     = 1000
)

// maxFilter is how many values a filter may name: what the store takes.
const maxFilter = 100

// featureEvents asks for the events of the flag that the path names. One that is not there has none, as in Unleash.
func featureEvents(c *call) (flags.LogQuery, error) {
	q, err := queriedEvents(c)
	name := c.param(featureParam)
	switch {
	case err == nil && q.Features != nil:
		err = flags.Errorf(flags.Invalid, "feature is in the path already, and may not be in the query too")
	case err == nil && flags.CheckName(name) != "":
		err = flags.Errorf(flags.NotFound, "there is no flag %q", shorten(name))
	}
	q.Features = []string{name}
	return q, err
}

// queriedEvents asks for what the query says, in the spellings of Unleash: project=IS:a, type=IS_ANY_OF:b,c, or bare
// values; from and to as createdAtFrom and createdAtTo too.
func queriedEvents(c *call) (flags.LogQuery, error) {
	q := flags.LogQuery{
		Limit: wholeNumber(c.query, "limit", defaultEvents, 1, maxEvents),
		Text:  c.query.Get("query"), Cursor: c.query.Get("cursor"), IncludeReserved: c.caller.Admin,
	}
	var problems flags.Problems
	for _, filter := range []struct {
		name string
		into *[]string
	}{{"project", &q.Projects}, {"feature", &q.Features}, {"environment", &q.Environments}, {"createdBy", &q.Actors}} {
		*filter.into = filterIn(c.query, filter.name, &problems)
	}
	for _, kind := range filterIn(c.query, "type", &problems) {
		q.Types = append(q.Types, flags.EventType(kind))
	}
	q.From = boundIn(c.query, []string{"from", "createdAtFrom"}, 0, &problems)
	q.To = boundIn(c.query, []string{"to", "createdAtTo"}, 24*time.Hour-time.Millisecond, &problems)
	if offset := c.query.Get("offset"); offset != "" && offset != "0" {
		problems.Add("offset", "cannot be answered: a page begins where cursor says, which is the next of the page before")
	}
	if len(q.Text) > maxTitle {
		problems.Add("query", "must have at most %d bytes", maxTitle)
	}
	if !utf8.ValidString(q.Text) {
		problems.Add("query", "must be UTF-8")
	}
	return q, queryFault(problems)
}

// queryFault says what is wrong with a parameter of the query: without details, which are places in bodies.
func queryFault(problems flags.Problems) error {
	if len(problems) == 0 {
		return nil
	}
	return flags.Errorf(flags.Invalid, "the query's %s %s", problems[0].Path, problems[0].Message)
}

// filterIn are the values that a parameter of the query leaves; none for all.
func filterIn(query url.Values, name string, problems *flags.Problems) []string {
	text := query.Get(name)
	if !query.Has(name) {
		return nil
	}
	values := []string{text}
	if one, found := strings.CutPrefix(text, "IS:"); found {
		values = []string{one}
	} else if list, found := strings.CutPrefix(text, "IS_ANY_OF:"); found {
		values = strings.Split(list, ",")
	}
	for _, operator := range []string{"IS_NOT:", "IS_NONE_OF:"} {
		if strings.HasPrefix(text, operator) {
			problems.Add(name, "cannot be asked with %s; use IS: or IS_ANY_OF:", operator)
		}
	}
	for i, v := range values {
		values[i] = strings.TrimSpace(v)
	}
	slices.Sort(values)
	values = slices.Compact(values)
	switch {
	case len(values) > maxFilter:
		problems.Add(name, "must name at most %d values, names %d", maxFilter, len(values))
	case values[0] == "":
		problems.Add(name, "must be a value, IS:a value, or IS_ANY_OF:values between commas, none of them empty")
	case slices.ContainsFunc(values, func(v string) bool { return len(v) > maxTitle }):
		problems.Add(name, "must have values of at most %d bytes", maxTitle)
	}
	return values
}

// boundIn is a moment that the query names, under either name: a date-time, or a date, which last makes its end.
func boundIn(query url.Values, names []string, last time.Duration, problems *flags.Problems) time.Time {
	for _, name := range names {
		text := strings.TrimPrefix(query.Get(name), "IS:")
		if text == "" {
			continue
		}
		if day, err := time.Parse(time.DateOnly, text); err == nil {
			return day.Add(last)
		}
		if t, ok := parseMoment(text); ok {
			return t
		}
		problems.Add(name, "must be a date such as 2026-01-31, or a date-time such as 2026-01-31T12:00:00Z, not %q", shorten(text))
	}
	return time.Time{}
}
