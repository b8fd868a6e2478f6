package main

const (
	aRollout = `{"name": "flexibleRollout", "title": "Beta users", "parameters": {"rollout": 50, "stickiness": "default"}, ` +
		`"constraints": [{"contextName": "userId", "operator": "IN", "values": ["1", "2"]}]}`
	aVariants     = `[{"name": "blue", "weight": 500, "payload": {"type": "string", "value": "#0000ff"}}, {"name": "green", "weight": 100, "weightType": "fix"}]`
	aPatchOfThem  = `[{"op": "replace", "path": "/0/stickiness", "value": "userId"}]`
	patchOfAll    = "The patch is applied to each environment's list, in all or in none. Patch and lists may have 3 MiB together, the patch counted once for each environment. "
	variantsRules = "At least one variant must have the weightType `variable`, names must be unique, and the `fix` weights must stay below 1000 in sum. " +
		"What they leave is shared among the `variable` ones: the answer has the weights that came out."
	ofAFlag = " A flag takes at most 400 KiB with the variants of all its environments."
)

var strategyOperations = map[string]operation{
	"GET " + types: {id: "listStrategyTypes", summary: "List the strategy types"},
	"POST " + types: {id: "createStrategyType", summary: "Define a strategy type", example: `{"name": "byCountry", "description": "On in some countries.", "parameters": [{"name": "countries", "type": "list", "description": "Their codes.", "required": true}]}`,
		about: "It only describes: every SDK must bring what such strategies do.", failures: nameTaken},
	"GET " + types + "/{strategyType}": {id: "readStrategyType", summary: "Read a strategy type"},
	"PUT " + types + "/{strategyType}": {id: "updateStrategyType", summary: "Change a strategy type", example: `{"description": "On in some countries.", "parameters": [{"name": "countries", "type": "list", "required": true}]}`,
		about: "The parameters are replaced; the rest of what the body leaves out stays. A built-in one cannot be changed."},
	"DELETE " + types + "/{strategyType}":          {id: "deleteStrategyType", summary: "Delete a strategy type", about: "Strategies of it stay; none can be added. A built-in one cannot be deleted."},
	"POST " + types + "/{strategyType}/deprecate":  {id: "deprecateStrategyType", summary: "Advise against a strategy type", about: "A built-in one cannot be changed."},
	"POST " + types + "/{strategyType}/reactivate": {id: "reactivateStrategyType", summary: "No longer advise against a strategy type", about: "A built-in one cannot be changed."},
	"POST " + api + "/constraints/validate":        {id: "validateConstraint", summary: "Tell whether a constraint is good", example: `{"contextName": "userId", "operator": "IN", "values": ["1", "2"]}`},

	"GET " + aFlagIn + "/strategies":  {id: "listStrategies", summary: "List a flag's strategies in an environment"},
	"POST " + aFlagIn + "/strategies": {id: "addStrategy", summary: "Add a strategy", example: aRollout, answers: "The new strategy, with its id."},
	"POST " + aFlagIn + "/strategies/set-sort-order": {id: "orderStrategies", summary: "Order a flag's strategies", about: "Those that are not named keep their places.",
		example: `[{"id": "` + anUUID + `", "sortOrder": 1}]`},
	"GET " + aStrategy: {id: "readStrategy", summary: "Read a strategy"},
	"PUT " + aStrategy: {id: "replaceStrategy", summary: "Replace a strategy", example: aRollout, answers: "The strategy, whose id stays.",
		about: "Constraints, variants and segments that the body leaves out are emptied, which can widen a rollout; parameters go back to what the strategy type says. Name, title, disabled and sortOrder stay."},
	"PATCH " + aStrategy: {id: "patchStrategy", summary: "Change a strategy by a JSON Patch", example: `[{"op": "replace", "path": "/parameters/rollout", "value": "75"}]`, answers: "The changed strategy.",
		about: "The document is the strategy as it is read. A patch is applied whole or not at all."},
	"DELETE " + aStrategy: {id: "removeStrategy", summary: "Remove a strategy", about: "With the last strategy, or the last enabled one, the flag is switched off in the environment."},

	"GET " + aFlag + "/variants":     {id: "readAllVariants", summary: "Read a flag's variants of all environments", about: "The union by name.", answers: "The variants."},
	"PUT " + aFlag + "/variants":     {id: "replaceAllVariants", summary: "Replace a flag's variants in all environments", about: variantsRules + ofAFlag, example: aVariants, answers: "The variants."},
	"PATCH " + aFlag + "/variants":   {id: "patchAllVariants", summary: "Change a flag's variants in all environments by a JSON Patch", about: patchOfAll + variantsRules + ofAFlag, example: aPatchOfThem, answers: "The variants."},
	"GET " + aFlagIn + "/variants":   {id: "readVariants", summary: "Read a flag's variants in an environment", answers: "The variants."},
	"PUT " + aFlagIn + "/variants":   {id: "replaceVariants", summary: "Replace a flag's variants in an environment", about: variantsRules, example: aVariants, answers: "The variants."},
	"PATCH " + aFlagIn + "/variants": {id: "patchVariants", summary: "Change a flag's variants in an environment by a JSON Patch", about: variantsRules, example: aPatchOfThem, answers: "The variants."},
	"PUT " + aFlag + "/variants-batch": {id: "replaceVariantsBatch", summary: "Replace a flag's variants in some environments", about: variantsRules + ofAFlag,
		example: `{"environments": ["development", "production"], "variants": ` + aVariants + `}`, answers: "The variants."},
}
