package httpapi

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"guidon/pkg/access"
	"guidon/pkg/flags"
)

// Step runs a function as a step of this transaction, as a caller. A step sees what the steps before it have changed: aggregates, lists of
// aggregates, and uses. Lists of flags and their counts are those of the store, so a step must not depend on them. All steps are committed
// in one transaction, or none, and each has the events that it would have alone, in the history of what it changes.
//
//	for i, change := range changes {
//		if _, err := tx.Operate(tx.Caller, change.operation, change.path, change.body); err != nil {
//			return fmt.Errorf("change %d: %w", i, err)
//		}
//	}
//	tx.Save(events.ChangesApplied(request), request)
//
// The transaction must return the error of a step. What it saves itself is committed after all steps and must be other aggregates than
// theirs; its own reads do not see the steps. Use DryRun to look at what steps would change.
func (tx *Tx) Step(caller access.Caller, do func(step *Tx) error) error {
	return tx.step(caller, tx.request, do)
}

func (tx *Tx) step(caller access.Caller, request *request, do func(step *Tx) error) error {
	if tx.stepView == nil {
		tx.stepView = tx.round.forSteps()
	}
	step := tx.attempt(tx.item)
	step.Caller, step.request, step.round, step.asked, step.collect, step.approved, step.group = caller, request, tx.stepView, tx.asked, tx.collect, tx.approved, tx.group
	err := try(func() error {
		if err := do(step); err != nil {
			return err
		}
		return step.guard()
	})
	tx.round.missing, tx.round.reload = append(tx.round.missing, step.round.missing...), append(tx.round.reload, step.round.reload...)
	step.round.missing, step.round.reload = nil, nil
	if err != nil {
		return err
	}
	if len(step.change.Writes) > 0 {
		step.apply()
		step.round.version++
	}
	tx.steps, tx.after, tx.secret = append(tx.steps, step), append(tx.after, step.after...), tx.secret || step.secret
	tx.retry = tx.retry || step.retry
	return nil
}

// Operate runs an operation as a step, see Step: with the names of its path, and its body. It checks the caller's permissions, the body and
// the path as for a request, and returns the response. The operation must be one of a single transaction.
func (tx *Tx) Operate(caller access.Caller, op Operation, path map[string]string, body []byte) (answer any, err error) {
	method, pattern, _ := strings.Cut(op.Route, " ")
	r := &http.Request{Method: method, URL: &url.URL{Path: pattern}, Header: http.Header{BreakGlass: tx.request.http.Header[BreakGlass]}}
	for name, value := range path {
		r.SetPathValue(name, value)
	}
	req := &request{http: r, op: &op, place: op.Handle.newPlace(), values: tx.request.values, done: tx.request.done}
	err = tx.step(caller, req, func(step *Tx) error {
		req.placeErr = try(func() error { return Request{r, step.Query()}.parse(req.place) })
		step.Load(slices.DeleteFunc(slices.Concat(req.place.Keys(), op.Ahead), func(key flags.Key) bool { return key == CallersFavorites })...)
		if more, ok := req.place.(placeOfMore); ok {
			step.Load(more.MoreKeys(step)...)
		}
		if err := step.allowed(); err != nil {
			return err
		}
		if decode := op.Handle.decode; decode != nil {
			if req.body, err = decode(body, step.Limits); err != nil {
				return err
			}
		}
		if req.placeErr != nil {
			return req.placeErr
		}
		answer, err = op.Handle.one(step, req.place, req.body)
		return err
	})
	return answer, err
}

// DryRun runs a function whose steps are not committed, and returns what they would change: for each aggregate, what is stored, and what the
// last step leaves. No integer ids are taken: those of new aggregates are below 0. An error is that of the function.
//
//	writes, err := tx.DryRun(func(dry *httpapi.Tx) error {
//		_, err := dry.Operate(tx.Caller, operation, path, body)
//		return err
//	})
func (tx *Tx) DryRun(do func(dry *Tx) error) ([]flags.Write, error) {
	dry := tx.attempt(tx.item)
	dry.asked, dry.approved, dry.stepView = tx.asked, tx.approved, tx.round.forSteps()
	dry.stepView.dry = true
	if err := try(func() error { return do(dry) }); err != nil {
		return nil, err
	}
	return flags.MergeWrites(dry.writes()), nil
}

// Approved tells which parts of what the later steps change have been approved in an environment of a project, by a change request: the
// caller need not be able to skip change requests for them.
func (tx *Tx) Approved(approved func(part flags.GuardedPart, env flags.Environment) bool) {
	tx.approved = approved
}

// Group has all events of the transaction and of its later steps name a change request, so that the log shows them as one application.
func (tx *Tx) Group(request int64) { tx.group = strconv.FormatInt(request, 10) }

// Items returns how many items the transaction would write so far, without what addons send. Invalid if they are more than one
// transaction can have.
func (tx *Tx) Items() (int, error) {
	if len(tx.writes()) == 0 {
		return 0, nil
	}
	change := tx.signed()
	change.Addons = nil
	return tx.service.store.Items(change)
}

// StepEvents are the events of the steps so far. They have no IDs and no time yet.
func (tx *Tx) StepEvents() (list []flags.Event) {
	for _, step := range tx.steps {
		list = append(list, step.events...)
	}
	return list
}

// allowed checks that the caller may run the operation of the request.
func (tx *Tx) allowed() error {
	op := tx.request.op
	if err := tx.request.place.Authorize(tx, op.Permission); err != nil {
		return err
	}
	if op.Allow != nil {
		return op.Allow(tx)
	}
	return nil
}

// forSteps is a round on which steps run. It begins with what the round has loaded, and what it loads is loaded for the round too.
func (r *round) forSteps() *round {
	return &round{view: maps.Clone(r.view), again: r.again, values: r.values, dry: r.dry, changed: map[flags.Key]flags.Aggregate{}, base: r}
}

// ofTransaction is the transaction without its steps, to query what is stored.
func (tx *Tx) ofTransaction() *Tx {
	if tx.round.base == nil {
		return tx
	}
	whole := *tx
	whole.round = tx.round.base
	return &whole
}

// writes are those of all steps and of the transaction.
func (tx *Tx) writes() []flags.Write {
	if len(tx.steps) == 0 {
		return tx.change.Writes
	}
	var all []flags.Write
	for _, step := range tx.steps {
		all = append(all, step.change.Writes...)
	}
	return append(all, tx.change.Writes...)
}

// allEvents are those of all steps and of the transaction.
func (tx *Tx) allEvents() []flags.Event {
	return append(tx.StepEvents(), tx.events...)
}
