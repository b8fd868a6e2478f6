package serving

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/access"
	"guidon/pkg/answers"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

// reports collects what a reader reports.
type reports struct {
	mu   sync.Mutex
	list []string
}

func (r *reports) report(_ context.Context, problem string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, fmt.Sprintf("%s: %v", problem, err))
}

func head(t *testing.T, a *administration) *flags.SnapshotHead {
	t.Helper()
	view, err := a.store.Load(t.Context(), []flags.Key{flags.SnapshotKey()})
	if err != nil {
		t.Fatal(err)
	}
	return flags.Find[*flags.SnapshotHead](view, flags.SnapshotKey())
}

// TestColdStart counts the calls of a new instance: at most three, one after the other, with a snapshot.
func TestColdStart(t *testing.T) {
	a := administer(t)
	for i := range 30 {
		a.flag(fmt.Sprintf("f%d", i))
	}
	if written, err := NewReader(a.store, ReaderOptions{}).WriteSnapshot(t.Context()); err != nil || !written {
		t.Fatalf("no snapshot was written: %v", err)
	}
	for _, changes := range []int{0, 3} {
		for i := range changes {
			a.do("POST", in(fmt.Sprintf("f%d", i), "development")+"/on", "")
		}
		calls, problems := &dynamotest.Faults{}, &reports{}
		r := NewReader(a.another(calls), ReaderOptions{Report: problems.report})
		got := mustRead(t, r)
		want, err := NewReader(a.store, ReaderOptions{}).everything(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		compareStates(t, "a cold start", got, want)
		reads := 2 // the feed and the head; the chunk
		if changes > 0 {
			reads++
		}
		if n := calls.Calls(); n["BatchGetItem"] != reads || len(n) != 1 {
			t.Errorf("with %d changes after the snapshot: %v, want %d calls of BatchGetItem", changes, n, reads)
		}
		if len(problems.list) > 0 {
			t.Errorf("it reported %q", problems.list)
		}
	}
}

// TestBadSnapshots starts with a snapshot that cannot be used. The instance reads everything, and writes a good one.
func TestBadSnapshots(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, a *administration, h *flags.SnapshotHead){
		"missing chunk": func(t *testing.T, a *administration, h *flags.SnapshotHead) {
			a.deleteItem(fmt.Sprintf("SNAPSHOT#%s.%d.%s", h.Epoch, h.Number, h.Hash), "CHUNK#0000")
		},
		"damaged": func(t *testing.T, a *administration, h *flags.SnapshotHead) {
			h.Number++
			if err := a.store.WriteSnapshot(t.Context(), *h, []byte("no gzip")); err != nil {
				t.Fatal(err)
			}
		},
		"newer than the feed": func(t *testing.T, a *administration, h *flags.SnapshotHead) {
			h.Number += 100
			if err := a.store.WriteSnapshot(t.Context(), *h, []byte("no gzip")); err != nil {
				t.Fatal(err)
			}
		},
		"another epoch": func(t *testing.T, a *administration, h *flags.SnapshotHead) {
			if err := a.store.ResetFeed(t.Context(), "another"); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := administer(t)
			a.flag("f")
			if _, err := NewReader(a.store, ReaderOptions{}).WriteSnapshot(t.Context()); err != nil {
				t.Fatal(err)
			}
			a.flag("g") // so that the feed is ahead of the snapshot
			good := head(t, a)
			spoil(t, a, good)
			calls := &dynamotest.Faults{}
			got := mustRead(t, NewReader(a.another(calls), ReaderOptions{}))
			want, err := NewReader(a.store, ReaderOptions{}).everything(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			compareStates(t, name, got, want)
			if calls.Calls()["Query"] == 0 {
				t.Error("the snapshot was used")
			}
		})
	}
}

// TestThrottledSnapshot starts while the store throttles the read of the snapshot. The instance does not read everything instead.
func TestThrottledSnapshot(t *testing.T) {
	a := administer(t)
	a.flag("f")
	if _, err := NewReader(a.store, ReaderOptions{}).WriteSnapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	faults := &dynamotest.Faults{}
	faults.Change(func(f *dynamotest.Faults) {
		f.Script = func(_ string, call int) dynamotest.Fault {
			if call == 1 { // the feed and the head
				return dynamotest.NoFault
			}
			return dynamotest.Throttle
		}
	})
	r := NewReader(a.another(faults), ReaderOptions{})
	if _, err := r.Read(t.Context(), hash, false); flags.KindOf(err) != flags.Unavailable {
		t.Errorf("a start while the store throttles: %v, want it to be unavailable", err)
	}
	if calls := faults.Calls(); len(calls) != 1 || calls["BatchGetItem"] == 0 {
		t.Errorf("a start while the store throttles made the calls %v, want BatchGetItem only", calls)
	}
	faults.Change(func(f *dynamotest.Faults) { f.Script = nil })
	mustRead(t, r)
}

// TestWhenSnapshotsAreWritten writes the first one, none while it is recent, and another after many changes, a day or a reset.
func TestWhenSnapshotsAreWritten(t *testing.T) {
	a := administer(t)
	a.flag("f")
	now := time.Now()
	r := NewReader(a.store, ReaderOptions{Now: func() time.Time { return now }})
	check := func(what string, want bool) {
		t.Helper()
		if written, err := r.WriteSnapshot(t.Context()); err != nil || written != want {
			t.Errorf("%s: written %t (%v), want %t", what, written, err, want)
		}
	}
	check("at first", true)
	check("again", false)
	for range snapshotEntries / 2 {
		a.do("POST", in("f", "development")+"/on", "")
		a.do("POST", in("f", "development")+"/off", "")
	}
	check("after many changes", true)
	now = now.Add(23 * time.Hour)
	check("after 23 hours", false)
	now = now.Add(time.Hour)
	check("after a day", true)
	if err := a.store.ResetFeed(t.Context(), "new"); err != nil {
		t.Fatal(err)
	}
	mustRead(t, r) // a cold start after the reset writes one
	if h := head(t, a); h == nil || h.Epoch != "new" {
		t.Errorf("the head is %+v after a reset", h)
	}
}

// TestColdStartsTogether starts several instances without a snapshot. One reads everything, and the others wait for it.
func TestColdStartsTogether(t *testing.T) {
	a := administer(t)
	a.flag("f")
	calls := &dynamotest.Faults{Delay: 10 * time.Millisecond}
	var wg sync.WaitGroup
	for range 6 {
		store := a.another(calls)
		wg.Go(func() {
			r := NewReader(store, ReaderOptions{})
			if _, err := r.Read(t.Context(), hash, false); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	everything := 4 // queries: segments, tokens, projects, and the rows of one project
	if n := calls.Calls()["Query"]; n != everything {
		t.Errorf("6 instances made %d queries, want %d: only one reads everything", n, everything)
	}
}

// TestLeaseOfADeadInstance starts while an instance that ended has the lease.
func TestLeaseOfADeadInstance(t *testing.T) {
	a := administer(t)
	a.flag("f")
	start := time.Now()
	if taken, err := a.store.TakeLease(t.Context(), "dead", start, start.Add(leaseTime)); err != nil || !taken {
		t.Fatalf("the lease was not taken: %v", err)
	}
	late := start.Add(leaseTime)
	mustRead(t, NewReader(a.store, ReaderOptions{Now: func() time.Time { return late }}))
}

// TestPages follows after so many changes that the entries are in pages. It must not read everything.
func TestPages(t *testing.T) {
	a := administer(t)
	a.flag("a-flag-with-a-rather-long-name")
	calls := &dynamotest.Faults{}
	r := NewReader(a.another(calls), ReaderOptions{})
	mustRead(t, r)
	for range 300 {
		a.do("POST", in("a-flag-with-a-rather-long-name", "development")+"/on", "")
		a.do("POST", in("a-flag-with-a-rather-long-name", "development")+"/off", "")
	}
	a.do("POST", in("a-flag-with-a-rather-long-name", "development")+"/on", "")
	calls.ResetCalls()
	state := mustRead(t, r)
	if got := calls.Calls(); got["BatchGetItem"] != 2 || got["Query"] != 1 || len(got) != 2 {
		t.Errorf("%v, want one query for the pages and two calls of BatchGetItem", got)
	}
	if state.Flags["a-flag-with-a-rather-long-name"].Environments["development"].EnabledIn == "" {
		t.Error("the last change is missing")
	}
}

// TestMovedWhileReadingEverything moves a flag to a project whose flags were listed already.
func TestMovedWhileReadingEverything(t *testing.T) {
	for _, to := range []string{"a-first", "z-last"} {
		t.Run(to, func(t *testing.T) {
			a := administer(t)
			for _, id := range []string{"a-first", "z-last"} {
				a.do("POST", "/api/admin/projects", fmt.Sprintf(`{"id": %q, "name": %[1]q}`, id))
			}
			a.flag("f")
			uid := mustRead(t, NewReader(a.store, ReaderOptions{})).Projects["default"].UID
			var queries atomic.Int64
			faults := &dynamotest.Faults{OnRequest: func(operation string, body []byte) {
				if operation != "Query" {
					return
				}
				queries.Add(1)
				if !strings.Contains(string(body), uid) {
					return
				}
				for queries.Load() < 5 { // segments, projects, and the flags of three projects
					time.Sleep(time.Millisecond)
				}
				time.Sleep(100 * time.Millisecond) // the lists of the others are read
				a.do("POST", features+"/f/changeProject", fmt.Sprintf(`{"newProjectId": %q}`, to))
			}}
			state, err := NewReader(a.another(faults), ReaderOptions{}).everything(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if f := state.Flags["f"]; f == nil || f.Project != to || state.Projects[to] == nil {
				t.Errorf("the flag is %+v, want it in project %s", f, to)
			}
		})
	}
}

// TestEpochWhileReadingEverything begins epochs while a new instance reads everything, as the function Setup does after a deployment.
func TestEpochWhileReadingEverything(t *testing.T) {
	a := administer(t)
	a.flag("f")
	var feedRead atomic.Bool
	begun := 0
	faults := &dynamotest.Faults{OnRequest: func(operation string, _ []byte) {
		if operation == "BatchGetItem" {
			feedRead.Store(true)
		}
		if operation != "Query" || !feedRead.Swap(false) || begun == maxEpochs {
			return
		}
		begun++
		if err := a.store.ResetFeed(context.WithoutCancel(t.Context()), fmt.Sprint("epoch-", begun)); err != nil {
			t.Error(err)
		}
	}}
	state := mustRead(t, NewReader(a.another(faults), ReaderOptions{}))
	if begun != maxEpochs || state.Epoch != fmt.Sprint("epoch-", begun) || state.Flags["f"] == nil {
		t.Errorf("%d epochs began, and the state of %s has the flags %v", begun, state.Epoch, slices.Collect(maps.Keys(state.Flags)))
	}
}

// TestSnapshotFormat compares the stored form of a state with a file. If it fails because the form has changed, increase
// flags.SnapshotForm, and run it with UPDATE=1.
func TestSnapshotFormat(t *testing.T) {
	description, title := "d", "t"
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	value := "v"
	constraint := flags.Constraint{ContextName: "userId", Operator: "IN", Values: []string{"1"}, Value: &value, Inverted: true, CaseInsensitive: true}
	variant := flags.Variant{Name: "v", Weight: 1000, WeightType: "variable", Stickiness: "default",
		Payload: &flags.Payload{Type: "string", Value: "x"}, Overrides: []flags.Override{{ContextName: "userId", Values: []string{"1"}}}}
	feature := (&flags.Feature{
		Version: 3, Name: "f", Project: "default", ProjectUID: "u", CreatedAt: at, CreatedBy: "c", LastSeenAt: at,
		Metadata: flags.Metadata{Type: flags.Release, Description: &description, Stale: true, ImpressionData: true},
		Tags:     []flags.Tag{{Type: "simple", Value: "t"}}, Children: []string{"c"},
		Dependencies: []flags.Dependency{{Feature: "p", Enabled: true, Variants: []string{"v"}}},
		Environments: map[string]flags.FeatureEnvironment{"development": {
			EnvironmentState: flags.EnvironmentState{EnvironmentUID: "e", EnabledIn: "a"}, LastSeenAt: at, Variants: []flags.Variant{variant},
			Strategies: []flags.Strategy{{ID: "s", Name: "flexibleRollout", Title: &title, SortOrder: 2, Segments: []int64{7},
				Constraints: []flags.Constraint{constraint}, Parameters: map[string]string{"rollout": "50"}, Variants: []flags.Variant{variant}}},
		}},
	}).Served().(*flags.Feature)
	state := &State{
		Epoch: "epoch", Number: 12, Since: 2, Flags: map[string]*Flag{"f": {Feature: feature, Changed: 11}},
		Segments: map[int64]*Segment{7: {Segment: (&flags.Segment{Version: 2, ID: 7, Name: "s", Description: &description, Project: "default",
			ProjectUID: "u", Constraints: []flags.Constraint{constraint}, CreatedAt: at, CreatedBy: "c"}).Served().(*flags.Segment), Changed: 5}},
		Projects: map[string]*flags.Project{"default": (&flags.Project{Version: 4, ID: "default", UID: "u", Name: "n", CreatedAt: at,
			Environments: map[string]flags.Attachment{"development": {ID: "a", EnvironmentUID: "e", DefaultStrategy: &flags.Strategy{}}}}).Served().(*flags.Project)},
		Environments: (&flags.Environments{Version: 1, List: []flags.Environment{{Name: "development", UID: "e", Type: "development", CreatedAt: at}}}).Served().(*flags.Environments),
		Tokens: map[string]*access.Token{"h": (&access.Token{Version: 3, Hash: "h", Sealed: "x", Name: "n", Type: access.ClientToken, Projects: []string{"default"},
			ProjectUIDs: []string{"u"}, Environment: "development", EnvironmentUID: "e", CreatedAt: at, ExpiresAt: at}).Served().(*access.Token)},
		Gone: []answers.Gone{{Number: 9, Flag: "g", Project: "default", ProjectUID: "u"}, {Number: 10, Segment: 8, ProjectUID: "u"}},
	}
	got, err := json.Marshal(snapshot{flags.SnapshotForm, state}, json.OmitZeroStructFields(true), json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", "snapshot.json")
	if os.Getenv("UPDATE") != "" {
		if err := os.MkdirAll("testdata", 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("the stored form of a state has changed:\n%s\nwas\n%s", got, want)
	}
	content, err := encodeSnapshot(state)
	if err != nil {
		t.Fatal(err)
	}
	back, err := decodeSnapshot(content, &flags.SnapshotHead{Epoch: "epoch", Number: 12})
	if err != nil {
		t.Fatal(err)
	}
	compareStates(t, "read back", back, state)
	if back.Since != state.Since || len(back.Gone) != 2 || back.Flags["f"].Changed != 11 || back.Flags["f"].Version != 3 {
		t.Errorf("read back %+v", back)
	}
}
