package server

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"guidon/pkg/lambdahttp"
)

// A function is a Lambda function: a handler, its timeout in the template, and the largest body of its operations.
type function struct {
	handle  lambdahttp.EventHandler
	timeout time.Duration
	maxBody int // bytes
	// Room for its calls at the same time; nil for all others than the site, whose files are large and need no token.
	slots chan struct{}
}

// maxSiteCalls is how many calls answer with files at the same time. Each one has several copies of its file in memory.
const maxSiteCalls = 4

// call invokes the function. Its context is not the caller's: as on AWS, it continues when the caller disconnects. Only a call that waits for a
// slot ends then. Probes wait for nobody.
func (f *function) call(caller context.Context, event events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
	if f.slots != nil && event.RawPath != "/health" {
		select {
		case f.slots <- struct{}{}:
			defer func() { <-f.slots }()
		case <-caller.Done():
			return events.APIGatewayV2HTTPResponse{}, caller.Err()
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), f.timeout)
	defer cancel()
	ctx = lambdacontext.NewContext(ctx, &lambdacontext.LambdaContext{AwsRequestID: event.RequestContext.RequestID})
	return f.handle(ctx, event)
}
