package users_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
)

func TestMe(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", apitest.Projects, `{"id":"shop"}`)
	s.Check(t, apitest.Call{"an admin token", "GET", apitest.Me, "", 200,
		`{"user":{"isAPI":true,"name":"admin","username":"admin","type":"admin","environment":"*","projects":["*"],"permissions":["ADMIN"],"seenAt":null},` +
			`"permissions":[{"permission":"ADMIN"}],"feedback":[],"splash":{}}`})
	s.Check(t, apitest.Call{"a token for SDKs", "GET", apitest.Me, "", 403, apitest.Anything}, apitest.As(dynamotest.ClientToken))
	s.Check(t, apitest.Call{"no token", "GET", apitest.Me, "", 401, apitest.Anything}, "Authorization:")

	admin, header := s.Person(t, 1)
	s.Check(t, apitest.Call{"an administrator", "GET", apitest.Me, "", 200, fmt.Sprintf(`{"user":{"id":%d,"isAPI":false,"accountType":"User","username":"<any>","imageUrl":"<any>","rootRole":1,`+
		`"createdAt":"<any>","seenAt":null},"permissions":[{"permission":"ADMIN"}],"feedback":[],"splash":{}}`, admin)}, header)
	if got := s.Do(t, "GET", apitest.Me, "").Body; strings.Contains(got, dynamotest.AdminToken) {
		t.Errorf("the response has the token's secret: %s", got)
	}

	switches := s.RoleOf(t, "custom", "UPDATE_FEATURE_ENVIRONMENT@development UPDATE_FEATURE")
	for _, tt := range []struct {
		name   string
		header string
		want   []string
	}{
		{"a viewer", apitest.As(s.Account(t, "3", nil)), nil},
		{"a root role", apitest.As(s.Account(t, s.RoleOf(t, "root-custom", "CREATE_PROJECT"), nil)), []string{"CREATE_PROJECT  "}},
		{"a role in a project", apitest.As(s.Account(t, "3", map[string]string{"shop": switches})),
			[]string{"UPDATE_FEATURE shop ", "UPDATE_FEATURE_ENVIRONMENT shop development"}},
	} {
		got := permissionsOfCaller(t, s, tt.header)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: permissions %q, want %q", tt.name, got, tt.want)
		}
	}
	editor := permissionsOfCaller(t, s, apitest.As(s.Account(t, "2", nil)))
	for _, want := range []string{"CREATE_PROJECT  ", "UPDATE_PROJECT default ", "UPDATE_FEATURE_ENVIRONMENT default "} {
		if !slices.Contains(editor, want) {
			t.Errorf("an editor: permissions %q, want %q among them", editor, want)
		}
	}
}

// permissionsOfCaller are the permissions in the answer: "PERMISSION project environment", sorted.
func permissionsOfCaller(t *testing.T, s *apitest.Server, header string) []string {
	t.Helper()
	var answer struct {
		Permissions []struct{ Permission, Project, Environment string }
	}
	apitest.DecodeInto(t, s.Do(t, "GET", apitest.Me, "", header).Body, &answer)
	var list []string
	for _, p := range answer.Permissions {
		list = append(list, p.Permission+" "+p.Project+" "+p.Environment)
	}
	slices.Sort(list)
	return list
}

func TestUserPaths(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", apitest.Users, `{"username":"ann","email":"ann@example.com","name":"Ann","rootRole":3}`)
	s.Must(t, "POST", apitest.Users, `{"username":"bob","rootRole":1}`)
	s.Must(t, "POST", apitest.ServiceAccounts, `{"username":"robot","name":"Robot","rootRole":1}`)
	s.Run(t, []apitest.Call{
		{"access", "GET", apitest.Users + "/access", "", 200, `{"users":[{"id":1,"accountType":"User","username":"admin"},` +
			`{"id":2,"accountType":"User","name":"Ann","username":"ann","email":"ann@example.com"},{"id":3,"accountType":"User","username":"bob"}],"groups":[]}`},
		{"admins", "GET", apitest.Users + "/admin-count", "", 200, `{"password":0,"noPassword":2,"service":1}`},
		{"inactive", "GET", apitest.Users + "/inactive", "", 404, apitest.Failure("NotFoundError", "does not list inactive users")},
		{"an id that is not a number", "GET", apitest.Users + "/ann", "", 400, apitest.Faulty("userId in the path must be a whole number")},
	})
}
