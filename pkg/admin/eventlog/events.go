// Package eventlog has the operations that read the log of all changes. Callers who can read flags can read it. Events of
// tokens, users, roles and access to projects are left out for all but administrators.
package eventlog

import (
	"slices"
	"strconv"

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
	Events []loggedEvent `json:"events"`
	Next   *string       `json:"next"`
	Total  *int          `json:"totalEvents,omitzero"`
}

// A loggedEvent is an event with what its user is now. The event itself has the user name at that time.
type loggedEvent struct {
	shape.EventView
	CreatedByName           string `json:"createdByName,omitzero"`
	CreatedByServiceAccount bool   `json:"createdByServiceAccount,omitzero"`
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
	q.Actors = withUserIDs(tx, q.Actors)
	page := tx.Log(q)
	var users []flags.Key
	for _, e := range page.Events {
		if e.UserID > 0 {
			users = append(users, access.UserKey(e.UserID))
		}
	}
	tx.Load(users...)
	view := eventPage{Next: shape.NullIfEmpty(page.Next), Events: httpapi.Each(page.Events, func(e flags.Event) loggedEvent {
		event := loggedEvent{EventView: shape.EventViewOf(e)}
		if e.UserID > 0 {
			if u := tx.FindUser(e.UserID); u != nil {
				event.CreatedByName, event.CreatedByServiceAccount = u.Name, u.ServiceAccount
			}
		}
		return event
	})}
	if page.Total != flags.UnknownTotal {
		view.Total = &page.Total
	}
	return view
}

// withUserIDs adds the IDs of the users whom the actors name: events have a user's ID, and only one of the user's names.
func withUserIDs(tx *httpapi.Tx, actors []string) []string {
	isName := func(actor string) bool { _, err := strconv.Atoi(actor); return err != nil }
	if !slices.ContainsFunc(actors, isName) {
		return actors
	}
	all := slices.Clone(actors)
	for _, u := range tx.Users() {
		if slices.ContainsFunc(actors, u.IsNamed) {
			all = append(all, strconv.FormatInt(u.ID, 10))
		}
	}
	return all[:min(len(all), maxFilter)]
}
