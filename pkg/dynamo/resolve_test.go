package dynamo_test

import (
	"testing"

	"guidon/internal/engine"
	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

const (
	transactWrite = "TransactWriteItems"
	getItem       = "GetItem" // made by resolve only
)

// A plan returns the fault of the nth request for an operation.
type plan func(operation string, n int) dynamotest.Fault

// inTurn injects a list of faults per operation, one into each request.
func inTurn(faults map[string][]dynamotest.Fault) plan {
	return func(operation string, n int) dynamotest.Fault {
		if list := faults[operation]; n <= len(list) {
			return list[n-1]
		}
		return dynamotest.NoFault
	}
}

// A scripted has two stores with the same table: one with faults by a script, and one without.
type scripted struct {
	engine        *engine.Engine
	faulty, plain *dynamo.Store
}

// openScripted opens both. It calls between before the second attempt of a transaction of the faulty store. Unless the engine
// is the shared one, it never recognizes a request token, like an engine that was restarted.
func openScripted(t *testing.T, e *engine.Engine, script plan, between func(scripted)) scripted {
	t.Helper()
	transport := &dynamotest.Faults{Script: script}
	if e != dynamotest.Engine() {
		transport.Base = dynamotest.FreshTokens{}
	}
	table := newTable()
	s := scripted{e, dynamotest.OpenOn(t, e, table, transport), dynamotest.OpenOn(t, e, table, nil)}
	attempt := 0
	transport.OnRequest = func(operation string, _ []byte) {
		if operation != transactWrite {
			return
		}
		if attempt++; attempt == 2 && between != nil {
			between(s)
		}
	}
	return s
}

// TestResolve sends transactions whose first request or response is lost, and whose conditions fail when they are sent again.
func TestResolve(t *testing.T) {
	lost := []dynamotest.Fault{dynamotest.LoseResponse}
	for _, c := range []struct {
		name    string
		faults  map[string][]dynamotest.Fault
		forget  bool           // the engine forgets the token before the second attempt
		between func(scripted) // runs before the second attempt
		create  bool           // else it is a change
		want    flags.Kind     // Internal for no error
		times   int64          // the final version of the flag
	}{
		{"create applied, token forgotten", map[string][]dynamotest.Fault{transactWrite: lost}, true, nil, true, flags.Internal, 1},
		{"change applied, token forgotten", map[string][]dynamotest.Fault{transactWrite: lost}, true, nil, false, flags.Internal, 2},
		{"create applied, truncated response", map[string][]dynamotest.Fault{transactWrite: {dynamotest.TruncateResponse}}, true, nil, true, flags.Internal, 1},
		{"create applied, the engine failed", map[string][]dynamotest.Fault{transactWrite: {dynamotest.FailAfter}}, true, nil, true, flags.Internal, 1},
		{
			"create applied, token forgotten, and reading the event fails too",
			map[string][]dynamotest.Fault{transactWrite: lost, getItem: {dynamotest.LoseResponse, dynamotest.TruncateResponse, dynamotest.Throttle, dynamotest.FailBefore}},
			true, nil, true, flags.Internal, 1,
		},
		{
			"create applied, token forgotten, then changed by another request",
			map[string][]dynamotest.Fault{transactWrite: lost}, true, func(s scripted) {
				mustCommit(t, s.plain, write(find(t, s.plain, "f"), func(f *flags.Feature) { f.Stale = true }))
			}, true, flags.Internal, 2,
		},
		{
			"change applied, token forgotten, then changed by another request",
			map[string][]dynamotest.Fault{transactWrite: lost}, true, func(s scripted) {
				mustCommit(t, s.plain, write(find(t, s.plain, "f"), func(f *flags.Feature) { f.Type = flags.KillSwitch }))
			}, false, flags.Internal, 3,
		},
		{
			"create not applied, the name taken before the retry",
			map[string][]dynamotest.Fault{transactWrite: {dynamotest.DropRequest}},
			false, func(s scripted) { mustCommit(t, s.plain, flags.Write{After: newFlag("f")}) }, true, flags.NameExists, 1,
		},
		{
			"change not applied, changed by another request before the retry",
			map[string][]dynamotest.Fault{transactWrite: {dynamotest.DropRequest}}, false, func(s scripted) {
				mustCommit(t, s.plain, write(find(t, s.plain, "f"), func(f *flags.Feature) { f.Type = flags.KillSwitch }))
			}, false, flags.VersionConflict, 2,
		},
		{
			"change not applied, the same change by another request before the retry",
			map[string][]dynamotest.Fault{transactWrite: {dynamotest.FailBefore}}, false, func(s scripted) {
				mustCommit(t, s.plain, write(find(t, s.plain, "f"), func(f *flags.Feature) { f.Stale = true }))
			}, false, flags.VersionConflict, 2,
		},
		{
			"create applied, then expired credentials",
			map[string][]dynamotest.Fault{transactWrite: {dynamotest.LoseResponse, dynamotest.ExpireCredentials}}, false, nil, true, flags.Internal, 1,
		},
		{
			"create perhaps applied, then expired credentials",
			map[string][]dynamotest.Fault{transactWrite: {dynamotest.DropRequest, dynamotest.ExpireCredentials}}, false, nil, true, flags.Unavailable, 0,
		},
		{
			"create not applied, the project deleted before the retry",
			map[string][]dynamotest.Fault{transactWrite: {dynamotest.DropRequest}},
			false, func(s scripted) { dynamo.CloseGuard(t, s.plain, newFlag("f")) }, true, flags.NotFound, 0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := dynamotest.Engine()
			if c.forget {
				e = newEngine(t)
			}
			s := openScripted(t, e, inTurn(c.faults), func(s scripted) {
				if c.forget {
					restart(t, e, false)
				}
				if c.between != nil {
					c.between(s)
				}
			})
			w := flags.Write{After: newFlag("f")}
			if !c.create {
				mustCommit(t, s.plain, w)
				w = write(find(t, s.plain, "f"), func(f *flags.Feature) { f.Stale = true })
			}
			wantOutcome(t, commit(t, s.faulty, w), c.want)
			if c.times > 0 {
				wantTimes(t, s.plain, "f", c.times)
			} else if view := load(t, s.plain, "f"); len(view) > 0 {
				t.Error("the flag exists")
			}
		})
	}
}

// wantOutcome checks the kind of an error. Internal means no error: no test here expects an internal error.
func wantOutcome(t *testing.T, err error, want flags.Kind) {
	t.Helper()
	switch {
	case want == flags.Internal && err != nil:
		t.Errorf("got kind %d (%v), want no error", flags.KindOf(err), reason(err))
	case want != flags.Internal && (err == nil || flags.KindOf(err) != want):
		t.Errorf("got kind %d (%v), want kind %d", flags.KindOf(err), reason(err), want)
	}
}

// TestResolveSeveralEvents commits a change with several events and loses the response, with an engine that forgets request
// tokens. The change and its events must be stored once, even if another request changes the flag before the retry.
func TestResolveSeveralEvents(t *testing.T) {
	for name, between := range map[string]func(scripted){
		"no other change": func(scripted) {},
		"then changed by another request": func(s scripted) {
			mustCommit(t, s.plain, write(find(t, s.plain, "f"), func(f *flags.Feature) { f.Type = flags.KillSwitch }))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t)
			s := openScripted(t, e, inTurn(map[string][]dynamotest.Fault{transactWrite: {dynamotest.LoseResponse}}), func(s scripted) {
				restart(t, e, false)
				between(s)
			})
			mustCommit(t, s.plain, flags.Write{After: newFlag("f")})
			c := newChange(write(find(t, s.plain, "f"), func(f *flags.Feature) { f.Stale = true }))
			c.MoreEvents = []flags.Event{newChange().Event}
			if err := s.faulty.Commit(t.Context(), c); err != nil {
				t.Fatalf("commit: %v", reason(err))
			}
			f := find(t, s.plain, "f")
			events, err := s.plain.Events(t.Context(), f)
			if err != nil || int64(len(events)) != f.Version || events[1].ID != c.Event.ID || events[2].ID != c.MoreEvents[0].ID {
				t.Errorf("%v, version %d with events %v, want one a version, the change's second and third", err, f.Version, events)
			}
		})
	}
}
