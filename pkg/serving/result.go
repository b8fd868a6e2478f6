package serving

import (
	"crypto/sha256"
	"math"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/evaluate"
	"guidon/pkg/flags"
)

// An answer is what a flag answers if it is off, or on with a certain variant. It is encoded when the flag is compiled, so
// an answer with many flags is put together from bytes.
type answer struct {
	toggle     []byte   // of /api/frontend; nil if the flag is off, because that answer leaves it out
	evaluation []byte   // of /ofrep, up to the metadata "decision"
	sum        [16]byte // hash of both
}

// A frontendToggle is a flag in an answer of /api/frontend.
type frontendToggle struct {
	Name           string          `json:"name"`
	Enabled        bool            `json:"enabled"`
	Variant        frontendVariant `json:"variant"`
	ImpressionData bool            `json:"impressionData"`
}

type frontendVariant struct {
	Name           string            `json:"name"`
	Payload        *evaluate.Payload `json:"payload,omitzero"`
	Enabled        bool              `json:"enabled"`
	OldFlagEnabled bool              `json:"feature_enabled"` // older SDKs read this one
	FlagEnabled    bool              `json:"featureEnabled"`
}

// An ofrepEvaluation is a flag in an answer of OFREP (its schema evaluationSuccess).
type ofrepEvaluation struct {
	Key      string         `json:"key"`
	Value    jsontext.Value `json:"value,omitzero"` // absent if the application should use the value in its code
	Reason   string         `json:"reason,omitzero"`
	Variant  string         `json:"variant,omitzero"`
	Metadata ofrepMetadata  `json:"metadata"`
}

// ofrepMetadata tells what a value that is not a boolean does not tell.
type ofrepMetadata struct {
	Enabled        bool   `json:"enabled"`
	Project        string `json:"project"`
	Type           string `json:"type"`
	ImpressionData bool   `json:"impressionData"`
	Decision       string `json:"decision,omitzero"` // what decided, in the evaluator's words
}

// newAnswer returns the answer of an enabled flag with a variant; nil for none.
func newAnswer(f *flags.Feature, variant *evaluate.Variant) *answer {
	toggle := frontendToggle{
		Name: f.Name, Enabled: true, ImpressionData: f.ImpressionData,
		Variant: frontendVariant{Name: evaluate.DisabledVariant, OldFlagEnabled: true, FlagEnabled: true},
	}
	evaluation := ofrepEvaluation{Key: f.Name, Value: jsontext.Value("true"), Metadata: newOFREPMetadata(f, true)}
	if variant != nil {
		toggle.Variant.Name, toggle.Variant.Payload, toggle.Variant.Enabled = variant.Name, variant.Payload, true
		evaluation.Variant, evaluation.Value = variant.Name, payloadValue(variant.Payload)
	}
	return encodeAnswer(encodeFragment(toggle), evaluation)
}

// newOffAnswer returns the answer of a flag that is off. A flag of which every variant has a payload has no boolean value, so
// the application uses the value in its code. Others are false.
func newOffAnswer(f *flags.Feature, fe flags.FeatureEnvironment) *answer {
	evaluation := ofrepEvaluation{Key: f.Name, Value: jsontext.Value("false"), Metadata: newOFREPMetadata(f, false)}
	if alwaysHasPayload(fe) {
		evaluation.Value = nil
	}
	return encodeAnswer(nil, evaluation)
}

func newOFREPMetadata(f *flags.Feature, enabled bool) ofrepMetadata {
	return ofrepMetadata{Enabled: enabled, Project: f.Project, Type: string(f.Type), ImpressionData: f.ImpressionData}
}

func encodeAnswer(toggle []byte, evaluation ofrepEvaluation) *answer {
	a := &answer{toggle: toggle, evaluation: encodeFragment(evaluation)}
	a.evaluation = a.evaluation[:len(a.evaluation)-len("}}")] // appendEvaluation adds the rest
	sum := sha256.Sum256(append(append([]byte{}, toggle...), a.evaluation...))
	copy(a.sum[:], sum[:])
	return a
}

// encodeFragment encodes a value as JSON.
func encodeFragment(value any) []byte {
	fragment, err := json.Marshal(value, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		panic(err) // a defect: the types above can be encoded
	}
	return fragment
}

// appendEvaluation appends a flag of OFREP.
func appendEvaluation(to []byte, a *answer, decision evaluate.ReasonKind, reason string) []byte {
	to = append(append(to, a.evaluation...), `,"decision":"`...)
	to = append(append(to, decision.String()...), `"},"reason":"`...)
	return append(append(to, reason...), `"}`...)
}

// payloadValue returns the value that a variant with a payload gives its flag: true without one.
func payloadValue(payload *evaluate.Payload) jsontext.Value {
	if payload == nil {
		return jsontext.Value("true")
	}
	value := jsontext.Value(payload.Value)
	switch payload.Type {
	case "json":
		if value.IsValid() {
			if value.Kind() == 'n' {
				return nil
			}
			return value
		}
	case "number":
		if value.IsValid() && value.Kind() == '0' {
			return value
		}
		if n, err := strconv.ParseFloat(payload.Value, 64); err == nil && !math.IsInf(n, 0) && !math.IsNaN(n) { // such as +5
			return encodeFragment(n)
		}
	}
	return encodeFragment(payload.Value)
}

// alwaysHasPayload reports whether the flag has a variant with a payload whenever it is on.
func alwaysHasPayload(fe flags.FeatureEnvironment) bool {
	lists := [][]flags.Variant{}
	for _, s := range fe.Strategies {
		if len(s.Variants) > 0 {
			lists = append(lists, s.Variants)
		} else {
			lists = append(lists, fe.Variants)
		}
	}
	if len(lists) == 0 {
		lists = append(lists, fe.Variants)
	}
	for _, list := range lists {
		if len(list) == 0 {
			return false
		}
		for _, v := range list {
			if v.Payload == nil {
				return false
			}
		}
	}
	return true
}
