//go:build contract

package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"guidon/internal/adminapi"
)

// dictionaries are the values that Schemathesis tries for parameters, by their names in schemathesis.toml.
type dictionaries map[string][]any

// toml returns them as settings of Schemathesis.
func (d dictionaries) toml() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(d)) {
		values, _ := json.Marshal(d[name]) // a list of texts and numbers is the same in TOML
		_, _ = fmt.Fprintf(&b, "\n[dictionaries.%s]\nvalues = %s\n", name, values)
	}
	return b.String()
}

// A fixture is a request that creates something before the run. A value of the response goes into a dictionary: the field
// keep, or NAME if keep is "name". A path without a method is a POST. In path and body, NAME is the name, and in a path {requests} is the
// newest value of the dictionary requests.
type fixture struct{ dictionary, keep, path, body string }

const (
	projects      = "/api/admin/projects"
	flags         = projects + "/contract/features"
	reviewed      = projects + "/contract/environments/contract"
	requests      = projects + "/contract/change-requests"
	aChange       = `{"feature":"reviewed","action":"addStrategy","payload":{"name":"default"}}`
	aPlan         = `{"name":"Canary","milestones":[{"name":"Some","strategies":[{"strategyName":"default"}],"transitionCondition":{"intervalMinutes":60}},{"name":"All","strategies":[{"strategyName":"default"}]}],"safeguards":[{"signal":{"name":"contract"},"action":{"type":"pause"}}]}`
	plans         = "/environments/contract/release-plans"
	signals       = reviewed + "/signals"
	accountTokens = "/api/admin/service-account/{accounts}/token"
	personal      = "personal" // the dictionary with a personal token, for what API tokens cannot do
)

// once creates what the run reads and changes.
var once = []fixture{
	{"environments", "name", "/api/admin/environments", `{"name":"NAME","type":"test"}`},
	{"projects", "name", projects, `{"id":"NAME","environments":["contract"]}`},
	{"flags", "name", flags, `{"name":"NAME"}`},
	{"strategyTypes", "name", "/api/admin/strategies", `{"name":"NAME","parameters":[{"name":"n","type":"number"}]}`},
	{"tagTypes", "name", "/api/admin/tag-types", `{"name":"NAME"}`},
	{"", "", "/api/admin/features/contract/tags", `{"type":"contract","value":"checkout"}`},
	{"", "", "PUT " + flags + "/contract/environments/contract/variants", `[{"name":"blue","weight":500},{"name":"green","weight":500}]`},
	{"", "", "PUT " + flags + "/contract/variants-batch", `{"environments":["contract"],"variants":[{"name":"blue","weight":500},{"name":"green","weight":500}]}`},
	{"", "", flags, `{"name":"parent"}`},
	{"", "", flags + "/contract/dependencies", `{"feature":"parent"}`},
	{"", "", "DELETE " + flags + "/contract/dependencies/parent", ""},
	{"", "", "/api/admin/context", `{"name":"contract-field","legalValues":[{"value":"used"},{"value":"unused"}]}`},
	{"", "", "DELETE /api/admin/context/contract-field/legal-values/unused", ""},
	{"users", "id", "/api/admin/user-admin", `{"username":"NAME","rootRole":3}`},
	{"users", "id", "/api/admin/service-account", `{"username":"contract-account","name":"contract","rootRole":3}`},
	{"", "", flags, `{"name":"reviewed"}`},
	{"", "", "PUT " + reviewed + "/change-requests/config", `{"changeRequestsEnabled":true}`},
	{"templates", "id", "/api/admin/release-plan-templates", aPlan},
	{"", "", "PUT " + projects + "/contract/settings", `{"mode":"open","defaultStickiness":"default"}`},
	{"", "", projects + "/contract/users/{users}/roles/4", ""},
	{"", "", flags, `{"name":"planned"}`},
	{"", "", flags, `{"name":"removed"}`},
	{"", "", flags, `{"name":"detached"}`},
	{"", "", projects + "/default/features", `{"name":"new-checkout"}`}, // of the examples
	{"signals", "name", signals, `{"name":"NAME"}`},
	{"", "", signals, `{"name":"checkout-errors"}`}, // of the examples
	{"", "", signals, `{"name":"doomed"}`},
	{"plans", "id", flags + "/planned" + plans, aPlan},
	{"removedPlans", "id", flags + "/removed" + plans, aPlan},
	{"detachedPlans", "id", flags + "/detached" + plans, aPlan},
	{"accounts", "id", "/api/admin/service-account", `{"username":"contract-admin","name":"contract","rootRole":1}`},
}

// last is created after the others: the run deletes personal tokens with small ids, and sends requests with this one; and a draft lasts
// until the next request.
var last = []fixture{
	{personal, "secret", accountTokens, `{"description":"kept","expiresAt":"2999-01-01T00:00:00Z"}`},
	{"drafts", "id", reviewed + "/change-requests", aChange},
}

// repeated creates many items that the run deletes or uses up.
var repeated = []fixture{
	{"strategies", "id", flags + "/contract/environments/contract/strategies", `{"name":"default"}`},
	{"doomedEnvironments", "name", "/api/admin/environments", `{"name":"NAME","type":"test","enabled":false}`},
	{"doomedProjects", "name", projects, `{"id":"NAME","environments":["NAME"]}`},
	{"doomedFlags", "name", flags, `{"name":"NAME"}`},
	{"doomedTypes", "name", "/api/admin/strategies", `{"name":"NAME","parameters":[]}`},
	{"", "", "/api/admin/tag-types", `{"name":"NAME"}`},
	{"doomedUsers", "id", "/api/admin/user-admin", `{"username":"NAME","rootRole":3}`},
	{"doomedRoles", "id", "/api/admin/roles", `{"name":"NAME"}`},
	{"ownRoles", "id", "/api/admin/roles", `{"name":"own-NAME"}`},
	{"apiTokens", "secret", "/api/admin/api-tokens", `{"tokenName":"own-NAME","type":"client","environment":"*"}`},
	{"doomedTokens", "secret", "/api/admin/api-tokens", `{"tokenName":"NAME","type":"client","environment":"*"}`},
	{"doomedProjectTokens", "secret", projects + "/contract/api-tokens", `{"tokenName":"NAME-of-contract","type":"client","environment":"contract"}`},
	{"signups", "secret", "/api/admin/invite-link/tokens", `{"name":"NAME","expiresAt":"2999-01-01T00:00:00Z"}`},
	{"freezes", "id", reviewed + "/freezes", `{"reason":"NAME","from":"2999-01-01T00:00:00Z","to":"2999-01-02T00:00:00Z"}`},
	{"requests", "id", reviewed + "/change-requests", aChange},
	{"", "", "PUT " + requests + "/{requests}/state", `{"state":"In review"}`},
	{"doomedRequests", "id", reviewed + "/change-requests", aChange},
	{"", "", "PUT " + requests + "/{doomedRequests}/state", `{"state":"In review"}`},
	{"personalTokens", "id", accountTokens, `{"description":"NAME","expiresAt":"2999-01-01T00:00:00Z"}`},
}

const (
	repetitions    = 24 // two requests each, and a user may have 50 open ones
	mostStrategies = 20 // a strategy list has a limit of 30, and the run adds more
)

// create sends the requests of the fixtures and returns the dictionaries.
func create(t *testing.T, server *adminapi.Client) dictionaries {
	// Built-in project roles; any state; the first change of a request; the only flag for each way to end a plan.
	made := dictionaries{"roles": {4, 5}, "matching": {"*"}, "changes": {1}, "plannedFlags": {"planned"}, "removedFlags": {"removed"}, "detachedFlags": {"detached"}, "doomedSignals": {"doomed"}}
	for _, f := range once {
		f.create(t, server, made, "contract")
	}
	for i := range repetitions {
		for _, f := range repeated {
			if f.dictionary == "strategies" && i >= mostStrategies {
				continue
			}
			f.create(t, server, made, fmt.Sprintf("doomed-%d", i))
		}
	}
	for _, f := range last {
		f.create(t, server, made, "contract")
	}
	return made
}

func list(value any) []any {
	values, _ := value.([]any)
	return values
}

func (f fixture) create(t *testing.T, server *adminapi.Client, made dictionaries, name string) {
	path := f.path
	for dictionary, values := range made {
		path = strings.ReplaceAll(path, "{"+dictionary+"}", fmt.Sprint(values[len(values)-1]))
	}
	method, rest, found := strings.Cut(path, " ")
	if path = rest; !found {
		method, path = "POST", method
	}
	var body any
	if f.body != "" {
		body = json.RawMessage(strings.ReplaceAll(f.body, "NAME", name))
	}
	var response any
	must(t, server.CallOnce(t.Context(), method, path, body, &response))
	switch f.keep {
	case "":
	case "name":
		made[f.dictionary] = append(made[f.dictionary], name)
	default:
		fields, _ := response.(map[string]any)
		if role, is := fields["roles"].(map[string]any); is { // of createRole
			fields = role
		}
		if fields[f.keep] == nil {
			t.Fatalf("POST %s: the response has no %s: %v", path, f.keep, response)
		}
		made[f.dictionary] = append(made[f.dictionary], fields[f.keep])
		if f.dictionary != "plans" {
			return
		}
		for _, one := range list(fields["milestones"]) {
			made["milestones"] = append(made["milestones"], one.(map[string]any)["id"])
		}
		for _, one := range list(fields["safeguards"]) {
			made["safeguards"] = append(made["safeguards"], one.(map[string]any)["id"])
		}
	}
}
