// Command usage is the Lambda function for what applications report: registrations and usage, from SDKs and Unleash Edge.
package main

import (
	"guidon/functions/internal/serve"
	"guidon/pkg/dynamo"
	"guidon/pkg/httpapi"
	"guidon/pkg/usage"
)

func main() {
	serve.GroupOver(func(store *dynamo.Store, config httpapi.Config) httpapi.Group { return usage.Group(store, config) })
}
