package admin_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"guidon/pkg/admin"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// The matrix is who calls × what they hold × project × environment × operation. Every cell is a real request over HTTP
// and the engine, with a body that is good, and is told by its answer and by what it wrote.

// A tally counts what one request wrote, or would have written.
type tally struct{ writes atomic.Int64 }

type tallyKey struct{}

// wrote notes a write of the request that ctx belongs to, if it is counted.
func wrote(ctx context.Context) {
	if n, counted := ctx.Value(tallyKey{}).(*tally); counted {
		n.writes.Add(1)
	}
}

// writesHeader is how an answer tells the number of its request's writes.
const writesHeader = "Test-Writes"

// tallied has answers tell how much their requests wrote.
func tallied(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := &tally{}
		handler.ServeHTTP(&tallyWriter{w, n}, r.WithContext(context.WithValue(r.Context(), tallyKey{}, n)))
	})
}

type tallyWriter struct {
	http.ResponseWriter
	n *tally
}

func (w *tallyWriter) WriteHeader(status int) {
	w.Header().Set(writesHeader, strconv.FormatInt(w.n.writes.Load(), 10))
	w.ResponseWriter.WriteHeader(status)
}

// A tallyTransport counts every call of DynamoDB that writes.
type tallyTransport struct{}

func (tallyTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if !slices.Contains([]string{"GetItem", "BatchGetItem", "Query", "Scan", "TransactGetItems"}, operation) {
		wrote(r.Context())
	}
	return http.DefaultTransport.RoundTrip(r)
}

// A rehearsal is a store that does everything but commit: so every operation can be tried by everybody over one table.
type rehearsal struct{ flags.Store }

func (rehearsal) Commit(ctx context.Context, _ flags.Change) error {
	wrote(ctx)
	return nil
}

func (rehearsal) CommitAll(ctx context.Context, changes []flags.Change) []error {
	for range changes {
		wrote(ctx)
	}
	return make([]error, len(changes))
}

// serveTallied serves everything over a new table, where answers tell what was written.
func serveTallied(t *testing.T, now time.Time) *server {
	t.Helper()
	s := serve(t, func(c *httpapi.Config, transport *http.RoundTripper) {
		c.Now, *transport = func() time.Time { return now }, tallyTransport{}
	})
	s.url = s.also(t, s.handler)
	return s
}

// also serves a handler over the same table, and returns where.
func (s *server) also(t *testing.T, handler http.Handler) string {
	t.Helper()
	web := httptest.NewServer(tallied(handler))
	t.Cleanup(web.Close)
	return web.URL
}

// writes is how much the request of an answer wrote.
func (a answer) writes(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(a.header.Get(writesHeader))
	if err != nil {
		t.Errorf("the answer does not tell what was written: %v", err)
	}
	return n
}

// A stage is what the walk is over: two projects with the same things in them, and some of the whole service.
type stage struct {
	*server
	places  []subject // project × environment
	guest   string    // a person, a member of both projects
	robot   string    // a service account with a token
	role    string    // a custom project role that holds nothing and that nobody has
	signup  string
	tags    string            // a tag type
	fields  string            // a context field
	own     map[string]string // the id of a segment of each project
	custom  string            // a strategy type
	tokens  map[string]string // the secret of a token of each project
	parents map[string]string // what the flag of each project depends on
}

func (s *server) stage(t *testing.T) stage {
	t.Helper()
	g := stage{server: s, tokens: map[string]string{}, own: map[string]string{}, parents: map[string]string{}}
	s.must(t, "POST", "/api/admin/projects", `{"id":"alpha"}`)
	g.guest = s.id(t, people, `{"username":"guest","rootRole":3}`)
	var on subject
	s.newAccountToken(t, &on)
	g.robot = on.user
	s.newRole(t, &on)
	g.role = on.role
	s.newSignup(t, &on)
	g.signup = on.secret
	s.newTagType(t, &on)
	g.tags = on.kind
	s.newField(t, &on)
	g.fields = on.kind
	s.newStrategyType(t, &on)
	g.custom = on.kind
	for _, project := range []string{"alpha", "default"} {
		flag := "of-" + project
		s.must(t, "POST", "/api/admin/projects/"+project+"/features", fmt.Sprintf(`{"name":%q}`, flag))
		s.must(t, "POST", "/api/admin/features/"+flag+"/tags", `{"type":"simple","value":"a/b"}`)
		s.must(t, "POST", "/api/admin/projects/"+project+"/users/"+g.guest+"/roles/5", "")
		child := subject{project: project, flag: flag}
		s.addParent(t, &child)
		g.parents[project] = child.kind
		g.tokens[project] = s.apiToken(t, fmt.Sprintf(`{"tokenName":"token-of-%s","type":"client","project":%q}`, project, project))
		ours := subject{project: project}
		s.newSegment(t, &ours)
		g.own[project] = ours.segment
		for _, environment := range []string{"development", "production"} {
			on := subject{project: project, flag: flag, environment: environment}
			s.addStrategyAndVariants(t, &on)
			g.places = append(g.places, on)
		}
	}
	return g
}

// bodies are good ones for the matrix, where those of the examples take more than the operation's permission.
var bodies = map[string]string{
	"POST /api/admin/api-tokens":                 `{"tokenName":"{new}","type":"client","project":"{projectId}"}`,
	"POST " + ownTokens:                          `{"description":"{new}","expiresAt":"2100-01-01T00:00:00Z"}`,
	"PUT " + aSegment:                            `{"name":"{new}","project":"{projectId}","constraints":[]}`,
	"PUT /api/admin/projects/{projectId}/access": `{"roles":[{"id":{roleId},"users":[{userId}]}]}`,
	ofFlag("POST", "/changeProject"):             `{"newProjectId":"{projectId}"}`,
	"POST " + importData:                         `{"project":"{projectId}","environment":"development","data":{"features":[{"name":"{new}"}]}}`,
	ofProject("POST", "/changeProject"):          someFlags + `,"newProjectId":"{projectId}"}`,
}

// cell is the request for a route in a place.
func (g stage) cell(route string, on subject) (method, path, body string) {
	on.user, on.role = g.guest, g.role
	switch {
	case strings.Contains(route, "/service-account"):
		on.user = g.robot
	case route == "DELETE "+heldRole:
		on.role = "5"
	case strings.Contains(route, "/invite-link/"):
		on.secret = g.signup
	case strings.HasSuffix(route, "/{name}"):
		on.secret = "token-of-" + on.project
	case strings.Contains(route, "/api-tokens/"):
		on.secret = g.tokens[on.project]
	case strings.Contains(route, "/dependencies"):
		on.kind = g.parents[on.project]
	case strings.Contains(route, allSegments):
		on.segment = g.own[on.project]
	case strings.Contains(route, contextFields):
		on.kind = g.fields
	case strings.Contains(route, "/tag-types"):
		on.kind = g.tags
	case strings.Contains(route, "/strategies/{strategyType}"):
		on.kind = g.custom
	}
	body, own := bodies[route]
	if !own {
		body = examples[route].body
	}
	method, path, _ = strings.Cut(route, " ")
	return method, on.fill(path), on.fill(body)
}

// placesOf are the places that make a difference to a route.
func (g stage) placesOf(route string) []subject {
	inProject := strings.Contains(route, allSegments) || strings.Contains(route, "{projectId}") || strings.Contains(route, "{featureName}") || strings.Contains(route, apiTokens) ||
		overData[route] != ""
	inEnvironment := route == setsSegments || strings.Contains(route, "{environment}")
	return slices.DeleteFunc(slices.Clone(g.places), func(on subject) bool {
		return !inProject && on.project != "alpha" || !inEnvironment && on.environment != "development"
	})
}

// overTokens is what takes a right over API tokens, by route: the permission over all client tokens, over all frontend
// tokens, and over those of a project (docs/interface.md: Tokens).
var overTokens = map[string][3]string{
	"GET " + apiTokens:              {"READ_CLIENT_API_TOKEN", "READ_FRONTEND_API_TOKEN", "READ_PROJECT_API_TOKEN"},
	"GET " + apiTokens + "/{name}":  {"READ_CLIENT_API_TOKEN", "READ_FRONTEND_API_TOKEN", "READ_PROJECT_API_TOKEN"},
	"POST " + apiTokens:             {"CREATE_CLIENT_API_TOKEN", "CREATE_FRONTEND_API_TOKEN", "CREATE_PROJECT_API_TOKEN"},
	"PUT " + apiTokens + "/{token}": {"UPDATE_CLIENT_API_TOKEN", "UPDATE_FRONTEND_API_TOKEN", "CREATE_PROJECT_API_TOKEN"},
	"DELETE " + apiTokens + "/{token}": {
		"DELETE_CLIENT_API_TOKEN", "DELETE_FRONTEND_API_TOKEN", "DELETE_PROJECT_API_TOKEN",
	},
}

// setsSegments gives a strategy segments; its body names the strategy.
const setsSegments = "POST " + allSegments + "/strategies"

// overProjects is what takes a permission of the whole service, or one in the project that the body names or the segment
// is of, by route (docs/interface.md: Context fields and segments).
var overProjects = map[string][2]string{
	"POST " + allSegments: {"CREATE_SEGMENT", "UPDATE_PROJECT_SEGMENT"},
	"PUT " + aSegment:     {"UPDATE_SEGMENT", "UPDATE_PROJECT_SEGMENT"},
	"DELETE " + aSegment:  {"DELETE_SEGMENT", "UPDATE_PROJECT_SEGMENT"},
	setsSegments:          {"UPDATE_FEATURE_STRATEGY", "UPDATE_FEATURE_STRATEGY"},
}

// overData is the permission that the data of an operation takes in the project that its body names, by route. Whoever
// reads gets an answer, which tells what was done, and what was refused for want of it.
var overData = map[string]string{"POST " + importData: "CREATE_FEATURE"}

// success is the status of who may, where it is not that of the example, which is an API token's in
// "default".
func success(route string, h holder, on subject) int {
	switch {
	case strings.Contains(route, ownTokens) && h.person:
		return map[string]int{"GET": 200, "POST": 201, "DELETE": 200}[strings.Fields(route)[0]]
	case route == "DELETE /api/admin/projects/{projectId}" && on.project == "default":
		return 400 // it is there for good
	}
	return examples[route].status
}

// expected is the status of a cell, by what is written down.
func expected(op httpapi.Operation, h holder, on subject) int {
	environment := ""
	if strings.Contains(op.Route, "{environment}") {
		environment = on.environment
	}
	switch permission := string(op.Permission); {
	case permission == "":
		return success(op.Route, h, on)
	case h.refused != 0 && !h.open:
		return h.refused
	case overProjects[op.Route] != [2]string{}:
		of := overProjects[op.Route]
		if h.has(of[0], "", on.environment) || h.has(of[1], on.project, on.environment) {
			return success(op.Route, h, on)
		}
		return 403
	case overTokens[op.Route] != [3]string{}:
		return expectedOverTokens(op.Route, h, on)
	case permission == "READ", h.has(permission, on.project, environment):
		return success(op.Route, h, on)
	}
	return 403
}

// expectedOverTokens is about the client token of a project.
func expectedOverTokens(route string, h holder, on subject) int {
	of := overTokens[route]
	this := h.has(of[0], "", "") || h.has(of[2], on.project, "")
	some := this || h.has(of[1], "", "") || h.has(of[2], "alpha", "") || h.has(of[2], "default", "")
	switch {
	case this, some && strings.HasPrefix(route, "GET "): // a list of those that the caller may see
		return success(route, h, on)
	}
	return 403
}

// TestMatrix walks it. What was refused has written nothing, and what was read neither; who may gets the answer of the
// operation's example.
func TestMatrix(t *testing.T) {
	t.Parallel()
	now := time.Now().UTC().Truncate(time.Millisecond)
	s := serveTallied(t, now)
	g := s.stage(t)
	all := s.holders(t, now)
	known := " READ " + permissionsOf[flags.RootScope] + " " + permissionsOf[flags.ProjectScope] + " " + permissionsOf[flags.EnvironmentScope] + " "
	routes(t) // fails for an operation without an example
	var operations []httpapi.Operation
	for _, group := range admin.Groups() {
		for _, op := range group.Operations {
			if p := string(op.Permission); p != "" && !strings.Contains(known, " "+p+" ") {
				t.Errorf("%s takes %s, which permissionsOf does not have", op.Route, p)
			}
			operations = append(operations, op)
		}
	}
	config := httpapi.Config{Limits: flags.DefaultLimits(), Sealer: dynamotest.Sealer, Now: func() time.Time { return now }}
	closed := s.also(t, described(t, everyGroup(rehearsal{s.store}, config)))
	config.Open = true
	open := s.also(t, described(t, everyGroup(rehearsal{s.store}, config)))

	var cells, allowed atomic.Int64
	t.Run("callers", func(t *testing.T) {
		for _, h := range all {
			t.Run(h.name, func(t *testing.T) {
				t.Parallel()
				at := *s
				if at.url = closed; h.open {
					at.url = open
				}
				at.do(t, "GET", "/api/admin/feature-types", "", as(h.secret)) // notes that the token was used, once an hour
				for _, op := range operations {
					for _, on := range g.placesOf(op.Route) {
						cells.Add(1)
						if at.walk(t, g, op, h, on) {
							allowed.Add(1)
						}
					}
				}
			})
		}
	})
	t.Logf("%d callers, %d operations, %d cells, %d of them allowed", len(all), len(operations), cells.Load(), allowed.Load())
}

// walk tries one cell, and tells whether it was to be allowed.
func (s *server) walk(t *testing.T, g stage, op httpapi.Operation, h holder, on subject) bool {
	t.Helper()
	method, path, body := g.cell(op.Route, on)
	got, want := s.do(t, method, path, body, as(h.secret)), expected(op, h, on)
	if got.status != want {
		t.Errorf("%s in %s/%s: status %d, want %d; it takes %s, and the caller holds %v; body %.300s",
			op.Route, on.project, on.environment, got.status, want, op.Permission, h.holds, got.body)
	}
	permission := overData[op.Route]
	refused := want >= 400 || permission != "" && !h.has(permission, on.project, "")
	if name := map[int]string{401: "AuthenticationRequired", 403: "NoAccessError", 404: "NotFoundError"}[want]; name != "" {
		if different := match(failure(name, ""), got.body); len(different) > 0 {
			t.Errorf("%s: %v", op.Route, different)
		}
	}
	if n := got.writes(t); n > 0 && (refused || method == "GET") {
		t.Errorf("%s in %s/%s: %d writes, want none", op.Route, on.project, on.environment, n)
	}
	if permission != "" && !refused && got.writes(t) == 0 {
		t.Errorf("%s in %s: no writes, want some", op.Route, on.project)
	}
	return !refused
}

// TestEveryPermissionIsEnough has every operation done for good by somebody who holds its permission and nothing else.
func TestEveryPermissionIsEnough(t *testing.T) {
	s := serveTallied(t, time.Now())
	empty := s.roleOf(t, "custom", "")
	operations := map[string]httpapi.Operation{}
	for _, group := range admin.Groups() {
		for _, op := range group.Operations {
			operations[op.Route] = op
		}
	}
	for _, route := range routes(t) {
		t.Run(route, func(t *testing.T) {
			on := s.newSubject(t)
			if prepare := preparations[route]; prepare != nil {
				prepare(s, t, &on)
			}
			if route == "POST "+heldRole || route == "PUT "+heldRole || bodies[route] != "" {
				on.role = empty // whoever may change access may give what holds nothing
			}
			needs := string(operations[route].Permission)
			if over := overTokens[route]; over != [3]string{} {
				needs = over[0]
			}
			if over := overProjects[route]; over != [2]string{} {
				needs = over[1]
			}
			if over := overData[route]; over != "" {
				needs = over
			}
			h := s.holderOf(t, needs, on.project)
			c := on.call(route)
			if body, own := bodies[route]; own {
				c.body = on.fill(body)
			}
			s.do(t, "GET", "/api/admin/feature-types", "", as(h.secret)) // notes that the token was used, once an hour
			got, want := s.do(t, c.method, c.path, c.body, as(h.secret)), success(route, h, subject{})
			if got.status != want {
				t.Errorf("%s %s %s by one who holds %s: status %d, want %d; body %.300s", c.method, c.path, c.body, needs, got.status, want, got.body)
			}
			stays := strings.HasSuffix(route, "/changeProject") // to go takes another permission, elsewhere
			if e := examples[route]; e.calls > e.again && !stays && got.writes(t) == 0 {
				t.Error("no writes, want some")
			}
		})
	}
}

// holderOf is a new user who holds one permission in a project, or in the whole service where it is of that.
func (s *server) holderOf(t *testing.T, permission, project string) holder {
	t.Helper()
	h := holder{name: permission, person: true}
	switch {
	case permission == "" || permission == "READ":
		_, header := s.person(t, flags.RoleViewer)
		h.secret = strings.TrimPrefix(header, "Authorization: ")
	case slices.Contains(strings.Fields(permissionsOf[flags.RootScope]), permission):
		h.secret = s.account(t, s.roleOf(t, "root-custom", permission), nil)
	default:
		h.secret = s.account(t, "3", map[string]string{project: s.roleOf(t, "custom", permission)})
	}
	return h
}
