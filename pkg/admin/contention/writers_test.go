package contention

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"guidon/internal/engine"
	"guidon/pkg/admin"
	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

func TestMain(m *testing.M) { os.Exit(dynamotest.Run(m)) }

// writers is how many change something at the same time.
const writers = 64

// The timeouts of the functions: see template.yaml.
const (
	requestTime = 15 * time.Second
	importTime  = 28 * time.Second
)

// A region is a table, the latencies and conflicts of DynamoDB, and the instances of the functions.
type region struct {
	engine   *engine.Engine
	overlaps *dynamotest.Overlaps
}

const table = "contention"

// inRegion runs a test in a region. Its clock is that of a synctest bubble: it stands still while anything runs, so that a call takes
// as long as overlaps says, however busy the machine is.
func inRegion(t *testing.T, test func(t *testing.T, r *region)) {
	t.Helper()
	e, err := engine.Start(t.Context(), engine.Options{Direct: true, DataFile: filepath.Join(t.TempDir(), "engine.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Stop)
	dynamotest.Seed(t, dynamotest.OpenOn(t, e, table, nil))
	r := &region{engine: e, overlaps: &dynamotest.Overlaps{
		Read: 4 * time.Millisecond, Transaction: 10 * time.Millisecond, Item: 250 * time.Microsecond, Refusal: 5 * time.Millisecond,
		Base: newOutside(t),
	}}
	synctest.Test(t, func(t *testing.T) { test(t, r) })
	dynamotest.CheckAt(t, e.URL(), table)
}

// instance is what one instance of the functions runs. It shares no memory with others.
func (r *region) instance(t *testing.T, transport http.RoundTripper) http.Handler {
	t.Helper()
	return handlerOf(r.open(t, transport))
}

// versions counts the versions of the writers' flags since they were created.
func (r *region) versions(t *testing.T) (n int) {
	t.Helper()
	var keys []flags.Key
	for w := range writers {
		keys = append(keys, flags.FeatureKey(fmt.Sprintf("f%02d", w)))
	}
	view, err := r.open(t, r.overlaps.Base).Load(t.Context(), keys)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if f := flags.Find[*flags.Feature](view, key); f != nil {
			n += int(f.Version) - 1
		}
	}
	return n
}

// open opens a store.
func (r *region) open(t *testing.T, transport http.RoundTripper) *dynamo.Store {
	t.Helper()
	store, err := dynamo.Open(t.Context(), dynamo.Options{
		Table: table, Endpoint: r.engine.URL(), HTTPClient: &http.Client{Transport: transport, Timeout: 2 * time.Second},
	})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func handlerOf(store httpapi.Store) http.Handler {
	mux := &httpapi.Mux{}
	for _, name := range []string{"features", "variants", "projects", "imports"} {
		group := admin.Group(name)
		handler := httpapi.New(store, group, httpapi.Config{Limits: flags.DefaultLimits(), Sealer: dynamotest.Sealer})
		for _, route := range group.Routes() {
			mux.Handle(route, handler)
		}
	}
	return mux
}

// A request is one call of the API.
type request struct{ method, path, body string }

// send sends a request to an instance, which has so much time for it.
func send(handler http.Handler, r request, timeout time.Duration) (status int, body string) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	req := httptest.NewRequestWithContext(ctx, r.method, r.path, strings.NewReader(r.body))
	req.Header.Set("Authorization", dynamotest.AdminToken)
	req.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, req)
	return w.Code, w.Body.String()
}

// A scenario is what the writers do.
type scenario struct {
	name    string
	prepare func(writer int) []request
	change  func(writer, n int) request
	imports int  // flags that are imported beside
	alone   bool // whether the writers share no item
	long    bool // whether it is part of the long form only
}

func flagOf(project string, flag int) string {
	return fmt.Sprintf("/api/admin/projects/%s/features/f%02d", project, flag)
}

func create(project, name string) request {
	return request{"POST", "/api/admin/projects/" + project + "/features", fmt.Sprintf(`{"name":%q}`, name)}
}

// variants changes what applications see of a flag, differently each time.
func variants(flag string, writer, n int) request {
	return request{"PUT", flag + "/environments/development/variants", fmt.Sprintf(`[{"name":"v%d-%d","weight":1000,"weightType":"variable"}]`, writer, n)}
}

func ownFlag(writer int) []request { return []request{create("default", fmt.Sprintf("f%02d", writer))} }

func scenarios(imports int) []scenario {
	return []scenario{
		{
			name:    "one flag",
			prepare: func(w int) []request { return ownFlag(w)[:min(1, 1-min(w, 1))] },
			change:  func(w, n int) request { return variants(flagOf("default", 0), w, n) },
		},
		{
			name: "64 flags of a project", prepare: ownFlag,
			change: func(w, n int) request { return variants(flagOf("default", w), w, n) },
		},
		{
			name: "64 flags, not seen by applications", prepare: ownFlag, alone: true,
			change: func(w, n int) request {
				return request{"POST", flagOf("default", w) + "/lifecycle/complete", fmt.Sprintf(`{"status":"kept","statusValue":"%d-%d"}`, w, n)}
			},
		},
		{
			name: "new flags of a project", long: true,
			change: func(w, n int) request { return create("default", fmt.Sprintf("new-%02d-%d", w, n)) },
		},
		{
			name: "64 flags of 64 projects", long: true,
			prepare: func(w int) []request {
				project := fmt.Sprintf("p%02d", w)
				return []request{
					{"POST", "/api/admin/projects", fmt.Sprintf(`{"id":%q,"name":%q}`, project, project)},
					create(project, fmt.Sprintf("f%02d", w)),
				}
			},
			change: func(w, n int) request { return variants(flagOf(fmt.Sprintf("p%02d", w), w), w, n) },
		},
		{
			name: "64 flags of a project, and an import", prepare: ownFlag, imports: imports,
			change: func(w, n int) request { return variants(flagOf("default", w), w, n) },
		},
	}
}

// A result is what a scenario has shown.
type result struct {
	changes  int
	statuses map[int]int
	took     time.Duration
	answers  []time.Duration // sorted
	counts   dynamotest.Counts
	imported time.Duration // until the import was complete
	requests int           // of the import
}

// run runs a scenario until more tells each writer to stop. A 503 counts, and is not repeated.
func (r *region) run(t *testing.T, s scenario, more func(start time.Time, n int) bool) result {
	t.Helper()
	setup := r.instance(t, r.overlaps.Base)
	var instances []http.Handler
	for w := range writers {
		instances = append(instances, r.instance(t, r.overlaps))
		if s.prepare == nil {
			continue
		}
		for _, p := range s.prepare(w) {
			if status, body := send(setup, p, requestTime); status >= 300 {
				t.Fatalf("%v: %d %.300s", p, status, body)
			}
		}
	}
	before, start := r.overlaps.Counts(), time.Now()
	got := result{statuses: map[int]int{}}
	var mu sync.Mutex
	var working sync.WaitGroup
	importing := make(chan struct{})
	if s.imports > 0 {
		instance := r.instance(t, r.overlaps)
		go func() {
			defer close(importing)
			got.requests = importAll(t, instance, s.imports)
			got.imported = time.Since(start)
		}()
	} else {
		close(importing)
	}
	for w := range writers {
		working.Go(func() {
			for n := 0; more(start, n); n++ {
				began := time.Now()
				status, body := send(instances[w], s.change(w, n), requestTime)
				mu.Lock()
				got.statuses[status]++
				got.answers = append(got.answers, time.Since(began))
				if status < 300 {
					got.changes++
				} else if status != http.StatusServiceUnavailable {
					t.Errorf("%v: %d %.300s", s.change(w, n), status, body)
					mu.Unlock()
					return
				}
				mu.Unlock()
			}
		})
	}
	working.Wait()
	got.took = time.Since(start)
	got.counts = r.overlaps.Counts().Sub(before)
	<-importing
	slices.Sort(got.answers)
	return got
}

// importAll repeats an import until it is complete, and returns how many requests it took.
func importAll(t *testing.T, instance http.Handler, n int) (requests int) {
	var list, strategies []map[string]any
	for i := range n {
		name := fmt.Sprintf("imported-%05d", i)
		list = append(list, map[string]any{"name": name})
		strategies = append(strategies, map[string]any{"featureName": name, "name": "default"})
	}
	body, err := json.Marshal(map[string]any{"project": "default", "environment": "development", "data": map[string]any{"features": list, "featureStrategies": strategies}})
	if err != nil {
		t.Error(err)
	}
	for requests = 1; requests < 100; requests++ {
		status, answer := send(instance, request{"POST", "/api/admin/features-batch/import", string(body)}, importTime)
		if status == http.StatusOK {
			return requests
		}
		if status != http.StatusServiceUnavailable {
			t.Errorf("import: %d %.300s", status, answer)
			return requests
		}
	}
	t.Error("the import was never complete")
	return requests
}

func (r result) quantile(q float64) time.Duration {
	return r.answers[min(len(r.answers)-1, int(q*float64(len(r.answers))))].Round(time.Millisecond)
}

// row is the result as a row of the table in docs/performance.md.
func (r result) row(name string) string {
	per := func(n int) float64 { return float64(n) / float64(max(1, r.changes)) }
	row := fmt.Sprintf("| %s | %.0f | %.1f | %.1f | %d | %v | %v | %v |", name, float64(r.changes)/r.took.Seconds(),
		per(r.counts.Transactions), per(r.counts.Reads), r.statuses[http.StatusServiceUnavailable],
		r.quantile(0.5), r.quantile(0.99), r.answers[len(r.answers)-1].Round(time.Millisecond))
	if r.requests > 0 {
		row += fmt.Sprintf(" imported in %v, %d requests", r.imported.Round(100*time.Millisecond), r.requests)
	}
	return row
}

// TestWriters has 64 writers change something at the same time. All of their changes are made in time, with few transactions for each.
// The long form prints the figures of docs/performance.md.
func TestWriters(t *testing.T) {
	for _, s := range scenarios(dynamotest.Times(50, 10_000)) {
		if s.long && !dynamotest.Long() {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			more := func(_ time.Time, n int) bool { return n < 2 }
			if dynamotest.Long() {
				more = func(start time.Time, n int) bool { return n < 500 && time.Since(start) < 20*time.Second }
			}
			if dynamotest.Long() && s.alone { // nothing holds them up
				more = func(_ time.Time, n int) bool { return n < 20 }
			}
			inRegion(t, func(t *testing.T, r *region) {
				got := r.run(t, s, more)
				t.Log(got.row(s.name), got.counts)
				s.check(t, got)
				if made := r.versions(t); s.prepare != nil && made != got.changes {
					t.Errorf("the flags have %d versions since they were created, want one for each of %d changes", made, got.changes)
				}
			})
		})
	}
}

// check checks what must hold for every scenario.
func (s scenario) check(t *testing.T, got result) {
	t.Helper()
	if refused := len(got.answers) - got.changes; refused > 0 {
		t.Errorf("%d of %d changes were not made: statuses %v", refused, len(got.answers), got.statuses)
	}
	if s.alone != (got.counts.Conflicts == 0) {
		t.Errorf("%d conflicts; want none if the writers share no item (%t), and some otherwise", got.counts.Conflicts, s.alone)
	}
	most := 12 // a change; about 6 in the short form, and up to 13 in the long one
	if dynamotest.Long() {
		most = 20
	}
	if n := got.counts.Transactions; n > most*(got.changes+s.imports) {
		t.Errorf("%d transactions for %d changes and %d imported flags, want at most %d for each", n, got.changes, s.imports, most)
	}
}
