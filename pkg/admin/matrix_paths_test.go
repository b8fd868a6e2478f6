package admin_test

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/apitest"
)

// These tests use paths whose parts do not belong together, such as a flag of another project.

// A stray is a value for a path parameter that exists, but elsewhere.
type stray struct{ name, value string }

// A maze is a server with objects for mismatched paths, and a subject with a matching path.
type maze struct {
	*apitest.Server
	right  subject
	parent string             // of the subject's flag
	freeze string             // of the subject's project and environment
	strays map[string][]stray // by path parameter
	owner  string             // a token of the owner of the subject's project, without other permissions
}

func newMaze(t *testing.T, s *apitest.Server) maze {
	t.Helper()
	s.Must(t, "POST", "/api/admin/environments", `{"name":"staging","type":"test"}`)
	s.Must(t, "POST", "/api/admin/projects", `{"id":"shop","environments":["development","staging"]}`)
	s.Create(t, "a", "other", "archived")
	s.Must(t, "POST", "/api/admin/projects/shop/features", `{"name":"b"}`)
	furnished := func(project, flag, environment string) subject {
		on := subject{project: project, flag: flag, environment: environment}
		addStrategyAndVariants(t, s, &on)
		newPlan(t, s, &on)
		return on
	}
	right, twin := furnished("default", "a", "production"), furnished("default", "a", "development")
	sibling, foreign := furnished("default", "other", "production"), furnished("shop", "b", "development")
	s.Must(t, "DELETE", apitest.Features+"/archived", "")
	s.Must(t, "POST", "/api/admin/tag-types", `{"name":"kind"}`)
	s.Must(t, "POST", "/api/admin/features/a/tags", `{"type":"simple","value":"a/b"}`)
	s.Must(t, "POST", "/api/admin/features/other/tags", `{"type":"kind","value":"theirs"}`)

	request(t, s, &right)
	mine, theirs := right, sibling
	addParent(t, s, &mine)
	addParent(t, s, &theirs)

	right.user = s.ID(t, apitest.Users, `{"username":"guest","rootRole":3}`)
	right.role = "5"
	s.Must(t, "POST", apitest.Project+"/users/"+right.user+"/roles/5", "")
	right.secret = s.APIToken(t, `{"tokenName":"of-default","type":"client","project":"default"}`)
	ofShop := s.APIToken(t, `{"tokenName":"of-shop","type":"client","project":"shop"}`)
	freeze := apitest.IDIn(s.Must(t, "POST", right.fill(inFreezes), aFreeze).Body)
	ofAll := apitest.IDIn(s.Must(t, "POST", right.fill(ofServiceFreezes), aFreeze).Body)
	s.Must(t, "POST", right.fill("/api/admin/projects/{projectId}"+aSignals), `{"name":"mine"}`)
	s.Must(t, "POST", twin.fill("/api/admin/projects/{projectId}"+aSignals), `{"name":"theirs"}`)
	stranger := s.ID(t, apitest.Users, `{"username":"stranger","rootRole":3}`)
	return maze{
		Server: s, right: right, parent: mine.kind, freeze: freeze, owner: s.Account(t, "3", map[string]string{"default": "4"}),
		strays: map[string][]stray{
			"projectId":   {{"another project", "shop"}},
			"featureName": {{"of another project", "b"}, {"archived", "archived"}},
			"environment": {{"of another project", "staging"}, {"of no project", "default"}, {"all of them", "*"}},
			"strategyId": {
				{"of another environment", twin.strategy}, {"of another flag", sibling.strategy}, {"of another project", foreign.strategy},
			},
			"tagType":  {{"of another flag", "kind"}},
			"value...": {{"of another flag", "theirs"}},
			"userId":   {{"no member", stranger}},
			"roleId":   {{"of the whole service", "3"}, {"not held", s.RoleOf(t, "custom", "")}},
			"tokenId":  {{"of another account", "2"}},
			"token":    {{"of another project", url.PathEscape(ofShop)}},
			"parent":   {{"of another flag", theirs.kind}},
			"freezeId": {{"of all projects", ofAll}},
			"planId": {
				{"of another environment", twin.plan}, {"of another flag", sibling.plan}, {"of another project", foreign.plan},
			},
			"milestoneId": {{"of another environment", twin.milestone}, {"of another flag", sibling.milestone}},
			"signalName":  {{"of another environment", "theirs"}},
			"safeguardId": {{"of another environment", twin.safeguard}, {"of another flag", sibling.safeguard}},
			"linkId":      {{"of another flag", sibling.link}, {"of another project", foreign.link}},

			"changeRequestId": {{"unknown", "99"}},
			"changeId":        {{"unknown", "99"}},
			"appName":         {{"unknown", "unknown"}},
			"environmentName": {{"unknown", "unknown"}},
		},
	}
}

// astray has the requests with a stray whose status is not 404. 0 means that the request is valid.
var astray = map[string]int{
	"PUT " + manifest + "/flags/{featureName}, featureName: archived":                             409,
	"DELETE " + manifest + "/flags/{featureName}, featureName: archived":                          409,
	"DELETE /api/admin/projects/{projectId}/features/{featureName}, featureName: archived":        202, // it is archived already
	"GET /api/admin/projects/{projectId}/features/{featureName}/lifecycle, featureName: archived": 200, // an archived flag has a lifecycle

	ofProject("GET", "/change-requests/pending/{featureName}") + ", featureName: archived": 200, // its requests can still be open

	theInstances + ", appName: unknown":         200, // as in Unleash
	theInstances + ", environmentName: unknown": 200,

	"POST " + heldRole + ", projectId: another project":     0,
	"POST " + heldRole + ", userId: no member":              0,
	"POST " + heldRole + ", roleId: not held":               0,
	"PUT " + heldRole + ", roleId: not held":                0,
	"PUT " + heldRole + ", projectId: another project":      200, // not a member there, so nothing changes
	"PUT " + heldRole + ", userId: no member":               200,
	"POST " + heldRole + ", roleId: of the whole service":   400, // not a project role
	"PUT " + heldRole + ", roleId: of the whole service":    400,
	"DELETE " + heldRole + ", projectId: another project":   404,
	"DELETE " + heldRole + ", roleId: of the whole service": 404,
}

var pathParameter = regexp.MustCompile(`\{([^}]*)\}`)

// TestMismatchedPaths calls every route with several parameters, and replaces each parameter by a stray. An administrator and the
// owner of the project get a 404, and nothing is written.
func TestMismatchedPaths(t *testing.T) {
	t.Parallel()
	s := serveTallied(t, time.Now())
	m := newMaze(t, s)
	for _, secret := range []string{"", m.owner} {
		if secret != "" {
			s.Do(t, "GET", apitest.Project, "", apitest.As(secret)) // notes that the token was used, once an hour
		}
	}
	tried := 0
	for _, route := range protectedRoutes(t) {
		parameters := pathParameter.FindAllStringSubmatch(route, -1)
		if len(parameters) < 2 || strings.Contains(route, apitest.ServiceAccounts) || strings.Contains(route, apitest.ContextFields) || strings.Contains(route, ofServiceFreezes) {
			// TestNamesOfOthers has the tokens of service accounts; legal values need not exist; the owner must not freeze the service
			continue
		}
		for _, parameter := range parameters {
			strays := m.strays[parameter[1]]
			if len(strays) == 0 {
				t.Errorf("%s: no stray for {%s}; add one to maze", route, parameter[1])
			}
			for _, stray := range strays {
				tried += m.try(t, route, parameter[1], stray)
			}
		}
	}
	t.Logf("%d requests", tried)
}

// try replaces one parameter by a stray and returns the number of requests.
func (m maze) try(t *testing.T, route, parameter string, is stray) int {
	t.Helper()
	right := m.right
	if strings.Contains(route, "/dependencies") {
		right.kind = m.parent
	}
	if strings.Contains(route, "/{freezeId}") {
		right.kind = m.freeze
	}
	if strings.Contains(route, "{signalName}") {
		right.kind = "mine"
	}
	c := right.call(route)
	_, pattern, _ := strings.Cut(route, " ")
	c.Path = right.fill(strings.Replace(pattern, "{"+parameter+"}", is.value, 1))
	c.Name = fmt.Sprintf("%s, %s: %s", route, parameter, is.name)
	want, listed := astray[c.Name]
	switch {
	case !listed:
		want = 404
	case want == 0:
		return 0
	}
	byOwner := want
	elsewhere := is.name == "another project" || is.name == "of another project" && !strings.Contains(route, "{projectId}")
	if elsewhere && (!strings.HasPrefix(route, "GET ") || strings.HasSuffix(route, aSignals)) && !strings.HasSuffix(route, "/favorites") && !regexp.MustCompile("/change-requests(/{|$)").MatchString(route) {
		byOwner = 403 // the owner can only read there, and no signals
	}
	for _, caller := range []struct {
		headers []string
		status  int
	}{{nil, want}, {[]string{apitest.As(m.owner)}, byOwner}} {
		got := m.Do(t, c.Method, c.Path, c.Body, caller.headers...)
		if got.Status != caller.status {
			t.Errorf("%s: %s %s %v: status %d, want %d; body %.300s", c.Name, c.Method, c.Path, caller.headers, got.Status, caller.status, got.Body)
		}
		if n := writes(t, got); n > 0 {
			t.Errorf("%s: %d writes, want none", c.Name, n)
		}
	}
	return 2
}

// TestNamesOfOthers uses names of another kind of object. A user is not a service account, and a secret belongs to one kind of
// token.
func TestNamesOfOthers(t *testing.T) {
	t.Parallel()
	s := serveTallied(t, time.Now())
	_, header := s.Person(t, access.RoleAdmin)
	personal := strings.TrimPrefix(header, "Authorization: ")
	person := s.ID(t, apitest.Users, `{"username":"person","rootRole":3}`)
	one, tokensOfOne := s.AccountWithTokens(t)
	two, tokensOfTwo := s.AccountWithTokens(t)
	body := func(name string) string {
		return fmt.Sprintf(`{"description":%q,"expiresAt":"2100-01-01T00:00:00Z"}`, name)
	}
	s.Must(t, "POST", tokensOfOne, body("a"))
	s.Must(t, "POST", tokensOfTwo, body("a"))
	s.Must(t, "POST", tokensOfTwo, body("b"))
	s.Must(t, "DELETE", tokensOfTwo+"/1", "")
	deleted := s.APIToken(t, `{"tokenName":"deleted","type":"client"}`)
	s.Must(t, "DELETE", apitest.TokenPath(deleted), "")
	api := s.APIToken(t, `{"tokenName":"api","type":"client"}`)
	signup := apitest.SecretIn(s.Must(t, "POST", apitest.SignupTokens, `{"name":"n","expiresAt":"2100-01-01T00:00:00Z"}`).Body)
	const later = `{"expiresAt":"2090-01-01T00:00:00Z"}`
	calls := []apitest.Call{
		{"the token of another account", "DELETE", tokensOfOne + "/2", "", 404, apitest.Anything},
		{"and the other way", "DELETE", tokensOfTwo + "/1", "", 404, apitest.Anything},
		{"the tokens of a person", "GET", apitest.ServiceAccounts + "/" + person + "/token", "", 404, apitest.Anything},
		{"a token for a person", "POST", apitest.ServiceAccounts + "/" + person + "/token", body("c"), 404, apitest.Anything},
		{"the token of a person", "DELETE", apitest.ServiceAccounts + "/" + person + "/token/1", "", 404, apitest.Anything},
		{"a person as a program", "PUT", apitest.ServiceAccounts + "/" + person, `{"name":"x"}`, 404, apitest.Anything},
		{"a person deleted as a program", "DELETE", apitest.ServiceAccounts + "/" + person, "", 404, apitest.Anything},
		{"a program as a person", "GET", apitest.Users + "/" + one, "", 404, apitest.Anything},
		{"a program changed as a person", "PUT", apitest.Users + "/" + one, `{"name":"x"}`, 404, apitest.Anything},
		{"a program deleted as a person", "DELETE", apitest.Users + "/" + two, "", 404, apitest.Anything},
		{"a signup token as an API token", "PUT", apitest.TokenPath(signup), later, 404, apitest.Anything},
		{"a signup token deleted as an API token", "DELETE", apitest.TokenPath(signup), "", 404, apitest.Anything},
		{"a personal token as an API token", "PUT", apitest.TokenPath(personal), later, 404, apitest.Anything},
		{"a personal token deleted as an API token", "DELETE", apitest.TokenPath(personal), "", 404, apitest.Anything},
		{"a deleted token", "PUT", apitest.TokenPath(deleted), later, 404, apitest.Anything},
		{"a deleted token deleted", "DELETE", apitest.TokenPath(deleted), "", 404, apitest.Anything},
		{"an API token as a signup token", "GET", apitest.SignupTokens + "/" + api, "", 404, apitest.Anything},
		{"an API token changed as a signup token", "PUT", apitest.SignupTokens + "/" + api, later, 404, apitest.Anything},
		{"an API token's hash", "DELETE", apitest.TokenPath(access.HashSecret(api)), "", 404, apitest.Anything},
		{"an API token's name", "DELETE", apitest.TokenPath("api"), "", 404, apitest.Anything},
	}
	for _, c := range calls {
		s.Check(t, c)
	}
	for _, c := range calls { // once more, to count the writes
		if got := s.Do(t, c.Method, c.Path, c.Body); writes(t, got) > 0 {
			t.Errorf("%s: %d writes, want none", c.Name, writes(t, got))
		}
	}
	if was := s.TokenNames(t); !slices.Contains(was, "api") {
		t.Errorf("tokens %q, want api among them", was)
	}
}
