package serving

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"guidon/pkg/access"
	"guidon/pkg/admin"
	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

func TestMain(m *testing.M) { os.Exit(dynamotest.Run(m)) }

// An administration is the real administration API over a table of its own, and the way to more instances over that table.
type administration struct {
	t       testing.TB
	table   string
	store   *dynamo.Store
	ids     int
	secrets []string // of tokens that random changes created
	handler http.Handler
}

// administer starts an administration.
func administer(t testing.TB) *administration {
	t.Helper()
	store := dynamotest.Open(t, nil)
	dynamotest.Seed(t, store)
	return &administration{t: t, table: store.Table(), store: store, handler: administrationOver(store)}
}

// administrationOver is the administration over a store.
func administrationOver(store *dynamo.Store) http.Handler {
	mux := &httpapi.Mux{}
	for _, group := range admin.Groups() {
		handler := httpapi.New(store, group, httpapi.Config{Limits: flags.DefaultLimits(), Sealer: dynamotest.Sealer})
		for _, route := range group.Routes() {
			mux.Handle(route, handler)
		}
	}
	return mux
}

// another opens the table again, as another instance does.
func (a *administration) another(transport http.RoundTripper) *dynamo.Store {
	a.t.Helper()
	return dynamotest.OpenOn(a.t, dynamotest.Engine(), a.table, transport)
}

// try sends a request with the admin token, and returns the status and the body.
func (a *administration) try(method, path, body string) (int, string) {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Authorization", dynamotest.AdminToken)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	a.handler.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// do is try for a request that must succeed.
func (a *administration) do(method, path, body string) string {
	a.t.Helper()
	status, answer := a.try(method, path, body)
	if status >= 300 {
		a.t.Fatalf("%s %s %s: %d %s", method, path, body, status, answer)
	}
	return answer
}

// flag creates a flag in the project "default", disabled, with one strategy in each environment.
func (a *administration) flag(name string) {
	a.t.Helper()
	a.do("POST", features, fmt.Sprintf(`{"name": %q}`, name))
	for _, environment := range []string{"development", "production"} {
		a.do("POST", in(name, environment)+"/strategies", `{"name": "default"}`)
	}
}

// segment creates a segment named s, and returns its id.
func (a *administration) segment(project string) int64 {
	a.t.Helper()
	body := `{"name": "s", "constraints": [{"contextName": "userId", "operator": "IN", "values": ["7"]}]`
	if project != "" {
		body += fmt.Sprintf(`, "project": %q`, project)
	}
	var created struct {
		ID int64 `json:"id"`
	}
	if err := json.Unmarshal([]byte(a.do("POST", "/api/admin/segments", body+"}")), &created); err != nil {
		a.t.Fatal(err)
	}
	return created.ID
}

// Paths of the administration.
const (
	defaultProject = "/api/admin/projects/default"
	features       = defaultProject + "/features"
)

func in(flag, environment string) string {
	return path.Join(features, flag, "environments", environment)
}

var hash = access.HashSecret(dynamotest.ClientToken)

// mustRead reads with the client token of dynamotest.
func mustRead(t testing.TB, r *Reader) *State {
	t.Helper()
	reading, err := r.Read(t.Context(), hash, false)
	if err != nil {
		t.Fatalf("%v (cause %+v)", err, causeOf(err))
	}
	if reading.Token == nil {
		t.Fatal("the token was not found")
	}
	return reading.State
}

func causeOf(err error) error {
	if e, ok := errors.AsType[*flags.Error](err); ok {
		return e.Err
	}
	return nil
}

// compareStates fails if two states do not tell applications the same.
func compareStates(t testing.TB, what string, got, want *State) {
	t.Helper()
	if diff := cmp.Diff(contentOf(want), contentOf(got), cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

// A content is what a state tells applications, without the numbers at which it changed.
type content struct {
	Flags        map[string]*flags.Feature
	Segments     map[int64]*flags.Segment
	Projects     map[string]*flags.Project
	Environments *flags.Environments
	Tokens       map[string]*access.Token
}

func contentOf(s *State) content {
	c := content{Tokens: map[string]*access.Token{}, Flags: map[string]*flags.Feature{}, Segments: map[int64]*flags.Segment{}, Projects: map[string]*flags.Project{}}
	for name, f := range s.Flags {
		feature := *f.Feature
		feature.Version = 0 // a change that applications do not see raises it too
		c.Flags[name] = &feature
	}
	for id, segment := range s.Segments {
		copied := *segment.Segment
		copied.Version = 0
		c.Segments[id] = &copied
	}
	for id, p := range s.Projects {
		copied := *p
		copied.Version = 0
		c.Projects[id] = &copied
	}
	for hash, token := range s.Tokens {
		copied := token.Clone()
		copied.Version = 0
		c.Tokens[hash] = copied
	}
	registry := *s.Environments
	registry.Version = 0
	c.Environments = &registry
	return c
}

// deleteItem deletes an item of the table, past the store.
func (a *administration) deleteItem(pk, sk string) {
	a.t.Helper()
	body := fmt.Sprintf(`{"TableName": %q, "Key": {"pk": {"S": %q}, "sk": {"S": %q}}, "ReturnValues": "ALL_OLD"}`, a.table, pk, sk)
	if answer := dynamotest.Call(a.t, dynamotest.Engine().URL(), "DeleteItem", body); !strings.Contains(answer, "Attributes") {
		a.t.Fatalf("deleting %s %s: %s", pk, sk, answer)
	}
}
