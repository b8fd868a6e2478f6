// Package admin is the administration interface: every group of operations. Packages below it have the operations by area.
package admin

import (
	"guidon/pkg/admin/eventlog"
	"guidon/pkg/admin/fallback"
	"guidon/pkg/admin/features"
	"guidon/pkg/admin/projects"
	"guidon/pkg/admin/segments"
	"guidon/pkg/admin/strategies"
	"guidon/pkg/admin/tags"
	"guidon/pkg/admin/tokens"
	"guidon/pkg/admin/transfer"
	"guidon/pkg/admin/users"
	"guidon/pkg/httpapi"
)

// Groups lists every group. Each is served by one Lambda function.
func Groups() []httpapi.Group {
	return []httpapi.Group{
		Projects(), Environments(), Features(), Tags(), Strategies(), Variants(), Users(), Tokens(), Imports(), Events(), Segments(), Fallback(),
	}
}

func Projects() httpapi.Group     { return projects.Projects() }
func Environments() httpapi.Group { return projects.Environments() }
func Features() httpapi.Group     { return features.Group() }
func Tags() httpapi.Group         { return tags.Group() }
func Strategies() httpapi.Group   { return strategies.Group() }
func Variants() httpapi.Group     { return strategies.VariantGroup() }
func Users() httpapi.Group        { return users.Group() }
func Tokens() httpapi.Group       { return tokens.Group() }
func Imports() httpapi.Group      { return transfer.Group() }
func Events() httpapi.Group       { return eventlog.Group() }
func Segments() httpapi.Group     { return segments.Group() }
func Fallback() httpapi.Group     { return fallback.Group() }
