package dynamo_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

// soon is a deadline that leaves time for some attempts, on a busy machine too.
const soon = 1500 * time.Millisecond

// always makes every transaction meet a fault.
func always(fault dynamotest.Fault) plan {
	return func(operation string, _ int) dynamotest.Fault {
		if operation == transactWrite {
			return fault
		}
		return dynamotest.NoFault
	}
}

// TestDeadline is about what a writer is told when time runs out: never more than is known, and never that a name is
// taken which it may have taken itself.
func TestDeadline(t *testing.T) {
	const maybe, nothing = "may or may not", "nothing was changed"
	for _, c := range []struct {
		name   string
		script plan
		forget bool // the engine forgets the token before the second attempt
		want   string
		made   bool
	}{
		{"every answer is lost", always(dynamotest.LoseResponse), false, maybe, true},
		{"every answer is cut", always(dynamotest.TruncateResponse), false, maybe, true},
		{"every request is lost", always(dynamotest.DropRequest), false, maybe, false},
		{"throttled all the time", always(dynamotest.Throttle), false, nothing, false},
		{"conflicts all the time", always(dynamotest.Conflict), false, nothing, false},
		{
			"one answer lost, then throttled", func(_ string, n int) dynamotest.Fault {
				if n == 1 {
					return dynamotest.LoseResponse
				}
				return dynamotest.Throttle
			}, false, maybe, true,
		},
		{
			"one answer lost, then the credentials expire", func(operation string, n int) dynamotest.Fault {
				if operation == transactWrite && n == 1 {
					return dynamotest.LoseResponse
				}
				if operation == transactWrite || operation == getItem {
					return dynamotest.ExpireCredentials
				}
				return dynamotest.NoFault
			}, false, maybe, true,
		},
		{
			"applied, token forgotten, and settling is throttled", func(operation string, n int) dynamotest.Fault {
				switch {
				case operation == getItem:
					return dynamotest.Throttle
				case n == 1:
					return dynamotest.LoseResponse
				}
				return dynamotest.NoFault
			}, true, maybe, true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e, ctx, cancel := dynamotest.Engine(), t.Context(), func() {}
			var between func(scripted)
			if c.forget { // a restart takes as long as it takes: time runs from its end
				e = newEngine(t)
				ctx, cancel = context.WithCancel(ctx)
				between = func(scripted) {
					restart(t, e, false)
					time.AfterFunc(soon, cancel)
				}
			}
			s := openScripted(t, e, c.script, between)
			if !c.forget {
				ctx, cancel = context.WithTimeout(ctx, soon)
			}
			defer cancel()
			err := s.faulty.Commit(ctx, newChange(flags.Write{After: newFlag("f")}))
			wantOutcome(t, err, flags.Unavailable)
			if e, ok := errors.AsType[*flags.Error](err); ok && !strings.Contains(e.Message, c.want) {
				t.Errorf("it says %q, want that %s", e.Message, c.want)
			}
			if made := len(load(t, s.plain, "f")) == 1; made != c.made {
				t.Errorf("the flag is there: %t, want %t", made, c.made)
			}
		})
	}
}

// TestReads is about a reader: it tries until time is up, and and tells trouble of the store, which passes, from a defect.
func TestReads(t *testing.T) {
	e, table := dynamotest.Engine(), newTable()
	plain := dynamotest.OpenOn(t, e, table, nil)
	mustCommit(t, plain, flags.Write{After: newFlag("f")})
	var faults []dynamotest.Fault // more than the three attempts that the SDK makes of itself
	for range 2 {
		faults = append(faults, dynamotest.DropRequest, dynamotest.TruncateResponse, dynamotest.LoseResponse, dynamotest.FailAfter,
			dynamotest.Throttle, dynamotest.TruncateResponse)
	}
	const load, list = "BatchGetItem", "Query"
	for _, c := range []struct {
		name   string
		script plan
		want   flags.Kind
		fails  bool
	}{
		{"loses many answers", inTurn(map[string][]dynamotest.Fault{load: faults, list: faults}), 0, false},
		{"is throttled to the end", func(string, int) dynamotest.Fault { return dynamotest.Throttle }, flags.Unavailable, true},
		{"is never answered", func(string, int) dynamotest.Fault { return dynamotest.DropRequest }, flags.Unavailable, true},
		{"fails to the end", func(string, int) dynamotest.Fault { return dynamotest.FailBefore }, flags.Unavailable, true},
		{"is refused", func(string, int) dynamotest.Fault { return dynamotest.ExpireCredentials }, flags.Internal, true},
	} {
		limit := time.Minute
		if c.fails {
			limit = soon
		}
		for _, read := range []struct {
			name string
			run  func(context.Context, flags.Store) (int, error)
		}{
			{"load", func(ctx context.Context, s flags.Store) (int, error) {
				view, err := s.Load(ctx, []flags.Key{flags.FeatureKey("f")})
				return len(view), err
			}},
			{"summaries", func(ctx context.Context, s flags.Store) (int, error) {
				rows, err := s.Summaries(ctx, newFlag("f").ProjectUID, false)
				return len(rows), err
			}},
			{"events", func(ctx context.Context, s flags.Store) (int, error) {
				list, err := s.Events(ctx, newFlag("f"))
				return len(list), err
			}},
		} {
			t.Run(read.name+" "+c.name, func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				defer cancel()
				n, err := read.run(ctx, dynamotest.OpenOn(t, e, table, &dynamotest.Faults{Script: c.script}))
				if c.fails != (err != nil) || c.fails && flags.KindOf(err) != c.want {
					t.Errorf("got %d and kind %d (%v), want an error: %t, of kind %d", n, flags.KindOf(err), reason(err), c.fails, c.want)
				}
				if !c.fails && n != 1 {
					t.Errorf("got %d, want 1", n)
				}
			})
		}
	}
}
