package users_test

import (
	"strings"
	"testing"

	"guidon/pkg/apitest"
)

// TestFieldsThatClientsRead checks fields and headers that clients of Unleash read and the contract does not mention.
func TestFieldsThatClientsRead(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", apitest.Features, `{"name":"f","description":"What it is for"}`)
	s.Must(t, "POST", apitest.Features, `{"name":"gone"}`)
	s.Must(t, "DELETE", apitest.Features+"/gone", "")
	s.Must(t, "POST", apitest.Project+"/environments/production/default-strategy", `{"name":"default"}`)
	s.Run(t, []apitest.Call{
		{"the description in a list", "GET", apitest.Features, "", 200, `{"version":2,"features":[{"...":0,"name":"f","description":"What it is for"}]}`},
		{"the description in a project", "GET", apitest.Project, "", 200, `{"...":0,"features":[{"...":0,"name":"f","description":"What it is for"}]}`},
		{"the description in a search", "GET", "/api/admin/search/features", "", 200, `{"...":0,"features":[{"...":0,"name":"f","description":"What it is for"}]}`},
		{"the environments of an archived flag", "GET", "/api/admin/archive/features/default", "", 200,
			`{"version":2,"features":[{"...":0,"name":"gone","environments":[{"...":0,"name":"development","enabled":false},{"...":0,"name":"production","enabled":false}],"wasEnabledIn":[]}]}`},
		{"the statistics of a project", "GET", apitest.Project, "", 200, `{"...":0,"stats":{"...":0,"createdCurrentWindow":1,"createdPastWindow":0}}`},
		{"its default strategies", "GET", apitest.Project, "", 200,
			`{"...":0,"environments":[{"environment":"development"},{"environment":"production","defaultStrategy":{"...":0,"name":"default"}}]}`},
		{"the counts of an environment", "GET", "/api/admin/environments", "", 200, `{"...":0,"environments":[{"...":0},{"...":0,"enabledToggleCount":null},{"...":0}]}`},
		{"archivedAt after a change", "PUT", apitest.Features + "/f", `{"stale":true}`, 200, `{"...":0,"archivedAt":null}`},
		{"the description of a detail", "POST", apitest.Features, `{"name":"a b"}`, 400,
			`{"...":0,"details":[{"path":"/name","message":"<has use only>","description":"<has use only>"}]}`},
	})
}

// TestLocation checks that the Location header of a created object leads to the object.
func TestLocation(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	for _, tt := range []struct{ name, path, body, want string }{
		{"a flag", apitest.Features, `{"name":"new~flag"}`, apitest.Features + "/new~flag"},
		{"a clone", apitest.Features + "/f/clone", `{"name":"copy"}`, apitest.Features + "/copy"},
		{"a project", "/api/admin/projects", `{"id":"shop"}`, "/api/admin/projects/shop"},
		{"an environment", "/api/admin/environments", `{"name":"test","type":"test"}`, "/api/admin/environments/test"},
		{"a context field", "/api/admin/context", `{"name":"plan"}`, "/api/admin/context/plan"},
		{"a segment", apitest.Segments, `{"name":"testers","constraints":[]}`, apitest.Segments + "/1"},
		{"a strategy type", "/api/admin/strategies", `{"name":"byPlan","parameters":[]}`, "/api/admin/strategies/byPlan"},
		{"a tag type", "/api/admin/tag-types", `{"name":"team"}`, "/api/admin/tag-types/team"},
		{"a tag", "/api/admin/features/f/tags", `{"type":"simple","value":"mine"}`, "/api/admin/features/f/tags"},
		{"a user", apitest.Users, `{"username":"ada","rootRole":3}`, apitest.Users + "/2"},
		{"an API token", "/api/admin/api-tokens", `{"tokenName":"a b/c","type":"client"}`, "/api/admin/api-tokens/a%20b%2Fc"},
	} {
		got := s.Must(t, "POST", tt.path, tt.body)
		at := got.Header.Get("Location")
		if got.Status != 201 || at != tt.want {
			t.Errorf("%s: %d, Location %q, want 201 and %q", tt.name, got.Status, at, tt.want)
			continue
		}
		if read := s.Do(t, "GET", at, ""); read.Status != 200 || tt.name == "an API token" && !strings.Contains(read.Body, "a b/c") {
			t.Errorf("%s: GET %s: %d %.200s, want the object", tt.name, at, read.Status, read.Body)
		}
	}
}

// TestLargeDefaultStrategies checks that the default strategies of a project stay small, because every list of projects reads
// them.
func TestLargeDefaultStrategies(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	body := func(bytes int) string {
		return `{"name":"default","parameters":{"a":"` + strings.Repeat("x", bytes) + `"}}`
	}
	s.Run(t, []apitest.Call{
		{"a large default strategy", "POST", apitest.Project + "/environments/production/default-strategy", body(40_000), 200, apitest.Anything},
		{"a second one, which exceeds the limit", "POST", apitest.Project + "/environments/development/default-strategy", body(40_000), 400, apitest.Failure("ValidationError", "default strategies")},
		{"the first one, smaller", "POST", apitest.Project + "/environments/production/default-strategy", body(10_000), 200, apitest.Anything},
		{"the second one, which fits", "POST", apitest.Project + "/environments/development/default-strategy", body(40_000), 200, apitest.Anything},
	})
	s.Create(t, "f", "p")
	s.Check(t, apitest.Call{"too many variants of a parent", "POST", apitest.Features + "/f/dependencies", `{"feature":"p","variants":[` + strings.TrimSuffix(strings.Repeat(`"v",`, 101), ",") + `]}`,
		400, `{"...":0,"name":"ValidationError","message":"<has at most 100>"}`})
}
