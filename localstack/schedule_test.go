package localstack

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"guidon/pkg/dynamo"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
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
