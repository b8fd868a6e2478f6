package main

import (
	"github.com/getkin/kin-openapi/openapi3"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// ofStrategies are the members of strategies and their types, constraints and variants.
var ofStrategies = map[string]member{
	"strategyView.id":              {doc: "Identifier of the strategy, which never changes.", example: anUUID},
	"strategyView.name":            {doc: "Its strategy type.", example: "flexibleRollout"},
	"defaultStrategyView.name":     {doc: "Its strategy type.", example: "flexibleRollout"},
	"strategyBody.name":            {doc: "A strategy type: `default`, `flexibleRollout`, `userWithId`, `remoteAddress`, `applicationHostname`, or one that was defined.", example: "flexibleRollout", limit: both(notEmpty, longest(flags.MaxName))},
	"newStrategyBody.name":         {doc: "A strategy type: `default`, `flexibleRollout`, `userWithId`, `remoteAddress`, `applicationHostname`, or one that was defined.", example: "flexibleRollout", must: true, limit: both(notEmpty, longest(flags.MaxName))},
	"importStrategyBody.name":      {doc: "Its strategy type.", example: "flexibleRollout", must: true, limit: notEmpty},
	"disabled":                     {doc: "Whether it is kept without being evaluated.", example: false},
	"strategyBody.disabled":        {doc: "Whether it is kept without being evaluated. Null is false.", example: false},
	"strategyBody.sortOrder":       {doc: "Its place among the strategies: lower comes first, the older of equal ones too. New ones come last.", example: 0},
	"segments":                     {doc: "Ids of the segments that it is narrowed to.", example: []any{}},
	"strategyBody.segments":        {doc: "Ids of the segments that it is narrowed to, each once: of the whole service, or of the flag's project. Left out, there are none.", example: []any{}, limit: most(defaults.StrategySegments)},
	"constraints":                  {doc: "Conditions on the context, all of which must hold."},
	"strategyBody.constraints":     {doc: "Conditions on the context, all of which must hold. Left out, there are none.", limit: most(defaults.Constraints)},
	"parameters":                   {doc: "Values by parameter name, always strings.", example: map[string]any{"rollout": "50", "stickiness": "default", "groupId": "new-checkout"}},
	"strategyBody.parameters":      {doc: "Values by parameter name. Numbers and booleans are kept as strings. What is left out is what the strategy type says.", example: map[string]any{"rollout": "50"}, limit: mostMembers(flags.MaxParameters)},
	"defaultStrategyView.variants": {doc: "Its variants; none is what there usually is."},
	"strategyView.variants":        {doc: "Its variants, which take the place of the environment's."},
	"strategyBody.variants":        {doc: "Its variants, which take the place of the environment's. At least one must have the weightType `variable`, names must be unique, and the `fix` weights stay below 1000 in sum.", limit: most(flags.MaxVariants)},
	"strategyPlaceBody.sortOrder":  {doc: "Its place: lower comes first.", example: 1, must: true},
	"strategyPlaceBody.id":         {doc: "Identifier of the strategy.", example: anUUID, must: true, limit: both(notEmpty, longest(flags.MaxIdentifier))},

	"contextName":           {doc: "The context field, known or not.", example: "userId", must: true, limit: both(notEmpty, longest(flags.MaxIdentifier))},
	"operator":              {doc: "How the field is compared.", example: "IN", must: true, limit: oneOf(flags.Operators()...)},
	"caseInsensitive":       {doc: "Whether capitals make no difference.", example: false},
	"inverted":              {doc: "Whether the result is turned round.", example: false},
	"constraintBody.values": {doc: "What is compared with, for `IN`, `NOT_IN` and `STR_…`: at least one.", example: []any{"1", "2"}, limit: both(most(defaults.ConstraintValues), each(aValue))},
	"constraintBody.value":  {doc: "What is compared with, for the other operators: a decimal number for `NUM_…`, an ISO 8601 date or date-time for `DATE_…`, a full semantic version for `SEMVER_…`.", example: "18", limit: aValue},
	"constraintView.values": {doc: "What is compared with, for `IN`, `NOT_IN` and `STR_…`.", example: []any{"1", "2"}},
	"constraintView.value":  {doc: "What is compared with, for the other operators.", example: "18"},

	"variantBody.name":               {doc: "Name of the variant, unique in its list.", example: "blue", must: true, limit: both(notEmpty, longest(flags.MaxTitle))},
	"variantBody.weight":             {doc: "For `fix`, its share in thousandths; for `variable`, replaced by an even share of what is left.", example: 500, must: true, limit: aWeight},
	"strategyVariantBody.weight":     {doc: "For `fix`, its share in thousandths, a whole number; for `variable`, replaced by an even share of what is left.", example: 500, must: true, limit: both(aWeight, whole)},
	"weightType":                     {doc: "Whether the weight stays as it is or is a share of what is left.", example: "variable", standard: "variable", limit: oneOf(flags.Variable, flags.Fix)},
	"strategyVariantBody.weightType": {doc: "Whether the weight stays as it is or is a share of what is left.", example: "variable", must: true, limit: oneOf(flags.Variable, flags.Fix)},
	"stickiness":                     {doc: "The context field that keeps a user on one variant, `default` or `random`.", example: "default", standard: "default", limit: both(notEmpty, longest(flags.MaxIdentifier))},
	"strategyVariantBody.stickiness": {doc: "The context field that keeps a user on one variant, `default` or `random`.", example: "default", must: true, limit: both(notEmpty, longest(flags.MaxIdentifier))},
	"payload":                        {doc: "What comes with the variant; absent for nothing."},
	"overrides":                      {doc: "Values of context fields that get this variant whatever the weights; absent without any.", limit: most(flags.MaxOverrides)},
	"strategyVariantBody.overrides":  {doc: "The variants of a strategy have none.", example: []any{}, limit: none},
	"overrideBody.values":            {doc: "The values that get the variant.", example: []any{"1"}, must: true, limit: both(most(flags.MaxOverrideValues), each(longest(flags.MaxTitle)))},
	"overrideView.values":            {doc: "The values that get the variant.", example: []any{"1"}},
	"variantView.name":               {doc: "Name of the variant, unique in its list.", example: "blue"},
	"variantView.weight":             {doc: "Its share in thousandths, a whole number.", example: 500},
	"payloadBody.type":               {doc: "What the value is.", example: "string", must: true, limit: oneOf("json", "csv", "string", "number")},
	"payloadBody.value":              {doc: "The value as a string. For `json` it must parse, and for `number` be a decimal number.", example: "#0000ff", must: true, limit: longest(flags.MaxPayload)},
	"payloadView.type":               {doc: "json, csv, string or number.", example: "string"},
	"payloadView.value":              {doc: "The value as a string.", example: "#0000ff"},
	"variantList.variants":           {doc: "The variants with the weights that they ended up with."},
	"variantsBatchBody.environments": {doc: "Names of environments of the project.", example: []any{"development", "production"}, must: true, limit: both(both(atLeastOne, most(httpapi.MaxBulk)), each(longest(flags.MaxName)))},
	"variantsBatchBody.variants":     {doc: "The variants; left out, all are removed."},

	"strategyTypeBody.name":          {doc: "What strategies have as their name. No other type, built in or not, may have it.", example: "byCountry", must: true, limit: aName},
	"updateStrategyTypeBody.name":    {doc: "May be repeated, and must then be the name in the path: strategy types cannot be renamed.", example: "byCountry", limit: longest(flags.MaxName)},
	"strategyTypeView.name":          {doc: "What strategies have as their name.", example: "byCountry"},
	"strategyTypeView.displayName":   {doc: "What people call a built-in one; null for others.", example: "Gradual rollout"},
	"editable":                       {doc: "Whether it was defined by somebody, and can be changed.", example: true},
	"deprecated":                     {doc: "Whether people are advised against it.", example: false},
	"strategyTypeMembers.parameters": {doc: "The parameters that its strategies have, names unique.", must: true, limit: most(flags.MaxParameters)},
	"strategyTypeView.parameters":    {doc: "The parameters that its strategies have."},
	"strategyTypeList.strategies":    {doc: "The strategy types, the built-in ones first."},
	"strategyParameterBody.name":     {doc: "Name of the parameter.", example: "countries", must: true, limit: both(notEmpty, longest(flags.MaxName))},
	"strategyParameterBody.type":     {doc: "What its values are.", example: "list", must: true, limit: oneOf(flags.ParameterTypes()...)},
	"strategyParameterBody.required": {doc: "Whether strategies must have it.", example: true, standard: false},
	"strategyParameterView.name":     {doc: "Name of the parameter.", example: "countries"},
	"strategyParameterView.type":     {doc: "What its values are.", example: "list"},
	"strategyParameterView.required": {doc: "Whether strategies must have it.", example: true},
}

func featureType(s *openapi3.Schema) { oneOf(flags.FeatureTypes()...)(s) }

func aPointer(s *openapi3.Schema) { s.Pattern = "^/" }

func aValue(s *openapi3.Schema) { longest(uint64(defaults.ConstraintValueLength))(s) } //nolint:gosec // limits are never negative

func aWeight(s *openapi3.Schema) { s.Min, s.Max = new(0.0), new(float64(flags.TotalWeight)) }

func whole(s *openapi3.Schema) { s.MultipleOf = new(1.0) }

// maxPatch bounds a JSON Patch.
func maxPatch(s *openapi3.Schema) { most(httpapi.MaxPatchOperations)(s) }
