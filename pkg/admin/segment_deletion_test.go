package admin_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// staged makes an environment "staging", part of the project "default".
func (s *server) staged(t *testing.T) {
	t.Helper()
	s.must(t, "POST", environments, `{"name":"staging","type":"test"}`)
	s.must(t, "POST", project+"/environments", `{"environment":"staging"}`)
}

// uses has a flag of the project "default" use a segment in an environment.
func (s *server) uses(t *testing.T, flag, environment, segment string) {
	t.Helper()
	s.must(t, "POST", in(flag, environment)+"/strategies", `{"name":"default","title":"`+flag+`","segments":[`+segment+`]}`)
}

// TestSegmentLeftovers: strategies of an environment that was deleted hold no segment back, whatever became of its name.
func TestSegmentLeftovers(t *testing.T) {
	for _, again := range []bool{false, true} {
		t.Run(fmt.Sprintf("made again %t", again), func(t *testing.T) {
			s := serve(t)
			s.create(t, "f", "archived", "other")
			s.staged(t)
			one, two := s.segment(t, `{"name":"one","constraints":[]}`), s.segment(t, `{"name":"two","constraints":[]}`)
			s.uses(t, "f", "staging", one+","+two)
			s.uses(t, "f", "staging", one)
			s.uses(t, "f", "staging", two)
			s.uses(t, "f", "development", two)
			s.uses(t, "archived", "staging", one)
			s.uses(t, "other", "development", one)
			s.must(t, "DELETE", features+"/archived", "")
			s.must(t, "DELETE", environments+"/staging", "")
			if again {
				s.staged(t)
				s.must(t, "POST", in("other", "staging")+"/strategies", `{"name":"default"}`)
			}
			before := s.must(t, "GET", features+"/f", "").body
			s.unchanged(t, "f", []call{
				{"while another uses it, no leftover goes", "DELETE", allSegments + "/" + one, "", 409, failureOf("ConflictError", `segment 1 ("one") is in use by flag "other"`)},
			})
			s.must(t, "DELETE", features+"/other", "")
			s.check(t, call{"nor while an archived flag does", "DELETE", allSegments + "/" + one, "", 409, inUse(`archived flag "other"`)})
			s.must(t, "POST", "/api/admin/archive/revive/other", "")
			s.must(t, "PUT", in("other", "development")+"/strategies/"+s.strategyIDs(t, "other", "development")[0], `{"segments":[]}`)

			s.must(t, "DELETE", allSegments+"/"+one, "")
			s.check(t, call{"gone", "GET", allSegments + "/" + one, "", 404, notFound("segment 1")})
			if after := s.must(t, "GET", features+"/f", "").body; after != before {
				t.Errorf("what is seen of the flag was %s, is %s", before, after)
			}
			s.wantEvents(t, "f", flags.FeatureStrategyRemove, 2)
			s.wantEvents(t, "archived", flags.FeatureStrategyRemove, 1)
			s.wantEvents(t, "other", flags.FeatureStrategyRemove, 0)
			newest := s.newest(t)
			if newest[0].Type != string(flags.SegmentDeleted) {
				t.Errorf("the newest event is %s, want the deletion of the segment", newest[0].Type)
			}
			for _, e := range newest[1:4] {
				if e.Type != string(flags.FeatureStrategyRemove) || *e.Environment != "staging" || e.PreData["title"] != *e.FeatureName || e.PreData["segments"] == nil {
					t.Errorf("event %+v, want the removal of the strategy that %s had in staging, with what it was", e, *e.FeatureName)
				}
			}
			s.check(t, call{"what others are held by stays", "DELETE", allSegments + "/" + two, "", 409, inUse(`flag "f"`)})
			s.must(t, "DELETE", in("f", "development")+"/strategies/"+s.strategyIDs(t, "f", "development")[0], "")
			s.must(t, "DELETE", allSegments+"/"+two, "")
			s.wantEvents(t, "f", flags.FeatureStrategyRemove, 4)
		})
	}
}

// strategyIDs are the ids of a flag's strategies.
func (s *server) strategyIDs(t *testing.T, flag, environment string) (ids []string) {
	t.Helper()
	for _, strategy := range decoded[[]struct{ ID string }](t, s.must(t, "GET", in(flag, environment)+"/strategies", "").body) {
		ids = append(ids, strategy.ID)
	}
	return ids
}

// TestSegmentInRemovedEnvironment: what a flag has in an environment that was taken out of its project comes back with it.
func TestSegmentInRemovedEnvironment(t *testing.T) {
	s := serve(t)
	s.create(t, "f")
	s.staged(t)
	id := s.segment(t, `{"name":"one","constraints":[]}`)
	s.uses(t, "f", "staging", id)
	s.must(t, "DELETE", project+"/environments/staging", "")
	const resting = `flag "f" in environment "staging", which project "default" does not have at present (add it again to see the strategy)`
	s.run(t, []call{
		{"it is in use", "DELETE", allSegments + "/1", "", 409, inUse(resting)},
		{"the environment comes back", "POST", project + "/environments", `{"environment":"staging"}`, 200, anything},
		{"and with it the strategy", "GET", in("f", "staging") + "/strategies", "", 200, `[{"...":0,"segments":[1]}]`},
		{"in use", "DELETE", allSegments + "/1", "", 409, failureOf("ConflictError", `segment 1 ("one") is in use by flag "f"`)},
		{"the environment goes for good", "DELETE", environments + "/staging", "", 200, ""},
		{"and with it the use", "DELETE", allSegments + "/1", "", 204, ""},
	})
}

// failureOf is a failure with details and with this message alone.
func failureOf(name, message string) string {
	return fmt.Sprintf(`{"...":0,"name":%q,"message":%q}`, name, message)
}

// TestOrphanedUses: nothing else is held back either by what nobody can see.
func TestOrphanedUses(t *testing.T) {
	s := serve(t)
	s.must(t, "POST", projects, aShop)
	s.must(t, "POST", projects+"/shop/features", `{"name":"sold"}`)
	s.must(t, "POST", projects, `{"id":"third"}`)
	s.create(t, "f")
	s.staged(t)
	s.segment(t, `{"name":"one","constraints":[]}`)
	s.segment(t, `{"name":"two","constraints":[]}`)
	s.must(t, "POST", in("f", "staging")+"/strategies", `{"name":"default","segments":[1],"constraints":[{"contextName":"country","operator":"IN","values":["CH"]}]}`)
	s.must(t, "POST", projects+"/shop/features/sold/environments/development/strategies", `{"name":"default","segments":[2]}`)
	s.must(t, "POST", contextFields, `{"name":"country"}`)
	s.run(t, []call{
		{"the field is in use", "DELETE", contextFields + "/country", "", 409, inUse(`flag "f"`)},
		{"the segment too", "PUT", allSegments + "/1", `{"name":"one","project":"shop","constraints":[]}`, 409, inUse(`flag "f"`)},
		{"the environment goes", "DELETE", environments + "/staging", "", 200, ""},
		{"a project's own", "PUT", allSegments + "/1", `{"name":"one","project":"shop","constraints":[]}`, 204, ""},
		{"the flag can move", "POST", features + "/f/changeProject", `{"newProjectId":"third"}`, 200, anything},
		{"the field goes", "DELETE", contextFields + "/country", "", 200, ""},
		{"the segment goes", "DELETE", allSegments + "/1", "", 204, ""},
		{"a flag is archived", "DELETE", projects + "/shop/features/sold", "", 202, ""},
		{"and uses its segment", "DELETE", allSegments + "/2", "", 409, inUse("archived")},
		{"its project goes", "DELETE", projects + "/shop", "", 200, ""},
		{"another comes", "POST", projects, aShop, 201, anything},
		{"nobody can revive the flag", "DELETE", allSegments + "/2", "", 204, ""},
	})
	s.wantEvents(t, "sold", flags.FeatureStrategyRemove, 1)
}

// TestSegmentLeftoversInParallel deletes a segment many times at once while its flags are changed: no change is lost, every
// leftover goes once, and so does the segment.
func TestSegmentLeftoversInParallel(t *testing.T) {
	s := serve(t)
	const n, deletions = 8, 4
	s.staged(t)
	id := s.segment(t, `{"name":"one","constraints":[]}`)
	for i := range n {
		s.create(t, fmt.Sprint("f-", i))
		s.uses(t, fmt.Sprint("f-", i), "staging", id)
	}
	s.must(t, "DELETE", environments+"/staging", "")
	got := s.parallel(t, n+deletions, func(i int) call {
		if i < n {
			return call{method: "PUT", path: features + "/" + fmt.Sprint("f-", i), body: `{"description":"changed"}`}
		}
		return call{method: "DELETE", path: allSegments + "/" + id}
	})
	if got[200] != n || got[204] != 1 || got[404]+got[503] != deletions-1 {
		t.Errorf("answers %v, want %d changes and one deletion", got, n)
	}
	for i := range n {
		flag := fmt.Sprint("f-", i)
		s.wantEvents(t, flag, flags.FeatureStrategyRemove, 1)
		s.check(t, call{flag, "GET", features + "/" + flag, "", 200, `{"...":0,"description":"changed"}`})
	}
	if diff := cmp.Diff([]flags.EventType{flags.SegmentCreated, flags.SegmentDeleted}, s.eventsOf(t, &flags.Segment{ID: 1})); diff != "" {
		t.Errorf("events of the segment (-want +got):\n%s", diff)
	}
}

// TestSegmentLeftoversInterrupted: when the store is gone in between, the answer says that a part was done, and the same
// call again does the rest.
func TestSegmentLeftoversInterrupted(t *testing.T) {
	faults := &dynamotest.Faults{}
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = faults })
	s.staged(t)
	id := s.segment(t, `{"name":"one","constraints":[]}`)
	for _, flag := range []string{"a", "b", "c"} {
		s.create(t, flag)
		s.uses(t, flag, "staging", id)
	}
	s.must(t, "DELETE", environments+"/staging", "")
	commits := 0
	faults.Change(func(f *dynamotest.Faults) {
		f.Script = func(operation string, _ int) dynamotest.Fault {
			if operation == "TransactWriteItems" {
				commits++
			}
			if commits > 1 {
				return dynamotest.FailBefore
			}
			return dynamotest.NoFault
		}
	})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r.WithContext(soon(t))) }))
	t.Cleanup(web.Close)
	hurried := *s
	hurried.url = web.URL
	hurried.check(t, call{"interrupted", "DELETE", allSegments + "/1", "", 503, failure("ServiceUnavailableError", "only a part of this was done")})
	faults.Change(func(f *dynamotest.Faults) { f.Script = nil })
	s.check(t, call{"again", "DELETE", allSegments + "/1", "", 204, ""})
	for _, flag := range []string{"a", "b", "c"} {
		s.wantEvents(t, flag, flags.FeatureStrategyRemove, 1)
	}
}

// An interposed store has something happen the first time that uses are listed, before they are.
type interposed struct {
	flags.Store
	once *sync.Once
	then func()
}

func (i interposed) List(ctx context.Context, entity flags.Entity) ([]flags.Aggregate, error) {
	if entity == flags.EntityUse {
		i.once.Do(i.then)
	}
	return i.Store.List(ctx, entity)
}

// TestNewEnvironmentIsNotDeleted: a strategy of an environment that is made after the deletion of a segment has read which
// there are is not taken for one of an environment that is gone.
func TestNewEnvironmentIsNotDeleted(t *testing.T) {
	s := serve(t)
	s.create(t, "f")
	id := s.segment(t, `{"name":"one","constraints":[]}`)
	at := *s
	at.url = s.also(t, everyGroup(interposed{s.store, new(sync.Once), func() {
		s.staged(t)
		s.uses(t, "f", "staging", id)
	}}, httpapi.Config{Limits: flags.DefaultLimits(), Sealer: dynamotest.Sealer}))
	at.check(t, call{"in use", "DELETE", allSegments + "/1", "", 409, inUse(`flag "f"`)})
	s.check(t, call{"still", "GET", in("f", "staging") + "/strategies", "", 200, `[{"...":0,"segments":[1]}]`})
	if got := s.events(t, "f"); strings.Contains(fmt.Sprint(got), string(flags.FeatureStrategyRemove)) {
		t.Errorf("events %v, want no removal", got)
	}
}

// A project's own segments keep it from being deleted, also at the same time: nothing of it is left for the next project
// of its id.
func TestProjectWithSegmentsIsNotDeleted(t *testing.T) {
	s := serve(t)
	s.must(t, "POST", projects, `{"id":"own"}`)
	s.must(t, "POST", projects, `{"id":"other"}`)
	id := s.id(t, allSegments, `{"name":"its","project":"own","constraints":[]}`)
	one := allSegments + "/" + id
	s.run(t, []call{
		{"the project has a segment", "DELETE", projects + "/own", "", 409, failure("ConflictError", "segments of its own")},
		{"it goes to another", "PUT", one, `{"name":"its","project":"other","constraints":[]}`, 204, ""},
		{"which stays now", "DELETE", projects + "/other", "", 409, failure("ConflictError", "segments of its own")},
		{"while the first can go", "DELETE", projects + "/own", "", 200, ""},
		{"it becomes everybody's", "PUT", one, `{"name":"its","constraints":[]}`, 204, ""},
		{"and the other can go, too", "DELETE", projects + "/other", "", 200, ""},
	})
	for i := range 20 {
		p := fmt.Sprintf("p-%d", i)
		s.must(t, "POST", projects, fmt.Sprintf(`{"id":%q}`, p))
		var working sync.WaitGroup
		var made, gone answer
		working.Go(func() {
			made = s.do(t, "POST", allSegments, fmt.Sprintf(`{"name":%q,"project":%q,"constraints":[]}`, p, p))
		})
		working.Go(func() { gone = s.do(t, "DELETE", projects+"/"+p, "") })
		working.Wait()
		if (made.status == 201) == (gone.status == 200) {
			t.Errorf("a segment made while its project is deleted: %d %s and %d %s; want one of them refused", made.status, made.body, gone.status, gone.body)
		}
	}
}
