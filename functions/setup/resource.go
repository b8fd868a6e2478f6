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

// physicalID is the id of the custom resource. It never changes: CloudFormation treats another id as a replacement and
// deletes the old resource.
const physicalID = "guidon-first-start"

// toAnswer is the part of the function's time that is reserved for the response to CloudFormation, so that no stack waits
// for a response that never comes.
const toAnswer = 2 * answerTimeout

// A new role may not have its permissions everywhere yet, and a failure would roll back the new stack. So requests that are
// denied are repeated for a while.
var (
	patience  = 30 * time.Second
	interval  = 3 * time.Second
	maxReason = 1024 // bytes; CloudFormation accepts a response of 4 KB
)

// handle serves events of CloudFormation, which contain an address for the response, and invocations by hand, whose result
// it returns.
func handle(ctx context.Context, event cfn.Event) (string, error) {
	if event.ResponseURL == "" {
		return run(ctx, event)
	}
	answer, err := cfn.LambdaWrap(resource)(ctx, event)
	if failed, ok := errors.AsType[*url.Error](err); ok { // do not log the address: it permits its holder to respond
		return answer, fmt.Errorf("sending the response to CloudFormation: %w", failed.Err)
	}
	return answer, err // Lambda retries the event if the response was not sent
}

// resource handles an event of the custom resource. The stack shows its error as the reason.
func resource(ctx context.Context, event cfn.Event) (string, map[string]any, error) {
	if _, err := run(ctx, event); err != nil {
		return physicalID, nil, errors.New(reason(err))
	}
	return physicalID, nil, nil
}

// run handles an event and describes the result. A deletion does nothing, since the table is either kept or deleted with its
// content. A rollback is an update that finds everything in place, or a deletion.
func run(ctx context.Context, event cfn.Event) (string, error) {
	if event.RequestType == cfn.RequestDelete {
		return "nothing to do", nil
	}
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-toAnswer))
		defer cancel()
	}
	version, _ := event.ResourceProperties["Version"].(string)
	giveUp := time.Now().Add(patience)
	for {
		result, err := seed(ctx, version)
		if err == nil {
			slog.InfoContext(ctx, "seeded", "request", event.RequestType, "result", result)
			return result, nil
		}
		slog.ErrorContext(ctx, "not seeded", "request", event.RequestType, "cause", err)
		if !accessDenied(err) || time.Now().After(giveUp) || !wait(ctx, interval) {
			return "", err
		}
	}
}

// accessDenied reports whether a permission was missing.
func accessDenied(err error) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && strings.HasPrefix(api.ErrorCode(), "AccessDenied")
}

// wait returns false if ctx ends first.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// reason formats an error for the events of the stack: short enough for CloudFormation, and with the log to look at.
func reason(err error) string {
	text := err.Error()
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "") + "…"
	}
	return fmt.Sprintf("Guidon's first start: %s (see the log of the function %s; it is safe to run it again)",
		text, lambdacontext.FunctionName)
}
