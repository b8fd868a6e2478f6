package admin_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

const environments = "/api/admin/environments"

// environment is the response for an environment that is not protected.
func environment(name, kind string, enabled bool, sortOrder int) string {
	return fmt.Sprintf(`{"name":%q,"type":%q,"enabled":%t,"protected":false,"sortOrder":%d}`, name, kind, enabled, sortOrder)
}

func TestCreateEnvironment(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *httpapi.Config, _ *http.RoundTripper) { c.Limits.Environments = 6 })
	s.run(t, []call{
		{"by default enabled and last in order", "POST", environments, `{"name":"e1","type":"test"}`, 201, environment("e1", "test", true, 4)},
		{"all fields", "POST", environments, `{"name":"e2","type":"any word","enabled":false,"sortOrder":-3,"protected":true,"nosuch":1}`, 201, environment("e2", "any word", false, -3)},
		{"a taken name", "POST", environments, `{"name":"e1","type":"test"}`, 409, failure("NameExistsError", `"e1"`)},
		{"the name of an environment of a new service", "POST", environments, `{"name":"production","type":"test"}`, 409, failure("NameExistsError", `"production"`)},
		{"no name", "POST", environments, `{"type":"test"}`, 400, invalid("/name")},
		{"an invalid name", "POST", environments, `{"name":"..","type":"test"}`, 400, invalid("/name")},
		{"no type", "POST", environments, `{"name":"e3"}`, 400, invalid("/type")},
		{"an empty type", "POST", environments, `{"name":"e3","type":""}`, 400, invalid("/type")},
		{"a sort order that is not a whole number", "POST", environments, `{"name":"e3","type":"test","sortOrder":1.5}`, 400, invalid("/sortOrder")},
		{"the last one allowed", "POST", environments, `{"name":"e3","type":"test"}`, 201, environment("e3", "test", true, 5)},
		{"more than the limit", "POST", environments, `{"name":"e4","type":"test"}`, 400, malformed("no more than 6")},
		{"a new project has the enabled environments", "POST", "/api/admin/projects", `{"id":"later"}`, 201, `{"...":0,"environments":["development","production","e1","e3"]}`},
		{"an earlier project does not have them", "GET", project, "", 200, `{"...":0,"environments":[{"environment":"development"},{"environment":"production"}]}`},
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
	t.Parallel()
	s := serve(t)
	const protected = `{"name":"default","type":"production","enabled":false,"protected":true,"sortOrder":1}`
	list := func(all ...string) string { return `{"version":1,"environments":[` + strings.Join(all, ",") + `]}` }
	with := func(environment string, projects, tokens int) string {
		return counted(environment, fmt.Sprintf(`"projectCount":%d`, projects), fmt.Sprintf(`"apiTokenCount":%d`, tokens), `"enabledToggleCount":null`)
	}
	development, production := environment("development", "development", true, 2), environment("production", "production", true, 3)
	s.run(t, []call{
		// Every test has a client and a frontend token for development.
		{"the environments of a new service", "GET", environments, "", 200, list(with(protected, 0, 0), with(development, 1, 2), with(production, 1, 0))},
		{"create another project", "POST", projects, `{"id":"p","environments":["production","default"]}`, 201, anything},
		{"the new project is counted", "GET", environments, "", 200, list(with(protected, 1, 0), with(development, 1, 2), with(production, 2, 0))},
		{"remove an environment from a project", "DELETE", project + "/environments/production", "", 200, ""},
		{"the removal is counted", "GET", environments, "", 200, list(with(protected, 1, 0), with(development, 1, 2), with(production, 1, 0))},
		{"change the order", "PUT", environments + "/sort-order", `{"production":-1,"development":1}`, 200, ""},
		{"sorted by order, then by name", "GET", environments, "", 200, list(with(environment("production", "production", true, -1), 1, 0), with(protected, 1, 0),
			with(environment("development", "development", true, 1), 1, 2))},
		{"read one environment", "GET", environments + "/production", "", 200, environment("production", "production", true, -1)},
		{"an unknown environment", "GET", environments + "/nosuch", "", 404, notFound(`"nosuch"`)},
		{"a name in another case", "GET", environments + "/Production", "", 404, notFound(`"Production"`)},
		{"a name that no environment can have", "GET", environments + "/%ff%00%2Fx", "", 404, notFound("")},
	})
}

func TestListProjectEnvironments(t *testing.T) {
	t.Parallel()
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
	s.storeToken(t, &access.Token{Hash: "1", Name: "all", Type: access.ClientToken, Projects: []string{"*"}, Environment: "*"})
	s.storeToken(t, &access.Token{Hash: "2", Name: "expired", Type: access.ClientToken, Projects: []string{"*"}, Environment: "*", ExpiresAt: time.Unix(1, 0)})
	s.storeToken(t, &access.Token{Hash: "3", Name: "earlier project", Type: access.ClientToken, Projects: []string{"p"}, ProjectUIDs: []string{"x"}, Environment: "development"})
	s.storeToken(t, &access.Token{Hash: "4", Name: "earlier environment", Type: access.ClientToken, Projects: []string{"*"}, Environment: "production", EnvironmentUID: "x"})
	const strategy = `"defaultStrategy":{"name":"default","title":null,"disabled":false,"sortOrder":0,"segments":[],"constraints":[],"variants":[],"parameters":{}}`
	s.run(t, []call{
		{"counts of enabled active flags and of valid tokens with access", "GET", of("default"), "", 200, list(with(development, 3, 2), with(production, 1, 1))},
		{"the environments of another project", "GET", of("p"), "", 200, list(with(development, 1, 0))},
		{"set a default strategy", "POST", projects + "/p/environments/development/default-strategy", `{"name":"default"}`, 200, anything},
		{"the default strategy is listed", "GET", of("p"), "", 200, list(with(development, 1, 0, strategy))},
		{"other projects do not have it", "GET", of("default"), "", 200, list(with(development, 3, 2), with(production, 1, 1))},
		{"remove the environment from the project", "DELETE", projects + "/p/environments/development", "", 200, ""},
		{"the list is empty", "GET", of("p"), "", 200, list()},
		{"an unknown project", "GET", of("nosuch"), "", 404, notFound(`"nosuch"`)},
	})
}

// storeToken writes a token to the store.
func (s *server) storeToken(t *testing.T, token *access.Token) {
	t.Helper()
	change := flags.Change{Writes: []flags.Write{{After: token}}, Event: flags.Event{ID: token.Hash, Type: flags.APITokenCreated}}
	if err := s.store.Commit(t.Context(), change); err != nil {
		t.Fatal(err)
	}
}

func TestValidateEnvironment(t *testing.T) {
	t.Parallel()
	s := serve(t)
	const validate = environments + "/validate"
	s.run(t, []call{
		{"a free name", "POST", validate, `{"name":"new"}`, 200, ""},
		{"a free name again", "POST", validate, `{"name":"new"}`, 200, ""},
		{"a taken name in another case", "POST", validate, `{"name":"Production"}`, 200, ""},
		{"a taken name", "POST", validate, `{"name":"production"}`, 400, invalid("/name")},
		{"no name", "POST", validate, `{}`, 400, invalid("/name")},
		{"a name with a slash", "POST", validate, `{"name":"a/b"}`, 400, invalid("/name")},
		{"two dots", "POST", validate, `{"name":".."}`, 400, invalid("/name")},
		{"101 letters", "POST", validate, `{"name":"` + strings.Repeat("x", 101) + `"}`, 400, invalid("/name")},
		{"a name that is a number", "POST", validate, `{"name":5}`, 400, invalid("/name")},
		{"no body", "POST", validate, ``, 400, malformed("required")},
		{"nothing was created", "GET", environments + "/new", "", 404, notFound(`"new"`)},
	})
}

func TestUpdateEnvironment(t *testing.T) {
	t.Parallel()
	s := serve(t)
	const update, order = environments + "/update/development", environments + "/sort-order"
	s.enabled(t, "f")
	s.run(t, []call{
		{"change the type", "PUT", update, `{"type":"test","name":"x","enabled":false,"protected":true}`, 200, environment("development", "test", true, 2)},
		{"change the sort order", "PUT", update, `{"sortOrder":9}`, 200, environment("development", "test", true, 9)},
		{"an empty body", "PUT", update, `{}`, 200, environment("development", "test", true, 9)},
		{"flags show the change", "GET", features + "/f", "", 200, `{"...":0,"environments":[{"...":0,"name":"production"},{"...":0,"name":"development","type":"test","sortOrder":9,"enabled":true}]}`},
		{"an empty type", "PUT", update, `{"type":""}`, 400, invalid("/type")},
		{"a sort order that is not a whole number", "PUT", update, `{"sortOrder":1.5}`, 400, invalid("/sortOrder")},
		{"an unknown environment", "PUT", environments + "/update/nosuch", `{"type":"x"}`, 404, notFound(`"nosuch"`)},
		{"set the order", "PUT", order, `{"development":1,"production":1}`, 200, ""},
		{"the same order again", "PUT", order, `{"development":1,"production":1}`, 200, ""},
		{"an empty order", "PUT", order, `{}`, 200, ""},
		{"an order with an unknown name", "PUT", order, `{"development":5,"nosuch":1}`, 400, malformed(`"nosuch"`)},
		{"an order with a text", "PUT", order, `{"development":"1"}`, 400, invalid("/development")},
		{"a list", "PUT", order, `[1]`, 400, invalid("")},
		{"disable the environment", "POST", environments + "/development/off", "", 204, ""},
		{"disable it again", "POST", environments + "/development/off", "", 204, ""},
		{"it is disabled", "GET", environments + "/development", "", 200, environment("development", "test", false, 1)},
		{"a new project does not have it", "POST", projects, `{"id":"p"}`, 201, `{"...":0,"environments":["production"]}`},
		{"flags stay enabled", "GET", features + "/f", "", 200, `{"...":0,"enabled":true}`},
		{"flags can be disabled", "POST", in("f", "development") + "/off", "", 200, anything},
		{"enable the environment", "POST", environments + "/development/on", "", 204, ""},
		{"it is enabled", "GET", environments + "/development", "", 200, environment("development", "test", true, 1)},
		{"enable an unknown environment", "POST", environments + "/nosuch/on", "", 404, notFound(`"nosuch"`)},
		{"disable an unknown environment", "POST", environments + "/nosuch/off", "", 404, notFound(`"nosuch"`)},
	})
	want := append([]flags.EventType{flags.EnvironmentsSeeded}, slices.Repeat([]flags.EventType{flags.EnvironmentUpdated}, 5)...)
	if got := s.eventsOf(t, &flags.Environments{}); !slices.Equal(got, want) {
		t.Errorf("events %q, want %q: a request that changes nothing has no event", got, want)
	}
}

// TestDeleteEnvironment deletes an environment that projects and flags have, and creates it again.
func TestDeleteEnvironment(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.enabled(t, "f")
	s.must(t, "PUT", in("f", "development")+"/variants", `[{"name":"v","weight":1}]`)
	s.must(t, "POST", project+"/environments/development/default-strategy", `{"name":"default"}`)
	for _, name := range []string{"e", "d", "c"} {
		s.enabled(t, name)
	}
	const one = environments + "/development"
	s.run(t, []call{
		{"flags are on in it", "DELETE", one, "", 409, failure("ConflictError", `"development" has flags that are on: c, d, e and 1 more; switch them off`)},
		{"one of the type production", "DELETE", environments + "/production", "", 409, failure("ConflictError", "disable it first")},
		{"it is still there", "GET", one, "", 200, anything},
		{"archive flags that are on", "POST", project + "/archive", `{"features":["c","d","e"]}`, 202, ""},
		{"one flag is on", "DELETE", one, "", 409, failure("ConflictError", "flags that are on: f; switch")},
		{"switch it off", "POST", in("f", "development") + "/off", "", 200, anything},
		{"a protected environment", "DELETE", environments + "/default", "", 400, malformed("protected")},
		{"an unknown environment", "DELETE", environments + "/nosuch", "", 404, notFound(`"nosuch"`)},
		{"an environment of a project", "DELETE", one, "", 200, ""},
		{"it does not exist", "GET", one, "", 404, notFound(`"development"`)},
		{"delete it again", "DELETE", one, "", 404, notFound(`"development"`)},
		{"the project does not have it", "GET", project, "", 200, `{"...":0,"environments":[{"environment":"production"}]}`},
		{"the list of the project does not have it", "GET", environments + "/project/default", "", 200, `{"version":1,"environments":[{"...":0,"name":"production"}]}`},
		{"the flag does not have it", "GET", features + "/f", "", 200, `{"...":0,"enabled":false,"variants":[],"environments":[{"...":0,"name":"production"}]}`},
		{"enable the flag in it", "POST", in("f", "development") + "/on", "", 404, notFound(`"development"`)},
		{"remove it from the project", "DELETE", project + "/environments/development", "", 404, notFound(`"development"`)},
		{"create it again", "POST", environments, `{"name":"development","type":"test"}`, 201, environment("development", "test", true, 4)},
		{"no project has the new one", "GET", environments, "", 200, `{"version":1,"environments":[{"...":0},{"...":0},{"...":0,"name":"development","projectCount":0,"apiTokenCount":0,"enabledToggleCount":null}]}`},
		{"add it to the project", "POST", project + "/environments", `{"environment":"development"}`, 200, ""},
		{"the flag has nothing in it", "GET", in("f", "development"), "", 200, `{"...":0,"enabled":false,"strategies":[],"variants":[]}`},
		{"there is no default strategy", "POST", in("f", "development") + "/on", "", 409, failure("ConflictError", "")},
		{"disable production", "POST", environments + "/production/off", "", 204, ""},
		{"delete production", "DELETE", environments + "/production", "", 200, ""},
	})
	want := []flags.EventType{flags.EnvironmentsSeeded, flags.EnvironmentDeleted, flags.EnvironmentCreated, flags.EnvironmentUpdated, flags.EnvironmentDeleted}
	if got := s.eventsOf(t, &flags.Environments{}); !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}

// TestFlagOnMeanwhile switches a flag on while its environment is deleted: one of both fails, whichever was decided first.
func TestFlagOnMeanwhile(t *testing.T) {
	t.Parallel()
	const one = environments + "/development"
	for name, tt := range map[string]struct {
		first, meanwhile call
	}{
		"the deletion is decided first": {
			call{"", "DELETE", one, "", 409, failure("ConflictError", "flags that are on: f; switch")},
			call{"", "POST", in("f", "development") + "/on", "", 200, anything},
		},
		"switching on is decided first": {
			call{"", "POST", in("f", "development") + "/on", "", 404, notFound(`"development"`)},
			call{"", "DELETE", one, "", 200, ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			i := &interruption{}
			s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = i })
			s.enabled(t, "f")
			s.must(t, "POST", in("f", "development")+"/off", "")
			i.do = func() { s.check(t, tt.meanwhile) }
			s.check(t, tt.first)
			if i.do != nil {
				t.Error("nothing was interrupted")
			}
		})
	}
}

// TestParallelEnvironmentChanges changes the registry, which is one item, in parallel. No change may be lost.
func TestParallelEnvironmentChanges(t *testing.T) {
	t.Parallel()
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
	wantStatuses(t, got, map[int]int{201: 47, 400: 13}) // 50 with the three of a new service
}
