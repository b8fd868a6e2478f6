package releases_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"guidon/pkg/apitest"
	"guidon/pkg/flags"
)

// share is a milestone with a gradual rollout to a percentage, and perhaps the minutes after which the next one starts.
func share(percent int, minutes ...int) string {
	transition := ""
	if len(minutes) > 0 {
		transition = fmt.Sprintf(`,"transitionCondition":{"intervalMinutes":%d}`, minutes[0])
	}
	return fmt.Sprintf(`{"name":"%d","strategies":[{"strategyName":"flexibleRollout","parameters":{"rollout":"%[1]d"}}]%s}`, percent, transition)
}

// A planned is what a plan says in tests.
type planned struct {
	ID         string
	Run        int64
	State      string
	Reason     string `json:"stateReason"`
	NextAt     *string
	Active     *string `json:"activeMilestoneId"`
	Milestones []struct{ ID, Name string }
	Warnings   []string
}

// progression is the path of how a milestone is followed by the next one.
func (p planned) progression(flag string, milestone int) string {
	return apitest.In(flag, "development") + "/progressions/" + p.Milestones[milestone].ID
}

// canary adds a plan with milestones of 10, 50 and 100 % to the flag f in development.
func canary(t *testing.T, s *apitest.Server) planned {
	t.Helper()
	return apitest.Decode[planned](t, s.Must(t, "POST", plansOf("f"), template("Canary", share(10), share(50), share(100))).Body)
}

func plansOf(flag string) string { return apitest.In(flag, "development") + "/release-plans" }

// start is the path that starts a milestone.
func (p planned) start(flag string, milestone int) string {
	return plansOf(flag) + "/" + p.ID + "/milestones/" + p.Milestones[milestone].ID + "/start"
}

func (p planned) resume(flag string) string {
	return apitest.In(flag, "development") + "/progressions/" + p.ID + "/resume"
}

// stands checks the plan of the flag f in development, and its percentages there.
func stands(t *testing.T, s *apitest.Server, state string, run int64, percentages ...string) {
	t.Helper()
	list := apitest.Decode[[]planned](t, s.Must(t, "GET", plansOf("f"), "").Body)
	if len(list) != 1 || list[0].State != state || list[0].Run != run {
		t.Errorf("plans %+v, want one in the state %s and run %d", list, state, run)
	}
	if got := shares(t, s, "f"); !slices.Equal(got, percentages) {
		t.Errorf("percentages %q, want %q", got, percentages)
	}
}

func shares(t *testing.T, s *apitest.Server, flag string) (list []string) {
	t.Helper()
	for _, one := range apitest.Decode[[]struct{ Parameters map[string]string }](t, s.Must(t, "GET", apitest.In(flag, "development")+"/strategies", "").Body) {
		list = append(list, one.Parameters["rollout"])
	}
	return list
}

func TestPlan(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	in := apitest.In("f", "development")
	p := canary(t, s)
	stands(t, s, "off", 0)
	s.Must(t, "POST", in+"/on", "")
	stands(t, s, "running", 1, "10")
	s.Run(t, []apitest.Call{
		{"a second plan", "POST", plansOf("f"), template("Other", milestone("All")), 409, apitest.Failure("ConflictError", "Canary")},
		{"groupId is the flag", "GET", in + "/strategies", "", 200, `[{"...":0,"name":"flexibleRollout","parameters":{"rollout":"10","stickiness":"default","groupId":"f"}}]`},
		{"in lists", "GET", apitest.Features, "", 200, `{"...":0,"features":[{"...":0,"environments":[{"...":0,"name":"development","milestoneName":"10","milestoneOrder":0,"totalMilestones":3,"planState":"running"},{"...":0}]}]}`},
		{"found by its plan", "GET", "/api/admin/search/features?status=development:plan", "", 200, `{"...":0,"total":1}`},
		{"no plan there", "GET", "/api/admin/search/features?status=production:plan", "", 200, `{"...":0,"total":0}`},
		{"the running one again", "POST", p.start("f", 0), "", 200, apitest.Anything},
		{"a milestone of another plan", "POST", plansOf("f") + "/" + p.ID + "/milestones/nosuch/start", "", 404, apitest.NotFound("nosuch")},
		{"another plan", "POST", plansOf("f") + "/nosuch/pause", "", 404, apitest.NotFound("nosuch")},
	})
	stands(t, s, "running", 1, "10")
	s.Must(t, "POST", p.start("f", 1), "")
	stands(t, s, "running", 2, "50")
	s.Must(t, "POST", p.start("f", 1)+"?restart=true", "")
	stands(t, s, "running", 3, "50")
	s.Must(t, "POST", plansOf("f")+"/"+p.ID+"/pause", "")
	s.Must(t, "POST", plansOf("f")+"/"+p.ID+"/pause", "")
	stands(t, s, "paused", 3, "50")
	s.Must(t, "POST", p.resume("f"), "")
	stands(t, s, "running", 4, "50")
	s.Must(t, "POST", in+"/off", "")
	stands(t, s, "off", 4, "50")
	s.Must(t, "POST", in+"/on", "")
	stands(t, s, "running", 5, "50")
	s.Must(t, "POST", p.start("f", 2), "")
	stands(t, s, "last", 6, "100")
	s.Must(t, "POST", p.start("f", 0), "")
	stands(t, s, "running", 7, "10")
	s.Must(t, "DELETE", apitest.Features+"/f", "")
	s.Must(t, "POST", "/api/admin/archive/revive/f", "")
	stands(t, s, "off", 7, "10")
	s.Must(t, "POST", in+"/on", "")
	stands(t, s, "running", 8, "10")
	if got := s.Must(t, "DELETE", plansOf("f")+"/"+p.ID, "").Body; got != `{"switchedOff":true}` {
		t.Errorf("the plan removed: %s", got)
	}
	if got := shares(t, s, "f"); len(got) > 0 {
		t.Errorf("percentages %q after the plan was removed", got)
	}
	s.WantHistory(t, "f", flags.FeatureCreated, flags.ReleasePlanAdded, flags.FeatureEnvironmentEnabled, flags.ReleasePlanStarted, flags.ReleasePlanStarted,
		flags.ReleasePlanStarted, flags.ReleasePlanPaused, flags.ReleasePlanResumed, flags.FeatureEnvironmentDisabled, flags.FeatureEnvironmentEnabled,
		flags.ReleasePlanStarted, flags.ReleasePlanStarted, flags.FeatureArchived, flags.FeatureRevived, flags.FeatureEnvironmentEnabled,
		flags.ReleasePlanRemoved, flags.FeatureEnvironmentDisabled)
}

// TestPlanBesideStrategies adds plans to flags that have strategies, and changes these.
func TestPlanBesideStrategies(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	in := apitest.In("f", "development")
	own := s.AddStrategy(t, "f", `{"name":"flexibleRollout","parameters":{"rollout":"1"}}`)
	s.Must(t, "POST", in+"/on", "")
	body := template("Canary", share(10), share(50))
	with := func(existing string) string { return `{"existing":"` + existing + `",` + body[1:] }
	s.Run(t, []apitest.Call{
		{"nothing said", "POST", plansOf("f"), body, 409, apitest.Failure("ConflictError", "existing")},
		{"something else", "POST", plansOf("f"), with("other"), 400, apitest.Invalid("/existing")},
	})
	p := apitest.Decode[planned](t, s.Must(t, "POST", plansOf("f"), with("keep")).Body)
	stands(t, s, "running", 1, "1", "10")
	theirs := apitest.Decode[[]struct{ ID string }](t, s.Must(t, "GET", in+"/strategies", "").Body)[1].ID
	s.Run(t, []apitest.Call{
		{"replaced", "PUT", in + "/strategies/" + theirs, `{}`, 409, apitest.Failure("ConflictError", "detach")},
		{"removed", "DELETE", in + "/strategies/" + theirs, "", 409, apitest.Failure("ConflictError", "detach")},
		{"moved", "POST", in + "/strategies/set-sort-order", `[{"id":"` + theirs + `","sortOrder":-1}]`, 409, apitest.Failure("ConflictError", "detach")},
		{"its segments", "POST", apitest.Segments + "/strategies", `{"projectId":"default","environmentId":"development","strategyId":"` + theirs + `","segmentIds":[` + s.ID(t, apitest.Segments, `{"name":"s","constraints":[]}`) + `]}`, 409, apitest.Failure("ConflictError", "detach")},
		{"imported", "POST", apitest.Import, `{"project":"default","environment":"development","data":{"features":[{"name":"f"}],"featureStrategies":[{"featureName":"f","name":"default"}]}}`, 200, `{"...":0,"skipped":1}`},
		{"one's own", "PUT", in + "/strategies/" + own, `{"parameters":{"rollout":"2"}}`, 200, apitest.Anything},
	})
	s.Must(t, "POST", p.start("f", 1), "")
	stands(t, s, "last", 2, "2", "50")
	s.Must(t, "POST", apitest.Features+"/f/clone", `{"name":"copy"}`)
	if got := shares(t, s, "copy"); !slices.Equal(got, []string{"2", "50"}) {
		t.Errorf("the clone has %q", got)
	}
	s.Run(t, []apitest.Call{{"the clone has no plan", "GET", plansOf("copy"), "", 200, `[]`}})
	s.Must(t, "POST", plansOf("f")+"/"+p.ID+"/detach", "")
	s.Run(t, []apitest.Call{
		{"detached", "GET", plansOf("f"), "", 200, `[]`},
		{"an ordinary strategy", "GET", in + "/strategies", "", 200, `[{"...":0},{"...":0,"parameters":{"...":0,"rollout":"50"}}]`},
		{"replacing them", "POST", plansOf("f"), with("replace"), 200, apitest.Anything},
	})
	stands(t, s, "running", 1, "10")
}

// TestPlanOfTemplate adds plans of templates.
func TestPlanOfTemplate(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f", "g")
	segment := s.ID(t, apitest.Segments, `{"name":"s","constraints":[]}`)
	some := `{"name":"Some","strategies":[{"strategyName":"flexibleRollout","segments":[` + segment + `],"parameters":{"rollout":"100"}}]}`
	id := apitest.IDIn(s.Must(t, "POST", templates, template("T", milestone("All"), some)).Body)
	s.Run(t, []apitest.Call{
		{"an unknown template", "POST", plansOf("f"), `{"templateId":"nosuch"}`, 404, apitest.NotFound("nosuch")},
		{"a template and a name", "POST", plansOf("f"), `{"templateId":"` + id + `","name":"x"}`, 400, apitest.Invalid("/milestones")},
		{"nothing", "POST", plansOf("f"), `{}`, 400, apitest.Invalid("/name", "/milestones")},
		{"of the template", "POST", plansOf("f"), `{"templateId":"` + id + `"}`, 200, `{"...":0,"name":"T","releasePlanTemplateId":"` + id + `","activeMilestoneId":null,"state":"off","warnings":["Milestone \"Some\" can take the flag from users of \"All\": a strategy has another type."]}`},
		{"the template changes", "PUT", templates + "/" + id, template("T", milestone("Other")), 200, ""},
		{"the plan does not, and keeps its segment", "DELETE", apitest.Segments + "/" + segment, "", 409, apitest.Anything},
		{"archived", "POST", templates + "/archive/" + id, "", 200, ""},
		{"of an archived template", "POST", plansOf("g"), `{"templateId":"` + id + `"}`, 409, apitest.Failure("ConflictError", "archived")},
		{"another project's segment", "PUT", apitest.Segments + "/" + segment, `{"name":"s","project":"default","constraints":[]}`, 204, ""},
		{"detach the environment", "DELETE", apitest.Project + "/environments/development", "", 200, ""},
		{"attach it again", "POST", apitest.Project + "/environments", `{"environment":"development"}`, 200, ""},
		{"the plan no longer counts", "GET", plansOf("f"), "", 200, `[]`},
		{"and its segment is free", "DELETE", apitest.Segments + "/" + segment, "", 204, ""},
		{"another plan", "POST", plansOf("f"), template("T", milestone("All")), 200, apitest.Anything},
	})
}

func TestPlanIfMatch(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	p := canary(t, s)
	s.Must(t, "POST", apitest.In("f", "development")+"/on", "")
	for _, step := range []struct {
		run    string
		status int
	}{{`"9"`, 412}, {`"1"`, 200}, {`"1"`, 200}} { // the third one repeats the second, whose response was lost
		if got := s.Do(t, "POST", p.start("f", 1), "", "If-Match: "+step.run); got.Status != step.status {
			t.Errorf("start with the run %s: status %d, want %d", step.run, got.Status, step.status)
		}
	}
	stands(t, s, "running", 2, "50")
	if got := s.Do(t, "POST", p.start("f", 2), "", `If-Match: "1"`); got.Status != 412 {
		t.Errorf("start with an old run: status %d, want 412", got.Status)
	}
}

// TestPlanIsNotServed checks that what applications see depends on strategies alone.
func TestPlanIsNotServed(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	p := canary(t, s)
	s.Must(t, "POST", apitest.In("f", "development")+"/on", "")
	entries := func() int64 { return apitest.Load[*flags.Feed](t, s, flags.FeedKey()).Number }
	before := entries()
	s.Must(t, "POST", plansOf("f")+"/"+p.ID+"/pause", "")
	s.Must(t, "POST", p.resume("f"), "")
	s.Must(t, "POST", p.start("f", 0)+"?restart=true", "")
	if got := entries(); got != before {
		t.Errorf("%d entries of the feed by a pause, a resume and a restart", got-before)
	}
	s.Must(t, "POST", p.start("f", 1), "")
	if got := entries(); got != before+1 {
		t.Errorf("%d entries of the feed by a start, want 1", got-before)
	}
	s.Must(t, "POST", plansOf("f")+"/"+p.ID+"/detach", "")
	if got := entries(); got != before+1 {
		t.Errorf("%d entries of the feed by detaching", got-before-1)
	}
}

// TestPlanHasSpaceForItsMilestones fills a flag until the largest milestone of a plan would not fit.
func TestPlanHasSpaceForItsMilestones(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	values := func(n int) string {
		return strings.TrimSuffix(strings.Repeat(`"`+strings.Repeat("v", 99)+`",`, n), ",")
	}
	large := `{"name":"Large","strategies":[{"strategyName":"default","constraints":[{"contextName":"c","operator":"IN","values":[` + values(250) + `]},{"contextName":"c","operator":"IN","values":[` + values(250) + `]}]}]}`
	s.Must(t, "POST", plansOf("f"), template("T", milestone("Small"), large))
	refused := false
	for range 20 {
		got := s.Do(t, "POST", apitest.In("f", "production")+"/strategies", `{"name":"default","constraints":[{"contextName":"c","operator":"IN","values":[`+values(250)+`]}]}`)
		if refused = got.Status == 400; refused {
			if !strings.Contains(got.Body, "largest milestone") {
				t.Errorf("refused with %s", got.Body)
			}
			break
		}
	}
	if !refused {
		t.Error("the flag was never full")
	}
	s.Must(t, "POST", apitest.In("f", "development")+"/on", "")
	p := apitest.Decode[[]planned](t, s.Must(t, "GET", plansOf("f"), "").Body)[0]
	s.Must(t, "POST", p.start("f", 1), "")
}

// TestPlanInProtectedEnvironment changes plans where change requests are on.
func TestPlanInProtectedEnvironment(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f", "g")
	p := canary(t, s)
	s.Must(t, "PUT", apitest.Project+"/environments/development/change-requests/config", `{"changeRequestsEnabled":true,"requiredApprovals":1}`)
	editor := apitest.As(s.Account(t, "2", nil))
	for _, c := range []struct{ name, method, path, body string }{
		{"add", "POST", plansOf("g"), template("Canary", share(10))},
		{"remove", "DELETE", plansOf("f") + "/" + p.ID, ""},
		{"detach", "POST", plansOf("f") + "/" + p.ID + "/detach", ""},
		{"switch on", "POST", apitest.In("f", "development") + "/on", ""},
	} {
		if got := s.Do(t, c.method, c.path, c.body, editor); got.Status != 403 {
			t.Errorf("%s: status %d %.200s, want 403", c.name, got.Status, got.Body)
		}
	}
	stands(t, s, "off", 0)
	drafted := s.Do(t, "POST", apitest.Project+"/environments/development/change-requests", `{"feature":"f","action":"updateEnabled","payload":{"enabled":true}}`, editor)
	if drafted.Status != 200 || strings.Contains(drafted.Body, "addStrategy") {
		t.Errorf("a request to switch on: status %d %s, want one without a default strategy", drafted.Status, drafted.Body)
	}
}
