// Command applications is the Lambda function for server-side SDKs and Unleash Edge: it answers their polls, and stores what they
// report.
package main

import (
	"guidon/functions/internal/serve"
	"guidon/pkg/dynamo"
	"guidon/pkg/httpapi"
	"guidon/pkg/ingest"
	"guidon/pkg/serving"
)

func main() {
	serve.GroupOver(func(store *dynamo.Store, config httpapi.Config) httpapi.Group {
		reader := serving.NewReader(store, serving.OptionsOf(config))
		return httpapi.Join(serving.ClientGroup(reader, store, config), ingest.ClientGroup(store, reader, config))
	})
}
