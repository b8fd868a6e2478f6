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
	store, config := open(set...)
	lambda.Start(lambdahttp.Handler(httpapi.New(store, group, config)))
}

// GroupOver is Group for a group that needs the store and the settings.
func GroupOver(group func(store *dynamo.Store, config httpapi.Config) httpapi.Group) {
	store, config := open()
	lambda.Start(lambdahttp.Handler(httpapi.New(store, group(store, config), config)))
}

// Scheduled serves as GroupOver does. When EventBridge calls the function, it runs what scheduled returns instead.
func Scheduled(group func(store *dynamo.Store, config httpapi.Config) httpapi.Group, scheduled func(store *dynamo.Store, config httpapi.Config) func(ctx context.Context) error, set ...func(config *httpapi.Config)) {
	store, config := open(set...)
	lambda.Start(lambdahttp.Scheduled(lambdahttp.Handler(httpapi.New(store, group(store, config), config)), scheduled(store, config)))
}

// open opens the table with the settings of the environment.
func open(set ...func(config *httpapi.Config)) (*dynamo.Store, httpapi.Config) {
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
	return store, config
}
