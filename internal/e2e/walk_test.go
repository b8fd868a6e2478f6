package e2e

import (
	"encoding/json"
	"strings"
	"testing"
)

// A step of the walk is a request and the expected status. {name} in a path or body is a value of an earlier response; keep
// names the fields of this response that later steps use.
type step struct {
	status int
	method string
	path   string
	body   string
	keep   map[string]string // name: member of the answer, a.b for one inside another
}

// walk is the life of a flag, with at least one request to every function that API Gateway calls. It uses its own names and
// deletes everything except the flag, so that other tests can use the same server.
var walk = []step{
	{200, "GET", "/health", "", nil},
	{200, "GET", "/docs/openapi.json", "", nil},
	{404, "GET", "/api/admin/no-such-thing", "", nil},

	// Projects, environments, users.
	{201, "POST", "/api/admin/projects", `{"id":"walk","name":"A walk"}`, nil},
	{201, "POST", "/api/admin/environments", `{"name":"walk-env","type":"test"}`, nil},
	{200, "POST", "/api/admin/projects/walk/environments", `{"environment":"walk-env"}`, nil},
	{201, "POST", "/api/admin/user-admin", `{"username":"walker","rootRole":2}`, map[string]string{"user": "id"}},
	{200, "GET", "/api/admin/user-admin/{user}", "", nil},

	// Create, read, change.
	{200, "POST", "/api/admin/features/validate", `{"name":"walk-flag","projectId":"walk"}`, nil},
	{200, "POST", "/api/admin/features-batch/validate", `{"project":"walk","environment":"walk-env","data":{"features":[{"name":"walk-flag"}]}}`, nil},
	{201, "POST", "/api/admin/projects/walk/features", `{"name":"walk-flag","description":"made"}`, nil},
	{409, "POST", "/api/admin/projects/walk/features", `{"name":"walk-flag"}`, nil},
	{200, "GET", "/api/admin/projects/walk/features/walk-flag", "", nil},
	{200, "PUT", "/api/admin/projects/walk/features/walk-flag", `{"type":"experiment","description":"changed"}`, nil},
	{200, "PATCH", "/api/admin/projects/walk/features/walk-flag", `[{"op":"replace","path":"/description","value":"patched"}]`, nil},

	// Strategies, variants, tags.
	{200, "POST", "/api/admin/projects/walk/features/walk-flag/environments/walk-env/strategies",
		`{"name":"flexibleRollout","parameters":{"rollout":50},"constraints":[{"contextName":"country","operator":"IN","values":["CH"]}]}`,
		map[string]string{"strategy": "id"}},
	{200, "PATCH", "/api/admin/projects/walk/features/walk-flag/environments/walk-env/strategies/{strategy}",
		`[{"op":"replace","path":"/parameters/rollout","value":"75"}]`, nil},
	{200, "PUT", "/api/admin/projects/walk/features/walk-flag/environments/walk-env/variants",
		`[{"name":"a","weight":500,"weightType":"variable"},{"name":"b","weight":500,"weightType":"variable"}]`, nil},
	{201, "POST", "/api/admin/features/walk-flag/tags", `{"type":"simple","value":"done / #1 é"}`, nil},
	{200, "DELETE", "/api/admin/features/walk-flag/tags/simple/done%20%2F%20%231%20%C3%A9", "", nil},

	// A segment that the strategy uses for a while.
	{201, "POST", "/api/admin/segments", `{"name":"walk-segment","constraints":[{"contextName":"country","operator":"IN","values":["CH"]}]}`,
		map[string]string{"segment": "id"}},
	{201, "POST", "/api/admin/segments/strategies",
		`{"projectId":"walk","strategyId":"{strategy}","environmentId":"walk-env","segmentIds":[{segment}]}`, nil},
	{409, "DELETE", "/api/admin/segments/{segment}", "", nil},
	{201, "POST", "/api/admin/segments/strategies",
		`{"projectId":"walk","strategyId":"{strategy}","environmentId":"walk-env","segmentIds":[]}`, nil},
	{204, "DELETE", "/api/admin/segments/{segment}", "", nil},

	// Enable and disable.
	{200, "POST", "/api/admin/projects/walk/features/walk-flag/environments/walk-env/on", "", nil},
	{200, "GET", "/api/admin/projects/walk/features", "", nil},
	{200, "POST", "/api/admin/projects/walk/features/walk-flag/environments/walk-env/off", "", nil},

	// Clone, archive, revive.
	{201, "POST", "/api/admin/projects/walk/features/walk-flag/clone", `{"name":"walk-clone"}`, nil},
	{202, "DELETE", "/api/admin/projects/walk/features/walk-flag", "", nil},
	{200, "POST", "/api/admin/archive/revive/walk-flag", "", nil},

	// Export and import; the event log of the flag and of the project.
	{200, "POST", "/api/admin/features-batch/export", `{"features":["walk-flag"],"environment":"walk-env"}`, nil},
	{200, "POST", "/api/admin/features-batch/import", `{"project":"walk","environment":"walk-env","data":{"features":[{"name":"walk-import"}]}}`, nil},
	{200, "GET", "/api/admin/events/walk-flag", "", nil},
	{200, "GET", "/api/admin/search/events?project=IS:walk", "", nil},

	// Tokens: the secret is encrypted, and decrypted for the list.
	{201, "POST", "/api/admin/api-tokens", `{"tokenName":"walk-token","type":"client","projects":["walk"],"environment":"walk-env"}`,
		map[string]string{"token": "secret"}},
	{200, "GET", "/api/admin/api-tokens/walk-token", "", map[string]string{"listed": "tokens.0.secret"}},
	{200, "DELETE", "/api/admin/api-tokens/{token}", "", nil},

	// Webhooks: this machine and private networks are only allowed by a setting.
	{400, "POST", "/api/admin/addons", `{"provider":"webhook","enabled":true,"events":[],"parameters":{"url":"http://127.0.0.1:8080/"}}`, nil},

	// Clean up.
	{202, "DELETE", "/api/admin/projects/walk/features/walk-flag", "", nil},
	{202, "DELETE", "/api/admin/projects/walk/features/walk-clone", "", nil},
	{202, "DELETE", "/api/admin/projects/walk/features/walk-import", "", nil},
	{200, "DELETE", "/api/admin/user-admin/{user}", "", nil},
	{200, "DELETE", "/api/admin/projects/walk/environments/walk-env", "", nil},
	{200, "DELETE", "/api/admin/environments/walk-env", "", nil},
	{200, "DELETE", "/api/admin/projects/walk", "", nil},
}

func TestWalk(t *testing.T) { takeWalk(t, start(t)) }

func takeWalk(t *testing.T, g *gateway) {
	t.Helper()
	kept := map[string]string{}
	for _, s := range walk {
		var body any // an interface that holds "" would be a body
		if s.body != "" {
			body = fill(s.body, kept)
		}
		path := fill(s.path, kept)
		status, answer, err := g.send(t.Context(), s.method, path, body)
		if err != nil {
			t.Fatal(err)
		}
		if status != s.status {
			t.Fatalf("%s %s: %d, want %d: %s", s.method, path, status, s.status, answer)
		}
		for name, member := range s.keep {
			kept[name] = find(t, answer, member)
		}
	}
	if kept["listed"] != kept["token"] || !strings.HasPrefix(kept["token"], "walk:walk-env.") {
		t.Errorf("the list has %q as the secret of the token that was created with %q", kept["listed"], kept["token"])
	}
}

func fill(text string, kept map[string]string) string {
	for name, value := range kept {
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	return text
}

// find returns a field of a response as text.
func find(t *testing.T, answer []byte, path string) string {
	t.Helper()
	rest := json.RawMessage(answer)
	for key := range strings.SplitSeq(path, ".") {
		if key == "0" {
			var list []json.RawMessage
			if err := json.Unmarshal(rest, &list); err != nil || len(list) == 0 {
				t.Fatalf("%s of %s: %v", path, answer, err)
			}
			rest = list[0]
			continue
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(rest, &object); err != nil {
			t.Fatalf("%s of %s: %v", path, answer, err)
		}
		rest = object[key]
	}
	return strings.Trim(string(rest), `"`)
}
