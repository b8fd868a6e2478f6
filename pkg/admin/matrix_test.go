package admin_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/admin"
	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// The matrix is caller × permissions × project × environment × operation. Every cell is a real request over HTTP and the engine
// with a valid body, but a read of DynamoDB is repeated only after a write (tallyTransport). A cell is checked by its response and its number of
// writes.

// A tally counts the writes of one request, including those that a dry run skips.
type tally struct{ writes atomic.Int64 }

type tallyKey struct{}

// wrote counts a write of the request that ctx belongs to.
func wrote(ctx context.Context) {
	if n, counted := ctx.Value(tallyKey{}).(*tally); counted {
		n.writes.Add(1)
	}
}

// writesHeader is the response header with the number of writes.
const writesHeader = "Test-Writes"

// tallied adds the number of writes to each response.
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

// A rehearsal is a store that does not commit, so that all callers can try every operation on one table.
type rehearsal struct{ httpapi.Store }

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

func (rehearsal) PutUnlogged(ctx context.Context, _, _ flags.Aggregate) error {
	wrote(ctx)
	return nil
}

// serveTallied starts a server whose responses have the number of writes.
func serveTallied(t *testing.T, now time.Time) *apitest.Server {
	t.Helper()
	s := apitest.Serve(t, readOnce, func(c *httpapi.Config, _ *http.RoundTripper) { c.Now = func() time.Time { return now } })
	return s.Over(t, tallied(s.Handler))
}

// writes returns the number of writes of the request.
func writes(t *testing.T, got apitest.Answer) int {
	t.Helper()
	n, err := strconv.Atoi(got.Header.Get(writesHeader))
	if err != nil {
		t.Errorf("the response has no number of writes: %v", err)
	}
	return n
}

// A stage is the data of the matrix: two projects with the same objects, and objects of the whole service.
type stage struct {
	*apitest.Server
	places   []subject // project × environment
	guest    string    // a user, a member of both projects
	robot    string    // a service account with a token
	role     string    // a custom project role without permissions and users
	signup   string
	link     string             // a sign-in link
	tags     string             // a tag type
	template string             // a release template
	planned  map[string]subject // a flag with a release plan, by the names of project and environment
	fields   string             // a context field
	own      map[string]string  // the id of a segment of each project
	custom   string             // a strategy type

	application string
	addon       string            // the id of an addon
	tokens      map[string]string // the secret of a token of each project
	parents     map[string]string // what the flag of each project depends on
	requests    map[string]string // the id of a change request of each project, where they are off again
	freezes     map[string]string // the id of a freeze by its path
}

func newStage(t *testing.T, s *apitest.Server) stage {
	t.Helper()
	g := stage{Server: s, planned: map[string]subject{}, tokens: map[string]string{}, own: map[string]string{}, parents: map[string]string{}, requests: map[string]string{}, freezes: map[string]string{}}
	s.Must(t, "POST", "/api/admin/projects", `{"id":"alpha"}`)
	g.guest = s.ID(t, apitest.Users, `{"username":"guest","rootRole":3}`)
	var on subject
	newAccountToken(t, s, &on)
	g.robot = on.user
	newRole(t, s, &on)
	g.role = on.role
	newSignup(t, s, &on)
	g.signup = on.secret
	g.link = s.SignInLink(t, 1)
	newTagType(t, s, &on)
	g.tags = on.kind
	addTemplate(t, s, &on)
	g.template = on.kind
	newField(t, s, &on)
	g.fields = on.kind
	newStrategyType(t, s, &on)
	g.custom = on.kind
	newApplication(t, s, &on)
	g.application = on.kind
	newAddon(t, s, &on)
	g.addon = on.addon
	for _, project := range []string{"alpha", "default"} {
		flag := "of-" + project
		s.Must(t, "POST", "/api/admin/projects/"+project+"/features", fmt.Sprintf(`{"name":%q}`, flag))
		s.Must(t, "POST", "/api/admin/features/"+flag+"/tags", `{"type":"simple","value":"a/b"}`)
		scanned := subject{project: project, flag: flag}
		s.Must(t, "PUT", scanned.fill(ofProject("", aRepository))[1:], scanned.fill(aScan))
		s.Must(t, "POST", "/api/admin/projects/"+project+"/users/"+g.guest+"/roles/5", "")
		child := subject{project: project, flag: flag}
		addParent(t, s, &child)
		g.parents[project] = child.kind
		g.tokens[project] = s.APIToken(t, fmt.Sprintf(`{"tokenName":"token-of-%s","type":"client","project":%q}`, project, project))
		ours := subject{project: project}
		newSegment(t, s, &ours)
		g.own[project] = ours.segment
		s.Must(t, "POST", "/api/admin/projects/"+project+"/features", fmt.Sprintf(`{"name":"planned-%s"}`, flag))
		for _, environment := range []string{"development", "production"} {
			on := subject{project: project, flag: flag, environment: environment}
			addStrategyAndVariants(t, s, &on)
			planned := subject{project: project, flag: "planned-" + flag, environment: environment}
			newPlan(t, s, &planned)
			g.planned[project+environment] = planned
			s.Must(t, "POST", on.fill("/api/admin/projects/{projectId}"+aSignals), `{"name":"errors"}`)
			for _, path := range []string{on.fill(inFreezes), on.fill(ofServiceFreezes)} {
				g.freezes[path] = apitest.IDIn(s.Must(t, "POST", path, on.fill(aFreeze)).Body)
			}
			g.places = append(g.places, on)
		}
		reviewed := subject{project: project, flag: flag, environment: "production"}
		request(t, s, &reviewed)
		g.requests[project] = reviewed.request
	}
	return g
}

// bodies has valid bodies for operations whose example needs more than the operation's permission.
var bodies = map[string]string{
	"POST /api/admin/api-tokens":                 `{"tokenName":"{new}","type":"client","project":"{projectId}"}`,
	"POST " + apitest.OwnTokens:                  `{"description":"{new}","expiresAt":"2100-01-01T00:00:00Z"}`,
	"PUT " + aSegment:                            `{"name":"{new}","project":"{projectId}","constraints":[]}`,
	"PUT /api/admin/projects/{projectId}/access": `{"roles":[{"id":{roleId},"users":[{userId}]}]}`,
	ofFlag("POST", "/changeProject"):             `{"newProjectId":"{projectId}"}`,
	"POST " + apitest.Import:                     `{"project":"{projectId}","environment":"development","data":{"features":[{"name":"{new}"}]}}`,
	ofProject("POST", "/changeProject"):          someFlags + `,"newProjectId":"{projectId}"}`,
}

// cell returns the request for a route and a subject.
func (g stage) cell(route string, on subject) (method, path, body string) {
	on.user, on.role = g.guest, g.role
	switch {
	case strings.Contains(route, "/service-account"):
		on.user = g.robot
	case route == "DELETE "+heldRole:
		on.role = "5"
	case route == "POST /auth/link":
		on.secret = g.link
	case strings.Contains(route, "/invite-link/"):
		on.secret = g.signup
	case strings.HasSuffix(route, "/{name}"):
		on.secret = "token-of-" + on.project
	case strings.Contains(route, "/api-tokens/"):
		on.secret = g.tokens[on.project]
	case strings.Contains(route, "/dependencies"):
		on.kind = g.parents[on.project]
	case strings.Contains(route, "/{changeRequestId}"):
		on.request = g.requests[on.project]
	case strings.HasSuffix(route, inFreezes+"/{freezeId}"):
		on.kind = g.freezes[on.fill(inFreezes)]
	case strings.HasSuffix(route, ofServiceFreezes+"/{freezeId}"):
		on.kind = g.freezes[on.fill(ofServiceFreezes)]
	case strings.Contains(route, apitest.Segments):
		on.segment = g.own[on.project]
	case strings.Contains(route, apitest.ContextFields):
		on.kind = g.fields
	case strings.Contains(route, anAddon):
		on.addon = g.addon
	case strings.Contains(route, "/tag-types"):
		on.kind = g.tags
	case strings.Contains(route, "{planId}"), strings.Contains(route, "{milestoneId}"):
		planned := g.planned[on.project+on.environment]
		on.flag, on.plan, on.milestone, on.safeguard = planned.flag, planned.plan, planned.milestone, planned.safeguard
	case strings.Contains(route, "{signalName}"):
		on.kind = "errors"
	case strings.Contains(route, "{templateId}"):
		on.kind = g.template
	case strings.Contains(route, "/strategies/{strategyType}"):
		on.kind = g.custom
	case strings.Contains(route, "{appName}"):
		on.kind = g.application
	}
	body, own := bodies[route]
	if !own {
		body = examples[route].body
	}
	method, path, _ = strings.Cut(route, " ")
	return method, on.fill(path), on.fill(body)
}

// placesOf returns the subjects for which the result of a route can differ.
func (g stage) placesOf(route string) []subject {
	inProject := strings.Contains(route, apitest.Segments) || strings.Contains(route, "{projectId}") || strings.Contains(route, "{featureName}") || strings.Contains(route, apitest.APITokens) ||
		overData[route] != ""
	inEnvironment := route == setsSegments || strings.Contains(route, "{environment}")
	return slices.DeleteFunc(slices.Clone(g.places), func(on subject) bool {
		return !inProject && on.project != "alpha" || !inEnvironment && on.environment != "development"
	})
}

// overTokens has the permissions of operations on API tokens, by route: for all client tokens, for all frontend tokens, and for
// those of a project (docs/reference/api-areas.md: Tokens).
var overTokens = map[string][3]string{
	"GET " + apitest.APITokens:              {"READ_CLIENT_API_TOKEN", "READ_FRONTEND_API_TOKEN", "READ_PROJECT_API_TOKEN"},
	"GET " + apitest.APITokens + "/{name}":  {"READ_CLIENT_API_TOKEN", "READ_FRONTEND_API_TOKEN", "READ_PROJECT_API_TOKEN"},
	"POST " + apitest.APITokens:             {"CREATE_CLIENT_API_TOKEN", "CREATE_FRONTEND_API_TOKEN", "CREATE_PROJECT_API_TOKEN"},
	"PUT " + apitest.APITokens + "/{token}": {"UPDATE_CLIENT_API_TOKEN", "UPDATE_FRONTEND_API_TOKEN", "CREATE_PROJECT_API_TOKEN"},
	"DELETE " + apitest.APITokens + "/{token}": {
		"DELETE_CLIENT_API_TOKEN", "DELETE_FRONTEND_API_TOKEN", "DELETE_PROJECT_API_TOKEN",
	},
}

// setsSegments gives a strategy segments; its body names the strategy.
const setsSegments = "POST " + apitest.Segments + "/strategies"

// overProjects has the operations that need a root permission, or a permission in the project of the body or the segment, by
// route (docs/reference/api-areas.md: Segments).
var overProjects = map[string][2]string{
	"POST " + apitest.Segments: {"CREATE_SEGMENT", "UPDATE_PROJECT_SEGMENT"},
	"PUT " + aSegment:          {"UPDATE_SEGMENT", "UPDATE_PROJECT_SEGMENT"},
	"DELETE " + aSegment:       {"DELETE_SEGMENT", "UPDATE_PROJECT_SEGMENT"},
	setsSegments:               {"UPDATE_FEATURE_STRATEGY", "UPDATE_FEATURE_STRATEGY"},
}

// ofAuthors has the operations on change requests that are for their authors and for administrators.
var ofAuthors = map[string]bool{
	ofProject("PUT", "/change-requests/{changeRequestId}/changes/{changeId}"):    true,
	ofProject("DELETE", "/change-requests/{changeRequestId}/changes/{changeId}"): true,
	ofProject("POST", "/change-requests/{changeRequestId}/rebase"):               true,
	ofProject("PUT", "/change-requests/{changeRequestId}/state"):                 true,
	ofProject("PUT", "/change-requests/{changeRequestId}/title"):                 true,
	ofProject("PUT", "/change-requests/{changeRequestId}/approvers"):             true,
}

// overData has the permission that the data of an operation needs in the project of its body, by route. Every caller who can read
// gets a report with what was done, and what was refused because the permission is missing.
var overData = map[string]string{"POST " + apitest.Import: "CREATE_FEATURE"}

// success is the status for a caller with the permission. It can differ from that of the example, which uses an API token and the
// project "default".
func success(route string, h holder, on subject) int {
	switch {
	case strings.Contains(route, apitest.OwnTokens) && h.person:
		return map[string]int{"GET": 200, "POST": 201, "DELETE": 200}[strings.Fields(route)[0]]
	case route == "DELETE /api/admin/projects/{projectId}" && on.project == "default":
		return 400 // the default project cannot be deleted
	case route == ofProject("POST", "/environments/{environment}/change-requests") && on.project != "":
		return 400 // change requests are off
	}
	return examples[route].status
}

// expected is the status of a cell according to the tables of this test.
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
	case op.Route == ofProject("PUT", "/change-requests/{changeRequestId}/state") && h.has("PROJECT_CHANGE_REQUEST_WRITE", on.project, ""):
		return success(op.Route, h, on) // it cancels
	case ofAuthors[op.Route] && !h.has("ADMIN", "", ""):
		return 403
	case overTokens[op.Route] != [3]string{}:
		return expectedOverTokens(op.Route, h, on)
	case permission == "READ", h.has(permission, on.project, environment):
		return success(op.Route, h, on)
	}
	return 403
}

// expectedOverTokens is the status of an operation on the client token of a project.
func expectedOverTokens(route string, h holder, on subject) int {
	of := overTokens[route]
	this := h.has(of[0], "", "") || h.has(of[2], on.project, "")
	some := this || h.has(of[1], "", "") || h.has(of[2], "alpha", "") || h.has(of[2], "default", "")
	switch {
	case this, some && strings.HasPrefix(route, "GET "): // a list of the tokens that the caller may see
		return success(route, h, on)
	}
	return 403
}

// TestMatrix checks every cell of the matrix. Refused requests and reads write nothing. A caller with the permission gets the
// status of the operation's example.
func TestMatrix(t *testing.T) {
	t.Parallel()
	now := time.Now().UTC().Truncate(time.Millisecond)
	s := serveTallied(t, now)
	g := newStage(t, s)
	all := holders(t, s, now)
	known := " READ " + permissionsOf[access.RootScope] + " " + permissionsOf[access.ProjectScope] + " " + permissionsOf[access.EnvironmentScope] + " "
	routes(t) // fails for an operation without an example
	var operations []httpapi.Operation
	for _, group := range admin.Groups() {
		for _, op := range group.Operations {
			if p := string(op.Permission); p != "" && !strings.Contains(known, " "+p+" ") {
				t.Errorf("%s needs %s, which permissionsOf does not have", op.Route, p)
			}
			operations = append(operations, op)
		}
	}
	config := httpapi.Config{Limits: flags.DefaultLimits(), Sealer: dynamotest.Sealer, Now: func() time.Time { return now }}
	closed := s.Over(t, tallied(apitest.Described(t, apitest.Handler(rehearsal{s.Store}, config))))
	config.Open = true
	open := s.Over(t, tallied(apitest.Described(t, apitest.Handler(rehearsal{s.Store}, config))))

	var cells, allowed atomic.Int64
	t.Run("callers", func(t *testing.T) {
		for _, h := range all {
			t.Run(h.name, func(t *testing.T) {
				at := closed
				if h.open {
					at = open
				}
				for range 20 { // the first request that succeeds records the use of the token, which happens once an hour
					if got := at.Do(t, "GET", "/api/admin/feature-types", "", apitest.As(h.secret)); got.Status == 200 && writes(t, got) == 0 {
						break
					}
				}
				t.Parallel() // from here on, hardly anything is written
				for _, op := range operations {
					for _, on := range g.placesOf(op.Route) {
						cells.Add(1)
						if walk(t, at, g, op, h, on) {
							allowed.Add(1)
						}
					}
				}
			})
		}
	})
	t.Logf("%d callers, %d operations, %d cells, %d of them allowed", len(all), len(operations), cells.Load(), allowed.Load())
}

// walk checks one cell and reports whether the request is allowed.
func walk(t *testing.T, s *apitest.Server, g stage, op httpapi.Operation, h holder, on subject) bool {
	t.Helper()
	method, path, body := g.cell(op.Route, on)
	got, want := s.Do(t, method, path, body, apitest.As(h.secret)), expected(op, h, on)
	if got.Status != want {
		t.Errorf("%s in %s/%s: status %d, want %d; it needs %s, and the caller holds %v; body %.300s",
			op.Route, on.project, on.environment, got.Status, want, op.Permission, h.holds, got.Body)
	}
	permission := overData[op.Route]
	refused := want >= 400 || permission != "" && !h.has(permission, on.project, "")
	if name := map[int]string{401: "AuthenticationRequired", 403: "NoAccessError", 404: "NotFoundError"}[want]; name != "" {
		if different := apitest.Match(apitest.Failure(name, ""), got.Body); len(different) > 0 {
			t.Errorf("%s: %v", op.Route, different)
		}
	}
	if n := writes(t, got); n > 0 && (refused || method == "GET") {
		t.Errorf("%s in %s/%s: %d writes, want none", op.Route, on.project, on.environment, n)
	}
	if permission != "" && !refused && writes(t, got) == 0 {
		t.Errorf("%s in %s: no writes, want some", op.Route, on.project)
	}
	return !refused
}

// TestEveryPermissionIsEnough calls every operation as a user who holds only its permission, and commits the change.
func TestEveryPermissionIsEnough(t *testing.T) {
	t.Parallel()
	s := serveTallied(t, time.Now())
	empty := s.RoleOf(t, "custom", "")
	operations := map[string]httpapi.Operation{}
	for _, group := range admin.Groups() {
		for _, op := range group.Operations {
			operations[op.Route] = op
		}
	}
	for _, route := range routes(t) {
		t.Run(route, func(t *testing.T) {
			on := newSubject(t, s)
			if prepare := preparations[route]; prepare != nil {
				prepare(t, s, &on)
			}
			if route == "POST "+heldRole || route == "PUT "+heldRole || bodies[route] != "" {
				on.role = empty // a caller who can change access can give a role without permissions
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
			if ofAuthors[route] {
				needs = "ADMIN"
			}
			h := holderOf(t, s, needs, on.project)
			c := on.call(route)
			if body, own := bodies[route]; own {
				c.Body = on.fill(body)
			}
			s.Do(t, "GET", "/api/admin/feature-types", "", apitest.As(h.secret)) // records the use of the token, which happens once an hour
			got, want := s.Do(t, c.Method, c.Path, c.Body, apitest.As(h.secret)), success(route, h, subject{})
			if got.Status != want {
				t.Errorf("%s %s %s with the permission %s: status %d, want %d; body %.300s", c.Method, c.Path, c.Body, needs, got.Status, want, got.Body)
			}
			stays := strings.HasSuffix(route, "/changeProject") // a real move needs another permission, in the new project
			if e := examples[route]; e.calls > e.again && !stays && writes(t, got) == 0 {
				t.Error("no writes, want some")
			}
		})
	}
}

// holderOf creates a user who holds one permission: in a project, or in the whole service if it is a root permission.
func holderOf(t *testing.T, s *apitest.Server, permission, project string) holder {
	t.Helper()
	h := holder{name: permission, person: true}
	switch {
	case permission == "" || permission == "READ":
		_, header := s.Person(t, access.RoleViewer)
		h.secret = strings.TrimPrefix(header, "Authorization: ")
	case slices.Contains(strings.Fields(permissionsOf[access.RootScope]), permission):
		h.secret = s.Account(t, s.RoleOf(t, "root-custom", permission), nil)
	default:
		h.secret = s.Account(t, "3", map[string]string{project: s.RoleOf(t, "custom", permission)})
	}
	return h
}
