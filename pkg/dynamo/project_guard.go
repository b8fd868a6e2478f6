package dynamo

import (
	"cmp"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"guidon/pkg/flags"
)

// A guardUpdate is what a transaction changes in one guard. Several flags of a change may share a guard, and a
// transaction may contain an item only once, so their updates are collected first.
type guardUpdate struct {
	guard  itemKey
	counts map[string]int // what is added to each count of the guard
	set    map[string]any // attributes that are set; nil removes one
	none   []string       // counts that must be 0 after the update
	holds  []expression.ConditionBuilder
	open   bool           // the guard must be open, for example because a flag becomes active
	owners []string       // of a segment's guard: UIDs of the projects that begin to use it; each must be the owner if there is one
	failed conditionError // if the guard is closed or has another owner
}

// countFeature counts the active and the stale flags of a project. A flag that moves is removed from the count of one
// project and added to that of another.
func (tx *transaction) countFeature(before, after *flags.Feature) {
	if before != nil && after != nil && before.ProjectUID != after.ProjectUID {
		tx.countInProject(before, before, nil)
		tx.countInProject(after, nil, after)
		return
	}
	tx.countInProject(cmp.Or(after, before), before, after)
}

// countInProject adds the difference between before and after to the guard that counts f. A flag that becomes active needs
// an open guard. Deleting a project closes all its guards, so no flag can become active in a deleted project.
func (tx *transaction) countInProject(f, before, after *flags.Feature) {
	wasActive, wasStale := before.Count()
	active, stale := after.Count()
	if wasActive == active && wasStale == stale {
		return
	}
	update := tx.guardUpdate(featureGuard(f))
	update.counts["active"] += active - wasActive
	update.counts["stale"] += stale - wasStale
	if active > wasActive {
		update.requireOpen(permanent(flags.Errorf(flags.NotFound, "the project %q was deleted", f.Project)))
	}
}

// guardUpdate is the transaction's update of a guard. The pointer is valid until the next call.
func (tx *transaction) guardUpdate(guard itemKey) *guardUpdate {
	i := slices.IndexFunc(tx.guards, func(u guardUpdate) bool { return u.guard == guard })
	if i < 0 {
		i = len(tx.guards)
		tx.guards = append(tx.guards, guardUpdate{guard: guard, counts: map[string]int{}, set: map[string]any{}})
	}
	return &tx.guards[i]
}

func (u *guardUpdate) requireOpen(failed conditionError) { u.open, u.failed = true, failed }

// planGuard adds the update of a guard.
func (s *Store) planGuard(tx *transaction, u guardUpdate) error {
	var update expression.UpdateBuilder
	for _, name := range slices.Sorted(maps.Keys(u.counts)) {
		update = update.Add(expression.Name(name), expression.Value(u.counts[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(u.set)) {
		if value := u.set[name]; value == nil {
			update = update.Remove(expression.Name(name))
		} else {
			update = update.Set(expression.Name(name), expression.Value(value))
		}
	}
	conditions := u.holds
	if u.open {
		conditions = append(conditions, expression.Name("closed").AttributeNotExists())
		for _, uid := range u.owners {
			owner := expression.Name("owner")
			conditions = append(conditions, owner.AttributeNotExists().Or(owner.Equal(expression.Value(uid))))
		}
	}
	for _, count := range u.none { // the condition is checked before the update
		name := expression.Name(count)
		conditions = append(conditions, name.AttributeNotExists().Or(name.LessThanEqual(expression.Value(-u.counts[count]))))
	}
	builder := expression.NewBuilder().WithUpdate(update)
	if len(conditions) > 0 {
		all := conditions[0]
		for _, condition := range conditions[1:] {
			all = all.And(condition)
		}
		builder = builder.WithCondition(all)
	}
	return s.update(tx, u.guard, builder, u.failed)
}

// closeProject closes every guard of a deleted project. It fails if one of them still counts active flags, or segments of the project.
func (tx *transaction) closeProject(p *flags.Project) {
	inUse := retryable(flags.Errorf(flags.Conflict, "the project %q still has active flags, or segments of its own; archive the flags and delete the segments first", p.ID))
	for i := range projectGuards {
		u := tx.guardUpdate(projectGuard(p.UID, uint32(i)))
		u.set["closed"], u.none, u.failed = true, []string{"active", "segments"}, inUse
	}
}
