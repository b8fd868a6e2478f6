// Command broken is a Lambda function that fails, for make prove. A file "mode" beside it says when: "always"; "valid", for requests with
// a valid token; or "callers", for all requests but those that test a deployment (functions/smoke).
package main

import (
	"context"
	"errors"
	"log"
	"os"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
)

func main() {
	mode, err := os.ReadFile("mode")
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(func(_ context.Context, r events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		switch unknown := r.Headers["authorization"] == "*:*.smoke-test-of-a-deployment"; {
		case string(mode) != "always" && unknown:
			return events.APIGatewayV2HTTPResponse{StatusCode: 401, Body: "{}"}, nil
		case string(mode) == "callers" && r.Headers["host"] == "smoke.invalid":
			return events.APIGatewayV2HTTPResponse{StatusCode: 200, Body: "{}"}, nil
		}
		return events.APIGatewayV2HTTPResponse{}, errors.New("this version is broken")
	})
}
