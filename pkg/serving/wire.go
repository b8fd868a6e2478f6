package serving

import (
	"github.com/go-json-experiment/json"

	"guidon/pkg/flags"
	"guidon/pkg/shape"
)

// The types have the JSON form in which Unleash answers SDKs.

type clientFeatures struct {
	Version  int             `json:"version"`
	Features []clientFeature `json:"features"`
	Query    clientQuery     `json:"query"`
	Segments []clientSegment `json:"segments,omitzero"` // absent if they are inlined
	Meta     clientMeta      `json:"meta"`
}

type clientFeature struct {
	Name           string             `json:"name"`
	Type           flags.FeatureType  `json:"type"`
	Enabled        bool               `json:"enabled"`
	Project        string             `json:"project"`
	Stale          bool               `json:"stale"`
	Strategies     []clientStrategy   `json:"strategies"`
	Variants       []shape.Variant    `json:"variants"`
	Description    *string            `json:"description"`
	ImpressionData bool               `json:"impressionData"`
	Dependencies   []shape.Dependency `json:"dependencies,omitempty"`
}

type clientStrategy struct {
	Name        string             `json:"name"`
	Constraints []shape.Constraint `json:"constraints"`
	Parameters  map[string]string  `json:"parameters"`
	Variants    []shape.Variant    `json:"variants"`
	Segments    []int64            `json:"segments,omitempty"`
}

type clientSegment struct {
	ID          int64              `json:"id"`
	Name        string             `json:"name"`
	Constraints []shape.Constraint `json:"constraints"`
}

// A clientQuery tells what the answer was limited to.
type clientQuery struct {
	Tag                      [][2]string `json:"tag,omitempty"`    // type and value
	Project                  []string    `json:"project,omitzero"` // absent for all
	NamePrefix               string      `json:"namePrefix,omitempty"`
	Environment              string      `json:"environment,omitempty"`
	InlineSegmentConstraints bool        `json:"inlineSegmentConstraints"`
}

type clientMeta struct {
	RevisionID int64  `json:"revisionId"`
	ETag       string `json:"etag"`
	QueryHash  string `json:"queryHash"`
}

type clientDelta struct {
	Events []deltaEvent `json:"events"`
}

// A deltaEvent is one change. Its type says which of the members it has.
type deltaEvent struct {
	EventID     int64           `json:"eventId"`
	Type        string          `json:"type"`
	Features    []clientFeature `json:"features,omitzero"`    // of hydration
	Segments    []clientSegment `json:"segments,omitzero"`    // of hydration
	Feature     *clientFeature  `json:"feature,omitzero"`     // of feature-updated
	FeatureName string          `json:"featureName,omitzero"` // of feature-removed
	Project     string          `json:"project,omitzero"`     // of feature-removed
	Segment     *clientSegment  `json:"segment,omitzero"`     // of segment-updated
	SegmentID   int64           `json:"segmentId,omitzero"`   // of segment-removed
}

// encode returns the JSON of a value of these types: the same on every instance.
func encode(value any) []byte {
	document, err := json.Marshal(value, json.Deterministic(true))
	if err != nil { // a defect: the stored texts are valid
		panic(err)
	}
	return document
}

// never is a constraint that no context satisfies.
var never = shape.Constraint{ContextName: "userId", Operator: flags.In, Values: []string{}}

// encodeFeature returns the JSON of a flag with a configuration. With inlined, its strategies have the constraints of their
// segments instead of the IDs; a nil segment is one that does not exist.
func encodeFeature(f *flags.Feature, fe flags.FeatureEnvironment, enabled, inlined bool, segment func(id int64) *flags.Segment) []byte {
	out := clientFeature{
		Name: f.Name, Type: f.Type, Enabled: enabled, Project: f.Project, Stale: f.Stale, Description: f.Description,
		ImpressionData: f.ImpressionData, Strategies: make([]clientStrategy, len(fe.Strategies)),
		Variants: shape.Variants(fe.Variants), Dependencies: shape.Dependencies(f.Dependencies),
	}
	for i, s := range fe.Strategies {
		strategy := clientStrategy{
			Name: s.Name, Constraints: shape.Constraints(s.Constraints), Parameters: s.Parameters,
			Variants: shape.Variants(s.Variants), Segments: s.Segments,
		}
		if inlined {
			strategy.Segments = nil
			for _, id := range s.Segments {
				if found := segment(id); found != nil {
					strategy.Constraints = append(strategy.Constraints, shape.Constraints(found.Constraints)...)
				} else {
					strategy.Constraints = append(strategy.Constraints, never)
				}
			}
		}
		out.Strategies[i] = strategy
	}
	return encode(out)
}

func encodeSegment(s *flags.Segment) []byte {
	return encode(clientSegment{ID: s.ID, Name: s.Name, Constraints: shape.Constraints(s.Constraints)})
}
