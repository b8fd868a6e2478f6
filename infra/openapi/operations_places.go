package main

const aSettings = `"mode": "open", "defaultStickiness": "default", "featureLimit": 100, "featureNaming": {"pattern": "^shop-.*$", "example": "shop-new-checkout", "description": "Begin with shop-."}`

var projectOperations = map[string]operation{
	"GET " + projects: {id: "listProjects", summary: "List the projects", query: pageQueries},
	"POST " + projects: {id: "createProject", summary: "Make a project", answers: "The new project.", about: "Whoever makes it by a personal token owns it.",
		example: `{"id": "shop", "name": "Shop", "description": "Everything that customers see.", "environments": ["development", "production"]}`, failures: conflict("The id is taken (`NameExistsError`).")},
	"GET " + aProject:                    {id: "readProject", summary: "Read a project with its flags", failures: map[int]string{413: "The flags are more than the 6 MB that an answer can have (`PayloadTooLargeError`)."}},
	"GET " + aProject + "/overview":      {id: "readProjectOverview", summary: "Read a project with the number of its flags by type"},
	"GET " + aProject + "/health-report": {id: "readHealthReport", summary: "Read a project with its flags and how many are stale", failures: map[int]string{413: "The flags are more than the 6 MB that an answer can have (`PayloadTooLargeError`)."}},
	"POST " + aProject + "/favorites":    {id: "addFavoriteProject", summary: "Add a project to the caller's favorites", about: "Adding it again changes nothing."},
	"DELETE " + aProject + "/favorites":  {id: "removeFavoriteProject", summary: "Remove a project from the caller's favorites", about: "Removing what is none changes nothing."},
	"PUT " + aProject:                    {id: "updateProject", summary: "Change a project", about: "What the body leaves out stays as it is.", example: `{"name": "Shop", "description": "Everything that customers see."}`},
	"PUT " + aProject + "/settings":      {id: "updateProjectSettings", summary: "Change a project's settings", about: "What the body leaves out stays as it is.", example: "{" + aSettings + "}"},
	"DELETE " + aProject: {id: "deleteProject", summary: "Delete a project", about: "Its archived flags keep their names for ever; tokens for it alone are revoked. The id can be used again, and starts clean.",
		failures: conflict("The project still has active flags, or segments of its own (`ConflictError`).")},
	"POST " + aProject + "/environments": {id: "addProjectEnvironment", summary: "Add an environment to a project", example: `{"environment": "staging"}`,
		failures: conflict("The project has it already (`ConflictError`).")},
	"DELETE " + aProject + "/environments/{environment}": {id: "removeProjectEnvironment", summary: "Take an environment out of a project",
		about: "Flags keep their strategies and variants there, disabled and unseen, and have them again when it comes back."},
	"POST " + aProject + "/environments/{environment}/default-strategy":      {id: "setDefaultStrategy", summary: "Set what is added to a flag that is switched on without strategies", example: aRollout},
	"GET " + aProject + "/change-requests/config":                            {id: "readChangeRequests", summary: "List the environments whose changes are reviewed", about: "Change requests are off: the list is empty."},
	"PUT " + aProject + "/environments/{environment}/change-requests/config": {id: "configureChangeRequests", summary: "Agree that change requests are off", example: `{"changeRequestsEnabled": false}`},

	"GET " + environments:                               {id: "listEnvironments", summary: "List the environments"},
	"POST " + environments:                              {id: "createEnvironment", summary: "Make an environment", example: `{"name": "staging", "type": "preproduction", "enabled": true}`, answers: "The new environment.", failures: nameTaken},
	"POST " + environments + "/validate":                {id: "validateEnvironment", summary: "Tell whether an environment of that name could be made", about: "A name that is taken is a 400 here.", example: `{"name": "staging"}`},
	"PUT " + environments + "/sort-order":               {id: "orderEnvironments", summary: "Order the environments", about: "Places by name; those that are not named keep theirs.", example: `{"development": 1, "production": 2}`},
	"PUT " + environments + "/update/{environmentName}": {id: "updateEnvironment", summary: "Change an environment", about: "What the body leaves out stays as it is.", example: `{"type": "test", "sortOrder": 4}`, answers: "The changed environment."},
	"GET " + environments + "/project/{projectId}":      {id: "listProjectEnvironments", summary: "List a project's environments"},
	"GET " + environments + "/{environmentName}":        {id: "readEnvironment", summary: "Read an environment"},
	"DELETE " + environments + "/{environmentName}": {id: "deleteEnvironment", summary: "Delete an environment",
		about: "In every project at once. Tokens for it alone are revoked. One made again under its name starts clean. A protected one is a 400."},
	"POST " + environments + "/{environmentName}/on":  {id: "enableEnvironment", summary: "Let new projects get an environment", about: "It is no switch for flags."},
	"POST " + environments + "/{environmentName}/off": {id: "disableEnvironment", summary: "Let new projects not get an environment", about: "It is no switch for flags."},
}
