// Command setup is the Lambda function that sets a stack up and checks its new versions. No route leads to it.
//
// CloudFormation calls it for the custom resource FirstStart, and so with each new version of itself: it creates the initial data in the
// table and an admin token in Secrets Manager, and resets the feed of changes if necessary, see seed.
//
// CodeDeploy calls it before a canary gets its first request (the hook BeforeAllowTraffic). It sends the new version harmless requests, and
// if a response is wrong, the deployment stops before any caller reaches that version, see check.go.
//
// It can be invoked by hand at any time. To change the admin token, set another value in its secret, invoke this function, and delete the
// old token through the API:
//
//	aws secretsmanager put-secret-value --secret-id <AdminToken> --secret-string "*:*.$(openssl rand -hex 32)"
//	aws lambda invoke --function-name <SetupFunction> /dev/stdout
//	curl -X DELETE <Address>/api/admin/api-tokens/<the old token> -H "Authorization: <the new one>"
//
// Both tokens are valid until the last command. The secret still contains the old one as its version AWSPREVIOUS. If the
// last admin token was lost or deleted, the first two commands create a new one.
package main

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/cfn"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"guidon/pkg/secretsmanager"
)

// answerTimeout is how long CloudFormation may take to accept the response, which package cfn sends with the default
// client.
const answerTimeout = 5 * time.Second

func main() {
	slog.SetDefault(slog.New(lambdacontext.NewLogHandler()).With("function", lambdacontext.FunctionName)) // also for package log, which cfn uses
	http.DefaultClient.Timeout = answerTimeout
	lambda.Start(optionalEvent{lambda.NewHandler(dispatch)})
}

// An event is one of CloudFormation, or one that CodeDeploy sends to a hook, or empty.
type event struct {
	cfn.Event
	deployment
}

// dispatch handles an event, and returns what it did.
func dispatch(ctx context.Context, e event) (string, error) {
	if e.DeploymentID == "" {
		return handle(ctx, e.Event)
	}
	h, err := newHook(ctx)
	if err != nil {
		return "", err
	}
	return "", h.handle(ctx, e.deployment)
}

// tokenKeys returns the keys that encrypt tokens, one on each line.
func tokenKeys(ctx context.Context) (string, error) {
	return secretsmanager.Get(ctx, os.Getenv("TOKEN_KEY_SECRET"))
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
