package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

const canaryPlan = `{"name":"Canary","milestones":[
	{"name":"One","transitionCondition":{"intervalMinutes":60},"strategies":[{"strategyName":"flexibleRollout","parameters":{"rollout":"1"}}]},
	{"name":"Half","strategies":[{"strategyName":"flexibleRollout","parameters":{"rollout":"50"}}]},
	{"name":"All","strategies":[{"strategyName":"default"}]}]}`

// hasLines checks that a text has lines that match the patterns.
func hasLines(t *testing.T, text string, patterns ...string) {
	t.Helper()
	for _, pattern := range patterns {
		if !regexp.MustCompile(`(?m)^` + pattern + `$`).MatchString(text) {
			t.Errorf("it prints\n%s\nwant the line %q", text, pattern)
		}
	}
}

func TestPlan(t *testing.T) {
	create(t, "/api/admin/projects", `{"id":"planned","name":"Planned"}`)
	createFlag(t, "planned", "checkout")
	const environment = "/api/admin/projects/planned/features/checkout/environments/development"
	line := func(verb string) string {
		return "plan " + verb + " checkout --project planned --environment development"
	}
	if r := guidon(t, line("show")); r.code != exitFailed || !strings.Contains(r.messages, "has no release plan in development") {
		t.Errorf("without a plan: exit code %d, %q", r.code, r.messages)
	}
	create(t, environment+"/release-plans", canaryPlan)
	send(t, "POST", environment+"/on", "")

	const time = `\d{4}-\S+Z`
	hasLines(t, must(t, line("show")), `plan +Canary`, `state +running`, `reason +Milestone "One" is running.*`, `next +`+time,
		`\* +One +flexibleRollout 1% +60 min +`+time, ` +Half +flexibleRollout 50% +- +-`, ` +All +default +- +-`)
	if plan := decode[map[string]any](t, line("show")); plan["discriminator"] != "plan" {
		t.Errorf("the JSON is %v", plan)
	}
	for range 2 {
		hasLines(t, must(t, line("pause")), `state +paused`, `next +-`)
	}
	for range 2 {
		hasLines(t, must(t, line("resume")), `state +running`, `next +`+time)
	}
	hasLines(t, must(t, line("next")), `state +running`, `\* +Half .*`)
	hasLines(t, must(t, line("next")), `state +last`, `\* +All .*`)
	if r := guidon(t, line("next")); r.code != exitFailed || !strings.Contains(r.messages, `"All" is the last one`) {
		t.Errorf("after the last milestone: exit code %d, %q", r.code, r.messages)
	}
	hasLines(t, must(t, line("finish")), `release plan "Canary" is finished at milestone "All", and its strategies stay`)
	if r := guidon(t, line("finish")); r.code != exitFailed || !strings.Contains(r.messages, "has no release plan in development") {
		t.Errorf("finished twice: exit code %d, %q", r.code, r.messages)
	}
	if in := call(t, nil, "GET", environment, ""); !strings.Contains(in, `"enabled":true`) || !strings.Contains(in, `"name":"default"`) {
		t.Errorf("a finished plan leaves %s, want the flag on with the strategy of the last milestone", in)
	}
	if r := guidon(t, "plan show checkout --project planned"); r.code != exitUsage {
		t.Errorf("without an environment: exit code %d, want %d", r.code, exitUsage)
	}
}

// TestPlanWithAlarm forces the next milestone of a plan that a signal has stopped.
func TestPlanWithAlarm(t *testing.T) {
	create(t, "/api/admin/projects", `{"id":"watched","name":"Watched"}`)
	createFlag(t, "watched", "watched-checkout")
	const project = "/api/admin/projects/watched"
	const environment = project + "/features/watched-checkout/environments/development"
	var signal struct{ Secret string }
	if err := json.Unmarshal([]byte(call(t, nil, "POST", project+"/environments/development/signals", `{"name":"errors"}`)), &signal); err != nil {
		t.Fatal(err)
	}
	create(t, environment+"/release-plans", strings.TrimSuffix(canaryPlan, "}")+`,"safeguards":[{"signal":{"name":"errors"},"action":{"type":"pause"}}]}`)
	send(t, "POST", environment+"/on", "")
	const line = " watched-checkout --project watched --environment development"
	hasLines(t, must(t, "plan show"+line), `safeguard +pause when errors fires \(now: never posted\)`)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, serverURL+"/api/signals/errors", strings.NewReader(`{"status":"firing"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+signal.Secret)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if _ = response.Body.Close(); response.StatusCode != http.StatusNoContent {
		t.Fatalf("the signal returns %s", response.Status)
	}
	hasLines(t, must(t, "plan show"+line), `state +stopped`, `reason +.*signal "errors" fired.*`, `safeguard +pause when errors fires \(now: firing since \d{4}-\S+Z\)`)
	for _, verb := range []string{"next", "resume"} {
		if r := guidon(t, "plan "+verb+line); r.code != exitRefused || !strings.Contains(r.messages, `signal "errors" of release plan "Canary" is firing`) {
			t.Errorf("plan %s: exit code %d, %q, want that the signal fires", verb, r.code, r.messages)
		}
	}
	hasLines(t, must(t, "plan resume"+line+" --force false-alarm"), `state +running`, `\* +One .*`)
	hasLines(t, must(t, "plan next"+line+" --force false-alarm"), `state +running`, `\* +Half .*`)
	if log := call(t, nil, "GET", "/api/admin/events/watched-checkout", ""); !strings.Contains(log, "false-alarm") {
		t.Errorf("the log has no reason: %s", log)
	}
}

// TestPlanThatWentOn starts two milestones between the reading and the starting of next, which must not take the plan back.
func TestPlanThatWentOn(t *testing.T) {
	create(t, "/api/admin/projects", `{"id":"raced","name":"Raced"}`)
	createFlag(t, "raced", "raced-checkout")
	const environment = "/api/admin/projects/raced/features/raced-checkout/environments/development"
	create(t, environment+"/release-plans", canaryPlan)
	send(t, "POST", environment+"/on", "")
	const line = " raced-checkout --project raced --environment development"
	target, err := url.Parse(serverURL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			must(t, "plan next"+line)
			must(t, "plan next"+line)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(between.Close)
	if r := guidon(t, "plan next"+line, "GUIDON_URL="+between.URL); r.code != exitRefused || !strings.Contains(r.messages, "answers 412") {
		t.Errorf("exit code %d, %q, want a 412", r.code, r.messages)
	}
	hasLines(t, must(t, "plan show"+line), `state +last`)
}
