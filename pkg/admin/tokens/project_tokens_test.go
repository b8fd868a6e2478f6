package tokens_test

import (
	"net/url"
	"strings"
	"testing"

	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
)

func TestProjectTokens(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", apitest.Projects, `{"id":"shop"}`)
	const ofShop = apitest.Projects + "/shop/api-tokens"
	both := s.APIToken(t, `{"tokenName":"both","type":"client","projects":["shop","default"]}`)
	ofAll := s.APIToken(t, `{"tokenName":"of-all","type":"client"}`)
	ofDefault := s.APIToken(t, `{"tokenName":"of-default","type":"client","project":"default"}`)
	token := func(name string) string {
		return `{"...":0,"tokenName":"` + name + `","type":"client","project":"shop","projects":["shop"],"environment":"development"}`
	}
	s.Run(t, []apitest.Call{
		{"create", "POST", ofShop, `{"tokenName":"a","type":"client"}`, 201, token("a")},
		{"create with the project named", "POST", ofShop, `{"tokenName":"b","type":"CLIENT","projects":["shop"]}`, 201, token("b")},
		{"for all projects", "POST", ofShop, `{"tokenName":"c","type":"client","projects":["*"]}`, 400, apitest.Invalid("/projects")},
		{"for all projects", "POST", ofShop, `{"tokenName":"c","type":"client","project":"*"}`, 400, apitest.Invalid("/project")},
		{"for another project", "POST", ofShop, `{"tokenName":"c","type":"client","projects":["shop","default"]}`, 400, apitest.Invalid("/projects")},
		{"an admin token", "POST", ofShop, `{"tokenName":"c","type":"admin"}`, 400, apitest.Invalid("/type")},
		{"no name", "POST", ofShop, `{"type":"client"}`, 400, apitest.Invalid("/tokenName")},
		{"an unknown environment", "POST", ofShop, `{"tokenName":"c","type":"client","environment":"nosuch"}`, 400, apitest.Invalid("/environment")},
		{"a taken name", "POST", ofShop, `{"tokenName":"a","type":"client"}`, 409, apitest.Failure("NameExistsError", "")},
	})
	s.Check(t, apitest.Call{"the list leaves out tokens of all projects", "GET", ofShop, "", 200, `{"tokens":[{"...":0,"tokenName":"b"},{"...":0,"tokenName":"a"},{"...":0,"tokenName":"both"}]}`})

	owner := apitest.As(s.Account(t, "3", map[string]string{"shop": "4"}))
	s.Check(t, apitest.Call{"an owner gets no tokens of other projects", "GET", ofShop, "", 200, `{"tokens":[{"...":0,"tokenName":"b"},{"...":0,"tokenName":"a"}]}`}, owner)
	s.Check(t, apitest.Call{"an owner creates", "POST", ofShop, `{"tokenName":"owners","type":"frontend"}`, 201, apitest.Anything}, owner)
	s.Check(t, apitest.Call{"an owner creates in another project", "POST", apitest.Project + "/api-tokens", `{"tokenName":"d","type":"client"}`, 403, apitest.Failure("NoAccessError", "CREATE_PROJECT_API_TOKEN")}, owner)
	a := apitest.SecretIn(s.Must(t, "GET", apitest.APITokens+"/a", "").Body)
	path := func(secret string) string { return ofShop + "/" + url.PathEscape(secret) }
	for _, c := range []apitest.Call{
		{"a token of another project", "DELETE", path(ofDefault), "", 404, apitest.NotFound("no API token")},
		{"another token of another project", "DELETE", path(dynamotest.ClientToken), "", 404, apitest.NotFound("no API token")},
		{"a token of all projects", "DELETE", path(ofAll), "", 404, apitest.NotFound("no API token")},
		{"an admin token", "DELETE", path(dynamotest.AdminToken), "", 404, apitest.NotFound("no API token")},
		{"a token of this and another project", "DELETE", path(both), "", 403, apitest.Failure("NoAccessError", "every project")},
		{"unknown", "DELETE", path("nosuch"), "", 404, apitest.NotFound("no API token")},
		{"delete", "DELETE", path(a), "", 200, ""},
		{"delete again", "DELETE", path(a), "", 404, apitest.NotFound("no API token")},
	} {
		s.Check(t, c, owner)
	}
	s.Check(t, apitest.Call{"an administrator deletes a token of two projects", "DELETE", path(both), "", 200, ""})
	s.Must(t, "DELETE", apitest.Projects+"/shop", "")
	s.Must(t, "POST", apitest.Projects, `{"id":"shop"}`)
	s.Check(t, apitest.Call{"a new project with the same ID has none", "GET", ofShop, "", 200, `{"tokens":[]}`})
	if left := strings.Join(s.TokenNames(t), " "); !strings.Contains(left, "of-default") {
		t.Errorf("tokens %s, want of-default among them", left)
	}
}
