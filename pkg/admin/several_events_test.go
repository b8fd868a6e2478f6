package admin_test

import (
	"fmt"
	"slices"
	"testing"

	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

// last returns the types of the newest n events of a flag, oldest first.
func (s *server) last(t *testing.T, flag string, n int) []flags.EventType {
	t.Helper()
	all := s.events(t, flag)
	return all[max(0, len(all)-n):]
}

// TestAdditionalEvents checks the changes that record more events than the one of the request.
func TestAdditionalEvents(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	s.enabled(t, "removed", "disabled", "patched", "two")
	s.create(t, "f", "parent", "child")
	s.must(t, "POST", features+"/child/dependencies", `{"feature":"parent"}`)
	only := func(flag string) string {
		list := decoded[[]struct{ ID string }](t, s.must(t, "GET", in(flag, "development")+"/strategies", "").body)
		return in(flag, "development") + "/strategies/" + list[0].ID
	}
	s.strategy(t, "two", `{"name":"default"}`)

	s.must(t, "DELETE", only("removed"), "")
	s.must(t, "PUT", only("disabled"), `{"disabled":true}`)
	s.must(t, "PATCH", only("patched"), `[{"op":"replace","path":"/disabled","value":true}]`)
	s.must(t, "PUT", only("two"), `{"disabled":true}`)
	s.must(t, "PATCH", features+"/f", `[{"op":"replace","path":"/stale","value":true}]`)
	s.must(t, "PUT", features+"/f", `{"description":"only that"}`)
	s.must(t, "PUT", features+"/f", `{"stale":false,"description":"only that"}`)
	s.must(t, "PUT", features+"/f", `{"stale":true,"description":"both"}`)
	s.must(t, "PUT", features+"/f/variants", `[{"name":"v","weight":1}]`)
	s.must(t, "PUT", in("f", "development")+"/variants", `[{"name":"w","weight":1}]`)
	s.must(t, "DELETE", features+"/child", "")
	s.must(t, "POST", project+"/stale", `{"features":["parent"],"stale":true}`)
	for flag, want := range map[string][]flags.EventType{
		"removed":  {flags.FeatureStrategyRemove, flags.FeatureEnvironmentDisabled},
		"disabled": {flags.FeatureStrategyUpdate, flags.FeatureEnvironmentDisabled},
		"patched":  {flags.FeatureStrategyUpdate, flags.FeatureEnvironmentDisabled},
		"two":      {flags.FeatureStrategyAdd, flags.FeatureStrategyUpdate}, // the other strategy is still enabled
		"f":        {flags.FeatureCreated, "feature-stale-on", flags.FeatureMetadataUpdated, "feature-stale-off", "feature-stale-on", flags.FeatureMetadataUpdated, "feature-variants-updated", "feature-environment-variants-updated"},
		"child":    {flags.FeatureDependencyAdded, flags.FeatureArchived, flags.FeatureDependenciesRemoved},
		"parent":   {flags.FeatureCreated, "feature-stale-on"},
	} {
		if got := s.last(t, flag, len(want)); !slices.Equal(got, want) {
			t.Errorf("%s: the last events are %q, want %q", flag, got, want)
		}
	}
	s.check(t, call{"both changes of a flag, each in one event", "GET", "/api/admin/events?feature=f&type=IS_ANY_OF:feature-stale-on,feature-metadata-updated", "", 200, `{"...":0,"events":[` +
		`{"...":0,"type":"feature-metadata-updated","data":{"...":0,"stale":true,"description":"both"},"preData":{"...":0,"stale":true,"description":"only that"}},` +
		`{"...":0,"type":"feature-stale-on","data":{"stale":true},"preData":{"stale":false}},` +
		`{"...":0,"type":"feature-metadata-updated","data":{"...":0,"stale":true,"description":"only that"}},{"...":0,"type":"feature-stale-on"}]}`})
	s.check(t, call{"in the log", "GET", "/api/admin/events/removed?limit=2", "", 200, `{"...":0,"events":[` +
		`{"...":0,"type":"feature-environment-disabled","environment":"development","project":"default","createdBy":"admin","createdByUserId":-42},` +
		`{"...":0,"type":"feature-strategy-remove","environment":"development"}],"next":"<any>"}`})
	first := decoded[struct{ Next string }](t, s.must(t, "GET", "/api/admin/events/removed?limit=1", "").body)
	s.check(t, call{"a page that begins between the two", "GET", "/api/admin/events/removed?limit=1&cursor=" + first.Next, "", 200, `{"...":0,"events":[{"...":0,"type":"feature-strategy-remove"}]}`})
	s.check(t, call{"by the user who changed it", "GET", "/api/admin/events?createdBy=IS:-42&feature=f&limit=1", "", 200, `{"...":0,"events":[{"...":0,"featureName":"f"}]}`})

	s.must(t, "DELETE", project+"/environments/production", "")
	s.must(t, "DELETE", features+"/f/dependencies", "") // it has no dependencies
	s.check(t, call{"an environment removed from a project", "GET", "/api/admin/events?project=default&type=project-environment-removed", "", 200,
		`{"...":0,"events":[{"...":0,"type":"project-environment-removed","project":"default","environment":"production"}],"totalEvents":1}`})
}

// TestParallelAdditionalEvents makes parallel changes with several events each. Every event is recorded once, in order.
func TestParallelAdditionalEvents(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	s.create(t, "f")
	s.parallel(t, 16, func(i int) call {
		return call{method: "PUT", path: features + "/f", body: fmt.Sprintf(`{"stale":%t,"description":"%d"}`, i%2 == 0, i)}
	})
	events, err := s.store.Events(t.Context(), &flags.Feature{Name: "f"})
	if err != nil {
		t.Fatal(err)
	}
	stale := false
	for i, e := range events {
		switch e.Type {
		case "feature-stale-on", "feature-stale-off":
			if now := e.Type == "feature-stale-on"; now == stale || events[i+1].Type != flags.FeatureMetadataUpdated {
				t.Errorf("event %d is %s before %s, and the flag was stale: %t", i, e.Type, events[i+1].Type, stale)
			} else {
				stale = now
			}
		}
	}
	s.check(t, call{"the flag", "GET", features + "/f", "", 200, fmt.Sprintf(`{"...":0,"stale":%t}`, stale)})
}
