package admin_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/httpapi"
)

// freezesOf is the path of the freezes of an environment of the project "default"; allFreezes that of its freezes in all projects.
const (
	freezesOf  = project + "/environments/"
	allFreezes = "/api/admin/freezes/"
)

// aHoliday is a freeze.
const aHoliday = `{"reason":"holidays","from":"2099-01-01T00:00:00Z","to":"2099-01-02T00:00:00Z"}`

func inHalfAYear() string { return time.Now().AddDate(0, 6, 0).UTC().Format(time.RFC3339) }

// frozenNow is the refusal of a change in a freeze.
const frozenNow = `{"...":0,"name":"ConflictError"}`

// clocked is a server whose time is set by the test.
func clocked(t *testing.T, start string, options ...option) (s *server, set func(at string)) {
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
	return serve(t, append(options, func(c *httpapi.Config, _ *http.RoundTripper) {
		c.Now = func() time.Time { return time.UnixMilli(now.Load()) }
	})...), set
}

// TestFreezeConfiguration checks who sets, sees and lifts freezes, and what they can be.
func TestFreezeConfiguration(t *testing.T) {
	t.Parallel()
	s, set := clocked(t, "2020-12-18T12:00:00Z")
	const mine, all = freezesOf + "production/freezes", allFreezes + "production"
	const holidays = `{"id":"{{ID}}","reason":"holidays","from":"2020-12-24T12:00:00.000Z","to":"2021-01-04T07:00:00.000Z","weekly":null,"offAllowed":true,"ofService":%t}`
	s.run(t, []call{
		{"none", "GET", mine, "", 200, `{"current":null,"freezes":[]}`},
		{"none of all projects", "GET", all, "", 200, `{"current":null,"freezes":[]}`},
		{"an unknown environment", "GET", freezesOf + "nosuch/freezes", "", 404, notFound(`"nosuch"`)},
		{"an unknown project", "POST", projects + "/nosuch/environments/production/freezes", aHoliday, 404, notFound(`"nosuch"`)},
		{"an unknown environment of the service", "POST", allFreezes + "nosuch", aHoliday, 404, notFound(`"nosuch"`)},
		{"an empty body", "POST", mine, `{}`, 400, invalid("/reason", "/to")},
		{"no times", "POST", mine, `{"reason":"x","from":"soon","to":"2020-13-01"}`, 400, invalid("/from", "/to")},
		{"backwards", "POST", mine, `{"reason":"x","from":"2021-01-01T00:00:00Z","to":"2020-12-31T00:00:00Z"}`, 400, invalid("/to")},
		{"over", "POST", mine, `{"reason":"x","from":"2019-01-01T00:00:00Z","to":"2019-12-31T00:00:00Z"}`, 400, invalid("/to")},
		{"too long", "POST", mine, `{"reason":"x","to":"2022-01-01T00:00:00Z"}`, 400, invalid("/to")},
		{"both kinds", "POST", mine, `{"reason":"x","to":"2021-01-01T00:00:00Z","weekly":{"from":"Fri 17:00","to":"Mon 08:00","zone":"UTC"}}`, 400, invalid("/weekly")},
		{"no weekdays", "POST", mine, `{"reason":"x","weekly":{"from":"17:00","to":"Monday","zone":"Moon/Base"}}`, 400, invalid("/weekly/from", "/weekly/to", "/weekly/zone")},
		{"a long reason", "POST", mine, `{"reason":"` + strings.Repeat("x", 256) + `","to":"2021-01-01T00:00:00Z"}`, 400, invalid("/reason")},
		{"an unknown freeze", "DELETE", mine + "/nosuch", "", 404, notFound(`"nosuch"`)},
		{"an unknown one of the service", "DELETE", all + "/nosuch", "", 404, notFound(`"nosuch"`)},
	})
	own := idIn(s.must(t, "POST", mine, `{"reason":"holidays","from":"2020-12-24T12:00:00Z","to":"2021-01-04T07:00:00Z"}`).body)
	general := idIn(s.must(t, "POST", all, `{"reason":"holidays","from":"2020-12-24T12:00:00Z","to":"2021-01-04T07:00:00Z"}`).body)
	weekly := idIn(s.must(t, "POST", all, `{"reason":"weekends","weekly":{"from":"Fri 17:00","to":"Mon 08:00","zone":"Europe/Zurich"},"offAllowed":false}`).body)
	named := func(text, id string, args ...any) string {
		return fmt.Sprintf(strings.ReplaceAll(text, "{{ID}}", id), args...)
	}
	weekend := named(`{"id":"{{ID}}","reason":"weekends","from":null,"to":null,"weekly":{"from":"Fri 17:00","to":"Mon 08:00","zone":"Europe/Zurich"},"offAllowed":false,"ofService":true}`, weekly)
	ofAll, ofMine := named(holidays, general, true)+","+weekend, named(holidays, own, false)
	s.check(t, call{"not yet", "GET", mine, "", 200, `{"current":null,"freezes":[` + ofAll + `,` + ofMine + `]}`})
	s.check(t, call{"those of all projects", "GET", all, "", 200, `{"current":null,"freezes":[` + ofAll + `]}`})
	s.check(t, call{"development", "GET", freezesOf + "development/freezes", "", 200, `{"current":null,"freezes":[]}`})
	set("2020-12-18T16:00:00Z") // 17:00 in Zurich
	s.check(t, call{"a weekend", "GET", mine, "", 200, named(`{"...":0,"current":{"id":"{{ID}}","reason":"weekends","until":"2020-12-21T07:00:00.000Z","offAllowed":false,"ofService":true}}`, weekly)})
	set("2020-12-24T12:00:00Z")
	s.check(t, call{"the holidays", "GET", mine, "", 200, named(`{"...":0,"current":{"id":"{{ID}}","reason":"holidays","until":"2021-01-04T07:00:00.000Z","offAllowed":true,"ofService":true}}`, general)})
	owner := s.owner(t, "")
	refused := `{"...":0,"name":"NoAccessError"}`
	s.check(t, call{"an owner freezes the service", "POST", all, aHoliday, 403, refused}, owner)
	s.check(t, call{"an owner lifts a freeze of the service", "DELETE", all + "/" + general, "", 403, refused}, owner)
	s.check(t, call{"an owner lifts it as if it were of the project", "DELETE", mine + "/" + general, "", 404, notFound("all projects")}, owner)
	s.check(t, call{"an owner lifts a freeze of the project", "DELETE", mine + "/" + own, "", 204, ""}, owner)
	id, member := s.person(t, access.RoleViewer)
	s.must(t, "POST", fmt.Sprintf("%s/users/%d/roles/5", project, id), "")
	s.check(t, call{"a member freezes the project", "POST", mine, `{"reason":"x","to":"2021-01-04T07:00:00Z"}`, 403, refused}, member)
	s.check(t, call{"a member sees it", "GET", mine, "", 200, `{"...":0,"freezes":[` + ofAll + `]}`}, member)
	set("2021-01-04T07:00:00Z")
	s.check(t, call{"those that have ended are left out", "GET", mine, "", 200, `{"current":null,"freezes":[` + weekend + `]}`})
	s.check(t, call{"lift the other one", "DELETE", all + "/" + weekly, "", 204, ""})
	s.check(t, call{"it is lifted", "DELETE", all + "/" + weekly, "", 404, notFound(weekly)})
	for range 50 {
		s.must(t, "POST", mine, `{"reason":"x","to":"2021-02-01T00:00:00Z"}`)
	}
	s.check(t, call{"too many", "POST", mine, `{"reason":"x","to":"2021-02-01T00:00:00Z"}`, 400, failure("ValidationError", "no more than 50 are allowed")})
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
			testGuardedChanges(t, guarding{func(s *server, t *testing.T, environment string) {
				s.must(t, "POST", path(environment), body)
			}, "SKIP_CHANGE_FREEZE", 409, frozenNow[9:]})
		})
	}
}

// TestFreezesTakeTheirTime checks what a freeze allows before, in and after it, and what the refusal says.
func TestFreezesTakeTheirTime(t *testing.T) {
	t.Parallel()
	s, set := clocked(t, "2020-12-18T12:00:00Z")
	s.onInProduction(t, "f", "g", "h")
	owner := s.owner(t, "")
	s.must(t, "POST", allFreezes+"production", `{"reason":"weekends","weekly":{"from":"Fri 17:00","to":"Mon 08:00","zone":"Europe/Zurich"}}`)
	strict := idIn(s.must(t, "POST", freezesOf+"production/freezes", `{"reason":"an audit","from":"2020-12-19T00:00:00Z","to":"2020-12-20T00:00:00Z","offAllowed":false}`).body)
	on := in("f", "production") + "/on"
	s.check(t, call{"before", "POST", in("f", "production") + "/off", "", 200, anything}, owner)
	config := func(freeze string) call {
		return call{"in the list of environments", "GET", project + "/change-requests/config", "", 200,
			`[{"environment":"development","...":0},{"environment":"production","type":"production","changeRequestEnabled":false,"requiredApprovals":null` + freeze + `}]`}
	}
	s.check(t, config(""), owner)
	set("2020-12-18T16:00:00Z")
	s.check(t, config(`,"freeze":{"...":0,"reason":"weekends","until":"2020-12-21T07:00:00.000Z","offAllowed":true,"ofService":true}`), owner)
	for _, c := range []call{
		{"switch on", "POST", on, "", 409, failure("ConflictError", `environment "production", in all projects, is frozen until 2020-12-21T07:00:00Z: weekends (freeze `)},
		{"switch off", "POST", in("g", "production") + "/off", "", 200, anything},
		{"development", "POST", in("f", "development") + "/strategies", `{"name":"default"}`, 200, anything},
		{"metadata", "PUT", features + "/f", `{"description":"words"}`, 200, anything},
		{"a new flag", "POST", features, `{"name":"new"}`, 201, anything},
	} {
		s.check(t, c, owner)
	}
	set("2020-12-19T12:00:00Z")
	s.check(t, call{"switch off in a strict one", "POST", in("h", "production") + "/off", "", 409, failure("ConflictError", "is frozen until 2020-12-21T07:00:00Z: weekends")}, owner)
	s.check(t, call{"switch many off", "POST", project + "/bulk_features/environments/production/off", `{"features":["h"]}`, 409, anything}, owner)
	s.must(t, "DELETE", freezesOf+"production/freezes/"+strict, "")
	s.check(t, call{"switch many off when it is lifted", "POST", project + "/bulk_features/environments/production/off", `{"features":["h"]}`, 200, anything}, owner)
	set("2020-12-21T06:59:59Z")
	s.check(t, call{"the last second", "POST", on, "", 409, frozenNow}, owner)
	set("2020-12-21T07:00:00Z")
	s.check(t, call{"after", "POST", on, "", 200, anything}, owner)
}

// TestParentIsNotSwitchedOff checks that a flag on which another one depends is not switched off where only switching off is allowed: a flag
// that needs it to be off would be served from then on.
func TestParentIsNotSwitchedOff(t *testing.T) {
	t.Parallel()
	const many = project + "/bulk_features/environments/production/off"
	off := in("parent", "production") + "/off"
	for name, tt := range map[string]struct {
		guard   func(s *server, t *testing.T)
		refused call
	}{
		"in a freeze": {func(s *server, t *testing.T) {
			s.must(t, "POST", freezesOf+"production/freezes", `{"reason":"holidays","to":"`+inHalfAYear()+`"}`)
		}, call{status: 409, body: failure("ConflictError", "on which no other flag depends")}},
		"where changes need a request": {func(s *server, t *testing.T) {
			s.review(t)
			s.must(t, "PUT", environments+"/update/production", `{"offAllowed":true}`)
		}, call{status: 403, body: `{"...":0,` + failure("PermissionError", "on which no other flag depends")[1:]}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			s.onInProduction(t, "parent", "child")
			s.must(t, "POST", features+"/child/dependencies", `{"feature":"parent","enabled":false}`)
			tt.guard(s, t)
			owner := s.owner(t, "")
			s.check(t, call{"the parent", "POST", off, "", tt.refused.status, tt.refused.body}, owner)
			s.check(t, call{"many flags", "POST", many, `{"features":["parent"]}`, tt.refused.status, anything}, owner)
			s.check(t, call{"the child", "POST", in("child", "production") + "/off", "", 200, anything}, owner)
			s.check(t, call{"the parent of a child that is off", "POST", off, "", tt.refused.status, tt.refused.body}, owner)
			s.must(t, "DELETE", features+"/child/dependencies", "")
			s.check(t, call{"no parent any more", "POST", off, "", 200, anything}, owner)
		})
	}
}

// TestWaysAroundAFreeze tries to change a frozen environment with the rights of an owner, without SKIP_CHANGE_FREEZE.
func TestWaysAroundAFreeze(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.must(t, "POST", projects, `{"id":"other"}`)
	s.onInProduction(t, "f")
	freeze := idIn(s.must(t, "POST", allFreezes+"production", `{"reason":"holidays","to":"`+inHalfAYear()+`"}`).body)
	owner := s.personWith(t, fmt.Sprint(access.RoleEditor), "")
	s.status(t, call{"lift it", "DELETE", allFreezes + "production/" + freeze, "", 403, ""}, owner)
	s.status(t, call{"lift it in the project", "DELETE", freezesOf + "production/freezes/" + freeze, "", 404, ""}, owner)
	s.check(t, call{"detach", "DELETE", inProduction, "", 409, frozenNow}, owner)
	s.check(t, call{"delete the project", "DELETE", projects + "/other", "", 409, frozenNow}, owner)
	s.check(t, call{"move to a project", "POST", features + "/f/changeProject", `{"newProjectId":"other"}`, 409, frozenNow}, owner)
	s.check(t, call{"a role of one's own", "POST", roles, `{"name":"Mine","type":"custom","permissions":[{"name":"SKIP_CHANGE_FREEZE"}]}`, 403, `{"...":0,"name":"NoAccessError"}`}, owner)
	s.check(t, call{"the header for emergencies", "POST", in("f", "production") + "/strategies", `{"name":"default"}`, 409, frozenNow}, owner, "Break-Glass: please")
	s.check(t, call{"off stays allowed", "POST", in("f", "production") + "/off", "", 200, anything}, owner)
	s.check(t, call{"and on again", "POST", in("f", "production") + "/on", "", 409, frozenNow}, owner)
	s.must(t, "DELETE", inProduction, "")
	s.check(t, call{"attach it", "POST", project + "/environments", `{"environment":"production"}`, 409, frozenNow}, owner)
	s.must(t, "POST", project+"/environments", `{"environment":"production"}`)
	s.check(t, call{"the freeze stays", "POST", in("f", "production") + "/strategies", `{"name":"default"}`, 409, frozenNow}, owner)

	guest, _ := s.person(t, access.RoleViewer)
	role := s.roleOf(t, "custom", "SKIP_CHANGE_FREEZE")
	s.check(t, call{"grant it", "POST", fmt.Sprintf("%s/users/%d/roles/%s", project, guest, role), "", 403, failure("NoAccessError", "only administrators")}, owner)
	s.check(t, call{"with SKIP_CHANGE_REQUEST", "POST", in("f", "production") + "/strategies", `{"name":"default"}`, 409, frozenNow}, s.owner(t, "SKIP_CHANGE_REQUEST"))
	s.check(t, call{"skip in another environment", "POST", in("f", "production") + "/strategies", `{"name":"default"}`, 409, frozenNow}, s.owner(t, "SKIP_CHANGE_FREEZE@development"))
	s.check(t, call{"skip there", "POST", in("f", "production") + "/strategies", `{"name":"default"}`, 200, anything}, s.owner(t, "SKIP_CHANGE_FREEZE@production"))
}

// TestFreezeSetMeanwhile checks that no change is committed in a freeze that was set after it was decided.
func TestFreezeSetMeanwhile(t *testing.T) {
	t.Parallel()
	i := &interruption{}
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = i })
	s.must(t, "POST", projects, `{"id":"other"}`)
	root := s.roleOf(t, "root-custom", "UPDATE_SEGMENT CREATE_FEATURE MOVE_FEATURE_TOGGLE")
	owner := s.personWith(t, root, "")
	s.onInProduction(t, "f", "parent", "moves", "many")
	segment := s.segment(t, `{"name":"one","constraints":[]}`)
	s.must(t, "POST", in("f", "production")+"/strategies", `{"name":"default","segments":[`+segment+`]}`)
	body := `{"reason":"holidays","to":"` + inHalfAYear() + `"}`
	for _, path := range []string{freezesOf + "production/freezes", allFreezes + "production"} {
		for _, c := range []call{
			{"add a strategy", "POST", in("f", "production") + "/strategies", `{"name":"default"}`, 409, frozenNow},
			{"variants", "PUT", in("f", "production") + "/variants", `[{"name":"a","weight":1000}]`, 409, frozenNow},
			{"depend", "POST", features + "/f/dependencies", `{"feature":"parent"}`, 409, frozenNow},
			{"archive", "DELETE", features + "/f", "", 409, frozenNow},
			{"archive many", "POST", project + "/archive", `{"features":["many"]}`, 409, frozenNow},
			{"move", "POST", features + "/moves/changeProject", `{"newProjectId":"other"}`, 409, frozenNow},
			{"the segment", "PUT", allSegments + "/" + segment, `{"name":"one","constraints":[{"contextName":"userId","operator":"IN","values":["1"]}]}`, 409, frozenNow},
			{"detach", "DELETE", inProduction, "", 409, frozenNow},
		} {
			t.Run(c.name+" while "+path+" is set", func(t *testing.T) {
				s.do(t, "GET", project, "", owner) // stores the use of the token
				before, freeze := s.state(t), ""
				i.do = func() { freeze = idIn(s.must(t, "POST", path, body).body) }
				s.check(t, c, owner)
				if i.do != nil {
					t.Error("no change was interrupted")
				}
				if after := s.state(t); after != before {
					t.Errorf("the state changed from\n%s to\n%s", before, after)
				}
				s.must(t, "DELETE", path+"/"+freeze, "")
			})
		}
	}
}

// TestFreezeBeginsMeanwhile checks that a change that was decided before a window begins may be committed in it, and that one whose
// transaction lost a race in between may not.
func TestFreezeBeginsMeanwhile(t *testing.T) {
	t.Parallel()
	i := &interruption{}
	s, set := clocked(t, "2020-12-18T15:59:59Z", func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = i })
	s.onInProduction(t, "f")
	owner := s.owner(t, "")
	s.must(t, "POST", allFreezes+"production", `{"reason":"weekends","weekly":{"from":"Fri 17:00","to":"Mon 08:00","zone":"Europe/Zurich"}}`)
	strategy := call{"", "POST", in("f", "production") + "/strategies", `{"name":"default"}`, 200, anything}
	s.do(t, "GET", project, "", owner)
	i.do = func() { set("2020-12-18T16:00:01Z") }
	s.check(t, strategy, owner)
	set("2020-12-18T15:59:59Z")
	i.do = func() {
		s.must(t, "PUT", features+"/f", `{"description":"another writer"}`)
		set("2020-12-18T16:00:01Z")
	}
	strategy.status, strategy.want = 409, frozenNow
	s.check(t, strategy, owner)
}
