// Package eventlog has the operations that read the log of all changes. Callers who can read flags can read it. Events of
// tokens, users, roles and access to projects are left out for all but administrators.
package eventlog

import (
	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/admin/wire"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/shape"
)

// Group lists the operations.
func Group() httpapi.Group {
	const events = "/api/admin/events"
	return httpapi.Group{Name: "events", Operations: []httpapi.Operation{
		{Route: "GET " + events, Permission: flags.Read, Handle: httpapi.Handle(listEvents)},
		{Route: "GET " + events + "/{featureName}", Permission: flags.Read, Handle: httpapi.Handle(listFeatureEvents)},
		{Route: "POST " + events + "/search", Permission: flags.Read, Handle: httpapi.HandleBody(searchByBody)},
		{Route: "GET /api/admin/search/events", Permission: flags.Read, Handle: httpapi.Handle(searchByQuery)},
	}}
}

// An eventView is an event, in the shape of Unleash's events.
type eventView struct {
	ID          int64           `json:"id"`
	Type        flags.EventType `json:"type"`
	CreatedBy   string          `json:"createdBy"`
	UserID      *int64          `json:"createdByUserId"`
	CreatedAt   shape.Time      `json:"createdAt"`
	Data        eventDocument   `json:"data"`
	PreData     eventDocument   `json:"preData"`
	FeatureName *string         `json:"featureName"`
	Project     *string         `json:"project"`
	Environment *string         `json:"environment"`
	Tags        []shape.Tag     `json:"tags"` // always empty: changes of a flag's tags are events of their own
}

func eventViewOf(e flags.Event) eventView {
	view := eventView{
		ID: e.Number(), Type: e.Type, CreatedBy: e.CreatedBy, CreatedAt: shape.Time(e.CreatedAt), Tags: []shape.Tag{},
		Data: eventDocumentOf(e.Data), PreData: eventDocumentOf(e.PreData),
		FeatureName: wire.NullIfEmpty(e.FeatureName), Project: wire.NullIfEmpty(e.Project), Environment: wire.NullIfEmpty(e.Environment),
	}
	if e.UserID != 0 {
		view.UserID = &e.UserID
	}
	return view
}

// An eventDocument is the state before or after a change as it is stored: a JSON object, or null.
type eventDocument jsontext.Value

func eventDocumentOf(data any) eventDocument {
	document, _ := data.(jsontext.Value)
	return eventDocument(document)
}

// MarshalJSON writes the document unchanged.
func (d eventDocument) MarshalJSON() ([]byte, error) {
	if d == nil {
		return []byte("null"), nil
	}
	return d, nil
}

// An eventPage is a page of the log. The total is left out if it is not known, see flags.UnknownTotal.
type eventPage struct {
	Events []eventView `json:"events"`
	Next   *string     `json:"next"`
	Total  *int        `json:"totalEvents,omitzero"`
}

// An eventList is a page of the log with the version of its format.
type eventList struct {
	Version int `json:"version"`
	eventPage
}

// A featureEventList is a page of the events of a flag.
type featureEventList struct {
	Version int    `json:"version"`
	Feature string `json:"toggleName"`
	eventPage
}

func listEvents(tx *httpapi.Tx, at inLog) (eventList, error) {
	return eventList{1, readPage(tx, at.Query)}, nil
}

func listFeatureEvents(tx *httpapi.Tx, at inFeatureLog) (featureEventList, error) {
	return featureEventList{1, at.FeatureName, readPage(tx, at.Query)}, nil
}

func searchByQuery(tx *httpapi.Tx, at inLog) (eventPage, error) { return readPage(tx, at.Query), nil }

func searchByBody(tx *httpapi.Tx, _ httpapi.InService, in eventSearchBody) (eventList, error) {
	return eventList{1, readPage(tx, in.query())}, nil
}

// readPage reads a page of the events that the caller can see.
func readPage(tx *httpapi.Tx, q flags.LogQuery) eventPage {
	q.IncludeReserved = tx.Caller.Admin
	page := tx.Log(q)
	view := eventPage{Events: httpapi.Each(page.Events, eventViewOf), Next: wire.NullIfEmpty(page.Next)}
	if page.Total != flags.UnknownTotal {
		view.Total = &page.Total
	}
	return view
}
