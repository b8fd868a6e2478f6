package flags

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A ValueType is the type of a flag's values, as OpenFeature has them.
type ValueType string

// The value types.
const (
	BooleanValue ValueType = "boolean"
	StringValue  ValueType = "string"
	IntegerValue ValueType = "integer"
	NumberValue  ValueType = "number"
	ObjectValue  ValueType = "object" // any JSON object or array
)

// ValueTypes returns all value types.
func ValueTypes() []ValueType {
	return []ValueType{BooleanValue, StringValue, IntegerValue, NumberValue, ObjectValue}
}

// A Typing says which values a flag has. It is zero for a flag without a type, whose payloads can be anything.
type Typing struct {
	ValueType    ValueType      `json:"valueType,omitzero"`
	DefaultValue jsontext.Value `json:"defaultValue,omitzero"` // JSON of the type. Applications that ask for a value get it while the flag is off
	ValueSchema  jsontext.Value `json:"valueSchema,omitzero"`  // a JSON Schema of objects; nil for none
}

// The limits of typed flags.
const (
	MaxValueSchema = 8 << 10 // bytes of a JSON Schema
	MaxValueDepth  = 100     // nesting of a JSON value; decoders of applications take no more
)

// CheckSchema checks JSON values against a JSON Schema, and the schema itself. It returns the index of the first value that does not
// match; -1 if the fault is that of the schema. The package valueschema sets it, so that programs which only serve applications link no
// JSON Schema library.
var CheckSchema func(schema jsontext.Value, values []jsontext.Value) (index int, err error)

// Equal reports whether two flags have the same type, default value and schema.
func (t Typing) Equal(other Typing) bool {
	return t.sameValues(other) && bytes.Equal(t.ValueSchema, other.ValueSchema)
}

// sameValues reports whether applications get the same values for both.
func (t Typing) sameValues(other Typing) bool {
	return t.ValueType == other.ValueType && bytes.Equal(t.DefaultValue, other.DefaultValue)
}

// check adds what is wrong with a typing by itself. Whether its values match its schema is checked with the payloads.
func (t Typing) check(p *Problems) {
	if t.ValueType == "" {
		if t.DefaultValue != nil {
			p.Add("/defaultValue", "needs a valueType; leave it out, or set it to null, for a flag without a type")
		}
		if t.ValueSchema != nil {
			p.Add("/valueSchema", "needs the valueType %s; leave it out, or set it to null, for a flag without a type", ObjectValue)
		}
		return
	}
	if !slices.Contains(ValueTypes(), t.ValueType) {
		p.Add("/valueType", "must be one of boolean, string, integer, number, object, or null for a flag without a type")
		return
	}
	CheckLength("/defaultValue", string(t.DefaultValue), MaxPayload, p)
	if t.DefaultValue == nil {
		p.Add("/defaultValue", "is required with a valueType: what applications get while the flag is off")
	} else if fault := t.ValueType.fault(t.DefaultValue); fault != "" {
		p.Add("/defaultValue", "%s", fault)
	}
	if t.ValueSchema == nil {
		return
	}
	if t.ValueType != ObjectValue {
		p.Add("/valueSchema", "is only for flags of the valueType %s", ObjectValue)
	}
	if n := len(t.ValueSchema); n > MaxValueSchema {
		p.Add("/valueSchema", "must have at most %d bytes, but has %d", MaxValueSchema, n)
	}
	if IsDeep(t.ValueSchema) {
		p.Add("/valueSchema", "must not be nested deeper than %d levels", MaxValueDepth)
	}
}

// fault says why a JSON value is not of the type; "" if it is.
func (t ValueType) fault(value jsontext.Value) string {
	kind := value.Kind()
	switch t {
	case BooleanValue:
		if kind != 't' && kind != 'f' {
			return "must be true or false"
		}
	case StringValue:
		if kind != '"' {
			return "must be a string"
		}
	case IntegerValue:
		if n, err := strconv.ParseInt(string(value), 10, 64); err != nil || n > maxSortOrder || n < -maxSortOrder {
			return "must be a whole number between -2^53 and 2^53, without a fraction or exponent"
		}
	case NumberValue:
		if kind != '0' || !isNumber(string(value)) {
			return "must be a number"
		}
	case ObjectValue:
		if kind != '{' && kind != '[' {
			return "must be a JSON object or array"
		}
		if IsDeep(value) {
			return fmt.Sprintf("must not be nested deeper than %d levels", MaxValueDepth)
		}
	}
	return ""
}

// IsDeep reports whether valid JSON is nested deeper than MaxValueDepth.
func IsDeep(value jsontext.Value) bool {
	d := jsontext.NewDecoder(bytes.NewReader(value))
	for {
		if _, err := d.ReadToken(); err != nil {
			return false
		}
		if d.StackDepth() > MaxValueDepth {
			return true
		}
	}
}

// payloadTypes has the types of payloads in which each value type is written.
var payloadTypes = map[ValueType][]string{
	BooleanValue: {"json", "string"}, StringValue: {"string", "csv"}, IntegerValue: {"number"}, NumberValue: {"number"}, ObjectValue: {"json"},
}

// payloadFault says why a payload, which is valid by itself, is not of the type; "" if it is.
func (t ValueType) payloadFault(payload Payload) string {
	if types := payloadTypes[t]; !slices.Contains(types, payload.Type) {
		return fmt.Sprintf("must have a payload of the type %s, not %s", strings.Join(types, " or "), payload.Type)
	}
	switch t {
	case StringValue, NumberValue:
		return "" // a payload of type number is a decimal number
	case BooleanValue:
		if payload.Value == "true" || payload.Value == "false" {
			return ""
		}
	}
	return t.fault(jsontext.Value(payload.Value))
}

// CheckValues checks a write of a flag with a type: the type itself (Invalid), and the payloads of all variants of strategies, release plans
// and environments. A payload that the flag had before is a Conflict, any other one is Invalid; the error names the first one. What was
// stored under the same type is not checked again. registry tells which environments still exist.
func (w Write) CheckValues(registry func() *Environments) error {
	f, _ := w.After.(*Feature)
	before, _ := w.Before.(*Feature)
	if before == nil {
		before = &Feature{}
	}
	if f == nil || f.Typing.Equal(Typing{}) || f.Archived && before.Archived {
		return nil
	}
	same := f.Typing.Equal(before.Typing)
	var problems Problems
	if !same {
		if f.Typing.check(&problems); len(problems) > 0 {
			return problems.Err()
		}
	}
	had := map[Payload]bool{}
	before.eachPayload(nil, func(payload Payload, _ string) { had[payload] = true })
	seen, where := map[Payload]bool{}, []string{"defaultValue"}
	payloads, values := []Payload{{}}, []jsontext.Value{f.DefaultValue}
	f.eachPayload(registry(), func(payload Payload, at string) {
		if !seen[payload] && (!same || !had[payload]) {
			seen[payload] = true
			payloads, where, values = append(payloads, payload), append(where, at), append(values, jsontext.Value(payload.Value))
		}
	})
	refused := func(i int, fault string) error {
		switch {
		case i == 0:
			return Problems{{Path: "/defaultValue", Message: fault}}.Err()
		case had[payloads[i]]:
			return Errorf(Conflict, "flag %q cannot be of the valueType %s: %s %s; change it first", f.Name, f.ValueType, where[i], fault)
		}
		return Errorf(Invalid, "%s %s: flag %q has the valueType %s", where[i], fault, f.Name, f.ValueType)
	}
	for i := 1; i < len(payloads); i++ {
		if fault := f.ValueType.payloadFault(payloads[i]); fault != "" {
			return refused(i, fault)
		}
	}
	if f.ValueSchema == nil || same && len(values) == 1 {
		return nil
	}
	switch i, err := CheckSchema(f.ValueSchema, values); {
	case err != nil && i < 0:
		return Problems{{Path: "/valueSchema", Message: err.Error()}}.Err()
	case err != nil:
		return refused(i, "does not match the valueSchema: "+err.Error())
	}
	return nil
}

// eachPayload calls visit with each payload of the flag's variants, and where it is, in environments that exist. A nil registry has all.
func (f *Feature) eachPayload(registry *Environments, visit func(payload Payload, where string)) {
	for _, name := range slices.Sorted(maps.Keys(f.Environments)) {
		fe := f.Environments[name]
		if registry != nil {
			if env := registry.Find(name); env == nil || env.UID != fe.EnvironmentUID {
				continue
			}
		}
		each := func(variants []Variant, of string) {
			for _, v := range variants {
				if v.Payload != nil {
					visit(*v.Payload, fmt.Sprintf("variant %q%s in environment %q", v.Name, of, name))
				}
			}
		}
		each(fe.Variants, "")
		for _, s := range fe.Strategies {
			each(s.Variants, fmt.Sprintf(" of strategy %q (%s)", s.ID, s.Name))
		}
		if fe.Plan != nil {
			for _, m := range fe.Plan.Milestones {
				for _, s := range m.Strategies {
					each(s.Variants, fmt.Sprintf(" of milestone %q of release plan %q", m.Name, fe.Plan.Name))
				}
			}
		}
	}
}
