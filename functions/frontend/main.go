// Command frontend is the Lambda function for browser SDKs and OpenFeature providers: it evaluates flags, and stores what browsers report.
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
		return httpapi.Join(serving.FrontendGroup(reader, store, config), ingest.FrontendGroup(store, reader, config))
	})
}
