package projects_test

import (
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

// environment is the response for an environment that is not protected.
func environment(name, kind string, enabled bool, sortOrder int) string {
	return fmt.Sprintf(`{"name":%q,"type":%q,"enabled":%t,"protected":false,"sortOrder":%d}`, name, kind, enabled, sortOrder)
}

func TestCreateEnvironment(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t, func(c *httpapi.Config, _ *http.RoundTripper) { c.Limits.Environments = 6 })
	s.Run(t, []apitest.Call{
		{"by default enabled and last in order", "POST", apitest.Environments, `{"name":"e1","type":"test"}`, 201, environment("e1", "test", true, 4)},
		{"all fields", "POST", apitest.Environments, `{"name":"e2","type":"any word","enabled":false,"sortOrder":-3,"protected":true,"nosuch":1}`, 201, environment("e2", "any word", false, -3)},
		{"a taken name", "POST", apitest.Environments, `{"name":"e1","type":"test"}`, 409, apitest.Failure("NameExistsError", `"e1"`)},
		{"the name of an environment of a new service", "POST", apitest.Environments, `{"name":"production","type":"test"}`, 409, apitest.Failure("NameExistsError", `"production"`)},
		{"no name", "POST", apitest.Environments, `{"type":"test"}`, 400, apitest.Invalid("/name")},
		{"an invalid name", "POST", apitest.Environments, `{"name":"..","type":"test"}`, 400, apitest.Invalid("/name")},
		{"no type", "POST", apitest.Environments, `{"name":"e3"}`, 400, apitest.Invalid("/type")},
		{"an empty type", "POST", apitest.Environments, `{"name":"e3","type":""}`, 400, apitest.Invalid("/type")},
		{"a sort order that is not a whole number", "POST", apitest.Environments, `{"name":"e3","type":"test","sortOrder":1.5}`, 400, apitest.Invalid("/sortOrder")},
		{"the last one allowed", "POST", apitest.Environments, `{"name":"e3","type":"test"}`, 201, environment("e3", "test", true, 5)},
		{"more than the limit", "POST", apitest.Environments, `{"name":"e4","type":"test"}`, 400, apitest.Malformed("no more than 6")},
		{"a new project has the enabled environments", "POST", "/api/admin/projects", `{"id":"later"}`, 201, `{"...":0,"environments":["development","production","e1","e3"]}`},
		{"an earlier project does not have them", "GET", apitest.Project, "", 200, `{"...":0,"environments":[{"environment":"development"},{"environment":"production"}]}`},
	})
	want := []flags.EventType{flags.EnvironmentsSeeded, flags.EnvironmentCreated, flags.EnvironmentCreated, flags.EnvironmentCreated}
	if got := s.EventsOf(t, &flags.Environments{}); !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}

// counted is an environment with the counts of a list.
func counted(environment string, counts ...string) string {
	return strings.TrimSuffix(environment, "}") + "," + strings.Join(counts, ",") + "}"
}

func TestListEnvironments(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	const protected = `{"name":"default","type":"production","enabled":false,"protected":true,"sortOrder":1}`
	list := func(all ...string) string { return `{"version":1,"environments":[` + strings.Join(all, ",") + `]}` }
	with := func(environment string, projects, tokens int) string {
		return counted(environment, fmt.Sprintf(`"projectCount":%d`, projects), fmt.Sprintf(`"apiTokenCount":%d`, tokens), `"enabledToggleCount":null`)
	}
	development, production := environment("development", "development", true, 2), environment("production", "production", true, 3)
	s.Run(t, []apitest.Call{
		// Every test has a client and a frontend token for development.
		{"the environments of a new service", "GET", apitest.Environments, "", 200, list(with(protected, 0, 0), with(development, 1, 2), with(production, 1, 0))},
		{"create another project", "POST", apitest.Projects, `{"id":"p","environments":["production","default"]}`, 201, apitest.Anything},
		{"the new project is counted", "GET", apitest.Environments, "", 200, list(with(protected, 1, 0), with(development, 1, 2), with(production, 2, 0))},
		{"remove an environment from a project", "DELETE", apitest.Project + "/environments/production", "", 200, ""},
		{"the removal is counted", "GET", apitest.Environments, "", 200, list(with(protected, 1, 0), with(development, 1, 2), with(production, 1, 0))},
		{"change the order", "PUT", apitest.Environments + "/sort-order", `{"production":-1,"development":1}`, 200, ""},
		{"sorted by order, then by name", "GET", apitest.Environments, "", 200, list(with(environment("production", "production", true, -1), 1, 0), with(protected, 1, 0),
			with(environment("development", "development", true, 1), 1, 2))},
		{"read one environment", "GET", apitest.Environments + "/production", "", 200, environment("production", "production", true, -1)},
		{"a name in another case", "GET", apitest.Environments + "/Production", "", 404, apitest.NotFound(`"Production"`)},
		{"a name that no environment can have", "GET", apitest.Environments + "/%ff%00%2Fx", "", 404, apitest.NotFound("")},
	})
}

func TestListProjectEnvironments(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	of := func(id string) string { return apitest.Environments + "/project/" + id }
	list := func(all ...string) string { return `{"version":1,"environments":[` + strings.Join(all, ",") + `]}` }
	with := func(environment string, tokens, enabled int, others ...string) string {
		return counted(environment, append(others, fmt.Sprintf(`"projectApiTokenCount":%d`, tokens), fmt.Sprintf(`"projectEnabledToggleCount":%d`, enabled), `"visible":true`)...)
	}
	development, production := environment("development", "development", true, 2), environment("production", "production", true, 3)
	s.CreateEnabled(t, "a", "b", "c", "d")
	s.Must(t, "POST", apitest.In("a", "production")+"/strategies", `{"name":"default"}`)
	s.Must(t, "POST", apitest.In("a", "production")+"/on", "")
	s.Must(t, "POST", apitest.In("b", "development")+"/off", "")
	s.Must(t, "DELETE", apitest.Features+"/c", "")
	s.Must(t, "POST", apitest.Projects, `{"id":"p","environments":["development"]}`)
	storeToken(t, s, &access.Token{Hash: "1", Name: "all", Type: access.ClientToken, Projects: []string{"*"}, Environment: "*"})
	storeToken(t, s, &access.Token{Hash: "2", Name: "expired", Type: access.ClientToken, Projects: []string{"*"}, Environment: "*", ExpiresAt: time.Unix(1, 0)})
	storeToken(t, s, &access.Token{Hash: "3", Name: "earlier project", Type: access.ClientToken, Projects: []string{"p"}, ProjectUIDs: []string{"x"}, Environment: "development"})
	storeToken(t, s, &access.Token{Hash: "4", Name: "earlier environment", Type: access.ClientToken, Projects: []string{"*"}, Environment: "production", EnvironmentUID: "x"})
	const strategy = `"defaultStrategy":{"name":"default","title":null,"disabled":false,"sortOrder":0,"segments":[],"constraints":[],"variants":[],"parameters":{}}`
	s.Run(t, []apitest.Call{
		{"counts of enabled active flags and of valid tokens with access", "GET", of("default"), "", 200, list(with(development, 3, 2), with(production, 1, 1))},
		{"the environments of another project", "GET", of("p"), "", 200, list(with(development, 1, 0))},
		{"set a default strategy", "POST", apitest.Projects + "/p/environments/development/default-strategy", `{"name":"default"}`, 200, apitest.Anything},
		{"the default strategy is listed", "GET", of("p"), "", 200, list(with(development, 1, 0, strategy))},
		{"other projects do not have it", "GET", of("default"), "", 200, list(with(development, 3, 2), with(production, 1, 1))},
		{"remove the environment from the project", "DELETE", apitest.Projects + "/p/environments/development", "", 200, ""},
		{"the list is empty", "GET", of("p"), "", 200, list()},
	})
}

// storeToken writes a token to the store.
func storeToken(t *testing.T, s *apitest.Server, token *access.Token) {
	t.Helper()
	change := flags.Change{Writes: []flags.Write{{After: token}}, Event: flags.Event{ID: token.Hash, Type: flags.APITokenCreated}}
	if err := s.Store.Commit(t.Context(), change); err != nil {
		t.Fatal(err)
	}
}

func TestValidateEnvironment(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	const validate = apitest.Environments + "/validate"
	s.Run(t, []apitest.Call{
		{"a free name", "POST", validate, `{"name":"new"}`, 200, ""},
		{"a free name again", "POST", validate, `{"name":"new"}`, 200, ""},
		{"a taken name in another case", "POST", validate, `{"name":"Production"}`, 200, ""},
		{"a taken name", "POST", validate, `{"name":"production"}`, 400, apitest.Invalid("/name")},
		{"no name", "POST", validate, `{}`, 400, apitest.Invalid("/name")},
		{"a name with a slash", "POST", validate, `{"name":"a/b"}`, 400, apitest.Invalid("/name")},
		{"two dots", "POST", validate, `{"name":".."}`, 400, apitest.Invalid("/name")},
		{"a name that is a number", "POST", validate, `{"name":5}`, 400, apitest.Invalid("/name")},
		{"nothing was created", "GET", apitest.Environments + "/new", "", 404, apitest.NotFound(`"new"`)},
	})
}

func TestUpdateEnvironment(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	const update, order = apitest.Environments + "/update/development", apitest.Environments + "/sort-order"
	s.CreateEnabled(t, "f")
	s.Run(t, []apitest.Call{
		{"change the type", "PUT", update, `{"type":"test","name":"x","enabled":false,"protected":true}`, 200, environment("development", "test", true, 2)},
		{"change the sort order", "PUT", update, `{"sortOrder":9}`, 200, environment("development", "test", true, 9)},
		{"an empty body", "PUT", update, `{}`, 200, environment("development", "test", true, 9)},
		{"flags show the change", "GET", apitest.Features + "/f", "", 200, `{"...":0,"environments":[{"...":0,"name":"production"},{"...":0,"name":"development","type":"test","sortOrder":9,"enabled":true}]}`},
		{"an empty type", "PUT", update, `{"type":""}`, 400, apitest.Invalid("/type")},
		{"a sort order that is not a whole number", "PUT", update, `{"sortOrder":1.5}`, 400, apitest.Invalid("/sortOrder")},
		{"set the order", "PUT", order, `{"development":1,"production":1}`, 200, ""},
		{"the same order again", "PUT", order, `{"development":1,"production":1}`, 200, ""},
		{"an empty order", "PUT", order, `{}`, 200, ""},
		{"an order with an unknown name", "PUT", order, `{"development":5,"nosuch":1}`, 400, apitest.Malformed(`"nosuch"`)},
		{"an order with a text", "PUT", order, `{"development":"1"}`, 400, apitest.Invalid("/development")},
		{"a list", "PUT", order, `[1]`, 400, apitest.Invalid("")},
		{"disable the environment", "POST", apitest.Environments + "/development/off", "", 204, ""},
		{"disable it again", "POST", apitest.Environments + "/development/off", "", 204, ""},
		{"it is disabled", "GET", apitest.Environments + "/development", "", 200, environment("development", "test", false, 1)},
		{"a new project does not have it", "POST", apitest.Projects, `{"id":"p"}`, 201, `{"...":0,"environments":["production"]}`},
		{"flags stay enabled", "GET", apitest.Features + "/f", "", 200, `{"...":0,"enabled":true}`},
		{"flags can be disabled", "POST", apitest.In("f", "development") + "/off", "", 200, apitest.Anything},
		{"enable the environment", "POST", apitest.Environments + "/development/on", "", 204, ""},
		{"it is enabled", "GET", apitest.Environments + "/development", "", 200, environment("development", "test", true, 1)},
	})
	want := append([]flags.EventType{flags.EnvironmentsSeeded}, slices.Repeat([]flags.EventType{flags.EnvironmentUpdated}, 5)...)
	if got := s.EventsOf(t, &flags.Environments{}); !slices.Equal(got, want) {
		t.Errorf("events %q, want %q: a request that changes nothing has no event", got, want)
	}
}

// TestDeleteEnvironment deletes an environment that projects and flags have, and creates it again.
func TestDeleteEnvironment(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.CreateEnabled(t, "f")
	s.Must(t, "PUT", apitest.In("f", "development")+"/variants", `[{"name":"v","weight":1}]`)
	s.Must(t, "POST", apitest.Project+"/environments/development/default-strategy", `{"name":"default"}`)
	for _, name := range []string{"e", "d", "c"} {
		s.CreateEnabled(t, name)
	}
	const one = apitest.Environments + "/development"
	s.Run(t, []apitest.Call{
		{"flags are on in it", "DELETE", one, "", 409, apitest.Failure("ConflictError", `"development" has flags that are on: c, d, e and 1 more; switch them off`)},
		{"one of the type production", "DELETE", apitest.Environments + "/production", "", 409, apitest.Failure("ConflictError", "disable it first")},
		{"it is still there", "GET", one, "", 200, apitest.Anything},
		{"archive flags that are on", "POST", apitest.Project + "/archive", `{"features":["c","d","e"]}`, 202, ""},
		{"one flag is on", "DELETE", one, "", 409, apitest.Failure("ConflictError", "flags that are on: f; switch")},
		{"switch it off", "POST", apitest.In("f", "development") + "/off", "", 200, apitest.Anything},
		{"a protected environment", "DELETE", apitest.Environments + "/default", "", 400, apitest.Malformed("protected")},
		{"an environment of a project", "DELETE", one, "", 200, ""},
		{"it does not exist", "GET", one, "", 404, apitest.NotFound(`"development"`)},
		{"delete it again", "DELETE", one, "", 404, apitest.NotFound(`"development"`)},
		{"the project does not have it", "GET", apitest.Project, "", 200, `{"...":0,"environments":[{"environment":"production"}]}`},
		{"the list of the project does not have it", "GET", apitest.Environments + "/project/default", "", 200, `{"version":1,"environments":[{"...":0,"name":"production"}]}`},
		{"the flag does not have it", "GET", apitest.Features + "/f", "", 200, `{"...":0,"enabled":false,"variants":[],"environments":[{"...":0,"name":"production"}]}`},
		{"enable the flag in it", "POST", apitest.In("f", "development") + "/on", "", 404, apitest.NotFound(`"development"`)},
		{"remove it from the project", "DELETE", apitest.Project + "/environments/development", "", 404, apitest.NotFound(`"development"`)},
		{"create it again", "POST", apitest.Environments, `{"name":"development","type":"test"}`, 201, environment("development", "test", true, 4)},
		{"no project has the new one", "GET", apitest.Environments, "", 200, `{"version":1,"environments":[{"...":0},{"...":0},{"...":0,"name":"development","projectCount":0,"apiTokenCount":0,"enabledToggleCount":null}]}`},
		{"add it to the project", "POST", apitest.Project + "/environments", `{"environment":"development"}`, 200, ""},
		{"the flag has nothing in it", "GET", apitest.In("f", "development"), "", 200, `{"...":0,"enabled":false,"strategies":[],"variants":[]}`},
		{"there is no default strategy", "POST", apitest.In("f", "development") + "/on", "", 409, apitest.Failure("ConflictError", "")},
		{"disable production", "POST", apitest.Environments + "/production/off", "", 204, ""},
		{"delete production", "DELETE", apitest.Environments + "/production", "", 200, ""},
	})
	want := []flags.EventType{flags.EnvironmentsSeeded, flags.EnvironmentDeleted, flags.EnvironmentCreated, flags.EnvironmentUpdated, flags.EnvironmentDeleted}
	if got := s.EventsOf(t, &flags.Environments{}); !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}

// TestFlagOnMeanwhile switches a flag on while its environment is deleted: one of both fails, whichever was decided first.
func TestFlagOnMeanwhile(t *testing.T) {
	t.Parallel()
	const one = apitest.Environments + "/development"
	for name, tt := range map[string]struct {
		first, meanwhile apitest.Call
	}{
		"the deletion is decided first": {
			apitest.Call{"", "DELETE", one, "", 409, apitest.Failure("ConflictError", "flags that are on: f; switch")},
			apitest.Call{"", "POST", apitest.In("f", "development") + "/on", "", 200, apitest.Anything},
		},
		"switching on is decided first": {
			apitest.Call{"", "POST", apitest.In("f", "development") + "/on", "", 404, apitest.NotFound(`"development"`)},
			apitest.Call{"", "DELETE", one, "", 200, ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			i := &apitest.Interruption{}
			s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = i })
			s.CreateEnabled(t, "f")
			s.Must(t, "POST", apitest.In("f", "development")+"/off", "")
			i.Do = func() { s.Check(t, tt.meanwhile) }
			s.Check(t, tt.first)
			if i.Do != nil {
				t.Error("nothing was interrupted")
			}
		})
	}
}

// TestParallelEnvironmentChanges changes the registry, which is one item, in parallel. No change may be lost.
func TestParallelEnvironmentChanges(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	for i := range 12 {
		s.Must(t, "POST", apitest.Environments, fmt.Sprintf(`{"name":"e%d","type":"test"}`, i))
	}
	got := s.Parallel(t, 36, func(i int) apitest.Call {
		one := fmt.Sprintf("e%d", i/3)
		return []apitest.Call{
			{Method: "PUT", Path: apitest.Environments + "/update/" + one, Body: `{"type":"changed"}`},
			{Method: "PUT", Path: apitest.Environments + "/sort-order", Body: fmt.Sprintf(`{%q:%d}`, one, 100+i)},
			{Method: "POST", Path: apitest.Environments + "/" + one + "/off"},
		}[i%3]
	})
	apitest.WantStatuses(t, got, map[int]int{200: 24, 204: 12})
	for i := range 12 {
		name := fmt.Sprintf("e%d", i)
		s.Check(t, apitest.Call{name, "GET", apitest.Environments + "/" + name, "", 200, environment(name, "changed", false, 100+3*i+1)})
	}
	got = s.Parallel(t, 24, func(i int) apitest.Call {
		return apitest.Call{Method: "DELETE", Path: apitest.Environments + "/e" + fmt.Sprint(i/2)}
	})
	apitest.WantStatuses(t, got, map[int]int{200: 12, 404: 12})
	got = s.Parallel(t, 60, func(i int) apitest.Call {
		return apitest.Call{Method: "POST", Path: apitest.Environments, Body: fmt.Sprintf(`{"name":"n%d","type":"test"}`, i)}
	})
	apitest.WantStatuses(t, got, map[int]int{201: 47, 400: 13}) // 50 with the three of a new service
}
