package dynamo

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
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
	bytes    int // what its items take, see maxTransactionBytes
	event    place
	eventID  string
}

// plan makes a change into a transaction; nil when it alters nothing.
func (s *Store) plan(change flags.Change) (*transaction, error) {
	tx := &transaction{input: &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String(uuid.NewString())}}
	events := append([]flags.Event{change.Event}, change.MoreEvents...)
	var owner flags.Aggregate // of the events: the first that is altered
	var first int64           // its version that the first event is stored at
	for _, w := range change.Writes {
		rise := int64(1)
		if owner == nil {
			rise = int64(len(events))
		}
		version, err := s.planWrite(tx, w, rise)
		if err != nil {
			return nil, err
		}
		if version > 0 && owner == nil {
			owner, first = cmp.Or(w.After, w.Before), version-rise+1
			tx.event, tx.eventID = eventPlace(owner, first), change.Event.ID
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
	for i, event := range events {
		if err := s.planEvent(tx, eventPlace(owner, first+int64(i)), event); err != nil {
			return nil, err
		}
	}
	if n := len(tx.refusals); n > maxTransaction {
		return nil, flags.Errorf(flags.Invalid, "this touches more than %d items at once, %d of them, and was not done; make it several changes", maxTransaction, n)
	}
	if tx.bytes > maxTransactionBytes {
		return nil, flags.Errorf(flags.Invalid, "this changes items of %.1f MB at once, more than the 4 MB that one change may have, and nothing was changed; change fewer flags at once, for example by removing dependencies one at a time", float64(tx.bytes)/(1<<20))
	}
	return tx, nil
}

// planEvent adds an event, and its body where that is an item of its own.
func (s *Store) planEvent(tx *transaction, at place, event flags.Event) error {
	item, body, err := eventItemOf(at, event)
	if err != nil {
		return broken(err)
	}
	if body != "" {
		apart := bodyPlace(at)
		if err := s.put(tx, envelope{PK: apart.pk, SK: apart.sk, Document: body}, notThere(), outdated); err != nil {
			return err
		}
	}
	return s.put(tx, item, notThere(), outdated)
}

// What DynamoDB lets a transaction have: so many items, of 4 MB together. It does not say whether an item counts as it is
// or as it will be, so the larger counts here. The rest of the 4 MB is for items that are updated without being read.
const (
	maxTransaction      = 100
	maxTransactionBytes = 4<<20 - 64<<10
)

// A refusal is what a failed condition means. A passing one may be met again later: a name can be freed, while a version
// that was left behind never comes back (see settle).
type refusal struct {
	*flags.Error
	passing bool
}

func lasting(err *flags.Error) refusal { return refusal{err, false} }
func passing(err *flags.Error) refusal { return refusal{err, true} }

// outdated says that another writer was first.
var outdated = lasting(flags.Errorf(flags.VersionConflict, "it was changed by another call at the same time; try again"))

// planWrite adds one aggregate, with what follows from it, when it differs from what was read. Its version rises by rise.
// It returns the new version, 0 when there is no difference.
func (s *Store) planWrite(tx *transaction, w flags.Write, rise int64) (version int64, err error) {
	if w.After == nil {
		return s.planDelete(tx, w.Before, rise)
	}
	document, err := stored(w.After)
	if err != nil {
		return 0, broken(err)
	}
	if err := fits(title(w.After.Key()), document); err != nil {
		return 0, err
	}
	p := placeOf(w.After.Key())
	e := envelope{PK: p.pk, SK: p.sk, UID: uidOf(w.After), Version: rise, Document: document}
	condition, means := notThere(), taken(w.After.Key())
	if w.Before != nil {
		before, err := stored(w.Before)
		if err != nil {
			return 0, broken(err)
		}
		if before == document {
			return 0, nil
		}
		tx.replaces(before, document)
		e.Version, condition, means = flags.VersionOf(w.Before)+rise, asRead(w.Before), outdated
	}
	if err := s.put(tx, e, condition, means); err != nil {
		return 0, err
	}
	return e.Version, s.planFollowers(tx, w.Before, w.After)
}

// fits says that a document, of what is named so, is larger than an item can be.
func fits(what, document string) error {
	if len(document) <= maxItem {
		return nil
	}
	return flags.Errorf(flags.Invalid, "%s would take %d KiB, more than the 400 KiB that one may hold; nothing was changed", what, (len(document)+ofEnvelope)>>10+1)
}

// planDelete takes one aggregate away, with what follows from it.
func (s *Store) planDelete(tx *transaction, before flags.Aggregate, rise int64) (version int64, err error) {
	document, err := stored(before)
	if err != nil {
		return 0, broken(err)
	}
	tx.replaces(document, "")
	expr, err := expression.NewBuilder().WithCondition(asRead(before)).Build()
	if err != nil {
		return 0, broken(err)
	}
	s.add(tx, types.TransactWriteItem{Delete: &types.Delete{
		TableName: &s.table, Key: placeOf(before.Key()).attributes(), ConditionExpression: expr.Condition(),
		ExpressionAttributeNames: expr.Names(), ExpressionAttributeValues: expr.Values(),
	}}, outdated)
	switch a := before.(type) {
	case *flags.Project:
		err = s.planClose(tx, a)
	case *flags.Segment:
		err = s.planCloseSegment(tx, a)
	}
	if err != nil {
		return 0, err
	}
	return flags.VersionOf(before) + rise, s.planFollowers(tx, before, nil)
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
	guard  place
	counts map[string]int // what it adds to each of the guard's counts
	opens  bool           // it needs the guard to be open, as where a flag becomes active
	owners []string       // of a segment's guard: the UIDs of projects that begin to use it, and so must be its owner if it has one
	closed refusal        // what it means when the guard is not
}

// count keeps a flag's project counted: its active flags, and the stale ones among them. A flag that moves leaves the
// count of one project and enters that of another.
func (tx *transaction) count(before, after *flags.Feature) {
	if before != nil && after != nil && before.ProjectUID != after.ProjectUID {
		tx.countIn(before, before, nil)
		tx.countIn(after, nil, after)
		return
	}
	tx.countIn(cmp.Or(after, before), before, after)
}

// countIn adds to the guard that f falls on what changes there.
func (tx *transaction) countIn(f, before, after *flags.Feature) {
	wasActive, wasStale := before.Count()
	active, stale := after.Count()
	if wasActive == active && wasStale == stale {
		return
	}
	tx.tally(guardPlace(f), map[string]int{"active": active - wasActive, "stale": stale - wasStale}, active > wasActive,
		lasting(flags.Errorf(flags.NotFound, "project %q is no longer there", f.Project)))
}

// tally adds to what the transaction does to a guard. closed is what it means when the guard has to be open, and is not.
func (tx *transaction) tally(guard place, by map[string]int, opens bool, closed refusal) *tally {
	i := slices.IndexFunc(tx.tallies, func(t tally) bool { return t.guard == guard })
	if i < 0 {
		i = len(tx.tallies)
		tx.tallies = append(tx.tallies, tally{guard: guard, counts: map[string]int{}})
	}
	t := &tx.tallies[i]
	for name, n := range by {
		t.counts[name] += n
	}
	if opens {
		t.opens, t.closed = true, closed
	}
	return t
}

// planGuard writes a tally down. A flag that becomes active needs the project to be open: deleting a project closes all
// its guards, so none can slip in behind the deletion. The same goes for a segment that a flag begins to use.
func (s *Store) planGuard(tx *transaction, t tally) error {
	var update expression.UpdateBuilder
	for _, name := range slices.Sorted(maps.Keys(t.counts)) {
		update = update.Add(expression.Name(name), expression.Value(t.counts[name]))
	}
	builder := expression.NewBuilder().WithUpdate(update)
	if t.opens {
		condition := expression.Name("closed").AttributeNotExists()
		for _, uid := range t.owners {
			owner := expression.Name("owner")
			condition = condition.And(owner.AttributeNotExists().Or(owner.Equal(expression.Value(uid))))
		}
		builder = builder.WithCondition(condition)
	}
	expr, err := builder.Build()
	if err != nil {
		return broken(err)
	}
	s.add(tx, types.TransactWriteItem{Update: &types.Update{
		TableName: &s.table, Key: t.guard.attributes(), UpdateExpression: expr.Update(), ConditionExpression: expr.Condition(),
		ExpressionAttributeNames: expr.Names(), ExpressionAttributeValues: expr.Values(),
	}}, t.closed)
	return nil
}

// put adds an item: an envelope, or one with more in it.
func (s *Store) put(tx *transaction, e any, condition expression.ConditionBuilder, means refusal) error {
	item, err := attributevalue.MarshalMap(e)
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
	tx.bytes += sizeOf(keyOf(item))
}

// replaces counts what a document takes that is larger than the one that replaces it.
func (tx *transaction) replaces(old, document string) { tx.bytes += max(0, len(old)-len(document)) }

// sizeOf is about what attributes take: names and texts in full, and all else is short.
func sizeOf(attributes map[string]types.AttributeValue) int {
	size := 0
	for name, value := range attributes {
		size += len(name)
		if text, is := value.(*types.AttributeValueMemberS); is {
			size += len(text.Value)
		} else {
			size += 20 // the most that a number takes
		}
	}
	return size
}

func notThere() expression.ConditionBuilder { return expression.Name("pk").AttributeNotExists() }

// taken says that what was to be made is there already. Only a project can go away again.
func taken(key flags.Key) refusal {
	switch key.Entity {
	case flags.EntityFeature:
		return lasting(flags.Errorf(flags.NameExists, "the flag name %q is taken; an archived flag keeps its name too", key.ID))
	case flags.EntityEnvironments, flags.EntityRoles, flags.EntityTagTypes, flags.EntityStrategyTypes, flags.EntityContextFields:
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
	case flags.EntityToken, flags.EntitySignupToken:
		return "the token" // its hash is nobody's business
	case flags.EntityUser:
		return "the user " + key.ID
	case flags.EntitySegment:
		return "the segment " + key.ID
	}
	return "the list of " + string(key.Entity)
}
