package users_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"guidon/pkg/access"
	"guidon/pkg/apitest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// aUser is a user as in responses.
func aUser(id int, root int, more string) string {
	return fmt.Sprintf(`{"id":%d,"isAPI":false,"accountType":"User","imageUrl":"<has https://>","inviteLink":"","loginAttempts":0,"rootRole":%d,`+
		`"seenAt":null,"createdAt":"<time>","scimId":null%s}`, id, root, more)
}

func TestUsers(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	taken := func(what string) string { return apitest.Faulty(what + " is taken") }
	wrong := apitest.Faulty
	ann := aUser(2, 3, `,"username":"ann","email":"Ann@example.com","name":"Ann"`)
	s.Run(t, []apitest.Call{
		{"the first user", "GET", apitest.Users + "/1", "", 200, aUser(1, 1, `,"username":"admin"`)},
		{"create with the name of a role", "POST", apitest.Users, `{"username":"ann","email":"Ann@example.com","name":"Ann","rootRole":"Viewer","sendEmail":true,"password":"x"}`, 201,
			strings.Replace(ann, `"id"`, `"emailSent":false,"id"`, 1)},
		{"create with the id of a role", "POST", apitest.Users, `{"email":"bob@example.com","rootRole":2}`, 201, aUser(3, 2, `,"email":"bob@example.com","emailSent":false`)},
		{"read", "GET", apitest.Users + "/2", "", 200, ann},
		{"the list, and the root roles", "GET", apitest.Users, "", 200, `{"users":[` + aUser(1, 1, `,"username":"admin"`) + `,` + ann + `,` + aUser(3, 2, `,"email":"bob@example.com"`) + `],` +
			`"rootRoles":[{"id":1,"type":"root","name":"Admin","description":"<any>"},{"id":2,"type":"root","name":"Editor","description":"<any>"},{"id":3,"type":"root","name":"Viewer","description":"<any>"}]}`},

		{"a taken username", "POST", apitest.Users, `{"username":"ann","rootRole":3}`, 400, taken(`username "ann"`)},
		{"a taken email", "POST", apitest.Users, `{"email":"bob@example.com","rootRole":3}`, 400, taken(`email "bob@example.com"`)},
		{"a taken email in another case", "POST", apitest.Users, `{"email":"ANN@example.com","rootRole":3}`, 400, taken(`@example.com"`)},
		{"the username of the first user", "POST", apitest.Users, `{"username":"admin","rootRole":3}`, 400, taken(`username "admin"`)},
		{"neither username nor email", "POST", apitest.Users, `{"name":"x","rootRole":3}`, 400, wrong("/username: is required if there is no email")},
		{"no role", "POST", apitest.Users, `{"username":"x"}`, 400, wrong("/rootRole: is required")},
		{"an unknown role", "POST", apitest.Users, `{"username":"x","rootRole":99}`, 400, wrong("/rootRole: there is no root role 99")},
		{"the name of a role in another case", "POST", apitest.Users, `{"username":"x","rootRole":"viewer"}`, 400, wrong("/rootRole")},
		{"a project role", "POST", apitest.Users, `{"username":"x","rootRole":"Owner"}`, 400, wrong("/rootRole")},
		{"a project role by id", "POST", apitest.Users, `{"username":"x","rootRole":5}`, 400, wrong("/rootRole")},
		{"a role of the wrong type", "POST", apitest.Users, `{"username":"x","rootRole":true}`, 400, wrong("/rootRole: must be the id of a role, or its name")},
		{"a null role", "POST", apitest.Users, `{"username":"x","rootRole":null}`, 400, wrong("/rootRole")},
		{"a role id with decimals", "POST", apitest.Users, `{"username":"x","rootRole":1.5}`, 400, wrong("/rootRole")},
		{"an invalid email", "POST", apitest.Users, `{"email":"no-at-sign","rootRole":3}`, 400, wrong("/email: must be an e-mail address")},
		{"a username of the wrong type", "POST", apitest.Users, `{"username":5,"rootRole":3}`, 400, wrong("/username: must be a string")},
		{"no body", "POST", apitest.Users, ``, 400, wrong("body")},

		{"change the name", "PUT", apitest.Users + "/2", `{"name":"Anna"}`, 200, aUser(2, 3, `,"username":"ann","email":"Ann@example.com","name":"Anna"`)},
		{"change the role", "PUT", apitest.Users + "/2", `{"rootRole":"Editor"}`, 200, aUser(2, 2, `,"username":"ann","email":"Ann@example.com","name":"Anna"`)},
		{"remove name and email", "PUT", apitest.Users + "/2", `{"name":null,"email":""}`, 200, aUser(2, 2, `,"username":"ann"`)},
		{"the removed email can be used again", "PUT", apitest.Users + "/3", `{"email":"ann@example.com"}`, 200, aUser(3, 2, `,"email":"ann@example.com"`)},
		{"the email in another case", "PUT", apitest.Users + "/3", `{"email":"Ann@example.com"}`, 200, aUser(3, 2, `,"email":"Ann@example.com"`)},
		{"change to a taken email", "PUT", apitest.Users + "/2", `{"email":"ann@EXAMPLE.com"}`, 400, taken(`@EXAMPLE.com"`)},
		{"change to a taken username", "PUT", apitest.Users + "/2", `{"username":"admin"}`, 400, taken(`username "admin"`)},
		{"remove username and email", "PUT", apitest.Users + "/2", `{"username":""}`, 400, wrong("/username: is required if there is no email")},
		{"change to an invalid email", "PUT", apitest.Users + "/2", `{"email":"x"}`, 400, wrong("/email")},
		{"change to an unknown role", "PUT", apitest.Users + "/2", `{"rootRole":99}`, 400, wrong("/rootRole")},
		{"an invalid body for an unknown user", "PUT", apitest.Users + "/99", `{"rootRole":99}`, 400, wrong("/rootRole")},
		{"the first user must stay an administrator", "PUT", apitest.Users + "/1", `{"rootRole":2}`, 400, wrong("first administrator")},
		{"the name of the first user can change", "PUT", apitest.Users + "/1", `{"name":"Root"}`, 200, aUser(1, 1, `,"username":"admin","name":"Root"`)},

		{"read an id that is not a number", "GET", apitest.Users + "/ann", "", 400, wrong("userId in the path must be a whole number")},
		{"a very large number", "GET", apitest.Users + "/99999999999", "", 400, wrong("userId")},

		{"the first user cannot be deleted", "DELETE", apitest.Users + "/1", "", 400, wrong("first administrator")},
		{"delete", "DELETE", apitest.Users + "/2", "", 200, ""},
		{"delete again", "DELETE", apitest.Users + "/2", "", 404, apitest.Failure("NotFoundError", "no user 2")},
		{"read a deleted user", "GET", apitest.Users + "/2", "", 404, apitest.Failure("NotFoundError", "no user 2")},
		{"names can be used again, ids cannot", "POST", apitest.Users, `{"username":"ann","rootRole":3}`, 201, `{"...":0,"username":"ann"}`},
	})
	if got := s.ID(t, apitest.Users, `{"username":"last","rootRole":3}`); got == "2" {
		t.Error("the id 2 was used again")
	}
}

func TestSearchUsers(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	for _, body := range []string{
		`{"username":"anna","name":"Zoe","rootRole":3}`, `{"email":"Annika@example.com","rootRole":3}`, `{"username":"x","name":"Übel","rootRole":3}`,
	} {
		s.Must(t, "POST", apitest.Users, body)
	}
	s.Must(t, "POST", apitest.ServiceAccounts, `{"username":"anna-bot","name":"Bot","rootRole":3}`)
	for q, want := range map[string]string{
		"ann": "anna,Annika@example.com", "ANN": "anna,Annika@example.com", "zo": "anna", "nna": "", "a": "", "": "", "%C3%BCb": "x", "%C3%BC": "", "ad": "admin",
		"anna-bot": "", "example": "",
	} {
		var found []string
		for _, u := range apitest.Decode[[]struct{ Username, Email string }](t, s.Must(t, "GET", apitest.Users+"/search?q="+q, "").Body) {
			found = append(found, u.Username+u.Email)
		}
		if got := strings.Join(found, ","); got != want {
			t.Errorf("search for %q: %s, want %s", q, got, want)
		}
	}
	s.Check(t, apitest.Call{"no query", "GET", apitest.Users + "/search", "", 200, "[]"})
}

// TestBudgetOfSearchedUsers checks that a search for users needs two calls of DynamoDB. TestBudget covers a query that is too short
// to search.
func TestBudgetOfSearchedUsers(t *testing.T) {
	t.Parallel()
	count := &apitest.Counter{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	s.Must(t, "GET", apitest.Users, "") // stores that the token was used, once an hour
	if got := count.During(func() { s.Must(t, "GET", apitest.Users+"/search?q=ad", "") }); strings.Join(got, " ") != "BatchGetItem Query" {
		t.Errorf("calls %v, want one to authenticate and one for the list", got)
	}
}

func TestServiceAccounts(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	bot := func(name string, root int) string {
		return strings.Replace(aUser(2, root, `,"username":"bot","name":"`+name+`","tokens":[]`), `"User"`, `"Service Account"`, 1)
	}
	s.Run(t, []apitest.Call{
		{"none", "GET", apitest.ServiceAccounts, "", 200, `{"serviceAccounts":[],"rootRoles":"<any>"}`},
		{"create", "POST", apitest.ServiceAccounts, `{"username":"bot","name":"Bot","rootRole":1}`, 201, bot("Bot", 1)},
		{"the list", "GET", apitest.ServiceAccounts, "", 200, `{"serviceAccounts":[` + bot("Bot", 1) + `],"rootRoles":[{"...":0,"id":1},{"...":0,"id":2},{"...":0,"id":3}]}`},
		{"the list of users does not have it", "GET", apitest.Users, "", 200, `{"...":0,"users":[` + aUser(1, 1, `,"username":"admin"`) + `]}`},
		{"it cannot be read as a user", "GET", apitest.Users + "/2", "", 404, apitest.Failure("NotFoundError", "no user 2")},
		{"it cannot be changed as a user", "PUT", apitest.Users + "/2", `{"name":"x"}`, 404, apitest.Failure("NotFoundError", "no user 2")},
		{"it cannot be deleted as a user", "DELETE", apitest.Users + "/2", "", 404, apitest.Failure("NotFoundError", "no user 2")},
		{"a user cannot be changed as a service account", "PUT", apitest.ServiceAccounts + "/1", `{"name":"x"}`, 404, apitest.Failure("NotFoundError", "no service account 1")},
		{"a user cannot be deleted as a service account", "DELETE", apitest.ServiceAccounts + "/1", "", 404, apitest.Failure("NotFoundError", "no service account 1")},
		{"a taken username", "POST", apitest.ServiceAccounts, `{"username":"bot","name":"Bot","rootRole":1}`, 400, apitest.Faulty("username")},
		{"the username of a user", "POST", apitest.ServiceAccounts, `{"username":"admin","name":"Bot","rootRole":1}`, 400, apitest.Faulty("username")},
		{"without a name", "POST", apitest.ServiceAccounts, `{"username":"b","rootRole":1}`, 400, apitest.Faulty("/name: is required")},
		{"without a username", "POST", apitest.ServiceAccounts, `{"name":"b","rootRole":1}`, 400, apitest.Faulty("/username: is required")},
		{"without a role", "POST", apitest.ServiceAccounts, `{"username":"b","name":"b"}`, 400, apitest.Faulty("/rootRole: is required")},
		{"an unknown role", "POST", apitest.ServiceAccounts, `{"username":"b","name":"b","rootRole":4}`, 400, apitest.Faulty("/rootRole")},
		{"change", "PUT", apitest.ServiceAccounts + "/2", `{"name":"Robot","rootRole":3}`, 200, bot("Robot", 3)},
		{"change to no name", "PUT", apitest.ServiceAccounts + "/2", `{"name":""}`, 400, apitest.Faulty("/name: is required")},
		{"delete", "DELETE", apitest.ServiceAccounts + "/2", "", 200, ""},
		{"delete again", "DELETE", apitest.ServiceAccounts + "/2", "", 404, apitest.Failure("NotFoundError", "2")},
	})
}

// TestParallelUsers creates two users of every name in parallel. One of the two is created, with a unique id.
func TestParallelUsers(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	const names = 20
	var mu sync.Mutex
	made, ids, statuses := map[string]int{}, map[int]bool{}, map[int]int{}
	var wg sync.WaitGroup
	for i := range 2 * names {
		wg.Go(func() {
			name := fmt.Sprintf("u%d", i/2)
			got, err := s.Try("POST", apitest.Users, fmt.Sprintf(`{"username":%q,"rootRole":3}`, name))
			mu.Lock()
			defer mu.Unlock()
			if statuses[got.Status]++; err != nil || got.Status == 400 && apitest.Match(apitest.Faulty("taken"), got.Body) != nil {
				t.Errorf("%s: %v, %d %s", name, err, got.Status, got.Body)
			}
			if got.Status == 201 {
				id := apitest.Decode[struct{ ID int }](t, got.Body).ID
				if made[name]++; ids[id] {
					t.Errorf("the id %d was used twice", id)
				}
				ids[id] = true
			}
		})
	}
	wg.Wait()
	if len(made) != names || statuses[201] != names || statuses[400] != names {
		t.Errorf("created %d, statuses %v, want %d each of 201 and 400", len(made), statuses, names)
	}
}

// TestDeletedUser checks that the token of a deleted user is rejected from the next request on, and that the user is removed
// from every project, even from more projects than one transaction can change.
func TestDeletedUser(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	id, header := s.Person(t, access.RoleViewer)
	const projects = 45 // more than one transaction can change
	for i := range projects {
		s.Must(t, "POST", "/api/admin/projects", fmt.Sprintf(`{"id":"p%d"}`, i))
		s.Must(t, "POST", fmt.Sprintf("/api/admin/projects/p%d/users/%d/roles/5", i, id), "")
	}
	s.Must(t, "DELETE", "/api/admin/projects/p7", "") // the deletion of the user ignores a deleted project
	s.Check(t, apitest.Call{"before the deletion", "GET", apitest.Project, "", 200, apitest.Anything}, header)
	s.Must(t, "DELETE", fmt.Sprintf("%s/%d", apitest.Users, id), "")
	s.Check(t, apitest.Call{"after the deletion", "GET", apitest.Project, "", 401, apitest.Failure("AuthenticationRequired", "")}, header)
	for i := range projects {
		if i != 7 {
			s.Check(t, apitest.Call{"a project", "GET", fmt.Sprintf("/api/admin/projects/p%d", i), "", 200, `{"...":0,"members":0}`})
			s.Check(t, apitest.Call{"its access", "GET", fmt.Sprintf("/api/admin/projects/p%d/access", i), "", 200, `{"...":0,"users":[],"groups":[]}`})
		}
	}
	s.Check(t, apitest.Call{"add the deleted user to a project", "POST", fmt.Sprintf("%s/users/%d/roles/5", apitest.Project, id), "", 404, apitest.Failure("NotFoundError", "no user")})
}

// TestDeletedWhileAdded adds users to a project while they are deleted. The project must have no deleted members.
func TestDeletedWhileAdded(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	for i := range 15 {
		id := s.ID(t, apitest.Users, fmt.Sprintf(`{"username":"n-%d","rootRole":3}`, i))
		var wg sync.WaitGroup
		wg.Go(func() {
			if got, err := s.Try("POST", apitest.Project+"/users/"+id+"/roles/5", ""); err != nil || got.Status != 200 && got.Status != 404 {
				t.Errorf("adding: %v %d %s", err, got.Status, got.Body)
			}
		})
		wg.Go(func() {
			if got, err := s.Try("DELETE", apitest.Users+"/"+id, ""); err != nil || got.Status != 200 {
				t.Errorf("deleting: %v %d %s", err, got.Status, got.Body)
			}
		})
		wg.Wait()
	}
	s.Check(t, apitest.Call{"no members", "GET", apitest.Project, "", 200, `{"...":0,"members":0}`})
	if p := apitest.Load[*flags.Project](t, s, flags.ProjectKey("default")); len(p.Members) != 0 {
		t.Errorf("members %v, want none", p.Members)
	}
}
