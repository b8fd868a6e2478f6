package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json/jsontext"
)

// A direction tells bodies from responses: they need different schemas for the same type.
type direction int

const (
	in    direction = iota // bodies: fields may be omitted, and unknown ones are ignored
	out                    // responses: all fields are present, and no others
	loose                  // import data: only wrong types are refused; the response reports everything else
)

// A describer creates the schemas of Go types. kin-openapi's openapi3gen does not fit: it has one schema for a type in bodies
// and responses, and takes descriptions and limits only from struct tags.
type describer struct {
	words      *words
	components openapi3.Schemas
	failures   openapi3.ResponseBodies
	types      map[string]reflect.Type // of the components
	used       map[string]bool         // entries of words.Fields, and of words.Shapes after "shape "
	faults     []string
}

func (d *describer) fault(format string, args ...any) {
	if fault := fmt.Sprintf(format, args...); !slices.Contains(d.faults, fault) {
		d.faults = append(d.faults, fault)
	}
}

// schema returns the schema of a type. A named struct becomes a component.
func (d *describer) schema(t reflect.Type, way direction) *openapi3.SchemaRef {
	if t == reflect.TypeFor[jsontext.Value]() || t == reflect.TypeFor[*jsontext.Value]() {
		return d.anything()
	}
	if known, ok := d.words.Schemas[typeName(t)]; ok {
		described := written(known)
		if way == loose { // a long text is no reason to refuse an import either
			for _, alternative := range described.AnyOf {
				alternative.Value.MaxLength = nil
			}
		}
		return described.NewRef()
	}
	if values := typeEnums[t]; values != nil {
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
	case reflect.Slice, reflect.Array:
		list := openapi3.NewArraySchema()
		list.Items = d.schema(t.Elem(), way)
		if t.Kind() == reflect.Array {
			list.WithMinItems(int64(t.Len())).WithMaxItems(int64(t.Len()))
		}
		d.shape(list, t)
		return list.NewRef()
	case reflect.Map:
		object := openapi3.NewObjectSchema()
		object.AdditionalProperties.Schema = d.schema(t.Elem(), way)
		d.shape(object, t)
		return object.NewRef()
	case reflect.Struct:
		return d.object(t, way)
	case reflect.Interface:
		return openapi3.NewSchema().NewRef()
	}
	d.fault("%s has no schema: add one to words/schemas.yaml", t)
	return openapi3.NewSchema().NewRef()
}

// maxSafe is the largest integer that no JSON parser rounds. Bodies with a larger one are refused.
const maxSafe = 1<<53 - 1

// nullable also allows null. A reference to a component cannot, so its schema is copied.
func nullable(ref *openapi3.SchemaRef) *openapi3.SchemaRef {
	schema := *ref.Value
	schema.Nullable = true
	if schema.Enum != nil {
		schema.Enum = append(slices.Clone(schema.Enum), nil)
	}
	return schema.NewRef()
}

// object returns the schema of a struct, or a reference to its component.
func (d *describer) object(t reflect.Type, way direction) *openapi3.SchemaRef {
	if t.Name() == "" {
		return d.fields(t, way).NewRef()
	}
	if strings.HasPrefix(typeName(t), "import") && way == in {
		way = loose
	}
	name := componentName(t, way)
	if other, there := d.types[name]; there {
		if other != t {
			d.fault("%s and %s would both be the component %s: rename one", other, t, name)
		}
		return openapi3.NewSchemaRef("#/components/schemas/"+name, d.components[name].Value)
	}
	schema := openapi3.NewObjectSchema() // registered first, because a type can contain itself
	d.types[name], d.components[name] = t, schema.NewRef()
	*schema = *d.fields(t, way)
	return openapi3.NewSchemaRef("#/components/schemas/"+name, schema)
}

// componentName is Strategy for strategyView and StrategyRequest for strategyBody.
func componentName(t reflect.Type, way direction) string {
	name, isBody := strings.CutSuffix(typeName(t), "Body")
	if strings.HasSuffix(t.PkgPath(), "/evaluate") { // its types have the names of stored ones
		name = "evaluated" + strings.ToUpper(name[:1]) + name[1:]
	}
	name = strings.TrimSuffix(name, "View")
	switch {
	case way == loose && !strings.HasPrefix(name, "import"):
		name = "import" + strings.ToUpper(name[:1]) + name[1:]
	case isBody && way != out || way == in:
		name += "Request"
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

func (d *describer) fields(t reflect.Type, way direction) *openapi3.Schema {
	object := openapi3.NewObjectSchema()
	object.WithoutAdditionalProperties()
	if way != out {
		object.AdditionalProperties = openapi3.AdditionalProperties{Schema: d.anything()}
	}
	d.addFields(object, []reflect.Type{t}, way)
	slices.Sort(object.Required)
	if way == in {
		d.shape(object, t)
	}
	return object
}

// shape adds the rules that words/ has for several fields of a type at once, or for a whole list.
func (d *describer) shape(s *openapi3.Schema, t reflect.Type) {
	d.used["shape "+typeName(t)] = true
	shape := written(d.words.Shapes[typeName(t)])
	s.AnyOf, s.OneOf = shape.AnyOf, shape.OneOf
	if shape.MaxItems != nil {
		s.MaxItems = shape.MaxItems
	}
	s.MaxProps = shape.MaxProps
}

// addFields adds the fields of the last owner; each owner is embedded in the one before. A field of the outer struct hides a
// field with the same name in an embedded one.
func (d *describer) addFields(object *openapi3.Schema, owners []reflect.Type, way direction) {
	t := owners[len(owners)-1]
	var embedded []reflect.Type
	for i := range t.NumField() {
		field := t.Field(i)
		tag, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && tag == "" && field.Type.Kind() == reflect.Pointer:
			embedded = append(embedded, field.Type.Elem())
		case field.Anonymous && tag == "":
			embedded = append(embedded, field.Type)
		case tag == "":
			d.fault("%s.%s has no json tag", t, field.Name)
		case object.Properties[tag] == nil:
			d.addField(object, owners, tag, field.Type, strings.Contains(options, "omit"), way)
		}
	}
	for _, inner := range embedded {
		d.addFields(object, append(slices.Clone(owners), inner), way)
	}
}

func (d *describer) addField(object *openapi3.Schema, owners []reflect.Type, name string, t reflect.Type, optional bool, way direction) {
	if optional && way == out && t.Kind() == reflect.Pointer {
		t = t.Elem() // nil is omitted, never null
	}
	if isMaybe(t) {
		t = t.Field(1).Type
	}
	known := d.lookUp(owners, name)
	if declared := typeName(owners[len(owners)-1]); way == loose && !strings.HasPrefix(declared, "import") && !strings.HasPrefix(known.owner, "import") {
		known.Required, known.Limit = false, ""
	}
	if known.Required && way != out || !optional && way == out {
		object.Required = append(object.Required, name)
	}
	object.WithPropertyRef(name, d.describe(known, d.schema(t, way), way))
}

// anything allows any JSON except numbers that would be rounded; those are refused in unknown fields too.
func (d *describer) anything() *openapi3.SchemaRef {
	const name = "Anything"
	if d.components[name] == nil {
		self := openapi3.NewSchemaRef("#/components/schemas/"+name, openapi3.NewSchema())
		d.components[name] = self.Value.NewRef()
		list, object := openapi3.NewArraySchema(), openapi3.NewObjectSchema()
		list.Items, object.AdditionalProperties = self, openapi3.AdditionalProperties{Schema: self}
		*self.Value = *openapi3.NewAnyOfSchema(openapi3.NewStringSchema().WithNullable(), openapi3.NewBoolSchema(), number(), list, object)
		self.Value.Description = "Any JSON with less than 100 levels of nesting and without numbers that would be rounded."
	}
	return openapi3.NewSchemaRef("#/components/schemas/"+name, d.components[name].Value)
}

// number has the range that JSON parsers keep exactly enough; larger numbers are refused.
func number() *openapi3.Schema { return openapi3.NewFloat64Schema().WithMin(-maxSafe).WithMax(maxSafe) }

// typeName returns the name of a type as words/ has it, exported or not: strategyView for wire.StrategyView.
func typeName(t reflect.Type) string { return lowerFirst(t.Name()) }

func lowerFirst(name string) string {
	if name == "" {
		return name
	}
	return strings.ToLower(name[:1]) + name[1:]
}

// isMaybe reports whether t is maybe[T], a field that can be omitted. Its fields are Set and Value.
func isMaybe(t reflect.Type) bool {
	return strings.HasPrefix(typeName(t), "maybe[")
}

// lookUp returns the entry for a field: of its type, of an embedded type, or for all types.
func (d *describer) lookUp(owners []reflect.Type, name string) field {
	for _, owner := range owners {
		key := typeName(owner) + "." + name
		if f, ok := d.words.Fields[key]; ok && owner.Name() != "" {
			d.used[key] = true
			f.owner = typeName(owner)
			return f
		}
	}
	f, ok := d.words.Fields[name]
	if !ok {
		d.fault("the field %q of %s has no description: add %q or %q to the fields of a file in words/",
			name, owners[len(owners)-1], name, owners[0].Name()+"."+name)
	}
	d.used[name] = true
	return f
}

// describe adds the entry of a field to its schema. Nothing can stand beside a reference, so a component is wrapped in allOf.
func (d *describer) describe(f field, ref *openapi3.SchemaRef, way direction) *openapi3.SchemaRef {
	schema := *ref.Value
	if ref.Ref != "" {
		schema = openapi3.Schema{AllOf: openapi3.SchemaRefs{ref}}
	}
	schema.Description, schema.Deprecated = f.Description, f.Deprecated
	if f.Example != nil {
		schema.Example = f.Example
	}
	if way != out {
		if err := addLimit(&schema, f.Limit); err != nil {
			d.fault("%q: %v", f.Description, err)
		}
	}
	if way == loose && f.owner == "" { // the response reports a text that is too long
		schema.MaxLength = nil
	}
	if f.Default != nil && way == in {
		schema.Default = f.Default
	}
	return schema.NewRef()
}
