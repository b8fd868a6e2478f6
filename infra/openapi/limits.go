package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
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

// expand replaces "$Name" in a file of words/ with the bound, pattern or enum of that name.
func expand(text string) string {
	return regexp.MustCompile(`\$\w+`).ReplaceAllStringFunc(text, func(name string) string {
		bound, isBound := bounds[name[1:]]
		enum, isEnum := enums[name[1:]]
		switch pattern := patterns[name[1:]]; {
		case isBound:
			return strconv.Itoa(bound)
		case isEnum:
			return asJSON(enum)
		case pattern != "":
			return asJSON(pattern)
		}
		return name
	})
}

func asJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // texts and lists of texts
	}
	return string(text)
}

// bounds are the numbers in words/, by name. The code checks with the same ones.
var bounds = func() map[string]int {
	defaults := flags.DefaultLimits() // a deployment can set others
	all := map[string]int{
		"MaxAddonEvents": flags.MaxAddonEvents, "MaxAddonProjects": flags.MaxAddonProjects, "MaxAddonEnvironments": flags.MaxAddonEnvironments,
		"MaxAddonParameter": flags.MaxAddonParameter, "MaxApprovals": flags.MaxApprovals, "MaxWallTime": flags.MaxWallTime, "MaxZone": flags.MaxZone,
		"ConstraintValueLength": defaults.ConstraintValueLength, "ConstraintValues": defaults.ConstraintValues, "Constraints": defaults.Constraints,
		"StrategySegments": defaults.StrategySegments, "MaxDescription": flags.MaxDescription, "MaxEmail": access.MaxEmail, "MaxIdentifier": flags.MaxIdentifier,
		"MaxLegalValues": flags.MaxLegalValues, "MaxLinks": flags.MaxLinks, "MaxName": flags.MaxName, "MaxSignalName": flags.MaxSignalName, "MaxCodePath": flags.MaxCodePath, "MaxCodeLine": flags.MaxCodeLine, "MaxSafeguards": flags.MaxSafeguards, "MaxAlarm": flags.MaxAlarm, "MaxMilestones": flags.MaxMilestones, "MaxMilestoneStrategies": flags.MaxMilestoneStrategies, "MaxMilestoneMinutes": flags.MaxMilestoneMinutes, "MaxOverrides": flags.MaxOverrides,
		"MaxOverrideValues": flags.MaxOverrideValues, "MaxParameters": flags.MaxParameters, "MaxPayload": flags.MaxPayload, "MaxSegmentName": flags.MaxSegmentName,
		"MaxTag": flags.MaxTag, "MaxTagChanges": flags.MaxTagChanges, "MaxTokenType": len(access.FrontendToken), "MaxURL": flags.MaxURL,
		"MaxUsageApplications": usage.MaxPostApplications, "MaxUsageCounts": usage.MaxCounts, "MaxUsageFeature": usage.MaxFeature,
		"MaxUsageInstances": usage.MaxPostInstances, "MaxUsageName": usage.MaxName, "MaxUsageStrategies": usage.MaxStrategies,
		"MaxUsageVariants": usage.MaxVariants, "MaxCount": int(usage.MaxCount),
		"MaxParameter": flags.MaxParameter, "MaxChanges": review.MaxChanges, "MaxFields": playground.MaxFields, "MaxValueLength": evaluate.MaxValueLength, "MaxSafe": maxSafe,
		"MaxUserName": access.MaxUserName, "MaxVariants": flags.MaxVariants, "MaxComment": review.MaxComment, "MaxRequestTitle": review.MaxTitle, "MaxReviewers": review.MaxReviewers, "MinTag": flags.MinTag, "TotalWeight": flags.TotalWeight, "MaxValueType": len(flags.BooleanValue),
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
	"page":           flags.PagePattern,
	"pageOrEmpty":    "^$|" + flags.PagePattern,
	"pointer":        "^/",
	"tokenType":      anyCase(apiTokenTypes...),
	"tagFilter":      `^[^:]+:(.|\n|\r)+$`,
	"isFilter":       `^(IS|IS_NOT|IS_ANY_OF|IS_NONE_OF):.*[^ ].*$`,
	"includesFilter": `^(INCLUDE|DO_NOT_INCLUDE|INCLUDE_ALL_OF|INCLUDE_ANY_OF|EXCLUDE_IF_ANY_OF|EXCLUDE_ALL):.*[^ ].*$`,
	"statusFilter":   `:(enabled|disabled|plan)$`,
	"archivedFilter": `^IS:(true|false)$`,
	"dateFilter":     `^(IS_BEFORE|IS_ON_OR_AFTER):20[0-9]{2}-0[1-9]-(0[1-9]|1[0-9]|2[0-8])$`,
	"commit":         `^[0-9A-Za-z]{0,64}$`,
	"signalName":     `^[a-z0-9-]+$`,
	"signalStatus":   `^(firing|alerting|triggered|resolved|ok)$`,
	"boolean":        `^(true|false)$`,
	"valueType":      `^(boolean|string|integer|number|object)$`,
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
	"Existing":           {flags.ExistingReplace, flags.ExistingKeep},
	"SafeguardAction":    {string(flags.SafeguardPause), string(flags.SafeguardOff)},
	"False":              {false},
	"FeatureTypes":       plain(flags.FeatureTypes()),
	"ManifestTypes":      {"boolean", "string", "integer", "float", "number", "object"},
	"Operators":          plain(flags.Operators()),
	"ParameterTypes":     plain(flags.ParameterTypes()),
	"PatchOperations":    {"add", "remove", "replace", "copy", "move", "test"},
	"PayloadTypes":       {"json", "csv", "string", "number"},
	"ProjectModes":       plain([]string{flags.ModeOpen, flags.ModeProtected, flags.ModePrivate}),
	"Actions":            plain(review.Actions()),
	"RequestStates":      plain([]review.State{review.InReview, review.Approved, review.Scheduled, review.Applied, review.Cancelled, review.Rejected}),
	"WeightTypes":        plain([]flags.WeightType{flags.Variable, flags.Fix}),

	// The operators by what they compare with.
	"TextOperators":    operators(flags.Texts),
	"NumberOperators":  operators(flags.Number),
	"DateOperators":    operators(flags.Date),
	"VersionOperators": operators(flags.Version),
	"PatternOperators": operators(flags.Pattern),
	"AddressOperators": operators(flags.Addresses),
}

func operators(kind flags.ValueKind) []any {
	return plain(slices.DeleteFunc(flags.Operators(), func(o flags.Operator) bool { return o.Kind() != kind }))
}

// typeEnums are the types of the domain with a fixed set of values.
var typeEnums = map[reflect.Type][]any{
	reflect.TypeFor[flags.FeatureType](): enums["FeatureTypes"],
	reflect.TypeFor[flags.Operator]():    enums["Operators"],
	reflect.TypeFor[flags.WeightType]():  enums["WeightTypes"],
	reflect.TypeFor[flags.ValueType]():   plain(flags.ValueTypes()),
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

// addLimit adds limits such as "notEmpty, maxLength MaxTitle, each maxLength MaxName" to a schema. "each" applies to the items of a
// list, or the values of an object.
func addLimit(s *openapi3.Schema, text string) error {
	for term := range strings.SplitSeq(text, ", ") {
		to := s
		if one, each := strings.CutPrefix(term, "each "); each {
			term, to = one, eachOf(s)
		}
		if err := addTerm(to, term); err != nil {
			return err
		}
	}
	return nil
}

func addTerm(s *openapi3.Schema, term string) error {
	if known := aliases[term]; known != "" {
		return addLimit(s, known)
	}
	keyword, argument, _ := strings.Cut(term, " ")
	n, isNumber := bounds[argument]
	if !isNumber {
		n, _ = strconv.Atoi(argument)
		isNumber = argument == strconv.Itoa(n)
	}
	u, f := uint64(max(0, n)), float64(n)
	switch {
	case term == "":
	case term == "dateTime":
		s.Format = "date-time"
	case keyword == "pattern" && patterns[argument] != "":
		s.Pattern = patterns[argument]
	case keyword == "oneOf" && enums[argument] != nil:
		s.Enum = enums[argument]
	case keyword == "minLength" && isNumber:
		s.MinLength = u
	case keyword == "maxLength" && isNumber:
		s.MaxLength = &u
	case keyword == "minItems" && isNumber:
		s.MinItems = u
	case keyword == "maxItems" && isNumber:
		s.MaxItems = &u
	case keyword == "maxProperties" && isNumber:
		s.MaxProps = &u
	case keyword == "minimum" && isNumber:
		s.Min = &f
	case keyword == "maximum" && isNumber:
		s.Max = &f
	case keyword == "multipleOf" && isNumber:
		s.MultipleOf = &f
	default:
		return fmt.Errorf("the limit %q is unknown: limits.go has the keywords, bounds, patterns and enums", term)
	}
	return nil
}

// eachOf replaces the items of a list, or the values of an object whose names are free, with a copy, and returns it.
func eachOf(s *openapi3.Schema) *openapi3.Schema {
	if values := s.AdditionalProperties.Schema; values != nil {
		value := *values.Value
		s.AdditionalProperties.Schema = value.NewRef()
		return &value
	}
	item := *s.Items.Value
	s.Items = item.NewRef()
	return &item
}
