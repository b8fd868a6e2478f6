package dynamo_test

import (
	"encoding/json"
	"slices"
	"testing"

	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

// TestRequestToken looks at what goes over the wire: an engine knows a transaction again by its token, and refuses the
// token with other content. Every byte is compared, because nobody documents what an engine takes for the same content.
func TestRequestToken(t *testing.T) {
	var tokens, bodies []string
	transport := &dynamotest.Faults{Script: inTurn(map[string][]dynamotest.Fault{transactWrite: {
		dynamotest.DropRequest, dynamotest.LoseResponse, dynamotest.TruncateResponse, dynamotest.Throttle, dynamotest.Conflict,
		dynamotest.FailBefore, dynamotest.FailAfter, dynamotest.NoFault, // one round
		dynamotest.LoseResponse, dynamotest.NoFault, // and another
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
			t.Errorf("the attempts of the %s round have %d tokens (%q), want one", name, n, tokens[round[0]])
		}
		if list := of(bodies); len(list) != 1 {
			t.Errorf("the attempts of the %s round are not the same bytes:\n%s\n%s", name, list[0], list[1])
		}
	}
	if tokens[0] == tokens[8] {
		t.Error("both rounds have the same token")
	}
}

// TestPages counts what a list costs: one call a megabyte.
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
		f.Description = &text // which the list shows of archived flags
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
