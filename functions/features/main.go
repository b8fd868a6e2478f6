// Command features is the Lambda function for flags: their strategies, variants, tags and dependencies, search and bulk
// changes, and for change requests. EventBridge calls it every minute to apply those that are scheduled and due.
package main

import (
	"context"

	"guidon/functions/internal/serve"
	"guidon/pkg/admin/features"
	"guidon/pkg/admin/requests"
	"guidon/pkg/admin/strategies"
	"guidon/pkg/admin/tags"
	"guidon/pkg/dynamo"
	"guidon/pkg/httpapi"
)

func main() {
	group := httpapi.Join(features.Group(), strategies.Group(), strategies.VariantGroup(), tags.Group(), requests.Group())
	serve.Scheduled(group, func(store *dynamo.Store, config httpapi.Config) func(context.Context) error {
		return requests.NewScheduler(store, config).Run
	})
}
