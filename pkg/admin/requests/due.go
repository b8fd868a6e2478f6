package requests

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"guidon/pkg/access"
	"guidon/pkg/admin/releases"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/review"
)

// A Scheduler applies change requests at the time for which they are scheduled, has the safeguards of release plans act, and starts their next
// milestones. It asks for all that are due, so a time at which it did not run is made up for; and a request is applied in the transaction that
// closes it, so two Schedulers never apply it twice.
type Scheduler struct {
	store  dueStore
	runner *httpapi.Runner
	config httpapi.Config
}

type dueStore interface {
	httpapi.Store

	releases.DueStore

	// Due calls visit with what is due at a time, the longest due first, until it returns false.
	Due(ctx context.Context, at time.Time, visit func(flags.Due) (goOn bool)) error
}

// NewScheduler returns a scheduler over a store.
func NewScheduler(store dueStore, config httpapi.Config) *Scheduler {
	if config.Now == nil {
		config.Now = time.Now
	}
	return &Scheduler{store, httpapi.NewRunner(store, config), config}
}

// A run stops a while before its deadline, and spends a bounded time on each request. What it leaves is due in the next run.
const (
	perRequest = 5 * time.Second
	toEnd      = 6 * time.Second
	overdue    = 10 * time.Minute // for how long one is tried again that takes too long
)

// The outcomes of a due request.
type outcome string

const (
	applied   outcome = "applied"
	failed    outcome = "failed"
	suspended outcome = "suspended"
	frozen    outcome = "frozen"  // waits for the end of a freeze
	pending   outcome = "pending" // the store was unavailable: it is tried again
	gone      outcome = ""        // it was applied, scheduled again or closed in the meantime
)

// Run applies the requests that are due, and has plans go on. It returns an error if one of them could neither be applied nor refused; that is
// tried again.
func (s *Scheduler) Run(ctx context.Context) error {
	once := s.config
	once.Alarms = releases.ReadOnce(once.Alarms) // each alarm is read once in a run
	s = NewScheduler(s.store, once)
	started, counts, frozenNow := time.Now(), map[outcome]int{}, map[string]bool{}
	var first error
	inTime := func() bool {
		deadline, limited := ctx.Deadline()
		return ctx.Err() == nil && (!limited || time.Until(deadline) >= toEnd)
	}
	do := func(due flags.Due) {
		did, err := s.do(ctx, due, frozenNow)
		if counts[did]++; first == nil {
			first = err
		}
	}
	var watched []flags.Due // safeguards, which are visited first
	look := func() {
		firing, err := releases.Firing(ctx, s.store, s.config.Alarms, s.config.Now(), watched)
		if first == nil {
			first = err
		}
		for _, due := range firing {
			if inTime() {
				do(due)
			}
		}
		watched = nil
	}
	err := s.store.Due(ctx, s.config.Now(), func(due flags.Due) bool {
		if due.Safeguard != "" {
			watched = append(watched, due)
			return inTime()
		}
		look()
		if !inTime() {
			return false
		}
		do(due)
		return true
	})
	if err == nil {
		look()
	}
	if err == nil {
		err = first
	}
	if logger := s.config.Logger; logger != nil && (len(counts) > 0 || err != nil) {
		attributes := []slog.Attr{slog.Int64("duration_ms", time.Since(started).Milliseconds())}
		for _, o := range []outcome{applied, outcome(releases.Started), outcome(releases.Acted), outcome(releases.Held), failed, suspended, frozen, pending} {
			attributes = append(attributes, slog.Int(string(o), counts[o]))
		}
		level := slog.LevelInfo
		if err != nil {
			level, attributes = slog.LevelError, append(attributes, slog.Any("cause", err))
		}
		if errors.Is(ctx.Err(), context.Canceled) {
			level = slog.LevelInfo // the server ends; the rest is due in the next run
		}
		logger.LogAttrs(ctx, level, "due", attributes...)
	}
	return err
}

// do does what is due.
func (s *Scheduler) do(run context.Context, due flags.Due, frozenNow map[string]bool) (did outcome, err error) {
	if due.Plan == "" {
		return s.applyDue(run, due.Key, frozenNow)
	}
	ctx, cancel := context.WithTimeout(run, perRequest)
	defer cancel()
	plan, err := releases.Advance(ctx, s.runner, s.store, due)
	if err != nil {
		return pending, err
	}
	return outcome(plan), nil
}

// applyDue applies a request that is due, or notes why that is refused. frozenNow is where this run met a freeze, and for whom: the other
// requests there wait without being tried, so that they leave time for those that can be applied.
func (s *Scheduler) applyDue(run context.Context, key flags.Key, frozenNow map[string]bool) (did outcome, err error) {
	started := time.Now()
	ctx, cancel := context.WithTimeout(run, perRequest)
	defer cancel()
	view, err := s.store.Load(ctx, []flags.Key{key})
	if err != nil {
		return pending, err
	}
	r := flags.Find[*review.Request](view, key)
	if r == nil {
		return gone, nil
	}
	if _, scheduled := r.Due(); !scheduled {
		return gone, nil
	}
	where := fmt.Sprint(r.ProjectUID, r.EnvironmentUID, r.Guarded, r.Schedule.By.Key)
	if off := switchesOff(r); !off && frozenNow[where] {
		return frozen, nil
	} else if !off {
		defer func() { frozenNow[where] = did == frozen }()
	}
	by := r.Schedule.By.ID
	if by == flags.TokenUserID {
		by = 0
	}
	ahead := []flags.Key{key, flags.ProjectKey(r.Project), flags.EnvironmentsKey()}
	err = s.runner.As(ctx, by, ahead, func(tx *httpapi.Tx) (err error) {
		did, err = tryDue(tx, key, r.Schedule)
		return err
	})
	switch kind := flags.KindOf(err); {
	case err == nil:
		return did, nil
	case errors.Is(err, access.ErrNoUser):
		did, err = suspended, flags.Errorf(flags.Forbidden, "%s, who scheduled it, no longer exists", r.Schedule.By.Name)
	case kind == flags.Unavailable && time.Since(started) > perRequest/2 && s.config.Now().Sub(r.Schedule.At) >= overdue:
		err = flags.Errorf(flags.Unavailable, "it could not be applied in the %d seconds that it may take; apply it now, or divide its changes among several requests", int(perRequest.Seconds()))
	case kind == flags.Unavailable, kind == flags.VersionConflict, kind == flags.Internal:
		return pending, err
	}
	if did != suspended {
		did = failed
	}
	if err := s.end(run, ahead, r, did, err); err != nil {
		return pending, err
	}
	return did, nil
}

// tryDue applies a request if it still is scheduled as it was, now with the permissions of the person who scheduled it.
func tryDue(tx *httpapi.Tx, key flags.Key, scheduled *review.Schedule) (outcome, error) {
	r := httpapi.Find[*review.Request](tx, key)
	if at, is := r.Due(); !is || *r.Schedule != *scheduled || at.After(tx.Now) {
		return gone, nil
	}
	p := tx.FindProject(r.Project)
	if p == nil || p.UID != r.ProjectUID {
		return suspended, flags.Errorf(flags.Conflict, "the project was deleted")
	}
	if slices.ContainsFunc(freezesOf(tx, p, r), func(f flags.Frozen) bool { return tx.Caller.AuthorizeFrozen(p, f) != nil }) {
		return frozen, nil
	}
	if s := standingOf(tx, p, r); s.Gone != "" || len(s.Conflicts) > 0 {
		return suspended, flags.Errorf(flags.Conflict, "%s", r.ScheduleNow(s).Reason)
	}
	if err := apply(tx, tx.Caller, p, r); err != nil {
		return failed, err
	}
	tx.Save(events.OfRequest(flags.RequestScheduleApplied, r))
	return applied, nil
}

// freezesOf are the freezes in effect now that do not allow the changes of a request.
func freezesOf(tx *httpapi.Tx, p *flags.Project, r *review.Request) (list []flags.Frozen) {
	registry := tx.Environments()
	for _, env := range registry.List {
		freeze, is := registry.Frozen(p, env, tx.Now)
		if is && (env.UID == r.EnvironmentUID || concerns(r.Guarded, env)) && (!freeze.OffAllowed || !switchesOff(r) || ofParents(tx, r)) {
			list = append(list, freeze)
		}
	}
	return list
}

// ofParents reports whether the request changes flags on which others depend.
func ofParents(tx *httpapi.Tx, r *review.Request) bool {
	tx.Load(httpapi.FeatureKeys(r.Features()...)...)
	return slices.ContainsFunc(r.Features(), func(name string) bool {
		f := tx.FindFeature(name)
		return f != nil && len(f.Children) > 0
	})
}

// switchesOff reports whether the request does nothing but switch flags off, which a freeze can allow.
func switchesOff(r *review.Request) bool {
	return !slices.ContainsFunc(r.Changes, func(c review.Change) bool {
		var payload struct {
			Enabled bool `json:"enabled"`
		}
		return c.Action != review.UpdateEnabled || json.Unmarshal(c.Payload, &payload) != nil || payload.Enabled
	})
}

// end notes in a scheduled request why it was not applied, unless someone has decided otherwise in the meantime.
func (s *Scheduler) end(ctx context.Context, ahead []flags.Key, tried *review.Request, did outcome, why error) error {
	status, event := review.Failed, flags.RequestScheduleFailed
	if did == suspended {
		status, event = review.Suspended, flags.RequestScheduleSuspended
	}
	return s.runner.AsSystem(ctx, ahead, func(tx *httpapi.Tx) error {
		r := httpapi.Find[*review.Request](tx, tried.Key())
		if _, is := r.Due(); !is || *r.Schedule != *tried.Schedule {
			return nil
		}
		r.EndSchedule(status, why.Error())
		tx.Save(events.OfRequest(event, r), r)
		return nil
	})
}
