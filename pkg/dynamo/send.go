package dynamo

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

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

// send applies a transaction exactly once. It sends the same bytes with the same request token until there is a response:
// an engine that has already applied them repeats its response.
//
// But an engine forgets tokens (AWS after ten minutes, a local engine when it restarts), and then the conditions fail on
// the transaction's own writes. And an engine that rejects a later attempt for another reason, such as expired
// credentials, says nothing about an earlier one. So, once an attempt got no response, no failure counts before resolve has
// looked for the event of the change.
func (s *Store) send(ctx context.Context, tx *transaction) error {
	a := newAttempts(ctx)
	a.versioned = tx.versioned
	_, err := s.client.TransactWriteItems(ctx, tx.input, a.retry)
	result, i := classify(err)
	switch result {
	case applied:
		return nil
	case conditionFailed:
		failure := tx.errors[i]
		switch {
		case a.unanswered && failure.retryable:
			return s.resolve(ctx, tx, unavailable(true, failure.Error))
		case a.unanswered:
			return s.resolve(ctx, tx, failure.Error)
		}
		return failure.Error
	case rejected:
		if a.unanswered {
			return s.resolve(ctx, tx, unavailable(true, err))
		}
		return internalError(err)
	case busy:
		if a.outdated(err) {
			return versionConflict.Error
		}
	}
	return unavailable(a.unanswered, a.cause(err))
}

// resolve finds out whether a transaction was applied after its response was lost and a later attempt failed. If its event
// is stored, it was applied. If not, resolve returns notFound:
//
//   - If the condition that failed is permanent, the change was not made: a copy of the request that arrives later fails
//     on the same condition.
//   - Otherwise such a copy may still be applied, so notFound must say that the change may have been made.
func (s *Store) resolve(ctx context.Context, tx *transaction, notFound error) error {
	a := newAttempts(ctx)
	out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &s.table, Key: tx.event.attributes(), ConsistentRead: aws.Bool(true),
	}, a.retry)
	if err != nil {
		return unavailable(true, a.cause(err))
	}
	var e envelope
	var doc eventDocument
	if err = attributevalue.UnmarshalMap(out.Item, &e); err == nil && e.Document != "" {
		err = decode(e.Document, &doc)
	}
	switch {
	case err != nil:
		return unavailable(true, err)
	case doc.ID == tx.eventID:
		return nil
	}
	return notFound
}

// unavailable is the error if time ran out. unanswered tells whether the change may have been made.
func unavailable(unanswered bool, err error) error {
	if unanswered {
		return &flags.Error{Kind: flags.Unavailable, Err: err,
			Message: "the store did not answer in time, so the change may or may not have been made; read it back, then try again"}
	}
	return &flags.Error{Kind: flags.Unavailable, Err: err, Message: "the store is busy, and nothing was changed; try again"}
}

// internalError is the error for a defect, which no caller can do anything about.
func internalError(err error) error {
	return &flags.Error{Kind: flags.Internal, Err: err, Message: "internal error; search the log for this id"}
}
