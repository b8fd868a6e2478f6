package dynamo_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

// TestStore tests what package flags promises of a store, each rule with a new, empty table.
func TestStore(t *testing.T) {
	for _, group := range []struct {
		name  string
		cases []testCase
	}{
		{"load", loadCases},
		{"commit", commitCases},
		{"refuse", refuseCases},
		{"delete", deleteCases},
		{"names", nameCases},
		{"segments", segmentCases},
		{"lists", listCases},
		{"counts", countCases},
		{"summaries", summaryCases},
		{"pages", pageCases},
		{"events", eventCases},
		{"log", logCases},
		{"feed", feedCases},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.cases {
				t.Run(c.name, func(t *testing.T) { c.run(&storeTest{T: t, store: dynamotest.Open(t, nil)}) })
			}
		})
	}
}

// A testCase tests one rule of the interface.
type testCase struct {
	name string
	run  func(*storeTest)
}

// A storeTest is a test with its store. Methods named must… end the test on failure.
type storeTest struct {
	*testing.T
	store *dynamo.Store
}

// change returns a change with these writes and an event of its own.
func change(kind flags.EventType, writes ...flags.Write) flags.Change {
	return flags.Change{Writes: writes, Event: flags.Event{
		ID: uuid.Must(uuid.NewV7()).String(), Type: kind, CreatedAt: at, CreatedBy: "test",
	}}
}

// addition returns a write that creates an aggregate.
func addition(a flags.Aggregate) flags.Write { return flags.Write{After: a} }

func (t *storeTest) commit(c flags.Change) error { return t.store.Commit(t.Context(), c) }

func (t *storeTest) mustCommit(c flags.Change) {
	t.Helper()
	if err := t.commit(c); err != nil {
		t.Fatalf("commit: %v", reason(err))
	}
}

// mustAdd commits a separate change for each aggregate.
func (t *storeTest) mustAdd(all ...flags.Aggregate) {
	t.Helper()
	for _, a := range all {
		t.mustCommit(change("added", addition(a)))
	}
}

// wantKind checks that there is an error, and its kind.
func (t *storeTest) wantKind(err error, want flags.Kind) {
	t.Helper()
	if err == nil {
		t.Fatalf("got no error, want one of kind %d", want)
	}
	if got := flags.KindOf(err); got != want {
		t.Fatalf("got an error of kind %d (%v), want kind %d", got, reason(err), want)
	}
}

func (t *storeTest) mustLoad(keys ...flags.Key) flags.View {
	t.Helper()
	view, err := t.store.Load(t.Context(), keys)
	if err != nil {
		t.Fatalf("load: %v", reason(err))
	}
	return view
}

// mustFind loads an aggregate that must exist.
func mustFind[A flags.Aggregate](t *storeTest, key flags.Key) A {
	t.Helper()
	view := t.mustLoad(key)
	if _, there := view[key]; !there {
		t.Fatalf("%v does not exist", key)
	}
	return flags.Find[A](view, key)
}

// wantAbsent checks that nothing is stored at a key.
func (t *storeTest) wantAbsent(key flags.Key) {
	t.Helper()
	if view := t.mustLoad(key); len(view) > 0 {
		t.Errorf("%v exists at version %d", key, flags.VersionOf(view[key]))
	}
}

// wantVersion checks the version of an aggregate, and that it has one event per version.
func (t *storeTest) wantVersion(of flags.Aggregate, want int64) {
	t.Helper()
	view := t.mustLoad(of.Key())
	if got := flags.VersionOf(view[of.Key()]); got != want {
		t.Errorf("%v is at version %d, want %d", of.Key(), got, want)
	}
	if got := len(t.mustEvents(of)); int64(got) != want {
		t.Errorf("%v has %d events, want %d", of.Key(), got, want)
	}
}

func (t *storeTest) mustEvents(of flags.Aggregate) []flags.Event {
	t.Helper()
	events, err := t.store.Events(t.Context(), of)
	if err != nil {
		t.Fatalf("events: %v", reason(err))
	}
	return events
}

func (t *storeTest) mustSummaries(uid string, archived bool) []flags.FeatureSummary {
	t.Helper()
	list, err := t.store.Summaries(t.Context(), uid, archived)
	if err != nil {
		t.Fatalf("summaries: %v", reason(err))
	}
	return list
}

// wantPage checks the flags that a query selects of the project u1, and whether it selects more.
func (t *storeTest) wantPage(q flags.SummaryQuery, more bool, want ...string) {
	t.Helper()
	list, gotMore, err := t.store.SummaryPage(t.Context(), "u1", q)
	if err != nil {
		t.Fatalf("a page of %+v: %v", q, reason(err))
	}
	var got []string
	for _, s := range list {
		got = append(got, s.Name)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || gotMore != more {
		t.Errorf("a page of %+v: more %t, want %t; the flags differ (-want +got):\n%s", q, gotMore, more, diff)
	}
}

// wantNames checks the flags that a project lists, in their order.
func (t *storeTest) wantNames(uid string, archived bool, want ...string) {
	t.Helper()
	var got []string
	for _, s := range t.mustSummaries(uid, archived) {
		got = append(got, s.Name)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("flags listed with archived=%t differ (-want +got):\n%s", archived, diff)
	}
}

// wantEvent compares events; Data and PreData are compared as JSON.
func (t *storeTest) wantEvent(got, want flags.Event) {
	t.Helper()
	document := cmp.FilterPath(
		func(p cmp.Path) bool { return p.Last().String() == ".Data" || p.Last().String() == ".PreData" },
		cmp.Comparer(func(a, b any) bool { return asJSON(a) == asJSON(b) }))
	if diff := cmp.Diff(want, got, document); diff != "" {
		t.Errorf("event differs (-want +got):\n%s", diff)
	}
}

// asJSON returns a value as JSON, with sorted keys.
func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	var plain any
	if err := json.Unmarshal(text, &plain); err != nil {
		return err.Error()
	}
	text, err = json.Marshal(plain)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// archivedFlag returns a plain archived flag of a project.
func archivedFlag(uid, name string) *flags.Feature {
	f := flag(uid, name)
	archive(f)
	return f
}

func describe(s string) func(*flags.Feature) {
	return func(f *flags.Feature) { f.Description = &s }
}

// flag returns a plain flag of a project.
func flag(uid, name string) *flags.Feature {
	return &flags.Feature{
		Name: name, Project: "p-" + uid, ProjectUID: uid, Metadata: flags.Metadata{Type: flags.Release},
		CreatedAt: at, CreatedBy: "test",
	}
}

// project returns a plain project.
func project(id, uid string) *flags.Project {
	return &flags.Project{ID: id, UID: uid, Name: "Project " + id, CreatedAt: at}
}
