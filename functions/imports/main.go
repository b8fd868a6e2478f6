// Command imports is the Lambda function for the export, import and validation of flags.
package main

import (
	"context"
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"guidon/pkg/admin/transfer"
	"guidon/pkg/dynamo"
	"guidon/pkg/httpapi"
	"guidon/pkg/lambdahttp"
)

func main() {
	config, err := httpapi.ConfigFromEnv()
	if err != nil {
		log.Fatal(err)
	}
	config.Logger = lambdahttp.Logger(config.Logger)
	store, err := dynamo.Open(context.Background(), dynamo.Options{Table: os.Getenv("TABLE_NAME")})
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(lambdahttp.Handler(httpapi.New(store, transfer.Group(), config)))
}
