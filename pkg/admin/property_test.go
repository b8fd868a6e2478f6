package admin_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"guidon/internal/engine"
	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// TestProperties runs random sequences of operations through the whole API and a real engine, and compares them with a small
// model: every status, every flag after every step, every list at the end. It also checks that
//
//   - replaying the events of a flag gives the flag, and every change has its events;
//   - an export imported into an empty store gives the same flags and the same export;
//   - the table is consistent (dynamotest.Check).
//
// `make test` runs 25 sequences, `make trust` 1,000. A failure prints the seed that reproduces it.
func TestProperties(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{"rapid.checks": strconv.Itoa(dynamotest.Times(25, 50)), "rapid.steps": "30", "rapid.nofailfile": "true", "rapid.shrinktime": "20s"} {
		if f := flag.Lookup(name); f.Value.String() == f.DefValue { // not set on the command line
			if err := flag.Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
	}
	for batch := range dynamotest.Times(1, 20) { // each has its own engine: an engine slows down with every request token that it stores
		t.Run(strconv.Itoa(batch), func(t *testing.T) {
			e, err := engine.Start(t.Context(), engine.Options{Direct: true})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Stop()
			tables, answers := 0, map[string]int{}
			rapid.Check(t, func(rt *rapid.T) {
				q := &sequence{t: t, rt: rt, world: newWorld(), engine: e, answers: answers}
				q.table = fmt.Sprintf("sequence-%d", tables)
				tables++
				q.handler = q.open(q.table)
				q.begin()
				rt.Repeat(q.actions())
				q.rt = rt
				q.finish()
			})
			t.Logf("answers by step and status: %v", answers)
		})
	}
}

// A sequence runs operations on its own table.
type sequence struct {
	t       *testing.T
	rt      *rapid.T
	engine  *engine.Engine
	table   string
	handler http.Handler
	world   *world
	step    string
	answers map[string]int // of all sequences, by step and status
}

// open returns a service with a new table, which has two projects with three environments, and three segments.
func (q *sequence) open(table string) http.Handler {
	store := dynamotest.OpenOn(q.t, q.engine, table, nil)
	dynamotest.Seed(q.t, store)
	handler := apitest.Described(q.t, apitest.Handler(store, httpapi.Config{Limits: flags.DefaultLimits(), Sealer: dynamotest.Sealer}))
	for _, c := range []apitest.Call{
		{"", "POST", apitest.Environments, `{"name":"stage","type":"test"}`, 201, ""},
		{"", "POST", apitest.Projects, `{"id":"shop","environments":["development","production","stage"]}`, 201, ""},
		{"", "POST", apitest.Project + "/environments", `{"environment":"stage"}`, 200, ""},
		{"", "POST", apitest.Segments, segmentBody(1, ""), 201, ""},
		{"", "POST", apitest.Segments, segmentBody(2, ""), 201, ""},
		{"", "POST", apitest.Segments, segmentBody(3, ""), 201, ""},
	} {
		q.ask(handler, c.Method, c.Path, c.Body, c.Status)
	}
	return handler
}

// begin creates some flags, so that most operations concern an existing flag.
func (q *sequence) begin() {
	q.step = "the beginning"
	for name, project := range map[string]string{"a": "default", "b": "default", "c": "default", "d": "shop"} {
		q.do("POST", apitest.Projects+"/"+project+"/features", body("name", name), 201)
		empty := ""
		q.world.flags[name] = &modelFlag{changes: 1, in: map[string]*setup{}, flagState: flagState{
			Name: name, Project: project, Type: "release", Description: &empty, Lifecycle: phaseState{Stage: "initial"},
		}}
		f, s := q.world.flags[name], strategyState{Name: "default"}
		s.ID = apitest.IDIn(q.do("POST", q.pathOf(name)+"/environments/production/strategies", strategyBody(s), 200).Body)
		q.change(f, func() { q.world.setStrategies(f, "production", []strategyState{s}) })
		q.do("POST", q.pathOf(name)+"/environments/production/on", "", 200)
		q.setEnabled(f, "production", true)
	}
}

// do sends a request and checks the status.
func (q *sequence) do(method, path, body string, status int) apitest.Answer {
	return q.ask(q.handler, method, path, body, status)
}

func (q *sequence) ask(handler http.Handler, method, path, body string, status int) apitest.Answer {
	got := apitest.Direct(handler, method, path, body)
	q.answers[q.step+" "+strconv.Itoa(got.Status)]++
	if got.Status != status {
		q.rt.Fatalf("%s: %s %s %s: %d %s, want %d", q.step, method, path, body, got.Status, got.Body, status)
	}
	return got
}

// read decodes the response to a request.
func (q *sequence) read(handler http.Handler, method, path, body string, into any) {
	if err := json.Unmarshal([]byte(q.ask(handler, method, path, body, 200).Body), into); err != nil {
		q.rt.Fatal(err)
	}
}

func (q *sequence) same(what string, want, got any) {
	if diff := cmp.Diff(want, got); diff != "" {
		q.rt.Fatalf("%s: %s (-want +got):\n%s", q.step, what, diff)
	}
}

// compare reads every active flag and compares it with the model. The model gets the ids of new strategies from the response.
func (q *sequence) compare() {
	for _, name := range slices.Sorted(maps.Keys(q.world.flags)) {
		f := q.world.active(name)
		if f == nil {
			q.do("GET", q.pathOf(name), "", 404)
			continue
		}
		got := q.flag(q.handler, q.pathOf(name))
		for environment, e := range got.Environments {
			list := q.world.at(f, environment).strategies
			for i := range list {
				if i < len(e.Strategies) && list[i].ID == "" {
					list[i].ID = e.Strategies[i].ID
				}
			}
		}
		q.same("flag "+name, q.world.state(f).normal(), got)
	}
}

// flag reads a flag.
func (q *sequence) flag(handler http.Handler, path string) flagState {
	var got struct {
		flagState
		Environments []struct {
			Name string
			environmentState
		}
	}
	q.read(handler, "GET", path, "", &got)
	state := got.flagState
	state.Environments = map[string]environmentState{}
	for _, e := range got.Environments {
		state.Environments[e.Name] = e.environmentState
	}
	return state.normal()
}

// finish makes the checks at the end of a sequence.
func (q *sequence) finish() {
	q.step = "at the end"
	q.rt.Logf("%d flags", len(q.world.flags))
	for _, name := range []string{"default", "shop"} {
		q.compareLists(name)
	}
	q.compareSegments()
	q.replayAll()
	q.exportAll()
	if faults := dynamotest.Inconsistencies(q.t, q.engine.URL(), q.table); len(faults) > 0 {
		q.rt.Fatalf("the table is not consistent: %s", strings.Join(faults, "\n"))
	}
}

// compareLists compares the lists of a project with the model.
func (q *sequence) compareLists(project string) {
	type row struct {
		Name, Type            string
		Stale, ImpressionData bool
	}
	var active, archived struct{ Features []row }
	q.read(q.handler, "GET", apitest.Projects+"/"+project+"/features", "", &active)
	q.read(q.handler, "GET", "/api/admin/archive/features/"+project, "", &archived)
	want := map[bool][]row{false: {}, true: {}}
	for _, name := range slices.Sorted(maps.Keys(q.world.flags)) {
		if f := q.world.flags[name]; f.Project == project {
			want[f.Archived] = append(want[f.Archived], row{f.Name, f.Type, f.Stale, f.ImpressionData})
		}
	}
	q.same("the active flags of "+project, want[false], active.Features)
	q.same("the archived flags of "+project, want[true], archived.Features)
}

// exportAll exports every environment of every project, imports it into an empty service, and compares the two.
func (q *sequence) exportAll() {
	target := q.open(q.table + "-target")
	for id, owner := range q.world.segments {
		q.ask(target, "PUT", fmt.Sprintf("%s/%d", apitest.Segments, id), segmentBody(id, owner), 204)
	}
	type one struct{ project, environment string }
	exports := map[one]string{}
	for project := range q.world.projects {
		for _, environment := range []string{"development", "production", "stage"} {
			if q.world.attached(project, environment) == nil {
				continue
			}
			export := body("environment", environment, "project", project, "fullSegments", true)
			data := q.do("POST", apitest.Export, export, 200).Body
			exports[one{project, environment}] = data
			var got apitest.ImportReport
			q.read(target, "POST", apitest.Import, body("project", project, "environment", environment, "data", json.RawMessage(data)), &got)
			if got.Skipped > 0 {
				q.rt.Fatalf("the import of %s returned %+v, want none skipped", data, got)
			}
		}
	}
	for at, data := range exports {
		again := q.ask(target, "POST", apitest.Export, body("environment", at.environment, "project", at.project, "fullSegments", true), 200).Body
		q.same("the export of the imported flags", apitest.ExportWithoutIDs(q.t, data), apitest.ExportWithoutIDs(q.t, again))
	}
	for name := range q.world.flags {
		f := q.world.active(name)
		if f == nil || !slices.ContainsFunc(slices.Collect(maps.Keys(exports)), func(at one) bool { return at.project == f.Project }) {
			continue
		}
		want, got := q.world.state(f).normal(), q.flag(target, q.pathOf(name))
		want.Favorite, want.Lifecycle = false, phaseState{Stage: "initial"} // these are not exported
		for environment := range got.Environments {
			if _, had := want.Environments[environment]; !had {
				delete(got.Environments, environment) // it was not exported
			}
		}
		q.same("the imported flag "+name, withoutIDs(want), withoutIDs(got))
	}
}

func withoutIDs(s flagState) flagState {
	for _, e := range s.Environments {
		for i := range e.Strategies {
			e.Strategies[i].ID = ""
		}
	}
	return s
}
