package releases

import (
	"context"
	"slices"
	"time"

	"guidon/pkg/admin/wire"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// A DueStore moves what is due of plans.
type DueStore interface {
	// MoveDue moves what is due of a plan to another time, or with nil deletes it.
	MoveDue(ctx context.Context, from flags.Due, to *flags.Due) error
}

// again is when a plan is looked at again that cannot go on. So plans that wait for long leave time for what else is due.
const again = 5 * time.Minute

// An Outcome is what happened to a plan that was due.
type Outcome string

// The outcomes.
const (
	Started Outcome = "started" // its next milestone
	Acted   Outcome = "acted"   // a safeguard
	Held    Outcome = "held"    // a signal is not quiet
	Frozen  Outcome = "frozen"  // it waits for the end of a freeze, or for one interval more
	Gone    Outcome = ""        // it has gone on, no longer counts, or is due at another time
)

// Advance does what is due of a plan, in one transaction on condition of its run: so a plan goes on once for each run, and a safeguard acts once,
// however many call this. What is due without effect is moved or deleted.
func Advance(ctx context.Context, runner *httpapi.Runner, store DueStore, due flags.Due) (did Outcome, err error) {
	var now time.Time
	var then *flags.Due
	err = runner.AsSystem(ctx, []flags.Key{due.Key, flags.EnvironmentsKey()}, func(tx *httpapi.Tx) error {
		now = tx.Now
		if due.Safeguard != "" {
			did, then = act(tx, due)
		} else {
			did, then = advance(tx, due)
		}
		return nil
	})
	switch kind := flags.KindOf(err); {
	case err == nil && then != nil && *then == due, kind == flags.Unavailable, kind == flags.VersionConflict, err != nil && due.Safeguard != "":
		return did, err
	case err != nil:
		then = laterThan(due, now)
	}
	if moveErr := store.MoveDue(ctx, due, then); moveErr != nil {
		return did, moveErr
	}
	return did, err
}

// advance starts the next milestone of the plan that is due, unless there is a freeze or was one when it was due. then is what is due instead of
// due; nil for nothing.
func advance(tx *httpapi.Tx, due flags.Due) (did Outcome, then *flags.Due) {
	tx.AsPlan()
	f := tx.FindFeature(due.Key.ID)
	waiting := f.Due()
	i := slices.IndexFunc(waiting, func(d flags.Due) bool { return d.Safeguard == "" && d.Plan == due.Plan && d.Run == due.Run })
	if i < 0 {
		return Gone, nil
	}
	p, env, counts := countsIn(tx, f, due.Plan)
	if !counts {
		return Gone, nil
	}
	_, frozen := tx.Environments().Frozen(p, env.Environment, tx.Now)
	before := httpapi.Was(tx, f)
	switch {
	case waiting[i].At.After(tx.Now): // its interval was changed, or the clock was set back
		return Gone, &waiting[i]
	case frozen:
		then = laterThan(due, tx.Now)
		then.Frozen = true
		return Frozen, then
	}
	if wire.HeldBy(tx, f.Plan(env), false) != "" {
		return Held, laterThan(due, tx.Now)
	}
	if due.Frozen {
		f.Wait(env, tx.Now)
		tx.Save(events.ReleasePlanProgressed(flags.ReleasePlanResumed, before, f, env, "The freeze has ended. The next milestone starts after one interval more."), f)
		return Frozen, &due
	}
	f.Advance(env, tx.Now)
	tx.Save(events.ReleasePlanProgressed(flags.ReleasePlanStarted, before, f, env, "The time of the milestone before is over."), f)
	return Started, &due
}

// laterThan is when a plan that is due is looked at again.
func laterThan(due flags.Due, now time.Time) *flags.Due {
	due.At = now.Add(again)
	return &due
}

// countsIn returns the environment in which a plan of the flag counts. What is found to count no longer never counts again: the flag has not
// changed since its project was read.
func countsIn(tx *httpapi.Tx, f *flags.Feature, plan string) (p *flags.Project, env flags.ProjectEnvironment, counts bool) {
	if p = tx.FindProject(f.Project); p != nil && p.UID == f.ProjectUID {
		for _, env := range tx.ProjectEnvironments(p) {
			if found := f.Plan(env); found != nil && found.ID == plan {
				return p, env, true
			}
		}
	}
	tx.Again(f.Key())
	if now := tx.FindFeature(f.Name); now.Version != f.Version {
		tx.Fail(flags.Errorf(flags.VersionConflict, "flag %q was changed at the same time", f.Name))
	}
	return nil, env, false
}
