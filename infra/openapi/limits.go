package main

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"guidon/pkg/access"
	"guidon/pkg/admin/playground"
	"guidon/pkg/evaluate"
	"guidon/pkg/flags"
	"guidon/pkg/review"
	"guidon/pkg/usage"
)

// A limit adds what a text, number or list must satisfy to its schema.
type limit = func(*openapi3.Schema)

// bounds are the numbers in words/, by name. The code checks with the same ones.
var bounds = func() map[string]int {
	defaults := flags.DefaultLimits() // a deployment can set others
	all := map[string]int{
		"MaxAddonEvents": flags.MaxAddonEvents, "MaxAddonProjects": flags.MaxAddonProjects, "MaxAddonEnvironments": flags.MaxAddonEnvironments,
		"MaxAddonParameter": flags.MaxAddonParameter, "MaxApprovals": flags.MaxApprovals, "MaxWallTime": flags.MaxWallTime, "MaxZone": flags.MaxZone,
		"ConstraintValueLength": defaults.ConstraintValueLength, "ConstraintValues": defaults.ConstraintValues, "Constraints": defaults.Constraints,
		"StrategySegments": defaults.StrategySegments, "MaxDescription": flags.MaxDescription, "MaxEmail": access.MaxEmail, "MaxIdentifier": flags.MaxIdentifier,
		"MaxLegalValues": flags.MaxLegalValues, "MaxLinks": flags.MaxLinks, "MaxName": flags.MaxName, "MaxOverrides": flags.MaxOverrides,
		"MaxOverrideValues": flags.MaxOverrideValues, "MaxParameters": flags.MaxParameters, "MaxPayload": flags.MaxPayload, "MaxSegmentName": flags.MaxSegmentName,
		"MaxTag": flags.MaxTag, "MaxTagChanges": flags.MaxTagChanges, "MaxTokenType": len(access.FrontendToken), "MaxURL": flags.MaxURL,
		"MaxUsageApplications": usage.MaxPostApplications, "MaxUsageCounts": usage.MaxCounts, "MaxUsageFeature": usage.MaxFeature,
		"MaxUsageInstances": usage.MaxPostInstances, "MaxUsageName": usage.MaxName, "MaxUsageStrategies": usage.MaxStrategies,
		"MaxUsageVariants": usage.MaxVariants,
		"MaxUserName":      access.MaxUserName, "MaxVariants": flags.MaxVariants, "MaxComment": review.MaxComment, "MaxRequestTitle": review.MaxTitle, "MaxReviewers": review.MaxReviewers, "MinTag": flags.MinTag, "TotalWeight": flags.TotalWeight,
	}
	maps.Copy(all, apiBounds)
	return all
}()

// aliases are the limits that have a name.
var aliases = map[string]string{
	"name":        "minLength 1, pattern name, maxLength MaxName",
	"nameOrEmpty": "pattern nameOrEmpty, maxLength MaxName", // an empty name counts as absent
	"notEmpty":    "minLength 1",
	"notBlank":    "minLength 1, pattern notBlank",
	"title":       "minLength 1, pattern title, maxLength MaxTitle",
	"tag":         "minLength MinTag, maxLength MaxTag",
	"tagType":     "pattern name, minLength MinTag, maxLength MaxTag",
	"roleName":    "minLength 1, pattern notBlank, maxLength MaxRoleName",
	"permission":  "minLength 1, pattern permission, maxLength MaxName",
	"weight":      "minimum 0, maximum TotalWeight",
}

const (
	digits     = `(0|[1-9][0-9]*)`
	identifier = `([0-9]*[A-Za-z-][0-9A-Za-z-]*|0|[1-9][0-9]*)`
	date       = `[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])`
	octet      = `(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])`
	hours      = `([01][0-9]|2[0-3]):[0-5][0-9]`
)

var patterns = map[string]string{
	"name":           flags.NamePattern,
	"nameOrEmpty":    "^$|" + flags.NamePattern,
	"notBlank":       `\S`,
	"noQuote":        `^[^"]*$`,
	"identifier":     `^[^"\x00-\x1F\x7F-\x9F]*$`,                                             // no quote, no control characters
	"title":          `^[^\x00-\x1F\x7F-\x9F]*[^\s\x00-\x1F\x7F-\x9F][^\x00-\x1F\x7F-\x9F]*$`, // not blank, no control characters
	"permission":     `^[A-Z][A-Z0-9_]*$`,
	"link":           flags.LinkPattern,
	"pointer":        "^/",
	"tokenType":      anyCase(apiTokenTypes...),
	"tagFilter":      `^[^:]+:(.|\n|\r)+$`,
	"isFilter":       `^(IS|IS_NOT|IS_ANY_OF|IS_NONE_OF):.*[^ ].*$`,
	"includesFilter": `^(INCLUDE|DO_NOT_INCLUDE|INCLUDE_ALL_OF|INCLUDE_ANY_OF|EXCLUDE_IF_ANY_OF|EXCLUDE_ALL):.*[^ ].*$`,
	"statusFilter":   `:(enabled|disabled)$`,
	"archivedFilter": `^IS:(true|false)$`,
	"dateFilter":     `^(IS_BEFORE|IS_ON_OR_AFTER):20[0-9]{2}-0[1-9]-(0[1-9]|1[0-9]|2[0-8])$`,
	"boolean":        `^(true|false)$`,
	"decimal":        `^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`,
	"decimalOrEmpty": `^([+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?)?$`,
	"time":           `^` + date + `(T` + hours + `(:[0-5][0-9](\.[0-9]+)?)?(Z|[+-]` + hours + `)?)?$`,
	"semver": `^` + digits + `\.` + digits + `\.` + digits + `(-` + identifier + `(\.` + identifier + `)*)?` +
		`(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`,
	"ipv4Network": `^(` + octet + `\.){3}` + octet + `/(3[0-2]|[12]?[0-9])$`,
	"ipv6Network": `^[0-9A-Fa-f.:]*:[0-9A-Fa-f.:]*/(12[0-8]|1[01][0-9]|[1-9]?[0-9])$`,
}

var apiTokenTypes = []access.TokenType{access.AdminToken, access.BackendToken, access.ClientToken, access.FrontendToken}

var enums = map[string][]any{
	"AddonProviders":     {flags.AddonWebhook, flags.AddonSlack},
	"CompletionStatuses": plain(flags.CompletionStatuses()),
	"CustomRoleTypes":    plain([]access.RoleType{access.CustomRootRole, access.CustomProjectRole}),
	"False":              {false},
	"FeatureTypes":       plain(flags.FeatureTypes()),
	"Operators":          plain(flags.Operators()),
	"ParameterTypes":     plain(flags.ParameterTypes()),
	"PatchOperations":    {"add", "remove", "replace", "copy", "move", "test"},
	"PayloadTypes":       {"json", "csv", "string", "number"},
	"ProjectModes":       plain([]string{flags.ModeOpen, flags.ModeProtected, flags.ModePrivate}),
	"Actions":            plain(review.Actions()),
	"RequestStates":      plain([]review.State{review.InReview, review.Approved, review.Scheduled, review.Applied, review.Cancelled, review.Rejected}),
	"WeightTypes":        plain([]flags.WeightType{flags.Variable, flags.Fix}),
}

// typeEnums are the types of the domain with a fixed set of values.
var typeEnums = map[reflect.Type][]any{
	reflect.TypeFor[flags.FeatureType](): enums["FeatureTypes"],
	reflect.TypeFor[flags.Operator]():    enums["Operators"],
	reflect.TypeFor[flags.WeightType]():  enums["WeightTypes"],
	reflect.TypeFor[access.TokenType]():  plain(apiTokenTypes),
	reflect.TypeFor[access.RoleType]():   plain([]access.RoleType{access.RootRole, access.ProjectRole, access.CustomRootRole, access.CustomProjectRole}),
}

// plain converts the values to plain strings.
func plain[T ~string](list []T) (values []any) {
	for _, v := range list {
		values = append(values, string(v))
	}
	return values
}

// anyCase is a pattern that matches some words in any mixture of upper and lower case.
func anyCase(words ...access.TokenType) string {
	alternatives := make([]string, len(words))
	for i, word := range words {
		for _, c := range string(word) {
			alternatives[i] += "[" + strings.ToUpper(string(c)) + string(c) + "]"
		}
	}
	return "^(" + strings.Join(alternatives, "|") + ")$"
}

// parseLimit reads limits such as "notEmpty, maxLength MaxTitle, each maxLength MaxName". "each" applies to the items of a
// list, or the values of an object.
func parseLimit(text string) (limit, error) {
	var all []limit
	for term := range strings.SplitSeq(text, ", ") {
		term, each := strings.CutPrefix(term, "each ")
		one, err := parseTerm(term)
		if err != nil {
			return nil, err
		}
		if each {
			one = onItems(one)
		}
		all = append(all, one)
	}
	return func(s *openapi3.Schema) {
		for _, one := range all {
			one(s)
		}
	}, nil
}

func parseTerm(term string) (limit, error) {
	if known := aliases[term]; known != "" {
		return parseLimit(known)
	}
	keyword, argument, _ := strings.Cut(term, " ")
	n, isBound := bounds[argument]
	if !isBound {
		n, _ = strconv.Atoi(argument)
	}
	u, f := uint64(max(0, n)), float64(n)
	switch {
	case term == "":
		return func(*openapi3.Schema) {}, nil
	case term == "dateTime":
		return func(s *openapi3.Schema) { s.Format = "date-time" }, nil
	case keyword == "pattern" && patterns[argument] != "":
		return func(s *openapi3.Schema) { s.Pattern = patterns[argument] }, nil
	case keyword == "oneOf" && enums[argument] != nil:
		return func(s *openapi3.Schema) { s.Enum = enums[argument] }, nil
	case !isBound && argument != strconv.Itoa(n):
	case keyword == "minLength":
		return func(s *openapi3.Schema) { s.MinLength = u }, nil
	case keyword == "maxLength":
		return func(s *openapi3.Schema) { s.MaxLength = &u }, nil
	case keyword == "minItems":
		return func(s *openapi3.Schema) { s.MinItems = u }, nil
	case keyword == "maxItems":
		return func(s *openapi3.Schema) { s.MaxItems = &u }, nil
	case keyword == "maxProperties":
		return func(s *openapi3.Schema) { s.MaxProps = &u }, nil
	case keyword == "minimum":
		return func(s *openapi3.Schema) { s.Min = &f }, nil
	case keyword == "maximum":
		return func(s *openapi3.Schema) { s.Max = &f }, nil
	case keyword == "multipleOf":
		return func(s *openapi3.Schema) { s.MultipleOf = &f }, nil
	}
	return nil, fmt.Errorf("the limit %q is unknown: limits.go has the keywords, bounds, patterns and enums", term)
}

// mustLimit is for the limits in this package.
func mustLimit(text string) limit {
	known, err := parseLimit(text)
	if err != nil {
		panic(err)
	}
	return known
}

// onItems applies a limit to the items of a list, or to the values of an object whose names are free.
func onItems(one limit) limit {
	return func(s *openapi3.Schema) {
		if values := s.AdditionalProperties.Schema; values != nil {
			value := *values.Value
			one(&value)
			s.AdditionalProperties.Schema = value.NewRef()
			return
		}
		item := *s.Items.Value
		one(&item)
		s.Items = item.NewRef()
	}
}

// special has the schemas of types with their own JSON form, by name.
var special = map[string]func() *openapi3.Schema{
	"time": func() *openapi3.Schema {
		s := openapi3.NewDateTimeSchema()
		s.Example = "2026-03-04T05:06:07.000Z"
		return s
	},
	"eventDocument": func() *openapi3.Schema {
		return openapi3.NewObjectSchema().WithAnyAdditionalProperties().WithNullable()
	},
	"parameter": func() *openapi3.Schema {
		return openapi3.NewAnyOfSchema(
			openapi3.NewStringSchema().WithMaxLength(flags.MaxParameter), number(), openapi3.NewBoolSchema(),
		).WithNullable()
	},
	"count": func() *openapi3.Schema {
		return openapi3.NewInt64Schema().WithMin(0).WithMax(float64(usage.MaxCount))
	},
	"number": number,
	"moment": func() *openapi3.Schema {
		return openapi3.NewAnyOfSchema(openapi3.NewDateTimeSchema(), openapi3.NewInt64Schema().WithMin(0).WithMax(1<<47))
	},
	"verdict": func() *openapi3.Schema {
		return openapi3.NewAnyOfSchema(openapi3.NewBoolSchema(), openapi3.NewStringSchema().WithEnum("unknown"))
	},
	"projectsBody": func() *openapi3.Schema {
		ids := openapi3.NewArraySchema().WithItems(openapi3.NewStringSchema())
		mustLimit("maxItems MaxBulk, each name")(ids)
		return openapi3.NewOneOfSchema(ids, openapi3.NewStringSchema().WithEnum(flags.All))
	},
	"changesBody": func() *openapi3.Schema {
		change := openapi3.NewObjectSchema().WithAnyAdditionalProperties().WithRequired([]string{"action"}).
			WithProperty("action", openapi3.NewStringSchema().WithEnum(enums["Actions"]...)).
			WithProperty("feature", openapi3.NewStringSchema().WithMaxLength(flags.MaxName))
		return openapi3.NewOneOfSchema(change, openapi3.NewArraySchema().WithItems(change).WithMinItems(1).WithMaxItems(review.MaxChanges))
	},
	"contextBody": contextSchema,
	"roleRef": func() *openapi3.Schema {
		name := openapi3.NewStringSchema()
		mustLimit("maxLength MaxRoleName")(name)
		return openapi3.NewOneOfSchema(openapi3.NewInt64Schema().WithMin(1).WithMax(maxSafe), name)
	},
}

// contextSchema describes the context of the playground: standard fields, and any others as properties.
func contextSchema() *openapi3.Schema {
	text := func() *openapi3.Schema { return openapi3.NewStringSchema().WithMaxLength(evaluate.MaxValueLength) }
	s := openapi3.NewObjectSchema().WithAnyAdditionalProperties().WithMaxProperties(playground.MaxFields)
	for _, name := range []string{"userId", "sessionId", "remoteAddress", "environment"} {
		s.WithProperty(name, text())
	}
	s.WithProperty("appName", text().WithMinLength(1)).WithProperty("currentTime", openapi3.NewDateTimeSchema())
	s.WithProperty("properties", openapi3.NewObjectSchema().WithAdditionalProperties(text()).WithMaxProperties(playground.MaxFields))
	s.Required = []string{"appName"}
	return s
}

// shapes has the rules of types for several fields at once, or for the whole list.
var shapes = map[string]limit{
	"createProjectBody": func(s *openapi3.Schema) {
		s.AnyOf = openapi3.SchemaRefs{notEmpty("id"), {Value: &openapi3.Schema{Required: []string{"name"}}}}
	},
	"createUserBody": func(s *openapi3.Schema) { s.AnyOf = openapi3.SchemaRefs{notEmpty("username"), notEmpty("email")} },
	"createTokenBody": func(s *openapi3.Schema) {
		s.AnyOf = openapi3.SchemaRefs{{Value: &openapi3.Schema{Required: []string{"tokenName"}}}, {Value: &openapi3.Schema{Required: []string{"username"}}}}
	},
	"frontendContext": func(s *openapi3.Schema) {
		mustLimit("maxLength 262144")(s.Properties["properties"].Value.AdditionalProperties.Schema.Value)
	},
	"constraintBody":         constraintShape,
	"validateConstraintBody": constraintShape,
	"patchOperation":         patchShape,
	"patch":                  mustLimit("maxItems MaxPatchOperations"),
	"patchBody":              mustLimit("maxItems MaxPatchOperations"),
	"metadataPatch":          mustLimit("maxItems MaxPatchOperations"),
	"strategyPatch":          mustLimit("maxItems MaxPatchOperations"),
	"variantsBody":           mustLimit("maxItems MaxVariants"),
	"strategyOrderBody":      mustLimit("maxItems MaxBulk"),
	"environmentOrderBody":   mustLimit("maxProperties MaxBulk"),
}

// notEmpty is an alternative that requires a non-empty text.
func notEmpty(name string) *openapi3.SchemaRef {
	s := openapi3.NewSchema().WithProperty(name, openapi3.NewStringSchema().WithMinLength(1))
	s.Required = []string{name}
	return s.NewRef()
}

// alternative is a branch of a oneOf, for some values of a field. It requires another field, unless that is "".
func alternative(name string, values []any, required string, schema *openapi3.Schema) *openapi3.SchemaRef {
	a := openapi3.NewSchema().WithProperty(name, openapi3.NewStringSchema().WithEnum(values...))
	if required != "" {
		a.WithProperty(required, schema).Required = []string{required}
	}
	return a.NewRef()
}

// constraintShape requires the value, or values, that the operator compares with.
func constraintShape(s *openapi3.Schema) {
	operators := func(kind flags.ValueKind) []any {
		return plain(slices.DeleteFunc(flags.Operators(), func(o flags.Operator) bool { return o.Kind() != kind }))
	}
	text := func(pattern string) *openapi3.Schema {
		return openapi3.NewStringSchema().WithPattern(patterns[pattern])
	}
	s.OneOf = openapi3.SchemaRefs{
		alternative("operator", operators(flags.Addresses), "values", openapi3.NewArraySchema().WithItems(addressShape()).WithMinItems(1)),
		alternative("operator", operators(flags.Pattern), "value", openapi3.NewStringSchema().WithFormat("regex").WithMinLength(1)),
		alternative("operator", operators(flags.Texts), "values", openapi3.NewArraySchema().WithItems(openapi3.NewStringSchema().WithMinLength(1)).WithMinItems(1)),
		alternative("operator", operators(flags.Number), "value", text("decimal")),
		alternative("operator", operators(flags.Date), "value", text("time")),
		alternative("operator", operators(flags.Version), "value", text("semver")),
	}
}

// addressShape describes an IP address or a network.
func addressShape() *openapi3.Schema {
	text := openapi3.NewStringSchema
	return openapi3.NewAnyOfSchema(text().WithFormat("ipv4"), text().WithFormat("ipv6"), text().WithPattern(patterns["ipv4Network"]), text().WithPattern(patterns["ipv6Network"]))
}

// patchShape requires the fields that RFC 6902 requires of each operation.
func patchShape(s *openapi3.Schema) {
	s.OneOf = openapi3.SchemaRefs{
		alternative("op", []any{"add", "replace", "test"}, "value", openapi3.NewSchema()),
		alternative("op", []any{"copy", "move"}, "from", openapi3.NewStringSchema().WithPattern("^/")),
		alternative("op", []any{"remove"}, "", nil),
	}
}
