package tokens_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/apitest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

func TestAccountTokens(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	id, tokens := s.AccountWithTokens(t)
	pat := func(n int, description, more string) string {
		return fmt.Sprintf(`{"id":%d,"description":%q,"userId":%s,"createdAt":"<time>","expiresAt":"2100-01-01T00:00:00.000Z","seenAt":null%s}`, n, description, id, more)
	}
	body := func(description string) string {
		return fmt.Sprintf(`{"description":%q,"expiresAt":"2100-01-01T00:00:00Z"}`, description)
	}
	s.Run(t, []apitest.Call{
		{"an empty list", "GET", tokens, "", 200, `{"pats":[]}`},
		{"the first", "POST", tokens, body("a"), 201, pat(1, "a", `,"secret":"<has user:>"`)},
		{"the second", "POST", tokens, body("b"), 201, pat(2, "b", `,"secret":"<any>"`)},
		{"the list has no secrets", "GET", tokens, "", 200, `{"pats":[` + pat(1, "a", "") + `,` + pat(2, "b", "") + `]}`},
		{"a taken description", "POST", tokens, body("a"), 409, apitest.Failure("NameExistsError", "a")},
		{"delete", "DELETE", tokens + "/2", "", 200, ""},
		{"delete again", "DELETE", tokens + "/2", "", 404, apitest.NotFound("token 2")},
		{"the ID is not used again", "POST", tokens, body("b"), 201, pat(3, "b", `,"secret":"<any>"`)},
		{"the remaining tokens", "GET", tokens, "", 200, `{"pats":[` + pat(1, "a", "") + `,` + pat(3, "b", "") + `]}`},
		{"an empty object", "POST", tokens, `{}`, 400, apitest.Invalid("/description", "/expiresAt")},
		{"null", "POST", tokens, `{"description":"x","expiresAt":null}`, 400, apitest.Invalid("/expiresAt")},
		{"an invalid expiry", "POST", tokens, `{"description":"x","expiresAt":"soon"}`, 400, apitest.Invalid("/expiresAt")},
		{"a blank description", "POST", tokens, `{"description":" ","expiresAt":"2100-01-01T00:00:00Z"}`, 400, apitest.Invalid("/description")},
		{"an account ID that is not a number", "GET", apitest.ServiceAccounts + "/x/token", "", 400, apitest.Malformed("userId")},
		{"a token ID that is not a number", "DELETE", tokens + "/x", "", 400, apitest.Malformed("tokenId")},
		{"a user", "GET", apitest.ServiceAccounts + "/1/token", "", 404, apitest.NotFound("is a user")},
		{"create for a user", "POST", apitest.ServiceAccounts + "/1/token", body("x"), 404, apitest.NotFound("is a user")},
		{"delete from a user", "DELETE", apitest.ServiceAccounts + "/1/token/1", "", 404, apitest.NotFound("is a user")},
	})
}

// TestAccountTokenWorks checks that a token has the permissions of its account, and is rejected once it is deleted or expired.
func TestAccountTokenWorks(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	s := apitest.Serve(t, func(c *httpapi.Config, _ *http.RoundTripper) { c.Now = func() time.Time { return now } })
	_, tokens := s.AccountWithTokens(t)
	one := s.Must(t, "POST", tokens, `{"description":"one","expiresAt":"2026-01-05T12:00:01Z"}`).Body
	two := s.Must(t, "POST", tokens, `{"description":"two","expiresAt":"2027-01-01T00:00:00Z"}`).Body
	read := func(name, answer string, status int) {
		t.Helper()
		s.Check(t, apitest.Call{name, "GET", apitest.Features, "", status, apitest.Anything}, apitest.As(apitest.SecretIn(answer)))
	}
	read("the first", one, 200)
	read("the second", two, 200)
	s.Check(t, apitest.Call{"as an editor", "POST", apitest.Features, `{"name":"f"}`, 201, apitest.Anything}, apitest.As(apitest.SecretIn(two)))
	s.Check(t, apitest.Call{"when they were used", "GET", tokens, "", 200,
		`{"pats":[{"...":0,"seenAt":"2026-01-05T12:00:00.000Z"},{"...":0,"seenAt":"2026-01-05T12:00:00.000Z"}]}`})
	now = now.Add(time.Second)
	read("expired", one, 401)
	read("not yet expired", two, 200)
	s.Must(t, "DELETE", tokens+"/2", "")
	read("deleted", two, 401)
	hash := access.HashSecret(apitest.SecretIn(two))
	view, err := s.Store.Load(t.Context(), []flags.Key{access.TokenKey(hash)})
	if token := flags.Find[*access.Token](view, access.TokenKey(hash)); err != nil || token == nil || !token.Deleted {
		t.Errorf("the deleted token is %+v, %v; want it marked as deleted", token, err)
	}
}

func TestOwnTokens(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	id, header := s.Person(t, access.RoleViewer)
	_, other := s.Person(t, access.RoleViewer)
	const body = `{"description":"mine","expiresAt":"2100-01-01T00:00:00Z"}`
	s.Check(t, apitest.Call{"the first", "GET", apitest.OwnTokens, "", 200, `{"pats":[{"...":0,"id":1,"description":"test"}]}`}, header)
	got := s.Do(t, "POST", apitest.OwnTokens, body, header)
	if got.Status != 201 || !strings.HasPrefix(apitest.SecretIn(got.Body), "user:") || len(apitest.SecretIn(got.Body)) != len("user:")+64 {
		t.Fatalf("%d %s, want 201 and a secret of user: and 64 digits", got.Status, got.Body)
	}
	s.Check(t, apitest.Call{"taken", "POST", apitest.OwnTokens, body, 409, apitest.Failure("NameExistsError", "mine")}, header)
	s.Check(t, apitest.Call{"another user's token of that description", "POST", apitest.OwnTokens, body, 201, apitest.Anything}, other)
	s.Check(t, apitest.Call{"acts as the user", "GET", apitest.OwnTokens, "", 200, `{"pats":[{"...":0},{"...":0,"id":2,"description":"mine"}]}`}, apitest.As(apitest.SecretIn(got.Body)))
	s.Check(t, apitest.Call{"has no more permissions", "POST", apitest.Features, `{"name":"f"}`, 403, apitest.Anything}, apitest.As(apitest.SecretIn(got.Body)))
	s.Check(t, apitest.Call{"an unknown token", "DELETE", apitest.OwnTokens + "/3", "", 404, apitest.NotFound("token 3")}, header)
	s.Check(t, apitest.Call{"delete itself", "DELETE", apitest.OwnTokens + "/2", "", 200, ""}, apitest.As(apitest.SecretIn(got.Body)))
	s.Check(t, apitest.Call{"rejected", "GET", apitest.OwnTokens, "", 401, apitest.Anything}, apitest.As(apitest.SecretIn(got.Body)))
	s.Check(t, apitest.Call{"the remaining token", "GET", apitest.OwnTokens, "", 200, `{"pats":[{"...":0,"id":1}]}`}, header)
	events := s.EventsOf(t, &access.User{ID: id})
	if want := []flags.EventType{flags.UserCreated, flags.PersonalTokenCreated, flags.PersonalTokenDeleted}; !slices.Equal(events, want) {
		t.Errorf("events %q, want %q", events, want)
	}
}

// TestParallelPersonalTokens creates tokens of one account in parallel: each gets its own ID.
func TestParallelPersonalTokens(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	_, tokens := s.AccountWithTokens(t)
	of := func(description func(i int) string) func(int) apitest.Call {
		return func(i int) apitest.Call {
			return apitest.Call{Method: "POST", Path: tokens, Body: fmt.Sprintf(`{"description":%q,"expiresAt":"2100-01-01T00:00:00Z"}`, description(i))}
		}
	}
	s.WantParallel(t, map[int]int{201: 12}, 12, of(func(i int) string { return fmt.Sprint(i) }))
	s.WantParallel(t, map[int]int{201: 1, 409: 7}, 8, of(func(int) string { return "same" }))
	list := apitest.Decode[struct{ Pats []struct{ ID int } }](t, s.Must(t, "GET", tokens, "").Body)
	for i, pat := range list.Pats {
		if pat.ID != i+1 {
			t.Errorf("id %d at place %d, want each id once", pat.ID, i)
		}
	}
	if len(list.Pats) != 13 {
		t.Errorf("%d tokens, want 13", len(list.Pats))
	}
	s.WantParallel(t, map[int]int{200: 1, 404: 7}, 8, func(int) apitest.Call { return apitest.Call{Method: "DELETE", Path: tokens + "/1"} })
}
