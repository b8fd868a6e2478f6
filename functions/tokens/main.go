// Command tokens is the Lambda function for API tokens, personal tokens and public signup tokens.
package main

import (
	"context"
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"guidon/pkg/admin/tokens"
	"guidon/pkg/dynamo"
	"guidon/pkg/httpapi"
	"guidon/pkg/lambdahttp"
	"guidon/pkg/seal/secretsmanager"
)

func main() {
	config, err := httpapi.ConfigFromEnv()
	if err != nil {
		log.Fatal(err)
	}
	config.Logger = lambdahttp.Logger(config.Logger)
	config.Sealer = secretsmanager.New(os.Getenv("TOKEN_KEY_SECRET")).Sealer
	store, err := dynamo.Open(context.Background(), dynamo.Options{Table: os.Getenv("TABLE_NAME")})
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(lambdahttp.Handler(httpapi.New(store, tokens.Group(), config)))
}
