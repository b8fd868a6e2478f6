// Package admin lists the groups of the administration API. The packages below it contain the operations, by area.
package admin

import (
	"guidon/pkg/admin/addons"
	"guidon/pkg/admin/eventlog"
	"guidon/pkg/admin/fallback"
	"guidon/pkg/admin/features"
	"guidon/pkg/admin/metrics"
	"guidon/pkg/admin/playground"
	"guidon/pkg/admin/projects"
	"guidon/pkg/admin/releases"
	"guidon/pkg/admin/requests"
	"guidon/pkg/admin/segments"
	"guidon/pkg/admin/signin"
	"guidon/pkg/admin/strategies"
	"guidon/pkg/admin/tags"
	"guidon/pkg/admin/tokens"
	"guidon/pkg/admin/transfer"
	"guidon/pkg/admin/users"
	"guidon/pkg/httpapi"
)

// Groups lists every group. The field Function of each names the Lambda function that serves it.
func Groups() []httpapi.Group {
	return []httpapi.Group{
		projects.Projects(), projects.Environments(), users.MemberGroup(),
		features.Group(), features.ManifestGroup(), strategies.Group(), strategies.VariantGroup(), tags.Group(), requests.Group(), strategies.TypeGroup(), tags.TypeGroup(),
		users.Group(), tokens.Group(), transfer.Group(), eventlog.Group(), metrics.Group(), segments.Group(), releases.TemplateGroup(), releases.PlanGroup(), releases.SignalGroup(), playground.Group(), addons.Group(), signin.Group(), fallback.Group(),
	}
}

// Group returns the group of that name. It panics if there is none.
func Group(name string) httpapi.Group {
	for _, group := range Groups() {
		if group.Name == name {
			return group
		}
	}
	panic("there is no group " + name)
}
