package requests

import (
	"slices"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/review"
	"guidon/pkg/shape"
)

// schedule has a request applied at a time, with the permissions that the caller will have then.
func schedule(tx *httpapi.Tx, p *flags.Project, r *review.Request, at time.Time) error {
	if tx.Caller.User == nil && !tx.Open() {
		return flags.Errorf(flags.Forbidden, "only users and service accounts can schedule change requests, because these are applied with the permissions that they have then: %s is an API token", tx.Caller.Name)
	}
	if err := authorizeIn(tx, tx.Caller, access.ApplyChangeRequest, p, r); err != nil {
		return err
	}
	s := standingOf(tx, p, r)
	later := s
	later.Approvals = slices.DeleteFunc(slices.Clone(s.Approvals), func(a review.Approval) bool { return at.Sub(a.At) >= review.ApprovalLasts })
	if err := r.SetSchedule(at, me(tx), s, later, tx.Now); err != nil {
		return err
	}
	tx.Save(events.OfRequest(flags.RequestScheduled, r), r)
	return nil
}

// A scheduleView is when a request is to be applied.
type scheduleView struct {
	At     shape.Time            `json:"scheduledAt"`
	Status review.ScheduleStatus `json:"status"`
	Reason string                `json:"reason,omitzero"`
	By     personView            `json:"scheduledBy"`
}

// scheduleViewOf is the schedule of a request; nil if it is not scheduled.
func scheduleViewOf(r *review.Request, s review.Standing) *scheduleView {
	schedule := r.ScheduleNow(s)
	if schedule == nil {
		return nil
	}
	return &scheduleView{shape.Time(schedule.At), schedule.Status, schedule.Reason, personViewOf(schedule.By)}
}

// A scheduledRequest is a scheduled request that a change would break.
type scheduledRequest struct {
	ID          int64  `json:"id"`
	Environment string `json:"environment"`
	Title       string `json:"title,omitzero"`
}

// listScheduled lists the scheduled requests that a change of a flag (feature), of a strategy (strategyId) or of the variants of a flag
// (variantForFlag) would suspend, so that a person can be warned first. Without a parameter it lists none, as in Unleash.
func listScheduled(tx *httpapi.Tx, at httpapi.InProject) ([]scheduledRequest, error) {
	q, p := tx.Query(), at.Project(tx)
	features, strategies, variants := q.All("feature"), q.All("strategyId"), q.All("variantForFlag")
	list := []scheduledRequest{}
	for _, r := range requestsOf(tx, p, true) {
		if _, scheduled := r.Due(); scheduled && slices.ContainsFunc(r.Changes, func(c review.Change) bool {
			return slices.Contains(features, c.Feature) || slices.Contains(strategies, c.Strategy) ||
				c.Action == review.PatchVariant && slices.Contains(variants, c.Feature)
		}) {
			list = append(list, scheduledRequest{r.ID, r.Environment, r.Title})
		}
	}
	return list, nil
}
