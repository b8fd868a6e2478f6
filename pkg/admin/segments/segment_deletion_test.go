package segments_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// staged creates an environment "staging" and adds it to the project "default".
func staged(t *testing.T, s *apitest.Server) {
	t.Helper()
	s.Must(t, "POST", apitest.Environments, `{"name":"staging","type":"test"}`)
	s.Must(t, "POST", apitest.Project+"/environments", `{"environment":"staging"}`)
}

// uses adds a strategy with a segment to a flag of the project "default".
func uses(t *testing.T, s *apitest.Server, flag, environment, segment string) {
	t.Helper()
	s.Must(t, "POST", apitest.In(flag, environment)+"/strategies", `{"name":"default","title":"`+flag+`","segments":[`+segment+`]}`)
}

// TestSegmentLeftovers checks that strategies of a deleted environment do not prevent the deletion of a segment, even if a new
// environment has the same name.
func TestSegmentLeftovers(t *testing.T) {
	t.Parallel()
	for _, again := range []bool{false, true} {
		t.Run(fmt.Sprintf("created again %t", again), func(t *testing.T) {
			s := apitest.Serve(t)
			s.Create(t, "f", "archived", "other")
			staged(t, s)
			one, two := s.AddSegment(t, `{"name":"one","constraints":[]}`), s.AddSegment(t, `{"name":"two","constraints":[]}`)
			uses(t, s, "f", "staging", one+","+two)
			uses(t, s, "f", "staging", one)
			uses(t, s, "f", "staging", two)
			uses(t, s, "f", "development", two)
			uses(t, s, "archived", "staging", one)
			uses(t, s, "other", "development", one)
			s.Must(t, "DELETE", apitest.Features+"/archived", "")
			s.Must(t, "DELETE", apitest.Environments+"/staging", "")
			if again {
				staged(t, s)
				s.Must(t, "POST", apitest.In("other", "staging")+"/strategies", `{"name":"default"}`)
			}
			before := s.Must(t, "GET", apitest.Features+"/f", "").Body
			s.Unchanged(t, "f", []apitest.Call{
				{"used by another flag: no strategy is removed", "DELETE", apitest.Segments + "/" + one, "", 409, failureOf("ConflictError", `segment 1 ("one") is in use by flag "other"`)},
			})
			s.Must(t, "DELETE", apitest.Features+"/other", "")
			s.Check(t, apitest.Call{"used by an archived flag", "DELETE", apitest.Segments + "/" + one, "", 409, inUse(`archived flag "other"`)})
			s.Must(t, "POST", "/api/admin/archive/revive/other", "")
			s.Must(t, "PUT", apitest.In("other", "development")+"/strategies/"+strategyIDs(t, s, "other", "development")[0], `{"segments":[]}`)

			s.Must(t, "DELETE", apitest.Segments+"/"+one, "")
			s.Check(t, apitest.Call{"deleted", "GET", apitest.Segments + "/" + one, "", 404, apitest.NotFound("segment 1")})
			if after := s.Must(t, "GET", apitest.Features+"/f", "").Body; after != before {
				t.Errorf("the flag was %s before the deletion and is %s after it", before, after)
			}
			s.WantEvents(t, "f", flags.FeatureStrategyRemove, 2)
			s.WantEvents(t, "archived", flags.FeatureStrategyRemove, 1)
			s.WantEvents(t, "other", flags.FeatureStrategyRemove, 0)
			newest := s.Newest(t)
			if newest[0].Type != string(flags.SegmentDeleted) {
				t.Errorf("the newest event is %s, want the deletion of the segment", newest[0].Type)
			}
			for _, e := range newest[1:4] {
				if e.Type != string(flags.FeatureStrategyRemove) || *e.Environment != "staging" || e.PreData["title"] != *e.FeatureName || e.PreData["segments"] == nil {
					t.Errorf("event %+v, want the removal of the strategy of %s in staging, with the former strategy", e, *e.FeatureName)
				}
			}
			s.Check(t, apitest.Call{"another segment is still in use", "DELETE", apitest.Segments + "/" + two, "", 409, inUse(`flag "f"`)})
			s.Must(t, "DELETE", apitest.In("f", "development")+"/strategies/"+strategyIDs(t, s, "f", "development")[0], "")
			s.Must(t, "DELETE", apitest.Segments+"/"+two, "")
			s.WantEvents(t, "f", flags.FeatureStrategyRemove, 4)
		})
	}
}

// strategyIDs returns the ids of a flag's strategies in an environment.
func strategyIDs(t *testing.T, s *apitest.Server, flag, environment string) (ids []string) {
	t.Helper()
	for _, strategy := range apitest.Decode[[]struct{ ID string }](t, s.Must(t, "GET", apitest.In(flag, environment)+"/strategies", "").Body) {
		ids = append(ids, strategy.ID)
	}
	return ids
}

// TestSegmentInRemovedEnvironment checks that a strategy in an environment that was removed from its project still uses a
// segment, since it returns when the environment is added again.
func TestSegmentInRemovedEnvironment(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	staged(t, s)
	id := s.AddSegment(t, `{"name":"one","constraints":[]}`)
	uses(t, s, "f", "staging", id)
	s.Must(t, "DELETE", apitest.Project+"/environments/staging", "")
	const removed = `flag "f" in environment "staging", which project "default" does not have at present (add it again to see the strategy)`
	s.Run(t, []apitest.Call{
		{"in use in the removed environment", "DELETE", apitest.Segments + "/1", "", 409, inUse(removed)},
		{"add the environment again", "POST", apitest.Project + "/environments", `{"environment":"staging"}`, 200, apitest.Anything},
		{"the strategy is there again", "GET", apitest.In("f", "staging") + "/strategies", "", 200, `[{"...":0,"segments":[1]}]`},
		{"in use", "DELETE", apitest.Segments + "/1", "", 409, failureOf("ConflictError", `segment 1 ("one") is in use by flag "f"`)},
		{"delete the environment", "DELETE", apitest.Environments + "/staging", "", 200, ""},
		{"the segment is no longer in use", "DELETE", apitest.Segments + "/1", "", 204, ""},
	})
}

// failureOf is an error with details and exactly this message.
func failureOf(name, message string) string {
	return fmt.Sprintf(`{"...":0,"name":%q,"message":%q}`, name, message)
}

// TestOrphanedUses checks that uses in deleted environments and projects prevent nothing else either.
func TestOrphanedUses(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", apitest.Projects, `{"id":"shop"}`)
	s.Must(t, "POST", apitest.Projects+"/shop/features", `{"name":"sold"}`)
	s.Must(t, "POST", apitest.Projects, `{"id":"third"}`)
	s.Create(t, "f")
	staged(t, s)
	s.AddSegment(t, `{"name":"one","constraints":[]}`)
	s.AddSegment(t, `{"name":"two","constraints":[]}`)
	s.Must(t, "POST", apitest.In("f", "staging")+"/strategies", `{"name":"default","segments":[1],"constraints":[{"contextName":"country","operator":"IN","values":["CH"]}]}`)
	s.Must(t, "POST", apitest.Projects+"/shop/features/sold/environments/development/strategies", `{"name":"default","segments":[2]}`)
	s.Must(t, "POST", apitest.ContextFields, `{"name":"country"}`)
	s.Run(t, []apitest.Call{
		{"the context field is in use", "DELETE", apitest.ContextFields + "/country", "", 409, inUse(`flag "f"`)},
		{"the segment is in use", "PUT", apitest.Segments + "/1", `{"name":"one","project":"shop","constraints":[]}`, 409, inUse(`flag "f"`)},
		{"delete the environment", "DELETE", apitest.Environments + "/staging", "", 200, ""},
		{"the segment can be given to a project", "PUT", apitest.Segments + "/1", `{"name":"one","project":"shop","constraints":[]}`, 204, ""},
		{"the flag can move", "POST", apitest.Features + "/f/changeProject", `{"newProjectId":"third"}`, 200, apitest.Anything},
		{"the context field can be deleted", "DELETE", apitest.ContextFields + "/country", "", 200, ""},
		{"the segment can be deleted", "DELETE", apitest.Segments + "/1", "", 204, ""},
		{"archive another flag", "DELETE", apitest.Projects + "/shop/features/sold", "", 202, ""},
		{"its segment is still in use", "DELETE", apitest.Segments + "/2", "", 409, inUse("archived")},
		{"delete its project", "DELETE", apitest.Projects + "/shop", "", 200, ""},
		{"create a project with the same id", "POST", apitest.Projects, `{"id":"shop"}`, 201, apitest.Anything},
		{"the flag cannot be revived, so its segment can be deleted", "DELETE", apitest.Segments + "/2", "", 204, ""},
	})
	s.WantEvents(t, "sold", flags.FeatureStrategyRemove, 1)
}

// TestSegmentLeftoversInParallel deletes a segment several times in parallel while its flags change. No change is lost, and
// each leftover strategy and the segment are deleted once.
func TestSegmentLeftoversInParallel(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	const n, deletions = 8, 4
	staged(t, s)
	id := s.AddSegment(t, `{"name":"one","constraints":[]}`)
	for i := range n {
		s.Create(t, fmt.Sprint("f-", i))
		uses(t, s, fmt.Sprint("f-", i), "staging", id)
	}
	s.Must(t, "DELETE", apitest.Environments+"/staging", "")
	got := s.Parallel(t, n+deletions, func(i int) apitest.Call {
		if i < n {
			return apitest.Call{Method: "PUT", Path: apitest.Features + "/" + fmt.Sprint("f-", i), Body: `{"description":"changed"}`}
		}
		return apitest.Call{Method: "DELETE", Path: apitest.Segments + "/" + id}
	})
	if got[200] != n || got[204] != 1 || got[404]+got[503] != deletions-1 {
		t.Errorf("responses %v, want %d changes and one deletion", got, n)
	}
	for i := range n {
		flag := fmt.Sprint("f-", i)
		s.WantEvents(t, flag, flags.FeatureStrategyRemove, 1)
		s.Check(t, apitest.Call{flag, "GET", apitest.Features + "/" + flag, "", 200, `{"...":0,"description":"changed"}`})
	}
	if diff := cmp.Diff([]flags.EventType{flags.SegmentCreated, flags.SegmentDeleted}, s.EventsOf(t, &flags.Segment{ID: 1})); diff != "" {
		t.Errorf("events of the segment (-want +got):\n%s", diff)
	}
}

// TestSegmentLeftoversInterrupted interrupts a deletion by failures of the store. The error says that a part was done, and a
// repeated call does the rest.
func TestSegmentLeftoversInterrupted(t *testing.T) {
	faults := &dynamotest.Faults{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = faults })
	staged(t, s)
	id := s.AddSegment(t, `{"name":"one","constraints":[]}`)
	for _, flag := range strings.Fields("a b c d e f g h i j k l") {
		s.Create(t, flag)
		uses(t, s, flag, "staging", id)
	}
	s.Must(t, "DELETE", apitest.Environments+"/staging", "")
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
	hurried := s.Over(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
		defer cancel()
		s.Handler.ServeHTTP(w, r.WithContext(ctx))
	}))
	hurried.Check(t, apitest.Call{"interrupted", "DELETE", apitest.Segments + "/1", "", 503, apitest.Failure("ServiceUnavailableError", "only a part was done; send the same request again")})
	faults.Change(func(f *dynamotest.Faults) { f.Script = nil })
	s.Check(t, apitest.Call{"again", "DELETE", apitest.Segments + "/1", "", 204, ""})
	for _, flag := range strings.Fields("a b c d e f g h i j k l") {
		s.WantEvents(t, flag, flags.FeatureStrategyRemove, 1)
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
func interpose(t *testing.T, s *apitest.Server, before, after func()) *apitest.Server {
	return s.Over(t, apitest.Handler(interposed{s.Store, sync.OnceFunc(before), sync.OnceFunc(after)},
		httpapi.Config{Limits: flags.DefaultLimits(), Sealer: dynamotest.Sealer}))
}

// TestNewEnvironmentIsNotDeleted creates an environment while a segment is deleted, after the deletion has read the
// environments. A strategy in it must not count as one of a deleted environment.
func TestNewEnvironmentIsNotDeleted(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f", "orphan")
	id := s.AddSegment(t, `{"name":"one","constraints":[]}`)
	staged(t, s)
	uses(t, s, "orphan", "staging", id) // without a use, none would be listed
	s.Must(t, "DELETE", apitest.Environments+"/staging", "")
	at := interpose(t, s, func() {
		staged(t, s)
		uses(t, s, "f", "staging", id)
	}, func() {})
	at.Check(t, apitest.Call{"in use", "DELETE", apitest.Segments + "/1", "", 409, inUse(`flag "f"`)})
	s.Check(t, apitest.Call{"the strategy is kept", "GET", apitest.In("f", "staging") + "/strategies", "", 200, `[{"...":0,"segments":[1]}]`})
	if got := s.Events(t, "f"); strings.Contains(fmt.Sprint(got), string(flags.FeatureStrategyRemove)) {
		t.Errorf("events %v, want no removal", got)
	}
}

// TestSegmentInMuchUse checks that an error names a part of many flags, and that no use is missed because only a part of them was read.
func TestSegmentInMuchUse(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Unchecked = true // copied items have the same IDs
	s.Must(t, "POST", apitest.Projects, `{"id":"shop"}`)
	s.Create(t, "template", "~last")
	staged(t, s)
	id := s.AddSegment(t, `{"name":"one","constraints":[]}`)
	s.Must(t, "POST", apitest.In("template", "staging")+"/strategies", `{"name":"default","segments":[`+id+`],"constraints":`+someUsers+`}`)
	uses(t, s, "~last", "development", id)
	var names []string
	for i := range flags.MaxNamedUses {
		names = append(names, fmt.Sprintf("f%03d", i))
	}
	dynamotest.AddCopies(t, s.Store, "template", names)
	given := apitest.Call{"given to a project", "PUT", apitest.Segments + "/1", `{"name":"one","project":"shop","constraints":[]}`, 409, inUse("and at least 91 more")}
	for _, c := range []apitest.Call{
		given,
		{"deleted", "DELETE", apitest.Segments + "/1", "", 409, inUse("and at least 91 more")},
		{"a context field", "DELETE", apitest.ContextFields + "/userId", "", 409, inUse("and at least 91 more")},
	} {
		s.Check(t, c)
		details := apitest.Decode[struct{ Details []struct{ Message string } }](t, s.Do(t, c.Method, c.Path, c.Body).Body).Details
		if len(details) != flags.MaxNamedUses || details[0].Message != `used by flag "f000"` {
			t.Errorf("%s: %d details, the first %v; want %d from flag f000 on", c.Name, len(details), details[:min(1, len(details))], flags.MaxNamedUses)
		}
	}
	// All uses that were read end before the environments are read again.
	at := interpose(t, s, func() {}, func() { s.Must(t, "DELETE", apitest.Environments+"/staging", "") })
	given.Want = failureOf("ConflictError", `segment 1 ("one") cannot be restricted to project "shop": it is in use by flag "~last"`)
	at.Check(t, given)
	s.Check(t, apitest.Call{"the strategy in use", "GET", apitest.In("~last", "development") + "/strategies", "", 200, `[{"...":0,"segments":[1]}]`})
}

// TestProjectWithSegmentsIsNotDeleted checks that a project with segments of its own cannot be deleted, even if a segment is
// created in parallel. Otherwise the next project with the same id would get them.
func TestProjectWithSegmentsIsNotDeleted(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", apitest.Projects, `{"id":"own"}`)
	s.Must(t, "POST", apitest.Projects, `{"id":"other"}`)
	id := s.ID(t, apitest.Segments, `{"name":"its","project":"own","constraints":[]}`)
	one := apitest.Segments + "/" + id
	s.Run(t, []apitest.Call{
		{"the project has a segment", "DELETE", apitest.Projects + "/own", "", 409, apitest.Failure("ConflictError", "segments of its own")},
		{"give it to another project", "PUT", one, `{"name":"its","project":"other","constraints":[]}`, 204, ""},
		{"now the other project has a segment", "DELETE", apitest.Projects + "/other", "", 409, apitest.Failure("ConflictError", "segments of its own")},
		{"the first project can be deleted", "DELETE", apitest.Projects + "/own", "", 200, ""},
		{"give it to all projects", "PUT", one, `{"name":"its","constraints":[]}`, 204, ""},
		{"the other project can be deleted", "DELETE", apitest.Projects + "/other", "", 200, ""},
	})
	for i := range 20 {
		p := fmt.Sprintf("p-%d", i)
		s.Must(t, "POST", apitest.Projects, fmt.Sprintf(`{"id":%q}`, p))
		var working sync.WaitGroup
		var created, deleted apitest.Answer
		working.Go(func() {
			created = s.Do(t, "POST", apitest.Segments, fmt.Sprintf(`{"name":%q,"project":%q,"constraints":[]}`, p, p))
		})
		working.Go(func() { deleted = s.Do(t, "DELETE", apitest.Projects+"/"+p, "") })
		working.Wait()
		if (created.Status == 201) == (deleted.Status == 200) {
			t.Errorf("a segment created while its project is deleted: %d %s and %d %s; want one of them rejected", created.Status, created.Body, deleted.Status, deleted.Body)
		}
	}
}
