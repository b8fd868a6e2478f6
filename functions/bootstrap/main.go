// Command bootstrap is the Lambda function that a deployment begins with: a custom resource of the stack, which puts
// into the table what the service begins with, and an admin token into Secrets Manager.
//
// It is safe to run again, and does so with each new version of itself. To change the admin token by hand, put another
// value into its secret, invoke this function, and delete the old token by the API:
//
//	aws secretsmanager put-secret-value --secret-id <AdminToken> --secret-string "*:*.$(openssl rand -hex 32)"
//	aws lambda invoke --function-name <BootstrapFunction> /dev/stdout
//	curl -X DELETE <Address>/api/admin/api-tokens/<the old token> -H "Authorization: <the new one>"
//
// Between the last two, both are good. The old one is in the secret still, as its version AWSPREVIOUS. Who has lost
// the last admin token, or deleted it, comes back in by the first two.
package main

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

// answerTimeout is how long CloudFormation may take to accept the answer, which the cfn package sends by the default
// client.
const answerTimeout = 5 * time.Second

func main() {
	slog.SetDefault(slog.New(lambdacontext.NewLogHandler())) // package log, which cfn uses, writes to it too
	http.DefaultClient.Timeout = answerTimeout
	lambda.Start(forgiving{lambda.NewHandler(handle)})
}

// A forgiving handler takes no event at all for an empty one: so it can be invoked by hand without any.
type forgiving struct{ lambda.Handler }

// Invoke serves an event.
func (f forgiving) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	if len(event) == 0 {
		event = []byte("{}")
	}
	return f.Handler.Invoke(ctx, event)
}
