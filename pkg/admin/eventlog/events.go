// Package eventlog has the operations that read the log of all changes. Callers who can read flags can read it. Events of
// tokens, users, roles and access to projects are left out for all but administrators.
package eventlog

import (
	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/shape"
)

// Group lists the operations.
func Group() httpapi.Group {
	const events = "/api/admin/events"
	return httpapi.Group{Name: "events", Function: "insight", Operations: []httpapi.Operation{
		{Route: "GET " + events, Permission: access.Read, Handle: httpapi.Handle(listEvents)},
		{Route: "GET " + events + "/{featureName}", Permission: access.Read, Handle: httpapi.Handle(listFeatureEvents)},
		{Route: "POST " + events + "/search", Permission: access.Read, Handle: httpapi.HandleBody(searchByBody)},
		{Route: "GET /api/admin/search/events", Permission: access.Read, Handle: httpapi.Handle(searchByQuery)},
	}}
}

// An eventPage is a page of the log. The total is left out if it is not known, see flags.UnknownTotal.
type eventPage struct {
	Events []shape.EventView `json:"events"`
	Next   *string           `json:"next"`
	Total  *int              `json:"totalEvents,omitzero"`
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
	view := eventPage{Events: httpapi.Each(page.Events, shape.EventViewOf), Next: shape.NullIfEmpty(page.Next)}
	if page.Total != flags.UnknownTotal {
		view.Total = &page.Total
	}
	return view
}
