package main

const aRole = `{"name": "Tester", "description": "Switches flags in development.", "type": "custom", "permissions": [{"name": "UPDATE_FEATURE_ENVIRONMENT", "environment": "development"}]}`

var peopleOperations = map[string]operation{
	"GET " + users:                  {id: "listUsers", summary: "List the users", query: pageQueries},
	"POST " + users:                 {id: "createUser", summary: "Make a user", example: `{"username": "ada", "email": "ada@example.com", "name": "Ada Lovelace", "rootRole": 3}`, answers: "The new user.", about: "A user name or e-mail that is taken is a 400.", failures: conflict("There are no ids for more users (`ConflictError`).")},
	"GET " + users + "/search":      {id: "searchUsers", summary: "Find users", query: []string{"q"}},
	"GET " + users + "/access":      {id: "listUsersForAccess", summary: "List the users that can be given access to a project", answers: "The users, by id, without service accounts."},
	"GET " + users + "/admin-count": {id: "countAdmins", summary: "Count the administrators"},
	"GET " + api + "/user":          {id: "readMe", summary: "Read who the caller is, and the caller's permissions", answers: "The user, service account or admin token that the request was made with. It never has a secret."},
	"GET " + users + "/{userId}":    {id: "readUser", summary: "Read a user", failures: badID},
	"PUT " + users + "/{userId}":    {id: "updateUser", summary: "Change a user", about: "What the body leaves out stays as it is. The first user stays an administrator.", example: `{"name": "Ada Lovelace", "rootRole": 2}`, answers: "The changed user."},
	"DELETE " + users + "/{userId}": {id: "deleteUser", summary: "Delete a user", about: "With the user's roles and tokens. The first user stays."},

	"GET " + accounts:                  {id: "listServiceAccounts", summary: "List the service accounts", query: pageQueries},
	"POST " + accounts:                 {id: "createServiceAccount", summary: "Make a service account", example: `{"username": "deployer", "name": "Deployments", "rootRole": "Viewer"}`, answers: "The new service account.", about: "A user name that is taken is a 400.", failures: conflict("There are no ids for more users (`ConflictError`).")},
	"PUT " + accounts + "/{userId}":    {id: "updateServiceAccount", summary: "Change a service account", about: "What the body leaves out stays as it is.", example: `{"name": "Deployments", "rootRole": 2}`, answers: "The changed service account."},
	"DELETE " + accounts + "/{userId}": {id: "deleteServiceAccount", summary: "Delete a service account", about: "With its roles and tokens."},

	"GET " + api + "/permissions":       {id: "listPermissions", summary: "List the permissions that a role can hold"},
	"GET " + api + "/roles":             {id: "listRoles", summary: "List the roles"},
	"POST " + api + "/roles":            {id: "createRole", summary: "Make a role", example: aRole, answers: "The new role.", failures: nameTaken},
	"GET " + api + "/roles/{roleId}":    {id: "readRole", summary: "Read a role with its permissions", failures: badID},
	"PUT " + api + "/roles/{roleId}":    {id: "updateRole", summary: "Change a role", about: "What the body leaves out, but for the name, stays as it is. A built-in one cannot be changed.", example: aRole, answers: "The changed role.", failures: nameTaken},
	"DELETE " + api + "/roles/{roleId}": {id: "deleteRole", summary: "Delete a role", about: "A built-in one cannot be deleted.", failures: conflict("Somebody holds the role (`ConflictError`).")},

	"GET " + aProject + "/access": {id: "readProjectAccess", summary: "Tell who holds which role in a project"},
	"PUT " + aProject + "/access": {id: "setProjectAccess", summary: "Set who holds which role in a project", about: "Nobody gives more than they hold.", example: `{"roles": [{"id": 4, "users": [2], "groups": []}]}`},
	"POST " + aProjectRole: {id: "addProjectUser", summary: "Add a user to a project with a role", about: "Beside the roles that the user has there already. Nobody gives more than they hold.",
		example: `{"userId": 2, "projectId": "default", "roleId": 4}`, failures: conflict("The user holds that role there already (`ConflictError`).")},
	"PUT " + aProjectRole: {id: "changeProjectUser", summary: "Change a user's role in a project", about: "In the place of all that the user has there. When the user is not in the project, nothing happens. Nobody gives more than they hold.",
		example: `{"userId": 2, "projectId": "default", "roleId": 5}`},
	"DELETE " + aProjectRole: {id: "removeProjectUser", summary: "Remove a user's role in a project", about: "With the last role, the user leaves the project.", example: `{"userId": 2, "projectId": "default", "roleId": 4}`},
}

// badID is for reads with an id in their path.
var badID = map[int]string{400: "The id in the path is no whole number (`ValidationError`)."}

const (
	mayTokens   = "Everybody with an account or an admin token may ask. It depends on the token's type and projects which permissions it takes: those of client or frontend tokens, or those of the project's tokens; admin tokens are for administrators."
	notRedeemed = "The token cannot be redeemed: there is no sign-in yet, and nobody can sign up with it."
	mayOwn      = "For persons and service accounts, by a personal token of their own."
)

var tokenOperations = map[string]operation{
	"GET " + apiTokens:                 {id: "listTokens", summary: "List the API tokens", query: pageQueries, may: mayTokens, answers: "The tokens that the caller may see, the newest first."},
	"POST " + apiTokens:                {id: "createToken", summary: "Make an API token", may: mayTokens, answers: "The new token, with its secret.", example: `{"tokenName": "shop-development", "type": "client", "projects": ["default"], "environment": "development", "expiresAt": null}`, failures: nameTaken},
	"GET " + apiTokens + "/{name}":     {id: "readTokensByName", summary: "Read an API token by its name", may: mayTokens, answers: "The token with this name. The list is empty if no token has it, or if the caller may not see it."},
	"PUT " + apiTokens + "/{token}":    {id: "updateToken", summary: "Change when an API token ends", may: mayTokens, example: `{"expiresAt": "` + moment + `"}`},
	"DELETE " + apiTokens + "/{token}": {id: "deleteToken", summary: "Delete an API token", may: mayTokens, about: "It is out at once."},

	"GET " + ownTokens:                                 {id: "listOwnTokens", summary: "List the caller's personal tokens", may: mayOwn},
	"POST " + ownTokens:                                {id: "createOwnToken", summary: "Make a personal token of the caller's", may: mayOwn, example: `{"description": "laptop", "expiresAt": "` + moment + `"}`, answers: "The new token. Its secret is shown this once.", failures: conflict("The caller has a token of that description (`NameExistsError`).")},
	"DELETE " + ownTokens + "/{tokenId}":               {id: "deleteOwnToken", summary: "Delete a personal token of the caller's", may: mayOwn, about: "It is out at once."},
	"GET " + accounts + "/{userId}/token":              {id: "listServiceAccountTokens", summary: "List a service account's tokens", failures: badID},
	"POST " + accounts + "/{userId}/token":             {id: "createServiceAccountToken", summary: "Make a token of a service account", example: `{"description": "pipeline", "expiresAt": "` + moment + `"}`, answers: "The new token. Its secret is shown this once.", failures: conflict("The service account has a token of that description (`NameExistsError`).")},
	"DELETE " + accounts + "/{userId}/token/{tokenId}": {id: "deleteServiceAccountToken", summary: "Delete a token of a service account", about: "It is out at once."},

	"GET " + signups:              {id: "listSignupTokens", summary: "List the public signup tokens", query: pageQueries},
	"POST " + signups:             {id: "createSignupToken", summary: "Make a public signup token", example: `{"name": "Testers", "expiresAt": "` + moment + `"}`, about: notRedeemed, answers: "The new token."},
	"GET " + signups + "/{token}": {id: "readSignupToken", summary: "Read a public signup token", about: notRedeemed},
	"PUT " + signups + "/{token}": {id: "updateSignupToken", summary: "Change a public signup token", about: "What the body leaves out stays as it is. " + notRedeemed, example: `{"expiresAt": "` + moment + `", "enabled": true}`, answers: "The changed token."},
}
