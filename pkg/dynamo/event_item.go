package dynamo

import (
	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/flags"
)

// maxEventData bounds what an event keeps of either side of a change, in bytes: a flag near the item limit must still
// be changeable, and its event is an item too.
const maxEventData = 64 << 10

// An eventDocument is an event as it is stored.
type eventDocument struct {
	Format      int             `json:"format"`
	ID          string          `json:"id"`
	Type        flags.EventType `json:"type"`
	CreatedAt   stamp           `json:"createdAt"`
	CreatedBy   string          `json:"createdBy"`
	Project     string          `json:"project,omitzero"`
	Environment string          `json:"environment,omitzero"`
	FeatureName string          `json:"featureName,omitzero"`
	Data        jsontext.Value  `json:"data,omitzero"`
	PreData     jsontext.Value  `json:"preData,omitzero"`
}

func storeEvent(e flags.Event) (eventDocument, error) {
	data, err := eventData(e.Data)
	if err != nil {
		return eventDocument{}, err
	}
	preData, err := eventData(e.PreData)
	return eventDocument{
		Format: format, ID: e.ID, Type: e.Type, CreatedAt: e.CreatedAt, CreatedBy: e.CreatedBy,
		Project: e.Project, Environment: e.Environment, FeatureName: e.FeatureName, Data: data, PreData: preData,
	}, err
}

func eventData(data any) (jsontext.Value, error) {
	if data == nil {
		return nil, nil
	}
	doc, err := encode(data)
	if len(doc) > maxEventData {
		doc, err = encode(map[string]any{"omitted": "larger than 64 KiB", "bytes": len(doc)})
	}
	return jsontext.Value(doc), err
}

func (doc eventDocument) event() flags.Event {
	e := flags.Event{
		ID: doc.ID, Type: doc.Type, CreatedAt: doc.CreatedAt, CreatedBy: doc.CreatedBy,
		Project: doc.Project, Environment: doc.Environment, FeatureName: doc.FeatureName,
	}
	if doc.Data != nil {
		e.Data = doc.Data
	}
	if doc.PreData != nil {
		e.PreData = doc.PreData
	}
	return e
}
