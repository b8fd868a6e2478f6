package dynamo

import (
	"cmp"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"guidon/pkg/flags"
)

// A transaction is a change that is ready to send. Every attempt sends the same request token and bytes: the engine
// recognizes a repeated request by the token, and resolve finds the event.
type transaction struct {
	input  *dynamodb.TransactWriteItemsInput
	errors []conditionError // for each item, the error if its condition fails
	guards []guardUpdate
	served []flags.FeedChange  // what changes for applications: its entry in the feed
	tokens []flags.FeedChange  // tokens of applications that change: part of served if the feed has tokens
	review *flags.Environments // if the transaction changes what the feed knows of change requests: the registry that has it
	turns  bool                // whether it turns the feed
	outbox int                 // how many of the items are entries of outboxes
	bytes  int                 // the size of the items, see maxTransactionBytes

	versioned []int // the items that must be at the version that was read

	event   itemKey // of the change's first event
	eventID string
}

// DynamoDB's limits of a transaction: the number of its items, and 4 MB for all of them. DynamoDB does not document
// whether the old or the new size of an item counts, so the larger one counts here. The rest of the 4 MB is for items
// that are updated without being read.
const (
	maxTransaction      = 100
	maxTransactionBytes = 4<<20 - 64<<10
)

// A conditionError is the error if the condition of an item fails. A permanent condition never holds again once it has
// failed: versions only rise. A retryable one may hold again later, for example once a name is free: so a delayed copy of
// the request may still be applied (see resolve).
type conditionError struct {
	*flags.Error
	retryable bool
}

func permanent(err *flags.Error) conditionError { return conditionError{err, false} }
func retryable(err *flags.Error) conditionError { return conditionError{err, true} }

// versionConflict is the error if another request has changed the aggregate since it was read.
var versionConflict = permanent(flags.Errorf(flags.VersionConflict, "another request changed it at the same time; try again"))

// plan converts a change to a transaction; nil if it changes nothing.
func (s *Store) plan(change flags.Change) (*transaction, error) {
	tx := &transaction{input: &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String(uuid.NewString())}}
	events := append([]flags.Event{change.Event}, change.MoreEvents...)
	var owner flags.Aggregate // of the events: the first aggregate that changes
	var first int64           // the owner's version of the first event
	for _, w := range change.Writes {
		increment := int64(1)
		if owner == nil {
			increment = int64(len(events))
		}
		version, err := s.planWrite(tx, w, increment)
		if err != nil {
			return nil, err
		}
		switch {
		case version == 0 || !w.ChangesServed():
		case changesToken(w):
			tx.tokens = append(tx.tokens, newFeedChange(w, version))
		default:
			tx.served = append(tx.served, newFeedChange(w, version))
		}
		if version > 0 {
			tx.noteReview(w)
		}
		if version > 0 && owner == nil {
			owner, first = cmp.Or(w.After, w.Before), version-increment+1
			tx.event, tx.eventID = eventKey(owner, first), change.Event.ID
		}
	}
	if owner == nil {
		return nil, nil
	}
	if err := s.planSegmentUses(tx, change); err != nil {
		return nil, err
	}
	for _, guard := range tx.guards {
		if err := s.planGuard(tx, guard); err != nil {
			return nil, err
		}
	}
	for i, event := range events {
		version := first + int64(i)
		if err := s.planEvent(tx, eventKey(owner, version), event); err != nil {
			return nil, err
		}
		if err := s.planOutbox(tx, change.Addons, eventKey(owner, version), version, event); err != nil {
			return nil, err
		}
	}
	if err := s.planFeed(tx, change.Feed, change.Assumed); err != nil {
		return nil, err
	}
	if n := len(tx.errors); n > maxTransaction && tx.outbox > 0 {
		return nil, flags.Errorf(flags.Invalid, "this change writes %d items, %d of them for the addons that send its events, more than the limit of %d items in one change; nothing was changed; split it into several requests, or disable addons first", n, tx.outbox, maxTransaction)
	} else if n > maxTransaction {
		return nil, flags.Errorf(flags.Invalid, "this change writes %d items, more than the limit of %d items in one change; nothing was changed; split it into several requests", n, maxTransaction)
	}
	if tx.bytes > maxTransactionBytes {
		return nil, flags.Errorf(flags.Invalid, "this change writes %.1f MB, more than the limit of 4 MB in one change; nothing was changed; change fewer flags at once, for example by removing dependencies one at a time", float64(tx.bytes)/(1<<20))
	}
	return tx, nil
}

// planWrite adds one aggregate and its dependent items, if it differs from what was read. It returns the new version,
// which is higher by increment, or 0 if there is no difference.
func (s *Store) planWrite(tx *transaction, w flags.Write, increment int64) (version int64, err error) {
	if w.After == nil {
		return s.planDelete(tx, w.Before, increment)
	}
	key := w.After.Key()
	entity := entityOf(key.Entity)
	document, err := entity.encode(w.After)
	if err != nil {
		return 0, internalError(err)
	}
	if err := checkSize(entity.title(key.ID), document); err != nil {
		return 0, err
	}
	at := entity.key(key.ID)
	e := envelope{PK: at.pk, SK: at.sk, UID: uidOf(w.After), Version: increment, Document: document}
	if entity.expires != nil {
		e.TTL = entity.expires(w.After).Unix()
	}
	expected, failure := absent, entity.existsError(key.ID)
	if w.Before != nil {
		before, err := entity.encode(w.Before)
		if err != nil {
			return 0, internalError(err)
		}
		if before == document {
			return 0, nil
		}
		tx.countReplaced(before, document)
		e.Version, expected, failure = flags.VersionOf(w.Before)+increment, unchanged(w.Before), versionConflict
		tx.versioned = append(tx.versioned, len(tx.errors))
	}
	if err := s.put(tx, e, expected, failure); err != nil {
		return 0, err
	}
	return e.Version, s.planDependents(tx, w.Before, w.After)
}

// checkSize returns an error if a document is too large for an item.
func checkSize(title, document string) error {
	if len(document) <= maxDocument {
		return nil
	}
	return flags.Errorf(flags.Invalid, "%s would take %d KiB, more than the limit of 400 KiB; nothing was changed", title, (len(document)+envelopeSize)>>10+1)
}

// planDelete deletes one aggregate and its dependent items.
func (s *Store) planDelete(tx *transaction, before flags.Aggregate, increment int64) (version int64, err error) {
	document, err := entityOf(before.Key().Entity).encode(before)
	if err != nil {
		return 0, internalError(err)
	}
	tx.countReplaced(document, "")
	expr, err := expression.NewBuilder().WithCondition(unchanged(before)).Build()
	if err != nil {
		return 0, internalError(err)
	}
	tx.versioned = append(tx.versioned, len(tx.errors))
	s.add(tx, types.TransactWriteItem{Delete: &types.Delete{
		TableName: &s.table, Key: keyOf(before.Key()).attributes(), ConditionExpression: expr.Condition(),
		ExpressionAttributeNames: expr.Names(), ExpressionAttributeValues: expr.Values(),
	}}, versionConflict)
	return flags.VersionOf(before) + increment, s.planDependents(tx, before, nil)
}

// planEvent adds an event, and its body if that is an item of its own.
func (s *Store) planEvent(tx *transaction, at itemKey, event flags.Event) error {
	item, body, err := newEventItem(at, event)
	if err != nil {
		return internalError(err)
	}
	if body != "" {
		key := bodyKey(at)
		if err := s.put(tx, envelope{PK: key.pk, SK: key.sk, Document: body}, absent, versionConflict); err != nil {
			return err
		}
	}
	return s.put(tx, item, absent, versionConflict)
}

// unchanged is the condition that an aggregate is still what was read: the same version and, where a key can be used
// again, the same UID.
func unchanged(a flags.Aggregate) expression.ConditionBuilder {
	condition := hasVersion(flags.VersionOf(a))
	if uid := uidOf(a); uid != "" {
		condition = condition.And(expression.Name("uid").Equal(expression.Value(uid)))
	}
	return condition
}

func hasVersion(n int64) expression.ConditionBuilder {
	return expression.Name("version").Equal(expression.Value(n))
}

// absent is the condition that there is no item with the key.
var absent = expression.Name("pk").AttributeNotExists()

// always is no condition.
var always expression.ConditionBuilder

// put adds an item, on a condition.
func (s *Store) put(tx *transaction, item any, condition expression.ConditionBuilder, failure conditionError) error {
	put, err := s.putOf(item, condition)
	if err != nil {
		return err
	}
	s.add(tx, types.TransactWriteItem{Put: put}, failure)
	return nil
}

// deleteAlways deletes an item without a condition.
func (s *Store) deleteAlways(tx *transaction, at itemKey) {
	s.add(tx, types.TransactWriteItem{Delete: &types.Delete{TableName: &s.table, Key: at.attributes()}}, versionConflict)
}

// update updates an item by an expression, which may have a condition.
func (s *Store) update(tx *transaction, at itemKey, builder expression.Builder, failure conditionError) error {
	expr, err := builder.Build()
	if err != nil {
		return internalError(err)
	}
	s.add(tx, types.TransactWriteItem{Update: &types.Update{
		TableName: &s.table, Key: at.attributes(), UpdateExpression: expr.Update(), ConditionExpression: expr.Condition(),
		ExpressionAttributeNames: expr.Names(), ExpressionAttributeValues: expr.Values(),
	}}, failure)
	return nil
}

func (s *Store) add(tx *transaction, item types.TransactWriteItem, failure conditionError) {
	tx.input.TransactItems = append(tx.input.TransactItems, item)
	tx.errors = append(tx.errors, failure)
	tx.bytes += sizeOf(attributesOf(item))
}

// countReplaced counts by how much an old document is larger than the new one: the size of the new one is counted by add.
func (tx *transaction) countReplaced(old, document string) {
	tx.bytes += max(0, len(old)-len(document))
}

// sizeOf estimates the size of attributes: names and strings in full, and a small constant for all other values.
func sizeOf(attributes map[string]types.AttributeValue) int {
	const other = 20 // the largest size of a number
	size := 0
	for name, value := range attributes {
		size += len(name)
		if text, is := value.(*types.AttributeValueMemberS); is {
			size += len(text.Value)
		} else {
			size += other
		}
	}
	return size
}
