package dynamo

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"guidon/pkg/flags"
)

// Commit applies a change in one transaction.
func (s *Store) Commit(ctx context.Context, change flags.Change) error {
	tx, err := s.plan(change)
	if err != nil || tx == nil {
		return err
	}
	return s.send(ctx, tx)
}

// send gets a transaction applied exactly once. The same bytes under the same request token go out until there is an
// answer: an engine that applied them already says so again. An engine that has forgotten the token (AWS does after ten
// minutes, a local one when it restarts) meets its own work instead and refuses; so, once an attempt went unanswered, a
// failed condition is not believed before settle has looked for our own event.
func (s *Store) send(ctx context.Context, tx *transaction) error {
	unanswered := false
	for attempt := 1; ; attempt++ {
		_, err := s.client.TransactWriteItems(ctx, tx.input, once)
		result, refusal := tx.judge(err)
		switch result {
		case applied:
			return nil
		case refused:
			if unanswered {
				return s.settle(ctx, tx, refusal)
			}
			return refusal
		case impossible:
			return broken(err)
		case unknown:
			unanswered = true
		case busy: // certainly not applied by this attempt: again
		}
		if !pause(ctx, attempt) {
			return gaveUp(unanswered, err)
		}
	}
}

// once keeps the SDK from resending by itself: this file must know of every attempt that went unanswered.
func once(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }

// settle finds out what became of a transaction whose answer was lost and whose conditions fail now. Its event lies at
// a key of its own: found there, the transaction was applied. Not found, it was not and never will be, because versions
// only rise and a flag's item is never deleted: a copy of it that is still under way fails on the same condition.
func (s *Store) settle(ctx context.Context, tx *transaction, refusal *flags.Error) error {
	out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &s.table, Key: tx.event.attributes(), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return gaveUp(true, err)
	}
	var e envelope
	if err := attributevalue.UnmarshalMap(out.Item, &e); err != nil {
		return broken(err)
	}
	var doc eventDocument
	if e.Document != "" {
		if err := decode(e.Document, &doc); err != nil {
			return broken(err)
		}
	}
	if doc.ID == tx.eventID {
		return nil
	}
	return refusal
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

// judge reads the answer to an attempt. For refused, it says what the failed condition means.
func (tx *transaction) judge(err error) (result, *flags.Error) {
	if err == nil {
		return applied, nil
	}
	if canceled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		return tx.judgeReasons(canceled.CancellationReasons)
	}
	api, ok := errors.AsType[smithy.APIError](err)
	switch {
	case !ok:
		return unknown, nil // nothing was answered
	case isThrottle(api), api.ErrorCode() == "TransactionInProgressException", api.ErrorCode() == "TransactionConflictException":
		return busy, nil
	case isRejection(err):
		return impossible, nil
	}
	return unknown, nil // the engine failed on the way
}

// judgeReasons reads why a transaction was cancelled. A failed condition counts before any conflict or throttling.
func (tx *transaction) judgeReasons(reasons []types.CancellationReason) (result, *flags.Error) {
	verdict := busy
	for i, reason := range reasons {
		switch aws.ToString(reason.Code) {
		case "ConditionalCheckFailed":
			return refused, tx.refusals[i]
		case "None", "", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded":
		default: // ValidationError, ItemCollectionSizeLimitExceeded
			verdict = impossible
		}
	}
	return verdict, nil
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

// gaveUp says why a change was not known to be made when time ran out.
func gaveUp(unanswered bool, err error) error {
	if unanswered {
		return &flags.Error{Kind: flags.Unavailable, Err: err,
			Message: "the store did not answer in time, so the change may or may not have been made; read it back, then try again"}
	}
	return &flags.Error{Kind: flags.Unavailable, Err: err, Message: "the store is busy, and nothing was changed; try again"}
}

// readError says why a read failed once its attempts were used up.
func readError(err error) error {
	if api, ok := errors.AsType[smithy.APIError](err); ok && isThrottle(api) {
		return &flags.Error{Kind: flags.Unavailable, Err: err, Message: "the store is busy; try again"}
	}
	return &flags.Error{Kind: flags.Internal, Err: err, Message: "the store cannot be reached"}
}

// broken is a defect: something that no caller can mend.
func broken(err error) error {
	return &flags.Error{Kind: flags.Internal, Err: err, Message: "something is wrong inside; the log says what, under this id"}
}

// jitter is how long to wait before an attempt: up to 10 ms, doubling, at most maxBackoff.
func jitter(attempt int) time.Duration {
	ceiling := min(maxBackoff, 5*time.Millisecond<<min(attempt, 7))
	return rand.N(ceiling) + time.Millisecond //nolint:gosec // spreading load is no secret
}
