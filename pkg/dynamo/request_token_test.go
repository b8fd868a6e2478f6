package dynamo_test

import (
	"encoding/json"
	"slices"
	"testing"

	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

// TestRequestToken checks the requests themselves: an engine recognizes a transaction by its token, and rejects the token with
// different content. The test compares every byte, because it is not documented which content is the same to an engine.
func TestRequestToken(t *testing.T) {
	var tokens, bodies []string
	transport := &dynamotest.Faults{Script: inTurn(map[string][]dynamotest.Fault{transactWrite: {
		dynamotest.DropRequest, dynamotest.LoseResponse, dynamotest.TruncateResponse, dynamotest.Throttle, dynamotest.Conflict,
		dynamotest.FailBefore, dynamotest.FailAfter, dynamotest.NoFault, // the attempts of one commit
		dynamotest.LoseResponse, dynamotest.NoFault, // and of another
	}})}
	transport.OnRequest = func(operation string, body []byte) {
		if operation != transactWrite {
			return
		}
		var request struct{ ClientRequestToken string }
		if err := json.Unmarshal(body, &request); err != nil {
			t.Error(err)
		}
		tokens, bodies = append(tokens, request.ClientRequestToken), append(bodies, string(body))
	}
	store := dynamotest.Open(t, transport)
	mustCommit(t, store, flags.Write{After: newFlag("f")})
	mustCommit(t, store, write(find(t, store, "f"), func(f *flags.Feature) { f.Stale = true }))
	wantTimes(t, store, "f", 2)

	if len(tokens) != 10 {
		t.Fatalf("%d transactions were sent, want 8 and 2", len(tokens))
	}
	for name, round := range map[string][2]int{"first": {0, 8}, "second": {8, 10}} {
		of := func(list []string) []string { return slices.Compact(slices.Clone(list[round[0]:round[1]])) }
		if n := len(of(tokens)); n != 1 || tokens[round[0]] == "" {
			t.Errorf("the attempts of the %s commit have %d tokens (%q), want one", name, n, tokens[round[0]])
		}
		if list := of(bodies); len(list) != 1 {
			t.Errorf("the attempts of the %s commit are not the same bytes:\n%s\n%s", name, list[0], list[1])
		}
	}
	if tokens[0] == tokens[8] {
		t.Error("both commits have the same token")
	}
}

// TestPages checks that a list is one call per MB.
func TestPages(t *testing.T) {
	transport := &dynamotest.Faults{}
	store := dynamotest.Open(t, transport)
	long := make([]byte, 100<<10)
	for i := range long {
		long[i] = 'x'
	}
	text := string(long)
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"} {
		f := newFlag(name)
		archive(f)
		f.Description = &text // list rows of archived flags have it
		mustCommit(t, store, flags.Write{After: f})
	}
	transport.ResetCalls()
	rows, err := store.Summaries(t.Context(), newFlag("").ProjectUID, true)
	if err != nil || len(rows) != 12 {
		t.Errorf("got %d rows (%v), want 12", len(rows), err)
	}
	if calls := transport.Calls(); calls["Query"] != 2 || len(calls) != 1 {
		t.Errorf("the list of 1.2 MB took the calls %v, want 2 queries", calls)
	}
}
