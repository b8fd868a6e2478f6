// Command hello is the smallest Lambda function with a client of DynamoDB. The start-up of other functions is compared with
// its own.
package main

import (
	"context"
	"log"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

func main() {
	cfg, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	client := dynamodb.NewFromConfig(cfg)
	lambda.Start(func(ctx context.Context, event events.APIGatewayV2HTTPRequest) (response events.APIGatewayV2HTTPResponse, err error) {
		if event.RawPath != "" { // never in the measurement; it links the call
			_, err = client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{})
		}
		response.StatusCode = 200
		return response, err
	})
}
