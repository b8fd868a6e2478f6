package events

import (
	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/shape"
)

// names are the names of what the first start created at once.
type names struct {
	Names []string `json:"names"`
}

// EnvironmentsSeeded is the event of the first environments.
func EnvironmentsSeeded(registry *flags.Environments) flags.Event {
	created := shape.Each(registry.List, func(e flags.Environment) string { return e.Name })
	return flags.Event{Type: flags.EnvironmentsSeeded, Data: names{created}}
}

// ContextFieldsSeeded is the event of the first context fields.
func ContextFieldsSeeded(registry *flags.ContextFields) flags.Event {
	created := shape.Each(registry.List, func(f flags.ContextField) string { return f.Name })
	return flags.Event{Type: flags.ContextFieldCreated, Data: names{created}}
}

// customRoles are the roles that are not built in.
type customRoles struct {
	Custom []shape.RoleWithPermissions `json:"custom"`
}

// RolesSeeded is the event of the first registry of roles.
func RolesSeeded(registry *access.Roles) flags.Event {
	return flags.Event{Type: flags.RolesSeeded, Data: customRoles{shape.Each(registry.Custom, shape.RoleWithPermissionsOf)}}
}
