// Command client is the Lambda function for the requests of server-side SDKs and Unleash Edge.
package main

import (
	"guidon/functions/internal/serve"
	"guidon/pkg/dynamo"
	"guidon/pkg/httpapi"
	"guidon/pkg/serving"
)

func main() {
	serve.GroupOver(func(store *dynamo.Store, config httpapi.Config) httpapi.Group {
		return serving.ClientGroup(serving.NewReader(store, serving.OptionsOf(config)), store, config)
	})
}
