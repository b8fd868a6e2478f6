package main

import (
	"guidon/pkg/httpapi"
)

// The log is said in one file: its operations, their queries and the members of its answers.

const aboutLog = "Newest first. A page is one query of the store, however long the log is: what no index selects is filtered in it, so that a " +
	"page may be short, or empty, and not be the last; `next` is null on the last one. " +
	"Only administrators see the events of tokens, users, roles and access to projects. "

const lagging = "A change may show a second late."

var badLogQuery = map[int]string{400: "A parameter of the query is not as it must be, or not there: `offset` (`ValidationError`)."}

var logQueries = []string{
	"log.project", "log.feature", "log.environment", "log.type", "log.createdBy", "log.from", "log.to", "log.query", "log.limit", "log.cursor",
}

var eventOperations = map[string]operation{
	"GET " + api + "/events":         {id: "listEvents", summary: "Read the log of all changes", about: aboutLog + lagging, query: logQueries, failures: badLogQuery},
	"GET " + api + "/search/events":  {id: "searchEvents", summary: "Search the log of all changes", about: aboutLog + lagging, query: logQueries, failures: badLogQuery},
	"POST " + api + "/events/search": {id: "postEventSearch", summary: "Search the log of all changes by a body", about: aboutLog + lagging + " `GET /api/admin/search/events` has more filters.", example: `{"type": "feature-created", "project": "default", "limit": 50}`},
	"GET " + api + "/events/{featureName}": {id: "listFeatureEvents", summary: "Read what happened to a flag", failures: badLogQuery,
		about: aboutLog + "A change shows at once. A flag that never was has no events.",
		query: []string{"log.environment", "log.type", "log.createdBy", "log.from", "log.to", "log.query", "log.limit", "log.cursor"}},
}

const filterForms = " A value, `IS:` and a value, or `IS_ANY_OF:` and values between commas."

var eventQueries = map[string]parameter{
	"log.project":     {"Leaves only events of these projects, by id." + filterForms, "IS:default", notEmpty},
	"log.feature":     {"Leaves only events of these flags, by name." + filterForms, "IS:new-checkout", notEmpty},
	"log.environment": {"Leaves only events of these environments, by name." + filterForms, "IS:production", notEmpty},
	"log.type":        {"Leaves only events of these types." + filterForms, "IS_ANY_OF:feature-created,feature-archived", notEmpty},
	"log.createdBy":   {"Leaves only what these have done, by user id, or by the name of the user or token." + filterForms, "IS:1", notEmpty},
	"log.from":        {"The first moment: a date or a date-time, with `IS:` before it or not. `createdAtFrom` is the same.", "2026-01-01", nil},
	"log.to":          {"The last moment, in the same forms; a date is the whole day. `createdAtTo` is the same.", "2099-12-31", nil},
	"log.query":       {"Leaves only events with this text in them, in this case.", "checkout", longest(httpapi.MaxTitle)},
	"log.limit":       {"At most this many events, from 1 to 1,000. Anything else is the default, 100.", "50", nil},
	"log.cursor":      {"The `next` of the page before; empty for the first.", "AZrBwwAAcAAAAAAAAAAAAA", nil},
}

var ofEvents = map[string]member{
	"eventView.id":            {doc: "Its number: whole, of up to 53 bits, and greater than those of earlier events. Two made by different processes in the same 250 ns may share it.", example: 187201543884800},
	"eventView.type":          {doc: "What the change was.", example: "feature-created"},
	"eventView.createdBy":     {doc: "Who did it: the name of the user or of the token.", example: "admin"},
	"createdByUserId":         {doc: "The id of that user; -42 for an API token, null for what a service starts with.", example: 1},
	"eventView.createdAt":     {doc: "When the change was made."},
	"eventView.data":          {doc: "What is there now, or what changed of it; null where nothing is."},
	"preData":                 {doc: "What was there before; null where nothing was."},
	"eventView.featureName":   {doc: "Name of the flag; null for what is of none.", example: "new-checkout"},
	"eventView.project":       {doc: "Id of the project; null for what is of none.", example: "default"},
	"eventView.environment":   {doc: "Name of the environment; null for what is of none.", example: "development"},
	"eventView.tags":          {doc: "Always empty: the events of tagging tell of tags."},
	"events":                  {doc: "The events, newest first."},
	"toggleName":              {doc: "Name of the flag.", example: "new-checkout"},
	"totalEvents":             {doc: "The number of events on all pages. Absent where the one query of this page does not tell: on later pages, and where more events follow than one query reads.", example: 1},
	"eventSearchBody.type":    {doc: "Returns only events of this type.", example: "feature-created", limit: both(notEmpty, longest(httpapi.MaxTitle))},
	"eventSearchBody.project": {doc: "Returns only events of this project, by id.", example: "default", limit: both(notEmpty, longest(httpapi.MaxTitle))},
	"eventSearchBody.feature": {doc: "Returns only events of this flag, by name.", example: "new-checkout", limit: both(notEmpty, longest(httpapi.MaxTitle))},
	"eventSearchBody.query":   {doc: "Returns only events with this text in them, case-sensitive.", example: "checkout", limit: longest(httpapi.MaxTitle)},
	"eventSearchBody.limit":   {doc: "The maximum number of events.", example: 50, standard: 100, limit: between(1, httpapi.MaxEvents)},
	"eventSearchBody.offset":  {doc: "Only 0: the log is read by cursor.", example: 0, limit: between(0, 0)},
	"eventSearchBody.cursor":  {doc: "The `next` of the page before; empty for the first.", example: "", limit: longest(httpapi.MaxTitle)},
	"next":                    {doc: "The `cursor` of the next page; null for the last.", example: "AZrBwwAAcAAAAAAAAAAAAA"},
}
