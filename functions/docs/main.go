// Command docs is the Lambda function for the description of the interface and the page to browse it. It has no store.
package main

import (
	"log"

	"github.com/aws/aws-lambda-go/lambda"

	"guidon/pkg/docs"
	"guidon/pkg/httpapi"
	"guidon/pkg/lambdahttp"
)

func main() {
	config, err := httpapi.ConfigFromEnv()
	if err != nil {
		log.Fatal(err)
	}
	config.Logger = lambdahttp.Logger(config.Logger)
	lambda.Start(lambdahttp.Handler(docs.Handler(config)))
}
