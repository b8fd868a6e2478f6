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

// send gets a transaction applied exactly once. The same bytes under the same request token are sent until there is an
// answer: an engine that applied them already says so again. An engine that has forgotten the token (AWS does after ten
// minutes, a local one when it restarts) meets its own work and refuses the condition. And one that rejects a later attempt
// for another reason, such as expired credentials, says nothing about an earlier one. So, once an attempt went
// unanswered, no refusal counts before settle has looked for our own event.
func (s *Store) send(ctx context.Context, tx *transaction) error {
	var a attempts
	_, err := s.client.TransactWriteItems(ctx, tx.input, a.persist)
	result, means := tx.judge(err)
	switch {
	case result == applied:
		return nil
	case result == refused && a.unanswered && means.passing:
		return s.settle(ctx, tx, gaveUp(true, means.Error))
	case result == refused && a.unanswered:
		return s.settle(ctx, tx, means.Error)
	case result == impossible && a.unanswered:
		return s.settle(ctx, tx, gaveUp(true, err))
	case result == refused:
		return means.Error
	case result == impossible:
		return broken(err)
	}
	return gaveUp(a.unanswered, a.cause(err))
}

// settle finds out what became of a transaction whose answer was lost and which is refused now. Its event lies at a key of
// its own: found there, the transaction was applied. If it is not there, the answer is otherwise. That is the refusal where
// the failed condition can never be met again: versions only rise, and a flag's item is never deleted, so a copy that is
// still under way fails on it too. Where a copy might still be applied, because a name can be freed or no condition failed,
// otherwise says that the change may have been made.
func (s *Store) settle(ctx context.Context, tx *transaction, otherwise error) error {
	var a attempts
	out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &s.table, Key: tx.event.attributes(), ConsistentRead: aws.Bool(true),
	}, a.persist)
	if err != nil {
		return gaveUp(true, a.cause(err))
	}
	var e envelope
	if err := attributevalue.UnmarshalMap(out.Item, &e); err != nil {
		return gaveUp(true, err)
	}
	var doc eventDocument
	if e.Document != "" {
		if err := decode(e.Document, &doc); err != nil {
			return gaveUp(true, err)
		}
	}
	if doc.ID == tx.eventID {
		return nil
	}
	return otherwise
}

// judge reads the answer to the last attempt. For refused, it says what the failed condition means.
func (tx *transaction) judge(err error) (result, refusal) {
	verdict, i := judge(err)
	if verdict == refused {
		return refused, tx.refusals[i]
	}
	return verdict, refusal{}
}

// gaveUp says why a change was not known to be made when time ran out.
func gaveUp(unanswered bool, err error) error {
	if unanswered {
		return &flags.Error{Kind: flags.Unavailable, Err: err,
			Message: "the store did not answer in time, so the change may or may not have been made; read it back, then try again"}
	}
	return &flags.Error{Kind: flags.Unavailable, Err: err, Message: "the store is busy, and nothing was changed; try again"}
}

// broken is a defect: an error that no caller can do anything about.
func broken(err error) error {
	return &flags.Error{Kind: flags.Internal, Err: err, Message: "internal error; search the log for this id"}
}
