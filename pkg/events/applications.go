package events

import (
	"guidon/pkg/flags"
	"guidon/pkg/shape"
	"guidon/pkg/usage"
)

// application is what users said about an application, not what it reports.
type application struct {
	AppName     string     `json:"appName"`
	Description *string    `json:"description"`
	URL         *string    `json:"url"`
	Color       *string    `json:"color"`
	Icon        *string    `json:"icon"`
	CreatedAt   shape.Time `json:"createdAt"`
}

func applicationOf(a *usage.Application) application {
	return application{a.Name, shape.NullIfEmpty(a.Description), shape.NullIfEmpty(a.URL), shape.NullIfEmpty(a.Color), shape.NullIfEmpty(a.Icon), shape.Time(a.CreatedAt)}
}

// ApplicationCreated is the event of an application that a user created.
func ApplicationCreated(a *usage.Application) flags.Event {
	return flags.Event{Type: flags.ApplicationCreated, Data: applicationOf(a)}
}

// ApplicationUpdated is the event of an application whose description changed.
func ApplicationUpdated(before, after *usage.Application) flags.Event {
	return flags.Event{Type: flags.ApplicationUpdated, Data: applicationOf(after), PreData: applicationOf(before)}
}

// ApplicationDeleted is the event of an application that a user deleted.
func ApplicationDeleted(a *usage.Application) flags.Event {
	return flags.Event{Type: flags.ApplicationDeleted, PreData: applicationOf(a)}
}
