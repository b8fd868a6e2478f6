package lambdahttp

import (
	"context"

	"github.com/aws/aws-lambda-go/events"
)

// An Event is a request, or an event of a schedule. API Gateway sends none with a source: what callers send is in other fields.
type Event struct {
	events.APIGatewayV2HTTPRequest
	Source string `json:"source"`
}

// Scheduled returns a handler for lambda.Start that gives requests to a handler, and calls run for the events of a schedule of EventBridge.
func Scheduled(handler EventHandler, run func(context.Context) error) func(context.Context, Event) (events.APIGatewayV2HTTPResponse, error) {
	return func(ctx context.Context, event Event) (events.APIGatewayV2HTTPResponse, error) {
		if event.Source == "aws.events" {
			return events.APIGatewayV2HTTPResponse{}, run(ctx)
		}
		return handler(ctx, event.APIGatewayV2HTTPRequest)
	}
}
