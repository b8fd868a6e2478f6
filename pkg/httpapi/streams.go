package httpapi

import (
	"slices"
	"strings"
	"sync"

	"guidon/pkg/flags"
)

// streamsAtOnce is how many projects are read at the same time. Each takes a megabyte of rows, and several megabytes while these
// are decoded.
const streamsAtOnce = 8

// EachSummary calls visit with the active or archived flags of projects, by one query a project and megabyte. It is called for one flag at a
// time, by name in a project, while projects alternate. Its first error ends the attempt. Rows are not kept, so that the memory
// does not depend on their number: call it in OncePerRound.
//
// With texts, it may leave out flags that have none of them, see flags.SummaryStore.
func (tx *Tx) EachSummary(projects []*flags.Project, archived bool, texts []string, visit func(*flags.Project, flags.SummaryRow) error) {
	var visiting sync.Mutex
	var stopped error
	err := AtOnce(streamsAtOnce, len(projects), func(i int) error {
		return tx.service.store.EachSummary(tx.ctx, projects[i].UID, archived, texts, func(row flags.SummaryRow) error {
			visiting.Lock()
			defer visiting.Unlock()
			if stopped == nil {
				stopped = try(func() error { return visit(projects[i], row) })
			}
			return stopped
		})
	})
	tx.must(stopped)
	tx.CheckTime()
	tx.must(err)
}

// A SummaryPage is some flags of a project, by name.
type SummaryPage struct {
	Rows []flags.SummaryRow
	More bool // there can be further flags
}

// SummariesAfter are the next active or archived flags of a project whose names are greater than after: at most limit, by one query.
func (tx *Tx) SummariesAfter(p *flags.Project, archived bool, after string, limit int) SummaryPage {
	tx.CheckTime()
	type summariesAfter struct {
		uid, after string
		archived   bool
		limit      int
	}
	return memoized(tx, summariesAfter{p.UID, after, archived, limit}, func() (page SummaryPage, err error) {
		page.Rows, page.More, err = tx.service.store.SummariesAfter(tx.ctx, p.UID, archived, after, limit)
		return page, err
	})
}

// UsesAfter is what the next flags use whose names are greater than after, by name: of at most limit flags, by one query. Nothing is
// kept: call it in OncePerRound.
func (tx *Tx) UsesAfter(after string, limit int) (uses []flags.FeatureUse, more bool) {
	tx.CheckTime()
	uses, more, err := tx.service.store.UsesAfter(tx.ctx, after, limit)
	tx.must(err)
	return uses, more
}

// UsesOf is what flags use of segments and context fields, by one query for a hundred names, and sometimes a BatchGetItem.
func (tx *Tx) UsesOf(names []string) []flags.FeatureUse {
	type usesOf struct{ names string }
	return memoized(tx, usesOf{literal(names)}, func() ([]flags.FeatureUse, error) {
		return tx.service.store.Uses(tx.ctx, names)
	})
}

// EachUse calls visit with what each flag uses of segments and context fields, by one query a megabyte, until it returns false.
// Nothing is kept: call it in OncePerRound.
func (tx *Tx) EachUse(visit func(flags.FeatureUse) (goOn bool)) {
	changed, goOn := tx.changedUses(), true
	visitBefore := func(name string) { // those of changed flags that come before a name
		for ; goOn && len(changed) > 0 && changed[0].Feature < name; changed = changed[1:] {
			goOn = visit(changed[0])
		}
	}
	err := tx.service.store.EachUse(tx.ctx, func(u flags.FeatureUse) (bool, error) {
		err := try(func() error {
			visitBefore(u.Feature)
			if _, changed := tx.round.changed[flags.FeatureKey(u.Feature)]; goOn && !changed {
				goOn = visit(u)
			}
			return nil
		})
		return goOn, err
	})
	tx.must(err)
	visitBefore(afterAllNames)
	tx.CheckTime()
}

// afterAllNames comes after the names of all flags, which have ASCII letters only.
const afterAllNames = "\x7f"

// changedUses is what the flags use that earlier steps have changed, by name. Those that use nothing are left out.
func (tx *Tx) changedUses() (uses []flags.FeatureUse) {
	for key := range tx.round.changed {
		if f, is := tx.round.view[key].(*flags.Feature); is {
			if u := f.Use(); len(u.Strategies) > 0 {
				uses = append(uses, u)
			}
		}
	}
	slices.SortFunc(uses, func(a, b flags.FeatureUse) int { return strings.Compare(a.Feature, b.Feature) })
	return uses
}
