package admin_test

import (
	"fmt"
	"strings"
	"testing"

	"guidon/pkg/access"
	"guidon/pkg/dynamo/dynamotest"
)

func TestReadTag(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "f")
	s.must(t, "POST", "/api/admin/features/f/tags", `{"type":"simple","value":"a/b c"}`)
	const tags = "/api/admin/tags/"
	s.run(t, []call{
		{"an existing tag", "GET", tags + "simple/a%2Fb%20c", "", 200, `{"version":1,"tag":{"type":"simple","value":"a/b c"}}`},
		{"not encoded", "GET", tags + "simple/a/b%20c", "", 200, anything},
		{"no such tag", "GET", tags + "simple/nosuch", "", 404, notFound("nosuch")},
		{"no such type", "GET", tags + "nosuch/nosuch", "", 404, notFound("nosuch")},
		{"longer than a tag can be", "GET", tags + "simple/" + strings.Repeat("v", 3000), "", 404, anything},
		{"the list of the type", "GET", tags + "simple", "", 200, `{"version":1,"tags":[{"type":"simple","value":"a/b c"}]}`},
	})
}

func TestValidateTagType(t *testing.T) {
	t.Parallel()
	s := serve(t)
	const path = "/api/admin/tag-types/validate"
	s.run(t, []call{
		{"an unused name", "POST", path, `{"name":"team","description":"d","icon":"#"}`, 200,
			`{"valid":true,"tagType":{"name":"team","description":"d","icon":"#"}}`},
		{"it is not created", "GET", "/api/admin/tag-types/team", "", 404, anything},
		{"a taken name", "POST", path, `{"name":"simple"}`, 409, failure("NameExistsError", "simple")},
		{"no name", "POST", path, `{}`, 400, anything},
		{"an invalid name", "POST", path, `{"name":"a b/c"}`, 400, anything},
		{"a GET reads no type called validate", "GET", path, "", 404, anything},
	})
	s.check(t, call{"a viewer", "POST", path, `{"name":"team"}`, 200, anything}, as(s.account(t, "3", nil)))
}

func TestPostedEventSearch(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "f", "g")
	s.must(t, "DELETE", features+"/g", "")
	const path = "/api/admin/events/search"
	ofF := `{"version":1,"events":[{"...":0,"type":"feature-created","featureName":"f"}],"next":null,"totalEvents":1}`
	s.run(t, []call{
		{"of a flag", "POST", path, `{"feature":"f"}`, 200, ofF},
		{"of a type", "POST", path, `{"type":"feature-archived"}`, 200, `{"...":0,"events":[{"...":0,"featureName":"g"}],"totalEvents":1}`},
		{"by text, one a page", "POST", path, `{"query":"feature-created","project":"default","limit":1,"offset":0}`, 200,
			`{"...":0,"events":[{"...":0,"featureName":"g"}],"next":"<any>","totalEvents":2}`},
		{"of another project", "POST", path, `{"project":"nosuch"}`, 200, `{"version":1,"events":[],"next":null,"totalEvents":0}`},
		{"everything", "POST", path, `{}`, 200, anything},
		{"no body", "POST", path, ``, 400, anything},
		{"with an offset", "POST", path, `{"offset":100}`, 400, invalid("/offset")},
		{"a limit out of range", "POST", path, `{"limit":0}`, 400, invalid("/limit")},
		{"a limit out of range", "POST", path, `{"limit":1001}`, 400, invalid("/limit")},
		{"an empty filter", "POST", path, `{"feature":""}`, 400, invalid("/feature")},
		{"a filter of the wrong type", "POST", path, `{"feature":["f"]}`, 400, invalid("/feature")},
	})
	next := decoded[struct{ Next string }](t, s.must(t, "POST", path, `{"type":"feature-created","limit":1}`).body).Next
	s.check(t, call{"the next page", "POST", path, fmt.Sprintf(`{"type":"feature-created","limit":1,"cursor":%q}`, next), 200,
		`{"version":1,"events":[{"...":0,"featureName":"f"}],"next":null}`})
}

func TestParentVariants(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "f", "bare")
	s.must(t, "PUT", in("f", "development")+"/variants", `[{"name":"red","weight":1}]`)
	s.must(t, "PUT", in("f", "production")+"/variants", `[{"name":"blue","weight":1},{"name":"red","weight":1}]`)
	s.strategy(t, "f", `{"name":"flexibleRollout","variants":[{"name":"green","weight":1000,"weightType":"variable","stickiness":"default"}]}`)
	s.run(t, []call{
		{"of environments and strategies", "GET", features + "/f/parent-variants", "", 200, `["blue","green","red"]`},
		{"none", "GET", features + "/bare/parent-variants", "", 200, `[]`},
		{"of an unknown flag", "GET", features + "/nosuch/parent-variants", "", 404, notFound("nosuch")},
	})
}

func TestArchiveOfAllProjects(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.must(t, "POST", projects, `{"id":"shop"}`)
	s.must(t, "POST", projects, `{"id":"gone"}`)
	s.create(t, "b", "active")
	s.must(t, "POST", projects+"/shop/features", `{"name":"a"}`)
	s.must(t, "POST", projects+"/gone/features", `{"name":"c"}`)
	const all = "/api/admin/archive/features"
	s.check(t, call{"none", "GET", all, "", 200, `{"version":2,"features":[]}`})
	for _, path := range []string{features + "/b", projects + "/shop/features/a", projects + "/gone/features/c", projects + "/gone"} {
		s.must(t, "DELETE", path, "")
	}
	s.check(t, call{"of every project, by name", "GET", all, "", 200,
		`{"version":2,"features":[{"...":0,"name":"a","project":"shop","archived":true},{"...":0,"name":"b","project":"default","archived":true}]}`})
}

func TestProjectReports(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "a", "b", "c", "archived")
	s.must(t, "DELETE", features+"/archived", "")
	s.must(t, "PATCH", features+"/a", `[{"op":"replace","path":"/stale","value":true}]`)
	s.must(t, "PUT", features+"/b", `{"type":"experiment"}`)
	s.run(t, []call{
		{"health", "GET", project + "/health-report", "", 200, `{"...":0,"version":1,"name":"Default","mode":"open","health":67,"members":0,"favorite":false,` +
			`"environments":[{"environment":"development"},{"environment":"production"}],"features":[{"...":0,"name":"a"},{"...":0,"name":"b"},{"...":0,"name":"c"}],` +
			`"activeCount":2,"staleCount":1,"potentiallyStaleCount":0}`},
		{"overview", "GET", project + "/overview", "", 200, `{"...":0,"version":1,"name":"Default","health":67,"members":0,"favorite":false,` +
			`"environments":[{"environment":"development"},{"environment":"production"}],"featureTypeCounts":[{"type":"experiment","count":1},{"type":"release","count":2}],"owners":[{"ownerType":"system"}]}`},
		{"the health report of an unknown project", "GET", projects + "/nosuch/health-report", "", 404, notFound("nosuch")},
		{"the overview of an unknown project", "GET", projects + "/nosuch/overview", "", 404, notFound("nosuch")},
	})
	owner, _ := s.person(t, access.RoleViewer)
	member, header := s.person(t, access.RoleViewer)
	s.must(t, "POST", fmt.Sprintf("%s/users/%d/roles/%d", project, owner, access.RoleOwner), "")
	s.must(t, "POST", fmt.Sprintf("%s/users/%d/roles/%d", project, member, access.RoleMember), "")
	s.check(t, call{"a member sees the owners", "GET", project + "/overview", "", 200,
		fmt.Sprintf(`{"...":0,"members":2,"owners":[{"ownerType":"user","name":"person-%d","imageUrl":"<any>"}]}`, owner)}, header)
	if got := s.must(t, "GET", project+"/overview", "").body; strings.Contains(got, `"features"`) {
		t.Errorf("the overview lists flags: %s", got)
	}
}

func TestProjectFavorites(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	s.must(t, "POST", projects, `{"id":"shop"}`)
	_, ann := s.person(t, access.RoleViewer)
	list := func(is bool) string {
		return fmt.Sprintf(`{"version":1,"projects":[{"...":0,"id":"default","favorite":%t},{"...":0,"id":"shop","favorite":false}]}`, is)
	}
	is := func(is bool) string { return fmt.Sprintf(`{"...":0,"favorite":%t}`, is) }
	s.check(t, call{"no favorites at first", "GET", projects, "", 200, list(false)}, ann)
	s.check(t, call{"remove a favorite that is not set", "DELETE", project + "/favorites", "", 200, ""}, ann)
	for range 2 {
		s.check(t, call{"add it", "POST", project + "/favorites", "", 200, ""}, ann)
	}
	for _, path := range []string{"", "/overview", "/health-report"} {
		s.check(t, call{"in " + path, "GET", project + path, "", 200, is(true)}, ann)
		s.check(t, call{"another caller's in " + path, "GET", project + path, "", 200, is(false)})
	}
	s.check(t, call{"in the list", "GET", projects, "", 200, list(true)}, ann)
	s.check(t, call{"the list of another caller", "GET", projects, "", 200, list(false)})
	s.check(t, call{"remove it", "DELETE", project + "/favorites", "", 200, ""}, ann)
	s.check(t, call{"the list after the removal", "GET", projects, "", 200, list(false)}, ann)
	s.check(t, call{"an unknown project", "POST", projects + "/nosuch/favorites", "", 404, notFound("nosuch")}, ann)
	s.check(t, call{"a token for SDKs", "POST", project + "/favorites", "", 403, anything}, as(dynamotest.ClientToken))
	s.check(t, call{"the log, without favorites", "GET", "/api/admin/events?project=default", "", 200, `{"...":0,"events":[` +
		`{"...":0,"type":"api-token-created"},{"...":0,"type":"api-token-created"},{"...":0,"type":"project-created"}]}`})
}

func TestSignupIsNotOffered(t *testing.T) {
	t.Parallel()
	s := serve(t)
	secret := secretIn(s.must(t, "POST", signups, `{"name":"n","expiresAt":"2100-01-01T00:00:00Z"}`).body)
	for _, c := range []call{
		{"validate", "GET", "/invite/" + secret + "/validate", "", 404, notFound("sign")},
		{"sign up", "POST", "/invite/" + secret + "/signup", `{"username":"u","email":"u@example.com","name":"U","password":"p"}`, 404, notFound("sign")},
	} {
		s.check(t, c)
		s.check(t, c, "Authorization:")
	}
	if got := s.do(t, "GET", "/invite/"+secret+"/validate", "").body; strings.Contains(got, secret) {
		t.Errorf("the response contains the secret: %s", got)
	}
}
