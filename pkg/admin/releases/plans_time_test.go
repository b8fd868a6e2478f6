package releases_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"guidon/pkg/admin/requests"
	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// progression is the body that has a milestone followed by a target.
func progression(target string, minutes int) string {
	return fmt.Sprintf(`{"targetMilestone":%q,"transitionCondition":{"intervalMinutes":%d}}`, target, minutes)
}

// freeze freezes development in the project.
func freeze(t *testing.T, s *apitest.Server, until time.Time) {
	t.Helper()
	s.Must(t, "POST", apitest.Project+"/environments/development/freezes", fmt.Sprintf(`{"reason":"the holidays","to":%q}`, until.Format(time.RFC3339Nano)))
}

// minute does what is due, by a number of runners at the same time. Their calls to the store go through a transport, if there is one.
func minute(t *testing.T, s *apitest.Server, clock *apitest.Clock, transport http.RoundTripper, runners int) {
	t.Helper()
	var running sync.WaitGroup
	for range runners {
		running.Go(func() {
			store := s.Store
			if transport != nil {
				store = dynamotest.OpenOn(t, dynamotest.Engine(), s.Store.Table(), transport)
			}
			scheduler := requests.NewScheduler(store, httpapi.Config{Limits: flags.DefaultLimits(), Now: clock.Time, Twice: apitest.SameTwice(t)})
			var err error
			for range 10 {
				if err = scheduler.Run(t.Context()); err == nil {
					return
				}
			}
			t.Error(err)
		})
	}
	running.Wait()
}

// timed serves a flag that is on in development, with a plan that goes on after an hour.
func timed(t *testing.T) (*apitest.Server, *apitest.Clock, planned) {
	t.Helper()
	clock := apitest.NewClock()
	s := apitest.ServeAt(t, clock)
	s.Create(t, "f")
	p := apitest.Decode[planned](t, s.Must(t, "POST", plansOf("f"), template("Canary", share(10, 60), share(50, 60), share(100))).Body)
	s.Must(t, "POST", apitest.In("f", "development")+"/on", "")
	return s, clock, p
}

func TestPlanByTime(t *testing.T) {
	t.Parallel()
	s, clock, _ := timed(t)
	next := clock.Time().Add(time.Hour).UTC().Format("2006-01-02T15:04:05.000Z")
	s.Run(t, []apitest.Call{
		{"when it goes on", "GET", plansOf("f"), "", 200, `[{"...":0,"state":"running","nextAt":"` + next + `"}]`},
		{"in lists", "GET", apitest.Features, "", 200, `{"...":0,"features":[{"...":0,"environments":[{"...":0,"planNextAt":"` + next + `"},{"...":0}]}]}`},
	})
	clock.Advance(time.Hour - time.Millisecond)
	minute(t, s, clock, nil, 1)
	stands(t, s, "running", 1, "10")
	clock.Advance(24 * time.Hour) // nothing runs for a day: one step, and the next one after another interval
	minute(t, s, clock, nil, 1)
	minute(t, s, clock, nil, 1)
	stands(t, s, "running", 2, "50")
	clock.Advance(-2 * time.Hour)
	minute(t, s, clock, nil, 1)
	stands(t, s, "running", 2, "50")
	clock.Advance(3 * time.Hour)
	minute(t, s, clock, nil, 1)
	stands(t, s, "last", 3, "100")
	clock.Advance(24 * time.Hour)
	minute(t, s, clock, nil, 1)
	stands(t, s, "last", 3, "100")
	if e := s.Newest(t)[0]; e.CreatedBy != "Guidon" || e.CreatedByUserID != nil || !strings.Contains(fmt.Sprint(e.Data), "cause") {
		t.Errorf("the newest event is %+v, want one by Guidon, with a cause", e)
	}
	s.WantEvents(t, "f", flags.ReleasePlanStarted, 3)
}

// TestPlanRunsAtOnce has many runs at the same time do what is due of many plans.
func TestPlanRunsAtOnce(t *testing.T) {
	t.Parallel()
	s, clock, _ := timed(t)
	clock.Advance(time.Hour)
	minute(t, s, clock, nil, 100)
	stands(t, s, "running", 2, "50")
	s.WantEvents(t, "f", flags.ReleasePlanStarted, 2)
}

// TestPlanInFreeze has a plan wait for the end of a freeze, and then for one interval more.
func TestPlanInFreeze(t *testing.T) {
	t.Parallel()
	s, clock, p := timed(t)
	freeze(t, s, clock.Time().Add(3*time.Hour))
	editor := apitest.As(s.Account(t, "2", nil))
	if got := s.Do(t, "POST", p.start("f", 1), "", editor); got.Status != 409 {
		t.Errorf("a start in a freeze: status %d, want 409", got.Status)
	}
	s.Run(t, []apitest.Call{{"after it, one interval later", "GET", plansOf("f"), "", 200,
		`[{"...":0,"state":"frozen","nextAt":"` + clock.Time().Add(4*time.Hour).UTC().Format("2006-01-02T15:04:05.000Z") + `"}]`}})
	for range 3 {
		clock.Advance(59 * time.Minute)
		minute(t, s, clock, nil, 2)
		stands(t, s, "frozen", 1, "10")
	}
	clock.Advance(5 * time.Minute)
	minute(t, s, clock, nil, 2)
	stands(t, s, "running", 2, "10")
	s.WantEvents(t, "f", flags.ReleasePlanResumed, 1)
	clock.Advance(time.Hour - time.Millisecond)
	minute(t, s, clock, nil, 1)
	stands(t, s, "running", 2, "10")
	clock.Advance(time.Millisecond)
	minute(t, s, clock, nil, 1)
	stands(t, s, "running", 3, "50")
}

// TestPlanGoesOnUnderProtection checks that a plan of before goes on where change requests were switched on, and that Editors change nothing of it.
func TestPlanGoesOnUnderProtection(t *testing.T) {
	t.Parallel()
	s, clock, p := timed(t)
	s.Must(t, "POST", plansOf("f")+"/"+p.ID+"/pause", "")
	s.Must(t, "PUT", apitest.Project+"/environments/development/change-requests/config", `{"changeRequestsEnabled":true,"requiredApprovals":1}`)
	editor := apitest.As(s.Account(t, "2", nil))
	for _, c := range []struct{ method, path, body string }{
		{"POST", p.resume("f"), ""}, {"PUT", p.progression("f", 0), progression(p.Milestones[1].ID, 1)}, {"DELETE", p.progression("f", 0), ""}, {"POST", p.start("f", 1), ""},
	} {
		if got := s.Do(t, c.method, c.path, c.body, editor); got.Status != 403 {
			t.Errorf("%s %s: status %d, want 403", c.method, c.path, got.Status)
		}
	}
	if got := s.Do(t, "DELETE", p.progression("f", 0), "", editor); !strings.Contains(got.Body, "delete the plan, and to add another one") {
		t.Errorf("an interval where change requests are on: %s", got.Body)
	}
	stands(t, s, "paused", 1, "10")
	s.Must(t, "POST", p.resume("f"), "")
	if got := s.Do(t, "POST", plansOf("f")+"/"+p.ID+"/pause", "", editor); got.Status != 200 {
		t.Errorf("pause: status %d, want 200", got.Status)
	}
	s.Must(t, "POST", p.resume("f"), "")
	clock.Advance(time.Hour)
	minute(t, s, clock, nil, 1)
	stands(t, s, "running", 4, "50")
	if log := s.Must(t, "GET", apitest.EventLog+"?limit=1", "").Body; strings.Contains(log, "skippedChangeRequests") {
		t.Errorf("the step of the plan skipped change requests: %s", log)
	}
}

func TestPlanProgressions(t *testing.T) {
	t.Parallel()
	s, clock, p := timed(t)
	first, second := p.progression("f", 0), p.progression("f", 1)
	s.Run(t, []apitest.Call{
		{"not the next one", "PUT", first, progression(p.Milestones[2].ID, 5), 400, apitest.Invalid("/targetMilestone")},
		{"of the last one", "PUT", p.progression("f", 2), progression(p.Milestones[0].ID, 5), 400, apitest.Invalid("/targetMilestone")},
		{"no time", "PUT", first, progression(p.Milestones[1].ID, 0), 400, apitest.Invalid("/transitionCondition/intervalMinutes")},
		{"of no milestone", "PUT", apitest.In("f", "development") + "/progressions/nosuch", progression(p.Milestones[1].ID, 5), 404, apitest.NotFound("nosuch")},
		{"of no plan", "DELETE", apitest.In("f", "production") + "/progressions/nosuch", "", 404, apitest.NotFound("no release plan")},
		{"changed", "PUT", first, progression(p.Milestones[1].ID, 5), 200, `{"sourceMilestone":"` + p.Milestones[0].ID + `","targetMilestone":"` + p.Milestones[1].ID + `","transitionCondition":{"intervalMinutes":5}}`},
		{"deleted", "DELETE", second, "", 204, ""},
		{"deleted again", "DELETE", second, "", 404, apitest.NotFound("by itself")},
	})
	clock.Advance(5 * time.Minute)
	minute(t, s, clock, nil, 1)
	stands(t, s, "running", 2, "50")
	clock.Advance(24 * time.Hour)
	minute(t, s, clock, nil, 1)
	stands(t, s, "running", 2, "50")
	s.WantEvents(t, "f", flags.ProgressionChanged, 1)
	s.WantEvents(t, "f", flags.ProgressionDeleted, 1)
}

// TestPlanThatNoLongerCounts checks that nothing stays due of a plan whose environment was detached, and that a plan moves with its flag.
func TestPlanThatNoLongerCounts(t *testing.T) {
	t.Parallel()
	s, clock, _ := timed(t)
	s.Create(t, "g")
	s.Must(t, "POST", plansOf("g"), template("Canary", share(10, 60), share(50)))
	s.Must(t, "POST", apitest.In("g", "development")+"/on", "")
	s.Must(t, "POST", "/api/admin/projects", `{"id":"other","name":"Other"}`)
	s.Must(t, "POST", apitest.Features+"/g/changeProject", `{"newProjectId":"other"}`)
	s.Must(t, "DELETE", apitest.Project+"/environments/development", "")
	due := func() (names []string) {
		if err := s.Store.Due(t.Context(), clock.Time(), func(d flags.Due) bool { names = append(names, d.Key.ID); return true }); err != nil {
			t.Fatal(err)
		}
		return names
	}
	clock.Advance(time.Hour)
	if got := due(); len(got) != 2 {
		t.Errorf("due are %q, want both flags", got)
	}
	minute(t, s, clock, nil, 1)
	if got := due(); len(got) != 0 {
		t.Errorf("still due are %q", got)
	}
	moved := apitest.Decode[[]planned](t, s.Must(t, "GET", strings.Replace(plansOf("g"), "/default/", "/other/", 1), "").Body)
	if len(moved) != 1 || moved[0].Run != 2 || moved[0].State != "last" {
		t.Errorf("the flag that was moved has the plans %+v, want one that went on", moved)
	}
	s.WantEvents(t, "f", flags.ReleasePlanStarted, 1)
}

// TestPlanElsewhere starts two milestones at once, tries in a freeze what would bring the next one forward, and moves the flag to projects with and
// without the environment.
func TestPlanElsewhere(t *testing.T) {
	t.Parallel()
	s, clock, p := timed(t)
	statuses := make([]int, 4)
	var starting sync.WaitGroup
	for i := range statuses {
		starting.Go(func() {
			got, err := s.Try("POST", p.start("f", 1+i%2), "", `If-Match: "1"`)
			if err != nil {
				t.Error(err)
			}
			statuses[i] = got.Status
		})
	}
	starting.Wait()
	won := 0
	if statuses[0] != 200 {
		won = 1
	}
	if statuses[won] != 200 || statuses[won+2] != 200 || statuses[1-won] != 412 || statuses[3-won] != 412 {
		t.Errorf("statuses %v, want 200 for one of two milestones", statuses)
	}
	stands(t, s, []string{"running", "last"}[won], 2, []string{"50", "100"}[won])
	s.WantEvents(t, "f", flags.ReleasePlanStarted, 2)

	s.Must(t, "POST", p.start("f", 0), "")
	freeze(t, s, clock.Time().Add(10*time.Minute))
	person, _ := s.Person(t, 2)
	editor, one := apitest.InSession(s.SignIn(t, person)), plansOf("f")+"/"+p.ID
	for path, status := range map[string]int{
		"POST " + p.start("f", 1): 409, "POST " + p.start("f", 0) + "?restart=true": 200, "DELETE " + p.progression("f", 0): 409, "POST " + one + "/detach": 409,
		"DELETE " + one: 409, "POST " + apitest.Features + "/f/changeProject": 400, "DELETE " + apitest.Features + "/f": 409,
	} {
		method, path, _ := strings.Cut(path, " ")
		if got := s.Do(t, method, path, "", editor...); got.Status != status {
			t.Errorf("%s %s in a freeze: status %d %s, want %d", method, path, got.Status, got.Body, status)
		}
	}
	clock.Advance(11 * time.Minute)
	minute(t, s, clock, nil, 1)
	for _, to := range []string{"with", "without"} {
		s.Must(t, "POST", apitest.Projects, fmt.Sprintf(`{"id":%q,"environments":["production"]}`, to))
	}
	s.Must(t, "POST", apitest.Projects+"/with/environments", `{"environment":"development"}`)
	move := func(from, to string) string {
		s.Must(t, "POST", apitest.Projects+"/"+from+"/features/f/changeProject", fmt.Sprintf(`{"newProjectId":%q}`, to))
		return apitest.Projects + "/" + to + "/features/f/environments/development"
	}
	in := move("default", "with")
	clock.Advance(time.Hour)
	minute(t, s, clock, nil, 2)
	s.Run(t, []apitest.Call{
		{"it goes on", "GET", in + "/release-plans", "", 200, `[{"...":0,"state":"running","run":5}]`},
		{"off", "POST", in + "/off", "", 200, apitest.Anything},
	})
	in = move("with", "without")
	s.Run(t, []apitest.Call{
		{"the environment comes later", "POST", apitest.Projects + "/without/environments", `{"environment":"development"}`, 200, ""},
		{"the plan does not count", "GET", in + "/release-plans", "", 200, `[]`},
		{"its strategies are ordinary ones", "GET", in + "/strategies", "", 200, `[{"...":0,"parameters":{"...":0,"rollout":"50"}}]`},
		{"on", "POST", in + "/on", "", 200, apitest.Anything},
	})
	clock.Advance(2 * time.Hour)
	minute(t, s, clock, nil, 2)
	s.Check(t, apitest.Call{Name: "nothing goes on", Method: "GET", Path: in + "/strategies", Status: 200, Want: `[{"...":0,"parameters":{"...":0,"rollout":"50"}}]`})
}
