package dynamo_test

import (
	"testing"

	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

// TestConflicts cancels transactions because another one is writing their first item, the flag. If the flag was read, the other
// transaction changes its version, so the caller has to read it again. But after an attempt without a response, that transaction
// may be the same one, so it is sent again.
func TestConflicts(t *testing.T) {
	const conflict, lost = dynamotest.Conflict, dynamotest.LoseResponse
	rename := func(f *flags.Feature) { f.Description = new("changed") }
	for _, c := range []struct {
		name      string
		new       bool // whether the flag is created, and not changed
		faults    []dynamotest.Fault
		readAgain bool // want VersionConflict; otherwise it is committed
		attempts  int
	}{
		{"a flag that was read", false, []dynamotest.Fault{conflict}, true, 1},
		{"a flag that was read, after throttling", false, []dynamotest.Fault{dynamotest.Throttle, conflict}, true, 2},
		{"a new flag", true, []dynamotest.Fault{conflict, conflict}, false, 3},
		{"its own attempt without a response", false, []dynamotest.Fault{lost, conflict}, false, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			transport := &dynamotest.Faults{}
			store := dynamotest.Open(t, transport)
			w, version := flags.Write{After: newFlag("f")}, int64(1)
			if !c.new {
				mustCommit(t, store, w)
				w = write(find(t, store, "f"), rename)
				if !c.readAgain {
					version = 2
				}
			}
			transport.ResetCalls()
			transport.Change(func(f *dynamotest.Faults) {
				f.Script = inTurn(map[string][]dynamotest.Fault{transactWrite: c.faults})
			})
			err := commit(t, store, w)
			if refused := err != nil && flags.KindOf(err) == flags.VersionConflict; refused != c.readAgain || err != nil && !refused {
				t.Errorf("commit: %v; want a version conflict: %t", reason(err), c.readAgain)
			}
			if got := transport.Calls()[transactWrite]; got != c.attempts {
				t.Errorf("the transaction was sent %d times, want %d", got, c.attempts)
			}
			wantTimes(t, store, "f", version)
		})
	}
}
