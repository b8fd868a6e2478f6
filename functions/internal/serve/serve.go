// Package serve starts the Lambda functions that serve a group of operations.
package serve

import (
	"context"
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"guidon/pkg/dynamo"
	"guidon/pkg/httpapi"
	"guidon/pkg/lambdahttp"
)

// Group serves a group over the table TABLE_NAME, with the settings of the environment (see httpapi.ConfigFromEnv). It does not
// return. The functions in set can change the settings first.
func Group(group httpapi.Group, set ...func(config *httpapi.Config)) {
	start(func(*dynamo.Store, httpapi.Config) httpapi.Group { return group }, set...)
}

// GroupOver is Group for a group that needs the store and the settings.
func GroupOver(group func(store *dynamo.Store, config httpapi.Config) httpapi.Group) { start(group) }

func start(group func(store *dynamo.Store, config httpapi.Config) httpapi.Group, set ...func(config *httpapi.Config)) {
	limitMemory(os.Getenv)
	config, err := httpapi.ConfigFromEnv()
	if err != nil {
		log.Fatal(err)
	}
	config.Logger = lambdahttp.Logger(config.Logger)
	for _, change := range set {
		change(&config)
	}
	store, err := dynamo.Open(context.Background(), dynamo.Options{Table: os.Getenv("TABLE_NAME")})
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(lambdahttp.Handler(httpapi.New(store, group(store, config), config)))
}
