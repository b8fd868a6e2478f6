package users_test

import (
	"fmt"
	"strings"
	"testing"

	"guidon/pkg/access"
	"guidon/pkg/apitest"
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
	s.WantParallel(t, map[int]int{200: users, 409: users}, 2*users, func(i int) apitest.Call {
		return apitest.Call{Method: "POST", Path: fmt.Sprintf("%s/users/%d/roles/5", apitest.Project, ids[i/2])}
	})
	s.Check(t, apitest.Call{"all are members", "GET", apitest.Project, "", 200, fmt.Sprintf(`{"...":0,"members":%d}`, users)})
}

// TestPresentRolesCanStay has a caller set access with roles that they cannot give, and that other users hold already.
func TestPresentRolesCanStay(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	role := s.RoleOf(t, "custom", "PROJECT_USER_ACCESS_WRITE")
	owner, _ := s.Person(t, access.RoleViewer)
	manager, header := s.Person(t, access.RoleViewer)
	s.Must(t, "POST", fmt.Sprintf("%s/users/%d/roles/4", apitest.Project, owner), "")
	s.Must(t, "POST", fmt.Sprintf("%s/users/%d/roles/%s", apitest.Project, manager, role), "")
	body := fmt.Sprintf(`{"roles":[{"id":4,"users":[%d]},{"id":%s,"users":[%d]}]}`, owner, role, manager)
	s.Check(t, apitest.Call{"the present roles", "PUT", accessPath, body, 200, ""}, header)
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
