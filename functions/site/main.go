// Command site is the Lambda function for the console, the page at /docs, the health check, and every path that no other function
// serves. It has no store.
package main

import (
	"log"

	"github.com/aws/aws-lambda-go/lambda"

	"guidon/pkg/admin/fallback"
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
	lambda.Start(lambdahttp.Handler(httpapi.New(nil, httpapi.Join(fallback.Group(), docs.Group()), config)))
}
