package dynamo

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"guidon/pkg/flags"
)

// An attempts repeats one call until it has an answer that counts or the context ends, and remembers what came of it.
// It is the SDK's own retryer, below which a request is made only once: every attempt sends the same bytes. (The SDK
// writes the attributes of an item in a random order, so a loop around the call would not.)
type attempts struct {
	unanswered bool  // an attempt may have been applied, and nobody knows
	last       error // of the last attempt that was worth another
}

var _ aws.Retryer = (*attempts)(nil)

// persist makes a call be repeated so.
func (a *attempts) persist(o *dynamodb.Options) { o.Retryer = a }

// IsErrorRetryable sees how each attempt ended.
func (a *attempts) IsErrorRetryable(err error) bool {
	verdict, _ := judge(err)
	if verdict != busy && verdict != unknown {
		return false
	}
	if verdict == unknown {
		a.unanswered = true
	}
	if a.last == nil || !errors.Is(err, context.DeadlineExceeded) { // that time is up explains nothing
		a.last = err
	}
	return true
}

// MaxAttempts sets no bound but the context's deadline. (To retry.Standard, 0 would mean 3.)
func (a *attempts) MaxAttempts() int { return 0 }

// RetryDelay grows from one attempt to the next.
func (a *attempts) RetryDelay(attempt int, _ error) (time.Duration, error) {
	return jitter(attempt), nil
}

// GetRetryToken lets every attempt through: those of other calls have no bearing on this one.
func (a *attempts) GetRetryToken(context.Context, error) (func(error) error, error) {
	return a.GetInitialToken(), nil
}

// GetInitialToken lets the first attempt through.
func (a *attempts) GetInitialToken() func(error) error { return func(error) error { return nil } }

// cause is why the call failed at last: not that time was up, but what took so long.
func (a *attempts) cause(err error) error {
	if a.last != nil {
		err = a.last
	}
	if request, ok := errors.AsType[*url.Error](err); ok {
		return request.Err // without the address, which may hold a secret of the local engine
	}
	return err
}

// readError is the error of a failed read. A store that is busy, does not answer or fails is in trouble that passes: the
// caller should try again. A request that it rejects is a defect. Whatever is changed is read first, so a call that ends
// here has changed nothing; one that had made a part of a change by then says so itself.
func (a *attempts) readError(err error) error {
	err = a.cause(err)
	switch verdict, _ := judge(err); verdict {
	case busy:
		return gaveUp(false, err)
	case unknown:
		return &flags.Error{Kind: flags.Unavailable, Err: err, Message: "the store did not answer in time, and nothing was changed; try again"}
	}
	return &flags.Error{Kind: flags.Internal, Err: err, Message: "internal error, and nothing was changed; search the log for this id"}
}

// A result is what an attempt came to.
type result int

const (
	applied    result = iota
	refused           // a condition failed
	busy              // not applied, because of load or of another transaction over the same items
	unknown           // no answer that says: it may have been applied
	impossible        // the engine does not take it: a defect
)

// judge reads the answer to an attempt. For refused, it says which condition of the transaction failed.
func judge(err error) (verdict result, condition int) {
	if err == nil {
		return applied, 0
	}
	if canceled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		return judgeReasons(canceled.CancellationReasons)
	}
	api, ok := errors.AsType[smithy.APIError](err)
	switch {
	case !ok:
		return unknown, 0 // nothing was answered
	case isThrottle(api), api.ErrorCode() == "TransactionInProgressException", api.ErrorCode() == "TransactionConflictException":
		return busy, 0
	case isRejection(err):
		return impossible, 0
	}
	return unknown, 0 // the engine failed on the way
}

// judgeReasons reads why a transaction was cancelled. A failed condition counts before any conflict or throttling.
func judgeReasons(reasons []types.CancellationReason) (verdict result, condition int) {
	verdict = busy
	for i, reason := range reasons {
		switch aws.ToString(reason.Code) {
		case "ConditionalCheckFailed":
			return refused, i
		case "None", "", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded":
		default: // ValidationError, ItemCollectionSizeLimitExceeded
			verdict = impossible
		}
	}
	return verdict, 0
}

func isThrottle(api smithy.APIError) bool {
	switch api.ErrorCode() {
	case "ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded", "Throttling":
		return true
	}
	return false
}

// isRejection tells whether the engine answered that the request itself is at fault.
func isRejection(err error) bool {
	answer, ok := errors.AsType[*awshttp.ResponseError](err)
	return ok && answer.HTTPStatusCode() >= 400 && answer.HTTPStatusCode() < 500
}

// jitter is how long to wait before an attempt: up to 10 ms, doubling, at most maxBackoff.
func jitter(attempt int) time.Duration {
	ceiling := min(maxBackoff, 5*time.Millisecond<<min(attempt, 7))
	return rand.N(ceiling) + time.Millisecond //nolint:gosec // spreading load is no secret
}
