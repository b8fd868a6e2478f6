package admin_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

const ownTokens = "/api/admin/user/tokens"

// accountWithTokens creates a service account that is an editor. It returns its ID and the path of its tokens.
func (s *server) accountWithTokens(t *testing.T) (id, tokens string) {
	t.Helper()
	on := subject{}
	id = s.id(t, programs, on.fill(`{"username":"{new}","name":"A program","rootRole":2}`))
	return id, programs + "/" + id + "/token"
}

func TestAccountTokens(t *testing.T) {
	t.Parallel()
	s := serve(t)
	id, tokens := s.accountWithTokens(t)
	pat := func(n int, description, more string) string {
		return fmt.Sprintf(`{"id":%d,"description":%q,"userId":%s,"createdAt":"<time>","expiresAt":"2100-01-01T00:00:00.000Z","seenAt":null%s}`, n, description, id, more)
	}
	body := func(description string) string {
		return fmt.Sprintf(`{"description":%q,"expiresAt":"2100-01-01T00:00:00Z"}`, description)
	}
	s.run(t, []call{
		{"an empty list", "GET", tokens, "", 200, `{"pats":[]}`},
		{"the first", "POST", tokens, body("a"), 201, pat(1, "a", `,"secret":"<has user:>"`)},
		{"the second", "POST", tokens, body("b"), 201, pat(2, "b", `,"secret":"<any>"`)},
		{"the list has no secrets", "GET", tokens, "", 200, `{"pats":[` + pat(1, "a", "") + `,` + pat(2, "b", "") + `]}`},
		{"a taken description", "POST", tokens, body("a"), 409, failure("NameExistsError", "a")},
		{"delete", "DELETE", tokens + "/2", "", 200, ""},
		{"delete again", "DELETE", tokens + "/2", "", 404, notFound("token 2")},
		{"the ID is not used again", "POST", tokens, body("b"), 201, pat(3, "b", `,"secret":"<any>"`)},
		{"the remaining tokens", "GET", tokens, "", 200, `{"pats":[` + pat(1, "a", "") + `,` + pat(3, "b", "") + `]}`},
		{"no body", "POST", tokens, "", 400, malformed("required")},
		{"an empty object", "POST", tokens, `{}`, 400, invalid("/description", "/expiresAt")},
		{"null", "POST", tokens, `{"description":"x","expiresAt":null}`, 400, invalid("/expiresAt")},
		{"an invalid expiry", "POST", tokens, `{"description":"x","expiresAt":"soon"}`, 400, invalid("/expiresAt")},
		{"a blank description", "POST", tokens, `{"description":" ","expiresAt":"2100-01-01T00:00:00Z"}`, 400, invalid("/description")},
		{"a long description", "POST", tokens, body(strings.Repeat("x", 256)), 400, invalid("/description")},
		{"an unknown account", "GET", programs + "/999/token", "", 404, notFound("999")},
		{"create for an unknown account", "POST", programs + "/999/token", body("x"), 404, notFound("999")},
		{"an account ID that is not a number", "GET", programs + "/x/token", "", 400, malformed("userId")},
		{"a token ID that is not a number", "DELETE", tokens + "/x", "", 400, malformed("tokenId")},
		{"a user", "GET", programs + "/1/token", "", 404, notFound("is a user")},
		{"create for a user", "POST", programs + "/1/token", body("x"), 404, notFound("is a user")},
		{"delete from a user", "DELETE", programs + "/1/token/1", "", 404, notFound("is a user")},
	})
	_, editor := s.person(t, access.RoleEditor)
	for _, c := range []call{
		{"an editor", "GET", tokens, "", 403, anything}, {"an editor", "POST", tokens, body("x"), 403, anything},
		{"an editor", "DELETE", tokens + "/1", "", 403, anything},
	} {
		s.check(t, c, editor)
	}
}

// TestAccountTokenWorks checks that a token has the permissions of its account, and is rejected once it is deleted or expired.
func TestAccountTokenWorks(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	s := serve(t, func(c *httpapi.Config, _ *http.RoundTripper) { c.Now = func() time.Time { return now } })
	_, tokens := s.accountWithTokens(t)
	one := s.must(t, "POST", tokens, `{"description":"one","expiresAt":"2026-01-05T12:00:01Z"}`).body
	two := s.must(t, "POST", tokens, `{"description":"two","expiresAt":"2027-01-01T00:00:00Z"}`).body
	read := func(name, answer string, status int) {
		t.Helper()
		s.check(t, call{name, "GET", features, "", status, anything}, as(secretIn(answer)))
	}
	read("the first", one, 200)
	read("the second", two, 200)
	s.check(t, call{"as an editor", "POST", features, `{"name":"f"}`, 201, anything}, as(secretIn(two)))
	s.check(t, call{"when they were used", "GET", tokens, "", 200,
		`{"pats":[{"...":0,"seenAt":"2026-01-05T12:00:00.000Z"},{"...":0,"seenAt":"2026-01-05T12:00:00.000Z"}]}`})
	now = now.Add(time.Second)
	read("expired", one, 401)
	read("not yet expired", two, 200)
	s.must(t, "DELETE", tokens+"/2", "")
	read("deleted", two, 401)
	hash := access.HashSecret(secretIn(two))
	view, err := s.store.Load(t.Context(), []flags.Key{access.TokenKey(hash)})
	if token := flags.Find[*access.Token](view, access.TokenKey(hash)); err != nil || token == nil || !token.Deleted {
		t.Errorf("the deleted token is %+v, %v; want it marked as deleted", token, err)
	}
}

func TestOwnTokens(t *testing.T) {
	t.Parallel()
	s := serve(t)
	id, header := s.person(t, access.RoleViewer)
	_, other := s.person(t, access.RoleViewer)
	const body = `{"description":"mine","expiresAt":"2100-01-01T00:00:00Z"}`
	for _, secret := range []string{dynamotest.AdminToken, dynamotest.ClientToken} {
		for _, c := range []call{
			{"an API token", "GET", ownTokens, "", 403, failure("NoAccessError", "")},
			{"an API token", "POST", ownTokens, body, 403, failure("NoAccessError", "")},
			{"an API token", "DELETE", ownTokens + "/1", "", 403, failure("NoAccessError", "")},
		} {
			s.check(t, c, as(secret))
		}
	}
	s.check(t, call{"the first", "GET", ownTokens, "", 200, `{"pats":[{"...":0,"id":1,"description":"test"}]}`}, header)
	got := s.do(t, "POST", ownTokens, body, header)
	if got.status != 201 || !strings.HasPrefix(secretIn(got.body), "user:") || len(secretIn(got.body)) != len("user:")+64 {
		t.Fatalf("%d %s, want 201 and a secret of user: and 64 digits", got.status, got.body)
	}
	s.check(t, call{"taken", "POST", ownTokens, body, 409, failure("NameExistsError", "mine")}, header)
	s.check(t, call{"another user's token of that description", "POST", ownTokens, body, 201, anything}, other)
	s.check(t, call{"acts as the user", "GET", ownTokens, "", 200, `{"pats":[{"...":0},{"...":0,"id":2,"description":"mine"}]}`}, as(secretIn(got.body)))
	s.check(t, call{"has no more permissions", "POST", features, `{"name":"f"}`, 403, anything}, as(secretIn(got.body)))
	s.check(t, call{"an unknown token", "DELETE", ownTokens + "/3", "", 404, notFound("token 3")}, header)
	s.check(t, call{"delete itself", "DELETE", ownTokens + "/2", "", 200, ""}, as(secretIn(got.body)))
	s.check(t, call{"rejected", "GET", ownTokens, "", 401, anything}, as(secretIn(got.body)))
	s.check(t, call{"the remaining token", "GET", ownTokens, "", 200, `{"pats":[{"...":0,"id":1}]}`}, header)
	events := s.eventsOf(t, &access.User{ID: id})
	if want := []flags.EventType{flags.UserCreated, flags.PersonalTokenCreated, flags.PersonalTokenDeleted}; !slices.Equal(events, want) {
		t.Errorf("events %q, want %q", events, want)
	}
}

// TestParallelPersonalTokens creates tokens of one account in parallel: each gets its own ID.
func TestParallelPersonalTokens(t *testing.T) {
	t.Parallel()
	s := serve(t)
	_, tokens := s.accountWithTokens(t)
	of := func(description func(i int) string) func(int) call {
		return func(i int) call {
			return call{method: "POST", path: tokens, body: fmt.Sprintf(`{"description":%q,"expiresAt":"2100-01-01T00:00:00Z"}`, description(i))}
		}
	}
	wantStatuses(t, s.parallel(t, 12, of(func(i int) string { return fmt.Sprint(i) })), map[int]int{201: 12})
	wantStatuses(t, s.parallel(t, 8, of(func(int) string { return "same" })), map[int]int{201: 1, 409: 7})
	list := decoded[struct{ Pats []struct{ ID int } }](t, s.must(t, "GET", tokens, "").body)
	for i, pat := range list.Pats {
		if pat.ID != i+1 {
			t.Errorf("id %d at place %d, want each id once", pat.ID, i)
		}
	}
	if len(list.Pats) != 13 {
		t.Errorf("%d tokens, want 13", len(list.Pats))
	}
	wantStatuses(t, s.parallel(t, 8, func(int) call { return call{method: "DELETE", path: tokens + "/1"} }), map[int]int{200: 1, 404: 7})
}
