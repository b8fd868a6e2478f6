// Command usage is the Lambda function for what applications report: registrations and usage, from SDKs and Unleash Edge.
package main

import (
	"guidon/functions/internal/serve"
	"guidon/pkg/dynamo"
	"guidon/pkg/httpapi"
	"guidon/pkg/ingest"
)

func main() {
	serve.GroupOver(func(store *dynamo.Store, config httpapi.Config) httpapi.Group { return ingest.Group(store, config) })
}
