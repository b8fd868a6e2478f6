// Command transfer is the Lambda function for export, import, the validation of import data, and AI agents. EventBridge calls it every minute to apply
// the change requests that are scheduled and due.
package main

import (
	"context"

	"guidon/functions/internal/serve"
	"guidon/pkg/admin/requests"
	"guidon/pkg/admin/transfer"
	"guidon/pkg/agents"
	"guidon/pkg/cloudwatch"
	"guidon/pkg/dynamo"
	"guidon/pkg/httpapi"
)

func main() {
	serve.Scheduled(func(store *dynamo.Store, config httpapi.Config) httpapi.Group {
		return httpapi.Join(transfer.Group(), agents.Group(store, config))
	}, func(store *dynamo.Store, config httpapi.Config) func(context.Context) error {
		return requests.NewScheduler(store, config).Run
	}, cloudwatch.Use)
}
