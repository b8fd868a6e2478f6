// Command features is the Lambda function for flags: their strategies, variants, tags and dependencies, search and bulk
// changes, for the OpenFeature manifest, change requests, release plans and signals. The function transfer applies those that are scheduled.
package main

import (
	"guidon/functions/internal/serve"
	"guidon/pkg/admin/features"
	"guidon/pkg/admin/releases"
	"guidon/pkg/admin/requests"
	"guidon/pkg/admin/strategies"
	"guidon/pkg/admin/tags"
	"guidon/pkg/cloudwatch"
	"guidon/pkg/httpapi"
)

func main() {
	serve.Group(httpapi.Join(features.Group(), features.ManifestGroup(), strategies.Group(), strategies.VariantGroup(), tags.Group(), requests.Group(), releases.PlanGroup(),
		releases.SignalGroup()), cloudwatch.Use)
}
