package httpapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

func TestReadProject(t *testing.T) {
	s := serve(t)
	overview := func(health int, features string) string {
		return fmt.Sprintf(`{"version":1,"name":"Default","description":"","health":%d,"members":0,
			"environments":[{"environment":"development"},{"environment":"production"}],"features":[%s]}`, health, features)
	}
	rows := func(names ...string) string {
		all := ""
		for i, name := range names {
			if i > 0 {
				all += ","
			}
			all += listed(name, row("development"), row("production"))
		}
		return all
	}
	s.check(t, call{"without flags", "GET", project, "", 200, overview(100, "")})
	s.create(t, "c", "a", "b")
	s.check(t, call{"with flags", "GET", project, "", 200, overview(100, rows("a", "b", "c"))})
	s.must(t, "PUT", features+"/c", `{"stale":true}`)
	s.run(t, []call{
		{"a third of them stale", "GET", project, "", 200, `{"...":0,"health":67}`},
		{"an unknown one", "GET", "/api/admin/projects/nosuch", "", 404, notFound(`"nosuch"`)},
		{"in another case", "GET", "/api/admin/projects/Default", "", 404, notFound(`"Default"`)},
	})
}

func TestCreateProject(t *testing.T) {
	s := serve(t)
	const projects = "/api/admin/projects"
	made := func(id, name, description, environments string) string {
		return fmt.Sprintf(`{"id":%q,"name":%q,"description":%q,"environments":%s}`, id, name, description, environments)
	}
	s.run(t, []call{
		{"by id alone: all environments that are enabled", "POST", projects, `{"id":"p1"}`, 201, made("p1", "p1", "", `["development","production"]`)},
		{"with everything", "POST", projects, `{"id":"p2","name":"Two of them","description":"d","environments":["production","default"]}`, 201,
			made("p2", "Two of them", "d", `["default","production"]`)},
		{"without environments", "POST", projects, `{"id":"p3","environments":[]}`, 201, made("p3", "p3", "", `[]`)},
		{"null as description, unknown members", "POST", projects, `{"id":"p4","description":null,"mode":"open","nosuch":1}`, 201, made("p4", "p4", "", `["development","production"]`)},
		{"read", "GET", projects + "/p2", "", 200, `{"version":1,"name":"Two of them","description":"d","health":100,"members":0,
			"environments":[{"environment":"default"},{"environment":"production"}],"features":[]}`},
		{"read without environments", "GET", projects + "/p3", "", 200, `{"...":0,"environments":[]}`},
		{"a flag in it", "POST", projects + "/p3/features", `{"name":"f3"}`, 201, subset("f3", `"project":"p3"`)},
		{"has no environments", "GET", projects + "/p3/features/f3", "", 200, record("f3", nil, `"project":"p3"`)},
		{"nor variants in them", "PUT", projects + "/p3/features/f3/variants", `[{"name":"v","weight":1}]`, 200, variants()},
		{"its list", "GET", projects + "/p3/features", "", 200, `{"version":2,"features":[` + listed("f3") + `]}`},
		{"a taken id", "POST", projects, `{"id":"p1"}`, 409, failure("NameExistsError", `"p1"`)},
		{"the id that is there from the start", "POST", projects, `{"id":"default"}`, 409, failure("NameExistsError", `"default"`)},
		{"no id", "POST", projects, `{"name":"x"}`, 400, invalid("/id")},
		{"an id that is none", "POST", projects, `{"id":"a/b"}`, 400, invalid("/id")},
		{"an empty name", "POST", projects, `{"id":"p5","name":""}`, 400, invalid("/name")},
		{"unknown environments", "POST", projects, `{"id":"p5","environments":["development","nosuch"]}`, 400, invalid("/environments/1")},
		{"a name of a flag in another project is taken here too", "POST", features, `{"name":"f3"}`, 409, failure("NameExistsError", `"f3"`)},
		{"what was refused is not there", "GET", projects + "/p5", "", 404, notFound(`"p5"`)},
	})
}

func TestCreateEnvironment(t *testing.T) {
	s := serve(t, func(c *httpapi.Config, _ *http.RoundTripper) { c.Limits.Environments = 6 })
	const environments = "/api/admin/environments"
	made := func(name, kind string, enabled bool, sortOrder int) string {
		return fmt.Sprintf(`{"name":%q,"type":%q,"enabled":%t,"protected":false,"sortOrder":%d}`, name, kind, enabled, sortOrder)
	}
	s.run(t, []call{
		{"behind the others, enabled", "POST", environments, `{"name":"e1","type":"test"}`, 201, made("e1", "test", true, 4)},
		{"with everything", "POST", environments, `{"name":"e2","type":"any word","enabled":false,"sortOrder":-3,"protected":true,"nosuch":1}`, 201, made("e2", "any word", false, -3)},
		{"a taken name", "POST", environments, `{"name":"e1","type":"test"}`, 409, failure("NameExistsError", `"e1"`)},
		{"a name from the start", "POST", environments, `{"name":"production","type":"test"}`, 409, failure("NameExistsError", `"production"`)},
		{"no name", "POST", environments, `{"type":"test"}`, 400, invalid("/name")},
		{"a name that is none", "POST", environments, `{"name":"..","type":"test"}`, 400, invalid("/name")},
		{"no type", "POST", environments, `{"name":"e3"}`, 400, invalid("/type")},
		{"an empty type", "POST", environments, `{"name":"e3","type":""}`, 400, invalid("/type")},
		{"a sort order that is not whole", "POST", environments, `{"name":"e3","type":"test","sortOrder":1.5}`, 400, invalid("/sortOrder")},
		{"the last one allowed", "POST", environments, `{"name":"e3","type":"test"}`, 201, made("e3", "test", true, 5)},
		{"past the limit", "POST", environments, `{"name":"e4","type":"test"}`, 400, malformed("no more than 6")},
		{"a project made now has the enabled ones", "POST", "/api/admin/projects", `{"id":"later"}`, 201, `{"...":0,"environments":["development","production","e1","e3"]}`},
		{"one made before does not", "GET", project, "", 200, `{"...":0,"environments":[{"environment":"development"},{"environment":"production"}]}`},
	})
	want := []flags.EventType{flags.EnvironmentsSeeded, flags.EnvironmentCreated, flags.EnvironmentCreated, flags.EnvironmentCreated}
	if got := s.eventsOf(t, &flags.Environments{}); !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}

func TestAttachEnvironment(t *testing.T) {
	s := serve(t)
	s.enabled(t, "f")
	s.must(t, "POST", "/api/admin/environments", `{"name":"first","type":"test","sortOrder":0}`)
	attach := project + "/environments"
	s.run(t, []call{
		{"not there yet", "GET", in("f", "first"), "", 404, notFound(`"first"`)},
		{"added", "POST", attach, `{"environment":"first"}`, 200, ""},
		{"twice", "POST", attach, `{"environment":"first"}`, 409, failure("ConflictError", `"first"`)},
		{"there from the start", "POST", attach, `{"environment":"production"}`, 409, failure("ConflictError", `"production"`)},
		{"one that is disabled", "POST", attach, `{"environment":"default"}`, 200, ""},
		{"an unknown one", "POST", attach, `{"environment":"nosuch"}`, 400, invalid("/environment")},
		{"none", "POST", attach, `{}`, 400, invalid("/environment")},
		{"to an unknown project", "POST", "/api/admin/projects/nosuch/environments", `{"environment":"first"}`, 404, notFound(`"nosuch"`)},
		{"flags that were there have them, by sort order, disabled and empty", "GET", features + "/f", "", 200, `{"...":0,"enabled":true,"environments":[
			{"...":0,"name":"first","type":"test","sortOrder":0,"enabled":false,"strategies":[],"variants":[]},
			{"...":0,"name":"default","sortOrder":1,"enabled":false},{"...":0,"name":"development","enabled":true},{"...":0,"name":"production"}]}`},
		{"lists too", "GET", features, "", 200, `{"...":0,"features":[{"...":0,"environments":[{"...":0,"name":"first"},{"...":0,"name":"default"},{"...":0,"name":"development","enabled":true},{"...":0,"name":"production"}]}]}`},
		{"on there", "POST", in("f", "first") + "/strategies", `{"name":"default"}`, 200, anything},
		{"it counts", "POST", in("f", "first") + "/on", "", 200, `{"...":0,"enabled":true}`},
	})
}
