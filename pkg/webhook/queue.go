package webhook

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"guidon/pkg/flags"
)

// A queue has the entries of a flag, or of another subject, in the order in which they must be sent.
type queue []flags.OutboxEntry

// read reads the outbox.
func (r *addonRun) read(ctx context.Context) ([]queue, error) {
	var all []flags.OutboxEntry
	var more bool
	for range maxPages {
		after := ""
		if len(all) > 0 {
			after = all[len(all)-1].ID
		}
		page, further, err := r.store.Outbox(ctx, r.addon.ID, after, flags.MaxOutboxPage)
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		if more = further; !more {
			break
		}
	}
	if len(all) > 0 {
		r.oldest = flags.EventTime(all[0].ID)
	}
	for _, entry := range all {
		r.stored = latest(r.stored, entry.Busy)
	}
	if more {
		all = complete(all)
		r.due(r.now())
	}
	return queuesOf(all), nil
}

// complete leaves out the last entries if an outbox was not read to its end. Clocks differ, so an entry that was not read can
// have a lower version than they have, but not a much later time.
func complete(all []flags.OutboxEntry) []flags.OutboxEntry {
	last := flags.EventTime(all[len(all)-1].ID).Add(-settle)
	n := slices.IndexFunc(all, func(e flags.OutboxEntry) bool { return flags.EventTime(e.ID).After(last) })
	if n <= 0 {
		return all // thousands of events in two seconds: better to send them than to wait for ever
	}
	return all[:n]
}

// queuesOf sorts the entries of each subject by version. The queues are in the order of their first entries.
func queuesOf(all []flags.OutboxEntry) []queue {
	var subjects []string
	bySubject := map[string]queue{}
	for _, entry := range all {
		subject := entry.Subject
		if entry.Test != nil {
			subject = "test " + entry.ID // tests have no order
		}
		if bySubject[subject] == nil {
			subjects = append(subjects, subject)
		}
		bySubject[subject] = append(bySubject[subject], entry)
	}
	queues := make([]queue, len(subjects))
	for i, subject := range subjects {
		queues[i] = bySubject[subject]
		slices.SortFunc(queues[i], func(a, b flags.OutboxEntry) int { return cmp.Compare(a.Version, b.Version) })
	}
	return queues
}

// dueNow returns the queues whose first entry can be sent, and notes when the first of the others can. The one that has been
// due the longest comes first, so that tries that fail slowly do not keep other flags from their first one.
func (r *addonRun) dueNow(queues []queue) []queue {
	now := r.now()
	var due []queue
	since := map[string]time.Time{}
	for _, q := range queues {
		if len(q) == 0 {
			continue
		}
		at := flags.EventTime(q[0].ID).Add(settle)
		if r.addon.Enabled {
			at = latest(at, latest(q[0].Next, r.waits(q[0])))
		}
		if at.After(now) {
			r.due(at)
		} else {
			since[q[0].ID] = at
			due = append(due, q)
		}
	}
	slices.SortStableFunc(due, func(a, b queue) int { return since[a[0].ID].Compare(since[b[0].ID]) })
	return due
}

// waits returns until when an entry is not sent because the receiver asked for no requests. A user waits for the result of a test, which
// is sent all the same.
func (r *addonRun) waits(entry flags.OutboxEntry) time.Time {
	if entry.Test != nil || !r.addon.Enabled {
		return time.Time{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return latest(r.stored, r.busy[r.parameters[flags.AddonURL]])
}

// setBusy has all addons that send to the same URL wait.
func (r *addonRun) setBusy(until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	maps.DeleteFunc(r.busy, func(_ string, until time.Time) bool { return !until.After(now) })
	url := r.parameters[flags.AddonURL]
	r.busy[url] = latest(r.busy[url], until)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// due notes when something can be sent.
func (r *addonRun) due(at time.Time) {
	if r.next.IsZero() || at.Before(r.next) {
		r.next = at
	}
}

func firsts(queues []queue) []flags.OutboxEntry {
	entries := make([]flags.OutboxEntry, len(queues))
	for i, q := range queues {
		entries[i] = q[0]
	}
	return entries
}
