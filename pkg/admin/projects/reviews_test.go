package projects_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"guidon/pkg/access"
	"guidon/pkg/apitest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// skipNeeded is the body of the refusal of a change that needs a change request.
const skipNeeded = `{"...":0,"name":"PermissionError","permissions":["SKIP_CHANGE_REQUEST"]}`

// TestReviewsConfiguration checks who sees and sets where change requests are on.
func TestReviewsConfiguration(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	const config = apitest.Project + "/change-requests/config"
	off := func(name, kind string) string {
		return fmt.Sprintf(`{"environment":%q,"type":%q,"changeRequestEnabled":false,"requiredApprovals":null}`, name, kind)
	}
	production := func(approvals int) string {
		return fmt.Sprintf(`[%s,{"environment":"production","type":"production","changeRequestEnabled":true,"requiredApprovals":%d}]`, off("development", "development"), approvals)
	}
	s.Run(t, []apitest.Call{
		{"off at first", "GET", config, "", 200, "[" + off("development", "development") + "," + off("production", "production") + "]"},
		{"an empty body", "PUT", apitest.ReviewConfig, `{}`, 400, apitest.Invalid("/changeRequestsEnabled")},
		{"on", "PUT", apitest.ReviewConfig, `{"changeRequestsEnabled":true}`, 204, ""},
		{"with one approval", "GET", config, "", 200, production(1)},
		{"with three", "PUT", apitest.ReviewConfig, `{"changeRequestsEnabled":true,"requiredApprovals":3}`, 204, ""},
		{"they are listed", "GET", config, "", 200, production(3)},
		{"the number stays", "PUT", apitest.ReviewConfig, `{"changeRequestsEnabled":true}`, 204, ""},
		{"it is listed", "GET", config, "", 200, production(3)},
		{"a number that is too large", "PUT", apitest.ReviewConfig, `{"changeRequestsEnabled":true,"requiredApprovals":99}`, 204, ""},
		{"is the largest", "GET", config, "", 200, production(10)},
		{"as Terraform ends it", "PUT", apitest.ReviewConfig, `{"changeRequestsEnabled":false,"requiredApprovals":0}`, 204, ""},
		{"off", "GET", config, "", 200, "[" + off("development", "development") + "," + off("production", "production") + "]"},

		{"a floor", "PUT", apitest.Environments + "/update/production", `{"requiredApprovals":2}`, 200, `{"...":0,"requiredApprovals":2}`},
		{"cannot be switched off", "PUT", apitest.ReviewConfig, `{"changeRequestsEnabled":false}`, 409, apitest.Failure("ConflictError", "requires 2 approvals")},
		{"nor be undercut", "PUT", apitest.ReviewConfig, `{"changeRequestsEnabled":true,"requiredApprovals":1}`, 409, apitest.Failure("ConflictError", "requires 2 approvals")},
		{"is the default", "PUT", apitest.ReviewConfig, `{"changeRequestsEnabled":true}`, 204, ""},
		{"is listed", "GET", config, "", 200, production(2)},
		{"is raised", "PUT", apitest.Environments + "/update/production", `{"requiredApprovals":4}`, 200, `{"...":0,"requiredApprovals":4}`},
		{"holds for every project", "GET", config, "", 200, production(4)},
		{"a new project gets it", "POST", apitest.Projects, `{"id":"new"}`, 201, `{"...":0,"changeRequestEnvironments":[{"name":"production","requiredApprovals":4}]}`},
		{"a new project cannot undercut it", "POST", apitest.Projects, `{"id":"less","changeRequestEnvironments":[{"name":"production","requiredApprovals":1}]}`, 409, apitest.Failure("ConflictError", "requires 4 approvals")},
		{"no floor", "PUT", apitest.Environments + "/update/production", `{"requiredApprovals":null}`, 200, `{"...":0}`},
		{"too high a floor", "PUT", apitest.Environments + "/update/production", `{"requiredApprovals":11}`, 400, apitest.Invalid("/requiredApprovals")},
		{"a new project can have some", "POST", apitest.Projects, `{"id":"some","changeRequestEnvironments":[{"name":"development","requiredApprovals":2}]}`, 201,
			`{"...":0,"changeRequestEnvironments":[{"name":"development","requiredApprovals":2}]}`},
		{"only where it is", "POST", apitest.Projects, `{"id":"bad","environments":["development"],"changeRequestEnvironments":[{"name":"production"}]}`, 400, apitest.Invalid("/changeRequestEnvironments/0/name")},
		{"a new environment can have a floor", "POST", apitest.Environments, `{"name":"live","type":"production","requiredApprovals":2}`, 201, `{"...":0,"requiredApprovals":2}`},
		{"attaching takes it", "POST", apitest.Project + "/environments", `{"environment":"live"}`, 200, ""},
		{"so it is on", "PUT", apitest.Project + "/environments/live/change-requests/config", `{"changeRequestsEnabled":false}`, 409, apitest.Failure("ConflictError", "requires 2 approvals")},
	})
	t.Run("without UPDATE_PROJECT", func(t *testing.T) {
		id, member := s.Person(t, access.RoleViewer)
		s.Must(t, "POST", fmt.Sprintf("%s/users/%d/roles/5", apitest.Project, id), "")
		s.Check(t, apitest.Call{"", "PUT", apitest.ReviewConfig, `{"changeRequestsEnabled":false}`, 403, `{"...":0,"name":"NoAccessError"}`}, member)
		s.Check(t, apitest.Call{"", "DELETE", apitest.InProduction, "", 403, apitest.Failure("NoAccessError", `UPDATE_PROJECT in project "default"`)}, member)
		s.Check(t, apitest.Call{"", "PUT", apitest.Environments + "/update/production", `{"requiredApprovals":null}`, 403, `{"...":0,"name":"NoAccessError"}`}, s.Owner(t, ""))
	})
}

// A guarding is a way to guard environments.
type guarding struct {
	begin      func(t *testing.T, s *apitest.Server, environment string)
	permission string // with which callers skip it
	status     int    // of a refusal
	refusal    string // the end of its body
}

// TestGuardedChanges checks for every way to change a flag in a guarded environment that it needs SKIP_CHANGE_REQUEST, for someone who
// owns the project and has every other permission in the service, and that a change elsewhere does not.
func TestGuardedChanges(t *testing.T) {
	t.Parallel()
	testGuardedChanges(t, guarding{func(t *testing.T, s *apitest.Server, environment string) {
		s.Must(t, "PUT", apitest.Project+"/environments/"+environment+"/change-requests/config", `{"changeRequestsEnabled":true}`)
	}, "SKIP_CHANGE_REQUEST", 403, skipNeeded[9:]})
}

func testGuardedChanges(t *testing.T, by guarding) {
	s := apitest.Serve(t)
	s.Must(t, "POST", apitest.Projects, `{"id":"other"}`)
	s.OnInProduction(t, "on", "parent", "child", "gone", "flag", "bulk")
	s.Create(t, "off")
	s.Must(t, "POST", apitest.Features+"/child/dependencies", `{"feature":"parent"}`)
	s.Must(t, "DELETE", apitest.Features+"/gone", "")
	segment := s.AddSegment(t, `{"name":"one","constraints":[]}`)
	strategy := apitest.IDIn(s.Must(t, "POST", apitest.In("on", "production")+"/strategies", `{"name":"default","segments":[`+segment+`]}`).Body)
	second := apitest.IDIn(s.Must(t, "POST", apitest.In("on", "production")+"/strategies", `{"name":"default"}`).Body)
	s.Must(t, "POST", apitest.Environments, `{"name":"extra","type":"test"}`)
	s.Must(t, "POST", apitest.Project+"/environments", `{"environment":"extra"}`)
	by.begin(t, s, "extra")
	by.begin(t, s, "production")

	root := s.RoleOf(t, "root-custom", "UPDATE_SEGMENT DELETE_SEGMENT CREATE_PROJECT DELETE_ENVIRONMENT CREATE_ENVIRONMENT CREATE_SEGMENT CREATE_FEATURE MOVE_FEATURE_TOGGLE UPDATE_FEATURE DELETE_PROJECT")
	everything := s.PersonWith(t, root, "")
	skipper := s.PersonWith(t, root, by.permission)

	strategies := apitest.In("on", "production") + "/strategies"
	one := strategies + "/" + strategy
	imported := func(name, environment string, on bool) string {
		return fmt.Sprintf(`{"project":"default","environment":%q,"data":{"features":[{"name":%q,"type":"release"}],"featureStrategies":[{"featureName":%[2]q,"name":"flexibleRollout","parameters":{"rollout":"7"}}],`+
			`"featureEnvironments":[{"featureName":%[2]q,"name":%[2]q,"environment":%[1]q,"enabled":%[3]t}],"contextFields":[],"featureTags":[],"segments":[],"tagTypes":[],"dependencies":[]}}`, environment, name, on)
	}
	guarded := []apitest.Call{
		{"switch off", "POST", apitest.In("on", "production") + "/off", "", 200, ""},
		{"switch on by a default strategy or not", "POST", apitest.In("off", "production") + "/strategies", `{"name":"default"}`, 200, ""},
		{"add a strategy", "POST", strategies, `{"name":"default"}`, 200, ""},
		{"add a disabled one", "POST", strategies, `{"name":"default","disabled":true}`, 200, ""},
		{"change a strategy", "PUT", one, `{"name":"default","constraints":[{"contextName":"userId","operator":"IN","values":["1"]}]}`, 200, ""},
		{"patch a strategy", "PATCH", one, `[{"op":"replace","path":"/disabled","value":true}]`, 200, ""},
		{"order strategies", "POST", strategies + "/set-sort-order", `[{"id":"` + second + `","sortOrder":-1}]`, 200, ""},
		{"remove a strategy", "DELETE", one, "", 200, ""},
		{"set segments of a strategy", "POST", "/api/admin/segments/strategies", `{"projectId":"default","strategyId":"` + second + `","environmentId":"production","segmentIds":[` + segment + `]}`, 201, ""},
		{"variants", "PUT", apitest.In("on", "production") + "/variants", `[{"name":"a","weight":1000}]`, 200, ""},
		{"patch variants", "PATCH", apitest.In("on", "production") + "/variants", `[{"op":"add","path":"/0","value":{"name":"b","weight":1000}}]`, 200, ""},
		{"variants of several", "PUT", apitest.Features + "/on/variants-batch", `{"environments":["development","production"],"variants":[{"name":"c","weight":1000}]}`, 200, ""},
		{"variants of all", "PUT", apitest.Features + "/on/variants", `[{"name":"d","weight":1000}]`, 200, ""},
		{"archive", "DELETE", apitest.Features + "/flag", "", 202, ""},
		{"archive many", "POST", apitest.Project + "/archive", `{"features":["bulk"]}`, 202, ""},
		{"add a dependency", "POST", apitest.Features + "/on/dependencies", `{"feature":"parent"}`, 200, ""},
		{"end a dependency", "DELETE", apitest.Features + "/child/dependencies/parent", "", 200, ""},
		{"end all", "DELETE", apitest.Features + "/child/dependencies", "", 200, ""},
		{"move", "POST", apitest.Features + "/off/changeProject", `{"newProjectId":"other"}`, 200, ""},
		{"move here", "POST", apitest.Projects + "/other/features/off/changeProject", `{"newProjectId":"default"}`, 200, ""},
		{"the segment", "PUT", apitest.Segments + "/" + segment, `{"name":"one","constraints":[{"contextName":"userId","operator":"IN","values":["1"]}]}`, 204, ""},
		{"the owner of the segment", "PUT", apitest.Segments + "/" + segment, `{"name":"one","project":"default","constraints":[{"contextName":"userId","operator":"IN","values":["1"]}]}`, 204, ""},
		{"import a flag that is on", "POST", apitest.Import, imported("new", "production", true), 200, ""},
		{"import over a flag", "POST", apitest.Import, imported("parent", "production", true), 200, ""},
		{"detach", "DELETE", apitest.InProduction, "", 200, ""},
		{"attach again", "POST", apitest.Project + "/environments", `{"environment":"production"}`, 200, ""},
		{"delete the environment", "DELETE", apitest.Environments + "/extra", "", 200, ""},
	}
	before := state(t, s)
	for _, c := range guarded {
		t.Run(c.Name, func(t *testing.T) {
			if c.Name == "move here" || c.Name == "attach again" {
				return // below: they need the change before them
			}
			refused := c
			refused.Status, refused.Want = by.status, `{"...":0,`+by.refusal
			switch c.Path {
			case apitest.Import:
				refused.Status, refused.Want = 200, `{"...":0,"skipped":1}`
			case apitest.Project + "/archive":
				refused.Want = `{"...":0,"details":[{"...":0}],` + by.refusal
			}
			s.Check(t, refused, everything)
		})
	}
	if after := state(t, s); after != before {
		t.Errorf("refused changes changed what applications see from\n%s to\n%s", before, after)
	}
	free := []apitest.Call{
		{"development", "POST", apitest.In("off", "development") + "/strategies", `{"name":"default"}`, 200, ""},
		{"metadata", "PUT", apitest.Features + "/on", `{"type":"experiment","stale":true,"description":"words"}`, 200, ""},
		{"a title", "PATCH", one, `[{"op":"replace","path":"/title","value":"Some"}]`, 200, ""},
		{"tags", "POST", "/api/admin/features/on/tags", `{"type":"simple","value":"tag"}`, 201, ""},
		{"create", "POST", apitest.Features, `{"name":"fresh"}`, 201, ""},
		{"clone", "POST", apitest.Features + "/on/clone", `{"name":"copy"}`, 201, ""},
		{"revive", "POST", "/api/admin/archive/revive/gone", "", 200, ""},
		{"import a flag that is off", "POST", apitest.Import, imported("unborn", "production", false), 200, ""},
		{"import to development", "POST", apitest.Import, imported("parent", "development", true), 200, ""},
		{"an unused segment", "POST", apitest.Segments, `{"name":"two","constraints":[]}`, 201, ""},
		{"nothing", "POST", apitest.In("off", "production") + "/off", "", 200, ""},
	}
	for _, c := range free {
		t.Run("free: "+c.Name, func(t *testing.T) { status(t, s, c, everything) })
	}
	t.Run("the validation of an import", func(t *testing.T) {
		s.Check(t, apitest.Call{"", "POST", apitest.ValidateImport, imported("new", "production", true), 200, `{"...":0,"errors":[],"warnings":[],"permissions":[{"...":0,"affectedItems":["` + by.permission + `"]}]}`}, everything)
	})
	for _, c := range guarded {
		t.Run("skipped: "+c.Name, func(t *testing.T) {
			if c.Name == "delete the environment" { // it must be enabled nowhere
				s.Must(t, "POST", apitest.Environments+"/extra/off", "")
			}
			status(t, s, c, skipper)
		})
	}
	var log struct {
		Events []struct {
			Type    string
			Skipped []string `json:"skippedChangeRequests"`
			Data    json.RawMessage
		}
	}
	apitest.DecodeInto(t, s.Must(t, "GET", "/api/admin/events/on?limit=100", "").Body, &log)
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
func status(t *testing.T, s *apitest.Server, c apitest.Call, headers ...string) {
	t.Helper()
	if got := s.Do(t, c.Method, c.Path, c.Body, headers...); got.Status != c.Status {
		t.Errorf("%s: %s %s %s: %d %.500s, want %d", c.Name, c.Method, c.Path, c.Body, got.Status, got.Body, c.Status)
	}
}

// state is everything that is stored of the active flags of the project "default", and of segments.
func state(t *testing.T, s *apitest.Server) string {
	t.Helper()
	list := apitest.Decode[struct{ Features []struct{ Name string } }](t, s.Must(t, "GET", apitest.Features, "").Body)
	all := s.Must(t, "GET", apitest.Segments, "").Body
	for _, f := range list.Features {
		all += "\n" + s.Must(t, "GET", apitest.Features+"/"+f.Name, "").Body
	}
	return all
}

// TestNobodySkips checks that administrators need a reason where nobody skips, and that the reason is in the log.
func TestNobodySkips(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.OnInProduction(t, "f")
	s.Review(t)
	s.Must(t, "PUT", apitest.Environments+"/update/production", `{"nobodySkips":true}`)
	off := apitest.Call{"", "POST", apitest.In("f", "production") + "/off", "", 403, skipNeeded}
	s.Check(t, off)
	s.Check(t, off, "Break-Glass:  ")
	s.Check(t, off, s.Owner(t, "SKIP_CHANGE_REQUEST"), "Break-Glass: it burns")
	off.Status = 200
	status(t, s, off, "Break-Glass: it burns", "Break-Glass: badly") // as a text with a comma arrives in Lambda
	s.Run(t, []apitest.Call{{"the reason", "GET", "/api/admin/events/f?limit=2", "", 200, `{"...":0,"events":[` +
		`{"...":0,"type":"change-request-glass-broken","data":{"reason":"it burns, badly","environments":["production"]},"environment":"production","skippedChangeRequests":["production"]},` +
		`{"...":0,"type":"feature-environment-disabled","skippedChangeRequests":["production"]}]}`}})
	for _, reason := range []string{"es br\xe4nnt", strings.Repeat("a", 499) + "ä and more"} { // Latin-1, and a cut inside a character
		status(t, s, apitest.Call{reason, "POST", apitest.In("f", "production") + "/on", "", 200, ""}, "Break-Glass: "+reason)
		status(t, s, off, "Break-Glass: "+reason)
	}
}

// TestSwitchingOffAllowed checks that a flag can be switched off without a change request where the environment allows that, and that
// nothing else can.
func TestSwitchingOffAllowed(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.OnInProduction(t, "f", "g")
	s.Review(t)
	s.Must(t, "PUT", apitest.Environments+"/update/production", `{"offAllowed":true}`)
	owner := s.Owner(t, "")
	id := apitest.IDIn(s.Must(t, "POST", apitest.In("g", "production")+"/strategies", `{"name":"default","disabled":true}`).Body)
	s.Check(t, apitest.Call{"the configuration", "GET", apitest.Project + "/change-requests/config", "", 200,
		`[{"...":0,"environment":"development","changeRequestEnabled":false},{"...":0,"environment":"production","changeRequestEnabled":true,"offAllowed":true}]`}, owner)
	status(t, s, apitest.Call{"off", "POST", apitest.In("f", "production") + "/off", "", 200, ""}, owner)
	s.Check(t, apitest.Call{"the event", "GET", "/api/admin/events/f?limit=1", "", 200,
		`{"...":0,"events":[{"...":0,"type":"feature-environment-disabled","skippedChangeRequests":["production"]}]}`}, owner)
	s.Check(t, apitest.Call{"on", "POST", apitest.In("f", "production") + "/on", "", 403, skipNeeded}, owner)
	s.Check(t, apitest.Call{"a strategy", "DELETE", apitest.In("g", "production") + "/strategies/" + id, "", 403, skipNeeded}, owner)
}

// TestOnlyAdministratorsGrantSkipping checks that nobody else can give a role with a permission about change requests.
func TestOnlyAdministratorsGrantSkipping(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	guest, _ := s.Person(t, access.RoleViewer)
	for _, permission := range []string{"SKIP_CHANGE_REQUEST", "APPROVE_CHANGE_REQUEST", "APPLY_CHANGE_REQUEST", "SKIP_CHANGE_REQUEST@production"} {
		role := s.RoleOf(t, "custom", permission)
		at := fmt.Sprintf("%s/users/%d/roles/%s", apitest.Project, guest, role)
		for name, header := range map[string]string{"an owner": s.Owner(t, ""), "an owner who has it": s.Owner(t, permission)} {
			s.Check(t, apitest.Call{name, "POST", at, "", 403, apitest.Failure("NoAccessError", "only administrators")}, header)
			s.Check(t, apitest.Call{name, "PUT", apitest.Project + "/access", fmt.Sprintf(`{"roles":[{"id":%s,"users":[%d]}]}`, role, guest), 403, apitest.Failure("NoAccessError", "only administrators")}, header)
		}
		s.Must(t, "POST", at, "")
	}
}

// TestReviewsSwitchedOnMeanwhile checks that no change without a change request is committed once change requests are on, even if it
// was decided before.
func TestReviewsSwitchedOnMeanwhile(t *testing.T) {
	t.Parallel()
	i := &apitest.Interruption{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = i })
	s.Must(t, "POST", apitest.Projects, `{"id":"other"}`)
	root := s.RoleOf(t, "root-custom", "UPDATE_SEGMENT DELETE_SEGMENT DELETE_ENVIRONMENT CREATE_FEATURE MOVE_FEATURE_TOGGLE")
	owner := s.PersonWith(t, root, "")
	s.OnInProduction(t, "f", "parent", "moves", "many")
	s.Create(t, "off")
	segment := s.AddSegment(t, `{"name":"one","constraints":[]}`)
	const switchedOn = `{"changeRequestsEnabled":true}`
	strategy := apitest.In("f", "production") + "/strategies"
	s.Must(t, "POST", strategy, `{"name":"default","segments":[`+segment+`]}`)
	s.Must(t, "POST", apitest.Environments, `{"name":"extra","type":"test"}`)
	s.Must(t, "POST", apitest.Project+"/environments", `{"environment":"extra"}`)
	for _, c := range []apitest.Call{
		{"switch off", "POST", apitest.In("f", "production") + "/off", "", 403, skipNeeded},
		{"add a strategy", "POST", strategy, `{"name":"default"}`, 403, skipNeeded},
		{"variants", "PUT", apitest.In("f", "production") + "/variants", `[{"name":"a","weight":1000}]`, 403, skipNeeded},
		{"depend", "POST", apitest.Features + "/f/dependencies", `{"feature":"parent"}`, 403, skipNeeded},
		{"archive", "DELETE", apitest.Features + "/f", "", 403, skipNeeded},
		{"archive many", "POST", apitest.Project + "/archive", `{"features":["many"]}`, 403, `{"...":0,"name":"PermissionError"}`},
		{"move", "POST", apitest.Features + "/moves/changeProject", `{"newProjectId":"other"}`, 403, skipNeeded},
		{"the segment", "PUT", apitest.Segments + "/" + segment, `{"name":"one","constraints":[{"contextName":"userId","operator":"IN","values":["1"]}]}`, 403, skipNeeded},
		{"detach", "DELETE", apitest.InProduction, "", 403, skipNeeded},
		{"delete the environment", "DELETE", apitest.Environments + "/extra", "", 403, skipNeeded},
	} {
		t.Run(c.Name, func(t *testing.T) {
			s.Do(t, "GET", apitest.Project, "", owner) // stores the use of the token
			before := state(t, s)
			i.Do = func() {
				s.Review(t)
				s.Must(t, "PUT", apitest.Project+"/environments/extra/change-requests/config", switchedOn)
			}
			s.Check(t, c, owner)
			if i.Do != nil {
				t.Error("no change was interrupted")
			}
			if after := state(t, s); after != before {
				t.Errorf("the state changed from\n%s to\n%s", before, after)
			}
			s.Must(t, "PUT", apitest.ReviewConfig, `{"changeRequestsEnabled":false}`)
			s.Must(t, "PUT", apitest.Project+"/environments/extra/change-requests/config", `{"changeRequestsEnabled":false}`)
		})
	}
	t.Run("nobody skips", func(t *testing.T) {
		s.Review(t)
		i.Do = func() { s.Must(t, "PUT", apitest.Environments+"/update/production", `{"nobodySkips":true}`) }
		s.Check(t, apitest.Call{"", "POST", apitest.In("f", "production") + "/off", "", 403, skipNeeded})
	})
}

// TestSegmentTakenMeanwhile checks that a segment does not change for a flag that begins to use it in a guarded environment after the
// uses were listed.
func TestSegmentTakenMeanwhile(t *testing.T) {
	t.Parallel()
	i := &apitest.Interruption{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = i })
	s.OnInProduction(t, "f")
	editor := s.PersonWith(t, s.RoleOf(t, "root-custom", "UPDATE_SEGMENT"), "")
	segment := s.AddSegment(t, `{"name":"one","constraints":[]}`)
	s.Review(t)
	s.Do(t, "GET", apitest.Project, "", editor)
	i.Do = func() {
		s.Must(t, "POST", apitest.In("f", "production")+"/strategies", `{"name":"default","segments":[`+segment+`]}`)
	}
	s.Check(t, apitest.Call{"", "PUT", apitest.Segments + "/" + segment, `{"name":"one","constraints":[{"contextName":"userId","operator":"IN","values":["1"]}]}`, 403, skipNeeded}, editor)
}

// TestWaysAroundAGuardedEnvironment tries to get rid of the guard with the rights of an owner.
func TestWaysAroundAGuardedEnvironment(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", apitest.Projects, `{"id":"other"}`)
	s.OnInProduction(t, "f")
	s.Must(t, "PUT", apitest.Environments+"/update/production", `{"requiredApprovals":1}`)
	s.Review(t)
	owner := s.PersonWith(t, fmt.Sprint(access.RoleEditor), "")
	s.Check(t, apitest.Call{"switch it off", "PUT", apitest.ReviewConfig, `{"changeRequestsEnabled":false,"requiredApprovals":0}`, 409, apitest.Failure("ConflictError", "requires 1 approval")}, owner)
	s.Check(t, apitest.Call{"lower the floor", "PUT", apitest.Environments + "/update/production", `{"requiredApprovals":null,"offAllowed":true}`, 403, `{"...":0,"name":"NoAccessError"}`}, owner)
	s.Must(t, "DELETE", apitest.InProduction, "")
	s.Check(t, apitest.Call{"attach it again", "POST", apitest.Project + "/environments", `{"environment":"production"}`, 403, skipNeeded}, owner)
	s.Must(t, "POST", apitest.Project+"/environments", `{"environment":"production"}`)
	s.Check(t, apitest.Call{"the rule stays", "POST", apitest.In("f", "production") + "/on", "", 403, skipNeeded}, owner)
	s.Must(t, "PUT", apitest.Projects+"/other/environments/production/change-requests/config", `{"changeRequestsEnabled":true}`)
	s.Check(t, apitest.Call{"delete the project", "DELETE", apitest.Projects + "/other", "", 403, skipNeeded}, owner)
	s.Check(t, apitest.Call{"move a flag there", "POST", apitest.Features + "/f/changeProject", `{"newProjectId":"other"}`, 403, skipNeeded}, owner)
	s.Check(t, apitest.Call{"the header without being an administrator", "POST", apitest.In("f", "production") + "/on", "", 403, skipNeeded}, owner, "Break-Glass: please")
	s.Check(t, apitest.Call{"another role", "POST", apitest.Roles, `{"name":"Mine","type":"custom","permissions":[{"name":"SKIP_CHANGE_REQUEST"}]}`, 403, `{"...":0,"name":"NoAccessError"}`}, owner)
	s.Check(t, apitest.Call{"an own project is guarded too", "POST", apitest.Projects, `{"id":"mine"}`, 201, `{"...":0,"changeRequestEnvironments":[{"name":"production","requiredApprovals":1}]}`}, owner)
}
