package shape

import (
	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/flags"
)

// An EventView is an event, in the shape of Unleash's events: in the log, and in what webhooks receive.
type EventView struct {
	ID          int64           `json:"id"`
	Type        flags.EventType `json:"type"`
	CreatedBy   string          `json:"createdBy"`
	Agent       string          `json:"agent,omitempty"` // the program that acted for the caller, by the name that it gives itself
	UserID      *int64          `json:"createdByUserId"`
	CreatedAt   Time            `json:"createdAt"`
	Data        eventDocument   `json:"data"`
	PreData     eventDocument   `json:"preData"`
	FeatureName *string         `json:"featureName"`
	Project     *string         `json:"project"`
	Environment *string         `json:"environment"`
	Tags        []Tag           `json:"tags"` // always empty: changes of a flag's tags are events of their own

	GroupType string `json:"groupType,omitempty"` // change-request for what the application of a change request changed
	GroupID   string `json:"groupId,omitempty"`   // the id of the change request

	SkippedReviews []string `json:"skippedChangeRequests,omitempty"` // environments whose change requests the caller skipped, or where switching off needs none
}

// EventViewOf is the shape of an event that was read from the store.
func EventViewOf(e flags.Event) EventView {
	view := EventView{
		ID: e.Number(), Type: e.Type, CreatedBy: e.CreatedBy, Agent: e.Agent, CreatedAt: Time(e.CreatedAt), Tags: []Tag{},
		Data: eventDocumentOf(e.Data), PreData: eventDocumentOf(e.PreData),
		GroupType: e.GroupType, GroupID: e.GroupID, SkippedReviews: e.SkippedReviews,
		FeatureName: NullIfEmpty(e.FeatureName), Project: NullIfEmpty(e.Project), Environment: NullIfEmpty(e.Environment),
	}
	if e.UserID != 0 {
		view.UserID = &e.UserID
	}
	return view
}

// An eventDocument is the state before or after a change as it is stored: a JSON object, or null.
type eventDocument jsontext.Value

func eventDocumentOf(data any) eventDocument {
	document, _ := data.(jsontext.Value)
	return eventDocument(document)
}

// MarshalJSON writes the document unchanged.
func (d eventDocument) MarshalJSON() ([]byte, error) {
	if d == nil {
		return []byte("null"), nil
	}
	return d, nil
}
