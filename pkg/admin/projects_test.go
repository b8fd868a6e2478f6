package admin_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

const projects = "/api/admin/projects"

// newProject has the fields that every response about a new project has.
func newProject(name string) []string {
	return []string{fmt.Sprintf(`"name":%q`, name), `"mode":"open"`, `"defaultStickiness":"default"`, `"featureLimit":null`,
		`"featureNaming":{"pattern":null,"example":null,"description":null}`, `"linkTemplates":[]`, `"createdAt":"<time>"`, `"updatedAt":"<time>"`}
}

// aboutDefault is the description of the default project in a new service.
const aboutDefault = `"description":"Default project"`

// listedProject is a new project in the list of all projects. createdProject is the response to its creation, and overview the
// response to reading it. others replace or add fields.
func listedProject(id, name string, others ...string) string {
	return object(append(newProject(name), fmt.Sprintf(`"id":%q`, id), `"health":100`, `"featureCount":0`, `"staleFeatureCount":0`,
		`"memberCount":0`, `"favorite":false`), others)
}

func createdProject(id, name, environments string, others ...string) string {
	return object(append(newProject(name), fmt.Sprintf(`"id":%q`, id), `"environments":`+environments, `"changeRequestEnvironments":[]`), others)
}

func overview(name string, others ...string) string {
	return object(append(newProject(name), `"version":1`, `"description":""`, `"health":100`, `"members":0`, `"favorite":false`, `"stats":"<any>"`,
		`"environments":[{"environment":"development"},{"environment":"production"}]`, `"features":[]`), others)
}

func TestReadProject(t *testing.T) {
	t.Parallel()
	s := serve(t)
	rows := func(names ...string) string {
		all := make([]string, len(names))
		for i, name := range names {
			all[i] = featureRow(name, row("development"), row("production"))
		}
		return `"features":[` + strings.Join(all, ",") + `]`
	}
	s.check(t, call{"without flags", "GET", project, "", 200, overview("Default", aboutDefault)})
	s.create(t, "c", "a", "b")
	s.check(t, call{"with flags", "GET", project, "", 200, overview("Default", aboutDefault, rows("a", "b", "c"))})
	s.must(t, "PUT", features+"/c", `{"stale":true}`)
	s.run(t, []call{
		{"a third of them stale", "GET", project, "", 200, `{"...":0,"health":67}`},
		{"the health in the list", "GET", projects, "", 200, `{"version":1,"projects":[` +
			listedProject("default", "Default", aboutDefault, `"health":67`, `"featureCount":3`, `"staleFeatureCount":1`) + `]}`},
		{"archive a flag", "DELETE", features + "/c", "", 202, ""},
		{"an archived flag does not count in the overview", "GET", project, "", 200, `{"...":0,"health":100}`},
		{"an archived flag does not count in the list", "GET", projects, "", 200, `{"version":1,"projects":[` + listedProject("default", "Default", aboutDefault, `"featureCount":2`) + `]}`},
		{"an unknown project", "GET", "/api/admin/projects/nosuch", "", 404, notFound(`"nosuch"`)},
		{"an id in another case", "GET", "/api/admin/projects/Default", "", 404, notFound(`"Default"`)},
	})
}

func TestCreateProject(t *testing.T) {
	t.Parallel()
	s := serve(t)
	const usual = `["development","production"]`
	s.run(t, []call{
		{"only an id: all enabled environments", "POST", projects, `{"id":"p1"}`, 201, createdProject("p1", "p1", usual)},
		{"all fields", "POST", projects, `{"id":"p2","name":"Two of them","description":"d","environments":["production","default"],"mode":"private",
			"defaultStickiness":"userId","featureLimit":3,"featureNaming":{"pattern":"^a","example":"ab","description":null},"linkTemplates":[{"title":"t","urlTemplate":"u"}]}`, 201,
			createdProject("p2", "Two of them", `["default","production"]`, `"description":"d"`, `"mode":"private"`, `"defaultStickiness":"userId"`, `"featureLimit":3`,
				`"featureNaming":{"pattern":"^a","example":"ab","description":null}`, `"linkTemplates":[{"title":"t","urlTemplate":"u"}]`)},
		{"without environments", "POST", projects, `{"id":"p3","environments":[]}`, 201, createdProject("p3", "p3", `[]`)},
		{"a null description and unknown fields", "POST", projects, `{"id":"p4","description":null,"mode":"open","changeRequestEnvironments":[],"nosuch":1}`, 201, createdProject("p4", "p4", usual)},
		{"read it", "GET", projects + "/p2", "", 200, overview("Two of them", `"description":"d"`, `"mode":"private"`, `"defaultStickiness":"userId"`, `"featureLimit":3`,
			`"featureNaming":{"pattern":"^a","example":"ab","description":null}`, `"linkTemplates":[{"title":"t","urlTemplate":"u"}]`,
			`"environments":[{"environment":"default"},{"environment":"production"}]`)},
		{"read a project without environments", "GET", projects + "/p3", "", 200, `{"...":0,"environments":[]}`},
		{"a flag in it", "POST", projects + "/p3/features", `{"name":"f3"}`, 201, subset("f3", `"project":"p3"`)},
		{"the flag has no environments", "GET", projects + "/p3/features/f3", "", 200, record("f3", nil, `"project":"p3"`)},
		{"the flag has no variants", "PUT", projects + "/p3/features/f3/variants", `[{"name":"v","weight":1}]`, 200, variants()},
		{"the list of its flags", "GET", projects + "/p3/features", "", 200, `{"version":2,"features":[` + listed("f3") + `]}`},
		{"all projects", "GET", projects, "", 200, `{"version":1,"projects":[` + strings.Join([]string{
			listedProject("default", "Default", aboutDefault), listedProject("p1", "p1"),
			listedProject("p2", "Two of them", `"description":"d"`, `"mode":"private"`, `"defaultStickiness":"userId"`, `"featureLimit":3`,
				`"featureNaming":{"pattern":"^a","example":"ab","description":null}`, `"linkTemplates":[{"title":"t","urlTemplate":"u"}]`),
			listedProject("p3", "p3", `"featureCount":1`), listedProject("p4", "p4"),
		}, ",") + `]}`},
		{"a taken id", "POST", projects, `{"id":"p1"}`, 409, failure("NameExistsError", `"p1"`)},
		{"the id of the default project", "POST", projects, `{"id":"default"}`, 409, failure("NameExistsError", `"default"`)},
		{"neither id nor name", "POST", projects, `{}`, 400, invalid("/name")},
		{"an invalid id", "POST", projects, `{"id":"a/b"}`, 400, invalid("/id")},
		{"an empty name", "POST", projects, `{"id":"p5","name":""}`, 400, invalid("/name")},
		{"a blank name", "POST", projects, `{"id":"p5","name":" \t"}`, 400, invalid("/name")},
		{"an unknown mode", "POST", projects, `{"id":"p5","mode":"shut"}`, 400, invalid("/mode")},
		{"an empty stickiness", "POST", projects, `{"id":"p5","defaultStickiness":""}`, 400, invalid("/defaultStickiness")},
		{"a stickiness with a double quote", "POST", projects, `{"id":"p5","defaultStickiness":"a\"b"}`, 400, invalid("/defaultStickiness")},
		{"a stickiness with a line break", "PUT", projects + "/p1", `{"defaultStickiness":"a\nb"}`, 400, invalid("/defaultStickiness")},
		{"a negative limit", "POST", projects, `{"id":"p5","featureLimit":-1}`, 400, invalid("/featureLimit")},
		{"a link without a URL", "POST", projects, `{"id":"p5","linkTemplates":[{"title":"t"}]}`, 400, invalid("/linkTemplates/0/urlTemplate")},
		{"a link that runs a script", "POST", projects, `{"id":"p5","linkTemplates":[{"urlTemplate":"u"},{"urlTemplate":"JavaScript:alert(1)"}]}`, 400, invalid("/linkTemplates/1/urlTemplate")},
		{"a link that hides its scheme", "POST", projects, `{"id":"p5","linkTemplates":[{"urlTemplate":" java\tscript\n:alert(1)"}]}`, 400, invalid("/linkTemplates/0/urlTemplate")},
		{"a link whose scheme is the project", "POST", projects, `{"id":"javascript","linkTemplates":[{"urlTemplate":"{{project}}:alert(1)"}]}`, 400, invalid("/linkTemplates/0/urlTemplate")},
		{"a link with data", "POST", projects, `{"id":"p5","linkTemplates":[{"urlTemplate":"data:text/html,a"}]}`, 400, invalid("/linkTemplates/0/urlTemplate")},
		{"change requests", "POST", projects, `{"id":"reviewed","changeRequestEnvironments":[{"name":"production"}]}`, 201, `{"...":0,"changeRequestEnvironments":[{"name":"production","requiredApprovals":1}]}`},
		{"unknown environments", "POST", projects, `{"id":"p5","environments":["development","nosuch"]}`, 400, invalid("/environments/1")},
		{"a flag name that another project has taken", "POST", features, `{"name":"f3"}`, 409, failure("NameExistsError", `"f3"`)},
		{"a rejected project does not exist", "GET", projects + "/p5", "", 404, notFound(`"p5"`)},
	})
}

// TestDerivedIDs creates projects with a name and no id.
func TestDerivedIDs(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.run(t, []call{
		{"a name", "POST", projects, `{"name":"The Shop!"}`, 201, createdProject("the-shop", "The Shop!", `["development","production"]`)},
		{"an empty id", "POST", projects, `{"id":"","name":"Other"}`, 201, `{"...":0,"id":"other","name":"Other"}`},
		{"the same name again", "POST", projects, `{"name":"The Shop!"}`, 201, `{"...":0,"id":"<has the-shop->","name":"The Shop!"}`},
		{"a name from which a taken id is derived", "POST", projects, `{"name":"Default"}`, 201, `{"...":0,"id":"<has default->"}`},
		{"a name without characters that an id can have", "POST", projects, `{"name":"日本"}`, 201, `{"...":0,"id":"project","name":"日本"}`},
		{"a very long name", "POST", projects, `{"name":"` + strings.Repeat("x", 255) + `"}`, 201, `{"...":0,"id":"` + strings.Repeat("x", 90) + `"}`},
		{"the same very long name again", "POST", projects, `{"name":"` + strings.Repeat("x", 255) + `"}`, 201, `{"...":0,"id":"<has xx->"}`},
	})
	got := s.parallel(t, 24, func(int) call { return call{method: "POST", path: projects, body: `{"name":"At once"}`} })
	wantStatuses(t, got, map[int]int{201: 24})
	if n := strings.Count(s.must(t, "GET", projects, "").body, `"id":"at-once`); n != 24 {
		t.Errorf("%d projects, want 24 with different ids", n)
	}
}

func TestUpdateProject(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.must(t, "POST", projects, `{"id":"p","name":"n","description":"d"}`)
	const p, settings = projects + "/p", projects + "/p/settings"
	full := []string{`"mode":"private"`, `"defaultStickiness":"random"`, `"featureLimit":9`,
		`"featureNaming":{"pattern":"^a","example":"ab","description":"c"}`, `"linkTemplates":[{"title":null,"urlTemplate":"u"}]`}
	s.run(t, []call{
		{"an empty body", "PUT", p, `{}`, 200, ""},
		{"an empty body changes nothing", "GET", p, "", 200, overview("n", `"description":"d"`)},
		{"name and mode", "PUT", p, `{"name":"m","mode":"protected","id":"other","nosuch":1}`, 200, ""},
		{"omitted fields stay the same", "GET", p, "", 200, overview("m", `"description":"d"`, `"mode":"protected"`)},
		{"remove the description", "PUT", p, `{"description":null,"defaultStickiness":"random"}`, 200, ""},
		{"an empty description is omitted in the list", "GET", projects, "", 200, `{"...":0,"projects":[` + listedProject("default", "Default", aboutDefault) + `,` +
			listedProject("p", "m", `"mode":"protected"`, `"defaultStickiness":"random"`) + `]}`},
		{"all settings", "PUT", settings, `{` + strings.Join(full, ",") + `}`, 200, ""},
		{"read all settings", "GET", p, "", 200, overview("m", full...)},
		{"replace the naming convention", "PUT", settings, `{"featureNaming":{"pattern":"^b"},"linkTemplates":[],"featureLimit":null}`, 200, ""},
		{"the naming convention is replaced as a whole", "GET", p, "", 200, overview("m", `"mode":"private"`, `"defaultStickiness":"random"`, `"featureNaming":{"pattern":"^b","example":null,"description":null}`)},
		{"the same settings again", "PUT", settings, `{"featureNaming":{"pattern":"^b"},"linkTemplates":[]}`, 200, ""},
		{"a name in settings is ignored", "PUT", settings, `{"name":"x","description":"x"}`, 200, ""},
		{"the name is still the same", "GET", p, "", 200, `{"...":0,"name":"m","description":""}`},
		{"an empty name", "PUT", p, `{"name":" "}`, 400, invalid("/name")},
		{"an unknown mode", "PUT", settings, `{"mode":""}`, 400, invalid("/mode")},
		{"a null mode", "PUT", p, `{"mode":null}`, 400, invalid("/mode")},
		{"naming with a wrong type", "PUT", settings, `{"featureNaming":{"pattern":1}}`, 400, invalid("/featureNaming/pattern")},
		{"an unknown project", "PUT", projects + "/nosuch", `{"name":"x"}`, 404, notFound(`"nosuch"`)},
		{"an invalid body of an unknown project", "PUT", projects + "/nosuch/settings", `{"mode":"x"}`, 400, invalid("/mode")},
	})
	want := append([]flags.EventType{flags.ProjectCreated}, slices.Repeat([]flags.EventType{flags.ProjectUpdated}, 4)...)
	if got := s.eventsOf(t, s.projectAt(t, "p")); !slices.Equal(got, want) {
		t.Errorf("events %q, want %q: a request that changes nothing has no event", got, want)
	}
}

// projectAt returns a project as it is stored.
func (s *server) projectAt(t *testing.T, id string) *flags.Project {
	t.Helper()
	view, err := s.store.Load(t.Context(), []flags.Key{flags.ProjectKey(id)})
	if err != nil {
		t.Fatal(err)
	}
	p := flags.Find[*flags.Project](view, flags.ProjectKey(id))
	if p == nil {
		t.Fatalf("there is no project %q", id)
	}
	return p
}

// TestUpdatedAt checks the time of the last change.
func TestUpdatedAt(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	s := serve(t, func(c *httpapi.Config, _ *http.RoundTripper) { c.Now = func() time.Time { return now } })
	s.must(t, "POST", projects, `{"id":"p"}`)
	at := func(updated string) string {
		return `{"...":0,"createdAt":"2026-05-06T07:08:09.000Z","updatedAt":"` + updated + `"}`
	}
	now = now.Add(time.Hour)
	s.must(t, "PUT", projects+"/p", `{"name":"p"}`)
	s.check(t, call{"a request that changes nothing", "GET", projects + "/p", "", 200, at("2026-05-06T07:08:09.000Z")})
	s.must(t, "PUT", projects+"/p", `{"name":"q"}`)
	s.check(t, call{"a request that changes the name", "GET", projects + "/p", "", 200, at("2026-05-06T08:08:09.000Z")})
}

func TestDeleteProject(t *testing.T) {
	t.Parallel()
	s := serve(t)
	const p = projects + "/p"
	make := func() { s.must(t, "POST", projects, `{"id":"p","name":"n","mode":"private","description":"d"}`) }
	make()
	first := s.projectAt(t, "p")
	s.must(t, "POST", p+"/features", `{"name":"kept"}`)
	s.must(t, "POST", p+"/environments/development/default-strategy", `{"name":"default"}`)
	s.must(t, "POST", "/api/admin/api-tokens", `{"tokenName":"of p","type":"client","projects":["p"],"environment":"development"}`)
	tokens := func(n int) string {
		return fmt.Sprintf(`{"version":1,"environments":[{"...":0,"name":"development","projectApiTokenCount":%d},{"...":0}]}`, n)
	}
	s.check(t, call{"the count of its tokens", "GET", environments + "/project/p", "", 200, tokens(1)})
	s.run(t, []call{
		{"delete it with active flags", "DELETE", p, "", 409, failure("ConflictError", "active flags")},
		{"it still exists", "GET", p, "", 200, `{"...":0,"features":[{"...":0,"name":"kept"}]}`},
		{"archive the flag", "DELETE", p + "/features/kept", "", 202, ""},
		{"delete it without active flags", "DELETE", p, "", 200, ""},
		{"it does not exist", "GET", p, "", 404, notFound(`"p"`)},
		{"the list does not have it", "GET", projects, "", 200, `{"version":1,"projects":[` + listedProject("default", "Default", aboutDefault) + `]}`},
		{"delete it again", "DELETE", p, "", 404, notFound(`"p"`)},
		{"a flag in it", "POST", p + "/features", `{"name":"new"}`, 404, notFound(`"p"`)},
		{"revive its archived flag", "POST", "/api/admin/archive/revive/kept", "", 404, notFound(`"p"`)},
		{"the name of the archived flag is taken", "POST", features, `{"name":"kept"}`, 409, failure("NameExistsError", `"kept"`)},
		{"an unknown project", "DELETE", projects + "/nosuch", "", 404, notFound(`"nosuch"`)},
		{"the default project", "DELETE", project, "", 400, malformed("cannot be deleted")},
	})
	if got, want := s.eventsOf(t, first), flags.ProjectDeleted; got[len(got)-1] != want {
		t.Errorf("events %q, want %s at the end", got, want)
	}
	make()
	s.run(t, []call{
		{"a new project with the same id starts empty", "GET", p, "", 200, overview("n", `"description":"d"`, `"mode":"private"`)},
		{"it has no tokens", "GET", environments + "/project/p", "", 200, tokens(0)},
		{"it has no archived flags", "GET", "/api/admin/archive/features/p", "", 200, `{"version":2,"features":[]}`},
		{"create a flag in it", "POST", p + "/features", `{"name":"bare"}`, 201, anything},
		{"it has no default strategy", "POST", p + "/features/bare/environments/development/on", "", 409, failure("ConflictError", "")},
		{"it does not have the flag of the deleted project", "GET", p + "/features/kept", "", 404, notFound(`"kept"`)},
		{"the flag of the deleted project cannot be revived", "POST", "/api/admin/archive/revive/kept", "", 404, notFound(`"p"`)},
	})
	if got := s.eventsOf(t, s.projectAt(t, "p")); !slices.Equal(got, []flags.EventType{flags.ProjectCreated}) {
		t.Errorf("events %q, want only those of the second project", got)
	}
}
