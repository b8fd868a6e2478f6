package dynamo_test

import (
	"fmt"
	"strings"
	"testing"

	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

// TestTransactionSize sees that a change of more than 4 MB is refused with a clear error and changes nothing, and that one
// just below is made. The first is what archiving a child of eleven parents of 400 KB each is.
func TestTransactionSize(t *testing.T) {
	store := dynamotest.Open(t, nil)
	large := strings.Repeat("x", 390<<10)
	var before []*flags.Feature
	for i := range 11 {
		f := newFlag(fmt.Sprint("f-", i))
		f.Environments = map[string]flags.FeatureEnvironment{"development": {Variants: []flags.Variant{{Name: "v", Payload: &flags.Payload{Type: "string", Value: large}}}}}
		mustCommit(t, store, flags.Write{After: f})
		before = append(before, find(t, store, f.Name))
	}
	mark := func(list []*flags.Feature) (writes []flags.Write) {
		for _, f := range list {
			writes = append(writes, write(f, func(f *flags.Feature) { f.ImpressionData = true }))
		}
		return writes
	}
	err := commit(t, store, mark(before)...)
	wantOutcome(t, err, flags.Invalid)
	if err != nil && !strings.Contains(err.Error(), "4 MB") {
		t.Errorf("it says %q, want that 4 MB is the limit", err)
	}
	for _, f := range before {
		wantTimes(t, store, f.Name, 1)
	}
	// What is replaced counts too: AWS does not say that it does not.
	for i := range before {
		before[i] = find(t, store, before[i].Name)
	}
	shrink := mark(before)
	for _, w := range shrink {
		w.After.(*flags.Feature).Environments = nil
	}
	wantOutcome(t, commit(t, store, shrink...), flags.Invalid)
	mustCommit(t, store, mark(before[:10])...)
}
