// Package storetest is the contract of flags.Store as tests. A store passes Run on a real engine, or it is none: there
// is no store in memory and no mock, because what matters here (conditions, transactions, pages, writers at the same
// time) is what those get wrong.
package storetest

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"guidon/pkg/flags"
)

// Run holds a store to its contract. Each call of open gives a store over a table of its own, new and empty.
func Run(t *testing.T, open func(t *testing.T) flags.Store) {
	t.Helper()
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
		{"events", eventCases},
		{"log", logCases},
		{"parallel", parallelCases},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.cases {
				t.Run(c.name, func(t *testing.T) { c.run(&trial{T: t, store: open(t)}) })
			}
		})
	}
}

// A testCase is one clause of the contract.
type testCase struct {
	name string
	run  func(*trial)
}

// A trial is a test with its store. What it calls "must" ends the test when it fails.
type trial struct {
	*testing.T
	store flags.Store
}

// at is when everything in these tests happens. A store keeps milliseconds.
var at = time.Date(2026, 3, 4, 5, 6, 7, 89e6, time.UTC)

// change is a change of those writes, with an event of its own.
func change(kind flags.EventType, writes ...flags.Write) flags.Change {
	return flags.Change{Writes: writes, Event: flags.Event{
		ID: uuid.Must(uuid.NewV7()).String(), Type: kind, CreatedAt: at, CreatedBy: "storetest",
	}}
}

func added(a flags.Aggregate) flags.Write { return flags.Write{After: a} }

func (t *trial) commit(c flags.Change) error { return t.store.Commit(t.Context(), c) }

func (t *trial) mustCommit(c flags.Change) {
	t.Helper()
	if err := t.commit(c); err != nil {
		t.Fatalf("commit: %v", reason(err))
	}
}

// mustAdd commits one change for each aggregate.
func (t *trial) mustAdd(all ...flags.Aggregate) {
	t.Helper()
	for _, a := range all {
		t.mustCommit(change("added", added(a)))
	}
}

// reason is an error with its cause, which Error keeps from those that it is not meant for.
func reason(err error) error {
	if e, ok := errors.AsType[*flags.Error](err); ok && e.Err != nil {
		return errors.Join(err, e.Err)
	}
	return err
}

// wantKind checks that an error, which must not be nil, is of a kind.
func (t *trial) wantKind(err error, want flags.Kind) {
	t.Helper()
	if err == nil {
		t.Fatalf("got no error, want one of kind %d", want)
	}
	if got := flags.KindOf(err); got != want {
		t.Fatalf("got an error of kind %d (%v), want kind %d", got, reason(err), want)
	}
}

func (t *trial) mustLoad(keys ...flags.Key) flags.View {
	t.Helper()
	view, err := t.store.Load(t.Context(), keys)
	if err != nil {
		t.Fatalf("load: %v", reason(err))
	}
	return view
}

// mustFind loads one aggregate, which must be there.
func mustFind[A flags.Aggregate](t *trial, key flags.Key) A {
	t.Helper()
	view := t.mustLoad(key)
	if _, there := view[key]; !there {
		t.Fatalf("%v is not there", key)
	}
	return flags.Find[A](view, key)
}

// wantAbsent checks that nothing is stored at a key.
func (t *trial) wantAbsent(key flags.Key) {
	t.Helper()
	if view := t.mustLoad(key); len(view) > 0 {
		t.Errorf("%v is there, at version %d", key, flags.VersionOf(view[key]))
	}
}

// wantVersion checks an aggregate's version, and that there is one event for each.
func (t *trial) wantVersion(of flags.Aggregate, want int64) {
	t.Helper()
	view := t.mustLoad(of.Key())
	if got := flags.VersionOf(view[of.Key()]); got != want {
		t.Errorf("%v is at version %d, want %d", of.Key(), got, want)
	}
	if got := len(t.mustEvents(of)); int64(got) != want {
		t.Errorf("%v has %d events, want %d", of.Key(), got, want)
	}
}

func (t *trial) mustEvents(of flags.Aggregate) []flags.Event {
	t.Helper()
	events, err := t.store.Events(t.Context(), of)
	if err != nil {
		t.Fatalf("events: %v", reason(err))
	}
	return events
}

func (t *trial) mustSummaries(uid string, archived bool) []flags.FeatureSummary {
	t.Helper()
	list, err := t.store.Summaries(t.Context(), uid, archived)
	if err != nil {
		t.Fatalf("summaries: %v", reason(err))
	}
	return list
}

// wantNames checks which flags a project lists, and in which order.
func (t *trial) wantNames(uid string, archived bool, want ...string) {
	t.Helper()
	var got []string
	for _, s := range t.mustSummaries(uid, archived) {
		got = append(got, s.Name)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("flags listed with archived=%t differ (-want +got):\n%s", archived, diff)
	}
}

// wantEvent checks a stored event: all of it, but for what sort of JSON value its data is.
func (t *trial) wantEvent(got, want flags.Event) {
	t.Helper()
	document := cmp.FilterPath(
		func(p cmp.Path) bool { return p.Last().String() == ".Data" || p.Last().String() == ".PreData" },
		cmp.Comparer(func(a, b any) bool { return asJSON(a) == asJSON(b) }))
	if diff := cmp.Diff(want, got, document); diff != "" {
		t.Errorf("event differs (-want +got):\n%s", diff)
	}
}

// asJSON is a value as one JSON text, its objects sorted by name.
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

// changed is a flag as it was loaded and a copy to alter, as a write.
func changed(before *flags.Feature, alter func(*flags.Feature)) flags.Write {
	after := before.Clone()
	alter(after)
	return flags.Write{Before: before, After: after}
}
