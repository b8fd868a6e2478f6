package admin_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

const (
	reviews      = project + "/environments/production/change-requests/config"
	inProduction = project + "/environments/production"
)

// review switches change requests on in production of the project "default".
func (s *server) review(t *testing.T) {
	t.Helper()
	s.must(t, "PUT", reviews, `{"changeRequestsEnabled":true}`)
}

// owner returns the header of a person who owns the project "default" and has permissions by a custom role.
func (s *server) owner(t *testing.T, permissions string) string {
	t.Helper()
	id, header := s.person(t, access.RoleViewer)
	at := fmt.Sprintf("%s/users/%d/roles/", project, id)
	s.must(t, "POST", at+"4", "")
	if permissions != "" {
		s.must(t, "POST", at+s.roleOf(t, "custom", permissions), "")
	}
	return header
}

// onInProduction creates flags that are on in production.
func (s *server) onInProduction(t *testing.T, names ...string) {
	t.Helper()
	s.create(t, names...)
	for _, name := range names {
		s.must(t, "POST", in(name, "production")+"/strategies", `{"name":"default"}`)
		s.must(t, "POST", in(name, "production")+"/on", "")
	}
}

// skipNeeded is the body of the refusal of a change that needs a change request.
const skipNeeded = `{"...":0,"name":"PermissionError","permissions":["SKIP_CHANGE_REQUEST"]}`

// TestReviewsConfiguration checks who sees and sets where change requests are on.
func TestReviewsConfiguration(t *testing.T) {
	t.Parallel()
	s := serve(t)
	const config = project + "/change-requests/config"
	off := func(name, kind string) string {
		return fmt.Sprintf(`{"environment":%q,"type":%q,"changeRequestEnabled":false,"requiredApprovals":null}`, name, kind)
	}
	production := func(approvals int) string {
		return fmt.Sprintf(`[%s,{"environment":"production","type":"production","changeRequestEnabled":true,"requiredApprovals":%d}]`, off("development", "development"), approvals)
	}
	s.run(t, []call{
		{"off at first", "GET", config, "", 200, "[" + off("development", "development") + "," + off("production", "production") + "]"},
		{"an empty body", "PUT", reviews, `{}`, 400, invalid("/changeRequestsEnabled")},
		{"an unknown project", "GET", "/api/admin/projects/nosuch/change-requests/config", "", 404, notFound(`"nosuch"`)},
		{"an unknown environment", "PUT", project + "/environments/nosuch/change-requests/config", `{"changeRequestsEnabled":false}`, 404, notFound(`"nosuch"`)},
		{"on", "PUT", reviews, `{"changeRequestsEnabled":true}`, 204, ""},
		{"with one approval", "GET", config, "", 200, production(1)},
		{"with three", "PUT", reviews, `{"changeRequestsEnabled":true,"requiredApprovals":3}`, 204, ""},
		{"they are listed", "GET", config, "", 200, production(3)},
		{"the number stays", "PUT", reviews, `{"changeRequestsEnabled":true}`, 204, ""},
		{"it is listed", "GET", config, "", 200, production(3)},
		{"a number that is too large", "PUT", reviews, `{"changeRequestsEnabled":true,"requiredApprovals":99}`, 204, ""},
		{"is the largest", "GET", config, "", 200, production(10)},
		{"as Terraform ends it", "PUT", reviews, `{"changeRequestsEnabled":false,"requiredApprovals":0}`, 204, ""},
		{"off", "GET", config, "", 200, "[" + off("development", "development") + "," + off("production", "production") + "]"},

		{"a floor", "PUT", environments + "/update/production", `{"requiredApprovals":2}`, 200, `{"...":0,"requiredApprovals":2}`},
		{"cannot be switched off", "PUT", reviews, `{"changeRequestsEnabled":false}`, 409, failure("ConflictError", "requires 2 approvals")},
		{"nor be undercut", "PUT", reviews, `{"changeRequestsEnabled":true,"requiredApprovals":1}`, 409, failure("ConflictError", "requires 2 approvals")},
		{"is the default", "PUT", reviews, `{"changeRequestsEnabled":true}`, 204, ""},
		{"is listed", "GET", config, "", 200, production(2)},
		{"is raised", "PUT", environments + "/update/production", `{"requiredApprovals":4}`, 200, `{"...":0,"requiredApprovals":4}`},
		{"holds for every project", "GET", config, "", 200, production(4)},
		{"a new project gets it", "POST", projects, `{"id":"new"}`, 201, `{"...":0,"changeRequestEnvironments":[{"name":"production","requiredApprovals":4}]}`},
		{"a new project cannot undercut it", "POST", projects, `{"id":"less","changeRequestEnvironments":[{"name":"production","requiredApprovals":1}]}`, 409, failure("ConflictError", "requires 4 approvals")},
		{"no floor", "PUT", environments + "/update/production", `{"requiredApprovals":null}`, 200, `{"...":0}`},
		{"too high a floor", "PUT", environments + "/update/production", `{"requiredApprovals":11}`, 400, invalid("/requiredApprovals")},
		{"a new project can have some", "POST", projects, `{"id":"some","changeRequestEnvironments":[{"name":"development","requiredApprovals":2}]}`, 201,
			`{"...":0,"changeRequestEnvironments":[{"name":"development","requiredApprovals":2}]}`},
		{"only where it is", "POST", projects, `{"id":"bad","environments":["development"],"changeRequestEnvironments":[{"name":"production"}]}`, 400, invalid("/changeRequestEnvironments/0/name")},
		{"a new environment can have a floor", "POST", environments, `{"name":"live","type":"production","requiredApprovals":2}`, 201, `{"...":0,"requiredApprovals":2}`},
		{"attaching takes it", "POST", project + "/environments", `{"environment":"live"}`, 200, ""},
		{"so it is on", "PUT", project + "/environments/live/change-requests/config", `{"changeRequestsEnabled":false}`, 409, failure("ConflictError", "requires 2 approvals")},
	})
	t.Run("without UPDATE_PROJECT", func(t *testing.T) {
		id, member := s.person(t, access.RoleViewer)
		s.must(t, "POST", fmt.Sprintf("%s/users/%d/roles/5", project, id), "")
		s.check(t, call{"", "PUT", reviews, `{"changeRequestsEnabled":false}`, 403, `{"...":0,"name":"NoAccessError"}`}, member)
		s.check(t, call{"", "DELETE", inProduction, "", 403, failure("NoAccessError", `UPDATE_PROJECT in project "default"`)}, member)
		s.check(t, call{"", "PUT", environments + "/update/production", `{"requiredApprovals":null}`, 403, `{"...":0,"name":"NoAccessError"}`}, s.owner(t, ""))
	})
}

// A guarding is a way to guard environments.
type guarding struct {
	begin      func(s *server, t *testing.T, environment string)
	permission string // with which callers skip it
	status     int    // of a refusal
	refusal    string // the end of its body
}

// TestGuardedChanges checks for every way to change a flag in a guarded environment that it needs SKIP_CHANGE_REQUEST, for someone who
// owns the project and has every other permission in the service, and that a change elsewhere does not.
func TestGuardedChanges(t *testing.T) {
	t.Parallel()
	testGuardedChanges(t, guarding{func(s *server, t *testing.T, environment string) {
		s.must(t, "PUT", project+"/environments/"+environment+"/change-requests/config", `{"changeRequestsEnabled":true}`)
	}, "SKIP_CHANGE_REQUEST", 403, skipNeeded[9:]})
}

func testGuardedChanges(t *testing.T, by guarding) {
	s := serve(t)
	s.must(t, "POST", projects, `{"id":"other"}`)
	s.onInProduction(t, "on", "parent", "child", "gone", "flag", "bulk")
	s.create(t, "off")
	s.must(t, "POST", features+"/child/dependencies", `{"feature":"parent"}`)
	s.must(t, "DELETE", features+"/gone", "")
	segment := s.segment(t, `{"name":"one","constraints":[]}`)
	strategy := idIn(s.must(t, "POST", in("on", "production")+"/strategies", `{"name":"default","segments":[`+segment+`]}`).body)
	second := idIn(s.must(t, "POST", in("on", "production")+"/strategies", `{"name":"default"}`).body)
	s.must(t, "POST", environments, `{"name":"extra","type":"test"}`)
	s.must(t, "POST", project+"/environments", `{"environment":"extra"}`)
	by.begin(s, t, "extra")
	by.begin(s, t, "production")

	root := s.roleOf(t, "root-custom", "UPDATE_SEGMENT DELETE_SEGMENT CREATE_PROJECT DELETE_ENVIRONMENT CREATE_ENVIRONMENT CREATE_SEGMENT CREATE_FEATURE MOVE_FEATURE_TOGGLE UPDATE_FEATURE DELETE_PROJECT")
	everything := s.personWith(t, root, "")
	skipper := s.personWith(t, root, by.permission)

	strategies := in("on", "production") + "/strategies"
	one := strategies + "/" + strategy
	imported := func(name, environment string, on bool) string {
		return fmt.Sprintf(`{"project":"default","environment":%q,"data":{"features":[{"name":%q,"type":"release"}],"featureStrategies":[{"featureName":%[2]q,"name":"flexibleRollout","parameters":{"rollout":"7"}}],`+
			`"featureEnvironments":[{"featureName":%[2]q,"name":%[2]q,"environment":%[1]q,"enabled":%[3]t}],"contextFields":[],"featureTags":[],"segments":[],"tagTypes":[],"dependencies":[]}}`, environment, name, on)
	}
	guarded := []call{
		{"switch off", "POST", in("on", "production") + "/off", "", 200, ""},
		{"switch on by a default strategy or not", "POST", in("off", "production") + "/strategies", `{"name":"default"}`, 200, ""},
		{"add a strategy", "POST", strategies, `{"name":"default"}`, 200, ""},
		{"add a disabled one", "POST", strategies, `{"name":"default","disabled":true}`, 200, ""},
		{"change a strategy", "PUT", one, `{"name":"default","constraints":[{"contextName":"userId","operator":"IN","values":["1"]}]}`, 200, ""},
		{"patch a strategy", "PATCH", one, `[{"op":"replace","path":"/disabled","value":true}]`, 200, ""},
		{"order strategies", "POST", strategies + "/set-sort-order", `[{"id":"` + second + `","sortOrder":-1}]`, 200, ""},
		{"remove a strategy", "DELETE", one, "", 200, ""},
		{"set segments of a strategy", "POST", "/api/admin/segments/strategies", `{"projectId":"default","strategyId":"` + second + `","environmentId":"production","segmentIds":[` + segment + `]}`, 201, ""},
		{"variants", "PUT", in("on", "production") + "/variants", `[{"name":"a","weight":1000}]`, 200, ""},
		{"patch variants", "PATCH", in("on", "production") + "/variants", `[{"op":"add","path":"/0","value":{"name":"b","weight":1000}}]`, 200, ""},
		{"variants of several", "PUT", features + "/on/variants-batch", `{"environments":["development","production"],"variants":[{"name":"c","weight":1000}]}`, 200, ""},
		{"variants of all", "PUT", features + "/on/variants", `[{"name":"d","weight":1000}]`, 200, ""},
		{"archive", "DELETE", features + "/flag", "", 202, ""},
		{"archive many", "POST", project + "/archive", `{"features":["bulk"]}`, 202, ""},
		{"add a dependency", "POST", features + "/on/dependencies", `{"feature":"parent"}`, 200, ""},
		{"end a dependency", "DELETE", features + "/child/dependencies/parent", "", 200, ""},
		{"end all", "DELETE", features + "/child/dependencies", "", 200, ""},
		{"move", "POST", features + "/off/changeProject", `{"newProjectId":"other"}`, 200, ""},
		{"move here", "POST", projects + "/other/features/off/changeProject", `{"newProjectId":"default"}`, 200, ""},
		{"the segment", "PUT", allSegments + "/" + segment, `{"name":"one","constraints":[{"contextName":"userId","operator":"IN","values":["1"]}]}`, 204, ""},
		{"the owner of the segment", "PUT", allSegments + "/" + segment, `{"name":"one","project":"default","constraints":[{"contextName":"userId","operator":"IN","values":["1"]}]}`, 204, ""},
		{"import a flag that is on", "POST", importData, imported("new", "production", true), 200, ""},
		{"import over a flag", "POST", importData, imported("parent", "production", true), 200, ""},
		{"detach", "DELETE", inProduction, "", 200, ""},
		{"attach again", "POST", project + "/environments", `{"environment":"production"}`, 200, ""},
		{"delete the environment", "DELETE", environments + "/extra", "", 200, ""},
	}
	before := s.state(t)
	for _, c := range guarded {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "move here" || c.name == "attach again" {
				return // below: they need the change before them
			}
			refused := c
			refused.status, refused.want = by.status, `{"...":0,`+by.refusal
			switch c.path {
			case importData:
				refused.status, refused.want = 200, `{"...":0,"skipped":1}`
			case project + "/archive":
				refused.want = `{"...":0,"details":[{"...":0}],` + by.refusal
			}
			s.check(t, refused, everything)
		})
	}
	if after := s.state(t); after != before {
		t.Errorf("refused changes changed what applications see from\n%s to\n%s", before, after)
	}
	free := []call{
		{"development", "POST", in("off", "development") + "/strategies", `{"name":"default"}`, 200, ""},
		{"metadata", "PUT", features + "/on", `{"type":"experiment","stale":true,"description":"words"}`, 200, ""},
		{"a title", "PATCH", one, `[{"op":"replace","path":"/title","value":"Some"}]`, 200, ""},
		{"tags", "POST", "/api/admin/features/on/tags", `{"type":"simple","value":"tag"}`, 201, ""},
		{"create", "POST", features, `{"name":"fresh"}`, 201, ""},
		{"clone", "POST", features + "/on/clone", `{"name":"copy"}`, 201, ""},
		{"revive", "POST", "/api/admin/archive/revive/gone", "", 200, ""},
		{"import a flag that is off", "POST", importData, imported("unborn", "production", false), 200, ""},
		{"import to development", "POST", importData, imported("parent", "development", true), 200, ""},
		{"an unused segment", "POST", allSegments, `{"name":"two","constraints":[]}`, 201, ""},
		{"nothing", "POST", in("off", "production") + "/off", "", 200, ""},
	}
	for _, c := range free {
		t.Run("free: "+c.name, func(t *testing.T) { s.status(t, c, everything) })
	}
	t.Run("the validation of an import", func(t *testing.T) {
		s.check(t, call{"", "POST", validateImport, imported("new", "production", true), 200, `{"...":0,"errors":[],"warnings":[],"permissions":[{"...":0,"affectedItems":["` + by.permission + `"]}]}`}, everything)
	})
	for _, c := range guarded {
		t.Run("skipped: "+c.name, func(t *testing.T) {
			if c.name == "delete the environment" { // it must be enabled nowhere
				s.must(t, "POST", environments+"/extra/off", "")
			}
			s.status(t, c, skipper)
		})
	}
	var log struct {
		Events []struct {
			Type    string
			Skipped []string `json:"skippedChangeRequests"`
			Data    json.RawMessage
		}
	}
	decodeInto(t, s.must(t, "GET", "/api/admin/events/on?limit=100", "").body, &log)
	for i, e := range log.Events { // the newest first, so an event beside another is before it
		if e.Type != string(flags.FeatureVariantsUpdated) {
			continue
		}
		beside := log.Events[max(i-1, 0)]
		inFreeze := beside.Type == string(flags.FreezeSkipped) && string(beside.Data) == `{"environments":["production"]}`
		if strings.Join(e.Skipped, ",") != "production" && !inFreeze {
			t.Errorf("neither event %+v nor %+v beside it says what was skipped", e, beside)
		}
	}
}

// status checks the status of the response to a call.
func (s *server) status(t *testing.T, c call, headers ...string) {
	t.Helper()
	if got := s.do(t, c.method, c.path, c.body, headers...); got.status != c.status {
		t.Errorf("%s: %s %s %s: %d %.500s, want %d", c.name, c.method, c.path, c.body, got.status, got.body, c.status)
	}
}

// personWith returns the header of a person with a root role who owns both projects and has permissions there.
func (s *server) personWith(t *testing.T, root, permissions string) string {
	t.Helper()
	var role int64
	if _, err := fmt.Sscan(root, &role); err != nil {
		t.Fatal(err)
	}
	id, header := s.person(t, role)
	for _, in := range []string{"default", "other"} {
		if s.do(t, "GET", projects+"/"+in, "").status == 404 {
			continue
		}
		at := fmt.Sprintf("%s/%s/users/%d/roles/", projects, in, id)
		s.must(t, "POST", at+"4", "")
		if permissions != "" {
			s.must(t, "POST", at+s.roleOf(t, "custom", permissions), "")
		}
	}
	return header
}

// state is everything that is stored of the active flags of the project "default", and of segments.
func (s *server) state(t *testing.T) string {
	t.Helper()
	var list struct{ Features []struct{ Name string } }
	decodeInto(t, s.must(t, "GET", features, "").body, &list)
	all := s.must(t, "GET", allSegments, "").body
	for _, f := range list.Features {
		all += "\n" + s.must(t, "GET", features+"/"+f.Name, "").body
	}
	return all
}

func decodeInto(t *testing.T, body string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), into); err != nil {
		t.Fatal(err)
	}
}

// TestNobodySkips checks that administrators need a reason where nobody skips, and that the reason is in the log.
func TestNobodySkips(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.onInProduction(t, "f")
	s.review(t)
	s.must(t, "PUT", environments+"/update/production", `{"nobodySkips":true}`)
	off := call{"", "POST", in("f", "production") + "/off", "", 403, skipNeeded}
	s.check(t, off)
	s.check(t, off, "Break-Glass:  ")
	s.check(t, off, s.owner(t, "SKIP_CHANGE_REQUEST"), "Break-Glass: it burns")
	off.status = 200
	s.status(t, off, "Break-Glass: it burns")
	s.run(t, []call{{"the reason", "GET", "/api/admin/events/f?limit=2", "", 200, `{"...":0,"events":[` +
		`{"...":0,"type":"change-request-glass-broken","data":{"reason":"it burns","environments":["production"]},"environment":"production","skippedChangeRequests":["production"]},` +
		`{"...":0,"type":"feature-environment-disabled","skippedChangeRequests":["production"]}]}`}})
	for _, reason := range []string{"es br\xe4nnt", strings.Repeat("a", 499) + "ä and more"} { // Latin-1, and a cut inside a character
		s.status(t, call{reason, "POST", in("f", "production") + "/on", "", 200, ""}, "Break-Glass: "+reason)
		s.status(t, off, "Break-Glass: "+reason)
	}
}

// TestSwitchingOffAllowed checks that a flag can be switched off without a change request where the environment allows that, and that
// nothing else can.
func TestSwitchingOffAllowed(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.onInProduction(t, "f", "g")
	s.review(t)
	s.must(t, "PUT", environments+"/update/production", `{"offAllowed":true}`)
	owner := s.owner(t, "")
	id := idIn(s.must(t, "POST", in("g", "production")+"/strategies", `{"name":"default","disabled":true}`).body)
	s.status(t, call{"off", "POST", in("f", "production") + "/off", "", 200, ""}, owner)
	s.check(t, call{"on", "POST", in("f", "production") + "/on", "", 403, skipNeeded}, owner)
	s.check(t, call{"a strategy", "DELETE", in("g", "production") + "/strategies/" + id, "", 403, skipNeeded}, owner)
}

// TestOnlyAdministratorsGrantSkipping checks that nobody else can give a role with a permission about change requests.
func TestOnlyAdministratorsGrantSkipping(t *testing.T) {
	t.Parallel()
	s := serve(t)
	guest, _ := s.person(t, access.RoleViewer)
	for _, permission := range []string{"SKIP_CHANGE_REQUEST", "APPROVE_CHANGE_REQUEST", "APPLY_CHANGE_REQUEST", "SKIP_CHANGE_REQUEST@production"} {
		role := s.roleOf(t, "custom", permission)
		at := fmt.Sprintf("%s/users/%d/roles/%s", project, guest, role)
		for name, header := range map[string]string{"an owner": s.owner(t, ""), "an owner who has it": s.owner(t, permission)} {
			s.check(t, call{name, "POST", at, "", 403, failure("NoAccessError", "only administrators")}, header)
			s.check(t, call{name, "PUT", project + "/access", fmt.Sprintf(`{"roles":[{"id":%s,"users":[%d]}]}`, role, guest), 403, failure("NoAccessError", "only administrators")}, header)
		}
		s.must(t, "POST", at, "")
	}
}

// A interruption is a transport that does something once between the decision about a change and its transaction.
type interruption struct {
	mu sync.Mutex
	do func()
}

func (i *interruption) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".TransactWriteItems") {
		i.mu.Lock()
		do := i.do
		i.do = nil
		i.mu.Unlock()
		if do != nil {
			do()
		}
	}
	return http.DefaultTransport.RoundTrip(r)
}

// TestReviewsSwitchedOnMeanwhile checks that no change without a change request is committed once change requests are on, even if it
// was decided before.
func TestReviewsSwitchedOnMeanwhile(t *testing.T) {
	t.Parallel()
	i := &interruption{}
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = i })
	s.must(t, "POST", projects, `{"id":"other"}`)
	root := s.roleOf(t, "root-custom", "UPDATE_SEGMENT DELETE_SEGMENT DELETE_ENVIRONMENT CREATE_FEATURE MOVE_FEATURE_TOGGLE")
	owner := s.personWith(t, root, "")
	s.onInProduction(t, "f", "parent", "moves", "many")
	s.create(t, "off")
	segment := s.segment(t, `{"name":"one","constraints":[]}`)
	const switchedOn = `{"changeRequestsEnabled":true}`
	strategy := in("f", "production") + "/strategies"
	s.must(t, "POST", strategy, `{"name":"default","segments":[`+segment+`]}`)
	s.must(t, "POST", environments, `{"name":"extra","type":"test"}`)
	s.must(t, "POST", project+"/environments", `{"environment":"extra"}`)
	for _, c := range []call{
		{"switch off", "POST", in("f", "production") + "/off", "", 403, skipNeeded},
		{"add a strategy", "POST", strategy, `{"name":"default"}`, 403, skipNeeded},
		{"variants", "PUT", in("f", "production") + "/variants", `[{"name":"a","weight":1000}]`, 403, skipNeeded},
		{"depend", "POST", features + "/f/dependencies", `{"feature":"parent"}`, 403, skipNeeded},
		{"archive", "DELETE", features + "/f", "", 403, skipNeeded},
		{"archive many", "POST", project + "/archive", `{"features":["many"]}`, 403, `{"...":0,"name":"PermissionError"}`},
		{"move", "POST", features + "/moves/changeProject", `{"newProjectId":"other"}`, 403, skipNeeded},
		{"the segment", "PUT", allSegments + "/" + segment, `{"name":"one","constraints":[{"contextName":"userId","operator":"IN","values":["1"]}]}`, 403, skipNeeded},
		{"detach", "DELETE", inProduction, "", 403, skipNeeded},
		{"delete the environment", "DELETE", environments + "/extra", "", 403, skipNeeded},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.do(t, "GET", project, "", owner) // stores the use of the token
			before := s.state(t)
			i.do = func() {
				s.review(t)
				s.must(t, "PUT", project+"/environments/extra/change-requests/config", switchedOn)
			}
			s.check(t, c, owner)
			if i.do != nil {
				t.Error("no change was interrupted")
			}
			if after := s.state(t); after != before {
				t.Errorf("the state changed from\n%s to\n%s", before, after)
			}
			s.must(t, "PUT", reviews, `{"changeRequestsEnabled":false}`)
			s.must(t, "PUT", project+"/environments/extra/change-requests/config", `{"changeRequestsEnabled":false}`)
		})
	}
	t.Run("nobody skips", func(t *testing.T) {
		s.review(t)
		i.do = func() { s.must(t, "PUT", environments+"/update/production", `{"nobodySkips":true}`) }
		s.check(t, call{"", "POST", in("f", "production") + "/off", "", 403, skipNeeded})
	})
}

// TestSegmentTakenMeanwhile checks that a segment does not change for a flag that begins to use it in a guarded environment after the
// uses were listed.
func TestSegmentTakenMeanwhile(t *testing.T) {
	t.Parallel()
	i := &interruption{}
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = i })
	s.onInProduction(t, "f")
	editor := s.personWith(t, s.roleOf(t, "root-custom", "UPDATE_SEGMENT"), "")
	segment := s.segment(t, `{"name":"one","constraints":[]}`)
	s.review(t)
	s.do(t, "GET", project, "", editor)
	i.do = func() {
		s.must(t, "POST", in("f", "production")+"/strategies", `{"name":"default","segments":[`+segment+`]}`)
	}
	s.check(t, call{"", "PUT", allSegments + "/" + segment, `{"name":"one","constraints":[{"contextName":"userId","operator":"IN","values":["1"]}]}`, 403, skipNeeded}, editor)
}

// unguarded reports whether a write changes what applications see, but no guarded part, although it is none of the free changes: metadata,
// tags, and what is new and off. Every operation of every test is checked with it (see sameTwice).
func unguarded(w flags.Write) bool {
	_, newToken := w.After.(*access.Token)
	_, oldToken := w.Before.(*access.Token)
	if newToken || oldToken { // which flags there are does not change
		return false
	}
	_, guarded := w.SegmentGuarded()
	if guarded || len(w.Guarded())+len(w.RemovedEnvironments()) > 0 || !w.ChangesServed() {
		return false
	}
	switch after := w.After.(type) {
	case *flags.Feature:
		before, _ := w.Before.(*flags.Feature)
		if before == nil || before.Archived {
			for _, fe := range after.Environments {
				if fe.EnabledIn != "" {
					return true
				}
			}
			return false
		}
		after = after.Clone()
		after.Metadata, after.Tags = before.Metadata, before.Tags
		w.After = after
	case *flags.Segment:
		before, _ := w.Before.(*flags.Segment)
		if before == nil {
			return false
		}
		after = after.Clone()
		after.Name = before.Name
		w.After = after
	case *flags.Project:
		return w.Before != nil
	case *flags.Environments:
		before, _ := w.Before.(*flags.Environments)
		return before == nil || len(after.List) <= len(before.List) // adding one is free
	}
	return w.ChangesServed()
}

// TestWaysAroundAGuardedEnvironment tries to get rid of the guard with the rights of an owner.
func TestWaysAroundAGuardedEnvironment(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.must(t, "POST", projects, `{"id":"other"}`)
	s.onInProduction(t, "f")
	s.must(t, "PUT", environments+"/update/production", `{"requiredApprovals":1}`)
	s.review(t)
	owner := s.personWith(t, fmt.Sprint(access.RoleEditor), "")
	s.check(t, call{"switch it off", "PUT", reviews, `{"changeRequestsEnabled":false,"requiredApprovals":0}`, 409, failure("ConflictError", "requires 1 approval")}, owner)
	s.check(t, call{"lower the floor", "PUT", environments + "/update/production", `{"requiredApprovals":null,"offAllowed":true}`, 403, `{"...":0,"name":"NoAccessError"}`}, owner)
	s.must(t, "DELETE", inProduction, "")
	s.check(t, call{"attach it again", "POST", project + "/environments", `{"environment":"production"}`, 403, skipNeeded}, owner)
	s.must(t, "POST", project+"/environments", `{"environment":"production"}`)
	s.check(t, call{"the rule stays", "POST", in("f", "production") + "/on", "", 403, skipNeeded}, owner)
	s.must(t, "PUT", projects+"/other/environments/production/change-requests/config", `{"changeRequestsEnabled":true}`)
	s.check(t, call{"delete the project", "DELETE", projects + "/other", "", 403, skipNeeded}, owner)
	s.check(t, call{"move a flag there", "POST", features + "/f/changeProject", `{"newProjectId":"other"}`, 403, skipNeeded}, owner)
	s.check(t, call{"the header without being an administrator", "POST", in("f", "production") + "/on", "", 403, skipNeeded}, owner, "Break-Glass: please")
	s.check(t, call{"another role", "POST", roles, `{"name":"Mine","type":"custom","permissions":[{"name":"SKIP_CHANGE_REQUEST"}]}`, 403, `{"...":0,"name":"NoAccessError"}`}, owner)
	s.check(t, call{"an own project is guarded too", "POST", projects, `{"id":"mine"}`, 201, `{"...":0,"changeRequestEnvironments":[{"name":"production","requiredApprovals":1}]}`}, owner)
}
