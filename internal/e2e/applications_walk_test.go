package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"path"
	"strings"
	"testing"
)

// TestApplicationsWalk polls and evaluates, as applications do.
func TestApplicationsWalk(t *testing.T) {
	g := start(t)
	takeApplicationsWalk(t, g)
	checkPreflight(t, g)
}

// checkPreflight asks as a browser does before a page evaluates flags. MiniStack answers for itself.
func checkPreflight(t *testing.T, g *gateway) {
	t.Helper()
	preflight := g.ask(t, "OPTIONS", "/api/frontend", "", "", "Origin", "https://shop.example.com",
		"Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "authorization,if-none-match").has(t, 204)
	if got := preflight.header.Get("Access-Control-Allow-Origin"); got != "*" && got != "https://shop.example.com" {
		t.Errorf("the preflight of a page allows the origin %q, want every origin", got)
	}
}

// takeApplicationsWalk creates a flag and tokens, and checks that polls, deltas and evaluations see each switch of the flag, that
// usage can be reported, and that a deleted token sees nothing. It uses its own names, so that other tests can use the same server.
func takeApplicationsWalk(t *testing.T, g *gateway) {
	t.Helper()
	const flag = project + "/features/walk-served"
	g.do(t, 201, "POST", project+"/features", `{"name":"walk-served","impressionData":true}`, nil)
	g.do(t, 200, "POST", flag+"/environments/development/strategies",
		`{"name":"default","constraints":[{"contextName":"country","operator":"IN","values":["NO"]}]}`, nil)
	client, frontend := g.newToken(t, "client"), g.newToken(t, "frontend")
	turn := func(to string) {
		t.Helper()
		g.do(t, 200, "POST", flag+"/environments/development/"+to, nil, nil)
	}

	// Polls. Another flag may change at the same time, but no other test changes this one.
	turn("on")
	first := g.ask(t, "GET", "/api/client/features?namePrefix=walk-served", client, "")
	first.has(t, 200, `"name":"walk-served"`, `"enabled":true`)
	etag := first.header.Get("ETag")
	g.ask(t, "GET", "/api/client/features?namePrefix=walk-served", client, "", "If-None-Match", etag).has(t, 304)
	delta := g.ask(t, "GET", "/api/client/delta?namePrefix=walk-served", client, "")
	delta.has(t, 200, `"type":"hydration"`, `"name":"walk-served"`)
	turn("off")
	g.ask(t, "GET", "/api/client/features?namePrefix=walk-served", client, "", "If-None-Match", etag).has(t, 200, `"enabled":false`)
	g.ask(t, "GET", "/api/client/delta?namePrefix=walk-served", client, "", "If-None-Match", delta.header.Get("ETag")).
		has(t, 200, `"type":"feature-updated"`, `"enabled":false`)
	g.ask(t, "GET", "/api/client/features/walk-served", client, "").has(t, 200, `"enabled":false`)

	// Evaluations.
	const (
		query   = "/api/frontend?userId=7&properties[country]=NO"
		context = `{"context":{"targetingKey":"7","country":"NO"}}`
	)
	g.ask(t, "GET", query, frontend, "").has(t, 200).lacks(t, "walk-served")
	g.ask(t, "POST", "/ofrep/v1/evaluate/flags/walk-served", frontend, context).has(t, 200, `"value":false`)
	turn("on")
	g.ask(t, "GET", query, frontend, "").has(t, 200, `"name":"walk-served"`)
	g.ask(t, "GET", "/api/frontend?userId=7&country=DK", frontend, "").has(t, 200).lacks(t, "walk-served")
	g.ask(t, "POST", "/api/frontend", frontend, `{"context":{"userId":"7","properties":{"country":"NO"}}}`).has(t, 200, `"name":"walk-served"`)
	g.ask(t, "POST", "/ofrep/v1/evaluate/flags/walk-served", frontend, context).has(t, 200, `"value":true`)
	g.ask(t, "POST", "/ofrep/v1/evaluate/flags", client, context).has(t, 200, `"key":"walk-served"`)

	// Reports of usage, and the tokens of Unleash Edge.
	const metrics = `{"appName":"walk","instanceId":"1","bucket":{"start":"2026-03-04T05:06:07.000Z","stop":1772600827000,"toggles":{"walk-served":{"yes":3,"no":1,"variants":{}}}}}`
	const registration = `{"appName":"walk","instanceId":"1","sdkVersion":"walk:1","strategies":["default"],"started":"2026-03-04T05:06:07.000Z","interval":60}`
	g.ask(t, "POST", "/api/client/register", client, registration).has(t, 202)
	g.ask(t, "POST", "/api/client/metrics", client, metrics).has(t, 202)
	g.ask(t, "POST", "/api/client/metrics/bulk", client, `{"applications":[],"metrics":[{"featureName":"walk-served","appName":"walk","environment":"development","yes":2}]}`).has(t, 202)
	g.ask(t, "POST", "/api/frontend/client/register", frontend, registration).has(t, 200, "OK")
	g.ask(t, "POST", "/api/frontend/client/metrics", frontend, metrics).has(t, 200, "OK")
	g.ask(t, "POST", "/edge/validate", "", `{"tokens":["`+client+`","unknown"]}`).has(t, 200, `{"tokens":[{"token":"`+client+`","type":"client","projects":["default"],"environment":"development"}]}`)
	g.ask(t, "POST", "/edge/metrics", "", "{}").has(t, 404, "disabled")

	// What applications may not do.
	g.ask(t, "GET", "/api/client/features", frontend, "").has(t, 403)
	g.ask(t, "GET", "/api/frontend", client, "").has(t, 403)
	g.ask(t, "GET", "/api/admin/projects", client, "").has(t, 403)
	g.ask(t, "GET", "/api/client/streaming", client, "").has(t, 404, "poll")
	g.ask(t, "POST", "/api/client/metrics", frontend, metrics).has(t, 403)
	g.ask(t, "POST", "/api/frontend/client/metrics", client, metrics).has(t, 403)
	g.ask(t, "POST", "/api/client/metrics", client, `{"appName":"walk"}`).has(t, 400, "/bucket: is required")
	g.do(t, 200, "DELETE", "/api/admin/api-tokens/"+client, nil, nil)
	g.ask(t, "GET", "/api/client/features", client, "").has(t, 401)
	g.ask(t, "POST", "/api/client/metrics", client, metrics).has(t, 401)
	g.do(t, 200, "DELETE", "/api/admin/api-tokens/"+frontend, nil, nil)
	g.do(t, 202, "DELETE", flag, nil, nil)
}

// newToken creates a token for the environment development of the default project, named after the test, and returns its secret.
func (g *gateway) newToken(t *testing.T, kind string) string {
	t.Helper()
	status, answer, err := g.send(t.Context(), "POST", "/api/admin/api-tokens",
		`{"tokenName":"`+path.Base(t.Name())+`-`+kind+`","type":"`+kind+`","projects":["default"],"environment":"development"}`)
	var created struct {
		Secret string `json:"secret"`
	}
	if err != nil || status != 201 || json.Unmarshal(answer, &created) != nil {
		t.Fatalf("a %s token: %d %s, %v", kind, status, answer, err)
	}
	return created.Secret
}

// A reply is the answer to an application.
type reply struct {
	request string
	status  int
	header  http.Header
	body    string
}

// ask sends a request with a token, and further headers by name and value.
func (g *gateway) ask(t *testing.T, method, path, token, body string, headers ...string) reply {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, g.url()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", token)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Unleash-Client-Spec", "5.1.9")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	response, err := g.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{method + " " + path, response.StatusCode, response.Header, string(content)}
}

// has checks the status of an answer, and that it contains some texts.
func (r reply) has(t *testing.T, status int, texts ...string) reply {
	t.Helper()
	if r.status != status {
		t.Fatalf("%s: %d %s, want %d", r.request, r.status, r.body, status)
	}
	for _, text := range texts {
		if !strings.Contains(r.body, text) {
			t.Errorf("%s: %s, want %s in it", r.request, r.body, text)
		}
	}
	return r
}

// lacks checks that an answer does not contain a text.
func (r reply) lacks(t *testing.T, text string) {
	t.Helper()
	if strings.Contains(r.body, text) {
		t.Errorf("%s: %s, want no %s in it", r.request, r.body, text)
	}
}
