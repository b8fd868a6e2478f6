package dynamo

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"guidon/pkg/flags"
)

// Guards make sure that nothing uses a segment that was deleted or that belongs to another project, whatever requests run
// at the same time. Each segment has a guard, an item with these attributes:
//
//	uses    the number of flags that use the segment, in any environment
//	begun   how often a use began: a flag gets the segment in an environment, a flag that has it moves to another project,
//	        or a default strategy of a project or a release template gets it. It is never decremented
//	owner   the UID of the project that the segment belongs to; absent if all projects can use it
//	closed  true if the segment was deleted. Its ID is never used again
//	changed the version at which the content of the segment last changed while change requests were in use, see feed_review.go
//
// A change that begins a use increments "begun", on the condition that the guard is open and has no other owner. A change
// that deletes the segment or gives it to a project reads "begun" first, then lists the uses by flags and by default
// strategies; it is made on the condition that "begun" is still the same. If two such changes exclude each other, the
// second one fails. A use that ends needs no condition.
//
// "uses" and "begun" are read together. If no flag used the segment then, and no use has begun since, there are no uses by flags to
// list. If there were some, the list ends once it has as many. Default strategies and templates are not counted: they are always listed.

// countSegments updates the guards of the segments that a flag begins or stops to use. If a new flag, or one that moves,
// cannot use a segment, the segment has changed since it was read, so the request must run again.
func (tx *transaction) countSegments(before, after *flags.Feature) {
	old, segments := before.Segments(), after.Segments()
	for _, id := range segmentsBegun(before, after) {
		failed := cannotUse(id, after.Project)
		if before == nil || before.ProjectUID != after.ProjectUID {
			failed = retryable(versionConflict.Error)
		}
		tx.beginUse(id, after.ProjectUID, failed)
	}
	for _, id := range segments {
		if !slices.Contains(old, id) {
			tx.guardUpdate(segmentGuard(id)).counts["uses"]++
		}
	}
	for _, id := range old {
		if !slices.Contains(segments, id) {
			tx.guardUpdate(segmentGuard(id)).counts["uses"]--
		}
	}
}

// segmentsBegun lists the segments that a flag begins to use in an environment. For a flag that moves, these are all.
func segmentsBegun(before, after *flags.Feature) (ids []int64) {
	type use struct {
		environment string
		segment     int64
	}
	if after == nil {
		return nil
	}
	old := map[use]bool{}
	if before != nil && before.ProjectUID == after.ProjectUID {
		for _, s := range before.Use().Strategies {
			for _, id := range s.Segments {
				old[use{s.EnvironmentUID, id}] = true
			}
		}
	}
	for _, s := range after.Use().Strategies {
		for _, id := range s.Segments {
			if !old[use{s.EnvironmentUID, id}] && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// countDefaults counts the segments that default strategies of a project begin to use.
func (tx *transaction) countDefaults(before, after *flags.Project) {
	var ids []int64
	for name, attached := range after.Environments {
		var old []int64
		if before != nil && before.Environments[name].ID == attached.ID {
			old = before.Environments[name].Segments()
		}
		for _, id := range attached.Segments() {
			if !slices.Contains(old, id) && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids) // so that the request does not depend on the order of the map
	for _, id := range ids {
		tx.beginUse(id, after.UID, cannotUse(id, after.ID))
	}
}

// beginUse counts that a project begins to use a segment.
func (tx *transaction) beginUse(id int64, projectUID string, failed conditionError) {
	u := tx.guardUpdate(segmentGuard(id))
	u.counts["begun"]++
	u.requireOpen(failed)
	if !slices.Contains(u.owners, projectUID) {
		u.owners = append(u.owners, projectUID)
	}
}

// cannotUse is retryable because the segment may be given back to all projects.
func cannotUse(id int64, project string) conditionError {
	return retryable(flags.Errorf(flags.Invalid, "segment %d cannot be used in project %q: it was deleted, or it belongs to another project", id, project))
}

// setOwner updates the owner in the segment's guard, if no use of the segment has begun since its uses were listed: another project may
// use it, or one with change requests.
func (tx *transaction) setOwner(before, after *flags.Segment) {
	if before == nil && after.ProjectUID == "" || before != nil && before.ProjectUID == after.ProjectUID {
		return
	}
	u := tx.guardUpdate(segmentGuard(after.ID))
	u.set["owner"] = nil
	if after.ProjectUID != "" {
		u.set["owner"] = after.ProjectUID
	}
	if before != nil {
		u.requireNoUse(before)
	}
}

// requireNoUse has the update fail if a use of the segment has begun since it was loaded: the request must run again.
func (u *guardUpdate) requireNoUse(segment *flags.Segment) {
	u.holds, u.failed = append(u.holds, noUseBegun(segment)), versionConflict
}

// noUseBegun is the condition that no use of a segment has begun since it was loaded.
func noUseBegun(segment *flags.Segment) expression.ConditionBuilder {
	begun := expression.Name("begun")
	if segment.UseCount == 0 {
		return begun.AttributeNotExists()
	}
	return begun.Equal(expression.Value(segment.UseCount))
}

// countOwnSegments counts the segments that belong to a project, in one of the project's guards: a project that has some
// cannot be deleted, and a deleted project cannot get one.
func (tx *transaction) countOwnSegments(before, after *flags.Segment) {
	old, guard := ownerGuard(before), ownerGuard(after)
	if old == guard {
		return
	}
	if guard != (itemKey{}) {
		u := tx.guardUpdate(guard)
		u.counts["segments"]++
		u.requireOpen(versionConflict)
	}
	if old != (itemKey{}) {
		tx.guardUpdate(old).counts["segments"]--
	}
}

// ownerGuard is the project guard that counts a segment; the zero key for a segment that all projects can use.
func ownerGuard(segment *flags.Segment) itemKey {
	if segment == nil || segment.ProjectUID == "" {
		return itemKey{}
	}
	return projectGuard(segment.ProjectUID, uint32(segment.ID%projectGuards)) //nolint:gosec // less than projectGuards
}

// planUse writes the item of what a flag uses, if that has changed.
func (s *Store) planUse(tx *transaction, before, after *flags.Feature) error {
	old, err := encodeUse(before)
	if err != nil {
		return internalError(err)
	}
	document, err := encodeUse(after)
	if err != nil {
		return internalError(err)
	}
	if document == old {
		return nil
	}
	tx.countReplaced(old, document)
	if document == "" {
		s.deleteAlways(tx, useKey(before.Name))
		return nil
	}
	if err := checkSize(useTitle(after.Name), document); err != nil { // the names of many strategies can make it larger than the flag
		return err
	}
	at := useKey(after.Name)
	return s.put(tx, envelope{PK: at.pk, SK: at.sk, Document: document}, always, versionConflict)
}

// encodeUse is the document of what a flag uses; "" for nothing.
func encodeUse(f *flags.Feature) (string, error) {
	if f == nil {
		return "", nil
	}
	use := f.Use()
	if len(use.Strategies) == 0 {
		return "", nil
	}
	return useEntity.encode(use)
}

// closeSegment closes the guard of a deleted segment. If a use has begun since the uses were listed, the request must run again and list
// them anew.
func (tx *transaction) closeSegment(segment *flags.Segment) {
	u := tx.guardUpdate(segmentGuard(segment.ID))
	u.requireNoUse(segment)
	u.set["closed"], u.none, u.failed = true, []string{"uses"}, retryable(versionConflict.Error)
}
