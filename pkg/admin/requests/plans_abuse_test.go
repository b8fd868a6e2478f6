package requests_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/apitest"
	"guidon/pkg/flags"
)

// TestEditorsAndPlans tries, with the rights of an editor who owns projects, to change in a protected environment what was approved: the plan of f has
// a safeguard, that of g has none. Each attempt is refused, or changes nothing there that lets more users have the flags, or sooner.
func TestEditorsAndPlans(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	id, _ := r.Person(t, access.RoleEditor)
	editor := apitest.InSession(r.SignIn(t, id))
	r.Must(t, "POST", apitest.Projects, `{"id":"other"}`)
	r.Must(t, "POST", fmt.Sprintf("%s/other/users/%d/roles/4", apitest.Projects, id), "")
	r.Must(t, "POST", apitest.InProduction+"/signals", `{"name":"errors"}`)
	r.Create(t, "child")
	plans := map[string]plan{}
	for flag, safeguards := range map[string]string{"f": `,"safeguards":[{"signal":{"name":"errors"},"action":{"type":"off"}}]`, "g": ""} {
		q := r.approved(t, change(flag, "addReleasePlan", `{"name":"p","existing":"replace","milestones":[`+stages(10, 10, 50, 100)+`]`+safeguards+`}`))
		r.to(t, r.releaser, q, "Applied", 200)
		plans[flag] = apitest.Decode[[]plan](t, r.Must(t, "GET", apitest.In(flag, "production")+"/release-plans", "").Body)[0]
	}
	f := plans["f"]
	env, base := apitest.In("f", "production"), plansOfF+"/"+f.ID
	start := func(i int) string { return base + "/milestones/" + f.Milestones[i].ID + "/start" }
	imported := func(rest string) string {
		return `{"project":"default","environment":"production","data":{"features":[{"name":"f"}],` + rest + `}}`
	}
	const skipped = `"skipped":1`
	for _, c := range []apitest.Call{
		{"a later milestone", "POST", start(3), "", 403, ""},
		{"one with the same strategies", "POST", start(1), "", 403, ""},
		{"although something fires", "POST", start(3), `{"force":"it is wrong"}`, 403, ""},
		{"another interval", "PUT", env + "/progressions/" + f.Milestones[0].ID, `{"transitionCondition":{"intervalMinutes":1}}`, 403, ""},
		{"no interval", "DELETE", env + "/progressions/" + f.Milestones[0].ID, "", 403, ""},
		{"a weaker safeguard", "PUT", base + "/safeguards", `{"signal":{"name":"errors"},"action":{"type":"pause"}}`, 403, ""},
		{"the signal of a safeguard", "DELETE", apitest.InProduction + "/signals/errors", "", 409, ""},
		{"detach", "POST", base + "/detach", "", 403, ""},
		{"remove", "DELETE", base, "", 403, ""},
		{"another plan", "POST", plansOfF, `{"name":"q","existing":"replace","milestones":[` + stages(100) + `]}`, 409, ""},
		{"many off", "POST", apitest.Project + "/bulk_features/environments/production/off", `{"features":["f","g"]}`, 403, ""},
		{"many on", "POST", apitest.Project + "/bulk_features/environments/production/on", `{"features":["f","g"]}`, 200, ""}, // they are
		{"archive", "POST", apitest.Project + "/archive", `{"features":["f","g"]}`, 403, ""},
		{"move with a signal", "POST", apitest.Features + "/f/changeProject", `{"newProjectId":"other"}`, 409, ""},
		{"move", "POST", apitest.Features + "/g/changeProject", `{"newProjectId":"other"}`, 403, ""},
		{"move many", "POST", apitest.Project + "/changeProject", `{"features":["g"],"newProjectId":"other"}`, 403, ""},
		{"import strategies", "POST", apitest.Import, imported(`"featureStrategies":[{"featureName":"f","name":"default"}]`), 200, skipped},
		{"import off", "POST", apitest.Import, imported(`"featureEnvironments":[{"name":"production","featureName":"f","enabled":false}]`), 200, skipped},
		{"import on", "POST", apitest.Import, imported(`"featureEnvironments":[{"name":"production","featureName":"f","enabled":true}]`), 200, `"unchanged":1`},
		{"clone", "POST", apitest.Features + "/f/clone", `{"name":"copy"}`, 201, `"enabled":false`},
		{"the clone on", "POST", apitest.In("copy", "production") + "/on", "", 403, ""},
		{"a child that is on where it is off", "POST", apitest.Features + "/child/dependencies", `{"feature":"f","enabled":false}`, 409, ""},
		{"the environment of the project", "DELETE", apitest.InProduction, "", 403, ""},
		{"the environment", "DELETE", "/api/admin/environments/production", "", 403, ""},
		{"order", "POST", env + "/strategies/set-sort-order", `[]`, 200, ""}, // of nothing
		{"freeze", "POST", apitest.InProduction + "/freezes", `{"reason":"x","to":"2026-01-05T18:00:00Z"}`, 201, ""},
		{"begin again", "POST", start(0) + "?restart=true", "", 200, ""}, // later
		{"pause", "POST", base + "/pause", "", 200, ""},
		{"resume", "POST", env + "/progressions/" + f.ID + "/resume", "", 403, ""},
		{"begin again", "POST", start(0) + "?restart=true", "", 403, ""},
	} {
		got := r.Do(t, c.Method, c.Path, c.Body, editor...)
		if got.Status != c.Status || !strings.Contains(got.Body, c.Want) {
			t.Errorf("%s: status %d %.300s, want %d and %q", c.Name, got.Status, got.Body, c.Status, c.Want)
		}
		if !r.on(t, "f") || !r.on(t, "g") || r.planOfF(t).Active != f.Milestones[0].ID {
			t.Fatalf("%s: f is on: %t, g is on: %t, and the plan is %+v", c.Name, r.on(t, "f"), r.on(t, "g"), r.planOfF(t))
		}
		r.wantShares(t, "10")
	}
}

// TestForcedByRequest switches on a flag that a safeguard has switched off, in a protected environment, while the signal fires: the reason is part of
// what is approved.
func TestForcedByRequest(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	secret := apitest.SecretIn(r.Must(t, "POST", apitest.InProduction+"/signals", `{"name":"errors"}`).Body)
	q := r.approved(t, change("f", "addReleasePlan", `{"name":"p","existing":"replace","milestones":[`+stages(10, 50)+`],"safeguards":[{"signal":{"name":"errors"},"action":{"type":"off"}}]}`))
	r.to(t, r.releaser, q, "Applied", 200)
	says := func(status string) {
		r.Do(t, "POST", "/api/signals/errors", `{"status":"`+status+`"}`, "Authorization: Bearer "+secret)
	}
	says("firing")
	if r.on(t, "f") {
		t.Fatal("the safeguard did not act")
	}
	says("resolved")
	on := r.approved(t, change("f", "updateEnabled", `{"enabled":true}`))
	says("firing")
	r.to(t, r.releaser, on, "Applied", 409, "is firing")
	for payload, want := range map[string]string{
		`{"enabled":true}`: "is firing", `{"enabled":true,"force":" "}`: "must be the reason", `{"enabled":true,"force":1}`: "/force", `{"enabled":false,"force":"x"}`: "needs none",
	} {
		r.as(t, r.author, "POST", submitted, "["+change("f", "updateEnabled", payload)+"]", 400, want)
	}
	forced := r.approved(t, change("f", "updateEnabled", `{"enabled":true,"force":"a false alarm"}`))
	r.to(t, r.releaser, forced, "Applied", 200)
	r.clock.Advance(time.Minute)
	r.runs(t)
	if !r.on(t, "f") {
		t.Error("the flag is off, although a request overruled the signal")
	}
	if !slices.ContainsFunc(r.Newest(t), func(e apitest.LogEvent) bool {
		return e.Type == string(flags.ReleasePlanStarted) && strings.Contains(fmt.Sprint(e.Data), "a false alarm")
	}) {
		t.Error("the log does not have the reason")
	}
}
