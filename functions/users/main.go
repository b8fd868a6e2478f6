// Command users is the Lambda function for users, service accounts, roles and who has access to a project.
package main

import (
	"context"
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"guidon/pkg/admin/users"
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
	lambda.Start(lambdahttp.Handler(httpapi.New(store, users.Group(), config)))
}
