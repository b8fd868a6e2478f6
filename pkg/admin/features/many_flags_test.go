package features_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"guidon/internal/capacity"
	"guidon/pkg/apitest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// TestEnvironmentOfManyFlags checks that operations on one flag cost the same in a project of 10,000 flags. Then it deletes an environment in which 10,000 flags are enabled, and creates it again. Each request takes
// two DynamoDB calls, and the flags have no strategies or variants in the new environment.
func TestEnvironmentOfManyFlags(t *testing.T) {
	t.Parallel()
	const n = 10_000
	count := &apitest.Counter{}
	units := &capacity.Counter{Next: count}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = units })
	s.Unchecked = true // copied items have the same IDs
	const p, stage = apitest.Projects + "/many", apitest.Environments + "/stage"
	s.Must(t, "POST", apitest.Environments, `{"name":"stage","type":"test"}`)
	s.Must(t, "POST", apitest.Projects, `{"id":"many","environments":["stage"]}`)
	few := costsIn(t, s, units, p, "few")
	manyFlags(t, s, n)
	many := costsIn(t, s, units, p, "all")
	for what, cost := range few {
		if got := many[what]; got.Calls != cost.Calls || got.Read+got.Write > (cost.Read+cost.Write)*1.3 {
			t.Errorf("%s costs %+v in a project of %d flags, and %+v in an empty one; want the same calls, and at most 1.3 times the units", what, got, n, cost)
		}
	}
	wantOfMany(t, s.Must(t, "GET", p+"/features", "").Body, n, true)

	s.Check(t, apitest.Call{"deleted while flags are on", "DELETE", stage, "", 409, apitest.Failure("ConflictError", "f00000, f00001, f00002 and 9997 more")})
	for _, step := range []apitest.Call{
		{"removed from the project", "DELETE", p + "/environments/stage", "", 200, ""},
		{"deleted", "DELETE", stage, "", 200, ""},
		{"created again", "POST", apitest.Environments, `{"name":"stage","type":"test"}`, 201, apitest.Anything},
		{"added again", "POST", p + "/environments", `{"environment":"stage"}`, 200, ""},
	} {
		want := "BatchGetItem TransactWriteItems"
		switch step.Name {
		case "removed from the project":
			want = "BatchGetItem BatchGetItem TransactWriteItems" // its signals
		case "deleted":
			want = "BatchGetItem Query TransactWriteItems" // the projects that have the environment
		}
		if calls := count.During(func() { s.Check(t, step) }); strings.Join(calls, " ") != want {
			t.Errorf("%s: calls %v, want %s", step.Name, calls, want)
		}
	}
	wantOfMany(t, s.Must(t, "GET", p+"/features", "").Body, n, false)
	for i := 0; i < n; i += n / 20 {
		s.Check(t, apitest.Call{"a flag in the new environment", "GET", fmt.Sprintf("%s/features/f%05d/environments/stage", p, i), "", 200,
			`{"...":0,"enabled":false,"strategies":[],"variants":[]}`})
	}
	s.Check(t, apitest.Call{"enable a flag", "POST", p + "/features/f00000/environments/stage/on", "", 409, apitest.Failure("ConflictError", "no strategies")})
	s.Check(t, apitest.Call{"no enabled flags are counted", "GET", apitest.Environments + "/project/many", "", 200, `{"...":0,"environments":[{"...":0,"projectEnabledToggleCount":0}]}`})
}

// manyFlags stores flags in the project "many" that are enabled in its environment "stage", in as few transactions as possible.
func manyFlags(t *testing.T, s *apitest.Server, n int) {
	t.Helper()
	many := apitest.Load[*flags.Project](t, s, flags.ProjectKey("many"))
	env := many.AvailableEnvironments(apitest.Load[*flags.Environments](t, s, flags.EnvironmentsKey()))[0]
	const each = 40 // with rows, guards and an event just below 100 items
	var wg sync.WaitGroup
	places := make(chan struct{}, 8)
	for first := 0; first < n; first += each {
		change := flags.Change{Event: flags.Event{ID: fmt.Sprint(first), Type: flags.FeatureCreated}}
		for i := first; i < first+each; i++ {
			f := flags.NewFeature(many, fmt.Sprintf("f%05d", i), flags.Metadata{Type: flags.Release}, "test", many.CreatedAt)
			f.Environments = map[string]flags.FeatureEnvironment{"stage": {
				EnvironmentState: flags.EnvironmentState{EnvironmentUID: env.UID, EnabledIn: env.Attachment.ID},
				Strategies:       []flags.Strategy{{ID: "s", Name: "default"}},
				Variants:         []flags.Variant{{Name: "v", Weight: 1000}},
			}}
			change.Writes = append(change.Writes, flags.Write{After: f})
		}
		places <- struct{}{}
		wg.Go(func() {
			if err := s.Store.Commit(t.Context(), change); err != nil {
				t.Error(err)
			}
			<-places
		})
	}
	wg.Wait()
}

// wantOfMany checks that a list has n flags, which are either all enabled with strategies and variants, or all disabled without.
func wantOfMany(t *testing.T, body string, n int, on bool) {
	t.Helper()
	var list struct {
		Features []struct {
			Name         string
			Environments []struct {
				Name                                         string
				Enabled, HasStrategies, HasEnabledStrategies bool
				VariantCount                                 int
			}
		}
	}
	apitest.DecodeInto(t, body, &list)
	if len(list.Features) != n {
		t.Fatalf("%d flags, want %d", len(list.Features), n)
	}
	for _, f := range list.Features {
		if len(f.Environments) != 1 {
			t.Fatalf("%s is in %v, want one environment", f.Name, f.Environments)
		}
		e := f.Environments[0]
		if e.Name != "stage" || e.Enabled != on || e.HasStrategies != on || e.HasEnabledStrategies != on || (e.VariantCount > 0) != on {
			t.Fatalf("%s is %+v, want it enabled with strategies and variants: %t", f.Name, e, on)
		}
	}
}

// costsIn returns what operations on one flag of a project cost: the least of several requests, because some changes also move
// entries of the feed. It archives its flags.
func costsIn(t *testing.T, s *apitest.Server, units *capacity.Counter, project, name string) map[string]capacity.Cost {
	t.Helper()
	costs := map[string]capacity.Cost{}
	for i := range 10 {
		flag := fmt.Sprintf("cost-%s-%d", name, i)
		one := project + "/features/" + flag
		stage := one + "/environments/stage"
		for _, step := range []struct{ what, method, path, body string }{
			{"create", "POST", project + "/features", `{"name":"` + flag + `"}`},
			{"add a strategy", "POST", stage + "/strategies", `{"name":"default"}`},
			{"on", "POST", stage + "/on", ""},
			{"read", "GET", one, ""},

			{"PUT", "PUT", one, `{"description":"new"}`},
			{"off", "POST", stage + "/off", ""},
			{"archive", "DELETE", one, ""},
		} {
			cost := units.During(func() { s.Must(t, step.method, step.path, step.body) })
			if least, known := costs[step.what]; !known || cost.Read+cost.Write < least.Read+least.Write {
				costs[step.what] = cost
			}
		}
	}
	return costs
}
