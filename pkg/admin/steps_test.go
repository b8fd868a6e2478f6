package admin_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"guidon/internal/engine"
	"guidon/pkg/access"
	"guidon/pkg/admin"
	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// A stepBody is an operation that runs as a step.
type stepBody struct {
	Route string            `json:"route"`
	Path  map[string]string `json:"path"`
	Body  json.RawMessage   `json:"body,omitempty"`
}

func operationsByRoute() map[string]httpapi.Operation {
	byRoute := map[string]httpapi.Operation{}
	for _, group := range admin.Groups() {
		for _, op := range group.Operations {
			byRoute[op.Route] = op
		}
	}
	return byRoute
}

// stepsHandler is a service whose only operation runs operations as the steps of one transaction.
func stepsHandler(store httpapi.Store, config httpapi.Config) http.Handler {
	byRoute := operationsByRoute()
	return httpapi.New(store, httpapi.Group{Name: "steps", Operations: []httpapi.Operation{{
		Route: "POST /steps", Permission: access.Admin,
		Handle: httpapi.DoBody(func(tx *httpapi.Tx, _ httpapi.InService, steps []stepBody) error {
			for _, step := range steps {
				if _, err := tx.Operate(tx.Caller, byRoute[step.Route], step.Path, step.Body); err != nil {
					return err
				}
			}
			return nil
		}),
	}}}, config)
}

// A stepsService is a table with a service over it, and with steps.
type stepsService struct {
	table          string
	single, atOnce http.Handler
	strategies     []string // their IDs
}

func openSteps(t *testing.T, e *engine.Engine, table string) *stepsService {
	t.Helper()
	store := dynamotest.OpenOn(t, e, table, nil)
	dynamotest.Seed(t, store)
	config := httpapi.Config{Limits: flags.DefaultLimits(), Sealer: dynamotest.Sealer, Twice: apitest.SameTwice(t)}
	s := &stepsService{table: table, single: apitest.Handler(store, config), atOnce: stepsHandler(store, config)}
	post := func(path, body string) string {
		t.Helper()
		got := apitest.Direct(s.single, "POST", path, body)
		if got.Status >= 300 {
			t.Fatalf("POST %s %s: %d %s", path, body, got.Status, got.Body)
		}
		return got.Body
	}
	post(apitest.Addons, `{"provider":"webhook","enabled":true,"events":["feature-environment-enabled","feature-strategy-add","segment-updated"],"parameters":{"url":"https://example.com/"}}`)
	post(apitest.Segments, `{"name":"one","constraints":[]}`)
	post(apitest.Segments, `{"name":"two","constraints":[]}`)
	for _, name := range []string{"a", "b", "c"} {
		post(apitest.Features, body("name", name))
		s.strategies = append(s.strategies, apitest.IDIn(post(apitest.In(name, "production")+"/strategies", `{"name":"default"}`)))
	}
	return s
}

// operate runs one operation, and returns the status.
func (s *stepsService) operate(step stepBody) apitest.Answer {
	method, path, _ := strings.Cut(step.Route, " ")
	for name, value := range step.Path {
		path = strings.ReplaceAll(path, "{"+name+"}", value)
	}
	return apitest.Direct(s.single, method, path, string(step.Body))
}

// together runs operations as steps.
func (s *stepsService) together(t *testing.T, steps []stepBody) apitest.Answer {
	t.Helper()
	return apitest.Direct(s.atOnce, "POST", "/steps", text(steps))
}

var (
	uuidPattern = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	timePattern = regexp.MustCompile(`"20[0-9]{2}-[^"]*Z"`)
	idPattern   = regexp.MustCompile(`"id":[0-9]{9,}`)
)

// content is everything that can be read of the flags and segments, with their histories, and what waits for the addon. Times are left out,
// and identifiers are numbered in the order in which they appear.
func (s *stepsService) content() string {
	var all strings.Builder
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		for _, path := range []string{apitest.Features + "/" + name, "/api/admin/events/" + name + "?limit=100", "/api/admin/features/" + name + "/tags"} {
			fmt.Fprintln(&all, path, apitest.Direct(s.single, "GET", path, "").Body)
		}
	}
	for _, path := range []string{apitest.Segments, "/api/admin/events?limit=100&type=IS_ANY_OF:segment-updated,segment-deleted", apitest.Features, "/api/admin/archive/features/default"} {
		fmt.Fprintln(&all, path, apitest.Direct(s.single, "GET", path, "").Body)
	}
	var waiting struct {
		IntegrationEvents []struct {
			Event struct{ Type, FeatureName string }
		}
	}
	if err := json.Unmarshal([]byte(apitest.Direct(s.single, "GET", apitest.Addons+"/1/events", "").Body), &waiting); err != nil {
		fmt.Fprintln(&all, err)
	}
	fmt.Fprintln(&all, waiting)
	numbers := map[string]int{}
	normal := uuidPattern.ReplaceAllStringFunc(all.String(), func(id string) string {
		if _, known := numbers[id]; !known {
			numbers[id] = len(numbers)
		}
		return "#" + strconv.Itoa(numbers[id])
	})
	return idPattern.ReplaceAllString(timePattern.ReplaceAllString(normal, `"time"`), `"id":0`)
}

// drawStep draws an operation. strategies are the IDs of the strategies of the flags a, b and c.
func drawStep(t *rapid.T, strategies []string) stepBody {
	choose := func(what string, of ...string) string { return rapid.SampledFrom(of).Draw(t, what) }
	name, environment := choose("flag", "a", "b", "c", "d"), choose("environment", "development", "production")
	one := map[string]string{"projectId": "default", "featureName": name, "environment": environment}
	const (
		flag = "/api/admin/projects/{projectId}/features/{featureName}"
		env  = flag + "/environments/{environment}"
	)
	segment := choose("segment", "1", "2")
	all := []stepBody{
		{"POST " + env + "/on", one, nil}, {"POST " + env + "/off", one, nil},
		{"POST " + env + "/strategies", one, json.RawMessage(`{"name":"default","segments":[` + segment + `]}`)},
		{"POST " + env + "/strategies", one, json.RawMessage(`{"name":"flexibleRollout","sortOrder":-1}`)},
		{"PUT " + env + "/variants", one, json.RawMessage(`[{"name":"` + choose("variant", "x", "y") + `","weight":1}]`)},
		{"PUT " + flag, one, json.RawMessage(`{"description":"` + choose("text", "one", "two") + `","stale":` + choose("stale", "true", "false") + `}`)},
		{"DELETE " + flag, one, nil},
		{"POST " + flag + "/dependencies", one, json.RawMessage(`{"feature":"` + choose("parent", "a", "b", "c") + `"}`)},
		{"DELETE " + flag + "/dependencies", one, nil},
		{"POST /api/admin/archive/revive/{featureName}", map[string]string{"featureName": name}, nil},
		{"POST /api/admin/features/{featureName}/tags", map[string]string{"featureName": name}, json.RawMessage(`{"type":"simple","value":"` + choose("tag", "t1", "t2") + `"}`)},
		{"POST /api/admin/projects/{projectId}/features", map[string]string{"projectId": "default"}, json.RawMessage(`{"name":"` + choose("new", "d", "e") + `"}`)},
		{"POST " + flag + "/clone", one, json.RawMessage(`{"name":"` + choose("clone", "d", "e") + `"}`)},
		{"PUT /api/admin/segments/{id}", map[string]string{"id": segment}, json.RawMessage(`{"name":"` + choose("segment name", "one", "two", "three") + `","constraints":[{"contextName":"userId","operator":"IN","values":["` + choose("value", "1", "2") + `"]}]}`)},
	}
	for i, name := range []string{"a", "b", "c"} {
		own := map[string]string{"projectId": "default", "featureName": name, "environment": "production", "strategyId": strategies[i]}
		all = append(all, stepBody{"DELETE " + env + "/strategies/{strategyId}", own, nil},
			stepBody{"PUT " + env + "/strategies/{strategyId}", own, json.RawMessage(`{"name":"default","segments":[` + segment + `]}`)},
			stepBody{"PATCH " + env + "/strategies/{strategyId}", own, json.RawMessage(`[{"op":"replace","path":"/disabled","value":` + choose("disabled", "true", "false") + `}]`)})
	}
	return rapid.SampledFrom(all).Draw(t, "step")
}

// TestSteps checks that operations which run as steps of one transaction leave what the same operations leave when they run one after the
// other: flags, segments, histories with their states before and after, lists, counts, and what waits in the outboxes. An operation that
// fails alone fails as a step, with the same status, and then nothing is changed.
func TestSteps(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{"rapid.checks": strconv.Itoa(dynamotest.Times(25, 50)), "rapid.nofailfile": "true", "rapid.shrinktime": "20s"} {
		if f := flag.Lookup(name); f.Value.String() == f.DefValue {
			if err := flag.Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
	}
	e, err := engine.Start(t.Context(), engine.Options{Direct: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Stop()
	tables, statuses := 0, map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		tables++
		alone, together := openSteps(t, e, fmt.Sprintf("alone-%d", tables)), openSteps(t, e, fmt.Sprintf("together-%d", tables))
		var done []stepBody
		for i := range rapid.IntRange(1, 7).Draw(rt, "steps") {
			rt.Logf("step %d", i)
			step := drawStep(rt, alone.strategies)
			mine := step
			mine.Path = map[string]string{}
			for name, value := range step.Path {
				if at := slices.Index(alone.strategies, value); at >= 0 {
					value = together.strategies[at]
				}
				mine.Path[name] = value
			}
			got := alone.operate(step)
			statuses[fmt.Sprint(got.Status)]++
			if got.Status < 300 {
				done = append(done, mine)
				continue
			}
			before := together.content()
			if refused := together.together(t, append(slices.Clone(done), mine)); refused.Status != got.Status {
				rt.Fatalf("after %s\n%s alone: %d %s, as a step: %d %s", text(done), text(mine), got.Status, got.Body, refused.Status, refused.Body)
			}
			if diff := cmp.Diff(before, together.content()); diff != "" {
				rt.Fatalf("steps that failed changed something:\n%s", diff)
			}
		}
		if got := together.together(t, append([]stepBody{}, done...)); got.Status != 200 {
			rt.Fatalf("the steps %s: %d %s", text(done), got.Status, got.Body)
		}
		if diff := cmp.Diff(alone.content(), together.content()); diff != "" {
			rt.Fatalf("the steps %s left something else (-alone +steps):\n%s", text(done), diff)
		}
		for _, s := range []*stepsService{alone, together} {
			if faults := dynamotest.Inconsistencies(t, e.URL(), s.table); len(faults) > 0 {
				rt.Fatalf("after %s the table %s is not consistent: %s", text(done), s.table, strings.Join(faults, "\n"))
			}
		}
	})
	t.Logf("statuses: %v", statuses)
}

// TestStepsPassNames renames two segments in one transaction: the second gets the name that the first had.
func TestStepsPassNames(t *testing.T) {
	t.Parallel()
	e, err := engine.Start(t.Context(), engine.Options{Direct: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Stop()
	s := openSteps(t, e, "names")
	rename := func(id, name string) stepBody {
		return stepBody{"PUT /api/admin/segments/{id}", map[string]string{"id": id}, json.RawMessage(`{"name":"` + name + `","constraints":[]}`)}
	}
	if got := s.together(t, []stepBody{rename("1", "three"), rename("2", "one")}); got.Status != 200 {
		t.Errorf("renaming one to three and two to one: %d %s", got.Status, got.Body)
	}
	for name, status := range map[string]int{"one": 409, "two": 201, "three": 409} {
		if got := apitest.Direct(s.single, "POST", apitest.Segments, `{"name":"`+name+`","constraints":[]}`); got.Status != status {
			t.Errorf("another segment %q: %d %s, want %d", name, got.Status, got.Body, status)
		}
	}
}

// TestRunAsUser runs steps as a user without a request: with the permissions that the user has at that time, for an approved part without
// SKIP_CHANGE_REQUEST, or without committing them.
func TestRunAsUser(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.OnInProduction(t, "f", "g")
	s.Review(t)
	id, _ := s.Person(t, access.RoleViewer)
	member := fmt.Sprintf("%s/users/%d/roles/", apitest.Project, id)
	s.Must(t, "POST", member+"4", "")
	runner, byRoute := httpapi.NewRunner(s.Store, httpapi.Config{Limits: flags.DefaultLimits(), Twice: apitest.SameTwice(t)}), operationsByRoute()
	path := func(flag string) map[string]string {
		return map[string]string{"projectId": "default", "featureName": flag, "environment": "production"}
	}
	off := func(tx *httpapi.Tx) error {
		for i, flag := range []string{"f", "g"} {
			if _, err := tx.Operate(tx.Caller, byRoute["POST /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/off"], path(flag), nil); err != nil {
				return fmt.Errorf("step %d: %w", i, err)
			}
		}
		return nil
	}
	approved := func(do func(tx *httpapi.Tx) error) func(tx *httpapi.Tx) error {
		return func(tx *httpapi.Tx) error {
			p := tx.Project("default")
			tx.Approved(func(part flags.GuardedPart, env flags.Environment) bool {
				return part.ProjectUID == p.UID && !part.All && env.Name == "production"
			})
			return do(tx)
		}
	}
	const done = flags.Kind(-1)
	run := func(as int64, want flags.Kind, do func(tx *httpapi.Tx) error) {
		t.Helper()
		err := runner.As(t.Context(), as, nil, do)
		if (want == done) != (err == nil) || err != nil && flags.KindOf(err) != want {
			t.Fatalf("%v, want the kind %v", err, want)
		}
	}
	archive := func(tx *httpapi.Tx) error {
		_, err := tx.Operate(tx.Caller, byRoute["DELETE /api/admin/projects/{projectId}/features/{featureName}"], path("f"), nil)
		return err
	}
	events := len(s.Events(t, "f"))
	run(id, flags.ReviewRequired, off)
	run(id, flags.ReviewRequired, approved(archive))
	run(0, flags.Forbidden, approved(off))
	run(99, flags.Forbidden, approved(off))
	run(id, done, approved(func(tx *httpapi.Tx) error {
		writes, err := tx.DryRun(off)
		if err != nil {
			return err
		}
		for i, flag := range []string{"f", "g"} {
			if part := writes[i].Guarded(); len(writes) != 2 || writes[i].After.Key() != flags.FeatureKey(flag) || len(part) != 1 || len(part[0].Environments) != 1 || !part[0].Environments[0].Off {
				t.Errorf("the dry run would change %v in %+v", part, writes)
			}
		}
		if f := tx.FindFeature("f"); f.Version != int64(events) {
			t.Errorf("after the dry run, the flag has the version %d, not %d", f.Version, events)
		}
		return nil
	}))
	if got := len(s.Events(t, "f")); got != events {
		t.Errorf("what was refused or a dry run left %d events", got-events)
	}
	run(id, done, approved(off))
	for _, flag := range []string{"f", "g"} {
		s.Check(t, apitest.Call{"off", "GET", apitest.In(flag, "production"), "", 200, `{"...":0,"enabled":false}`})
		s.Check(t, apitest.Call{"by the user, who skipped nothing", "GET", "/api/admin/events/" + flag + "?limit=1", "", 200,
			fmt.Sprintf(`{"...":0,"events":[{"...":0,"type":"feature-environment-disabled","createdByUserId":%d}]}`, id)})
	}
	s.Must(t, "DELETE", member+"4", "")
	run(id, flags.Forbidden, approved(off))
}
