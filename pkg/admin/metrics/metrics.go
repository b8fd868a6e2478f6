// Package metrics has the operations on what applications report: how often they evaluated a flag, which applications there are,
// their instances and their SDKs. Callers who can read flags can read it.
package metrics

import (
	"net/http"

	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// Group lists the operations.
func Group() httpapi.Group {
	const (
		feature      = "/api/admin/client-metrics/features/{featureName}"
		reported     = "/api/admin/metrics"
		applications = reported + "/applications"
		one          = applications + "/{appName}"
	)
	environments, strategyTypes := []flags.Key{flags.EnvironmentsKey()}, []flags.Key{flags.StrategyTypesKey()}
	return httpapi.Group{Name: "metrics", Function: "insight", Operations: []httpapi.Operation{
		{Route: "GET " + feature, Permission: access.Read, Ahead: environments, Handle: httpapi.Handle(readUsage)},
		{Route: "GET " + feature + "/raw", Permission: access.Read, Ahead: environments, Handle: httpapi.Handle(readUsageRows)},
		{Route: "GET " + applications, Permission: access.Read, Handle: httpapi.Handle(listApplications)},
		{Route: "GET " + one, Permission: access.Read, Ahead: strategyTypes, Handle: httpapi.Handle(readApplication)},
		{Route: "POST " + one, Permission: access.UpdateApplication, Status: http.StatusAccepted, Handle: httpapi.DoOptional(describeApplication)},
		{Route: "DELETE " + one, Permission: access.UpdateApplication, Handle: httpapi.Do(deleteApplication)},
		{Route: "GET " + one + "/overview", Permission: access.Read, Ahead: strategyTypes, Handle: httpapi.Handle(readOverview)},
		{Route: "GET " + reported + "/instances/{appName}/environment/{environmentName}", Permission: access.Read, Handle: httpapi.Handle(listInstances)},
		{Route: "GET " + reported + "/sdks/outdated", Permission: access.Read, Handle: httpapi.Handle(listOutdatedSDKs)},
		{Route: "GET /api/admin/projects/{projectId}/applications", Permission: access.Read, Handle: httpapi.Handle(listProjectApplications)},
	}}
}
