// Command fallback is the Lambda function for every path that no other function has. It has no store.
package main

import (
	"log"

	"github.com/aws/aws-lambda-go/lambda"

	"guidon/pkg/admin/fallback"
	"guidon/pkg/httpapi"
	"guidon/pkg/lambdahttp"
)

func main() {
	config, err := httpapi.ConfigFromEnv()
	if err != nil {
		log.Fatal(err)
	}
	config.Logger = lambdahttp.Logger(config.Logger)
	lambda.Start(lambdahttp.Handler(httpapi.New(nil, fallback.Group(), config)))
}
