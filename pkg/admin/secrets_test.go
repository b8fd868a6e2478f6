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
	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/seal"
)

// everySecret creates tokens of all kinds, uses, changes and deletes some of them, and returns their secrets.
func everySecret(t *testing.T, s *apitest.Server) []string {
	t.Helper()
	s.Must(t, "POST", "/api/admin/projects", `{"id":"shop"}`)
	kept := s.APIToken(t, `{"tokenName":"kept","type":"admin"}`)
	front := s.APIToken(t, `{"tokenName":"several","type":"frontend","projects":["shop","default"]}`)
	deleted := s.APIToken(t, `{"tokenName":"deleted","type":"client","project":"shop"}`)
	s.Must(t, "PUT", apitest.TokenPath(front), `{"expiresAt":"2100-01-01T00:00:00Z"}`)
	s.Must(t, "DELETE", apitest.TokenPath(deleted), "")
	_, tokens := s.AccountWithTokens(t)
	personal := apitest.SecretIn(s.Must(t, "POST", tokens, `{"description":"a","expiresAt":"2100-01-01T00:00:00Z"}`).Body)
	deletedPersonal := apitest.SecretIn(s.Must(t, "POST", tokens, `{"description":"b","expiresAt":"2100-01-01T00:00:00Z"}`).Body)
	s.Must(t, "DELETE", tokens+"/2", "")
	own := apitest.SecretIn(s.Do(t, "POST", apitest.OwnTokens, `{"description":"c","expiresAt":"2100-01-01T00:00:00Z"}`, apitest.As(personal)).Body)
	signup := apitest.SecretIn(s.Must(t, "POST", apitest.SignupTokens, `{"name":"x","expiresAt":"2100-01-01T00:00:00Z"}`).Body)
	s.Must(t, "PUT", apitest.SignupTokens+"/"+signup, `{"enabled":false}`)
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
	s := apitest.Serve(t)
	secrets := everySecret(t, s)
	for _, secret := range secrets {
		if secret == "" {
			t.Fatalf("secrets %q, want none empty", secrets)
		}
	}
	table := dynamotest.Scan(t, s.Store)
	if !strings.Contains(table, access.HashSecret(secrets[3])) || !strings.Contains(table, "api-token-created") || !strings.Contains(table, "pat-deleted") {
		t.Fatal("the scan does not have the tokens, so this test checks nothing")
	}
	if found := shown(table, secrets); len(found) > 0 {
		t.Errorf("the table shows %q, want no secret", found)
	}
	list := s.Must(t, "GET", apitest.APITokens, "").Body
	want := []string{dynamotest.AdminToken, dynamotest.ClientToken, dynamotest.FrontendToken, secrets[3], secrets[4]}
	if found := shown(list, secrets); !slices.Equal(found, want) {
		t.Errorf("the list shows %q, want %q", found, want)
	}
}

// TestNoSecretInTheLog sends secrets in paths, headers and bodies of valid and invalid requests, also with a store that fails.
func TestNoSecretInTheLog(t *testing.T) {
	var log bytes.Buffer
	faults := &dynamotest.Faults{}
	s := apitest.Serve(t, func(c *httpapi.Config, transport *http.RoundTripper) {
		c.Logger, *transport = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})), faults
	})
	secrets := append(everySecret(t, s), "*:*.unknown-secret")
	everywhere := func() {
		for _, secret := range secrets {
			at := apitest.TokenPath(secret)
			s.Do(t, "PUT", at, `{"expiresAt":"`+secret+`"}`)
			s.Do(t, "PUT", at, `{"expiresAt":"`)
			s.Do(t, "GET", at, "", apitest.As(secret))
			s.Do(t, "POST", at, "")
			s.Do(t, "GET", "/api/admin/nosuch/"+secret+"?token="+secret, "")
			s.Do(t, "GET", apitest.SignupTokens+"/"+secret, "")
			s.Do(t, "DELETE", apitest.OwnTokens+"/"+secret, "", apitest.As(secret))
			s.Do(t, "DELETE", apitest.ServiceAccounts+"/2/token/"+secret, "")
			s.Do(t, "POST", apitest.APITokens, `{"tokenName":"x","type":"client","project":"`+secret+`"}`)
		}
	}
	everywhere()
	faults.Change(func(f *dynamotest.Faults) { f.DropRequests = 1 })
	handler := httpapi.New(s.Store, admin.Group("tokens"), httpapi.Config{Logger: slog.New(slog.NewJSONHandler(&log, nil)), Sealer: dynamotest.Sealer})
	ctx, cancel := context.WithTimeout(t.Context(), time.Second+50*time.Millisecond)
	defer cancel()
	if got := apitest.DirectIn(ctx, handler, "DELETE", apitest.TokenPath(secrets[3]), ""); got.Status < 500 {
		t.Errorf("%d %s over a store that fails, want 5xx", got.Status, got.Body)
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
	s := apitest.Serve(t)
	secret := s.APIToken(t, `{"tokenName":"a","type":"client"}`)
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
		handler := httpapi.New(s.Store, admin.Group("tokens"), httpapi.Config{Limits: flags.DefaultLimits(), Sealer: tt.sealer})
		got := apitest.Direct(handler, "GET", apitest.APITokens, "")
		checkFailure(t, got, tt.status, tt.kind)
		if strings.Contains(got.Body, unreachable.Error()) {
			t.Errorf("%s: %s shows the cause", name, got.Body)
		}
		if got := apitest.Direct(handler, "PUT", apitest.TokenPath(secret), `{"expiresAt":null}`); got.Status != 200 {
			t.Errorf("%s: a change without the key: %d %s, want 200", name, got.Status, got.Body)
		}
		got = apitest.Direct(handler, "GET", apitest.APITokens+"/nosuch", "")
		if got.Status != 200 || got.Header.Get("Cache-Control") != "no-store" || got.Header.Get("ETag") != "" {
			t.Errorf("%s: a list without tokens: %d %v %s, want 200 and no-store", name, got.Status, got.Header, got.Body)
		}
	}
}

// TestSeenAt checks that the last use of a token is stored once an hour with one more call, and that a request succeeds when
// that call fails.
func TestSeenAt(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	count, faults := &apitest.Counter{}, &dynamotest.Faults{}
	s := apitest.Serve(t, func(c *httpapi.Config, transport *http.RoundTripper) {
		c.Now, *transport = func() time.Time { return now }, transportOf(func(r *http.Request) (*http.Response, error) {
			if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".PutItem") {
				return faults.RoundTrip(r)
			}
			return count.RoundTrip(r)
		})
	})
	faults.Base = count
	secret := s.APIToken(t, `{"tokenName":"a","type":"admin"}`)
	use := func(name string, calls ...string) {
		t.Helper()
		got := count.During(func() {
			s.Check(t, apitest.Call{name, "GET", apitest.Project + "/features/nosuch", "", 404, apitest.Anything}, apitest.As(secret))
		})
		if !slices.Equal(got, calls) {
			t.Errorf("%s: calls %q, want %q", name, got, calls)
		}
	}
	seen := func(name, want string) {
		t.Helper()
		s.Check(t, apitest.Call{name, "GET", apitest.APITokens + "/a", "", 200, `{"tokens":[{"...":0,"seenAt":` + want + `}]}`})
	}
	s.Must(t, "GET", apitest.Project, "") // records the last use of the administrator's token
	seen("never used", "null")
	use("first", "BatchGetItem", "PutItem")
	seen("used", `"2026-01-05T12:00:00.000Z"`)
	now = now.Add(time.Hour - time.Millisecond)
	use("within the hour", "BatchGetItem")
	seen("to the hour", `"2026-01-05T12:00:00.000Z"`)
	now = now.Add(time.Millisecond)
	s.Must(t, "GET", apitest.Project, "")
	for name, fail := range map[string]func(*dynamotest.Faults){
		"dropped": func(f *dynamotest.Faults) { f.DropRequests = 1 }, "throttled": func(f *dynamotest.Faults) { f.Throttles = 1 },
	} {
		faults.ResetCalls()
		faults.Change(fail)
		for range 5 {
			s.Check(t, apitest.Call{name, "GET", apitest.Features + "/nosuch", "", 404, apitest.Anything}, apitest.As(secret))
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

	s.Check(t, apitest.Call{"expires", "PUT", apitest.TokenPath(secret), `{"expiresAt":"2020-01-01T00:00:00Z"}`, 200, ""})
	now = now.Add(2 * time.Hour)
	if got := count.During(func() { s.Do(t, "GET", apitest.Project, "", apitest.As(secret)) }); !slices.Equal(got, []string{"BatchGetItem"}) {
		t.Errorf("an expired token: calls %q, want no last use", got)
	}
}

type transportOf func(*http.Request) (*http.Response, error)

func (f transportOf) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestBudgetOfTokenLists counts the calls of a list: one query a page, and one call for each hundred tokens and projects.
func TestBudgetOfTokenLists(t *testing.T) {
	t.Parallel()
	count := &apitest.Counter{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	for i := range 120 {
		body, _ := json.Marshal(map[string]any{"tokenName": strings.Repeat("x", i+1), "type": "client", "project": "default"})
		s.Must(t, "POST", apitest.APITokens, string(body))
	}
	got := count.During(func() { s.Must(t, "GET", apitest.APITokens, "") })
	if want := []string{"BatchGetItem", "Query", "BatchGetItem", "BatchGetItem"}; !slices.Equal(got, want) {
		t.Errorf("calls %q, want %q", got, want)
	}
	if n := strings.Count(s.Must(t, "GET", apitest.APITokens, "").Body, `"secret"`); n != 123 {
		t.Errorf("%d tokens, want 123", n)
	}
}

// TestBudgetOfUsers counts the calls of requests with a personal token: one more, for the user and the roles.
func TestBudgetOfUsers(t *testing.T) {
	t.Parallel()
	count := &apitest.Counter{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	s.Must(t, "POST", "/api/admin/projects", `{"id":"shop"}`)
	_, header := s.Person(t, access.RoleViewer)
	owner := apitest.As(s.Account(t, "3", map[string]string{"shop": "4"}))
	const ofShop = apitest.Projects + "/shop/features"
	s.Must(t, "POST", ofShop, `{"name":"f"}`)
	const tag = `{"type":"simple","value":"mine"}`
	for _, c := range []struct {
		apitest.Call
		header string
		calls  string
	}{
		{apitest.Call{"first", "GET", apitest.OwnTokens, "", 200, apitest.Anything}, header, "BatchGetItem PutItem BatchGetItem BatchGetItem"},
		{apitest.Call{"list", "GET", apitest.OwnTokens, "", 200, apitest.Anything}, header, "BatchGetItem BatchGetItem BatchGetItem"},
		{apitest.Call{"create", "POST", apitest.OwnTokens, `{"description":"x","expiresAt":"2100-01-01T00:00:00Z"}`, 201, apitest.Anything}, header, "BatchGetItem BatchGetItem TransactWriteItems"},
		{apitest.Call{"delete", "DELETE", apitest.OwnTokens + "/2", "", 200, ""}, header, "BatchGetItem BatchGetItem BatchGetItem TransactWriteItems"},
		{apitest.Call{"a viewer", "GET", apitest.APITokens, "", 403, apitest.Anything}, header, "BatchGetItem BatchGetItem"},
		{apitest.Call{"an owner", "GET", apitest.OwnTokens, "", 200, apitest.Anything}, owner, "BatchGetItem PutItem BatchGetItem BatchGetItem"},
		{apitest.Call{"an owner's list", "GET", apitest.APITokens, "", 200, apitest.Anything}, owner, "BatchGetItem BatchGetItem BatchGetItem Query BatchGetItem"},
		{apitest.Call{"an owner reads a flag", "GET", ofShop + "/f", "", 200, apitest.Anything}, owner, "BatchGetItem BatchGetItem"},
		{apitest.Call{"an owner lists flags", "GET", ofShop, "", 200, apitest.Anything}, owner, "BatchGetItem BatchGetItem Query"},
		{apitest.Call{"an owner changes a flag", "PUT", ofShop + "/f", `{"stale":true}`, 200, apitest.Anything}, owner, "BatchGetItem BatchGetItem TransactWriteItems"},
		{apitest.Call{"an owner changes nothing", "PUT", ofShop + "/f", `{"stale":true}`, 200, apitest.Anything}, owner, "BatchGetItem BatchGetItem"},
		{apitest.Call{"an owner tags a flag, whose project the path does not name", "POST", "/api/admin/features/f/tags", tag, 201, tag}, owner, "BatchGetItem BatchGetItem TransactWriteItems"},
		{apitest.Call{"an owner creates", "POST", apitest.APITokens, `{"tokenName":"x","type":"client","project":"shop"}`, 201, apitest.Anything}, owner, "BatchGetItem BatchGetItem BatchGetItem Query TransactWriteItems"},
	} {
		if got := strings.Join(count.During(func() { s.Check(t, c.Call, c.header) }), " "); got != c.calls {
			t.Errorf("%s: calls %s, want %s", c.Name, got, c.calls)
		}
	}
}

// TestNoNameInTheLog checks that the log has the cause of an error, and not its message, which quotes names.
func TestNoNameInTheLog(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
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
			store := brokenStore{Store: s.Store, commit: func() error { return fails }}
			handler := httpapi.New(store, admin.Group("features"), httpapi.Config{Logger: slog.New(slog.NewJSONHandler(&log, nil))})
			checkFailure(t, apitest.DirectIn(t.Context(), handler, "PUT", apitest.Features+"/f", `{"stale":true}`), 500, "InternalError")
			if !strings.Contains(log.String(), `"cause":"inner"`) || strings.Contains(log.String(), "hush") {
				t.Errorf("log %s, want the cause alone", log.String())
			}
		})
	}
}
