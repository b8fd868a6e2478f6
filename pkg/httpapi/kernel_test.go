package httpapi_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"guidon/pkg/access"
	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

func TestMain(m *testing.M) { os.Exit(dynamotest.Run(m)) }

// A body is what the test operations take.
type body struct {
	Names []string `json:"names"`
}

// call sends a request of the administrator to one operation over a store of its own.
func call(t *testing.T, store httpapi.Store, op httpapi.Operation, config httpapi.Config, content string) *httptest.ResponseRecorder {
	t.Helper()
	config.Limits = flags.DefaultLimits()
	method, path, _ := strings.Cut(op.Route, " ")
	r := httptest.NewRequest(method, path, strings.NewReader(content))
	r.Header.Set("Authorization", dynamotest.AdminToken)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	httpapi.New(store, httpapi.Group{Operations: []httpapi.Operation{op}}, config).ServeHTTP(w, r)
	return w
}

func seeded(t *testing.T) *dynamo.Store {
	t.Helper()
	store := dynamotest.Open(t, nil)
	dynamotest.Seed(t, store)
	return store
}

func create(tx *httpapi.Tx, name string) {
	f := flags.NewFeature(tx.Project("default"), name, flags.Metadata{Type: flags.Release}, tx.Caller.Name, tx.Now)
	tx.Save(events.FeatureCreated(f), f)
}

// TestRunningTwice plants faults in operations: each does something else when it runs a second time, and is found.
func TestRunningTwice(t *testing.T) {
	calls := 0
	var collected []string
	for _, tt := range []struct {
		name string
		pure bool
		do   func(tx *httpapi.Tx, in body) (any, error)
	}{
		{"a pure one", true, func(tx *httpapi.Tx, in body) (any, error) {
			create(tx, in.Names[0])
			return []string{tx.NewID(), tx.NewID(), tx.Random(), fmt.Sprint(tx.NextID(flags.EntitySegment), tx.NextID(flags.EntitySegment))}, nil
		}},
		{"counts its calls", false, func(*httpapi.Tx, body) (any, error) { calls++; return calls, nil }},
		{"collects outside", false, func(_ *httpapi.Tx, in body) (any, error) {
			collected = append(collected, in.Names...)
			return len(collected), nil
		}},
		{"reads the clock", false, func(*httpapi.Tx, body) (any, error) { return time.Now().UnixNano(), nil }},
		{"makes an id of its own", false, func(tx *httpapi.Tx, in body) (any, error) {
			create(tx, "f"+uuid.NewString())
			return nil, nil
		}},
		{"changes the body", false, func(_ *httpapi.Tx, in body) (any, error) {
			in.Names[0] += "x"
			return in.Names[0], nil
		}},
		{"changes a list", false, func(tx *httpapi.Tx, _ body) (any, error) {
			tx.Projects()[0].Name += "x"
			return tx.Projects()[0].Name, nil
		}},
		{"fails the first time", false, func(*httpapi.Tx, body) (any, error) {
			if calls++; calls%2 == 1 {
				return nil, flags.Errorf(flags.Conflict, "now and then")
			}
			return nil, nil
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			calls = 0
			same, compared := true, 0
			op := httpapi.Operation{Route: "POST /test", Permission: access.Read, Handle: httpapi.HandleBody(
				func(tx *httpapi.Tx, _ httpapi.InService, in body) (any, error) { return tt.do(tx, in) })}
			call(t, seeded(t), op, httpapi.Config{Twice: func(_ string, first, second httpapi.Result) {
				compared++
				same = same && reflect.DeepEqual(first, second)
			}}, `{"names":["a"]}`)
			if compared == 0 || same != tt.pure {
				t.Errorf("compared %d times, the same: %t; want %t", compared, same, tt.pure)
			}
		})
	}
}

// TestItemsThatWait has more items than a round takes wait for others. Items that wait in vain end with their own errors.
func TestItemsThatWait(t *testing.T) {
	const n = 250
	for _, tt := range []struct {
		name  string
		waits func(i int) int // the item that one waits for; itself for none, n for one that never comes
		want  int             // how many are done
	}{
		{"for what never comes", func(int) int { return n }, 0},
		{"for the last, all of them", func(int) int { return n - 1 }, n},
		{"in the other half", func(i int) int { return i ^ 1 | 1 }, n},
		{"half of them in vain", func(i int) int { return max(i, n*(i%2)) }, n / 2},
		{"in a circle", func(i int) int { return (i + 1) % (n - 1) }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			store, name := seeded(t), func(i int) string { return fmt.Sprintf("f%03d", i) }
			var errs []error
			op := httpapi.Operation{Route: "POST /test", Permission: access.Read, Handle: httpapi.DoMany(func(m *httpapi.Many, _ httpapi.InService) error {
				needs := func(i int) []int { return slices.DeleteFunc([]int{tt.waits(i)}, func(on int) bool { return on == n }) }
				errs = m.Each(n, needs, func(tx *httpapi.Tx, i int) error {
					on := tt.waits(i)
					if on != i && (on == n || tx.FindFeature(name(on)) == nil) {
						return flags.Errorf(flags.Conflict, "%d waits for %d", i, on)
					}
					create(tx, name(i))
					return nil
				})
				return nil
			})}
			if w := call(t, store, op, httpapi.Config{}, ""); w.Code != http.StatusOK {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			done := 0
			for i, err := range errs {
				switch want := fmt.Sprintf("%d waits for %d", i, tt.waits(i)); {
				case err == nil:
					done++
				case err.Error() != want:
					t.Errorf("item %d: %v, want %q", i, err, want)
				}
			}
			stored, err := store.Summaries(t.Context(), projectUID(t, store), false)
			if err != nil || done != tt.want || len(stored) != done {
				t.Errorf("%d items done, %d stored, %v; want %d", done, len(stored), err, tt.want)
			}
		})
	}
}

func projectUID(t *testing.T, store *dynamo.Store) string {
	t.Helper()
	return project(t, store).UID
}

func project(t *testing.T, store *dynamo.Store) *flags.Project {
	t.Helper()
	view, err := store.Load(t.Context(), []flags.Key{flags.ProjectKey("default")})
	if err != nil {
		t.Fatal(err)
	}
	return flags.Find[*flags.Project](view, flags.ProjectKey("default"))
}

// TestLostRaces has another writer be first: once, and always. An item that lost is tried again and never reported as done.
func TestLostRaces(t *testing.T) {
	for _, tt := range []struct {
		name  string
		times int32 // that an item loses
		kind  flags.Kind
	}{{"once", 1, -1}, {"always", 1 << 30, flags.Unavailable}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var lost [3]atomic.Int32
			var errs []error
			op := httpapi.Operation{Route: "POST /test", Permission: access.Read, Handle: httpapi.DoMany(func(m *httpapi.Many, _ httpapi.InService) error {
				errs = m.Each(len(lost), nil, func(tx *httpapi.Tx, i int) error {
					if lost[i].Add(1) <= tt.times {
						return flags.Errorf(flags.VersionConflict, "another writer was first")
					}
					return nil
				})
				return nil
			})}
			call(t, seeded(t), op, httpapi.Config{}, "")
			for i, err := range errs {
				if (err == nil) != (tt.kind < 0) || err != nil && flags.KindOf(err) != tt.kind {
					t.Errorf("item %d: %v, want kind %d", i, err, tt.kind)
				}
			}
		})
	}
}

// TestPartsOfAChange stops between two transactions of one operation: the caller is told that a part was done.
func TestPartsOfAChange(t *testing.T) {
	parts := 0
	op := httpapi.Operation{Route: "POST /test", Permission: access.Read, Handle: httpapi.DoMany(func(m *httpapi.Many, _ httpapi.InService) error {
		return m.Until(func(tx *httpapi.Tx) (last bool, err error) {
			if parts++; parts > 2 {
				return true, flags.Errorf(flags.Forbidden, "no longer allowed")
			}
			create(tx, fmt.Sprintf("f%d", parts))
			return false, nil
		})
	})}
	w := call(t, seeded(t), op, httpapi.Config{}, "")
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "only a part was done; send the same request again") {
		t.Errorf("%d %s, want a 503 that tells of the part", w.Code, w.Body)
	}
}

// TestDryRun changes nothing and takes no ids, but each item sees what those before it changed.
func TestDryRun(t *testing.T) {
	store := seeded(t)
	var errs []error
	var saw []bool
	op := httpapi.Operation{Route: "POST /test", Permission: access.Read, Handle: httpapi.DoMany(func(m *httpapi.Many, _ httpapi.InService) (err error) {
		saw = make([]bool, 3)
		errs, err = m.DryRun(access.Caller{Name: "admin", Admin: true}, 3, func(i int) []int { return [][]int{{1}, nil, nil}[i] }, func(tx *httpapi.Tx, i int) error {
			if i == 0 && tx.FindFeature("f1") == nil {
				return errors.New("f1 is missing")
			}
			saw[i] = tx.FindFeature(fmt.Sprintf("f%d", i+1)) != nil
			if id := tx.NextID(flags.EntitySegment); id >= 0 {
				return fmt.Errorf("took the id %d", id)
			}
			create(tx, fmt.Sprintf("f%d", i))
			return nil
		})
		return err
	})}
	w := call(t, store, op, httpapi.Config{}, "")
	stored, err := store.Summaries(t.Context(), projectUID(t, store), false)
	if w.Code != http.StatusOK || err != nil || len(stored) != 0 || errors.Join(errs...) != nil || !reflect.DeepEqual(saw, []bool{true, false, false}) {
		t.Errorf("%d %s; %d flags stored, %v; errors %v; saw %v", w.Code, w.Body, len(stored), err, errs, saw)
	}
	if id, err := store.NextID(t.Context(), flags.EntitySegment); id != 1 || err != nil {
		t.Errorf("the next id is %d, %v; want 1: a dry run takes none", id, err)
	}
}

// inQuery is a place that reads a parameter.
type inQuery struct{ httpapi.InService }

func (*inQuery) Parse(r httpapi.Request) error {
	r.Query().Get("inParse")
	return nil
}

// TestQueryRead learns the parameters that an operation reads, present or not.
func TestQueryRead(t *testing.T) {
	read := map[string]bool{}
	op := httpapi.Operation{Route: "POST /test", Permission: access.Read, Handle: httpapi.Do(func(tx *httpapi.Tx, _ inQuery) error {
		tx.Query().Has("has")
		tx.Query().All("all")
		httpapi.PageOf(tx.Query(), []int{1})
		return nil
	})}
	call(t, seeded(t), op, httpapi.Config{QueryRead: func(route, name string) { read[route+" "+name] = true }}, "")
	want := []string{"POST /test all", "POST /test has", "POST /test inParse", "POST /test limit", "POST /test offset"}
	if got := slices.Sorted(maps.Keys(read)); !slices.Equal(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
}
