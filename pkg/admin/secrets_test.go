package admin_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"context"

	"guidon/pkg/access"
	"guidon/pkg/admin"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/seal"
)

// everySecret creates tokens of all kinds, uses, changes and deletes some of them, and returns their secrets.
func (s *server) everySecret(t *testing.T) []string {
	t.Helper()
	s.must(t, "POST", "/api/admin/projects", aShop)
	kept := s.apiToken(t, `{"tokenName":"kept","type":"admin"}`)
	front := s.apiToken(t, `{"tokenName":"several","type":"frontend","projects":["shop","default"]}`)
	deleted := s.apiToken(t, `{"tokenName":"deleted","type":"client","project":"shop"}`)
	s.must(t, "PUT", tokenPath(front), `{"expiresAt":"2100-01-01T00:00:00Z"}`)
	s.must(t, "DELETE", tokenPath(deleted), "")
	_, tokens := s.accountWithTokens(t)
	personal := secretIn(s.must(t, "POST", tokens, `{"description":"a","expiresAt":"2100-01-01T00:00:00Z"}`).body)
	deletedPersonal := secretIn(s.must(t, "POST", tokens, `{"description":"b","expiresAt":"2100-01-01T00:00:00Z"}`).body)
	s.must(t, "DELETE", tokens+"/2", "")
	own := secretIn(s.do(t, "POST", ownTokens, `{"description":"c","expiresAt":"2100-01-01T00:00:00Z"}`, as(personal)).body)
	signup := secretIn(s.must(t, "POST", signups, `{"name":"x","expiresAt":"2100-01-01T00:00:00Z"}`).body)
	s.must(t, "PUT", signups+"/"+signup, `{"enabled":false}`)
	return []string{dynamotest.AdminToken, dynamotest.ClientToken, dynamotest.FrontendToken, kept, front, deleted, personal, deletedPersonal, own, signup}
}

// shown returns the secrets that a text contains, whole or only their random part.
func shown(text string, secrets []string) []string {
	var found []string
	for _, secret := range secrets {
		random := secret[strings.LastIndexAny(secret, ".:")+1:]
		if random == "" || strings.Contains(text, random) {
			found = append(found, secret)
		}
	}
	return found
}

// TestNoSecretAtRest searches all items of the table for secrets, the list rows and histories included.
func TestNoSecretAtRest(t *testing.T) {
	t.Parallel()
	s := serve(t)
	secrets := s.everySecret(t)
	for _, secret := range secrets {
		if secret == "" {
			t.Fatalf("secrets %q, want none empty", secrets)
		}
	}
	table := dynamotest.Scan(t, s.store)
	if !strings.Contains(table, access.HashSecret(secrets[3])) || !strings.Contains(table, "api-token-created") || !strings.Contains(table, "pat-deleted") {
		t.Fatal("the scan does not have the tokens, so this test checks nothing")
	}
	if found := shown(table, secrets); len(found) > 0 {
		t.Errorf("the table shows %q, want no secret", found)
	}
	list := s.must(t, "GET", apiTokens, "").body
	want := []string{dynamotest.AdminToken, dynamotest.ClientToken, dynamotest.FrontendToken, secrets[3], secrets[4]}
	if found := shown(list, secrets); !slices.Equal(found, want) {
		t.Errorf("the list shows %q, want %q", found, want)
	}
}

// TestNoSecretInTheLog sends secrets in paths, headers and bodies of valid and invalid requests, also with a store that fails.
func TestNoSecretInTheLog(t *testing.T) {
	var log bytes.Buffer
	faults := &dynamotest.Faults{}
	s := serve(t, func(c *httpapi.Config, transport *http.RoundTripper) {
		c.Logger, *transport = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})), faults
	})
	secrets := append(s.everySecret(t), "*:*.unknown-secret")
	everywhere := func() {
		for _, secret := range secrets {
			at := tokenPath(secret)
			s.do(t, "PUT", at, `{"expiresAt":"`+secret+`"}`)
			s.do(t, "PUT", at, `{"expiresAt":"`)
			s.do(t, "GET", at, "", as(secret))
			s.do(t, "POST", at, "")
			s.do(t, "GET", "/api/admin/nosuch/"+secret+"?token="+secret, "")
			s.do(t, "GET", signups+"/"+secret, "")
			s.do(t, "DELETE", ownTokens+"/"+secret, "", as(secret))
			s.do(t, "DELETE", programs+"/2/token/"+secret, "")
			s.do(t, "POST", apiTokens, `{"tokenName":"x","type":"client","project":"`+secret+`"}`)
		}
	}
	everywhere()
	faults.Change(func(f *dynamotest.Faults) { f.DropRequests = 1 })
	handler := httpapi.New(s.store, admin.Group("tokens"), httpapi.Config{Logger: slog.New(slog.NewJSONHandler(&log, nil)), Sealer: dynamotest.Sealer})
	ctx, cancel := context.WithTimeout(t.Context(), time.Second+50*time.Millisecond)
	defer cancel()
	if got := directIn(ctx, handler, "DELETE", tokenPath(secrets[3]), ""); got.status < 500 {
		t.Errorf("%d %s over a store that fails, want 5xx", got.status, got.body)
	}
	faults.Change(func(f *dynamotest.Faults) { f.DropRequests = 0 })
	if !strings.Contains(log.String(), `"route":"PUT /api/admin/api-tokens/{token}"`) || !strings.Contains(log.String(), `"level":"ERROR"`) {
		t.Fatal("the log does not have the calls, so this test checks nothing")
	}
	if found := shown(log.String(), secrets); len(found) > 0 {
		t.Errorf("the log shows %q, want no secret", found)
	}
}

// TestMissingKey checks that only operations that return secrets need the key, and that their errors say so.
func TestMissingKey(t *testing.T) {
	t.Parallel()
	s := serve(t)
	secret := s.apiToken(t, `{"tokenName":"a","type":"client"}`)
	unreachable := errors.New("the cause, only for the log")
	for name, tt := range map[string]struct {
		sealer func(context.Context) (flags.Sealer, error)
		status int
		kind   string
	}{
		"none": {nil, 500, "InternalError"},
		"it cannot be read": {func(context.Context) (flags.Sealer, error) {
			return nil, &flags.Error{Kind: flags.Unavailable, Message: "try again", Err: unreachable}
		}, 503, "ServiceUnavailableError"},
		"another": {func(context.Context) (flags.Sealer, error) { return seal.New(strings.Repeat("another-key", 3)) }, 500, "InternalError"},
	} {
		handler := httpapi.New(s.store, admin.Group("tokens"), httpapi.Config{Limits: flags.DefaultLimits(), Sealer: tt.sealer})
		got := direct(handler, "GET", apiTokens, "")
		checkFailure(t, got, tt.status, tt.kind)
		if strings.Contains(got.body, unreachable.Error()) {
			t.Errorf("%s: %s shows the cause", name, got.body)
		}
		if got := direct(handler, "PUT", tokenPath(secret), `{"expiresAt":null}`); got.status != 200 {
			t.Errorf("%s: a change without the key: %d %s, want 200", name, got.status, got.body)
		}
		got = direct(handler, "GET", apiTokens+"/nosuch", "")
		if got.status != 200 || got.header.Get("Cache-Control") != "no-store" || got.header.Get("ETag") != "" {
			t.Errorf("%s: a list without tokens: %d %v %s, want 200 and no-store", name, got.status, got.header, got.body)
		}
	}
}

// TestSeenAt checks that the last use of a token is stored once an hour with one more call, and that a request succeeds when
// that call fails.
func TestSeenAt(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	count, faults := &counter{}, &dynamotest.Faults{}
	s := serve(t, func(c *httpapi.Config, transport *http.RoundTripper) {
		c.Now, *transport = func() time.Time { return now }, transportOf(func(r *http.Request) (*http.Response, error) {
			if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".PutItem") {
				return faults.RoundTrip(r)
			}
			return count.RoundTrip(r)
		})
	})
	faults.Base = count
	secret := s.apiToken(t, `{"tokenName":"a","type":"admin"}`)
	use := func(name string, calls ...string) {
		t.Helper()
		got := count.during(func() {
			s.check(t, call{name, "GET", project + "/features/nosuch", "", 404, anything}, as(secret))
		})
		if !slices.Equal(got, calls) {
			t.Errorf("%s: calls %q, want %q", name, got, calls)
		}
	}
	seen := func(name, want string) {
		t.Helper()
		s.check(t, call{name, "GET", apiTokens + "/a", "", 200, `{"tokens":[{"...":0,"seenAt":` + want + `}]}`})
	}
	s.must(t, "GET", project, "") // records the last use of the administrator's token
	seen("never used", "null")
	use("first", "BatchGetItem", "PutItem")
	seen("used", `"2026-01-05T12:00:00.000Z"`)
	now = now.Add(time.Hour - time.Millisecond)
	use("within the hour", "BatchGetItem")
	seen("to the hour", `"2026-01-05T12:00:00.000Z"`)
	now = now.Add(time.Millisecond)
	s.must(t, "GET", project, "")
	for name, fail := range map[string]func(*dynamotest.Faults){
		"dropped": func(f *dynamotest.Faults) { f.DropRequests = 1 }, "throttled": func(f *dynamotest.Faults) { f.Throttles = 1 },
	} {
		faults.ResetCalls()
		faults.Change(fail)
		for range 5 {
			s.check(t, call{name, "GET", features + "/nosuch", "", 404, anything}, as(secret))
		}
		if n := faults.Calls()["PutItem"]; n != 1 {
			t.Errorf("%s: five requests within a minute tried %d times to store the last use, want once", name, n)
		}
		faults.Change(func(f *dynamotest.Faults) { f.DropRequests, f.Throttles = 0, 0 })
		now = now.Add(time.Minute)
	}
	seen("not written", `"2026-01-05T12:00:00.000Z"`)
	use("after the hour", "BatchGetItem", "PutItem")
	seen("written", `"2026-01-05T13:02:00.000Z"`)

	s.check(t, call{"expires", "PUT", tokenPath(secret), `{"expiresAt":"2020-01-01T00:00:00Z"}`, 200, ""})
	now = now.Add(2 * time.Hour)
	if got := count.during(func() { s.do(t, "GET", project, "", as(secret)) }); !slices.Equal(got, []string{"BatchGetItem"}) {
		t.Errorf("an expired token: calls %q, want no last use", got)
	}
}

type transportOf func(*http.Request) (*http.Response, error)

func (f transportOf) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestBudgetOfTokenLists counts the calls of a list: one query a page, and one call for each hundred tokens and projects.
func TestBudgetOfTokenLists(t *testing.T) {
	t.Parallel()
	count := &counter{}
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	for i := range 120 {
		body, _ := json.Marshal(map[string]any{"tokenName": strings.Repeat("x", i+1), "type": "client", "project": "default"})
		s.must(t, "POST", apiTokens, string(body))
	}
	got := count.during(func() { s.must(t, "GET", apiTokens, "") })
	if want := []string{"BatchGetItem", "Query", "BatchGetItem", "BatchGetItem"}; !slices.Equal(got, want) {
		t.Errorf("calls %q, want %q", got, want)
	}
	if n := strings.Count(s.must(t, "GET", apiTokens, "").body, `"secret"`); n != 123 {
		t.Errorf("%d tokens, want 123", n)
	}
}

// TestBudgetOfUsers counts the calls of requests with a personal token: one more, for the user and the roles.
func TestBudgetOfUsers(t *testing.T) {
	t.Parallel()
	count := &counter{}
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	s.must(t, "POST", "/api/admin/projects", aShop)
	_, header := s.person(t, access.RoleViewer)
	owner := as(s.account(t, "3", map[string]string{"shop": "4"}))
	for _, c := range []struct {
		call
		header string
		calls  string
	}{
		{call{"first", "GET", ownTokens, "", 200, anything}, header, "BatchGetItem PutItem BatchGetItem BatchGetItem"},
		{call{"list", "GET", ownTokens, "", 200, anything}, header, "BatchGetItem BatchGetItem BatchGetItem"},
		{call{"create", "POST", ownTokens, `{"description":"x","expiresAt":"2100-01-01T00:00:00Z"}`, 201, anything}, header, "BatchGetItem BatchGetItem TransactWriteItems"},
		{call{"delete", "DELETE", ownTokens + "/2", "", 200, ""}, header, "BatchGetItem BatchGetItem BatchGetItem TransactWriteItems"},
		{call{"a viewer", "GET", apiTokens, "", 403, anything}, header, "BatchGetItem BatchGetItem"},
		{call{"an owner", "GET", ownTokens, "", 200, anything}, owner, "BatchGetItem PutItem BatchGetItem BatchGetItem"},
		{call{"an owner's list", "GET", apiTokens, "", 200, anything}, owner, "BatchGetItem BatchGetItem BatchGetItem Query BatchGetItem"},
		{call{"an owner creates", "POST", apiTokens, `{"tokenName":"x","type":"client","project":"shop"}`, 201, anything}, owner, "BatchGetItem BatchGetItem BatchGetItem Query TransactWriteItems"},
	} {
		if got := strings.Join(count.during(func() { s.check(t, c.call, c.header) }), " "); got != c.calls {
			t.Errorf("%s: calls %s, want %s", c.name, got, c.calls)
		}
	}
}

// TestNoNameInTheLog checks that the log has the cause of an error, and not its message, which quotes names.
func TestNoNameInTheLog(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "f")
	named := func(message string, cause error) error {
		return &flags.Error{Kind: flags.Internal, Message: message, Err: cause}
	}
	for name, fails := range map[string]error{
		"one":            named(`the flag "hush"`, errors.New("inner")),
		"one in another": named("outer", named(`the flag "hush"`, errors.New("inner"))),
		"several":        named("all", errors.Join(flags.Errorf(flags.NotFound, "there is no hush"), named("hush", errors.New("inner")))),
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			store := brokenStore{Store: s.store, commit: func() error { return fails }}
			handler := httpapi.New(store, admin.Group("features"), httpapi.Config{Logger: slog.New(slog.NewJSONHandler(&log, nil))})
			checkFailure(t, directIn(t.Context(), handler, "PUT", features+"/f", `{"stale":true}`), 500, "InternalError")
			if !strings.Contains(log.String(), `"cause":"inner"`) || strings.Contains(log.String(), "hush") {
				t.Errorf("log %s, want the cause alone", log.String())
			}
		})
	}
}
