package server

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"guidon/pkg/dynamo"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/review"
	"guidon/pkg/usage"
)

// TestSchedule checks that the server writes a snapshot at the rate of the template, and that nothing of that remains when the
// server stops.
func TestSchedule(t *testing.T) {
	g := opened(t, httpapi.Config{})
	if g.snapshotEvery != 5*time.Minute {
		t.Errorf("snapshots are written every %s, want 5m0s as in the template", g.snapshotEvery)
	}
	store, err := dynamo.Open(t.Context(), dynamo.Options{Table: "guidon", Endpoint: g.engine.URL()})
	if err != nil {
		t.Fatal(err)
	}
	head := func() *flags.SnapshotHead {
		t.Helper()
		view, err := store.Load(t.Context(), []flags.Key{flags.SnapshotKey()})
		if err != nil {
			t.Fatal(err)
		}
		return flags.Find[*flags.SnapshotHead](view, flags.SnapshotKey())
	}
	if found := head(); found != nil {
		t.Fatalf("there is a snapshot before the first one is due: %+v", found)
	}
	g.snapshotEvery = 10 * time.Millisecond
	stop := g.runSchedule(t.Context())
	for deadline := time.Now().Add(time.Minute); head() == nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no snapshot was written")
		}
	}
	stop()
	checkStopped(t)

	ctx, cancel := context.WithCancel(t.Context())
	stop = g.runSchedule(ctx)
	cancel() // as with Ctrl-C
	stop()
	checkStopped(t)
}

// TestAggregateClock checks that the server adds a report to the sums.
func TestAggregateClock(t *testing.T) {
	g := opened(t, httpapi.Config{})
	if g.aggregateEvery != aggregateEvery {
		t.Errorf("usage is added every %s, want every %s", g.aggregateEvery, aggregateEvery)
	}
	store, err := dynamo.Open(t.Context(), dynamo.Options{Table: "guidon", Endpoint: g.engine.URL()})
	if err != nil {
		t.Fatal(err)
	}
	post := &usage.Post{
		ID: uuid.NewString(), At: time.Now(), // without a token, as with AUTH_TYPE=none
		Instances: []usage.PostInstance{{Application: "shop", Instance: "a", Environment: "development"}},
	}
	if err := store.PutPost(t.Context(), post); err != nil {
		t.Fatal(err)
	}
	g.aggregateEvery = 100 * time.Millisecond
	defer g.runSchedule(t.Context())()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		list, err := store.List(t.Context(), usage.EntityApplication)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 1 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the report was not added")
		}
	}
}

// TestDueClock checks that the server looks for scheduled change requests: that of a person who is gone is suspended.
func TestDueClock(t *testing.T) {
	g := opened(t, httpapi.Config{})
	store, err := dynamo.Open(t.Context(), dynamo.Options{Table: "guidon", Endpoint: g.engine.URL()})
	if err != nil {
		t.Fatal(err)
	}
	r := &review.Request{
		ID: 1, State: review.Scheduled, Entered: map[review.State]time.Time{},
		Schedule: &review.Schedule{At: time.Now().UTC().Add(-time.Hour), By: review.Person{ID: 99, Name: "gone"}, Status: review.Pending},
	}
	event := flags.Event{ID: uuid.Must(uuid.NewV7()).String(), Type: flags.RequestScheduled}
	if err := store.Commit(t.Context(), flags.Change{Writes: []flags.Write{{After: r}}, Event: event}); err != nil {
		t.Fatal(err)
	}
	defer g.runSchedule(t.Context())()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		view, err := store.Load(t.Context(), []flags.Key{r.Key()})
		if err != nil {
			t.Fatal(err)
		}
		if flags.Find[*review.Request](view, r.Key()).Schedule.Status == review.Suspended {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the request was not looked at")
		}
	}
}

// checkStopped checks that no goroutine of the schedule is left. It may take a moment to end after its last statement.
func checkStopped(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		stacks := make([]byte, 1<<20)
		all := string(stacks[:runtime.Stack(stacks, true)])
		if !strings.Contains(all, ".runSchedule.func") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the schedule still runs:\n%s", all)
		}
	}
}

func TestParseRate(t *testing.T) {
	for schedule, want := range map[string]time.Duration{
		"rate(5 minutes)": 5 * time.Minute, "rate(1 minute)": time.Minute, "rate(2 hours)": 2 * time.Hour, "rate(1 day)": 24 * time.Hour,
		"": 0, "rate(5 seconds)": 0, "cron(0 2 * * ? *)": 0, "rate(x minutes)": 0, "rate(5 minutes": 0,
	} {
		got, err := parseRate(schedule)
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %s, %v; want %s", schedule, got, err, want)
		}
	}
}
