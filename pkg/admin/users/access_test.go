package users_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"guidon/pkg/access"
	"guidon/pkg/apitest"
	"guidon/pkg/httpapi"
)

const accessPath = apitest.Project + "/access"

// memberOf is a user with roles, in the answer on the access to a project.
func memberOf(id int, roles ...string) string {
	return fmt.Sprintf(`{"...":0,"id":%d,"roleId":%s,"roles":[%s]}`, id, roles[0], strings.Join(roles, ","))
}

func TestProjectUsers(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", apitest.Users, `{"username":"ann","rootRole":3}`)
	s.Must(t, "POST", apitest.ServiceAccounts, `{"username":"bot","name":"Bot","rootRole":3}`)
	s.Must(t, "POST", apitest.Roles, `{"name":"Custom"}`)
	s.Must(t, "POST", apitest.Roles, `{"name":"Everywhere","type":"root-custom"}`)
	const ann, bot = apitest.Project + "/users/2/roles/", apitest.Project + "/users/3/roles/"
	users := func(list ...string) string { return `{"...":0,"users":[` + strings.Join(list, ",") + `],"groups":[]}` }
	s.Run(t, []apitest.Call{
		{"no members", "GET", accessPath, "", 200, `{"roles":[{"id":4,"type":"project","name":"Owner","description":"<any>"},` +
			`{"id":5,"type":"project","name":"Member","description":"<any>"},{"id":6,"type":"custom","name":"Custom","description":""}],"users":[],"groups":[]}`},
		{"add a user", "POST", ann + "5", `{"userId":2,"projectId":"default","roleId":5}`, 200, ""},
		{"list the user", "GET", accessPath, "", 200, users(aUser(2, 3, `,"username":"ann","roleId":5,"roles":[5]`))},
		{"add again", "POST", ann + "5", "", 409, apitest.Failure("ConflictError", "already")},
		{"add another role", "POST", ann + "4", "", 200, ""},
		{"add a service account", "POST", bot + "6", `{}`, 200, ""},
		{"list both", "GET", accessPath, "", 200, users(memberOf(2, "4", "5"), memberOf(3, "6"))},
		{"each member counts once", "GET", apitest.Project, "", 200, `{"...":0,"members":2}`},
		{"replace the roles", "PUT", ann + "6", "", 200, ""},
		{"list the new role", "GET", accessPath, "", 200, users(memberOf(2, "6"), memberOf(3, "6"))},
		{"replace by the same role", "PUT", ann + "6", `{"roleId":6}`, 200, ""},
		{"change a user who is not a member", "PUT", apitest.Project + "/users/1/roles/5", "", 200, ""},
		{"nothing changed", "GET", accessPath, "", 200, users(memberOf(2, "6"), memberOf(3, "6"))},
		{"remove a role that the user does not have", "DELETE", ann + "5", "", 404, apitest.NotFound("does not have role 5")},
		{"remove a role", "DELETE", ann + "6", "", 200, ""},
		{"remove it again", "DELETE", ann + "6", "", 404, apitest.NotFound("does not have role 6")},
		{"one member left", "GET", apitest.Project, "", 200, `{"...":0,"members":1}`},

		{"another user in the body", "POST", ann + "5", `{"userId":3}`, 400, apitest.Faulty("/userId: must be the same as in the path")},
		{"another project in the body", "PUT", ann + "5", `{"projectId":"other"}`, 400, apitest.Faulty("/projectId")},
		{"another role in the body", "DELETE", ann + "5", `{"roleId":4}`, 400, apitest.Faulty("/roleId")},
		{"a body of the wrong type", "POST", ann + "5", `{"userId":"2"}`, 400, apitest.Faulty("/userId: must be a whole number")},
		{"invalid JSON", "POST", ann + "5", `{`, 400, apitest.Faulty("JSON")},
		{"a root role", "POST", ann + "3", "", 400, apitest.Faulty("cannot be given in a project")},
		{"a custom root role", "PUT", ann + "7", "", 400, apitest.Faulty("cannot be given in a project")},
		{"an unknown role", "POST", ann + "99", "", 404, apitest.NotFound("no role 99")},
		{"an unknown user", "POST", apitest.Project + "/users/99/roles/5", "", 404, apitest.NotFound("no user 99")},
		{"a user id that is not a number", "POST", apitest.Project + "/users/ann/roles/5", "", 400, apitest.Faulty("userId")},
		{"a role id that is not a number", "POST", ann + "Member", "", 400, apitest.Faulty("roleId")},
		{"change an unknown user in an unknown project", "PUT", "/api/admin/projects/nosuch/users/99/roles/5", "", 404, apitest.Anything},
	})
}

func TestSetAccess(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	for i := range 3 {
		s.Must(t, "POST", apitest.Users, fmt.Sprintf(`{"username":"u%d","rootRole":3}`, i))
	}
	users := func(list ...string) string { return `{"...":0,"users":[` + strings.Join(list, ",") + `]}` }
	s.Run(t, []apitest.Call{
		{"set the access", "PUT", accessPath, `{"roles":[{"id":5,"users":[2,3,3],"groups":[]},{"id":4,"users":[2]},{"id":5,"users":[2]}]}`, 200, ""},
		{"the users have the roles", "GET", accessPath, "", 200, users(memberOf(2, "4", "5"), memberOf(3, "5"))},
		{"set other users", "PUT", accessPath, `{"roles":[{"id":4,"users":[4]},{"id":5,"users":[3]}],"more":1}`, 200, ""},
		{"users who are not named leave", "GET", accessPath, "", 200, users(memberOf(3, "5"), memberOf(4, "4"))},
		{"an unknown role", "PUT", accessPath, `{"roles":[{"id":99,"users":[2]}]}`, 400, apitest.Faulty("/roles/0/id: there is no project role 99")},
		{"a root role", "PUT", accessPath, `{"roles":[{"id":1,"users":[2]}]}`, 400, apitest.Faulty("/roles/0/id")},
		{"an unknown user", "PUT", accessPath, `{"roles":[{"id":5,"users":[2]},{"id":4,"users":[2,99]}]}`, 400, apitest.Faulty("/roles/1/users/1: there is no user 99")},
		{"a group", "PUT", accessPath, `{"roles":[{"id":4,"users":[],"groups":[1]}]}`, 400, apitest.Faulty("/roles/0/groups: must be empty")},
		{"too many users", "PUT", accessPath, `{"roles":[{"id":4,"users":[2` + strings.Repeat(",2", 5_000) + `]}]}`, 400, apitest.Faulty("/roles: must name at most 5000 users, names 5001")},
		{"no roles", "PUT", accessPath, `{}`, 400, apitest.Faulty("/roles: is required")},
		{"users of the wrong type", "PUT", accessPath, `{"roles":[{"id":4,"users":["2"]}]}`, 400, apitest.Faulty("/roles/0/users/0: must be a whole number")},
		{"the refused requests changed nothing", "GET", accessPath, "", 200, users(memberOf(3, "5"), memberOf(4, "4"))},
		{"set no members", "PUT", accessPath, `{"roles":[]}`, 200, ""},
		{"no members are left", "GET", accessPath, "", 200, users()},
	})
}

// TestSetAccessOfManyUsers changes more members than fit in one transaction.
func TestSetAccessOfManyUsers(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	const many = 120
	ids := make([]string, many)
	for i := range ids {
		id, _ := s.Person(t, access.RoleViewer)
		ids[i] = fmt.Sprint(id)
	}
	all := strings.Join(ids, ",")
	s.Check(t, apitest.Call{"one unknown user", "PUT", accessPath, `{"roles":[{"id":5,"users":[` + all + `,9999]}]}`, 400, apitest.Anything})
	s.Check(t, apitest.Call{"no members yet", "GET", apitest.Project, "", 200, `{"...":0,"members":0}`})
	s.Must(t, "PUT", accessPath, `{"roles":[{"id":5,"users":[`+all+`]}]}`)
	s.Check(t, apitest.Call{"all are members", "GET", apitest.Project, "", 200, fmt.Sprintf(`{"...":0,"members":%d}`, many)})
	s.Must(t, "DELETE", apitest.Users+"/"+ids[0], "")
	s.Check(t, apitest.Call{"all except one", "GET", apitest.Project, "", 200, fmt.Sprintf(`{"...":0,"members":%d}`, many-1)})
	s.Must(t, "PUT", accessPath, `{"roles":[]}`)
	s.Check(t, apitest.Call{"no members are left", "GET", apitest.Project, "", 200, `{"...":0,"members":0}`})
}

// TestAddMembersInParallel adds many users to one project concurrently, each of them twice: all become members, each once.
func TestAddMembersInParallel(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	const users = 10
	ids := make([]int64, users)
	for i := range ids {
		ids[i], _ = s.Person(t, access.RoleViewer)
	}
	var mu sync.Mutex
	statuses := map[int]int{}
	var wg sync.WaitGroup
	for i := range 2 * users {
		wg.Go(func() {
			got, err := s.Try("POST", fmt.Sprintf("%s/users/%d/roles/5", apitest.Project, ids[i/2]), "")
			mu.Lock()
			defer mu.Unlock()
			if statuses[got.Status]++; err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if statuses[200] != users || statuses[409] != users {
		t.Errorf("statuses %v, want %d each of 200 and 409", statuses, users)
	}
	s.Check(t, apitest.Call{"all are members", "GET", apitest.Project, "", 200, fmt.Sprintf(`{"...":0,"members":%d}`, users)})
}

// TestGrantsWithinOwnPermissions checks that a user can give only project roles whose permissions they hold.
func TestGrantsWithinOwnPermissions(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", apitest.Roles, `{"name":"Access manager","permissions":[{"name":"PROJECT_USER_ACCESS_WRITE"},{"name":"PROJECT_USER_ACCESS_READ"},{"name":"UPDATE_FEATURE_ENVIRONMENT","environment":"development"}]}`)
	s.Must(t, "POST", apitest.Roles, `{"name":"In development","permissions":[{"name":"UPDATE_FEATURE_ENVIRONMENT","environment":"development"}]}`)
	s.Must(t, "POST", apitest.Roles, `{"name":"In production","permissions":[{"name":"UPDATE_FEATURE_ENVIRONMENT","environment":"production"}]}`)
	s.Must(t, "POST", apitest.Roles, `{"name":"Everything","permissions":[{"name":"ADMIN"}]}`)
	const accessManager, inDevelopment, inProduction, everything = 6, 7, 8, 9
	guest, _ := s.Person(t, access.RoleViewer)
	header := map[string]string{}
	for name, role := range map[string]int{"owner": 4, "member": 5, "access manager": accessManager} {
		id, h := s.Person(t, access.RoleViewer)
		header[name] = h
		s.Must(t, "POST", fmt.Sprintf("%s/users/%d/roles/%d", apitest.Project, id, role), "")
	}
	_, header["editor"] = s.Person(t, access.RoleEditor)
	_, header["viewer"] = s.Person(t, access.RoleViewer)
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
			path := fmt.Sprintf("%s/users/%d/roles/%d", apitest.Project, guest, tt.role)
			want, whole := apitest.Anything, fmt.Sprintf(`{"roles":[{"id":%d,"users":[%d]}]}`, tt.role, guest)
			if tt.status == 403 {
				want = apitest.Failure("NoAccessError", "")
			}
			was := s.Must(t, "GET", accessPath, "").Body
			s.Check(t, apitest.Call{"add a user", "POST", path, "", tt.status, want}, header[tt.caller])
			if tt.status == 200 {
				s.Check(t, apitest.Call{"remove a role", "DELETE", path, "", 200, ""}, header[tt.caller])
			} else {
				s.Check(t, apitest.Call{"replace the roles", "PUT", path, "", 403, want}, header[tt.caller])
				s.Check(t, apitest.Call{"set the access", "PUT", accessPath, whole, 403, want}, header[tt.caller])
			}
			if now := s.Must(t, "GET", accessPath, "").Body; now != was {
				t.Errorf("access changed from %s to %s", was, now)
			}
		})
	}
	// Roles that other users hold already can stay.
	s.Check(t, apitest.Call{"set the present roles", "PUT", accessPath, accessBody(t, s), 200, ""}, header["access manager"])
}

// accessBody is the body that sets the present roles in the project default.
func accessBody(t *testing.T, s *apitest.Server) string {
	t.Helper()
	var list []string
	for _, u := range apitest.Decode[struct {
		Users []struct {
			ID    int
			Roles []int
		}
	}](t, s.Must(t, "GET", accessPath, "").Body).Users {
		for _, role := range u.Roles {
			list = append(list, fmt.Sprintf(`{"id":%d,"users":[%d]}`, role, u.ID))
		}
	}
	return `{"roles":[` + strings.Join(list, ",") + `]}`
}

// TestUserAdministrationPermissions checks which users may call the operations on users, roles and access.
func TestUserAdministrationPermissions(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", apitest.Roles, `{"name":"Reader of roles","type":"root-custom","permissions":[{"name":"READ_ROLE"}]}`)
	header := map[string]string{}
	for name, root := range map[string]int64{"admin": 1, "editor": 2, "viewer": 3, "reader": 6, "deleted role": 99} {
		_, header[name] = s.Person(t, root)
	}
	for _, tt := range []struct {
		method, path, body string
		allowed            string
	}{
		{"GET", apitest.Users, "", "admin"},
		{"GET", apitest.Users + "/1", "", "admin"},
		{"GET", apitest.Users + "/search?q=ad", "", "admin"},
		{"PUT", apitest.Users + "/1", `{"name":"x"}`, "admin"},
		{"POST", apitest.Users, `{"username":"new","rootRole":1}`, "admin"},
		{"GET", apitest.ServiceAccounts, "", "admin"},
		{"POST", apitest.ServiceAccounts, `{"username":"new-bot","name":"x","rootRole":1}`, "admin"},
		{"GET", apitest.Roles, "", "admin reader"},
		{"GET", apitest.Roles + "/1", "", "admin reader"},
		{"GET", "/api/admin/permissions", "", "admin reader"},
		{"POST", apitest.Roles, `{"name":"new"}`, "admin"},
		{"PUT", apitest.Roles + "/6", `{"name":"Reader"}`, "admin"},
		{"GET", accessPath, "", "admin editor"},
		{"GET", apitest.Project, "", "admin editor viewer reader"}, // not a user whose root role does not exist
	} {
		for _, caller := range []string{"editor", "viewer", "reader", "deleted role", "admin"} {
			got := s.Do(t, tt.method, tt.path, tt.body, header[caller])
			if allowed := strings.Contains(" "+tt.allowed+" ", " "+caller+" "); (got.Status < 300) != allowed || got.Status >= 300 && got.Status != 403 {
				t.Errorf("%s %s by %s: %d %s, want success: %t, otherwise 403", tt.method, tt.path, caller, got.Status, got.Body, allowed)
			}
		}
	}
}

// TestBudgetOfPersonalTokens checks that a personal token costs one more call, which loads the user and the roles.
func TestBudgetOfPersonalTokens(t *testing.T) {
	t.Parallel()
	count := &apitest.Counter{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	_, admin := s.Person(t, access.RoleAdmin)
	s.Must(t, "POST", apitest.Features, `{"name":"f"}`)
	s.Do(t, "GET", apitest.Features+"/f", "", admin) // stores that the token was used, once an hour
	for _, tt := range []struct {
		method, path, body string
		want               string
	}{
		{"GET", apitest.Features + "/f", "", "BatchGetItem BatchGetItem"},
		{"GET", apitest.Features, "", "BatchGetItem BatchGetItem Query"},
		{"PUT", apitest.Features + "/f", `{"stale":true}`, "BatchGetItem BatchGetItem TransactWriteItems"},
		{"PUT", apitest.Features + "/f", `{"stale":true}`, "BatchGetItem BatchGetItem"},
	} {
		got := count.During(func() {
			if a := s.Do(t, tt.method, tt.path, tt.body, admin); a.Status != 200 {
				t.Errorf("%s %s: %d %s", tt.method, tt.path, a.Status, a.Body)
			}
		})
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s %s: calls %v, want %s", tt.method, tt.path, got, tt.want)
		}
	}
}

// TestSetAccessByLeavingUser lets an owner replace themselves by more members than fit into one transaction. The caller is
// removed in the last transaction. Otherwise the remaining transactions would be refused.
func TestSetAccessByLeavingUser(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	id, header := s.Person(t, access.RoleViewer)
	s.Must(t, "POST", fmt.Sprintf("%s/users/%d/roles/4", apitest.Project, id), "")
	var members []string
	for range 60 {
		member, _ := s.Person(t, access.RoleViewer)
		members = append(members, fmt.Sprint(member))
	}
	body := fmt.Sprintf(`{"roles":[{"id":4,"users":[%s]}]}`, strings.Join(members, ","))
	s.Check(t, apitest.Call{"replace the members", "PUT", accessPath, body, 200, ""}, header)
	s.Check(t, apitest.Call{"the caller is not a member", "GET", apitest.Project, "", 200, `{"...":0,"members":60}`})
	s.Check(t, apitest.Call{"the caller has no permission", "PUT", accessPath, body, 403, apitest.Anything}, header)
}
