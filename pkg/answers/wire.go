package answers

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/flags"
	"guidon/pkg/shape"
)

// The types have the JSON form of Unleash's responses to SDKs.

// ClientFeatures is the response of GET /api/client/features.
type ClientFeatures struct {
	Version  int             `json:"version"`
	Features []ClientFeature `json:"features"`
	Query    ClientQuery     `json:"query"`
	Segments []ClientSegment `json:"segments,omitzero"` // absent if they are inlined
	Meta     ClientMeta      `json:"meta"`
}

// A ClientFeature is a flag in responses, and the whole response of GET /api/client/features/{featureName}.
type ClientFeature struct {
	Name           string             `json:"name"`
	Type           flags.FeatureType  `json:"type"`
	Enabled        bool               `json:"enabled"`
	Project        string             `json:"project"`
	Stale          bool               `json:"stale"`
	Strategies     []ClientStrategy   `json:"strategies"`
	Variants       []shape.Variant    `json:"variants"`
	Description    *string            `json:"description"`
	ImpressionData bool               `json:"impressionData"`
	Dependencies   []shape.Dependency `json:"dependencies,omitempty"`

	// Of a typed flag, only in deltas and published states: Unleash does not have them, and Guidon Edge needs them for OFREP.
	ValueType    flags.ValueType `json:"valueType,omitzero"`
	DefaultValue jsontext.Value  `json:"defaultValue,omitzero"`
}

// A ClientStrategy is a strategy that is not disabled.
type ClientStrategy struct {
	Name        string             `json:"name"`
	Constraints []shape.Constraint `json:"constraints"`
	Parameters  map[string]string  `json:"parameters"`
	Variants    []shape.Variant    `json:"variants"`
	Segments    []int64            `json:"segments,omitempty"`
}

// A ClientSegment is a segment in responses.
type ClientSegment struct {
	ID          int64              `json:"id"`
	Name        string             `json:"name"`
	Project     string             `json:"project,omitzero"` // absent for a segment of all projects. Unleash does not have it; Guidon Edge needs it
	Constraints []shape.Constraint `json:"constraints"`
}

// A ClientQuery tells what the response was limited to.
type ClientQuery struct {
	Tag                      [][2]string `json:"tag,omitempty"`    // type and value
	Project                  []string    `json:"project,omitzero"` // absent for all
	NamePrefix               string      `json:"namePrefix,omitempty"`
	Environment              string      `json:"environment,omitempty"`
	InlineSegmentConstraints bool        `json:"inlineSegmentConstraints"`
}

// ClientMeta tells which state of the flags the response has.
type ClientMeta struct {
	RevisionID int64  `json:"revisionId"`
	ETag       string `json:"etag"`
	QueryHash  string `json:"queryHash"`
}

// A ClientDelta is the response of GET /api/client/delta.
type ClientDelta struct {
	Events []DeltaEvent `json:"events"`
}

// A DeltaEvent is one change. Its type says which of the members it has.
type DeltaEvent struct {
	EventID     int64           `json:"eventId"`
	Type        string          `json:"type"`
	Features    []ClientFeature `json:"features,omitzero"`    // of hydration
	Segments    []ClientSegment `json:"segments,omitzero"`    // of hydration
	Feature     *ClientFeature  `json:"feature,omitzero"`     // of feature-updated
	FeatureName string          `json:"featureName,omitzero"` // of feature-removed
	Project     string          `json:"project,omitzero"`     // of feature-removed
	Segment     *ClientSegment  `json:"segment,omitzero"`     // of segment-updated
	SegmentID   int64           `json:"segmentId,omitzero"`   // of segment-removed
}

// encode returns the JSON of a value: the same on every instance. Invalid UTF-8, which a path can have, is replaced.
func encode(value any) []byte {
	document, err := json.Marshal(value, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		panic(err) // a defect: the types of responses can be encoded
	}
	return document
}
