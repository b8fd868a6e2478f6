package dynamo

import (
	"cmp"

	"guidon/pkg/flags"
)

// planDependents adds the items that change with an aggregate, in the same transaction: its list row, its unique names,
// and what the dependents function of its entity adds. before is nil for a new aggregate, after for a deleted one.
func (s *Store) planDependents(tx *transaction, before, after flags.Aggregate) error {
	e := entityOf(cmp.Or(after, before).Key().Entity)
	if e.row != nil {
		if err := s.planRow(tx, e, before, after); err != nil {
			return err
		}
	}
	if e.unique != nil {
		if err := s.planUniqueNames(tx, e, before, after); err != nil {
			return err
		}
	}
	if e.dependents != nil {
		return e.dependents(s, tx, before, after)
	}
	return nil
}

// planRow writes the list row if it has changed, and deletes the old one if its key has changed.
func (s *Store) planRow(tx *transaction, e *entity, before, after flags.Aggregate) error {
	var old, row string
	var from, to itemKey
	var err error
	if before != nil {
		if old, from, err = e.row(before); err != nil {
			return internalError(err)
		}
	}
	if after != nil {
		if row, to, err = e.row(after); err != nil {
			return internalError(err)
		}
	}
	if row == old && from == to {
		return nil
	}
	tx.countReplaced(old, row)
	if old != "" && from != to {
		s.deleteAlways(tx, from)
	}
	if row == "" {
		return nil
	}
	return s.put(tx, envelope{PK: to.pk, SK: to.sk, Document: row}, always, versionConflict)
}

// A uniqueName is an item that reserves a name for one aggregate, and the error if another aggregate has it.
type uniqueName struct {
	key   itemKey
	taken conditionError
}

// unique is the item that reserves a name among those of its kind; none for an empty name.
func unique(kind, name string, taken *flags.Error) []uniqueName {
	if name == "" {
		return nil
	}
	return []uniqueName{{itemKey{"UNIQUE#" + kind + "#" + name, "UNIQUE"}, retryable(taken)}}
}

// planUniqueNames reserves the new names, on the condition that they are free, and frees the old ones. Names that stay are left alone.
func (s *Store) planUniqueNames(tx *transaction, e *entity, before, after flags.Aggregate) error {
	if after != nil {
		for _, name := range e.unique(after) {
			if tx.stay[name.key] {
				continue
			}
			if err := s.put(tx, envelope{PK: name.key.pk, SK: name.key.sk}, absent, name.taken); err != nil {
				return err
			}
		}
	}
	if before != nil {
		for _, name := range e.unique(before) {
			if !tx.stay[name.key] {
				s.deleteAlways(tx, name.key)
			}
		}
	}
	return nil
}

// namesThatStay are the unique names that a change neither reserves nor frees: an aggregate keeps one, or another aggregate takes it over.
// The error says that two have the same one after it.
func namesThatStay(merged []*merge) (map[itemKey]bool, error) {
	before, stay := map[itemKey]bool{}, map[itemKey]bool{}
	for _, m := range merged {
		if e := entityOf(m.subject.Key().Entity); e.unique != nil && m.Before != nil {
			for _, name := range e.unique(m.Before) {
				before[name.key] = true
			}
		}
	}
	for _, m := range merged {
		if e := entityOf(m.subject.Key().Entity); e.unique != nil && m.After != nil {
			for _, name := range e.unique(m.After) {
				if _, twice := stay[name.key]; twice {
					return nil, name.taken.Error
				}
				stay[name.key] = before[name.key]
			}
		}
	}
	return stay, nil
}
