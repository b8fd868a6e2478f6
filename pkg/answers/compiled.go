package answers

import (
	"crypto/sha256"
	"math"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/evaluate"
	"guidon/pkg/flags"
	"guidon/pkg/shape"
)

// evaluator returns the flags and segments ready to be evaluated. It compiles only what changed since the Set that was compiled
// last.
func (s *Set) evaluator() *evaluate.Set {
	if made := s.compiled.Load(); made != nil {
		return made
	}
	s.last.mu.Lock()
	defer s.last.mu.Unlock()
	if made := s.compiled.Load(); made != nil {
		return made
	}
	before, compiled := s.last.set, evaluate.NewSet(nil, nil)
	if before == nil {
		before = &Set{}
	} else {
		compiled = before.compiled.Load()
	}
	var changes evaluate.Changes
	for _, f := range s.flags {
		if old := before.flag(f.Name); old == nil || old.content != f.content {
			changes.Flags = append(changes.Flags, f.compiled().flag)
		}
	}
	for _, f := range before.flags {
		if s.flag(f.Name) == nil {
			changes.RemovedFlags = append(changes.RemovedFlags, f.Name)
		}
	}
	for _, segment := range s.segments {
		if before.segment(segment.ID) != segment {
			changes.Segments = append(changes.Segments, evaluate.Segment{ID: segment.ID, Constraints: constraintsOf(segment.Constraints)})
		}
	}
	for _, segment := range before.segments {
		if s.segment(segment.ID) == nil {
			changes.RemovedSegments = append(changes.RemovedSegments, segment.ID)
		}
	}
	if len(changes.Flags)+len(changes.RemovedFlags)+len(changes.Segments)+len(changes.RemovedSegments) > 0 {
		compiled = compiled.With(changes)
	}
	s.compiled.Store(compiled)
	s.last.set = s
	return compiled
}

// A compiledFlag is a flag as the evaluator takes it, with its results. The evaluator returns pointers to its variants.
type compiledFlag struct {
	flag    evaluate.Flag
	results map[*evaluate.Variant]*result // by the variant that was chosen, nil for none; empty if the flag is not enabled
	off     *result
	size    int // in bytes, about

	matched   []string // the OFREP reason by index of the strategy that matched
	unmatched string   // the OFREP reason if no strategy matched
}

// flagSize is about how many bytes a compiled flag takes, without its results. With a rollout, a constraint and two variants it
// takes 2.2 KB.
const flagSize = 1200

// compiled returns the flag with its results.
func (f *Flag) compiled() *compiledFlag {
	if made := f.content.compiled.Load(); made != nil {
		return made
	}
	feature := f.Feature()
	c := &compiledFlag{flag: evaluatedFlag(&feature), off: newOffResult(&feature)}
	c.size = flagSize + len(c.off.evaluation)
	if feature.Enabled {
		c.matched, c.unmatched = newReasons(&c.flag)
		c.results = map[*evaluate.Variant]*result{}
		c.add(&feature, nil)
		lists := [][]evaluate.Variant{c.flag.Variants}
		for _, s := range c.flag.Strategies {
			lists = append(lists, s.Variants)
		}
		for _, list := range lists {
			for i := range list {
				c.add(&feature, &list[i])
			}
		}
	}
	if !f.content.compiled.CompareAndSwap(nil, c) { // its results belong to the variants that the evaluator gets
		return f.content.compiled.Load()
	}
	return c
}

func (c *compiledFlag) add(feature *ClientFeature, variant *evaluate.Variant) {
	r := newResult(feature, variant)
	c.results[variant] = r
	c.size += len(r.toggle) + len(r.evaluation)
}

// evaluate returns the result of a flag for a context.
func (c *compiledFlag) evaluate(e *evaluate.Evaluation) (evaluate.Result, *result) {
	is := e.Evaluate(c.flag.Name)
	if !is.Enabled {
		return is, c.off
	}
	return is, c.results[is.Variant]
}

// evaluatedFlag returns a flag as the evaluator takes it. A disabled flag is off with any strategies, so they are left out to save
// memory.
func evaluatedFlag(f *ClientFeature) evaluate.Flag {
	flag := evaluate.Flag{Name: f.Name, Enabled: f.Enabled, ImpressionData: f.ImpressionData}
	if !f.Enabled {
		return flag
	}
	flag.Variants = variantsOf(f.Variants)
	for _, s := range f.Strategies {
		flag.Strategies = append(flag.Strategies, evaluate.Strategy{
			Name: s.Name, Parameters: s.Parameters, Segments: s.Segments,
			Constraints: constraintsOf(s.Constraints), Variants: variantsOf(s.Variants),
		})
	}
	for _, d := range f.Dependencies {
		flag.Dependencies = append(flag.Dependencies, evaluate.Dependency{Feature: d.Feature, Enabled: &d.Enabled, Variants: d.Variants})
	}
	return flag
}

func constraintsOf(list []shape.Constraint) []evaluate.Constraint {
	result := make([]evaluate.Constraint, len(list))
	for i, c := range list {
		result[i] = evaluate.Constraint{
			ContextName: c.ContextName, Operator: string(c.Operator), Values: c.Values, CaseInsensitive: c.CaseInsensitive, Inverted: c.Inverted,
		}
		if c.Value != nil {
			result[i].Value = *c.Value
		}
	}
	return result
}

func variantsOf(list []shape.Variant) []evaluate.Variant {
	result := make([]evaluate.Variant, len(list))
	for i, v := range list {
		result[i] = evaluate.Variant{Name: v.Name, Weight: int(v.Weight), Stickiness: v.Stickiness, Payload: (*evaluate.Payload)(v.Payload)}
		for _, o := range v.Overrides {
			result[i].Overrides = append(result[i].Overrides, evaluate.Override(o))
		}
	}
	return result
}

// A result is what a flag gives if it is off, or on with a certain variant. It is encoded when the flag is compiled, so a response
// with many flags is put together from bytes.
type result struct {
	toggle     []byte   // of /api/frontend; nil if the flag is off, because that response leaves it out
	evaluation []byte   // of OFREP, up to the metadata "decision"
	sum        [16]byte // hash of both
}

// newResult returns the result of an enabled flag with a variant; nil for none.
func newResult(f *ClientFeature, variant *evaluate.Variant) *result {
	toggle := FrontendToggle{
		Name: f.Name, Enabled: true, ImpressionData: f.ImpressionData,
		Variant: FrontendVariant{Name: evaluate.DisabledVariant, OldFlagEnabled: true, FlagEnabled: true},
	}
	evaluation := OfrepEvaluation{Key: f.Name, Value: jsontext.Value("true"), Variant: "enabled", Metadata: newOFREPMetadata(f, true)}
	if variant != nil {
		toggle.Variant.Name, toggle.Variant.Payload, toggle.Variant.Enabled = variant.Name, variant.Payload, true
		evaluation.Variant, evaluation.Value = variant.Name, payloadValue(variant.Payload)
	}
	if f.ValueType != "" {
		evaluation.Value = typedValue(f, variant)
	}
	return encodeResult(encode(toggle), evaluation)
}

// typedValue returns the value of an enabled flag with a type: the payload, or what it has without one.
func typedValue(f *ClientFeature, variant *evaluate.Variant) jsontext.Value {
	boolean, payload := f.ValueType == flags.BooleanValue, (*evaluate.Payload)(nil)
	if variant != nil {
		payload = variant.Payload
	}
	switch {
	case payload == nil && boolean:
		return jsontext.Value("true")
	case payload == nil:
		return f.DefaultValue
	case boolean:
		return jsontext.Value(strconv.FormatBool(payload.Value == "true"))
	}
	return payloadValue(payload)
}

// newOffResult returns the result of a flag that is off. It has the default value if it has a type other than boolean. A flag without a
// type of which every variant has a payload has no boolean value, so the application uses the value in its code. Others are false.
func newOffResult(f *ClientFeature) *result {
	evaluation := OfrepEvaluation{Key: f.Name, Value: jsontext.Value("false"), Variant: evaluate.DisabledVariant, Metadata: newOFREPMetadata(f, false)}
	switch {
	case f.ValueType == "" && alwaysHasPayload(f):
		evaluation.Value = nil
	case f.ValueType != "" && f.ValueType != flags.BooleanValue:
		evaluation.Value = f.DefaultValue
	}
	return encodeResult(nil, evaluation)
}

func newOFREPMetadata(f *ClientFeature, enabled bool) OfrepMetadata {
	return OfrepMetadata{Enabled: enabled, Project: f.Project, Type: string(f.Type), ImpressionData: f.ImpressionData}
}

func encodeResult(toggle []byte, evaluation OfrepEvaluation) *result {
	r := &result{toggle: toggle, evaluation: encode(evaluation)}
	r.evaluation = r.evaluation[:len(r.evaluation)-len("}}")] // appendEvaluation adds the rest
	sum := sha256.Sum256(append(append([]byte{}, toggle...), r.evaluation...))
	copy(r.sum[:], sum[:])
	return r
}

// appendEvaluation appends a flag of OFREP.
func appendEvaluation(to []byte, r *result, decision evaluate.ReasonKind, reason string) []byte {
	to = append(append(to, r.evaluation...), `,"decision":"`...)
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
		if value.IsValid() && !flags.IsDeep(value) {
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
			return encode(n)
		}
	}
	return encode(payload.Value)
}

// alwaysHasPayload reports whether the flag has a variant with a payload whenever it is on.
func alwaysHasPayload(f *ClientFeature) bool {
	lists := [][]shape.Variant{}
	for _, s := range f.Strategies {
		if len(s.Variants) > 0 {
			lists = append(lists, s.Variants)
		} else {
			lists = append(lists, f.Variants)
		}
	}
	if len(lists) == 0 {
		lists = append(lists, f.Variants)
	}
	withoutPayload := func(v shape.Variant) bool { return v.Payload == nil }
	return !slices.ContainsFunc(lists, func(list []shape.Variant) bool { return len(list) == 0 || slices.ContainsFunc(list, withoutPayload) })
}
