package admin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"guidon/pkg/access"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

const (
	people   = "/api/admin/user-admin"
	programs = "/api/admin/service-account"
)

// person stores a user with a personal token, and returns the user's id and the Authorization header with the token.
func (s *server) person(t *testing.T, root int64) (id int64, header string) {
	t.Helper()
	id, err := s.store.NextID(t.Context(), access.EntityUser)
	if err != nil {
		t.Fatal(err)
	}
	secret := fmt.Sprintf("user:%s-%d", t.Name(), id)
	hash := access.HashSecret(secret)
	expires := time.Now().Add(time.Hour)
	err = s.store.Commit(t.Context(), flags.Change{
		Writes: []flags.Write{
			{After: &access.User{
				ID: id, Username: fmt.Sprintf("person-%d", id), RootRole: root,
				Tokens: []access.UserToken{{ID: 1, Description: "test", Hash: hash, ExpiresAt: expires}},
			}},
			{After: &access.Token{Hash: hash, Type: access.PersonalToken, User: id, ExpiresAt: expires}},
		},
		Event: flags.Event{ID: uuid.Must(uuid.NewV7()).String(), Type: flags.UserCreated, CreatedAt: time.Now()},
	})
	if err != nil {
		t.Fatal(err)
	}
	return id, "Authorization: " + secret
}

// faulty is a 400 with a message and any details.
func faulty(part string) string {
	return `{"...":0,` + failure("ValidationError", part)[1:]
}

// decoded decodes a body.
func decoded[T any](t *testing.T, body string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Errorf("%v in %s", err, body)
	}
	return v
}

// aUser is a user as in responses.
func aUser(id int, root int, more string) string {
	return fmt.Sprintf(`{"id":%d,"isAPI":false,"accountType":"User","imageUrl":"<has https://>","inviteLink":"","loginAttempts":0,"rootRole":%d,`+
		`"seenAt":null,"createdAt":"<time>","scimId":null%s}`, id, root, more)
}

func TestUsers(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	taken := func(what string) string { return faulty(what + " is taken") }
	wrong := faulty
	ann := aUser(2, 3, `,"username":"ann","email":"Ann@example.com","name":"Ann"`)
	s.run(t, []call{
		{"the first user", "GET", people + "/1", "", 200, aUser(1, 1, `,"username":"admin"`)},
		{"create with the name of a role", "POST", people, `{"username":"ann","email":"Ann@example.com","name":"Ann","rootRole":"Viewer","sendEmail":true,"password":"x"}`, 201,
			strings.Replace(ann, `"id"`, `"emailSent":false,"id"`, 1)},
		{"create with the id of a role", "POST", people, `{"email":"bob@example.com","rootRole":2}`, 201, aUser(3, 2, `,"email":"bob@example.com","emailSent":false`)},
		{"read", "GET", people + "/2", "", 200, ann},
		{"the list, and the root roles", "GET", people, "", 200, `{"users":[` + aUser(1, 1, `,"username":"admin"`) + `,` + ann + `,` + aUser(3, 2, `,"email":"bob@example.com"`) + `],` +
			`"rootRoles":[{"id":1,"type":"root","name":"Admin","description":"<any>"},{"id":2,"type":"root","name":"Editor","description":"<any>"},{"id":3,"type":"root","name":"Viewer","description":"<any>"}]}`},

		{"a taken username", "POST", people, `{"username":"ann","rootRole":3}`, 400, taken(`username "ann"`)},
		{"a taken email", "POST", people, `{"email":"bob@example.com","rootRole":3}`, 400, taken(`email "bob@example.com"`)},
		{"a taken email in another case", "POST", people, `{"email":"ANN@example.com","rootRole":3}`, 400, taken(`@example.com"`)},
		{"the username of the first user", "POST", people, `{"username":"admin","rootRole":3}`, 400, taken(`username "admin"`)},
		{"neither username nor email", "POST", people, `{"name":"x","rootRole":3}`, 400, wrong("/username: is required if there is no email")},
		{"no role", "POST", people, `{"username":"x"}`, 400, wrong("/rootRole: is required")},
		{"an unknown role", "POST", people, `{"username":"x","rootRole":99}`, 400, wrong("/rootRole: there is no root role 99")},
		{"the name of a role in another case", "POST", people, `{"username":"x","rootRole":"viewer"}`, 400, wrong("/rootRole")},
		{"a project role", "POST", people, `{"username":"x","rootRole":"Owner"}`, 400, wrong("/rootRole")},
		{"a project role by id", "POST", people, `{"username":"x","rootRole":5}`, 400, wrong("/rootRole")},
		{"a role of the wrong type", "POST", people, `{"username":"x","rootRole":true}`, 400, wrong("/rootRole: must be the id of a role, or its name")},
		{"a null role", "POST", people, `{"username":"x","rootRole":null}`, 400, wrong("/rootRole")},
		{"a role id with decimals", "POST", people, `{"username":"x","rootRole":1.5}`, 400, wrong("/rootRole")},
		{"an invalid email", "POST", people, `{"email":"no-at-sign","rootRole":3}`, 400, wrong("/email: must be an e-mail address")},
		{"a username of the wrong type", "POST", people, `{"username":5,"rootRole":3}`, 400, wrong("/username: must be a string")},
		{"a long username", "POST", people, `{"username":"` + strings.Repeat("n", 101) + `","rootRole":3}`, 400, wrong("/username: must have at most 100")},
		{"no body", "POST", people, ``, 400, wrong("body")},

		{"change the name", "PUT", people + "/2", `{"name":"Anna"}`, 200, aUser(2, 3, `,"username":"ann","email":"Ann@example.com","name":"Anna"`)},
		{"change the role", "PUT", people + "/2", `{"rootRole":"Editor"}`, 200, aUser(2, 2, `,"username":"ann","email":"Ann@example.com","name":"Anna"`)},
		{"remove name and email", "PUT", people + "/2", `{"name":null,"email":""}`, 200, aUser(2, 2, `,"username":"ann"`)},
		{"the removed email can be used again", "PUT", people + "/3", `{"email":"ann@example.com"}`, 200, aUser(3, 2, `,"email":"ann@example.com"`)},
		{"the email in another case", "PUT", people + "/3", `{"email":"Ann@example.com"}`, 200, aUser(3, 2, `,"email":"Ann@example.com"`)},
		{"change to a taken email", "PUT", people + "/2", `{"email":"ann@EXAMPLE.com"}`, 400, taken(`@EXAMPLE.com"`)},
		{"change to a taken username", "PUT", people + "/2", `{"username":"admin"}`, 400, taken(`username "admin"`)},
		{"remove username and email", "PUT", people + "/2", `{"username":""}`, 400, wrong("/username: is required if there is no email")},
		{"change to an invalid email", "PUT", people + "/2", `{"email":"x"}`, 400, wrong("/email")},
		{"change to an unknown role", "PUT", people + "/2", `{"rootRole":99}`, 400, wrong("/rootRole")},
		{"an invalid body for an unknown user", "PUT", people + "/99", `{"rootRole":99}`, 400, wrong("/rootRole")},
		{"change an unknown user", "PUT", people + "/99", `{"name":"x"}`, 404, failure("NotFoundError", "no user 99")},
		{"the first user must stay an administrator", "PUT", people + "/1", `{"rootRole":2}`, 400, wrong("first administrator")},
		{"the name of the first user can change", "PUT", people + "/1", `{"name":"Root"}`, 200, aUser(1, 1, `,"username":"admin","name":"Root"`)},

		{"read an unknown user", "GET", people + "/99", "", 404, failure("NotFoundError", "no user 99")},
		{"read an id that is not a number", "GET", people + "/ann", "", 400, wrong("userId in the path must be a whole number")},
		{"a very large number", "GET", people + "/99999999999", "", 400, wrong("userId")},

		{"the first user cannot be deleted", "DELETE", people + "/1", "", 400, wrong("first administrator")},
		{"delete", "DELETE", people + "/2", "", 200, ""},
		{"delete again", "DELETE", people + "/2", "", 404, failure("NotFoundError", "no user 2")},
		{"read a deleted user", "GET", people + "/2", "", 404, failure("NotFoundError", "no user 2")},
		{"names can be used again, ids cannot", "POST", people, `{"username":"ann","rootRole":3}`, 201, `{"...":0,"username":"ann"}`},
	})
	if got := s.id(t, people, `{"username":"last","rootRole":3}`); got == "2" {
		t.Error("the id 2 was used again")
	}
}

func TestUserEvents(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	id := s.id(t, people, `{"username":"u","rootRole":3}`)
	s.must(t, "PUT", people+"/"+id, `{"name":"N"}`)
	s.must(t, "PUT", people+"/"+id, `{"name":"N"}`) // changes nothing
	s.must(t, "DELETE", people+"/"+id, "")
	got := fmt.Sprint(s.eventsOf(t, &access.User{ID: 2}))
	if want := "[user-created user-updated user-deleted]"; got != want {
		t.Errorf("events %s, want %s", got, want)
	}
}

func TestSearchUsers(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	for _, body := range []string{
		`{"username":"anna","name":"Zoe","rootRole":3}`, `{"email":"Annika@example.com","rootRole":3}`, `{"username":"x","name":"Übel","rootRole":3}`,
	} {
		s.must(t, "POST", people, body)
	}
	s.must(t, "POST", programs, `{"username":"anna-bot","name":"Bot","rootRole":3}`)
	for q, want := range map[string]string{
		"ann": "anna,Annika@example.com", "ANN": "anna,Annika@example.com", "zo": "anna", "nna": "", "a": "", "": "", "%C3%BCb": "x", "%C3%BC": "", "ad": "admin",
		"anna-bot": "", "example": "",
	} {
		var found []string
		for _, u := range decoded[[]struct{ Username, Email string }](t, s.must(t, "GET", people+"/search?q="+q, "").body) {
			found = append(found, u.Username+u.Email)
		}
		if got := strings.Join(found, ","); got != want {
			t.Errorf("search for %q: %s, want %s", q, got, want)
		}
	}
	s.check(t, call{"no query", "GET", people + "/search", "", 200, "[]"})
}

// TestBudgetOfSearchedUsers checks that a search for users needs two calls of DynamoDB. TestBudget covers a query that is too short
// to search.
func TestBudgetOfSearchedUsers(t *testing.T) {
	t.Parallel()
	count := &counter{}
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	s.must(t, "GET", people, "") // stores that the token was used, once an hour
	if got := count.during(func() { s.must(t, "GET", people+"/search?q=ad", "") }); strings.Join(got, " ") != "BatchGetItem Query" {
		t.Errorf("calls %v, want one to authenticate and one for the list", got)
	}
}

func TestServiceAccounts(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	bot := func(name string, root int) string {
		return strings.Replace(aUser(2, root, `,"username":"bot","name":"`+name+`","tokens":[]`), `"User"`, `"Service Account"`, 1)
	}
	s.run(t, []call{
		{"none", "GET", programs, "", 200, `{"serviceAccounts":[],"rootRoles":"<any>"}`},
		{"create", "POST", programs, `{"username":"bot","name":"Bot","rootRole":1}`, 201, bot("Bot", 1)},
		{"the list", "GET", programs, "", 200, `{"serviceAccounts":[` + bot("Bot", 1) + `],"rootRoles":[{"...":0,"id":1},{"...":0,"id":2},{"...":0,"id":3}]}`},
		{"the list of users does not have it", "GET", people, "", 200, `{"...":0,"users":[` + aUser(1, 1, `,"username":"admin"`) + `]}`},
		{"it cannot be read as a user", "GET", people + "/2", "", 404, failure("NotFoundError", "no user 2")},
		{"it cannot be changed as a user", "PUT", people + "/2", `{"name":"x"}`, 404, failure("NotFoundError", "no user 2")},
		{"it cannot be deleted as a user", "DELETE", people + "/2", "", 404, failure("NotFoundError", "no user 2")},
		{"a user cannot be changed as a service account", "PUT", programs + "/1", `{"name":"x"}`, 404, failure("NotFoundError", "no service account 1")},
		{"a user cannot be deleted as a service account", "DELETE", programs + "/1", "", 404, failure("NotFoundError", "no service account 1")},
		{"a taken username", "POST", programs, `{"username":"bot","name":"Bot","rootRole":1}`, 400, faulty("username")},
		{"the username of a user", "POST", programs, `{"username":"admin","name":"Bot","rootRole":1}`, 400, faulty("username")},
		{"without a name", "POST", programs, `{"username":"b","rootRole":1}`, 400, faulty("/name: is required")},
		{"without a username", "POST", programs, `{"name":"b","rootRole":1}`, 400, faulty("/username: is required")},
		{"without a role", "POST", programs, `{"username":"b","name":"b"}`, 400, faulty("/rootRole: is required")},
		{"an unknown role", "POST", programs, `{"username":"b","name":"b","rootRole":4}`, 400, faulty("/rootRole")},
		{"change", "PUT", programs + "/2", `{"name":"Robot","rootRole":3}`, 200, bot("Robot", 3)},
		{"change to no name", "PUT", programs + "/2", `{"name":""}`, 400, faulty("/name: is required")},
		{"change an unknown account", "PUT", programs + "/99", `{"name":"x"}`, 404, failure("NotFoundError", "99")},
		{"delete", "DELETE", programs + "/2", "", 200, ""},
		{"delete again", "DELETE", programs + "/2", "", 404, failure("NotFoundError", "2")},
	})
}

// TestParallelUsers creates two users of every name in parallel. One of the two is created, with a unique id.
func TestParallelUsers(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	const names = 20
	var mu sync.Mutex
	made, ids, statuses := map[string]int{}, map[int]bool{}, map[int]int{}
	var wg sync.WaitGroup
	for i := range 2 * names {
		wg.Go(func() {
			name := fmt.Sprintf("u%d", i/2)
			got, err := s.try("POST", people, fmt.Sprintf(`{"username":%q,"rootRole":3}`, name))
			mu.Lock()
			defer mu.Unlock()
			if statuses[got.status]++; err != nil || got.status == 400 && match(faulty("taken"), got.body) != nil {
				t.Errorf("%s: %v, %d %s", name, err, got.status, got.body)
			}
			if got.status == 201 {
				id := decoded[struct{ ID int }](t, got.body).ID
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
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	id, header := s.person(t, access.RoleViewer)
	const projects = 45 // more than one transaction can change
	for i := range projects {
		s.must(t, "POST", "/api/admin/projects", fmt.Sprintf(`{"id":"p%d"}`, i))
		s.must(t, "POST", fmt.Sprintf("/api/admin/projects/p%d/users/%d/roles/5", i, id), "")
	}
	s.must(t, "DELETE", "/api/admin/projects/p7", "") // the deletion of the user ignores a deleted project
	s.check(t, call{"before the deletion", "GET", project, "", 200, anything}, header)
	s.must(t, "DELETE", fmt.Sprintf("%s/%d", people, id), "")
	s.check(t, call{"after the deletion", "GET", project, "", 401, failure("AuthenticationRequired", "")}, header)
	for i := range projects {
		if i != 7 {
			s.check(t, call{"a project", "GET", fmt.Sprintf("/api/admin/projects/p%d", i), "", 200, `{"...":0,"members":0}`})
			s.check(t, call{"its access", "GET", fmt.Sprintf("/api/admin/projects/p%d/access", i), "", 200, `{"...":0,"users":[],"groups":[]}`})
		}
	}
	s.check(t, call{"add the deleted user to a project", "POST", fmt.Sprintf("%s/users/%d/roles/5", project, id), "", 404, failure("NotFoundError", "no user")})
}

// TestDeletedWhileAdded adds users to a project while they are deleted. The project must have no deleted members.
func TestDeletedWhileAdded(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	for range 15 {
		id := s.id(t, people, fmt.Sprintf(`{"username":"n-%d","rootRole":3}`, subjects.Add(1)))
		var wg sync.WaitGroup
		wg.Go(func() {
			if got, err := s.try("POST", project+"/users/"+id+"/roles/5", ""); err != nil || got.status != 200 && got.status != 404 {
				t.Errorf("adding: %v %d %s", err, got.status, got.body)
			}
		})
		wg.Go(func() {
			if got, err := s.try("DELETE", people+"/"+id, ""); err != nil || got.status != 200 {
				t.Errorf("deleting: %v %d %s", err, got.status, got.body)
			}
		})
		wg.Wait()
	}
	s.check(t, call{"no members", "GET", project, "", 200, `{"...":0,"members":0}`})
	view, err := s.store.Load(context.Background(), []flags.Key{flags.ProjectKey("default")})
	if err != nil {
		t.Fatal(err)
	}
	if p := flags.Find[*flags.Project](view, flags.ProjectKey("default")); len(p.Members) != 0 {
		t.Errorf("members %v, want none", p.Members)
	}
}
