package dynamo

import (
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/flags"
)

// maxEventData is the limit of Data and of PreData, in bytes. An event is an item with a size limit too, and a flag near
// the limit must still be changeable.
const maxEventData = 64 << 10

// maxInline is the limit of Data and PreData together in the item of an event, in bytes. If they are larger, they become
// the event's body, an item of its own that is in no index. An index copies whole events, and all events of the service
// share one partition of it, which takes 1,000 KB a second.
const maxInline = 4 << 10

// An eventItem is the item of an event: an envelope with the attributes for the indexes of the log and for its filters. An
// empty attribute is absent, so that the item is not in the index by it.
type eventItem struct {
	envelope
	BodyBytes   int    `dynamodbav:"bodyBytes,omitempty"` // the length of the body's document; 0 for no body
	Log         string `dynamodbav:"log,omitempty"`       // the same in every event, for the index by time
	ID          string `dynamodbav:"id,omitempty"`
	Project     string `dynamodbav:"project,omitempty"`
	Type        string `dynamodbav:"type,omitempty"`
	Flag        string `dynamodbav:"flag,omitempty"`
	Environment string `dynamodbav:"environment,omitempty"`
	By          string `dynamodbav:"by,omitempty"`
	User        string `dynamodbav:"user,omitempty"`
	Former      string `dynamodbav:"former,omitempty"` // the project that the flag left
}

// newEventItem is the item of an event, and the document of its body; "" for none.
func newEventItem(at itemKey, e flags.Event) (item eventItem, body string, err error) {
	doc, err := storeEvent(e)
	if err != nil {
		return eventItem{}, "", err
	}
	if len(doc.Data)+len(doc.PreData) > maxInline {
		if body, err = encode(eventBody{format, e.ID, doc.Data, doc.PreData}); err != nil {
			return eventItem{}, "", err
		}
		doc.Data, doc.PreData = nil, nil
	}
	document, err := encode(doc)
	item = eventItem{
		BodyBytes: len(body),
		envelope:  envelope{PK: at.pk, SK: at.sk, Document: document}, Log: logPartition, ID: e.ID, Project: e.Project,
		Type: string(e.Type), Flag: e.FeatureName, Environment: e.Environment, By: e.CreatedBy,
		Former: e.FormerProject,
	}
	if e.UserID != 0 {
		item.User = strconv.FormatInt(e.UserID, 10)
	}
	return item, body, err
}

// former is a copy of the item, which is only in the log of the project that the flag left.
func (item eventItem) former() eventItem {
	item.SK, item.Log, item.Project = formerPrefix+strings.TrimPrefix(item.SK, eventPrefix), "", item.Former
	return item
}

func (item eventItem) bodyKey() itemKey { return bodyKey(itemKey{item.PK, item.SK}) }

// event is the event of the item. bodies has the document of its body, if it has one.
func (item eventItem) event(bodies map[itemKey]string) (flags.Event, error) {
	var doc eventDocument
	if err := decode(item.Document, &doc); err != nil {
		return flags.Event{}, err
	}
	return doc.event(bodies[item.bodyKey()])
}

// An eventBody is the stored form of the Data and PreData of an event, if these are an item of its own.
type eventBody struct {
	Format  int            `json:"format"`
	ID      string         `json:"id"` // of the event
	Data    jsontext.Value `json:"data,omitzero"`
	PreData jsontext.Value `json:"preData,omitzero"`
}

// An eventDocument is the stored form of an event.
type eventDocument struct {
	Format      int             `json:"format"`
	ID          string          `json:"id"`
	Type        flags.EventType `json:"type"`
	CreatedAt   time.Time       `json:"createdAt"`
	CreatedBy   string          `json:"createdBy"`
	UserID      int64           `json:"createdByUserId,omitzero"`
	Project     string          `json:"project,omitzero"`
	Environment string          `json:"environment,omitzero"`
	FeatureName string          `json:"featureName,omitzero"`
	Data        jsontext.Value  `json:"data,omitzero"`
	PreData     jsontext.Value  `json:"preData,omitzero"`

	Agent          string   `json:"agent,omitempty"`
	FormerProject  string   `json:"formerProject,omitempty"`
	GroupType      string   `json:"groupType,omitempty"`
	GroupID        string   `json:"groupId,omitempty"`
	SkippedReviews []string `json:"skippedReviews,omitempty"`
}

func storeEvent(e flags.Event) (eventDocument, error) {
	data, err := eventData(e, e.Data)
	if err != nil {
		return eventDocument{}, err
	}
	preData, err := eventData(e, e.PreData)
	return eventDocument{
		Format: format, ID: e.ID, Type: e.Type, CreatedAt: e.CreatedAt, CreatedBy: e.CreatedBy, Agent: e.Agent, UserID: e.UserID,
		Project: e.Project, Environment: e.Environment, FeatureName: e.FeatureName, Data: data, PreData: preData, FormerProject: e.FormerProject, SkippedReviews: e.SkippedReviews, GroupType: e.GroupType, GroupID: e.GroupID,
	}, err
}

// eventData is the data of an event as it is stored. Of data that is too large it says so, and where to find it.
func eventData(e flags.Event, data any) (jsontext.Value, error) {
	if data == nil {
		return nil, nil
	}
	doc, err := encode(data)
	if len(doc) > maxEventData {
		omitted := "larger than 64 KiB"
		if e.GroupID != "" {
			omitted += ": the evidence of change request " + e.GroupID + " has its changes"
		}
		doc, err = encode(map[string]any{"omitted": omitted, "bytes": len(doc)})
	}
	return jsontext.Value(doc), err
}

// event is the event. body is the document of its body; "" for none.
func (doc eventDocument) event(body string) (flags.Event, error) {
	if body != "" {
		var apart eventBody
		if err := decode(body, &apart); err != nil {
			return flags.Event{}, err
		}
		doc.Data, doc.PreData = apart.Data, apart.PreData
	}
	e := flags.Event{
		ID: doc.ID, Type: doc.Type, CreatedAt: doc.CreatedAt, CreatedBy: doc.CreatedBy, Agent: doc.Agent, UserID: doc.UserID,
		Project: doc.Project, Environment: doc.Environment, FeatureName: doc.FeatureName, FormerProject: doc.FormerProject, SkippedReviews: doc.SkippedReviews, GroupType: doc.GroupType, GroupID: doc.GroupID,
	}
	if doc.Data != nil {
		e.Data = doc.Data
	}
	if doc.PreData != nil {
		e.PreData = doc.PreData
	}
	return e, nil
}
