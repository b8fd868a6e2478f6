package dynamo

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"guidon/pkg/flags"
)

// A flag cannot have a segment that is not there, whoever deletes it at the same time: a guard beside each segment
// counts the flags that use it. To begin using it needs the guard to be open, to delete it needs the guard to count none,
// and closes it for good, as ids of segments are never used again.

// countSegments keeps the guards of the segments that a flag begins or stops to use. A new flag is made after another, or
// after data, and those may have changed: so its maker has to look again.
func (tx *transaction) countSegments(before, after *flags.Feature) {
	was, is := before.Segments(), after.Segments()
	gone := func(id int64) refusal {
		if before == nil {
			return outdated
		}
		return lasting(flags.Errorf(flags.Invalid, "there is no segment %d: it was deleted", id))
	}
	for _, id := range is {
		if !slices.Contains(was, id) {
			tx.tally(segmentGuard(id), map[string]int{"uses": 1}, true, gone(id))
		}
	}
	for _, id := range was {
		if !slices.Contains(is, id) {
			tx.tally(segmentGuard(id), map[string]int{"uses": -1}, false, outdated)
		}
	}
}

// countOwnSegments keeps the segments counted that are a project's own, on one of the project's guards: a project that has
// some is not deleted, and one that is deleted gets none.
func (tx *transaction) countOwnSegments(before, after *flags.Segment) {
	was, is := ownGuard(before), ownGuard(after)
	if was == is {
		return
	}
	if is != (place{}) {
		tx.tally(is, map[string]int{"segments": 1}, true, outdated)
	}
	if was != (place{}) {
		tx.tally(was, map[string]int{"segments": -1}, false, outdated)
	}
}

// ownGuard is the guard that counts a segment of a project's own; none for one of all projects.
func ownGuard(segment *flags.Segment) place {
	if segment == nil || segment.ProjectUID == "" {
		return place{}
	}
	return guardAt(segment.ProjectUID, uint32(segment.ID%guards)) //nolint:gosec // less than guards
}

// planUse keeps what a flag uses in step with it: one item, written when it changes.
func (s *Store) planUse(tx *transaction, before, after *flags.Feature) error {
	old, err := useOf(before)
	if err != nil {
		return broken(err)
	}
	now, err := useOf(after)
	if err != nil {
		return broken(err)
	}
	if now != old {
		tx.replaces(old, now)
	}
	switch now {
	case old:
		return nil
	case "":
		at := placeOf(before.Use().Key())
		s.add(tx, types.TransactWriteItem{Delete: &types.Delete{TableName: &s.table, Key: at.attributes()}}, outdated)
		return nil
	}
	if err := fits("what the strategies of "+title(after.Key())+" use", now); err != nil { // many strategies of long names may be more than the flag
		return err
	}
	at := placeOf(after.Use().Key())
	item, err := envelope{PK: at.pk, SK: at.sk, Document: now}.attributes()
	if err != nil {
		return broken(err)
	}
	s.add(tx, types.TransactWriteItem{Put: &types.Put{TableName: &s.table, Item: item}}, outdated)
	return nil
}

// useOf is the document of what a flag uses; "" for nothing.
func useOf(f *flags.Feature) (string, error) {
	if f == nil {
		return "", nil
	}
	use := f.Use()
	if len(use.Strategies) == 0 {
		return "", nil
	}
	return stored(use)
}

// planCloseSegment closes the guard of a segment that is deleted. Where a flag has begun to use it since that was looked
// up, another round finds which.
func (s *Store) planCloseSegment(tx *transaction, segment *flags.Segment) error {
	unused := expression.Name("uses").AttributeNotExists().Or(expression.Name("uses").LessThanEqual(expression.Value(0)))
	expr, err := expression.NewBuilder().
		WithUpdate(expression.Set(expression.Name("closed"), expression.Value(true))).WithCondition(unused).Build()
	if err != nil {
		return broken(err)
	}
	s.add(tx, types.TransactWriteItem{Update: &types.Update{
		TableName: &s.table, Key: segmentGuard(segment.ID).attributes(), UpdateExpression: expr.Update(), ConditionExpression: expr.Condition(),
		ExpressionAttributeNames: expr.Names(), ExpressionAttributeValues: expr.Values(),
	}}, passing(outdated.Error))
	return nil
}
