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

// staged creates an environment "staging" and adds it to the project "default".
func (s *server) staged(t *testing.T) {
	t.Helper()
	s.must(t, "POST", environments, `{"name":"staging","type":"test"}`)
	s.must(t, "POST", project+"/environments", `{"environment":"staging"}`)
}

// uses adds a strategy with a segment to a flag of the project "default".
func (s *server) uses(t *testing.T, flag, environment, segment string) {
	t.Helper()
	s.must(t, "POST", in(flag, environment)+"/strategies", `{"name":"default","title":"`+flag+`","segments":[`+segment+`]}`)
}

// TestSegmentLeftovers checks that strategies of a deleted environment do not prevent the deletion of a segment, even if a new
// environment has the same name.
func TestSegmentLeftovers(t *testing.T) {
	t.Parallel()
	for _, again := range []bool{false, true} {
		t.Run(fmt.Sprintf("created again %t", again), func(t *testing.T) {
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
				{"used by another flag: no strategy is removed", "DELETE", allSegments + "/" + one, "", 409, failureOf("ConflictError", `segment 1 ("one") is in use by flag "other"`)},
			})
			s.must(t, "DELETE", features+"/other", "")
			s.check(t, call{"used by an archived flag", "DELETE", allSegments + "/" + one, "", 409, inUse(`archived flag "other"`)})
			s.must(t, "POST", "/api/admin/archive/revive/other", "")
			s.must(t, "PUT", in("other", "development")+"/strategies/"+s.strategyIDs(t, "other", "development")[0], `{"segments":[]}`)

			s.must(t, "DELETE", allSegments+"/"+one, "")
			s.check(t, call{"deleted", "GET", allSegments + "/" + one, "", 404, notFound("segment 1")})
			if after := s.must(t, "GET", features+"/f", "").body; after != before {
				t.Errorf("the flag was %s before the deletion and is %s after it", before, after)
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
					t.Errorf("event %+v, want the removal of the strategy of %s in staging, with the former strategy", e, *e.FeatureName)
				}
			}
			s.check(t, call{"another segment is still in use", "DELETE", allSegments + "/" + two, "", 409, inUse(`flag "f"`)})
			s.must(t, "DELETE", in("f", "development")+"/strategies/"+s.strategyIDs(t, "f", "development")[0], "")
			s.must(t, "DELETE", allSegments+"/"+two, "")
			s.wantEvents(t, "f", flags.FeatureStrategyRemove, 4)
		})
	}
}

// strategyIDs returns the ids of a flag's strategies in an environment.
func (s *server) strategyIDs(t *testing.T, flag, environment string) (ids []string) {
	t.Helper()
	for _, strategy := range decoded[[]struct{ ID string }](t, s.must(t, "GET", in(flag, environment)+"/strategies", "").body) {
		ids = append(ids, strategy.ID)
	}
	return ids
}

// TestSegmentInRemovedEnvironment checks that a strategy in an environment that was removed from its project still uses a
// segment, since it returns when the environment is added again.
func TestSegmentInRemovedEnvironment(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "f")
	s.staged(t)
	id := s.segment(t, `{"name":"one","constraints":[]}`)
	s.uses(t, "f", "staging", id)
	s.must(t, "DELETE", project+"/environments/staging", "")
	const removed = `flag "f" in environment "staging", which project "default" does not have at present (add it again to see the strategy)`
	s.run(t, []call{
		{"in use in the removed environment", "DELETE", allSegments + "/1", "", 409, inUse(removed)},
		{"add the environment again", "POST", project + "/environments", `{"environment":"staging"}`, 200, anything},
		{"the strategy is there again", "GET", in("f", "staging") + "/strategies", "", 200, `[{"...":0,"segments":[1]}]`},
		{"in use", "DELETE", allSegments + "/1", "", 409, failureOf("ConflictError", `segment 1 ("one") is in use by flag "f"`)},
		{"delete the environment", "DELETE", environments + "/staging", "", 200, ""},
		{"the segment is no longer in use", "DELETE", allSegments + "/1", "", 204, ""},
	})
}

// failureOf is an error with details and exactly this message.
func failureOf(name, message string) string {
	return fmt.Sprintf(`{"...":0,"name":%q,"message":%q}`, name, message)
}

// TestOrphanedUses checks that uses in deleted environments and projects prevent nothing else either.
func TestOrphanedUses(t *testing.T) {
	t.Parallel()
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
		{"the context field is in use", "DELETE", contextFields + "/country", "", 409, inUse(`flag "f"`)},
		{"the segment is in use", "PUT", allSegments + "/1", `{"name":"one","project":"shop","constraints":[]}`, 409, inUse(`flag "f"`)},
		{"delete the environment", "DELETE", environments + "/staging", "", 200, ""},
		{"the segment can be given to a project", "PUT", allSegments + "/1", `{"name":"one","project":"shop","constraints":[]}`, 204, ""},
		{"the flag can move", "POST", features + "/f/changeProject", `{"newProjectId":"third"}`, 200, anything},
		{"the context field can be deleted", "DELETE", contextFields + "/country", "", 200, ""},
		{"the segment can be deleted", "DELETE", allSegments + "/1", "", 204, ""},
		{"archive another flag", "DELETE", projects + "/shop/features/sold", "", 202, ""},
		{"its segment is still in use", "DELETE", allSegments + "/2", "", 409, inUse("archived")},
		{"delete its project", "DELETE", projects + "/shop", "", 200, ""},
		{"create a project with the same id", "POST", projects, aShop, 201, anything},
		{"the flag cannot be revived, so its segment can be deleted", "DELETE", allSegments + "/2", "", 204, ""},
	})
	s.wantEvents(t, "sold", flags.FeatureStrategyRemove, 1)
}

// TestSegmentLeftoversInParallel deletes a segment several times in parallel while its flags change. No change is lost, and
// each leftover strategy and the segment are deleted once.
func TestSegmentLeftoversInParallel(t *testing.T) {
	t.Parallel()
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
		t.Errorf("responses %v, want %d changes and one deletion", got, n)
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

// TestSegmentLeftoversInterrupted interrupts a deletion by failures of the store. The error says that a part was done, and a
// repeated call does the rest.
func TestSegmentLeftoversInterrupted(t *testing.T) {
	faults := &dynamotest.Faults{}
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = faults })
	s.staged(t)
	id := s.segment(t, `{"name":"one","constraints":[]}`)
	for _, flag := range strings.Fields("a b c d e f g h i j k l") {
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
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r.WithContext(shortDeadline(t))) }))
	t.Cleanup(web.Close)
	hurried := *s
	hurried.url = web.URL
	hurried.check(t, call{"interrupted", "DELETE", allSegments + "/1", "", 503, failure("ServiceUnavailableError", "only a part was done; send the same request again")})
	faults.Change(func(f *dynamotest.Faults) { f.Script = nil })
	s.check(t, call{"again", "DELETE", allSegments + "/1", "", 204, ""})
	for _, flag := range strings.Fields("a b c d e f g h i j k l") {
		s.wantEvents(t, flag, flags.FeatureStrategyRemove, 1)
	}
}

// An interposed store calls functions before and after uses are listed.
type interposed struct {
	httpapi.Store
	before, after func()
}

func (i interposed) EachUse(ctx context.Context, visit func(flags.FeatureUse) (bool, error)) error {
	i.before()
	defer i.after()
	return i.Store.EachUse(ctx, visit)
}

// interposed is a server of the same data, whose store calls functions before and after uses are listed for the first time.
func (s *server) interposed(t *testing.T, before, after func()) *server {
	at := *s
	at.url = s.also(t, everyGroup(interposed{s.store, sync.OnceFunc(before), sync.OnceFunc(after)},
		httpapi.Config{Limits: flags.DefaultLimits(), Sealer: dynamotest.Sealer}))
	return &at
}

// TestNewEnvironmentIsNotDeleted creates an environment while a segment is deleted, after the deletion has read the
// environments. A strategy in it must not count as one of a deleted environment.
func TestNewEnvironmentIsNotDeleted(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "f", "orphan")
	id := s.segment(t, `{"name":"one","constraints":[]}`)
	s.staged(t)
	s.uses(t, "orphan", "staging", id) // without a use, none would be listed
	s.must(t, "DELETE", environments+"/staging", "")
	at := s.interposed(t, func() {
		s.staged(t)
		s.uses(t, "f", "staging", id)
	}, func() {})
	at.check(t, call{"in use", "DELETE", allSegments + "/1", "", 409, inUse(`flag "f"`)})
	s.check(t, call{"the strategy is kept", "GET", in("f", "staging") + "/strategies", "", 200, `[{"...":0,"segments":[1]}]`})
	if got := s.events(t, "f"); strings.Contains(fmt.Sprint(got), string(flags.FeatureStrategyRemove)) {
		t.Errorf("events %v, want no removal", got)
	}
}

// TestSegmentInMuchUse checks that an error names a part of many flags, and that no use is missed because only a part of them was read.
func TestSegmentInMuchUse(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.must(t, "POST", projects, aShop)
	s.create(t, "template", "~last")
	s.staged(t)
	id := s.segment(t, `{"name":"one","constraints":[]}`)
	s.must(t, "POST", in("template", "staging")+"/strategies", `{"name":"default","segments":[`+id+`],"constraints":`+someUsers+`}`)
	s.uses(t, "~last", "development", id)
	var names []string
	for i := range flags.MaxNamedUses {
		names = append(names, fmt.Sprintf("f%03d", i))
	}
	dynamotest.AddCopies(t, s.store, "template", names)
	given := call{"given to a project", "PUT", allSegments + "/1", `{"name":"one","project":"shop","constraints":[]}`, 409, inUse("and at least 91 more")}
	for _, c := range []call{
		given,
		{"deleted", "DELETE", allSegments + "/1", "", 409, inUse("and at least 91 more")},
		{"a context field", "DELETE", contextFields + "/userId", "", 409, inUse("and at least 91 more")},
	} {
		s.check(t, c)
		details := decoded[struct{ Details []struct{ Message string } }](t, s.do(t, c.method, c.path, c.body).body).Details
		if len(details) != flags.MaxNamedUses || details[0].Message != `used by flag "f000"` {
			t.Errorf("%s: %d details, the first %v; want %d from flag f000 on", c.name, len(details), details[:min(1, len(details))], flags.MaxNamedUses)
		}
	}
	// All uses that were read end before the environments are read again.
	at := s.interposed(t, func() {}, func() { s.must(t, "DELETE", environments+"/staging", "") })
	given.want = failureOf("ConflictError", `segment 1 ("one") cannot be restricted to project "shop": it is in use by flag "~last"`)
	at.check(t, given)
	s.check(t, call{"the strategy in use", "GET", in("~last", "development") + "/strategies", "", 200, `[{"...":0,"segments":[1]}]`})
}

// TestProjectWithSegmentsIsNotDeleted checks that a project with segments of its own cannot be deleted, even if a segment is
// created in parallel. Otherwise the next project with the same id would get them.
func TestProjectWithSegmentsIsNotDeleted(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.must(t, "POST", projects, `{"id":"own"}`)
	s.must(t, "POST", projects, `{"id":"other"}`)
	id := s.id(t, allSegments, `{"name":"its","project":"own","constraints":[]}`)
	one := allSegments + "/" + id
	s.run(t, []call{
		{"the project has a segment", "DELETE", projects + "/own", "", 409, failure("ConflictError", "segments of its own")},
		{"give it to another project", "PUT", one, `{"name":"its","project":"other","constraints":[]}`, 204, ""},
		{"now the other project has a segment", "DELETE", projects + "/other", "", 409, failure("ConflictError", "segments of its own")},
		{"the first project can be deleted", "DELETE", projects + "/own", "", 200, ""},
		{"give it to all projects", "PUT", one, `{"name":"its","constraints":[]}`, 204, ""},
		{"the other project can be deleted", "DELETE", projects + "/other", "", 200, ""},
	})
	for i := range 20 {
		p := fmt.Sprintf("p-%d", i)
		s.must(t, "POST", projects, fmt.Sprintf(`{"id":%q}`, p))
		var working sync.WaitGroup
		var created, deleted answer
		working.Go(func() {
			created = s.do(t, "POST", allSegments, fmt.Sprintf(`{"name":%q,"project":%q,"constraints":[]}`, p, p))
		})
		working.Go(func() { deleted = s.do(t, "DELETE", projects+"/"+p, "") })
		working.Wait()
		if (created.status == 201) == (deleted.status == 200) {
			t.Errorf("a segment created while its project is deleted: %d %s and %d %s; want one of them rejected", created.status, created.body, deleted.status, deleted.body)
		}
	}
}
