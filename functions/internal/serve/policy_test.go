package serve

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"guidon/internal/policies"
	"guidon/pkg/access"
	"guidon/pkg/admin"
	"guidon/pkg/aggregate"
	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
	"guidon/pkg/ingest"
	"guidon/pkg/serving"
	"guidon/pkg/usage"
)

func TestMain(m *testing.M) { os.Exit(dynamotest.Run(m)) }

// TestPoliciesOfServing runs the functions for applications: without a snapshot, with one, with a changed flag, and behind the
// feed. It checks that they use exactly the actions that template.yaml allows them, and write only the keys that it lists.
func TestPoliciesOfServing(t *testing.T) {
	config, err := httpapi.ConfigFromEnv()
	if err != nil {
		t.Fatal(err)
	}
	config.Logger = nil
	for _, name := range []string{"Applications", "Frontend", "Snapshot"} {
		t.Run(name, func(t *testing.T) {
			store := dynamotest.Open(t, nil)
			dynamotest.Seed(t, store)
			features := httpapi.New(store, admin.Group("features"), config)
			watch := &watch{actions: map[string]bool{}, written: map[string]bool{}}
			watched := dynamotest.OpenOn(t, dynamotest.Engine(), store.Table(), watch)
			create := func(names ...string) {
				t.Helper()
				for _, flag := range names {
					call(t, features, 201, "POST", "/api/admin/projects/default/features", dynamotest.AdminToken, `{"name":"`+flag+`"}`)
				}
			}

			create("first")
			cold := instance(t, name, watched, config) // takes the lease, reads everything, writes a snapshot
			cold()
			instance(t, name, watched, config)() // reads the snapshot
			create("second")
			cold()
			create(many(120)...) // more than the feed holds: the others are in pages
			cold()

			watch.check(t, name)
		})
	}
}

// check compares the actions that a function used, and the partitions that it wrote in, with those of its role.
func (w *watch) check(t *testing.T, name string) {
	t.Helper()
	allowed, err := policies.File(filepath.Join("..", "..", "..", "template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	policy := allowed[name]
	if got, want := slices.Sorted(maps.Keys(w.actions)), policy.All(); !slices.Equal(got, want) {
		t.Errorf("%s uses\n %q\nand may use\n %q", name, got, want)
	}
	used := map[string]bool{}
	for key := range w.written {
		i := slices.IndexFunc(policy.Keys, func(pattern string) bool {
			is, err := path.Match(pattern, key)
			return err == nil && is
		})
		if i < 0 {
			t.Errorf("%s writes in the partition %s, and may write only in %q", name, key, policy.Keys)
			continue
		}
		used[policy.Keys[i]] = true
	}
	if len(used) != len(policy.Keys) {
		t.Errorf("%s writes in %q, and may write in %q", name, slices.Sorted(maps.Keys(used)), policy.Keys)
	}
}

// TestPolicyOfAggregate does the same for the function that adds usage to the sums: with new posts and late ones.
func TestPolicyOfAggregate(t *testing.T) {
	store := dynamotest.Open(t, nil)
	dynamotest.Seed(t, store)
	config, err := httpapi.ConfigFromEnv()
	if err != nil {
		t.Fatal(err)
	}
	config.Logger = nil
	call(t, httpapi.New(store, admin.Group("features"), config), 201, "POST", "/api/admin/projects/default/features", dynamotest.AdminToken, `{"name":"first"}`)
	watch := &watch{actions: map[string]bool{}, written: map[string]bool{}}
	watched := dynamotest.OpenOn(t, dynamotest.Engine(), store.Table(), watch)
	now := time.Now().Truncate(usage.Period)
	post := func(at time.Time) {
		t.Helper()
		hash := access.HashSecret(dynamotest.ClientToken)
		if err := store.PutPost(t.Context(), &usage.Post{
			ID: uuid.NewString(), At: at, TokenHash: hash,
			Counts:    []usage.Count{{Feature: "first", Application: "shop", Environment: "development", Yes: 1}},
			Instances: []usage.PostInstance{{Application: "shop", Instance: "a", Environment: "development"}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	run := func(at time.Time) {
		t.Helper()
		if _, err := aggregate.New(watched, aggregate.Settings{Now: func() time.Time { return at }}).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	post(now)
	run(now.Add(time.Minute))
	post(now)
	run(now.Add(31 * time.Minute))

	watch.check(t, "Aggregate")
}

// instance is a new instance of a function. The result runs it once.
func instance(t *testing.T, name string, store *dynamo.Store, config httpapi.Config) func() {
	t.Helper()
	reader := serving.NewReader(store, serving.OptionsOf(config))
	var handler http.Handler
	report := `{"appName":"shop","bucket":{"start":0,"stop":0,"toggles":{"first":{"yes":1}}}}`
	switch name {
	case "Applications":
		handler = httpapi.New(store, httpapi.Join(serving.ClientGroup(reader, store, config), ingest.ClientGroup(store, reader, config)), config)
		token := dynamotest.ClientToken
		return func() {
			t.Helper()
			call(t, handler, 200, "GET", "/api/client/features", token, "")
			call(t, handler, 202, "POST", "/api/client/metrics", token, report)
			call(t, handler, 200, "POST", "/edge/validate", token, `{"tokens":["`+token+`"]}`)
		}
	case "Frontend":
		handler = httpapi.New(store, httpapi.Join(serving.FrontendGroup(reader, store, config), ingest.FrontendGroup(store, reader, config)), config)
		return func() {
			t.Helper()
			call(t, handler, 200, "GET", "/api/frontend", dynamotest.FrontendToken, "")
			call(t, handler, 200, "POST", "/api/frontend/client/metrics", dynamotest.FrontendToken, report)
		}
	}
	return func() {
		if _, err := reader.WriteSnapshot(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func call(t *testing.T, handler http.Handler, want int, method, target, token, body string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	r.Header.Set("Authorization", token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	if w.Code != want {
		t.Fatalf("%s %s: %d %s, want %d", method, target, w.Code, w.Body, want)
	}
}

func many(n int) (names []string) {
	for i := range n {
		names = append(names, "flag-with-a-name-of-some-length-"+string(rune('a'+i/26))+string(rune('a'+i%26)))
	}
	return names
}

// A watch records the permissions that calls of DynamoDB need, and the partitions that they write in.
type watch struct {
	mu               sync.Mutex
	actions, written map[string]bool
}

func (w *watch) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	type key struct {
		PK struct{ S string } `json:"pk"`
	}
	var in struct {
		Item, Key     key
		TransactItems []struct {
			Put    *struct{ Item key }
			Delete *struct{ Key key }
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	w.mu.Lock()
	if operation != "TransactWriteItems" { // which needs the permissions of its parts
		w.actions[operation] = true
	}
	for _, part := range in.TransactItems {
		switch {
		case part.Put != nil:
			w.actions["PutItem"], w.written[part.Put.Item.PK.S] = true, true
		case part.Delete != nil:
			w.actions["DeleteItem"], w.written[part.Delete.Key.PK.S] = true, true
		default:
			w.actions["an action in a transaction that this test does not know"] = true
		}
	}
	switch operation {
	case "PutItem":
		w.written[in.Item.PK.S] = true
	case "UpdateItem":
		w.written[in.Key.PK.S] = true
	}
	w.mu.Unlock()
	return http.DefaultTransport.RoundTrip(r)
}
