package admin_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"guidon/pkg/access"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
)

const accessPath = project + "/access"

// memberOf is a user with roles, in the answer on the access to a project.
func memberOf(id int, roles ...string) string {
	return fmt.Sprintf(`{"...":0,"id":%d,"roleId":%s,"roles":[%s]}`, id, roles[0], strings.Join(roles, ","))
}

func TestProjectUsers(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	s.must(t, "POST", people, `{"username":"ann","rootRole":3}`)
	s.must(t, "POST", programs, `{"username":"bot","name":"Bot","rootRole":3}`)
	s.must(t, "POST", roles, `{"name":"Custom"}`)
	s.must(t, "POST", roles, `{"name":"Everywhere","type":"root-custom"}`)
	const ann, bot = project + "/users/2/roles/", project + "/users/3/roles/"
	users := func(list ...string) string { return `{"...":0,"users":[` + strings.Join(list, ",") + `],"groups":[]}` }
	s.run(t, []call{
		{"no members", "GET", accessPath, "", 200, `{"roles":[{"id":4,"type":"project","name":"Owner","description":"<any>"},` +
			`{"id":5,"type":"project","name":"Member","description":"<any>"},{"id":6,"type":"custom","name":"Custom","description":""}],"users":[],"groups":[]}`},
		{"add a user", "POST", ann + "5", `{"userId":2,"projectId":"default","roleId":5}`, 200, ""},
		{"list the user", "GET", accessPath, "", 200, users(aUser(2, 3, `,"username":"ann","roleId":5,"roles":[5]`))},
		{"add again", "POST", ann + "5", "", 409, failure("ConflictError", "already")},
		{"add another role", "POST", ann + "4", "", 200, ""},
		{"add a service account", "POST", bot + "6", `{}`, 200, ""},
		{"list both", "GET", accessPath, "", 200, users(memberOf(2, "4", "5"), memberOf(3, "6"))},
		{"each member counts once", "GET", project, "", 200, `{"...":0,"members":2}`},
		{"replace the roles", "PUT", ann + "6", "", 200, ""},
		{"list the new role", "GET", accessPath, "", 200, users(memberOf(2, "6"), memberOf(3, "6"))},
		{"replace by the same role", "PUT", ann + "6", `{"roleId":6}`, 200, ""},
		{"change a user who is not a member", "PUT", project + "/users/1/roles/5", "", 200, ""},
		{"nothing changed", "GET", accessPath, "", 200, users(memberOf(2, "6"), memberOf(3, "6"))},
		{"remove a role that the user does not have", "DELETE", ann + "5", "", 404, notFound("does not have role 5")},
		{"remove a role", "DELETE", ann + "6", "", 200, ""},
		{"remove it again", "DELETE", ann + "6", "", 404, notFound("does not have role 6")},
		{"one member left", "GET", project, "", 200, `{"...":0,"members":1}`},

		{"another user in the body", "POST", ann + "5", `{"userId":3}`, 400, faulty("/userId: must be the same as in the path")},
		{"another project in the body", "PUT", ann + "5", `{"projectId":"other"}`, 400, faulty("/projectId")},
		{"another role in the body", "DELETE", ann + "5", `{"roleId":4}`, 400, faulty("/roleId")},
		{"a body of the wrong type", "POST", ann + "5", `{"userId":"2"}`, 400, faulty("/userId: must be a whole number")},
		{"invalid JSON", "POST", ann + "5", `{`, 400, faulty("JSON")},
		{"a root role", "POST", ann + "3", "", 400, faulty("cannot be given in a project")},
		{"a custom root role", "PUT", ann + "7", "", 400, faulty("cannot be given in a project")},
		{"an unknown role", "POST", ann + "99", "", 404, notFound("no role 99")},
		{"an unknown user", "POST", project + "/users/99/roles/5", "", 404, notFound("no user 99")},
		{"an unknown project", "POST", "/api/admin/projects/nosuch/users/2/roles/5", "", 404, notFound("nosuch")},
		{"a user id that is not a number", "POST", project + "/users/ann/roles/5", "", 400, faulty("userId")},
		{"a role id that is not a number", "POST", ann + "Member", "", 400, faulty("roleId")},
		{"change an unknown user in an unknown project", "PUT", "/api/admin/projects/nosuch/users/99/roles/5", "", 404, anything},
	})
}

func TestSetAccess(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	for i := range 3 {
		s.must(t, "POST", people, fmt.Sprintf(`{"username":"u%d","rootRole":3}`, i))
	}
	users := func(list ...string) string { return `{"...":0,"users":[` + strings.Join(list, ",") + `]}` }
	s.run(t, []call{
		{"set the access", "PUT", accessPath, `{"roles":[{"id":5,"users":[2,3,3],"groups":[]},{"id":4,"users":[2]},{"id":5,"users":[2]}]}`, 200, ""},
		{"the users have the roles", "GET", accessPath, "", 200, users(memberOf(2, "4", "5"), memberOf(3, "5"))},
		{"set other users", "PUT", accessPath, `{"roles":[{"id":4,"users":[4]},{"id":5,"users":[3]}],"more":1}`, 200, ""},
		{"users who are not named leave", "GET", accessPath, "", 200, users(memberOf(3, "5"), memberOf(4, "4"))},
		{"an unknown role", "PUT", accessPath, `{"roles":[{"id":99,"users":[2]}]}`, 400, faulty("/roles/0/id: there is no project role 99")},
		{"a root role", "PUT", accessPath, `{"roles":[{"id":1,"users":[2]}]}`, 400, faulty("/roles/0/id")},
		{"an unknown user", "PUT", accessPath, `{"roles":[{"id":5,"users":[2]},{"id":4,"users":[2,99]}]}`, 400, faulty("/roles/1/users/1: there is no user 99")},
		{"a group", "PUT", accessPath, `{"roles":[{"id":4,"users":[],"groups":[1]}]}`, 400, faulty("/roles/0/groups: must be empty")},
		{"too many users", "PUT", accessPath, `{"roles":[{"id":4,"users":[2` + strings.Repeat(",2", 5_000) + `]}]}`, 400, faulty("/roles: must name at most 5000 users, names 5001")},
		{"no roles", "PUT", accessPath, `{}`, 400, faulty("/roles: is required")},
		{"users of the wrong type", "PUT", accessPath, `{"roles":[{"id":4,"users":["2"]}]}`, 400, faulty("/roles/0/users/0: must be a whole number")},
		{"an unknown project", "PUT", "/api/admin/projects/nosuch/access", `{"roles":[]}`, 404, notFound("nosuch")},
		{"the refused requests changed nothing", "GET", accessPath, "", 200, users(memberOf(3, "5"), memberOf(4, "4"))},
		{"set no members", "PUT", accessPath, `{"roles":[]}`, 200, ""},
		{"no members are left", "GET", accessPath, "", 200, users()},
	})
}

// TestSetAccessOfManyUsers changes more members than fit in one transaction.
func TestSetAccessOfManyUsers(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	const many = 120
	ids := make([]string, many)
	for i := range ids {
		id, _ := s.person(t, access.RoleViewer)
		ids[i] = fmt.Sprint(id)
	}
	all := strings.Join(ids, ",")
	s.check(t, call{"one unknown user", "PUT", accessPath, `{"roles":[{"id":5,"users":[` + all + `,9999]}]}`, 400, anything})
	s.check(t, call{"no members yet", "GET", project, "", 200, `{"...":0,"members":0}`})
	s.must(t, "PUT", accessPath, `{"roles":[{"id":5,"users":[`+all+`]}]}`)
	s.check(t, call{"all are members", "GET", project, "", 200, fmt.Sprintf(`{"...":0,"members":%d}`, many)})
	s.must(t, "DELETE", people+"/"+ids[0], "")
	s.check(t, call{"all except one", "GET", project, "", 200, fmt.Sprintf(`{"...":0,"members":%d}`, many-1)})
	s.must(t, "PUT", accessPath, `{"roles":[]}`)
	s.check(t, call{"no members are left", "GET", project, "", 200, `{"...":0,"members":0}`})
}

// TestAddMembersInParallel adds many users to one project concurrently, each of them twice: all become members, each once.
func TestAddMembersInParallel(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	const users = 10
	ids := make([]int64, users)
	for i := range ids {
		ids[i], _ = s.person(t, access.RoleViewer)
	}
	var mu sync.Mutex
	statuses := map[int]int{}
	var wg sync.WaitGroup
	for i := range 2 * users {
		wg.Go(func() {
			got, err := s.try("POST", fmt.Sprintf("%s/users/%d/roles/5", project, ids[i/2]), "")
			mu.Lock()
			defer mu.Unlock()
			if statuses[got.status]++; err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if statuses[200] != users || statuses[409] != users {
		t.Errorf("statuses %v, want %d each of 200 and 409", statuses, users)
	}
	s.check(t, call{"all are members", "GET", project, "", 200, fmt.Sprintf(`{"...":0,"members":%d}`, users)})
}

// TestGrantsWithinOwnPermissions checks that a user can give only project roles whose permissions they hold.
func TestGrantsWithinOwnPermissions(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	s.must(t, "POST", roles, `{"name":"Access manager","permissions":[{"name":"PROJECT_USER_ACCESS_WRITE"},{"name":"PROJECT_USER_ACCESS_READ"},{"name":"UPDATE_FEATURE_ENVIRONMENT","environment":"development"}]}`)
	s.must(t, "POST", roles, `{"name":"In development","permissions":[{"name":"UPDATE_FEATURE_ENVIRONMENT","environment":"development"}]}`)
	s.must(t, "POST", roles, `{"name":"In production","permissions":[{"name":"UPDATE_FEATURE_ENVIRONMENT","environment":"production"}]}`)
	s.must(t, "POST", roles, `{"name":"Everything","permissions":[{"name":"ADMIN"}]}`)
	const accessManager, inDevelopment, inProduction, everything = 6, 7, 8, 9
	guest, _ := s.person(t, access.RoleViewer)
	header := map[string]string{}
	for name, role := range map[string]int{"owner": 4, "member": 5, "access manager": accessManager} {
		id, h := s.person(t, access.RoleViewer)
		header[name] = h
		s.must(t, "POST", fmt.Sprintf("%s/users/%d/roles/%d", project, id, role), "")
	}
	_, header["editor"] = s.person(t, access.RoleEditor)
	_, header["viewer"] = s.person(t, access.RoleViewer)
	for _, tt := range []struct {
		caller string
		role   int
		status int
	}{
		{"owner", 4, 200},
		{"owner", inProduction, 200},
		{"owner", everything, 403},
		{"editor", 4, 200}, // editors own the project default
		{"access manager", inDevelopment, 200},
		{"access manager", accessManager, 200},
		{"access manager", inProduction, 403},
		{"access manager", 5, 403},
		{"access manager", 4, 403},
		{"member", 5, 403},
		{"viewer", 5, 403},
	} {
		t.Run(fmt.Sprint(tt.caller, " ", tt.role), func(t *testing.T) {
			path := fmt.Sprintf("%s/users/%d/roles/%d", project, guest, tt.role)
			want, whole := anything, fmt.Sprintf(`{"roles":[{"id":%d,"users":[%d]}]}`, tt.role, guest)
			if tt.status == 403 {
				want = failure("NoAccessError", "")
			}
			was := s.must(t, "GET", accessPath, "").body
			s.check(t, call{"add a user", "POST", path, "", tt.status, want}, header[tt.caller])
			if tt.status == 200 {
				s.check(t, call{"remove a role", "DELETE", path, "", 200, ""}, header[tt.caller])
			} else {
				s.check(t, call{"replace the roles", "PUT", path, "", 403, want}, header[tt.caller])
				s.check(t, call{"set the access", "PUT", accessPath, whole, 403, want}, header[tt.caller])
			}
			if now := s.must(t, "GET", accessPath, "").body; now != was {
				t.Errorf("access changed from %s to %s", was, now)
			}
		})
	}
	// Roles that other users hold already can stay.
	s.check(t, call{"set the present roles", "PUT", accessPath, s.accessBody(t), 200, ""}, header["access manager"])
}

// accessBody is the body that sets the present roles in the project default.
func (s *server) accessBody(t *testing.T) string {
	t.Helper()
	var list []string
	for _, u := range decoded[struct {
		Users []struct {
			ID    int
			Roles []int
		}
	}](t, s.must(t, "GET", accessPath, "").body).Users {
		for _, role := range u.Roles {
			list = append(list, fmt.Sprintf(`{"id":%d,"users":[%d]}`, role, u.ID))
		}
	}
	return `{"roles":[` + strings.Join(list, ",") + `]}`
}

// TestUserAdministrationPermissions checks which users may call the operations on users, roles and access.
func TestUserAdministrationPermissions(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	s.must(t, "POST", roles, `{"name":"Reader of roles","type":"root-custom","permissions":[{"name":"READ_ROLE"}]}`)
	header := map[string]string{}
	for name, root := range map[string]int64{"admin": 1, "editor": 2, "viewer": 3, "reader": 6, "deleted role": 99} {
		_, header[name] = s.person(t, root)
	}
	for _, tt := range []struct {
		method, path, body string
		allowed            string
	}{
		{"GET", people, "", "admin"},
		{"GET", people + "/1", "", "admin"},
		{"GET", people + "/search?q=ad", "", "admin"},
		{"PUT", people + "/1", `{"name":"x"}`, "admin"},
		{"POST", people, `{"username":"new","rootRole":1}`, "admin"},
		{"GET", programs, "", "admin"},
		{"POST", programs, `{"username":"new-bot","name":"x","rootRole":1}`, "admin"},
		{"GET", roles, "", "admin reader"},
		{"GET", roles + "/1", "", "admin reader"},
		{"GET", "/api/admin/permissions", "", "admin reader"},
		{"POST", roles, `{"name":"new"}`, "admin"},
		{"PUT", roles + "/6", `{"name":"Reader"}`, "admin"},
		{"GET", accessPath, "", "admin editor"},
		{"GET", project, "", "admin editor viewer reader"}, // not a user whose root role does not exist
	} {
		for _, caller := range []string{"editor", "viewer", "reader", "deleted role", "admin"} {
			got := s.do(t, tt.method, tt.path, tt.body, header[caller])
			if allowed := strings.Contains(" "+tt.allowed+" ", " "+caller+" "); (got.status < 300) != allowed || got.status >= 300 && got.status != 403 {
				t.Errorf("%s %s by %s: %d %s, want success: %t, otherwise 403", tt.method, tt.path, caller, got.status, got.body, allowed)
			}
		}
	}
}

// TestBudgetOfPersonalTokens checks that a personal token costs one more call, which loads the user and the roles.
func TestBudgetOfPersonalTokens(t *testing.T) {
	t.Parallel()
	count := &counter{}
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	_, admin := s.person(t, access.RoleAdmin)
	s.must(t, "POST", features, `{"name":"f"}`)
	s.do(t, "GET", features+"/f", "", admin) // stores that the token was used, once an hour
	for _, tt := range []struct {
		method, path, body string
		want               string
	}{
		{"GET", features + "/f", "", "BatchGetItem BatchGetItem"},
		{"GET", features, "", "BatchGetItem BatchGetItem Query"},
		{"PUT", features + "/f", `{"stale":true}`, "BatchGetItem BatchGetItem TransactWriteItems"},
		{"PUT", features + "/f", `{"stale":true}`, "BatchGetItem BatchGetItem"},
	} {
		got := count.during(func() {
			if a := s.do(t, tt.method, tt.path, tt.body, admin); a.status != 200 {
				t.Errorf("%s %s: %d %s", tt.method, tt.path, a.status, a.body)
			}
		})
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s %s: calls %v, want %s", tt.method, tt.path, got, tt.want)
		}
	}
}
