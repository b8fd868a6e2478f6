package main

const projectTokens = aProject + "/api-tokens"

// projectTokenOperations are those on the API tokens of one project.
var projectTokenOperations = map[string]operation{
	"GET " + projectTokens: {id: "listProjectTokens", summary: "List the API tokens of a project", answers: "The tokens that name the project and that the caller may see, the newest first.",
		about: "A token of all projects is not among them. A token of several projects takes the permission in each."},
	"POST " + projectTokens: {id: "createProjectToken", summary: "Create an API token of a project", answers: "The new token, with its secret.", failures: nameTaken,
		about: "It is of type client or frontend, and of this project alone.", example: `{"tokenName": "web-shop-development", "type": "client", "environment": "development"}`},
	"DELETE " + projectTokens + "/{token}": {id: "deleteProjectToken", summary: "Delete an API token of a project",
		about: "It is rejected from the next request on. A token of several projects takes the permission in each."},
}
