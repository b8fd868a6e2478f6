package projects_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/apitest"
	"guidon/pkg/httpapi"
)

// freezesOf is the path of the freezes of an environment of the project "default"; allFreezes that of its freezes in all projects.
const (
	freezesOf  = apitest.Project + "/environments/"
	allFreezes = "/api/admin/freezes/"
)

// aHoliday is a freeze.
const aHoliday = `{"reason":"holidays","from":"2099-01-01T00:00:00Z","to":"2099-01-02T00:00:00Z"}`

func inHalfAYear() string { return time.Now().AddDate(0, 6, 0).UTC().Format(time.RFC3339) }

// frozenNow is the refusal of a change in a freeze.
const frozenNow = `{"...":0,"name":"ConflictError"}`

// clocked is a server whose time is set by the test.
func clocked(t *testing.T, start string, options ...apitest.Option) (s *apitest.Server, set func(at string)) {
	t.Helper()
	var now atomic.Int64
	set = func(at string) {
		moment, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		now.Store(moment.UnixMilli())
	}
	set(start)
	return apitest.Serve(t, append(options, func(c *httpapi.Config, _ *http.RoundTripper) {
		c.Now = func() time.Time { return time.UnixMilli(now.Load()) }
	})...), set
}

// TestFreezeConfiguration checks who sets, sees and lifts freezes, and what they can be.
func TestFreezeConfiguration(t *testing.T) {
	t.Parallel()
	s, set := clocked(t, "2020-12-18T12:00:00Z")
	const mine, all = freezesOf + "production/freezes", allFreezes + "production"
	const holidays = `{"id":"{{ID}}","reason":"holidays","from":"2020-12-24T12:00:00.000Z","to":"2021-01-04T07:00:00.000Z","weekly":null,"offAllowed":true,"ofService":%t}`
	s.Run(t, []apitest.Call{
		{"none", "GET", mine, "", 200, `{"current":null,"freezes":[]}`},
		{"none of all projects", "GET", all, "", 200, `{"current":null,"freezes":[]}`},
		{"an empty body", "POST", mine, `{}`, 400, apitest.Invalid("/reason", "/to")},
		{"no times", "POST", mine, `{"reason":"x","from":"soon","to":"2020-13-01"}`, 400, apitest.Invalid("/from", "/to")},
		{"backwards", "POST", mine, `{"reason":"x","from":"2021-01-01T00:00:00Z","to":"2020-12-31T00:00:00Z"}`, 400, apitest.Invalid("/to")},
		{"over", "POST", mine, `{"reason":"x","from":"2019-01-01T00:00:00Z","to":"2019-12-31T00:00:00Z"}`, 400, apitest.Invalid("/to")},
		{"too long", "POST", mine, `{"reason":"x","to":"2022-01-01T00:00:00Z"}`, 400, apitest.Invalid("/to")},
		{"both kinds", "POST", mine, `{"reason":"x","to":"2021-01-01T00:00:00Z","weekly":{"from":"Fri 17:00","to":"Mon 08:00","zone":"UTC"}}`, 400, apitest.Invalid("/weekly")},
		{"no weekdays", "POST", mine, `{"reason":"x","weekly":{"from":"17:00","to":"Monday","zone":"Moon/Base"}}`, 400, apitest.Invalid("/weekly/from", "/weekly/to", "/weekly/zone")},
	})
	own := apitest.IDIn(s.Must(t, "POST", mine, `{"reason":"holidays","from":"2020-12-24T12:00:00Z","to":"2021-01-04T07:00:00Z"}`).Body)
	general := apitest.IDIn(s.Must(t, "POST", all, `{"reason":"holidays","from":"2020-12-24T12:00:00Z","to":"2021-01-04T07:00:00Z"}`).Body)
	weekly := apitest.IDIn(s.Must(t, "POST", all, `{"reason":"weekends","weekly":{"from":"Fri 17:00","to":"Mon 08:00","zone":"Europe/Zurich"},"offAllowed":false}`).Body)
	named := func(text, id string, args ...any) string {
		return fmt.Sprintf(strings.ReplaceAll(text, "{{ID}}", id), args...)
	}
	weekend := named(`{"id":"{{ID}}","reason":"weekends","from":null,"to":null,"weekly":{"from":"Fri 17:00","to":"Mon 08:00","zone":"Europe/Zurich"},"offAllowed":false,"ofService":true}`, weekly)
	ofAll, ofMine := named(holidays, general, true)+","+weekend, named(holidays, own, false)
	s.Check(t, apitest.Call{"not yet", "GET", mine, "", 200, `{"current":null,"freezes":[` + ofAll + `,` + ofMine + `]}`})
	s.Check(t, apitest.Call{"those of all projects", "GET", all, "", 200, `{"current":null,"freezes":[` + ofAll + `]}`})
	s.Check(t, apitest.Call{"development", "GET", freezesOf + "development/freezes", "", 200, `{"current":null,"freezes":[]}`})
	set("2020-12-18T16:00:00Z") // 17:00 in Zurich
	s.Check(t, apitest.Call{"a weekend", "GET", mine, "", 200, named(`{"...":0,"current":{"id":"{{ID}}","reason":"weekends","until":"2020-12-21T07:00:00.000Z","offAllowed":false,"ofService":true}}`, weekly)})
	set("2020-12-24T12:00:00Z")
	s.Check(t, apitest.Call{"the holidays", "GET", mine, "", 200, named(`{"...":0,"current":{"id":"{{ID}}","reason":"holidays","until":"2021-01-04T07:00:00.000Z","offAllowed":true,"ofService":true}}`, general)})
	owner := s.Owner(t, "")
	refused := `{"...":0,"name":"NoAccessError"}`
	s.Check(t, apitest.Call{"an owner freezes the service", "POST", all, aHoliday, 403, refused}, owner)
	s.Check(t, apitest.Call{"an owner lifts a freeze of the service", "DELETE", all + "/" + general, "", 403, refused}, owner)
	s.Check(t, apitest.Call{"an owner lifts it as if it were of the project", "DELETE", mine + "/" + general, "", 404, apitest.NotFound("all projects")}, owner)
	s.Check(t, apitest.Call{"an owner lifts a freeze of the project", "DELETE", mine + "/" + own, "", 204, ""}, owner)
	id, member := s.Person(t, access.RoleViewer)
	s.Must(t, "POST", fmt.Sprintf("%s/users/%d/roles/5", apitest.Project, id), "")
	s.Check(t, apitest.Call{"a member freezes the project", "POST", mine, `{"reason":"x","to":"2021-01-04T07:00:00Z"}`, 403, refused}, member)
	s.Check(t, apitest.Call{"a member sees it", "GET", mine, "", 200, `{"...":0,"freezes":[` + ofAll + `]}`}, member)
	set("2021-01-04T07:00:00Z")
	s.Check(t, apitest.Call{"those that have ended are left out", "GET", mine, "", 200, `{"current":null,"freezes":[` + weekend + `]}`})
	s.Check(t, apitest.Call{"lift the other one", "DELETE", all + "/" + weekly, "", 204, ""})
	s.Check(t, apitest.Call{"it is lifted", "DELETE", all + "/" + weekly, "", 404, apitest.NotFound(weekly)})
	for range 50 {
		s.Must(t, "POST", mine, `{"reason":"x","to":"2021-02-01T00:00:00Z"}`)
	}
	s.Check(t, apitest.Call{"too many", "POST", mine, `{"reason":"x","to":"2021-02-01T00:00:00Z"}`, 400, apitest.Failure("ValidationError", "no more than 50 are allowed")})
}

// TestFrozenChanges is TestGuardedChanges in a freeze, set by the project and for all projects.
func TestFrozenChanges(t *testing.T) {
	t.Parallel()
	body := `{"reason":"holidays","to":"` + inHalfAYear() + `","offAllowed":false}`
	for name, path := range map[string]func(environment string) string{
		"of a project":    func(environment string) string { return freezesOf + environment + "/freezes" },
		"of all projects": func(environment string) string { return allFreezes + environment },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testGuardedChanges(t, guarding{func(t *testing.T, s *apitest.Server, environment string) {
				s.Must(t, "POST", path(environment), body)
			}, "SKIP_CHANGE_FREEZE", 409, frozenNow[9:]})
		})
	}
}

// TestFreezesTakeTheirTime checks what a freeze allows before, in and after it, and what the refusal says.
func TestFreezesTakeTheirTime(t *testing.T) {
	t.Parallel()
	s, set := clocked(t, "2020-12-18T12:00:00Z")
	s.OnInProduction(t, "f", "g", "h")
	owner := s.Owner(t, "")
	s.Must(t, "POST", allFreezes+"production", `{"reason":"weekends","weekly":{"from":"Fri 17:00","to":"Mon 08:00","zone":"Europe/Zurich"}}`)
	strict := apitest.IDIn(s.Must(t, "POST", freezesOf+"production/freezes", `{"reason":"an audit","from":"2020-12-19T00:00:00Z","to":"2020-12-20T00:00:00Z","offAllowed":false}`).Body)
	on := apitest.In("f", "production") + "/on"
	s.Check(t, apitest.Call{"before", "POST", apitest.In("f", "production") + "/off", "", 200, apitest.Anything}, owner)
	config := func(freeze string) apitest.Call {
		return apitest.Call{"in the list of environments", "GET", apitest.Project + "/change-requests/config", "", 200,
			`[{"environment":"development","...":0},{"environment":"production","type":"production","changeRequestEnabled":false,"requiredApprovals":null` + freeze + `}]`}
	}
	s.Check(t, config(""), owner)
	set("2020-12-18T16:00:00Z")
	s.Check(t, config(`,"freeze":{"...":0,"reason":"weekends","until":"2020-12-21T07:00:00.000Z","offAllowed":true,"ofService":true}`), owner)
	for _, c := range []apitest.Call{
		{"switch on", "POST", on, "", 409, apitest.Failure("ConflictError", `environment "production", in all projects, is frozen until 2020-12-21T07:00:00Z: weekends (freeze `)},
		{"switch off", "POST", apitest.In("g", "production") + "/off", "", 200, apitest.Anything},
		{"development", "POST", apitest.In("f", "development") + "/strategies", `{"name":"default"}`, 200, apitest.Anything},
		{"metadata", "PUT", apitest.Features + "/f", `{"description":"words"}`, 200, apitest.Anything},
		{"a new flag", "POST", apitest.Features, `{"name":"new"}`, 201, apitest.Anything},
	} {
		s.Check(t, c, owner)
	}
	set("2020-12-19T12:00:00Z")
	s.Check(t, apitest.Call{"switch off in a strict one", "POST", apitest.In("h", "production") + "/off", "", 409, apitest.Failure("ConflictError", "is frozen until 2020-12-21T07:00:00Z: weekends")}, owner)
	s.Check(t, apitest.Call{"switch many off", "POST", apitest.Project + "/bulk_features/environments/production/off", `{"features":["h"]}`, 409, apitest.Anything}, owner)
	s.Must(t, "DELETE", freezesOf+"production/freezes/"+strict, "")
	s.Check(t, apitest.Call{"switch many off when it is lifted", "POST", apitest.Project + "/bulk_features/environments/production/off", `{"features":["h"]}`, 200, apitest.Anything}, owner)
	set("2020-12-21T06:59:59Z")
	s.Check(t, apitest.Call{"the last second", "POST", on, "", 409, frozenNow}, owner)
	set("2020-12-21T07:00:00Z")
	s.Check(t, apitest.Call{"after", "POST", on, "", 200, apitest.Anything}, owner)
}

// TestParentIsNotSwitchedOff checks that a flag on which another one depends is not switched off where only switching off is allowed: a flag
// that needs it to be off would be served from then on.
func TestParentIsNotSwitchedOff(t *testing.T) {
	t.Parallel()
	const many = apitest.Project + "/bulk_features/environments/production/off"
	off := apitest.In("parent", "production") + "/off"
	for name, tt := range map[string]struct {
		guard   func(t *testing.T, s *apitest.Server)
		refused apitest.Call
	}{
		"in a freeze": {func(t *testing.T, s *apitest.Server) {
			s.Must(t, "POST", freezesOf+"production/freezes", `{"reason":"holidays","to":"`+inHalfAYear()+`"}`)
		}, apitest.Call{Status: 409, Body: apitest.Failure("ConflictError", "on which no other flag depends")}},
		"where changes need a request": {func(t *testing.T, s *apitest.Server) {
			s.Review(t)
			s.Must(t, "PUT", apitest.Environments+"/update/production", `{"offAllowed":true}`)
		}, apitest.Call{Status: 403, Body: `{"...":0,` + apitest.Failure("PermissionError", "on which no other flag depends")[1:]}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := apitest.Serve(t)
			s.OnInProduction(t, "parent", "child")
			s.Must(t, "POST", apitest.Features+"/child/dependencies", `{"feature":"parent","enabled":false}`)
			tt.guard(t, s)
			owner := s.Owner(t, "")
			s.Check(t, apitest.Call{"the parent", "POST", off, "", tt.refused.Status, tt.refused.Body}, owner)
			s.Check(t, apitest.Call{"many flags", "POST", many, `{"features":["parent"]}`, tt.refused.Status, apitest.Anything}, owner)
			s.Check(t, apitest.Call{"the child", "POST", apitest.In("child", "production") + "/off", "", 200, apitest.Anything}, owner)
			s.Check(t, apitest.Call{"the parent of a child that is off", "POST", off, "", tt.refused.Status, tt.refused.Body}, owner)
			s.Must(t, "DELETE", apitest.Features+"/child/dependencies", "")
			s.Check(t, apitest.Call{"no parent any more", "POST", off, "", 200, apitest.Anything}, owner)
		})
	}
}

// TestWaysAroundAFreeze tries to change a frozen environment with the rights of an owner, without SKIP_CHANGE_FREEZE.
func TestWaysAroundAFreeze(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", apitest.Projects, `{"id":"other"}`)
	s.OnInProduction(t, "f")
	freeze := apitest.IDIn(s.Must(t, "POST", allFreezes+"production", `{"reason":"holidays","to":"`+inHalfAYear()+`"}`).Body)
	owner := s.PersonWith(t, fmt.Sprint(access.RoleEditor), "")
	status(t, s, apitest.Call{"lift it", "DELETE", allFreezes + "production/" + freeze, "", 403, ""}, owner)
	status(t, s, apitest.Call{"lift it in the project", "DELETE", freezesOf + "production/freezes/" + freeze, "", 404, ""}, owner)
	s.Check(t, apitest.Call{"detach", "DELETE", apitest.InProduction, "", 409, frozenNow}, owner)
	s.Check(t, apitest.Call{"delete the project", "DELETE", apitest.Projects + "/other", "", 409, frozenNow}, owner)
	s.Check(t, apitest.Call{"move to a project", "POST", apitest.Features + "/f/changeProject", `{"newProjectId":"other"}`, 409, frozenNow}, owner)
	s.Check(t, apitest.Call{"a role of one's own", "POST", apitest.Roles, `{"name":"Mine","type":"custom","permissions":[{"name":"SKIP_CHANGE_FREEZE"}]}`, 403, `{"...":0,"name":"NoAccessError"}`}, owner)
	s.Check(t, apitest.Call{"the header for emergencies", "POST", apitest.In("f", "production") + "/strategies", `{"name":"default"}`, 409, frozenNow}, owner, "Break-Glass: please")
	s.Check(t, apitest.Call{"off stays allowed", "POST", apitest.In("f", "production") + "/off", "", 200, apitest.Anything}, owner)
	s.Check(t, apitest.Call{"and on again", "POST", apitest.In("f", "production") + "/on", "", 409, frozenNow}, owner)
	s.Must(t, "DELETE", apitest.InProduction, "")
	s.Check(t, apitest.Call{"attach it", "POST", apitest.Project + "/environments", `{"environment":"production"}`, 409, frozenNow}, owner)
	s.Must(t, "POST", apitest.Project+"/environments", `{"environment":"production"}`)
	s.Check(t, apitest.Call{"the freeze stays", "POST", apitest.In("f", "production") + "/strategies", `{"name":"default"}`, 409, frozenNow}, owner)

	guest, _ := s.Person(t, access.RoleViewer)
	role := s.RoleOf(t, "custom", "SKIP_CHANGE_FREEZE")
	s.Check(t, apitest.Call{"grant it", "POST", fmt.Sprintf("%s/users/%d/roles/%s", apitest.Project, guest, role), "", 403, apitest.Failure("NoAccessError", "only administrators")}, owner)
	s.Check(t, apitest.Call{"with SKIP_CHANGE_REQUEST", "POST", apitest.In("f", "production") + "/strategies", `{"name":"default"}`, 409, frozenNow}, s.Owner(t, "SKIP_CHANGE_REQUEST"))
	s.Check(t, apitest.Call{"skip in another environment", "POST", apitest.In("f", "production") + "/strategies", `{"name":"default"}`, 409, frozenNow}, s.Owner(t, "SKIP_CHANGE_FREEZE@development"))
	s.Check(t, apitest.Call{"skip there", "POST", apitest.In("f", "production") + "/strategies", `{"name":"default"}`, 200, apitest.Anything}, s.Owner(t, "SKIP_CHANGE_FREEZE@production"))
}

// TestFreezeSetMeanwhile checks that no change is committed in a freeze that was set after it was decided.
func TestFreezeSetMeanwhile(t *testing.T) {
	t.Parallel()
	i := &apitest.Interruption{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = i })
	s.Must(t, "POST", apitest.Projects, `{"id":"other"}`)
	root := s.RoleOf(t, "root-custom", "UPDATE_SEGMENT CREATE_FEATURE MOVE_FEATURE_TOGGLE")
	owner := s.PersonWith(t, root, "")
	s.OnInProduction(t, "f", "parent", "moves", "many")
	segment := s.AddSegment(t, `{"name":"one","constraints":[]}`)
	s.Must(t, "POST", apitest.In("f", "production")+"/strategies", `{"name":"default","segments":[`+segment+`]}`)
	body := `{"reason":"holidays","to":"` + inHalfAYear() + `"}`
	for _, path := range []string{freezesOf + "production/freezes", allFreezes + "production"} {
		for _, c := range []apitest.Call{
			{"add a strategy", "POST", apitest.In("f", "production") + "/strategies", `{"name":"default"}`, 409, frozenNow},
			{"variants", "PUT", apitest.In("f", "production") + "/variants", `[{"name":"a","weight":1000}]`, 409, frozenNow},
			{"depend", "POST", apitest.Features + "/f/dependencies", `{"feature":"parent"}`, 409, frozenNow},
			{"archive", "DELETE", apitest.Features + "/f", "", 409, frozenNow},
			{"archive many", "POST", apitest.Project + "/archive", `{"features":["many"]}`, 409, frozenNow},
			{"move", "POST", apitest.Features + "/moves/changeProject", `{"newProjectId":"other"}`, 409, frozenNow},
			{"the segment", "PUT", apitest.Segments + "/" + segment, `{"name":"one","constraints":[{"contextName":"userId","operator":"IN","values":["1"]}]}`, 409, frozenNow},
			{"detach", "DELETE", apitest.InProduction, "", 409, frozenNow},
		} {
			t.Run(c.Name+" while "+path+" is set", func(t *testing.T) {
				s.Do(t, "GET", apitest.Project, "", owner) // stores the use of the token
				before, freeze := state(t, s), ""
				i.Do = func() { freeze = apitest.IDIn(s.Must(t, "POST", path, body).Body) }
				s.Check(t, c, owner)
				if i.Do != nil {
					t.Error("no change was interrupted")
				}
				if after := state(t, s); after != before {
					t.Errorf("the state changed from\n%s to\n%s", before, after)
				}
				s.Must(t, "DELETE", path+"/"+freeze, "")
			})
		}
	}
}

// TestFreezeBeginsMeanwhile checks that a change that was decided before a window begins may be committed in it, and that one whose
// transaction lost a race in between may not.
func TestFreezeBeginsMeanwhile(t *testing.T) {
	t.Parallel()
	i := &apitest.Interruption{}
	s, set := clocked(t, "2020-12-18T15:59:59Z", func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = i })
	s.OnInProduction(t, "f")
	owner := s.Owner(t, "")
	s.Must(t, "POST", allFreezes+"production", `{"reason":"weekends","weekly":{"from":"Fri 17:00","to":"Mon 08:00","zone":"Europe/Zurich"}}`)
	strategy := apitest.Call{"", "POST", apitest.In("f", "production") + "/strategies", `{"name":"default"}`, 200, apitest.Anything}
	s.Do(t, "GET", apitest.Project, "", owner)
	i.Do = func() { set("2020-12-18T16:00:01Z") }
	s.Check(t, strategy, owner)
	set("2020-12-18T15:59:59Z")
	i.Do = func() {
		s.Must(t, "PUT", apitest.Features+"/f", `{"description":"another writer"}`)
		set("2020-12-18T16:00:01Z")
	}
	strategy.Status, strategy.Want = 409, frozenNow
	s.Check(t, strategy, owner)
}
