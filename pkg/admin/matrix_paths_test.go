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
)

// These tests use paths whose parts do not belong together, such as a flag of another project.

// A stray is a value for a path parameter that exists, but elsewhere.
type stray struct{ name, value string }

// A maze is a server with objects for mismatched paths, and a subject with a matching path.
type maze struct {
	*server
	right  subject
	parent string             // of the subject's flag
	freeze string             // of the subject's project and environment
	strays map[string][]stray // by path parameter
	owner  string             // a token of the owner of the subject's project, without other permissions
}

func (s *server) maze(t *testing.T) maze {
	t.Helper()
	s.must(t, "POST", "/api/admin/environments", `{"name":"staging","type":"test"}`)
	s.must(t, "POST", "/api/admin/projects", `{"id":"shop","environments":["development","staging"]}`)
	s.create(t, "a", "other", "archived")
	s.must(t, "POST", "/api/admin/projects/shop/features", `{"name":"b"}`)
	furnished := func(project, flag, environment string) subject {
		on := subject{project: project, flag: flag, environment: environment}
		s.addStrategyAndVariants(t, &on)
		return on
	}
	right, twin := furnished("default", "a", "production"), furnished("default", "a", "development")
	sibling, foreign := furnished("default", "other", "production"), furnished("shop", "b", "development")
	s.must(t, "DELETE", features+"/archived", "")
	s.must(t, "POST", "/api/admin/tag-types", `{"name":"kind"}`)
	s.must(t, "POST", "/api/admin/features/a/tags", `{"type":"simple","value":"a/b"}`)
	s.must(t, "POST", "/api/admin/features/other/tags", `{"type":"kind","value":"theirs"}`)

	s.request(t, &right)
	mine, theirs := right, sibling
	s.addParent(t, &mine)
	s.addParent(t, &theirs)

	right.user = s.id(t, people, `{"username":"guest","rootRole":3}`)
	right.role = "5"
	s.must(t, "POST", project+"/users/"+right.user+"/roles/5", "")
	right.secret = s.apiToken(t, `{"tokenName":"of-default","type":"client","project":"default"}`)
	ofShop := s.apiToken(t, `{"tokenName":"of-shop","type":"client","project":"shop"}`)
	freeze := idIn(s.must(t, "POST", right.fill(inFreezes), aFreeze).body)
	ofAll := idIn(s.must(t, "POST", right.fill(ofServiceFreezes), aFreeze).body)
	stranger := s.id(t, people, `{"username":"stranger","rootRole":3}`)
	return maze{
		server: s, right: right, parent: mine.kind, freeze: freeze, owner: s.account(t, "3", map[string]string{"default": "4"}),
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
			"roleId":   {{"of the whole service", "3"}, {"not held", s.roleOf(t, "custom", "")}},
			"tokenId":  {{"of another account", "2"}},
			"token":    {{"of another project", url.PathEscape(ofShop)}},
			"parent":   {{"of another flag", theirs.kind}},
			"freezeId": {{"of all projects", ofAll}},

			"changeRequestId": {{"unknown", "99"}},
			"changeId":        {{"unknown", "99"}},
			"appName":         {{"unknown", "unknown"}},
			"environmentName": {{"unknown", "unknown"}},
		},
	}
}

// astray has the requests with a stray whose status is not 404. 0 means that the request is valid.
var astray = map[string]int{
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
	m := s.maze(t)
	for _, secret := range []string{"", m.owner} {
		if secret != "" {
			s.do(t, "GET", project, "", as(secret)) // notes that the token was used, once an hour
		}
	}
	tried := 0
	for _, route := range protectedRoutes(t) {
		parameters := pathParameter.FindAllStringSubmatch(route, -1)
		if len(parameters) < 2 || strings.Contains(route, programs) || strings.Contains(route, contextFields) || strings.Contains(route, ofServiceFreezes) {
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
	c := right.call(route)
	_, pattern, _ := strings.Cut(route, " ")
	c.path = right.fill(strings.Replace(pattern, "{"+parameter+"}", is.value, 1))
	c.name = fmt.Sprintf("%s, %s: %s", route, parameter, is.name)
	want, listed := astray[c.name]
	switch {
	case !listed:
		want = 404
	case want == 0:
		return 0
	}
	byOwner := want
	elsewhere := is.name == "another project" || is.name == "of another project" && !strings.Contains(route, "{projectId}")
	if elsewhere && !strings.HasPrefix(route, "GET ") && !strings.HasSuffix(route, "/favorites") && !regexp.MustCompile("/change-requests(/{|$)").MatchString(route) {
		byOwner = 403 // the owner can only read there
	}
	for _, caller := range []struct {
		headers []string
		status  int
	}{{nil, want}, {[]string{as(m.owner)}, byOwner}} {
		got := m.do(t, c.method, c.path, c.body, caller.headers...)
		if got.status != caller.status {
			t.Errorf("%s: %s %s %v: status %d, want %d; body %.300s", c.name, c.method, c.path, caller.headers, got.status, caller.status, got.body)
		}
		if n := got.writes(t); n > 0 {
			t.Errorf("%s: %d writes, want none", c.name, n)
		}
	}
	return 2
}

// TestNamesOfOthers uses names of another kind of object. A user is not a service account, and a secret belongs to one kind of
// token.
func TestNamesOfOthers(t *testing.T) {
	t.Parallel()
	s := serveTallied(t, time.Now())
	_, header := s.person(t, access.RoleAdmin)
	personal := strings.TrimPrefix(header, "Authorization: ")
	person := s.id(t, people, `{"username":"person","rootRole":3}`)
	one, tokensOfOne := s.accountWithTokens(t)
	two, tokensOfTwo := s.accountWithTokens(t)
	body := func(name string) string {
		return fmt.Sprintf(`{"description":%q,"expiresAt":"2100-01-01T00:00:00Z"}`, name)
	}
	s.must(t, "POST", tokensOfOne, body("a"))
	s.must(t, "POST", tokensOfTwo, body("a"))
	s.must(t, "POST", tokensOfTwo, body("b"))
	s.must(t, "DELETE", tokensOfTwo+"/1", "")
	deleted := s.apiToken(t, `{"tokenName":"deleted","type":"client"}`)
	s.must(t, "DELETE", tokenPath(deleted), "")
	api := s.apiToken(t, `{"tokenName":"api","type":"client"}`)
	signup := secretIn(s.must(t, "POST", signups, `{"name":"n","expiresAt":"2100-01-01T00:00:00Z"}`).body)
	const later = `{"expiresAt":"2090-01-01T00:00:00Z"}`
	calls := []call{
		{"the token of another account", "DELETE", tokensOfOne + "/2", "", 404, anything},
		{"and the other way", "DELETE", tokensOfTwo + "/1", "", 404, anything},
		{"the tokens of a person", "GET", programs + "/" + person + "/token", "", 404, anything},
		{"a token for a person", "POST", programs + "/" + person + "/token", body("c"), 404, anything},
		{"the token of a person", "DELETE", programs + "/" + person + "/token/1", "", 404, anything},
		{"a person as a program", "PUT", programs + "/" + person, `{"name":"x"}`, 404, anything},
		{"a person deleted as a program", "DELETE", programs + "/" + person, "", 404, anything},
		{"a program as a person", "GET", people + "/" + one, "", 404, anything},
		{"a program changed as a person", "PUT", people + "/" + one, `{"name":"x"}`, 404, anything},
		{"a program deleted as a person", "DELETE", people + "/" + two, "", 404, anything},
		{"a signup token as an API token", "PUT", tokenPath(signup), later, 404, anything},
		{"a signup token deleted as an API token", "DELETE", tokenPath(signup), "", 404, anything},
		{"a personal token as an API token", "PUT", tokenPath(personal), later, 404, anything},
		{"a personal token deleted as an API token", "DELETE", tokenPath(personal), "", 404, anything},
		{"a deleted token", "PUT", tokenPath(deleted), later, 404, anything},
		{"a deleted token deleted", "DELETE", tokenPath(deleted), "", 404, anything},
		{"an API token as a signup token", "GET", signups + "/" + api, "", 404, anything},
		{"an API token changed as a signup token", "PUT", signups + "/" + api, later, 404, anything},
		{"an API token's hash", "DELETE", tokenPath(access.HashSecret(api)), "", 404, anything},
		{"an API token's name", "DELETE", tokenPath("api"), "", 404, anything},
	}
	for _, c := range calls {
		s.check(t, c)
	}
	for _, c := range calls { // once more, to count the writes
		if got := s.do(t, c.method, c.path, c.body); got.writes(t) > 0 {
			t.Errorf("%s: %d writes, want none", c.name, got.writes(t))
		}
	}
	if was := s.names(t); !slices.Contains(was, "api") {
		t.Errorf("tokens %q, want api among them", was)
	}
}
