package dynamo

import (
	"cmp"
	"slices"

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
	review *flags.Environments // if the transaction changes what the feed knows of change requests: the registry that has it
	turns  bool                // whether it turns the feed
	outbox int                 // how many of the items are entries of outboxes
	bytes  int                 // the size of the items, see maxTransactionBytes

	stay map[itemKey]bool // see namesThatStay

	versioned []int // the items that must be at the version that was read

	event   itemKey // of the change's first event
	eventID string
	today   flags.Day
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

// A merge is what the steps of a change do to one aggregate together: the first Before, and the last After.
type merge struct {
	flags.Write
	before, after string          // their documents; "" for none
	subject       flags.Aggregate // as the latest step that has it knows it
	events        int64           // how many events of the change are in its history
}

// A loggedEvent is an event, and the aggregate whose history it belongs to. It is the nth event of the change there.
type loggedEvent struct {
	flags.Event
	owner *merge
	n     int64
}

// mergeSteps merges what the steps of a change write, in the order in which they first do. A write that alters nothing counts for nothing. The
// events of a step belong to the first aggregate that the step alters, and are dropped if there is none.
func mergeSteps(change flags.Change) (merged []*merge, events []loggedEvent, err error) {
	byKey := map[flags.Key]*merge{}
	for _, step := range change.Steps() {
		var owner *merge
		for _, w := range step.Writes {
			before, after, err := documentsOf(w)
			if err != nil {
				return nil, nil, err
			}
			if w.Before != nil && w.After != nil && before == after {
				continue
			}
			subject := cmp.Or(w.After, w.Before)
			m := byKey[subject.Key()]
			if m == nil {
				m = &merge{Write: flags.Write{Before: w.Before}, before: before}
				byKey[subject.Key()], merged = m, append(merged, m)
			}
			m.After, m.after, m.subject = w.After, after, subject
			owner = cmp.Or(owner, m)
		}
		if owner == nil {
			continue
		}
		for _, event := range append([]flags.Event{step.Event}, step.MoreEvents...) {
			events = append(events, loggedEvent{event, owner, owner.events})
			owner.events++
		}
	}
	return merged, events, nil
}

// documentsOf encodes what a write replaces, and by what.
func documentsOf(w flags.Write) (before, after string, err error) {
	entity := entityOf(cmp.Or(w.After, w.Before).Key().Entity)
	if w.Before != nil {
		if before, err = entity.encode(w.Before); err != nil {
			return "", "", internalError(err)
		}
	}
	if w.After != nil {
		if after, err = entity.encode(w.After); err != nil {
			return "", "", internalError(err)
		}
	}
	return before, after, nil
}

// firstVersion is the version of the first event of the change in the history of an aggregate.
func (m *merge) firstVersion() int64 {
	if m.Before == nil {
		return 1
	}
	return flags.VersionOf(m.Before) + 1
}

// version is the version that the aggregate gets: each of its events has one.
func (m *merge) version() int64 { return m.firstVersion() + max(m.events, 1) - 1 }

// plan converts a change to a transaction; nil if it changes nothing.
func (s *Store) plan(change flags.Change) (*transaction, error) {
	tx := &transaction{input: &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String(uuid.NewString())}}
	merged, events, err := mergeSteps(change)
	if err != nil {
		return nil, err
	}
	if len(events) == 0 {
		return nil, nil
	}
	tx.event, tx.eventID, tx.today = events[0].key(), events[0].ID, flags.DayOf(events[0].CreatedAt)
	if tx.stay, err = namesThatStay(merged); err != nil {
		return nil, err
	}
	for _, m := range merged {
		if err := s.planWrite(tx, m); err != nil {
			return nil, err
		}
		if m.ChangesServed() {
			tx.served = append(tx.served, newFeedChange(m.Write, m.version()))
		}
		tx.noteReview(m.Write)
	}
	conditions := map[flags.Key]bool{}
	for _, step := range change.Steps() {
		for _, a := range step.Unchanged {
			if conditions[a.Key()] {
				continue
			}
			conditions[a.Key()] = true
			if err := s.planUnchanged(tx, merged, a); err != nil {
				return nil, err
			}
		}
	}
	assumed := change.Assumed
	for _, step := range change.Then {
		assumed = assumed.And(step.Assumed)
	}
	tx.guardSegmentUses(merged, assumed)
	tx.limitAdded(merged, assumed.Added)
	for _, guard := range tx.guards {
		if err := s.planGuard(tx, guard); err != nil {
			return nil, err
		}
	}
	for _, event := range events {
		if err := s.planEvent(tx, event.key(), event.Event); err != nil {
			return nil, err
		}
	}
	if err := s.planOutbox(tx, change.Addons, events); err != nil {
		return nil, err
	}
	if err := s.planFeed(tx, change.Feed, assumed); err != nil {
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

func (e loggedEvent) version() int64 { return e.owner.firstVersion() + e.n }

func (e loggedEvent) key() itemKey { return eventKey(e.owner.subject, e.version()) }

// planWrite adds one aggregate and its dependent items.
func (s *Store) planWrite(tx *transaction, m *merge) error {
	switch {
	case m.After == nil && m.Before == nil:
		return nil // a step has created it, and a later one has deleted it
	case m.After == nil:
		return s.planDelete(tx, m)
	}
	key := m.After.Key()
	entity := entityOf(key.Entity)
	if err := checkSize(entity.title(key.ID), m.after); err != nil {
		return err
	}
	at := entity.key(key.ID)
	e := envelope{PK: at.pk, SK: at.sk, UID: uidOf(m.After), Version: m.version(), Document: m.after}
	if entity.expires != nil {
		e.TTL = entity.expires(m.After).Unix()
	}
	expected, failure := absent, entity.existsError(key.ID)
	if m.Before != nil {
		tx.countReplaced(m.before, m.after)
		expected, failure = unchanged(m.Before), versionConflict
		tx.versioned = append(tx.versioned, len(tx.errors))
	}
	if err := s.put(tx, e, expected, failure); err != nil {
		return err
	}
	return s.planDependents(tx, m.Before, m.After)
}

// checkSize returns an error if a document is too large for an item.
func checkSize(title, document string) error {
	if len(document) <= maxDocument {
		return nil
	}
	return flags.Errorf(flags.Invalid, "%s would take %d KiB, more than the limit of 400 KiB; nothing was changed", title, (len(document)+envelopeSize)>>10+1)
}

// planDelete deletes one aggregate and its dependent items.
func (s *Store) planDelete(tx *transaction, m *merge) error {
	tx.countReplaced(m.before, "")
	expr, err := expression.NewBuilder().WithCondition(unchanged(m.Before)).Build()
	if err != nil {
		return internalError(err)
	}
	tx.versioned = append(tx.versioned, len(tx.errors))
	s.add(tx, types.TransactWriteItem{Delete: &types.Delete{
		TableName: &s.table, Key: keyOf(m.Before.Key()).attributes(), ConditionExpression: expr.Condition(),
		ExpressionAttributeNames: expr.Names(), ExpressionAttributeValues: expr.Values(),
	}}, versionConflict)
	return s.planDependents(tx, m.Before, nil)
}

// planUnchanged adds the condition that an aggregate is still what was read, unless it is written on that condition. It is an update that
// alters nothing, because a condition check would need one permission more.
func (s *Store) planUnchanged(tx *transaction, merged []*merge, a flags.Aggregate) error {
	if slices.ContainsFunc(merged, func(m *merge) bool { return m.subject.Key() == a.Key() }) {
		return nil
	}
	tx.versioned = append(tx.versioned, len(tx.errors))
	builder := expression.NewBuilder().WithUpdate(expression.Remove(expression.Name("none"))).WithCondition(unchanged(a))
	return s.update(tx, keyOf(a.Key()), builder, versionConflict)
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
	if item.Former != "" { // the data of such an event is small, so that it has no body
		if err := s.put(tx, item.former(), absent, versionConflict); err != nil {
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
