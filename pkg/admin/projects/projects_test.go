package projects_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/apitest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// newProjectFields has the fields that every response about a new project has.
func newProjectFields(name string) []string {
	return []string{fmt.Sprintf(`"name":%q`, name), `"mode":"open"`, `"defaultStickiness":"default"`, `"featureLimit":null`,
		`"featureNaming":{"pattern":null,"example":null,"description":null}`, `"linkTemplates":[]`, `"createdAt":"<time>"`, `"updatedAt":"<time>"`}
}

// aboutDefault is the description of the default project in a new service.
const aboutDefault = `"description":"Default project"`

// listedProject is a new project in the list of all projects. createdProject is the response to its creation, and overview the
// response to reading it. others replace or add fields.
func listedProject(id, name string, others ...string) string {
	return apitest.Object(append(newProjectFields(name), fmt.Sprintf(`"id":%q`, id), `"health":100`, `"featureCount":0`, `"staleFeatureCount":0`,
		`"memberCount":0`, `"favorite":false`), others)
}

func createdProject(id, name, environments string, others ...string) string {
	return apitest.Object(append(newProjectFields(name), fmt.Sprintf(`"id":%q`, id), `"environments":`+environments, `"changeRequestEnvironments":[]`), others)
}

func overview(name string, others ...string) string {
	return apitest.Object(append(newProjectFields(name), `"version":1`, `"description":""`, `"health":100`, `"members":0`, `"favorite":false`, `"stats":"<any>"`,
		`"environments":[{"environment":"development"},{"environment":"production"}]`, `"features":[]`), others)
}

func TestReadProject(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	rows := func(names ...string) string {
		all := make([]string, len(names))
		for i, name := range names {
			all[i] = apitest.FeatureRow(name, apitest.Row("development"), apitest.Row("production"))
		}
		return `"features":[` + strings.Join(all, ",") + `]`
	}
	s.Check(t, apitest.Call{"without flags", "GET", apitest.Project, "", 200, overview("Default", aboutDefault)})
	s.Create(t, "c", "a", "b")
	s.Check(t, apitest.Call{"with flags", "GET", apitest.Project, "", 200, overview("Default", aboutDefault, rows("a", "b", "c"))})
	s.Must(t, "PUT", apitest.Features+"/c", `{"stale":true}`)
	s.Run(t, []apitest.Call{
		{"a third of them stale", "GET", apitest.Project, "", 200, `{"...":0,"health":67}`},
		{"the health in the list", "GET", apitest.Projects, "", 200, `{"version":1,"projects":[` +
			listedProject("default", "Default", aboutDefault, `"health":67`, `"featureCount":3`, `"staleFeatureCount":1`) + `]}`},
		{"archive a flag", "DELETE", apitest.Features + "/c", "", 202, ""},
		{"an archived flag does not count in the overview", "GET", apitest.Project, "", 200, `{"...":0,"health":100}`},
		{"an archived flag does not count in the list", "GET", apitest.Projects, "", 200, `{"version":1,"projects":[` + listedProject("default", "Default", aboutDefault, `"featureCount":2`) + `]}`},
		{"an id in another case", "GET", "/api/admin/projects/Default", "", 404, apitest.NotFound(`"Default"`)},
	})
}

func TestCreateProject(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	const usual = `["development","production"]`
	s.Run(t, []apitest.Call{
		{"only an id: all enabled environments", "POST", apitest.Projects, `{"id":"p1"}`, 201, createdProject("p1", "p1", usual)},
		{"all fields", "POST", apitest.Projects, `{"id":"p2","name":"Two of them","description":"d","environments":["production","default"],"mode":"private",
			"defaultStickiness":"userId","featureLimit":3,"featureNaming":{"pattern":"a.*","example":"ab","description":null},"linkTemplates":[{"title":"t","urlTemplate":"u"}]}`, 201,
			createdProject("p2", "Two of them", `["default","production"]`, `"description":"d"`, `"mode":"private"`, `"defaultStickiness":"userId"`, `"featureLimit":3`,
				`"featureNaming":{"pattern":"a.*","example":"ab","description":null}`, `"linkTemplates":[{"title":"t","urlTemplate":"u"}]`)},
		{"without environments", "POST", apitest.Projects, `{"id":"p3","environments":[]}`, 201, createdProject("p3", "p3", `[]`)},
		{"a null description and unknown fields", "POST", apitest.Projects, `{"id":"p4","description":null,"mode":"open","changeRequestEnvironments":[],"nosuch":1}`, 201, createdProject("p4", "p4", usual)},
		{"read it", "GET", apitest.Projects + "/p2", "", 200, overview("Two of them", `"description":"d"`, `"mode":"private"`, `"defaultStickiness":"userId"`, `"featureLimit":3`,
			`"featureNaming":{"pattern":"a.*","example":"ab","description":null}`, `"linkTemplates":[{"title":"t","urlTemplate":"u"}]`,
			`"environments":[{"environment":"default"},{"environment":"production"}]`)},
		{"read a project without environments", "GET", apitest.Projects + "/p3", "", 200, `{"...":0,"environments":[]}`},
		{"a flag in it", "POST", apitest.Projects + "/p3/features", `{"name":"f3"}`, 201, apitest.Created("f3", `"project":"p3"`)},
		{"the flag has no environments", "GET", apitest.Projects + "/p3/features/f3", "", 200, apitest.Record("f3", nil, `"project":"p3"`)},
		{"the flag has no variants", "PUT", apitest.Projects + "/p3/features/f3/variants", `[{"name":"v","weight":1}]`, 200, `{"version":1,"variants":[]}`},
		{"the list of its flags", "GET", apitest.Projects + "/p3/features", "", 200, `{"version":2,"features":[` + apitest.Listed("f3") + `]}`},
		{"all projects", "GET", apitest.Projects, "", 200, `{"version":1,"projects":[` + strings.Join([]string{
			listedProject("default", "Default", aboutDefault), listedProject("p1", "p1"),
			listedProject("p2", "Two of them", `"description":"d"`, `"mode":"private"`, `"defaultStickiness":"userId"`, `"featureLimit":3`,
				`"featureNaming":{"pattern":"a.*","example":"ab","description":null}`, `"linkTemplates":[{"title":"t","urlTemplate":"u"}]`),
			listedProject("p3", "p3", `"featureCount":1`), listedProject("p4", "p4"),
		}, ",") + `]}`},
		{"a taken id", "POST", apitest.Projects, `{"id":"p1"}`, 409, apitest.Failure("NameExistsError", `"p1"`)},
		{"the id of the default project", "POST", apitest.Projects, `{"id":"default"}`, 409, apitest.Failure("NameExistsError", `"default"`)},
		{"neither id nor name", "POST", apitest.Projects, `{}`, 400, apitest.Invalid("/name")},
		{"an invalid id", "POST", apitest.Projects, `{"id":"a/b"}`, 400, apitest.Invalid("/id")},
		{"an empty name", "POST", apitest.Projects, `{"id":"p5","name":""}`, 400, apitest.Invalid("/name")},
		{"a blank name", "POST", apitest.Projects, `{"id":"p5","name":" \t"}`, 400, apitest.Invalid("/name")},
		{"an unknown mode", "POST", apitest.Projects, `{"id":"p5","mode":"shut"}`, 400, apitest.Invalid("/mode")},
		{"an empty stickiness", "POST", apitest.Projects, `{"id":"p5","defaultStickiness":""}`, 400, apitest.Invalid("/defaultStickiness")},
		{"a stickiness with a double quote", "POST", apitest.Projects, `{"id":"p5","defaultStickiness":"a\"b"}`, 400, apitest.Invalid("/defaultStickiness")},
		{"a stickiness with a line break", "PUT", apitest.Projects + "/p1", `{"defaultStickiness":"a\nb"}`, 400, apitest.Invalid("/defaultStickiness")},
		{"a negative limit", "POST", apitest.Projects, `{"id":"p5","featureLimit":-1}`, 400, apitest.Invalid("/featureLimit")},
		{"a link without a URL", "POST", apitest.Projects, `{"id":"p5","linkTemplates":[{"title":"t"}]}`, 400, apitest.Invalid("/linkTemplates/0/urlTemplate")},
		{"a link that runs a script", "POST", apitest.Projects, `{"id":"p5","linkTemplates":[{"urlTemplate":"u"},{"urlTemplate":"JavaScript:alert(1)"}]}`, 400, apitest.Invalid("/linkTemplates/1/urlTemplate")},
		{"a link that hides its scheme", "POST", apitest.Projects, `{"id":"p5","linkTemplates":[{"urlTemplate":" java\tscript\n:alert(1)"}]}`, 400, apitest.Invalid("/linkTemplates/0/urlTemplate")},
		{"a link whose scheme is the project", "POST", apitest.Projects, `{"id":"javascript","linkTemplates":[{"urlTemplate":"{{project}}:alert(1)"}]}`, 400, apitest.Invalid("/linkTemplates/0/urlTemplate")},
		{"a link with data", "POST", apitest.Projects, `{"id":"p5","linkTemplates":[{"urlTemplate":"data:text/html,a"}]}`, 400, apitest.Invalid("/linkTemplates/0/urlTemplate")},
		{"change requests", "POST", apitest.Projects, `{"id":"reviewed","changeRequestEnvironments":[{"name":"production"}]}`, 201, `{"...":0,"changeRequestEnvironments":[{"name":"production","requiredApprovals":1}]}`},
		{"unknown environments", "POST", apitest.Projects, `{"id":"p5","environments":["development","nosuch"]}`, 400, apitest.Invalid("/environments/1")},
		{"a flag name that another project has taken", "POST", apitest.Features, `{"name":"f3"}`, 409, apitest.Failure("NameExistsError", `"f3"`)},
		{"a rejected project does not exist", "GET", apitest.Projects + "/p5", "", 404, apitest.NotFound(`"p5"`)},
	})
}

// TestDerivedIDs creates projects with a name and no id.
func TestDerivedIDs(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Run(t, []apitest.Call{
		{"a name", "POST", apitest.Projects, `{"name":"The Shop!"}`, 201, createdProject("the-shop", "The Shop!", `["development","production"]`)},
		{"an empty id", "POST", apitest.Projects, `{"id":"","name":"Other"}`, 201, `{"...":0,"id":"other","name":"Other"}`},
		{"the same name again", "POST", apitest.Projects, `{"name":"The Shop!"}`, 201, `{"...":0,"id":"<has the-shop->","name":"The Shop!"}`},
		{"a name from which a taken id is derived", "POST", apitest.Projects, `{"name":"Default"}`, 201, `{"...":0,"id":"<has default->"}`},
		{"a name without characters that an id can have", "POST", apitest.Projects, `{"name":"日本"}`, 201, `{"...":0,"id":"project","name":"日本"}`},
		{"a very long name", "POST", apitest.Projects, `{"name":"` + strings.Repeat("x", 255) + `"}`, 201, `{"...":0,"id":"` + strings.Repeat("x", 90) + `"}`},
		{"the same very long name again", "POST", apitest.Projects, `{"name":"` + strings.Repeat("x", 255) + `"}`, 201, `{"...":0,"id":"<has xx->"}`},
	})
	s.WantParallel(t, map[int]int{201: 24}, 24, func(int) apitest.Call {
		return apitest.Call{Method: "POST", Path: apitest.Projects, Body: `{"name":"At once"}`}
	})
	if n := strings.Count(s.Must(t, "GET", apitest.Projects, "").Body, `"id":"at-once`); n != 24 {
		t.Errorf("%d projects, want 24 with different ids", n)
	}
}

func TestUpdateProject(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", apitest.Projects, `{"id":"p","name":"n","description":"d"}`)
	const p, settings = apitest.Projects + "/p", apitest.Projects + "/p/settings"
	full := []string{`"mode":"private"`, `"defaultStickiness":"random"`, `"featureLimit":9`,
		`"featureNaming":{"pattern":"a.*","example":"ab","description":"c"}`, `"linkTemplates":[{"title":null,"urlTemplate":"u"}]`}
	s.Run(t, []apitest.Call{
		{"an empty body", "PUT", p, `{}`, 200, ""},
		{"an empty body changes nothing", "GET", p, "", 200, overview("n", `"description":"d"`)},
		{"name and mode", "PUT", p, `{"name":"m","mode":"protected","id":"other","nosuch":1}`, 200, ""},
		{"omitted fields stay the same", "GET", p, "", 200, overview("m", `"description":"d"`, `"mode":"protected"`)},
		{"remove the description", "PUT", p, `{"description":null,"defaultStickiness":"random"}`, 200, ""},
		{"an empty description is omitted in the list", "GET", apitest.Projects, "", 200, `{"...":0,"projects":[` + listedProject("default", "Default", aboutDefault) + `,` +
			listedProject("p", "m", `"mode":"protected"`, `"defaultStickiness":"random"`) + `]}`},
		{"all settings", "PUT", settings, `{` + strings.Join(full, ",") + `}`, 200, ""},
		{"read all settings", "GET", p, "", 200, overview("m", full...)},
		{"replace the naming convention", "PUT", settings, `{"featureNaming":{"pattern":"^b"},"linkTemplates":[],"featureLimit":null}`, 200, ""},
		{"the naming convention is replaced as a whole", "GET", p, "", 200, overview("m", `"mode":"private"`, `"defaultStickiness":"random"`, `"featureNaming":{"pattern":"^b","example":null,"description":null}`)},
		{"the same settings again", "PUT", settings, `{"featureNaming":{"pattern":"^b"},"linkTemplates":[]}`, 200, ""},
		{"a name in settings is ignored", "PUT", settings, `{"name":"x","description":"x"}`, 200, ""},
		{"the name is still the same", "GET", p, "", 200, `{"...":0,"name":"m","description":""}`},
		{"an empty name", "PUT", p, `{"name":" "}`, 400, apitest.Invalid("/name")},
		{"an unknown mode", "PUT", settings, `{"mode":""}`, 400, apitest.Invalid("/mode")},
		{"a null mode", "PUT", p, `{"mode":null}`, 400, apitest.Invalid("/mode")},
		{"naming with a wrong type", "PUT", settings, `{"featureNaming":{"pattern":1}}`, 400, apitest.Invalid("/featureNaming/pattern")},
		{"an invalid body of an unknown project", "PUT", apitest.Projects + "/nosuch/settings", `{"mode":"x"}`, 400, apitest.Invalid("/mode")},
	})
	want := append([]flags.EventType{flags.ProjectCreated}, slices.Repeat([]flags.EventType{flags.ProjectUpdated}, 4)...)
	if got := s.EventsOf(t, projectAt(t, s, "p")); !slices.Equal(got, want) {
		t.Errorf("events %q, want %q: a request that changes nothing has no event", got, want)
	}
}

// projectAt returns a project as it is stored.
func projectAt(t *testing.T, s *apitest.Server, id string) *flags.Project {
	t.Helper()
	p := apitest.Load[*flags.Project](t, s, flags.ProjectKey(id))
	if p == nil {
		t.Fatalf("there is no project %q", id)
	}
	return p
}

// TestUpdatedAt checks the time of the last change.
func TestUpdatedAt(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	s := apitest.Serve(t, func(c *httpapi.Config, _ *http.RoundTripper) { c.Now = func() time.Time { return now } })
	s.Must(t, "POST", apitest.Projects, `{"id":"p"}`)
	at := func(updated string) string {
		return `{"...":0,"createdAt":"2026-05-06T07:08:09.000Z","updatedAt":"` + updated + `"}`
	}
	now = now.Add(time.Hour)
	s.Must(t, "PUT", apitest.Projects+"/p", `{"name":"p"}`)
	s.Check(t, apitest.Call{"a request that changes nothing", "GET", apitest.Projects + "/p", "", 200, at("2026-05-06T07:08:09.000Z")})
	s.Must(t, "PUT", apitest.Projects+"/p", `{"name":"q"}`)
	s.Check(t, apitest.Call{"a request that changes the name", "GET", apitest.Projects + "/p", "", 200, at("2026-05-06T08:08:09.000Z")})
}

func TestDeleteProject(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	const p = apitest.Projects + "/p"
	make := func() {
		s.Must(t, "POST", apitest.Projects, `{"id":"p","name":"n","mode":"private","description":"d"}`)
	}
	make()
	first := projectAt(t, s, "p")
	s.Must(t, "POST", p+"/features", `{"name":"kept"}`)
	s.Must(t, "POST", p+"/environments/development/default-strategy", `{"name":"default"}`)
	s.Must(t, "POST", "/api/admin/api-tokens", `{"tokenName":"of p","type":"client","projects":["p"],"environment":"development"}`)
	tokens := func(n int) string {
		return fmt.Sprintf(`{"version":1,"environments":[{"...":0,"name":"development","projectApiTokenCount":%d},{"...":0}]}`, n)
	}
	s.Check(t, apitest.Call{"the count of its tokens", "GET", apitest.Environments + "/project/p", "", 200, tokens(1)})
	s.Run(t, []apitest.Call{
		{"delete it with active flags", "DELETE", p, "", 409, apitest.Failure("ConflictError", "active flags")},
		{"it still exists", "GET", p, "", 200, `{"...":0,"features":[{"...":0,"name":"kept"}]}`},
		{"archive the flag", "DELETE", p + "/features/kept", "", 202, ""},
		{"delete it without active flags", "DELETE", p, "", 200, ""},
		{"it does not exist", "GET", p, "", 404, apitest.NotFound(`"p"`)},
		{"the list does not have it", "GET", apitest.Projects, "", 200, `{"version":1,"projects":[` + listedProject("default", "Default", aboutDefault) + `]}`},
		{"delete it again", "DELETE", p, "", 404, apitest.NotFound(`"p"`)},
		{"a flag in it", "POST", p + "/features", `{"name":"new"}`, 404, apitest.NotFound(`"p"`)},
		{"revive its archived flag", "POST", "/api/admin/archive/revive/kept", "", 404, apitest.NotFound(`"p"`)},
		{"the name of the archived flag is taken", "POST", apitest.Features, `{"name":"kept"}`, 409, apitest.Failure("NameExistsError", `"kept"`)},
		{"the default project", "DELETE", apitest.Project, "", 400, apitest.Malformed("cannot be deleted")},
	})
	if got, want := s.EventsOf(t, first), flags.ProjectDeleted; got[len(got)-1] != want {
		t.Errorf("events %q, want %s at the end", got, want)
	}
	make()
	s.Run(t, []apitest.Call{
		{"a new project with the same id starts empty", "GET", p, "", 200, overview("n", `"description":"d"`, `"mode":"private"`)},
		{"it has no tokens", "GET", apitest.Environments + "/project/p", "", 200, tokens(0)},
		{"it has no archived flags", "GET", "/api/admin/archive/features/p", "", 200, `{"version":2,"features":[]}`},
		{"create a flag in it", "POST", p + "/features", `{"name":"bare"}`, 201, apitest.Anything},
		{"it has no default strategy", "POST", p + "/features/bare/environments/development/on", "", 409, apitest.Failure("ConflictError", "")},
		{"it does not have the flag of the deleted project", "GET", p + "/features/kept", "", 404, apitest.NotFound(`"kept"`)},
		{"the flag of the deleted project cannot be revived", "POST", "/api/admin/archive/revive/kept", "", 404, apitest.NotFound(`"p"`)},
	})
	s.WantHistoryOf(t, projectAt(t, s, "p"), flags.ProjectCreated)
}

// TestProjectUIDs checks the UIDs of projects. Nothing checks that a new UID is unique, so each needs 96 random bits.
func TestProjectUIDs(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Run(t, []apitest.Call{{"create", "POST", apitest.Projects, `{"id":"one","name":"One"}`, 201, apitest.Anything}, {"create another", "POST", apitest.Projects, `{"id":"two","name":"Two"}`, 201, apitest.Anything}})
	seen := map[string]bool{}
	for _, id := range []string{"default", "one", "two"} {
		uid := apitest.Load[*flags.Project](t, s, flags.ProjectKey(id)).UID
		if raw, err := base64.RawURLEncoding.DecodeString(uid); err != nil || len(raw) < 12 || seen[uid] {
			t.Errorf("the UID of %s is %q, want 96 unique bits", id, uid)
		}
		seen[uid] = true
	}
}

func TestProjectReports(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "a", "b", "c", "archived")
	s.Must(t, "DELETE", apitest.Features+"/archived", "")
	s.Must(t, "PATCH", apitest.Features+"/a", `[{"op":"replace","path":"/stale","value":true}]`)
	s.Must(t, "PUT", apitest.Features+"/b", `{"type":"experiment"}`)
	s.Run(t, []apitest.Call{
		{"health", "GET", apitest.Project + "/health-report", "", 200, `{"...":0,"version":1,"name":"Default","mode":"open","health":67,"members":0,"favorite":false,` +
			`"environments":[{"environment":"development"},{"environment":"production"}],"features":[{"...":0,"name":"a"},{"...":0,"name":"b"},{"...":0,"name":"c"}],` +
			`"activeCount":2,"staleCount":1,"potentiallyStaleCount":0}`},
		{"overview", "GET", apitest.Project + "/overview", "", 200, `{"...":0,"version":1,"name":"Default","health":67,"members":0,"favorite":false,` +
			`"environments":[{"environment":"development"},{"environment":"production"}],"featureTypeCounts":[{"type":"experiment","count":1},{"type":"release","count":2}],"owners":[{"ownerType":"system"}]}`},
	})
	owner, _ := s.Person(t, access.RoleViewer)
	member, header := s.Person(t, access.RoleViewer)
	s.Must(t, "POST", fmt.Sprintf("%s/users/%d/roles/%d", apitest.Project, owner, access.RoleOwner), "")
	s.Must(t, "POST", fmt.Sprintf("%s/users/%d/roles/%d", apitest.Project, member, access.RoleMember), "")
	s.Check(t, apitest.Call{"a member sees the owners", "GET", apitest.Project + "/overview", "", 200,
		fmt.Sprintf(`{"...":0,"members":2,"owners":[{"ownerType":"user","name":"person-%d","imageUrl":"<any>"}]}`, owner)}, header)
	if got := s.Must(t, "GET", apitest.Project+"/overview", "").Body; strings.Contains(got, `"features"`) {
		t.Errorf("the overview lists flags: %s", got)
	}
}

func TestProjectFavorites(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", apitest.Projects, `{"id":"shop"}`)
	_, ann := s.Person(t, access.RoleViewer)
	list := func(is bool) string {
		return fmt.Sprintf(`{"version":1,"projects":[{"...":0,"id":"default","favorite":%t},{"...":0,"id":"shop","favorite":false}]}`, is)
	}
	is := func(is bool) string { return fmt.Sprintf(`{"...":0,"favorite":%t}`, is) }
	s.Check(t, apitest.Call{"no favorites at first", "GET", apitest.Projects, "", 200, list(false)}, ann)
	s.Check(t, apitest.Call{"remove a favorite that is not set", "DELETE", apitest.Project + "/favorites", "", 200, ""}, ann)
	for range 2 {
		s.Check(t, apitest.Call{"add it", "POST", apitest.Project + "/favorites", "", 200, ""}, ann)
	}
	for _, path := range []string{"", "/overview", "/health-report"} {
		s.Check(t, apitest.Call{"in " + path, "GET", apitest.Project + path, "", 200, is(true)}, ann)
		s.Check(t, apitest.Call{"another caller's in " + path, "GET", apitest.Project + path, "", 200, is(false)})
	}
	s.Check(t, apitest.Call{"in the list", "GET", apitest.Projects, "", 200, list(true)}, ann)
	s.Check(t, apitest.Call{"the list of another caller", "GET", apitest.Projects, "", 200, list(false)})
	s.Check(t, apitest.Call{"remove it", "DELETE", apitest.Project + "/favorites", "", 200, ""}, ann)
	s.Check(t, apitest.Call{"the list after the removal", "GET", apitest.Projects, "", 200, list(false)}, ann)
	s.Check(t, apitest.Call{"the log, without favorites", "GET", "/api/admin/events?project=default", "", 200, `{"...":0,"events":[` +
		`{"...":0,"type":"api-token-created"},{"...":0,"type":"api-token-created"},{"...":0,"type":"project-created"}]}`})
}
