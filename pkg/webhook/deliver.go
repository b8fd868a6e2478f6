package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"guidon/pkg/flags"
)

// When and how often messages are sent.
const (
	settle     = 2 * time.Second // an event is sent so much later: a transaction may be visible in parts for a moment
	interval   = 2 * time.Second // between the beginnings of two looks at outboxes that have something
	firstDelay = 10 * time.Second
	maxDelay   = 15 * time.Minute
	giveUp     = 24 * time.Hour // after the event, if the receiver does not work
	minTries   = 5              // before an entry is parked; also all tries if the receiver refuses the message

	leaseTime  = time.Minute
	leaseSpare = 20 * time.Second // what must be left of a lease when a message is sent: more than a message takes

	maxPages  = 50 // of an outbox that are read in one look. If more entries than these wait for a try, newer flags wait too
	maxEvents = 20 // that are loaded at once: each can have 400 KB
)

// A Deliverer sends what is in the outboxes of the addons. It can be killed at any time, and several can run at once: a lease
// for each addon lets one of them send. Each event is sent at least once, unless it is parked, and the events of a flag are
// sent in the order of its versions. An event that cannot be sent holds up those of the same flag only.
type Deliverer struct {
	store  Store
	sealer func(ctx context.Context) (flags.Sealer, error)
	sender *Sender
	log    *slog.Logger
	holder string // of the leases
	now    func() time.Time
	finish time.Duration // for storing what was done after the context ended
	turn   time.Duration // how long a look begins to send. All addons wait for its end, with new events too
	oldest time.Time     // of the last look: when the first event happened that is still to be sent

	mu   sync.Mutex
	busy map[string]time.Time // until when the receiver at a URL asked for no requests
}

// A Store has the addons and their outboxes.
type Store interface {
	flags.Store
	flags.DeliveryStore
	flags.OutboxStore
}

// NewDeliverer returns a deliverer. The sealer opens the addons' secret parameters.
func NewDeliverer(store Store, sealer func(ctx context.Context) (flags.Sealer, error), sender *Sender, log *slog.Logger) *Deliverer {
	return &Deliverer{
		store: store, sealer: sealer, sender: sender, log: log, holder: uuid.NewString(), now: time.Now,
		finish: 5 * time.Second, turn: 5 * time.Second, busy: map[string]time.Time{},
	}
}

// A Report counts what was done.
type Report struct {
	Delivered, Failed, Parked int
	Oldest                    time.Duration // of a Run: how long the oldest event waits that is still to be sent
}

func (r *Report) add(other Report) {
	r.Delivered += other.Delivered
	r.Failed += other.Failed
	r.Parked += other.Parked
}

// Run sends what is due, and looks again until nothing becomes due before the time until. A message that was begun before is
// finished after it. An addon that has an error does not end the run of the others.
func (d *Deliverer) Run(ctx context.Context, until time.Time) (Report, error) {
	var (
		report Report
		failed error // of the last look that had one
	)
	for {
		began := time.Now()
		did, next, err := d.look(ctx, until)
		report.add(did)
		if err != nil {
			failed = err
		}
		if next.IsZero() || next.After(until) {
			if !next.IsZero() {
				report.Oldest = d.now().Sub(d.oldest)
			}
			return report, failed
		}
		wait := time.NewTimer(interval - time.Since(began)) // not until next: new events may come before it
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return report, failed
		}
	}
}

// look sends what is due in all outboxes, and returns when something will be due again; zero if there is nothing.
func (d *Deliverer) look(ctx context.Context, until time.Time) (report Report, next time.Time, err error) {
	view, err := d.store.Load(ctx, []flags.Key{flags.AddonsKey()})
	if err != nil {
		return Report{}, time.Time{}, err
	}
	addons := flags.Find[*flags.Addons](view, flags.AddonsKey())
	if addons == nil {
		return Report{}, time.Time{}, nil
	}
	if end := d.now().Add(d.turn); end.Before(until) {
		until = end
	}
	runs := make([]*addonRun, len(addons.List))
	var wait sync.WaitGroup
	for i, addon := range addons.List {
		runs[i] = &addonRun{Deliverer: d, addon: addon, until: until}
		wait.Go(func() { runs[i].err = runs[i].run(ctx) }) // at once: a slow receiver does not hold up those of other addons
	}
	wait.Wait()
	for _, run := range runs {
		report.add(run.report)
		err = errors.Join(err, run.err)
		if run.next.IsZero() {
			continue
		}
		if next.IsZero() || run.oldest.Before(d.oldest) {
			d.oldest = run.oldest
		}
		if next.IsZero() || run.next.Before(next) {
			next = run.next
		}
	}
	return report, next, err
}

// An addonRun sends what is due in the outbox of one addon.
type addonRun struct {
	*Deliverer
	addon      flags.Addon
	parameters map[string]string
	until      time.Time
	lease      time.Time // when it ends
	report     Report
	paused     bool      // whether the receiver asked for fewer requests
	stored     time.Time // until when it asked for none, as the outbox has it
	next       time.Time // when something will be due; zero if there is nothing
	oldest     time.Time // when the first event in the outbox happened
	err        error
}

// run looks whether something is due, which costs one call, and takes the lease only then. With the lease, it looks again:
// another deliverer may have sent it.
func (r *addonRun) run(ctx context.Context) error {
	queues, err := r.read(ctx)
	if err != nil || len(r.dueNow(queues)) == 0 {
		return err
	}
	if r.addon.Enabled {
		if r.parameters, err = r.open(ctx); err != nil {
			return err
		}
		if len(r.dueNow(queues)) == 0 { // another addon with the same URL has to wait
			return nil
		}
	}
	if mine, err := r.extendLease(ctx); err != nil || !mine {
		r.next = time.Time{} // the other one will send it; if it was killed, a later run will
		return err
	}
	err = r.deliver(ctx)
	after, cancel := r.afterwards(ctx)
	defer cancel()
	_, released := r.store.TakeAddonLease(after, r.addon.ID, r.holder, r.now(), r.now())
	return errors.Join(err, released)
}

// afterwards is a context for storing what was done, which goes on for some seconds if the context of the run ends.
func (r *addonRun) afterwards(ctx context.Context) (context.Context, context.CancelFunc) {
	after, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(r.finish, cancel) })
	return after, func() {
		stop()
		cancel()
	}
}

// extendLease takes the lease, or makes it longer if little is left of it.
func (r *addonRun) extendLease(ctx context.Context) (mine bool, err error) {
	now := r.now()
	if r.lease.Sub(now) > leaseSpare {
		return true, nil
	}
	until := now.Add(leaseTime)
	mine, err = r.store.TakeAddonLease(ctx, r.addon.ID, r.holder, now, until)
	if mine {
		r.lease = until
	}
	return mine, err
}

// deliver sends what is due. The flags take turns, so that one with many events does not hold up the others.
func (r *addonRun) deliver(ctx context.Context) error {
	r.next = time.Time{}
	queues, err := r.read(ctx)
	if err != nil {
		return err
	}
	for queues = r.dueNow(queues); len(queues) > 0; queues = r.dueNow(queues) {
		var rest []queue
		for some := range slices.Chunk(queues, maxEvents) {
			events, err := r.store.OutboxEvents(ctx, firsts(some))
			if err != nil {
				return err
			}
			for _, q := range some {
				if now := r.now(); !now.Before(r.until) || r.paused || r.waits(q[0]).After(now) || stopped(ctx) {
					r.due(r.now())
					return nil
				}
				if mine, err := r.extendLease(ctx); err != nil || !mine {
					return err
				}
				done, err := r.send(ctx, q[0], events)
				if err != nil {
					return err
				}
				if done {
					rest = append(rest, q[1:])
				}
			}
		}
		queues = rest
	}
	return nil
}

// send sends an entry, and tells whether the next one of its queue can follow.
func (r *addonRun) send(ctx context.Context, entry flags.OutboxEntry, events map[string]flags.Event) (done bool, err error) {
	var result Result
	event, found := events[entry.ID]
	withheld := r.withheld(event)
	switch {
	case withheld != "":
		if result.Failure = withheld; entry.Error != "" {
			result.Failure += "; the last attempt: " + entry.Error
		}
	case !found:
		result = Result{Failure: "the event does not exist", Permanent: true}
	default:
		if result, err = r.sendEvent(ctx, event); err != nil {
			return false, err
		}
	}
	if result.Failure != "" && stopped(ctx) {
		return false, nil // the attempt was cut short, which tells nothing about the receiver
	}
	r.paused = result.Status == http.StatusTooManyRequests
	if result.RetryAfter > 0 {
		r.paused = true
		r.setBusy(r.now().Add(result.RetryAfter))
	}
	after, cancel := r.afterwards(ctx)
	defer cancel()
	return r.record(after, entry, result, withheld != "")
}

// withheld is why an event must not be sent, although it is in the outbox; "" if it can be. An addon that sends events that
// only administrators see can be changed by administrators only. Others may change its URL once it does not send them any
// more, and must not get those that it has left.
func (r *addonRun) withheld(event flags.Event) string {
	switch {
	case !r.addon.Enabled:
		return "the addon was disabled"
	case flags.IsReserved(event.Type) && !slices.Contains(r.addon.Events, event.Type):
		return "the addon does not send events of this type any more"
	}
	return ""
}

// sendEvent sends an event to the receiver; to Slack once for each channel that a tag of the flag names, all in the time that
// one message may take: the lease and the function end soon after that.
func (r *addonRun) sendEvent(ctx context.Context, event flags.Event) (result Result, err error) {
	if r.addon.Provider != flags.AddonSlack || event.FeatureName == "" {
		return r.sender.SendEvent(ctx, r.addon.Provider, r.parameters, event), nil
	}
	key := flags.FeatureKey(event.FeatureName)
	view, err := r.store.Load(ctx, []flags.Key{key})
	if err != nil {
		return Result{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, r.sender.timeout)
	defer cancel()
	for _, channel := range slackChannels(flags.Find[*flags.Feature](view, key), r.parameters[flags.AddonDefaultChannel]) {
		parameters := maps.Clone(r.parameters)
		parameters[flags.AddonDefaultChannel] = channel
		if result = r.sender.SendEvent(ctx, r.addon.Provider, parameters, event); result.Failure != "" {
			return result, nil // the next try begins with the first channel again: each has the event at least once
		}
	}
	return result, nil
}

// record stores what became of an entry, which is parked at once if it was withheld.
func (r *addonRun) record(ctx context.Context, entry flags.OutboxEntry, result Result, withheld bool) (done bool, err error) {
	now := r.now()
	if result.Failure == "" {
		r.report.Delivered++
		return true, r.store.Delivered(ctx, entry, now, answer(result))
	}
	entry.Attempts++
	entry.Error = result.Failure
	if result.Response != "" {
		entry.Error += ": " + result.Response
	}
	log := r.log.With(slog.Int64("addon", entry.Addon), slog.String("event", entry.ID), slog.Int("attempts", entry.Attempts),
		slog.String("cause", result.Failure))
	if withheld || parks(entry, result, now) {
		r.report.Parked++
		log.WarnContext(ctx, "delivery parked")
		return true, r.store.Park(ctx, entry, now)
	}
	r.report.Failed++
	log.InfoContext(ctx, "delivery failed")
	entry.Next, entry.Busy = now.Add(max(delay(entry.Attempts), result.RetryAfter)), time.Time{}
	if result.RetryAfter > 0 {
		entry.Busy = now.Add(result.RetryAfter) // stored, because the next attempt can be that of another process
	}
	r.due(entry.Next)
	return false, r.store.Failed(ctx, entry)
}

// answer is what a receiver answered, for the list of deliveries.
func answer(result Result) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s\n%s", result.Status, http.StatusText(result.Status), result.Response))
}

// parks tells whether an entry that failed is parked.
func parks(entry flags.OutboxEntry, result Result, now time.Time) bool {
	switch {
	case entry.Test != nil:
		return true // a user waits for the result
	case entry.Attempts < minTries:
		return false
	}
	return result.Permanent || now.Sub(flags.EventTime(entry.ID)) > giveUp
}

// delay is the time until the next try, after a number of failed ones.
func delay(failed int) time.Duration {
	wait := firstDelay
	for range failed - 1 {
		if wait *= 2; wait >= maxDelay {
			return maxDelay
		}
	}
	return wait
}

func stopped(ctx context.Context) bool { return ctx.Err() != nil }

func (r *addonRun) open(ctx context.Context) (map[string]string, error) {
	if len(r.addon.Sealed) == 0 {
		return r.addon.Parameters, nil
	}
	sealer, err := r.sealer(ctx)
	if err != nil {
		return nil, err
	}
	return r.addon.OpenParameters(sealer)
}
