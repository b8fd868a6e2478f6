package dynamo

import (
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"guidon/pkg/flags"
)

// A transaction is a change made ready to send. Its request token and bytes stay the same however often it is sent:
// that is what lets the engine, and settle, recognise it.
type transaction struct {
	input    *dynamodb.TransactWriteItemsInput
	refusals []*flags.Error // what it means when the condition of the item at that index fails
	event    place
	eventID  string
}

// plan makes a change into a transaction; nil when it alters nothing.
func (s *Store) plan(change flags.Change) (*transaction, error) {
	tx := &transaction{input: &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String(uuid.NewString())}}
	for _, w := range change.Writes {
		altered, err := s.planWrite(tx, w)
		if err != nil {
			return nil, err
		}
		if altered && tx.event == (place{}) { // the first write that alters something owns the event
			tx.event, tx.eventID = eventPlace(w.After, flags.VersionOf(w.After)+1), change.Event.ID
		}
	}
	if len(tx.refusals) == 0 {
		return nil, nil
	}
	doc, err := storeEvent(change.Event)
	if err != nil {
		return nil, broken(err)
	}
	document, err := encode(doc)
	if err != nil {
		return nil, broken(err)
	}
	return tx, s.put(tx, envelope{PK: tx.event.pk, SK: tx.event.sk, Document: document}, notThere(), outdated)
}

// outdated says that another writer was first.
var outdated = flags.Errorf(flags.Outdated, "it was changed by another call at the same time; try again")

// planWrite adds one aggregate, with the row and the counts that follow from it, when it differs from what was read.
func (s *Store) planWrite(tx *transaction, w flags.Write) (altered bool, err error) {
	document, err := stored(w.After)
	if err != nil {
		return false, broken(err)
	}
	if len(document) > maxItem {
		return false, flags.Errorf(flags.Invalid, "%s would take %d KiB, more than the 400 KiB that one may hold; nothing was changed",
			title(w.After.Key()), len(document)>>10)
	}
	p := placeOf(w.After.Key())
	e := envelope{PK: p.pk, SK: p.sk, Version: 1, Document: document}
	condition, refusal := notThere(), taken(w.After.Key())
	if w.Before != nil {
		before, err := stored(w.Before)
		if err != nil {
			return false, broken(err)
		}
		if before == document {
			return false, nil
		}
		read := flags.VersionOf(w.Before)
		e.Version, condition, refusal = read+1, expression.Name("version").Equal(expression.Value(read)), outdated
	}
	if err := s.put(tx, e, condition, refusal); err != nil {
		return false, err
	}
	if after, ok := w.After.(*flags.Feature); ok {
		before, _ := w.Before.(*flags.Feature)
		return true, s.planLists(tx, before, after)
	}
	return true, nil
}

// planLists keeps a flag's list row and its project's counts in step with it. before is nil for a new flag.
func (s *Store) planLists(tx *transaction, before, after *flags.Feature) error {
	row, err := encode(storeRow(after.Summary()))
	if err != nil {
		return broken(err)
	}
	old := ""
	if before != nil {
		if old, err = encode(storeRow(before.Summary())); err != nil {
			return broken(err)
		}
		if from := rowPlace(before); from != rowPlace(after) {
			s.add(tx, types.TransactWriteItem{Delete: &types.Delete{TableName: &s.table, Key: from.attributes()}}, outdated)
		}
	}
	if row != old {
		to := rowPlace(after)
		item, err := envelope{PK: to.pk, SK: to.sk, Document: row}.attributes()
		if err != nil {
			return broken(err)
		}
		s.add(tx, types.TransactWriteItem{Put: &types.Put{TableName: &s.table, Item: item}}, outdated)
	}
	return s.planGuard(tx, before, after)
}

// planGuard counts the flag on its project's guard. A flag that becomes active needs the project to be open: deleting
// a project closes all its guards, so none can slip in behind the deletion.
func (s *Store) planGuard(tx *transaction, before, after *flags.Feature) error {
	wasActive, wasStale := before.Count()
	active, stale := after.Count()
	if wasActive == active && wasStale == stale {
		return nil
	}
	update := expression.Add(expression.Name("active"), expression.Value(active-wasActive)).
		Add(expression.Name("stale"), expression.Value(stale-wasStale))
	builder := expression.NewBuilder().WithUpdate(update)
	if active > wasActive {
		builder = builder.WithCondition(expression.Name("closed").AttributeNotExists())
	}
	expr, err := builder.Build()
	if err != nil {
		return broken(err)
	}
	s.add(tx, types.TransactWriteItem{Update: &types.Update{
		TableName: &s.table, Key: guardPlace(after).attributes(), UpdateExpression: expr.Update(), ConditionExpression: expr.Condition(),
		ExpressionAttributeNames: expr.Names(), ExpressionAttributeValues: expr.Values(),
	}}, flags.Errorf(flags.NotFound, "project %q is no longer there", after.Project))
	return nil
}

func (s *Store) put(tx *transaction, e envelope, condition expression.ConditionBuilder, refusal *flags.Error) error {
	item, err := e.attributes()
	if err != nil {
		return broken(err)
	}
	expr, err := expression.NewBuilder().WithCondition(condition).Build()
	if err != nil {
		return broken(err)
	}
	s.add(tx, types.TransactWriteItem{Put: &types.Put{
		TableName: &s.table, Item: item, ConditionExpression: expr.Condition(),
		ExpressionAttributeNames: expr.Names(), ExpressionAttributeValues: expr.Values(),
	}}, refusal)
	return nil
}

func (s *Store) add(tx *transaction, item types.TransactWriteItem, refusal *flags.Error) {
	tx.input.TransactItems = append(tx.input.TransactItems, item)
	tx.refusals = append(tx.refusals, refusal)
}

func notThere() expression.ConditionBuilder { return expression.Name("pk").AttributeNotExists() }

// taken says that what was to be made is there already.
func taken(key flags.Key) *flags.Error {
	if key.Entity == flags.EntityFeature {
		return flags.Errorf(flags.NameExists, "the flag name %q is taken; an archived flag keeps its name too", key.ID)
	}
	return flags.Errorf(flags.NameExists, "%s exists already", title(key))
}

// title names an aggregate in a message.
func title(key flags.Key) string {
	switch key.Entity {
	case flags.EntityFeature:
		return "the flag " + strconv.Quote(key.ID)
	case flags.EntityProject:
		return "the project " + strconv.Quote(key.ID)
	case flags.EntityToken:
		return "the token" // its hash is nobody's business
	}
	return "the list of " + string(key.Entity)
}
