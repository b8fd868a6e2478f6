// Command bootstrap is the Lambda function of the stack's custom resource. It creates the initial data in the table, and an
// admin token in Secrets Manager. It also resets the feed of changes, see seed.
//
// It can run again, and does so with each new version of itself. To change the admin token by hand, set another value in
// its secret, invoke this function, and delete the old token through the API:
//
//	aws secretsmanager put-secret-value --secret-id <AdminToken> --secret-string "*:*.$(openssl rand -hex 32)"
//	aws lambda invoke --function-name <BootstrapFunction> /dev/stdout
//	curl -X DELETE <Address>/api/admin/api-tokens/<the old token> -H "Authorization: <the new one>"
//
// Both tokens are valid until the last command. The secret still contains the old one as its version AWSPREVIOUS. If the
// last admin token was lost or deleted, the first two commands create a new one.
package main

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

// answerTimeout is how long CloudFormation may take to accept the response, which package cfn sends with the default
// client.
const answerTimeout = 5 * time.Second

func main() {
	slog.SetDefault(slog.New(lambdacontext.NewLogHandler())) // also for package log, which cfn uses
	http.DefaultClient.Timeout = answerTimeout
	lambda.Start(optionalEvent{lambda.NewHandler(handle)})
}

// An optionalEvent handler accepts a missing event, so that the function can be invoked by hand without one.
type optionalEvent struct{ lambda.Handler }

// Invoke handles an event.
func (f optionalEvent) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	if len(event) == 0 {
		event = []byte("{}")
	}
	return f.Handler.Invoke(ctx, event)
}
