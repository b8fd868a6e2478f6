package admin_test

import (
	"slices"
	"strings"
	"testing"

	"guidon/pkg/access"
	"guidon/pkg/apitest"
	"guidon/pkg/flags"
)

// inFeed has what the example of each operation adds to the feed, see feedOf. The other operations change nothing that
// applications see.
var inFeed = map[string]string{
	"POST /api/admin/environments":                     "E",
	"DELETE /api/admin/environments/{environmentName}": "E",

	"POST /api/admin/projects":                                           "P",
	ofProject("DELETE", ""):                                              "-P",
	ofProject("POST", "/environments"):                                   "P",
	ofProject("DELETE", "/environments/{environment}"):                   "P",
	ofProject("POST", "/features"):                                       "F",
	ofProject("POST", "/archive"):                                        "F",
	ofProject("POST", "/revive"):                                         "F",
	ofProject("POST", "/stale"):                                          "F",
	ofProject("POST", "/changeProject"):                                  "F",
	ofProject("PUT", "/tags"):                                            "F",
	"POST /api/admin/archive/revive/{featureName}":                       "F",
	"POST /api/admin/features-batch/import":                              "F",
	"POST /api/admin/features/{featureName}/tags":                        "F",
	"PUT /api/admin/features/{featureName}/tags":                         "F",
	ofProject("POST", "/bulk_features/environments/{environment}/on"):    "F",
	"DELETE /api/admin/features/{featureName}/tags/{tagType}/{value...}": "F",

	ofFlag("PUT", ""):                          "F",
	ofFlag("PATCH", ""):                        "F",
	ofFlag("DELETE", ""):                       "F",
	ofFlag("POST", "/clone"):                   "F",
	ofFlag("POST", "/changeProject"):           "F",
	ofFlag("POST", "/dependencies"):            "F", // the child: nothing that applications see of the parent changes
	ofFlag("DELETE", "/dependencies"):          "F",
	ofFlag("DELETE", "/dependencies/{parent}"): "F",
	ofFlag("PUT", "/variants"):                 "F",
	ofFlag("PATCH", "/variants"):               "F",
	ofFlag("PUT", "/variants-batch"):           "F",

	inEnvironment("POST", "/on"):                        "F",
	inEnvironment("POST", "/off"):                       "F",
	inEnvironment("PUT", "/variants"):                   "F",
	inEnvironment("PATCH", "/variants"):                 "F",
	inEnvironment("POST", starting):                     "F",
	inEnvironment("POST", "/strategies"):                "F",
	inEnvironment("DELETE", "/strategies/{strategyId}"): "F",

	"POST /api/admin/segments":            "S",
	"PUT /api/admin/segments/{id}":        "S",
	"DELETE /api/admin/segments/{id}":     "-S",
	"POST /api/admin/segments/strategies": "F",

	"POST " + manifest + "/flags": "F", "PUT " + manifest + "/flags/{featureName}": "F", "DELETE " + manifest + "/flags/{featureName}": "F",
	"POST /api/admin/api-tokens":                                "T",
	"PUT /api/admin/api-tokens/{token}":                         "T",
	"DELETE /api/admin/api-tokens/{token}":                      "-T",
	"POST /api/admin/projects/{projectId}/api-tokens":           "T",
	"DELETE /api/admin/projects/{projectId}/api-tokens/{token}": "-T",
}

// TestFeedOfEveryOperation runs every operation and compares what it adds to the feed with inFeed.
func TestFeedOfEveryOperation(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	all := routes(t)
	for _, route := range all {
		t.Run(route, func(t *testing.T) {
			on := newSubject(t, s)
			if prepare := preparations[route]; prepare != nil {
				prepare(t, s, &on)
			}
			if first, ok := before[route]; ok {
				s.Check(t, on.call(first))
			}
			if got := feedOf(t, s, func() { s.Check(t, on.call(route)) }); got != inFeed[route] {
				t.Errorf("it added %q to the feed, want %q", got, inFeed[route])
			}
		})
	}
	for route := range inFeed {
		if !slices.Contains(all, route) {
			t.Errorf("%s is no operation", route)
		}
	}
}

// TestFeedOfParts changes parts of flags and projects that applications see, and others that they do not see.
func TestFeedOfParts(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f", "parent")
	first := s.AddStrategy(t, "f", `{"name":"default"}`)
	second := s.AddStrategy(t, "f", `{"name":"flexibleRollout","parameters":{"rollout":"5","stickiness":"default","groupId":"f"}}`)
	strategy := func(id, body string) apitest.Call {
		return apitest.Call{"", "PUT", apitest.In("f", "development") + "/strategies/" + id, body, 200, apitest.Anything}
	}
	with := func(name string, c apitest.Call) apitest.Call { c.Name = name; return c }
	for _, step := range []struct {
		apitest.Call
		want string
	}{
		{with("title of a strategy", strategy(first, `{"name":"default","title":"new"}`)), ""},
		{with("constraint of a strategy", strategy(first, `{"name":"default","title":"new","constraints":[{"contextName":"userId","operator":"IN","values":["7"]}]}`)), "F"},
		{with("the same again", strategy(first, `{"name":"default","title":"new","constraints":[{"contextName":"userId","operator":"IN","values":["7"]}]}`)), ""},
		{apitest.Call{"order of strategies", "POST", apitest.In("f", "development") + "/strategies/set-sort-order", `[{"id":"` + second + `","sortOrder":-1}]`, 200, ""}, "F"},
		{apitest.Call{"sort order of a strategy, in the same place", "POST", apitest.In("f", "development") + "/strategies/set-sort-order", `[{"id":"` + second + `","sortOrder":-2}]`, 200, ""}, ""},
		{with("a disabled strategy", strategy(second, `{"name":"default","disabled":true}`)), "F"},
		{with("its parameters", strategy(second, `{"name":"default","disabled":true,"parameters":{"a":"b"}}`)), ""},
		{with("its title", strategy(second, `{"name":"default","disabled":true,"title":"b"}`)), ""},
		{with("an enabled one again", strategy(second, `{"name":"default","disabled":false}`)), "F"},
		{apitest.Call{"enable", "POST", apitest.Project + "/bulk_features/environments/development/on", `{"features":["f"]}`, 200, ""}, "F"},
		{apitest.Call{"disable", "POST", apitest.Project + "/bulk_features/environments/development/off", `{"features":["f"]}`, 200, ""}, "F"},
		{apitest.Call{"disable again", "POST", apitest.Project + "/bulk_features/environments/development/off", `{"features":["f"]}`, 200, ""}, ""},
		{apitest.Call{"description", "PATCH", apitest.Features + "/f", `[{"op":"replace","path":"/description","value":"new"}]`, 200, apitest.Anything}, "F"},
		{apitest.Call{"favorite", "POST", apitest.Features + "/f/favorites", "", 200, ""}, ""},
		{apitest.Call{"complete", "POST", apitest.Features + "/f/lifecycle/complete", `{"status":"kept"}`, 200, apitest.Anything}, ""},
		{apitest.Call{"dependency, which is also in the parent", "POST", apitest.Features + "/f/dependencies", `{"feature":"parent"}`, 200, apitest.Anything}, "F"},
		{apitest.Call{"archive it, which changes the parent", "DELETE", apitest.Features + "/f", "", 202, ""}, "F"},
		{apitest.Call{"project", "PUT", apitest.Project, `{"name":"New","description":"new"}`, 200, apitest.Anything}, ""},
		{apitest.Call{"default strategy", "POST", apitest.Project + "/environments/development/default-strategy", `{"name":"default"}`, 200, apitest.Anything}, ""},
		{apitest.Call{"a new environment", "POST", apitest.Environments, `{"name":"stage","type":"test"}`, 201, apitest.Anything}, "E"},
		{apitest.Call{"its sort order", "PUT", apitest.Environments + "/sort-order", `{"stage":1}`, 200, ""}, ""},
		{apitest.Call{"its type", "PUT", apitest.Environments + "/update/stage", `{"type":"production"}`, 200, apitest.Anything}, ""},
		{apitest.Call{"in a project", "POST", apitest.Project + "/environments", `{"environment":"stage"}`, 200, ""}, "P"},
		{apitest.Call{"a segment", "POST", apitest.Segments, `{"name":"s","constraints":[]}`, 201, apitest.Anything}, "S"},
		{apitest.Call{"its description", "PUT", apitest.Segments + "/1", `{"name":"s","description":"new","constraints":[]}`, 204, ""}, ""},
		{apitest.Call{"its project", "PUT", apitest.Segments + "/1", `{"name":"s","description":"new","project":"default","constraints":[]}`, 204, ""}, "S"},
		{apitest.Call{"an import of two flags", "POST", apitest.Import, `{"project":"default","environment":"development","data":{"features":[{"name":"g"},{"name":"h"}]}}`, 200, apitest.Anything}, "F, F"},
		{apitest.Call{"both archived", "POST", apitest.Project + "/archive", `{"features":["g","h"]}`, 202, ""}, "F, F"},
		{apitest.Call{"an API token", "POST", "/api/admin/api-tokens", `{"tokenName":"t","type":"client","environment":"development"}`, 201, apitest.Anything}, "T"},
		{apitest.Call{"an admin token, which is looked up when it is used", "POST", "/api/admin/api-tokens", `{"tokenName":"a","type":"admin"}`, 201, apitest.Anything}, ""},
	} {
		t.Run(step.Name, func(t *testing.T) {
			if got := feedOf(t, s, func() { s.Check(t, step.Call) }); got != step.want {
				t.Errorf("it added %q to the feed, want %q", got, step.want)
			}
		})
	}
}

// feedOf returns the letters of what f adds to the feed: F for a flag, S for a segment, P for a project, E for the
// environments, T for a token, -S for a deleted segment. Entries are separated by commas. It checks that the versions are those that are
// stored.
func feedOf(t *testing.T, s *apitest.Server, f func()) string {
	t.Helper()
	before := feed(t, s)
	f()
	after := feed(t, s)
	entries, all := after.After(before.Number)
	if !all {
		t.Fatal("some entries are in pages already")
	}
	var list []string
	for _, e := range entries {
		var letters []string
		for _, c := range e.Changes {
			view, err := s.Store.Load(t.Context(), []flags.Key{c.Key})
			if err != nil {
				t.Fatal(err)
			}
			letter := strings.ToUpper(string(c.Key.Entity)[:1])
			if c.Key.Entity == flags.EntityFeature {
				letter = "F"
			}
			stored, exists := view[c.Key]
			project, _ := stored.(*flags.Project)
			token, _ := stored.(*access.Token)
			switch {
			case c.Version == 0 && (!exists || token != nil && token.Deleted):
				letter = "-" + letter
			case !exists || flags.VersionOf(stored) != c.Version || project != nil && project.UID != c.UID:
				t.Errorf("the entry %d has %+v, but version %d is stored", e.Number, c, flags.VersionOf(stored))
			}
			letters = append(letters, letter)
		}
		list = append(list, strings.Join(letters, " "))
	}
	return strings.Join(list, ", ")
}

func feed(t *testing.T, s *apitest.Server) *flags.Feed {
	t.Helper()
	return apitest.Load[*flags.Feed](t, s, flags.FeedKey())
}
