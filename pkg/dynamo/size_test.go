package dynamo_test

import (
	"fmt"
	"strings"
	"testing"

	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

// TestTransactionSize checks that a change of more than 4 MB fails with a clear error and changes nothing, and that one just
// below the limit is made. Archiving a child with eleven parents of 400 KB each would be such a change.
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
		t.Errorf("the message is %q, want it to contain the limit of 4 MB", err)
	}
	for _, f := range before {
		wantTimes(t, store, f.Name, 1)
	}
	// The size of replaced items counts too: AWS does not document that it does not.
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

// TestLargestLoad loads more data than one response can hold: a response ends at 16 MB, and the remaining keys must be requested
// again.
func TestLargestLoad(t *testing.T) {
	store := dynamotest.Open(t, nil)
	const big, size = 46, 380 << 10
	var names []string
	for i := range big {
		f := newFlag(fmt.Sprintf("big-%02d", i))
		f.Description = new(strings.Repeat("x", size))
		mustCommit(t, store, flags.Write{After: f})
		names = append(names, f.Name)
	}
	view := load(t, store, names...)
	for _, name := range names {
		if f := flags.Find[*flags.Feature](view, flags.FeatureKey(name)); f == nil || len(*f.Description) != size {
			t.Fatalf("%s is missing or incomplete: got %d flags, want %d", name, len(view), big)
		}
	}
}
