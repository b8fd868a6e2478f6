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

// Application has the events of applications that users create, describe and delete.
var Application = familyOf(flags.ApplicationCreated, flags.ApplicationUpdated, flags.ApplicationDeleted, applicationOf)
