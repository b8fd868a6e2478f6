package dynamo

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"guidon/pkg/flags"
)

// Nothing uses a segment that was deleted, or that belongs to another project alone, whatever is done at the same time.
// Beside each segment is a guard, an item with these attributes:
//
//	uses    the number of flags that use the segment, in any environment
//	begun   how often a use began: a flag has got the segment in an environment, a flag that has it has moved to another
//	        project, or a default strategy of a project has got it. It never falls
//	owner   the UID of the project that the segment belongs to; absent for all projects
//	closed  that the segment was deleted, for good: its id is never used again
//
// Who begins to use the segment counts in "begun", on the condition that the guard is open and has no other owner. Who
// deletes the segment, or gives it to a project, has read "begun" first and then listed the uses, of flags and of default
// strategies; the change is made on the condition that "begun" is still the same. So of two that exclude each other, the
// second is refused. A use that ends needs no condition: it is in the way of nothing.
//
// A guard of an earlier version has neither "begun" nor "owner". That is correct: an absent "begun" is 0, the uses are
// found by listing them and never by counting, and "owner" is set by the next change of owner, which is all that it is
// needed for.

// countSegments keeps the guards of the segments that a flag begins or stops to use. Where a new flag, or one that moves,
// cannot use a segment, what it was decided on has changed: another round decides again.
func (tx *transaction) countSegments(before, after *flags.Feature) {
	was, is := before.Segments(), after.Segments()
	for _, id := range begun(before, after) {
		refused := cannotUse(id, after.Project)
		if before == nil || before.ProjectUID != after.ProjectUID {
			refused = passing(outdated.Error)
		}
		tx.beginUse(id, after.ProjectUID, refused)
	}
	for _, id := range is {
		if !slices.Contains(was, id) {
			tx.tally(segmentGuard(id), map[string]int{"uses": 1}, false, refusal{})
		}
	}
	for _, id := range was {
		if !slices.Contains(is, id) {
			tx.tally(segmentGuard(id), map[string]int{"uses": -1}, false, refusal{})
		}
	}
}

// begun lists the segments that a flag begins to use in an environment, and, if it moves, all that it has.
func begun(before, after *flags.Feature) (ids []int64) {
	type use struct {
		environment string
		segment     int64
	}
	had := map[use]bool{}
	if before != nil && after != nil && before.ProjectUID == after.ProjectUID {
		for _, s := range before.Use().Strategies {
			for _, id := range s.Segments {
				had[use{s.EnvironmentUID, id}] = true
			}
		}
	}
	if after == nil {
		return nil
	}
	for _, s := range after.Use().Strategies {
		for _, id := range s.Segments {
			if !had[use{s.EnvironmentUID, id}] && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// countDefaults counts the segments that default strategies of a project begin to use.
func (tx *transaction) countDefaults(before, after *flags.Project) {
	if after == nil {
		return
	}
	var ids []int64
	for name, attached := range after.Environments {
		var had []int64
		if before != nil && before.Environments[name].ID == attached.ID {
			had = before.Environments[name].Segments()
		}
		for _, id := range attached.Segments() {
			if !slices.Contains(had, id) && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids) // the same bytes whatever the order of the map
	for _, id := range ids {
		tx.beginUse(id, after.UID, cannotUse(id, after.ID))
	}
}

// beginUse counts that a use of a segment begins in a project.
func (tx *transaction) beginUse(id int64, projectUID string, refused refusal) {
	t := tx.tally(segmentGuard(id), map[string]int{"begun": 1}, true, refused)
	if !slices.Contains(t.owners, projectUID) {
		t.owners = append(t.owners, projectUID)
	}
}

// cannotUse is the refusal of a use. The segment may be given back to all projects: so it is a passing one.
func cannotUse(id int64, project string) refusal {
	return passing(flags.Errorf(flags.Invalid, "segment %d cannot be used in project %q: it was deleted, or it belongs to another project now", id, project))
}

// planOwner keeps the guard's owner in step with the segment. A segment that is given to a project must not have begun to be
// used since its uses were listed.
func (s *Store) planOwner(tx *transaction, before, after *flags.Segment) error {
	if after == nil || before == nil && after.ProjectUID == "" || before != nil && before.ProjectUID == after.ProjectUID {
		return nil
	}
	owner := expression.Name("owner")
	builder := expression.NewBuilder().WithUpdate(expression.Remove(owner))
	if after.ProjectUID != "" {
		builder = expression.NewBuilder().WithUpdate(expression.Set(owner, expression.Value(after.ProjectUID)))
	}
	if after.ProjectUID != "" && before != nil {
		builder = builder.WithCondition(noneBegun(before))
	}
	expr, err := builder.Build()
	if err != nil {
		return broken(err)
	}
	s.add(tx, types.TransactWriteItem{Update: &types.Update{
		TableName: &s.table, Key: segmentGuard(after.ID).attributes(), UpdateExpression: expr.Update(), ConditionExpression: expr.Condition(),
		ExpressionAttributeNames: expr.Names(), ExpressionAttributeValues: expr.Values(),
	}}, outdated)
	return nil
}

// noneBegun is the condition that no use of a segment has begun since it was loaded.
func noneBegun(segment *flags.Segment) expression.ConditionBuilder {
	begun := expression.Name("begun")
	if segment.UseCount == 0 {
		return begun.AttributeNotExists()
	}
	return begun.Equal(expression.Value(segment.UseCount))
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

// planCloseSegment closes the guard of a segment that is deleted. Where a use has begun since the uses were listed, another
// round finds which.
func (s *Store) planCloseSegment(tx *transaction, segment *flags.Segment) error {
	unused := expression.Name("uses").AttributeNotExists().Or(expression.Name("uses").LessThanEqual(expression.Value(0)))
	expr, err := expression.NewBuilder().
		WithUpdate(expression.Set(expression.Name("closed"), expression.Value(true))).WithCondition(unused.And(noneBegun(segment))).Build()
	if err != nil {
		return broken(err)
	}
	s.add(tx, types.TransactWriteItem{Update: &types.Update{
		TableName: &s.table, Key: segmentGuard(segment.ID).attributes(), UpdateExpression: expr.Update(), ConditionExpression: expr.Condition(),
		ExpressionAttributeNames: expr.Names(), ExpressionAttributeValues: expr.Values(),
	}}, passing(outdated.Error))
	return nil
}
