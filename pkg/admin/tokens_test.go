package admin_test

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
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

const (
	apiTokens = "/api/admin/api-tokens"
	aShop     = `{"id":"shop"}`
)

// account creates a service account with that root role and roles in projects ("shop" to "4"). It returns the secret of a
// token of the account.
func (s *server) account(t *testing.T, rootRole string, roles map[string]string) string {
	t.Helper()
	on := subject{}
	id := s.id(t, "/api/admin/service-account", on.fill(`{"username":"{new}","name":"A person","rootRole":`+rootRole+`}`))
	for project, role := range roles {
		s.must(t, "POST", "/api/admin/projects/"+project+"/users/"+id+"/roles/"+role, "")
	}
	return secretIn(s.must(t, "POST", "/api/admin/service-account/"+id+"/token", `{"description":"d","expiresAt":"2100-01-01T00:00:00Z"}`).body)
}

// customRole creates a custom role and returns its ID.
func (s *server) customRole(t *testing.T, kind string, permissions ...access.Permission) string {
	t.Helper()
	list := make([]string, len(permissions))
	for i, p := range permissions {
		list[i] = fmt.Sprintf(`{"name":%q}`, p)
	}
	on := subject{}
	return s.id(t, "/api/admin/roles", on.fill(fmt.Sprintf(`{"name":"{new}","type":%q,"permissions":[%s]}`, kind, strings.Join(list, ","))))
}

// apiToken creates an API token and returns its secret.
func (s *server) apiToken(t *testing.T, body string) string {
	t.Helper()
	return secretIn(s.must(t, "POST", apiTokens, body).body)
}

func tokenPath(secret string) string { return apiTokens + "/" + url.PathEscape(secret) }

// names returns the sorted names of the tokens in the list that a caller gets.
func (s *server) names(t *testing.T, headers ...string) []string {
	t.Helper()
	got := s.do(t, "GET", apiTokens, "", headers...)
	if got.status != 200 {
		return []string{fmt.Sprint(got.status)}
	}
	var list struct{ Tokens []struct{ TokenName string } }
	if err := json.Unmarshal([]byte(got.body), &list); err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, token := range list.Tokens {
		names = append(names, token.TokenName)
	}
	slices.Sort(names)
	return names
}

func wantNames(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: tokens %q, want %q", what, got, want)
	}
}

func as(secret string) string { return "Authorization: " + secret }

func TestCreateToken(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	s.must(t, "POST", "/api/admin/projects", `{"id":"shop"}`)
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
			s.check(t, call{tt.name, "POST", apiTokens, tt.body, 201, strings.Replace(tt.want, "{", `{"...":0,`, 1)})
		})
	}
	var list struct {
		Tokens []struct{ Secret, TokenName string }
	}
	if err := json.Unmarshal([]byte(s.must(t, "GET", apiTokens, "").body), &list); err != nil {
		t.Fatal(err)
	}
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
		s.check(t, call{tt.name + ", by name", "GET", apiTokens + "/" + want.TokenName, "", 200, `{"tokens":[` + tt.want + `]}`})
	}
	s.check(t, call{"by a name with special characters", "GET", apiTokens + "/" + url.PathEscape(`ß 📦/..%2F?#"`), "", 200, `{"tokens":[{"...":0}]}`})
	s.check(t, call{"by an unknown name", "GET", apiTokens + "/nosuch", "", 200, `{"tokens":[]}`})
}

func TestCreateInvalidToken(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	s.apiToken(t, `{"tokenName":"taken","type":"client"}`)
	was := s.names(t)
	s.run(t, []call{
		{"an empty object", "POST", apiTokens, `{}`, 400, invalid("/tokenName", "/type")},
		{"no name", "POST", apiTokens, `{"tokenName":"","username":"x","type":"client"}`, 400, invalid("/tokenName")},
		{"a blank name", "POST", apiTokens, `{"tokenName":" ","type":"client"}`, 400, invalid("/tokenName")},
		{"a long name", "POST", apiTokens, fmt.Sprintf(`{"tokenName":%q,"type":"client"}`, strings.Repeat("ü", 256)), 400, invalid("/tokenName")},
		{"a name with a NUL", "POST", apiTokens, `{"tokenName":"a\u0000","type":"client"}`, 400, invalid("/tokenName")},
		{"a number as the name", "POST", apiTokens, `{"tokenName":1,"type":"client"}`, 400, invalid("/tokenName")},
		{"an unknown type", "POST", apiTokens, `{"tokenName":"x","type":"nosuch"}`, 400, invalid("/type")},
		{"a personal token", "POST", apiTokens, `{"tokenName":"x","type":"user"}`, 400, invalid("/type")},
		{"no project", "POST", apiTokens, `{"tokenName":"x","type":"client","projects":[]}`, 400, invalid("/projects")},
		{"null projects", "POST", apiTokens, `{"tokenName":"x","type":"client","projects":null}`, 400, invalid("/projects")},
		{"an unknown project", "POST", apiTokens, `{"tokenName":"x","type":"client","project":"nosuch"}`, 400, invalid("/projects/0")},
		{"an empty project", "POST", apiTokens, `{"tokenName":"x","type":"client","project":""}`, 400, invalid("/projects/0")},
		{"an unknown one of two", "POST", apiTokens, `{"tokenName":"x","type":"client","projects":["default","nosuch"]}`, 400, invalid("/projects/1")},
		{"a project that projects does not have", "POST", apiTokens, `{"tokenName":"x","type":"client","project":"a","projects":["default"]}`, 400, invalid("/project")},
		{"an unknown environment", "POST", apiTokens, `{"tokenName":"x","type":"client","environment":"nosuch"}`, 400, invalid("/environment")},
		{"an empty environment", "POST", apiTokens, `{"tokenName":"x","type":"client","environment":""}`, 400, invalid("/environment")},
		{"an admin token of an environment", "POST", apiTokens, `{"tokenName":"x","type":"admin","environment":"development"}`, 400, invalid("/environment")},
		{"an admin token of a project", "POST", apiTokens, `{"tokenName":"x","type":"admin","project":"default"}`, 400, invalid("/projects")},
		{"a date", "POST", apiTokens, `{"tokenName":"x","type":"client","expiresAt":"2030-01-01"}`, 400, invalid("/expiresAt")},
		{"without an offset", "POST", apiTokens, `{"tokenName":"x","type":"client","expiresAt":"2030-01-01T00:00:00"}`, 400, invalid("/expiresAt")},
		{"after the year 9999", "POST", apiTokens, `{"tokenName":"x","type":"client","expiresAt":"9999-12-31T23:59:59-01:00"}`, 400, invalid("/expiresAt")},
		{"a number", "POST", apiTokens, `{"tokenName":"x","type":"client","expiresAt":1}`, 400, invalid("/expiresAt")},
		{"a taken name", "POST", apiTokens, `{"tokenName":"taken","type":"frontend"}`, 409, failure("NameExistsError", "taken")},
		{"the name of a seeded token", "POST", apiTokens, `{"tokenName":"admin","type":"client"}`, 409, failure("NameExistsError", "admin")},
		{"change without an expiry", "PUT", tokenPath(dynamotest.ClientToken), `{}`, 400, invalid("/expiresAt")},
		{"change to an invalid expiry", "PUT", tokenPath(dynamotest.ClientToken), `{"expiresAt":"soon"}`, 400, invalid("/expiresAt")},
		{"change an unknown token", "PUT", tokenPath("*:*.nosuch"), `{"expiresAt":null}`, 404, notFound("no API token")},
		{"delete an unknown token", "DELETE", tokenPath("*:*.nosuch"), "", 404, notFound("no API token")},
		{"delete by name", "DELETE", tokenPath("taken"), "", 404, notFound("no API token")},
	})
	wantNames(t, "after all rejected requests", s.names(t), was...)
}

// TestDeleteToken checks that a deleted token is rejected from the next request on, that its name can be used again, and that
// its secret never works again.
func TestDeleteToken(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	secret := s.apiToken(t, `{"tokenName":"a","type":"admin"}`)
	s.check(t, call{"it works", "GET", project, "", 200, anything}, as(secret))
	s.check(t, call{"deleted, by itself", "DELETE", tokenPath(secret), "", 200, ""}, as(secret))
	s.check(t, call{"rejected", "GET", project, "", 401, failure("AuthenticationRequired", "deleted")}, as(secret))
	s.check(t, call{"again", "DELETE", tokenPath(secret), "", 404, notFound("")})
	s.check(t, call{"changed", "PUT", tokenPath(secret), `{"expiresAt":null}`, 404, notFound("")})
	wantNames(t, "after it", s.names(t), "admin", "client", "frontend")

	again := s.apiToken(t, `{"tokenName":"a","type":"admin"}`)
	s.check(t, call{"the deleted token is still rejected", "GET", project, "", 401, anything}, as(secret))
	s.check(t, call{"a new token with the same name", "GET", project, "", 200, anything}, as(again))
	got := s.eventsOf(t, &access.Token{Hash: access.HashSecret(secret)})
	if want := []flags.EventType{flags.APITokenCreated, flags.APITokenDeleted}; !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
	// The secret of a token of several projects has brackets, which clients encode in paths.
	several := s.apiToken(t, `{"tokenName":"b","type":"client","projects":["default","*"]}`)
	s.check(t, call{"not encoded", "DELETE", apiTokens + "/" + several, "", 200, ""})
	s.must(t, "POST", "/api/admin/projects", aShop)
	several = s.apiToken(t, `{"tokenName":"b","type":"client","projects":["default","shop"]}`)
	s.check(t, call{"encoded", "DELETE", apiTokens + "/" + strings.NewReplacer("[", "%5B", "]", "%5D", ":", "%3A").Replace(several), "", 200, ""})
}

func TestTokenExpires(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	s := serve(t, func(c *httpapi.Config, _ *http.RoundTripper) { c.Now = func() time.Time { return now } })
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	secret := s.apiToken(t, `{"tokenName":"a","type":"admin","expiresAt":"2026-01-05T12:00:01Z"}`)
	past := s.apiToken(t, `{"tokenName":"b","type":"admin","expiresAt":"2020-01-01T00:00:00Z"}`)
	read := func(name, secret string, status int) {
		t.Helper()
		s.check(t, call{name, "GET", project, "", status, anything}, as(secret))
	}
	read("before", secret, 200)
	read("created expired", past, 401)
	now = now.Add(time.Second)
	read("after", secret, 401)
	s.check(t, call{"set a later expiry", "PUT", tokenPath(secret), `{"expiresAt":"2026-01-05T12:00:01.001Z"}`, 200, ""})
	read("with a later expiry", secret, 200)
	s.check(t, call{"set the same expiry", "PUT", tokenPath(secret), `{"expiresAt":"2026-01-05T13:00:01.001+01:00"}`, 200, ""})
	s.check(t, call{"remove the expiry", "PUT", tokenPath(past), `{"expiresAt":null}`, 200, ""})
	now = now.Add(1000 * 24 * time.Hour)
	read("long after", secret, 401)
	read("without an expiry", past, 200)
	wantNames(t, "expired tokens stay in the list", s.names(t), "a", "admin", "b", "client", "frontend")
	got := s.eventsOf(t, &access.Token{Hash: access.HashSecret(secret)})
	if want := []flags.EventType{flags.APITokenCreated, flags.APITokenUpdated}; !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}

// TestTokenScopeNeverGrows deletes projects and environments of tokens, and creates others with the same names.
func TestTokenScopeNeverGrows(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	s.must(t, "POST", "/api/admin/projects", aShop)
	s.must(t, "POST", "/api/admin/environments", `{"name":"staging","type":"test"}`)
	shop := s.apiToken(t, `{"tokenName":"of-shop","type":"client","project":"shop"}`)
	s.apiToken(t, `{"tokenName":"of-both","type":"client","projects":["shop","default"]}`)
	s.apiToken(t, `{"tokenName":"of-staging","type":"client","environment":"staging"}`)
	s.apiToken(t, `{"tokenName":"of-all","type":"client"}`)
	s.must(t, "DELETE", "/api/admin/projects/shop", "")
	s.must(t, "DELETE", "/api/admin/environments/staging", "")
	left := []string{"admin", "client", "frontend", "of-all", "of-both"}
	for _, when := range []string{"deleted", "created again"} {
		wantNames(t, when, s.names(t), left...)
		s.check(t, call{when, "GET", apiTokens + "/of-both", "", 200, `{"tokens":[{"...":0,"project":"default","projects":["default"]}]}`})
		s.check(t, call{when, "GET", apiTokens + "/of-shop", "", 200, `{"tokens":[]}`})
		s.check(t, call{when, "PUT", tokenPath(shop), `{"expiresAt":null}`, 404, notFound("revoked")})
		s.must(t, "POST", "/api/admin/projects", `{"id":"shop`+map[string]string{"deleted": "", "created again": "-too"}[when]+`"}`)
		if when == "deleted" {
			s.must(t, "POST", "/api/admin/environments", `{"name":"staging","type":"test"}`)
		}
	}
	s.check(t, call{"the name of a revoked token is taken", "POST", apiTokens, `{"tokenName":"of-shop","type":"client"}`, 409, anything})
	s.check(t, call{"delete the revoked token", "DELETE", tokenPath(shop), "", 200, ""})
	s.check(t, call{"its name can be used again", "POST", apiTokens, `{"tokenName":"of-shop","type":"client"}`, 201, anything})
}

// TestListedTokens checks which callers get which tokens, and that callers with no right over any token get a 403.
func TestListedTokens(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	s.must(t, "POST", "/api/admin/projects", aShop)
	s.apiToken(t, `{"tokenName":"shop-client","type":"client","project":"shop"}`)
	s.apiToken(t, `{"tokenName":"shop-front","type":"frontend","project":"shop","environment":"*"}`)
	s.apiToken(t, `{"tokenName":"both","type":"client","projects":["shop","default"]}`)
	s.apiToken(t, `{"tokenName":"all","type":"client"}`)
	s.apiToken(t, `{"tokenName":"root","type":"admin"}`)
	readsShop, frontend := s.customRole(t, "custom", access.ReadProjectToken), s.customRole(t, "root-custom", access.ReadFrontendToken)
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
			got := strings.Join(s.names(t, as(s.account(t, tt.root, tt.roles))), " ")
			if got != tt.want {
				t.Errorf("tokens %s, want %s", got, tt.want)
			}
		})
	}
	for _, secret := range []string{dynamotest.ClientToken, dynamotest.FrontendToken} {
		s.check(t, call{"a client or frontend token", "GET", apiTokens, "", 403, anything}, as(secret))
	}
	viewer := s.account(t, "3", nil)
	for _, c := range []call{
		{"by name", "GET", apiTokens + "/all", "", 403, failure("NoAccessError", "READ_CLIENT_API_TOKEN")},
		{"before the body", "POST", apiTokens, `{`, 403, failure("NoAccessError", "CREATE_CLIENT_API_TOKEN")},
		{"before a 404", "PUT", tokenPath("nosuch"), `{"expiresAt":null}`, 403, failure("NoAccessError", "UPDATE_CLIENT_API_TOKEN")},
		{"before a 404", "DELETE", tokenPath("nosuch"), "", 403, failure("NoAccessError", "DELETE_CLIENT_API_TOKEN")},
	} {
		s.check(t, c, as(viewer))
	}
	owner := s.account(t, "3", map[string]string{"shop": "4"})
	s.check(t, call{"a token of more projects than the caller's", "GET", apiTokens + "/both", "", 200, `{"tokens":[]}`}, as(owner))
}

// TestTokenRights checks that callers cannot create, change or delete a token with access to more than their own.
func TestTokenRights(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	s.must(t, "POST", "/api/admin/projects", aShop)
	editor, owner, member := s.account(t, "2", nil), s.account(t, "3", map[string]string{"shop": "4"}), s.account(t, "3", map[string]string{"shop": "5"})
	front := s.account(t, s.customRole(t, "root-custom", access.CreateFrontendToken), nil)
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
		s.check(t, call{tt.name, "POST", apiTokens, fmt.Sprintf(`{"tokenName":"t%d",%s}`, i, tt.body), tt.status, anything}, as(tt.secret))
	}
	shop, both := s.apiToken(t, `{"tokenName":"s","type":"client","project":"shop"}`), s.apiToken(t, `{"tokenName":"b","type":"client","projects":["shop","default"]}`)
	for _, method := range []string{"PUT", "DELETE"} {
		try := func(name, secret, token string, status int) {
			t.Helper()
			body := map[string]string{"PUT": `{"expiresAt":"2100-01-01T00:00:00Z"}`}[method]
			s.check(t, call{method + " " + name, method, tokenPath(token), body, status, anything}, as(secret))
		}
		try("by a member", member, shop, 403)
		try("with CREATE_FRONTEND_API_TOKEN", front, shop, 403)
		try("a token of two projects, by the owner of one", owner, both, 403)
		try("an admin token, by an editor", editor, dynamotest.AdminToken, 403)
		try("a token of all projects, by an owner", owner, dynamotest.ClientToken, 403)
		try("by an owner", owner, shop, 200)
		try("by an editor", editor, both, 200)
	}
	s.check(t, call{"deleted", "GET", apiTokens + "/s", "", 200, `{"tokens":[]}`})
}

// TestParallelTokens creates tokens of one name in parallel, and changes and deletes one token in parallel while it is used.
func TestParallelTokens(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	got := s.parallel(t, 16, func(int) call {
		return call{method: "POST", path: apiTokens, body: `{"tokenName":"raced","type":"admin"}`}
	})
	wantStatuses(t, got, map[int]int{201: 1, 409: 15})
	secret := secretIn(s.must(t, "GET", apiTokens+"/raced", "").body)
	got = s.parallel(t, 16, func(i int) call {
		if i%2 == 0 {
			return call{method: "DELETE", path: tokenPath(secret)}
		}
		return call{method: "PUT", path: tokenPath(secret), body: fmt.Sprintf(`{"expiresAt":"2100-01-01T00:00:%02dZ"}`, i)}
	})
	if got[200] < 1 || got[200]+got[404] != 16 {
		t.Errorf("deletions and changes: %v, want 200, and 404 once it is deleted", got)
	}
	s.check(t, call{"rejected", "GET", project, "", 401, anything}, as(secret))
	s.check(t, call{"not in the list", "GET", apiTokens + "/raced", "", 200, `{"tokens":[]}`})
	if events := s.eventsOf(t, &access.Token{Hash: access.HashSecret(secret)}); events[len(events)-1] != flags.APITokenDeleted || len(events) != got[200]+1 {
		t.Errorf("events %q, want one for each of %d changes, the deletion last", events, got[200])
	}

	// Requests that start before the deletion may succeed. Those that start after it get a 401.
	secret = s.apiToken(t, `{"tokenName":"used","type":"admin"}`)
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
				got, err := s.try("GET", project, "", as(secret))
				if err == nil && got.status != 200 && got.status != 401 || after && got.status != 401 {
					err = fmt.Errorf("status %d, after the deletion: %t", got.status, after)
				}
				if err != nil || after {
					done <- err
					return
				}
			}
		}()
	}
	time.Sleep(20 * time.Millisecond)
	s.must(t, "DELETE", tokenPath(secret), "")
	close(deleted)
	for range cap(done) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
