package edge

import (
	"strings"
	"testing"

	"guidon/pkg/dynamo/dynamotest"
)

// TestFollows checks that Edge has the flags of Guidon, their changes, and exactly the responses that Guidon has.
func TestFollows(t *testing.T) {
	t.Parallel()
	g := newGuidon(t)
	g.flag("a")
	g.flag("b")
	segment := g.do("POST", "/api/admin/segments", `{"name": "s", "constraints": [{"contextName": "userId", "operator": "IN", "values": ["7"]}]}`)
	if !strings.Contains(segment, `"id":1`) {
		t.Fatal(segment)
	}
	g.do("POST", defaultProject+"/features/b/environments/development/strategies", `{"name": "default", "segments": [1]}`)
	e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": g.token("client", "*", "development"), "STRICT": "true", "MAX_STREAMS": "0"}) // Guidon has none
	client, frontend := g.token("client", "default", "development"), g.token("frontend", "default", "development")
	e.awaitOn(client, "a b")
	same := func() {
		t.Helper()
		for _, headers := range [][]string{{}, {"Unleash-Client-Spec: 5.2.0"}, {"Unleash-Client-Spec: 5.2.0", "Accept-Encoding: gzip"}} {
			for _, path := range []string{"/api/client/features", "/api/client/features?namePrefix=b", "/api/client/features/b", "/api/client/features/nosuch"} {
				got, want := e.ask("GET", path, client, "", headers...), ask(t, "GET", g.URL+path, client, "", headers...)
				if got.status != want.status || got.header.Get("ETag") != want.header.Get("ETag") || got.status == 200 && got.body != want.body {
					t.Errorf("%s %v: got\n%s %v, Guidon has\n%s %v", path, headers, got, got.header, want, want.header)
				}
			}
		}
		for _, of := range [][4]string{
			{"GET", "/api/frontend?userId=7&sessionId=s", frontend, ""},
			{"POST", "/api/frontend", frontend, `{"context": {"userId": "8", "sessionId": "s"}}`},
			{"POST", "/ofrep/v1/evaluate/flags", frontend, `{"context": {"targetingKey": "7"}}`},
			{"POST", "/ofrep/v1/evaluate/flags/b", client, `{"context": {"targetingKey": "8"}}`},
			{"POST", "/ofrep/v1/evaluate/flags/nosuch", client, `{"context": {"targetingKey": "8"}}`},
			{"POST", "/ofrep/v1/evaluate/flags/b", client, `{"context": 7}`},
		} {
			got, want := e.ask(of[0], of[1], of[2], of[3]), ask(t, of[0], g.URL+of[1], of[2], of[3])
			if got.status != want.status || got.body != want.body || got.header.Get("ETag") != want.header.Get("ETag") {
				t.Errorf("%s: got\n%s, Guidon has\n%s", of[1], got, want)
			}
		}
	}
	same()
	delta := e.ask("GET", "/api/client/delta", client, "").want(t, 200, `"type":"hydration"`)
	poll := e.ask("GET", "/api/client/features", client, "")
	for range 3 { // the second one is answered by what Edge remembers
		e.ask("GET", "/api/client/features", client, "", "If-None-Match: "+poll.header.Get("ETag")).want(t, 304)
	}

	g.turnA("off")
	g.do("DELETE", defaultProject+"/features/b", "")
	g.flag("c")
	e.awaitOn(client, "c")
	same()
	e.ask("GET", "/api/client/features", client, "", "If-None-Match: "+poll.header.Get("ETag")).want(t, 200)
	changed := e.ask("GET", "/api/client/delta", client, "", "If-None-Match: "+delta.header.Get("ETag")).
		want(t, 200, `"type":"feature-removed"`, `"featureName":"b"`, `"type":"feature-updated"`, `"name":"a"`, `"name":"c"`)
	if strings.Contains(changed.body, "hydration") {
		t.Errorf("the delta is %s, want only the changes", changed)
	}
	e.ask("GET", "/api/client/delta", client, "", "If-None-Match: "+changed.header.Get("ETag")).want(t, 304)
	if age := changed.header.Get("Age"); age != "0" && age != "1" {
		t.Errorf("Age is %q", age)
	}
	if n := g.served("GET /api/client/delta"); n < 3 {
		t.Errorf("Edge asked for the delta %d times", n)
	}
}

// TestScopes checks that a token reads only its projects and its environment, of what Edge has.
func TestScopes(t *testing.T) {
	t.Parallel()
	g := newGuidon(t)
	g.flag("mine")
	g.do("POST", "/api/admin/projects", `{"id": "other", "name": "other"}`)
	g.do("POST", "/api/admin/projects/other/features", `{"name": "theirs"}`)
	e := newEdge(t, "edge", map[string]string{
		"UPSTREAM_URL": g.URL, "TOKENS": g.token("client", "*", "development") + "," + g.token("client", "default", "production"), "STRICT": "true",
	})
	constraint := `"constraints": [{"contextName": "userId", "operator": "IN", "values": ["7"]}]`
	g.do("POST", "/api/admin/segments", `{"name": "for-all", `+constraint+`}`)
	g.do("POST", "/api/admin/segments", `{"name": "for-other", "project": "other", `+constraint+`}`)
	all, mine, theirs := g.token("client", "*", "development"), g.token("client", "default", "development"), g.token("client", "other", "development")
	e.ask("GET", "/api/client/features", all, "").want(t, 200, `"mine"`, `"theirs"`)
	if a := e.ask("GET", "/api/client/features", mine, "").want(t, 200, `"mine"`); strings.Contains(a.body, "theirs") {
		t.Errorf("the token of default reads %s", a)
	}
	if a := e.ask("GET", "/api/client/features?project=default", theirs, "").want(t, 200, `"theirs"`); strings.Contains(a.body, "mine") {
		t.Errorf("the token of other reads %s", a)
	}
	for token, texts := range map[string][]string{all: {"for-all", "for-other"}, mine: {"for-all"}, theirs: {"for-all", "for-other"}} {
		for _, path := range []string{"/api/client/features", "/api/client/delta"} {
			a := e.ask("GET", path, token, "", "Unleash-Client-Spec: 5.2.0").want(t, 200, texts...)
			if len(texts) == 1 && strings.Contains(a.body, "for-other") {
				t.Errorf("the token of default reads a segment of another project: %s", a)
			}
		}
	}
	e.ask("GET", "/api/client/features/theirs", mine, "").want(t, 404)
	e.ask("GET", "/api/client/features/mine", g.token("client", "default", "production"), "").want(t, 200, `"enabled":false`)
	e.ask("GET", "/api/client/features", g.token("client", "other", "production"), "").want(t, 403, "TOKENS") // STRICT
	e.ask("GET", "/api/client/features", g.token("frontend", "default", "development"), "").want(t, 403, "different token type")
	e.ask("GET", "/api/frontend", mine, "").want(t, 403, "different token type")
	e.ask("GET", "/api/client/features", dynamotest.AdminToken, "").want(t, 403)
	e.ask("GET", "/api/client/features", "", "").want(t, 401)
	e.ask("GET", "/api/client/features", "default:development.nosuch", "").want(t, 401)
	e.ask("GET", "/api/client/features", "Bearer "+mine, "").want(t, 200)
	e.ask("POST", "/ofrep/v1/evaluate/flags/mine", "", `{"context": {}}`, "X-Api-Key: "+mine).want(t, 200, `"value":true`)
}

// TestDynamic checks that without STRICT the client token of an application makes Edge read its flags, until it is deleted.
func TestDynamic(t *testing.T) {
	t.Parallel()
	g := newGuidon(t)
	g.flag("a")
	e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": g.URL})
	client, frontend := g.token("client", "default", "development"), g.token("frontend", "default", "development")
	e.ask("GET", "/api/frontend", frontend, "").want(t, 503, "TOKENS")
	e.awaitOn(client, "a")
	e.ask("GET", "/api/frontend", frontend, "").want(t, 200, `"name":"a"`)
	if n := len(e.all()); n != 1 {
		t.Errorf("Edge reads with %d tokens, want 1", n)
	}
	g.do("DELETE", "/api/admin/api-tokens/"+client, "")
	await(t, "the status of a deleted token", 401, func() int { return e.ask("GET", "/api/client/features", client, "").status })
	await(t, "the upstream tokens", 0, func() int { return len(e.all()) })
	e.ask("GET", "/api/frontend", frontend, "").want(t, 503)
}
