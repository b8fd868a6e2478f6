package ingest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"guidon/internal/capacity"
	"guidon/pkg/access"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
)

// TestTokens checks who may report, and for which projects and environment.
func TestTokens(t *testing.T) {
	now := time.Now()
	s := serve(t, nil, func(c *httpapi.Config) { c.Now = func() time.Time { return now } })
	s.administer(t, "projects", "POST", "/api/admin/projects", `{"id": "shop", "name": "Shop"}`)
	shop := s.token(t, `{"tokenName": "shop", "type": "client", "projects": ["shop", "default"], "environment": "production"}`)
	expiring := s.token(t, fmt.Sprintf(`{"tokenName": "expiring", "type": "client", "projects": ["shop"], "environment": "production", "expiresAt": %q}`,
		now.Add(time.Hour).UTC().Format(time.RFC3339)))
	deleted := s.token(t, `{"tokenName": "deleted", "type": "client", "projects": ["*"], "environment": "production"}`)
	s.administer(t, "tokens", "DELETE", "/api/admin/api-tokens/"+deleted, "")
	personal := s.administer(t, "tokens", "POST", "/api/admin/service-account/"+s.account(t)+"/token", `{"description": "ci", "expiresAt": "2100-01-01T00:00:00Z"}`)["secret"].(string)
	everywhere := s.token(t, `{"tokenName": "everywhere", "type": "client", "projects": ["shop"], "environment": "*"}`)

	const client, frontend = "/api/client/metrics", "/api/frontend/client/metrics"
	for _, tt := range []struct {
		name, path, token, environment string // of the body
		status                         int
		projects, counted              string // "*" for the flags of all projects; the environment that is counted
	}{
		{"client", client, shop, "", 202, "", "production"},
		{"the body does not change the environment", client, shop, "development", 202, "", "production"},
		{"with Bearer", client, "Bearer " + shop, "", 202, "", "production"},
		{"client of all environments", client, everywhere, "development", 202, "", "development"},
		{"client of all environments, none named", client, everywhere, "", 202, "", "default"},
		{"admin", client, dynamotest.AdminToken, "production", 202, "*", "production"},
		{"admin, none named", client, dynamotest.AdminToken, "", 202, "*", "default"},
		{"admin in a browser", frontend, dynamotest.AdminToken, "production", 200, "*", "production"},
		{"frontend", frontend, dynamotest.FrontendToken, "default", 200, "", "development"},
		{"client in a browser", frontend, shop, "", 403, "", ""},
		{"frontend on a server", client, dynamotest.FrontendToken, "", 403, "", ""},
		{"personal", client, personal, "", 403, "", ""},
		{"deleted", client, deleted, "", 401, "", ""},
		{"unknown", client, "default:production.unknown", "", 401, "", ""},
		{"none", client, "", "", 401, "", ""},
		{"not expired yet", client, expiring, "", 202, "", "production"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := len(s.store.posts)
			w := s.post(tt.path, tt.token, fmt.Sprintf(`{"appName": "shop", "environment": %q, "bucket": {"start": 0, "stop": 0, "toggles": {"a": {"yes": 1}}}}`, tt.environment))
			if w.Code != tt.status {
				t.Fatalf("%d %s, want %d", w.Code, w.Body, tt.status)
			}
			if tt.status >= 300 {
				if len(s.store.posts) != before {
					t.Error("stored a post")
				}
				return
			}
			post := s.store.last(t)
			projects := slices.Clone(post.Projects)
			slices.Sort(projects)
			secret := strings.TrimPrefix(tt.token, "Bearer ")
			if got := strings.Join(projects, " "); got != tt.projects || post.Counts[0].Environment != tt.counted || post.Instances[0].Environment != tt.counted || post.TokenHash != access.HashSecret(secret) {
				t.Errorf("counted for %s in %s, want %s in %s", got, post.Counts[0].Environment, tt.projects, tt.counted)
			}
		})
	}
	now = now.Add(2 * time.Hour)
	if w := s.post(client, expiring, nodeMetrics); w.Code != 401 {
		t.Errorf("an expired token: %d %s", w.Code, w.Body)
	}
}

// account creates a service account and returns its id.
func (s *service) account(t testing.TB) string {
	t.Helper()
	return fmt.Sprint(s.administer(t, "users", "POST", "/api/admin/service-account", `{"name": "CI", "username": "ci", "rootRole": 1}`)["id"])
}

// TestOpen checks reports with AUTH_TYPE=none: a token is not needed, and counts if it is valid.
func TestOpen(t *testing.T) {
	s := serve(t, nil, func(c *httpapi.Config) { c.Open = true })
	for token, want := range map[string]struct{ hash, projects, environment string }{
		"":                     {"", "*", "production"},
		"unknown":              {"", "*", "production"},
		dynamotest.ClientToken: {access.HashSecret(dynamotest.ClientToken), "", "development"},
	} {
		w := s.post("/api/client/metrics", token, `{"appName": "shop", "environment": "production", "bucket": {"start": 0, "stop": 0, "toggles": {"a": {"yes": 1}}}}`)
		if w.Code != 202 {
			t.Errorf("%q: %d %s", token, w.Code, w.Body)
			continue
		}
		post := s.store.last(t)
		if post.TokenHash != want.hash || strings.Join(post.Projects, " ") != want.projects || post.Counts[0].Environment != want.environment {
			t.Errorf("%q: %+v, want %+v", token, post, want)
		}
	}
}

// TestValidate checks which tokens Unleash Edge may use.
func TestValidate(t *testing.T) {
	now := time.Now()
	s := serve(t, nil, func(c *httpapi.Config) { c.Now = func() time.Time { return now } })
	create := func(name, fields string) string {
		return s.token(t, fmt.Sprintf(`{"tokenName": %q, %s}`, name, fields))
	}
	s.administer(t, "projects", "POST", "/api/admin/projects", `{"id": "shop", "name": "Shop"}`)
	s.administer(t, "projects", "POST", "/api/admin/projects", `{"id": "gone", "name": "Gone"}`)
	s.administer(t, "environments", "POST", "/api/admin/environments", `{"name": "gone", "type": "test"}`)
	both := create("both", `"type": "client", "projects": ["shop", "default"], "environment": "production"`)
	half := create("half", `"type": "client", "projects": ["shop", "gone"], "environment": "production"`)
	lost := create("lost", `"type": "client", "projects": ["gone"], "environment": "production"`)
	elsewhere := create("elsewhere", `"type": "frontend", "projects": ["*"], "environment": "gone"`)
	deleted := create("deleted", `"type": "client", "projects": ["*"], "environment": "production"`)
	expired := create("expired", `"type": "client", "projects": ["*"], "environment": "production", "expiresAt": "2100-01-01T00:00:00Z"`)
	personal := s.administer(t, "tokens", "POST", "/api/admin/service-account/"+s.account(t)+"/token", `{"description": "ci", "expiresAt": "2100-01-01T00:00:00Z"}`)["secret"].(string)
	s.administer(t, "tokens", "DELETE", "/api/admin/api-tokens/"+deleted, "")
	s.administer(t, "projects", "DELETE", "/api/admin/projects/gone", "")
	s.administer(t, "environments", "DELETE", "/api/admin/environments/gone", "")

	list := func(secrets ...string) string { return `{"tokens": ["` + strings.Join(secrets, `", "`) + `"]}` }
	one := func(secret, kind, projects string) string {
		_, rest, _ := strings.Cut(secret, ":")
		environment, _, _ := strings.Cut(rest, ".")
		return fmt.Sprintf(`{"token":%q,"type":%q,"projects":[%s],"environment":%q}`, secret, kind, projects, environment)
	}
	all := list(both, "unknown", dynamotest.FrontendToken, half, lost, elsewhere, deleted, expired, personal, dynamotest.AdminToken, both, "")
	want := `{"tokens":[` + strings.Join([]string{
		one(both, "client", `"shop","default"`), one(dynamotest.FrontendToken, "frontend", `"default"`), one(half, "client", `"shop"`),
		one(expired, "client", `"*"`), one(dynamotest.AdminToken, "admin", `"*"`), one(both, "client", `"shop","default"`),
	}, ",") + `]}`
	w := s.post("/edge/validate", "", all)
	if w.Code != 200 || w.Body.String() != want || w.Header().Get("Cache-Control") != "no-store" || !strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
		t.Errorf("%d %v\n got %s\nwant %s", w.Code, w.Header(), w.Body, want)
	}
	now = time.Date(2101, 1, 1, 0, 0, 0, 0, time.UTC)
	for body, want := range map[string]string{
		list(expired):                `{"tokens":[]}`,
		`{"tokens": []}`:             `{"tokens":[]}`,
		`{"tokens": [5, null]}`:      `{"tokens":[]}`,
		`{"tokens": "x"}`:            "/tokens: must be a list",
		`{"tokens": null}`:           "/tokens: is required",
		`{"tokens": [{}, []]}`:       `{"tokens":[]}`,
		`{}`:                         "/tokens: is required",
		``:                           "a JSON body is required",
		list(make([]string, 200)...): `{"tokens":[]}`,
		list(numbered(10)...):        `{"tokens":[]}`,
		list(numbered(11)...):        "/tokens: only 10 tokens are looked up without a valid client token among them, and 10 more for each valid frontend token, less its projects; 0 of 10 were valid",
		list(make([]string, 201)...): "/tokens: must have at most 200 tokens, but has 201",
		list(strings.Repeat("x", maxValidateBody)): "the body is larger than 64 KiB",
	} {
		if w := s.post("/edge/validate", "", body); !strings.Contains(w.Body.String(), want) {
			t.Errorf("%.100s: %d %s, want %s", body, w.Code, w.Body, want)
		}
	}
	// The token in the header does not matter.
	if w := s.post("/edge/validate", dynamotest.ClientToken, list(both)); w.Code != 200 {
		t.Errorf("with a client token: %d %s", w.Code, w.Body)
	}
}

// numbered returns secrets of no token.
func numbered(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("default:development.%064d", i))
	}
	return list
}

// TestValidateUnits checks what a request costs that needs no token: few reads if it guesses, whatever its size, while Unleash Edge
// may ask about 200 tokens at once.
func TestValidateUnits(t *testing.T) {
	count := &capacity.Counter{}
	s := serve(t, count)
	var valid []string
	for i := range 190 {
		valid = append(valid, s.token(t, fmt.Sprintf(`{"tokenName": "edge-%d", "type": "client", "projects": ["default"], "environment": "development"}`, i)))
	}
	projects := []string{}
	for i := range 12 {
		projects = append(projects, fmt.Sprintf(`"p%d"`, i))
		s.administer(t, "projects", "POST", "/api/admin/projects", fmt.Sprintf(`{"id": "p%d", "name": "p"}`, i))
	}
	wide := s.token(t, `{"tokenName": "wide", "type": "frontend", "environment": "development", "projects": [`+strings.Join(projects, ", ")+`]}`)
	for _, tt := range []struct {
		name    string
		secrets []string
		status  int
		found   int
		calls   int
		read    float64
	}{
		{"guesses", numbered(200), 400, 0, 1, 10},
		{"a client token and guesses", append(valid[:1:1], numbered(199)...), 200, 1, 4, 202},
		{"a public token of many projects and guesses", append([]string{wide}, numbered(199)...), 400, 0, 1, 10},
		{"a public token and guesses", append([]string{dynamotest.FrontendToken}, numbered(199)...), 400, 0, 2, 20},
		{"one token of Edge", valid[:1], 200, 1, 2, 3},
		{"tokens of Edge, and some that were deleted", append(valid, numbered(10)...), 200, 190, 4, 202},
	} {
		cost := count.During(func() {
			w := s.post("/edge/validate", "", `{"tokens": ["`+strings.Join(tt.secrets, `", "`)+`"]}`)
			if found := strings.Count(w.Body.String(), `"type":"client"`); w.Code != tt.status || found != tt.found {
				t.Errorf("%s: %d with %d tokens: %.300s", tt.name, w.Code, found, w.Body)
			}
		})
		if cost.Calls > tt.calls || cost.Read > tt.read {
			t.Errorf("%s: %+v, want %d calls and at most %v read units", tt.name, cost, tt.calls, tt.read)
		}
	}
}

// TestCORS checks that pages of other origins may report with the paths of browsers, and with no other.
func TestCORS(t *testing.T) {
	s := serve(t, nil, func(c *httpapi.Config) { c.FrontendOrigins = []string{"https://shop.example"} })
	for path, browsers := range map[string]bool{
		"/api/frontend/client/metrics": true, "/api/frontend/client/register": true, "/api/client/metrics": false, "/api/client/register": false, "/edge/validate": false,
	} {
		for _, origin := range []string{"https://shop.example", "https://other.example"} {
			want := ""
			if browsers && origin == "https://shop.example" {
				want = origin
			}
			preflight := s.request(http.MethodOptions, path, "Origin: "+origin, "Access-Control-Request-Method: POST",
				"Access-Control-Request-Headers: authorization,unleash-appname,unleash-sdk,unleash-connection-id,content-type")
			if got := preflight.Header().Get("Access-Control-Allow-Origin"); preflight.Code != 204 || got != want {
				t.Errorf("preflight of %s from %s: %d for %q, want %q", path, origin, preflight.Code, got, want)
			}
			if allowed := preflight.Header().Get("Access-Control-Allow-Headers"); want != "" && !strings.Contains(allowed, "unleash-connection-id") {
				t.Errorf("preflight of %s: allows the headers %q", path, allowed)
			}
			for _, token := range []string{dynamotest.FrontendToken, ""} {
				if w := s.post(path, token, browserMetrics, "Origin: "+origin); w.Header().Get("Access-Control-Allow-Origin") != want {
					t.Errorf("%s from %s: %d for %q, want %q", path, origin, w.Code, w.Header().Get("Access-Control-Allow-Origin"), want)
				}
			}
		}
	}
}
