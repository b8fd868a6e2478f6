package dynamo

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"guidon/pkg/flags"
)

// A change of a flag that needs no change request must not be committed after one became necessary. Every change that applications see
// writes the item of the feed, so the feed knows what became necessary, and the change has a condition on it. It costs no item more:
//
//	reviewChanges  Environments.ReviewChanges; absent for 0
//	reviews        the numbers of Environments.RecentReviews by the UID of the project
//
// Changes that applications do not see have no condition: what they change takes effect only by another change, which has one.

// noteReview notes what a write changes of what the feed knows of change requests.
func (tx *transaction) noteReview(w flags.Write) {
	before, _ := w.Before.(*flags.Environments)
	after, _ := w.After.(*flags.Environments)
	if before != nil && after != nil && before.ReviewChanges != after.ReviewChanges {
		tx.review = after
	}
}

// setReview adds what the transaction changes of that to an update of the feed.
func (tx *transaction) setReview(update expression.UpdateBuilder) expression.UpdateBuilder {
	if tx.review == nil {
		return update
	}
	recent := map[string]int64{}
	for _, c := range tx.review.RecentReviews {
		recent[c.ProjectUID] = c.Number
	}
	return update.Set(expression.Name("reviewChanges"), expression.Value(tx.review.ReviewChanges)).
		Set(expression.Name("reviews"), expression.Value(recent))
}

// planReview writes it if the transaction adds no entry to the feed.
func (s *Store) planReview(tx *transaction) error {
	if tx.review == nil {
		return nil
	}
	return s.update(tx, feedKey, expression.NewBuilder().WithUpdate(tx.setReview(expression.UpdateBuilder{})), versionConflict)
}

// reviewsUnchanged is the condition that the feed knows nothing newer of change requests than the change assumes. It can be met again
// once a change is not recent any more.
func reviewsUnchanged(assumed flags.ReviewAssumption) (condition expression.ConditionBuilder, failure conditionError) {
	and := func(c expression.ConditionBuilder) {
		if condition.IsSet() {
			c = condition.And(c)
		}
		condition, failure = c, retryable(versionConflict.Error)
	}
	failure = versionConflict
	for _, uid := range slices.Sorted(maps.Keys(assumed.Projects)) {
		number := expression.Name("reviews." + uid)
		and(number.AttributeNotExists().Or(number.Equal(expression.Value(assumed.Projects[uid]))))
	}
	is := func(name string, number *int64) {
		switch stored := expression.Name(name); {
		case number == nil:
		case *number == 0:
			and(stored.AttributeNotExists())
		default:
			and(stored.Equal(expression.Value(*number)))
		}
	}
	is("n", assumed.Served)
	is("reviewChanges", assumed.Changes)
	return condition, failure
}

// guardSegmentUses adds the condition that no flag has begun to use a written segment since it was loaded. A change of its project or its
// deletion has that condition anyway. It also notes in the guard at which version the content has changed: an approved change that begins
// to use a segment has the condition that this was not after the segment was loaded.
func (tx *transaction) guardSegmentUses(merged []*merge, assumed flags.ReviewAssumption) {
	for _, m := range merged {
		before, _ := m.Before.(*flags.Segment)
		after, _ := m.After.(*flags.Segment)
		if before != nil && after != nil && slices.Contains(assumed.SegmentUses, before.ID) {
			u := tx.guardUpdate(segmentGuard(before.ID))
			u.set["changed"] = m.version()
			if before.ProjectUID == after.ProjectUID {
				u.requireNoUse(before)
			}
		}
	}
	for id, version := range assumed.Segments {
		i := slices.IndexFunc(tx.guards, func(u guardUpdate) bool { return u.guard == segmentGuard(id) && u.counts["begun"] > 0 })
		if i >= 0 {
			u, changed := &tx.guards[i], expression.Name("changed")
			u.holds, u.failed = append(u.holds, changed.AttributeNotExists().Or(changed.LessThanEqual(expression.Value(version)))), versionConflict
		}
	}
}
