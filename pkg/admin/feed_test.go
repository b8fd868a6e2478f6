package admin_test

import (
	"slices"
	"strings"
	"testing"

	"guidon/pkg/access"
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
	inEnvironment("POST", "/strategies"):                "F",
	inEnvironment("DELETE", "/strategies/{strategyId}"): "F",

	"POST /api/admin/segments":            "S",
	"PUT /api/admin/segments/{id}":        "S",
	"DELETE /api/admin/segments/{id}":     "-S",
	"POST /api/admin/segments/strategies": "F",

	"POST /api/admin/api-tokens":                                "T",
	"PUT /api/admin/api-tokens/{token}":                         "T",
	"DELETE /api/admin/api-tokens/{token}":                      "-T",
	"POST /api/admin/projects/{projectId}/api-tokens":           "T",
	"DELETE /api/admin/projects/{projectId}/api-tokens/{token}": "-T",
}

// TestFeedOfEveryOperation runs every operation and compares what it adds to the feed with inFeed.
func TestFeedOfEveryOperation(t *testing.T) {
	t.Parallel()
	s := serve(t)
	all := routes(t)
	for _, route := range all {
		t.Run(route, func(t *testing.T) {
			on := s.newSubject(t)
			if prepare := preparations[route]; prepare != nil {
				prepare(s, t, &on)
			}
			if first, ok := before[route]; ok {
				s.check(t, on.call(first))
			}
			if got := s.feedOf(t, func() { s.check(t, on.call(route)) }); got != inFeed[route] {
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
	s := serve(t)
	s.create(t, "f", "parent")
	first := s.strategy(t, "f", `{"name":"default"}`)
	second := s.strategy(t, "f", `{"name":"flexibleRollout","parameters":{"rollout":"5","stickiness":"default","groupId":"f"}}`)
	strategy := func(id, body string) call {
		return call{"", "PUT", in("f", "development") + "/strategies/" + id, body, 200, anything}
	}
	with := func(name string, c call) call { c.name = name; return c }
	for _, step := range []struct {
		call
		want string
	}{
		{with("title of a strategy", strategy(first, `{"name":"default","title":"new"}`)), ""},
		{with("constraint of a strategy", strategy(first, `{"name":"default","title":"new","constraints":[{"contextName":"userId","operator":"IN","values":["7"]}]}`)), "F"},
		{with("the same again", strategy(first, `{"name":"default","title":"new","constraints":[{"contextName":"userId","operator":"IN","values":["7"]}]}`)), ""},
		{call{"order of strategies", "POST", in("f", "development") + "/strategies/set-sort-order", `[{"id":"` + second + `","sortOrder":-1}]`, 200, ""}, "F"},
		{call{"sort order of a strategy, in the same place", "POST", in("f", "development") + "/strategies/set-sort-order", `[{"id":"` + second + `","sortOrder":-2}]`, 200, ""}, ""},
		{with("a disabled strategy", strategy(second, `{"name":"default","disabled":true}`)), "F"},
		{with("its parameters", strategy(second, `{"name":"default","disabled":true,"parameters":{"a":"b"}}`)), ""},
		{with("its title", strategy(second, `{"name":"default","disabled":true,"title":"b"}`)), ""},
		{with("an enabled one again", strategy(second, `{"name":"default","disabled":false}`)), "F"},
		{call{"enable", "POST", project + "/bulk_features/environments/development/on", `{"features":["f"]}`, 200, ""}, "F"},
		{call{"disable", "POST", project + "/bulk_features/environments/development/off", `{"features":["f"]}`, 200, ""}, "F"},
		{call{"disable again", "POST", project + "/bulk_features/environments/development/off", `{"features":["f"]}`, 200, ""}, ""},
		{call{"description", "PATCH", features + "/f", `[{"op":"replace","path":"/description","value":"new"}]`, 200, anything}, "F"},
		{call{"favorite", "POST", features + "/f/favorites", "", 200, ""}, ""},
		{call{"complete", "POST", features + "/f/lifecycle/complete", `{"status":"kept"}`, 200, anything}, ""},
		{call{"dependency, which is also in the parent", "POST", features + "/f/dependencies", `{"feature":"parent"}`, 200, anything}, "F"},
		{call{"archive it, which changes the parent", "DELETE", features + "/f", "", 202, ""}, "F"},
		{call{"project", "PUT", project, `{"name":"New","description":"new"}`, 200, anything}, ""},
		{call{"default strategy", "POST", project + "/environments/development/default-strategy", `{"name":"default"}`, 200, anything}, ""},
		{call{"a new environment", "POST", environments, `{"name":"stage","type":"test"}`, 201, anything}, "E"},
		{call{"its sort order", "PUT", environments + "/sort-order", `{"stage":1}`, 200, ""}, ""},
		{call{"its type", "PUT", environments + "/update/stage", `{"type":"production"}`, 200, anything}, ""},
		{call{"in a project", "POST", project + "/environments", `{"environment":"stage"}`, 200, ""}, "P"},
		{call{"a segment", "POST", allSegments, `{"name":"s","constraints":[]}`, 201, anything}, "S"},
		{call{"its description", "PUT", allSegments + "/1", `{"name":"s","description":"new","constraints":[]}`, 204, ""}, ""},
		{call{"its project", "PUT", allSegments + "/1", `{"name":"s","description":"new","project":"default","constraints":[]}`, 204, ""}, "S"},
		{call{"an import of two flags", "POST", importData, `{"project":"default","environment":"development","data":{"features":[{"name":"g"},{"name":"h"}]}}`, 200, anything}, "F, F"},
		{call{"both archived", "POST", project + "/archive", `{"features":["g","h"]}`, 202, ""}, "F, F"},
		{call{"an API token", "POST", "/api/admin/api-tokens", `{"tokenName":"t","type":"client","environment":"development"}`, 201, anything}, "T"},
		{call{"an admin token, which is looked up when it is used", "POST", "/api/admin/api-tokens", `{"tokenName":"a","type":"admin"}`, 201, anything}, ""},
	} {
		t.Run(step.name, func(t *testing.T) {
			if got := s.feedOf(t, func() { s.check(t, step.call) }); got != step.want {
				t.Errorf("it added %q to the feed, want %q", got, step.want)
			}
		})
	}
}

// feedOf returns the letters of what f adds to the feed: F for a flag, S for a segment, P for a project, E for the
// environments, T for a token, -S for a deleted segment. Entries are separated by commas. It checks that the versions are those that are
// stored.
func (s *server) feedOf(t *testing.T, f func()) string {
	t.Helper()
	before := s.feed(t)
	f()
	after := s.feed(t)
	entries, all := after.After(before.Number)
	if !all {
		t.Fatal("some entries are in pages already")
	}
	var list []string
	for _, e := range entries {
		var letters []string
		for _, c := range e.Changes {
			view, err := s.store.Load(t.Context(), []flags.Key{c.Key})
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

func (s *server) feed(t *testing.T) *flags.Feed {
	t.Helper()
	view, err := s.store.Load(t.Context(), []flags.Key{flags.FeedKey()})
	if err != nil {
		t.Fatal(err)
	}
	return flags.Find[*flags.Feed](view, flags.FeedKey())
}
