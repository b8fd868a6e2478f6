package admin_test

import (
	"net/url"
	"strings"
	"testing"

	"guidon/pkg/dynamo/dynamotest"
)

func TestProjectTokens(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	s.must(t, "POST", projects, `{"id":"shop"}`)
	const ofShop = projects + "/shop/api-tokens"
	both := s.apiToken(t, `{"tokenName":"both","type":"client","projects":["shop","default"]}`)
	ofAll := s.apiToken(t, `{"tokenName":"of-all","type":"client"}`)
	ofDefault := s.apiToken(t, `{"tokenName":"of-default","type":"client","project":"default"}`)
	token := func(name string) string {
		return `{"...":0,"tokenName":"` + name + `","type":"client","project":"shop","projects":["shop"],"environment":"development"}`
	}
	s.run(t, []call{
		{"create", "POST", ofShop, `{"tokenName":"a","type":"client"}`, 201, token("a")},
		{"create with the project named", "POST", ofShop, `{"tokenName":"b","type":"CLIENT","projects":["shop"]}`, 201, token("b")},
		{"for all projects", "POST", ofShop, `{"tokenName":"c","type":"client","projects":["*"]}`, 400, invalid("/projects")},
		{"for all projects", "POST", ofShop, `{"tokenName":"c","type":"client","project":"*"}`, 400, invalid("/project")},
		{"for another project", "POST", ofShop, `{"tokenName":"c","type":"client","projects":["shop","default"]}`, 400, invalid("/projects")},
		{"an admin token", "POST", ofShop, `{"tokenName":"c","type":"admin"}`, 400, invalid("/type")},
		{"no name", "POST", ofShop, `{"type":"client"}`, 400, invalid("/tokenName")},
		{"an unknown environment", "POST", ofShop, `{"tokenName":"c","type":"client","environment":"nosuch"}`, 400, invalid("/environment")},
		{"a taken name", "POST", ofShop, `{"tokenName":"a","type":"client"}`, 409, failure("NameExistsError", "")},
		{"in an unknown project", "POST", projects + "/nosuch/api-tokens", `{"tokenName":"c","type":"client"}`, 404, notFound("nosuch")},
		{"list of an unknown project", "GET", projects + "/nosuch/api-tokens", "", 404, notFound("nosuch")},
	})
	s.check(t, call{"the list leaves out tokens of all projects", "GET", ofShop, "", 200, `{"tokens":[{"...":0,"tokenName":"b"},{"...":0,"tokenName":"a"},{"...":0,"tokenName":"both"}]}`})

	owner := as(s.account(t, "3", map[string]string{"shop": "4"}))
	member := as(s.account(t, "3", map[string]string{"shop": "5"}))
	editor := as(s.account(t, "2", nil)) // can read and delete all client tokens, and owns the default project
	s.check(t, call{"an owner gets no tokens of other projects", "GET", ofShop, "", 200, `{"tokens":[{"...":0,"tokenName":"b"},{"...":0,"tokenName":"a"}]}`}, owner)
	s.check(t, call{"an owner creates", "POST", ofShop, `{"tokenName":"owners","type":"frontend"}`, 201, anything}, owner)
	s.check(t, call{"an owner creates in another project", "POST", project + "/api-tokens", `{"tokenName":"d","type":"client"}`, 403, failure("NoAccessError", "CREATE_PROJECT_API_TOKEN")}, owner)
	for _, who := range []string{member, editor} {
		s.check(t, call{"without the permission", "GET", ofShop, "", 403, failure("NoAccessError", "READ_PROJECT_API_TOKEN")}, who)
		s.check(t, call{"without the permission", "POST", ofShop, `{`, 403, failure("NoAccessError", "CREATE_PROJECT_API_TOKEN")}, who)
		s.check(t, call{"without the permission", "DELETE", ofShop + "/nosuch", "", 403, failure("NoAccessError", "DELETE_PROJECT_API_TOKEN")}, who)
	}
	a := secretIn(s.must(t, "GET", apiTokens+"/a", "").body)
	path := func(secret string) string { return ofShop + "/" + url.PathEscape(secret) }
	for _, c := range []call{
		{"a token of another project", "DELETE", path(ofDefault), "", 404, notFound("no API token")},
		{"another token of another project", "DELETE", path(dynamotest.ClientToken), "", 404, notFound("no API token")},
		{"a token of all projects", "DELETE", path(ofAll), "", 404, notFound("no API token")},
		{"an admin token", "DELETE", path(dynamotest.AdminToken), "", 404, notFound("no API token")},
		{"a token of this and another project", "DELETE", path(both), "", 403, failure("NoAccessError", "every project")},
		{"unknown", "DELETE", path("nosuch"), "", 404, notFound("no API token")},
		{"delete", "DELETE", path(a), "", 200, ""},
		{"delete again", "DELETE", path(a), "", 404, notFound("no API token")},
	} {
		s.check(t, c, owner)
	}
	s.check(t, call{"an administrator deletes a token of two projects", "DELETE", path(both), "", 200, ""})
	s.must(t, "DELETE", projects+"/shop", "")
	s.must(t, "POST", projects, `{"id":"shop"}`)
	s.check(t, call{"a new project with the same ID has none", "GET", ofShop, "", 200, `{"tokens":[]}`})
	if left := strings.Join(s.names(t), " "); !strings.Contains(left, "of-default") {
		t.Errorf("tokens %s, want of-default among them", left)
	}
}
