package dynamo

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/url"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"guidon/pkg/backoff"
	"guidon/pkg/flags"
)

// maxConflicts limits the attempts of a call that conflict with another transaction, at about 10 seconds. A conflict is no failure of
// the engine, so it does not count as one (see backoff.Retries): the other transaction is done within milliseconds, and a writer that has
// waited long is more likely to be next.
const maxConflicts = 60

// newRetryer returns the retryer of a client. Its quota is shared by all calls: while most attempts fail, each call is sent only once, so
// that retries do not add to the load of an engine that is in trouble.
func newRetryer(quota uint) aws.RetryerV2 {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = backoff.Patient.Attempts
		o.MaxBackoff = backoff.Patient.Longest(backoff.Patient.Attempts)
		if quota > 0 {
			o.RateLimiter = ratelimit.NewTokenRateLimit(quota)
		}
	})
}

// attempts are those of one call. They are a retryer of the SDK, so that every attempt sends the same bytes: the SDK serializes
// a request only once. A loop around the call would not do that, because the SDK writes the attributes of an item in random
// order.
type attempts struct {
	aws.RetryerV2 // of the client: the quota

	bounds     backoff.Retries
	sent       int       // attempts
	failures   int       // attempts that failed for another reason than a conflict
	throttled  int       // of these, those that the engine refused because of load
	unanswered bool      // an attempt got no response, so it may have been applied
	last       error     // of the last attempt that was retried
	versioned  []int     // of a transaction: the items that must be at a version that was read
	conflict   time.Time // the first conflict with another transaction
}

// newAttempts returns the attempts of a call with that context.
func newAttempts(ctx context.Context) *attempts { return &attempts{bounds: backoff.RetriesOf(ctx)} }

// retry is an option of a call: it replaces the retryer of the client.
func (a *attempts) retry(o *dynamodb.Options) {
	a.RetryerV2, _ = o.Retryer.(aws.RetryerV2)
	o.Retryer = a
	if len(a.bounds.Timeouts) > 0 {
		o.APIOptions = append(o.APIOptions, a.limitEach)
	}
}

// limitEach gives each attempt its timeout.
func (a *attempts) limitEach(stack *middleware.Stack) error {
	return stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("AttemptTimeout", func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
		a.sent++
		ctx, cancel := context.WithTimeout(ctx, a.bounds.Timeout(a.sent))
		defer cancel()
		return next.HandleFinalize(ctx, in)
	}), "Retry", middleware.After)
}

// MaxAttempts is the limit of all attempts; IsErrorRetryable limits those that are no conflicts.
func (a *attempts) MaxAttempts() int { return a.bounds.Attempts + maxConflicts }

// IsErrorRetryable tells whether to retry after an error. It also keeps the error.
func (a *attempts) IsErrorRetryable(err error) bool {
	result, _ := classify(err)
	retryable := result == busy || result == unknown || result == rejected && isClockSkew(err)
	if !retryable || a.outdated(err) {
		return false
	}
	if result == unknown {
		a.unanswered = true
	}
	if a.last == nil || !errors.Is(err, context.DeadlineExceeded) { // an expired deadline does not say what took so long
		a.last = err
	}
	if !isConflict(err) {
		a.failures++
		if result == busy {
			a.throttled++
		}
	}
	return a.failures < a.bounds.Attempts && a.throttled < a.bounds.Throttled
}

// RetryDelay increases with each attempt. After conflicts with other transactions, it decreases again (see backoff).
func (a *attempts) RetryDelay(attempt int, err error) (time.Duration, error) {
	if !isConflict(err) {
		return a.wait(attempt), nil
	}
	if a.conflict.IsZero() {
		a.conflict = time.Now()
	}
	return backoff.Delay(attempt, time.Since(a.conflict)), nil
}

// outdated reports whether an attempt was not applied because another transaction is changing an aggregate of this one. That one
// changes the version, so this one would fail on its condition: the caller has to read again. An attempt without a response may be
// the other transaction, so after that this is not known.
func (a *attempts) outdated(err error) bool {
	canceled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok || a.unanswered {
		return false
	}
	return slices.ContainsFunc(a.versioned, func(i int) bool {
		return i < len(canceled.CancellationReasons) && aws.ToString(canceled.CancellationReasons[i].Code) == reasonConflict
	})
}

// GetRetryToken takes the cost of another attempt from the quota. Conflicts cost nothing: they do not say that the engine is in
// trouble.
func (a *attempts) GetRetryToken(ctx context.Context, err error) (release func(error) error, _ error) {
	if isConflict(err) {
		return func(error) error { return nil }, nil
	}
	return a.RetryerV2.GetRetryToken(ctx, err)
}

// isClockSkew reports whether the engine refused a signature because the clock of this machine is wrong. The SDK signs the next
// attempt with the time of the response.
func isClockSkew(err error) bool {
	skew, ok := errors.AsType[interface {
		error
		RetryableError() bool
	}](err)
	return ok && skew.RetryableError()
}

// cause is the error of the last attempt that failed for another reason than an expired deadline.
func (a *attempts) cause(err error) error {
	if a.last != nil {
		err = a.last
	}
	if request, ok := errors.AsType[*url.Error](err); ok {
		return &smithyhttp.RequestSendError{Err: request.Err} // without the URL, which may contain a secret of the local engine
	}
	return err
}

// readError is the error of a failed read: Unavailable if the engine is busy, fails or does not respond, Internal if it
// rejects the request. Every change begins with a read, so nothing was changed yet. A bulk operation that has changed
// some of its flags says so itself.
func (a *attempts) readError(err error) error {
	err = a.cause(err)
	switch result, _ := classify(err); result {
	case busy:
		return unavailable(false, err)
	case unknown:
		return &flags.Error{Kind: flags.Unavailable, Err: err, Message: "the store did not answer in time, and nothing was changed; try again"}
	}
	return &flags.Error{Kind: flags.Internal, Err: err, Message: "internal error, and nothing was changed; search the log for this id"}
}

// A result is the result of an attempt.
type result int

const (
	applied result = iota
	conditionFailed
	busy     // not applied, because of load or of another transaction on the same items
	unknown  // no response, or one that does not tell whether it was applied
	rejected // not applied, because the request is invalid or not permitted, or could not be sent
)

// classify reads the response to an attempt. For conditionFailed, it returns the index of the item in the transaction.
func classify(err error) (_ result, item int) {
	if err == nil {
		return applied, 0
	}
	if canceled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		return classifyReasons(canceled.CancellationReasons)
	}
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok && notSent(err) {
		return rejected, 0
	}
	if !ok {
		return unknown, 0 // no response
	}
	switch api.ErrorCode() {
	case "ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded", "Throttling",
		"TransactionInProgressException", codeConflict:
		return busy, 0
	}
	response, ok := errors.AsType[*awshttp.ResponseError](err)
	if ok && response.HTTPStatusCode() >= 400 && response.HTTPStatusCode() < 500 {
		return rejected, 0
	}
	return unknown, 0 // the engine failed
}

// notSent reports whether an attempt failed before it was sent, because the SDK found no endpoint or no credentials, or could not
// write the request. It has no types for these errors, but for all others.
func notSent(err error) bool {
	var (
		send     *smithyhttp.RequestSendError
		response *smithyhttp.ResponseError
		body     *smithy.DeserializationError
		canceled *aws.RequestCanceledError
		smithed  *smithy.CanceledError
	)
	return !errors.As(err, &send) && !errors.As(err, &response) && !errors.As(err, &body) && !errors.As(err, &canceled) && !errors.As(err, &smithed) &&
		!errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

// classifyReasons reads why a transaction was canceled. A failed condition takes precedence over a conflict or throttling.
func classifyReasons(reasons []types.CancellationReason) (_ result, item int) {
	result := busy
	for i, reason := range reasons {
		switch aws.ToString(reason.Code) {
		case "ConditionalCheckFailed":
			return conditionFailed, i
		case "None", "", reasonConflict, "ThrottlingError", "ProvisionedThroughputExceeded":
		default: // ValidationError, ItemCollectionSizeLimitExceeded
			result = rejected
		}
	}
	return result, 0
}

// How DynamoDB names a conflict with another transaction that is in flight: the reason of an item, and the code of a request.
const (
	reasonConflict = "TransactionConflict"
	codeConflict   = "TransactionConflictException"
)

// isConflict reports whether an attempt was refused because another transaction with one of its items is in flight.
func isConflict(err error) bool {
	if canceled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		return slices.ContainsFunc(canceled.CancellationReasons, func(r types.CancellationReason) bool {
			return aws.ToString(r.Code) == reasonConflict
		})
	}
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && api.ErrorCode() == codeConflict
}

// wait is a random wait before an attempt is repeated.
func (a *attempts) wait(attempt int) time.Duration {
	return rand.N(a.bounds.Longest(attempt)) + time.Millisecond //nolint:gosec // needs no secure random number
}
