package main

const (
	aBeta     = `{"name": "beta users", "description": "Who tries things first.", "constraints": [{"contextName": "userId", "operator": "IN", "values": ["1", "2"]}]}`
	segmentOf = "For a segment of the whole service CREATE_SEGMENT, UPDATE_SEGMENT or DELETE_SEGMENT; for a project's own, UPDATE_PROJECT_SEGMENT there is enough."
)

var segmentOperations = map[string]operation{
	"GET " + context: {id: "listContextFields", summary: "List the context fields", about: "By name, with how many active flags have constraints on each, and how many projects: by a flag or by a default strategy."},
	"POST " + context: {id: "createContextField", summary: "Describe a context field", example: `{"name": "country", "description": "Where they live.", "legalValues": [{"value": "NO", "description": "Norway"}]}`,
		about: "Constraints may name any field, described or not.", failures: nameTaken},
	"POST " + context + "/validate": {id: "validateContextField", summary: "Tell whether a context field of that name could be made", example: `{"name": "country"}`, failures: nameTaken},
	"GET " + aField:                 {id: "readContextField", summary: "Read a context field"},
	"PUT " + aField: {id: "updateContextField", summary: "Change a context field", example: `{"description": "Where they live.", "stickiness": true, "legalValues": [{"value": "NO"}]}`,
		about: "As in Unleash, description and sortOrder that the body leaves out stay, stickiness is then false, and there are no legal values."},
	"DELETE " + aField: {id: "deleteContextField", summary: "Delete a context field",
		failures: conflict("Active flags, default strategies or segments have constraints on it, which the message and the details name (`ConflictError`).")},
	"GET " + aField + "/strategies":                      {id: "listContextFieldStrategies", summary: "List the strategies with constraints on a context field", query: pageQueries, about: "Those of active flags, and default strategies."},
	"POST " + aField + "/legal-values":                   {id: "setLegalValue", summary: "Add a legal value to a context field, or describe it anew", example: `{"value": "NO", "description": "Norway"}`},
	"DELETE " + aField + "/legal-values/{legalValue...}": {id: "deleteLegalValue", summary: "Take a legal value from a context field", about: "One that is not there is no fault."},

	"GET " + segments: {id: "listSegments", summary: "List the segments", query: pageQueries, about: "By name, with how many active flags use each, and how many projects: by a flag or by a default strategy."},
	"POST " + segments: {id: "createSegment", summary: "Make a segment", may: segmentOf, example: aBeta, answers: "The new segment, with its id, which is never used again.",
		failures: nameTaken},
	"POST " + segments + "/validate":               {id: "validateSegment", summary: "Tell whether a segment of that name could be made", example: `{"name": "beta users"}`, failures: nameTaken},
	"GET " + segments + "/strategies/{strategyId}": {id: "listStrategySegments", summary: "List the segments of a strategy", about: "Of an unknown strategy there are none."},
	"POST " + segments + "/strategies": {id: "setStrategySegments", summary: "Give a strategy its segments", may: "UPDATE_FEATURE_STRATEGY in the environment of the project.",
		about:   "The strategy is sought among the project's flags, which takes a call of the store for every hundred. A PUT or PATCH of the strategy is cheaper.",
		example: `{"projectId": "default", "strategyId": "` + anUUID + `", "environmentId": "development", "segmentIds": [1]}`, answers: "What was set."},
	"GET " + aSegment: {id: "readSegment", summary: "Read a segment", failures: badID},
	"PUT " + aSegment: {id: "updateSegment", summary: "Replace a segment", may: segmentOf, example: aBeta, about: "What the body leaves out is emptied.",
		failures: conflict("The name is taken (`NameExistsError`), or it is to belong to one project while a flag or a default strategy of another uses it (`ConflictError`).")},
	"DELETE " + aSegment: {id: "deleteSegment", summary: "Delete a segment", may: segmentOf,
		about:    "Strategies that flags had in an environment that was deleted are no use: they are removed first, each with an event of its own.",
		failures: conflict("It is in use by flags, archived ones included, or default strategies, which the message and the details name (`ConflictError`).")},
	"GET " + aSegment + "/strategies": {id: "listSegmentStrategies", summary: "List the strategies that use a segment", query: pageQueries, about: "Those of active flags, and default strategies.", failures: badID},
}
