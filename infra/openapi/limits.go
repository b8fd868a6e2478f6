package main

import (
	"reflect"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// A limit puts what a text, number or list must keep to onto its schema. The numbers are those that the code checks with.
type limit = func(*openapi3.Schema)

// defaults are the limits that a deployment can set otherwise.
var defaults = flags.DefaultLimits()

func aName(s *openapi3.Schema) {
	s.MinLength, s.Pattern = 1, flags.NamePattern
	longest(flags.MaxName)(s)
}

// aNameOrNone is for names that count as absent when they are empty.
func aNameOrNone(s *openapi3.Schema) {
	s.Pattern = "^$|" + flags.NamePattern
	longest(flags.MaxName)(s)
}

func aTag(s *openapi3.Schema) {
	s.MinLength = flags.MinTag
	longest(flags.MaxTag)(s)
}

func aTagType(s *openapi3.Schema) {
	s.Pattern = flags.NamePattern
	aTag(s)
}

// aTitle is what people read of a token: not blank, and without control characters.
func aTitle(s *openapi3.Schema) {
	s.MinLength, s.Pattern = 1, `^[^\x00-\x1F\x7F-\x9F]*[^\s\x00-\x1F\x7F-\x9F][^\x00-\x1F\x7F-\x9F]*$`
	longest(httpapi.MaxTitle)(s)
}

func aRoleName(s *openapi3.Schema) {
	notBlank(s)
	longest(httpapi.MaxRoleName)(s)
}

func aPermission(s *openapi3.Schema) {
	s.MinLength, s.Pattern = 1, `^[A-Z][A-Z0-9_]*$`
	longest(flags.MaxName)(s)
}

func aMoment(s *openapi3.Schema) { s.Format = "date-time" }

func notEmpty(s *openapi3.Schema) { s.MinLength = 1 }

// notBlank wants something besides white space.
func notBlank(s *openapi3.Schema) { s.MinLength, s.Pattern = 1, `\S` }

func notNegative(s *openapi3.Schema) { s.Min = new(0.0) }

// between is for whole numbers.
func between(least, greatest float64) limit {
	return func(s *openapi3.Schema) { s.WithMin(least).WithMax(greatest) }
}

func longest(characters uint64) limit {
	return func(s *openapi3.Schema) { s.MaxLength = &characters }
}

func most(items int) limit {
	return func(s *openapi3.Schema) { s.MaxItems = new(uint64(items)) } //nolint:gosec // limits are never negative
}

// mostMembers bounds an object whose members have any names.
func mostMembers(members uint64) limit {
	return func(s *openapi3.Schema) { s.MaxProps = &members }
}

func none(s *openapi3.Schema) { most(0)(s) }

func atLeastOne(s *openapi3.Schema) { s.MinItems = 1 }

// oneOf allows some values alone.
func oneOf[T any](values ...T) limit {
	return func(s *openapi3.Schema) {
		s.Enum = nil
		for _, v := range values {
			s.Enum = append(s.Enum, plain(v))
		}
	}
}

// inAnyCase allows some words in any mixture of capitals.
func inAnyCase(words ...flags.TokenType) limit {
	alternatives := make([]string, len(words))
	for i, word := range words {
		for _, c := range string(word) {
			alternatives[i] += "[" + strings.ToUpper(string(c)) + string(c) + "]"
		}
	}
	return func(s *openapi3.Schema) { s.Pattern = "^(" + strings.Join(alternatives, "|") + ")$" }
}

// each puts a limit on the items of a list.
func each(one limit) limit {
	return func(s *openapi3.Schema) {
		item := *s.Items.Value
		one(&item)
		s.Items = item.NewRef()
	}
}

// both puts two limits on one schema.
func both(a, b limit) limit {
	return func(s *openapi3.Schema) { a(s); b(s) }
}

// valuesOf lists the values that a type of the domain can have; nil when it is open.
func valuesOf(t reflect.Type) []any {
	switch t {
	case reflect.TypeFor[flags.FeatureType]():
		return plainList(flags.FeatureTypes())
	case reflect.TypeFor[flags.Operator]():
		return plainList(flags.Operators())
	case reflect.TypeFor[flags.WeightType]():
		return plainList([]flags.WeightType{flags.Variable, flags.Fix})
	case reflect.TypeFor[flags.TokenType]():
		return plainList(apiTokenTypes)
	case reflect.TypeFor[flags.RoleType]():
		return plainList([]flags.RoleType{flags.RootRole, flags.ProjectRole, flags.CustomRootRole, flags.CustomProjectRole})
	}
	return nil
}

var apiTokenTypes = []flags.TokenType{flags.AdminToken, flags.ClientToken, flags.FrontendToken}

func plainList[T any](list []T) []any {
	out := make([]any, 0, len(list))
	for _, v := range list {
		out = append(out, plain(v))
	}
	return out
}

// plain is a value as JSON has it: a string of a type of its own is a string.
func plain(v any) any {
	if value := reflect.ValueOf(v); value.Kind() == reflect.String {
		return value.String()
	}
	return v
}

// special has the schemas of types that read or write themselves.
var special = map[string]func() *openapi3.Schema{
	"httpapi.timestamp": func() *openapi3.Schema {
		s := openapi3.NewDateTimeSchema()
		s.Example = moment
		return s
	},
	"httpapi.eventDocument": func() *openapi3.Schema {
		return openapi3.NewObjectSchema().WithAnyAdditionalProperties().WithNullable()
	},
	"httpapi.parameter": func() *openapi3.Schema {
		return openapi3.NewAnyOfSchema(
			openapi3.NewStringSchema().WithMaxLength(flags.MaxParameter), number(), openapi3.NewBoolSchema(),
		).WithNullable()
	},
	"httpapi.roleRef": func() *openapi3.Schema {
		return openapi3.NewOneOfSchema(openapi3.NewInt64Schema().WithMin(1).WithMax(maxSafe), openapi3.NewStringSchema().WithMaxLength(httpapi.MaxRoleName))
	},
}

// shapes has the rules of types that are about several members at once.
var shapes = map[string]limit{
	"createProjectBody": func(s *openapi3.Schema) {
		id := openapi3.NewSchema().WithProperty("id", openapi3.NewStringSchema().WithMinLength(1))
		id.Required = []string{"id"}
		s.AnyOf = openapi3.SchemaRefs{id.NewRef(), {Value: &openapi3.Schema{Required: []string{"name"}}}}
	},
	"createUserBody": func(s *openapi3.Schema) {
		for _, name := range []string{"username", "email"} {
			given := openapi3.NewSchema().WithProperty(name, openapi3.NewStringSchema().WithMinLength(1))
			given.Required = []string{name}
			s.AnyOf = append(s.AnyOf, given.NewRef())
		}
	},
	"createTokenBody": func(s *openapi3.Schema) {
		s.AnyOf = openapi3.SchemaRefs{{Value: &openapi3.Schema{Required: []string{"tokenName"}}}, {Value: &openapi3.Schema{Required: []string{"username"}}}}
	},
	"constraintBody":         constraintShape,
	"validateConstraintBody": constraintShape,
	"patchOperation":         patchShape,
	"patchBody":              maxPatch,
	"metadataPatch":          maxPatch,
	"variantsBody":           most(flags.MaxVariants),
	"strategyOrderBody":      most(httpapi.MaxBulk),
	"environmentOrderBody":   mostMembers(httpapi.MaxBulk),
}

// constraintShape wants of each operator what it compares with.
func constraintShape(s *openapi3.Schema) {
	alternative := func(member string, value *openapi3.Schema, prefixes ...string) *openapi3.SchemaRef {
		var operators []any
		for _, o := range flags.Operators() {
			if slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(string(o), prefix) }) {
				operators = append(operators, string(o))
			}
		}
		a := openapi3.NewSchema().WithProperty("operator", openapi3.NewStringSchema().WithEnum(operators...)).WithProperty(member, value)
		a.Required = []string{member}
		return a.NewRef()
	}
	text := openapi3.NewStringSchema
	values := openapi3.NewArraySchema().WithItems(text()).WithMinItems(1)
	const digits = `(0|[1-9][0-9]*)`
	const identifier = `([0-9]*[A-Za-z-][0-9A-Za-z-]*|0|[1-9][0-9]*)`
	s.OneOf = openapi3.SchemaRefs{
		alternative("values", values, "IN", "NOT_IN", "STR_"),
		alternative("value", text().WithPattern(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`), "NUM_"),
		alternative("value", text().WithPattern(`^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]+)?)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])?)?$`), "DATE_"),
		alternative("value", text().WithPattern(`^`+digits+`\.`+digits+`\.`+digits+`(-`+identifier+`(\.`+identifier+`)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`), "SEMVER_"),
	}
}

// patchShape wants of each operation what RFC 6902 does.
func patchShape(s *openapi3.Schema) {
	alternative := func(member string, value *openapi3.Schema, operations ...any) *openapi3.SchemaRef {
		a := openapi3.NewSchema().WithProperty("op", openapi3.NewStringSchema().WithEnum(operations...))
		if member != "" {
			a.WithProperty(member, value).Required = []string{member}
		}
		return a.NewRef()
	}
	s.OneOf = openapi3.SchemaRefs{
		alternative("value", openapi3.NewSchema(), "add", "replace", "test"),
		alternative("from", openapi3.NewStringSchema().WithPattern("^/"), "copy", "move"),
		alternative("", nil, "remove"),
	}
}
