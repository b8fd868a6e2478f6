package admin_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"guidon/pkg/dynamo/dynamotest"
)

const me = "/api/admin/user"

func TestMe(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.must(t, "POST", projects, `{"id":"shop"}`)
	s.check(t, call{"an admin token", "GET", me, "", 200,
		`{"user":{"isAPI":true,"name":"admin","username":"admin","type":"admin","environment":"*","projects":["*"],"permissions":["ADMIN"],"seenAt":null},` +
			`"permissions":[{"permission":"ADMIN"}],"feedback":[],"splash":{}}`})
	s.check(t, call{"a token for SDKs", "GET", me, "", 403, anything}, as(dynamotest.ClientToken))
	s.check(t, call{"no token", "GET", me, "", 401, anything}, "Authorization:")

	admin, header := s.person(t, 1)
	s.check(t, call{"an administrator", "GET", me, "", 200, fmt.Sprintf(`{"user":{"id":%d,"isAPI":false,"accountType":"User","username":"<any>","imageUrl":"<any>","rootRole":1,`+
		`"createdAt":"<any>","seenAt":null},"permissions":[{"permission":"ADMIN"}],"feedback":[],"splash":{}}`, admin)}, header)
	if got := s.do(t, "GET", me, "").body; strings.Contains(got, dynamotest.AdminToken) {
		t.Errorf("the response has the token's secret: %s", got)
	}

	switches := s.roleOf(t, "custom", "UPDATE_FEATURE_ENVIRONMENT@development UPDATE_FEATURE")
	for _, tt := range []struct {
		name   string
		header string
		want   []string
	}{
		{"a viewer", as(s.account(t, "3", nil)), nil},
		{"a root role", as(s.account(t, s.roleOf(t, "root-custom", "CREATE_PROJECT"), nil)), []string{"CREATE_PROJECT  "}},
		{"a role in a project", as(s.account(t, "3", map[string]string{"shop": switches})),
			[]string{"UPDATE_FEATURE shop ", "UPDATE_FEATURE_ENVIRONMENT shop development"}},
	} {
		got := s.permissionsOfCaller(t, tt.header)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: permissions %q, want %q", tt.name, got, tt.want)
		}
	}
	editor := s.permissionsOfCaller(t, as(s.account(t, "2", nil)))
	for _, want := range []string{"CREATE_PROJECT  ", "UPDATE_PROJECT default ", "UPDATE_FEATURE_ENVIRONMENT default "} {
		if !slices.Contains(editor, want) {
			t.Errorf("an editor: permissions %q, want %q among them", editor, want)
		}
	}
}

// permissionsOfCaller are the permissions in the answer: "PERMISSION project environment", sorted.
func (s *server) permissionsOfCaller(t *testing.T, header string) []string {
	t.Helper()
	var answer struct {
		Permissions []struct{ Permission, Project, Environment string }
	}
	if err := json.Unmarshal([]byte(s.do(t, "GET", me, "", header).body), &answer); err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, p := range answer.Permissions {
		list = append(list, p.Permission+" "+p.Project+" "+p.Environment)
	}
	slices.Sort(list)
	return list
}

func TestUserPaths(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.must(t, "POST", people, `{"username":"ann","email":"ann@example.com","name":"Ann","rootRole":3}`)
	s.must(t, "POST", people, `{"username":"bob","rootRole":1}`)
	s.must(t, "POST", programs, `{"username":"robot","name":"Robot","rootRole":1}`)
	s.run(t, []call{
		{"access", "GET", people + "/access", "", 200, `{"users":[{"id":1,"accountType":"User","username":"admin"},` +
			`{"id":2,"accountType":"User","name":"Ann","username":"ann","email":"ann@example.com"},{"id":3,"accountType":"User","username":"bob"}],"groups":[]}`},
		{"admins", "GET", people + "/admin-count", "", 200, `{"password":0,"noPassword":2,"service":1}`},
		{"inactive", "GET", people + "/inactive", "", 404, failure("NotFoundError", "does not list inactive users")},
		{"an id that is not a number", "GET", people + "/ann", "", 400, faulty("userId in the path must be a whole number")},
	})
	viewer := as(s.account(t, "3", nil))
	for _, path := range []string{"/access", "/admin-count"} {
		s.check(t, call{"a viewer", "GET", people + path, "", 403, anything}, viewer)
	}
}
