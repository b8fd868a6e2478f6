//go:build deploy && linux

package e2e

import (
	"slices"
	"strings"
	"testing"
)

// testUpdate updates a stage of an earlier version. What was created before must work afterwards: flags, tokens, sessions, sign-in
// links and the secrets of webhooks. Functions that the new template does not have are deleted.
func (s *deployed) testUpdate(t *testing.T) {
	const (
		flag  = project + "/features/kept"
		poll  = "/api/client/features?namePrefix=kept"
		hook  = `{"provider":"webhook","enabled":true,"events":[],"parameters":{"url":"https://example.com/hook","authorization":`
		link  = "/api/admin/user-admin/1/sign-in-link"
		links = "/auth/link"
	)
	s.token = strings.TrimSpace(s.shell(t, `"$ROOT/infra/admin-token" dev`))
	before := s.functions(t)
	s.ask(t, "POST", project+"/features", s.token, `{"name":"kept"}`).has(t, 201)
	s.ask(t, "POST", flag+"/environments/development/strategies", s.token, `{"name":"default"}`).has(t, 200)
	s.ask(t, "POST", flag+"/environments/development/on", s.token, "").has(t, 200)
	client, frontend := s.newToken(t, "client"), s.newToken(t, "frontend")
	s.ask(t, "GET", poll, client, "").has(t, 200, `"enabled":true`)
	s.ask(t, "POST", "/api/admin/addons", s.token, hook+`"Bearer hush"}}`).has(t, 201, `"id":1`)
	var used, unused struct{ URL, ExpiresAt string }
	s.do(t, 201, "POST", link, nil, &used)
	s.do(t, 201, "POST", link, nil, &unused)
	signIn := func(url string) (cookie string) {
		t.Helper()
		_, secret, _ := strings.Cut(url, "#link=")
		reply := s.ask(t, "POST", links, "", `{"secret":"`+secret+`"}`, "X-Guidon-Console", "1").has(t, 204)
		cookie, _, _ = strings.Cut(reply.header.Get("Set-Cookie"), ";")
		return cookie
	}
	session := signIn(used.URL)
	s.ask(t, "GET", "/api/admin/user", "", "", "Cookie", session).has(t, 200)

	s.build(t, root)
	s.deploy(t)

	after := s.functions(t)
	t.Logf("the functions were %s and are %s", before, after)
	template := s.shell(t, `aws cloudformation list-stack-resources --stack-name "$STACK" \
		--query "StackResourceSummaries[?ResourceType=='AWS::Lambda::Function'].PhysicalResourceId" --output text`)
	if want := strings.Fields(template); len(want) != len(after) {
		t.Errorf("the functions are %s, want those of the stack, %s", after, want)
	}
	s.ask(t, "GET", flag, s.token, "").has(t, 200, `"name":"kept"`)
	s.ask(t, "GET", poll, client, "").has(t, 200, `"name":"kept"`, `"enabled":true`)
	s.ask(t, "GET", "/api/frontend?userId=7", frontend, "").has(t, 200, `"name":"kept"`)
	s.ask(t, "GET", "/api/admin/api-tokens", s.token, "").has(t, 200, client, frontend)
	s.ask(t, "GET", "/api/admin/user", "", "", "Cookie", session).has(t, 200)
	s.ask(t, "GET", "/api/admin/user", "", "", "Cookie", signIn(unused.URL)).has(t, 200)
	s.ask(t, "PUT", "/api/admin/addons/1", s.token, hook+`"*****"}}`).has(t, 200, `"authorization":"*****"`) // compares the url with the stored one
	s.ask(t, "POST", flag+"/environments/development/off", s.token, "").has(t, 200)
	s.ask(t, "GET", poll, client, "").has(t, 200, `"enabled":false`)

	for _, path := range []string{"/api/admin/addons/1", "/api/admin/api-tokens/" + client, "/api/admin/api-tokens/" + frontend} {
		s.do(t, 200, "DELETE", path, nil, nil)
	}
	s.do(t, 202, "DELETE", flag, nil, nil)
}

// functions lists the names of all functions, in order.
func (s *deployed) functions(t *testing.T) []string {
	t.Helper()
	names := strings.Fields(s.shell(t, `aws lambda list-functions --query 'Functions[].FunctionName' --output text`))
	slices.Sort(names)
	return names
}
