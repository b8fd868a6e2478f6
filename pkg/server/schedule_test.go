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

// TestSchedule checks that the server writes a snapshot, and that no job remains when the server stops.
func TestSchedule(t *testing.T) {
	a := opened(t, httpapi.Config{})
	store, err := dynamo.Open(t.Context(), dynamo.Options{Table: "guidon", Endpoint: a.engine.URL()})
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
	jobs := a.jobs()
	for i := range jobs {
		jobs[i].every = 10 * time.Millisecond
	}
	stop := run(t.Context(), jobs)
	for deadline := time.Now().Add(time.Minute); head() == nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no snapshot was written")
		}
	}
	stop()
	checkStopped(t)

	ctx, cancel := context.WithCancel(t.Context())
	stop = run(ctx, jobs)
	cancel() // as with Ctrl-C
	stop()
	checkStopped(t)
}

// TestAggregateClock checks that the server adds a report to the sums.
func TestAggregateClock(t *testing.T) {
	a := opened(t, httpapi.Config{})
	store, err := dynamo.Open(t.Context(), dynamo.Options{Table: "guidon", Endpoint: a.engine.URL()})
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
	defer run(t.Context(), a.jobs())()
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
	a := opened(t, httpapi.Config{})
	store, err := dynamo.Open(t.Context(), dynamo.Options{Table: "guidon", Endpoint: a.engine.URL()})
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
	defer run(t.Context(), a.jobs())()
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
		if !strings.Contains(all, "server.run.func") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the schedule still runs:\n%s", all)
		}
	}
}
