package review

import (
	"time"

	"guidon/pkg/flags"
)

// A ScheduleStatus says whether a scheduled request still waits for its time.
type ScheduleStatus string

// The statuses of schedules.
const (
	Pending   ScheduleStatus = "pending"
	Failed    ScheduleStatus = "failed"    // applying the request was refused
	Suspended ScheduleStatus = "suspended" // what the request was made on has changed, or the person who scheduled it is gone
)

// MaxScheduled is how far ahead a request can be scheduled: its approvals do not count for longer.
const MaxScheduled = ApprovalLasts

// A Schedule is when a request is to be applied, and with whose permissions.
type Schedule struct {
	At     time.Time      `json:"at"`
	By     Person         `json:"by"`
	Status ScheduleStatus `json:"status"`
	Reason string         `json:"reason,omitzero"` // why it failed, or was suspended
}

// Due returns when the request is to be applied; false if it is not scheduled, or was tried in vain.
func (r *Request) Due() (at time.Time, scheduled bool) {
	if r.State != Scheduled || r.Schedule == nil || r.Schedule.Status != Pending {
		return time.Time{}, false
	}
	return r.Schedule.At, true
}

// SetSchedule schedules a request that could be applied now, or gives one that is scheduled another time. later is the standing that the
// request will have at that time if nothing changes: some approvals may be too old then.
func (r *Request) SetSchedule(at time.Time, by Person, standing, later Standing, now time.Time) error {
	if err := r.CheckAppliable(standing); err != nil {
		return err
	}
	switch n := len(later.Approvals); {
	case !at.After(now):
		return flags.Errorf(flags.Invalid, "scheduledAt must be in the future")
	case at.Sub(now) > MaxScheduled:
		return flags.Errorf(flags.Invalid, "scheduledAt must be within %d days: not after %s", int(MaxScheduled.Hours())/24, now.Add(MaxScheduled).UTC().Format(time.RFC3339))
	case n < later.Needed:
		return flags.Errorf(flags.Conflict, "at that time change request %d would have %d of the %d approvals that it needs, because approvals count for 30 days; choose an earlier time, or have it approved again", r.ID, n, later.Needed)
	}
	r.Schedule = &Schedule{At: at.UTC().Truncate(time.Millisecond), By: by, Status: Pending}
	r.enter(Scheduled, now)
	_, err := r.countEdit() // it can be scheduled again and again
	return err
}

// EndSchedule notes why a scheduled request was not applied. It stays scheduled, until someone schedules, applies or rejects it.
func (r *Request) EndSchedule(status ScheduleStatus, reason string) {
	r.Schedule = &Schedule{At: r.Schedule.At, By: r.Schedule.By, Status: status, Reason: reason}
}

// ScheduleNow returns the schedule as it stands at present: one whose request can only be re-based or cancelled is suspended. It is nil if
// the request is not scheduled.
func (r *Request) ScheduleNow(s Standing) *Schedule {
	if r.State != Scheduled || r.Schedule == nil {
		return nil
	}
	now, reason := *r.Schedule, s.Gone
	if reason == "" && len(s.Conflicts) > 0 {
		reason = s.Conflicts[0]
	}
	if now.Status == Pending && reason != "" {
		now.Status, now.Reason = Suspended, reason
	}
	return &now
}
