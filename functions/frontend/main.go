// Command frontend is the Lambda function for evaluations: the requests of browser SDKs and OpenFeature providers.
package main

import (
	"guidon/functions/internal/serve"
	"guidon/pkg/dynamo"
	"guidon/pkg/httpapi"
	"guidon/pkg/serving"
)

func main() {
	serve.GroupOver(func(store *dynamo.Store, config httpapi.Config) httpapi.Group {
		return serving.FrontendGroup(serving.NewReader(store, serving.OptionsOf(config)), store, config)
	})
}
