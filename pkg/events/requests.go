package events

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/flags"
	"guidon/pkg/review"
	"guidon/pkg/shape"
)

// A changeRequest is what events tell of a change request. Of a draft, which is private to its author, they only tell that it exists.
type changeRequest struct {
	ID        int64             `json:"changeRequestId"`
	State     review.State      `json:"state"`
	Revision  string            `json:"revision"`
	Title     string            `json:"title,omitzero"`
	Features  []string          `json:"features,omitempty"`
	Segments  []int64           `json:"segments,omitempty"`
	Changes   []requestChange   `json:"changes,omitempty"`
	Approvals []requestApproval `json:"approvals,omitempty"`
	Reviewers []int64           `json:"reviewers,omitempty"`
	Schedule  *requestSchedule  `json:"schedule,omitempty"`
	Applied   []appliedEvent    `json:"applied,omitempty"`
}

// An appliedEvent names an event that the application of a request caused. It has the request's group and time, and is in the log and in the
// history of its flag.
type appliedEvent struct {
	Type        flags.EventType `json:"type"`
	FeatureName string          `json:"featureName,omitzero"`
	Environment string          `json:"environment,omitzero"`
}

// A requestSchedule is when a scheduled request is to be applied, or why it was not.
type requestSchedule struct {
	At     shape.Time            `json:"scheduledAt"`
	Status review.ScheduleStatus `json:"status"`
	Reason string                `json:"reason,omitzero"`
}

// A requestChange is one change of a request.
type requestChange struct {
	ID      int64          `json:"id"`
	Action  review.Action  `json:"action"`
	Feature string         `json:"feature,omitzero"`
	Segment int64          `json:"segmentId,omitzero"`
	Payload jsontext.Value `json:"payload,omitempty"`
}

// maxPayload is how much of a change an event has, in bytes: the log leaves out data over 64 KiB, and all else that it tells of the request.
const maxPayload = 56 << 10

// A requestApproval is who has approved which revision of a request, and when.
type requestApproval struct {
	User     int64      `json:"userId"`
	Name     string     `json:"username"`
	At       shape.Time `json:"createdAt"`
	Revision string     `json:"revision"`
}

func changeRequestOf(r *review.Request, changes []review.Change) changeRequest {
	data := changeRequest{ID: r.ID, State: r.State, Revision: r.Revision}
	if r.Private() {
		return data
	}
	data.Title, data.Features, data.Segments, data.Reviewers = r.Title, r.Features(), r.Segments(), r.Reviewers
	if s := r.Schedule; s != nil && r.State == review.Scheduled {
		data.Schedule = &requestSchedule{shape.Time(s.At), s.Status, s.Reason}
	}
	for _, c := range changes {
		payload := c.Payload
		if len(payload) > maxPayload {
			payload = jsontext.Value(fmt.Sprintf(`{"omitted":"larger than %d KiB: the evidence of the change request has it, unless it was edited or removed","bytes":%d}`, maxPayload>>10, len(payload)))
		}
		data.Changes = append(data.Changes, requestChange{c.ID, c.Action, c.Feature, c.Segment, payload})
	}
	for _, a := range r.Approvals {
		data.Approvals = append(data.Approvals, requestApproval{a.By.ID, a.By.Name, shape.Time(a.At), a.Revision})
	}
	return data
}

// OfRequest is an event about a change request, and about some of its changes.
func OfRequest(kind flags.EventType, r *review.Request, changes ...review.Change) flags.Event {
	data := changeRequestOf(r, changes)
	if kind == flags.RequestApproved {
		data.State = review.Approved
	}
	return flags.Event{Type: kind, Project: r.Project, Environment: r.Environment, Data: data}
}

// RequestApplied is the event of a request that was applied, with the events that its changes caused, such as of freezes that were skipped.
func RequestApplied(r *review.Request, caused []flags.Event) flags.Event {
	event := OfRequest(flags.RequestApplied, r)
	data := event.Data.(changeRequest)
	for _, e := range caused {
		data.Applied = append(data.Applied, appliedEvent{e.Type, e.FeatureName, e.Environment})
	}
	event.Data = data
	return event
}

// ChangeEdited is the event of a change that was replaced by another one.
func ChangeEdited(r *review.Request, before, after review.Change) flags.Event {
	event := OfRequest(flags.ChangeEdited, r, after)
	event.PreData = changeRequestOf(r, []review.Change{before})
	return event
}
