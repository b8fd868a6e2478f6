package features_test

import (
	"fmt"
	"slices"
	"testing"

	"guidon/pkg/apitest"
	"guidon/pkg/flags"
)

// TestAdditionalEvents checks the changes that record more events than the one of the request.
func TestAdditionalEvents(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.CreateEnabled(t, "removed", "disabled", "patched", "two")
	s.Create(t, "f", "parent", "child")
	s.Must(t, "POST", apitest.Features+"/child/dependencies", `{"feature":"parent"}`)
	only := func(flag string) string {
		list := apitest.Decode[[]struct{ ID string }](t, s.Must(t, "GET", apitest.In(flag, "development")+"/strategies", "").Body)
		return apitest.In(flag, "development") + "/strategies/" + list[0].ID
	}
	s.AddStrategy(t, "two", `{"name":"default"}`)

	s.Must(t, "DELETE", only("removed"), "")
	s.Must(t, "PUT", only("disabled"), `{"disabled":true}`)
	s.Must(t, "PATCH", only("patched"), `[{"op":"replace","path":"/disabled","value":true}]`)
	s.Must(t, "PUT", only("two"), `{"disabled":true}`)
	s.Must(t, "PATCH", apitest.Features+"/f", `[{"op":"replace","path":"/stale","value":true}]`)
	s.Must(t, "PUT", apitest.Features+"/f", `{"description":"only that"}`)
	s.Must(t, "PUT", apitest.Features+"/f", `{"stale":false,"description":"only that"}`)
	s.Must(t, "PUT", apitest.Features+"/f", `{"stale":true,"description":"both"}`)
	s.Must(t, "PUT", apitest.Features+"/f/variants", `[{"name":"v","weight":1}]`)
	s.Must(t, "PUT", apitest.In("f", "development")+"/variants", `[{"name":"w","weight":1}]`)
	s.Must(t, "DELETE", apitest.Features+"/child", "")
	s.Must(t, "POST", apitest.Project+"/stale", `{"features":["parent"],"stale":true}`)
	for flag, want := range map[string][]flags.EventType{
		"removed":  {flags.FeatureStrategyRemove, flags.FeatureEnvironmentDisabled},
		"disabled": {flags.FeatureStrategyUpdate, flags.FeatureEnvironmentDisabled},
		"patched":  {flags.FeatureStrategyUpdate, flags.FeatureEnvironmentDisabled},
		"two":      {flags.FeatureStrategyAdd, flags.FeatureStrategyUpdate}, // the other strategy is still enabled
		"f":        {flags.FeatureCreated, "feature-stale-on", flags.FeatureMetadataUpdated, "feature-stale-off", "feature-stale-on", flags.FeatureMetadataUpdated, "feature-variants-updated", "feature-environment-variants-updated"},
		"child":    {flags.FeatureDependencyAdded, flags.FeatureArchived, flags.FeatureDependenciesRemoved},
		"parent":   {flags.FeatureCreated, "feature-stale-on"},
	} {
		if got := s.Last(t, flag, len(want)); !slices.Equal(got, want) {
			t.Errorf("%s: the last events are %q, want %q", flag, got, want)
		}
	}
	s.Check(t, apitest.Call{"both changes of a flag, each in one event", "GET", "/api/admin/events?feature=f&type=IS_ANY_OF:feature-stale-on,feature-metadata-updated", "", 200, `{"...":0,"events":[` +
		`{"...":0,"type":"feature-metadata-updated","data":{"...":0,"stale":true,"description":"both"},"preData":{"...":0,"stale":true,"description":"only that"}},` +
		`{"...":0,"type":"feature-stale-on","data":{"stale":true},"preData":{"stale":false}},` +
		`{"...":0,"type":"feature-metadata-updated","data":{"...":0,"stale":true,"description":"only that"}},{"...":0,"type":"feature-stale-on"}]}`})
	s.Check(t, apitest.Call{"in the log", "GET", "/api/admin/events/removed?limit=2", "", 200, `{"...":0,"events":[` +
		`{"...":0,"type":"feature-environment-disabled","environment":"development","project":"default","createdBy":"admin","createdByUserId":-42},` +
		`{"...":0,"type":"feature-strategy-remove","environment":"development"}],"next":"<any>"}`})
	first := apitest.Decode[struct{ Next string }](t, s.Must(t, "GET", "/api/admin/events/removed?limit=1", "").Body)
	s.Check(t, apitest.Call{"a page that begins between the two", "GET", "/api/admin/events/removed?limit=1&cursor=" + first.Next, "", 200, `{"...":0,"events":[{"...":0,"type":"feature-strategy-remove"}]}`})
	s.Check(t, apitest.Call{"by the user who changed it", "GET", "/api/admin/events?createdBy=IS:-42&feature=f&limit=1", "", 200, `{"...":0,"events":[{"...":0,"featureName":"f"}]}`})

	s.Must(t, "DELETE", apitest.Project+"/environments/production", "")
	s.Must(t, "DELETE", apitest.Features+"/f/dependencies", "") // it has no dependencies
	s.Check(t, apitest.Call{"an environment removed from a project", "GET", "/api/admin/events?project=default&type=project-environment-removed", "", 200,
		`{"...":0,"events":[{"...":0,"type":"project-environment-removed","project":"default","environment":"production"}],"totalEvents":1}`})
}

// TestParallelAdditionalEvents makes parallel changes with several events each. Every event is recorded once, in order.
func TestParallelAdditionalEvents(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	s.Parallel(t, 16, func(i int) apitest.Call {
		return apitest.Call{Method: "PUT", Path: apitest.Features + "/f", Body: fmt.Sprintf(`{"stale":%t,"description":"%d"}`, i%2 == 0, i)}
	})
	events, err := s.Store.Events(t.Context(), &flags.Feature{Name: "f"})
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
	s.Check(t, apitest.Call{"the flag", "GET", apitest.Features + "/f", "", 200, fmt.Sprintf(`{"...":0,"stale":%t}`, stale)})
}
