package httpapi

import (
	"context"
	"errors"
	"slices"

	"guidon/pkg/access"
	"guidon/pkg/flags"
)

// The words of this package:
//
//	round     a view of the store, loaded once, on which a caller is authenticated and authorized, and functions run
//	attempt   one run of a function in a round; its Tx collects what the run reads and changes
//	item      what Many.Each runs its function for, each in a transaction of its own; -1 outside of Each
//	pass      one run of the items of a round that need more keys; what they asked for is loaded before the next pass
//	first     in a Many, the round that was begun, and authorized, before the operation; the first transaction uses it
//	last      in a Many, the round that was used last; the response takes its headers

// A Many runs an operation that takes more than one transaction. Every round authenticates and authorizes the caller again.
type Many struct {
	ctx     context.Context
	service *service
	request *request
	first   *Tx // a round that was begun and not used yet
	last    *Tx // the round that was used last
}

// begin is a new round; the first time it is the one that was begun before the operation ran.
func (m *Many) begin() (tx *Tx, err error) {
	tx, m.first = m.first, nil
	if tx == nil {
		tx, err = m.service.begin(m.ctx, m.request)
	}
	if err == nil {
		m.last = tx
	}
	return tx, err
}

// Read runs a function that only reads, before the first transaction: for what is wrong with the request as a whole. What it
// loads is loaded for the first round.
func (m *Many) Read(do func(tx *Tx) error) error {
	if m.first == nil {
		var err error
		if m.first, err = m.service.begin(m.ctx, m.request); err != nil {
			return err
		}
	}
	_, err := m.first.attempt(-1).decide(func(tx *Tx) (any, error) { return nil, do(tx) })
	return err
}

// Until runs a function in one transaction after the other until it returns that the last one was made. Each is tried again
// when another writer was first.
func (m *Many) Until(do func(tx *Tx) (last bool, err error)) error {
	_, err := m.until(func(tx *Tx) (any, bool, error) {
		last, err := do(tx)
		return nil, last, err
	})
	return err
}

// until runs do until it reports last, and returns its answer.
func (m *Many) until(do func(tx *Tx) (answer any, last bool, err error)) (any, error) {
	begun := false
	var others race
	for {
		answer, last := any(nil), false
		tx, err := m.begin()
		if err == nil {
			answer, err = tx.decide(func(tx *Tx) (answer any, err error) {
				answer, last, err = do(tx)
				return answer, err
			})
		}
		if err == nil {
			err = tx.commit()
		}
		switch {
		case err == nil && last:
			return answer, nil
		case err == nil:
			begun, others = true, race{}
			clear(m.request.values) // the next transaction takes ids of its own
		case flags.KindOf(err) == flags.VersionConflict:
			if !others.pause(m.ctx) {
				return nil, conflicted(err, begun)
			}
		case begun: // whatever it is, a part was done, and the caller must know
			return nil, conflicted(err, begun)
		default:
			return nil, err
		}
	}
}

// itemsARound is how many items a round of Each decides about.
const itemsARound = 100

// passes bounds how often an item of Each is started again to find out which keys it needs.
const passes = 8

// Each runs a function for each of n items, in a transaction of its own each, and returns the error of each.
//
// The function runs first to find out what it reads, without loading it: then what all items of a round read is loaded in
// one call, and the function runs again, until nothing is missing. So it costs two calls a round (one more if an item must
// read something to learn what else it needs), one transaction an item that changes something, and one more call for every 32
// transactions that applications see, to keep the feed short. Several are committed at once, unless applications see them. An
// item for which another writer was first runs again in a later round.
//
// needs lists the items that an item may need, such as the parents of a flag that is imported; it may be nil. Items run after
// those that they need, and an item that fails before these are done runs again. Of items that need each other, one runs
// first.
func (m *Many) Each(n int, needs func(i int) []int, do func(tx *Tx, i int) error) []error {
	errs := make([]error, n)
	s := sequenceOf(n, needs)
	left := s.order
	var others race
	for len(left) > 0 {
		tx, err := m.begin()
		if err != nil {
			m.end(left, errs, err)
			break
		}
		items := left[:min(len(left), itemsARound)]
		left = slices.Clone(left[len(items):])
		again, raced := m.roundOf(tx, items, s, errs, do)
		left = slices.Concat(left, again)
		if len(again) < len(items) { // something was done
			others = race{}
		}
		if m.ctx.Err() != nil || raced && !others.pause(m.ctx) {
			m.end(left, errs, nil)
			break
		}
	}
	clear(m.request.values) // what follows takes ids of its own
	return errs
}

// end sets the error of the items that were not tried again.
func (m *Many) end(items []int, errs []error, err error) {
	switch kind := flags.KindOf(err); {
	case err == nil, m.ctx.Err() != nil, kind == flags.Internal, kind == flags.Unavailable, kind == flags.VersionConflict:
		err = &flags.Error{Kind: flags.Unavailable, Err: err, Message: "the request ran out of time first, so it was not changed; try again"}
	}
	for _, i := range items {
		errs[i] = err
	}
}

// A sequence is the order of items, in which each comes after those that it needs.
type sequence struct {
	needs    func(i int) []int
	order    []int
	position []int  // of each item in order; -1 until it has one
	done     []bool // each item
}

// sequenceOf orders n items, as they are where none needs another.
func sequenceOf(n int, needs func(i int) []int) *sequence {
	s := &sequence{needs: needs, position: slices.Repeat([]int{-1}, n), done: make([]bool, n)}
	seen := make([]bool, n)
	var visit func(i int)
	visit = func(i int) {
		if seen[i] {
			return
		}
		seen[i] = true
		if needs != nil {
			for _, j := range needs(i) {
				visit(j)
			}
		}
		s.position[i], s.order = len(s.order), append(s.order, i)
	}
	for i := range n {
		visit(i)
	}
	return s
}

// waits reports whether an item that i needs is not done. One that needs i in turn, and comes after it, does not count.
func (s *sequence) waits(i int) bool {
	return s.needs != nil && slices.ContainsFunc(s.needs(i), func(j int) bool { return s.position[j] < s.position[i] && !s.done[j] })
}

// roundOf decides about items and commits what they change. It returns those that run again: because they may need what is not
// done yet, or because what they change was changed, by another item, or by another writer, which is a race.
func (m *Many) roundOf(tx *Tx, items []int, s *sequence, errs []error, do func(tx *Tx, i int) error) (again []int, raced bool) {
	attempts := m.decideEach(tx, items, errs, do)
	if slices.ContainsFunc(attempts, func(a *Tx) bool { return len(a.writes()) > 0 }) {
		if err := tx.loadAddons(); err != nil {
			m.end(items, errs, err)
			return nil, false
		}
	}
	taken := map[flags.Key]bool{}
	var changes []flags.Change
	var changed []int
	for n, i := range items {
		a := attempts[n]
		switch {
		case flags.KindOf(errs[i]) == flags.VersionConflict && errs[i] != nil:
			again, raced = append(again, i), true
		case errs[i] != nil && s.waits(i):
			again = append(again, i)
		case errs[i] != nil || len(a.writes()) == 0:
			s.done[i] = true
		case slices.ContainsFunc(a.writes(), func(w flags.Write) bool { return taken[keyOf(w)] }):
			again = append(again, i)
		default:
			changes, changed = append(changes, a.signed()), append(changed, n)
			for _, w := range a.writes() {
				taken[keyOf(w)] = true
			}
		}
	}
	if len(changes) == 0 {
		return again, raced
	}
	for c, err := range m.service.store.CommitAll(m.ctx, changes) {
		i := items[changed[c]]
		if errs[i] = attempts[changed[c]].commitError(err); errs[i] != nil && flags.KindOf(errs[i]) == flags.VersionConflict {
			again, raced = append(again, i), true
		} else {
			s.done[i] = true
		}
	}
	slices.SortFunc(again, func(a, b int) int { return s.position[a] - s.position[b] })
	return again, raced
}

// decideEach runs the function for each item, and loads in between what is missing.
func (m *Many) decideEach(tx *Tx, items []int, errs []error, do func(tx *Tx, i int) error) []*Tx {
	attempts := make([]*Tx, len(items))
	for pass := range passes {
		missing := false
		for n, i := range items {
			if attempts[n] != nil && !errors.Is(errs[i], errNotLoaded) {
				continue
			}
			a := tx.attempt(i)
			a.collect = pass < passes-1 // in the last one, it loads by itself
			_, errs[i] = a.decide(func(tx *Tx) (any, error) { return nil, do(tx, i) })
			attempts[n] = a
			missing = missing || errors.Is(errs[i], errNotLoaded)
		}
		if !missing {
			break
		}
		err := tx.round.loadAgain(m.ctx, m.service.store, flags.Distinct(tx.round.reload))
		if err == nil {
			err = tx.round.load(m.ctx, m.service.store, tx.round.missing)
		}
		tx.round.missing, tx.round.reload = nil, nil
		if err != nil {
			for _, i := range items {
				if errors.Is(errs[i], errNotLoaded) {
					m.end([]int{i}, errs, err)
				}
			}
			break
		}
	}
	return attempts
}

// DryRun does what Each does, as caller, without committing anything: the items run one after the other, each sees what those
// before it changed, and no integer ids are taken. It returns the error of each. What the items read should be loaded before
// (see Read): a DryRun loads each missing aggregate by itself.
func (m *Many) DryRun(caller access.Caller, n int, needs func(i int) []int, do func(tx *Tx, i int) error) ([]error, error) {
	tx, err := m.begin()
	if err != nil {
		return nil, err
	}
	tx.Caller, tx.round.dry = caller, true
	errs := make([]error, n)
	for _, i := range sequenceOf(n, needs).order {
		a := tx.attempt(i)
		_, errs[i] = a.decide(func(tx *Tx) (any, error) {
			tx.CheckTime()
			return nil, do(tx, i)
		})
		switch kind := flags.KindOf(errs[i]); {
		case errs[i] == nil:
			a.apply()
		case kind == flags.Internal, kind == flags.Unavailable, kind == flags.VersionConflict:
			return nil, errs[i]
		}
	}
	return errs, nil
}

// apply has the later reads of a dry run, or of later steps, see what the attempt changed.
func (tx *Tx) apply() {
	for _, w := range tx.change.Writes {
		key := keyOf(w)
		if _, known := tx.round.changed[key]; !known {
			tx.round.changed[key] = w.Before
		}
		tx.round.view[key] = w.After
		if f := w.Adds(); f != nil && tx.round.base == nil {
			tx.round.added[f.ProjectUID]++
		}
		if tx.round.base != nil {
			continue
		}
		if named, known := tx.round.memo[segmentsByName{}].(map[string]*flags.Segment); known {
			if s, is := w.Before.(*flags.Segment); is {
				delete(named, s.Name)
			}
			if s, is := w.After.(*flags.Segment); is {
				named[s.Name] = s
			}
		}
		if all, listed := tx.round.memo[listOf(key.Entity)].([]flags.Aggregate); listed {
			tx.round.memo[listOf(key.Entity)] = replaced(all, key, w.After)
		}
	}
}

// replaced is a list with another aggregate at a key; nil for none.
func replaced(all []flags.Aggregate, key flags.Key, by flags.Aggregate) []flags.Aggregate {
	all = slices.DeleteFunc(slices.Clone(all), func(a flags.Aggregate) bool { return a.Key() == key })
	if by != nil {
		all = append(all, by)
	}
	return all
}

// keyOf is the key of what is written.
func keyOf(w flags.Write) flags.Key {
	if w.After == nil {
		return w.Before.Key()
	}
	return w.After.Key()
}
