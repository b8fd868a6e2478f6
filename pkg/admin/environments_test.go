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

const environments = "/api/admin/environments"

// environment is an environment as it is answered, not protected.
func environment(name, kind string, enabled bool, sortOrder int) string {
	return fmt.Sprintf(`{"name":%q,"type":%q,"enabled":%t,"protected":false,"sortOrder":%d}`, name, kind, enabled, sortOrder)
}

func TestCreateEnvironment(t *testing.T) {
	s := serve(t, func(c *httpapi.Config, _ *http.RoundTripper) { c.Limits.Environments = 6 })
	s.run(t, []call{
		{"behind the others, enabled", "POST", environments, `{"name":"e1","type":"test"}`, 201, environment("e1", "test", true, 4)},
		{"with everything", "POST", environments, `{"name":"e2","type":"any word","enabled":false,"sortOrder":-3,"protected":true,"nosuch":1}`, 201, environment("e2", "any word", false, -3)},
		{"a taken name", "POST", environments, `{"name":"e1","type":"test"}`, 409, failure("NameExistsError", `"e1"`)},
		{"a name from the start", "POST", environments, `{"name":"production","type":"test"}`, 409, failure("NameExistsError", `"production"`)},
		{"no name", "POST", environments, `{"type":"test"}`, 400, invalid("/name")},
		{"a name that is none", "POST", environments, `{"name":"..","type":"test"}`, 400, invalid("/name")},
		{"no type", "POST", environments, `{"name":"e3"}`, 400, invalid("/type")},
		{"an empty type", "POST", environments, `{"name":"e3","type":""}`, 400, invalid("/type")},
		{"a sort order that is not whole", "POST", environments, `{"name":"e3","type":"test","sortOrder":1.5}`, 400, invalid("/sortOrder")},
		{"the last one allowed", "POST", environments, `{"name":"e3","type":"test"}`, 201, environment("e3", "test", true, 5)},
		{"past the limit", "POST", environments, `{"name":"e4","type":"test"}`, 400, malformed("no more than 6")},
		{"a project made now has the enabled ones", "POST", "/api/admin/projects", `{"id":"later"}`, 201, `{"...":0,"environments":["development","production","e1","e3"]}`},
		{"one made before does not", "GET", project, "", 200, `{"...":0,"environments":[{"environment":"development"},{"environment":"production"}]}`},
	})
	want := []flags.EventType{flags.EnvironmentsSeeded, flags.EnvironmentCreated, flags.EnvironmentCreated, flags.EnvironmentCreated}
	if got := s.eventsOf(t, &flags.Environments{}); !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}

// counted is an environment with the counts of a list.
func counted(environment string, counts ...string) string {
	return strings.TrimSuffix(environment, "}") + "," + strings.Join(counts, ",") + "}"
}

func TestListEnvironments(t *testing.T) {
	s := serve(t)
	const protected = `{"name":"default","type":"production","enabled":false,"protected":true,"sortOrder":1}`
	list := func(all ...string) string { return `{"version":1,"environments":[` + strings.Join(all, ",") + `]}` }
	with := func(environment string, projects, tokens int) string {
		return counted(environment, fmt.Sprintf(`"projectCount":%d`, projects), fmt.Sprintf(`"apiTokenCount":%d`, tokens), `"enabledToggleCount":null`)
	}
	development, production := environment("development", "development", true, 2), environment("production", "production", true, 3)
	s.run(t, []call{
		// The client and the frontend token of every test are for development.
		{"those from the start", "GET", environments, "", 200, list(with(protected, 0, 0), with(development, 1, 2), with(production, 1, 0))},
		{"another project", "POST", projects, `{"id":"p","environments":["production","default"]}`, 201, anything},
		{"is counted", "GET", environments, "", 200, list(with(protected, 1, 0), with(development, 1, 2), with(production, 2, 0))},
		{"one taken out", "DELETE", project + "/environments/production", "", 200, ""},
		{"not any more", "GET", environments, "", 200, list(with(protected, 1, 0), with(development, 1, 2), with(production, 1, 0))},
		{"by their order", "PUT", environments + "/sort-order", `{"production":-1,"development":1}`, 200, ""},
		{"and by name", "GET", environments, "", 200, list(with(environment("production", "production", true, -1), 1, 0), with(protected, 1, 0),
			with(environment("development", "development", true, 1), 1, 2))},
		{"one", "GET", environments + "/production", "", 200, environment("production", "production", true, -1)},
		{"an unknown one", "GET", environments + "/nosuch", "", 404, notFound(`"nosuch"`)},
		{"in another case", "GET", environments + "/Production", "", 404, notFound(`"Production"`)},
		{"one that none can be", "GET", environments + "/%ff%00%2Fx", "", 404, notFound("")},
	})
}

func TestListProjectEnvironments(t *testing.T) {
	s := serve(t)
	of := func(id string) string { return environments + "/project/" + id }
	list := func(all ...string) string { return `{"version":1,"environments":[` + strings.Join(all, ",") + `]}` }
	with := func(environment string, tokens, enabled int, others ...string) string {
		return counted(environment, append(others, fmt.Sprintf(`"projectApiTokenCount":%d`, tokens), fmt.Sprintf(`"projectEnabledToggleCount":%d`, enabled), `"visible":true`)...)
	}
	development, production := environment("development", "development", true, 2), environment("production", "production", true, 3)
	s.enabled(t, "a", "b", "c", "d")
	s.must(t, "POST", in("a", "production")+"/strategies", `{"name":"default"}`)
	s.must(t, "POST", in("a", "production")+"/on", "")
	s.must(t, "POST", in("b", "development")+"/off", "")
	s.must(t, "DELETE", features+"/c", "")
	s.must(t, "POST", projects, `{"id":"p","environments":["development"]}`)
	s.storeToken(t, &flags.Token{Hash: "1", Name: "all", Type: flags.ClientToken, Projects: []string{"*"}, Environment: "*"})
	s.storeToken(t, &flags.Token{Hash: "2", Name: "expired", Type: flags.ClientToken, Projects: []string{"*"}, Environment: "*", ExpiresAt: time.Unix(1, 0)})
	s.storeToken(t, &flags.Token{Hash: "3", Name: "earlier project", Type: flags.ClientToken, Projects: []string{"p"}, ProjectUIDs: []string{"x"}, Environment: "development"})
	s.storeToken(t, &flags.Token{Hash: "4", Name: "earlier environment", Type: flags.ClientToken, Projects: []string{"*"}, Environment: "production", EnvironmentUID: "x"})
	const strategy = `"defaultStrategy":{"name":"default","title":null,"disabled":false,"sortOrder":0,"segments":[],"constraints":[],"variants":[],"parameters":{}}`
	s.run(t, []call{
		{"flags that are on and active, tokens that reach it and are good", "GET", of("default"), "", 200, list(with(development, 3, 2), with(production, 1, 1))},
		{"another project", "GET", of("p"), "", 200, list(with(development, 1, 0))},
		{"a default strategy", "POST", projects + "/p/environments/development/default-strategy", `{"name":"default"}`, 200, anything},
		{"is told", "GET", of("p"), "", 200, list(with(development, 1, 0, strategy))},
		{"of that project alone", "GET", of("default"), "", 200, list(with(development, 3, 2), with(production, 1, 1))},
		{"taken out", "DELETE", projects + "/p/environments/development", "", 200, ""},
		{"none left", "GET", of("p"), "", 200, list()},
		{"an unknown project", "GET", of("nosuch"), "", 404, notFound(`"nosuch"`)},
	})
}

// storeToken puts a token into the store.
func (s *server) storeToken(t *testing.T, token *flags.Token) {
	t.Helper()
	change := flags.Change{Writes: []flags.Write{{After: token}}, Event: flags.Event{ID: token.Hash, Type: flags.APITokenCreated}}
	if err := s.store.Commit(t.Context(), change); err != nil {
		t.Fatal(err)
	}
}

func TestValidateEnvironment(t *testing.T) {
	s := serve(t)
	const validate = environments + "/validate"
	s.run(t, []call{
		{"a free name", "POST", validate, `{"name":"new"}`, 200, ""},
		{"still", "POST", validate, `{"name":"new"}`, 200, ""},
		{"in another case than a taken one", "POST", validate, `{"name":"Production"}`, 200, ""},
		{"a taken one", "POST", validate, `{"name":"production"}`, 400, invalid("/name")},
		{"no name at all", "POST", validate, `{}`, 400, invalid("/name")},
		{"none that a path can hold", "POST", validate, `{"name":"a/b"}`, 400, invalid("/name")},
		{"two dots", "POST", validate, `{"name":".."}`, 400, invalid("/name")},
		{"101 letters", "POST", validate, `{"name":"` + strings.Repeat("x", 101) + `"}`, 400, invalid("/name")},
		{"no text", "POST", validate, `{"name":5}`, 400, invalid("/name")},
		{"no body", "POST", validate, ``, 400, malformed("required")},
		{"nothing was made", "GET", environments + "/new", "", 404, notFound(`"new"`)},
	})
}

func TestUpdateEnvironment(t *testing.T) {
	s := serve(t)
	const update, order = environments + "/update/development", environments + "/sort-order"
	s.enabled(t, "f")
	s.run(t, []call{
		{"its type", "PUT", update, `{"type":"test","name":"x","enabled":false,"protected":true}`, 200, environment("development", "test", true, 2)},
		{"its place", "PUT", update, `{"sortOrder":9}`, 200, environment("development", "test", true, 9)},
		{"nothing", "PUT", update, `{}`, 200, environment("development", "test", true, 9)},
		{"flags follow", "GET", features + "/f", "", 200, `{"...":0,"environments":[{"...":0,"name":"production"},{"...":0,"name":"development","type":"test","sortOrder":9,"enabled":true}]}`},
		{"an empty type", "PUT", update, `{"type":""}`, 400, invalid("/type")},
		{"a place that is not whole", "PUT", update, `{"sortOrder":1.5}`, 400, invalid("/sortOrder")},
		{"an unknown one", "PUT", environments + "/update/nosuch", `{"type":"x"}`, 404, notFound(`"nosuch"`)},
		{"places", "PUT", order, `{"development":1,"production":1}`, 200, ""},
		{"the same again", "PUT", order, `{"development":1,"production":1}`, 200, ""},
		{"none", "PUT", order, `{}`, 200, ""},
		{"an unknown one among them", "PUT", order, `{"development":5,"nosuch":1}`, 400, malformed(`"nosuch"`)},
		{"no whole number", "PUT", order, `{"development":"1"}`, 400, invalid("/development")},
		{"a list", "PUT", order, `[1]`, 400, invalid("")},
		{"off", "POST", environments + "/development/off", "", 204, ""},
		{"off again", "POST", environments + "/development/off", "", 204, ""},
		{"it is", "GET", environments + "/development", "", 200, environment("development", "test", false, 1)},
		{"a project made now does not get it", "POST", projects, `{"id":"p"}`, 201, `{"...":0,"environments":["production"]}`},
		{"nor are flags switched off", "GET", features + "/f", "", 200, `{"...":0,"enabled":true}`},
		{"and may be switched", "POST", in("f", "development") + "/off", "", 200, anything},
		{"on", "POST", environments + "/development/on", "", 204, ""},
		{"it is on", "GET", environments + "/development", "", 200, environment("development", "test", true, 1)},
		{"an unknown one on", "POST", environments + "/nosuch/on", "", 404, notFound(`"nosuch"`)},
		{"an unknown one off", "POST", environments + "/nosuch/off", "", 404, notFound(`"nosuch"`)},
	})
	want := append([]flags.EventType{flags.EnvironmentsSeeded}, slices.Repeat([]flags.EventType{flags.EnvironmentUpdated}, 5)...)
	if got := s.eventsOf(t, &flags.Environments{}); !slices.Equal(got, want) {
		t.Errorf("events %q, want %q: what changes nothing leaves none", got, want)
	}
}

// TestDeleteEnvironment takes away an environment that projects and flags have, and makes it again.
func TestDeleteEnvironment(t *testing.T) {
	s := serve(t)
	s.enabled(t, "f")
	s.must(t, "PUT", in("f", "development")+"/variants", `[{"name":"v","weight":1}]`)
	s.must(t, "POST", project+"/environments/development/default-strategy", `{"name":"default"}`)
	const one = environments + "/development"
	s.run(t, []call{
		{"a protected one", "DELETE", environments + "/default", "", 400, malformed("protected")},
		{"an unknown one", "DELETE", environments + "/nosuch", "", 404, notFound(`"nosuch"`)},
		{"one that a project has", "DELETE", one, "", 200, ""},
		{"it is gone", "GET", one, "", 404, notFound(`"development"`)},
		{"twice", "DELETE", one, "", 404, notFound(`"development"`)},
		{"from the project", "GET", project, "", 200, `{"...":0,"environments":[{"environment":"production"}]}`},
		{"and its list", "GET", environments + "/project/default", "", 200, `{"version":1,"environments":[{"...":0,"name":"production"}]}`},
		{"from the flag", "GET", features + "/f", "", 200, `{"...":0,"enabled":false,"variants":[],"environments":[{"...":0,"name":"production"}]}`},
		{"to switch", "POST", in("f", "development") + "/on", "", 404, notFound(`"development"`)},
		{"to take out", "DELETE", project + "/environments/development", "", 404, notFound(`"development"`)},
		{"made again", "POST", environments, `{"name":"development","type":"test"}`, 201, environment("development", "test", true, 4)},
		{"no project has it", "GET", environments, "", 200, `{"version":1,"environments":[{"...":0},{"...":0},{"...":0,"name":"development","projectCount":0,"apiTokenCount":0,"enabledToggleCount":null}]}`},
		{"until it is added", "POST", project + "/environments", `{"environment":"development"}`, 200, ""},
		{"it is clean", "GET", in("f", "development"), "", 200, `{"...":0,"enabled":false,"strategies":[],"variants":[]}`},
		{"without a default strategy", "POST", in("f", "development") + "/on", "", 409, failure("ConflictError", "")},
	})
	want := []flags.EventType{flags.EnvironmentsSeeded, flags.EnvironmentDeleted, flags.EnvironmentCreated}
	if got := s.eventsOf(t, &flags.Environments{}); !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}

// TestParallelEnvironmentChanges has everybody change the registry at once: it is one item, and nothing is lost.
func TestParallelEnvironmentChanges(t *testing.T) {
	s := serve(t)
	for i := range 12 {
		s.must(t, "POST", environments, fmt.Sprintf(`{"name":"e%d","type":"test"}`, i))
	}
	got := s.parallel(t, 36, func(i int) call {
		one := fmt.Sprintf("e%d", i/3)
		return []call{
			{method: "PUT", path: environments + "/update/" + one, body: `{"type":"changed"}`},
			{method: "PUT", path: environments + "/sort-order", body: fmt.Sprintf(`{%q:%d}`, one, 100+i)},
			{method: "POST", path: environments + "/" + one + "/off"},
		}[i%3]
	})
	wantStatuses(t, got, map[int]int{200: 24, 204: 12})
	for i := range 12 {
		name := fmt.Sprintf("e%d", i)
		s.check(t, call{name, "GET", environments + "/" + name, "", 200, environment(name, "changed", false, 100+3*i+1)})
	}
	got = s.parallel(t, 24, func(i int) call { return call{method: "DELETE", path: environments + "/e" + fmt.Sprint(i/2)} })
	wantStatuses(t, got, map[int]int{200: 12, 404: 12})
	got = s.parallel(t, 60, func(i int) call {
		return call{method: "POST", path: environments, body: fmt.Sprintf(`{"name":"n%d","type":"test"}`, i)}
	})
	wantStatuses(t, got, map[int]int{201: 47, 400: 13}) // with the three from the start, fifty
}
