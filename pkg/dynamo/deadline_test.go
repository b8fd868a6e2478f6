package dynamo_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

// soon is a deadline that allows several attempts, also on a busy machine.
const soon = 1500 * time.Millisecond

// always injects a fault into every transaction.
func always(fault dynamotest.Fault) plan {
	return func(operation string, _ int) dynamotest.Fault {
		if operation == transactWrite {
			return fault
		}
		return dynamotest.NoFault
	}
}

// TestDeadline checks the error when time runs out: it says whether the change may have been made, and never that a name is
// taken that the request itself may have reserved.
func TestDeadline(t *testing.T) {
	const maybe, nothing = "may or may not", "nothing was changed"
	for _, c := range []struct {
		name   string
		script plan
		forget bool // the engine forgets the token before the second attempt
		want   string
		made   bool
	}{
		{"every response lost", always(dynamotest.LoseResponse), false, maybe, true},
		{"every response truncated", always(dynamotest.TruncateResponse), false, maybe, true},
		{"every request lost", always(dynamotest.DropRequest), false, maybe, false},
		{"always throttled", always(dynamotest.Throttle), false, nothing, false},
		{"always conflicts", always(dynamotest.Conflict), false, nothing, false},
		{
			"one response lost, then throttled", func(_ string, n int) dynamotest.Fault {
				if n == 1 {
					return dynamotest.LoseResponse
				}
				return dynamotest.Throttle
			}, false, maybe, true,
		},
		{
			"one response lost, then expired credentials", func(operation string, n int) dynamotest.Fault {
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
			"applied, token forgotten, and reading the event throttled", func(operation string, n int) dynamotest.Fault {
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
			if c.forget { // the deadline begins after the restart, whose duration varies
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
				t.Errorf("the message is %q, want it to contain %q", e.Message, c.want)
			}
			if made := len(load(t, s.plain, "f")) == 1; made != c.made {
				t.Errorf("the flag exists: %t, want %t", made, c.made)
			}
		})
	}
}

// TestReads checks that a read is retried, and that its error is Unavailable or Internal.
func TestReads(t *testing.T) {
	e, table := dynamotest.Engine(), newTable()
	plain := dynamotest.OpenOn(t, e, table, nil)
	mustCommit(t, plain, flags.Write{After: newFlag("f")})
	faults := []dynamotest.Fault{ // one less than the attempts of a call
		dynamotest.DropRequest, dynamotest.TruncateResponse, dynamotest.LoseResponse, dynamotest.FailAfter, dynamotest.Throttle,
		dynamotest.TruncateResponse, dynamotest.DropRequest, dynamotest.TruncateResponse, dynamotest.LoseResponse,
	}
	const load, list = "BatchGetItem", "Query"
	for _, c := range []struct {
		name   string
		script plan
		want   flags.Kind
		fails  bool
	}{
		{"with many lost responses", inTurn(map[string][]dynamotest.Fault{load: faults, list: faults}), 0, false},
		{"always throttled", func(string, int) dynamotest.Fault { return dynamotest.Throttle }, flags.Unavailable, true},
		{"never answered", func(string, int) dynamotest.Fault { return dynamotest.DropRequest }, flags.Unavailable, true},
		{"always fails", func(string, int) dynamotest.Fault { return dynamotest.FailBefore }, flags.Unavailable, true},
		{"rejected", func(string, int) dynamotest.Fault { return dynamotest.ExpireCredentials }, flags.Internal, true},
	} {
		limit := time.Minute
		if c.fails {
			limit = soon
		}
		for _, read := range []struct {
			name string
			run  func(context.Context, *dynamo.Store) (int, error)
		}{
			{"load", func(ctx context.Context, s *dynamo.Store) (int, error) {
				view, err := s.Load(ctx, []flags.Key{flags.FeatureKey("f")})
				return len(view), err
			}},
			{"summaries", func(ctx context.Context, s *dynamo.Store) (int, error) {
				rows, err := s.Summaries(ctx, newFlag("f").ProjectUID, false)
				return len(rows), err
			}},
			{"events", func(ctx context.Context, s *dynamo.Store) (int, error) {
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
