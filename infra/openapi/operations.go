package main

// An operation is the words for one, which no code can say.
type operation struct {
	id       string // unique; the name that generated clients give it
	summary  string // a line
	about    string // more, if there is more to say
	may      string // who may, where the permission of the row does not tell
	query    []string
	example  string         // a body, as JSON
	answers  string         // what a success is, if the summary does not say it
	csv      string         // an example of an answer that is CSV
	failures map[int]string // statuses of its own, and what they mean here
}

const introduction = "Feature flags, their environments, strategies and variants, with all that belongs to them. " +
	"Errors have one shape, and are checked in this order: 401, 403, 415 and 413, 400, 404, 409. Unknown members of a body are ignored; " +
	"a wrong type, a key that is there twice and a number that would be rounded are a 400. Every change is made whole or not at all."

var groupWords = map[string]string{
	"projects":     "Projects, and the environments that their flags can be switched in.",
	"environments": "The environments of the service.",
	"features":     "Flags: making, changing, cloning, archiving, switching.",
	"tags":         "Tag types, and the tags of flags.",
	"strategies":   "Who a flag is on for, and the sorts of strategy that there are.",
	"variants":     "The variants of a flag, in one environment or in all.",
	"segments":     "Context fields, and segments: constraints under a name, for strategies of many flags.",
	"users":        "Users, service accounts, roles, and who has access to a project.",
	"tokens":       "API tokens, personal tokens and public signup tokens. Nothing else makes or reads secrets.",
	"imports":      "Validation of import data.",
	"events":       "What was changed, by whom, and when.",
	"fallback":     "Whether the service is there.",
}

// The beginnings of paths.
const (
	api          = "/api/admin"
	projects     = api + "/projects"
	aProject     = projects + "/{projectId}"
	aFlag        = aProject + "/features/{featureName}"
	aFlagIn      = aFlag + "/environments/{environment}"
	aStrategy    = aFlagIn + "/strategies/{strategyId}"
	environments = api + "/environments"
	flagTags     = api + "/features/{featureName}/tags"
	accounts     = api + "/service-account"
	users        = api + "/user-admin"
	ownTokens    = api + "/user/tokens"
	apiTokens    = api + "/api-tokens"
	signups      = api + "/invite-link/tokens"
	types        = api + "/strategies"
	tagTypes     = api + "/tag-types"
	context      = api + "/context"
	aField       = context + "/{contextField}"
	segments     = api + "/segments"
	aSegment     = segments + "/{id}"
	aProjectRole = aProject + "/users/{userId}/roles/{roleId}"
)

// operations has the words for every operation, by route.
var operations = merge(flagOperations, segmentOperations, bulkOperations, strategyOperations, projectOperations, tagOperations, peopleOperations, tokenOperations, projectTokenOperations, statisticsOperations, eventOperations)

// conflict says when an operation is a 409.
func conflict(when string) map[int]string { return map[int]string{409: when} }

// nameTaken is the most frequent of them.
var nameTaken = conflict("The name is taken (`NameExistsError`).")
