package dynamo

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"guidon/pkg/flags"
)

// A guardUpdate is what a transaction changes in one guard. Several flags of a change may share a guard, and a
// transaction may contain an item only once, so their updates are collected first.
type guardUpdate struct {
	guard  itemKey
	counts map[string]int // what is added to each count of the guard
	set    map[string]any // attributes that are set; nil removes one
	forget []string       // further attributes that are removed: their names need no alias, and aliases for many would take longer than all the rest
	none   []string       // counts that must be 0 after the update
	holds  []expression.ConditionBuilder
	open   bool           // the guard must be open, for example because a flag becomes active
	owners []string       // of a segment's guard: UIDs of the projects that begin to use it; each must be the owner if there is one
	failed conditionError // if the guard is closed or has another owner
}

// The attributes of a guard that count flags: all, those that are stale, and by type and day of creation with a prefix each.
const (
	activeCount = "active"
	staleCount  = "stale"
	typeCount   = "type:"
	addedCount  = "added" // of the first guard, so that Counts reads it before the flags: see FlagCounts.Added
	dayCount    = "day"   // without a character that would need an alias in an expression
)

// A guard counts the flags that were created on a day until nothing asks about that day any more, with a margin for clocks that differ.
// A change that adds a flag removes the counts of the days before, as many as a month has: a guard that is used less often keeps a few.
const (
	countedDays = flags.CountedDays + 2
	removedDays = 31
)

// countsOf returns what an active flag adds to the counts of its guard on a day.
func countsOf(f *flags.Feature, today flags.Day) map[string]int {
	if f == nil || f.Archived {
		return nil
	}
	counts := map[string]int{activeCount: 1, typeCount + string(f.Type): 1}
	if f.Stale {
		counts[staleCount] = 1
	}
	if created := flags.DayOf(f.CreatedAt); created > today-countedDays {
		counts[countOn(created)] = 1
	}
	return counts
}

func countOn(day flags.Day) string { return dayCount + strconv.Itoa(int(day)) }

// countFeature counts the active flags of a project. A flag that moves is removed from the counts of one project and added to those of
// another.
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
	was, is := countsOf(before, tx.today), countsOf(after, tx.today)
	if maps.Equal(was, is) {
		return
	}
	update := tx.guardUpdate(featureGuard(f))
	for name := range was {
		if is[name] == 0 {
			update.counts[name]--
		}
	}
	for name := range is {
		if was[name] == 0 {
			update.counts[name]++
		}
	}
	if len(was) > 0 {
		return
	}
	update.requireOpen(permanent(flags.Errorf(flags.NotFound, "the project %q was deleted", f.Project)))
	update.forget = update.forget[:0]
	for day := tx.today - countedDays; day > max(tx.today-countedDays-removedDays, 0); day-- {
		update.forget = append(update.forget, countOn(day))
	}
}

// limitAdded counts the flags that a change adds to projects with a limit, on condition that there is room for them: since the flags were
// counted, no more were added than the limit allows. Those that were archived since make room only when they are counted again.
func (tx *transaction) limitAdded(merged []*merge, most map[string]int64) {
	for _, uid := range slices.Sorted(maps.Keys(most)) {
		u, added := tx.guardUpdate(projectGuard(uid, 0)), 0
		for _, m := range merged {
			if f := m.Adds(); f != nil && f.ProjectUID == uid {
				added++
			}
		}
		u.counts[addedCount] += added
		name, before := expression.Name(addedCount), most[uid]-int64(added)
		holds := name.LessThanEqual(expression.Value(before))
		if before >= 0 {
			holds = name.AttributeNotExists().Or(holds)
		}
		u.holds, u.failed = append(u.holds, holds), versionConflict
	}
}

// Counts adds up the guards of a project: one call.
func (s *Store) Counts(ctx context.Context, projectUID string) (flags.FlagCounts, error) {
	counts := flags.FlagCounts{Types: map[flags.FeatureType]int{}, Created: map[flags.Day]int{}}
	q := itemQuery{pk: projectPartition(projectUID), prefix: guardPrefix}
	err := query(ctx, s, q, func(guard map[string]any) (bool, error) {
		for name, value := range guard {
			number, _ := value.(float64)
			n := int(number)
			switch name {
			case activeCount:
				counts.Active += n
			case staleCount:
				counts.Stale += n
			case addedCount:
				counts.Added += int64(n)
			}
			if kind, is := strings.CutPrefix(name, typeCount); is {
				counts.Types[flags.FeatureType(kind)] += n
			}
			if digits, is := strings.CutPrefix(name, dayCount); is {
				day, err := strconv.Atoi(digits)
				if err != nil {
					return false, err
				}
				counts.Created[flags.Day(day)] += n
			}
		}
		return true, nil
	})
	return counts, err
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
	if err := s.update(tx, u.guard, builder, u.failed); err != nil || len(u.forget) == 0 {
		return err
	}
	*tx.input.TransactItems[len(tx.input.TransactItems)-1].Update.UpdateExpression += "REMOVE " + strings.Join(u.forget, ", ")
	return nil
}

// closeProject closes every guard of a deleted project. It fails if one of them still counts active flags, or segments of the project.
func (tx *transaction) closeProject(p *flags.Project) {
	inUse := retryable(flags.Errorf(flags.Conflict, "the project %q still has active flags, or segments of its own; archive the flags and delete the segments first", p.ID))
	for i := range projectGuards {
		u := tx.guardUpdate(projectGuard(p.UID, uint32(i)))
		u.set["closed"], u.none, u.failed = true, []string{activeCount, "segments"}, inUse
	}
}
