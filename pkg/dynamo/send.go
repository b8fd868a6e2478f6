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

// send gets a transaction applied exactly once. The same bytes under the same request token go out until there is an
// answer: an engine that applied them already says so again. An engine that has forgotten the token (AWS does after ten
// minutes, a local one when it restarts) meets its own work instead and refuses; so, once an attempt went unanswered, a
// failed condition is not believed before settle has looked for our own event.
func (s *Store) send(ctx context.Context, tx *transaction) error {
	var a attempts
	_, err := s.client.TransactWriteItems(ctx, tx.input, a.persist)
	result, means := tx.judge(err)
	switch {
	case result == applied:
		return nil
	case result == refused && a.unanswered:
		return s.settle(ctx, tx, means)
	case result == refused:
		return means.Error
	case result == impossible:
		return broken(err)
	}
	return gaveUp(a.unanswered, a.cause(err))
}

// settle finds out what became of a transaction whose answer was lost and whose conditions fail now. Its event lies at
// a key of its own: found there, the transaction was applied. Not found, it was not, and it never will be if the
// condition can never be met again: versions only rise, and a flag's item is never deleted, so a copy that is still under
// way fails on it too. Where the condition may be met again, because a name can be freed, nobody can know.
func (s *Store) settle(ctx context.Context, tx *transaction, means refusal) error {
	var a attempts
	out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &s.table, Key: tx.event.attributes(), ConsistentRead: aws.Bool(true),
	}, a.persist)
	if err != nil {
		return gaveUp(true, a.cause(err))
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
	if means.passing {
		return gaveUp(true, means.Error)
	}
	return means.Error
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

// broken is a defect: something that no caller can mend.
func broken(err error) error {
	return &flags.Error{Kind: flags.Internal, Err: err, Message: "something is wrong inside; the log says what, under this id"}
}
