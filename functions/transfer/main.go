// Command transfer is the Lambda function for export, import and the validation of import data. EventBridge calls it every minute to apply
// the change requests that are scheduled and due.
package main

import (
	"context"

	"guidon/functions/internal/serve"
	"guidon/pkg/admin/requests"
	"guidon/pkg/admin/transfer"
	"guidon/pkg/cloudwatch"
	"guidon/pkg/dynamo"
	"guidon/pkg/httpapi"
)

func main() {
	serve.Scheduled(transfer.Group(), func(store *dynamo.Store, config httpapi.Config) func(context.Context) error {
		return requests.NewScheduler(store, config).Run
	}, cloudwatch.Use)
}
