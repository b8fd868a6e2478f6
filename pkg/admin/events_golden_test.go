package admin_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"guidon/pkg/access"
	"guidon/pkg/admin/requests"
	"guidon/pkg/apitest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

var updateEvents = flag.Bool("update-events", false, "write the golden files of events")

// goldenEvents is the folder with one file per event type.
var goldenEvents = filepath.Join("..", "events", "testdata")

// A goldenEvent is an event without its author and time, and the step that created it.
type goldenEvent struct {
	Step        string          `json:"step"`
	Project     string          `json:"project,omitempty"`
	FeatureName string          `json:"featureName,omitempty"`
	Environment string          `json:"environment,omitempty"`
	Data        json.RawMessage `json:"data,omitempty"`
	PreData     json.RawMessage `json:"preData,omitempty"`
}

// A step is a request that changes something. The id or secret of its response replaces {save} in later steps.
type step struct{ name, method, path, body, save string }

const (
	shop     = "/api/admin/projects/shop"
	basket   = shop + "/features/basket"
	inBasket = basket + "/environments/staging"

	inStaging  = shop + "/environments/staging/change-requests"
	aRequest   = shop + "/change-requests/{request}"
	aRequested = `{"feature":"copy","action":"addStrategy","payload":{"name":"default"}}`

	atItsTime = "" // the method of a step that is no request: scheduled change requests are due

	aConstraint = `{"contextName":"country","operator":"IN","values":["CH","DE"],"inverted":true}`
	oneValue    = `{"contextName":"age","operator":"NUM_GTE","value":"18"}`
	aVariant    = `{"name":"blue","weight":400,"weightType":"fix","stickiness":"userId",` +
		`"payload":{"type":"string","value":"#00f"},"overrides":[{"contextName":"userId","values":["1","2"]}]},` +
		`{"name":"red","weight":600,"weightType":"variable","stickiness":"userId"}`
	strategyVariant = `{"name":"s","weight":1000,"weightType":"variable","stickiness":"default","payload":{"type":"json","value":"{}"}}`
)

// goldenSteps create at least one event of every type.
var goldenSteps = []step{
	{"create an environment", "POST", "/api/admin/environments", `{"name":"staging","type":"test"}`, ""},
	{"order environments", "PUT", "/api/admin/environments/sort-order", `{"staging":7,"production":8}`, ""},
	{"update an environment", "PUT", "/api/admin/environments/update/staging", `{"type":"preproduction"}`, ""},
	{"disable an environment", "POST", "/api/admin/environments/staging/off", "", ""},

	{"create a context field", "POST", apitest.ContextFields, `{"name":"country","description":"Where","stickiness":true,"sortOrder":3,"legalValues":[{"value":"CH","description":"Switzerland"},{"value":"DE"}]}`, ""},
	{"update a context field", "PUT", apitest.ContextFields + "/country", `{"description":null,"legalValues":[{"value":"CH"},{"value":"DE"}]}`, ""},
	{"add a legal value", "POST", apitest.ContextFields + "/country/legal-values", `{"value":"FR"}`, ""},
	{"remove a legal value", "DELETE", apitest.ContextFields + "/country/legal-values/FR", "", ""},
	{"create a strategy type", "POST", "/api/admin/strategies", `{"name":"byCountry","title":"By country","description":"d","parameters":[{"name":"countries","type":"list","description":"which","required":true},{"name":"n","type":"number"}]}`, ""},
	{"update a strategy type", "PUT", "/api/admin/strategies/byCountry", `{"description":null,"parameters":[]}`, ""},
	{"deprecate a strategy type", "POST", "/api/admin/strategies/byCountry/deprecate", "", ""},
	{"reactivate a strategy type", "POST", "/api/admin/strategies/byCountry/reactivate", "", ""},
	{"delete a strategy type", "DELETE", "/api/admin/strategies/byCountry", "", ""},
	{"create an application", "POST", apitest.Applications + "/shop", `{"description":"The web shop"}`, ""},
	{"describe an application", "POST", apitest.Applications + "/shop", `{"url":"https://example.com","color":"red","icon":"cart"}`, ""},
	{"delete an application", "DELETE", apitest.Applications + "/shop", "", ""},
	{"create a tag type", "POST", "/api/admin/tag-types", `{"name":"team","description":"Who","icon":"T"}`, ""},
	{"update a tag type", "PUT", "/api/admin/tag-types/team", `{"icon":null}`, ""},

	{"create a project", "POST", "/api/admin/projects", `{"id":"shop","name":"Shop","description":"All of it","mode":"protected","featureLimit":9,"defaultStickiness":"userId",` +
		`"featureNaming":{"pattern":"[a-z0-9-]+","example":"shop-a","description":"d"},"linkTemplates":[{"title":"Ticket","urlTemplate":"https://example.com/{{feature}}"},{"urlTemplate":"https://example.com/"}]}`, ""},
	{"create a project with nothing", "POST", "/api/admin/projects", `{"id":"other","environments":[]}`, ""},
	{"update a project", "PUT", shop, `{"name":"The shop","description":null}`, ""},
	{"change a project's settings", "PUT", shop + "/settings", `{"featureLimit":null}`, ""},
	{"create a segment", "POST", apitest.Segments, `{"name":"adults","description":"18 or older","constraints":[` + oneValue + `,` + aConstraint + `]}`, "segment"},
	{"create a segment of a project", "POST", apitest.Segments, `{"name":"own","project":"shop","constraints":[]}`, "own"},
	{"update a segment", "PUT", apitest.Segments + "/{segment}", `{"name":"grown-ups","constraints":[` + oneValue + `]}`, ""},
	{"add an environment to a project", "POST", shop + "/environments", `{"environment":"staging"}`, ""},
	{"set a default strategy", "POST", shop + "/environments/staging/default-strategy", `{"name":"default"}`, ""},
	{"replace a default strategy", "POST", shop + "/environments/staging/default-strategy", `{"name":"flexibleRollout","title":"t","parameters":{"rollout":"50"},"segments":[{segment}],"constraints":[` + aConstraint + `],"variants":[` + strategyVariant + `]}`, ""},
	{"add an environment with a default strategy", "POST", shop + "/environments", `{"environment":"default","defaultStrategy":{"name":"default","disabled":true}}`, ""},
	{"remove an environment from a project", "DELETE", shop + "/environments/default", "", ""},

	{"create a flag", "POST", shop + "/features", `{"name":"basket","type":"experiment","description":"What to buy","impressionData":true}`, ""},
	{"create a flag with nothing", "POST", shop + "/features", `{"name":"parent"}`, ""},
	{"another parent", "POST", shop + "/features", `{"name":"parent-2"}`, ""},
	{"update a flag and mark it stale", "PUT", basket, `{"description":null,"stale":true}`, ""},
	{"unmark a stale flag", "PATCH", basket, `[{"op":"replace","path":"/stale","value":false},{"op":"replace","path":"/type","value":"release"}]`, ""},
	{"enable a flag with the default strategy", "POST", inBasket + "/on", "", ""},
	{"disable a flag", "POST", inBasket + "/off", "", ""},
	{"add a strategy", "POST", inBasket + "/strategies", `{"name":"flexibleRollout","title":"Half","parameters":{"rollout":50,"stickiness":"userId","groupId":"g"},"segments":[{segment}],` +
		`"constraints":[` + aConstraint + `,` + oneValue + `],"variants":[` + strategyVariant + `]}`, "full"},
	{"add a plain strategy", "POST", basket + "/environments/production/strategies", `{"name":"default"}`, "plain"},
	{"enable a flag", "POST", basket + "/environments/production/on", "", ""},
	{"replace a strategy", "PUT", inBasket + "/strategies/{full}", `{"title":null,"sortOrder":3}`, ""},
	{"disable the last strategy", "PATCH", basket + "/environments/production/strategies/{plain}", `[{"op":"replace","path":"/disabled","value":true}]`, ""},
	{"set a strategy's segments", "POST", apitest.Segments + "/strategies", `{"projectId":"shop","strategyId":"{full}","environmentId":"staging","segmentIds":[{own}]}`, ""},
	{"order strategies", "POST", inBasket + "/strategies/set-sort-order", `[{"id":"{full}","sortOrder":1.5}]`, ""},
	{"enable a flag again", "POST", inBasket + "/on", "", ""},
	{"remove a strategy", "DELETE", inBasket + "/strategies/{full}", "", ""},
	{"a second strategy", "POST", basket + "/environments/development/strategies", `{"name":"default"}`, "last"},
	{"enable a flag in development", "POST", basket + "/environments/development/on", "", ""},
	{"remove the last strategy", "DELETE", basket + "/environments/development/strategies/{last}", "", ""},
	{"set the variants of an environment", "PUT", inBasket + "/variants", `[` + aVariant + `]`, ""},
	{"set the variants of several environments", "PUT", basket + "/variants-batch", `{"environments":["staging","development"],"variants":[{"name":"v","weight":1}]}`, ""},
	{"set the variants of all environments", "PUT", basket + "/variants", `[]`, ""},
	{"set the variants once more", "PUT", inBasket + "/variants", `[` + aVariant + `]`, ""},
	{"patch the variants of all environments", "PATCH", basket + "/variants", `[{"op":"add","path":"/-","value":{"name":"added","weight":1,"weightType":"variable"}}]`, ""},
	{"tag a flag", "POST", "/api/admin/features/basket/tags", `{"type":"team","value":"web"}`, ""},
	{"change the tags of a flag", "PUT", "/api/admin/features/basket/tags", `{"addedTags":[{"type":"simple","value":"a/b"}],"removedTags":[{"type":"team","value":"web"}]}`, ""},
	{"tag a flag again", "POST", "/api/admin/features/basket/tags", `{"type":"team","value":"app"}`, ""},
	{"only remove tags", "PUT", "/api/admin/features/basket/tags", `{"addedTags":[],"removedTags":[{"type":"team","value":"app"}]}`, ""},
	{"untag a flag", "DELETE", "/api/admin/features/basket/tags/simple/a/b", "", ""},
	{"tag a flag for the import", "POST", "/api/admin/features/basket/tags", `{"type":"team","value":"web"}`, ""},
	{"add a link", "POST", basket + "/link", `{"url":"https://example.com/1","title":"Ticket"}`, "page"},
	{"change a link", "PUT", basket + "/link/{page}", `{"url":"https://example.com/2"}`, ""},
	{"remove a link", "DELETE", basket + "/link/{page}", "", ""},
	{"comment on a flag", "POST", basket + "/comments", `{"text":"On since Monday.\nOff in June."}`, ""},
	{"give a flag an owner", "PUT", basket, `{"owner":"Team Checkout"}`, ""},
	{"add a link for the import", "POST", basket + "/link", `{"url":"https://example.com/1"}`, ""},
	{"add a dependency", "POST", basket + "/dependencies", `{"feature":"parent","variants":["blue"]}`, ""},
	{"change a dependency", "POST", basket + "/dependencies", `{"feature":"parent","enabled":false}`, ""},
	{"remove a dependency", "DELETE", basket + "/dependencies/parent", "", ""},
	{"add the dependency again", "POST", basket + "/dependencies", `{"feature":"parent"}`, ""},
	{"add a second dependency", "POST", basket + "/dependencies", `{"feature":"parent-2"}`, ""},
	{"clone a flag", "POST", basket + "/clone", `{"name":"copy"}`, ""},
	{"remove all dependencies", "DELETE", basket + "/dependencies", "", ""},
	{"complete a flag", "POST", basket + "/lifecycle/complete", `{"status":"kept","statusValue":"blue"}`, ""},
	{"uncomplete a flag", "POST", basket + "/lifecycle/uncomplete", "", ""},
	{"archive a flag that depends on others", "DELETE", shop + "/features/copy", "", ""},
	{"revive a flag", "POST", "/api/admin/archive/revive/copy", "", ""},
	{"a flag to move", "POST", shop + "/features", `{"name":"moving"}`, ""},
	{"move a flag", "POST", shop + "/features/moving/changeProject", `{"newProjectId":"other"}`, ""},
	{"import", "POST", apitest.Import, `{"project":"shop","environment":"staging","data":{` +
		`"features":[{"name":"basket","type":"release","description":"Imported"},{"name":"imported"}],` +
		`"featureStrategies":[{"featureName":"imported","name":"flexibleRollout","parameters":{"rollout":"10"},"segments":[1]}],` +
		`"featureEnvironments":[{"featureName":"imported","enabled":true,"variants":[` + aVariant + `]}],` +
		`"featureTags":[{"featureName":"imported","tagType":"kind","tagValue":"k"}],` +
		`"dependencies":[{"feature":"imported","dependencies":[{"feature":"parent"}]}],` +
		`"contextFields":[{"name":"imported-field"}],"tagTypes":[{"name":"kind","description":"K"}],` +
		`"segments":[{"id":1,"name":"imported-segment","constraints":[` + oneValue + `]}]}}`, ""},

	{"delete a tag type", "DELETE", "/api/admin/tag-types/team", "", ""},
	{"delete a context field", "DELETE", apitest.ContextFields + "/imported-field", "", ""},
	{"delete a segment", "DELETE", apitest.Segments + "/{own}", "", ""},
	{"add a release plan", "POST", inBasket + "/release-plans", `{"existing":"replace","name":"Canary","milestones":[{"name":"Some","strategies":[{"strategyName":"flexibleRollout","parameters":{"rollout":"10"}}]},` +
		`{"name":"All","strategies":[{"strategyName":"default"}]}]}`, "plan"},
	{"start the plan", "POST", inBasket + "/on", "", ""},
	{"change a progression", "PUT", inBasket + "/progressions/{milestone}", `{"transitionCondition":{"intervalMinutes":60}}`, ""},
	{"delete a progression", "DELETE", inBasket + "/progressions/{milestone}", "", ""},
	{"pause the plan", "POST", inBasket + "/release-plans/{plan}/pause", "", ""},
	{"resume the plan", "POST", inBasket + "/progressions/{plan}/resume", "", ""},
	{"create a signal", "POST", shop + "/environments/staging/signals", `{"name":"errors"}`, "signal"},
	{"add a safeguard", "PUT", inBasket + "/release-plans/{plan}/safeguards", `{"signal":{"name":"errors"},"action":{"type":"pause"}}`, ""},
	{"post a signal", "POST", "/api/signals/errors", `{"status":"firing"}`, ""},
	{"delete a safeguard", "DELETE", inBasket + "/release-plans/{plan}/safeguards/{safeguard}", "", ""},
	{"remove the plan", "DELETE", inBasket + "/release-plans/{plan}", "", ""},
	{"rotate a signal", "POST", shop + "/environments/staging/signals/errors/rotate", "", ""},
	{"delete a signal", "DELETE", shop + "/environments/staging/signals/errors", "", ""},
	{"create a release template", "POST", "/api/admin/release-plan-templates", `{"name":"Canary","description":"A few first","milestones":[` +
		`{"name":"Some","sortOrder":1,"transitionCondition":{"intervalMinutes":60},"strategies":[{"strategyName":"flexibleRollout","title":"t","sortOrder":1,` +
		`"parameters":{"rollout":"10"},"segments":[{segment}],"constraints":[` + aConstraint + `],"variants":[` + strategyVariant + `]}]},` +
		`{"name":"All","sortOrder":2,"strategies":[{"strategyName":"default"}]}]}`, "template"},
	{"update a release template", "PUT", "/api/admin/release-plan-templates/{template}", `{"name":"At once","milestones":[{"name":"All","strategies":[{"strategyName":"default"}]}]}`, ""},
	{"archive a release template", "POST", "/api/admin/release-plan-templates/archive/{template}", "", ""},
	{"delete a release template", "DELETE", "/api/admin/release-plan-templates/{template}", "", ""},

	{"create a role", "POST", "/api/admin/roles", `{"name":"Releaser","description":"d","type":"custom","permissions":[{"name":"UPDATE_FEATURE"},{"name":"UPDATE_FEATURE_ENVIRONMENT","environment":"staging"}]}`, "role"},
	{"update a role", "PUT", "/api/admin/roles/{role}", `{"name":"Helper","permissions":[]}`, ""},
	{"delete a role", "DELETE", "/api/admin/roles/{role}", "", ""},
	{"create a user", "POST", "/api/admin/user-admin", `{"username":"ada","name":"Ada","email":"ada@example.com","rootRole":3}`, "user"},
	{"update a user", "PUT", "/api/admin/user-admin/{user}", `{"name":null,"rootRole":2}`, ""},
	{"give a role in a project", "POST", shop + "/users/{user}/roles/5", "", ""},
	{"replace the roles in a project", "PUT", shop + "/users/{user}/roles/4", "", ""},
	{"take a role in a project", "DELETE", shop + "/users/{user}/roles/4", "", ""},
	{"set the access to a project", "PUT", shop + "/access", `{"roles":[{"id":5,"users":[1,{user}]},{"id":4,"users":[{user}]}]}`, ""},
	{"create a service account", "POST", "/api/admin/service-account", `{"username":"ci","name":"Build","rootRole":3}`, "account"},
	{"create a personal token", "POST", "/api/admin/service-account/{account}/token", `{"description":"laptop","expiresAt":"2100-01-01T00:00:00Z"}`, "pat"},
	{"update a service account", "PUT", "/api/admin/service-account/{account}", `{"name":"Builds"}`, ""},
	{"delete a personal token", "DELETE", "/api/admin/service-account/{account}/token/{pat}", "", ""},
	{"delete a service account", "DELETE", "/api/admin/service-account/{account}", "", ""},
	{"create a sign-in link", "POST", "/api/admin/user-admin/{user}/sign-in-link", "", "link"},
	{"sign in", "POST", "/auth/link", `{"secret":"{link}"}`, ""},
	{"sign out a user", "POST", "/api/admin/user-admin/{user}/sign-out", "", ""},
	{"sign out", "POST", "/auth/sign-out", "", ""},
	{"delete a user", "DELETE", "/api/admin/user-admin/{user}", "", ""},
	{"create an API token", "POST", "/api/admin/api-tokens", `{"tokenName":"shop","type":"client","projects":["shop"],"environment":"staging","expiresAt":"2100-01-01T00:00:00Z"}`, "token"},
	{"update an API token", "PUT", "/api/admin/api-tokens/{token}", `{"expiresAt":null}`, ""},
	{"delete an API token", "DELETE", "/api/admin/api-tokens/{token}", "", ""},
	{"create an admin token", "POST", "/api/admin/api-tokens", `{"tokenName":"root","type":"admin"}`, ""},
	{"create a token of two projects", "POST", "/api/admin/api-tokens", `{"tokenName":"two","type":"frontend","projects":["shop","other"]}`, ""},
	{"create a signup token", "POST", "/api/admin/invite-link/tokens", `{"name":"invite","expiresAt":"2100-01-01T00:00:00Z"}`, "signup"},
	{"update a signup token", "PUT", "/api/admin/invite-link/tokens/{signup}", `{"enabled":false}`, ""},

	{"create an addon", "POST", apitest.Addons, `{"provider":"webhook","enabled":true,"description":"To the chat","events":["feature-created","feature-archived"],"projects":["shop"],"environments":["*"],"parameters":{"url":"https://example.com/hook"}}`, "addon"},
	{"update an addon", "PUT", apitest.Addons + "/{addon}", `{"provider":"slack","enabled":false,"description":null,"events":[],"projects":[],"parameters":{"url":"*****","defaultChannel":"general"}}`, ""},
	{"delete an addon", "DELETE", apitest.Addons + "/{addon}", "", ""},

	{"switch change requests on", "PUT", shop + "/environments/staging/change-requests/config", `{"changeRequestsEnabled":true,"requiredApprovals":2}`, ""},
	{"let nobody skip change requests", "PUT", "/api/admin/environments/update/staging", `{"requiredApprovals":2,"nobodySkips":true,"offAllowed":true}`, ""},
	{"break the glass", "PUT", shop + "/features/copy/environments/staging/variants", `[` + aVariant + `]`, ""},
	{"let administrators skip change requests", "PUT", "/api/admin/environments/update/staging", `{"requiredApprovals":null,"nobodySkips":false}`, ""},
	{"need one approval", "PUT", shop + "/environments/staging/change-requests/config", `{"changeRequestsEnabled":true,"requiredApprovals":1}`, ""},
	{"begin a change request", "POST", inStaging, aRequested, "request"},
	{"add a change", "POST", inStaging, aRequested, ""},
	{"name a change request", "PUT", aRequest + "/title", `{"title":"Launch"}`, ""},
	{"ask for a review", "PUT", aRequest + "/approvers", `{"reviewers":[1]}`, ""},
	{"send a change request to review", "PUT", aRequest + "/state", `{"state":"In review"}`, ""},
	{"edit a change", "PUT", aRequest + "/changes/1", aRequested, ""},
	{"remove a change", "DELETE", aRequest + "/changes/2", "", ""},
	{"comment on a change request", "POST", aRequest + "/comments", `{"text":"Why?"}`, ""},
	{"change the flag of a change request", "POST", shop + "/features/copy/environments/staging/strategies", `{"name":"default"}`, ""},
	{"re-base a change request", "POST", aRequest + "/rebase", "", ""},
	{"approve a change request", "PUT", aRequest + "/state", `{"state":"Approved"}`, ""},
	{"apply a change request", "PUT", aRequest + "/state", `{"state":"Applied"}`, ""},
	{"begin another one", "POST", inStaging, aRequested, "request"},
	{"discard it", "DELETE", aRequest, "", ""},
	{"begin a third one", "POST", inStaging, aRequested, "request"},
	{"send it to review", "PUT", aRequest + "/state", `{"state":"In review"}`, ""},
	{"reject it", "PUT", aRequest + "/state", `{"state":"Rejected"}`, ""},
	{"begin a fourth one", "POST", inStaging, aRequested, "request"},
	{"cancel it", "PUT", aRequest + "/state", `{"state":"Cancelled"}`, ""},
	{"begin a fifth one", "POST", inStaging, aRequested, "request"},
	{"send the fifth one to review", "PUT", aRequest + "/state", `{"state":"In review"}`, ""},
	{"approve the fifth one", "PUT", aRequest + "/state", `{"state":"Approved"}`, ""},
	{"schedule it", "PUT", aRequest + "/state", `{"state":"Scheduled","scheduledAt":"{soon}"}`, ""},
	{"change the flag of the scheduled one", "POST", shop + "/features/copy/environments/staging/strategies", `{"name":"default"}`, ""},
	{"suspend it", atItsTime, "", "", ""},
	{"re-base it", "POST", aRequest + "/rebase", "", ""},
	{"approve it again", "PUT", aRequest + "/state", `{"state":"Approved"}`, ""},
	{"schedule it again", "PUT", aRequest + "/state", `{"state":"Scheduled","scheduledAt":"{soon}"}`, ""},
	{"need two approvals", "PUT", shop + "/environments/staging/change-requests/config", `{"changeRequestsEnabled":true,"requiredApprovals":2}`, ""},
	{"fail to apply it", atItsTime, "", "", ""},
	{"need one approval again", "PUT", shop + "/environments/staging/change-requests/config", `{"changeRequestsEnabled":true,"requiredApprovals":1}`, ""},
	{"schedule it once more", "PUT", aRequest + "/state", `{"state":"Scheduled","scheduledAt":"{soon}"}`, ""},
	{"apply it at its time", atItsTime, "", "", ""},
	{"switch change requests off", "PUT", shop + "/environments/staging/change-requests/config", `{"changeRequestsEnabled":false}`, ""},

	{"freeze an environment of a project", "POST", shop + "/environments/staging/freezes", `{"reason":"holidays","from":"2099-12-24T00:00:00Z","to":"2099-12-27T00:00:00Z"}`, "freeze"},
	{"lift the freeze", "DELETE", shop + "/environments/staging/freezes/{freeze}", "", ""},
	{"freeze the first half of each week", "POST", "/api/admin/freezes/staging", `{"reason":"an audit","weekly":{"from":"Sun 00:00","to":"Wed 12:00","zone":"UTC"},"offAllowed":false}`, "freeze"},
	{"freeze the second half", "POST", "/api/admin/freezes/staging", `{"reason":"an audit","weekly":{"from":"Wed 12:00","to":"Sun 00:00","zone":"UTC"},"offAllowed":false}`, "second"},
	{"change a flag in a freeze", "PUT", shop + "/features/copy/environments/staging/variants", `[]`, ""},
	{"lift the first", "DELETE", "/api/admin/freezes/staging/{freeze}", "", ""},
	{"lift the second", "DELETE", "/api/admin/freezes/staging/{second}", "", ""},

	{"delete a project", "DELETE", "/api/admin/projects/last", "", ""},
	{"delete an environment", "DELETE", "/api/admin/environments/staging", "", ""},
}

// TestGoldenEvents makes changes of every kind and compares their events with the golden files. The data of an event is stored
// for years and read by API clients, so a changed file is a changed contract. Run the test with -update-events only if
// clients can handle the change. From the release 0.1.0 on, keep a copy of the old form, which TestReadGoldenEvents must still read.
func TestGoldenEvents(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	last := int64(0)
	byType := map[string][]goldenEvent{}
	collect := func(step string) {
		t.Helper()
		for _, e := range eventsAfter(t, s, last) {
			last = e.ID
			byType[e.Type] = append(byType[e.Type], goldenEvent{
				Step: step, Project: e.Project, FeatureName: e.FeatureName, Environment: e.Environment, Data: document(e.Data), PreData: document(e.PreData),
			})
		}
	}
	collect("the first start")
	for _, events := range byType { // the tokens of a test are seeded in any order
		slices.SortFunc(events, func(a, b goldenEvent) int { return bytes.Compare(a.Data, b.Data) })
	}
	s.SendAll(t)
	last = s.Newest(t)[0].ID
	addonCreated := last
	saved := map[string]string{"soon": time.Now().Add(time.Hour).UTC().Format(time.RFC3339)}
	later := httpapi.Config{Limits: flags.DefaultLimits(), Now: func() time.Time { return time.Now().Add(2 * time.Hour) }}
	var author, approver []string // headers of sessions
	for _, st := range goldenSteps {
		if st.name == "delete a project" {
			s.Must(t, "POST", "/api/admin/projects", `{"id":"last","name":"Last"}`)
			collect("a project to delete")
		}
		if st.name == "change a progression" {
			plans := apitest.Decode[[]struct{ Milestones []struct{ ID string } }](t, s.Must(t, "GET", inBasket+"/release-plans", "").Body)
			saved["milestone"] = plans[0].Milestones[0].ID
		}
		if st.name == "delete a safeguard" {
			plans := apitest.Decode[[]struct{ Safeguards []struct{ ID string } }](t, s.Must(t, "GET", inBasket+"/release-plans", "").Body)
			saved["safeguard"] = plans[0].Safeguards[0].ID
		}
		if st.name == "delete a user" { // the user is in more projects than one transaction can change
			for i := range 21 {
				s.Must(t, "POST", "/api/admin/projects", fmt.Sprintf(`{"id":"many-%d"}`, i))
				s.Must(t, "POST", fmt.Sprintf("/api/admin/projects/many-%d/users/%s/roles/5", i, saved["user"]), "")
			}
			last = s.Newest(t)[0].ID
		}
		fill := func(text string) string {
			for name, value := range saved {
				text = strings.ReplaceAll(text, "{"+name+"}", value)
			}
			return text
		}
		before := last
		var headers []string
		if st.path == "/auth/sign-out" {
			headers = apitest.InSession(s.SignIn(t, 1))
			collect("sign in to sign out")
			before = last
		}
		if st.name == "begin a change request" {
			id, err := strconv.ParseInt(s.ID(t, apitest.Users, `{"username":"author","rootRole":1}`), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			author = apitest.InSession(s.SignIn(t, id))
			last = s.Newest(t)[0].ID
			before = last
		}
		if strings.Contains(st.path, "/change-requests") && !strings.HasSuffix(st.path, "/config") {
			headers = author
		}
		if st.name == "approve a change request" {
			approver = apitest.InSession(s.SignIn(t, 1))
			collect("sign in to approve")
			before = last
		}
		if strings.HasPrefix(st.name, "schedule ") {
			headers = approver
		}
		if strings.HasPrefix(st.name, "approve ") {
			_, rest, _ := strings.Cut(s.Must(t, "GET", fill(aRequest), "").Body, `"revision":"`)
			revision, _, _ := strings.Cut(rest, `"`)
			headers = append(slices.Clone(approver), `If-Match: "`+revision+`"`)
		}
		if st.name == "post a signal" {
			headers = []string{"Authorization: Bearer " + saved["signal"]}
		}
		if st.name == "break the glass" {
			headers = []string{httpapi.BreakGlass + ": payments fail"}
		}
		if st.method == atItsTime {
			if err := requests.NewScheduler(s.Store, later).Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if collect(st.name); last == before {
				t.Errorf("%s: nothing happened", st.name)
			}
			continue
		}
		got := s.Do(t, st.method, fill(st.path), fill(st.body), headers...)
		if got.Status >= 300 {
			t.Fatalf("%s: %d %.500s, want success", st.name, got.Status, got.Body)
		}
		answer := got.Body
		if st.save == "page" { // the response has no body
			_, rest, _ := strings.Cut(s.Must(t, "GET", basket, "").Body, `"links":[{"id":"`)
			saved[st.save], _, _ = strings.Cut(rest, `"`)
		} else if st.save != "" {
			saved[st.save] = idOrSecret(answer)
		}
		if collect(st.name); last == before {
			t.Errorf("%s: %s %s created no event; its response: %.500s", st.name, st.method, st.path, answer)
		}
	}
	compareGolden(t, byType)
	checkAllSent(t, s, addonCreated)
}

// eventTypes returns all constants of type EventType in pkg/flags.
func eventTypes(t *testing.T) []string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("..", "flags", "event.go"))
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, found := range regexp.MustCompile(`EventType += "([a-z-]+)"`).FindAllSubmatch(source, -1) {
		types = append(types, string(found[1]))
	}
	if len(types) < 70 {
		t.Fatalf("%d event types found in the source, want at least 70", len(types))
	}
	return types
}

func compareGolden(t *testing.T, byType map[string][]goldenEvent) {
	t.Helper()
	types := eventTypes(t)
	for _, name := range types {
		if len(byType[name]) == 0 {
			t.Errorf("no step creates an event %s; add one to goldenSteps", name)
		}
	}
	for name, events := range byType {
		if !slices.Contains(types, name) {
			t.Errorf("the event type %s is not a constant of pkg/flags", name)
		}
		var indented bytes.Buffer
		encoder := json.NewEncoder(&indented)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(events); err != nil {
			t.Fatal(err)
		}
		text := normalize(indented.Bytes())
		file := filepath.Join(goldenEvents, name+".golden")
		if *updateEvents {
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		golden, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("%v; go test -update-events writes it", err)
			continue
		}
		if diff := cmp.Diff(string(golden), string(text)); diff != "" {
			t.Errorf("events %s have changed (-golden +now):\n%s", name, diff)
		}
	}
}

var (
	uuids     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	revisions = regexp.MustCompile(`"[0-9a-f]{64}"`)
	times     = regexp.MustCompile(`"20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z"`)
)

// normalize replaces ids and times, which differ from run to run. Ids are numbered in the order of the file.
func normalize(text []byte) []byte {
	known := map[string]string{}
	text = uuids.ReplaceAllFunc(text, func(id []byte) []byte {
		if known[string(id)] == "" {
			known[string(id)] = fmt.Sprintf("00000000-0000-4000-8000-%012d", len(known)+1)
		}
		return []byte(known[string(id)])
	})
	text = revisions.ReplaceAll(text, []byte(`"revision"`))
	return times.ReplaceAllFunc(text, func(at []byte) []byte {
		if bytes.HasPrefix(at, []byte(`"2100`)) {
			return at
		}
		return []byte(`"2026-01-31T12:00:00.000Z"`)
	})
}

// document is one side of an event, or nothing for null.
func document(side json.RawMessage) json.RawMessage {
	if string(side) == "null" {
		return nil
	}
	return side
}

// idOrSecret returns the id or secret of what a response says was created.
func idOrSecret(answer string) string {
	var in struct {
		ID     json.RawMessage
		Secret string
		URL    string
		Type   string
		Roles  struct{ ID json.RawMessage }
	}
	_ = json.Unmarshal([]byte(answer), &in)
	switch {
	case in.ID != nil:
		return strings.Trim(string(in.ID), `"`)
	case in.Roles.ID != nil:
		return string(in.Roles.ID)
	case in.URL != "":
		return apitest.SecretOfLink(in.URL)
	}
	return in.Secret
}

// eventsAfter returns the events of the log after the given id, oldest first.
func eventsAfter(t *testing.T, s *apitest.Server, id int64) []eventOnWire {
	t.Helper()
	page := apitest.Decode[struct{ Events []eventOnWire }](t, s.Must(t, "GET", apitest.EventLog+"?limit=1000", "").Body)
	page.Events = slices.DeleteFunc(page.Events, func(e eventOnWire) bool { return e.ID <= id })
	slices.Reverse(page.Events)
	return page.Events
}

// An eventOnWire is an event of a response, with Data and PreData byte for byte.
type eventOnWire struct {
	ID                                int64
	Type                              string
	Project, FeatureName, Environment string
	Data, PreData                     json.RawMessage
}

// TestReadGoldenEvents stores the events of the golden files. The log shows their data and preData as they were stored.
func TestReadGoldenEvents(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	files, err := filepath.Glob(filepath.Join(goldenEvents, "*.golden"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files (%v)", err)
	}
	var want []goldenEvent
	for i, file := range files {
		golden, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var events []goldenEvent
		if err := json.Unmarshal(golden, &events); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for j, e := range events {
			storeEvent(t, s, fmt.Sprintf("%d-%d", i, j), strings.TrimSuffix(filepath.Base(file), ".golden"), e)
		}
		want = append(want, events...)
	}
	got := slices.DeleteFunc(eventsAfter(t, s, 0), func(e eventOnWire) bool { return !strings.HasPrefix(e.Type, "stored:") })
	if len(got) != len(want) {
		t.Fatalf("the log has %d of the events of the golden files, want %d", len(got), len(want))
	}
	for i, e := range got {
		for _, side := range []struct{ want, got json.RawMessage }{{want[i].Data, e.Data}, {want[i].PreData, e.PreData}} {
			var compact bytes.Buffer
			if len(side.want) > 0 {
				if err := json.Compact(&compact, side.want); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(compact.String(), string(document(side.got))); diff != "" {
				t.Errorf("%s, %s (-stored +read):\n%s", e.Type, want[i].Step, diff)
			}
		}
	}
}

// storeEvent stores an event with unchanged data and preData, as the event of a new token.
func storeEvent(t *testing.T, s *apitest.Server, name, kind string, e goldenEvent) {
	t.Helper()
	id := uuid.Must(uuid.NewV7()).String()
	event := flags.Event{ID: id, Type: flags.EventType("stored:" + kind), CreatedAt: flags.EventTime(id), CreatedBy: "test"}
	if e.Data != nil {
		event.Data = jsontext.Value(e.Data)
	}
	if e.PreData != nil {
		event.PreData = jsontext.Value(e.PreData)
	}
	token := &access.Token{Hash: access.HashSecret(name), Name: name, Type: access.ClientToken, Projects: []string{flags.All}, Environment: flags.All, CreatedAt: time.Now()}
	if err := s.Store.Commit(t.Context(), flags.Change{Writes: []flags.Write{{After: token}}, Event: event}); err != nil {
		t.Fatal(err)
	}
}
