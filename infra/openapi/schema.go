package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json/jsontext"
)

// A direction is which way a body goes: what a caller may send is told otherwise than what is answered.
type direction int

const (
	in    direction = iota // bodies: members may be left out, and unknown ones are ignored
	out                    // answers: every member is there, and no other
	loose                  // import data, which is told to be good or not by the answer: nothing but types is refused
)

// A describer makes schemas of wire types.
type describer struct {
	components openapi3.Schemas
	failures   openapi3.ResponseBodies
	types      map[string]reflect.Type // that the components were made of
	used       map[string]bool         // entries of the table of members
	faults     []string
}

func newDescriber() *describer {
	return &describer{components: openapi3.Schemas{}, failures: openapi3.ResponseBodies{}, types: map[string]reflect.Type{}, used: map[string]bool{}}
}

func (d *describer) fault(format string, args ...any) {
	if fault := fmt.Sprintf(format, args...); !slices.Contains(d.faults, fault) {
		d.faults = append(d.faults, fault)
	}
}

// schema describes a type: a struct with a name by a component of its own.
func (d *describer) schema(t reflect.Type, way direction) *openapi3.SchemaRef {
	if t == reflect.TypeFor[jsontext.Value]() {
		return d.anything()
	}
	if known, ok := special[t.String()]; ok {
		return known().NewRef()
	}
	if values := valuesOf(t); values != nil {
		return openapi3.NewStringSchema().WithEnum(values...).NewRef()
	}
	switch t.Kind() {
	case reflect.Pointer:
		return nullable(d.schema(t.Elem(), way))
	case reflect.String:
		return openapi3.NewStringSchema().NewRef()
	case reflect.Bool:
		return openapi3.NewBoolSchema().NewRef()
	case reflect.Int, reflect.Int64:
		return openapi3.NewInt64Schema().WithMin(-maxSafe).WithMax(maxSafe).NewRef()
	case reflect.Float64:
		return number().NewRef()
	case reflect.Slice:
		list := openapi3.NewArraySchema()
		list.Items = d.schema(t.Elem(), way)
		if shape := shapes[t.Name()]; shape != nil {
			shape(list)
		}
		return list.NewRef()
	case reflect.Map:
		object := openapi3.NewObjectSchema()
		object.AdditionalProperties.Schema = d.schema(t.Elem(), way)
		return object.NewRef()
	case reflect.Struct:
		return d.object(t, way)
	case reflect.Interface:
		return openapi3.NewSchema().NewRef()
	}
	d.fault("%s has no schema: give it one in special (schema.go)", t)
	return openapi3.NewSchema().NewRef()
}

// maxSafe is the largest whole number that no JSON reader rounds; a body with a larger one is refused.
const maxSafe = 1<<53 - 1

// nullable is a schema that null meets too. A component cannot be told to, so its schema is written out.
func nullable(ref *openapi3.SchemaRef) *openapi3.SchemaRef {
	schema := *ref.Value
	schema.Nullable = true
	if schema.Enum != nil {
		schema.Enum = append(slices.Clone(schema.Enum), nil)
	}
	return schema.NewRef()
}

// object describes a struct. One with a name gets a component, and a reference to it is returned.
func (d *describer) object(t reflect.Type, way direction) *openapi3.SchemaRef {
	if t.Name() == "" {
		return d.members(t, way).NewRef()
	}
	if strings.HasPrefix(t.Name(), "import") && way == in {
		way = loose
	}
	name := componentName(t, way)
	if other, there := d.types[name]; there {
		if other != t {
			d.fault("%s and %s would both be called %s: rename one", other, t, name)
		}
		return openapi3.NewSchemaRef("#/components/schemas/"+name, d.components[name].Value)
	}
	schema := openapi3.NewObjectSchema() // first, so that a type may hold itself
	d.types[name], d.components[name] = t, schema.NewRef()
	*schema = *d.members(t, way)
	return openapi3.NewSchemaRef("#/components/schemas/"+name, schema)
}

// componentName is what readers see: strategyView is a Strategy, strategyBody a StrategyRequest.
func componentName(t reflect.Type, way direction) string {
	name, isBody := strings.CutSuffix(t.Name(), "Body")
	name = strings.TrimSuffix(name, "View")
	switch {
	case way == loose && !strings.HasPrefix(name, "import"):
		name = "import" + strings.ToUpper(name[:1]) + name[1:]
	case isBody && way != out || way == in:
		name += "Request"
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

func (d *describer) members(t reflect.Type, way direction) *openapi3.Schema {
	object := openapi3.NewObjectSchema()
	object.WithoutAdditionalProperties()
	if way != out {
		object.AdditionalProperties = openapi3.AdditionalProperties{Schema: d.anything()}
	}
	d.addMembers(object, []reflect.Type{t}, way)
	slices.Sort(object.Required)
	if shape := shapes[t.Name()]; shape != nil && way == in {
		shape(object)
	}
	return object
}

// addMembers adds the members of the last of owners, the structs that embed each other. A member of the outer one hides
// one of the same name in what it embeds.
func (d *describer) addMembers(object *openapi3.Schema, owners []reflect.Type, way direction) {
	t := owners[len(owners)-1]
	var embedded []reflect.Type
	for i := range t.NumField() {
		field := t.Field(i)
		tag, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && tag == "":
			embedded = append(embedded, field.Type)
		case tag == "":
			d.fault("%s.%s has no json tag", t, field.Name)
		case object.Properties[tag] == nil:
			d.addMember(object, owners, tag, field.Type, strings.Contains(options, "omit"), way)
		}
	}
	for _, inner := range embedded {
		d.addMembers(object, append(slices.Clone(owners), inner), way)
	}
}

func (d *describer) addMember(object *openapi3.Schema, owners []reflect.Type, name string, t reflect.Type, optional bool, way direction) {
	if optional && way == out && t.Kind() == reflect.Pointer {
		t = t.Elem() // nil is left out, and never null
	}
	if isMaybe(t) {
		t = t.Field(1).Type
	}
	known := d.lookUp(owners, name)
	if declared := owners[len(owners)-1].Name(); way == loose && !strings.HasPrefix(declared, "import") && !strings.HasPrefix(known.owner, "import") {
		known.must, known.limit = false, nil
	}
	if known.must && way != out || !optional && way == out {
		object.Required = append(object.Required, name)
	}
	object.WithPropertyRef(name, known.describe(d.schema(t, way), way))
}

// anything is JSON of any sort, but for numbers that would be rounded, which are refused in unknown members too.
func (d *describer) anything() *openapi3.SchemaRef {
	const name = "Anything"
	if d.components[name] == nil {
		self := openapi3.NewSchemaRef("#/components/schemas/"+name, openapi3.NewSchema())
		d.components[name] = self.Value.NewRef()
		list, object := openapi3.NewArraySchema(), openapi3.NewObjectSchema()
		list.Items, object.AdditionalProperties = self, openapi3.AdditionalProperties{Schema: self}
		*self.Value = *openapi3.NewAnyOfSchema(openapi3.NewStringSchema().WithNullable(), openapi3.NewBoolSchema(), number(), list, object)
		self.Value.Description = "Any JSON, nested less than 100 levels deep, without numbers that would be rounded."
	}
	return openapi3.NewSchemaRef("#/components/schemas/"+name, d.components[name].Value)
}

// number is what JSON readers keep exactly, near enough: a larger one is refused.
func number() *openapi3.Schema { return openapi3.NewFloat64Schema().WithMin(-maxSafe).WithMax(maxSafe) }

// isMaybe tells whether t is httpapi's maybe[T], a member that may be left out: its fields are Set and Value.
func isMaybe(t reflect.Type) bool {
	return strings.HasPrefix(t.String(), "httpapi.maybe[")
}

// lookUp is what the table says of a member: of the type that has it, of one that is embedded there, or everywhere.
func (d *describer) lookUp(owners []reflect.Type, name string) member {
	for _, owner := range owners {
		if m, ok := members[owner.Name()+"."+name]; ok && owner.Name() != "" {
			d.used[owner.Name()+"."+name] = true
			m.owner = owner.Name()
			return m
		}
	}
	m, ok := members[name]
	if !ok {
		d.fault("the member %q of %s has no description: add %q or %q to members (members*.go)",
			name, owners[len(owners)-1], name, owners[0].Name()+"."+name)
	}
	d.used[name] = true
	return m
}

// describe puts what is known of a member onto its schema. What a component cannot be told, beside its reference, is
// said by an allOf of one.
func (m member) describe(ref *openapi3.SchemaRef, way direction) *openapi3.SchemaRef {
	schema := *ref.Value
	if ref.Ref != "" {
		schema = openapi3.Schema{AllOf: openapi3.SchemaRefs{ref}}
	}
	schema.Description, schema.Deprecated = m.doc, m.deprecated
	if m.example != nil {
		schema.Example = m.example
	}
	if m.limit != nil && way != out {
		m.limit(&schema)
	}
	if way == loose && m.owner == "" { // too long a text in import data is told in the answer
		schema.MaxLength = nil
	}
	if m.standard != nil && way == in {
		schema.Default = m.standard
	}
	return schema.NewRef()
}
