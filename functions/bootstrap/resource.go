package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/cfn"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/smithy-go"
)

// physicalID is the custom resource's, always the same: were an update to answer with another, CloudFormation would
// take it for a replacement and delete what it replaced.
const physicalID = "guidon-first-start"

// toAnswer is what is kept of the function's time to tell CloudFormation how it went, so that no stack ever waits for
// an answer that does not come.
const toAnswer = 2 * answerTimeout

// A role that was made a moment ago may not have its permissions everywhere yet, and a failure would take a new stack
// back whole: so a refusal is put up with for this long, and asked again this often.
var (
	patience  = 30 * time.Second
	askAgain  = 3 * time.Second
	maxReason = 1024 // bytes: CloudFormation takes 4 KB in all
)

// handle serves CloudFormation, which says where it waits for the answer, and people who invoke the function by hand,
// who do not: they get it as what the function returns.
func handle(ctx context.Context, event cfn.Event) (string, error) {
	if event.ResponseURL == "" {
		return run(ctx, event)
	}
	answer, err := cfn.LambdaWrap(resource)(ctx, event)
	if failed, ok := errors.AsType[*url.Error](err); ok { // whoever has the whole address may answer in our place
		return answer, fmt.Errorf("the answer could not be given to CloudFormation: %w", failed.Err)
	}
	return answer, err // Lambda tries again when the answer was not taken, and then all of this is done again
}

// resource is the custom resource: its error is the reason that the stack shows.
func resource(ctx context.Context, event cfn.Event) (string, map[string]any, error) {
	if _, err := run(ctx, event); err != nil {
		return physicalID, nil, errors.New(reason(err))
	}
	return physicalID, nil, nil
}

// run does what an event asks for, and says what came of it. Deleting does nothing: the table is kept, and is gone
// otherwise with all that is in it. A rollback is an update, which finds everything there, or a deletion.
func run(ctx context.Context, event cfn.Event) (string, error) {
	if event.RequestType == cfn.RequestDelete {
		return "nothing to do", nil
	}
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-toAnswer))
		defer cancel()
	}
	enough := time.Now().Add(patience)
	for {
		result, err := seed(ctx)
		if err == nil {
			slog.InfoContext(ctx, "seeded", "request", event.RequestType, "result", result)
			return result, nil
		}
		slog.ErrorContext(ctx, "not seeded", "request", event.RequestType, "cause", err)
		if !refused(err) || time.Now().After(enough) || !wait(ctx, askAgain) {
			return "", err
		}
	}
}

// refused tells whether it is a permission that was missing.
func refused(err error) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && strings.HasPrefix(api.ErrorCode(), "AccessDenied")
}

// wait is false when time is up first.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// reason is an error as the stack's events show it: with what to look at, and short enough to be taken.
func reason(err error) string {
	text := err.Error()
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "") + "…"
	}
	return fmt.Sprintf("Guidon's first start: %s (the log of the function %s has more; what was done stays and is not done twice)",
		text, lambdacontext.FunctionName)
}
