package releases_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"guidon/pkg/admin/requests"
	"guidon/pkg/apitest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// safeguard is a safeguard with a named signal.
func safeguard(signal, action string) string {
	return fmt.Sprintf(`{"signal":{"name":%q},"action":{"type":%q}}`, signal, action)
}

// guarded is the body of a template or plan with safeguards.
func guarded(milestones []string, safeguards ...string) string {
	return strings.TrimSuffix(template("Canary", milestones...), "}") + `,"safeguards":[` + strings.Join(safeguards, ",") + `]}`
}

// guardedFlag serves a flag f that is on in development, with a plan that goes on after an hour, and a safeguard of the signal errors.
func guardedFlag(t *testing.T, action string) (s *apitest.Server, clock *apitest.Clock, p planned, secret string) {
	t.Helper()
	clock = apitest.NewClock()
	s = apitest.ServeAt(t, clock)
	s.Create(t, "f")
	secret = newSignal(t, s, signalsPath, "errors")
	p = apitest.Decode[planned](t, s.Must(t, "POST", plansOf("f"), guarded([]string{share(10, 60), share(50, 60), share(100)}, safeguard("errors", action))).Body)
	s.Must(t, "POST", apitest.In("f", "development")+"/on", "")
	return s, clock, p, secret
}

func TestSafeguardPauses(t *testing.T) {
	t.Parallel()
	s, clock, p, secret := guardedFlag(t, "pause")
	post(t, s, "errors", secret, `{"status":"resolved"}`)
	stands(t, s, "running", 1, "10")
	if got := post(t, s, "errors", secret, `{"status":"firing"}`); got != 204 {
		t.Fatalf("status %d", got)
	}
	stands(t, s, "stopped", 1, "10")
	s.WantEvents(t, "f", flags.SafeguardTriggered, 1)
	s.WantEvents(t, "f", flags.ReleasePlanPaused, 1)
	if e := s.Newest(t)[0]; e.CreatedBy != "Guidon" || e.CreatedByUserID != nil {
		t.Errorf("the newest event is by %s", e.CreatedBy)
	}
	post(t, s, "errors", secret, `{"status":"firing"}`) // it acts once a run
	s.WantEvents(t, "f", flags.SafeguardTriggered, 1)
	clock.Advance(2 * time.Hour)
	minute(t, s, clock, nil, 2)
	stands(t, s, "stopped", 1, "10")
	s.Run(t, []apitest.Call{
		{"a list", "GET", apitest.Features, "", 200, `{"...":0,"features":[{"...":0,"environments":[{"...":0,"planState":"stopped"},{"...":0}]}]}`},
		{"what fires is not started", "POST", p.start("f", 1), "", 409, `{"...":0,"name":"ConflictError"}`},
		{"nor resumed", "POST", p.resume("f"), "", 409, `{"...":0,"name":"ConflictError"}`},
		{"without a reason", "POST", p.resume("f"), `{"force":" "}`, 400, `{"...":0}`},
		{"in spite of it", "POST", p.resume("f"), `{"force":"the alarm is wrong"}`, 200, `{"...":0,"state":"running","run":2}`},
	})
	if e := s.Newest(t)[0]; !strings.Contains(fmt.Sprint(e.Data), "the alarm is wrong") {
		t.Errorf("the event has no reason: %v", e.Data)
	}
	minute(t, s, clock, nil, 1)
	post(t, s, "errors", secret, `{"status":"firing"}`)
	stands(t, s, "running", 2, "10")
	clock.Advance(61 * time.Minute)
	minute(t, s, clock, nil, 2)
	stands(t, s, "held", 2, "10") // no step without quiet
	post(t, s, "errors", secret, `{"status":"ok"}`)
	clock.Advance(5 * time.Minute)
	minute(t, s, clock, nil, 2)
	stands(t, s, "running", 3, "50")
	post(t, s, "errors", secret, `{"status":"alerting"}`)
	stands(t, s, "stopped", 3, "50") // it was overridden for one run only
}

func TestSafeguardSwitchesOff(t *testing.T) {
	t.Parallel()
	s, clock, _, secret := guardedFlag(t, "off")
	freeze(t, s, clock.Time().Add(time.Hour))
	post(t, s, "errors", secret, `{"status":"triggered"}`)
	stands(t, s, "off", 1, "10")
	s.WantEvents(t, "f", flags.FeatureEnvironmentDisabled, 1)
	minute(t, s, clock, nil, 3)
	s.WantEvents(t, "f", flags.SafeguardTriggered, 1)
}

// TestFalseAlarm looks at a flag that a safeguard has switched off: what is said of it, what its plan can do, and how a person switches it on although
// the signal fires.
func TestFalseAlarm(t *testing.T) {
	t.Parallel()
	s, clock, p, secret := guardedFlag(t, "off")
	post(t, s, "errors", secret, `{"status":"firing"}`)
	says := func(want string) {
		t.Helper()
		s.Check(t, apitest.Call{Name: "the state", Method: "GET", Path: plansOf("f"), Status: 200, Want: `[{"...":0,"state":"off","stateReason":"` + want + `"}]`})
	}
	const stopped, on = `A safeguard switched the flag off at 2026-01-05T12:00:00Z, because signal \"errors\" fired. Switched on, milestone \"`, "/on"
	says(stopped + `10\" begins.`)
	s.Must(t, "POST", plansOf("f")+"/"+p.ID+"/pause", "")
	says(stopped + `10\" begins, and the plan stays paused.`)
	s.Must(t, "POST", p.resume("f"), "") // nothing starts
	says(stopped + `10\" begins.`)
	s.Must(t, "POST", p.start("f", 2), "")
	says(stopped + `100\" begins.`)
	stands(t, s, "off", 3, "100")
	clock.Advance(time.Minute)
	s.Run(t, []apitest.Call{
		{"it fires", "POST", apitest.In("f", "development") + on, "", 409, apitest.Failure("ConflictError", `the signal "errors" of release plan "Canary" is firing; wait until it is quiet, or give a reason for going on in spite of it (force)`)},
		{"together with others", "POST", apitest.Project + "/bulk_features/environments/development/on", `{"features":["f"]}`, 409, `{"...":0,"name":"ConflictError","message":"<has is firing>"}`},
		{"no reason", "POST", apitest.In("f", "development") + on, `{"force":""}`, 400, apitest.Anything},
		{"a false alarm", "POST", apitest.In("f", "development") + on, `{"force":"a false alarm"}`, 200, apitest.Anything},
	})
	if e := s.Newest(t)[0]; e.Type != string(flags.ReleasePlanStarted) || !strings.Contains(fmt.Sprint(e.Data), "a false alarm") {
		t.Errorf("the newest event is %s %v, want a started milestone with the reason", e.Type, e.Data)
	}
	clock.Advance(2 * time.Minute)
	post(t, s, "errors", secret, `{"status":"firing"}`)
	minute(t, s, clock, nil, 2)
	stands(t, s, "last", 4, "100")
	post(t, s, "errors", secret, `{"status":"resolved"}`)
	minute(t, s, clock, nil, 2)
	stands(t, s, "last", 4, "100")
	post(t, s, "errors", secret, `{"status":"firing"}`)
	stands(t, s, "off", 4, "100") // it was quiet once
	s.WantEvents(t, "f", flags.SafeguardTriggered, 2)
}

// TestStoppedPlanStaysPaused switches on, together with another one, a flag that a safeguard has switched off.
func TestStoppedPlanStaysPaused(t *testing.T) {
	t.Parallel()
	s, clock, p, secret := guardedFlag(t, "off")
	s.Create(t, "g")
	s.Must(t, "POST", apitest.In("g", "development")+"/release-plans", template("Canary", share(10, 60), share(50)))
	both := func(to string) {
		t.Helper()
		s.Must(t, "POST", apitest.Project+"/bulk_features/environments/development/"+to, `{"features":["f","g"]}`)
	}
	both("off")
	both("on")
	stands(t, s, "running", 2, "10") // no safeguard had stopped it
	post(t, s, "errors", secret, `{"status":"firing"}`)
	post(t, s, "errors", secret, `{"status":"resolved"}`)
	both("on")
	stands(t, s, "paused", 3, "10")
	s.WantHistory(t, "f", flags.FeatureCreated, flags.ReleasePlanAdded, flags.FeatureEnvironmentEnabled, flags.ReleasePlanStarted, flags.FeatureEnvironmentDisabled,
		flags.FeatureEnvironmentEnabled, flags.SafeguardTriggered, flags.FeatureEnvironmentDisabled, flags.FeatureEnvironmentEnabled, flags.ReleasePlanPaused)
	both("on")
	stands(t, s, "paused", 3, "10")
	clock.Advance(61 * time.Minute)
	minute(t, s, clock, nil, 2)
	stands(t, s, "paused", 3, "10")
	s.Check(t, apitest.Call{"the other one has gone on", "GET", apitest.In("g", "development") + "/release-plans", "", 200, `[{"...":0,"state":"last","run":2}]`})
	post(t, s, "errors", secret, `{"status":"firing"}`)
	stands(t, s, "off", 3, "10") // its safeguard acts in the new run
	post(t, s, "errors", secret, `{"status":"resolved"}`)
	s.Must(t, "POST", apitest.In("f", "development")+"/on", "")
	stands(t, s, "paused", 4, "10") // as it was before
	s.Must(t, "POST", p.resume("f"), "")
	stands(t, s, "running", 5, "10")
}

// TestSafeguardsOfPlans has what is refused.
func TestSafeguardsOfPlans(t *testing.T) {
	t.Parallel()
	s, _, p, _ := guardedFlag(t, "pause")
	one := plansOf("f") + "/" + p.ID + "/safeguards"
	s.Create(t, "child")
	alarm := `{"signal":{"alarm":"arn:aws:cloudwatch:eu-central-1:123456789012:alarm:Errors"},"action":{"type":"off"}}`
	s.Run(t, []apitest.Call{
		{"the signal is in use", "DELETE", signalsPath + "/errors", "", 409, `{"...":0,"name":"ConflictError"}`},
		{"impact metrics", "PUT", one, `{"impactMetric":{"metricName":"x"},"triggerCondition":{"operator":">","threshold":1}}`, 400, `{"...":0}`},
		{"no signal", "PUT", one, `{"signal":{},"action":{"type":"off"}}`, 400, `{"...":0}`},
		{"two signals", "PUT", one, `{"signal":{"name":"a","alarm":"b"},"action":{"type":"off"}}`, 400, `{"...":0}`},
		{"an unknown signal", "PUT", one, safeguard("nosuch", "off"), 400, `{"...":0}`},
		{"an unknown action", "PUT", one, safeguard("errors", "page"), 400, `{"...":0}`},
		{"an alarm", "PUT", one, alarm, 400, `{"...":0}`},
		{"another action", "PUT", one, safeguard("errors", "off"), 204, ""},
		{"a read can be sent back", "GET", plansOf("f"), "", 200, `[{"...":0,"safeguards":[{"...":0,"signal":{"name":"errors"},"action":{"...":0,"type":"off"},"triggeredAt":null}]}]`},
		{"a child that is on where it is off", "POST", apitest.Features + "/child/dependencies", `{"feature":"f","enabled":false}`, 409, `{"...":0,"name":"ConflictError"}`},
		{"one that may pause", "PUT", one, safeguard("errors", "pause"), 204, ""},
		{"has such a child", "POST", apitest.Features + "/child/dependencies", `{"feature":"f","enabled":false}`, 200, ""},
		{"the other way round", "PUT", one, safeguard("errors", "off"), 409, `{"...":0,"name":"ConflictError"}`},
		{"no such safeguard", "DELETE", one + "/nosuch", "", 404, `{"...":0}`},
	})
	list := apitest.Decode[[]struct{ Safeguards []struct{ ID string } }](t, s.Must(t, "GET", plansOf("f"), "").Body)
	s.Must(t, "DELETE", one+"/"+list[0].Safeguards[0].ID, "")
	s.Must(t, "DELETE", signalsPath+"/errors", "")
	s.Check(t, apitest.Call{"a template", "POST", "/api/admin/release-plan-templates", guarded([]string{share(10)}, safeguard("a", "off"), safeguard("a", "pause")), 400, `{"...":0}`})
	s.Check(t, apitest.Call{"a template", "POST", "/api/admin/release-plan-templates", guarded([]string{share(10)}, safeguard("a", "off")), 200, `{"...":0,"safeguards":[{"...":0}]}`})
	s.WantEvents(t, "f", flags.SafeguardChanged, 2)
	s.WantEvents(t, "f", flags.SafeguardDeleted, 1)
}

// An alarms is CloudWatch.
type alarms struct {
	lock  sync.Mutex
	state map[string]flags.AlarmState
	since time.Time // of what is set
	calls int
	fails bool
}

const prefix = "arn:aws:cloudwatch:eu-central-1:123456789012:alarm:"

func (a *alarms) config() *httpapi.Alarms {
	return &httpapi.Alarms{Prefix: prefix, Read: func(_ context.Context, arns []string) (map[string]flags.AlarmState, error) {
		a.lock.Lock()
		defer a.lock.Unlock()
		a.calls++
		if a.fails {
			return nil, fmt.Errorf("throttled")
		}
		found := map[string]flags.AlarmState{}
		for _, arn := range arns {
			if state, exists := a.state[arn]; exists {
				found[arn] = state
			}
		}
		return found, nil
	}}
}

func (a *alarms) set(name, state string) {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.state[prefix+name] = flags.AlarmState{State: state, Since: a.since, Reason: "Threshold Crossed: 1 datapoint", MissingData: name == "missing"}
}

func TestAlarms(t *testing.T) {
	t.Parallel()
	clock, a := apitest.NewClock(), &alarms{state: map[string]flags.AlarmState{}}
	s := apitest.Serve(t, func(c *httpapi.Config, _ *http.RoundTripper) { c.Now, c.Alarms = clock.Time, a.config() })
	scheduler := requests.NewScheduler(s.Store, httpapi.Config{Limits: flags.DefaultLimits(), Now: clock.Time, Alarms: a.config()})
	run := func() {
		t.Helper()
		clock.Advance(time.Minute)
		if err := scheduler.Run(t.Context()); err != nil && !a.fails {
			t.Error(err)
		}
	}
	run()
	if a.calls > 0 {
		t.Errorf("%d calls without a plan", a.calls)
	}
	a.set("errors", "OK")
	a.set("missing", "OK")
	with := func(name string) string {
		return fmt.Sprintf(`{"signal":{"alarm":%q},"action":{"type":"off"}}`, prefix+name)
	}
	s.Create(t, "f")
	s.Check(t, apitest.Call{"another account", "POST", plansOf("f"), guarded([]string{share(10)}, `{"signal":{"alarm":"arn:aws:cloudwatch:eu-central-1:000000000000:alarm:x"},"action":{"type":"off"}}`), 400, `{"...":0}`})
	p := apitest.Decode[planned](t, s.Must(t, "POST", plansOf("f"), guarded([]string{share(10, 5), share(50, 5), share(100)}, with("errors"), with("missing"), with("gone"))).Body)
	if len(p.Warnings) != 2 {
		t.Errorf("warnings %q", p.Warnings)
	}
	s.Must(t, "POST", apitest.In("f", "development")+"/on", "")
	clock.Advance(5 * time.Minute)
	run()
	stands(t, s, "held", 1, "10") // one does not exist
	a.set("gone", "OK")
	a.set("errors", "INSUFFICIENT_DATA")
	clock.Advance(5 * time.Minute)
	run()
	stands(t, s, "held", 1, "10")
	a.set("errors", "OK")
	clock.Advance(5 * time.Minute)
	a.fails = true
	calls := a.calls
	run()
	a.fails = false
	if got := a.calls - calls; got != 1 {
		t.Errorf("%d calls in a minute in which alarms cannot be read, want 1", got)
	}
	stands(t, s, "running", 1, "10")
	clock.Advance(5 * time.Minute)
	calls = a.calls
	run()
	stands(t, s, "running", 2, "50")
	if got := a.calls - calls; got != 1 {
		t.Errorf("%d calls in a minute, want 1 for all alarms", got)
	}
	a.set("errors", "ALARM")
	run()
	stands(t, s, "off", 2, "50")
	calls = a.calls
	run()
	if a.calls != calls {
		t.Errorf("alarms of a flag that is off were read")
	}
	s.Must(t, "POST", apitest.In("f", "development")+"/on", `{"force":"a false alarm"}`)
	run()
	stands(t, s, "running", 3, "50")
	a.since = clock.Time()
	a.set("errors", "OK")
	a.set("errors", "ALARM")
	run()
	stands(t, s, "off", 3, "50") // it was quiet once
}

// TestPlanInOtherPlaces clones, exports and moves a flag with a plan and a safeguard, deletes a context field of a milestone that is not running, and
// deletes and adds the environment.
func TestPlanInOtherPlaces(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	s.Must(t, "POST", apitest.Projects, `{"id":"other"}`)
	s.Must(t, "POST", apitest.Project+"/environments/development/default-strategy", `{"name":"default"}`)
	s.Must(t, "POST", apitest.ContextFields, `{"name":"country"}`)
	newSignal(t, s, signalsPath, "errors")
	second := `{"name":"2","strategies":[{"strategyName":"default","constraints":[{"contextName":"country","operator":"IN","values":["de"]}]}]}`
	p := apitest.Decode[planned](t, s.Must(t, "POST", plansOf("f"), guarded([]string{share(10), second}, safeguard("errors", "off"))).Body)
	s.Must(t, "POST", apitest.In("f", "development")+"/on", "")
	stands(t, s, "running", 1, "10") // without the default strategy of the project
	s.Must(t, "POST", apitest.Features+"/f/clone", `{"name":"copy"}`)
	const plain = `{"...":0,"name":"flexibleRollout","parameters":{"rollout":"10","stickiness":"default","groupId":"%s"}}`
	exported := s.Must(t, "POST", apitest.Export, `{"features":["f"],"environment":"development"}`).Body
	for _, of := range []string{p.ID, p.Milestones[0].ID, "safeguard", "errors"} {
		if strings.Contains(exported, of) {
			t.Errorf("the export has %q: %s", of, exported)
		}
	}
	s.Run(t, []apitest.Call{
		{"the clone has a plain strategy", "GET", apitest.In("copy", "development") + "/strategies", "", 200, `[` + fmt.Sprintf(plain, "copy") + `]`},
		{"and no plan", "GET", plansOf("copy"), "", 200, `[]`},
		{"which can be changed", "DELETE", apitest.Features + "/copy", "", 202, ""},
		{"the export has a plain strategy", "POST", apitest.Export, `{"features":["f"],"environment":"development"}`, 200, `{"...":0,"featureStrategies":[{"featureName":"f",` + fmt.Sprintf(plain, "f")[1:] + `]}`},
		{"a context field of a later milestone", "DELETE", apitest.ContextFields + "/country", "", 409, `{"...":0,"name":"ConflictError","details":[{"...":0,"message":"used by flag \"f\""}]}`},
		{"a signal of this project", "POST", apitest.Features + "/f/changeProject", `{"newProjectId":"other"}`, 409, apitest.Failure("ConflictError", `"errors"`)},
		{"off", "POST", apitest.In("f", "development") + "/off", "", 200, apitest.Anything},
		{"detach the environment of the projects", "DELETE", apitest.Project + "/environments/development", "", 200, ""},
		{"and of the other one", "DELETE", apitest.Projects + "/other/environments/development", "", 200, ""},
		{"delete it", "DELETE", "/api/admin/environments/development", "", 200, ""},
		{"add one of that name", "POST", "/api/admin/environments", `{"name":"development","type":"development"}`, 201, apitest.Anything},
		{"to the project", "POST", apitest.Project + "/environments", `{"environment":"development"}`, 200, ""},
		{"the plan does not count", "GET", plansOf("f"), "", 200, `[]`},
	})
}

// TestOffFollowsPause has two safeguards of a plan act in the same run.
func TestOffFollowsPause(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	slow, errors := newSignal(t, s, signalsPath, "slow"), newSignal(t, s, signalsPath, "errors")
	s.Must(t, "POST", plansOf("f"), guarded([]string{share(10, 60), share(100)}, safeguard("slow", "pause"), safeguard("errors", "off")))
	s.Must(t, "POST", apitest.In("f", "development")+"/on", "")
	post(t, s, "slow", slow, `{"status":"firing"}`)
	stands(t, s, "stopped", 1, "10")
	post(t, s, "errors", errors, `{"status":"firing"}`)
	stands(t, s, "off", 1, "10")
	s.WantEvents(t, "f", flags.SafeguardTriggered, 2)
}
