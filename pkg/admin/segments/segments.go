// Package segments has the operations on segments and context fields. Constraints refer to context fields; a segment is a
// named list of constraints that many flags can use.
package segments

import (
	"context"
	"strconv"

	"guidon/pkg/access"
	"guidon/pkg/admin/wire"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/shape"
)

// segmentsPath is where segments are.
const segmentsPath = "/api/admin/segments"

// Group is the operations on context fields and segments.
func Group() httpapi.Group {
	return httpapi.Group{Name: "segments", Function: "configuration", Operations: append(contextFieldOperations(), segmentOperations()...)}
}

// segmentOperations are the operations on segments. Which permission a change needs depends on the segment, so the
// operations check it themselves (see authorize); Allow refuses callers who can have it for no segment.
func segmentOperations() []httpapi.Operation {
	const (
		one        = segmentsPath + "/{id}"
		strategies = segmentsPath + "/strategies"
	)
	environments := []flags.Key{flags.EnvironmentsKey()}
	return []httpapi.Operation{
		{Route: "GET " + segmentsPath, Permission: access.Read, Ahead: environments, Handle: httpapi.Handle(listSegments)},
		{Route: "POST " + segmentsPath, Permission: access.Read, Allow: allow(access.CreateSegment, access.UpdateProjectSegment),
			Status: 201, Handle: httpapi.HandleBody(createSegment)},
		{Route: "POST " + segmentsPath + "/validate", Permission: access.Read, Status: 204, Handle: httpapi.DoBody(validateSegment)},
		{Route: "POST " + strategies, Permission: access.Read, Allow: allow(access.UpdateFeatureStrategy, access.UpdateFeatureStrategy),
			Ahead: environments, Status: 201, Handle: httpapi.HandleBody(setStrategySegments)},
		{Route: "GET " + one, Permission: access.Read, Handle: httpapi.Handle(readSegment)},
		{Route: "PUT " + one, Permission: access.Read, Allow: allow(access.UpdateSegment, access.UpdateProjectSegment),
			Ahead: environments, Status: 204, Handle: httpapi.DoBody(updateSegment)},
		{Route: "DELETE " + one, Permission: access.Read, Allow: allow(access.DeleteSegment, access.UpdateProjectSegment),
			Ahead: environments, Status: 204, Handle: httpapi.DoMany(deleteSegment)},
		{Route: "GET " + one + "/strategies", Permission: access.Read, Ahead: environments, Handle: httpapi.Handle(listSegmentStrategies)},
		{Route: "GET " + strategies + "/{strategyId}", Permission: access.Read, Handle: httpapi.Handle(listStrategySegments)},
	}
}

// allow refuses callers who hold neither one permission in the whole service nor the other in any project.
func allow(inService, inProject access.Permission) func(tx *httpapi.Tx) error {
	return func(tx *httpapi.Tx) error {
		if tx.Caller.HasPermission(inService, nil, "") || tx.Caller.HasPermissionInAny(inProject, tx.CallersProjects()) {
			return nil
		}
		return tx.Caller.Authorize(inService, nil, "")
	}
}

// authorize checks that the caller can change the segment. A segment of a project takes UPDATE_PROJECT_SEGMENT there, or
// the permission in the whole service; a segment of all projects takes the latter.
func authorize(tx *httpapi.Tx, inService access.Permission, s *flags.Segment) error {
	for _, p := range tx.CallersProjects() {
		if p.UID == s.ProjectUID && tx.Caller.HasPermission(access.UpdateProjectSegment, p, "") {
			return nil
		}
	}
	return tx.Caller.Authorize(inService, nil, "")
}

// inSegment is the place of an operation on a segment.
type inSegment struct {
	httpapi.InService
	ID int64 `path:"id"`
}

// Keys names the segment and its use count.
func (at *inSegment) Keys() []flags.Key {
	return []flags.Key{flags.SegmentKey(at.ID), flags.UseCountKey(at.ID)}
}

func listSegments(tx *httpapi.Tx, _ httpapi.InService) (segmentRows, error) {
	counts := countUses(tx, func(s flags.StrategyUse) []int64 { return s.Segments })
	projects, environments := tx.Projects(), tx.Environments()
	return segmentRows{httpapi.Each(httpapi.PageOf(tx.Query(), tx.Segments()), func(s *flags.Segment) segmentRow {
		defaults := flags.FindDefaultStrategyUses(projects, environments, func(d flags.Strategy) bool { return d.UsesSegment(s.ID) })
		features, projects := counts[s.ID].with(defaults)
		return segmentRow{shape.SegmentViewOf(s), features, projects}
	})}, nil
}

func readSegment(tx *httpapi.Tx, at inSegment) (shape.SegmentView, error) {
	return shape.SegmentViewOf(tx.Segment(at.ID)), nil
}

func createSegment(tx *httpapi.Tx, _ httpapi.InService, in wire.SegmentBody) (shape.SegmentView, error) {
	s := &flags.Segment{CreatedAt: tx.Now, CreatedBy: tx.Caller.Name}
	if err := applyBody(tx, s, in, access.CreateSegment); err != nil {
		return shape.SegmentView{}, err
	}
	if err := wire.CheckListSize(tx, s); err != nil {
		return shape.SegmentView{}, err
	}
	s.ID = tx.NextID(flags.EntitySegment)
	tx.Save(events.SegmentCreated(s), s)
	tx.Created(segmentsPath, strconv.FormatInt(s.ID, 10))
	return shape.SegmentViewOf(s), nil
}

// validateSegment checks that a name is free.
func validateSegment(tx *httpapi.Tx, _ httpapi.InService, in segmentNameBody) error {
	for _, s := range tx.Segments() {
		if s.Name == in.Name {
			return flags.Errorf(flags.NameExists, "a segment named %q exists already", in.Name)
		}
	}
	return nil
}

func updateSegment(tx *httpapi.Tx, at inSegment, in wire.SegmentBody) error {
	s := tx.SegmentForChange(at.ID)
	if err := authorize(tx, access.UpdateSegment, s); err != nil {
		return err
	}
	var uses []flags.FeatureUse
	var projects []*flags.Project
	all := true
	if id := in.Project.Value; id != nil {
		// No other project may use the segment. The environments are read after the uses: otherwise a strategy in an
		// environment that was just created would look like one in a deleted environment, which does not count.
		uses, all = usesOfSegment(tx, s.ID, *id)
		projects = tx.Projects()
		tx.Again(flags.ProjectKey(*id), flags.EnvironmentsKey())
	}
	if err := applyBody(tx, s, in, access.UpdateSegment); err != nil {
		return err
	}
	if err := wire.CheckListSize(tx, s); err != nil {
		return err
	}
	before := httpapi.Was(tx, s)
	if err := tx.CheckIfMatch(shape.SegmentViewOf(before), shape.SegmentViewOf(s)); err != nil {
		return err
	}
	if err := s.CheckProjectChange(uses, projects, tx.Environments()); err != nil {
		return err
	}
	if !all { // those that were read do not count any more, because their environment was deleted
		return flags.Errorf(flags.VersionConflict, "the uses of segment %d were changed by other requests", s.ID)
	}
	tx.Save(events.SegmentUpdated(before, s), s)
	return nil
}

// applyBody sets the fields of the segment to those of the body, and checks that the caller can change a segment of the
// project that the body names.
func applyBody(tx *httpapi.Tx, s *flags.Segment, in wire.SegmentBody, inService access.Permission) error {
	in.ApplyTo(s)
	var owner *flags.Project
	if id := in.Project.Value; id != nil {
		owner = tx.FindProject(*id)
	}
	s.SetProject(owner)
	if err := authorize(tx, inService, s); err != nil {
		return err
	}
	if id := in.Project.Value; id != nil && owner == nil {
		return flags.Problems{{Path: "/project", Message: "there is no project " + strconv.Quote(*id)}}.Err()
	}
	return nil
}

// orphansAtOnce is how many strategies the transaction that deletes a segment removes at most: each takes up to five of its items.
const orphansAtOnce = 10

// deleteSegment deletes a segment that no strategy uses. Strategies that were left in deleted environments can still name it. They are
// removed in the same transaction, each in a step, because each is a change of a flag with its own event. If there are many, the first of
// them are removed in transactions before it.
func deleteSegment(m *httpapi.Many, at inSegment) error {
	return m.Until(func(tx *httpapi.Tx) (last bool, err error) {
		s := tx.SegmentForChange(at.ID)
		if err := authorize(tx, access.DeleteSegment, s); err != nil {
			return false, err
		}
		if err := tx.CheckIfMatch(shape.SegmentViewOf(s), nil); err != nil {
			return false, err
		}
		return deleteSteps(tx, tx.Caller, at)
	})
}

// deleteSteps removes strategies that use the segment, and then the segment, each in a step. It returns false if strategies are left.
func deleteSteps(tx *httpapi.Tx, caller access.Caller, at inSegment) (deleted bool, err error) {
	for removed := 0; !deleted && removed < orphansAtOnce; removed++ {
		err := tx.Step(caller, func(step *httpapi.Tx) (err error) {
			deleted, err = removeOrphanOr(step, at)
			return err
		})
		if err != nil {
			return false, err
		}
	}
	return deleted, nil
}

// Delete deletes a segment as a caller, in steps of a transaction that changes more. Conflict if so many deleted environments have left
// strategies with it that one transaction cannot remove them: then it must be deleted by itself.
func Delete(tx *httpapi.Tx, caller access.Caller, id int64) error {
	if deleted, err := deleteSteps(tx, caller, inSegment{ID: id}); err != nil || deleted {
		return err
	}
	return flags.Errorf(flags.Conflict, "segment %d has many strategies in deleted environments; delete it directly", id)
}

// removeOrphanOr removes a strategy that can never be used again and uses the segment, or if there is none, the segment.
func removeOrphanOr(tx *httpapi.Tx, at inSegment) (deleted bool, err error) {
	s := tx.SegmentForChange(at.ID)
	if err := authorize(tx, access.DeleteSegment, s); err != nil {
		return false, err
	}
	uses, _ := usesOfSegment(tx, s.ID, "") // if not all, they prevent the deletion
	projects := tx.Projects()
	if err := s.CheckDeletable(uses, projects, tx.Environments()); err != nil {
		return false, err
	}
	if err := s.CheckUnusedByTemplates(templatesBeside(tx, s)); err != nil {
		return false, err
	}
	orphan, found := s.FindOrphan(uses, projects, tx.Environments())
	if !found {
		tx.Delete(events.SegmentDeleted(s), s)
		return true, nil
	}
	// Read the environments again, after the uses: the strategy may be in one that was just created, not deleted.
	tx.Again(flags.FeatureKey(orphan.Feature), flags.EnvironmentsKey())
	if err := s.CheckDeletable(uses, projects, tx.Environments()); err != nil {
		return false, err
	}
	return false, removeOrphan(tx, orphan)
}

// templatesBeside lists the release templates. It reads them after the uses of the segment were counted, also if an earlier step has read them:
// so a use that begins later fails the deletion.
func templatesBeside(tx *httpapi.Tx, s *flags.Segment) []*flags.ReleaseTemplate {
	type beside struct{ segment, uses int64 }
	list := httpapi.Read(tx, beside{s.ID, s.UseCount}, func(ctx context.Context, store httpapi.Store) ([]flags.Aggregate, error) {
		return store.List(ctx, flags.EntityReleaseTemplate)
	})
	return httpapi.Each(list, func(a flags.Aggregate) *flags.ReleaseTemplate { return a.(*flags.ReleaseTemplate) })
}

// removeOrphan removes a strategy that can never be used again from its flag. VersionConflict if that was done since the
// uses were listed.
func removeOrphan(tx *httpapi.Tx, orphan flags.FeatureStrategyUse) error {
	f := tx.FindFeature(orphan.Feature)
	if f == nil {
		return flags.Errorf(flags.VersionConflict, "flag %q was deleted by another request", orphan.Feature)
	}
	before, env := httpapi.Was(tx, f), orphan.ProjectEnvironment()
	if err := f.RemoveOrphan(env, orphan.ID); err != nil {
		return flags.Errorf(flags.VersionConflict, "strategy %q of flag %q was removed by another request", orphan.ID, orphan.Feature)
	}
	tx.Save(events.StrategyRemoved(before, f, env, orphan.ID), f)
	if before.Enabled(env) && !f.Enabled(env) {
		tx.Save(events.FeatureSwitched(before, f, env))
	}
	return nil
}
