package dynamo

import (
	"cmp"
	"slices"
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
	refusals []refusal // what it means when the condition of the item at that index fails
	tallies  []tally
	tags     []flags.Tag // that it makes known; a transaction may name an item only once
	event    place
	eventID  string
}

// plan makes a change into a transaction; nil when it alters nothing.
func (s *Store) plan(change flags.Change) (*transaction, error) {
	tx := &transaction{input: &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String(uuid.NewString())}}
	for _, w := range change.Writes {
		version, err := s.planWrite(tx, w)
		if err != nil {
			return nil, err
		}
		if version > 0 && tx.event == (place{}) { // the first write that alters something owns the event
			tx.event, tx.eventID = eventPlace(cmp.Or(w.After, w.Before), version), change.Event.ID
		}
	}
	if len(tx.refusals) == 0 {
		return nil, nil
	}
	for _, t := range tx.tallies {
		if err := s.planGuard(tx, t); err != nil {
			return nil, err
		}
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

// A refusal is what a failed condition means. A passing one may be met again later: a name can be freed, while a version
// that was left behind never comes back (see settle).
type refusal struct {
	*flags.Error
	passing bool
}

func lasting(err *flags.Error) refusal { return refusal{err, false} }
func passing(err *flags.Error) refusal { return refusal{err, true} }

// outdated says that another writer was first.
var outdated = lasting(flags.Errorf(flags.Outdated, "it was changed by another call at the same time; try again"))

// planWrite adds one aggregate, with what follows from it, when it differs from what was read. It tells the version that
// this makes, 0 when there is no difference.
func (s *Store) planWrite(tx *transaction, w flags.Write) (version int64, err error) {
	if w.After == nil {
		return s.planDelete(tx, w.Before)
	}
	document, err := stored(w.After)
	if err != nil {
		return 0, broken(err)
	}
	if len(document) > maxItem {
		return 0, flags.Errorf(flags.Invalid, "%s would take %d KiB, more than the 400 KiB that one may hold; nothing was changed",
			title(w.After.Key()), (len(document)+ofEnvelope)>>10+1)
	}
	p := placeOf(w.After.Key())
	e := envelope{PK: p.pk, SK: p.sk, UID: uidOf(w.After), Version: 1, Document: document}
	condition, means := notThere(), taken(w.After.Key())
	if w.Before != nil {
		before, err := stored(w.Before)
		if err != nil {
			return 0, broken(err)
		}
		if before == document {
			return 0, nil
		}
		e.Version, condition, means = flags.VersionOf(w.Before)+1, asRead(w.Before), outdated
	}
	if err := s.put(tx, e, condition, means); err != nil {
		return 0, err
	}
	return e.Version, s.planFollowers(tx, w.Before, w.After)
}

// planDelete takes one aggregate away, with what follows from it.
func (s *Store) planDelete(tx *transaction, before flags.Aggregate) (version int64, err error) {
	expr, err := expression.NewBuilder().WithCondition(asRead(before)).Build()
	if err != nil {
		return 0, broken(err)
	}
	s.add(tx, types.TransactWriteItem{Delete: &types.Delete{
		TableName: &s.table, Key: placeOf(before.Key()).attributes(), ConditionExpression: expr.Condition(),
		ExpressionAttributeNames: expr.Names(), ExpressionAttributeValues: expr.Values(),
	}}, outdated)
	if p, ok := before.(*flags.Project); ok {
		if err := s.planClose(tx, p); err != nil {
			return 0, err
		}
	}
	return flags.VersionOf(before) + 1, s.planFollowers(tx, before, nil)
}

// asRead is the condition that an aggregate is still what was read: at its version and, where a name can be used again,
// not another of that name.
func asRead(a flags.Aggregate) expression.ConditionBuilder {
	condition := expression.Name("version").Equal(expression.Value(flags.VersionOf(a)))
	if uid := uidOf(a); uid != "" {
		condition = condition.And(expression.Name("uid").Equal(expression.Value(uid)))
	}
	return condition
}

// uidOf tells an aggregate from a later one of the same key; "" where there can be none.
func uidOf(a flags.Aggregate) string {
	if p, ok := a.(*flags.Project); ok {
		return p.UID
	}
	return ""
}

// A tally is what a transaction does to one guard. Flags of one change may share it, and a transaction may name an item
// only once.
type tally struct {
	guard         place
	project       string
	active, stale int
	opens         bool // a flag becomes active
}

// count keeps a flag's project counted: its active flags, and the stale ones among them.
func (tx *transaction) count(before, after *flags.Feature) {
	wasActive, wasStale := before.Count()
	active, stale := after.Count()
	if wasActive == active && wasStale == stale {
		return
	}
	guard := guardPlace(after)
	i := slices.IndexFunc(tx.tallies, func(t tally) bool { return t.guard == guard })
	if i < 0 {
		i = len(tx.tallies)
		tx.tallies = append(tx.tallies, tally{guard: guard, project: after.Project})
	}
	t := &tx.tallies[i]
	t.active, t.stale, t.opens = t.active+active-wasActive, t.stale+stale-wasStale, t.opens || active > wasActive
}

// planGuard writes a tally down. A flag that becomes active needs the project to be open: deleting a project closes all
// its guards, so none can slip in behind the deletion.
func (s *Store) planGuard(tx *transaction, t tally) error {
	update := expression.Add(expression.Name("active"), expression.Value(t.active)).
		Add(expression.Name("stale"), expression.Value(t.stale))
	builder := expression.NewBuilder().WithUpdate(update)
	if t.opens {
		builder = builder.WithCondition(expression.Name("closed").AttributeNotExists())
	}
	expr, err := builder.Build()
	if err != nil {
		return broken(err)
	}
	s.add(tx, types.TransactWriteItem{Update: &types.Update{
		TableName: &s.table, Key: t.guard.attributes(), UpdateExpression: expr.Update(), ConditionExpression: expr.Condition(),
		ExpressionAttributeNames: expr.Names(), ExpressionAttributeValues: expr.Values(),
	}}, lasting(flags.Errorf(flags.NotFound, "project %q is no longer there", t.project)))
	return nil
}

func (s *Store) put(tx *transaction, e envelope, condition expression.ConditionBuilder, means refusal) error {
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
	}}, means)
	return nil
}

func (s *Store) add(tx *transaction, item types.TransactWriteItem, means refusal) {
	tx.input.TransactItems = append(tx.input.TransactItems, item)
	tx.refusals = append(tx.refusals, means)
}

func notThere() expression.ConditionBuilder { return expression.Name("pk").AttributeNotExists() }

// taken says that what was to be made is there already. Only a project can go away again.
func taken(key flags.Key) refusal {
	switch key.Entity {
	case flags.EntityFeature:
		return lasting(flags.Errorf(flags.NameExists, "the flag name %q is taken; an archived flag keeps its name too", key.ID))
	case flags.EntityEnvironments, flags.EntityRoles, flags.EntityTagTypes, flags.EntityStrategyTypes:
		return outdated // nobody gave it a name: another was the first to write to it
	case flags.EntityProject:
		return passing(flags.Errorf(flags.NameExists, "%s exists already", title(key)))
	}
	return lasting(flags.Errorf(flags.NameExists, "%s exists already", title(key)))
}

// title names an aggregate in a message.
func title(key flags.Key) string {
	switch key.Entity {
	case flags.EntityFeature:
		return "the flag " + strconv.Quote(key.ID)
	case flags.EntityProject:
		return "the project " + strconv.Quote(key.ID)
	case flags.EntityToken, flags.EntitySignup:
		return "the token" // its hash is nobody's business
	case flags.EntityUser:
		return "the user " + key.ID
	}
	return "the list of " + string(key.Entity)
}
