package tokens_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

func wantNames(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: tokens %q, want %q", what, got, want)
	}
}

func TestCreateToken(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", "/api/admin/projects", `{"id":"shop"}`)
	of := func(name, kind, project, projects, environment, expiresAt string) string {
		return fmt.Sprintf(`{"secret":"<any>","tokenName":%q,"username":%q,"type":%q,"project":%q,"projects":%s,"environment":%q,"expiresAt":%s,"createdAt":"<time>","seenAt":null,"alias":null}`,
			name, name, kind, project, projects, environment, expiresAt)
	}
	tests := []struct{ name, body, scope, want string }{
		{"only the required fields", `{"tokenName":"a","type":"client"}`, `*:development`, of("a", "client", "*", `["*"]`, "development", "null")},
		{"the deprecated name of tokenName", `{"username":"b","type":"frontend"}`, `*:development`, of("b", "frontend", "*", `["*"]`, "development", "null")},
		{"both names", `{"tokenName":"c","username":"x","type":"client"}`, `*:development`, of("c", "client", "*", `["*"]`, "development", "null")},
		{"a type in upper case", `{"tokenName":"d","type":"CLIENT","environment":"production"}`, `*:production`, of("d", "client", "*", `["*"]`, "production", "null")},
		{"a backend token", `{"tokenName":"o","type":"backend","project":"shop"}`, `shop:development`, of("o", "backend", "shop", `["shop"]`, "development", "null")},
		{"a backend token in another case", `{"tokenName":"p","type":"Backend"}`, `*:development`, of("p", "backend", "*", `["*"]`, "development", "null")},
		{"of a project", `{"tokenName":"e","type":"client","project":"shop"}`, `shop:development`, of("e", "client", "shop", `["shop"]`, "development", "null")},
		{"of a project, as a list", `{"tokenName":"f","type":"client","projects":["shop"],"project":"shop"}`, `shop:development`, of("f", "client", "shop", `["shop"]`, "development", "null")},
		{"of several projects", `{"tokenName":"g","type":"client","projects":["shop","default","shop"]}`, `[]:development`, of("g", "client", "shop", `["shop","default"]`, "development", "null")},
		{"of a project and all projects", `{"tokenName":"h","type":"client","projects":["shop","*"]}`, `*:development`, of("h", "client", "*", `["*"]`, "development", "null")},
		{"of all environments", `{"tokenName":"i","type":"frontend","environment":"*","project":"shop"}`, `shop:*`, of("i", "frontend", "shop", `["shop"]`, "*", "null")},
		{"an admin token", `{"tokenName":"j","type":"Admin"}`, `*:*`, of("j", "admin", "*", `["*"]`, "*", "null")},
		{"an admin token with all fields", `{"tokenName":"k","type":"admin","environment":"*","projects":["*"]}`, `*:*`, of("k", "admin", "*", `["*"]`, "*", "null")},
		{"with an expiry", `{"tokenName":"l","type":"client","expiresAt":"2100-01-01T01:00:00.123456+02:00"}`, `*:development`, of("l", "client", "*", `["*"]`, "development", `"2099-12-31T23:00:00.123Z"`)},
		{"expired in the year 1", `{"tokenName":"m","type":"client","expiresAt":"0001-01-01T00:00:00Z"}`, `*:development`, of("m", "client", "*", `["*"]`, "development", `"0001-01-01T00:00:00.001Z"`)},
		{"without an expiry", `{"tokenName":"n","type":"client","expiresAt":null}`, `*:development`, of("n", "client", "*", `["*"]`, "development", "null")},
		{"a name with special characters", `{"tokenName":"ß 📦/..%2F?#\"","type":"client"}`, `*:development`, `{"...":0,"tokenName":"ß 📦/..%2F?#\""}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s.Check(t, apitest.Call{tt.name, "POST", apitest.APITokens, tt.body, 201, strings.Replace(tt.want, "{", `{"...":0,`, 1)})
		})
	}
	var list struct {
		Tokens []struct{ Secret, TokenName string }
	}
	apitest.DecodeInto(t, s.Must(t, "GET", apitest.APITokens, "").Body, &list)
	for _, tt := range tests[:len(tests)-1] {
		var want struct{ TokenName string }
		_ = json.Unmarshal([]byte(tt.want), &want)
		i := slices.IndexFunc(list.Tokens, func(token struct{ Secret, TokenName string }) bool { return token.TokenName == want.TokenName })
		if i < 0 {
			t.Errorf("%s: not in the list", tt.name)
			continue
		}
		if shape := regexp.MustCompile(`^` + regexp.QuoteMeta(tt.scope) + `\.[0-9a-f]{64}$`); !shape.MatchString(list.Tokens[i].Secret) {
			t.Errorf("%s: secret %q, want %s and 64 hex digits", tt.name, list.Tokens[i].Secret, tt.scope)
		}
		s.Check(t, apitest.Call{tt.name + ", by name", "GET", apitest.APITokens + "/" + want.TokenName, "", 200, `{"tokens":[` + tt.want + `]}`})
	}
	s.Check(t, apitest.Call{"by a name with special characters", "GET", apitest.APITokens + "/" + url.PathEscape(`ß 📦/..%2F?#"`), "", 200, `{"tokens":[{"...":0}]}`})
	s.Check(t, apitest.Call{"by an unknown name", "GET", apitest.APITokens + "/nosuch", "", 200, `{"tokens":[]}`})
}

func TestCreateInvalidToken(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.APIToken(t, `{"tokenName":"taken","type":"client"}`)
	was := s.TokenNames(t)
	s.Run(t, []apitest.Call{
		{"an empty object", "POST", apitest.APITokens, `{}`, 400, apitest.Invalid("/tokenName", "/type")},
		{"no name", "POST", apitest.APITokens, `{"tokenName":"","username":"x","type":"client"}`, 400, apitest.Invalid("/tokenName")},
		{"a blank name", "POST", apitest.APITokens, `{"tokenName":" ","type":"client"}`, 400, apitest.Invalid("/tokenName")},
		{"a long name", "POST", apitest.APITokens, fmt.Sprintf(`{"tokenName":%q,"type":"client"}`, strings.Repeat("ü", 256)), 400, apitest.Invalid("/tokenName")},
		{"a name with a NUL", "POST", apitest.APITokens, `{"tokenName":"a\u0000","type":"client"}`, 400, apitest.Invalid("/tokenName")},
		{"a number as the name", "POST", apitest.APITokens, `{"tokenName":1,"type":"client"}`, 400, apitest.Invalid("/tokenName")},
		{"an unknown type", "POST", apitest.APITokens, `{"tokenName":"x","type":"nosuch"}`, 400, apitest.Invalid("/type")},
		{"a personal token", "POST", apitest.APITokens, `{"tokenName":"x","type":"user"}`, 400, apitest.Invalid("/type")},
		{"no project", "POST", apitest.APITokens, `{"tokenName":"x","type":"client","projects":[]}`, 400, apitest.Invalid("/projects")},
		{"null projects", "POST", apitest.APITokens, `{"tokenName":"x","type":"client","projects":null}`, 400, apitest.Invalid("/projects")},
		{"an unknown project", "POST", apitest.APITokens, `{"tokenName":"x","type":"client","project":"nosuch"}`, 400, apitest.Invalid("/projects/0")},
		{"an empty project", "POST", apitest.APITokens, `{"tokenName":"x","type":"client","project":""}`, 400, apitest.Invalid("/projects/0")},
		{"an unknown one of two", "POST", apitest.APITokens, `{"tokenName":"x","type":"client","projects":["default","nosuch"]}`, 400, apitest.Invalid("/projects/1")},
		{"a project that projects does not have", "POST", apitest.APITokens, `{"tokenName":"x","type":"client","project":"a","projects":["default"]}`, 400, apitest.Invalid("/project")},
		{"an unknown environment", "POST", apitest.APITokens, `{"tokenName":"x","type":"client","environment":"nosuch"}`, 400, apitest.Invalid("/environment")},
		{"an empty environment", "POST", apitest.APITokens, `{"tokenName":"x","type":"client","environment":""}`, 400, apitest.Invalid("/environment")},
		{"an admin token of an environment", "POST", apitest.APITokens, `{"tokenName":"x","type":"admin","environment":"development"}`, 400, apitest.Invalid("/environment")},
		{"an admin token of a project", "POST", apitest.APITokens, `{"tokenName":"x","type":"admin","project":"default"}`, 400, apitest.Invalid("/projects")},
		{"a date", "POST", apitest.APITokens, `{"tokenName":"x","type":"client","expiresAt":"2030-01-01"}`, 400, apitest.Invalid("/expiresAt")},
		{"without an offset", "POST", apitest.APITokens, `{"tokenName":"x","type":"client","expiresAt":"2030-01-01T00:00:00"}`, 400, apitest.Invalid("/expiresAt")},
		{"after the year 9999", "POST", apitest.APITokens, `{"tokenName":"x","type":"client","expiresAt":"9999-12-31T23:59:59-01:00"}`, 400, apitest.Invalid("/expiresAt")},
		{"a number", "POST", apitest.APITokens, `{"tokenName":"x","type":"client","expiresAt":1}`, 400, apitest.Invalid("/expiresAt")},
		{"a taken name", "POST", apitest.APITokens, `{"tokenName":"taken","type":"frontend"}`, 409, apitest.Failure("NameExistsError", "taken")},
		{"the name of a seeded token", "POST", apitest.APITokens, `{"tokenName":"admin","type":"client"}`, 409, apitest.Failure("NameExistsError", "admin")},
		{"change without an expiry", "PUT", apitest.TokenPath(dynamotest.ClientToken), `{}`, 400, apitest.Invalid("/expiresAt")},
		{"change to an invalid expiry", "PUT", apitest.TokenPath(dynamotest.ClientToken), `{"expiresAt":"soon"}`, 400, apitest.Invalid("/expiresAt")},
		{"change an unknown token", "PUT", apitest.TokenPath("*:*.nosuch"), `{"expiresAt":null}`, 404, apitest.NotFound("no API token")},
		{"delete an unknown token", "DELETE", apitest.TokenPath("*:*.nosuch"), "", 404, apitest.NotFound("no API token")},
		{"delete by name", "DELETE", apitest.TokenPath("taken"), "", 404, apitest.NotFound("no API token")},
	})
	wantNames(t, "after all rejected requests", s.TokenNames(t), was...)
}

// TestDeleteToken checks that a deleted token is rejected from the next request on, that its name can be used again, and that
// its secret never works again.
func TestDeleteToken(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	secret := s.APIToken(t, `{"tokenName":"a","type":"admin"}`)
	s.Check(t, apitest.Call{"it works", "GET", apitest.Project, "", 200, apitest.Anything}, apitest.As(secret))
	s.Check(t, apitest.Call{"deleted, by itself", "DELETE", apitest.TokenPath(secret), "", 200, ""}, apitest.As(secret))
	s.Check(t, apitest.Call{"rejected", "GET", apitest.Project, "", 401, apitest.Failure("AuthenticationRequired", "deleted")}, apitest.As(secret))
	s.Check(t, apitest.Call{"again", "DELETE", apitest.TokenPath(secret), "", 404, apitest.NotFound("")})
	s.Check(t, apitest.Call{"changed", "PUT", apitest.TokenPath(secret), `{"expiresAt":null}`, 404, apitest.NotFound("")})
	wantNames(t, "after it", s.TokenNames(t), "admin", "client", "frontend")

	again := s.APIToken(t, `{"tokenName":"a","type":"admin"}`)
	s.Check(t, apitest.Call{"the deleted token is still rejected", "GET", apitest.Project, "", 401, apitest.Anything}, apitest.As(secret))
	s.Check(t, apitest.Call{"a new token with the same name", "GET", apitest.Project, "", 200, apitest.Anything}, apitest.As(again))
	got := s.EventsOf(t, &access.Token{Hash: access.HashSecret(secret)})
	if want := []flags.EventType{flags.APITokenCreated, flags.APITokenDeleted}; !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
	// The secret of a token of several projects has brackets, which clients encode in paths.
	several := s.APIToken(t, `{"tokenName":"b","type":"client","projects":["default","*"]}`)
	s.Check(t, apitest.Call{"not encoded", "DELETE", apitest.APITokens + "/" + several, "", 200, ""})
	s.Must(t, "POST", "/api/admin/projects", `{"id":"shop"}`)
	several = s.APIToken(t, `{"tokenName":"b","type":"client","projects":["default","shop"]}`)
	s.Check(t, apitest.Call{"encoded", "DELETE", apitest.APITokens + "/" + strings.NewReplacer("[", "%5B", "]", "%5D", ":", "%3A").Replace(several), "", 200, ""})
}

func TestTokenExpires(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	s := apitest.Serve(t, func(c *httpapi.Config, _ *http.RoundTripper) { c.Now = func() time.Time { return now } })
	secret := s.APIToken(t, `{"tokenName":"a","type":"admin","expiresAt":"2026-01-05T12:00:01Z"}`)
	past := s.APIToken(t, `{"tokenName":"b","type":"admin","expiresAt":"2020-01-01T00:00:00Z"}`)
	read := func(name, secret string, status int) {
		t.Helper()
		s.Check(t, apitest.Call{name, "GET", apitest.Project, "", status, apitest.Anything}, apitest.As(secret))
	}
	read("before", secret, 200)
	read("created expired", past, 401)
	now = now.Add(time.Second)
	read("after", secret, 401)
	s.Check(t, apitest.Call{"set a later expiry", "PUT", apitest.TokenPath(secret), `{"expiresAt":"2026-01-05T12:00:01.001Z"}`, 200, ""})
	read("with a later expiry", secret, 200)
	s.Check(t, apitest.Call{"set the same expiry", "PUT", apitest.TokenPath(secret), `{"expiresAt":"2026-01-05T13:00:01.001+01:00"}`, 200, ""})
	s.Check(t, apitest.Call{"remove the expiry", "PUT", apitest.TokenPath(past), `{"expiresAt":null}`, 200, ""})
	now = now.Add(1000 * 24 * time.Hour)
	read("long after", secret, 401)
	read("without an expiry", past, 200)
	wantNames(t, "expired tokens stay in the list", s.TokenNames(t), "a", "admin", "b", "client", "frontend")
	got := s.EventsOf(t, &access.Token{Hash: access.HashSecret(secret)})
	if want := []flags.EventType{flags.APITokenCreated, flags.APITokenUpdated}; !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}

// TestTokenScopeNeverGrows deletes projects and environments of tokens, and creates others with the same names.
func TestTokenScopeNeverGrows(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", "/api/admin/projects", `{"id":"shop"}`)
	s.Must(t, "POST", "/api/admin/environments", `{"name":"staging","type":"test"}`)
	shop := s.APIToken(t, `{"tokenName":"of-shop","type":"client","project":"shop"}`)
	s.APIToken(t, `{"tokenName":"of-both","type":"client","projects":["shop","default"]}`)
	s.APIToken(t, `{"tokenName":"of-staging","type":"client","environment":"staging"}`)
	s.APIToken(t, `{"tokenName":"of-all","type":"client"}`)
	s.Must(t, "DELETE", "/api/admin/projects/shop", "")
	s.Must(t, "DELETE", "/api/admin/environments/staging", "")
	left := []string{"admin", "client", "frontend", "of-all", "of-both"}
	for _, when := range []string{"deleted", "created again"} {
		wantNames(t, when, s.TokenNames(t), left...)
		s.Check(t, apitest.Call{when, "GET", apitest.APITokens + "/of-both", "", 200, `{"tokens":[{"...":0,"project":"default","projects":["default"]}]}`})
		s.Check(t, apitest.Call{when, "GET", apitest.APITokens + "/of-shop", "", 200, `{"tokens":[]}`})
		s.Check(t, apitest.Call{when, "PUT", apitest.TokenPath(shop), `{"expiresAt":null}`, 404, apitest.NotFound("revoked")})
		s.Must(t, "POST", "/api/admin/projects", `{"id":"shop`+map[string]string{"deleted": "", "created again": "-too"}[when]+`"}`)
		if when == "deleted" {
			s.Must(t, "POST", "/api/admin/environments", `{"name":"staging","type":"test"}`)
		}
	}
	s.Check(t, apitest.Call{"the name of a revoked token is taken", "POST", apitest.APITokens, `{"tokenName":"of-shop","type":"client"}`, 409, apitest.Anything})
	s.Check(t, apitest.Call{"delete the revoked token", "DELETE", apitest.TokenPath(shop), "", 200, ""})
	s.Check(t, apitest.Call{"its name can be used again", "POST", apitest.APITokens, `{"tokenName":"of-shop","type":"client"}`, 201, apitest.Anything})
}

// TestListedTokens checks which callers get which tokens, and that callers with no right over any token get a 403.
func TestListedTokens(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", "/api/admin/projects", `{"id":"shop"}`)
	s.APIToken(t, `{"tokenName":"shop-client","type":"client","project":"shop"}`)
	s.APIToken(t, `{"tokenName":"shop-front","type":"frontend","project":"shop","environment":"*"}`)
	s.APIToken(t, `{"tokenName":"both","type":"client","projects":["shop","default"]}`)
	s.APIToken(t, `{"tokenName":"all","type":"client"}`)
	s.APIToken(t, `{"tokenName":"root","type":"admin"}`)
	readsShop, frontend := s.RoleOf(t, "custom", "READ_PROJECT_API_TOKEN"), s.RoleOf(t, "root-custom", "READ_FRONTEND_API_TOKEN")
	for _, tt := range []struct {
		name, root string
		roles      map[string]string
		want       string
	}{
		{"an admin", "1", nil, "admin all both client frontend root shop-client shop-front"},
		{"an editor", "2", nil, "all both client frontend shop-client shop-front"},
		{"a viewer", "3", nil, "403"},
		{"a member", "3", map[string]string{"shop": "5"}, "403"},
		{"an owner", "3", map[string]string{"shop": "4"}, "shop-client shop-front"},
		{"an owner of both", "3", map[string]string{"shop": "4", "default": "4"}, "both client frontend shop-client shop-front"},
		{"with READ_PROJECT_API_TOKEN in the shop", "3", map[string]string{"shop": readsShop}, "shop-client shop-front"},
		{"with READ_FRONTEND_API_TOKEN", frontend, nil, "frontend shop-front"},
		{"with both", frontend, map[string]string{"shop": readsShop}, "frontend shop-client shop-front"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.Join(s.TokenNames(t, apitest.As(s.Account(t, tt.root, tt.roles))), " ")
			if got != tt.want {
				t.Errorf("tokens %s, want %s", got, tt.want)
			}
		})
	}
	for _, secret := range []string{dynamotest.ClientToken, dynamotest.FrontendToken} {
		s.Check(t, apitest.Call{"a client or frontend token", "GET", apitest.APITokens, "", 403, apitest.Anything}, apitest.As(secret))
	}
	viewer := s.Account(t, "3", nil)
	for _, c := range []apitest.Call{
		{"by name", "GET", apitest.APITokens + "/all", "", 403, apitest.Failure("NoAccessError", "READ_CLIENT_API_TOKEN")},
		{"before the body", "POST", apitest.APITokens, `{`, 403, apitest.Failure("NoAccessError", "CREATE_CLIENT_API_TOKEN")},
		{"before a 404", "PUT", apitest.TokenPath("nosuch"), `{"expiresAt":null}`, 403, apitest.Failure("NoAccessError", "UPDATE_CLIENT_API_TOKEN")},
		{"before a 404", "DELETE", apitest.TokenPath("nosuch"), "", 403, apitest.Failure("NoAccessError", "DELETE_CLIENT_API_TOKEN")},
	} {
		s.Check(t, c, apitest.As(viewer))
	}
	owner := s.Account(t, "3", map[string]string{"shop": "4"})
	s.Check(t, apitest.Call{"a token of more projects than the caller's", "GET", apitest.APITokens + "/both", "", 200, `{"tokens":[]}`}, apitest.As(owner))
}

// TestTokenRights checks that callers cannot create, change or delete a token with access to more than their own.
func TestTokenRights(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", "/api/admin/projects", `{"id":"shop"}`)
	editor, owner, member := s.Account(t, "2", nil), s.Account(t, "3", map[string]string{"shop": "4"}), s.Account(t, "3", map[string]string{"shop": "5"})
	front := s.Account(t, s.RoleOf(t, "root-custom", "CREATE_FRONTEND_API_TOKEN"), nil)
	for i, tt := range []struct {
		name, secret, body string
		status             int
	}{
		{"an editor: client, all projects", editor, `"type":"client"`, 201},
		{"an editor: backend, all projects", editor, `"type":"backend"`, 201},
		{"an owner: backend, own project", owner, `"type":"backend","project":"shop"`, 201},
		{"an owner: backend, all projects", owner, `"type":"backend"`, 403},
		{"with CREATE_FRONTEND_API_TOKEN: backend", front, `"type":"backend"`, 403},
		{"an editor: frontend, a project", editor, `"type":"frontend","project":"shop"`, 201},
		{"an editor: admin", editor, `"type":"admin"`, 403},
		{"an owner: own project", owner, `"type":"client","project":"shop"`, 201},
		{"an owner: own project, all environments", owner, `"type":"frontend","projects":["shop"],"environment":"*"`, 201},
		{"an owner: own project and another", owner, `"type":"client","projects":["shop","default"]`, 403},
		{"an owner: all projects", owner, `"type":"client"`, 403},
		{"an owner: unknown project", owner, `"type":"client","project":"nosuch"`, 403},
		{"an owner: unknown environment", owner, `"type":"client","project":"shop","environment":"nosuch"`, 400},
		{"an owner: admin", owner, `"type":"admin"`, 403},
		{"a member: own project", member, `"type":"client","project":"shop"`, 403},
		{"with CREATE_FRONTEND_API_TOKEN: frontend", front, `"type":"frontend"`, 201},
		{"with CREATE_FRONTEND_API_TOKEN: client", front, `"type":"client"`, 403},
	} {
		s.Check(t, apitest.Call{tt.name, "POST", apitest.APITokens, fmt.Sprintf(`{"tokenName":"t%d",%s}`, i, tt.body), tt.status, apitest.Anything}, apitest.As(tt.secret))
	}
	shop, both := s.APIToken(t, `{"tokenName":"s","type":"client","project":"shop"}`), s.APIToken(t, `{"tokenName":"b","type":"client","projects":["shop","default"]}`)
	for _, method := range []string{"PUT", "DELETE"} {
		try := func(name, secret, token string, status int) {
			t.Helper()
			body := map[string]string{"PUT": `{"expiresAt":"2100-01-01T00:00:00Z"}`}[method]
			s.Check(t, apitest.Call{method + " " + name, method, apitest.TokenPath(token), body, status, apitest.Anything}, apitest.As(secret))
		}
		try("by a member", member, shop, 403)
		try("with CREATE_FRONTEND_API_TOKEN", front, shop, 403)
		try("a token of two projects, by the owner of one", owner, both, 403)
		try("an admin token, by an editor", editor, dynamotest.AdminToken, 403)
		try("a token of all projects, by an owner", owner, dynamotest.ClientToken, 403)
		try("by an owner", owner, shop, 200)
		try("by an editor", editor, both, 200)
	}
	s.Check(t, apitest.Call{"deleted", "GET", apitest.APITokens + "/s", "", 200, `{"tokens":[]}`})
}

// TestParallelTokens creates tokens of one name in parallel, and changes and deletes one token in parallel while it is used.
func TestParallelTokens(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	got := s.Parallel(t, 16, func(int) apitest.Call {
		return apitest.Call{Method: "POST", Path: apitest.APITokens, Body: `{"tokenName":"raced","type":"admin"}`}
	})
	apitest.WantStatuses(t, got, map[int]int{201: 1, 409: 15})
	secret := apitest.SecretIn(s.Must(t, "GET", apitest.APITokens+"/raced", "").Body)
	got = s.Parallel(t, 16, func(i int) apitest.Call {
		if i%2 == 0 {
			return apitest.Call{Method: "DELETE", Path: apitest.TokenPath(secret)}
		}
		return apitest.Call{Method: "PUT", Path: apitest.TokenPath(secret), Body: fmt.Sprintf(`{"expiresAt":"2100-01-01T00:00:%02dZ"}`, i)}
	})
	if got[200] < 1 || got[200]+got[404] != 16 {
		t.Errorf("deletions and changes: %v, want 200, and 404 once it is deleted", got)
	}
	s.Check(t, apitest.Call{"rejected", "GET", apitest.Project, "", 401, apitest.Anything}, apitest.As(secret))
	s.Check(t, apitest.Call{"not in the list", "GET", apitest.APITokens + "/raced", "", 200, `{"tokens":[]}`})
	if events := s.EventsOf(t, &access.Token{Hash: access.HashSecret(secret)}); events[len(events)-1] != flags.APITokenDeleted || len(events) != got[200]+1 {
		t.Errorf("events %q, want one for each of %d changes, the deletion last", events, got[200])
	}

	// Requests that start before the deletion may succeed. Those that start after it get a 401.
	secret = s.APIToken(t, `{"tokenName":"used","type":"admin"}`)
	deleted := make(chan struct{})
	done := make(chan error, 8)
	for range cap(done) {
		go func() {
			for {
				after := false
				select {
				case <-deleted:
					after = true
				default:
				}
				got, err := s.Try("GET", apitest.Project, "", apitest.As(secret))
				if err == nil && got.Status != 200 && got.Status != 401 || after && got.Status != 401 {
					err = fmt.Errorf("status %d, after the deletion: %t", got.Status, after)
				}
				if err != nil || after {
					done <- err
					return
				}
			}
		}()
	}
	time.Sleep(20 * time.Millisecond)
	s.Must(t, "DELETE", apitest.TokenPath(secret), "")
	close(deleted)
	for range cap(done) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
